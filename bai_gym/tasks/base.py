"""What a task is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from bai_gym.errors import AgentError, BaiGymError, ParameterError
from bai_gym.statistics import AnyArray, BoolArray, FloatArray, IntArray
from bai_gym.tasks.contrasts import Contrasts
from bai_gym.validation import real

__all__ = ["BestOne", "Task", "ThresholdTask", "shortfall"]

SLACK = 1e-9  # of epsilon, for gaps such as 0.8 - 0.7 that are not representable


class Task(ABC):
    """A pure-exploration task on K arms.

    Attributes:
        name: The value of ``gym.make(..., task=)``.
        m: Number of arms to find in each bandit.
        num_bandits: Number of bandits that share the arms.
        metrics: How many numbers a pull gives; with several, means are ``(..., K, D)``, those of agents in a row.
        epsilon: Accuracy, at least 0, in the unit of the reward.
        one_number: Whether a recommendation is one number, so that it is an action by itself.
        answer: What such a number stands for: ``"arm"``, or what need not be one.
        entry: What an entry of a recommendation numbers; None: its values are no numbers of something.
        contrasts: What could overturn the answer at given means, a plain static function ``contrasts(mean, c, x) -> n``
            that is compiled. For each k < n it sets ``c.first[k]`` and ``c.second[k]`` to arms, or -1 for no arm, and
            ``c.offset[k]`` to a number: the answer rests on mean[first] - mean[second] - offset > 0, and is wrong only
            if the true means overturn one of these. ``c.group[k]`` is k beforehand; contrasts of one group, which
            follow one another, are overturned together only. ``x`` holds :meth:`numbers`. None: nobody has stated
            them, and agents that need nothing else of a task do not play it.
        grouped: Whether contrasts come in such groups.
        exact: Whether, with epsilon 0, one recommendation alone is right, and any overturned contrast makes it wrong.
    """

    name: ClassVar[str]
    one_number: ClassVar[bool] = False
    answer: ClassVar[str] = "arm"
    entry: ClassVar[str | None] = "arm"
    m: int = 1
    num_bandits: int = 1
    metrics: int = 1
    contrasts: ClassVar[Any] = None
    grouped: ClassVar[bool] = False
    exact: ClassVar[bool] = False

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
        if task.name != "best-arm":
            raise ParameterError(f"the task {task.name!r} has no {self.answer}s: leave out task=, or {self.answer}s=")
        result = copy(self)
        result.epsilon = task.epsilon
        return result

    def check_arms(self, num_arms: int) -> None:  # noqa: B027
        """Raise :class:`ParameterError` if the task is undefined for this number of arms; by default it is for all."""

    def numbers(self, num_arms: int) -> tuple[float, ...]:
        """Return what :attr:`contrasts` needs to know, such as a threshold: by default epsilon."""
        return (self.epsilon,)

    def most_contrasts(self, num_arms: int) -> int:
        """Return the largest number of contrasts of an answer: by default K - 1."""
        return num_arms - 1

    def contrasts_at(self, means: FloatArray) -> Contrasts:
        """Return the contrasts of the answer at means ``(K,)``.

        Raises:
            ParameterError: If the task has none.
        """
        if self.contrasts is None:
            raise ParameterError(f"the task {self.name!r} states no contrasts: give it the function `contrasts`")
        c = Contrasts.room(self.most_contrasts(means.size))
        return c.at(slice(self.contrasts(means, c, np.array(self.numbers(means.size), np.float64))))

    def decisive(self, means: FloatArray, c: Contrasts) -> BoolArray:
        """Return ``(n,)`` which contrasts suffice to make each recommendation wrong that is right at means ``(K,)``.

        Lower bounds on the number of pulls are proved by these: by default by all if the task is :attr:`exact` and
        epsilon is 0, else by none.
        """
        return np.full(c.first.size, self.exact and self.epsilon == 0.0)

    def overturned(self, num_arms: int) -> int:
        """Return U, how many different contrasts the true means can overturn most, over all wrong answers.

        If the answer is wrong, one of them is overturned, so evidence beyond log(U / delta) for each contrast of the
        answer is proof enough. By default :meth:`most_contrasts`.
        """
        return self.most_contrasts(num_arms)

    @abstractmethod
    def sizes(self, num_arms: int) -> tuple[int, ...]:
        """Return the number of values of each entry of a recommendation, all equal; a single arm is one entry."""

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
        sizes = self.sizes(num_arms)
        rule = f"{what} must be {self.form(batch, num_arms)}"
        entries = _integers(recommendation, (batch,) if self.one_number else (batch, len(sizes)), rule, error)
        if entries.min() < 0 or entries.max() >= sizes[0]:
            wrong = int(entries[(entries < 0) | (entries >= sizes[0])][0])
            if self.entry is None:
                raise error(f"{rule}; there is a {wrong} among them")
            numbers = f"{self.entry}s are numbered 0 to {sizes[0] - 1}"
            raise error(f"{what}: {self.entry} {wrong} does not exist; {numbers}")
        return entries

    @abstractmethod
    def form(self, batch: int, num_arms: int) -> str:
        """Describe recommendations for ``batch`` episodes, as a continuation of "must be"."""

    @abstractmethod
    def correct_recommendation(self, means: FloatArray) -> IntArray:
        """Return the recommendation of smallest simple regret, given the true means; ties go to the lowest arms."""

    @abstractmethod
    def simple_regret(self, means: FloatArray, recommendation: IntArray) -> FloatArray:
        """Return the simple regret of a recommendation, ``(...)``, in the unit of the reward."""

    def correct(self, means: FloatArray, recommendation: IntArray) -> AnyArray:
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

    def draw_orders(self, batch: int, num_arms: int, rng: np.random.Generator) -> tuple[IntArray, IntArray | None]:
        """Return random orders in which N episodes may number their arms, ``(N, K)``; by default any.

        With them those of what is recommended, ``(N, K_Z)``; None where :attr:`answer` is an arm.
        """
        arms = rng.random((batch, num_arms)).argsort(axis=1)
        return arms, None if self.answer == "arm" else rng.random((batch, *self.sizes(num_arms))).argsort(axis=1)

    def arranged(self, arms: IntArray, answers: IntArray | None, rotation: FloatArray | None) -> Task:
        """Return the task of an episode whose arms have other numbers; by default the same.

        Args:
            arms: ``(K,)`` the arm that each number stands for.
            answers: The same of what is recommended, where :attr:`answer` is not an arm; else None.
            rotation: ``(d, d)`` orthogonal matrix by which features are multiplied; None: they stay as they are.
        """
        return self

    def renumbered(self, recommendation: IntArray, order: IntArray) -> IntArray:
        """Return the recommendations of the arms that others stand for.

        Args:
            recommendation: ``(N, ...)`` recommendations.
            order: ``(N, K)`` the arm that each arm stands for; of a task that recommends something else, ``(N, K_Z)``.
        """
        num_arms = order.shape[-1]
        if self.one_number:  # a number from K on stands for no arm
            named = np.take_along_axis(order, np.minimum(recommendation, num_arms - 1)[:, None], -1)[:, 0]
            return np.where(recommendation < num_arms, named, recommendation)
        rows = zip(recommendation, order, strict=True)
        arms = (row[[*self.arms(one, num_arms)]].tolist() for one, row in rows)
        return np.stack([self.of_arms(named, num_arms) for named in arms])

    @abstractmethod
    def describe(self) -> str:
        """Describe the task, as a continuation of "Find"."""

    def _accuracy(self) -> str:
        return f", up to {self.epsilon:g}" if self.epsilon else ""

    @override
    def __repr__(self) -> str:
        """Show the task as a constructor call."""
        values = {name: value for name, value in vars(self).items() if name != "epsilon" or value != 0.0}
        parameters = ", ".join(f"{name}={value}" for name, value in values.items())
        return f"{type(self).__name__}({parameters})"


class ThresholdTask(Task):
    """Base of tasks about a threshold, with an accuracy.

    Args:
        threshold: The border, finite, in the unit of the reward.
        epsilon: Accuracy, at least 0.
    """

    def __init__(self, threshold: float, epsilon: float = 0.0) -> None:
        """Check both."""
        super().__init__(epsilon)
        self.threshold = real(threshold, "threshold")

    @override
    def numbers(self, num_arms: int) -> tuple[float, ...]:
        """Return the threshold and epsilon."""
        return (self.threshold, self.epsilon)


class BestOne(Task):
    """Base of tasks that ask for the one of largest mean: of the arms, or of what :meth:`means` makes of them."""

    one_number = True

    def means(self, means: FloatArray) -> FloatArray:
        """Return the means that are compared, from those of the arms: ``(..., K)`` -> ``(..., k)``."""
        return means

    @override
    def correct_recommendation(self, means: FloatArray) -> IntArray:
        """Return the one of largest mean (the first, if several tie): ``(..., K)`` -> ``(...)``."""
        return np.asarray(self.means(means).argmax(axis=-1))

    @override
    def simple_regret(self, means: FloatArray, recommendation: IntArray) -> FloatArray:
        """Return the largest mean minus that of the recommended one.

        Args:
            means: ``(..., K)`` true means of the arms.
            recommendation: ``(...)`` numbers, 0 to k - 1.

        Returns:
            ``(...)`` simple regrets, at least 0, in the unit of the reward.
        """
        return shortfall(self.means(means), recommendation)


def shortfall(means: FloatArray, chosen: IntArray) -> FloatArray:
    """Return the largest mean minus that of the chosen one, ``(..., k)`` and ``(...)`` -> ``(...)``."""
    mean = np.take_along_axis(means, np.asarray(chosen)[..., None], -1)[..., 0]
    return np.asarray(means.max(axis=-1) - mean)


def _integers(recommendation: object, shape: tuple[int, ...], rule: str, error: type[BaiGymError]) -> IntArray:
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
