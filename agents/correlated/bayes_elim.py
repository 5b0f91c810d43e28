"""BayesElim: sequential halving by posterior means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from typing_extensions import override

from bai_gym.agents.base import Plan
from bai_gym.agents.correlated.normal_prior import PriorAgent, shrunk_means
from bai_gym.agents.elimination.shvar import greedy_counts
from bai_gym.agents.tools.halving import FORGETS, all_samples, budget_of_stages, every_arm, num_stages, survivors
from bai_gym.agents.tools.spending import shares
from bai_gym.sampling import Block

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
        prior_mean: See :class:`bai_gym.agents.correlated.normal_prior.PriorAgent`.
        prior_sd: See there; where the means depend on each other, each arm has its own variance, and no more.
        sigma: See there.

    Knows the prior unless it is given, and the variances if ``sigma`` is the oracle's. Minimum budget: K ceil(log2 K).
    """

    samples: Literal["stage", "all"] = "stage"

    name = "BayesElim"
    minimum_budget = budget_of_stages

    @property
    @override
    def notes(self) -> tuple[str, ...]:  # type: ignore[override]
        """A sentence for tables if stages forget samples."""
        return () if self.samples == "all" else (f"{self.name}: {FORGETS}; samples=all keeps them",)

    @override
    def plan(self) -> Plan:
        active = every_arm(self)
        if self.budget < self.num_arms:
            yield Block(greedy_counts(self.noise, self.budget, self.tie, self.rng), active)
            return self.best_posterior(self.statistics)
        for pulls in shares(self, num_stages(self.num_arms)):
            noise = np.take_along_axis(self.noise, active, -1)
            made = yield Block(greedy_counts(noise, pulls, self.tie, self.rng), active)
            estimates = all_samples(self, active) if self.samples == "all" else made
            means = shrunk_means(self.prior.mean[0, active], self.prior.variance[0, active], noise, estimates)
            active = survivors(self, active, means, -(-active.shape[1] // 2))
        return active[:, 0]
