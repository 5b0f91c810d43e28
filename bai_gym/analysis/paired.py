"""Paired comparison of the error probabilities of two agents on common instances.

Two agents that ran on the same instances share the luck of the draw, so only the discordant runs, in which exactly one
of them erred, carry information about the difference. :func:`compare_paired` counts them and returns the difference of
the two error probabilities with Tango's score interval, and the exact McNemar test of "no difference". Both depend on
the data through three counts only, so results of chunks add up.

References:
    Q. McNemar (1947), "Note on the sampling error of the difference between correlated proportions or
    percentages", Psychometrika 12, 153-157: the test; exact form by the binomial distribution of the discordant runs.
    M. W. Fagerland, S. Lydersen and P. Laake (2014), "Recommended tests and confidence intervals for paired
    binomial proportions", Statistics in Medicine 33(16), 2850-2875, compares the alternatives.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtr
from typing_extensions import override

from bai_gym.analysis.intervals import describe_test, tango
from bai_gym.errors import ParameterError
from bai_gym.statistics import BoolArray

__all__ = ["PairedTest", "compare_paired", "mcnemar_exact", "paired_test"]


@dataclass(frozen=True, kw_only=True)
class PairedTest:
    """The difference of the error probabilities of agents A and B, with interval and test.

    Attributes:
        difference: Error probability of A minus that of B, in [-1, 1]; below 0 where A errs less.
        interval: Tango's score interval of the difference at `level`, within [-1, 1].
        level: Confidence level of `interval`.
        p_value: Two-sided exact McNemar p-value of "both err equally often", in [0, 1].
        only_a_errs: Number of runs in which A erred and B did not.
        only_b_errs: Number of runs in which B erred and A did not.
        runs: Number of common runs, the concordant ones included.
        agents: Names of A and B, for display.
    """

    difference: float
    interval: tuple[float, float]
    level: float
    p_value: float
    only_a_errs: int
    only_b_errs: int
    runs: int
    agents: tuple[str, str] = field(default=("A", "B"), compare=False)

    @override
    def __str__(self) -> str:
        """A sentence."""
        a, b = self.agents
        return describe_test(f"error probability of {a} minus that of {b}", self, "exact McNemar test")

    def at_level(self, level: float) -> PairedTest:
        """The same comparison with its interval at another level.

        Args:
            level: Confidence level, strictly between 0 and 1.

        Returns:
            A new record; difference, p-value and counts are unchanged.

        Raises:
            ParameterError: If the level is out of range.
        """
        return replace(paired_test(self.only_a_errs, self.only_b_errs, self.runs, level), agents=self.agents)


def compare_paired(errors_a: ArrayLike, errors_b: ArrayLike, level: float = 0.95) -> PairedTest:
    """Compare two agents that ran on the same instances.

    Args:
        errors_a: Whether agent A erred in each run, boolean, shape (runs,).
        errors_b: The same of agent B, in the same order of runs.
        level: Confidence level of the interval, strictly between 0 and 1.

    Returns:
        The comparison.

    Raises:
        ParameterError: If the arrays are not boolean vectors of one common, positive length.
    """
    a, b = _check_errors("errors_a", errors_a), _check_errors("errors_b", errors_b)
    if a.size != b.size:
        raise ParameterError(f"{a.size} runs of A and {b.size} of B cannot be paired; run both on the same instances")
    return paired_test(int(np.count_nonzero(a & ~b)), int(np.count_nonzero(b & ~a)), a.size, level)


def paired_test(only_a_errs: int, only_b_errs: int, runs: int, level: float = 0.95) -> PairedTest:
    """The comparison of two agents from the counts of discordant runs.

    Args:
        only_a_errs: Number of runs in which A erred and B did not, at least 0.
        only_b_errs: Number of runs in which B erred and A did not, at least 0.
        runs: Number of common runs, at least 1 and at least the number of discordant ones.
        level: Confidence level of the interval, strictly between 0 and 1.

    Returns:
        The comparison.

    Raises:
        ParameterError: If a count or the level is out of range.
    """
    interval = tango(only_a_errs, only_b_errs, runs, level)
    return PairedTest(
        difference=(only_a_errs - only_b_errs) / runs,
        interval=interval,
        level=level,
        p_value=mcnemar_exact(only_a_errs, only_b_errs),
        only_a_errs=only_a_errs,
        only_b_errs=only_b_errs,
        runs=runs,
    )


def mcnemar_exact(only_a_errs: int, only_b_errs: int) -> float:
    """Exact two-sided McNemar test of "both agents err equally often".

    Under that hypothesis each discordant run falls to either agent with probability 1/2. The p-value is twice
    the smaller binomial tail, at most 1; without discordant runs it is 1.

    Args:
        only_a_errs: Number of runs in which A erred and B did not, at least 0.
        only_b_errs: Number of runs in which B erred and A did not, at least 0.

    Returns:
        The p-value in [0, 1]; 0 only where it is smaller than the smallest float.
    """
    discordant = only_a_errs + only_b_errs
    return min(1.0, 2 * float(bdtr(min(only_a_errs, only_b_errs), discordant, 0.5)))


def _check_errors(name: str, errors: ArrayLike) -> BoolArray:
    """One agent's errors as a boolean vector, or an error that describes them."""
    array = np.asarray(errors)
    if array.dtype != np.bool_ or array.ndim != 1 or array.size == 0:
        raise ParameterError(
            f"{name} is an array of {array.dtype} with shape {array.shape}; "
            "it must hold one True (erred) or False per run, for at least one run"
        )
    return array
