"""OD-LinBAI: elimination with optimal designs, in ceil(log2 d) phases for dimension d."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from typing_extensions import override

from bai_gym.agents.base import Agent, Plan
from bai_gym.agents.linear.linear_models import budget_for_any_features, in_parts, linear_values, rows_of
from bai_gym.agents.linear.lockstep import grouped, in_lockstep
from bai_gym.agents.tools.choosing import keep_best, shuffled_arms
from bai_gym.agents.tools.halving import num_stages
from bai_gym.linear.designs import ceil_allocation, g_optimal, project, reduce_support, round_design
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Block, Request
from bai_gym.statistics import FloatArray, IntArray, Statistics, zeros

__all__ = ["ODLinBAI"]


@dataclass(kw_only=True)
class ODLinBAI(Agent):
    """In each phase arms are pulled by a G-optimal design; the first keeps d / 2 of them, each further one half.

    With d the rank of the features there are R = ceil(log2 d) phases (one for d = 1). Phase r pulls arm i with weight
    w_i ceil(w_i m) times, where m is what phases have after rounding up, estimates by least squares from the rewards of
    this phase, and keeps the ceil(d / 2^r) arms of largest estimates.

    The published algorithm leaves unspent what rounding up does not take, often a quarter of small budgets, and not
    equally much in all episodes of a batch. So these pulls are made, at the end of each phase, and not looked at.

    Paper: Yang and Tan (2022), "Minimax Optimal Fixed-Budget Best Arm Identification in Linear Bandits", Algorithm 1.

    Args:
        leftover: ``"drop"`` (default, as published): see above. ``"share"``: each phase shares what is left among its
            arms, in proportion to their weights.

    Minimum budget: one more than min(K, d (d + 1) / 2) + sum of ceil(d / 2^r) over r < R, so that m is positive; below
    it, where that is allowed, there is a single phase.
    """

    leftover: Literal["drop", "share"] = "drop"

    name = "OD-LinBAI"
    needs_features = True
    uses_variances = False
    minimum_budget = budget_for_any_features

    @override
    def least_budget(self, num_arms: int, num_features: int | None) -> int:
        """Return one pull more than rounding up can take."""
        return 1 + sum(phase_supports(num_arms, min(num_arms, num_features or num_arms)))

    @override
    def begin(self, info: ProblemInfo) -> None:
        """Check the parameter, shuffle the arms, and group the episodes by the rank of their features."""
        assert info.features is not None  # as needs_features says
        self._arms = shuffled_arms(self.batch, self.num_arms, self.tie, self.rng)
        self._features = rows_of(info.features, self._arms)
        self._ranks = in_parts(lambda x: project(x).rank, self._features)

    @override
    def plan(self) -> Plan:
        groups = [(rows, self._phases(rows, int(rank))) for rank, rows in grouped(self._ranks)]
        return (yield from in_lockstep(groups, self.batch, self.num_arms, self.tie, self.rng))

    def _phases(self, rows: IntArray, rank: int) -> Plan:
        """Run the phases of the episodes ``rows``, whose features have one rank, and return the survivors."""
        survivors: IntArray = np.broadcast_to(np.arange(self.num_arms), (rows.size, self.num_arms))
        supports = phase_supports(self.num_arms, rank)
        mass = self.budget - sum(supports)
        if mass <= 0:
            supports, mass = [self.budget], 0
        phases = len(supports)
        for phase, support in enumerate(supports):
            pulls = support + mass * (phase + 1) // phases - mass * phase // phases
            features = rows_of(self._features[rows], survivors)
            share = self.leftover == "share"
            counts = in_parts(partial(_allocate, pulls=pulls, mass=mass / phases, share=share), features)
            arms = np.take_along_axis(self._arms[rows], survivors, -1)
            estimates = yield from _pull(arms, counts, pulls)
            size = 1 if phase == phases - 1 else -(-rank // 2 ** (phase + 1))
            best = keep_best(linear_values(features, estimates), size, self.tie, self.rng)
            survivors = survivors[best].reshape(rows.size, size)
        return np.take_along_axis(self._arms[rows], survivors, -1)[:, 0]


def phase_supports(num_arms: int, rank: int) -> list[int]:
    """Return how many arms each phase can pull at most: min(K, d (d + 1) / 2), then the arms that are left."""
    rank = max(rank, 1)
    later = [-(-rank // 2**phase) for phase in range(1, max(1, num_stages(rank)))]
    return [min(num_arms, rank * (rank + 1) // 2), *later]


def _allocate(features: FloatArray, pulls: int, mass: float, share: bool) -> IntArray:
    """Return ``(m, k)`` counts, ceil(mass x weight), where ``share`` is set with what that leaves of ``pulls``.

    With mass 0 the design is rounded to all of the pulls.
    """
    design = g_optimal(features)
    weights = design.weights
    limit = np.maximum(design.rank * (design.rank + 1) // 2, 1)
    many = np.flatnonzero(design.support > limit)
    if many.size:
        weights[many] = reduce_support(features[many], weights[many])
    if mass == 0.0:
        return round_design(weights, pulls, allow_small_budget=True)
    counts = ceil_allocation(weights, mass)
    rest = pulls - counts.sum(axis=-1)
    more = np.flatnonzero(rest > 0)
    if share and more.size:
        counts[more] += round_design(weights[more], rest[more], method="largest-remainder")
    return counts


def _pull(arms: IntArray, counts: IntArray, pulls: int) -> Generator[Request, Any, Statistics]:
    """Pull arms ``(m, k)`` as often as ``counts`` says; episodes that need fewer than ``pulls`` make others as well.

    All episodes first make as many pulls as the episode with the fewest needs; that includes all of the first
    arm's, because no arm gets more than the mass, rounded up, which every episode spends. So the others can be pulls of
    that arm.

    Returns:
        ``(m, k)`` statistics of the pulls that ``counts`` asked for.
    """
    needed = counts.sum(axis=-1)
    common = int(needed.min())
    before = np.cumsum(counts, axis=-1) - counts
    first = np.clip(common - before, 0, counts)
    estimates: Statistics = yield Block(first, arms)
    if common < pulls:
        rest = counts - first
        second = rest.copy()
        second[:, 0] += pulls - needed
        statistics = yield Block(second, arms)
        total = np.maximum(counts, 1)
        means = (estimates.sums + np.where(rest > 0, statistics.sums, 0.0)) / total
        means = np.where(rest > 0, means, estimates.means)
        estimates = Statistics(counts, means, zeros(counts.shape))
    return estimates
