"""Agents that play tasks about several metrics."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bai_gym
from bai_gym.agents import make, names
from bai_gym.metrics import ParetoSet
from bai_gym.theory.deviations import gaussian_c

RUNS = 500
PARETO = ((0.0, 1.0), (0.6, 0.6), (1.0, 0.0), (0.3, 0.3), (0.4, -0.3))


def test_many_agents_play() -> None:
    play = [agent.stops for agent in map(make, names()) if agent.plays(ParetoSet())]
    assert len(play) >= 12 and sum(play) >= 9
    for path in ("blocks", "steps"):
        for name in ("Uniform", "EB-TCI", "EGE-SR", "EGE-SH"):
            result = bai_gym.evaluate(name, "BAI-Pareto-v0", budget=1200, runs=9, path=path)
            assert result.error_probability <= 0.6 and sum(result.mean_pulls) < 1200.5, (name, path)


def plain_ege_sr(budget: int, rng: np.random.Generator) -> set[int]:
    """Return the answer of EGE-SR, by the definitions of the paper, in one run with independent unit variances."""
    arms, undecided, taken, before = len(PARETO), [*range(len(PARETO))], set(), 0
    sums, log_bar = np.zeros((arms, 2)), 0.5 + sum(1 / i for i in range(2, arms + 1))
    for phase in range(1, arms):
        length = int(np.ceil((budget - arms) / (log_bar * (arms + 1 - phase))))
        for i in undecided:
            sums[i] += rng.normal(PARETO[i], 1.0, (length - before, 2)).sum(axis=0)
        before = length
        m = {(i, j): (sums[j] - sums[i]).min() for i in undecided for j in undecided if i != j}
        gap = {i: max(m[i, j] for j in undecided if j != i) for i in undecided}
        best = [i for i in undecided if gap[i] <= 0]
        for i in best:
            plus = [min(-m[i, j], -m[j, i]) for j in best if j != i]
            gap[i] = min(plus + [max(-m[j, i], 0.0) + gap[j] for j in undecided if j not in best])
        chosen = max(undecided, key=lambda i: (gap[i], i not in best))
        taken |= {chosen} & {*best}
        undecided.remove(chosen)
    return taken | {*undecided}


def test_ege_sr_has_the_distribution_of_a_plain_simulation() -> None:
    rng, env = np.random.default_rng(0), {"means": PARETO}
    found = np.mean([plain_ege_sr(120, rng) == {0, 1, 2} for _ in range(2000)])
    result = bai_gym.evaluate("EGE-SR", "BAI-CustomMetrics-v0", budget=120, runs=6000, env_kwargs=env)
    assert 0.2 < found < 0.9 and abs(found - 1.0 + result.error_probability) < 0.05, found  # four standard errors


GUARDED = np.array([[0.5, 0.3], [0.9, -0.3], [0.2, 1.0], [0.4, 0.2]])  # the first is the best with a second mean >= 0


def plain_bfai_ts(rng: np.random.Generator, budget: int) -> tuple[int, np.ndarray]:
    """Return the answer of BFAI-TS and the pulls, of unit variances that are known, after a pull for each metric."""
    total, n = rng.normal(GUARDED) + rng.normal(GUARDED), np.full(4, 2.0)

    def best(among: np.ndarray, tried: np.ndarray) -> int:
        feasible = tried[:, 1] >= 0
        return int(np.where(feasible, tried[:, 0], -np.inf).argmax()) if feasible.any() else int(rng.choice(among))

    while n.sum() < budget:
        mean, error = total / n[:, None], 1 / np.sqrt(n[:, None])
        tried = rng.normal(mean, error)
        arm = best(np.arange(4), tried)
        if (tried[:, 1] >= 0).any() and rng.random() >= 0.5:
            other = arm
            while other == arm:
                other = best(np.delete(np.arange(4), arm), rng.normal(mean, error))
            arm = other
        total[arm] += rng.normal(GUARDED[arm])
        n[arm] += 1
    return best(np.array([4]), total / n[:, None]), n


def test_agents_for_guardrails_have_the_laws_of_simulations() -> None:
    compare_with(make("BFAI-TS", posterior="normal", sigma=1.0), plain_bfai_ts)
    compare_with(make("TopTwo-TCI", family="gaussian", sigma=1.0), plain_top_two_tci)


def compare_with(agent: Any, plain: Any) -> None:
    env = {"means": GUARDED.tolist(), "goals": ["max", ">= 0"], "shuffle": False}
    result = bai_gym.evaluate(agent, "BAI-CustomMetrics-v0", budget=60, runs=4000, env_kwargs=env)
    rng = np.random.default_rng(1)
    answers, pulls = zip(*(plain(rng, 60) for _ in range(RUNS)), strict=True)
    errors = np.mean(np.array(answers) != 0)
    assert abs(errors - result.error_probability) < 4 * np.sqrt(0.2 * (1 / RUNS + 1 / 4000)), errors
    spread = np.std(pulls, axis=0) * np.sqrt(1 / RUNS + 1 / 4000)
    assert (abs(np.mean(pulls, axis=0) - result.mean_pulls) < 4.5 * spread).all(), np.mean(pulls, axis=0)


def plain_top_two_tci(rng: np.random.Generator, budget: int) -> tuple[int, np.ndarray]:
    """Return the same of TopTwo-TCI."""
    total, n = rng.normal(GUARDED) + rng.normal(GUARDED), np.full(4, 2.0)
    while n.sum() < budget:
        mean = total / n[:, None]
        value = np.where(mean[:, 1] >= 0, mean[:, 0], -np.inf)
        leader = int(value.argmax()) if np.isfinite(value.max()) else -1
        index = np.log(n) + n * np.minimum(mean[:, 1], 0) ** 2 / 2  # costs of what is violated
        if leader >= 0:
            better = np.maximum(mean[leader, 0] - mean[:, 0], 0)
            index += better**2 / (2 / n + 2 / n[leader])
            index[leader] = np.log(n[leader]) + n[leader] * mean[leader, 1] ** 2 / 2
        arm = leader if leader >= 0 and rng.random() < 0.5 else int(index.argmin())
        total[arm] += rng.normal(GUARDED[arm])
        n[arm] += 1
    mean = total / n[:, None]
    return int(np.where(mean[:, 1] >= 0, mean[:, 0], -np.inf).argmax()) if (mean[:, 1] >= 0).any() else 4, n


def test_pulls_do_not_depend_on_the_units_of_metrics() -> None:
    for name in ("EB-TCI", "T3C", "LUCB"):
        pulls = []
        for unit in (1.0, 1024.0):
            env = {"means": (GUARDED * [1.0, unit]).tolist(), "variances": [[0.5, 0.3 * unit**2]] * 4}
            env |= {"goals": ["max", ">= 0"], "shuffle": False}
            pulls.append(bai_gym.evaluate(name, "BAI-CustomMetrics-v0", budget=150, runs=20, env_kwargs=env).mean_pulls)
        assert pulls[0].tolist() == pulls[1].tolist(), name


def test_track_and_stop_counts_a_pull_once_and_adds_up_the_costs_of_a_group() -> None:
    # The second arm must satisfy two limits at once, at the cost .09 w_2; the third one must become better than the
    # first, at .125 / (1 / w_1 + 1 / w_3): equal for w_1 = w_3 = x and .09 w_2 = .0625 x, if w_4 is hardly anything.
    means = [[0.0, 3.0, 3.0], [1.0, -0.3, -0.3], [-0.5, 3.0, 3.0], [-4.0, -4.0, -4.0]]
    env = {"means": means, "goals": ["max", ">= 0", ">= 0"], "fixed_confidence": True}
    x = 1.0 / (2.0 + 0.0625 / 0.09)
    for tracking in ("D", "C"):
        agent = make("TrackAndStop", delta=1e-300, family="gaussian", tracking=tracking)
        result = bai_gym.evaluate(agent, "BAI-CustomMetrics-v0", budget=1500, runs=40, env_kwargs=env)
        shares = np.array(result.mean_pulls) / 1500
        np.testing.assert_allclose(shares, [x, 1.0 - 2.0 * x, x, 0.02], atol=0.045, err_msg=tracking)


@pytest.mark.slow
def test_errors_are_below_delta_where_metrics_are_correlated() -> None:
    guarded = ((0.5, 0.5), (1.0, -0.5), (0.0, 1.0)), ((0.5, -0.5), (1.0, -0.6))
    for means, goals in ((PARETO, None), *((means, ("max", ">= 0")) for means in guarded)):
        env = {"means": means, "goals": goals, "correlation": 0.9, "fixed_confidence": True}
        for name in ("EB-TCI", "LUCB"):
            result = bai_gym.evaluate(name, "BAI-CustomMetrics-v0", runs=200, env_kwargs=env)
            assert result.error_probability <= 0.1, (name, means)  # far below: mixtures are cautious


ARMS = np.array([[0.0, 3.0], [3.0, 0.0], [-1.5, 1.2], [2.4, 2.4], [0.6, -3.0]])  # arms 0, 1 and 3


def bounds(total: np.ndarray, n: np.ndarray, pairs: float) -> tuple[np.ndarray, np.ndarray]:
    """Return M(i, j) - beta_ij and M(i, j) + beta_ij; inf for i = j."""
    mean, log = total / n[:, None], np.log(4 + np.log(n))
    level = gaussian_c(np.log(pairs / 0.1) / 2)
    beta = 2 * np.sqrt((level + log[:, None] + log) * (1 / n[:, None] + 1 / n))
    lead = (mean[:, None] - mean).max(axis=-1) + np.where(np.eye(len(n), dtype=bool), np.inf, 0)
    return lead - beta, lead + beta


def ape(rng: np.random.Generator) -> tuple[float, set[int]]:
    """Return the pulls and the answer of APE, by arrays."""
    total, n = rng.normal(ARMS), np.ones(5)
    while True:
        low, high = bounds(total, n, 20.0)
        undecided = low.min(axis=1) <= 0
        promise = np.where(undecided, high.min(axis=1), -np.inf)
        if promise.max() < 0:
            return n.sum(), {*np.flatnonzero(~undecided).tolist()}
        b = promise.argmax()
        pulled = min(b, low[b].argmin(), key=lambda arm: n[arm])
        total[pulled] += rng.normal(ARMS[pulled])
        n[pulled] += 1


def elimination(rng: np.random.Generator) -> tuple[float, set[int]]:
    """Return the pulls and the answer of PSI-Elimination, by sets of arms."""
    arms, found, total, n = [*range(5)], set(), np.zeros((5, 2)), np.zeros(5)
    while arms:
        total[arms] += rng.normal(ARMS[arms])
        n[arms] += 1
        low, high = bounds(total[arms], n[arms], 20.0)
        keep = np.flatnonzero(high.min(axis=1) >= 0)
        low = low[np.ix_(keep, keep)]
        sure = low.min(axis=1) >= 0
        taken = {arms[keep[j]] for j in range(len(keep)) if sure[j] and (low[~sure][:, j] > 0).all()}
        arms, found = [arms[i] for i in keep if arms[i] not in taken], found | taken
    return n.sum(), found


def test_agents_of_fixed_confidence_have_the_law_of_a_simulation() -> None:
    assert abs(gaussian_c(3.0) - 4.648) < 1e-3  # by a grid over the rates
    env = {"means": ARMS.tolist(), "fixed_confidence": True, "budget": 100_000}
    for name, simulate in (("APE", ape), ("PSI-Elimination", elimination)):
        result = bai_gym.evaluate(name, "BAI-CustomMetrics-v0", runs=100, seed=1, env_kwargs=env)
        rng = np.random.default_rng(0)
        played = [simulate(rng) for _ in range(60)]
        pulls = np.array([pulls for pulls, _ in played])
        assert result.errors == 0 and all(answer == {0, 1, 3} for _, answer in played), name
        apart = float(np.sum(result.mean_pulls)) - pulls.mean()
        assert abs(apart) < 4 * pulls.std() * np.sqrt(1 / 100 + 1 / 60), (name, apart, pulls.mean())


def test_a_note_says_that_noise_is_larger_than_assumed() -> None:
    env = {"means": ARMS.tolist(), "variances": np.full((5, 2), 4.0).tolist(), "fixed_confidence": True, "budget": 50}
    for name, said in (("APE", True), ("PSI-Elimination(sigma=2)", False)):
        notes = bai_gym.evaluate(name, "BAI-CustomMetrics-v0", runs=2, env_kwargs=env).notes
        assert any("standard deviations" in note for note in notes) == said, name
