"""What every bandit promises: one distribution, whether pulled one by one, in blocks, or in compiled loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2_contingency, ks_2samp

from bai_gym.bandits import Bandit
from bai_gym.statistics import FloatArray

LEVEL = 0.001
DRAWS = 10_000

MakeBandit = Callable[[], Bandit]


def repeated(bandit: Bandit, draws: int = DRAWS) -> Bandit:
    return bandit.select(np.zeros(draws, np.int64))


def p_value(one: FloatArray, other: FloatArray) -> float:
    """Two-sample test: chi-square on rounded values where there are few of them, else Kolmogorov-Smirnov."""
    one, other = np.round(one, 9), np.round(other, 9)
    values, inverse = np.unique(np.concatenate([one, other]), return_inverse=True)
    if values.size == 1:
        return 1.0
    if values.size > 100:
        return float(ks_2samp(one, other).pvalue)
    table = np.stack([np.bincount(part, minlength=values.size) for part in np.split(inverse, 2)])
    common = table.sum(axis=0) >= 20  # values too rare for the chi-square distribution are pooled
    pooled = np.concatenate([table[:, common], table[:, ~common].sum(axis=1, keepdims=True)], axis=1)
    return float(chi2_contingency(pooled[:, pooled.sum(axis=0) > 0]).pvalue)


def test_mean_and_variance_have_one_joint_law_however_arms_are_pulled(
    make_bandit: MakeBandit, ways: dict[str, Any]
) -> None:
    # For Gaussian arms the two are independent, for the others they are not; their product shows which.
    for seed, counts in enumerate([(1, 2, 7), (3, 7, 2)]):
        found = []
        for number, play in enumerate(ways.values()):
            bandit = repeated(make_bandit())
            made = play(bandit, [counts], np.random.default_rng([seed, number]))
            assert made.pulls[0].tolist() == list(counts)
            found.append([made.means, made.variances, (made.means - bandit.means[0]) * made.variances])
        for other in found[1:]:
            for one, two in zip(found[0], other, strict=True):
                for arm in range(3):
                    assert p_value(one[:, arm], two[:, arm]) > LEVEL / 36


def test_the_stated_moments_are_those_of_the_rewards(make_bandit: MakeBandit) -> None:
    bandit = make_bandit()
    rng = np.random.default_rng(3)
    for flat, (mean, variance) in enumerate(zip(bandit.means.flat, bandit.variances.flat, strict=True)):
        rewards = bandit.pull(np.full(DRAWS, flat), rng)
        # 4.4 standard errors: a two-sided level of 1e-5, about 0.001 over 30 arms and two moments.
        assert rewards.mean() == pytest.approx(mean, abs=4.4 * np.sqrt(variance / DRAWS) + 1e-12)
        fourth = np.mean((rewards - mean) ** 4)
        assert rewards.var() == pytest.approx(variance, abs=4.4 * np.sqrt(fourth / DRAWS) + 1e-12)


def test_arms_and_episodes_of_a_block_are_independent(make_bandit: MakeBandit) -> None:
    bandit = repeated(make_bandit())
    block = bandit.pull_block(np.full((bandit.batch, bandit.num_arms), 3), np.random.default_rng(4))
    varying = bandit.variances[0] > 0
    scores = (block.means - bandit.means)[:, varying] / np.sqrt(bandit.variances[:, varying] / 3)
    neighbours = np.concatenate([scores[:-1], scores[1:]], axis=1)  # arms of an episode and of the next one
    correlations = np.corrcoef(neighbours.T)[np.triu_indices(neighbours.shape[1], 1)]
    # The correlation of n independent pairs has standard deviation 1 / sqrt(n); 4.4 of them as above (15 pairs).
    assert abs(correlations).max() < 4.4 / np.sqrt(DRAWS)


def test_counts_of_zero_and_one(make_bandit: MakeBandit) -> None:
    bandit = make_bandit()
    block = bandit.pull_block(np.array([[0, 1, 2], [5, 0, 0]]), np.random.default_rng(5))
    assert block.pulls.tolist() == [[0, 1, 2], [5, 0, 0]]
    unpulled = block.pulls == 0
    assert not block.means[unpulled].any() and not block.sums[unpulled].any() and not block.squares[unpulled].any()
    assert not block.variances[block.pulls < 2].any()
    # A single pull is its own sum, and its square is the sum of the squares.
    assert block.squares[0, 1] == pytest.approx(block.sums[0, 1] ** 2)
    nothing = bandit.pull_block(np.zeros((2, 3), np.int64), np.random.default_rng(5))
    assert not nothing.pulls.any() and not nothing.means.any()


def test_candidates_and_blocks_without_variances_keep_the_law_of_the_means(make_bandit: MakeBandit) -> None:
    bandit, rng = repeated(make_bandit()), np.random.default_rng(8)
    full = bandit.pull_block(np.full((DRAWS, 3), 3), rng)
    means_only = bandit.pull_block(np.full((DRAWS, 3), 3), rng, variances=False)
    some = bandit.pull_block(np.full((DRAWS, 2), 3), rng, arms=np.tile([2, 0], (DRAWS, 1)))
    assert not means_only.variances.any() and some.variances.shape == (DRAWS, 2)
    for arm in range(3):
        assert p_value(full.means[:, arm], means_only.means[:, arm]) > LEVEL / 9
    for column, arm in enumerate((2, 0)):
        assert p_value(full.means[:, arm], some.means[:, column]) > LEVEL / 9


def draw_everything(bandit: Bandit, seed: int) -> FloatArray:
    rng = np.random.default_rng(seed)
    block = bandit.pull_block(np.array([[2, 0, 3], [1, 1, 9]]), rng)
    return np.concatenate([block.means.ravel(), block.variances.ravel(), bandit.pull(np.arange(6), rng)])


def test_the_same_seed_gives_the_same_rewards(make_bandit: MakeBandit) -> None:
    one, same, other = (draw_everything(make_bandit(), seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()


def test_select_and_replace_take_all_of_an_instance_along_and_leave_others_alone(make_bandit: MakeBandit) -> None:
    bandit, fresh = make_bandit(), make_bandit()
    chosen = bandit.select(np.array([1, 0, 1]))
    assert type(chosen) is type(bandit) and (chosen.batch, chosen.num_arms) == (3, 3)
    bandit.replace(np.array([0]), bandit.select(np.array([1])))
    for name in ("means", "variances"):
        np.testing.assert_array_equal(getattr(chosen, name), getattr(fresh, name)[[1, 0, 1]])
        np.testing.assert_array_equal(getattr(bandit, name), getattr(fresh, name)[[1, 1]])
    # The same seed must give the same rewards as from a bandit made of the new instances.
    np.testing.assert_array_equal(draw_everything(bandit, 3), draw_everything(fresh.select(np.array([1, 1])), 3))
