"""What a recommendation is, and when it is right."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bai_gym.statistics import FloatArray, IntArray

__all__ = ["BestArm"]


class BestArm:
    """Recommend one arm; it is right if no arm has a larger mean."""

    def answer(self, means: FloatArray) -> IntArray:
        """Return an arm of largest mean (the first, if several tie): ``(..., K)`` -> ``(...)``."""
        return np.asarray(means.argmax(axis=-1))

    def simple_regret(self, means: FloatArray, recommendation: IntArray) -> FloatArray:
        """Return the best mean minus the mean of the recommended arm.

        Args:
            means: ``(..., K)`` true means.
            recommendation: ``(...)`` arms, 0 to K-1.

        Returns:
            ``(...)`` simple regrets, at least 0, in the unit of the reward.
        """
        chosen = np.take_along_axis(means, np.asarray(recommendation)[..., None], -1)[..., 0]
        return np.asarray(means.max(axis=-1) - chosen)

    def correct(self, means: FloatArray, recommendation: IntArray) -> npt.NDArray[Any]:
        """Return whether the recommended arm has the largest mean; any of several tied ones counts."""
        return np.asarray(self.simple_regret(means, recommendation) <= 0.0)
