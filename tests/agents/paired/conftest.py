"""Paired arms with prescribed rewards, and drivers that play an agent on them pull by pull and block by block."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
import pytest

from bai_gym.agents import Agent
from bai_gym.bandits import Bandit
from bai_gym.benchmark.rollout import Rollout, play_blocks
from bai_gym.envs.actions import ActionEncoding
from bai_gym.paired import PairStatistics
from bai_gym.problems import ProblemInfo
from bai_gym.rewards import REAL, Rewards
from bai_gym.statistics import FloatArray, IntArray, Statistics
from bai_gym.tasks import BestArm


class PairedScript(Bandit):
    """Instance n pays ``rewards[n, j, i]`` for pull j of arm i."""

    paired = True
    kind = REAL

    def __init__(self, rewards: Any, kind: Rewards = REAL, num_items: int | None = None) -> None:
        self.script = np.asarray(rewards, float)
        self.means, self.variances = self.script.mean(axis=1), self.script.var(axis=1)
        self.made = np.zeros(self.means.shape, np.int64)
        self.kind, self.items = kind, num_items

    @property
    def rewards(self) -> Rewards:
        return self.kind

    @property
    def num_items(self) -> int | None:
        return self.items

    def pull(self, flat: IntArray, rng: np.random.Generator) -> FloatArray:
        rows, arms = np.divmod(flat, self.num_arms)
        rewards = self.script[rows, self.made[rows, arms], arms]
        self.made[rows, arms] += 1
        return np.asarray(rewards)

    def draw_blocks(
        self, flat: IntArray | slice, counts: IntArray, rng: np.random.Generator, *, variances: bool = True
    ) -> Statistics:
        flat = np.arange(self.means.size)[flat] if isinstance(flat, slice) else flat
        found = [
            np.concatenate([self.pull(np.array([place]), rng) for _ in range(count)])
            for place, count in zip(flat, counts, strict=True)
        ]
        spreads = [part.var(ddof=1) if variances and part.size > 1 else 0.0 for part in found]
        return Statistics(counts, np.array([part.mean() for part in found]), np.array(spreads))

    def keep_items(self) -> None: ...

    def item_rewards(self, rows: IntArray, items: IntArray) -> FloatArray:
        return np.asarray(self.script[rows, items])

    def select(self, rows: IntArray) -> Self:
        return type(self)(self.script[rows], self.kind, self.items)

    def replace(self, rows: IntArray, other: Self) -> None:
        raise NotImplementedError


def play_steps(agent: Agent, bandit: PairedScript, budget: int, fixed_confidence: bool) -> tuple[list[int], int]:
    """Play one episode by ``act`` alone; return the arms that the agent pulled, and its recommendation."""
    info = ProblemInfo(bandit.num_arms, budget, truth=bandit, fixed_confidence=fixed_confidence, knows=agent.knows)
    agent.reset(info, np.random.default_rng(0))
    actions = ActionEncoding(bandit.num_arms, BestArm(), fixed_confidence=fixed_confidence)
    statistics, pairs = Statistics.zeros((bandit.num_arms,)), PairStatistics(1, bandit.num_arms)
    arms: list[int] = []
    for step in range(budget + 1):
        observation = {
            "pulls": statistics.pulls.copy(),
            "means": statistics.means.copy(),
            "variances": statistics.variances.copy(),
            "remaining": np.array([budget - step]),
            "differences": pairs.means[0].copy(),
            "difference_variances": pairs.variances[0].copy(),
        }
        action = actions.read(np.asarray(agent.act(observation))[None], 1)
        if step == budget if action.stops is None else action.stops[0]:
            idle = agent.idle_pulls
            return arms[: len(arms) - (0 if idle is None else int(idle.sum()))], int(action.recommendations[0])
        arm = int(action.arms[0])
        arms.append(arm)
        item = int(statistics.pulls[arm])
        statistics.add(arm, float(bandit.pull(np.array([arm]), agent.rng)[0]))
        pairs.add_one(arm, pairs.item_rewards(bandit, item), statistics.pulls)
    raise AssertionError("the agent did not stop at the cap")


def play_by_blocks(agent: Agent, bandit: PairedScript, budget: int, fixed_confidence: bool = False) -> Rollout:
    """Play all episodes by blocks."""
    info = ProblemInfo(
        bandit.num_arms, budget, bandit.batch, truth=bandit, fixed_confidence=fixed_confidence, knows=agent.knows
    )
    agent.reset(info, np.random.default_rng(0))
    return play_blocks(agent, bandit, budget, np.random.default_rng(1))


@pytest.fixture(scope="session")
def script() -> Callable[..., PairedScript]:
    """:class:`PairedScript`."""
    return PairedScript


@pytest.fixture(scope="session")
def both() -> Callable[..., Rollout]:
    """Plays all episodes by blocks, compares each with one by ``act``, and returns the former."""

    def play(agent: Agent, rewards: Any, budget: int, fixed_confidence: bool = True, **known: Any) -> Rollout:
        rollout = play_by_blocks(agent, PairedScript(rewards, **known), budget, fixed_confidence)
        for number in range(len(rewards)):
            one = PairedScript(np.asarray(rewards)[number : number + 1], **known)
            arms, recommended = play_steps(agent, one, budget, fixed_confidence)
            assert np.bincount(arms, minlength=one.num_arms).tolist() == rollout.pulls[number].tolist(), number
            assert recommended == rollout.recommendation[number], number
        return rollout

    return play
