"""The two arms of largest sample means, kept up to date from pull to pull."""

from __future__ import annotations

import numpy as np

from bai_gym.sampling import Episode, State

__all__ = ["TwoLargest", "find_two_largest"]


class TwoLargest(State):
    """The two arms of largest means; a rule that uses :func:`find_two_largest` has these among its fields."""

    best: int  # the arm of largest mean
    second: int  # the arm of second-largest mean
    bound: float  # no other arm has a larger mean


def find_two_largest(e: Episode, s: TwoLargest) -> None:
    """Update the two arms after a pull; all arms are scanned only if one of the two falls below the bound."""
    best, second, bound, pulled = s.best, s.second, s.bound, e.pulled
    if pulled >= 0 and pulled != best and pulled != second:
        bound = max(bound, min(e.mean[pulled], e.mean[second]))
        second = pulled if e.mean[pulled] > e.mean[second] else second
    elif pulled < 0 or min(e.mean[best], e.mean[second]) < bound:
        best, second, bound = 0, 1, -np.inf
        for arm in range(2, e.num_arms):
            least = best if e.mean[best] < e.mean[second] else second
            bound = max(bound, min(e.mean[arm], e.mean[least]))
            if e.mean[arm] > e.mean[least]:
                best, second = best + second - least, arm
    is_ordered = e.mean[best] >= e.mean[second]
    s.best, s.second = best if is_ordered else second, second if is_ordered else best
    s.bound = bound
