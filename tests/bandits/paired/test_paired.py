"""Paired arms: the j-th pull of every arm is played on item j."""

from __future__ import annotations

import copy
import itertools
import pickle
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from scipy.stats import ks_2samp

from bai_gym.bandits import FeatureBandit, FiniteBandit, FinitePopulations, SampleTable
from bai_gym.errors import InstanceError
from bai_gym.paired import PairedBandit, PairedFiniteBandit, PairedGaussianBandit
from bai_gym.paired.bandits import finite as paired_finite
from bai_gym.statistics import FloatArray, IntArray

RUNS = 5_000
MEANS = (0.3, 0.0, -0.2)
COVARIANCE = np.array([[1.0, 0.9, -0.4], [0.9, 4.0, 0.2], [-0.4, 0.2, 0.5]])
SCORES = np.array(
    [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 2.5], [0.0, 0.0, 0.0], [1.0, 1.0, 0.0]]
)

# Blocks of pulls of each arm: equal ones; of arms that no other is ahead of, and then of the others; unequal ones.
BLOCKS: dict[str, tuple[tuple[int, int, int], ...]] = {
    "equal": ((5, 5, 5), (3, 3, 3)),
    "late": ((3, 3, 0), (4, 4, 0), (0, 0, 2), (1, 1, 7)),
    "short": ((1, 1, 0), (1, 1, 0), (2, 2, 0), (0, 0, 4)),
    "unequal": ((6, 2, 5), (1, 7, 2)),
}


def gaussian(batch: int, correlation: float | None = None) -> PairedGaussianBandit:
    if correlation is not None:
        return PairedGaussianBandit([MEANS] * batch, [[1.0, 4.0, 0.5]] * batch, correlation=correlation)
    return PairedGaussianBandit([MEANS] * batch, covariance=COVARIANCE)


def finite(batch: int, *, replace: bool = False) -> PairedFiniteBandit:
    return PairedFiniteBandit(SCORES, np.tile(np.arange(3), (batch, 1)), replace=replace)


@pytest.fixture
def plays(ways: dict[str, Any]) -> dict[str, Any]:
    """The ways to pull, and by blocks whose items are kept."""

    def by_items(bandit: PairedBandit, blocks: Any, rng: np.random.Generator) -> Any:
        bandit.keep_items()
        return ways["blocks"](bandit, blocks, rng)

    return ways | {"items": by_items}


def values(means: FloatArray, variances: FloatArray) -> list[FloatArray]:
    """Return functions of the statistics whose distributions show how those of different arms depend on each other."""
    columns = [*means.T, *variances.T]
    for i, k in itertools.combinations(range(3), 2):
        columns += [means[:, i] - means[:, k], variances[:, i] * variances[:, k]]
        columns += [(means[:, i] - MEANS[i]) * (means[:, k] - MEANS[k]) * variances[:, i]]
    return [column.round(9) for column in columns]


def simulated(rewards: FloatArray, blocks: Sequence[Sequence[int]]) -> list[FloatArray]:
    """Return the values of ``(N, items, K)`` rewards, of as many items for each arm as it has pulls."""
    parts = [rewards[:, :count, arm] for arm, count in enumerate(np.sum(blocks, axis=0))]
    means, variances = [part.mean(axis=1) for part in parts], [part.var(axis=1, ddof=1) for part in parts]
    return values(np.stack(means, axis=1), np.stack(variances, axis=1))


LEVEL = 0.001 / (4 * 4 * 15 * 4)  # ways, sequences of blocks, values, kinds: false alarms 1 in 1,000


@pytest.mark.each("blocks", BLOCKS.values(), ids=BLOCKS)
def test_statistics_have_the_distribution_of_a_plain_simulation(
    blocks: Sequence[Sequence[int]], plays: dict[str, Any]
) -> None:
    rng = np.random.default_rng(3)
    deviations = np.sqrt([1.0, 4.0, 0.5])
    equal = (0.3 + 0.7 * np.eye(3)) * np.outer(deviations, deviations)
    passes = [rng.permuted(np.tile(np.arange(6), (RUNS, 1)), axis=1) for _ in range(3)]
    kinds: dict[str, tuple[Callable[[], PairedBandit], FloatArray]] = {
        "covariance": (lambda: gaussian(RUNS), rng.multivariate_normal(MEANS, COVARIANCE, (RUNS, 12))),
        "correlation": (lambda: gaussian(RUNS, 0.3), rng.multivariate_normal(MEANS, equal, (RUNS, 12))),
        "passes": (lambda: finite(RUNS), SCORES[np.concatenate(passes, axis=1)]),
        "replacement": (lambda: finite(RUNS, replace=True), SCORES[rng.integers(6, size=(RUNS, 18))]),
    }
    for kind, (make, rewards) in kinds.items():
        expected = simulated(rewards, blocks)
        for way, play in plays.items():
            found = play(make(), blocks, np.random.default_rng(4))
            for one, other in zip(values(found.means, found.variances), expected, strict=True):
                assert ks_2samp(one, other, method="asymp").pvalue > LEVEL, (kind, way)


def test_covariances_of_means_are_those_of_theory(plays: dict[str, Any]) -> None:
    # Cov(m_i, m_k) = Sigma_ik / max(N_i, N_k); of a first pass, C_ik (n - N) / (N (n - 1)) with N the larger count.
    runs, blocks = 20_000, ((3, 3, 1), (0, 1, 2))
    most = np.maximum.outer((3, 4, 3), (3, 4, 3))
    centred = SCORES - SCORES.mean(axis=0)
    of_scores = centred.T @ centred / 6
    for play in plays.values():
        for bandit, expected in (
            (gaussian(runs), COVARIANCE / most),
            (finite(runs), of_scores * (6 - most) / (most * 5)),
            (finite(runs, replace=True), of_scores / most),
        ):
            means = play(bandit, blocks, np.random.default_rng(7)).means
            scale = np.sqrt(np.outer(expected.diagonal(), expected.diagonal()))
            # The standard deviation of a sample correlation, and of a relative variance, is at most sqrt(2 / runs).
            assert np.abs(np.cov(means.T) - expected) / scale == pytest.approx(0.0, abs=5 * np.sqrt(2 / runs))


def test_every_pass_goes_through_all_items_and_the_mean_is_then_exact(plays: dict[str, Any]) -> None:
    bandit = finite(3)
    rng = np.random.default_rng(0)
    first = plays["items"](bandit, [(6, 6, 6)], rng)
    np.testing.assert_array_equal(first.means, bandit.means)
    plays["blocks"](bandit, [(6, 12, 0)], rng)  # the third arm has made one pass, the second three
    rows, items = np.repeat(np.arange(3)[:, None], 18, axis=1), np.tile(np.arange(18), (3, 1))
    rewards = bandit.item_rewards(rows, items).reshape(3, 3, 6, 3)
    for one in rewards.reshape(9, 6, 3):
        assert sorted(map(tuple, one.tolist())) == sorted(map(tuple, SCORES.tolist()))
    assert len({one.tobytes() for one in rewards.reshape(9, 6, 3)}) > 5  # orders differ
    third = [bandit.pull(np.array([2, 5, 8]), rng) for _ in range(6)]
    np.testing.assert_array_equal(np.stack(third, axis=1), rewards[:, 1, :, 2])  # kept, or made again
    assert (bandit.num_items, finite(1, replace=True).num_items, bandit.limits()) == (6, None, (0.0, 2.5))
    np.testing.assert_allclose(bandit.variances[0], SCORES.var(axis=0))


@pytest.mark.each("make", [lambda: gaussian(4), lambda: finite(4), lambda: finite(4, replace=True)])
def test_all_ways_to_pull_give_the_same_rewards_on_the_same_items(
    make: Callable[[], PairedBandit], plays: dict[str, Any]
) -> None:
    started = make()
    plays["items"](started, [(2, 1, 0)], np.random.default_rng(1))
    copies = [copy.deepcopy(started), started.select(np.arange(4)), pickle.loads(pickle.dumps(started))]
    blocks = ((0, 0, 0), (3, 3, 3), (9, 0, 4), (0, 5, 0))
    pairs = zip(("blocks", "pulls", "loops"), copies, strict=True)
    found = [plays[way](bandit, blocks, np.random.default_rng(2)) for way, bandit in pairs]
    for other in found[1:]:
        np.testing.assert_allclose(other.means, found[0].means, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(other.variances, found[0].variances, rtol=1e-12, atol=1e-12)
    rewards = copies[1].item_rewards(np.repeat(np.arange(4)[:, None], 11, axis=1), np.tile(np.arange(11), (4, 1)))
    wrapped = FeatureBandit(started.select(np.arange(4)), np.eye(3))  # a wrapper of paired arms is paired
    assert wrapped.paired and not FiniteBandit.paired
    for bandit in (started, wrapped):
        pulled = [bandit.pull(np.arange(4) * 3, np.random.default_rng(4)) for _ in range(9)]
        np.testing.assert_allclose(rewards[:, 2:, 0].T, pulled, rtol=1e-12)
    some = started.pull_block(np.full((4, 2), 2), np.random.default_rng(0), arms=np.tile([2, 1], (4, 1)))
    expected = np.stack([rewards[:, :2, 2], rewards[:, 1:3, 1]], axis=1).mean(axis=2)
    np.testing.assert_allclose(some.means, expected, rtol=1e-12, atol=1e-12)


def test_blocks_of_many_items_are_the_same_by_products_of_matrices(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    for scores in (rng.integers(0, 2, (50, 4)).astype(float), rng.integers(-9, 9, (50, 4)) / 4.0):
        candidates = np.array([[3, 0, 1], [2, 1, 0], [0, 1, 2]])
        rows: list[IntArray] = [np.array([[20, 20, 20], [5, 40, 0], [0, 0, 70]]), np.array([[3, 4, 60]] * 3)]
        found: list[list[FloatArray]] = []
        for numbers in (0, 10**9):
            monkeypatch.setattr(paired_finite, "PRODUCT", numbers)
            bandit, rewards = PairedFiniteBandit(scores, candidates), np.random.default_rng(1)
            parts = [bandit.pull_block(counts, rewards) for counts in rows]
            found.append([part.means for part in parts] + [part.variances for part in parts])
        for one, other in zip(*found, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)


def test_equal_arms_have_exactly_equal_statistics() -> None:
    scores = np.random.default_rng(0).integers(0, 2, (40, 1)).repeat(3, axis=1)
    bandit = PairedFiniteBandit(scores, np.array([[0, 1, 2]] * 5))
    block = bandit.pull_block(np.full((5, 3), 33), np.random.default_rng(1))
    assert (block.means == block.means[:, :1]).all() and (block.variances == block.variances[:, :1]).all()


def test_factors_give_the_correlations_with_few_random_numbers() -> None:
    shared = np.full((10, 10), 0.9)
    shared[0], shared[:, 0] = 0.0, 0.0  # rivals that resemble each other, but not the best arm
    np.fill_diagonal(shared, 1.0)
    negative = np.full((4, 4), -1 / 3) + np.eye(4) * 4 / 3
    for bandit, expected, factors in (
        (gaussian(1, 0.5), np.full((3, 3), 0.5) + np.eye(3) * 0.5, 1),
        (gaussian(1, 1.0), np.ones((3, 3)), 1),
        (gaussian(1), COVARIANCE / np.sqrt(np.outer(COVARIANCE.diagonal(), COVARIANCE.diagonal())), 3),
        (PairedGaussianBandit(np.zeros(10), correlation=shared), shared, 2),
        (PairedGaussianBandit(np.zeros(4), correlation=-1 / 3), negative, 3),
    ):
        np.testing.assert_allclose(bandit.correlations, expected, atol=1e-12)
        assert bandit.draws().arms.loadings.shape[1] == factors


def test_instances_are_replaced_before_or_between_single_pulls(plays: dict[str, Any]) -> None:
    for make in (gaussian, finite):
        bandit, other, rng = make(3), make(1), np.random.default_rng(0)
        plays["pulls"](other, [(4, 0, 0)], rng)
        plays["pulls"](bandit, [(1, 1, 1)], rng)
        bandit.replace(np.array([1]), other)
        expected = [other.pull(np.array([0]), rng)[0] for _ in range(3)]
        assert [bandit.pull(np.array([3]), rng)[0] for _ in range(3)] == expected
    played = gaussian(2)
    plays["blocks"](played, [(2, 2, 2)], np.random.default_rng(0))
    with pytest.raises(InstanceError, match="cannot be replaced after a block"):
        played.replace(np.array([0]), gaussian(1))


def test_single_pulls_are_the_rewards_of_their_items() -> None:
    """Those of an only instance are drawn ahead: not across a replacement, nor across a block of other arms."""
    rng = np.random.default_rng(0)
    for make in (gaussian, finite, lambda batch: finite(batch, replace=True)):
        bandit, arms = make(1), rng.choice(3, 150, p=[0.6, 0.3, 0.1])
        pulled = [bandit.pull(np.array([arm]), rng)[0] for arm in arms]
        items = [np.count_nonzero(arms[:t] == arm) for t, arm in enumerate(arms)]
        rewards = bandit.item_rewards(np.zeros(150, np.int64), np.arange(150))
        np.testing.assert_allclose(pulled, rewards[items, arms], rtol=1e-12)
        played, other = make(1), make(1)
        played.pull(np.array([0]), rng)
        other.pull(np.array([1]), rng)
        played.replace(np.array([0]), other)
        assert [played.pull(np.array([0]), rng)[0] for _ in range(9)] == [
            other.pull(np.array([0]), rng)[0] for _ in range(9)
        ]
    late = gaussian(1)
    for arm in range(3):
        late.pull(np.array([arm]), rng)
    late.pull_block(np.array([[5, 5]]), rng, arms=np.array([[1, 2]]))
    pulled = [late.pull(np.array([0]), rng)[0] for _ in range(5)]
    np.testing.assert_allclose(pulled, late.item_rewards(np.zeros(5, np.int64), np.arange(1, 6))[:, 0], rtol=1e-9)


def test_impossible_instances_are_rejected_in_one_line() -> None:
    unpaired = FiniteBandit(FinitePopulations.of(SampleTable.of(np.ones(4), np.array([0, 2, 4]))), np.array([[0, 1]]))
    gaussians: list[tuple[dict[str, Any], str]] = [
        ({}, "correlation="),
        ({"correlation": 0.1, "covariance": COVARIANCE}, "covariance="),
        ({"variances": [1, 1, 1], "covariance": COVARIANCE}, "variances"),
        ({"correlation": -0.6}, "-0.5 to 1"),
        ({"covariance": np.eye(4)}, "shape"),
        ({"covariance": np.triu(np.ones((3, 3)))}, "symmetric"),
        ({"covariance": np.eye(3) - 0.9}, "semidefinite"),
        ({"correlation": 2 * np.eye(3)}, "ones"),
    ]
    calls: list[tuple[Callable[[], object], str]] = [
        (lambda keywords=keywords: PairedGaussianBandit(MEANS, **keywords), word) for keywords, word in gaussians
    ]
    calls += [
        (lambda: PairedFiniteBandit(np.full((3, 3), np.nan), np.array([[0, 1]])), "score"),
        (lambda: PairedFiniteBandit(SCORES, np.array([[0, 3]])), "numbered 0 to 2"),
        (lambda: PairedFiniteBandit(np.ones(3), np.array([[0, 1]])), "shape"),
        (unpaired.keep_items, "not paired"),
    ]
    for call, word in calls:
        with pytest.raises(InstanceError, match=word) as error:
            call()
        assert "\n" not in str(error.value)
