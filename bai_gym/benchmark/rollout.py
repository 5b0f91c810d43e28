"""Plays a batch of episodes, by blocks (fast) or step by step through the environment; the law is the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bai_gym.bandits import Bandit
from bai_gym.benchmark.record import Record
from bai_gym.envs.scalar import BestArmEnv
from bai_gym.envs.vector import BestArmVectorEnv
from bai_gym.errors import AgentError
from bai_gym.sampling import Block, SamplingRule, check_arms, check_request
from bai_gym.statistics import IntArray, Observation, Statistics

__all__ = ["Rollout", "play_blocks", "play_single_steps", "play_steps"]


@dataclass(frozen=True, slots=True)
class Rollout:
    """N finished episodes.

    Attributes:
        recommendation: ``(N,)`` recommended arms.
        source: Where the statistics come from.
    """

    recommendation: IntArray
    source: Statistics | Record

    @property
    def pulls(self) -> IntArray:
        """``(N, K)`` pulls of each arm."""
        return self.source.pulls

    @property
    def statistics(self) -> Statistics:
        """``(N, K)`` statistics of all pulls."""
        return self.source.statistics if isinstance(self.source, Record) else self.source

    @classmethod
    def joined(cls, parts: Sequence[Rollout]) -> Rollout:
        """Return several groups of episodes as one."""
        statistics = (
            np.concatenate([getattr(part.statistics, name) for part in parts])
            for name in ("pulls", "means", "variances")
        )
        return cls(np.concatenate([part.recommendation for part in parts]), Statistics(*statistics))


def play_blocks(agent: Any, bandit: Bandit, budget: int, rng: np.random.Generator) -> Rollout:
    """Answer the agent's requests at once, from the exact law of the statistics.

    Args:
        agent: Already reset for ``bandit.batch`` episodes.
        bandit: The instances.
        budget: Pulls of each episode; an agent that stops early leaves some unspent.
        rng: Source of the rewards.

    Raises:
        AgentError: If the agent asks for something impossible.
    """
    record = Record(bandit.batch, bandit.num_arms, budget, variances=bool(getattr(agent, "uses_variances", True)))
    while record.left > 0:
        request, pulls = check_request(agent.allocate(record), bandit.batch, bandit.num_arms, record.left)
        if request is None:
            break
        if isinstance(request, Block):
            request.answer = bandit.pull_block(request.counts, rng, arms=request.arms, variances=record.has_variances)
            record.add(request.arms, request.answer)
        else:
            _follow(request, record, bandit, rng)
        record.spend(pulls)
    recommendation = check_arms(agent.recommend(record), bandit.batch, bandit.num_arms, "recommend")
    return Rollout(recommendation, record)


def _follow(rule: SamplingRule, record: Record, bandit: Bandit, rng: np.random.Generator) -> None:
    """Make the pulls of a sampling rule, one per episode and step."""
    window = rule.first_window(lambda: record.statistics)
    stream = bandit.stream(rule.arms, rng)
    rule.start(window)
    for _ in range(rule.steps):
        flat = rule.choose()
        rule.update(flat, *window.add(flat, stream.draw(flat), variances=record.has_variances))
    rule.answer = window.unwindow()
    if rule.window is None:
        record.set(rule.arms, rule.answer)
    else:
        record.add(rule.arms, rule.answer, since=rule.window)


def play_steps(act: Callable[[Observation], Any], env: BestArmVectorEnv, observation: Observation) -> Rollout:
    """Play a batch pull by pull through the vector environment.

    Args:
        act: What an agent, already reset, does with the observation of a batch.
        env: A batch that has just been reset.
        observation: What that reset returned.
    """
    for _ in range(env.budget):
        observation, *_ = env.step(check_arms(act(observation), env.num_envs, env.num_arms, "act"))
    recommendation = check_arms(act(observation), env.num_envs, env.num_arms, "act")
    return Rollout(recommendation, Statistics.of(observation).copy())


def play_single_steps(agent: Any, env: BestArmEnv, observation: Observation) -> Rollout:
    """Play one episode pull by pull, for agents that act on one observation at a time.

    Args:
        agent: Already reset.
        env: A scalar environment that has just been reset.
        observation: What that reset returned.

    Raises:
        AgentError: If an action is not an arm.
    """
    for _ in range(env.budget):
        observation, *_ = env.step(_one_arm(agent.act(observation), env.num_arms))
    recommendation = np.array([_one_arm(agent.act(observation), env.num_arms)])
    return Rollout(recommendation, Statistics(*(observation[n][None] for n in ("pulls", "means", "variances"))))


def _one_arm(action: Any, num_arms: int) -> int:
    if np.ndim(action) == 0 and np.issubdtype(np.asarray(action).dtype, np.integer) and 0 <= action < num_arms:
        return int(action)
    raise AgentError(f"act must return one arm, a whole number from 0 to {num_arms - 1}, not {action!r}")
