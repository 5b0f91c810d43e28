"""What a budget must achieve, and what was measured with one."""

from __future__ import annotations

import math
from dataclasses import dataclass

from bai_gym.analysis.intervals import normal, quantile_interval, wilson
from bai_gym.results.result import Result
from bai_gym.statistics import FloatArray

__all__ = ["ERROR", "LEVEL", "Goal", "Measurement", "budget_words", "most_certain", "quantile"]

LEVEL = 0.9  # of two-sided intervals, whose upper end is a one-sided bound at 95 %
ERROR, REGRET = "error probability", "simple regret"


@dataclass(frozen=True)
class Goal:
    """The goal of a plan.

    Attributes:
        measure: ``"error probability"`` or ``"simple regret"``.
        target: The largest value wanted.
        certainty: Probability over the instances with which the measure must be at most the target; None: its mean over
            the instances must be.
    """

    measure: str
    target: float
    certainty: float | None = None

    @property
    def name(self) -> str:
        """What the plan makes small, for a column."""
        return (
            self.measure if self.certainty is None else f"{100 * self.certainty:.3g} % quantile of the {self.measure}"
        )

    def measured(self, result: Result, each: FloatArray | None = None) -> Measurement:
        """Return what a result says.

        Args:
            result: Runs with one budget.
            each: ``(M,)`` the measure on each of M instances, ascending; needed with a certainty.
        """
        if self.certainty is not None:
            assert each is not None
            value, (lower, upper) = quantile(each, self.certainty), quantile_interval(each, self.certainty, LEVEL)
        elif self.measure == ERROR:
            value, (lower, upper) = result.error_probability, wilson(result.errors, result.runs, LEVEL)
        else:
            value, (lower, upper) = result.simple_regret, normal(result.simple_regret, result.simple_regret_se, LEVEL)
        return Measurement(result, value, lower, upper, each)


@dataclass(frozen=True, eq=False)
class Measurement:
    """What was measured with one budget.

    Attributes:
        result: The runs.
        value: The measure: its mean over all runs, or a quantile over instances.
        lower: Lower end of its 90 % interval.
        upper: Upper end, a one-sided 95 % confidence bound.
        each: ``(M,)`` the measure on each of M instances, ascending; None where instances were not told apart.
    """

    result: Result
    value: float
    lower: float
    upper: float
    each: FloatArray | None = None

    @property
    def budget(self) -> float:
        """Pulls of an episode, an int, or money where arms have costs."""
        budget: float = self.result.budget
        return budget

    @property
    def runs(self) -> int:
        """Number of episodes."""
        return self.result.runs


def budget_words(result: Result) -> str:
    """Return the budget of some runs: ``1,240 pulls``; in money ``a budget of 12.4 (310 pulls on average)``."""
    if not result.costs:
        return f"{result.budget:,} pulls"
    return f"a budget of {result.budget:,.12g} ({result.sample_complexity:,.0f} pulls on average)"


def quantile(ascending: FloatArray, share: float) -> float:
    """Return the smallest of some numbers that is at least as large as a share of them."""
    return float(ascending[math.ceil(share * ascending.size - 1e-9) - 1])


def most_certain(instances: int) -> float:
    """Return the largest certainty that a number of instances can confirm: all of them below the target."""
    return float((0.5 * (1.0 - LEVEL)) ** (1.0 / instances))
