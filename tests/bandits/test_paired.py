"""Paired arms: the j-th pull of every arm is played on item j."""

from __future__ import annotations

import copy
import itertools
import pickle
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from scipy.stats import ks_2samp

from bai_gym.bandits import (
    Bandit,
    FiniteBandit,
    FinitePopulations,
    PairedBandit,
    PairedFiniteBandit,
    PairedGaussianBandit,
    PriorBandit,
    SampleTable,
    paired_finite,
)
from bai_gym.errors import InstanceError
from bai_gym.gaussian_process import GaussianPrior
from bai_gym.sampling import Rule, Sequential, State
from bai_gym.sampling.engine import Engine
from bai_gym.statistics import FloatArray, IntArray, Statistics

RUNS = 20_000
MEANS = (0.3, 0.0, -0.2)
COVARIANCE = np.array([[1.0, 0.9, -0.4], [0.9, 4.0, 0.2], [-0.4, 0.2, 0.5]])
SCORES = np.array(
    [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 2.5], [0.0, 0.0, 0.0], [1.0, 1.0, 0.0]]
)

# Blocks of pulls of each arm: equal ones; of arms that no other is ahead of, and then of the others; unequal ones.
BLOCKS: dict[str, tuple[tuple[int, int, int], ...]] = {
    "equal": ((5, 5, 5), (3, 3, 3)),
    "one after another": ((4, 0, 0), (0, 4, 0), (0, 0, 3), (0, 0, 4)),
    "late": ((3, 3, 0), (4, 4, 0), (0, 0, 2), (1, 1, 7)),
    "short": ((1, 1, 0), (1, 1, 0), (2, 2, 0), (0, 0, 4)),
    "unequal": ((6, 2, 5), (1, 7, 2)),
}

Play = Callable[[Bandit, Sequence[Sequence[int]], np.random.Generator], Statistics]


def gaussian(batch: int = RUNS, correlation: float | None = None) -> PairedGaussianBandit:
    if correlation is not None:
        return PairedGaussianBandit([MEANS] * batch, [[1.0, 4.0, 0.5]] * batch, correlation=correlation)
    return PairedGaussianBandit([MEANS] * batch, covariance=COVARIANCE)


def finite(batch: int = RUNS, *, replace: bool = False) -> PairedFiniteBandit:
    return PairedFiniteBandit(SCORES, np.tile(np.arange(3), (batch, 1)), replace=replace)


def merged(parts: list[Statistics]) -> Statistics:
    total = Statistics.zeros(parts[0].pulls.shape)
    for part in parts:
        made = np.flatnonzero(part.pulls)
        total.merge(made, Statistics(part.pulls.take(made), part.means.take(made), part.variances.take(made)))
    return total


def by_blocks(bandit: Bandit, blocks: Sequence[Sequence[int]], rng: np.random.Generator) -> Statistics:
    return merged([bandit.pull_block(np.tile(block, (bandit.batch, 1)), rng) for block in blocks])


def by_items(bandit: Bandit, blocks: Sequence[Sequence[int]], rng: np.random.Generator) -> Statistics:
    bandit.keep_items()
    return by_blocks(bandit, blocks, rng)


def by_pulls(bandit: Bandit, blocks: Sequence[Sequence[int]], rng: np.random.Generator) -> Statistics:
    total = Statistics.zeros(bandit.means.shape)
    for block in blocks:
        for arm, count in enumerate(block):
            flat = np.arange(bandit.batch) * bandit.num_arms + arm
            for _ in range(count):
                total.add(flat, bandit.pull(flat, rng))
    return total


def wanted_first(pulls: float, mean: float, variance: float, s: State) -> float:
    return -pulls


def compiled(bandit: Bandit, blocks: Sequence[Sequence[int]], rng: np.random.Generator) -> Statistics:
    """Play the first block at once, if the arms have equal counts, and the others by compiled code, arm by arm."""
    first, rest = ([blocks[0]], blocks[1:]) if len({*blocks[0]}) == 1 else ([], blocks)
    total = by_blocks(bandit, first, rng) if first else Statistics.zeros(bandit.means.shape)
    for block in rest:
        for arm, count in enumerate(block):
            arms = np.full((bandit.batch, 1), arm)
            request = Sequential(Rule(index=wanted_first), count, "first", rng, arms=arms)
            engine = Engine(request, total.take(arms), int(total.pulls[0].sum()), None, variances=True)
            engine.advance(bandit.draws(), rng, count, never)
            for name in ("pulls", "means", "variances"):
                getattr(total, name)[:, arm] = getattr(engine.statistics, name)[:, 0]
    return total


def never(rows: object, slots: object) -> FloatArray:
    raise AssertionError("rewards of a table are drawn in compiled code")


def simulated(rewards: FloatArray, blocks: Sequence[Sequence[int]]) -> Statistics:
    """Return the statistics of ``(N, items, K)`` rewards, of as many items for each arm as it has pulls."""
    pulls = np.sum(blocks, axis=0)
    parts = [rewards[:, :count, arm] for arm, count in enumerate(pulls)]
    means, variances = ([getattr(np, name)(part, axis=1) for part in parts] for name in ("mean", "var"))
    spread = np.stack(variances, axis=1) * pulls / np.maximum(pulls - 1, 1)
    return Statistics(np.tile(pulls, (len(rewards), 1)), np.stack(means, axis=1), spread)


def values(found: Statistics) -> list[FloatArray]:
    """Return functions of the statistics whose distributions show how those of different arms depend on each other."""
    pairs = list(itertools.combinations(range(3), 2))
    columns = [found.means[:, arm] for arm in range(3)] + [found.variances[:, arm] for arm in range(3)]
    columns += [found.means[:, i] - found.means[:, k] for i, k in pairs]
    columns += [found.variances[:, i] * found.variances[:, k] for i, k in pairs]
    columns += [
        (found.means[:, i] - MEANS[i]) * (found.means[:, k] - MEANS[k]) * found.variances[:, i] for i, k in pairs
    ]
    return [column.round(9) for column in columns]


WAYS: list[Play] = [by_blocks, by_items, by_pulls, compiled]
LEVEL = 0.001 / (4 * 5 * 15)  # ways, sequences of blocks, values: false alarms 1 in 1,000 for each test


@pytest.mark.each("blocks", BLOCKS.values(), ids=BLOCKS)
@pytest.mark.each("play", WAYS)
def test_gaussian_statistics_have_the_distribution_of_a_plain_simulation(
    play: Play, blocks: Sequence[Sequence[int]]
) -> None:
    if play is compiled and len(blocks[0]) != 3:
        pytest.skip("the same")
    rng = np.random.default_rng(3)
    deviations = np.sqrt([1.0, 4.0, 0.5])
    equal = (0.3 + 0.7 * np.eye(3)) * np.outer(deviations, deviations)
    for bandit, covariance in ((gaussian(), COVARIANCE), (gaussian(correlation=0.3), equal)):
        rewards = rng.multivariate_normal(MEANS, covariance, (RUNS, 12))
        found = play(bandit, blocks, np.random.default_rng(4))
        for one, other in zip(values(found), values(simulated(rewards, blocks)), strict=True):
            assert ks_2samp(one, other).pvalue > LEVEL / 2


@pytest.mark.each("blocks", BLOCKS.values(), ids=BLOCKS)
@pytest.mark.each("play", WAYS)
def test_finite_statistics_have_the_distribution_of_a_plain_simulation(
    play: Play, blocks: Sequence[Sequence[int]]
) -> None:
    rng = np.random.default_rng(5)
    orders = [rng.permuted(np.tile(np.arange(6), (RUNS, 1)), axis=1) for _ in range(3)]
    ways = {False: np.concatenate(orders, axis=1), True: rng.integers(6, size=(RUNS, 18))}
    for replace, order in ways.items():
        found = play(finite(replace=replace), blocks, np.random.default_rng(6))
        for one, other in zip(values(found), values(simulated(SCORES[order], blocks)), strict=True):
            assert ks_2samp(one, other).pvalue > LEVEL / 2, f"replace={replace}"


@pytest.mark.each("play", WAYS)
def test_covariances_of_means_are_those_of_theory(play: Play) -> None:
    # Cov(m_i, m_k) = Sigma_ik / max(N_i, N_k); of a first pass, C_ik (n - N) / (N (n - 1)) with N the larger count.
    blocks = ((3, 3, 1), (0, 1, 2))
    most = np.maximum.outer((3, 4, 3), (3, 4, 3))
    centred = SCORES - SCORES.mean(axis=0)
    of_scores = centred.T @ centred / 6
    for bandit, expected in (
        (gaussian(), COVARIANCE / most),
        (finite(), of_scores * (6 - most) / (most * 5)),
        (finite(replace=True), of_scores / most),
    ):
        means = play(bandit, blocks, np.random.default_rng(7)).means
        scale = np.sqrt(np.outer(expected.diagonal(), expected.diagonal()))
        # The standard deviation of a sample correlation, and of a relative variance, is at most sqrt(2 / RUNS) or so.
        assert np.abs(np.cov(means.T) - expected) / scale == pytest.approx(0.0, abs=5 * np.sqrt(2 / RUNS))


def test_each_arm_alone_has_the_distribution_of_the_unpaired_finite_bandit() -> None:
    populations = FinitePopulations.of(SampleTable.of(SCORES.T.reshape(-1).copy(), np.arange(4) * 6))
    unpaired = FiniteBandit(populations, np.tile(np.arange(3), (RUNS, 1)))
    blocks = ((4, 4, 4), (5, 5, 5))
    one, other = (by_blocks(bandit, blocks, np.random.default_rng(8)) for bandit in (unpaired, finite()))
    for arm in range(3):
        for name in ("means", "variances"):
            pair = (getattr(found, name)[:, arm].round(9) for found in (one, other))
            assert ks_2samp(*pair).pvalue > 0.001 / 6
    np.testing.assert_allclose(unpaired.variances, finite().variances, rtol=1e-12)


def test_every_pass_goes_through_all_items_and_the_mean_is_then_exact() -> None:
    bandit = finite(3)
    bandit.keep_items()
    rng = np.random.default_rng(0)
    first = by_blocks(bandit, [(6, 6, 6)], rng)
    np.testing.assert_array_equal(first.means, bandit.means)
    by_blocks(bandit, [(6, 12, 0)], rng)  # the third arm has made one pass, the second three
    rows, items = np.repeat(np.arange(3)[:, None], 18, axis=1), np.tile(np.arange(18), (3, 1))
    rewards = bandit.item_rewards(rows, items).reshape(3, 3, 6, 3)
    for one in rewards.reshape(9, 6, 3):
        assert sorted(map(tuple, one.tolist())) == sorted(map(tuple, SCORES.tolist()))
    assert len({one.tobytes() for one in rewards.reshape(9, 6, 3)}) > 5  # orders differ
    third = [bandit.pull(np.array([2, 5, 8]), rng) for _ in range(6)]
    np.testing.assert_array_equal(np.stack(third, axis=1), rewards[:, 1, :, 2])  # kept, or made again


@pytest.mark.each("make", [lambda: gaussian(4), lambda: finite(4), lambda: finite(4, replace=True)])
def test_all_ways_to_pull_give_the_same_rewards_on_the_same_items(make: Callable[[], PairedBandit]) -> None:
    started = make()
    started.keep_items()
    by_blocks(started, [(2, 1, 0)], np.random.default_rng(1))
    copies = [copy.deepcopy(started), started.select(np.arange(4)), pickle.loads(pickle.dumps(started))]
    blocks = ((3, 3, 3), (9, 0, 4), (0, 5, 0))
    found = [
        play(one, blocks, np.random.default_rng(2)) for play, one in zip((by_blocks, by_pulls), copies, strict=False)
    ]
    if started.draws() is not None:
        found.append(compiled(copies[2], ((0, 0, 0), *blocks), np.random.default_rng(3)))
    for other in found[1:]:
        np.testing.assert_allclose(other.means, found[0].means, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(other.variances, found[0].variances, rtol=1e-12, atol=1e-12)
    rewards = copies[1].item_rewards(np.repeat(np.arange(4)[:, None], 9, axis=1), np.tile(np.arange(2, 11), (4, 1)))
    pulled = [started.pull(np.arange(4) * 3, np.random.default_rng(4)) for _ in range(9)]
    np.testing.assert_allclose(rewards[:, :, 0].T, pulled, rtol=1e-12)


def test_blocks_of_many_items_are_the_same_by_products_of_matrices(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    for scores in (rng.integers(0, 2, (50, 4)).astype(float), rng.integers(-9, 9, (50, 4)) / 4.0):
        candidates = np.array([[3, 0, 1], [2, 1, 0], [0, 1, 2]])
        rows: list[IntArray] = [np.array([[20, 20, 20], [5, 40, 0], [0, 0, 70]]), np.array([[3, 4, 60]] * 3)]
        found = []
        for numbers in (0, 10**9):
            monkeypatch.setattr(paired_finite, "PRODUCT", numbers)
            bandit = PairedFiniteBandit(scores, candidates)
            rewards = np.random.default_rng(1)
            found.append(merged([bandit.pull_block(counts, rewards) for counts in rows]))
        np.testing.assert_array_equal(found[0].means, found[1].means)
        np.testing.assert_allclose(found[0].variances, found[1].variances, rtol=1e-12)


def test_equal_arms_have_exactly_equal_statistics() -> None:
    scores = np.random.default_rng(0).integers(0, 2, (40, 1)).repeat(3, axis=1)
    block = PairedFiniteBandit(scores, np.array([[0, 1, 2]] * 5)).pull_block(
        np.full((5, 3), 33), np.random.default_rng(1)
    )
    assert (block.means == block.means[:, :1]).all() and (block.variances == block.variances[:, :1]).all()


def test_factors_give_the_correlations_with_few_random_numbers() -> None:
    shared = np.full((10, 10), 0.9)
    shared[0], shared[:, 0] = 0.0, 0.0  # rivals that resemble each other, but not the best arm
    np.fill_diagonal(shared, 1.0)
    negative = np.full((4, 4), -1 / 3) + np.eye(4) * 4 / 3
    for bandit, expected, factors in (
        (gaussian(1, 0.5), np.full((3, 3), 0.5) + np.eye(3) * 0.5, 1),
        (gaussian(1, 0.0), np.eye(3), 1),
        (gaussian(1, 1.0), np.ones((3, 3)), 1),
        (gaussian(1), COVARIANCE / np.sqrt(np.outer(COVARIANCE.diagonal(), COVARIANCE.diagonal())), 3),
        (PairedGaussianBandit(np.zeros(10), correlation=shared), shared, 2),
        (PairedGaussianBandit(np.zeros(4), correlation=-1 / 3), negative, 3),
    ):
        np.testing.assert_allclose(bandit.correlations, expected, atol=1e-12)
        assert bandit.draws().arms.loadings.shape[1] == factors


def test_an_arm_behind_a_block_that_was_drawn_at_once_is_pulled_in_plain_python() -> None:
    bandit = gaussian(2)
    by_blocks(bandit, [(5, 5, 0)], np.random.default_rng(0))
    assert bandit.draws() is None
    by_pulls(bandit, [(0, 0, 5)], np.random.default_rng(0))
    assert bandit.draws() is not None


def test_instances_are_replaced_before_or_between_single_pulls() -> None:
    for make in (gaussian, finite):
        bandit, other, rng = make(3), make(1), np.random.default_rng(0)
        by_pulls(other, [(4, 0, 0)], rng)
        by_pulls(bandit, [(1, 1, 1)], rng)
        bandit.replace(np.array([1]), other)
        expected = [other.pull(np.array([0]), rng)[0] for _ in range(3)]
        assert [bandit.pull(np.array([3]), rng)[0] for _ in range(3)] == expected
    played = gaussian(2)
    by_blocks(played, [(2, 2, 2)], np.random.default_rng(0))
    with pytest.raises(InstanceError, match="cannot be replaced after a block"):
        played.replace(np.array([0]), gaussian(1))


def test_a_wrapper_of_paired_arms_is_paired() -> None:
    wrapped = PriorBandit(finite(2), GaussianPrior(np.eye(3)))
    assert wrapped.paired and not FiniteBandit.paired
    wrapped.keep_items()
    reward = wrapped.pull(np.array([1]), np.random.default_rng(0))
    assert wrapped.item_rewards(np.array([0]), np.array([0]))[0, 1] == reward[0]


WRONG: dict[str, Callable[[], object]] = {
    "neither": lambda: PairedGaussianBandit(MEANS),
    "both": lambda: PairedGaussianBandit(MEANS, correlation=0.1, covariance=COVARIANCE),
    "variances of a covariance": lambda: PairedGaussianBandit(MEANS, [1, 1, 1], covariance=COVARIANCE),
    "correlation too small": lambda: PairedGaussianBandit(MEANS, correlation=-0.6),
    "correlation too large": lambda: PairedGaussianBandit(MEANS, correlation=1.5),
    "no number": lambda: PairedGaussianBandit(MEANS, correlation="high"),
    "wrong shape": lambda: PairedGaussianBandit(MEANS, covariance=np.eye(4)),
    "not symmetric": lambda: PairedGaussianBandit(MEANS, covariance=np.triu(np.ones((3, 3)))),
    "not semidefinite": lambda: PairedGaussianBandit(MEANS, covariance=np.eye(3) - 0.9),
    "negative variance": lambda: PairedGaussianBandit(MEANS, covariance=-np.eye(3)),
    "no ones": lambda: PairedGaussianBandit(MEANS, correlation=2 * np.eye(3)),
    "scores not finite": lambda: PairedFiniteBandit(np.full((3, 3), np.nan), np.array([[0, 1]])),
    "no such candidate": lambda: PairedFiniteBandit(SCORES, np.array([[0, 3]])),
    "one arm": lambda: PairedFiniteBandit(SCORES, np.array([[0]])),
    "no matrix": lambda: PairedFiniteBandit(np.ones(3), np.array([[0, 1]])),
    "items of unpaired arms": lambda: FiniteBandit(
        FinitePopulations.of(SampleTable.of(np.ones(4), np.array([0, 2, 4]))), np.array([[0, 1]])
    ).keep_items(),
}


@pytest.mark.each("call", WRONG.values(), ids=WRONG)
def test_impossible_instances_are_rejected_in_one_line(call: Callable[[], object]) -> None:
    with pytest.raises(InstanceError) as error:
        call()
    assert "\n" not in str(error.value)
