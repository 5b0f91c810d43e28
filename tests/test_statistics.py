"""Statistics against NumPy on the raw rewards; single pulls, blocks and their differences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bai_gym.statistics import ROUNDING, FloatArray, Statistics, exact_means

# Rewards spread 1 about a centre; at 1e6 a formula that squares the rewards keeps 4 of 16 digits of the variance.
CENTRES = (0.0, -3.0, 1e3, 1e6)
TINY_SPREAD = 1e-6

rewards_of_an_arm = st.lists(st.floats(-1.0, 1.0, allow_subnormal=False), max_size=12)
centres = st.sampled_from(CENTRES)


def raw(samples: list[list[float]], centre: float) -> list[FloatArray]:
    return [centre + np.array(sample) for sample in samples]


def of_samples(samples: list[FloatArray]) -> Statistics:
    """What NumPy says about the raw rewards of each arm."""
    return Statistics(
        np.array([sample.size for sample in samples]),
        np.array([sample.mean() if sample.size else 0.0 for sample in samples]),
        np.array([sample.var(ddof=1) if sample.size > 1 else 0.0 for sample in samples]),
    )


def assert_close(actual: Statistics, expected: Statistics, centre: float, spread: float = 1.0) -> None:
    """Compare up to the error that 30 operations on numbers of the size of ``centre`` can make."""
    digits = 30 * np.finfo(float).eps * (abs(centre) + spread)
    np.testing.assert_array_equal(actual.pulls, expected.pulls)
    np.testing.assert_allclose(
        actual.means, expected.means, rtol=0, atol=digits + 30 * ROUNDING * (abs(centre) + spread)
    )
    # An error of d in the means is one of about n d x spread in the sum of squared deviations.
    np.testing.assert_allclose(actual.variances, expected.variances, rtol=0, atol=30 * digits * spread)


def by_single_pulls(samples: list[FloatArray]) -> Statistics:
    statistics = Statistics.zeros((len(samples),))
    for arm, sample in enumerate(samples):
        for reward in sample:
            statistics.add(np.array([arm]), np.array([reward]))
    return statistics


@given(st.lists(rewards_of_an_arm, min_size=1, max_size=4), centres)
def test_single_pulls_give_the_moments_of_the_rewards(samples: list[list[float]], centre: float) -> None:
    arms = raw(samples, centre)
    assert_close(by_single_pulls(arms), of_samples(arms), centre)


def test_constant_rewards_of_extreme_scale_have_variance_0() -> None:
    arms = [np.full(pulls, mean) for pulls, mean in ((3, 1e50), (1, -1e50), (2, 1e-300))]
    expected = Statistics(np.array([3, 1, 2]), np.array([1e50, -1e50, 1e-300]), np.zeros(3))
    single, block = by_single_pulls(arms), Statistics.zeros((3,))
    block.merge(np.arange(3), expected)
    for found in (single, block, single.since(Statistics.zeros((3,)))):
        for name in ("pulls", "means", "variances"):
            assert getattr(found, name).tolist() == getattr(expected, name).tolist()


def test_tiny_variance_far_from_zero_survives_single_pulls_blocks_and_differences() -> None:
    rng = np.random.default_rng(0)
    first, second = (1e3 + TINY_SPREAD * rng.standard_normal((2, 50))) + 0.0
    early, late = of_samples([first]), of_samples([second])
    both = by_single_pulls([np.concatenate([first, second])])
    exact = of_samples([np.concatenate([first, second])])
    # Rewards near 1e3 are rounded to 1.1e-13, which is 1.1e-7 of their spread.
    assert both.variances == pytest.approx(exact.variances, rel=1e-5)
    merged = early.copy()
    merged.merge(np.array([0]), late)
    assert merged.variances == pytest.approx(exact.variances, rel=1e-5)
    assert exact.since(early).variances == pytest.approx(late.variances, rel=1e-4)
    assert exact.since(Statistics.zeros((1,))).variances == pytest.approx(exact.variances, rel=1e-12)


@given(rewards_of_an_arm.filter(bool), centres)
def test_scalar_and_array_forms_agree_bit_for_bit(rewards: list[float], centre: float) -> None:
    one, many = Statistics.zeros((2, 3)), Statistics.zeros((2, 3))
    for reward in centre + np.array(rewards):
        scalar = one.add(4, float(reward))
        array = many.add(np.array([4]), np.array([reward]))
        assert [float(value) for value in scalar] == [float(value[0]) for value in array]
    for name in ("pulls", "means", "variances"):
        np.testing.assert_array_equal(getattr(one, name), getattr(many, name))
    assert one.pulls.flat[4] == len(rewards) and one.pulls.sum() == len(rewards)


def test_add_returns_the_new_statistics_and_touches_only_its_positions() -> None:
    statistics = Statistics(
        np.array([[2, 1], [0, 3]]), np.array([[1.0, 5.0], [0.0, 2.0]]), np.array([[2.0, 0], [0, 1]])
    )
    # Arm 0 of the first row: rewards 0, 2 (mean 1, variance 2), then 4: mean 2, variance (4 + 0 + 4) / 2 = 4.
    plain = statistics.copy()
    plain.add(np.array([0]), np.array([4.0]), variances=False)
    assert (plain.means[0, 0], plain.variances[0, 0]) == (2.0, 2.0)
    pulls, means, variances = statistics.add(np.array([0, 2]), np.array([4.0, 7.0]))
    assert (pulls.tolist(), means.tolist(), variances.tolist()) == ([3, 1], [2.0, 7.0], [4.0, 0.0])
    assert statistics.pulls.tolist() == [[3, 1], [1, 3]]
    assert statistics.means.tolist() == [[2.0, 5.0], [7.0, 2.0]]
    assert statistics.variances.tolist() == [[4.0, 0.0], [0.0, 1.0]]


two_samples = st.lists(st.tuples(rewards_of_an_arm, rewards_of_an_arm.filter(bool)), min_size=1, max_size=4)


@given(two_samples, centres)
def test_merge_gives_the_moments_of_both_samples(samples: list[tuple[list[float], list[float]]], centre: float) -> None:
    before, after = raw([s[0] for s in samples], centre), raw([s[1] for s in samples], centre)
    both = [np.concatenate(pair) for pair in zip(before, after, strict=True)]
    statistics = of_samples(before)
    statistics.merge(np.arange(len(samples)), of_samples(after))
    assert_close(statistics, of_samples(both), centre)


def test_merge_touches_only_its_positions_and_can_leave_variances_out() -> None:
    statistics = Statistics(np.array([1, 1, 0]), np.array([1.0, 8.0, 0.0]), np.zeros(3))
    part = Statistics(np.array([3, 2]), np.array([5.0, 4.0]), np.array([1.0, 2.0]))
    other = statistics.copy()
    statistics.merge(np.array([0, 2]), part)
    # Arm 0: 1 and three rewards of mean 5, deviations 2: mean 4, deviations 2 + 4^2 x 1 x 3 / 4 = 14, variance 14 / 3.
    assert statistics.pulls.tolist() == [4, 1, 2]
    assert statistics.means.tolist() == [4.0, 8.0, 4.0]
    assert statistics.variances == pytest.approx([14 / 3, 0.0, 2.0])
    other.merge(np.array([0, 2]), part, variances=False)
    assert (other.means.tolist(), other.variances.tolist()) == ([4.0, 8.0, 4.0], [0.0, 0.0, 0.0])


@given(st.lists(st.tuples(rewards_of_an_arm, rewards_of_an_arm), min_size=1, max_size=4), centres)
def test_since_gives_the_moments_of_the_later_sample(
    samples: list[tuple[list[float], list[float]]], centre: float
) -> None:
    before, after = raw([s[0] for s in samples], centre), raw([s[1] for s in samples], centre)
    both = [np.concatenate(pair) for pair in zip(before, after, strict=True)]
    later = of_samples(both).since(of_samples(before))
    assert_close(later, of_samples(after), centre)
    assert not later.variances[later.pulls < 2].any()
    without = of_samples(both).since(of_samples(before), variances=False)
    np.testing.assert_array_equal(without.means, later.means)
    assert not without.variances.any()


whole_rewards = st.lists(st.integers(0, 5).map(float), min_size=1, max_size=40)


@given(st.lists(whole_rewards, max_size=2), whole_rewards)
@example([[0.0]], [1.0] * 4)  # whose variance would be -4e-17
def test_since_recovers_whole_rewards_exactly(before: list[list[float]], after: list[float]) -> None:
    # Ties of means and variances of 0 are exact facts about whole rewards; rounding must not undo them.
    statistics = by_single_pulls([np.array(sum(before, []))])
    earlier = statistics.copy()
    for reward in after:
        statistics.add(0, reward)
    later = statistics.since(earlier)
    assert later.means[0] == np.sum(after) / len(after)
    if len(set(after)) == 1:
        assert later.variances[0] == 0.0


@given(st.integers(-(10**6), 10**6), st.integers(1, 1000), st.floats(-50, 50))
def test_exact_means_of_whole_sums(total: int, count: int, error: float) -> None:
    scale = np.array([abs(total) + 1.0])
    off = (total + error * np.finfo(float).eps * scale) / count
    assert exact_means(off, count, scale)[0] == total / count


@given(st.floats(-1e3, 1e3), st.integers(0, 9), st.integers(1, 9))
def test_since_of_equal_rewards_is_that_reward_without_variance(reward: float, early: int, late: int) -> None:
    before, after = by_single_pulls([np.full(early, reward)]), by_single_pulls([np.full(early + late, reward)])
    later = after.since(before)
    assert later.means[0] == pytest.approx(reward, rel=2 * ROUNDING) and later.variances[0] == 0.0


def test_of_an_observation_shares_memory_and_fills_in_missing_variances() -> None:
    observation = {"pulls": np.array([[1, 2]]), "means": np.array([[0.5, 1.0]]), "variances": np.array([[0.0, 3.0]])}
    statistics = Statistics.of(observation)
    assert statistics.means is observation["means"] and statistics.variances is observation["variances"]
    assert statistics.copy().means is not observation["means"]
    del observation["variances"]
    assert Statistics.of(observation).variances.tolist() == [[0.0, 0.0]]


def test_take_and_sums_by_hand() -> None:
    means, variances = [[1.0, 0.0, 5.0], [3.0, 2.0, 0.5]], [[2.0, 0.0, 1.0], [0.0, 1.0, 4.0]]
    statistics = Statistics(np.array([[2, 0, 4], [1, 3, 2]]), np.array(means), np.array(variances))
    taken = statistics.take(np.array([[2, 0], [1, 1]]))
    assert taken.pulls.tolist() == [[4, 2], [3, 3]] and taken.means.tolist() == [[5.0, 1.0], [2.0, 2.0]]
    assert taken.variances.tolist() == [[1.0, 2.0], [1.0, 1.0]]
    assert not statistics.take(np.array([[2], [1]]), variances=False).variances.any()
    taken.means[...] = 99.0
    assert statistics.sums.tolist() == [[2.0, 0.0, 20.0], [3.0, 6.0, 1.0]]
    # (n - 1) times the variance, and n times the squared mean.
    assert statistics.squares.tolist() == [[4.0, 0.0, 103.0], [9.0, 14.0, 4.5]]
