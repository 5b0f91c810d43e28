"""Ranks of agents with confidence: exact tests of all pairs, corrected for their number.

A rank is a statement about all other agents at once. With m pairs of agents there are 2 m one-sided hypotheses, "A errs
at least as often as B" and the reverse. Holm's step-down procedure on all of them keeps the probability of any false
rejection, a wrong direction included, at most 1 - level, under any dependence between the tests. The agents that
are then known to err less, or more, bound an agent's rank, and all these bounds hold jointly at the level.

References:
    S. Holm (1979), "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6(2),
    65-70.
    M. Mogstad, J. P. Romano, A. M. Shaikh and D. Wilhelm (2024), "Inference for ranks with applications to mobility
    across neighbourhoods and academic achievement across countries", Review of Economic Studies 91(1), 476-518: ranks
    from one-sided hypotheses about all pairs.
    R. A. Fisher (1935), "The design of experiments", section 21: the test by random signs.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

import numpy as np
import numpy.typing as npt

from bai_gym.errors import ParameterError
from bai_gym.statistics import BoolArray, FloatArray, IntArray

__all__ = ["holm", "rank_intervals", "random_signs", "surely_better", "unpaired"]


def holm(p_values: npt.ArrayLike) -> FloatArray:
    """Adjust two-sided p-values of several comparisons so that all conclusions, with their directions, hold jointly.

    Holm's procedure on the 2 m one-sided hypotheses of m comparisons. Of each comparison, one of the two has the
    one-sided p-value p / 2, and the other a larger one, which is never rejected at usual levels. So the
    k-th smallest p (k = 0, 1, ...) is multiplied by (2 m - k) / 2: as much as by Bonferroni's correction at first, less
    from then on.

    Args:
        p_values: ``(m,)`` two-sided p-values, in [0, 1], each twice a one-sided one.

    Returns:
        ``(m,)`` adjusted p-values: those of at most 1 - level are jointly significant.

    Raises:
        ParameterError: If they are not a vector of numbers in [0, 1].
    """
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise ParameterError("p-values must be a list of numbers in [0, 1]")
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate((p.size - np.arange(p.size) / 2) * p[order]), 1.0)
    return adjusted


def random_signs(differences: npt.ArrayLike) -> float:
    """Exact two-sided test of paired differences by random signs.

    Of two agents that are equally good on each instance, each difference has either sign with probability 1/2. So their
    sum has a known distribution given their absolute values; the p-value is twice its smaller tail, at most 1. For
    differences of -1, 0 and 1 this is the exact McNemar test, :func:`bai_gym.analysis.paired.mcnemar_exact`. In many
    runs it also is a test of equal means where the differences are not symmetric.

    The distribution is the Fourier inverse of its characteristic function, a product of cosines: exact but for rounding
    errors, below 1e-9.

    Args:
        differences: ``(R,)`` integers, for example in how many of several budgets agent A erred and B did not,
            minus the reverse.

    Returns:
        The p-value in [0, 1].

    Raises:
        ParameterError: If they are not a vector of integers.
    """
    d = np.asarray(differences)
    if d.ndim != 1 or d.dtype.kind not in "iu":
        raise ParameterError("differences must be integers, one for each run")
    sizes: IntArray = np.bincount(np.abs(d))
    reach = int(sizes @ np.arange(sizes.size))
    if reach == 0:
        return 1.0
    points = 2 * reach + 1  # the sum is one of -reach, ..., reach
    angles = 2 * np.pi * np.arange(reach + 1) / points
    transform = np.ones(reach + 1)
    for size, times in enumerate(sizes):
        if size and times:
            transform *= np.cos(size * angles) ** times
    chances = np.roll(np.fft.irfft(transform, points), reach)
    tail = chances[: reach - abs(int(d.sum())) + 1].sum()
    return float(min(1.0, 2 * max(tail, 0.0)))


def unpaired(errors_a: int, runs_a: int, errors_b: int, runs_b: int) -> float:
    """Two-sided test of "both agents err equally often" where only the counts are known, by Fisher's exact test.

    It takes the runs of the two agents for independent. Agents that have met the same instances mostly err on the same
    ones, and the test is then conservative.

    Args:
        errors_a: Errors of agent A, in 0..runs_a.
        runs_a: Runs of agent A, at least 1.
        errors_b: Errors of agent B, in 0..runs_b.
        runs_b: Runs of agent B, at least 1.

    Returns:
        Twice the one-sided p-value in the observed direction, at most 1.
    """
    from scipy.stats import fisher_exact  # slow to import

    less = errors_a * runs_b < errors_b * runs_a
    table = [[errors_a, runs_a - errors_a], [errors_b, runs_b - errors_b]]
    return min(1.0, 2 * float(fisher_exact(table, alternative="less" if less else "greater").pvalue))


def surely_better(size: int, differences: Iterable[float], adjusted: FloatArray, level: float) -> BoolArray:
    """Return ``(n, n)`` whether agent i is significantly better than agent j, by tests of all pairs.

    Args:
        size: n, the number of agents.
        differences: Errors of agent i less those of agent j, for all pairs in the order of ``combinations``.
        adjusted: The p-values of these pairs, adjusted for their number, see :func:`holm`.
        level: Confidence level.
    """
    better = np.zeros((size, size), dtype=bool)
    for (i, j), difference, p_value in zip(combinations(range(size), 2), differences, adjusted, strict=True):
        if p_value <= 1 - level and difference:
            better[(i, j) if difference < 0 else (j, i)] = True
    return better


def rank_intervals(better: BoolArray) -> list[tuple[int, int]]:
    """Return the ranks that each agent can have.

    Args:
        better: ``(n, n)`` whether agent i is significantly better than agent j.

    Returns:
        For each agent: 1 + the number of agents that are better, and n - the number of agents that are worse.
    """
    n = len(better)
    above, below = better.sum(axis=0), better.sum(axis=1)
    return [(1 + int(above[i]), n - int(below[i])) for i in range(n)]
