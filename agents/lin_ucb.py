"""LinUCB: upper confidence bounds from a linear model of the means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bai_gym.agents.base import Agent
from bai_gym.agents.choosing import largest
from bai_gym.agents.parameters import check_choice, check_not_negative, check_positive, check_share
from bai_gym.agents.ridge import Ridge, longest, noise_deviation, shared_features
from bai_gym.problems import Briefing
from bai_gym.sampling import Request, SamplingRule, TieRule
from bai_gym.statistics import FloatArray, IntArray, Observation, Statistics

__all__ = ["LinUCB", "LinUCBRule"]


@dataclass(kw_only=True)
class LinUCB(Agent):
    """Pulls the arm of largest x^T theta + alpha sqrt(x^T A^-1 x), and recommends the arm pulled most often.

    A = lam I + sum x x^T over the pulls, and theta = A^-1 sum y x is the ridge regression of the rewards. Made for
    small regret; a baseline for what is lost by not exploring purely. Arms pulled equally often are told apart by
    x^T theta.

    Paper: Li, Chu, Langford and Schapire (2010), "A Contextual-Bandit Approach to Personalized News Article
    Recommendation", Algorithm 1; the radius of Abbasi-Yadkori, Pal and Szepesvari (2011), "Improved Algorithms for
    Linear Stochastic Bandits", Theorem 2 (OFUL), at the time n; the recommendation of Azizi, Kveton and Ghavamzadeh
    (2022), "Fixed-Budget Best-Arm Identification in Structured Bandits", section 8 and appendix F.

    Args:
        alpha: Factor of the width, at least 0. None (default): sigma sqrt(d log((1 + n L^2 / lam) / delta)) +
            sqrt(lam) S, with n the budget, d the number of features and L the length of the longest arm. The code of
            Azizi et al. has 0.51296 = 1 / sqrt(log(2 / 0.001) / 2), whatever the noise.
        lam: Weight of the identity in A, positive; default 1.
        sigma: Standard deviation of the noise, positive. None (default): the largest of the true ones.
        delta: Probability with which the widths of OFUL fail, in (0, 1); default 0.05.
        S: Bound on the length of the true theta, at least 0; default 1. Where it is far too small, the agent stays with
            the first arm that pays more than it thinks possible.
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
    anytime: ClassVar[bool] = True

    @property
    def knows(self) -> frozenset[str]:  # type: ignore[override]
        """The variances, unless they are not read."""
        return frozenset({"variances"} if self.alpha is None and self.sigma is None else ())

    def minimum_budget(self, num_arms: int) -> int:
        """Return 1: the widths of arms without a pull are finite."""
        return 1

    def begin(self, briefing: Briefing) -> None:
        """Check the parameters and find the factor of the widths."""
        check_not_negative(self.alpha, "alpha", self.name)
        check_positive(self.lam, "lam", self.name)
        check_positive(self.sigma, "sigma", self.name)
        check_share(self.delta, "delta", self.name)
        check_not_negative(self.S, "S", self.name)
        check_choice(self.model, ("shared", "disjoint"), "model", self.name)
        features = shared_features(briefing, self.lam, self.name)
        if self.alpha is not None:
            self.width_factor: FloatArray = np.full(self.batch, float(self.alpha))
        else:
            ratio = (1.0 + self.budget * longest(features) ** 2 / self.lam) / self.delta
            noise = noise_deviation(self.sigma, briefing)
            self.width_factor = noise * np.sqrt(features.shape[-1] * np.log(ratio)) + np.sqrt(self.lam) * self.S
        self._ridge = Ridge(features, self.lam, self.batch, separate=self.model == "disjoint")

    def allocate(self, observation: Observation) -> Request:
        """Make all pulls one at a time."""
        return LinUCBRule(int(observation["remaining"].flat[0]), self._ridge, self.width_factor, self.tie, self.rng)

    def recommend(self, observation: Observation) -> IntArray:
        """Return the arm pulled most often."""
        pulls = observation["pulls"]
        most = pulls == pulls.max(axis=-1, keepdims=True)
        scores = np.where(most, self._ridge.scores, -np.inf)
        return largest(scores, self._ridge.scale, pulls, self.tie, self.rng)


class LinUCBRule(SamplingRule):
    """Pulls the arm of largest x^T theta + alpha sqrt(x^T A^-1 x)."""

    def __init__(
        self, steps: int, ridge: Ridge, width_factor: FloatArray, tie: TieRule, rng: np.random.Generator
    ) -> None:
        """Remember the regression, the ``(N,)`` factors alpha, and the tie rule."""
        self.steps = steps
        self._ridge = ridge
        self._factor = width_factor[:, None]
        self._tie: TieRule = tie
        self._rng = rng

    def start(self, window: Statistics) -> None:
        """Take in the pulls so far."""
        self._pulls = window.pulls.T
        self._ridge.start(window)
        self._index = np.empty(self._pulls.shape)
        self._episodes = np.arange(len(self._pulls))

    def choose(self) -> IntArray:
        """Return the arms of largest index."""
        index = self._index
        np.sqrt(self._ridge.variances, out=index)
        index *= self._factor
        index += self._ridge.scores
        arms = largest(index, self._ridge.scale, self._pulls, self._tie, self._rng)
        return np.asarray(arms * self._episodes.size + self._episodes)

    def update(self, flat: IntArray, pulls: FloatArray, means: FloatArray, variances: FloatArray) -> None:
        """Take in the rewards."""
        self._ridge.add(flat, pulls, means)
