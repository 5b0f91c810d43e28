"""Scores of agents over tasks, as functions of arrays.

References:
    R. Agarwal, M. Schwarzer, P. S. Castro, A. Courville and M. G. Bellemare (2021), "Deep reinforcement learning at the
    edge of the statistical precipice", Advances in Neural Information Processing Systems 34, section 4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from bai_gym.analysis.intervals import Estimate
from bai_gym.statistics import FloatArray

__all__ = ["AGGREGATES", "excess_error", "interquartile_mean", "optimality_shortfall"]


def interquartile_mean(scores: npt.ArrayLike) -> Any:
    """Return the mean over the last axis without the lowest and the highest quarter of the scores.

    From each side a quarter of them is left out, rounded down: of 8 scores 2 and 2, of 3 scores none.
    """
    from scipy.stats import trim_mean  # slow to import

    return trim_mean(np.asarray(scores, dtype=np.float64), 0.25, axis=-1)


def optimality_shortfall(scores: npt.ArrayLike) -> Any:
    """Return the mean shortfall of scores from 1 over the last axis; scores above 1 count as 1."""
    return np.maximum(1.0 - np.asarray(scores, dtype=np.float64), 0.0).mean(axis=-1)


AGGREGATES: Mapping[str, Callable[[FloatArray], Any]] = {
    "iqm": interquartile_mean,
    "mean": lambda scores: np.mean(scores, axis=-1),
    "median": lambda scores: np.median(scores, axis=-1),
    "optimality_gap": optimality_shortfall,
}
"""Functions of scores ``(..., T)`` over T tasks, by their names in :class:`AgentScore`."""


def excess_error(error_probability: float, interval: tuple[float, float], optimum: float) -> Estimate:
    """Return the excess error: an error probability minus the smallest possible one.

    The optimum is exact, so the interval is that of the error probability, shifted.

    Args:
        error_probability: The agent's, estimated.
        interval: Its interval.
        optimum: Probability that the best possible agent is correct.
    """
    least = 1.0 - optimum
    return Estimate(error_probability - least, interval[0] - least, interval[1] - least)
