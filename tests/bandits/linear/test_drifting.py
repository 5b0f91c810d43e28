"""Arms whose means change with time: blocks have the distribution of single pulls, in every order."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ks_2samp

from bai_gym.bandits import FeatureBandit
from bai_gym.bandits.turns import pulls_in_turn
from bai_gym.errors import InstanceError, ParameterError
from bai_gym.linear import DriftingBandit
from bai_gym.sampling import Block

PATH = [[0.0, 5.0, 1.0], [2.0, 5.0, -1.0], [4.0, -7.0, 1.0], [1.0, 0.0, 0.0]]


def test_means_are_those_of_the_time_of_the_pull() -> None:
    bandit, rng = DriftingBandit(PATH, 0.0, batch=2), np.random.default_rng(0)
    # Instance 0 pulls arms 0, 1, 1 at times 0, 1, 2; instance 1 arm 2 at time 0; then the path starts again.
    assert bandit.pull(np.array([0, 1, 5, 1]), rng).tolist() == [0.0, 5.0, 1.0, -7.0]
    assert bandit.pull(np.array([0, 3]), rng).tolist() == [1.0, 2.0]
    assert bandit.pull(np.array([1]), rng).tolist() == [5.0]
    assert bandit.means.tolist() == [[1.75, 0.75, 0.25]] * 2
    np.testing.assert_allclose(bandit.variances[0], np.var(PATH, axis=0))


def test_blocks_sum_means_over_the_times_of_the_pulls() -> None:
    # In turn: arm 0 at times 0 and 2, arm 2 at times 1 and 3, and arm 2 again at time 0 of the second pass.
    bandit = DriftingBandit(PATH, 0.0, batch=2)
    made = bandit.pull_block(np.array([[2, 0, 3], [0, 5, 0]]), np.random.default_rng(0))
    np.testing.assert_allclose(made.sums, [[4.0, 0.0, 0.0], [0.0, 5.0 + 5.0 - 7.0 + 0.0 + 5.0, 0.0]], atol=1e-12)
    np.testing.assert_allclose(made.variances[0], [8.0, 0.0, 1.0], atol=1e-12)  # of 0, 4; none; -1, 0, 1
    # The clock has moved on by five pulls; candidates, in a given order: arm 2 at time 1, arm 0 at times 2 and 3.
    block = Block(np.array([[1, 2], [1, 2]]), np.array([[2, 0], [2, 0]]))
    np.testing.assert_array_equal(block.order(), [0, 1, 1, 0, 1, 1])
    made = bandit.pull_block(block.counts, np.random.default_rng(0), arms=block.arms, order=block.order)
    np.testing.assert_allclose(made.sums, [[-1.0, 5.0]] * 2, atol=1e-12)


def test_features_and_selection_keep_the_clock() -> None:
    bandit, rng = FeatureBandit(DriftingBandit(PATH, 0.0, batch=3), np.eye(3)), np.random.default_rng(0)
    bandit.pull_block(np.array([[1, 0, 0], [2, 0, 0], [3, 0, 0]]), rng)
    assert bandit.select(np.array([2, 0])).pull(np.array([0, 3]), rng).tolist() == [1.0, 2.0]
    bandit.replace(np.array([1]), FeatureBandit(DriftingBandit(PATH, 0.0), np.eye(3)))
    assert bandit.pull(np.array([0, 3, 6]), rng).tolist() == [2.0, 0.0, 1.0]


@pytest.mark.each("shuffled", [False, True])
def test_blocks_have_the_law_of_single_pulls(shuffled: bool) -> None:
    # Mean and variance of every arm, and their product, from blocks and from a loop over the block's own slots.
    runs, counts = 8000, np.array([2, 1, 4])
    blocks = [Block(np.tile(counts, (runs, 1)), shuffle=np.random.default_rng(s) if shuffled else None) for s in (0, 1)]
    bandit, rng = DriftingBandit(PATH, 2.25, batch=runs), np.random.default_rng(2)
    made = bandit.pull_block(blocks[0].counts, rng, order=blocks[0].order)
    bandit, left = DriftingBandit(PATH, 2.25, batch=runs), blocks[1].counts.copy()
    rows = np.arange(runs)
    rewards = np.full((runs, 3, 7), np.nan)
    for step in range(7):
        slots = blocks[1].next_slots(left)
        left[rows, slots] -= 1
        rewards[rows, slots, step] = bandit.pull(rows * 3 + slots, rng)
    means = np.nanmean(rewards, axis=-1)
    centre = bandit.means[0]
    for arm in range(3):
        pairs = [(made.means[:, arm], means[:, arm])]
        if counts[arm] > 1:
            variances = np.nanvar(rewards[:, arm], axis=-1, ddof=1)
            product = (made.means[:, arm] - centre[arm]) * made.variances[:, arm]
            pairs += [(made.variances[:, arm], variances), (product, (means[:, arm] - centre[arm]) * variances)]
        for one, other in pairs:
            assert ks_2samp(one, other).pvalue > 1e-4, (shuffled, arm)
    # Times that one arm takes are not those of another: means are correlated where the order is random.
    assert np.corrcoef(made.means.T) == pytest.approx(np.corrcoef(means.T), abs=0.06)


def test_turns_are_those_of_a_loop_with_different_totals() -> None:
    np.testing.assert_array_equal(pulls_in_turn(np.array([[2, 0, 1], [0, 1, 0]])), [0, 2, 0, 1])
    weighted = pulls_in_turn(np.array([[3, 2]]), np.array([[0.3, 0.1]]))
    np.testing.assert_array_equal(weighted, [0, 1, 0, 0, 1])  # priorities inf, inf, 0.3, 0.15, 0.1


def test_malformed_paths() -> None:
    with pytest.raises(InstanceError, match="path: arm 1 has nan"):
        DriftingBandit([[0.0, np.nan]])
    with pytest.raises(ParameterError, match="noise_variance"):
        DriftingBandit(PATH, -1.0)
