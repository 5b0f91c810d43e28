"""Scripted rewards, and drivers that play an agent on them pull by pull and block by block."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pytest

from bai_gym.agents import Agent
from bai_gym.bandits import Bandit, FeatureBandit
from bai_gym.benchmark.rollout import Rollout, play_blocks
from bai_gym.envs.actions import ActionEncoding
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import TO_FIRST, Episode, Index
from bai_gym.statistics import FloatArray, IntArray, Statistics
from bai_gym.tasks import BestArm, Task


class ScriptedBandit(Bandit):
    """One instance whose arms pay prescribed rewards: pull j of arm k pays ``rewards[k][j]``, repeated in a cycle.

    The stated means and variances, which oracles read, are given separately.
    """

    def __init__(self, rewards: Any, means: Any = None, variances: Any = None) -> None:
        self.script = [np.asarray(arm, float) for arm in rewards]
        self.means = np.array([[arm.mean() for arm in self.script] if means is None else means], float)
        self.variances = np.array([[arm.var() for arm in self.script] if variances is None else variances], float)
        self.made = [0] * len(self.script)

    def one(self, arm: int) -> float:
        self.made[arm] += 1
        return float(self.script[arm][(self.made[arm] - 1) % len(self.script[arm])])

    def pull(self, flat: IntArray, rng: np.random.Generator) -> FloatArray:
        return np.array([self.one(int(arm)) for arm in flat])

    def draw_blocks(
        self, flat: IntArray | slice, counts: IntArray, rng: np.random.Generator, *, variances: bool = True
    ) -> Statistics:
        flat = np.arange(self.num_arms)[flat] if isinstance(flat, slice) else flat
        samples = [
            np.array([self.one(int(arm)) for _ in range(count)]) for arm, count in zip(flat, counts, strict=True)
        ]
        spreads = [sample.var(ddof=1) if variances and len(set(sample)) > 1 else 0.0 for sample in samples]
        return Statistics(counts, np.array([sample.mean() for sample in samples]), np.array(spreads))

    def select(self, rows: IntArray) -> Self:
        raise NotImplementedError

    def replace(self, rows: IntArray, other: Self) -> None:
        raise NotImplementedError


@dataclass
class Trace:
    """What an agent did in one episode."""

    arms: list[int]  # every pull that it asked for
    idle: list[int]  # pulls after it had asked for its last one
    recommendation: Any  # an int, or a list where the task has several entries

    def counts(self, num_arms: int) -> list[int]:
        return np.bincount(self.arms, minlength=num_arms).tolist()


def play_trace(
    agent: Agent,
    rewards: Any,
    budget: int,
    means: Any = None,
    variances: Any = None,
    seed: int | None = 0,
    task: Task | None = None,
    fixed_confidence: bool = False,
    features: Any = None,
) -> Trace:
    """Play one episode on scripted rewards by ``act`` alone, from observations of one episode."""
    bandit = ScriptedBandit(rewards, means, variances)
    truth = bandit if features is None else FeatureBandit(bandit, features)
    told = {"task": task, "fixed_confidence": fixed_confidence, "truth": truth, "knows": agent.knows}
    agent.reset(ProblemInfo(bandit.num_arms, budget, **told), np.random.default_rng(seed))
    moves = ActionEncoding(bandit.num_arms, task or BestArm(), fixed_confidence=fixed_confidence)
    statistics = Statistics.zeros((bandit.num_arms,))
    arms: list[int] = []
    asked = budget
    for step in range(budget + 1):
        observation = {
            "pulls": statistics.pulls.copy(),
            "means": statistics.means.copy(),
            "variances": statistics.variances.copy(),
            "remaining": np.array([budget - step]),
        }
        if truth.features is not None:
            observation["features"] = truth.features[0]
        move = moves.read(np.asarray(agent.act(observation))[None], 1)
        if agent.idle_pulls is not None:
            asked = min(asked, step)
        if step == budget if move.stops is None else move.stops[0]:
            return Trace(arms[:asked], arms[asked:], move.recommendations[0].tolist())
        arm = int(move.arms[0])
        arms.append(arm)
        statistics.add(arm, bandit.one(arm))
    raise AssertionError("the agent did not stop at the cap")


def play_scripted_blocks(
    agent: Agent,
    rewards: Any,
    budget: int,
    means: Any = None,
    variances: Any = None,
    task: Task | None = None,
    features: Any = None,
) -> Rollout:
    """Play one episode on scripted rewards by blocks."""
    scripted = ScriptedBandit(rewards, means, variances)
    bandit = scripted if features is None else FeatureBandit(scripted, features)
    info = ProblemInfo(bandit.num_arms, budget, task=task, truth=bandit, knows=agent.knows)
    agent.reset(info, np.random.default_rng(0))
    return play_blocks(agent, bandit, budget, np.random.default_rng(0), task)


def make_episode(pulls: Any, means: Any, variances: Any = None, **more: Any) -> Episode:
    """Return an episode as the functions of a rule see it, with ties to the first, and fields in ``more``."""
    k, none = len(means), np.zeros(0)
    known = (
        np.asarray(pulls, float),
        np.asarray(means, float),
        np.asarray([0.0] * k if variances is None else variances),
    )
    made = int(known[0].sum()) if np.isfinite(known[0]).all() else 0
    on, features, leader = np.ones(k, np.int8), np.zeros((k, 0)), int(np.argmax(known[1]))  # by the mean
    e = Episode(k, *known, on, features, Index(none, none), leader, made, made + 1, -1, 0.0, TO_FIRST)
    return e._replace(**more)


@pytest.fixture(scope="session")
def episode() -> Callable[..., Episode]:
    """:func:`make_episode`."""
    return make_episode


@pytest.fixture(scope="session")
def trace() -> Callable[..., Trace]:
    """:func:`play_trace`."""
    return play_trace


@pytest.fixture(scope="session")
def scripted_blocks() -> Callable[..., Rollout]:
    """:func:`play_scripted_blocks`."""
    return play_scripted_blocks
