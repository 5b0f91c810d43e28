"""A recommendation is an arm, or none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from typing_extensions import override

from bai_gym.errors import ParameterError
from bai_gym.statistics import AnyArray, BoolArray, FloatArray, IntArray
from bai_gym.tasks.base import ThresholdTask
from bai_gym.tasks.contrasts import Contrasts

__all__ = ["GoodArm"]


class GoodArm(ThresholdTask):
    """Recommend an arm with a mean of at least the threshold, or none if there is no such arm.

    A recommendation is one number: that of the arm, or K for none. An arm is correct if its mean is at most epsilon
    below the threshold; none is correct if no arm is good, or with an epsilon above 0 if no mean is more than epsilon
    above the threshold.

    Source: Jourdan, Delahaye-Duriez and Reda, "An Anytime Algorithm for Good Arm Identification" (arXiv 2310.10359).

    Args:
        threshold: The border, finite, in the unit of the reward.
        epsilon: Accuracy, at least 0.
    """

    name = "good-arm"
    entry = None

    @staticmethod
    @override
    def contrasts(mean: FloatArray, c: Any, x: FloatArray) -> int:
        """State that the arm of largest mean is good, one contrast; or that no arm is, K contrasts."""
        best = int(np.argmax(mean))
        if mean[best] >= x[0]:
            c.first[0], c.second[0], c.offset[0] = best, -1, x[0] - x[1]
            return 1
        for arm in range(mean.size):
            c.first[arm], c.second[arm], c.offset[arm] = -1, arm, -x[0] - x[1]
        return int(mean.size)

    @override
    def most_contrasts(self, num_arms: int) -> int:
        """Return K. As many can be overturned: of each bad arm its own, and "none" by the best of the good ones."""
        return num_arms

    @override
    def decisive(self, means: FloatArray, c: Contrasts) -> BoolArray:
        """Return True for all with epsilon 0, unless several arms are good."""
        return np.full(c.first.size, self.epsilon == 0.0 and (means >= self.threshold).sum() < 2)

    @override
    def describe(self) -> str:
        return f"an arm with a mean of at least {self.threshold:g}{self._accuracy()}, or none if there is no such arm"

    @override
    def sizes(self, num_arms: int) -> tuple[int, ...]:
        """Return K + 1, once: an arm, or none."""
        return (num_arms + 1,)

    @override
    def form(self, batch: int, num_arms: int) -> str:
        return f"{batch} x 1 integers, for each episode an arm, or {num_arms} for none"

    @override
    def correct_recommendation(self, means: FloatArray) -> IntArray:
        """Return the arm of largest mean, or K if that is below the threshold: ``(..., K)`` -> ``(..., 1)``."""
        best = np.where(means.max(axis=-1) >= self.threshold, means.argmax(axis=-1), means.shape[-1])
        return np.asarray(best[..., None])

    @override
    def simple_regret(self, means: FloatArray, recommendation: IntArray) -> FloatArray:
        """Return by how much the arm is below the threshold, or for none the largest mean above it; at least 0.

        Args:
            means: ``(..., K)`` true means.
            recommendation: ``(..., 1)`` arms, or K.
        """
        chosen = np.asarray(recommendation)[..., 0]
        none = chosen == means.shape[-1]
        mean = np.take_along_axis(means, np.where(none, 0, chosen)[..., None], -1)[..., 0]
        distance = np.where(none, means.max(axis=-1) - self.threshold, self.threshold - mean)
        return np.asarray(np.maximum(distance, 0.0))

    @override
    def correct(self, means: FloatArray, recommendation: IntArray) -> AnyArray:
        """Return whether the simple regret is at most epsilon; none is wrong if a mean is exactly the threshold."""
        right = super().correct(means, recommendation)
        if self.epsilon > 0:
            return right
        none = np.asarray(recommendation)[..., 0] == means.shape[-1]
        return np.asarray(right & ~(none & (means.max(axis=-1) >= self.threshold)))

    @override
    def arms(self, recommendation: IntArray, num_arms: int) -> tuple[int, ...]:
        """Return the arm, or nothing."""
        arm = int(recommendation[0])
        return (arm,) if arm < num_arms else ()

    @override
    def of_arms(self, arms: Sequence[int], num_arms: int) -> IntArray:
        """Return the arm, ``(1,)``, or K where there is none."""
        if len(arms) > 1:
            raise ParameterError(f"name one arm, or none, not {len(arms)}")
        return np.array([*arms, num_arms][:1], np.int64)

    @override
    def first_arm(self, recommendation: IntArray, num_arms: int) -> IntArray:
        """Return the arm, arm 0 where there is none."""
        return np.asarray(recommendation[:, 0] % num_arms)
