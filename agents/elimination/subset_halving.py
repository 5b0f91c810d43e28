"""Sequential halving on a random subset of the arms, for budgets below their number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from typing_extensions import override

from bai_gym.agents.base import Agent, Plan
from bai_gym.agents.tools.choosing import random_subset, spread_evenly
from bai_gym.agents.tools.halving import FORGETS, num_stages, observed_means, survivors
from bai_gym.agents.tools.spending import shares
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Block
from bai_gym.validation import integer

__all__ = ["SubsetHalving", "largest_subset"]


@dataclass(kw_only=True)
class SubsetHalving(Agent):
    """Runs sequential halving on c arms drawn at random, so that the budget may be smaller than the number of arms.

    c is the largest number of at most K with c ceil(log2 c) <= n: one pull per arm in the first stage. The other arms
    are never pulled.

    An agent of this library; comparisons of algorithms for many arms use it as a baseline, for example Hwang and Park
    (2026), "Box Thirding: Anytime Best Arm Identification under Insufficient Sampling".

    Args:
        subset: c, from 1 to K; None (default): as above.

    Requires no oracle knowledge. Minimum budget: 1, or what one pull per arm of the ``subset`` takes.
    """

    subset: int | None = None

    name: ClassVar[str] = "SubsetSH"
    uses_variances: ClassVar[bool] = False
    notes: ClassVar[tuple[str, ...]] = (f"SubsetSH: {FORGETS}",)
    quick: ClassVar[bool] = True

    @override
    def minimum_budget(self, num_arms: int) -> int:
        """Return one pull per arm of the subset in the first stage."""
        return 1 if self.subset is None else max(1, self.subset * num_stages(self.subset))

    @override
    def reset(self, info: ProblemInfo, rng: np.random.Generator | None = None) -> None:
        """Check the parameter, on which the minimum budget depends, and begin new episodes."""
        if self.subset is not None:
            integer(self.subset, f"subset of {self.name}", least=1, most=info.num_arms)
        super().reset(info, rng)

    @override
    def plan(self) -> Plan:
        """Draw the subset, and run the stages on it."""
        size = largest_subset(self.num_arms, self.budget) if self.subset is None else self.subset
        chosen = random_subset(self.batch, self.num_arms, size, self.tie, self.rng)
        active = np.nonzero(chosen)[1].reshape(self.batch, size)
        if size == 1:
            yield Block(np.full(active.shape, self.budget), active)
            return active[:, 0]
        for pulls in shares(self, num_stages(size)):
            counts = spread_evenly(self.batch, active.shape[1], pulls, self.tie, self.rng)
            made = yield Block(counts, active)
            active = survivors(self, active, observed_means(made), -(-active.shape[1] // 2))
        return active[:, 0]


def largest_subset(num_arms: int, budget: int) -> int:
    """Return the largest c of at most K with c ceil(log2 c) <= n, at least 1."""
    size = 1
    while size < num_arms and (size + 1) * num_stages(size + 1) <= budget:
        size += 1
    return size
