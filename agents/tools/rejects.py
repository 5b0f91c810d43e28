"""The schedule of successive rejects, which several algorithms follow."""

from __future__ import annotations

import numpy as np

from bai_gym.statistics import ROUNDING, IntArray
from bai_gym.theory.complexity import log_bar

__all__ = ["phase_ends", "phase_lengths", "rejection_times"]


def phase_lengths(num_arms: int, budget: int, most: int | None = None) -> IntArray:
    """Return n_1, ..., n_(K-1): the pulls that an arm has at the end of phase k, if it was active until then.

    n_k = ceil((n - K) / (logbar(K) (K + 1 - k))), where logbar(K) = 1/2 + 1/2 + 1/3 + ... + 1/K; all 0 for n <= K.

    Args:
        num_arms: K.
        budget: n.
        most: If given, no n_k exceeds it. The pulls that this saves lengthen all other phases by a common factor,
            rounded down, again until none exceeds it.

    Source: Audibert, Bubeck and Munos (2010), Figure 3; with ``most``, Lyu, Nejma, Wegel, Yang and Dorner (2026).
    """
    left = np.arange(num_arms, 1, -1)
    share = max(budget - num_arms, 0) / (log_bar(num_arms) * left)
    # An integer that rounding has pushed just above its value stays the same.
    lengths = np.ceil(share * (1.0 - ROUNDING)).astype(np.int64)
    if most is not None:
        arms = np.where(left == 2, 2, 1)  # that have n_k pulls in the end: one is dropped after each phase but the last
        while (saved := int(arms @ np.maximum(lengths - most, 0))) > 0:
            lengths = np.minimum(lengths, most)
            shorter = lengths < most
            total = int((arms * lengths)[shorter].sum())
            if total:
                lengths[shorter] = lengths[shorter] * (total + saved) // total
    return np.asarray(lengths)


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
