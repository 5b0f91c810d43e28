"""What agents choose by the kind of rewards, for every registered agent, and that they then play without error."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from runpy import run_path
from typing import Any

import numpy as np
import pytest

import bai_gym
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
    for given, family in (({"sigma": 1.0}, "gaussian"), ({"threshold": "kk21-gauss"}, "gaussian"), ({}, "student")):
        assert suited(agents.make("T3C", **given), Rewards.of("real")).setting("family") == family, given


# Six variants that convert at 2 to 6 %: before rewards were known to be binary, many defaults erred in half of the runs
# or more, because an arm with two zeros had no variance.
CONVERSIONS = {"means": [0.02, 0.03, 0.035, 0.04, 0.045, 0.06], "distribution": "bernoulli"}
QUICK, RUNS = 4000, 500  # runs; the latter of networks, which declare to know a prior, and of RHO, which are slow
ALLOWED = 1.3  # times the error of SR
NORMAL = {"OCBA": 1.6, "SHAdaVar": 1.6}  # derived for normal rewards, which a note says; their own limits
BASELINE = {"Uniform"}  # others are measured against it, and it claims nothing


def plays_conversions(name: str) -> bool:
    """Whether an agent is one of a fixed budget that can be given six binary arms, and no more than that."""
    entry, agent = BUILT_IN[name], agents.make(name)
    needs_more = agent.stops or agent.uses_pairs or agent.needs_features or {"prior", "variances"} <= agent.knows
    return not (needs_more or entry.arms or entry.largest_budget) and "best-arm" in agent.tasks


@cache
def conversions(name: str) -> Any:
    runs = RUNS if name == "RHO" or "prior" in agents.make(name).knows else QUICK
    return bai_gym.evaluate(name, "BAI-Custom-v0", runs=runs, budget=2400, env_kwargs=CONVERSIONS)


@pytest.mark.slow
@pytest.mark.each("name", sorted(name for name in agents.names() if name in BUILT_IN and plays_conversions(name)))
def test_conversions(name: str) -> None:
    """An agent that errs 1.3 times as often as SR is accepted in 97.7 % of the cases; one at 1.53 is rejected in 98 %.

    For 4,000 runs: the standard error of the excess over what is allowed would be 0.0103 if the two errors were
    independent; they have the same instances, which makes it no larger.
    """
    result, other = conversions(name), conversions("SR")
    error, sr = result.error_probability, other.error_probability
    said = [note for note in result.notes if note.startswith(f"{name}: ") and " chosen for " not in note]
    limit = NORMAL.get(name, ALLOWED)
    excess = error - limit * sr
    margin = 2.0 * np.sqrt(error * (1.0 - error) / result.runs + limit**2 * sr * (1.0 - sr) / other.runs)
    assert excess <= margin or name in BASELINE or (said and name not in NORMAL), (error, sr)
    assert any("derived for normal rewards" in note for note in said) >= (name in NORMAL)
