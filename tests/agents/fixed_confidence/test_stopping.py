"""Stopping rules: evidence and thresholds by hand and against searches, notes in tables, and errors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import t as student_t

import bai_gym
from bai_gym import agents
from bai_gym.agents.fixed_confidence.stopping import (
    THRESHOLDS,
    ConfidenceState,
    common_term,
    likelihood_ratio,
    own_term,
)
from bai_gym.bandits import EmpiricalBandit, GaussianBandit, SampleTable
from bai_gym.bandits.finite import FiniteBandit, FinitePopulations
from bai_gym.errors import AgentError
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import STOP, Engine
from bai_gym.statistics import Statistics
from bai_gym.tasks import BestArm
from bai_gym.theory import bernoulli_kl
from bai_gym.theory.deviations import exponential_family_c, gaussian_c, inverse_h

Play = Callable[..., Any]
K, DELTA = 4, 0.1


def test_functions_of_the_thresholds() -> None:
    for u in (1.0, 1.001, 1.5, 3.0, 60.0):
        assert inverse_h(u - math.log(u)) == pytest.approx(u, rel=1e-7)
    points = [1.0, math.log(10), 5.0, 10.0, 20.0]
    # Computed independently, by Lambert's function and by a grid.
    assert [exponential_family_c(x) for x in points] == pytest.approx(
        [9.1045, 11.3503, 15.1914, 21.4468, 32.9148], 4e-6
    )
    assert max(np.diff([exponential_family_c(x) for x in np.linspace(0.0, 1.0, 1001)])) < 0.1  # two forms meet
    assert [gaussian_c(x) for x in points] == pytest.approx([2.5071, 3.9063, 6.7573, 11.9546, 22.2033], abs=6e-5)


def state(family: str, threshold: str, num_arms: int, sigma: Any = 1.0) -> Any:
    """The state of an agent at the start; with sigma None, variances are known to be 1, 4, ..."""
    agent = agents.make("EB-TC", family=family, threshold=threshold, sigma=sigma or "oracle", delta=DELTA)
    truth = GaussianBandit([[0.0] * num_arms], [np.arange(1.0, num_arms + 1.0) ** 2])
    agent.reset(ProblemInfo(num_arms, 100, truth=truth, knows=agent.knows))
    known = np.broadcast_to(np.ravel(agent.values.get("variances", 0.0)), num_arms)
    names = ("family", "threshold", "level", "constant", "single", "strength", "offset", "group", "given")
    values = {name: agent.values[name] for name in names}
    pair = {"first": np.array([0.0]), "second": np.array([1.0])}  # that arm 0 is better than arm 1
    return ConfidenceState.of(**values, **pair, variances=known)


def threshold_of(e: Any, s: Any) -> float:
    """The threshold for arms 0 and 1."""
    return common_term(e, s) + own_term(e.pulls[0], s) + own_term(e.pulls[1], s)


def seen(pulls: Any, means: Any, variances: Any) -> Statistics:
    return Statistics(np.array([pulls]), np.array([means], float), np.array([variances], float))


@pytest.mark.each(
    ("family", "threshold", "expected"),
    [  # K = 4, delta = 0.1 and t = 1000
        ("gaussian", "gk16", 4.3704),
        ("bernoulli", "gk16-bernoulli", 11.0021),
        ("bernoulli", "tt-bounded", 17.8344),
        ("bernoulli", "kk21", 32.6030),  # 500 pulls of each of the two arms
        ("gaussian", "kk21-gauss", 15.8194),
    ],
)
def test_thresholds_at_a_thousand_pulls(episode: Play, family: str, threshold: str, expected: float) -> None:
    pulls = [500, 500, 1, 1] if threshold.startswith("kk21") else [250] * 4
    value = threshold_of(episode(pulls, [0.5, 0.4, 0.3, 0.2]), state(family, threshold, K)[0])
    assert value == pytest.approx(expected, abs=6e-5)


@pytest.mark.each(("threshold", "expected"), [("gk16", 4.3704), ("kk21-gauss", 15.8194)])
def test_evidence_above_the_threshold_separates(threshold: str, expected: float) -> None:
    # W = gap^2 / (2 (1/500 + 1/500)) of the best two arms; both others are far below.
    for share in (0.99, 1.01):
        statistics = seen([500, 500, 1, 1], [math.sqrt(share * expected / 125), 0.0, -100.0, -100.0], [0.0] * 4)
        agent = agents.make("EB-TC", threshold=threshold, sigma=1.0, delta=DELTA)
        agent.reset(ProblemInfo(K, 2000), np.random.default_rng(0))
        chosen = Engine(agent.sequential(1), statistics, 1002, None, variances=True).choose()
        assert (chosen[0] == STOP) == (share > 1), share


def test_the_student_threshold_is_just_above_the_quantiles(episode: Play) -> None:
    for n, m in ((2, 3), (10, 40), (1000, 5000)):
        exact = 0.0
        for pulls in (n, m):
            q = student_t.isf(3 * DELTA / (math.pi**2 * K * pulls**2), pulls - 1)
            exact += pulls / 2 * math.log1p(q * q / (pulls - 1))
        value = threshold_of(episode([n, m, 2, 2], [0.5, 0.4, 0.3, 0.2]), state("student", "student", K)[0])
        assert exact <= value <= 1.05 * exact + 1.0


def test_evidence_is_the_least_cost_of_another_order(episode: Play) -> None:
    pulls, means, x = np.array([5, 12]), np.array([0.7, 0.4]), np.linspace(0.4, 0.7, 100_001)
    square = (means[:, None] - x) ** 2
    for variances in ([0.04, 0.09], [9e-4, 1e-4], [1e-4, 9e-4]):  # the latter two with several minima
        biased = (variances * (pulls - 1) / pulls)[:, None]
        for family, cost in (
            ("gaussian", 0.5 * square / [[1.0], [4.0]]),
            ("bernoulli", bernoulli_kl(means[:, None], x)),
            ("student", 0.5 * np.log1p(square / biased)),
        ):
            e, (s, w) = episode(pulls, means, variances), state(family, THRESHOLDS[family][0], 2, None)
            assert likelihood_ratio(e, s, w, 0) == pytest.approx((pulls @ cost).min(), rel=1e-5), family
            w.first[0], w.second[0] = 1, 0
            assert likelihood_ratio(e, s, w, 0) == 0.0


@pytest.mark.each(
    ("agent", "env", "noted"),
    [
        ("T3C", "BAI-FC-Brake4-v0", "T3C: family='student', chosen for real rewards"),
        (
            "T3C(sigma=0.5)",
            "BAI-FC-Brake4-v0",
            "T3C(sigma=0.5): family='gaussian', chosen for real rewards"
            "T3C: its confidence is proved for 0.5-sub-Gaussian rewards, and these need not be; give it sigma=",
        ),
        ("T3C(sigma=oracle, family=gaussian)", "BAI-FC-Menard-v0", None),
        ("T3C(sigma=oracle, family=gaussian)", "BAI-FC-GK1-v0", "proved for Gaussian rewards, and these are in"),
        ("T3C(family=student)", "BAI-FC-Menard-v0", None),
        ("T3C(family=student)", "BAI-FC-GK1-v0", "proved for Gaussian rewards, and these are in"),
        ("KL-LUCB(threshold=gk16, family=bernoulli)", "BAI-FC-GK1-v0", "KL-LUCB: the threshold gk16 is a heuristic"),
        (
            "Tri-BBAI(threshold=tt-bounded, family=gaussian, sigma=1.0)",
            "BAI-FC-GK1-v0",
            "the threshold tt-bounded is a heuristic",
        ),
    ],
)
def test_tables_say_what_is_not_proved(agent: str, env: str, noted: str | None) -> None:
    notes = bai_gym.evaluate(agent, env, runs=1, budget=60).notes
    assert all(noted is not None and (noted in note or note in noted) for note in notes) and bool(notes) == bool(noted)


def test_rewards_that_contradict_the_family() -> None:
    for name in ("TrackAndStop", "KL-LUCB", "KL-Racing"):
        agent = agents.make(name, family="bernoulli")
        with pytest.raises(
            AgentError, match=f"{name} with family='bernoulli' needs rewards in \\[0, 1\\], but got another"
        ):
            bai_gym.evaluate(agent, "BAI-FC-Menard-v0", runs=3)


def test_an_accuracy_is_refused_by_agents_that_look_for_the_best_arm() -> None:
    with pytest.raises(
        AgentError, match="Tri-BBAI looks for the best arm itself: use an environment with epsilon=0, not 0.1"
    ):
        agents.make("Tri-BBAI").reset(ProblemInfo(4, 500, task=BestArm(0.1)))
    for name in ("KL-LUCB", "T3C"):
        agents.make(name).reset(ProblemInfo(4, 500, task=BestArm(0.1)))


def test_tied_arms_are_never_separated() -> None:
    for name, family in (("EB-TC", "gaussian"), ("KL-LUCB", "bernoulli"), ("FWS", "bernoulli")):
        found = bai_gym.evaluate(
            agents.make(name, family=family),
            "BAI-FC-Custom-v0",
            runs=1,
            budget=1000,
            env_kwargs={"means": [1.0, 1.0, 0.0], "distribution": "bernoulli"},
        )
        assert found.truncated == 1


def test_a_guarantee_for_independent_rewards_is_noted_where_items_run_out() -> None:
    table = SampleTable.of(np.array([0.0, 1.0, 0.0, 0.5]), np.array([0, 2, 4]))
    finite = FiniteBandit(FinitePopulations.of(table), np.arange(2)[None])
    for name, given in (("T3C", {}), ("KL-LUCB", {"sigma": 1.0}), ("LUCB", {"sigma": 1.0})):
        (note,) = agents.make(name, **given).unmet_assumptions(finite)
        assert "no item is drawn twice" in note, name


def test_a_guarantee_for_rewards_in_the_unit_interval_is_noted_where_they_leave_it() -> None:
    for rewards, notes in (([0.0, 0.5, 1.0], 0), ([-0.5, 0.5, 1.0], 1), ([0.0, 0.5, 1.5], 1)):
        arms = EmpiricalBandit(SampleTable.of(np.array(rewards * 2), np.array([0, 3, 6])), np.arange(2)[None])
        assert len(agents.make("T3C", family="bernoulli").unmet_assumptions(arms)) == notes, rewards
