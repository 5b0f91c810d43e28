"""What every bandit promises: one distribution, whether pulled one by one or in blocks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import chi2_contingency, ks_2samp

from bai_gym.bandits import Bandit
from bai_gym.statistics import FloatArray

LEVEL = 0.001
DRAWS = 20_000
COUNTS = (1, 2, 3, 7)
COMPARISONS = 11 * 3 * len(COUNTS) * 2  # kinds of bandits, arms, counts, means and variances

MakeBandit = Callable[[], Bandit]


def repeated(bandit: Bandit, draws: int = DRAWS) -> Bandit:
    return bandit.select(np.zeros(draws, np.int64))


def by_pull(bandit: Bandit, arm: int, count: int, rng: np.random.Generator) -> FloatArray:
    flat = np.arange(bandit.batch) * bandit.num_arms + arm
    return np.stack([bandit.pull(flat, rng) for _ in range(count)])


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


@pytest.mark.slow
def test_blocks_have_the_law_of_single_pulls(make_bandit: MakeBandit) -> None:
    bandit = repeated(make_bandit())
    rng = np.random.default_rng(1)
    for arm in range(bandit.num_arms):
        for count in COUNTS:
            counts = np.zeros((bandit.batch, bandit.num_arms), np.int64)
            counts[:, arm] = count
            block = bandit.pull_block(counts, rng)
            rewards = by_pull(bandit, arm, count, rng)
            variances = rewards.var(axis=0, ddof=1) if count > 1 else np.zeros(bandit.batch)
            assert p_value(block.means[:, arm], rewards.mean(axis=0)) > LEVEL / COMPARISONS
            assert p_value(block.variances[:, arm], variances) > LEVEL / COMPARISONS


def test_mean_and_variance_of_a_block_have_the_joint_law_of_single_pulls(make_bandit: MakeBandit) -> None:
    # For Gaussian arms the two are independent, for the others they are not; their product shows which.
    bandit = repeated(make_bandit())
    rng = np.random.default_rng(2)
    for arm in range(bandit.num_arms):
        counts = np.zeros((bandit.batch, bandit.num_arms), np.int64)
        counts[:, arm] = 4
        block = bandit.pull_block(counts, rng)
        rewards = by_pull(bandit, arm, 4, rng)
        centre = bandit.means[0, arm]
        one = (block.means[:, arm] - centre) * block.variances[:, arm]
        assert p_value(one, (rewards.mean(axis=0) - centre) * rewards.var(axis=0, ddof=1)) > LEVEL / 9


def test_the_stated_moments_are_those_of_the_rewards(make_bandit: MakeBandit) -> None:
    bandit = make_bandit()
    rng = np.random.default_rng(3)
    for flat, (mean, variance) in enumerate(zip(bandit.means.flat, bandit.variances.flat, strict=True)):
        rewards = bandit.pull(np.full(DRAWS, flat), rng)
        # 4.4 standard errors: a two-sided level of 1e-5, about 0.001 over 48 arms and two moments.
        assert rewards.mean() == pytest.approx(mean, abs=4.4 * np.sqrt(variance / DRAWS) + 1e-12)
        fourth = np.mean((rewards - mean) ** 4)
        assert rewards.var() == pytest.approx(variance, abs=4.4 * np.sqrt(fourth / DRAWS) + 1e-12)


def test_arms_and_episodes_of_a_block_are_independent(make_bandit: MakeBandit) -> None:
    bandit = repeated(make_bandit())
    block = bandit.pull_block(np.full((bandit.batch, bandit.num_arms), 3), np.random.default_rng(4))
    varying = bandit.variances[0] > 0
    scores = (block.means - bandit.means)[:, varying] / np.sqrt(bandit.variances[:, varying] / 3)
    neighbours = np.concatenate([scores[:-1], scores[1:]], axis=1)  # arms of an episode and of the next one
    if bandit.paired:  # arms of an episode are not independent
        correlations = np.corrcoef(neighbours.T)[: varying.sum(), varying.sum() :]
    else:
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


def test_sums_and_squares_of_a_block_obey_cauchy_schwarz(make_bandit: MakeBandit) -> None:
    bandit = repeated(make_bandit(), 500)
    counts = np.random.default_rng(6).integers(1, 6, (500, 3))
    block = bandit.pull_block(counts, np.random.default_rng(7))
    assert (block.squares * counts >= block.sums**2 * (1 - 1e-12)).all()
    assert ((block.variances == 0) >= (bandit.variances == 0)).all()


def test_candidates_get_the_pulls_that_all_arms_would(make_bandit: MakeBandit) -> None:
    bandit = make_bandit()
    arms, counts = np.array([[2, 0], [0, 1]]), np.array([[2, 3], [1, 4]])
    some = bandit.pull_block(counts, np.random.default_rng(8), arms=arms)
    full = np.zeros((2, 3), np.int64)
    np.put_along_axis(full, arms, counts, -1)
    every = bandit.select(np.arange(2)).pull_block(full, np.random.default_rng(8)).take(arms)
    np.testing.assert_array_equal(some.pulls, counts)
    np.testing.assert_array_equal(every.pulls, counts)
    assert some.means.shape == some.variances.shape == counts.shape


def test_blocks_without_variances_keep_the_law_of_the_means(make_bandit: MakeBandit) -> None:
    bandit = repeated(make_bandit())
    counts = np.full((bandit.batch, 3), 3)
    rng = np.random.default_rng(9)
    full, means_only = bandit.pull_block(counts, rng), bandit.pull_block(counts, rng, variances=False)
    assert not means_only.variances.any()
    for arm in range(3):
        assert p_value(full.means[:, arm], means_only.means[:, arm]) > LEVEL / 9


def draw_everything(bandit: Bandit, rng: np.random.Generator) -> list[FloatArray]:
    block = bandit.pull_block(np.array([[2, 0, 3], [1, 1, 9]]), rng)
    return [block.means, block.variances, bandit.pull(np.arange(6), rng)]


def test_the_same_seed_gives_the_same_rewards(make_bandit: MakeBandit) -> None:
    one, same, other = (draw_everything(make_bandit(), np.random.default_rng(seed)) for seed in (0, 0, 1))
    for array, equal in zip(one, same, strict=True):
        np.testing.assert_array_equal(array, equal)
    assert any((array != different).any() for array, different in zip(one, other, strict=True))


def test_select_repeats_and_reorders_copies(make_bandit: MakeBandit) -> None:
    bandit = make_bandit()
    chosen = bandit.select(np.array([1, 0, 1]))
    assert type(chosen) is type(bandit) and (chosen.batch, chosen.num_arms) == (3, 3)
    np.testing.assert_array_equal(chosen.means, bandit.means[[1, 0, 1]])
    np.testing.assert_array_equal(chosen.variances, bandit.variances[[1, 0, 1]])
    before = chosen.means.copy()
    bandit.replace(np.array([1]), bandit.select(np.array([0])))
    np.testing.assert_array_equal(chosen.means, before)


def test_replaced_instances_answer_with_the_new_law(make_bandit: MakeBandit) -> None:
    bandit = make_bandit()
    kept = bandit.means[1].copy()
    bandit.replace(np.array([0]), bandit.select(np.array([1])))
    np.testing.assert_array_equal(bandit.means, [kept, kept])
    again = make_bandit().select(np.array([1, 1]))
    # The same seed must give the same rewards as from a bandit made of the new instances.
    for array, expected in zip(
        draw_everything(bandit, np.random.default_rng(3)), draw_everything(again, np.random.default_rng(3)), strict=True
    ):
        np.testing.assert_array_equal(array, expected)
