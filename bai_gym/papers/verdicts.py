"""Claims of a paper as checkable statements, with three possible verdicts.

A claim is confirmed if the data exclude its opposite at the stated confidence level, refuted if they exclude the claim,
and undecided otherwise. Chance alone confirms a false claim, or refutes a true one, with probability at most ``(1 -
level) / 2``: the intervals used here are exact, and a comparison also asks the exact McNemar test. Only
:func:`lower_mean` relies on many runs, since means other than proportions have no exact interval.

A claim about several budgets is a conjunction: :func:`all_of` its parts. Refuting it takes one refuted part, so with
every part at level 0.95 a true conjunction of ten parts would be refuted too often. Judge each part at the level of
:func:`bonferroni`, ``1 - (1 - level) / parts``, and the whole keeps `level`.
Confirming a conjunction takes every part and would need no correction (the intersection-union principle: R. L. Berger
1982, "Multiparameter hypothesis testing and acceptance sampling", Technometrics 24(4), 295-300); the correction is made
anyway, so that one set of intervals holds simultaneously, at the price of some undecided claims.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable

import numpy as np
from typing_extensions import override

from bai_gym.analysis.intervals import check_level, clopper_pearson
from bai_gym.analysis.paired import PairedTest
from bai_gym.errors import ParameterError
from bai_gym.statistics import FloatArray

__all__ = ["Verdict", "above", "all_of", "below", "bonferroni", "decide", "lower_error", "lower_mean", "lower_share"]


class Verdict(enum.Enum):
    """The verdict on a claim at the stated level."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    UNDECIDED = "undecided"

    @override
    def __str__(self) -> str:
        """The word in reports."""
        return self.value


def lower_error(paired: PairedTest) -> Verdict:
    """The claim "agent A has a lower error probability than agent B", at the level of the comparison.

    Decided where the whole interval of the difference lies on one side of 0 and the exact McNemar test rejects
    equality as well. The second condition matters in borderline cases only, where the interval alone, being
    asymptotic, decides slightly too often (0 against 5 discordant runs at level 0.95: the p-value is 0.0625).

    Args:
        paired: The comparison of A with B.

    Returns:
        The verdict.
    """
    if paired.p_value > 1 - paired.level:
        return Verdict.UNDECIDED
    return decide(confirmed=paired.interval[1] < 0, refuted=paired.interval[0] > 0)


def below(errors: int, runs: int, threshold: float, level: float = 0.95) -> Verdict:
    """The claim "the error probability is below the threshold", by the Clopper-Pearson interval.

    Args:
        errors: Number of wrong recommendations, in 0..runs.
        runs: Number of independent runs, at least 1.
        threshold: Error probability in [0, 1] to compare with.
        level: Confidence level of the claim, strictly between 0 and 1.

    Returns:
        The verdict.

    Raises:
        ParameterError: If an argument is out of range.
    """
    lower, upper = _interval(errors, runs, threshold, level)
    return decide(confirmed=upper < threshold, refuted=lower > threshold)


def above(errors: int, runs: int, threshold: float, level: float = 0.95) -> Verdict:
    """The claim "the error probability is above the threshold"; all else is as in :func:`below`."""
    lower, upper = _interval(errors, runs, threshold, level)
    return decide(confirmed=lower > threshold, refuted=upper < threshold)


def lower_share(first: tuple[int, int], second: tuple[int, int], level: float = 0.95) -> Verdict:
    """The claim "the first error probability is lower than the second", for independent runs, by Fisher's exact test.

    Args:
        first: Errors and runs, the former in 0..runs, the latter at least 1.
        second: The same for the other agent.
        level: Confidence level of the claim, strictly between 0 and 1.

    Returns:
        The verdict.

    Raises:
        ParameterError: If an argument is out of range.
    """
    from scipy.stats import fisher_exact  # slow to import

    for errors, runs in (first, second):
        if not 0 <= errors <= runs or runs < 1:
            raise ParameterError(f"{errors} errors in {runs} runs: give at least 1 run, and errors in 0..runs")
    check_level(level)
    table = [[first[0], first[1] - first[0]], [second[0], second[1] - second[0]]]
    limit = (1 - level) / 2
    return decide(
        confirmed=bool(fisher_exact(table, alternative="less").pvalue <= limit),
        refuted=bool(fisher_exact(table, alternative="greater").pvalue <= limit),
    )


def lower_mean(differences: FloatArray, level: float = 0.95) -> Verdict:
    """The claim "the mean difference is below 0", by Student's interval: a paired t-test.

    Exact for normal differences, and a good approximation for others in a hundred runs or more.

    Args:
        differences: ``(R,)`` differences of two agents in common runs, first minus second; finite, at least one.
        level: Confidence level of the claim, strictly between 0 and 1.

    Returns:
        The verdict; undecided for a single run.

    Raises:
        ParameterError: If an argument is out of range.
    """
    from scipy.stats import t  # slow to import

    check_level(level)
    if differences.ndim != 1 or not differences.size or not np.isfinite(differences).all():
        raise ParameterError("differences must be finite numbers, one for each of at least one run")
    runs = differences.size
    if runs == 1:
        return Verdict.UNDECIDED
    reach = float(t.ppf((1 + level) / 2, runs - 1) * differences.std(ddof=1) / np.sqrt(runs))
    mean = float(differences.mean())
    return decide(confirmed=mean + reach < 0, refuted=mean - reach > 0)


def all_of(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict on a conjunction: refuted if any part is, confirmed if all are, undecided otherwise.

    Args:
        verdicts: Verdicts on the parts, at least one, each at the level of :func:`bonferroni` for their number.

    Returns:
        The verdict on the whole.

    Raises:
        ParameterError: If there is no part.
    """
    kinds = set(verdicts)
    if not kinds:
        raise ParameterError("a claim needs parts; give at least one verdict")
    return decide(confirmed=kinds == {Verdict.CONFIRMED}, refuted=Verdict.REFUTED in kinds)


def bonferroni(level: float, parts: int) -> float:
    """Confidence level of each of several statements that makes all of them hold jointly at `level`.

    Args:
        level: Joint confidence level, strictly between 0 and 1.
        parts: Number of statements, at least 1.

    Returns:
        ``1 - (1 - level) / parts``.

    Raises:
        ParameterError: If an argument is out of range.
    """
    check_level(level)
    if parts < 1:
        raise ParameterError(f"parts is {parts}; a claim has at least 1 part")
    return 1 - (1 - level) / parts


def _interval(errors: int, runs: int, threshold: float, level: float) -> tuple[float, float]:
    """Exact interval of the error probability, after checking the threshold."""
    if not 0.0 <= threshold <= 1.0:
        raise ParameterError(f"threshold {threshold!r} is not an error probability; give one in [0, 1]")
    return clopper_pearson(errors, runs, level)


def decide(*, confirmed: bool, refuted: bool) -> Verdict:
    """The verdict of two conditions that exclude each other."""
    if confirmed:
        return Verdict.CONFIRMED
    return Verdict.REFUTED if refuted else Verdict.UNDECIDED
