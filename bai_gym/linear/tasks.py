"""A recommendation is a candidate, which need not be an arm."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

import numpy as np
from typing_extensions import override

from bai_gym.bandits.arranged import rotated
from bai_gym.errors import InstanceError, ParameterError
from bai_gym.statistics import ROUNDING, FloatArray, IntArray
from bai_gym.tasks.base import BestOne
from bai_gym.validation import array

__all__ = ["BestCandidate"]

OUTSIDE = 1e-8  # distance of a candidate from the span of the features, relative to its size, that is no rounding error


class BestCandidate(BestOne):
    """Recommend one of given candidates, which need not be arms: transductive identification.

    Arms have features x_k and linear means. A candidate z is in the span of the features, so that its mean is a
    combination of the means of arms. It is correct if no candidate has a mean larger by more than epsilon; of equal
    candidates each is correct where one is.

    Source: Fiez, Jain, Jamieson and Ratliff (2019), "Sequential Experimental Design for Transductive Linear Bandits".

    Args:
        candidates: ``(K_Z, d)`` what may be recommended, at least one.
        features: ``(K, d)`` features of the arms, the same in every episode.
        epsilon: Accuracy, at least 0.

    Attributes:
        candidates: ``(K_Z, d)``, read-only.
        combinations: ``(K_Z, K)`` C with Z = C X, read-only: the means of the candidates are C times those of the arms.
            The row of a candidate that is an arm has a one, and zeros.

    Raises:
        InstanceError: If candidates are malformed, not finite, or outside the span of the features.
    """

    name = "best-candidate"
    answer = "candidate"
    entry = "candidate"

    def __init__(self, candidates: object, features: FloatArray, epsilon: float = 0.0) -> None:
        """Compute the combinations."""
        super().__init__(epsilon)
        num_arms, d = features.shape
        self.candidates = array(candidates, "candidates", kind=f"rows of {d} numbers, not {{!r}}", error=InstanceError)
        if self.candidates.ndim != 2 or self.candidates.shape[1] != d or not len(self.candidates):
            shape = self.candidates.shape
            raise InstanceError(f"candidates must be of shape (number, {d}), as arms have {d} features, not {shape}")
        combinations = self.candidates @ np.linalg.pinv(features)
        distances = np.abs(combinations @ features - self.candidates).max(axis=1)
        outside = np.flatnonzero(distances > OUTSIDE * np.abs(self.candidates).max(axis=1))
        if outside.size:
            raise InstanceError(
                f"candidate {outside[0]} is outside the span of the features, so no pulls say anything about its mean: "
                "leave it out, or add arms"
            )
        combinations[np.abs(combinations) <= ROUNDING * np.abs(combinations).max(axis=1, keepdims=True)] = 0.0
        arm_of = {row.tobytes(): arm for arm, row in reversed(list(enumerate(features + 0.0)))}  # without -0.0
        for number, row in enumerate(self.candidates + 0.0):
            if row.tobytes() in arm_of:
                combinations[number] = np.arange(num_arms) == arm_of[row.tobytes()]
        self.combinations = combinations
        self.candidates.flags.writeable = self.combinations.flags.writeable = False

    @property
    @override
    def constants(self) -> dict[str, FloatArray]:
        """``candidates``, ``(K_Z, d)``."""
        return {"candidates": self.candidates}

    @override
    def arranged(self, arms: IntArray, answers: IntArray | None, rotation: FloatArray | None) -> BestCandidate:
        """Return the same task with arms and candidates in another order, and rotated features."""
        assert answers is not None
        result = copy(self)
        result.candidates = self.candidates[answers]
        if rotation is not None:
            result.candidates = rotated(result.candidates[None], rotation[None])[0]
        result.combinations = self.combinations[np.ix_(answers, arms)]
        result.candidates.flags.writeable = result.combinations.flags.writeable = False
        return result

    @override
    def describe(self) -> str:
        return f"the best of {len(self.candidates)} candidates{self._accuracy()}"

    @override
    def check_arms(self, num_arms: int) -> None:
        """Raise :class:`ParameterError` for another number of arms than there are features."""
        if num_arms != self.combinations.shape[1]:
            raise ParameterError(f"the candidates are for {self.combinations.shape[1]} arms, and there are {num_arms}")

    @override
    def sizes(self, num_arms: int) -> tuple[int, ...]:
        """Return K_Z, once."""
        return (len(self.candidates),)

    @override
    def form(self, batch: int, num_arms: int) -> str:
        return f"{batch} integer(s), one candidate per episode"

    @override
    def means(self, means: FloatArray) -> FloatArray:
        """Return the means of the candidates, from those of the arms: ``(..., K)`` -> ``(..., K_Z)``.

        Those within rounding error of the best one are equal to it.
        """
        values = means @ self.combinations.T
        scale = np.abs(means).max(axis=-1, keepdims=True) * np.abs(self.combinations).sum(axis=1).max()
        best = values.max(axis=-1, keepdims=True)
        return np.asarray(np.where(values >= best - ROUNDING * scale, best, values))

    @override
    def arms(self, recommendation: IntArray, num_arms: int) -> tuple[int, ...]:
        """Return the arm that the candidate is, or nothing if it is none."""
        row = self.combinations[int(recommendation)]
        is_arm = np.count_nonzero(row) == 1 and row.max() == 1.0
        return (int(row.argmax()),) if is_arm else ()

    @override
    def of_arms(self, arms: Sequence[int], num_arms: int) -> IntArray:
        """Return the first candidate that is the arm, as an array without axes."""
        named = [number for number in range(len(self.candidates)) if self.arms(np.array(number), num_arms) == (*arms,)]
        if len(arms) != 1 or not named:
            raise ParameterError(f"name one arm that is a candidate, not {list(arms)}")
        return np.array(named[0], np.int64)

    @override
    def first_arm(self, recommendation: IntArray, num_arms: int) -> IntArray:
        """Return the arm of largest weight in the combination of the candidate."""
        return np.asarray(np.abs(self.combinations[recommendation]).argmax(axis=-1))

    @override
    def __repr__(self) -> str:
        """Show the task without its numbers."""
        accuracy = f", epsilon={self.epsilon}" if self.epsilon else ""
        return f"BestCandidate({len(self.candidates)} candidates, {self.combinations.shape[1]} arms{accuracy})"
