"""EGE-SR and EGE-SH: the arms that no other dominates, by empirical gaps, with a fixed budget."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from typing_extensions import override

from bai_gym.agents.base import Agent, Plan
from bai_gym.agents.sequential import first_block
from bai_gym.agents.tools.halving import budget_of_stages, num_stages
from bai_gym.agents.tools.rejects import budget_of_phases, phase_lengths
from bai_gym.sampling import Block
from bai_gym.statistics import FloatArray, exact_sums

__all__ = ["EGESH", "EGESR"]


@dataclass(kw_only=True)
class EmpiricalGapElimination(Agent):
    """Base of EGE: after each phase some arms are decided, those of the largest empirical gaps.

    They are taken into the set or not, as they are among the arms that are undecided. The last arm is taken.
    """

    uses_variances = False
    tasks = frozenset({"pareto"})
    minimum_budget = budget_of_phases

    @abstractmethod
    def phases(self, num_arms: int) -> list[tuple[int, int]]:
        """Return the pulls of each undecided arm in each phase, and how many arms are left after it."""

    @override
    def plan(self) -> Plan:
        task: Any = self.task  # a ParetoSet
        shape, pulls = (self.batch, self.num_arms // task.metrics, task.metrics), 0
        if self.budget < self.minimum_budget(self.num_arms):
            made = yield first_block(self, self.budget)
            pulled = made.pulls.reshape(shape)[..., 0] > 0
            return pulled & ~empirical_gaps(task.margins(made.means), pulled)[1]
        sums, active = np.zeros((self.batch, self.num_arms)), np.ones(shape[:2], bool)
        accepted = ~active
        for each, left in self.phases(shape[1]):
            if each:
                counts = np.zeros(shape, np.int64)
                counts[active, 0] = each
                made = yield Block(counts.reshape(sums.shape))
                sums += made.sums
                exact_sums(sums)  # so that equal sums of whole numbers are equal
                pulls += each
            gaps, dominated = empirical_gaps(task.margins(sums / pulls), active)
            keys = self.rng.random(gaps.shape) * (self.tie == "random")
            order = np.lexsort((keys, ~dominated, -gaps))  # of equal gaps, a dominated arm is decided first
            decided = active & (order.argsort(axis=1) < active[0].sum() - left)
            accepted |= decided & ~dominated
            active &= ~decided
        return accepted | active


def empirical_gaps(margins: FloatArray, active: Any) -> tuple[FloatArray, Any]:
    """Return the gaps of the active arms, ``(N, K)``, -inf of others, and whether an active arm dominates each.

    The gap of a dominated arm i is the largest m(i, j). That of another arm is the least of -m(i, j) and -m(j, i) over
    others j that are not dominated, and of max(-m(j, i), 0) plus the gap of j over dominated arms j.

    Args:
        margins: ``(N, i, j)``: m(i, j), by how much j is better than i in all metrics, at least.
        active: ``(N, K)``.
    """
    others = active[:, :, None] & active[:, None, :] & np.isfinite(margins)
    own = np.where(others, margins, -np.inf).max(axis=2)
    dominated = own > 0.0
    back = np.swapaxes(-margins, 1, 2)  # -m(j, i)
    by_dominated = np.maximum(back, 0.0) + np.maximum(own, 0.0)[:, None, :]
    rivals = np.where(dominated[:, None, :], by_dominated, np.minimum(-margins, back))
    gaps = np.where(dominated, own, np.where(others, rivals, np.inf).min(axis=2))
    return np.where(active, gaps, -np.inf), dominated


@dataclass(kw_only=True)
class EGESR(EmpiricalGapElimination):
    """Decides one arm after each of K - 1 phases: that of the largest empirical gap, see :func:`empirical_gaps`.

    The phases are those of successive rejects: after phase r an undecided arm has n_r = ceil((n - K) / (logbar(K)
    (K + 1 - r))) pulls. Pulls left over by rounding are not made.

    Paper: Kone, Kaufmann and Richert (2024), "Bandit Pareto Set Identification: the Fixed Budget Setting" (arXiv
    2311.03992). Details, such as that a dominated arm is decided first where gaps are equal, are those of the authors'
    program (github.com/cyrille-kone/ege).

    Requires no oracle knowledge. Minimum budget: K D + 1 with D metrics.
    """

    name = "EGE-SR"

    @override
    def phases(self, num_arms: int) -> list[tuple[int, int]]:
        """Return the phases of successive rejects."""
        lengths = np.diff(phase_lengths(num_arms, self.budget), prepend=0).tolist()
        return list(zip(lengths, range(num_arms - 1, 0, -1), strict=True))


@dataclass(kw_only=True)
class EGESH(EmpiricalGapElimination):
    """Decides half of the undecided arms after each of ceil(log2 K) phases: those of the largest empirical gaps.

    Every phase has floor(n / (k ceil(log2 K))) pulls of each of its k arms. Means are those of all phases.

    Paper and differences: see :class:`EGESR`.

    Requires no oracle knowledge. Minimum budget: K D ceil(log2(K D)) with D metrics.
    """

    name = "EGE-SH"
    minimum_budget = budget_of_stages

    @override
    def phases(self, num_arms: int) -> list[tuple[int, int]]:
        """Return the phases of sequential halving."""
        stages, phases, size = num_stages(num_arms), [], num_arms
        for _ in range(stages):
            phases.append((self.budget // (size * stages), size - size // 2))
            size -= size // 2
        return phases
