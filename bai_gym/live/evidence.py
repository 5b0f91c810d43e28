"""The result of an experiment, with its evidence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from typing_extensions import override

from bai_gym.errors import MissingPackageError, ParameterError
from bai_gym.live.estimates import Estimates, Pull
from bai_gym.live.executor.functions import one_line
from bai_gym.live.page import write_page
from bai_gym.live.summary import lasting_sentence, lead_sentence, summary
from bai_gym.rewards import REAL, Rewards
from bai_gym.statistics import FloatArray, IntArray, Statistics
from bai_gym.validation import AnyPath

__all__ = ["Identification", "printable"]

_SHOWN = 20  # arms shown in the text of a result
_WIDTH = 40  # characters of a name


@dataclass(frozen=True, eq=False)
class Identification:
    """The recommended arm and its evidence.

    The standard errors are those of fixed samples. The agent chose the samples adaptively, so means are slightly biased
    downwards, and an interval of two standard errors is a guide, not a proof. The lasting intervals hold jointly for
    all arms, so also for the recommended one, whatever the agent chose and however often one looks; those of real
    rewards assume normal distributions.

    Attributes:
        recommendation: The arm that the agent recommends, 0 to K-1.
        agent: The agent with its parameters.
        budget: Maximum number of pulls; where they have costs, the money.
        seed: Its seed.
        estimates: Estimates of the arms' means.
        log: All pulls in the order in which the agent asked for them.
        notes: Sentences that every report must show.
        names: The arms' names, K of them; their numbers, unless others were given. With guardrails, ``"none"`` is one
            more, the arm that is recommended where they hold for none.
        before: ``(1, K)`` statistics of earlier results, which the estimates include; None: there are none.
        ended: Whether the agent has made its recommendation; False: it is the arm of largest mean so far.
        rewards: The kind of rewards, on which the agent's statistics depend.
        spent: What the pulls have cost, outstanding ones included; None: the budget is a number of pulls.
        left: Pulls that the budget leaves; of money, at the mean cost so far. None: that is not known.
        items: Number of items on which all arms are played; None: pulls are independent.
    """

    recommendation: int
    agent: str
    budget: float
    seed: int
    estimates: Estimates = field(repr=False)
    log: tuple[Pull, ...] = field(repr=False)
    notes: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    before: Statistics | None = field(default=None, repr=False)
    ended: bool = True
    rewards: Rewards = REAL
    spent: float | None = None
    left: int | None = None
    items: int | None = None

    @classmethod
    def of(
        cls,
        recommendation: int | None,
        log: Sequence[Pull],
        num_arms: int,
        *,
        agent: str,
        budget: float,
        seed: int,
        names: Sequence[str] | None = None,
        earlier: Statistics | None = None,
        rewards: Rewards = REAL,
        asked: int | None = None,
        spent: float | None = None,
        items: int | None = None,
        guardrails: Any = None,
    ) -> Identification:
        """Compute the estimates from the log.

        Args:
            recommendation: The agent's; None before the end: the arm of largest mean so far, with a note.
            log: See the attribute, as for the others below.
            num_arms: K.
            agent: See above.
            budget: See above.
            seed: See above.
            names: See above; None: the arms' numbers.
            earlier: ``(1, K)`` statistics of earlier results, which are added.
            rewards: See above.
            asked: Pulls handed out; None: those of the log.
            spent: See above.
            items: See above.
            guardrails: Limits of what the pulls measure beside the reward, if there are any.

        Raises:
            ParameterError: If there is neither a recommendation nor a reward.
        """
        estimates = Estimates.of(log, num_arms, earlier, rewards, guardrails)
        made = len(log) if asked is None else asked
        notes = []
        failed = sum(pull.error is not None for pull in log)
        if failed:
            notes.append(f"{failed} of {len(log)} pulls failed and count as the worst reward")
        if recommendation is not None and spent is None and len(log) < budget:
            notes.append(f"{agent} has asked for {len(log)} of {budget} pulls ({budget - len(log)} unspent)")
        if earlier is not None:
            notes.append(f"the statistics include {earlier.pulls.sum()} earlier results")
        ended = recommendation is not None
        if recommendation is None:
            if np.isnan(estimates.means).all():
                raise ParameterError("no reward has been reported yet: there is no result")
            recommendation = int(np.nanargmax(estimates.values))
            notes.append(f"the study has not ended: this is the arm of largest mean so far ({made} pulls handed out)")
        if items is not None:
            notes.append(
                "all arms were played on the same items: differences are those on items that both were tried on"
            )
        left = budget - made if spent is None else (budget - spent) / (spent / made) if made and spent > 0.0 else None
        named = tuple(map(str, range(num_arms))) if names is None else tuple(names)
        return cls(
            recommendation,
            agent,
            budget,
            seed,
            estimates,
            tuple(log),
            tuple(notes),
            named,
            before=earlier,
            ended=ended,
            rewards=rewards,
            spent=spent,
            left=None if left is None else max(0, math.floor(left)),
            items=items,
        )

    @property
    def num_arms(self) -> int:
        """K."""
        return len(self.names)

    @property
    def pulls(self) -> IntArray:
        """``(K,)`` pulls of each arm, earlier ones included; read-only, as the other arrays."""
        return self.estimates.pulls

    @property
    def means(self) -> FloatArray:
        """``(K,)`` mean rewards; NaN without a pull."""
        return self.estimates.means

    @property
    def standard_errors(self) -> FloatArray:
        """``(K,)`` standard deviations of these means; NaN where they are unknown or 0."""
        return self.estimates.standard_errors

    @property
    def intervals(self) -> FloatArray:
        """``(K, 2)`` ends of 95 % intervals; NaN where nothing can be estimated."""
        return self.estimates.intervals

    @property
    def lasting(self) -> FloatArray:
        """``(K, 2)`` ends of intervals that all hold at all times, with probability at least 95 %; NaN: none is known.

        Those of real rewards assume normal distributions.
        """
        return self.estimates.lasting

    @property
    def earlier(self) -> IntArray | None:
        """``(K,)`` earlier results of each arm; None: there are none."""
        return self.estimates.earlier

    @property
    def name(self) -> str:
        """Name of the recommended arm."""
        return self.names[self.recommendation]

    @property
    def runner_up(self) -> int | None:
        """The arm of largest mean except the recommended one (the lowest of several); None if no other was pulled."""
        others = np.where(np.arange(self.num_arms) == self.recommendation, np.nan, self.estimates.values)
        return None if np.isnan(others).all() else int(np.nanargmax(others))

    @property
    def failures(self) -> IntArray:
        """``(K,)`` pulls of each arm that failed and count as the worst reward."""
        failed = np.array([pull.arm for pull in self.log if pull.error is not None], np.int64)
        return np.bincount(failed, minlength=self.num_arms).astype(np.int64)

    @property
    def lead(self) -> tuple[float, float, float]:
        """Mean of the recommended arm less that of the runner-up, and the ends of its normal 95 % interval.

        NaN where it cannot be estimated.
        """
        if self.runner_up is None:
            return math.nan, math.nan, math.nan
        return self.estimates.difference(self.recommendation, self.runner_up)

    def save(self, path: AnyPath, control: str | int | None = None) -> None:
        """Write a web page with the evidence, for those who decide: one file, which loads nothing.

        It says whether to decide now or to collect more, how probably each arm is the best, and how that changed with
        the observations. Means of rewards of 0 and 1 are shown in per cent. More is advised only
        as far as the items go; while pulls of the budget are left, only within these.

        Args:
            path: The file.
            control: An arm, by name or number, with which the others are compared; None: there is none.

        Raises:
            ParameterError: There is no such arm.
            OutputError: The file cannot be written.
        """
        write_page(
            summary(
                self.estimates,
                self.log,
                self.names,
                self.order,
                control=None if control is None else self._arm(control),
                before=self.before,
                ended=self.ended,
                left=self.left,
                items=self.items,
                details=(
                    f"Method: {self.agent}, seed {self.seed}, {self.use}, rewards {self.rewards}.",
                    *self.notes,
                ),
            ),
            path,
        )

    def to_pandas(self) -> Any:
        """Return the evidence as a pandas data frame, a row for each arm, 0 to K-1.

        Its columns are ``name``, ``pulls``, ``mean``, ``standard_error``, ``lower`` and ``upper``, the ends of the
        interval of one look at one arm, and ``lasting_lower`` and ``lasting_upper``, those of the intervals that all
        hold at all times, with probability at least 95 %. If rewards are real, these assume normal distributions. NaN
        where nothing can be estimated.

        Raises:
            MissingPackageError: If pandas is not installed.
        """
        try:
            import pandas
        except ImportError as error:
            raise MissingPackageError("to_pandas() needs pandas; pip install pandas") from error
        columns = {"name": list(self.names), "pulls": self.pulls, "mean": self.means}
        columns |= {"standard_error": self.standard_errors}
        columns |= {"lower": self.intervals[:, 0], "upper": self.intervals[:, 1]}
        columns |= {"lasting_lower": self.lasting[:, 0], "lasting_upper": self.lasting[:, 1]}
        return pandas.DataFrame(columns)

    @override
    def __str__(self) -> str:
        """Show the recommendation, the arms by decreasing mean, and what the intervals assume."""
        verb = "recommends" if self.ended else "has not ended; best so far:"
        title = f"{self.agent} {verb} arm {self.name} after {self.use}"
        guards = self.estimates.guards
        lead = lead_sentence(self.estimates, self.names, self.order)
        said = [lead, *guards.sentences(self.names, self.recommendation)] if guards else [lead]
        return "\n".join(map(printable, [title, *self.table, *said, lasting_sentence(self.estimates), *self.notes]))

    @property
    def use(self) -> str:
        """How much of the budget has been used, in words."""
        if self.spent is None:
            return f"{len(self.log)} of {self.budget} pulls"
        return f"{len(self.log)} pulls for {self.spent:g} of {self.budget:g}"

    @property
    def table(self) -> list[str]:
        """Lines of a table of the arms, by decreasing mean; the first one is its head."""
        lines = []
        order = self.order
        width = max(5, *(min(len(self.names[arm]), _WIDTH) for arm in order[:_SHOWN]))
        lines.append(
            f"{'arm':>{width}} {'pulls':>7} {'mean':>12} {'std. error':>12}   {'95 % interval':<20} at all times"
        )
        for arm in order[:_SHOWN]:
            name = one_line(self.names[arm], _WIDTH)
            moments = self.means[arm], self.standard_errors[arm]
            mean, error = (f"{value:.6g}" if np.isfinite(value) else "-" for value in moments)
            interval, lasting = (
                "not estimable" if np.isnan(low) else f"{low:.4g} to {high:.4g}"
                for low, high in (self.intervals[arm], self.lasting[arm])
            )
            lines.append(f"{name:>{width}} {self.pulls[arm]:7} {mean:>12} {error:>12}   {interval:<20} {lasting}")
        if order.size > _SHOWN:
            lines.append(f"and {order.size - _SHOWN} more arms")
        return lines

    @property
    def order(self) -> IntArray:
        """``(K,)`` arms: the recommended one, then the others by decreasing mean, those without a pull last."""
        arms = np.arange(self.num_arms)
        return np.lexsort((arms, -self.estimates.values, arms != self.recommendation))

    def _arm(self, arm: str | int) -> int:
        """Return the number of an arm that is given by name or number."""
        if isinstance(arm, str) and arm in self.names:
            return self.names.index(arm)
        if isinstance(arm, int | np.integer) and 0 <= arm < self.num_arms:
            return int(arm)
        raise ParameterError(f"control {arm!r} is no arm: give one of {one_line(', '.join(self.names), 100)}")


def printable(line: str) -> str:
    """Return a line with question marks for the characters that would control a terminal."""
    return "".join(character if character.isprintable() else "?" for character in line)
