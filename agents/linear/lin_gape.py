"""LinGapE: gap-based exploration with a linear model of the means, run to the end of a budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from typing_extensions import override

from bai_gym.agents.linear import lin_gape_fast
from bai_gym.agents.linear.linear_models import longest, noise_deviation, shared_features
from bai_gym.agents.linear.pair_designs import PairDesigns
from bai_gym.agents.linear.plain_ridge import RidgeState, product, start, update_regression
from bai_gym.agents.linear.ridge_fit import Ridge
from bai_gym.agents.parameters import NotNegative, Oracle, Positive, Probability
from bai_gym.agents.sequential import SequentialAgent
from bai_gym.agents.tools.choosing import SLACK, largest
from bai_gym.agents.tools.ranges import sigma_or_oracle, variances_if_oracle
from bai_gym.agents.tools.scanning import arm_of_nearly_largest, less_pulled
from bai_gym.agents.tools.widths import EllipsoidState, ellipsoid_radius
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import WAIT, Episode, PerArm, Rule, Sequential, States, Vector
from bai_gym.statistics import FloatArray, IntArray, Observation, Statistics

__all__ = ["LinGapE", "LinGapEGreedy"]


class LinGapEState(EllipsoidState, RidgeState):
    """What the rules of LinGapE use."""

    i: int  # the arm of largest estimate
    j: int  # the arm that could exceed it by most
    y: Vector  # x_i - x_j
    index: PerArm  # what the arms are compared by
    has_design: bool  # whether p is the design for the next pull
    p: PerArm  # design for y: proportions of the pulls that estimate y^T theta best; all 0 where it cannot be found


def pull_by_ratio(e: Episode, s: LinGapEState, w: LinGapEState, rng: np.random.Generator) -> int:
    """Pull the arm of least T / p, where p is the design for the direction y."""
    if not s.has_design:
        select_direction(e, s, w, rng)
        if product(s, w, w.y, w.y) == 0.0:
            return less_pulled(e, s.i, s.j, rng)
        return WAIT  # for p
    s.has_design = False
    is_found = False
    for arm in range(e.num_arms):
        w.index[arm] = -e.pulls[arm] / w.p[arm] if w.p[arm] > 0.0 else -np.inf
        is_found = is_found or w.p[arm] > 0.0
    return arm_of_nearly_largest(w.index, 0.0, e, rng) if is_found else arm_of_least_width(e, s, w, rng)


def pull_greedily(e: Episode, s: LinGapEState, w: LinGapEState, rng: np.random.Generator) -> int:
    """Pull the arm after which the width of y^T theta is least."""
    select_direction(e, s, w, rng)
    if product(s, w, w.y, w.y) == 0.0:
        return less_pulled(e, s.i, s.j, rng)
    return arm_of_least_width(e, s, w, rng)


def select_direction(e: Episode, s: LinGapEState, w: LinGapEState, rng: np.random.Generator) -> None:
    """Set i to the arm of largest estimate, j to that of largest gap to i plus width, and y to x_i - x_j."""
    update_regression(e, s, w)
    s.i = arm_of_nearly_largest(w.scores, s.scale, e, rng)
    for arm in range(e.num_arms):
        set_difference(w.y, e.features[s.i], e.features[arm])
        gap, width = (
            w.scores[arm] - w.scores[s.i],
            ellipsoid_radius(e, s) * np.sqrt(max(product(s, w, w.y, w.y), 0.0)),
        )
        w.index[arm] = gap + width if arm != s.i else -np.inf
    s.j = arm_of_nearly_largest(w.index, s.scale, e, rng)
    set_difference(w.y, e.features[s.i], e.features[s.j])


def arm_of_least_width(e: Episode, s: LinGapEState, w: LinGapEState, rng: np.random.Generator) -> int:
    """Return the arm of least y^T (A + x x^T)^-1 y = y^T A^-1 y - (y^T A^-1 x)^2 / (1 + x^T A^-1 x)."""
    for arm in range(e.num_arms):
        x = e.features[arm]
        w.index[arm] = product(s, w, w.y, x) ** 2 / (1.0 + product(s, w, x, x))
    return arm_of_nearly_largest(w.index, 0.0, e, rng)


def set_difference(y: FloatArray, first: FloatArray, second: FloatArray) -> None:
    """Set y to first - second."""
    for place in range(y.size):
        y[place] = first[place] - second[place]


@dataclass(kw_only=True)
class LinGapE(SequentialAgent):
    """Finds the arm j that could most exceed the best estimate i, and pulls by the design that separates the two.

    After one pull of every arm: i has the largest x^T theta, where theta is the ridge regression of the rewards, with
    A = lam I + sum x x^T; j has the largest (x_j - x_i)^T theta + C_t ||x_j - x_i||, in the norm of A^-1. Of the arms k
    in the design p for the difference of the two (:func:`bai_gym.linear.designs.solve_contrasts`), that of least pulls
    / p_k is pulled. Where i and j have equal features, it is the less pulled of the two. At the end i is recommended.
    The test for stopping is left out, so delta only sets the width of the intervals.

    Designs take time: about 10 microseconds for 16 arms in 10 dimensions, 70 for 128 arms. Each pair of arms takes one
    in every run where it comes up, or one for all runs where these share their features.

    Paper: Xu, Honda and Sugiyama (2018), "A fully adaptive algorithm for pure exploration in linear bandits", read in
    secondary descriptions; with a fixed budget: Azizi, Kveton and Ghavamzadeh (2022), section 8, whose code takes the
    best of delta = 0.01, 0.1, 0.4, 0.5 and 0.9.

    Args:
        delta: Allowed error probability of the confidence intervals, in (0, 1); default 0.05.
        sigma: Standard deviation of the noise, positive. ``"oracle"``: the largest of the true ones. None (default):
            half the length of the interval of bounded rewards; for others ``"oracle"``.
        lam: Weight of the identity in A, positive; default 1.
        S: Bound on the length of the true theta, at least 0; default 1.
        radius: ``"authors"`` (default), the code of Xu et al.: C_t = sigma sqrt(d log(K^2 (1 + t L^2) / (lam delta))) +
            sqrt(lam) S after t pulls, L the length of the longest arm. ``"determinant"``, the paper: C_t = sigma
            sqrt(2 log(K^2 sqrt(det A / det lam I) / delta)) + sqrt(lam) S.
    """

    delta: Probability = 0.05
    sigma: Positive | Oracle | None = None
    lam: Positive = 1.0
    S: NotNegative = 1.0
    radius: Literal["authors", "determinant"] = "authors"

    name = "LinGapE"
    uses_variances = False
    knows = property(variances_if_oracle)
    choices = sigma_or_oracle
    needs_features = True
    rule = Rule(choose=pull_by_ratio, state=LinGapEState)
    fast = lin_gape_fast.BY_RATIO

    @override
    def begin(self, info: ProblemInfo) -> None:
        features = shared_features(info, self.lam, self.name)
        self._ridge = Ridge(features, self.lam)
        self._designs = PairDesigns(features)
        self.values = {
            "delta": self.delta,
            "sigma": noise_deviation(self, info),
            "lam": self.lam,
            "theta_bound": self.S,
            "is_authors": self.radius == "authors",
            "dimension": features.shape[-1],
            "length": longest(features),
        }
        if self.plain:
            self.values |= {"y": np.zeros(features.shape[-1]), **start(features.shape[-1], self.lam)}
        else:
            self.values |= self._ridge.values
            if self.chosen_rule is lin_gape_fast.BY_RATIO:
                self.values |= lin_gape_fast.start(self.num_arms)

    @override
    def sequential(self, steps: int, **options: Any) -> Sequential:
        supply = self._supply_plain if self.plain else self._supply_fast
        return super().sequential(steps, supply=supply, **options)

    def _supply_plain(self, rows: IntArray, states: States, statistics: Statistics) -> None:
        """Give waiting episodes the design for their direction."""
        pairs = states["i"][rows], states["j"][rows]
        for row, design in zip(rows, self._designs.find(rows, *pairs), strict=True):
            states["has_design"][row], states["p"][row] = True, 0.0
            if design is not None:
                states["p"][row, design.arms] = design.weights / design.weights.sum()

    def _supply_fast(self, rows: IntArray, states: States, statistics: Statistics) -> None:
        """Give waiting episodes their regression, or a design."""
        due = states["due"][rows] == 0
        if due.any():
            self._ridge.fit(rows[due], states, statistics)
        if not due.all():
            lin_gape_fast.supply_designs(self._designs, self._ridge, rows[~due], states)

    @override
    def recommend(self, observation: Observation) -> IntArray:
        """Return the arm of largest x^T theta, of several the most pulled; below the minimum budget, the best mean."""
        if self.budget < self.num_arms:
            return super().recommend(observation)
        pulls = observation["pulls"]
        scores = self._ridge.scores(pulls, observation["means"])
        top = scores.max(axis=1, keepdims=True)
        near = scores >= top - SLACK * (np.abs(scores).max(axis=1, keepdims=True) + np.abs(top))
        return largest(np.where(near, pulls, -1.0), np.zeros(len(pulls)), pulls, self.tie, self.rng)


@dataclass(kw_only=True)
class LinGapEGreedy(LinGapE):
    """LinGapE with greedy pulls: the arm after which the width of the difference is smallest.

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
    """

    name = "LinGapE-Greedy"
    rule = Rule(choose=pull_greedily, state=LinGapEState)
    fast = lin_gape_fast.GREEDILY
