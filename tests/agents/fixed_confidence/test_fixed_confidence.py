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
from bai_gym.benchmark.rollout import play_blocks
from bai_gym.problems import ProblemInfo
from bai_gym.tasks import BestArm, Task, TopM

RUNS = 400
CAP = 100_000
LEVEL = 0.999

NAMES = [name for name in agents.names() if isinstance(agents.make(name), ConfidenceAgent)] + [
    "UGapEc",
    "UGapEc-V",
    "LUCB",
]
# Agents that would take long with their default parameters.
QUICK: dict[str, dict[str, Any]] = {"TTTS-GLR": {"tries": 10}, "TrackAndStop": {"lazy": 0.02}}
MAY_NOT_STOP = {"SE", "KL-Racing", "KL-LUCB", "EB-TC"}
INSTANCES: dict[str, tuple[Bandit, Task]] = {
    "two arms": (BernoulliBandit([0.8, 0.4]), BestArm()),
    "near 0": (BernoulliBandit([0.4, 0.02, 0.02]), BestArm()),
    "equal others": (GaussianBandit([0.7, 0.0, 0.0, 0.0], 0.25), BestArm()),
    "negative": (GaussianBandit([-5.0, -5.8, -6.0], 0.25), BestArm()),
    "top m": (BernoulliBandit([0.4, 0.9, 0.1, 0.9, 0.3]), TopM(3, 0.4)),
}


def families_of(name: str, bandit: Bandit) -> list[dict[str, Any]]:
    """Parameters of an agent for which its confidence is proved on these arms."""
    normal, agent = isinstance(bandit, GaussianBandit), agents.make(name)
    if not hasattr(agent, "family"):
        return [{}] if not normal else [{"sigma": 0.5}] if hasattr(agent, "sigma") else []
    if name == "FC-DSH" or normal:
        return [{"family": "gaussian"}] + ([{"family": "student"}] if name in {"T3C", "EB-TCI"} and normal else [])
    return [{"family": family} for family in sorted({"gaussian", "bernoulli"} & set(agent.families))]


@pytest.mark.slow
@pytest.mark.each("instance", INSTANCES)
@pytest.mark.each("name", NAMES)
def test_errors_are_no_more_frequent_than_delta_and_it_stops(name: str, instance: str) -> None:
    bandit, task = INSTANCES[instance]
    batch = bandit.select(np.zeros(RUNS, np.int64))
    if task.name not in agents.make(name).tasks:
        return
    for given in families_of(name, bandit):
        agent = agents.make(name, delta=0.1, **given, **QUICK.get(name, {}))
        assert (name == "lil-UCB" or not agent.notes) and not agent.unmet_assumptions(bandit)
        info = ProblemInfo(bandit.num_arms, CAP, RUNS, task=task, fixed_confidence=True)
        agent.reset(info, np.random.default_rng(0))
        rollout = play_blocks(agent, batch, CAP, np.random.default_rng(1), task)
        spent = rollout.pulls.sum(axis=1)
        # Agents that drop arms, or follow confidence bounds, may never stop where the best arm was unlucky.
        assert np.count_nonzero(spent >= CAP) <= (RUNS * 0.1 if name in MAY_NOT_STOP else 0)
        errors = int(np.count_nonzero(~task.correct(batch.means, rollout.recommendation)))
        # The Clopper-Pearson limit that the error probability exceeds with confidence LEVEL.
        assert errors == 0 or beta.ppf(1 - LEVEL, errors, RUNS - errors + 1) <= 0.1


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
        ("UGapEc(sigma=0.5)", {"distribution": "bernoulli"}, False),
    ],
)
def test_tables_say_where_a_confidence_is_not_proved(agent: str, keywords: dict[str, Any], noted: bool) -> None:
    found = bai_gym.evaluate(agent, "BAI-FC-Custom-v0", runs=2, env_kwargs={"means": [0.9, 0.1], **keywords})
    assert any("its confidence is proved for" in note for note in found.notes) is noted
