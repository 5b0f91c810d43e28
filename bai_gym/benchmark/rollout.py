"""Plays a batch of episodes, by blocks (fast) or step by step; results have the same distribution."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from bai_gym.adapters import adapted
from bai_gym.bandits import Bandit
from bai_gym.benchmark.blocks import Blocks
from bai_gym.benchmark.merged import MergedStatistics
from bai_gym.common.budget import Budget
from bai_gym.common.rounds import AT_ONCE, Rounds
from bai_gym.envs.actions import ActionEncoding, DecodedActions
from bai_gym.envs.scalar import BestArmEnv
from bai_gym.envs.vector import BestArmVectorEnv
from bai_gym.errors import AgentError, ParameterError
from bai_gym.results.result import summed
from bai_gym.sampling import pulls_made, run
from bai_gym.statistics import IntArray, Observation, Statistics
from bai_gym.tasks import BestArm, Task

__all__ = ["RolloutCheckpoint", "Rollout", "play_blocks", "play_single_steps", "play_steps"]


class RolloutCheckpoint(NamedTuple):
    """The recommendation and pulls at a checkpoint.

    Attributes:
        pulls_made: Pulls that every episode has made, or could have made.
        recommendation: ``(N, ...)`` recommendations at the checkpoint.
        pulls: ``(N, K)`` pulls of each arm in the episode until then.
    """

    pulls_made: int
    recommendation: IntArray
    pulls: IntArray


@dataclass(frozen=True, slots=True)
class Rollout:
    """N finished episodes.

    Attributes:
        recommendation: ``(N, ...)`` recommendations, in the form of the task.
        source: Source of the statistics.
        others: Pulls that the statistics include and the agent has not requested, ``(1, K)`` before the episodes or
            ``(N, K)``; 0: there are none.
        checkpoints: The checkpoints in ascending order; without the budget's.
        tally: What the agent has counted, see :func:`bai_gym.benchmark.protocol.tally`.
    """

    recommendation: IntArray
    source: Statistics | MergedStatistics
    others: IntArray | int = 0
    checkpoints: tuple[RolloutCheckpoint, ...] = ()
    tally: Mapping[str, int] = field(default_factory=dict)

    @property
    def pulls(self) -> IntArray:
        """``(N, K)`` pulls of each arm that the agent has requested."""
        return np.asarray(self.source.pulls - self.others, np.int64)

    @property
    def statistics(self) -> Statistics:
        """``(N, K)`` statistics of all pulls, earlier ones included."""
        return self.source.statistics if isinstance(self.source, MergedStatistics) else self.source

    @classmethod
    def joined(cls, parts: Sequence[Rollout]) -> Rollout:
        """Return several groups of episodes, with the same checkpoints, as one."""
        statistics = (
            np.concatenate([getattr(part.statistics, name) for part in parts])
            for name in ("pulls", "means", "variances")
        )
        recommendation = np.concatenate([part.recommendation for part in parts])
        others = np.concatenate([np.broadcast_to(part.others, part.statistics.pulls.shape) for part in parts])
        points = tuple(
            RolloutCheckpoint(
                same[0].pulls_made,
                np.concatenate([point.recommendation for point in same]),
                np.concatenate([point.pulls for point in same]),
            )
            for same in zip(*(part.checkpoints for part in parts), strict=True)
        )
        return cls(recommendation, Statistics(*statistics), others, points, summed(part.tally for part in parts))


def play_blocks(
    agent: Any,
    bandit: Bandit,
    budget: int | Budget,
    rng: np.random.Generator,
    task: Task | None = None,
    checkpoints: Sequence[int] = (),
    start: Statistics | None = None,
    rounds: Rounds = AT_ONCE,
) -> Rollout:
    """Draw the outcomes of the agent's requests directly, from the exact distribution of their statistics.

    Args:
        agent: Already reset for ``bandit.batch`` episodes.
        bandit: The instances.
        budget: Pulls of each episode; an agent that stops early leaves some unspent. With a budget of money episodes
            may make different numbers of pulls, except before a sequential request; there are no checkpoints then.
        rng: Source of the rewards.
        task: What is to be recommended; None: the best arm.
        checkpoints: Pull counts, ascending and below the budget, after which the agent recommends too.
        start: ``(1, K)`` statistics from which the agent starts; None: it starts from nothing.
        rounds: When rewards arrive. Where they arrive late, checkpoints see those that have arrived.

    Raises:
        AgentError: If the agent makes an impossible request.
    """
    task, scored = task or BestArm(), list[RolloutCheckpoint]()
    merged = MergedStatistics(
        bandit.batch,
        bandit.num_arms,
        budget,
        variances=bool(getattr(agent, "uses_variances", True)),
        features=bandit.features,
        start=start,
    )
    source = Blocks(bandit, merged, rng)
    before = 0 if start is None else start.pulls

    def score(count: int, seen: Observation, recommendation: Any) -> None:
        chosen = agent.recommend(seen) if recommendation is None else recommendation
        chosen = task.check(chosen, bandit.batch, bandit.num_arms)
        scored.append(RolloutCheckpoint(count, chosen, np.asarray(source.seen["pulls"] - before, np.int64)))

    begin = adapted(agent, bandit, rounds, checkpoints, score)
    recommendation = run(begin(source.seen), source.play)
    recommendation = task.check(recommendation, bandit.batch, bandit.num_arms)
    return Rollout(recommendation, merged, before, tuple(scored))


def play_steps(
    act: Callable[[Observation], Any],
    env: BestArmVectorEnv,
    observation: Observation,
    checkpoints: Sequence[int] = (),
    recommend: Callable[[Observation], Any] | None = None,
    idle: Callable[[], IntArray | None] = lambda: None,
) -> Rollout:
    """Play a batch of a fixed budget pull by pull through the vector environment.

    Args:
        act: Maps the observation of a batch to actions; the agent is already reset.
        env: A batch that has just been reset.
        observation: The observation of that reset.
        checkpoints: Pull counts, ascending and below the budget, after which the agent recommends too.
        recommend: Returns that recommendation.
        idle: Returns the ``(N, K)`` pulls so far that the agent did not request, or None; checkpoints exclude them.

    Raises:
        AgentError: If an action is invalid.
    """
    scored: list[RolloutCheckpoint] = []
    due, before = set(checkpoints), observation["pulls"].copy()
    own = [name for name in ("pulls", "means", "variances", "pending") if name in observation]
    asked = {name: observation[name].copy() for name in own}  # of requested pulls
    for made in range(env.budget):
        actions = act(observation)
        if due and recommend is not None:  # after act, which has observed the last pull
            unasked = idle()
            rows = slice(None) if unasked is None else ~unasked.any(axis=1)
            for name, values in asked.items():
                values[rows] = observation[name][rows]
            if made in due:
                recommendations = env.action_encoding.task.check(
                    recommend({**observation, **asked}), env.num_envs, env.num_arms
                )
                scored.append(RolloutCheckpoint(made, recommendations, pulls_made(asked) - before))
        with _blaming_act():
            observation, *_ = env.step(actions)
    encoding, actions = env.action_encoding, act(observation)
    with _blaming_act():
        recommendations = encoding.read(actions, env.num_envs).recommendations
    recommendations = encoding.task.check(recommendations, env.num_envs, env.num_arms, "act")
    return Rollout(recommendations, Statistics.of(observation).copy(), before, tuple(scored))


def play_single_steps(act: Callable[[Observation], Any], env: BestArmEnv, observation: Observation) -> Rollout:
    """Play one episode pull by pull, for agents that act on one observation at a time.

    Args:
        act: Maps an observation to an action; the agent is already reset.
        env: A scalar environment that has just been reset.
        observation: The observation of that reset.

    Raises:
        AgentError: If an action is invalid.
    """
    encoding, before = env.action_encoding, observation["pulls"]
    for left in range(env.episode_spec.most_pulls, -1, -1):
        decoded = _read_one(encoding, act(observation))
        stops = decoded.stops is not None and decoded.stops[0]
        if stops or left == 0:
            break
        with _blaming_act():
            observation, *_ = env.step(int(decoded.arms[0]) if encoding.shape == () else encoding.pull(decoded.arms)[0])
    if decoded.stops is not None and not stops:
        raise AgentError("the budget is spent, but act keeps pulling: it must stop and recommend")
    recommendations = encoding.task.check(decoded.recommendations, 1, env.num_arms, "act")
    pulls = pulls_made(observation)  # those that have been paid for
    statistics = Statistics(pulls[None], observation["means"][None], observation["variances"][None])
    return Rollout(recommendations, statistics, before[None])


def _read_one(encoding: ActionEncoding, action: Any) -> DecodedActions:
    """Read the action of one episode."""
    try:
        return encoding.read(np.asarray(action)[None], 1)
    except ValueError:  # includes ParameterError, and NumPy's error for lists of unequal lengths
        shown = " ".join(repr(action).split())[:80]
        raise AgentError(f"act must return {encoding.describe()}, not {shown}") from None


@contextlib.contextmanager
def _blaming_act() -> Iterator[None]:
    """Attribute errors of invalid actions to the agent's ``act``."""
    try:
        yield
    except ParameterError as error:
        raise AgentError(f"act: {error}") from None
