"""Arms that are finite populations of rewards, sampled without replacement."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import chisquare

from bai_gym.bandits import FiniteBandit, FinitePopulations, SampleTable, finite
from bai_gym.errors import InstanceError
from bai_gym.sampling import Rule, Sequential, State
from bai_gym.sampling.engine import Engine
from bai_gym.statistics import FloatArray, Statistics

DRAWS = 30_000
POPULATION = (0.0, 1.0, 1.0, 3.5)
FIRST, SECOND = 3, 6  # pulls of two blocks: the second takes the last reward, a whole pass, and one more


def populations(*arms: tuple[float, ...]) -> FinitePopulations:
    offsets = np.cumsum([0, *map(len, arms)])
    return FinitePopulations.of(SampleTable.of(np.concatenate([np.array(arm) for arm in arms]), offsets))


def bandit(batch: int = 1) -> FiniteBandit:
    """Return instances whose second arm is :data:`POPULATION`."""
    return FiniteBandit(populations((0.2, 0.2), POPULATION), np.tile([0, 1], (batch, 1)))


def exact() -> Counter[tuple[float, float]]:
    """Return the distribution of the sums of the first 3 and of the next 6 of three shuffled passes."""
    found: Counter[tuple[float, float]] = Counter()
    total = sum(POPULATION)
    for one in itertools.permutations(POPULATION):
        for last in POPULATION:
            found[sum(one[:3]), one[3] + total + last] += 1
    return found


def by_blocks(arms: FiniteBandit, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    both = [arms.pull_block(np.tile([0, count], (DRAWS, 1)), rng).sums[:, 1] for count in (FIRST, SECOND)]
    return both[0], both[1]


def by_pulls(arms: FiniteBandit, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    flat = np.arange(DRAWS) * 2 + 1
    rewards = np.stack([arms.pull(flat, rng) for _ in range(FIRST + SECOND)])
    return rewards[:FIRST].sum(axis=0), rewards[FIRST:].sum(axis=0)


def by_repeated_positions(arms: FiniteBandit, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    rewards = arms.pull(np.tile(np.arange(DRAWS) * 2 + 1, FIRST + SECOND), rng).reshape(-1, DRAWS)
    return rewards[:FIRST].sum(axis=0), rewards[FIRST:].sum(axis=0)


def own_mean(pulls: float, mean: float, variance: float, s: State) -> float:
    return mean


def compiled(arms: FiniteBandit, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    none = Statistics.zeros((DRAWS, 1))
    only = np.ones((DRAWS, 1), np.int64)
    request = Sequential(Rule(index=own_mean), FIRST + SECOND, "first", rng, arms=only)
    engine = Engine(request, none, 0, None, variances=True)

    def never(rows: object, slots: object) -> FloatArray:
        raise AssertionError("rewards of a table are drawn in compiled code")

    engine.advance(arms.draws(), rng, FIRST, never)
    first = engine.statistics.sums[:, 0]
    engine.advance(arms.draws(), rng, FIRST + SECOND, never)
    return first, engine.statistics.sums[:, 0] - first


@pytest.mark.each("draw", [by_blocks, by_pulls, by_repeated_positions, compiled])
def test_sums_have_the_exact_distribution_of_shuffled_passes(
    draw: Callable[[FiniteBandit, np.random.Generator], tuple[FloatArray, FloatArray]],
) -> None:
    found = Counter(
        zip(*(np.round(sums, 6).tolist() for sums in draw(bandit(DRAWS), np.random.default_rng(5))), strict=True)
    )
    expected = exact()
    assert set(found) == set(expected)
    shares = np.array(list(expected.values())) / expected.total()
    assert chisquare([found[pair] for pair in expected], shares * DRAWS).pvalue > 0.001  # false alarms: 4 in 1,000


def test_blocks_of_many_values_and_in_slices_have_that_distribution_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finite, "MANY_VALUES", 2)
    monkeypatch.setattr(finite, "NUMBERS_AT_ONCE", 10_000)
    found = Counter(
        zip(*(sums.round(6).tolist() for sums in by_blocks(bandit(DRAWS), np.random.default_rng(6))), strict=True)
    )
    expected = exact()
    shares = np.array(list(expected.values())) / expected.total()
    assert set(found) == set(expected)
    assert chisquare([found[pair] for pair in expected], shares * DRAWS).pvalue > 0.001


def test_after_every_pass_the_mean_is_exact_and_within_one_no_reward_comes_twice() -> None:
    arms, rng = bandit(), np.random.default_rng(0)
    passes = [[arms.pull(np.array([1]), rng)[0] for _ in POPULATION] for _ in range(3)]
    assert all(sorted(one) == sorted(POPULATION) for one in passes)
    block = arms.pull_block(np.array([[0, 8]]), rng)  # two passes
    assert block.means[0, 1] == np.mean(POPULATION) == arms.means[0, 1]
    assert block.variances[0, 1] == pytest.approx(np.var(POPULATION * 2, ddof=1), rel=1e-12)


def test_moments_of_blocks_are_those_of_their_rewards() -> None:
    # Sum and variance of 2 of the 4 rewards determine each other's pair.
    pairs = {
        (round(sum(two) / 2, 9), round(float(np.var(two, ddof=1)), 9)) for two in itertools.combinations(POPULATION, 2)
    }
    block = bandit(500).pull_block(np.tile([2, 2], (500, 1)), np.random.default_rng(0))
    assert set(zip(block.means[:, 1].round(9).tolist(), block.variances[:, 1].round(9).tolist(), strict=True)) == pairs
    assert (block.means[:, 0] == 0.2).all() and not block.variances[:, 0].any()


def test_zeros_and_ones_are_hypergeometric_at_the_cost_of_two_values() -> None:
    many = populations((0.0,) * 300 + (1.0,) * 700, (0.0, 1.0) * 500)
    arms = FiniteBandit(many, np.tile([0, 1], (20_000, 1)))
    sums = arms.pull_block(np.full((20_000, 2), 400), np.random.default_rng(1)).sums[:, 0]
    assert many.values.shape == (2, 2)
    # 400 x 0.7 x 0.3 x (1000 - 400) / 999; relative errors of 5 standard deviations
    assert sums.mean() == pytest.approx(280.0, abs=5 * np.sqrt(50.45 / 20_000))
    assert sums.var() == pytest.approx(50.45, rel=5 * np.sqrt(2 / 20_000))


def test_selected_instances_keep_what_is_left_and_are_copies() -> None:
    arms, rng = bandit(2), np.random.default_rng(0)
    came = [arms.pull(np.array([3]), rng)[0] for _ in range(3)]  # of the second instance
    last = sum(POPULATION) - sum(came)
    copies = arms.select(np.array([1, 1, 0]))
    assert copies.pull(np.array([1, 3]), rng).tolist() == [last, last]
    fresh = bandit(20)  # so many that chance does not make up for a mistake
    fresh.replace(np.arange(20), arms.select(np.ones(20, np.int64)))
    assert (fresh.pull(2 * np.arange(20) + 1, rng) == last).all()
    assert arms.pull(np.array([3]), rng).tolist() == [last]
    assert arms.limits() == (0.0, 3.5)


def test_candidates_that_do_not_exist() -> None:
    with pytest.raises(InstanceError):
        FiniteBandit(populations((0.0,), (1.0,)), np.array([[0, 2]]))
