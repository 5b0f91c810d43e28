"""OCBA, optimal computing budget allocation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bai_gym.agents.one_by_one import OneByOneAgent
from bai_gym.errors import ParameterError
from bai_gym.problems import Briefing
from bai_gym.sampling import ArgmaxTable, SamplingRule, TieRule
from bai_gym.statistics import ROUNDING, FloatArray, IntArray, Statistics

__all__ = ["OCBA", "OCBARule"]

SMALLEST_GAP = 1e-12  # as small as this, means are tied
SMALLEST_VARIANCE = 1e-12


@dataclass(kw_only=True)
class OCBA(OneByOneAgent):
    """Pulls the arm that is farthest behind the proportions that are best for the estimated means and variances.

    With b the best arm and d the distances to its mean, the proportions are R_i = v_i / d_i^2 for all others, and
    R_b = sigma_b sqrt(sum of R_i^2 / v_i). After t pulls the next one goes to the arm of largest
    (t + 1) R_i / (sum of all R) - T_i. Where arms share the largest mean, it goes to the least pulled of them. The arm
    of largest mean is recommended.

    Paper: Chen, Lin, Yucesan and Chick (2000), "Simulation Budget Allocation for Further Enhancing the Efficiency of
    Ordinal Optimization", Theorem 1, one pull at a time. First pulls and ties are this library's choice.

    Args:
        n0: First pulls of each arm, at least 2; None (default): n / (2 K), rounded down, but from 2 to 5.

    Knows nothing. Minimum budget: 2 K, or ``n0`` K.
    """

    n0: int | None = None

    name: ClassVar[str] = "OCBA"

    @property
    def first_pulls(self) -> int:  # type: ignore[override]
        """First pulls of each arm."""
        return max(2, min(5, self.budget // (2 * self.num_arms))) if self.n0 is None else self.n0

    def minimum_budget(self, num_arms: int) -> int:
        """Return two pulls per arm, or the given number."""
        return (2 if self.n0 is None else self.n0) * num_arms

    def begin(self, briefing: Briefing) -> None:
        """Check the parameter."""
        if self.n0 is not None and self.n0 < 2:
            raise ParameterError(f"n0 of OCBA must be at least 2, for a variance, not {self.n0}")

    def rule(self, steps: int) -> SamplingRule:
        """Return the rule of all remaining pulls."""
        return OCBARule(steps, tie=self.tie, rng=self.rng)


class OCBARule(SamplingRule):
    """Pulls the arm of largest (t + 1) R_i / (sum of all R) - T_i, see :class:`OCBA`.

    The best mean enters all proportions, so a step computes them for all arms: some ten operations on ``(k, N)``.
    """

    def __init__(self, steps: int, *, tie: TieRule, rng: np.random.Generator) -> None:
        """Remember the tie rule."""
        self.steps = steps
        self._tie: TieRule = tie
        self._rng = rng

    def start(self, window: Statistics) -> None:
        """Prepare the tables; every arm has been pulled twice."""
        self._window = window
        self._made = float(window.pulls[:, 0].sum())
        self._variances = np.maximum(window.variances, SMALLEST_VARIANCE)
        self._flat_variances = self._variances.reshape(-1)
        self._table = ArgmaxTable(np.empty(window.pulls.shape), self._tie, self._rng)
        self._weights = np.empty(window.pulls.shape)
        slots, batch = window.pulls.shape
        self._slots = np.arange(slots)[:, None].astype(np.min_scalar_type(slots))
        self._episodes = np.arange(batch)

    def choose(self) -> IntArray:
        """Return the arms farthest behind their proportion."""
        means, pulls = self._window.means, self._window.pulls
        weights, shares = self._weights, self._table.values
        best = means.max(axis=0)
        np.subtract(best, means, out=weights)
        is_best = weights <= np.maximum(SMALLEST_GAP, ROUNDING * np.abs(best))
        np.maximum(weights, SMALLEST_GAP, out=weights)
        weights *= weights
        np.divide(1.0, weights, out=weights)
        flat_best = (is_best * self._slots).max(axis=0).astype(np.int64) * best.size + self._episodes
        weights.reshape(-1)[flat_best] = 0.0
        np.multiply(self._variances, weights, out=shares)
        # R_i^2 / v_i is R_i / d_i^2.
        squares = np.einsum("kn,kn->n", shares, weights)
        self._table.flat[flat_best] = np.sqrt(self._flat_variances[flat_best] * squares)
        shares *= (self._made + 1.0) / shares.sum(axis=0)
        shares -= pulls
        if np.count_nonzero(is_best) > best.size:
            shared = np.flatnonzero(np.count_nonzero(is_best, axis=0) > 1)
            shares[:, shared] = np.where(is_best[:, shared], -pulls[:, shared], -np.inf)
        return self._table.argmax(pulls)

    def update(self, flat: IntArray, pulls: FloatArray, means: FloatArray, variances: FloatArray) -> None:
        """Renew the variances of the pulled arms."""
        self._flat_variances[flat] = np.maximum(variances, SMALLEST_VARIANCE)
        self._made += 1.0
