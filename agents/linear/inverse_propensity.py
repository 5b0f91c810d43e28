"""Arms drawn independently by designs, and estimates by inverse propensities: unbiased however the parameter drifts."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from typing_extensions import override

from bai_gym.agents.base import Agent, Plan
from bai_gym.agents.linear.linear_models import design_weights, in_parts, levelled
from bai_gym.agents.linear.lockstep import grouped
from bai_gym.agents.linear.set_designs import BoolArray, SetDesigns, num_halvings
from bai_gym.agents.tools.choosing import keep_best, shuffled_arms
from bai_gym.agents.tools.halving import num_stages
from bai_gym.linear.designs import g_optimal, project
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Block, TieRule
from bai_gym.statistics import FloatArray, IntArray, Statistics
from bai_gym.validation import integer

__all__ = ["MixedDesignAgent", "balanced_design", "best_arms", "coordinates_of", "draw_arms"]


@dataclass(kw_only=True)
class MixedDesignAgent(Agent):
    """Epochs of independent pulls, half by the G-optimal design and half by one that :meth:`focused` gives.

    With rho the least largest variance of a difference of two arms, over designs, there are E = ceil(log2 rho) epochs,
    at least one, of floor(n / E) pulls. After t pulls thetahat = (1 / t) sum of A(w)^-1 x r, with the design w of each
    pull and A(w) = sum of w_k x_k x_k^T. In expectation it is the average parameter, whatever its path. The arm of
    largest x^T thetahat is recommended; none is ever dropped.
    """

    iterations: int = 1000

    needs_features: ClassVar[bool] = True
    uses_variances: ClassVar[bool] = False

    @override
    def minimum_budget(self, num_arms: int) -> int:
        """Return the minimum for as many features as arms, which suffices for any number."""
        return self.least_budget(num_arms, None)

    @override
    def least_budget(self, num_arms: int, num_features: int | None) -> int:
        """Return a pull for every dimension and for every epoch: rho is at most four times the rank."""
        rank = min(num_arms, num_features or num_arms)
        return max(rank, 2 + num_stages(rank))

    @override
    def begin(self, info: ProblemInfo) -> None:
        """Compute the designs for all arms, and the numbers of epochs."""
        integer(self.iterations, f"iterations of {self.name}", least=1)
        assert info.features is not None  # as needs_features says
        self.coordinates = coordinates_of(info.features)
        self.balanced = balanced_design(info.features)
        self.designs = SetDesigns(info.features, self.iterations)
        self.everything: BoolArray = np.ones(self.balanced.shape, np.bool_)
        self.first, self.rho = self.designs.find(np.arange(self.batch), self.everything)
        self.epochs_of = np.minimum(num_halvings(self.rho), self.budget)
        self._ties = shuffled_arms(self.batch, self.num_arms, self.tie, self.rng)

    @override
    def plan(self) -> Plan:
        """Draw the pulls of all epochs; where episodes have different ones, in the parts between all their ends."""
        total, made, weights = np.zeros(self.coordinates[:, 0].shape), 0, self.first_design()
        for end, rows in self._schedule():
            total += yield from draw_arms(self.coordinates, weights, end - made, self.rng)
            made = end
            if rows.size:
                weights[rows] = (self.balanced[rows] + self.focused(rows, total[rows] / made)) / 2.0
        return best_arms(self.coordinates, total, self.tie, self.rng)

    def first_design(self) -> FloatArray:
        """Return the ``(N, K)`` design of the first pulls: the G-optimal one, unless a subclass says otherwise."""
        return self.balanced.copy()

    def ends(self, epochs: int) -> Sequence[int]:
        """Return after how many pulls the design changes: after the first, and every floor(n / E) from there on."""
        return range(1, self.budget, self.budget // epochs)

    def focused(self, rows: IntArray, theta: FloatArray) -> FloatArray:
        """Return ``(m, K)`` designs for the differences that matter in some episodes, by estimates ``(m, d)``."""
        raise NotImplementedError

    def places(self, rows: IntArray, theta: FloatArray, candidates: BoolArray) -> IntArray:
        """Return ``(m, K)`` places from 0: candidates first, by falling x^T theta, ties in one random order."""
        values = levelled(self.coordinates[rows], theta)
        return np.argsort(np.lexsort([self._ties[rows], -values, ~candidates]), axis=-1)

    def _schedule(self) -> Iterator[tuple[int, IntArray]]:
        """Yield the ends of epochs, each with the episodes whose design changes; last the budget, with none."""
        due: dict[int, list[IntArray]] = {}
        for epochs, rows in grouped(self.epochs_of):
            for end in self.ends(epochs):
                due.setdefault(end, []).append(rows)
        for end in sorted(due):
            yield end, np.concatenate(due[end])
        yield self.budget, np.empty(0, np.int64)


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
