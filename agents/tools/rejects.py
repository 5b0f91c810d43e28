"""The schedule of successive rejects, which several algorithms follow."""

from __future__ import annotations

import numpy as np

from bai_gym.statistics import ROUNDING, IntArray
from bai_gym.theory.complexity import log_bar

__all__ = ["phase_ends", "phase_lengths", "rejection_times"]


def phase_lengths(num_arms: int, budget: int) -> IntArray:
    """Return n_1, ..., n_(K-1): the pulls that an arm has at the end of phase k, if it was active until then.

    n_k = ceil((n - K) / (logbar(K) (K + 1 - k))), where logbar(K) = 1/2 + 1/2 + 1/3 + ... + 1/K; all 0 for n <= K.

    Source: Audibert, Bubeck and Munos (2010), Figure 3.
    """
    left = np.arange(num_arms, 1, -1)
    share = max(budget - num_arms, 0) / (log_bar(num_arms) * left)
    # An integer that rounding has pushed just above its value stays the same.
    return np.asarray(np.ceil(share * (1.0 - ROUNDING)).astype(np.int64))


def phase_ends(num_arms: int, budget: int) -> IntArray:
    """Return t_1, ..., t_(K-1): the pulls that successive rejects has made at the end of phase k, at most n.

    t_k = n_1 + ... + n_(k-1) + (K + 1 - k) n_k.
    """
    lengths = phase_lengths(num_arms, budget)
    return np.asarray(np.cumsum(lengths) - lengths + np.arange(num_arms, 1, -1) * lengths)


def rejection_times(num_arms: int, budget: int) -> IntArray:
    """Return the pulls at which the 1st, ..., (K-1)th arm is dropped if no pull is left over: the last are n."""
    times = np.minimum(phase_ends(num_arms, budget), budget)
    times[-1] = budget
    return times
