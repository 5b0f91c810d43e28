"""Arms that are finite populations of rewards, sampled without replacement."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

from bai_gym.bandits import FiniteBandit, FinitePopulations, SampleTable, finite
from bai_gym.errors import InstanceError

DRAWS = 10_000
POPULATION = (0.0, 1.0, 1.0, 3.5)
FIRST, SECOND = 3, 6  # pulls of two blocks: the second takes the last reward, a whole pass, and one more


def populations(*arms: tuple[float, ...]) -> FinitePopulations:
    offsets = np.cumsum([0, *map(len, arms)])
    return FinitePopulations.of(SampleTable.of(np.concatenate([np.array(arm) for arm in arms]), offsets))


def bandit(batch: int = 1) -> FiniteBandit:
    """Return instances whose second arm is :data:`POPULATION`."""
    return FiniteBandit(populations((0.2, 0.2), POPULATION), np.tile([0, 1], (batch, 1)))


def check_sums(first: Any, second: Any) -> None:
    """Compare with the distribution of the sums of the first 3 and of the next 6 of three shuffled passes."""
    found = Counter(zip(first.round(6).tolist(), second.round(6).tolist(), strict=True))
    expected: Counter[tuple[float, float]] = Counter()
    for one in itertools.permutations(POPULATION):
        for last in POPULATION:
            expected[sum(one[:3]), one[3] + sum(POPULATION) + last] += 1
    assert set(found) == set(expected)
    shares = np.array(list(expected.values())) / expected.total()
    assert chisquare([found[pair] for pair in expected], shares * DRAWS).pvalue > 0.001


def test_sums_have_the_exact_distribution_of_shuffled_passes(
    ways: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for play in ways.values():
        arms, rng = bandit(DRAWS), np.random.default_rng(5)
        check_sums(*(play(arms, [(0, count)], rng).sums[:, 1] for count in (FIRST, SECOND)))
    rewards = bandit(DRAWS).pull(np.tile(np.arange(DRAWS) * 2 + 1, FIRST + SECOND), np.random.default_rng(5))
    rewards = rewards.reshape(-1, DRAWS)  # of positions that come several times
    check_sums(rewards[:FIRST].sum(axis=0), rewards[FIRST:].sum(axis=0))
    monkeypatch.setattr(finite, "MANY_VALUES", 2)
    monkeypatch.setattr(finite, "NUMBERS_AT_ONCE", 10_000)
    arms, rng = bandit(DRAWS), np.random.default_rng(6)
    check_sums(*(ways["blocks"](arms, [(0, count)], rng).sums[:, 1] for count in (FIRST, SECOND)))


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


def test_sizes_and_candidates() -> None:
    tables = populations((0.0,) * 300 + (1.0,) * 700, (0.0, 1.0) * 500, (2.0, 3.0))
    assert tables.values.shape == (3, 2)  # the cost is that of two values
    assert FiniteBandit(tables, np.array([[0, 1]])).num_items == 1000
    assert FiniteBandit(tables, np.array([[0, 2]])).num_items is None
    with pytest.raises(InstanceError, match="numbered 0 to 2"):
        FiniteBandit(tables, np.array([[0, 3]]))
