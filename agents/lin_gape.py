"""LinGapE: gap-based exploration with a linear model of the means, run to the end of a budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bai_gym.agents.choosing import SLACK, largest
from bai_gym.agents.lin_gape_rules import GapRule, GreedyRule, Radius, RatioRule
from bai_gym.agents.one_by_one import OneByOneAgent
from bai_gym.agents.parameters import check_choice, check_not_negative, check_positive, check_share
from bai_gym.agents.ridge import Ridge, longest, noise_deviation, shared_features
from bai_gym.problems import Briefing
from bai_gym.sampling import SamplingRule
from bai_gym.statistics import IntArray, Observation, Statistics

__all__ = ["LinGapE", "LinGapEGreedy"]


@dataclass(kw_only=True)
class _LinGapE(OneByOneAgent):
    """What the two ways to choose a pull have in common; the parameters are those of :class:`LinGapE`."""

    delta: float = 0.05
    sigma: float | None = None
    lam: float = 1.0
    S: float = 1.0
    radius: str = "authors"

    uses_variances: ClassVar[bool] = False
    needs_features: ClassVar[bool] = True
    rule_type: ClassVar[type[GapRule]]

    @property
    def knows(self) -> frozenset[str]:  # type: ignore[override]
        """The variances, unless ``sigma`` is given."""
        return frozenset({"variances"} if self.sigma is None else ())

    def begin(self, briefing: Briefing) -> None:
        """Check the parameters and the features."""
        check_share(self.delta, "delta", self.name)
        check_positive(self.sigma, "sigma", self.name)
        check_positive(self.lam, "lam", self.name)
        check_not_negative(self.S, "S", self.name)
        check_choice(self.radius, ("authors", "determinant"), "radius", self.name)
        self._features = shared_features(briefing, self.lam, self.name)
        self._radius = Radius(
            noise=noise_deviation(self.sigma, briefing),
            length=longest(self._features),
            num_arms=self.num_arms,
            num_features=self._features.shape[-1],
            delta=self.delta,
            lam=self.lam,
            bound=self.S,
            by_determinant=self.radius == "determinant",
        )
        self._ridge: Ridge | None = None

    def rule(self, steps: int) -> SamplingRule:
        """Return the rule of all remaining pulls."""
        self._ridge = Ridge(self._features, self.lam, self.batch)
        return self.rule_type(steps, self._features, self._ridge, self._radius, self.tie, self.rng)

    def recommend(self, observation: Observation) -> IntArray:
        """Return the arm of largest x^T theta; of a budget below the minimum, that of the best mean."""
        if self.budget < self.num_arms:
            return super().recommend(observation)
        if self._ridge is None:  # the first pulls were all
            self._ridge = Ridge(self._features, self.lam, self.batch)
            self._ridge.start(Statistics.of(observation).window())
        scores, pulls = self._ridge.scores, observation["pulls"]
        top = scores.max(axis=1)
        near = scores >= (top - SLACK * (self._ridge.scale + np.abs(top)))[:, None]
        return largest(np.where(near, pulls, -1.0), np.zeros(self.batch), pulls, self.tie, self.rng)


@dataclass(kw_only=True)
class LinGapE(_LinGapE):
    """Finds the arm j that could most exceed the best estimate i, and pulls towards the design that tells them apart.

    After one pull of every arm: i has the largest x^T theta, where theta is the ridge regression of the rewards, with
    A = lam I + sum x x^T; j has the largest (x_j - x_i)^T theta + C_t ||x_j - x_i||, in the norm of A^-1. Of the arms k
    in the design p for the difference of the two (:func:`bai_gym.designs.contrast_weights`), that of least pulls / p_k
    is pulled. Where i and j have equal features, it is the less pulled of the two. At the end i is recommended. The
    test for stopping is left out, so delta only sets the width of the intervals.

    Designs take time: about 10 microseconds for 16 arms in 10 dimensions, 70 for 128 arms. Each pair of arms takes one
    in every run where it comes up, or one for all runs where these share their features.

    Paper: Xu, Honda and Sugiyama (2018), "A fully adaptive algorithm for pure exploration in linear bandits", read in
    secondary descriptions; with a fixed budget: Azizi, Kveton and Ghavamzadeh (2022), section 8, whose code takes the
    best of delta = 0.01, 0.1, 0.4, 0.5 and 0.9.

    Args:
        delta: Probability of an error that the confidence intervals allow, in (0, 1); default 0.05.
        sigma: Standard deviation of the noise, positive. None (default): the largest of the true ones.
        lam: Weight of the identity in A, positive; default 1.
        S: Bound on the length of the true theta, at least 0; default 1.
        radius: ``"authors"`` (default), the code of Xu et al.: C_t = sigma sqrt(d log(K^2 (1 + t L^2) / (lam delta))) +
            sqrt(lam) S after t pulls, L the length of the longest arm. ``"determinant"``, the paper: C_t = sigma
            sqrt(2 log(K^2 sqrt(det A / det lam I) / delta)) + sqrt(lam) S.

    Knows the true variances, unless ``sigma`` is given. Needs features. Minimum budget: K.
    """

    name: ClassVar[str] = "LinGapE"
    rule_type: ClassVar[type[GapRule]] = RatioRule


@dataclass(kw_only=True)
class LinGapEGreedy(_LinGapE):
    """LinGapE that pulls the arm after which the width of the difference is least.

    Pulls the arm a of least y^T (A + x_a x_a^T)^-1 y with y = x_i - x_j: that of largest (y^T A^-1 x_a)^2 / (1 + x_a^T
    A^-1 x_a). All else is as in :class:`LinGapE`.

    Paper: Xu, Honda and Sugiyama (2018), read in secondary descriptions; with a fixed budget: Azizi, Kveton and
    Ghavamzadeh (2022), section 8.

    Args:
        delta: See :class:`LinGapE`; so are the others.
        sigma: Standard deviation of the noise.
        lam: Weight of the identity in A.
        S: Bound on the length of the true theta.
        radius: ``"authors"`` or ``"determinant"``.

    Knows the true variances, unless ``sigma`` is given. Needs features. Minimum budget: K.
    """

    name: ClassVar[str] = "LinGapE-Greedy"
    rule_type: ClassVar[type[GapRule]] = GreedyRule
