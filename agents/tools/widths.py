"""The confidence widths of the algorithms of the 2011-2012 papers (GapE, UGapE); plain enough for compiled rules."""

import math


def hoeffding(a: float, b: float, pulls: float) -> float:
    """Return the width `b sqrt(a / T)` of an arm with `T` pulls, for rewards in an interval of length `b`."""
    return b * math.sqrt(a / pulls)


def bernstein(a: float, b: float, pulls: float, variance: float) -> float:
    """Return the empirical Bernstein width `sqrt(2 a v / T) + 7 a b / (3 (T - 1))` with the sample variance `v`."""
    return math.sqrt(2.0 * a * variance / pulls) + 7.0 * a * b / (3.0 * (pulls - 1.0))
