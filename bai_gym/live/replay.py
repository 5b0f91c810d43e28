"""The state of a study, which follows from the entries of its log."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bai_gym.benchmark.protocol import Traits
from bai_gym.common.budget import Budget
from bai_gym.errors import OutputError, ParameterError
from bai_gym.live.dispatcher import Dispatcher
from bai_gym.live.entries import Entry
from bai_gym.live.estimates import Pull, statistics_of
from bai_gym.live.experiment import Experiment
from bai_gym.live.items import Turns
from bai_gym.live.leases import Leases

__all__ = ["State"]


class State:
    """What follows from the entries of a log, in their order.

    Args:
        experiment: The arguments of the study.

    Attributes:
        experiment: The experiment, with the arms that were added.
        arms: Arms of the pulls handed out.
        additions: Names of the arms that were added, and after how many pulls.
        rewards: Pulls whose rewards count, by number of the pull.
        leases: Pulls without a reward.
        funds: The budget, and what has been spent of it.
        turns: The items of the pulls.
        recorded: Whether the log has the recommendation.
    """

    def __init__(self, experiment: Experiment) -> None:
        """Begin before the first pull."""
        self.experiment = experiment
        self.arms: list[int] = []
        self.additions: list[tuple[str, int]] = []
        self.rewards: dict[int, Pull] = {}
        self.leases = Leases()
        self.funds = experiment.funds.unspent()
        self.turns = Turns(experiment.items, len(experiment.names))
        self.recorded = False
        self._earlier = experiment.earlier
        self._before = 0  # pulls before the last arm was added
        self._dispatcher = self._dispatch(experiment)

    def _dispatch(self, experiment: Experiment) -> Dispatcher:
        """Return the agent at its beginning."""
        player, funds = experiment.player(), experiment.funds
        num_items = 0 if experiment.items is None or not Traits.of(player).uses_pairs else len(experiment.items)
        return Dispatcher(
            player,
            Traits.of(player).allocates,
            len(experiment.names),
            funds.most,
            experiment.features,
            experiment.earlier,
            self._allowed,
            Budget.of(*funds.planned),
            num_items,
            experiment.guardrails and experiment.guardrails.task,
        )

    @property
    def log(self) -> tuple[Pull, ...]:
        """The pulls with rewards, in the order in which they were first handed out."""
        return tuple(self.rewards[number] for number in sorted(self.rewards))

    @property
    def recommendation(self) -> int | None:
        """The arm that the agent has recommended; None before the end."""
        return self._dispatcher.recommendation

    @property
    def confident(self) -> bool:
        """Whether the agent's own rule has ended the study, and not the budget."""
        return self._dispatcher.stopped_by_rule and not self.funds.short

    def hand_out(self, n: int, lease: float | None) -> Iterator[Entry]:
        """Hand out up to n pulls, and yield what to write, ``"end"`` included."""
        for number in self.leases.due(lease)[:n]:
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
            yield Entry("ask", len(self.arms), arm=self.experiment.names[arm], item=self.turns.numbers[-1])

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
            found = None if arm is None else self.experiment.names[arm]
            if found != entry.arm or number != len(self.arms) + 1:
                wanted = "for no pull" if found is None else f"for arm {found}"
                raise _foreign(f"pull {number} in the log is of arm {entry.arm}, and the agent now asks {wanted}")
            self._asked(int(arm or 0))
            item = self.turns.numbers[-1]
            if item != entry.item:
                raise _foreign(f"pull {number} in the log is on item {entry.item}, and here on {item}")
        elif entry.kind == "end":
            if self._dispatcher.ask() is not None or not self._dispatcher.over:
                raise _foreign(f"the log ends after {number} pulls, and the agent now asks for more")
        elif entry.kind == "add" and entry.arm is not None:
            self.add_arm(entry.arm)
        elif entry.kind == "recommend":
            chosen = self.recommendation
            now = "nothing yet" if chosen is None else f"arm {self.experiment.answers[chosen]}"
            if chosen is None or self.experiment.answers[chosen] != entry.arm:
                raise _foreign(f"the log recommends arm {entry.arm}, and the agent now recommends {now}")
            self.recorded = True
        elif not 1 <= number <= len(self.arms):
            raise _foreign(f"the log has an entry of pull {number}, which was not handed out")
        elif entry.kind == "tell" and entry.reward is not None:
            if number not in self.rewards:
                arm = self.arms[number - 1]
                guarded = tuple(entry.guarded)
                self.rewards[number] = Pull(
                    arm, entry.reward, entry.error, entry.cost, self.turns.numbers[number - 1], guarded
                )
                self.funds.settle(arm, entry.cost)
                self._dispatcher.tell(number - self._before, entry.reward, entry.cost, guarded)
            self.leases.settle(number)
        elif number not in self.rewards and entry.kind == "again":
            self.leases.take(number)
        elif number not in self.rewards:
            self.leases.release(number)

    def add_arm(self, name: str) -> None:
        """Go on with one more arm: the agent starts again from the rewards so far.

        Raises:
            ParameterError: If the study has ended or has costs, items or features, pulls are outstanding, or the name
                is no other name.
            AgentError: If the agent cannot start from earlier results, or not with the pulls that are left.
        """
        if self._dispatcher.over:
            raise ParameterError("the study has handed out its last pull: start another one with earlier= and all arms")
        if outstanding := self.leases.outstanding:
            numbers = ", ".join(map(str, outstanding[:5]))
            raise ParameterError(f"pulls are outstanding ({numbers}): tell their rewards before an arm is added")
        arms, rewards = (np.array([getattr(pull, part) for pull in self.log]) for part in ("arm", "reward"))
        so_far = statistics_of(arms, rewards, len(self.experiment.names), self._earlier)
        experiment = self.experiment.with_arm(name, so_far, int(self.funds.total) - len(self.arms))
        self._dispatcher = self._dispatch(experiment)
        self.experiment, self._before = experiment, len(self.arms)
        self.additions.append((name, len(self.arms)))
        self.turns.add_arm()

    def _asked(self, arm: int) -> None:
        self.arms.append(arm)
        self.leases.take(len(self.arms))
        self.turns.take(arm)
        self.funds.spend(arm)

    def _allowed(self, arm: int) -> bool:
        return self.turns.has_item(arm) and self.funds.affords(arm)


def _foreign(what: str) -> OutputError:
    return OutputError(f"{what}: the log is of another experiment or another version of the agent; start another study")
