"""SHAdaVar: sequential halving with variances estimated from above."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bai_gym.agents.base import Plan
from bai_gym.agents.choosing import spread_evenly
from bai_gym.agents.halving import HalvingAgent, scatter
from bai_gym.errors import ParameterError
from bai_gym.problems import Briefing
from bai_gym.sampling import Block, IndexRule
from bai_gym.statistics import FloatArray, IntArray, Statistics

__all__ = ["SHAdaVar"]


@dataclass(kw_only=True)
class SHAdaVar(HalvingAgent):
    """In each stage the next pull goes to the active arm of largest U / pulls, U an upper bound on its variance.

    With L = log(1/delta), a stage begins with floor(k (4 L + 1)) cyclic pulls of its k arms. From then on
    U = v / (1 - 2 sqrt(L / (T - 1))), with v the unbiased sample variance and T the pulls of the arm, both in this
    stage. Where T - 1 <= 4 L the bound does not exist and counts as +inf: 4 L + 1 is no integer, so some arms leave the
    cyclic part one pull short.

    Paper: Lalitha et al. (2023), Algorithms 1 and 4, equation (7). In a stage of at most k (4 L + 1) pulls it is
    sequential halving.

    Args:
        delta: Confidence parameter of the variance bounds, in (0, 1). Default 0.05, as in the paper's experiments (its
            Theorem 5 asks for delta < 1 / (K n)).
        ucb: If False, the sample variance takes the place of U, after two cyclic pulls per arm (a variant that the
            paper mentions and does not analyse).
        samples: ``"stage"`` (default) or ``"all"``, for the means that decide who survives.
        leftover: ``"drop"`` (default) or ``"last"``.

    Knows nothing. Minimum budget: K ceil(log2 K), twice that with ``ucb=False``.
    """

    delta: float = 0.05
    ucb: bool = True

    name: ClassVar[str] = "SHAdaVar"

    def minimum_budget(self, num_arms: int) -> int:
        """Return one pull per arm in the first stage, two for the plug-in variant."""
        return super().minimum_budget(num_arms) * (1 if self.ucb else 2)

    def begin(self, briefing: Briefing) -> None:
        """Compute L and the cyclic pulls per arm."""
        super().begin(briefing)
        if not 0.0 < self.delta < 1.0:
            raise ParameterError(f"delta of SHAdaVar must lie strictly between 0 and 1, not {self.delta}")
        self._log = -math.log(self.delta)
        self._cyclic_share = 4.0 * self._log + 1.0 if self.ucb else 2.0

    def pull_stage(self, active: IntArray, pulls: int, before: Statistics) -> Plan:
        """Pull cyclically, then greedily by U / pulls."""
        size = active.shape[-1]
        cyclic = min(pulls, math.floor(size * self._cyclic_share))
        counts = spread_evenly(self.batch, size, cyclic, self.tie, self.rng)
        yield Block(scatter(active, counts, self.num_arms))
        if pulls > cyclic:
            window = self.statistics.take(active).since(before)
            yield IndexRule(pulls - cyclic, self._index, tie=self.tie, rng=self.rng, arms=active, window=window)

    def _index(self, pulls: FloatArray, means: FloatArray, variances: FloatArray) -> FloatArray:
        """Return U / T, elementwise."""
        if not self.ucb:
            share = pulls * (pulls > 1)
        else:
            share = np.sqrt(self._log / np.maximum(pulls - 1.0, 1e-300))
            share *= -2.0
            share += 1.0
            share *= pulls
        # Now U / T is variance / share, where the share is positive: there T - 1 > 4 L.
        if share.min() > 0.0 and variances.all():
            return variances / share
        bounded = share > 0.0
        # Arms of zero sample variance have U = 0: they come after all others, the least pulled first.
        index = np.where(variances > 0.0, variances / np.where(bounded, share, 1.0), -pulls)
        return np.where(bounded, index, np.inf)
