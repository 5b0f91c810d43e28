"""Tasks: the form of a recommendation, and when it is correct.

A recommendation is an array with the axis of episodes first: ``(N,)`` arms, ``(N, K)`` sets (1 for the arms in it, of
given size or any), ``(N, M)`` arms, one for each of M bandits, ``(N, 1)``, an arm or none, or ``(N,)`` candidates that
need not be arms. Every task has an accuracy epsilon: a recommendation is correct if its simple regret is at most
epsilon.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from bai_gym.errors import AgentError, BaiGymError, InstanceError, ParameterError, unknown_name
from bai_gym.statistics import ROUNDING, FloatArray, IntArray
from bai_gym.validation import array, integer, real

__all__ = ["TASKS", "BestArm", "BestCandidate", "BestOfEach", "GoodArm", "Task", "Thresholding", "TopM", "make_task"]

SLACK = 1e-9  # of epsilon, for gaps such as 0.8 - 0.7 that are not representable
OUTSIDE = 1e-8  # distance of a candidate from the span of the features, relative to its size, that is no rounding error


class Task(ABC):
    """A pure-exploration task on K arms.

    Attributes:
        name: The value of ``gym.make(..., task=)``.
        m: Number of arms to find in each bandit.
        num_bandits: Number of bandits that share the arms.
        epsilon: Accuracy, at least 0, in the unit of the reward.
        one_number: Whether a recommendation is one number, so that it is an action by itself.
        answer: What such a number stands for: ``"arm"``, or what need not be one.
    """

    name: ClassVar[str]
    one_number: ClassVar[bool] = False
    answer: ClassVar[str] = "arm"
    m: int = 1
    num_bandits: int = 1

    def __init__(self, epsilon: float = 0.0) -> None:
        """Check epsilon.

        Raises:
            ParameterError: If it is negative or not finite.
        """
        self.epsilon = real(epsilon, "epsilon", least=0)

    @property
    def constants(self) -> dict[str, FloatArray]:
        """What every observation shows of the task, by its key."""
        return {}

    def in_place_of(self, task: Task) -> Task:
        """Return the task of an episode where a problem brings this one, and another is asked for.

        It has the accuracy of the other one, which must be to find the best arm, or of this kind.

        Raises:
            ParameterError: If it is another one.
        """
        if type(task) is type(self):
            return task
        if not isinstance(task, BestArm):
            raise ParameterError(f"the task {task.name!r} has no {self.answer}s: leave out task=, or {self.answer}s=")
        made = copy(self)
        made.epsilon = task.epsilon
        return made

    @abstractmethod
    def check_arms(self, num_arms: int) -> None:
        """Raise :class:`ParameterError` if the task is undefined for this number of arms."""

    @abstractmethod
    def sizes(self, num_arms: int) -> tuple[int, ...]:
        """Return the number of values of each entry of a recommendation; a single arm is one entry."""

    @abstractmethod
    def check(
        self,
        recommendation: object,
        batch: int,
        num_arms: int,
        what: str = "recommend",
        error: type[BaiGymError] = AgentError,
    ) -> IntArray:
        """Return a recommendation for ``batch`` episodes as an int64 array.

        Args:
            recommendation: The recommendation of an agent or a user.
            batch: N.
            num_arms: K.
            what: Its source, for the message.
            error: Type of the error to raise.

        Raises:
            BaiGymError: Of the given type: wrong shape or type, an arm that does not exist, a set of another size.
        """

    @abstractmethod
    def correct_recommendation(self, means: FloatArray) -> IntArray:
        """Return the recommendation of smallest simple regret, given the true means; ties go to the lowest arms."""

    @abstractmethod
    def simple_regret(self, means: FloatArray, recommendation: IntArray) -> FloatArray:
        """Return the simple regret of a recommendation, ``(...)``, in the unit of the reward."""

    def correct(self, means: FloatArray, recommendation: IntArray) -> npt.NDArray[Any]:
        """Return whether the simple regret is at most epsilon, ``(...)``."""
        return np.asarray(self.simple_regret(means, recommendation) <= self.epsilon * (1.0 + SLACK))

    @abstractmethod
    def arms(self, recommendation: IntArray, num_arms: int) -> tuple[int, ...]:
        """Return the arms that the recommendation of one episode names."""

    @abstractmethod
    def of_arms(self, arms: Sequence[int], num_arms: int) -> IntArray:
        """Return the recommendation of one episode that names the given arms, the inverse of :meth:`arms`.

        Args:
            arms: Distinct arms, each from 0 to K - 1, in any order; possibly none.
            num_arms: K.

        Raises:
            ParameterError: If no recommendation names these arms.
        """

    def first_arm(self, recommendation: IntArray, num_arms: int) -> IntArray:
        """Return an arm of the recommendation, ``(N,)``: an agent without further requests pulls it."""
        return np.array([self.arms(one, num_arms)[0] for one in recommendation], np.int64)

    @abstractmethod
    def describe(self) -> str:
        """Describe the task, as a continuation of "Find"."""

    def _accuracy(self) -> str:
        return f", up to {self.epsilon:g}" if self.epsilon else ""

    @override
    def __repr__(self) -> str:
        """Show the task as a constructor call."""
        shown = {name: value for name, value in vars(self).items() if name != "epsilon" or value != 0.0}
        parameters = ", ".join(f"{name}={value}" for name, value in shown.items())
        return f"{type(self).__name__}({parameters})"


class BestArm(Task):
    """Recommend one arm; it is correct if no mean is larger by more than epsilon."""

    name = "best-arm"
    one_number = True

    @override
    def describe(self) -> str:
        return f"the best arm{self._accuracy()}"

    @override
    def check_arms(self, num_arms: int) -> None:
        """Accept any number of arms."""

    @override
    def sizes(self, num_arms: int) -> tuple[int, ...]:
        """Return K, once."""
        return (num_arms,)

    @override
    def check(
        self,
        recommendation: object,
        batch: int,
        num_arms: int,
        what: str = "recommend",
        error: type[BaiGymError] = AgentError,
    ) -> IntArray:
        """Return ``(N,)`` arms, see :meth:`Task.check`."""
        arms = _whole(recommendation, (batch,), f"{what} must be {batch} integer(s), one arm per episode", error)
        _check_range(arms, num_arms, what, error)
        return arms

    @override
    def correct_recommendation(self, means: FloatArray) -> IntArray:
        """Return an arm of largest mean (the first, if several tie): ``(..., K)`` -> ``(...)``."""
        return np.asarray(means.argmax(axis=-1))

    @override
    def simple_regret(self, means: FloatArray, recommendation: IntArray) -> FloatArray:
        """Return the best mean minus the mean of the recommended arm.

        Args:
            means: ``(..., K)`` true means.
            recommendation: ``(...)`` arms, 0 to K-1.

        Returns:
            ``(...)`` simple regrets, at least 0, in the unit of the reward.
        """
        return _shortfall(means, recommendation)

    @override
    def arms(self, recommendation: IntArray, num_arms: int) -> tuple[int, ...]:
        """Return the arm."""
        return (int(recommendation),)

    @override
    def of_arms(self, arms: Sequence[int], num_arms: int) -> IntArray:
        """Return the only arm, as an array without axes."""
        if len(arms) != 1:
            raise ParameterError(f"name one arm, not {len(arms)}")
        return np.array(arms[0], np.int64)

    @override
    def first_arm(self, recommendation: IntArray, num_arms: int) -> IntArray:
        """Return the arms."""
        return recommendation


class BestCandidate(Task):
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
    one_number = True
    answer = "candidate"

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
    def check(
        self,
        recommendation: object,
        batch: int,
        num_arms: int,
        what: str = "recommend",
        error: type[BaiGymError] = AgentError,
    ) -> IntArray:
        """Return ``(N,)`` candidates, see :meth:`Task.check`."""
        rule = f"{what} must be {batch} integer(s), one candidate per episode"
        chosen = _whole(recommendation, (batch,), rule, error)
        _check_range(chosen, len(self.candidates), what, error, "candidate")
        return chosen

    def means(self, means: FloatArray) -> FloatArray:
        """Return the means of the candidates, from those of the arms: ``(..., K)`` -> ``(..., K_Z)``.

        Those within rounding error of the best one are equal to it.
        """
        found = means @ self.combinations.T
        scale = np.abs(means).max(axis=-1, keepdims=True) * np.abs(self.combinations).sum(axis=1).max()
        best = found.max(axis=-1, keepdims=True)
        return np.asarray(np.where(found >= best - ROUNDING * scale, best, found))

    @override
    def correct_recommendation(self, means: FloatArray) -> IntArray:
        """Return a best candidate (the first, if several tie): ``(..., K)`` -> ``(...)``."""
        return np.asarray(self.means(means).argmax(axis=-1))

    @override
    def simple_regret(self, means: FloatArray, recommendation: IntArray) -> FloatArray:
        """Return the mean of the best candidate minus that of the recommended one.

        Args:
            means: ``(..., K)`` true means of the arms.
            recommendation: ``(...)`` candidates, 0 to K_Z - 1.

        Returns:
            ``(...)`` simple regrets, at least 0, in the unit of the reward.
        """
        return _shortfall(self.means(means), recommendation)

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


class _OfSets(Task):
    """Base of tasks whose recommendation is a set of arms."""

    @override
    def sizes(self, num_arms: int) -> tuple[int, ...]:
        """Return 2 for every arm: in the set or not."""
        return (2,) * num_arms

    @override
    def arms(self, recommendation: IntArray, num_arms: int) -> tuple[int, ...]:
        """Return the arms in the set, possibly none."""
        return tuple(np.flatnonzero(recommendation).tolist())

    @override
    def first_arm(self, recommendation: IntArray, num_arms: int) -> IntArray:
        """Return the lowest arm of each set, arm 0 of an empty one."""
        return np.asarray(recommendation.argmax(axis=-1))


class TopM(_OfSets):
    """Recommend a set of m arms; it is correct if each of them is at most epsilon worse than the m-th best arm.

    Source: Gabillon, Ghavamzadeh and Lazaric (2012), section 2, equations (1) and (2): the (epsilon, m)-best arms. The
    paper counts a regret of exactly epsilon as a failure; here it is correct, as epsilon = 0 requires.

    Args:
        m: Size of the set, from 1 to K - 1.
        epsilon: Accuracy, at least 0.
    """

    name = "top-m"

    def __init__(self, m: int, epsilon: float = 0.0) -> None:
        """Check both."""
        super().__init__(epsilon)
        self.m = integer(m, "m", least=1, rule="an integer from 1 to the number of arms less 1")

    @override
    def describe(self) -> str:
        return f"the m = {self.m} best arms{self._accuracy()}"

    @override
    def check_arms(self, num_arms: int) -> None:
        """Raise :class:`ParameterError` unless m is at most K - 1."""
        if self.m >= num_arms:
            raise ParameterError(f"m must be an integer from 1 to {num_arms - 1} for {num_arms} arms, not {self.m}")

    @override
    def check(
        self,
        recommendation: object,
        batch: int,
        num_arms: int,
        what: str = "recommend",
        error: type[BaiGymError] = AgentError,
    ) -> IntArray:
        """Return ``(N, K)`` sets of m arms, see :meth:`Task.check`."""
        sets = _check_sets(recommendation, batch, num_arms, f"{what} must be", f"{self.m} ones for each episode", error)
        sizes = sets.sum(axis=-1)
        if (sizes != self.m).any():
            raise error(f"{what}: the set must have m = {self.m} arms, not {int(sizes[sizes != self.m][0])}")
        return sets

    def completed(self, sets: IntArray, means: FloatArray) -> IntArray:
        """Return sets of m arms: first arms of the given set, then the others, by decreasing mean.

        For policies that decide about each arm separately, and so recommend sets of any size.

        Args:
            sets: ``(N, K)`` zeros and ones.
            means: ``(N, K)`` sample means.
        """
        whole = np.array(sets)
        rows = np.flatnonzero(whole.sum(axis=1) != self.m)
        order = np.lexsort((-means[rows], -whole[rows]))  # the last key counts first
        whole[rows] = 0
        whole[rows[:, None], order[:, : self.m]] = 1
        return whole

    @override
    def correct_recommendation(self, means: FloatArray) -> IntArray:
        """Return the m best arms: ``(..., K)`` -> ``(..., K)`` zeros and ones."""
        order = np.argsort(-means, axis=-1, kind="stable")[..., : self.m]
        sets = np.zeros(means.shape, np.int64)
        np.put_along_axis(sets, order, 1, -1)
        return sets

    @override
    def simple_regret(self, means: FloatArray, recommendation: IntArray) -> FloatArray:
        """Return the m-th best mean minus the smallest mean in the set, ``(...)``.

        Args:
            means: ``(..., K)`` true means.
            recommendation: ``(..., K)`` zeros and ones.
        """
        border = np.partition(means, -self.m, axis=-1)[..., -self.m]
        return np.asarray(border - np.where(recommendation == 1, means, np.inf).min(axis=-1))

    @override
    def of_arms(self, arms: Sequence[int], num_arms: int) -> IntArray:
        """Return the set, ``(K,)`` zeros and ones."""
        if len(arms) != self.m:
            raise ParameterError(f"name m = {self.m} arms, not {len(arms)}")
        return _set_of(arms, num_arms)


class BestOfEach(Task):
    """Several bandits share the budget; recommend an arm of each. All of them must be correct.

    The K arms are those of M bandits, concatenated. A recommendation has an entry for each bandit: the number of
    the arm within it. The simple regret is the largest over the bandits.

    Source: Gabillon, Ghavamzadeh, Lazaric and Bubeck (2011), "Multi-Bandit Best Arm Identification".

    Args:
        num_bandits: M, at least 1; K is a multiple of it.
        epsilon: Accuracy, at least 0.
    """

    name = "best-of-each"

    def __init__(self, num_bandits: int, epsilon: float = 0.0) -> None:
        """Check both."""
        super().__init__(epsilon)
        self.num_bandits = integer(num_bandits, "num_bandits", least=1)

    @override
    def describe(self) -> str:
        return f"the best arm of each of {self.num_bandits} bandits{self._accuracy()}"

    @override
    def check_arms(self, num_arms: int) -> None:
        """Raise :class:`ParameterError` unless all bandits have equally many arms, at least two."""
        if num_arms % self.num_bandits or num_arms < 2 * self.num_bandits:
            raise ParameterError(
                f"num_bandits must divide the number of arms, {num_arms}, and leave at least two arms to each bandit; "
                f"{self.num_bandits} does not"
            )

    @override
    def sizes(self, num_arms: int) -> tuple[int, ...]:
        """Return the number of arms of a bandit, once for every bandit."""
        return (num_arms // self.num_bandits,) * self.num_bandits

    @override
    def check(
        self,
        recommendation: object,
        batch: int,
        num_arms: int,
        what: str = "recommend",
        error: type[BaiGymError] = AgentError,
    ) -> IntArray:
        """Return ``(N, M)`` arms, see :meth:`Task.check`."""
        rule = f"{what} must be {batch} x {self.num_bandits} integers, an arm of each bandit for each episode"
        arms = _whole(recommendation, (batch, self.num_bandits), rule, error)
        _check_range(arms, num_arms // self.num_bandits, what, error)
        return arms

    @override
    def correct_recommendation(self, means: FloatArray) -> IntArray:
        """Return the best arm of each bandit: ``(..., K)`` -> ``(..., M)``."""
        return np.asarray(self.by_bandit(means).argmax(axis=-1))

    @override
    def simple_regret(self, means: FloatArray, recommendation: IntArray) -> FloatArray:
        """Return the largest simple regret of the M bandits, ``(...)``.

        Args:
            means: ``(..., K)`` true means.
            recommendation: ``(..., M)`` arms, each from 0 to K/M - 1.
        """
        return np.asarray(_shortfall(self.by_bandit(means), recommendation).max(axis=-1))

    def by_bandit(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return ``(..., K)`` values as ``(..., M, K/M)``."""
        return values.reshape(*values.shape[:-1], self.num_bandits, -1)

    @override
    def arms(self, recommendation: IntArray, num_arms: int) -> tuple[int, ...]:
        """Return the recommended arms, counted through all bandits."""
        first = np.arange(self.num_bandits) * (num_arms // self.num_bandits)
        return tuple((first + recommendation).tolist())

    @override
    def of_arms(self, arms: Sequence[int], num_arms: int) -> IntArray:
        """Return an arm of each bandit, ``(M,)``; the given arms are counted through all bandits."""
        bandits, within = np.divmod(np.sort(arms), num_arms // self.num_bandits)
        if not np.array_equal(bandits, np.arange(self.num_bandits)):
            raise ParameterError(f"name an arm of each of the {self.num_bandits} bandits, {len(arms)} arms do not")
        return np.asarray(within, np.int64)

    @override
    def first_arm(self, recommendation: IntArray, num_arms: int) -> IntArray:
        """Return the arm recommended for the first bandit."""
        return recommendation[:, 0]


class _AgainstThreshold(Task):
    """Base of tasks that hold the means against a threshold."""

    def __init__(self, threshold: float, epsilon: float = 0.0) -> None:
        """Check both."""
        super().__init__(epsilon)
        self.threshold = real(threshold, "threshold")

    @override
    def check_arms(self, num_arms: int) -> None:
        """Accept any number of arms."""


class Thresholding(_AgainstThreshold, _OfSets):
    """Recommend all arms with a mean of at least the threshold; correct if no arm is on the wrong side.

    With an epsilon above 0 the arms at most epsilon away from the threshold may be on either side. A set may have any
    size, and be empty: all means may lie on one side of the threshold.

    Source: Mukherjee et al. (2017), "Thresholding Bandits with Augmented UCB", section 1; the accuracy is that of
    Locatelli, Gutzeit and Carpentier (2016), section 2, except that an arm exactly epsilon away is forgiven.

    Args:
        threshold: The border, finite, in the unit of the reward.
        epsilon: Accuracy, at least 0.
    """

    name = "thresholding"

    @override
    def describe(self) -> str:
        return f"all arms with a mean of at least {self.threshold:g}{self._accuracy()}"

    @override
    def check(
        self,
        recommendation: object,
        batch: int,
        num_arms: int,
        what: str = "recommend",
        error: type[BaiGymError] = AgentError,
    ) -> IntArray:
        """Return ``(N, K)`` sets of any size, see :meth:`Task.check`."""
        return _check_sets(recommendation, batch, num_arms, f"{what} must be", "a one for every arm in the set", error)

    @override
    def correct_recommendation(self, means: FloatArray) -> IntArray:
        """Return the arms with a mean of at least the threshold: ``(..., K)`` -> ``(..., K)`` zeros and ones."""
        return (means >= self.threshold).astype(np.int64)

    @override
    def simple_regret(self, means: FloatArray, recommendation: IntArray) -> FloatArray:
        """Return the largest distance of a misplaced arm from the threshold, ``(...)``; 0 if none is misplaced.

        Args:
            means: ``(..., K)`` true means.
            recommendation: ``(..., K)`` zeros and ones.
        """
        wrong = self.correct_recommendation(means) != recommendation
        return np.asarray(np.where(wrong, np.abs(means - self.threshold), 0.0).max(axis=-1))

    @override
    def correct(self, means: FloatArray, recommendation: IntArray) -> npt.NDArray[Any]:
        """Return whether no arm is on the wrong side; with epsilon > 0, arms within epsilon may be on either side.

        With epsilon = 0, leaving out an arm exactly at the threshold is wrong, at a regret of 0.
        """
        if self.epsilon > 0:
            return super().correct(means, recommendation)
        return np.asarray((self.correct_recommendation(means) == recommendation).all(axis=-1))

    @override
    def of_arms(self, arms: Sequence[int], num_arms: int) -> IntArray:
        """Return the set, ``(K,)`` zeros and ones."""
        return _set_of(arms, num_arms)


class GoodArm(_AgainstThreshold):
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

    @override
    def describe(self) -> str:
        return f"an arm with a mean of at least {self.threshold:g}{self._accuracy()}, or none if there is no such arm"

    @override
    def sizes(self, num_arms: int) -> tuple[int, ...]:
        """Return K + 1, once: an arm, or none."""
        return (num_arms + 1,)

    @override
    def check(
        self,
        recommendation: object,
        batch: int,
        num_arms: int,
        what: str = "recommend",
        error: type[BaiGymError] = AgentError,
    ) -> IntArray:
        """Return ``(N, 1)`` arms, or K, see :meth:`Task.check`."""
        rule = f"{what} must be {batch} x 1 integers, for each episode an arm, or {num_arms} for none"
        arms = _whole(recommendation, (batch, 1), rule, error)
        if arms.min() < 0 or arms.max() > num_arms:
            raise error(f"{rule}; there is a {int(arms[(arms < 0) | (arms > num_arms)][0])} among them")
        return arms

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
    def correct(self, means: FloatArray, recommendation: IntArray) -> npt.NDArray[Any]:
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


TASKS: dict[str, type[Task]] = {task.name: task for task in (BestArm, TopM, BestOfEach, Thresholding, GoodArm)}
"""Every task that has a name for ``gym.make``; :class:`BestCandidate` comes with the candidates of a problem."""


def make_task(
    task: Task | str,
    *,
    num_arms: int,
    m: int | None = None,
    num_bandits: int | None = None,
    epsilon: float | None = None,
    threshold: float | None = None,
) -> Task:
    """Return a task, made from its name if necessary.

    Args:
        task: A key of :data:`TASKS`, or a task.
        num_arms: K.
        m: Size of the set; needed by ``"top-m"`` and by no other.
        num_bandits: Needed by ``"best-of-each"`` and by no other.
        epsilon: Accuracy; None: 0.
        threshold: Needed by ``"thresholding"`` and ``"good-arm"``, and by no other.

    Raises:
        UnknownNameError: If there is no such task.
        ParameterError: If a parameter is missing, out of range, or belongs to another task.
    """
    given = {"m": m, "num_bandits": num_bandits, "epsilon": epsilon, "threshold": threshold}
    given = {name: value for name, value in given.items() if value is not None}
    if isinstance(task, Task):
        made = task
        if given:
            raise ParameterError(f"{next(iter(given))} cannot be given with a task object")
    else:
        if task not in TASKS:
            raise unknown_name("task", str(task), TASKS, f"allowed: {', '.join(TASKS)}")
        owners = (("m", (TopM,)), ("num_bandits", (BestOfEach,)), ("threshold", (Thresholding, GoodArm)))
        for name, of_name in owners:
            own = [owner.name for owner in of_name]
            if name in given and task not in own:
                raise ParameterError(
                    f"{name} is a keyword of the task {' or '.join(map(repr, own))}; this one is {task!r}"
                )
            if name not in given and task in own:
                raise ParameterError(f"the task {task!r} needs the keyword {name}")
        made = TASKS[task](**given)  # type: ignore[arg-type]
    made.check_arms(num_arms)
    return made


def _set_of(arms: Sequence[int], num_arms: int) -> IntArray:
    """Return ``(K,)`` ones for the given arms, and zeros."""
    chosen = np.zeros(num_arms, np.int64)
    chosen[np.asarray(arms, np.int64)] = 1
    return chosen


def _whole(recommendation: object, shape: tuple[int, ...], rule: str, error: type[BaiGymError]) -> IntArray:
    """Return integers of the given shape; a batch of one may come without its axis."""
    try:
        array = np.asarray(recommendation)
    except ValueError:  # lists of unequal lengths
        raise error(f"{rule}, not {recommendation!r}") from None
    if array.ndim == len(shape) - 1 and shape[0] == 1:
        array = array[None]
    if array.dtype == np.bool_ and len(shape) > 1:
        array = array.astype(np.int64)
    if array.shape != shape or not np.issubdtype(array.dtype, np.integer):
        raise error(f"{rule}, not {' '.join(repr(recommendation).split())[:80]}")
    return array.astype(np.int64, copy=False)


def _check_sets(
    recommendation: object, batch: int, num_arms: int, what: str, size: str, error: type[BaiGymError]
) -> IntArray:
    """Return ``(N, K)`` zeros and ones."""
    rule = f"{what} {batch} x {num_arms} zeros and ones, {size}"
    sets = _whole(recommendation, (batch, num_arms), rule, error)
    if ((sets != 0) & (sets != 1)).any():
        raise error(f"{rule}; there is a {int(sets[(sets != 0) & (sets != 1)][0])} among them")
    return sets


def _shortfall(means: FloatArray, chosen: IntArray) -> FloatArray:
    """Return the largest mean minus that of the chosen one, ``(..., k)`` and ``(...)`` -> ``(...)``."""
    mean = np.take_along_axis(means, np.asarray(chosen)[..., None], -1)[..., 0]
    return np.asarray(means.max(axis=-1) - mean)


def _check_range(arms: IntArray, num_arms: int, what: str, error: type[BaiGymError], thing: str = "arm") -> None:
    if arms.min() < 0 or arms.max() >= num_arms:
        wrong = int(arms[(arms < 0) | (arms >= num_arms)][0])
        raise error(f"{what}: {thing} {wrong} does not exist; {thing}s are numbered 0 to {num_arms - 1}")
