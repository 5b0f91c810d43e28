"""SHAdaVar: sequential halving with variances estimated from above."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bai_gym.agents.choosing import spread_evenly
from bai_gym.agents.halving import HalvingAgent
from bai_gym.agents.parameters import check_share
from bai_gym.problems import Briefing
from bai_gym.sampling import Block, IndexRule, Request
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
        check_share(self.delta, "delta", self.name)
        log = -math.log(self.delta)
        self._cyclic_share = 4.0 * log + 1.0 if self.ucb else 2.0
        pulls = np.arange(self.budget + 1, dtype=np.float64)
        others = np.maximum(pulls - 1.0, 1.0)
        shrunk = pulls * (1.0 - 2.0 * np.sqrt(log / others)) if self.ucb else pulls
        bounded = (pulls > 1.0) & (shrunk > 0.0)
        # U / T is the sample variance times this; 0 where there is no finite bound.
        self._factors: FloatArray = np.where(bounded, 1.0 / np.where(bounded, shrunk, 1.0), 0.0)

    def pull_stage(self, active: IntArray, pulls: int) -> Generator[Request, None, Statistics]:
        """Pull cyclically, then greedily by U / pulls."""
        size = active.shape[-1]
        candidates = self.candidates(active)
        cyclic = min(pulls, math.floor(size * self._cyclic_share))
        block = Block(spread_evenly(self.batch, size, cyclic, self.tie, self.rng), candidates)
        yield block
        if pulls == cyclic:
            return block.outcome
        rule = IndexRule(pulls - cyclic, self._index, tie=self.tie, rng=self.rng, arms=candidates, window=block.outcome)
        yield rule
        return rule.outcome

    def _index(self, pulls: FloatArray, means: FloatArray, variances: FloatArray) -> FloatArray:
        """Return U / T, elementwise."""
        factors = self._factors.take(pulls.astype(np.int64))
        index = variances * factors
        if index.min() > 0.0:
            return index
        # Arms of zero sample variance have U = 0: they come after all others, the least pulled first.
        index = np.where(variances > 0.0, index, -pulls)
        return np.where(factors > 0.0, index, np.inf)
