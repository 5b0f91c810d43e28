"""Plays a batch of episodes, by blocks (fast) or step by step through the environment; the law is the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bai_gym.bandits import Bandit
from bai_gym.envs.scalar import BestArmEnv
from bai_gym.envs.vector import BestArmVectorEnv
from bai_gym.errors import AgentError
from bai_gym.sampling import Block, SamplingRule, Stepper, check_arms, check_request
from bai_gym.statistics import IntArray, Observation, Statistics

__all__ = ["Rollout", "play_blocks", "play_single_steps", "play_steps"]


@dataclass(frozen=True, slots=True)
class Rollout:
    """N finished episodes.

    Attributes:
        recommendation: ``(N,)`` recommended arms.
        statistics: ``(N, K)`` statistics of all pulls.
    """

    recommendation: IntArray
    statistics: Statistics

    @classmethod
    def joined(cls, parts: Sequence[Rollout]) -> Rollout:
        """Return several groups of episodes as one."""
        statistics = (
            np.concatenate([getattr(part.statistics, name) for part in parts]) for name in ("pulls", "means", "variances")
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
    variances = bool(getattr(agent, "uses_variances", True))
    statistics = Statistics.zeros((bandit.batch, bandit.num_arms))
    remaining = np.full((bandit.batch, 1), budget, np.int64)
    observation = _read_only(statistics, remaining, variances)
    left = budget
    while left > 0:
        request, pulls = check_request(agent.allocate(observation), bandit.batch, bandit.num_arms, left)
        if request is None:
            break
        if isinstance(request, Block):
            bandit.pull_into(statistics, request.counts, rng, variances=variances)
        else:
            _follow(request, statistics, bandit, rng, variances=variances)
        left -= pulls
        remaining[...] = left
    recommendation = check_arms(agent.recommend(observation), bandit.batch, bandit.num_arms, "recommend")
    return Rollout(recommendation, statistics)


def _read_only(statistics: Statistics, remaining: IntArray, variances: bool) -> Observation:
    arrays = {"pulls": statistics.pulls, "means": statistics.means, "remaining": remaining}
    if variances:
        arrays["variances"] = statistics.variances
    observation = {name: array.view() for name, array in arrays.items()}
    for view in observation.values():
        view.flags.writeable = False
    return observation


def _follow(
    rule: SamplingRule, statistics: Statistics, bandit: Bandit, rng: np.random.Generator, *, variances: bool
) -> None:
    """Make the pulls of a sampling rule, one per episode and step, and merge them into ``statistics``."""
    start = rule.window
    if start is None:
        start = statistics if rule.arms is None else statistics.take(rule.arms)
    window = start.window()
    stream = bandit.stream(rule.arms, rng)
    rule.start(window)
    for _ in range(rule.steps):
        flat = rule.choose()
        rule.update(flat, *window.add(flat, stream.draw(flat), variances=variances))
    end = window.unwindow()
    if rule.window is None and rule.arms is None:
        statistics.pulls[...], statistics.means[...], statistics.variances[...] = end.pulls, end.means, end.variances
        return
    made = end.since(start)
    pulled = np.flatnonzero(made.pulls)
    arms = pulled if rule.arms is None else _positions(rule.arms, bandit.num_arms).take(pulled)
    statistics.merge(arms, Statistics(made.pulls.take(pulled), made.means.take(pulled), made.variances.take(pulled)))


def _positions(arms: IntArray, num_arms: int) -> IntArray:
    """Return the flat positions of ``(N, k)`` arms in ``(N, K)`` arrays."""
    return arms + np.arange(arms.shape[0])[:, None] * num_arms


def play_steps(agent: Any, env: BestArmVectorEnv, observation: Observation) -> Rollout:
    """Play a batch pull by pull through the vector environment.

    Args:
        agent: Already reset, able to act on batches: one that allocates, or one whose class says ``batched = True``.
        env: A batch that has just been reset.
        observation: What that reset returned.
    """
    act = agent.act if getattr(agent, "batched", False) else Stepper(agent).act
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
