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

NAMES = [
    name
    for name in agents.names()
    if isinstance(agent := agents.make(name), ConfidenceAgent) and agent.plays(BestArm())
] + [
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
    agent = agents.make(name)
    if isinstance(bandit, GaussianBandit):  # by default, and with a sigma
        return [{}, *([{"sigma": 0.5}] if hasattr(agent, "sigma") else [])]
    if not hasattr(agent, "family"):
        return [{}]
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
        assert not agent.notes and not agent.unmet_assumptions(bandit)
        knows = agent.suited_to(bandit.rewards).knows
        info = ProblemInfo(bandit.num_arms, CAP, RUNS, task=task, fixed_confidence=True, truth=batch, knows=knows)
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
def test_rewards_of_any_scale_need_no_parameter_for_the_confidence_to_hold(name: str) -> None:
    noisy = {**TWO, "variances": 16.0}
    default, given, wrong = (
        bai_gym.evaluate(f"{name}{scale}", "BAI-FC-Custom-v0", runs=300, env_kwargs=noisy)
        for scale in ("", "(sigma=4.0)", "(b=1.0)")
    )
    assert default.error_probability <= 0.1 and given.error_probability <= 0.1 < wrong.error_probability
    assert not default.notes and not given.notes and wrong.notes


@pytest.mark.each(
    ("agent", "keywords", "noted"),
    [
        ("UGapEc", {"distribution": "bernoulli"}, False),
        ("UGapEc-V", {"distribution": "bernoulli"}, False),
        ("UGapEc(b=0.5)", {"distribution": "bernoulli"}, True),
        ("UGapEc", {"variances": 0.01}, False),
        ("UGapEc(b=1.0)", {"variances": 0.01}, True),
        ("LUCB(sigma=0.1)", {"variances": 0.01}, False),
        ("LUCB(sigma=0.09)", {"variances": 0.01}, True),
        ("UGapEc(sigma=0.4)", {"distribution": "bernoulli"}, True),
        ("UGapEc(sigma=0.5)", {"distribution": "bernoulli"}, False),
    ],
)
def test_tables_say_where_a_confidence_is_not_proved(agent: str, keywords: dict[str, Any], noted: bool) -> None:
    found = bai_gym.evaluate(agent, "BAI-FC-Custom-v0", runs=2, env_kwargs={"means": [0.9, 0.1], **keywords})
    assert any("its confidence is proved for" in note for note in found.notes) is noted


def test_numbers_whose_squares_are_no_floats_are_played() -> None:
    for name in NAMES:
        for means, variance in (([1e-200, 0.0, 0.0], 0.0), ([5e-324, 0.0, 0.0], 1e-300)):
            batch = GaussianBandit(np.tile(means, (2, 1)), variance)
            agent = agents.make(name, **QUICK.get(name, {}))
            knows = agent.suited_to(batch.rewards).knows
            info = ProblemInfo(3, 90, 2, fixed_confidence=True, truth=batch, knows=knows)
            agent.reset(info, np.random.default_rng(0))
            assert play_blocks(agent, batch, 90, np.random.default_rng(1)).recommendation.shape == (2,), name
