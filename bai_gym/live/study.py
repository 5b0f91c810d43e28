"""A study: an experiment whose pulls the user makes, handed out by ``ask`` and reported to ``tell``.

The interface is ask and tell, as in Optuna (Akiba et al., 2019, "Optuna: A Next-generation Hyperparameter Optimization
Framework"); here an agent of best-arm identification decides what to try. :func:`bai_gym.live.identify` is a study
whose pulls are calls of a function.
"""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from bai_gym.api import agent_source
from bai_gym.common.seeding import check_seed
from bai_gym.errors import MissingPackageError, OutputError, ParameterError
from bai_gym.live.entries import Entry, Overtaken
from bai_gym.live.estimates import Pull, widened
from bai_gym.live.evidence import Identification
from bai_gym.live.experiment import Experiment, check_arms, check_matrix, kind_of
from bai_gym.live.funds import Funds
from bai_gym.live.items import Items
from bai_gym.live.replay import State
from bai_gym.live.storage import open_log
from bai_gym.rewards import Rewards
from bai_gym.validation import LARGEST, AnyPath, flag, integer, real
from bai_gym.wings import hook

__all__ = ["PendingPull", "Study"]

_T = TypeVar("_T")

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
    (:class:`bai_gym.live.dispatcher.Dispatcher`).

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
        guardrails: Limits of what pulls measure beside the reward, such as ``{"latency": "<= 300"}``: wanted is the arm
            of largest mean reward among those whose other means keep them, or none. ``tell`` then takes a mapping.
        reward: Which metric is the reward, with guardrails; None: the only one that has no limit.
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
        earlier: Earlier results, one per row: a CSV or Parquet file, or a data frame; or the journal of a study, or
            the address of a database with one. The agent starts from their statistics, and they count in the evidence;
            they must be random samples of the same arms. Only for agents that can stop at any time: those with phases
            decide by the pulls of the phase.
        arm_column: Column of ``earlier`` that names the arm.
        reward_column: Column of ``earlier`` with the reward.
        rewards: The kind of rewards, for agents whose statistics depend on it: ``"binary"``, ``"bounded(low, high)"``,
            ``"counts"`` or ``"real"``, see :class:`bai_gym.rewards.Rewards`. Others are refused by ``tell``.
            None: what the earlier results show (binary if all are 0 or 1, ``"bounded(0, 1)"`` if all are between);
            without any, real.
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
        guardrails: Mapping[str, str] | None = None,
        reward: str | None = None,
        seed: int = 0,
        features: object = None,
        costs: Mapping[str, float] | Sequence[float] | None = None,
        earlier: Any = None,
        arm_column: str = "arm",
        reward_column: str = "reward",
        rewards: Rewards | str | None = None,
        items: Iterable[Any] | None = None,
        lease: float | None = None,
        journal: AnyPath | None = None,
        storage: str | None = None,
        name: str | None = None,
        exclusive: bool = False,
    ) -> None:
        """Check everything, and read the log."""
        self.seed = check_seed(seed)
        self.rewards = kind_of(rewards, earlier, arm_column, reward_column)
        names, statistics = check_arms(arms, earlier, arm_column, reward_column, self.rewards)
        self._guardrails: Any = None if guardrails is None else hook("guardrails")(guardrails, reward)
        source = agent_source(agent)
        matrix = check_matrix(features, len(names))
        exclusive = flag(exclusive, "exclusive")
        self._lease = None if lease is None else real(lease, "lease", above=0, rule="a number of seconds above 0")
        played_on = None if items is None else Items(items, self.seed)
        funds = Funds.of(budget, costs, names, source.prototype, played_on)
        given = names, source, self.seed, self.rewards, matrix, statistics, played_on, funds, self._guardrails
        self._experiment = Experiment(*given)
        self.agent = self._experiment.agent
        self.budget = funds.pulls  # of money, how many it pays for at most
        facts = self._experiment.facts(kept=journal is not None or storage is not None)
        self._state = State(self._experiment)
        self._lock = threading.RLock()
        self._log = open_log(facts, journal=journal, storage=storage, name=name, exclusive=exclusive)
        try:
            left = self._synchronised(lambda state: exclusive and bool(state.leases.taken))
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

        def hand_out(state: State) -> tuple[list[PendingPull], bool]:
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
        self,
        pull: PendingPull | int,
        reward: float | Mapping[str, float],
        *,
        cost: float | None = None,
        error: str | None = None,
    ) -> bool:
        """Give the reward of a pull, which is on the disk when this returns.

        Args:
            pull: The pull, or its number.
            reward: A number of the kind of rewards, at most 1e50 in magnitude, larger is better; True and False count
                as 1 and 0. In a study with guardrails, a mapping of such numbers by the names of the metrics.
            cost: What the pull has cost, from 0 to 1e50, in a study with costs; None: the cost of its arm.
            error: Why the pull has failed, as text, if the reward stands for a failure.

        Returns:
            Whether it counts: False if the pull already has a reward. The journal keeps it all the same.

        Raises:
            ParameterError: The reward or the cost is no such number, or the pull was never handed out.
            OutputError: It cannot be written; the message has it.
        """
        number = _number(pull)
        if cost is not None and self._experiment.funds.costs is None:
            raise ParameterError("cost is given, and this study counts pulls: give the study costs=, or leave it out")
        paid = None if cost is None else real(cost, "cost", least=0, most=LARGEST)
        if error is not None and not isinstance(error, str):
            raise ParameterError(f"error must be the reason of a failure, as text, not {error!r}")
        if error is not None:  # names of files, for example, may have characters that no file of text can have
            error = error.encode(errors="backslashreplace").decode()
        measured: Any = (self._guardrails or self.rewards).check(reward, f"the reward of pull {number}")
        first, *guarded = [measured] if self._guardrails is None else measured.values()
        entry = Entry("tell", number, reward=first, error=error, cost=paid, guarded=tuple(guarded))

        def take(state: State) -> bool:
            state.check(number)
            counts = number not in state.rewards
            self._log.append([entry])
            state.apply(entry)
            return counts

        return self._synchronised(take)

    def release(self, *pulls: PendingPull | int) -> None:
        """Hand out again pulls whose worker is known to have died; without arguments, all outstanding ones."""
        given = [_number(pull) for pull in pulls]

        def free(state: State) -> None:
            for number in given:
                state.check(number)
            taken = state.leases.taken
            entries = [Entry("release", number) for number in given or taken if number in taken]
            self._log.append(entries)
            for entry in entries:
                state.apply(entry)

        self._synchronised(free)

    def add_arm(self, name: str) -> None:
        """Add an arm, to be chosen from now on; the budget stays.

        The agent starts again from the rewards so far, as from earlier results, with the pulls that are left. An agent
        of fixed confidence promises its error probability for each start, so with one addition the study's is at most
        twice delta; the other agents promise as little as after earlier results. The result has a note of it. Open the
        study later with the arms it began with: the journal has the others.

        Args:
            name: Its name, none of those there are.

        Raises:
            ParameterError: The study has handed out its last pull, or has costs, items or features, pulls are
                outstanding, or the name is not another name.
            AgentError: The agent cannot start from earlier results.
            BudgetError: It needs more pulls than are left.
            OutputError: The journal or storage cannot be written.
        """

        def add(state: State) -> None:
            state.add_arm(name)
            self._log.append([Entry("add", len(state.arms), arm=name)])

        self._synchronised(add)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the arms, with those that were added."""
        return self._state.experiment.names

    @property
    def outstanding(self) -> tuple[PendingPull, ...]:
        """Pulls that were handed out and have no reward yet."""
        return self._synchronised(
            lambda state: tuple(map(self._pending, state.leases.outstanding)),
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
        added, names, log, asked, spent, recommendation, stopped, exhausted = self._synchronised(
            lambda state: (
                tuple(state.additions),
                state.experiment.names,
                state.log,
                len(state.arms),
                state.funds.spent,
                state.recommendation,
                state.recommendation is not None and not state.confident,
                state.turns.exhausted,
            )
        )
        experiment = replace(self._experiment, names=names)
        before = experiment.earlier
        if before is not None and added:
            before = widened(before, len(names))
        found = Identification.of(
            recommendation,
            log,
            len(experiment.answers),
            agent=self.agent,
            budget=experiment.funds.total,
            seed=self.seed,
            names=experiment.answers,
            earlier=before,
            rewards=self.rewards,
            asked=asked,
            spent=None if experiment.funds.costs is None else spent,
            items=None if experiment.items is None else len(experiment.items),
            guardrails=self._guardrails,
        )
        return replace(
            found, notes=(*found.notes, *experiment.notes(stopped=stopped, exhausted=exhausted, additions=added))
        )

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
                priced = self._experiment.funds.costs is not None and isinstance(found, tuple) and len(found) == 2
                reward, cost = found if priced else (found, None)
                self.tell(asked[0], reward, cost=cost)
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
        pull has cost, or is expected to cost, in a study with items ``item_number`` and ``item``, and with guardrails
        one for each, such as ``metric_latency``.

        Raises:
            MissingPackageError: If pandas is not installed.
        """
        try:
            import pandas
        except ImportError as error:
            raise MissingPackageError("pulls_dataframe() needs pandas; pip install pandas") from error

        pulls, told = self._synchronised(
            lambda state: ([self._pending(place + 1) for place in range(len(state.arms))], dict(state.rewards))
        )
        rows = [told.get(pull.number, Pull(pull.arm, math.nan)) for pull in pulls]
        columns: dict[str, Any] = {
            "number": np.array([pull.number for pull in pulls], np.int64),
            "arm": np.array([pull.arm for pull in pulls], np.int64),
            "name": np.array([pull.name for pull in pulls], object),
            "reward": np.array([row.reward for row in rows], np.float64),
            "error": np.array([row.error for row in rows], object),
        }
        funds = self._experiment.funds
        if funds.costs is not None:
            paid = [funds.price(row.arm) if row.cost is None else row.cost for row in rows]
            columns["cost"] = np.array(paid, np.float64)
        if self._experiment.items is not None:
            columns["item_number"] = np.array([pull.item_number for pull in pulls], np.int64)
            columns["item"] = pandas.Series([pull.item for pull in pulls], dtype=object)
        for place, metric in enumerate(self._guardrails.limits if self._guardrails else ()):
            columns[f"metric_{metric}"] = [row.guarded[place] if row.guarded else math.nan for row in rows]
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
        arm, item = self._state.arms[number - 1], self._state.turns.numbers[number - 1]
        items = self._experiment.items
        value = None if items is None or item is None else items.values[item]
        return PendingPull(number, arm, self.names[arm], value, item)

    def _synchronised(self, operation: Callable[[State], _T]) -> _T:
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
                    self._state = State(self._experiment)
                    self._log.rewind()
                    if not isinstance(error, Overtaken):
                        raise

    def _record_recommendation(self) -> None:
        """Write the agent's recommendation, once, for those who read the log without the agent."""
        state = self._state
        if state.recommendation is not None and not state.recorded:
            entry = Entry("recommend", len(state.arms), arm=state.experiment.answers[state.recommendation])
            self._log.append([entry])
            state.apply(entry)


def _number(pull: PendingPull | int) -> int:
    return integer(pull.number if isinstance(pull, PendingPull) else pull, "pull", least=1)
