"""A snapshot of an episode, and the numbers that every drawing derives from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bai_gym.analysis.intervals import mean_intervals
from bai_gym.common.budget import TOLERANCE
from bai_gym.errors import ParameterError
from bai_gym.statistics import BoolArray, FloatArray

__all__ = ["Snapshot", "headline", "mean_range", "reaches", "share", "shown_means"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Snapshot:
    """The visible state of one episode.

    Attributes:
        pulls: Number of pulls of each arm, shape (K,), integers.
        means: Sample means, shape (K,); not read where `pulls` is 0.
        variances: Unbiased sample variances, shape (K,); not read where `pulls` is below 2.
        remaining: Pulls left; money left where arms have costs.
        budget: Total pulls over all arms, or money.
        last_arm: Arm of the last pull, from 0; None before the first.
        recommendation: The recommended arm, or arms where the task asks for a set; None before the recommendation.
        correct: Whether the recommendation is correct; None before it, or if unknown.
        truncated: Whether the cap has ended the episode, without a recommendation.
        threshold: The threshold of the task; None if it has none.
        cheapest: The smallest cost of a pull; None where arms have no costs.

    Raises:
        ParameterError: If the three arrays do not have one common shape (K,) with K at least 1.
    """

    pulls: NDArray[np.integer[Any]]
    means: NDArray[np.floating[Any]]
    variances: NDArray[np.floating[Any]]
    remaining: float
    budget: float
    last_arm: int | None = None
    recommendation: int | tuple[int, ...] | None = None
    correct: bool | None = None
    truncated: bool = False
    threshold: float | None = None
    cheapest: float | None = None

    def __post_init__(self) -> None:
        shapes = (np.shape(self.pulls), np.shape(self.means), np.shape(self.variances))
        if len(shapes[0]) != 1 or shapes[0] == (0,) or len(set(shapes)) > 1:
            raise ParameterError(f"pulls, means and variances have shapes {shapes}; they must share one shape (K,)")

    @property
    def phase(self) -> Literal["explore", "recommend", "done"]:
        """Phase of the episode: pulls to make, a recommendation to make, or nothing."""
        if self.recommendation is not None or self.truncated:
            return "done"
        affordable = self.remaining > 0 if self.cheapest is None else self.remaining >= self.cheapest * (1 - TOLERANCE)
        return "explore" if affordable else "recommend"

    @property
    def unit(self) -> str:
        """What the budget counts."""
        return "pulls" if self.cheapest is None else "money"

    @property
    def recommended(self) -> tuple[int, ...]:
        """The recommended arms, none before the recommendation."""
        if self.recommendation is None:
            return ()
        return self.recommendation if isinstance(self.recommendation, tuple) else (self.recommendation,)


def reaches(snapshot: Snapshot) -> tuple[FloatArray, FloatArray]:
    """Return how far the 95 % intervals of the means reach below and above them.

    Args:
        snapshot: The episode.

    Returns:
        Two arrays of shape (K,), in units of the reward, see :func:`bai_gym.analysis.intervals.mean_intervals`; both
        0 for arms about which nothing can be estimated.
    """
    lower, upper = mean_intervals(snapshot.pulls, snapshot.means, snapshot.variances)
    _, means = _played_means(snapshot)
    return np.nan_to_num(np.maximum(means - lower, 0.0)), np.nan_to_num(np.maximum(upper - means, 0.0))


def headline(snapshot: Snapshot) -> str:
    """The phase and, at the end, the recommendation and whether it is correct, or that there is none."""
    if snapshot.phase != "done":
        return f"phase: {snapshot.phase}"
    if snapshot.truncated:
        return "phase: done, truncated without a recommendation"
    arms = snapshot.recommended
    named = ", ".join(map(str, arms[:6])) + (f", ... ({len(arms)} arms)" if len(arms) > 6 else "")
    outcome = {None: "", True: " (correct)", False: " (wrong)"}[snapshot.correct]
    return f"phase: done, recommended arm{'s' if len(arms) != 1 else ''} {named or 'none'}{outcome}"


def shown_means(
    snapshot: Snapshot,
) -> tuple[BoolArray, FloatArray, FloatArray, FloatArray, tuple[float, float]]:
    """Return which arms were pulled, their means, how far these reach below and above, and the range of their axis."""
    played, means = _played_means(snapshot)
    below, above = reaches(snapshot)
    return played, means, below, above, mean_range(means, below, above, played)


def _played_means(snapshot: Snapshot) -> tuple[BoolArray, FloatArray]:
    """Which arms were pulled, and their means, 0 elsewhere."""
    played = np.asarray(snapshot.pulls) > 0
    return played, np.where(played, np.nan_to_num(np.asarray(snapshot.means, np.float64)), 0.0)


def mean_range(means: FloatArray, below: FloatArray, above: FloatArray, played: BoolArray) -> tuple[float, float]:
    """Range of the mean axis: zero, all means, and their intervals as far as these do not dwarf the means."""
    if not played.any():
        return 0.0, 1.0
    span = max(float(means.max()), 0.0) - min(float(means.min()), 0.0)
    most = span if span > 0 else np.inf
    low = min(float((means - np.minimum(below, most)).min()), 0.0)
    high = max(float((means + np.minimum(above, most)).max()), 0.0)
    return (low, high) if high > low else (0.0, 1.0)


def share(part: float, whole: float) -> float:
    """``part`` as a share of ``whole``, within [0, 1]; 1 of nothing."""
    return min(max(part / whole, 0.0), 1.0) if whole > 0 else 1.0
