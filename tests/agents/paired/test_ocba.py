"""PairedOCBA: shares in the limit, pulls against all sets of arms, and what it keeps of the differences."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from bai_gym.agents import PairedOCBA
from bai_gym.agents.paired import ocba
from bai_gym.agents.paired.ocba import PairedOCBAState, pull_where_the_bound_falls_most
from bai_gym.agents.tools.variances import ESTIMATES
from bai_gym.paired import PairedGaussianBandit
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import TO_FIRST, Engine, Episode, Index
from bai_gym.statistics import FloatArray, Statistics

Play = Callable[..., Any]


def known(pulls: FloatArray, means: FloatArray, covariance: FloatArray, horizon: float, end: int) -> tuple[Any, ...]:
    """Return the episode and the state with which the rule knows the covariance; ``pulls`` are those of the episode."""
    k, variances = len(pulls), np.diagonal(covariance)
    of_differences = variances[:, None] + variances - 2 * covariance
    empty = np.zeros(k)
    s, w = PairedOCBAState.of(
        **{"estimate": ESTIMATES.index("sample"), "first": 2, "horizon": horizon, "scatter": of_differences.ravel()},
        **{name: empty for name in ("spread", "square", "weight", "joined", "value")},
    )
    arms, nothing, made = np.ones(k, np.int8), np.zeros((k, 0)), int(pulls.sum())
    index = Index(np.zeros(0), np.zeros(0))
    return Episode(k, pulls, means, variances, arms, nothing, index, -1, made, end, -1, 0.0, TO_FIRST), s, w


def chosen(pulls: FloatArray, means: FloatArray, covariance: FloatArray, horizon: float, end: int) -> int:
    """Return the arm that the rule pulls where it knows the covariance."""
    rng = np.random.default_rng(0)
    return pull_where_the_bound_falls_most(*known(pulls, means, covariance, horizon, end), rng)


def test_two_arms_get_the_best_shares() -> None:
    rng = np.random.default_rng(0)
    # Standard deviations 2 and 1, 1,200 pulls. N_1 / N_2 = sqrt(4 - 4 rho), or 1 from rho = 3/4 on.
    for rho, expected in [(0.0, 800), (0.5, 703), (0.75, 600), (0.9, 600)]:
        for means in ([0.01, 0.0], [0.0, 0.01]):
            pulls = np.full(2, 10.0)
            covariance = np.array([[4.0, 2.0 * rho], [2.0 * rho, 1.0]])
            e, s, w = known(pulls, np.array(means), covariance, 1.0, 1200)
            for made in range(20, 1200):
                pulls[pull_where_the_bound_falls_most(e._replace(made=made), s, w, rng)] += 1
            assert abs(pulls[0] - expected) <= 1, (rho, means, pulls)


def fall(weights: FloatArray, pulls: FloatArray, best: int, covariance: FloatArray, more: list[int]) -> float:
    """By how much B falls per pull, to first order, if some arms are pulled."""

    def variances(n: FloatArray) -> FloatArray:
        alone = np.diagonal(covariance) / n
        return np.asarray(alone[best] + alone - 2.0 * covariance[best] / np.maximum(n[best], n))

    after = pulls.copy()
    after[more] += 1.0
    change = variances(pulls) - variances(after)
    change[best] = 0.0
    return float(weights @ change / len(more))


def test_the_pull_is_that_of_the_best_set_of_arms() -> None:
    rng, kinds = np.random.default_rng(1), set()
    for case in range(300):
        k = int(rng.integers(2, 6))
        factors = rng.normal(size=(k, 2)) * rng.choice([0.3, 1.0]) + rng.choice([0.0, 1.0])
        covariance = factors @ factors.T + np.diag(rng.uniform(0.1, 1.0, k))
        pulls = np.full(k, 20.0) + rng.integers(0, 3, k) * rng.choice([0, 1, 8])
        means = rng.permutation(np.arange(k) * -1.0 - (np.arange(k) > 0) * 2.0)
        best, growth = int(means.argmax()), 2.0 * 400 / pulls.sum()
        alone = np.diagonal(covariance) / pulls
        of_means = alone[best] + alone - 2.0 * covariance[best] / np.maximum(pulls[best], pulls)
        gaps, step = means[best] - means, 1e-5
        of_means[best] = 1.0
        # The slope of log Phi(-z), which keeps digits that differences of Phi(-z) lack, times Phi(-z).
        ends = [norm.logcdf(-gaps * np.sqrt(growth / (of_means * (1 + sign * step)))) for sign in (-1, 1)]
        log_bound = norm.logcdf(-gaps * np.sqrt(growth / of_means))
        log_bound[best] = -np.inf
        weights = np.exp(log_bound - log_bound.max()) * (ends[1] - ends[0]) / (2 * step * of_means)
        others = [arm for arm in range(k) if arm != best]
        sets = [[arm] for arm in others]
        sets += [[best, *joined] for size in range(k) for joined in combinations(others, size)]
        falls = [fall(weights, pulls, best, covariance, arms) for arms in sets]
        first = sets[int(np.argmax(falls))][0]
        kinds.add((len(sets[int(np.argmax(falls))]), first == best))
        assert chosen(pulls, means, covariance, 2.0, 400) == first, case
    assert {(1, True), (1, False), (2, True), (3, True)} <= kinds


@pytest.mark.each("kept", [3, 500])
def test_differences_are_those_on_common_items(kept: int, script: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocba, "ITEMS", kept)
    X = np.random.default_rng(1).normal(size=(1, 80, 4)) * [1.0, 2.0, 0.5, 1.0] + [0.5, 0.4, 0.3, 0.0]
    bandit, agent = script(X), PairedOCBA(n0=3)
    agent.reset(ProblemInfo(4, 80, truth=bandit), np.random.default_rng(0))
    first = X[0, :3]
    differences = first[:, :, None] - first[:, None, :]
    plan = agent.start(
        {"differences": differences.mean(0)[None], "difference_variances": differences.var(0, ddof=1)[None]}
    )
    next(plan)
    request = plan.send(None)
    seen = Statistics(np.full((1, 4), 3), first.mean(0)[None], first.var(0, ddof=1)[None])
    engine = Engine(request, seen, 12, None, variances=True)
    for _ in range(68):
        arm = engine.choose()
        pulls, scatter = engine.statistics.pulls[0], engine.outcome.states["scatter"].reshape(4, 4)
        for i, k in combinations(range(4), 2):
            common = X[0, : min(pulls[i], pulls[k], 3 + kept)]
            squares = common.shape[0] * np.var(common[:, i] - common[:, k])
            assert scatter[i, k] == scatter[k, i] == pytest.approx(squares), (i, k, pulls)
        engine.update(arm, X[0, pulls[arm], arm])
    assert np.ptp(engine.statistics.pulls) > 3


def test_blocks_and_steps_agree_and_equal_columns_do_not_end_it(both: Play) -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(10, 60, 3)) + 2.0 * rng.normal(size=(10, 60, 1)) + [0.5, 0.3, 0.0]
    both(PairedOCBA(tie="first", n0=3), X, 60, fixed_confidence=False)
    X[:, :, 1] = X[:, :, 0]  # twins, which no pull tells apart
    pulls = both(PairedOCBA(tie="first", n0=3), X, 60, fixed_confidence=False).pulls
    assert (pulls.sum(axis=1) == 60).all() and (pulls[:, 2] > 3).any()
    constant = np.zeros((1, 60, 3)) + [0.0, 1.0, 0.5]
    assert both(PairedOCBA(tie="first", n0=2), constant, 30, fixed_confidence=False).recommendation.tolist() == [1]


def test_first_pulls_are_a_third_of_an_equal_share() -> None:
    for budget, first in [(20, 2), (70, 3), (240, 10), (300, 10), (960, 32)]:
        agent = PairedOCBA()
        agent.reset(ProblemInfo(10, budget, truth=PairedGaussianBandit([0.0] * 10, 1.0, correlation=0.5)))
        assert agent.first_pulls == first, budget
    assert PairedOCBA().minimum_budget(10) == 20 and PairedOCBA(n0=7).minimum_budget(10) == 70
