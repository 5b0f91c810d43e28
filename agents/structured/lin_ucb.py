"""LinUCB: upper confidence bounds from a linear model of the means."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bai_gym.agents.sequential import SequentialAgent
from bai_gym.agents.structured.ridge import (
    SCALE,
    Ridge,
    is_current,
    largest_place,
    longest,
    noise_deviation,
    regression,
    shared_features,
)
from bai_gym.agents.tools.choosing import largest
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import WAIT, Episode, Rule, Sequential
from bai_gym.statistics import FloatArray, IntArray, Observation
from bai_gym.validation import choice, probability, real

__all__ = ["LinUCB"]


def pull_upper_bound(e: Episode, rng: np.random.Generator) -> int:
    """Return the arm of largest x^T theta + alpha sqrt(x^T A^-1 x), for a given alpha."""
    if not is_current(e):
        return WAIT
    r = regression(e)
    for k in range(e.pulls.size):
        r.values[k] = r.scores[k] + r.given[0] * math.sqrt(r.squares[k])
    return int(r.order[largest_place(e, r.values, r.numbers[SCALE], rng)])


@dataclass(kw_only=True)
class LinUCB(SequentialAgent):
    """Pulls the arm of largest x^T theta + alpha sqrt(x^T A^-1 x), and recommends the arm pulled most often.

    A = lam I + sum x x^T over the pulls, and theta = A^-1 sum y x is the ridge regression of the rewards. Minimises
    cumulative regret; a baseline that shows the value of pure exploration. Ties in pulls are broken by x^T theta.

    Paper: Li, Chu, Langford and Schapire (2010), "A Contextual-Bandit Approach to Personalized News Article
    Recommendation", Algorithm 1; the radius of Abbasi-Yadkori, Pal and Szepesvari (2011), "Improved Algorithms for
    Linear Stochastic Bandits", Theorem 2 (OFUL), at the time n; the recommendation of Azizi, Kveton and Ghavamzadeh
    (2022), "Fixed-Budget Best-Arm Identification in Structured Bandits", section 8 and appendix F.

    Args:
        alpha: Factor of the width, at least 0. None (default): sigma sqrt(d log((1 + n L^2 / lam) / delta)) +
            sqrt(lam) S, with n the budget, d the number of features and L the length of the longest arm. The code of
            Azizi et al. has 0.51296 = 1 / sqrt(log(2 / 0.001) / 2), for any noise.
        lam: Weight of the identity in A, positive; default 1.
        sigma: Standard deviation of the noise, positive. None (default): the largest of the true ones.
        delta: Probability with which the widths of OFUL fail, in (0, 1); default 0.05.
        S: Bound on the length of the true theta, at least 0; default 1. If it is far too small, the agent keeps pulling
            the first arm whose reward exceeds the bound.
        model: ``"shared"`` (default): one theta for all arms. ``"disjoint"``: each arm has a ridge regression of its
            own, as in Li et al. and the code of Azizi et al.

    Knows the true variances, unless ``sigma`` or ``alpha`` is given. Needs features. Minimum budget: 1.
    """

    alpha: float | None = None
    lam: float = 1.0
    sigma: float | None = None
    delta: float = 0.05
    S: float = 1.0
    model: str = "shared"

    name: ClassVar[str] = "LinUCB"
    uses_variances: ClassVar[bool] = False
    needs_features: ClassVar[bool] = True
    first_pulls: ClassVar[int] = 0
    rule: ClassVar[Rule] = Rule(choose=pull_upper_bound)

    @property
    def knows(self) -> frozenset[str]:  # type: ignore[override]
        """The variances, unless they are not read."""
        return frozenset({"variances"} if self.alpha is None and self.sigma is None else ())

    @property
    def memory(self) -> int:  # type: ignore[override]
        """Length of the regression's numbers."""
        return self._ridge.size

    def minimum_budget(self, num_arms: int) -> int:
        """Return 1: the widths of arms without a pull are finite."""
        return 1

    def begin(self, info: ProblemInfo) -> None:
        """Check the parameters and find the factor of the widths."""
        if self.alpha is not None:
            real(self.alpha, f"alpha of {self.name}", least=0)
        real(self.lam, f"lam of {self.name}", above=0)
        if self.sigma is not None:
            real(self.sigma, f"sigma of {self.name}", above=0)
        probability(self.delta, f"delta of {self.name}")
        real(self.S, f"S of {self.name}", least=0)
        choice(self.model, ("shared", "disjoint"), f"model of {self.name}")
        features = shared_features(info, self.lam, self.name)
        if self.alpha is not None:
            self.width_factor: FloatArray = np.full(self.batch, float(self.alpha))
        else:
            ratio = (1.0 + self.budget * longest(features) ** 2 / self.lam) / self.delta
            noise = noise_deviation(self.sigma, info)
            self.width_factor = noise * np.sqrt(features.shape[-1] * np.log(ratio)) + np.sqrt(self.lam) * self.S
        self._ridge = Ridge(features, self.lam, separate=self.model == "disjoint")
        self.parameters = self._ridge.columns(self.batch, self.tie, self.width_factor)

    def sequential(self, steps: int, **options: Any) -> Sequential:
        """Return the request for all pulls."""
        return super().sequential(steps, supply=self._ridge.fit, **options)

    def recommend(self, observation: Observation) -> IntArray:
        """Return the arm pulled most often."""
        pulls = observation["pulls"]
        scores = self._ridge.scores(pulls, observation["means"])
        most = np.where(pulls == pulls.max(axis=-1, keepdims=True), scores, -np.inf)
        return largest(most, np.abs(scores).max(axis=-1), pulls, self.tie, self.rng)
