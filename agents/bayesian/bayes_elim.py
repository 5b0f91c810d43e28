"""BayesElim: sequential halving by posterior means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from typing_extensions import override

from bai_gym.agents.base import Plan
from bai_gym.agents.elimination.shvar import greedy_counts
from bai_gym.agents.tools.halving import FORGETS, Stage, num_stages, run_stages
from bai_gym.agents.tools.normal_prior import PriorAgent, shrunk_means
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Block
from bai_gym.statistics import FloatArray, IntArray, Statistics
from bai_gym.validation import choice

__all__ = ["BayesElim"]


@dataclass(kw_only=True)
class BayesElim(PriorAgent):
    """Drops the worse half of the arms, by posterior mean, in each of ceil(log2 K) stages of equal budget.

    The pulls of a stage are in proportion to the variances of the rewards. An arm's posterior mean follows from its own
    prior and its samples of the stage.

    Paper: Atsidakou, Katariya, Sanghavi and Kveton (2022), "Bayesian Fixed-Budget Best-Arm Identification" (arXiv
    2211.08572). Details are from two implementations by others, which agree on what is said above; where K is not a
    power of 2 they round differently, and here an odd half is rounded up, as in SH.

    Args:
        samples: ``"stage"`` (default, as published): posteriors from the samples of the stage. ``"all"``: from all
            samples so far.
        prior_mean: See :class:`bai_gym.agents.tools.normal_prior.PriorAgent`.
        prior_sd: See there; where the means depend on each other, each arm has its own variance, and no more.
        sigma: See there.

    Knows the prior unless it is given, and the variances if ``sigma`` is the oracle's. Minimum budget: K ceil(log2 K).
    """

    samples: str = "stage"

    name: ClassVar[str] = "BayesElim"

    @property
    @override
    def notes(self) -> tuple[str, ...]:  # type: ignore[override]
        """A sentence for tables if stages forget samples."""
        return () if self.samples == "all" else (f"{self.name}: {FORGETS}; samples=all keeps them",)

    @override
    def minimum_budget(self, num_arms: int) -> int:
        """Return one pull per arm in the first stage."""
        return num_arms * num_stages(num_arms)

    @override
    def begin(self, info: ProblemInfo) -> None:
        super().begin(info)
        choice(self.samples, ("stage", "all"), f"samples of {self.name}")

    @override
    def plan(self) -> Plan:
        active = np.broadcast_to(np.arange(self.num_arms), (self.batch, self.num_arms))
        if self.budget < self.num_arms:
            yield from self._pull_stage(active, self.budget)
            return self.best_posterior(self.statistics)
        return (yield from run_stages(self, active, 2, self.samples, "drop", self._pull_stage, self._posterior_means))

    def _pull_stage(self, active: IntArray, pulls: int) -> Stage:
        """Pull in proportion to the variances."""
        noise = np.take_along_axis(self.noise, active, -1)
        statistics: Statistics = yield Block(greedy_counts(noise, pulls, self.tie, self.rng), active)
        return statistics

    def _posterior_means(self, active: IntArray, estimates: Statistics) -> FloatArray:
        noise = np.take_along_axis(self.noise, active, -1)
        return shrunk_means(self.prior.mean[0, active], self.prior.variance[0, active], noise, estimates)
