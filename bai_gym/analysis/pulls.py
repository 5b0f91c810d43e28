"""Paired comparison of the numbers of pulls of two agents that decide when to stop.

The quantity of interest with fixed confidence is the expected number of pulls, so :func:`compare_pulls` tests means,
by the paired t-test on common instances. Stopping times are skewed to the right. Wilcoxon's signed-rank test would be
about the centre of symmetry of the differences, which then is not their mean, and a bootstrap would need a seed; the
mean of hundreds of differences is close to normal in any case. With few runs the interval is approximate.

Runs that reach the cap count with it, so means are those of capped stopping times.

References:
    E. L. Lehmann and J. P. Romano (2005), "Testing statistical hypotheses", third edition, section 11.3: the t-test
    without normal differences. R. A. Fisher (1935), "The design of experiments", section 21: random signs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr
from typing_extensions import override

from bai_gym.analysis.intervals import check_level, describe_test, student
from bai_gym.errors import ParameterError
from bai_gym.statistics import FloatArray

__all__ = ["PairedPulls", "compare_pulls"]


@dataclass(frozen=True, kw_only=True)
class PairedPulls:
    """The difference of the mean numbers of pulls of agents A and B, with interval and test.

    Attributes:
        difference: Mean pulls of A minus those of B; below 0 where A needs fewer.
        interval: Student's interval of the difference at `level`; NaN where it cannot be estimated: in a single run,
            and where all differences are equal.
        level: Confidence level of `interval`.
        ratio: Mean pulls of A divided by those of B; infinite, or NaN, where B makes none.
        p_value: Two-sided p-value of "both need equally many on average", in [0, 1].
        runs: Number of common runs.
        agents: Names of A and B, for display.
    """

    difference: float
    interval: tuple[float, float]
    level: float
    ratio: float
    p_value: float
    runs: int
    agents: tuple[str, str] = field(default=("A", "B"), compare=False)

    @override
    def __str__(self) -> str:
        """A sentence."""
        a, b = self.agents
        method = f"paired t-test, ratio {self.ratio:.3g}"
        return describe_test(f"mean pulls of {a} minus those of {b}", self, method, "+,.1f")


def compare_pulls(pulls_a: ArrayLike, pulls_b: ArrayLike, level: float = 0.95) -> PairedPulls:
    """Compare the numbers of pulls of two agents that ran on the same instances.

    The p-value is at least 2 / 2^R, the least one of an exact test by random signs of R differences: equal differences
    in a few runs are no certainty.

    Args:
        pulls_a: Pulls of agent A in each run, shape (runs,).
        pulls_b: The same of agent B, in the same order of runs.
        level: Confidence level of the interval, strictly between 0 and 1.

    Returns:
        The comparison.

    Raises:
        ParameterError: If these are not vectors of finite numbers of at least 0, of one common, positive length.
    """
    check_level(level)
    a, b = _checked("pulls_a", pulls_a), _checked("pulls_b", pulls_b)
    if a.size != b.size:
        raise ParameterError(f"{a.size} runs of A and {b.size} of B cannot be paired; run both on the same instances")
    differences = a - b
    runs, mean = a.size, float(differences.mean())
    error = float(differences.std(ddof=1)) / math.sqrt(runs) if runs > 1 else 0.0
    least = 2.0 ** (1 - runs)
    if error > 0:
        interval = student(mean, error, runs, level)
        p_value = max(2 * float(stdtr(runs - 1, -abs(mean) / error)), least)
    else:
        interval, p_value = (math.nan, math.nan), 1.0 if mean == 0 else least
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = float(a.mean() / b.mean())
    return PairedPulls(
        difference=mean,
        interval=interval,
        level=level,
        ratio=ratio,
        p_value=p_value,
        runs=runs,
    )


def _checked(name: str, pulls: ArrayLike) -> FloatArray:
    array = np.asarray(pulls)
    if array.dtype.kind not in "iuf" or array.ndim != 1 or not array.size:
        raise ParameterError(f"{name} must hold the number of pulls of each run, for at least one run")
    if not (np.isfinite(array).all() and (array >= 0).all()):
        raise ParameterError(f"{name} must be finite numbers of at least 0, and some are not")
    return array.astype(np.float64)
