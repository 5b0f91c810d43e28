"""G-BAI and XY-BAI: independent pulls by one design, for a parameter that may change arbitrarily over time."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np
from typing_extensions import override

from bai_gym.agents.base import Agent, Plan
from bai_gym.agents.linear.linear_models import (
    budget_for_any_features,
    candidate_combinations,
    design_weights,
    in_parts,
    levelled,
)
from bai_gym.agents.parameters import Count
from bai_gym.agents.tools.choosing import keep_best
from bai_gym.linear.designs import DifferenceDesign, g_optimal, minimax_design, pair_design, project, xy_optimal
from bai_gym.linear.tasks import BestCandidate
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Block, TieRule
from bai_gym.statistics import FloatArray, IntArray, Statistics
from bai_gym.tasks import BestArm

__all__ = ["GBAI", "XYBAI"]

TOLERANCE = 1e-2  # of designs for candidates


@dataclass(kw_only=True)
class GBAI(Agent):
    """Every pull is an independent draw from the G-optimal design w, which makes the largest variance of an arm least.

    The recommended arm has the largest x^T thetahat, with thetahat = (1 / n) sum of A(w)^-1 x r over the pulls, and
    A(w) = sum of w_k x_k x_k^T. In expectation thetahat is the average parameter, whatever its path over time. Where
    candidates z are not the arms, w makes the largest variance of a candidate least.

    Paper: Xiong, Camilleri, Fazel, Jain and Jamieson (2024), "A/B Testing and Best-arm Identification for Linear
    Bandits with Robustness to Non-stationarity", G-BAI.
    """

    name = "G-BAI"
    needs_features = True
    tasks = frozenset({BestArm.name, BestCandidate.name})
    uses_variances = False
    minimum_budget = budget_for_any_features

    @override
    def least_budget(self, num_arms: int, num_features: int | None) -> int:
        """Return one pull for every dimension."""
        return min(num_arms, num_features or num_arms)

    @override
    def begin(self, info: ProblemInfo) -> None:
        """Compute the design."""
        assert info.features is not None  # as needs_features says
        self._coordinates = coordinates_of(info.features)
        candidates = candidate_combinations(self.task)
        self._different = None if candidates is None else candidates[0]
        self._candidates = self._coordinates if candidates is None else candidates[1] @ self._coordinates
        if candidates is None:
            self._weights = self.design(info.features)
        else:  # all episodes have the same features
            self._weights = np.tile(
                self.transductive_design(self._coordinates[0], self._candidates[0]), (self.batch, 1)
            )

    @override
    def plan(self) -> Plan:
        """Draw all pulls."""
        total = yield from draw_arms(self._coordinates, self._weights, self.budget, self.rng)
        best = best_arms(self._candidates, total, self.tie, self.rng)
        return best if self._different is None else self._different[best]

    def design(self, features: FloatArray) -> FloatArray:
        """Return the ``(N, K)`` design of all pulls."""
        return balanced_design(features)

    def transductive_design(self, arms: FloatArray, candidates: FloatArray) -> FloatArray:
        """Return the ``(K,)`` design that makes the largest variance of a candidate least."""
        return minimax_design(arms, candidates, tolerance=TOLERANCE).weights


@dataclass(kw_only=True)
class XYBAI(GBAI):
    """Every pull is an independent draw from the XY-design, which makes the largest variance of a difference least.

    G-BAI with another design: what has to be known are differences of arms, not their means. It is the simplest member
    of the family of Adjacent-BAI (Maynard-Zhang, Xiong, Jamieson and Fazel, 2026), whose design is for the differences
    of adjacent arms alone.

    Design: Soare, Lazaric and Munos (2014), "Best-Arm Identification in Linear Bandits", section 3, XY-allocation;
    estimates: Xiong, Camilleri, Fazel, Jain and Jamieson (2024).

    Args:
        iterations: Most steps for the design, see :func:`bai_gym.linear.designs.xy_optimal`; default 1000.
    """

    iterations: Count = 1000

    name = "XY-BAI"

    @override
    def design(self, features: FloatArray) -> FloatArray:
        """Return the XY-design of all arms."""

        def solve(x: FloatArray) -> DifferenceDesign:
            return xy_optimal(x, max_iterations=self.iterations)

        return in_parts(lambda x: design_weights(solve, x), features)

    @override
    def transductive_design(self, arms: FloatArray, candidates: FloatArray) -> FloatArray:
        """Return the ``(K,)`` design that makes the largest variance of a difference of two candidates least."""
        return pair_design(arms, candidates, tolerance=TOLERANCE).weights


def draw_arms(
    features: FloatArray, weights: FloatArray, pulls: int, rng: np.random.Generator
) -> Generator[Block, Statistics, FloatArray]:
    """Pull arms that are independent draws from a design, and return the sum of A(w)^-1 x r.

    Args:
        features: ``(N, K, d)``.
        weights: ``(N, K)`` the design w, with sum 1.
        pulls: Number of draws.
        rng: Source of the draws.

    Returns:
        ``(N, d)`` sums over the pulls, with the pseudo-inverse where A(w) is singular.
    """
    statistics = yield Block(rng.multinomial(pulls, weights / weights.sum(axis=-1, keepdims=True)), shuffle=rng)
    columns = np.swapaxes(features, -1, -2)
    inverse = np.linalg.pinv((columns * weights[:, None, :]) @ features, hermitian=True)
    return np.asarray((inverse @ (columns @ statistics.sums[..., None]))[..., 0])


def coordinates_of(features: FloatArray) -> FloatArray:
    """Return ``(N, K, m)`` coordinates of the arms in their span: estimates of means are the same with them."""
    return in_parts(lambda x: project(x).coordinates, features)


def balanced_design(features: FloatArray) -> FloatArray:
    """Return ``(N, K)`` weights of a G-optimal design."""
    return in_parts(lambda x: design_weights(g_optimal, x), features)


def best_arms(features: FloatArray, theta: FloatArray, tie: TieRule, rng: np.random.Generator) -> IntArray:
    """Return the ``(N,)`` arms of largest x^T theta."""
    return np.asarray(keep_best(levelled(features, theta), 1, tie, rng).argmax(axis=-1))
