"""A study: an experiment whose pulls the user makes, handed out by ``ask`` and reported to ``tell``.

The interface is ask and tell, as in Optuna (Akiba et al., 2019, "Optuna: A Next-generation Hyperparameter Optimization
Framework"); here an agent of best-arm identification decides what to try. :func:`bai_gym.identify` is a study whose
pulls are calls of a function.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from bai_gym.api import agent_source
from bai_gym.bandits.linear import check_features
from bai_gym.benchmark.protocol import (
    allocates,
    describe,
    knowledge,
    notes,
    reset,
    starts_from_earlier,
    suited,
    unmet_assumptions,
    uses_costs,
    uses_pairs,
)
from bai_gym.budget import Budget, check_budget, check_costs, common_cost
from bai_gym.datasets import read_table
from bai_gym.errors import (
    AgentError,
    BudgetError,
    DataError,
    InstanceError,
    MissingPackageError,
    OutputError,
    ParameterError,
)
from bai_gym.live.entries import Entry, Overtaken
from bai_gym.live.estimates import Pull
from bai_gym.live.evidence import Identification
from bai_gym.live.items import Items
from bai_gym.live.storage import open_log
from bai_gym.problems import ProblemInfo
from bai_gym.rewards import REAL, Rewards
from bai_gym.sampling import Dispatcher
from bai_gym.seeding import check_seed, generator
from bai_gym.statistics import FloatArray, IntArray, Statistics
from bai_gym.validation import LARGEST, integer, real
from bai_gym.validation import reward as check_reward

__all__ = ["PendingPull", "Study", "check_names", "kind_of"]

_T = TypeVar("_T")

_FROM_PARAMETERS = frozenset({"prior"})  # knowledge that the agent has from its parameters, which users provide

_PARAMETERS = {
    "complexity": "a",
    "range": "b",
    "variances": "noise_variance",
}  # agent parameters that replace that knowledge

_POLL = 0.05  # seconds between two reads of the log while waiting


@dataclass(frozen=True, slots=True)
class PendingPull:
    """A pull to be made.

    Attributes:
        number: Its id: pulls are numbered from 1 on.
        arm: 0 to K-1.
        name: Name of the arm; its number as text, if arms have no names.
        item: The item to play it on, in a study with items; else None.
        item_number: Number of that item, from 0 on.
    """

    number: int
    arm: int
    name: str
    item: Any = field(default=None, compare=False)  # values of any kind, such as arrays
    item_number: int | None = None


class Study:
    """Best-arm identification by ask and tell: ``ask`` hands out pulls, ``tell`` takes their rewards.

    Larger rewards are better. Any number of pulls may be outstanding, and their rewards may come in any order, from any
    process that opens the same journal or storage with the same arguments. Rewards of one arm count in the order in
    which its pulls were handed out, so it does not matter which of them are fast. Agents that play by blocks (SR, SH)
    therefore recommend exactly what they would recommend if pulls were made sequentially. Sequential agents (TTTS,
    LUCB) decide each pull on the rewards reported so far: with one pull outstanding that is the published algorithm;
    with more, rewards are delayed, and the agent assumes that outstanding rewards are near the means
    (:class:`bai_gym.sampling.Dispatcher`).

    Every reward is on the disk when ``tell`` returns, with a journal or a storage. A pull whose reward never arrives,
    because its worker died, is handed out again after ``lease`` seconds, or after :meth:`release`; it has the same
    number, so the budget holds. If both workers report a reward, the first one counts, and both are kept. Without
    ``lease`` and ``release`` the study waits for it: an agent that plays by blocks hands out nothing more until the
    block is complete.

    Threads may share a study; each process opens its own. Locks of a journal work on one machine, and on network file
    systems with ``flock``. On Windows there are none: use one process, with threads. For workers on several machines
    give a ``storage``, on a server of PostgreSQL. Calls wait up to a minute while it cannot be reached.

    Args:
        arms: Names of the arms, at least 2; or their number K, which names them ``"0"`` to ``"K-1"``; None: those of
            ``earlier``.
        budget: Pulls over all arms, at least 1; with ``costs``, their total cost, above 0.
        agent: A name, a class or an instance, as for :func:`bai_gym.evaluate`. An agent of fixed confidence, such as
            LUCB, ends the study when it is confident, or else at the budget. Agents that require oracle knowledge are
            rejected; a prior is allowed, as a parameter of the agent.
        seed: Seed of the agent, at least 0.
        features: ``(K, d)`` numbers that describe the arms, for agents that use them.
        costs: Cost of a pull of each arm, above 0, in order or by name; where costs vary, as those of calls that are
            billed by the token, what one is expected to cost, and ``tell`` takes what it did cost. No pull is handed
            out whose cost exceeds what is left: the budget is exceeded by no more than outstanding pulls cost more than
            expected, and not at all if the costs are upper limits. Agents that take account of costs
            (``uses_costs``, such as SH, SR, Uniform, OCBA and TrackAndStop) plan with the money. Of all others, those
            that can stop at any time (of fixed confidence, or with ``anytime``) end before the first pull that costs
            more than what is left, and the rest plan with the number of pulls that is affordable whichever arms they
            choose, budget / largest cost.
        earlier: Earlier results, one per row: a CSV or Parquet file, or a data frame. The agent starts from their
            statistics, and they count in the evidence; they must be random samples of the same arms. Only for agents
            that can stop at any time: those with phases decide by the pulls of the phase.
        arm_column: Column of ``earlier`` that names the arm.
        reward_column: Column of ``earlier`` with the reward.
        rewards: The kind of rewards, for agents whose statistics depend on it: ``"binary"``, ``"bounded(low, high)"``,
            ``"counts"`` or ``"real"``, see :class:`bai_gym.rewards.Rewards`. Others are refused by ``tell``. None: what
            the earlier results show (binary if all are 0 or 1, ``"bounded(0, 1)"`` if all are between); without any,
            real.
        items: Questions, instances or seeds that all arms are played on, at least 1, of any type: the j-th pull of
            every arm carries item j of one order, in which ``seed`` shuffles them. No arm is played on an item twice.
            So a budget above one pull of each arm on each item is refused, and a study whose agent asks for an arm
            that has been played on all items ends as at its budget, with a note. The journal keeps the number of the
            item, and a digest of the items. None: pulls are independent.
        lease: Seconds, above 0, after which a pull without a reward is handed out again, counted by each process from
            when it learned of it; None: only after :meth:`release`.
        journal: A file that keeps everything, as JSON lines. Opening it again resumes the study. Without it and
            ``storage``: in memory.
        storage: A database that keeps everything instead, with the same entries: an address such as
            ``"postgresql://user@host/database"`` or ``"sqlite:///studies.db"``. Tables are created if they are missing.
        name: Name of the study in the storage, which may hold several; None: ``"study"``.
        exclusive: Whether this is the only process: others are kept out of the journal, and pulls that were outstanding
            when it was opened are handed out again at once. Not with ``storage``.

    Raises:
        OutputError: The journal or storage cannot be written, is of another experiment, or is in use.
        MissingPackageError: A package for the storage is not installed.
        BudgetError: The agent needs a larger budget, or the items do not suffice for this one.
        AgentError: The agent needs knowledge, features or items that are missing, or cannot start from earlier results.
        DataError: Earlier results cannot be read, or are not of the kind of rewards.
        ParameterError: Another argument is invalid.
    """

    def __init__(
        self,
        arms: int | Iterable[str] | None,
        budget: float,
        agent: Any = "SR",
        *,
        seed: int = 0,
        features: object = None,
        costs: Mapping[str, float] | Sequence[float] | None = None,
        earlier: Any = None,
        arm_column: str = "arm",
        reward_column: str = "reward",
        rewards: Rewards | str | None = None,
        items: Iterable[Any] | None = None,
        lease: float | None = None,
        journal: str | os.PathLike[str] | None = None,
        storage: str | None = None,
        name: str | None = None,
        exclusive: bool = False,
    ) -> None:
        """Check everything, and read the log."""
        self.seed = check_seed(seed)
        self.rewards = kind_of(rewards, earlier, arm_column, reward_column)
        self.names, self._earlier = _arms(arms, earlier, arm_column, reward_column, self.rewards)
        self._source = agent_source(agent)
        checked = check_costs(costs, len(self.names), self.names)
        self._costs = None if checked is None else np.array(checked)
        self._features = _features(features, len(self.names))
        self._lease = None if lease is None else real(lease, "lease", above=0, rule="a number of seconds above 0")
        self._items = None if items is None else Items(items, self.seed)
        if self._items is not None and self._earlier is not None:
            raise ParameterError("earlier results were not played on items: give items or earlier, not both")
        player = self._source.make()
        self.agent = describe(player)
        self._plans_money = self._costs is not None and uses_costs(player) and common_cost(self._costs) is None
        self._stops = bool(getattr(player, "stops", False))
        any_time = starts_from_earlier(player)
        if self._earlier is not None and not any_time:
            raise AgentError(
                f"{self.agent} cannot start from earlier results: it decides by the pulls of its phases; take an agent "
                "that decides by all statistics, such as TTTS, UCB1, OCBA or LUCB"
            )
        self._total = None if self._costs is None else real(budget, "budget", above=0, error=BudgetError)
        if self._costs is None or self._total is None:
            self.budget: int = check_budget(budget)
        else:  # 1e-9: ten pulls at a cost of 0.1 are affordable with 1.0
            least = float((self._costs.min if any_time or self._plans_money else self._costs.max)())
            self.budget = check_budget(math.floor(self._total / least * (1.0 + 1e-9)))
        if self._items is not None:
            self.budget = self._check_items(len(self._items))
        kept = journal is not None or storage is not None
        facts = {
            "agent": self.agent,
            "arms": list(self.names),
            "budget": self.budget if self._total is None else self._total,
            "seed": self.seed,
            "features": _digest(self._features),
            "costs": None if self._costs is None else self._costs.tolist(),
            "earlier": None if self._earlier is None else [values[0].tolist() for values in _arrays(self._earlier)],
            "rewards": str(self.rewards),
            "items": None if self._items is None or not kept else [len(self._items), self._items.digest()],
        }
        self._state = self._fresh()
        self._lock = threading.RLock()
        self._log = open_log(facts, journal=journal, storage=storage, name=name, exclusive=exclusive)
        try:
            left = self._synchronised(lambda state: exclusive and bool(state.leased))
            if left:
                self.release()
        except BaseException:
            self.close()
            raise

    def ask(self, n: int = 1, *, wait: float = 0.0) -> list[PendingPull]:
        """Hand out pulls: first those to be handed out again, then new ones.

        Args:
            n: At most that many, at least 1.
            wait: Seconds to wait, at least 0, until there is one; ``math.inf``: until the study ends.

        Returns:
            The pulls; none if the agent needs more rewards before it can decide (:attr:`ended` is False: ask again
            later), or if the study has ended.
        """
        n, wait = integer(n, "n", least=1), real(wait, "wait", least=0, finite=False)
        until = time.monotonic() + wait

        def hand_out(state: _State) -> tuple[list[PendingPull], bool]:
            entries = list(state.hand_out(n, self._lease))
            self._log.append(entries)
            pulls = [self._pending(entry.number) for entry in entries if entry.kind != "end"]
            return pulls, state.recommendation is not None

        while True:
            pulls, ended = self._synchronised(hand_out)
            if pulls or ended or time.monotonic() >= until:
                return pulls
            time.sleep(min(_POLL, max(until - time.monotonic(), 0.0)))

    def tell(
        self, pull: PendingPull | int, reward: float, *, cost: float | None = None, error: str | None = None
    ) -> bool:
        """Give the reward of a pull, which is on the disk when this returns.

        Args:
            pull: The pull, or its number.
            reward: A number of the kind of rewards, at most 1e50 in magnitude, larger is better; True and False count
                as 1 and 0.
            cost: What the pull has cost, from 0 to 1e50, in a study with costs; None: the cost of its arm.
            error: Why the pull has failed, as text, if the reward stands for a failure.

        Returns:
            Whether it counts: False if the pull already has a reward. The journal keeps it all the same.

        Raises:
            ParameterError: The reward or the cost is no such number, or the pull was never handed out.
            OutputError: It cannot be written; the message has it.
        """
        number = _number(pull)
        if cost is not None and self._costs is None:
            raise ParameterError("cost is given, and this study counts pulls: give the study costs=, or leave it out")
        paid = None if cost is None else real(cost, "cost", least=0, most=LARGEST)
        if error is not None and not isinstance(error, str):
            raise ParameterError(f"error must be the reason of a failure, as text, not {error!r}")
        if error is not None:  # names of files, for example, may have characters that no file of text can have
            error = error.encode(errors="backslashreplace").decode()
        entry = Entry("tell", number, reward=check_reward(reward, "reward"), error=error, cost=paid)
        refusal = self.rewards.refusal(np.array([entry.reward]))
        if refusal is not None:
            raise ParameterError(f"pull {number}: {refusal}")

        def take(state: _State) -> bool:
            state.check(number)
            counts = number not in state.rewards
            self._log.append([entry])
            state.apply(entry)
            return counts

        return self._synchronised(take)

    def release(self, *pulls: PendingPull | int) -> None:
        """Hand out again pulls whose worker is known to have died; without arguments, all outstanding ones."""
        given = [_number(pull) for pull in pulls]

        def free(state: _State) -> None:
            for number in given:
                state.check(number)
            entries = [Entry("release", number) for number in given or sorted(state.leased) if number in state.leased]
            self._log.append(entries)
            for entry in entries:
                state.apply(entry)

        self._synchronised(free)

    @property
    def outstanding(self) -> tuple[PendingPull, ...]:
        """Pulls that were handed out and have no reward yet."""
        return self._synchronised(
            lambda state: tuple(map(self._pending, sorted({*state.leased, *state.free}))),
        )

    @property
    def log(self) -> tuple[Pull, ...]:
        """The pulls with rewards, in the order in which they were first handed out."""
        return self._synchronised(lambda state: state.log)

    @property
    def best_arm(self) -> str:
        """Name of the arm that :meth:`result` recommends: of largest mean so far, before the study has ended.

        Raises:
            ParameterError: If no reward has been reported yet.
        """
        return self.result().name

    @property
    def ended(self) -> bool:
        """Whether the agent has given its recommendation."""
        return self._synchronised(lambda state: state.recommendation is not None)

    def result(self) -> Identification:
        """Return the recommended arm with its evidence; before the end, the arm of largest mean so far, with a note.

        Raises:
            ParameterError: If no reward has been reported yet.
        """
        log, asked, spent, recommendation, confident, exhausted = self._synchronised(
            lambda state: (
                state.log,
                len(state.arms),
                state.spent,
                state.recommendation,
                state.confident,
                state.exhausted,
            )
        )
        player = suited(self._source.make(), self.rewards)
        found = Identification.of(
            recommendation,
            log,
            len(self.names),
            agent=self.agent,
            budget=self.budget if self._total is None else self._total,
            seed=self.seed,
            names=self.names,
            earlier=self._earlier,
            rewards=self.rewards,
            asked=asked,
            spent=None if self._total is None else spent,
            on_items=self._items is not None,
        )
        said: list[str] = []
        if exhausted is not None:
            said.append(
                f"{self.agent} asked for arm {self.names[exhausted]} once more than there are items, which ended the "
                "study: more items would use the rest of the budget"
            )
        elif self._stops and recommendation is not None and not confident:
            cap = f"{self.budget} pulls" if self._total is None else f"{self._total:g}"
            said.append(f"{self.agent} was stopped by the budget of {cap}: its confidence was not reached")
        prior = (f"{self.agent} uses a prior, given by its parameters",) if knowledge(player) & _FROM_PARAMETERS else ()
        known: Any = _UnknownArms(self.rewards, len(self.names), None if self._items is None else len(self._items))
        return replace(found, notes=(*found.notes, *said, *notes(player), *unmet_assumptions(player, known), *prior))

    def optimize(self, function: Callable[[PendingPull], Any], pulls: int | None = None) -> Identification:
        """Make pulls by calls of a function, one after the other, until the study ends.

        Several processes that share a study may do so at the same time; each waits for pulls that others are making,
        where the agent has to. A pull whose call raises an exception is released, to be handed out again.

        Args:
            function: Takes a :class:`PendingPull`, of which ``name`` and ``arm`` say what to try, and returns the
                reward; in a study with costs also a pair, the reward and what the pull has cost.
            pulls: Calls of the function, at most, at least 1; None: no limit.

        Returns:
            The result, see :meth:`result`.

        Raises:
            Exception: An exception of the function.
            ParameterError: It returned no number that can be a reward.
            OutputError: The journal or storage cannot be written.
        """
        if not callable(function):
            raise ParameterError(f"function must take a pull and return its reward, not {function!r}")
        most = math.inf if pulls is None else integer(pulls, "pulls", least=1)
        made = 0
        while made < most and (asked := self.ask(wait=math.inf)):
            try:
                found = function(asked[0])
                if self._costs is not None and isinstance(found, tuple) and len(found) == 2:
                    self.tell(asked[0], found[0], cost=found[1])
                else:
                    self.tell(asked[0], found)
            except BaseException:
                with contextlib.suppress(OutputError):  # it cannot be written
                    self.release(*asked)
                raise
            made += 1
        return self.result()

    def pulls_dataframe(self) -> Any:
        """Return all pulls as a pandas data frame, a row for each in the order in which they were handed out.

        Its columns are ``number``, ``arm`` (0 to K-1), ``name`` of the arm, ``reward`` (NaN while it is outstanding),
        and ``error`` (missing unless the reward stands for a failure); in a study with costs also ``cost``, what the
        pull has cost, or is expected to cost, and in a study with items ``item_number`` and ``item``.

        Raises:
            MissingPackageError: If pandas is not installed.
        """
        try:
            import pandas
        except ImportError as error:
            raise MissingPackageError("pulls_dataframe() needs pandas; pip install pandas") from error

        def made(state: _State) -> tuple[list[int], dict[int, Pull], list[PendingPull]]:
            pulls = [self._pending(number) for number in range(1, len(state.arms) + 1)]
            return list(state.arms), dict(state.rewards), pulls

        arms, told, pulls = self._synchronised(made)
        rows = [told.get(number, Pull(arm, math.nan)) for number, arm in enumerate(arms, 1)]
        columns: dict[str, Any] = {
            "number": np.arange(1, len(arms) + 1),
            "arm": np.array(arms, np.int64),
            "name": np.array([self.names[arm] for arm in arms], object),
            "reward": np.array([row.reward for row in rows], np.float64),
            "error": np.array([row.error for row in rows], object),
        }
        if self._costs is not None:
            paid = [self._costs[row.arm] if row.cost is None else row.cost for row in rows]
            columns["cost"] = np.array(paid, np.float64)
        if self._items is not None:
            columns["item_number"] = np.array([pull.item_number for pull in pulls], np.int64)
            columns["item"] = pandas.Series([pull.item for pull in pulls], dtype=object)
        return pandas.DataFrame(columns)

    def close(self) -> None:
        """Close the journal or the connection to the storage."""
        self._log.close()

    def __enter__(self) -> Study:
        """Close at the end of a ``with``."""
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _pending(self, number: int) -> PendingPull:
        arm, item = self._state.arms[number - 1], self._state.items[number - 1]
        value = None if self._items is None or item is None else self._items.values[item]
        return PendingPull(number, arm, self.names[arm], value, item)

    def _check_items(self, items: int) -> int:
        """Return the budget in pulls.

        Raises:
            BudgetError: If it exceeds one pull of each arm on each item.
        """
        pulls = items * len(self.names)
        most = pulls if self._costs is None else items * float(self._costs.sum())
        given = self.budget if self._total is None else self._total
        if given > most * (1.0 + 1e-9):
            raise BudgetError(
                f"budget {given:g} is more than {len(self.names)} arms can use on {items} items, each once: give "
                f"{most:g} or less, or more items"
            )
        return min(self.budget, pulls)

    def _fresh(self) -> _State:
        """Return the state before the first pull."""
        player = self._source.make()
        declared = _check_knowledge(suited(player, self.rewards))
        if self._plans_money and self._costs is not None:
            costs = check_costs(self._costs, len(self.names))
            info = ProblemInfo(len(self.names), self._total, knows=declared, costs=costs)
        else:
            info = ProblemInfo(len(self.names), self.budget, knows=declared)
        info.features = self._features
        info.rewards = self.rewards
        if self._items is not None:
            info.paired, info.num_items = True, len(self._items)
        reset(player, info, generator(self.seed, "agent"))
        given = self._features, self._earlier, self._costs, self._total, self._plans_money, self._items
        return _State(player, self.names, self.budget, *given)

    def _synchronised(self, operation: Callable[[_State], _T]) -> _T:
        """Return what an operation returns, with other threads and processes locked out, and their entries applied."""
        with self._lock:
            while True:
                try:
                    with self._log.transaction() as entries:
                        for entry in entries:
                            self._state.apply(entry)
                        done = operation(self._state)
                        self._record_recommendation()
                    return done
                except ParameterError:  # of the caller: the state is as it was
                    raise
                except BaseException as error:  # what was handed out may not have been written: read it all again
                    self._state = self._fresh()
                    self._log.rewind()
                    if not isinstance(error, Overtaken):
                        raise

    def _record_recommendation(self) -> None:
        """Write the agent's recommendation, once, for those who read the log without the agent."""
        state = self._state
        if state.recommendation is not None and not state.recorded:
            entry = Entry("recommend", len(state.arms), arm=self.names[state.recommendation])
            self._log.append([entry])
            state.apply(entry)


@dataclass(frozen=True)
class _UnknownArms:
    """What guarantees of agents depend on, as of a :class:`bai_gym.bandits.Bandit`, where the means are unknown."""

    rewards: Rewards
    num_arms: int
    num_items: int | None

    @property
    def means(self) -> FloatArray:
        return np.full((1, self.num_arms), np.nan)

    @property
    def paired(self) -> bool:
        return self.num_items is not None

    def item_covariance(self, row: int) -> None:
        return None

    def limits(self) -> tuple[float, float]:
        return self.rewards.low, self.rewards.high

    def scale(self) -> float:
        return self.rewards.width / 2.0


class _State:
    """What follows from the entries of a log, in their order.

    Attributes:
        arms: Arms of the pulls handed out.
        items: Numbers of the items of these pulls; None without items.
        rewards: Pulls whose rewards count, by number of the pull.
        leased: Numbers of pulls in the hands of workers, with the time from which their lease counts.
        free: Numbers of pulls to be handed out again.
        spent: What the pulls have cost; of those outstanding, what they are expected to cost.
        recorded: Whether the log has the recommendation.
        exhausted: The arm that the agent asked for when it had been played on all items, which ended the study; None.
    """

    def __init__(
        self,
        player: Any,
        names: Sequence[str],
        budget: int,
        features: FloatArray | None,
        earlier: Statistics | None,
        costs: FloatArray | None,
        total: float | None,
        plans_money: bool,
        items: Items | None,
    ) -> None:
        self.items: list[int | None] = []
        self.exhausted: int | None = None
        self.rewards: dict[int, Pull] = {}
        self.leased: dict[int, float] = {}
        self.free: deque[int] = deque()
        self.recorded = False
        self._names = names
        self._costs, self._total = costs, total
        self.spent = 0.0
        self._order = None if items is None else items.order
        self._made = [0] * len(names)  # pulls of each arm
        allowed = None if costs is None and items is None else self._allowed
        self._plans_money = plans_money
        if plans_money:  # the money alone ends it: pulls may turn out cheaper than expected
            budget = sys.maxsize if items is None else len(items) * len(names)
        played = player, allocates(player), len(names), budget, features, earlier, allowed
        compared = 0 if items is None or not uses_pairs(player) else len(items)
        funds = Budget.of(total, tuple(costs.tolist())) if plans_money and costs is not None else None
        self._dispatcher = Dispatcher(*played, funds, compared)

    @property
    def arms(self) -> list[int]:
        return self._dispatcher.arms

    @property
    def log(self) -> tuple[Pull, ...]:
        """The pulls with rewards, in the order in which they were first handed out."""
        return tuple(self.rewards[number] for number in sorted(self.rewards))

    @property
    def recommendation(self) -> int | None:
        return self._dispatcher.recommendation

    @property
    def confident(self) -> bool:
        """Whether the agent's own rule has ended the study, and not the budget."""
        return self._dispatcher.stopped_by_rule and not self._short_of_money

    @property
    def _short_of_money(self) -> bool:
        """Whether a rule that takes account of costs may have ended because a pull was too expensive."""
        if not self._plans_money or self._costs is None or self._total is None:
            return False
        return self._total - self.spent < float(self._costs.max())

    def hand_out(self, n: int, lease: float | None) -> Iterator[Entry]:
        """Hand out up to n pulls, and yield what to write, ``"end"`` included."""
        now = time.monotonic()
        expired = [number for number, since in self.leased.items() if lease is not None and now - since >= lease]
        for number in [*self.free, *expired][:n]:
            entry = Entry("again", number)
            self.apply(entry)
            yield entry
            n -= 1
        for _ in range(n):
            if self._dispatcher.over:
                return
            arm = self._dispatcher.ask()
            if arm is None:
                if self._dispatcher.over:
                    yield Entry("end", len(self.arms))
                return
            self._asked(arm)
            yield Entry("ask", len(self.arms), arm=self._names[arm], item=self.items[-1])

    def check(self, number: int) -> None:
        """Raise :class:`ParameterError` unless the pull was handed out."""
        if not 1 <= number <= len(self.arms):
            there = f"those are numbered 1 to {len(self.arms)}" if self.arms else "none has been so far"
            raise ParameterError(f"pull {number} was never handed out by ask: {there}")

    def apply(self, entry: Entry) -> None:
        """Apply an entry of the log.

        Raises:
            OutputError: If it does not follow from those before it.
        """
        number = entry.number
        if entry.kind == "ask":
            arm = self._dispatcher.ask()
            found = None if arm is None else self._names[arm]
            if found != entry.arm or number != len(self.arms):
                wanted = "for no pull" if found is None else f"for arm {found}"
                raise _foreign(f"pull {number} in the log is of arm {entry.arm}, and the agent now asks {wanted}")
            self._asked(int(arm or 0))
            if self.items[-1] != entry.item:
                raise _foreign(f"pull {number} in the log is on item {entry.item}, and here on {self.items[-1]}")
        elif entry.kind == "end":
            if self._dispatcher.ask() is not None or not self._dispatcher.over:
                raise _foreign(f"the log ends after {number} pulls, and the agent now asks for more")
        elif entry.kind == "recommend":
            chosen = self.recommendation
            now = "nothing yet" if chosen is None else f"arm {self._names[chosen]}"
            if chosen is None or self._names[chosen] != entry.arm:
                raise _foreign(f"the log recommends arm {entry.arm}, and the agent now recommends {now}")
            self.recorded = True
        elif not 1 <= number <= len(self.arms):
            raise _foreign(f"the log has an entry of pull {number}, which was not handed out")
        elif entry.kind == "tell" and entry.reward is not None:
            if number not in self.rewards:
                arm = self.arms[number - 1]
                self.rewards[number] = Pull(arm, entry.reward, entry.error, entry.cost)
                if entry.cost is not None and self._costs is not None:
                    self.spent += entry.cost - float(self._costs[arm])
                self._dispatcher.tell(number, entry.reward, entry.cost)
            self._settle(number)
        elif number not in self.rewards:
            self._settle(number)
            if entry.kind == "again":
                self.leased[number] = time.monotonic()
            else:
                self.free.append(number)

    def _asked(self, arm: int) -> None:
        self.leased[len(self.arms)] = time.monotonic()
        self.items.append(None if self._order is None else self._order[self._made[arm]])
        self._made[arm] += 1
        if self._costs is not None:
            self.spent += float(self._costs[arm])

    def _settle(self, number: int) -> None:
        self.leased.pop(number, None)
        if number in self.free:
            self.free.remove(number)

    def _allowed(self, arm: int) -> bool:
        if self._order is not None and self._made[arm] == len(self._order):
            self.exhausted = arm
            return False
        if self._costs is None or self._total is None:
            return True
        return self.spent + float(self._costs[arm]) <= self._total * (1.0 + 1e-9)


def _foreign(what: str) -> OutputError:
    return OutputError(f"{what}: the log is of another experiment or another version of the agent; start another study")


def _number(pull: PendingPull | int) -> int:
    return integer(pull.number if isinstance(pull, PendingPull) else pull, "pull", least=1)


def _arms(
    arms: int | Iterable[str] | None, earlier: Any, arm_column: str, reward_column: str, kind: Rewards
) -> tuple[tuple[str, ...], Statistics | None]:
    """Return the names of the arms, and ``(1, K)`` statistics of earlier results.

    Raises:
        ParameterError: If the names are not at least two different ones.
        DataError: If the results are of other arms, or not of the kind.
    """
    samples = None
    if earlier is not None:
        samples = read_table(earlier, arm_column=arm_column, reward_column=reward_column, rewards=kind)
    if arms is None and samples is None:
        raise ParameterError("arms is missing: give the names of the arms, or their number")
    if arms is None and samples is not None:
        arms = samples.names
    names = check_names(arms)
    if samples is None:
        return names, None
    places = {name: place for place, name in enumerate(names)}
    statistics = Statistics.zeros((1, len(names)))
    for number, name in enumerate(samples.names):
        if name not in places:
            raise DataError(f"the earlier results have arm {name!r}, which is not among the arms: leave out its rows")
        rewards = samples.rewards[samples.offsets[number] : samples.offsets[number + 1]]
        place = places[name]
        statistics.pulls[0, place] = rewards.size
        statistics.means[0, place] = rewards.mean()
        statistics.variances[0, place] = rewards.var(ddof=1) if rewards.size > 1 else 0.0
    return names, statistics


def kind_of(rewards: Rewards | str | None, earlier: Any, arm_column: str, reward_column: str) -> Rewards:
    """Return the kind of rewards; None: that which earlier results show, real without any.

    Raises:
        ParameterError: If there is no such kind.
        DataError: If the results cannot be read.
    """
    if rewards is not None:
        return Rewards.of(rewards)
    if earlier is None:
        return REAL
    return Rewards.read(read_table(earlier, arm_column=arm_column, reward_column=reward_column).rewards)


def check_names(arms: int | Iterable[str] | None) -> tuple[str, ...]:
    """Return the names of K arms; those of a number K are ``"0"`` to ``"K-1"``.

    Raises:
        ParameterError: If they are not at least two different texts.
    """
    if isinstance(arms, int | np.integer):
        return tuple(map(str, range(integer(arms, "arms", least=2))))
    if isinstance(arms, str | bytes) or not isinstance(arms, Iterable):
        raise ParameterError(f"arms must be the names of at least two arms, or their number, not {arms!r}")
    names = tuple(arms)
    wrong = [name for name in names if not isinstance(name, str) or not name.strip() or not _encodable(name)]
    if wrong:
        raise ParameterError(f"the name of an arm must be text that is not empty, not {wrong[0]!r}")
    if len(names) < 2:
        raise ParameterError(f"arms must name at least two arms, not {len(names)}")
    twice = [name for place, name in enumerate(names) if name in names[:place]]
    if twice:
        raise ParameterError(f"arms names arm {twice[0]!r} twice; each arm may be listed once")
    return names


def _encodable(text: str) -> bool:
    """Whether a file can hold the text: it has no half of a surrogate pair."""
    return text == text.encode(errors="replace").decode()


def _check_knowledge(agent: Any) -> frozenset[str]:
    """Return the oracle knowledge that the agent's parameters provide.

    Raises:
        AgentError: If it requires more.
    """
    wanted = knowledge(agent)
    secret = sorted(wanted - _FROM_PARAMETERS)
    if secret:
        ways = [
            name
            for word, name in _PARAMETERS.items()
            if word in secret and getattr(agent, name, False) in (None, "oracle")
        ]
        way = f"give it {' and '.join(f'{name}=...' for name in ways)}, or take" if len(ways) == len(secret) else "take"
        raise AgentError(
            f"{describe(agent)} requires oracle knowledge, unknown in a real experiment: {', '.join(secret)}; {way} an "
            "agent that requires none, such as SR, SH or A-UGapEb (`bai-gym list agents`)"
        )
    return wanted & _FROM_PARAMETERS


def _features(features: object, num_arms: int) -> FloatArray | None:
    """Return the features as ``(1, K, d)``, read-only.

    Raises:
        InstanceError: If they are not finite numbers of that shape.
    """
    if features is None:
        return None
    matrices = check_features(features, num_arms)
    if len(matrices) != 1:
        raise InstanceError("features are given for several instances, and there is one: give them as shape (K, d)")
    return matrices


def _arrays(statistics: Statistics) -> tuple[IntArray, FloatArray, FloatArray]:
    return statistics.pulls, statistics.means, statistics.variances


def _digest(values: FloatArray | None) -> str | None:
    return None if values is None else hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()[:16]
