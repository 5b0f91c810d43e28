"""Agents of fixed confidence keep their promise: errors with probability at most delta, and they stop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import beta

import bai_gym
from bai_gym import agents
from bai_gym.agents.fixed_confidence.stopping import ConfidenceAgent
from bai_gym.bandits import Bandit, BernoulliBandit, GaussianBandit
from bai_gym.benchmark.rollout import Rollout, play_blocks
from bai_gym.errors import AgentError
from bai_gym.problems import ProblemInfo
from bai_gym.tasks import BestArm, Task, TopM

RUNS = 400
CAP = 100_000
DELTA = 0.1
LEVEL = 0.999

INSTANCES: dict[str, tuple[Bandit, list[Task]]] = {
    "four arms": (BernoulliBandit([0.9, 0.5, 0.4, 0.3]), [BestArm()]),
    "top m": (BernoulliBandit([0.4, 0.9, 0.1, 0.9, 0.3]), [TopM(2), TopM(3, 0.4), BestArm(0.2)]),
}
NAMES = ["UGapEc", "UGapEc-V", "LUCB"]
OTHERS = [name for name in agents.names() if isinstance(agents.make(name), ConfidenceAgent)]
# Agents that would take long with their default parameters.
QUICK: dict[str, dict[str, Any]] = {
    "TTTS-GLR": {"tries": 10},
    "TrackAndStop": {"lazy": 0.02},
}
SMALL = {"TrackAndStop", "T3C", "EB-TCI"}  # which also play the family of unknown variances
MAY_NOT_STOP = {"SE", "KL-Racing", "KL-LUCB", "EB-TC"}
CASES: dict[str, Bandit] = {
    "two arms": BernoulliBandit([0.8, 0.4]),
    "near 0": BernoulliBandit([0.4, 0.02, 0.02]),
    "equal others": GaussianBandit([0.7, 0.0, 0.0, 0.0], 0.25),
    "negative": GaussianBandit([-5.0, -5.8, -6.0], 0.25),
}


def play(agent: Any, bandit: Bandit, task: Task, seed: int = 0) -> Rollout:
    batch = bandit.select(np.zeros(RUNS, np.int64))
    info = ProblemInfo(bandit.num_arms, CAP, RUNS, task=task, fixed_confidence=True)
    agent.reset(info, np.random.default_rng([seed, 0]))
    return play_blocks(agent, batch, CAP, np.random.default_rng([seed, 1]), task)


def lower_limit(errors: int) -> float:
    """The Clopper-Pearson limit that the error probability exceeds with confidence LEVEL."""
    return float(beta.ppf(1 - LEVEL, errors, RUNS - errors + 1)) if errors else 0.0


def errors_of(rollout: Rollout, bandit: Bandit, task: Task) -> int:
    return int(np.count_nonzero(~task.correct(np.tile(bandit.means, (RUNS, 1)), rollout.recommendation)))


@pytest.mark.slow
@pytest.mark.each("instance", INSTANCES)
@pytest.mark.each("name", NAMES)
def test_errors_are_no_more_frequent_than_delta_and_it_stops(name: str, instance: str) -> None:
    bandit, tasks = INSTANCES[instance]
    for task in tasks:
        agent = agents.make(name, delta=DELTA)
        if task.name not in agent.tasks:
            with pytest.raises(AgentError, match=f"{name} does not support the task 'best-of-each'"):
                play(agent, bandit, task)
            continue
        rollout = play(agent, bandit, task)
        spent = rollout.pulls.sum(axis=1)
        assert spent.max() < CAP
        assert len(set(spent.tolist())) > 10  # each for itself
        assert lower_limit(errors_of(rollout, bandit, task)) <= DELTA


@pytest.mark.slow
@pytest.mark.each("instance", CASES)
@pytest.mark.each("name", OTHERS)
def test_proved_thresholds_hold(name: str, instance: str) -> None:
    bandit = CASES[instance]
    families = {"gaussian"} if name not in SMALL else {"gaussian", "student"}
    if isinstance(bandit, BernoulliBandit):
        families = {"gaussian", "bernoulli"} & set(agents.make(name).families)
    for family in sorted(families):
        for delta in (0.1, 0.01) if instance == "two arms" else (0.1,):  # errors at 0.1 tell more
            agent = agents.make(name, delta=delta, family=family, **QUICK.get(name, {}))
            if name == "FC-DSH" and family != "gaussian":
                continue
            assert (name == "lil-UCB" or not agent.notes) and not agent.unmet_assumptions(bandit)
            rollout = play(agent, bandit, BestArm())
            spent = rollout.pulls.sum(axis=1)
            # Agents that drop arms, or follow confidence bounds, may never stop where the best arm was unlucky.
            assert np.count_nonzero(spent >= CAP) <= (RUNS * delta if name in MAY_NOT_STOP else 0)
            assert lower_limit(errors_of(rollout, bandit, BestArm())) <= delta


# ------------------------------------------------------------------------------------------------ what is promised

TWO = {"means": [1.0, 0.5], "budget": 20_000}


@pytest.mark.each("name", ["UGapEc", "LUCB"])
def test_with_the_scale_of_the_rewards_the_confidence_holds(name: str) -> None:
    noisy = {**TWO, "variances": 16.0}
    without, given = (
        bai_gym.evaluate(agent, "BAI-FC-Custom-v0", runs=300, env_kwargs=noisy)
        for agent in (name, f"{name}(sigma=4.0)")
    )
    assert without.error_probability > 0.1 >= given.error_probability
    assert without.notes and not given.notes


@pytest.mark.each(
    ("agent", "keywords", "noted"),
    [
        ("UGapEc", {"distribution": "bernoulli"}, False),
        ("UGapEc-V", {"distribution": "bernoulli"}, False),
        ("UGapEc(b=0.5)", {"distribution": "bernoulli"}, True),
        ("UGapEc", {"variances": 0.01}, True),
        ("LUCB(sigma=0.1)", {"variances": 0.01}, False),
        ("LUCB(sigma=0.09)", {"variances": 0.01}, True),
        ("UGapEc(sigma=0.4)", {"distribution": "bernoulli"}, True),
    ],
)
def test_tables_say_where_a_confidence_is_not_proved(agent: str, keywords: dict[str, Any], noted: bool) -> None:
    found = bai_gym.evaluate(agent, "BAI-FC-Custom-v0", runs=2, env_kwargs={"means": [0.9, 0.1], **keywords})
    assert any("its confidence is proved for" in note for note in found.notes) is noted
