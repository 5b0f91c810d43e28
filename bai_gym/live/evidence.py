"""The result of an experiment, with its evidence."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from bai_gym.analysis.intervals import mean_intervals, normal
from bai_gym.bandits.executor.functions import one_line
from bai_gym.errors import OutputError, ParameterError
from bai_gym.live.page import PageRow, evidence_page
from bai_gym.statistics import FloatArray, IntArray, Statistics

__all__ = ["Identification", "Pull"]

_SHOWN = 20  # arms shown in the text of a result
_WIDTH = 40  # characters of a name


@dataclass(frozen=True, slots=True)
class Pull:
    """One pull.

    Attributes:
        arm: 0 to K-1.
        reward: Its reward.
        error: Reason of a failure, if the reward is ``worst``; None for an observed reward.
    """

    arm: int
    reward: float
    error: str | None = None


@dataclass(frozen=True, eq=False)
class Identification:
    """The recommended arm and its evidence.

    The standard errors are those of fixed samples. The agent chose the samples adaptively, so means are slightly biased
    downwards, and an interval of two standard errors is a guide, not a proof.

    Attributes:
        recommendation: The arm that the agent recommends, 0 to K-1.
        agent: The agent with its parameters.
        budget: Maximum number of pulls.
        seed: Its seed.
        pulls: ``(K,)`` pulls of each arm; read-only, as the other arrays.
        means: ``(K,)`` mean rewards; NaN without a pull.
        standard_errors: ``(K,)`` standard deviations of these means, from the unbiased variances; NaN where these are
            unknown or 0: equal rewards are no certainty.
        intervals: ``(K, 2)`` ends of 95 % intervals, Wilson's where all rewards were 0 or 1, else normal ones; NaN
            where nothing can be estimated.
        log: All pulls in the order in which the agent asked for them.
        notes: Sentences that every report must show.
        names: The arms' names, K of them; their numbers, unless others were given.
        earlier: ``(K,)`` earlier results of each arm, which the statistics include; None: there are none.
        ended: Whether the agent has made its recommendation; False: it is the arm of largest mean so far.
    """

    recommendation: int
    agent: str
    budget: int
    seed: int
    pulls: IntArray = field(repr=False)
    means: FloatArray = field(repr=False)
    standard_errors: FloatArray = field(repr=False)
    intervals: FloatArray = field(repr=False)
    log: tuple[Pull, ...] = field(repr=False)
    notes: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    earlier: IntArray | None = field(default=None, repr=False)
    ended: bool = True

    @classmethod
    def of(
        cls,
        recommendation: int | None,
        log: Sequence[Pull],
        num_arms: int,
        *,
        agent: str,
        budget: int,
        seed: int,
        names: Sequence[str] | None = None,
        earlier: Statistics | None = None,
        asked: int | None = None,
        cost: tuple[float, float] | None = None,
    ) -> Identification:
        """Compute the statistics from the log, in two passes, for accuracy.

        Args:
            recommendation: The agent's; None before the end: the arm of largest mean so far, with a note.
            log: See the attribute, as for the others below.
            num_arms: K.
            agent: See above.
            budget: See above.
            seed: See above.
            names: See above; None: the arms' numbers.
            earlier: ``(1, K)`` statistics of earlier results, which are added.
            asked: Pulls handed out; None: those of the log.
            cost: What they have cost, and what they may cost; None: the budget is a number of pulls.

        Raises:
            ParameterError: If there is neither a recommendation nor a reward.
        """
        arms = np.array([pull.arm for pull in log], np.int64)
        rewards = np.array([pull.reward for pull in log], np.float64)
        pulls = np.bincount(arms, minlength=num_arms).astype(np.int64)
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            means = np.bincount(arms, rewards, num_arms) / pulls  # 0 / 0 is NaN
            squares = np.bincount(arms, (rewards - means[arms]) ** 2, num_arms)
            variances = squares / (pulls - 1)
            before = None
            if earlier is not None:
                before = earlier.pulls[0].copy()
                pulls, means, variances = _with_earlier(pulls, means, variances, earlier)
            errors = np.sqrt(variances / pulls)
        errors[(pulls < 2) | (errors == 0.0)] = np.nan
        intervals = np.stack(mean_intervals(pulls, means, variances), axis=1)
        for array in (pulls, means, errors, intervals, *(() if before is None else (before,))):
            array.setflags(write=False)
        notes = []
        failed = sum(pull.error is not None for pull in log)
        if failed:
            notes.append(f"{failed} of {len(log)} pulls failed and count as the worst reward")
        if recommendation is not None and cost is None and len(log) < budget:
            notes.append(f"{agent} has asked for {len(log)} of {budget} pulls ({budget - len(log)} unspent)")
        if before is not None:
            notes.append(f"the statistics include {before.sum()} earlier results")
        ended = recommendation is not None
        if recommendation is None:
            if np.isnan(means).all():
                raise ParameterError("no reward has been reported yet: there is no result")
            recommendation = int(np.nanargmax(means))
            handed_out = f"{len(log) if asked is None else asked} pulls handed out"
            notes.append(f"the study has not ended: this is the arm of largest mean so far ({handed_out})")
        if cost is not None:
            notes.append(f"the pulls have cost {cost[0]:g} of {cost[1]:g}")
        named = tuple(map(str, range(num_arms))) if names is None else tuple(names)
        evidence = (pulls, means, errors, intervals, tuple(log), tuple(notes), named, before)
        return cls(recommendation, agent, budget, seed, *evidence, ended)

    @property
    def num_arms(self) -> int:
        """K."""
        return int(self.pulls.size)

    @property
    def name(self) -> str:
        """Name of the recommended arm."""
        return self.names[self.recommendation]

    @property
    def runner_up(self) -> int | None:
        """The arm of largest mean except the recommended one (the lowest of several); None if no other was pulled."""
        others = np.where(np.arange(self.num_arms) == self.recommendation, np.nan, self.means)
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
        pair = [self.recommendation, self.runner_up]
        difference = float(self.means[pair[0]] - self.means[pair[1]])
        lower, upper = normal(difference, math.hypot(*self.standard_errors[pair]))
        return difference, lower, upper

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a web page with the evidence: one file, which loads nothing.

        Raises:
            OutputError: If it cannot be written.
        """
        made = f"{self.agent} has made {len(self.log)} of {self.budget} pulls; its seed is {self.seed}."
        rows = [
            PageRow(
                name=self.names[arm],
                pulls=int(self.pulls[arm]),
                mean=float(self.means[arm]),
                interval=(float(self.intervals[arm, 0]), float(self.intervals[arm, 1])),
                recommended=bool(arm == self.recommendation),
            )
            for arm in self.order
        ]
        page = evidence_page(f"{self.name} is recommended", [self._lead_sentence(), made], rows, self.notes)
        try:
            Path(path).write_text(page, encoding="utf-8")
        except OSError as error:
            raise OutputError(f"{path} cannot be written: {error.strerror}") from None

    def __str__(self) -> str:
        """Show the recommendation, and the arms by decreasing mean."""
        verb = "recommends" if self.ended else "has not ended; best so far:"
        title = f"{self.agent} {verb} arm {self.name} after {len(self.log)} of {self.budget} pulls"
        return "\n".join([title, *self.table, self._lead_sentence(), *self.notes])

    @property
    def table(self) -> list[str]:
        """Lines of a table of the arms, by decreasing mean; the first one is its head."""
        lines = []
        order = self.order
        width = max(5, *(min(len(self.names[arm]), _WIDTH) for arm in order[:_SHOWN]))
        lines.append(f"{'arm':>{width}} {'pulls':>7} {'mean':>12} {'std. error':>12}   95 % interval")
        for arm in order[:_SHOWN]:
            name = one_line(self.names[arm], _WIDTH)
            moments = self.means[arm], self.standard_errors[arm]
            mean, error = (f"{value:.6g}" if np.isfinite(value) else "-" for value in moments)
            low, high = self.intervals[arm]
            interval = "not estimable" if np.isnan(low) else f"{low:.4g} to {high:.4g}"
            lines.append(f"{name:>{width}} {self.pulls[arm]:7} {mean:>12} {error:>12}   {interval}")
        if order.size > _SHOWN:
            lines.append(f"and {order.size - _SHOWN} more arms")
        return lines

    @property
    def order(self) -> IntArray:
        """``(K,)`` arms: the recommended one, then the others by decreasing mean, those without a pull last."""
        arms = np.arange(self.num_arms)
        return np.lexsort((arms, -self.means, arms != self.recommendation))

    def _lead_sentence(self) -> str:
        difference, low, high = self.lead
        if self.runner_up is None:
            return "No other arm has been pulled, so there is no runner-up."
        rival = self.names[self.runner_up]
        if math.isnan(low):
            return f"Its mean is {difference:.4g} above that of the runner-up, {rival}; no interval can be estimated."
        interval = f"95 % interval {low:.4g} to {high:.4g}"
        sentence = f"Its mean is {difference:.4g} above that of the runner-up, {rival} ({interval})."
        return sentence if low > 0.0 else f"{sentence} The interval includes 0: the two may be equally good."


def _with_earlier(
    pulls: IntArray, means: FloatArray, variances: FloatArray, earlier: Statistics
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return the statistics of both, NaN where there are too few pulls."""
    both = earlier.copy()
    made = np.flatnonzero(pulls)
    both.merge(made, Statistics(pulls[made], means[made], np.where(pulls > 1, variances, 0.0)[made]))
    n = both.pulls[0]
    return n, np.where(n > 0, both.means[0], np.nan), np.where(n > 1, both.variances[0], np.nan)
