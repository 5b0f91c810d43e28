"""Executes a plan of one episode with several pulls outstanding at a time, as parallel experiments need.

Pulls are handed out by :meth:`Dispatcher.ask` and their rewards arrive, in any order, by :meth:`Dispatcher.tell`.
Rewards of one arm enter the statistics in the order in which its pulls were handed out: a reward that arrives early
waits for those before it, so that speed does not select rewards. A block ends when the rewards of all its pulls have
arrived; an agent that plays by blocks is therefore the same whatever the order. A sequential rule decides each pull on
the rewards that have arrived; with one pull outstanding, that is all of them. For others that are outstanding it
assumes a reward near the arm's mean, so that not all go to one arm: the hallucinated observations of Desautels, Krause
and Burdick (2014), "Parallelizing Exploration-Exploitation Tradeoffs in Gaussian Process Bandit Optimization". Assumed
rewards guide the choice, and enter no statistics.
"""

from __future__ import annotations

import bisect
from collections import deque
from collections.abc import Callable, Generator, Sequence
from typing import Any

import numpy as np

from bai_gym.common.budget import Budget
from bai_gym.envs.actions import ActionEncoding
from bai_gym.errors import AgentError
from bai_gym.sampling.block import Block
from bai_gym.sampling.plans import execute, start
from bai_gym.sampling.requests import checked, engine_of
from bai_gym.sampling.sequential import Sequential
from bai_gym.statistics import AnyArray, FloatArray, Observation, Statistics
from bai_gym.tasks import BestArm, Task

__all__ = ["Dispatcher"]


class Dispatcher:
    """One episode, played pull by pull by others.

    The state depends only on the order of calls, so a second dispatcher with an equal agent that sees the same calls is
    in the same state.

    Args:
        agent: The agent, already reset: one that makes requests, or one that only has ``act``.
        requests: Whether the agent makes requests.
        num_arms: K.
        budget: Pulls, at most.
        features: ``(1, K, d)`` features of the arms; None: there are none.
        earlier: ``(1, K)`` statistics of earlier rewards, from which the agent starts; None: there are none.
        allowed: Whether a pull of an arm may be handed out; asked once for each. After the first refusal the episode
            ends as at the budget, see :meth:`stop`. None: always.
        funds: A budget of money, for an agent that takes account of it; ``budget`` then bounds the number of pulls.
        items: How many items there are, on which all arms are played in one order, for an agent that reads the
            differences of arms on common items; 0: it does not.
        task: What is to be recommended; None: the best arm.

    Attributes:
        arms: The arms of the pulls handed out so far; pull i has ``arms[i - 1]``.
        recommendation: The recommended arm, None before the end.
    """

    def __init__(
        self,
        agent: Any,
        requests: bool,
        num_arms: int,
        budget: int,
        features: FloatArray | None = None,
        earlier: Statistics | None = None,
        allowed: Callable[[int], bool] | None = None,
        funds: Budget | None = None,
        items: int = 0,
        task: Task | None = None,
    ) -> None:
        """Start the plan."""
        self.arms: list[int] = []
        self.recommendation: int | None = None
        self._agent = agent
        self._budget = budget
        self._funds = Budget(budget) if funds is None else funds
        self._allowed = allowed
        self._encoding = ActionEncoding(num_arms, task or BestArm(), fixed_confidence=False)
        self._queues: dict[int, deque[int]] = {arm: deque() for arm in range(num_arms)}  # outstanding, by arm
        self._rewards: dict[int, tuple[float, ...]] = {}  # told, and not yet in the statistics
        self._taken: list[list[float]] = [[] for _ in range(num_arms)]  # rewards of each arm, ascending
        self._outstanding = 0
        self._stopped = False
        self._statistics = Statistics.zeros((1, num_arms)) if earlier is None else earlier.copy()
        self._left = self._funds.total
        self._as_planned = True  # whether no pull has cost more or less than its arm
        self._remaining = np.array([[self._left]])
        self._seen: dict[str, AnyArray] = {
            "pulls": self._statistics.pulls,
            "means": self._statistics.means,
            "variances": self._statistics.variances,
            "remaining": self._remaining,
        }
        if features is not None:
            self._seen["features"] = features
        self._seen |= {name: fact[None] for name, fact in self._funds.facts.items()}
        self._on_items = np.zeros((items, num_arms))  # rewards in the statistics, by item
        self._pairs: Any = None
        if items:
            from bai_gym.paired.bandits.differences import PairStatistics  # of a wing

            self._pairs = PairStatistics(1, num_arms)
            self._seen |= {"differences": self._pairs.means, "difference_variances": self._pairs.variances}
        self._metrics = self._encoding.task.metrics
        self._cells = Statistics.zeros((1, num_arms, self._metrics))
        if self._metrics > 1:
            self._seen |= {"metric_means": self._cells.means, "metric_variances": self._cells.variances}
        self._request: _Block | _Sequential | None = None
        self._first = 1  # number of the first pull of the request
        self._played = self._play_out() if requests else None
        self._advance()

    @property
    def over(self) -> bool:
        """Whether no further pull will be handed out."""
        return self._stopped or self.recommendation is not None or len(self.arms) == self._budget

    @property
    def stopped_by_rule(self) -> bool:
        """Whether the rule of the last request has ended it, and not its number of steps."""
        if self._metrics > 1:  # where a rule's pulls are requests of their own
            return len(self.arms) < self._budget
        return isinstance(self._request, _Sequential) and self._request.stopped

    def ask(self) -> int | None:
        """Return the arm of the next pull, whose number is then ``len(arms)``.

        None, if the agent must first be told more rewards, or the episode is :attr:`over`.
        """
        while not self.over:
            arm = self._act() if self._played is None else self._request.next() if self._request else None
            if arm is None and isinstance(self._request, _Sequential) and self._request.ended:
                self._advance()
                continue
            if arm is None:
                return None
            if self._allowed is not None and not self._allowed(arm):
                self.stop()
                return None
            self.arms.append(arm)
            self._queues[arm].append(len(self.arms))
            self._outstanding += 1
            if self._played is not None:
                self._count(arm)
            return arm
        return None

    def tell(self, number: int, reward: float, cost: float | None = None, guarded: Sequence[float] = ()) -> None:
        """Give the reward of a pull that has been handed out, once for each.

        Args:
            number: From 1 on, in the order in which pulls were handed out.
            reward: A finite number.
            cost: What the pull has cost; None: the cost of its arm. Without costs of the arms it has no effect.
            guarded: Its other metrics.
        """
        arm = self.arms[number - 1]
        surcharge = self._funds.surcharge(arm, cost)
        self._as_planned &= surcharge == 0
        self._take(surcharge)
        self._rewards[number] = (reward, *guarded)
        queue = self._queues[arm]
        while queue and queue[0] in self._rewards:
            first = queue.popleft()
            self._record(first, arm, self._rewards.pop(first))

    def stop(self) -> None:
        """Hand out no more pulls; the agent recommends when it has been told the rewards of all outstanding ones.

        An agent that recommends at any time does; for others, their sequential request ends as at its last step.
        Failing both, the arm of largest mean is recommended, the first of several, among the arms of the last request:
        others have been dropped.
        """
        self._stopped = True
        self._end_if_complete()

    def _record(self, number: int, arm: int, numbers: tuple[float, ...]) -> None:
        reward, metrics = numbers[0], self._metrics
        self._statistics.add(arm, reward)
        if metrics > 1:
            self._cells.add(np.arange(metrics) + arm * metrics, np.array(numbers))
        if self._pairs is not None:
            pulls = self._statistics.pulls[0]
            rewards = self._on_items[pulls[arm] - 1]
            rewards[arm] = reward
            self._pairs.add_one(arm, rewards, pulls)
        bisect.insort(self._taken[arm], reward)
        self._outstanding -= 1
        if self._played is None:
            self._count(arm)
        elif self._request is not None and self.recommendation is None and number >= self._first:
            self._request.update(arm, reward)
            if self._request.ended:
                self._advance()
        self._end_if_complete()

    def _count(self, arm: int) -> None:
        """Take a pull, or its cost, from what is left."""
        self._take(self._funds.price(arm))

    def _take(self, amount: float) -> None:
        self._left -= amount
        self._remaining[...] = max(self._left, 0)

    def _end_if_complete(self) -> None:
        if self._outstanding or self.recommendation is not None or not self.over:
            return
        if self._played is None:
            self.recommendation = self._act()
        elif self._stopped and getattr(self._agent, "anytime", False):
            self.recommendation = int(self._agent.recommend(self._seen)[0])
        elif self._stopped and isinstance(self._request, _Sequential):
            self._advance()
        if self.recommendation is None:
            means = np.where(self._statistics.pulls[0] > 0, self._statistics.means[0], -np.inf)
            candidates = range(means.size) if self._request is None else sorted(self._request.arms)
            self.recommendation = max(candidates, key=means.__getitem__)

    def _assumed(self, arm: int) -> float:
        """Return the reward of the arm nearest to its mean, an observed one: rules may accept 0 and 1 only."""
        mean, rewards = float(self._statistics.means[0, arm]), self._taken[arm]
        place = bisect.bisect_left(rewards, mean)
        return min(rewards[max(place - 1, 0) : place + 1], key=lambda reward: abs(reward - mean), default=mean)

    def _act(self) -> int:
        """Return the action of an agent that only has ``act``; it observes the rewards that have arrived."""
        seen = {name: value[0].copy() for name, value in self._seen.items()}
        action = self._agent.act(seen)
        try:
            read = self._encoding.read(np.asarray(action)[None], 1)
            return self._answer(read.recommendations) if self.over else int(read.arms[0])
        except ValueError:  # ParameterError is one
            words = self._encoding.describe()
            raise AgentError(f"act must return {words}, not {' '.join(repr(action).split())[:80]}") from None

    def _advance(self) -> None:
        """Send the outcome of the request to the plan, which makes its next one with pulls, or recommends."""
        if self._played is not None:
            next(self._played, None)

    def _play_out(self) -> Generator[None, None, None]:
        """Execute the plan; each request waits until it has ended."""
        recommended = yield from execute(start(self._agent, self._seen), self._play)
        self.recommendation = self._answer(recommended)

    def _answer(self, recommended: object) -> int:
        return int(self._encoding.task.check(recommended, *self._statistics.pulls.shape).item())

    def _play(self, wanted: object) -> Generator[None, None, Any]:
        batch, arms = self._statistics.pulls.shape
        # What is too much because pulls have cost more than expected is made as far as ``allowed`` lets it.
        left = self._remaining[0, 0] if self._as_planned else np.inf
        request = checked(wanted, batch, arms, left, self._funds).whole
        self._first = len(self.arms) + 1
        if isinstance(request, Block):
            self._request = _Block(request, arms)
        else:
            self._request = _Sequential(request, self._seen, self._assumed)
        if not self._request.ended:
            yield
        return self._request.outcome


class _Block:
    """A block whose rewards arrive in any order."""

    def __init__(self, block: Block, num_arms: int) -> None:
        self._block = block
        self.arms = range(num_arms) if block.arms is None else block.arms[0].tolist()
        self._left = block.counts.copy()
        self._missing = int(block.counts.sum())
        self._made = Statistics.zeros((1, num_arms))

    @property
    def ended(self) -> bool:
        return self._missing == 0

    @property
    def outcome(self) -> Statistics:
        return self._made if self._block.arms is None else self._made.take(self._block.arms)

    def next(self) -> int | None:
        if not self._left.any():
            return None
        slot = int(self._block.next_slots(self._left)[0])
        self._left[0, slot] -= 1
        return int(self.arms[slot])

    def update(self, arm: int, reward: float) -> None:
        self._made.add(arm, reward)
        self._missing -= 1


class _Sequential:
    """A rule whose pulls may outnumber its rewards.

    Rules expect one choice before each reward, since some learn the last reward when they choose. So the choice made
    after a reward is kept, further ones are made on a copy, in which the outstanding pulls have assumed rewards, and a
    reward that no choice precedes is preceded by one that is not used. Only a choice without assumptions stops, or
    begins the next round of a request in rounds.
    """

    def __init__(self, request: Sequential, seen: Observation, assumed: Callable[[int], float]) -> None:
        self._engine = engine_of(request, seen)
        self.arms = range(seen["pulls"].shape[1]) if request.arms is None else request.arms[0].tolist()
        self._random = request.rng.bit_generator
        self._in_rounds = request.in_rounds
        self._assumed = assumed
        self._to_ask = self._missing = request.steps
        self._outstanding: list[int] = []  # slots, in the order in which they were handed out
        self._before: Any = None  # the state before the choice that was made after the last reward
        self._ahead: Any = None  # the copy after its last choice
        self.stopped = False

    @property
    def ended(self) -> bool:
        return self.stopped or self._missing == 0

    @property
    def outcome(self) -> Any:
        return self._engine.outcome

    def next(self) -> int | None:
        if self._to_ask == 0 or self.stopped:
            return None
        exact = self._before is None and not self._outstanding
        slot = self._choose() if exact else self._choose_ahead()
        if slot < 0:
            return None
        self._to_ask -= 1
        self._outstanding.append(slot)
        return int(self.arms[slot])

    def update(self, arm: int, reward: float) -> None:
        if self._before is None and self._choose() < 0:
            return
        slot = self.arms.index(arm)
        self._outstanding.remove(slot)
        self._before = self._ahead = None
        self._missing -= 1
        self._add(slot, reward)

    def _choose(self) -> int:
        self._before = self._engine.state()
        slot = self._chosen()
        self.stopped = slot < 0
        return slot

    def _choose_ahead(self) -> int:
        """Choose on the copy; where that stops, leave everything as it was, so that the call does not matter."""
        actual, random = self._engine.state(), self._random.state
        if self._ahead is not None:
            self._engine.restore(self._ahead)
            self._add(self._outstanding[-1])
            slot = self._chosen(supply=not self._in_rounds)
        else:
            self._engine.restore(actual if self._before is None else self._before)
            slot = self._chosen(supply=not self._in_rounds)
            for outstanding in self._outstanding:
                if slot >= 0:
                    self._add(outstanding)
                    slot = self._chosen(supply=not self._in_rounds)
        if slot < 0:
            self._random.state = random
        else:
            self._ahead = self._engine.state()
        self._engine.restore(actual)
        return slot

    def _chosen(self, *, supply: bool = True) -> int:
        return int(self._engine.choose(supply=supply)[0])

    def _add(self, slot: int, reward: float | None = None) -> None:
        reward = self._assumed(self.arms[slot]) if reward is None else reward
        self._engine.update(np.array([slot]), np.array([reward]))
