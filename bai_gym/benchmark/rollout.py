"""Plays a batch of episodes, by blocks (fast) or step by step; results have the same distribution."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from bai_gym.bandits import Bandit
from bai_gym.benchmark.merged import MergedStatistics
from bai_gym.benchmark.protocol import act_of, tally, uses_pairs
from bai_gym.budget import Budget
from bai_gym.envs.actions import ActionEncoding, DecodedActions
from bai_gym.envs.scalar import BestArmEnv
from bai_gym.envs.vector import BestArmVectorEnv
from bai_gym.errors import AgentError, ParameterError
from bai_gym.results.result import summed
from bai_gym.rounds import AT_ONCE, Rounds
from bai_gym.sampling import (
    Block,
    Engine,
    Outcome,
    Sequential,
    check_request,
    late_plan,
    start,
)
from bai_gym.statistics import FloatArray, IntArray, Observation, Statistics
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
        earlier: ``(1, K)`` pulls before the episodes, which the statistics include; 0: there are none.
        checkpoints: The checkpoints in ascending order; without the budget's.
        tally: What the agent has counted, see :func:`bai_gym.benchmark.protocol.tally`.
    """

    recommendation: IntArray
    source: Statistics | MergedStatistics
    earlier: IntArray | int = 0
    checkpoints: tuple[RolloutCheckpoint, ...] = ()
    tally: Mapping[str, int] = field(default_factory=dict)

    @property
    def pulls(self) -> IntArray:
        """``(N, K)`` pulls of each arm in the episodes."""
        return np.asarray(self.source.pulls - self.earlier, np.int64)

    @property
    def statistics(self) -> Statistics:
        """``(N, K)`` statistics of all pulls, earlier ones included."""
        return self.source.statistics if isinstance(self.source, MergedStatistics) else self.source

    @classmethod
    def joined(cls, parts: Sequence[Rollout]) -> Rollout:
        """Return several groups of episodes, without checkpoints, as one."""
        statistics = (
            np.concatenate([getattr(part.statistics, name) for part in parts])
            for name in ("pulls", "means", "variances")
        )
        recommendation = np.concatenate([part.recommendation for part in parts])
        return cls(
            recommendation, Statistics(*statistics), parts[0].earlier, tally=summed(part.tally for part in parts)
        )


def play_blocks(
    agent: Any,
    bandit: Bandit,
    budget: int | Budget,
    rng: np.random.Generator,
    task: Task | None = None,
    checkpoints: Sequence[int] = (),
    earlier: Statistics | None = None,
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
        earlier: ``(1, K)`` statistics from which the agent starts; None: it starts from nothing.
        rounds: When rewards arrive; where they arrive late, there are no checkpoints either.

    Raises:
        AgentError: If the agent makes an impossible request.
    """
    return _BlockPlayer(agent, bandit, budget, rng, task or BestArm(), checkpoints, earlier, rounds).play()


class _BlockPlayer:
    """Executes the plan of an agent by blocks, with recommendations at the checkpoints."""

    def __init__(
        self,
        agent: Any,
        bandit: Bandit,
        budget: int | Budget,
        rng: np.random.Generator,
        task: Task,
        checkpoints: Sequence[int],
        earlier: Statistics | None,
        rounds: Rounds,
    ) -> None:
        self._agent, self._bandit, self._rng, self._task = agent, bandit, rng, task
        self._checkpoints, self._rounds = checkpoints, rounds
        self._scored: list[RolloutCheckpoint] = []
        variances = bool(getattr(agent, "uses_variances", True))
        self._merged = MergedStatistics(
            bandit.batch,
            bandit.num_arms,
            budget,
            variances=variances,
            features=bandit.features,
            earlier=earlier,
            pairs_of=bandit if uses_pairs(agent) else None,
        )
        self._budget = self._merged.funds.total
        self._earlier = _pulls(earlier)

    def play(self) -> Rollout:
        """Execute the plan to its end."""
        merged, bandit = self._merged, self._bandit
        if self._rounds.late:
            recommendation = self._task.check(self._play_rounds(), bandit.batch, bandit.num_arms)
            return Rollout(recommendation, merged, self._earlier)
        plan = start(self._agent, merged)
        outcome: Statistics | Outcome | None = None
        while True:
            try:
                asked = plan.send(outcome)
            except StopIteration as end:
                recommendation = self._task.check(end.value, bandit.batch, bandit.num_arms)
                break
            request, pulls = check_request(asked, bandit.batch, bandit.num_arms, merged.left, merged.funds)
            made = self._budget - merged.left
            points = [point - made for point in self._checkpoints if made < point < made + pulls]
            if isinstance(request, Block):
                outcome = self._block(request, pulls, points)
            else:
                outcome = self._sequential(request, points)
            if self._budget - merged.left in self._checkpoints[len(self._scored) :]:
                self._recommend(merged)
        # After an agent's last pull nothing changes.
        for point in self._checkpoints[len(self._scored) :]:
            self._scored.append(RolloutCheckpoint(point, recommendation, merged.pulls - self._earlier))
        return Rollout(recommendation, merged, self._earlier, tuple(self._scored))

    def _play_rounds(self) -> Any:
        """Execute the plan where rewards arrive late, and return the recommendation."""
        merged, bandit, rounds = self._merged, self._bandit, self._rounds
        plan = late_plan(self._agent, merged, self._budget, rounds, bandit.rewards)
        under_way: deque[Statistics] = deque()  # the rewards of the rounds that have not arrived
        outcome: Statistics | None = None
        while True:
            try:
                block: Block = plan.send(outcome)
            except StopIteration as end:
                for made in under_way:  # they have been paid for
                    merged.add(None, made)
                return end.value
            made = bandit.pull_block(block.counts, self._rng, variances=merged.has_variances)
            under_way.append(made)
            merged.spend(int(block.counts.sum(axis=1).max()))
            all_arrive = merged.left == 0
            outcome = Statistics.zeros(block.counts.shape)
            while under_way and (all_arrive or len(under_way) > rounds.delay):
                made = under_way.popleft()
                merged.add(None, made)
                there = np.flatnonzero(made.pulls)
                outcome.merge(
                    there, Statistics(*(values.take(there) for values in (made.pulls, made.means, made.variances)))
                )

    def _recommend(self, then: MergedStatistics) -> None:
        recommendation = self._task.check(self._agent.recommend(then), self._bandit.batch, self._bandit.num_arms)
        self._scored.append(RolloutCheckpoint(self._budget - then.left, recommendation, then.pulls - self._earlier))

    def _block(self, block: Block, pulls: Any, points: Sequence[int]) -> Statistics:
        """Pull a block, in one pass or in the parts between checkpoints."""
        merged, bandit, variances = self._merged, self._bandit, self._merged.has_variances
        if not points:
            outcome = bandit.pull_block(
                block.counts, self._rng, arms=block.arms, variances=variances, order=block.order
            )
        else:
            outcome = Statistics.zeros(block.counts.shape)
            for point, (counts, order) in zip([*points, pulls], block.parts(points), strict=True):
                part = bandit.pull_block(counts, self._rng, arms=block.arms, variances=variances, order=order)
                made = np.flatnonzero(counts)
                flat = Statistics(part.pulls.take(made), part.means.take(made), part.variances.take(made))
                outcome.merge(made, flat, variances=variances)
                if point < pulls:
                    self._recommend(merged.after(block.arms, outcome, point))
        merged.add(block.arms, outcome)
        merged.spend(pulls)
        return outcome

    def _sequential(self, request: Sequential, points: Sequence[int]) -> Outcome:
        """Play a rule, and count its pulls."""
        merged, before = self._merged, self._merged.pulls
        made = merged.funds.pulls_made(merged.left, before.sum(axis=1) - np.sum(self._earlier))
        played = self._played(request, made + int(np.sum(self._earlier)), points)
        amount = merged.funds.cost(merged.pulls - before)
        merged.funds.check_spent(amount, merged.left)
        merged.spend(amount)
        return played

    def _played(self, request: Sequential, made: int, points: Sequence[int] = ()) -> Outcome:
        """Play a rule after some pulls in every episode, with a recommendation at each checkpoint."""
        merged, bandit, arms = self._merged, self._bandit, request.arms
        begin = request.window
        if begin is None:
            begin = merged.statistics if arms is None else merged.statistics.take(arms)
        engine = Engine(request, begin, made, bandit.features, variances=merged.has_variances)
        draws = bandit.draws()

        def pull(rows: IntArray, slots: IntArray) -> FloatArray:
            named = slots if arms is None else arms[rows, slots]
            return bandit.pull(rows * bandit.num_arms + named, self._rng)

        since = request.window
        for point in points:
            engine.advance(draws, self._rng, point, pull)
            now = engine.statistics
            self._recommend(merged.after(arms, now, point, since=since, add=since is not None))
        engine.advance(draws, self._rng, request.steps, pull)
        played = engine.outcome
        if since is None:
            merged.set(arms, played.statistics)
        else:
            merged.add(arms, played.statistics, since)
        return played


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
    due, earlier = set(checkpoints), _pulls(env.problem.earlier)
    asked = {name: observation[name].copy() for name in ("pulls", "means", "variances")}  # of requested pulls
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
                scored.append(RolloutCheckpoint(made, recommendations, np.asarray(asked["pulls"] - earlier, np.int64)))
        with _blaming_act():
            observation, *_ = env.step(actions)
    encoding, actions = env.action_encoding, act(observation)
    with _blaming_act():
        recommendations = encoding.read(actions, env.num_envs).recommendations
    recommendations = encoding.task.check(recommendations, env.num_envs, env.num_arms, "act")
    return Rollout(recommendations, Statistics.of(observation).copy(), earlier, tuple(scored))


def play_single_steps(agent: Any, env: BestArmEnv, observation: Observation) -> Rollout:
    """Play one episode pull by pull, for agents that act on one observation at a time.

    Args:
        agent: Already reset.
        env: A scalar environment that has just been reset.
        observation: The observation of that reset.

    Raises:
        AgentError: If an action is invalid.
    """
    encoding = env.action_encoding
    act = act_of(agent, env.episode_spec.rounds, env.problem_info().rewards)
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
    statistics = Statistics(*(observation[n][None] for n in ("pulls", "means", "variances")))
    if "pending" in observation:  # pulls that have been paid for
        statistics.pulls = statistics.pulls + observation["pending"][None]
    return Rollout(recommendations, statistics, _pulls(env.problem.earlier), tally=tally(agent))


def _pulls(earlier: Statistics | None) -> IntArray | int:
    return 0 if earlier is None else earlier.pulls


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
