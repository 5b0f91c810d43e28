"""AugUCB: thresholding with eliminations that use estimated variances."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bai_gym.agents.apt import apt_index
from bai_gym.agents.choosing import above_threshold, best_answer
from bai_gym.agents.one_by_one import OneByOneAgent
from bai_gym.agents.parameters import check_choice, check_positive
from bai_gym.problems import Briefing
from bai_gym.sampling import SamplingRule, StagedIndexRule
from bai_gym.statistics import FloatArray, IntArray, Observation, Statistics
from bai_gym.tasks import Thresholding

__all__ = ["AugUCB", "Round", "schedule"]

LEAST_LOG = 0.5  # of |log((3/16) K log K)|, which is 0.04 for four arms


@dataclass(frozen=True)
class Round:
    """A round of AugUCB.

    Attributes:
        epsilon: epsilon_m, 2^-m.
        psi: psi_m, the exploration factor.
        pulls: l_m: the round has so many pulls for each arm that is active at its beginning.
        deviation: s of an arm with one pull and no variance; in general it is that times sqrt((v + 1) / T).
    """

    epsilon: float
    psi: float
    pulls: int
    deviation: float


def schedule(num_arms: int, budget: int, rho: float = 1.0 / 3.0) -> list[Round]:
    """Return the rounds of AugUCB, as many as a budget could reach.

    With A = log((3/16) K log K) and epsilon = 2^-m: psi = n epsilon / (128 A^2), l = ceil(2 psi log(n epsilon) /
    epsilon), s = sqrt(rho psi log(n epsilon) / 4) for T = 1 and v = 0, for m = 0, ..., M + 1, where M =
    floor(log2(n / e) / 2).

    Args:
        num_arms: K. In the place of |A|, where it is less, stands 1/2, which is so for three to five arms.
        budget: n, at least 2.
        rho: The elimination parameter, positive.

    Source: Mukherjee et al. (2017), Algorithm 1. The brackets around l and M are read as ceiling and floor, as in a
    public implementation.
    """
    log = max(abs(math.log(0.1875 * num_arms * math.log(num_arms))), LEAST_LOG)
    last = math.floor(0.5 * math.log2(budget / math.e))
    rounds = []
    for m in range(max(last, -1) + 2):
        epsilon = 0.5**m
        psi = budget * epsilon / (128.0 * log**2)
        growth = math.log(budget * epsilon)
        pulls = max(math.ceil(2.0 * psi * growth / epsilon), 1)
        rounds.append(Round(epsilon, psi, pulls, math.sqrt(rho * psi * growth / 4.0)))
    return rounds


@dataclass(kw_only=True)
class AugUCB(OneByOneAgent):
    """Pulls the active arm of smallest |mean - threshold| - 2 s, and drops the arms with |mean - threshold| > 2 s.

    s = sqrt(rho psi (v + 1) log(n epsilon) / (4 T)), where v is the variance of the T rewards of the arm (divisor T).
    In rounds m = 0, 1, ... epsilon and psi are halved, see :func:`schedule`; a round ends after l_m pulls for each arm
    that is active at its beginning. Recommended are the arms with a mean of at least the threshold. When no arm is
    active any more, the pulls left are not made, unless ``after`` says otherwise.

    Paper: Mukherjee et al. (2017), "Thresholding Bandits with Augmented UCB", Algorithm 1. Of what is printed,
    the index m is taken to grow with every reset, and the second increment of t in the loop is taken for a slip.

    Args:
        rho: Elimination parameter, positive; default 1/3, as in the paper's theorem and experiments.
        after: ``"stop"`` (default), or ``"continue"``: where no arm is active, go on as APT does with epsilon 0.

    Knows nothing. Minimum budget: K. Its theory takes more than four arms; for fewer than five it warns.
    """

    rho: float = 1.0 / 3.0
    after: str = "stop"

    name: ClassVar[str] = "AugUCB"
    tasks: ClassVar[frozenset[str]] = frozenset({Thresholding.name})

    def begin(self, briefing: Briefing) -> None:
        """Check the parameters and compute the rounds."""
        check_positive(self.rho, "rho", self.name)
        check_choice(self.after, ("stop", "continue"), "after", self.name)
        assert isinstance(self.task, Thresholding)  # as tasks says
        self._threshold = self.task.threshold
        self._rule: StagedIndexRule | None = None
        if self.num_arms < 5:
            warnings.warn(
                f"{self.name} is not made for {self.num_arms} arms: its exploration is defined by log((3/16) K log K)",
                stacklevel=2,
            )

    def rule(self, steps: int) -> SamplingRule:
        """Return the rule of all rounds."""
        rounds = schedule(self.num_arms, self.budget, self.rho)
        self._rule = StagedIndexRule(
            steps,
            self._index,
            [one.deviation for one in rounds],
            [one.pulls for one in rounds[:-1]],
            tie=self.tie,
            rng=self.rng,
            afterwards=self._apt_index if self.after == "continue" else None,
            by_deviations=self._index_by_deviations,
        )
        return self._rule

    def _index(self, pulls: FloatArray, means: FloatArray, variances: FloatArray, deviation: FloatArray) -> FloatArray:
        """Return 2 s - |mean - threshold|, below 0 for the arms to drop; the variances given have the divisor T - 1."""
        return self._index_by_deviations(pulls, means, (pulls - 1.0) * variances, deviation)

    def _index_by_deviations(
        self, pulls: FloatArray, means: FloatArray, deviations: FloatArray, deviation: FloatArray
    ) -> FloatArray:
        """Return the same, given sums of squared deviations from the mean, T v."""
        index = np.add(deviations, pulls)
        np.sqrt(index, out=index)
        index /= pulls
        index *= 2.0 * deviation
        distance = np.subtract(means, self._threshold)
        index -= np.abs(distance, out=distance)
        return index

    def _apt_index(self, pulls: FloatArray, means: FloatArray, variances: FloatArray) -> FloatArray:
        return apt_index(pulls, means, variances, np.asarray(self._threshold), 0.0)

    def recommend(self, observation: Observation) -> IntArray:
        """Return the arms above the threshold; where it has stopped, by the means that they had then."""
        answer = best_answer(Statistics.of(observation), self.task, self.tie, self.rng)
        if self._rule is not None and self._rule.stopped is not None and self._rule.stopped.any():
            stopped = np.flatnonzero(self._rule.stopped)
            means = self._rule.final_means[:, stopped].T
            answer[stopped] = above_threshold(Statistics(np.ones(means.shape), means, means), self._threshold)
        return answer
