"""What agents choose by the kind of rewards, for every registered agent, and that they then play without error."""

from __future__ import annotations

from pathlib import Path
from runpy import run_path
from typing import Any

import numpy as np
import pytest

from bai_gym import agents
from bai_gym.agents.registry import BUILT_IN
from bai_gym.bandits import Bandit, BernoulliBandit, EmpiricalBandit, GaussianBandit, PoissonBandit, SampleTable
from bai_gym.benchmark.protocol import notes, suited
from bai_gym.benchmark.rollout import play_blocks
from bai_gym.problems import ProblemInfo
from bai_gym.rewards import Rewards
from bai_gym.wings import BINARY, UNIT

CASES = run_path(str(Path(__file__).with_name("cases.py")))
KINDS = CASES["KINDS"]
CHOICES = {name: chosen for names, chosen in CASES["CHOICES"] for name in names}
MEANS = np.array([0.3, 0.8, 0.4])


class Sampled(EmpiricalBandit):
    """Samples of rewards of a given kind."""

    kind: Rewards

    @property
    def rewards(self) -> Rewards:
        return self.kind


def bandit_of(kind: str, means: np.ndarray[Any, Any], batch: int) -> Bandit:
    """Return arms of these means, in units of the largest reward; bounded rewards are multiples of a fifth of it."""
    rows = np.tile(means, (batch, 1))
    if kind == "binary":
        return BernoulliBandit(rows)
    if kind == "counts":
        return PoissonBandit(rows)
    if kind == "real":
        return GaussianBandit(rows, 0.25)
    rewards = Rewards.of(kind)
    samples = rewards.high * (np.arange(5) <= 5 * means[:, None] - 0.5) * 1.0
    table = SampleTable.of(samples.ravel(), np.arange(0, 5 * len(means) + 1, 5))
    sampled = Sampled(table, np.tile(np.arange(len(means)), (batch, 1)))
    sampled.kind = rewards
    return sampled


@pytest.mark.filterwarnings("ignore:AugUCB is not designed for")
@pytest.mark.each("name", agents.names())
def test_every_default_plays_every_kind_of_rewards_with_what_it_chooses(name: str) -> None:
    entry = BUILT_IN[name]
    for place, kind in enumerate(KINDS):
        if (entry.rewards == BINARY and kind != "binary") or (entry.rewards == UNIT and place > 1):
            continue
        means = MEANS[: entry.arms or 3]
        played = CASES["fit"](agents.make(name), bandit_of(kind, means, 2))
        agent = suited(agents.make(name), Rewards.of(kind))
        expected = CHOICES[name][place] if name in CHOICES else {}
        assert agent.chosen(agent.rewards) == expected, kind
        assert (f"chosen for {kind} rewards" in "".join(notes(agent))) == bool(expected)
        assert agent.label == agents.make(name).label
        assert ("oracle" in expected.values()) <= bool(agent.knows & {"range", "variances", "complexity"})
        task = CASES["usual_task"](agent)
        budget = min(max(40, agent.minimum_budget(len(means))), entry.largest_budget or 1000)
        # What the agent knows where it has chosen is enough: nothing else is granted.
        info = ProblemInfo(len(means), budget, 2, task=task, truth=played, knows=agent.knows)
        agents_own = agents.make(name)
        agents_own.reset(info, np.random.default_rng(0))
        assert agents_own.rewards == played.rewards
        assert agents_own.least_budget(len(means), len(means)) == agent.least_budget(len(means), len(means))
        play_blocks(agents_own, played, budget, np.random.default_rng(1), task)


def test_a_given_parameter_is_not_chosen() -> None:
    for name, given in (("TS", {"posterior": "student"}), ("T3C", {"family": "gaussian", "sigma": 1.0})):
        agent = suited(agents.make(name, **given), Rewards.of("binary"))
        assert agent.chosen(agent.rewards) == {} and not notes(agent)
        assert {parameter: agent.setting(parameter) for parameter in given} == given
    bounded = suited(agents.make("TS", posterior="normal"), Rewards.of("bounded(1, 5)"))
    assert bounded.setting("sigma") == 2.0  # half of the range, the largest deviation of such rewards
    for given, family in (({"sigma": 1.0}, "gaussian"), ({"threshold": "kk21-gauss"}, "gaussian"), ({}, "student")):
        assert suited(agents.make("T3C", **given), Rewards.of("real")).setting("family") == family, given
