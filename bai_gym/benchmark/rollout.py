"""Plays a batch of episodes, by blocks (fast) or step by step through the environment; the law is the same."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bai_gym.bandits import Bandit
from bai_gym.benchmark.follow import follow, follow_until_stopped
from bai_gym.benchmark.record import Record
from bai_gym.envs.scalar import BestArmEnv
from bai_gym.envs.vector import BestArmVectorEnv
from bai_gym.errors import AgentError, ParameterError
from bai_gym.moves import Move, Moves
from bai_gym.sampling import Block, StoppingRule, check_request
from bai_gym.statistics import IntArray, Observation, Statistics
from bai_gym.tasks import BestArm, Task

__all__ = ["Look", "Rollout", "play_blocks", "play_single_steps", "play_steps"]


class Look(NamedTuple):
    """What was seen at a checkpoint.

    Attributes:
        pulls_made: Pulls that every episode had made, or could have made.
        recommendation: ``(N, ...)`` the recommendations of that moment.
        pulls: ``(N, K)`` pulls of each arm until then.
    """

    pulls_made: int
    recommendation: IntArray
    pulls: IntArray


@dataclass(frozen=True, slots=True)
class Rollout:
    """N finished episodes.

    Attributes:
        recommendation: ``(N, ...)`` recommendations, in the form of the task.
        source: Where the statistics come from.
        looks: What was seen at the checkpoints, in their order; without the budget's.
    """

    recommendation: IntArray
    source: Statistics | Record
    looks: tuple[Look, ...] = ()

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
        """Return several groups of episodes, without checkpoints, as one."""
        statistics = (
            np.concatenate([getattr(part.statistics, name) for part in parts])
            for name in ("pulls", "means", "variances")
        )
        return cls(np.concatenate([part.recommendation for part in parts]), Statistics(*statistics))


def play_blocks(
    agent: Any,
    bandit: Bandit,
    budget: int,
    rng: np.random.Generator,
    task: Task | None = None,
    checkpoints: Sequence[int] = (),
) -> Rollout:
    """Answer the agent's requests at once, from the exact law of the statistics.

    Args:
        agent: Already reset for ``bandit.batch`` episodes.
        bandit: The instances.
        budget: Pulls of each episode; an agent that stops early leaves some unspent.
        rng: Source of the rewards.
        task: What is to be recommended; None: the best arm.
        checkpoints: Pull counts, ascending and below the budget, after which the agent is asked for its answer too.

    Raises:
        AgentError: If the agent asks for something impossible.
    """
    task = task or BestArm()
    looks: list[Look] = []

    def look(then: Record) -> None:
        answer = task.check(agent.recommend(then), bandit.batch, bandit.num_arms)
        looks.append(Look(budget - then.left, answer, then.pulls))

    variances = bool(getattr(agent, "uses_variances", True))
    record = Record(bandit.batch, bandit.num_arms, budget, variances=variances, features=bandit.features)
    while record.left > 0:
        request, pulls = check_request(agent.allocate(record), bandit.batch, bandit.num_arms, record.left)
        if request is None:
            break
        made = budget - record.left
        points = [point - made for point in checkpoints if made < point <= made + pulls]
        if isinstance(request, Block):
            _pull_block(request, points, record, bandit, rng, look)
        elif isinstance(request, StoppingRule):
            follow_until_stopped(request, record, bandit, rng, points, look)
            break
        else:
            follow(request, record, bandit, rng, points, look)
        record.spend(pulls)
        if points and points[-1] == pulls and record.left > 0:
            look(record)
    recommendation = task.check(agent.recommend(record), bandit.batch, bandit.num_arms)
    # Of an agent that has made its last pull, nothing changes any more.
    for point in checkpoints[len(looks) :]:
        looks.append(Look(point, recommendation, record.pulls))
    return Rollout(recommendation, record, tuple(looks))


def _pull_block(
    block: Block,
    points: Sequence[int],
    record: Record,
    bandit: Bandit,
    rng: np.random.Generator,
    look: Callable[[Record], None],
) -> None:
    """Pull a block, at once or in the parts between checkpoints, and add it to the record."""
    total = int(block.counts[0].sum())
    inner = [point for point in points if point < total]
    if not inner:
        block.answer = bandit.pull_block(block.counts, rng, arms=block.arms, variances=record.has_variances)
    else:
        parts = np.diff([*(block.first(point) for point in inner), block.counts], axis=0, prepend=0)
        sum_ = Statistics.zeros(block.counts.shape)
        for point, counts in zip([*inner, total], parts, strict=True):
            part = bandit.pull_block(counts, rng, arms=block.arms, variances=record.has_variances)
            made = np.flatnonzero(counts)
            flat = Statistics(part.pulls.take(made), part.means.take(made), part.variances.take(made))
            sum_.merge(made, flat, variances=record.has_variances)
            if point < total:
                look(record.after(block.arms, sum_, point))
        block.answer = sum_
    record.add(block.arms, block.answer)


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
        act: What an agent, already reset, does with the observation of a batch.
        env: A batch that has just been reset.
        observation: What that reset returned.
        checkpoints: Pull counts, ascending and below the budget, after which the agent is asked for its answer too.
        recommend: Gives that answer.
        idle: Gives the ``(N, K)`` pulls so far that the agent had not asked for, or None; they are left out there.

    Raises:
        AgentError: If an action is none.
    """
    looks: list[Look] = []
    due = set(checkpoints)
    for made in range(env.budget):
        actions = act(observation)
        if made in due and recommend is not None:  # after act, which has taken in the last pull
            answers = env.moves.task.check(recommend(observation), env.num_envs, env.num_arms)
            unasked = idle()
            looks.append(
                Look(made, answers, observation["pulls"].copy() if unasked is None else observation["pulls"] - unasked)
            )
        with _blaming_act():
            observation, *_ = env.step(actions)
    moves, actions = env.moves, act(observation)
    with _blaming_act():
        answers = moves.read(actions, env.num_envs).answers
    answers = moves.task.check(answers, env.num_envs, env.num_arms, "act")
    return Rollout(answers, Statistics.of(observation).copy(), tuple(looks))


def play_single_steps(agent: Any, env: BestArmEnv, observation: Observation) -> Rollout:
    """Play one episode pull by pull, for agents that act on one observation at a time.

    Args:
        agent: Already reset.
        env: A scalar environment that has just been reset.
        observation: What that reset returned.

    Raises:
        AgentError: If an action is none.
    """
    moves = env.moves
    for left in range(env.budget, -1, -1):
        move = _read_one(moves, agent.act(observation))
        stops = move.stops is not None and move.stops[0]
        if stops or left == 0:
            break
        observation, *_ = env.step(int(move.arms[0]) if moves.shape == () else moves.pull(move.arms)[0])
    if move.stops is not None and not stops:
        raise AgentError("the budget is spent, and act pulls on: it must stop and recommend")
    answers = moves.task.check(move.answers, 1, env.num_arms, "act")
    return Rollout(answers, Statistics(*(observation[n][None] for n in ("pulls", "means", "variances"))))


def _read_one(moves: Moves, action: Any) -> Move:
    """Read the action of one episode."""
    try:
        return moves.read(np.asarray(action)[None], 1)
    except ValueError:  # ParameterError is one; so is what NumPy raises for lists of unequal lengths
        shown = " ".join(repr(action).split())[:80]
        raise AgentError(f"act must return {moves.words()}, not {shown}") from None


@contextlib.contextmanager
def _blaming_act() -> Iterator[None]:
    """Blame the agent's ``act`` where the environment refuses its actions."""
    try:
        yield
    except ParameterError as error:
        raise AgentError(f"act: {error}") from None
