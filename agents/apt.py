"""APT and the two UCB rules for thresholding: one pull after the other, to the arm closest to the threshold."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bai_gym.agents.one_by_one import OneByOneAgent
from bai_gym.agents.parameters import check_choice, check_not_negative, check_positive
from bai_gym.problems import Briefing
from bai_gym.sampling import IndexRule, SamplingRule
from bai_gym.statistics import FloatArray
from bai_gym.tasks import Thresholding

__all__ = ["APT", "ThresholdUCBE", "ThresholdUCBEV", "apt_index"]


@dataclass(kw_only=True)
class _ThresholdAgent(OneByOneAgent):
    """Follows an index; recommends the arms whose sample mean is at least the threshold."""

    tasks: ClassVar[frozenset[str]] = frozenset({Thresholding.name})

    def begin(self, briefing: Briefing) -> None:
        """Note the threshold."""
        assert isinstance(self.task, Thresholding)  # as tasks says
        self.threshold = np.full(self.batch, self.task.threshold)


@dataclass(kw_only=True)
class APT(_ThresholdAgent):
    """Pulls the arm of smallest sqrt(T) (|mean - threshold| + epsilon), and recommends the means above the threshold.

    Paper: Locatelli, Gutzeit and Carpentier (2016), "An Optimal Algorithm for the Thresholding Bandit Problem",
    Algorithm 1.

    Args:
        epsilon: Arms so close to the threshold are not told apart at any cost; at least 0, in the unit of the reward.
            Default 0.05, as in Mukherjee et al. (2017). It is the agent's own, whatever accuracy the task has.

    Knows nothing. Minimum budget: K.
    """

    epsilon: float = 0.05

    name: ClassVar[str] = "APT"
    uses_variances: ClassVar[bool] = False

    def begin(self, briefing: Briefing) -> None:
        """Check the parameter."""
        super().begin(briefing)
        check_not_negative(self.epsilon, "epsilon", self.name)

    def rule(self, steps: int) -> SamplingRule:
        """Return the index rule."""
        epsilon = np.full(self.batch, float(self.epsilon))
        return IndexRule(steps, apt_index, self.threshold, epsilon, tie=self.tie, rng=self.rng)


def apt_index(
    pulls: FloatArray, means: FloatArray, variances: FloatArray, threshold: FloatArray, epsilon: FloatArray | float
) -> FloatArray:
    """Return the index -sqrt(T) (|mean - threshold| + epsilon), see :class:`APT`, for arrays of any one shape."""
    distance = np.subtract(means, threshold)
    np.abs(distance, out=distance)
    distance += epsilon
    distance *= np.sqrt(pulls)
    return np.negative(distance, out=distance)


@dataclass(kw_only=True)
class _ExploringAgent(_ThresholdAgent):
    """Pulls the arm of smallest |mean - threshold| - width, where the exploration comes from the true complexity."""

    c: float = 1.0

    knows: ClassVar[frozenset[str]] = frozenset({"complexity"})

    def begin(self, briefing: Briefing) -> None:
        """Check the parameter and compute the exploration."""
        super().begin(briefing)
        check_positive(self.c, "c", self.name)
        self.exploration: FloatArray = self.c * self.largest_exploration(briefing)

    @abstractmethod
    def largest_exploration(self, briefing: Briefing) -> FloatArray:
        """Return ``(N,)`` explorations for c = 1."""

    def rule(self, steps: int) -> SamplingRule:
        """Return the index rule with the width sqrt(a / T)."""
        return IndexRule(steps, _plain_index, self.threshold, np.sqrt(self.exploration), tie=self.tie, rng=self.rng)


@dataclass(kw_only=True)
class ThresholdUCBE(_ExploringAgent):
    """Pulls the arm of smallest |mean - threshold| - sqrt(a / T), and recommends the means above the threshold.

    The exploration is a = c (n - K) / H_1, with the true complexity H_1, the sum of 1 / (mean - threshold)^2.

    Paper: Mukherjee et al. (2017), "Thresholding Bandits with Augmented UCB", section 4, which adapts UCB-E (the agent
    of that name here finds the best arm).

    Args:
        c: Factor of the exploration, positive; default 1. The experiments of Locatelli et al. (2016) have powers of 4.

    Knows the complexity. Minimum budget: K.
    """

    name: ClassVar[str] = "UCBE"
    uses_variances: ClassVar[bool] = False

    def largest_exploration(self, briefing: Briefing) -> FloatArray:
        """Return (n - K) / H_1."""
        return max(self.budget - self.num_arms, 0) / briefing.threshold_h1()


@dataclass(kw_only=True)
class ThresholdUCBEV(_ExploringAgent):
    """UCBE with the exploration a = c (n - 2K) / H_sigma,1, where the complexity counts the true variances.

    Paper: Mukherjee et al. (2017), "Thresholding Bandits with Augmented UCB", section 4. As printed there, the index is
    that of UCBE: variances enter through the one number a, and not arm by arm as in GapE-V, which it adapts.

    Args:
        c: Factor of the exploration, positive; default 1. Experiment 6 of the paper has 1/4, 1 and 256.
        index: ``"printed"`` (default): |mean - threshold| - sqrt(a / T). ``"bernstein"``: the width of GapE-V,
            sqrt(2 a v / T) + 7 a / (3 (T - 1)), with the sample variance v and a = c (8/9) (n - 2K) / H, where H is
            H_sigma,1 with its numerators squared, as in Gabillon et al. (2011); it has two first pulls of every arm.

    Knows the complexity. Minimum budget: 2 K.
    """

    index: str = "printed"

    name: ClassVar[str] = "UCBEV"

    @property
    def uses_variances(self) -> bool:  # type: ignore[override]
        """Whether the width is that of GapE-V."""
        return self.index == "bernstein"

    @property
    def first_pulls(self) -> int:  # type: ignore[override]
        """A sample variance takes two pulls."""
        return 2 if self.index == "bernstein" else 1

    def minimum_budget(self, num_arms: int) -> int:
        """Return the smallest budget for which the exploration is not negative."""
        return 2 * num_arms

    def begin(self, briefing: Briefing) -> None:
        """Check the parameters."""
        check_choice(self.index, ("printed", "bernstein"), "index", self.name)
        super().begin(briefing)

    def largest_exploration(self, briefing: Briefing) -> FloatArray:
        """Return (n - 2K) / H, or 8/9 of it."""
        squared = self.index == "bernstein"
        free = max(self.budget - 2 * self.num_arms, 0) * (8.0 / 9.0 if squared else 1.0)
        return free / briefing.threshold_sigma_h1(squared=squared)

    def rule(self, steps: int) -> SamplingRule:
        """Return the index rule."""
        if self.index == "printed":
            return super().rule(steps)
        return IndexRule(steps, _bernstein_index, self.threshold, self.exploration, tie=self.tie, rng=self.rng)


def _plain_index(
    pulls: FloatArray, means: FloatArray, variances: FloatArray, threshold: FloatArray, root: FloatArray
) -> FloatArray:
    index = np.sqrt(pulls)
    np.divide(root, index, out=index)
    distance = np.subtract(means, threshold)
    index -= np.abs(distance, out=distance)
    return index


def _bernstein_index(
    pulls: FloatArray, means: FloatArray, variances: FloatArray, threshold: FloatArray, exploration: FloatArray
) -> FloatArray:
    width = np.sqrt(2.0 * exploration * variances / pulls) + (7.0 / 3.0) * exploration / (pulls - 1.0)
    return np.asarray(width - np.abs(means - threshold))
