"""Problems: distributions over bandit instances."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from typing_extensions import override

from bai_gym.bandits import Bandit
from bai_gym.bandits.base import check_num_arms
from bai_gym.common.budget import Costs
from bai_gym.common.seeding import generator
from bai_gym.errors import InstanceError
from bai_gym.parallel import check_memory
from bai_gym.problems.lower_bounds import instance_bound
from bai_gym.problems.numbering import Numbering
from bai_gym.rewards import Rewards
from bai_gym.statistics import Statistics
from bai_gym.tasks import Task
from bai_gym.validation import integer

__all__ = ["FixedProblem", "FrozenProblem", "Problem", "arm_count", "count_features"]


ARM_BYTES = 128  # at least, per arm and instance: mean, variance, and the statistics of an episode


def arm_count(num_arms: object, *, num_features: int = 0, pair_bytes: int = 0) -> int:
    """Return the number of arms as an int.

    Args:
        num_arms: K.
        num_features: Length of each arm's features, if they are drawn.
        pair_bytes: Memory that each pair of arms takes.

    Raises:
        InstanceError: If it is not an integer of at least 2, or the arms do not fit into memory.
    """
    arms = integer(num_arms, "num_arms", rule="an integer of at least 2", error=InstanceError)
    check_num_arms(arms)
    check_memory(arms, ARM_BYTES + 8 * num_features, "num_arms", InstanceError)
    check_memory(arms, pair_bytes, "num_arms", InstanceError, power=2)
    return arms


def count_features(bandit: Bandit) -> int | None:
    """Return the length of each arm's features, None if there are none."""
    return None if bandit.features is None else bandit.features.shape[-1]


class Problem(ABC):
    """A distribution over bandit instances.

    Attributes:
        num_arms: Number of arms K of every instance.
        notes: Sentences that every report about this problem must show, for example that data are synthetic.
        arm_names: Names of the arms, where they have any.
        num_features: Length d of each arm's features, where arms have any; they are then in the observation, and
            :meth:`draw` returns bandits that have them (:class:`bai_gym.bandits.FeatureBandit`).
        known: Whether the true means are known, so that a recommendation can be judged.
        earlier: ``(1, K)`` statistics of rewards of the same arms that were observed before the episode and that agents
            start from, see :func:`bai_gym.benchmark.protocol.Traits`; None: there are none.
        task: What ``task="best-arm"`` means, where it is not the best arm.
        costs: Costs of a pull of each arm that the data have; those of the environment take their place. None: the data
            have none.
        paired: See :class:`bai_gym.bandits.Bandit`.
        state_size: See there.
        isotropic: Whether features have no direction that is the same in all episodes, so that there is no need to
            rotate them, see :mod:`bai_gym.problems.numbering`.
    """

    num_arms: int
    num_features: int | None = None
    notes: tuple[str, ...] = ()
    arm_names: tuple[str, ...] | None = None
    known: bool = True
    earlier: Statistics | None = None
    task: Task | None = None
    costs: Costs | None = None
    paired: bool = False
    state_size: int = 0
    isotropic: bool = False

    @abstractmethod
    def draw(self, batch: int, rng: np.random.Generator) -> Bandit:
        """Return ``batch`` instances, one per episode."""

    @property
    def rewards(self) -> Rewards:
        """The kind of the rewards of all instances."""
        return self.draw(1, generator(0, "kind")).rewards

    def number(
        self, task: Task, batch: int, rng: np.random.Generator, *, shuffle: bool, rotate: bool
    ) -> Numbering | None:
        """Return the random numbers of the arms of new episodes; None: arms keep the order in which they are listed.

        Functions of unknown means, a real experiment, are never shuffled.

        Args:
            task: What is to be recommended.
            batch: Number of episodes.
            rng: Source of randomness.
            shuffle: Whether arms have random numbers.
            rotate: Whether features are rotated.
        """
        rotated = self.num_features if rotate and not self.isotropic else None
        if not self.known or not (shuffle or rotated):
            return None
        return Numbering.draw(task, batch, self.num_arms, rotated, rng, shuffle=shuffle)

    @property
    def start(self) -> Statistics:
        """``(1, K)`` statistics that the first observation of an episode shows."""
        return Statistics.zeros((1, self.num_arms)) if self.earlier is None else self.earlier

    def lower_bound(self, task: Task, delta: float, costs: Costs | None = None) -> float | None:
        """Return kl(delta, 1 - delta) T*, see :func:`bai_gym.theory.fixed_confidence_bound`; None where unknown.

        It is known for a fixed instance of Gaussian or Bernoulli arms, if one recommendation alone is right, and for
        the best arm or candidate of Gaussian arms of equal variances whose means are linear in their features.

        Args:
            task: What is to be recommended.
            delta: Error probability.
            costs: Costs of a pull of each arm: the bound is then money, and known for Gaussian arms without features.
        """
        return None


class FixedProblem(Problem):
    """A given instance, the same in every episode.

    Args:
        bandit: A bandit of one instance.
        notes: See :class:`Problem`.
        arm_names: See :class:`Problem`.
        task: See :class:`Problem`.

    Raises:
        InstanceError: If the bandit holds several instances.
    """

    def __init__(
        self,
        bandit: Bandit,
        notes: tuple[str, ...] = (),
        arm_names: tuple[str, ...] | None = None,
        task: Task | None = None,
    ) -> None:
        """Keep the instance."""
        if bandit.batch != 1:
            raise InstanceError(f"a fixed problem takes one instance, means of shape (K,), not {bandit.batch} of them")
        self._bandit = bandit.select(np.zeros(1, np.int64))
        self.num_arms = bandit.num_arms
        self.num_features = count_features(bandit)
        self.known = bandit.known
        self.paired = bandit.paired
        self.state_size = bandit.state_size
        self.notes = notes
        self.arm_names = arm_names
        self.task = task

    @property
    @override
    def rewards(self) -> Rewards:
        """The kind of its rewards, without a draw: environments ask for it when they are made."""
        return self._bandit.rewards

    @override
    def draw(self, batch: int, rng: np.random.Generator) -> Bandit:
        """Return copies of the instance; ``rng`` is not used."""
        return self._bandit.select(np.zeros(batch, np.int64))

    @override
    def lower_bound(self, task: Task, delta: float, costs: Costs | None = None) -> float | None:
        return instance_bound(self._bandit, task, delta, costs)


class FrozenProblem(FixedProblem):
    """A fixed instance, drawn once from another problem.

    Args:
        problem: Where the instance comes from.
        seed: Seed of the draw, at least 0.
    """

    def __init__(self, problem: Problem, seed: int) -> None:
        """Draw the instance."""
        bandit = problem.draw(1, np.random.default_rng(seed))
        super().__init__(bandit, problem.notes, problem.arm_names, problem.task)
        self.earlier = problem.earlier
        self.costs = problem.costs
