"""Peace: rounds of designs for differences of arms, each of which halves rho, the difficulty left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from typing_extensions import override

from bai_gym.agents.base import Agent, Plan
from bai_gym.agents.linear.linear_models import budget_for_any_features, linear_values, rows_of
from bai_gym.agents.linear.lockstep import grouped, in_lockstep
from bai_gym.agents.parameters import Count
from bai_gym.agents.tools.choosing import keep_best, shuffled_arms
from bai_gym.agents.tools.halving import num_stages
from bai_gym.linear.designs import round_design, xy_optimal
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Block
from bai_gym.statistics import BoolArray, FloatArray, IntArray

__all__ = ["PeaceRho"]


SLACK = 0.01  # relative: designs come as near rho from above, which `xy_optimal` proves of each


@dataclass(kw_only=True)
class PeaceRho(Agent):
    """Peace for a fixed budget, in a practical form: rho, the largest variance of a difference, in place of gamma.

    rho(Z) is the least largest variance of a difference of two arms of Z, over designs on all arms. There are
    R = ceil(log2 rho(all arms)) rounds, at least one. A round pulls floor(n / R) times (the last one: what is left) by
    the design of the arms Z that are still candidates, and estimates means by least squares from its own rewards; then
    Z becomes the longest sequence of its arms, best estimates first, whose rho is at most half. The best estimate of
    the last round is recommended. Once one candidate is left, it gets all the pulls that follow.

    The published algorithm has the Gaussian width gamma in the place of rho: the squared expectation of the largest
    difference under noise, which has no closed form. For every design (2 / pi) rho <= gamma <= 4 rho log K, by the
    expectation of |N(0, 1)| and by that of the largest of K^2 Gaussians.

    Paper: Katz-Samuels, Jain, Karnin and Jamieson (2020), "An Empirical Process Approach to the Union Bound: Practical
    Algorithms for Combinatorial and Linear Bandits", fixed-budget algorithm.

    Args:
        iterations: Most steps for each design, see :func:`bai_gym.linear.designs.xy_optimal`; default 1000.

    Minimum budget: min(K, d) (2 + ceil(log2 min(K, d))), a pull for every dimension in each of the rounds that there
    can be, since rho is at most four times the rank (Kiefer and Wolfowitz); below it, where that is allowed, there is
    one round.
    """

    iterations: Count = 1000

    name = "Peace-rho"
    needs_features = True
    uses_variances = False
    minimum_budget = budget_for_any_features

    @override
    def least_budget(self, num_arms: int, num_features: int | None) -> int:
        """Return one pull for every dimension in each round."""
        rank = min(num_arms, num_features or num_arms)
        return rank * (2 + num_stages(rank))

    @override
    def begin(self, info: ProblemInfo) -> None:
        """Shuffle the arms, and group the episodes by their numbers of rounds."""
        assert info.features is not None  # as needs_features says
        self._arms = shuffled_arms(self.batch, self.num_arms, self.tie, self.rng)
        self._features = rows_of(info.features, self._arms)
        self._first = xy_optimal(self._features, max_iterations=self.iterations)
        rounds = num_halvings(self._first.max_variance)
        staged = self.budget >= self.least_budget(self.num_arms, info.num_features)
        self.rounds_of = rounds if staged else np.ones_like(rounds)

    @override
    def plan(self) -> Plan:
        groups = [(rows, self._rounds(rows, rounds)) for rounds, rows in grouped(self.rounds_of)]
        return (yield from in_lockstep(groups, self.batch, self.num_arms, self.tie, self.rng))

    def _rounds(self, rows: IntArray, rounds: int) -> Plan:
        """Run the rounds of the episodes ``rows``, of equally many, and return the best estimates of the last."""
        features, arms = self._features[rows], self._arms[rows]
        candidates = np.ones(arms.shape, np.bool_)
        weights, rho = self._first.weights[rows], self._first.max_variance[rows]
        for number in range(rounds):
            pulls = self.budget // rounds + (self.budget % rounds if number == rounds - 1 else 0)
            statistics = yield Block(round_design(weights, pulls, allow_small_budget=True), arms)
            values = np.where(candidates, linear_values(features, statistics), -np.inf)
            if number < rounds - 1:
                candidates = self._halved(features, values, candidates, rho)
                design = xy_optimal(features, candidates, max_iterations=self.iterations)
                rho = design.max_variance
                alone = candidates.sum(axis=-1, keepdims=True) == 1
                weights = np.where(alone, candidates, design.weights)
        best = keep_best(values, 1, self.tie, self.rng)
        return arms[best]

    def _halved(self, features: FloatArray, values: FloatArray, candidates: BoolArray, rho: FloatArray) -> BoolArray:
        """Return the most of the best candidates, ``(m, K)``, whose rho is at most half."""
        goal = rho / 2.0

        def fits(some: IntArray, prefix: BoolArray) -> BoolArray:
            design = xy_optimal(features[some], prefix, target=goal[some], max_iterations=self.iterations)
            return np.asarray(design.max_variance <= goal[some] * (1.0 + SLACK))

        place = np.argsort(np.argsort(-values, axis=-1, kind="stable"), axis=-1)
        return longest_prefix(place, candidates.sum(axis=-1) + (rho == 0.0), fits)


def longest_prefix(place: IntArray, limit: IntArray, fits: Callable[[IntArray, BoolArray], BoolArray]) -> BoolArray:
    """Return ``(m, K)`` masks of the longest beginning of an order that fits, by bisection.

    Args:
        place: ``(m, K)`` place of each arm, from 0.
        limit: ``(m,)`` sizes that do not fit; larger ones do not either. One arm always fits.
        fits: Says of some rows ``(j,)`` whether the masks ``(j, K)`` fit.
    """
    least, most = np.ones(len(place), np.int64), limit.copy()
    while (open_ := np.flatnonzero(most - least > 1)).size:
        middle = (least[open_] + most[open_]) // 2
        enough = fits(open_, place[open_] < middle[:, None])
        least[open_] = np.where(enough, middle, least[open_])
        most[open_] = np.where(enough, most[open_], middle)
    return np.asarray(place < least[:, None])


def num_halvings(rho: FloatArray) -> IntArray:
    """Return ceil(log2 rho), at least 1, how often ``(N,)`` rho is halved; rho may be too large by the slack."""
    return np.ceil(np.log2(np.maximum(rho * (1.0 - SLACK), 2.0))).astype(np.int64)
