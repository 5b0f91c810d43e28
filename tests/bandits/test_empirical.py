"""Arms that are samples of rewards."""

from __future__ import annotations

import numpy as np
import pytest

from bai_gym.bandits import EmpiricalBandit, SampleTable, empirical
from bai_gym.errors import InstanceError
from bai_gym.rewards import BINARY


def test_moments_of_a_table() -> None:
    table = SampleTable.of(np.array([1.0, 2.0, 3.0, 6.0, 5.0]), np.array([0, 4, 5]))
    assert table.means.tolist() == [3.0, 5.0]
    assert table.variances.tolist() == [3.5, 0.0]  # (4 + 1 + 0 + 9) / 4


def test_moments_far_from_zero_in_single_precision() -> None:
    table = SampleTable.of(np.array([1e6, 1e6 + 1, 1e6 + 2], np.float32), np.array([0, 3]))
    assert table.means.tolist() == [1e6 + 1]
    assert table.variances[0] == pytest.approx(2 / 3, rel=1e-12)


@pytest.mark.parametrize(
    ("rewards", "offsets", "message"),
    [
        ([1.0, 2.0], [0, 2, 2], "at least one reward"),
        ([1.0, np.nan], [0, 1, 2], "must be a finite number of at most"),
        ([1.0, 0.5], [0, 1, 2], "a reward of 0.5 is not binary"),
    ],
)
def test_malformed_tables(rewards: list[float], offsets: list[int], message: str) -> None:
    with pytest.raises(InstanceError, match=message):
        SampleTable.of(np.array(rewards), np.array(offsets), BINARY if 0.5 in rewards else None)


@pytest.mark.parametrize(
    ("candidates", "message"),
    [
        ([[0]], "at least 2 arms"),
        ([[0, 2]], "numbered 0 to 1"),
        ([[-1, 0]], "numbered 0 to 1"),
    ],
)
def test_malformed_candidates(candidates: list[object], message: str) -> None:
    table = SampleTable.of(np.array([1.0, 2.0]), np.array([0, 1, 2]))
    with pytest.raises(InstanceError, match=message):
        EmpiricalBandit(table, np.array(candidates))


def test_blocks_drawn_in_slices_are_the_blocks_drawn_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rewards = np.random.default_rng(0).normal(size=50)
    bandit = EmpiricalBandit(SampleTable.of(rewards, np.arange(0, 51, 5)), np.arange(10).reshape(2, 5))
    counts = np.array([[3, 1, 0, 12, 7], [1, 2, 5, 0, 30]])
    whole = bandit.pull_block(counts, np.random.default_rng(1))
    monkeypatch.setattr(empirical, "PULLS_AT_ONCE", 9)  # smaller than some counts, larger than some pairs of them
    sliced = bandit.pull_block(counts, np.random.default_rng(1))
    for name in ("pulls", "means", "variances"):
        np.testing.assert_array_equal(getattr(sliced, name), getattr(whole, name))


def test_rewards_that_are_all_equal_have_no_variance_and_whole_ones_exact_means() -> None:
    rewards = np.array([0.1, 0.1, 0.1, 1.0, 2.0, 5.0])
    bandit = EmpiricalBandit(SampleTable.of(rewards, np.array([0, 3, 6])), np.array([[0, 1]])).select(
        np.zeros(2000, np.int64)
    )
    block = bandit.pull_block(np.full((2000, 2), 3), np.random.default_rng(0))
    assert not block.variances[:, 0].any()
    sums = np.rint(3 * block.means[:, 1])
    np.testing.assert_array_equal(block.means[:, 1], sums / 3)
    # No other three of 1, 2 and 5 have the sums of three equal ones.
    np.testing.assert_array_equal(block.variances[:, 1] == 0, np.isin(sums, [3, 6, 15]))
