"""SHAdaVar: sequential halving with variances estimated from above."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from typing_extensions import override

from bai_gym.agents.base import Plan
from bai_gym.agents.parameters import Probability
from bai_gym.agents.sequential import few_pulls
from bai_gym.agents.tools.choosing import spread_evenly
from bai_gym.agents.tools.halving import HalvingAgent, candidates, every_arm, last_answer, num_stages
from bai_gym.agents.tools.spending import shares
from bai_gym.agents.tools.variances import (
    VarianceState,
    estimated_variance,
    normal_assumption,
    pool,
    variance_choice,
    variance_estimate,
)
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import NEVER, Block, Episode, Rule, Sequential
from bai_gym.tasks import Task

__all__ = ["SHAdaVar", "SHAdaVarReuse"]


class SHAdaVarState(VarianceState):
    """What the rule of a stage uses."""

    log: float  # L = log(1 / delta); 0 for the sample variance in place of its bound


def bound_per_pull(pulls: float, mean: float, variance: float, s: SHAdaVarState) -> float:
    """Return U / T, equation (7); arms of variance 0 come after all others, the least pulled first."""
    factor = 1.0 - 2.0 * np.sqrt(s.log / (pulls - 1.0))
    v = estimated_variance(pulls, mean, variance, s)
    index = v / (factor * pulls) if v > 0.0 else -pulls
    return index if factor > 0.0 else np.inf


def begin_stage(e: Episode, s: SHAdaVarState, w: SHAdaVarState, rng: np.random.Generator) -> int:
    """Compute what the estimates of variances need, from the cyclic pulls; there is no other phase."""
    pool(e, s)
    return NEVER


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
        variance: Estimate of the variances: ``"jeffreys"``, ``"floor"``, ``"sample"`` or None (default), by the kind of
            rewards, see :mod:`bai_gym.agents.tools.variances`.
        leftover: ``"drop"`` (default) or ``"last"``, see :class:`bai_gym.agents.tools.halving.HalvingAgent`.

    Requires no oracle knowledge. Minimum budget: K ceil(log2 K), twice that with ``ucb=False``.
    """

    delta: Probability = 0.05
    ucb: bool = True
    variance: str | None = None

    name = "SHAdaVar"
    rule: ClassVar[Rule] = Rule(index=bound_per_pull, refresh=begin_stage, state=SHAdaVarState)
    choices = variance_choice
    unmet_assumptions = normal_assumption

    @override
    def minimum_budget(self, num_arms: int) -> int:
        """Return one pull per arm in the first stage, two for the plug-in variant."""
        return super().minimum_budget(num_arms) * (1 if self.ucb else 2)

    @override
    def plays(self, task: Task | type[Task]) -> bool:
        """Return whether it plays a task; not with several metrics, where a pull of one cell is one of others, too."""
        return super().plays(task) and task.metrics == 1

    @override
    def begin(self, info: ProblemInfo) -> None:
        """Compute L and the cyclic pulls per arm."""
        super().begin(info)
        self._estimate = variance_estimate(self)
        # Without an upper bound L = 0: then U is the sample variance, from two pulls on.
        self._log = -math.log(self.delta) if self.ucb else 0.0
        self._cyclic_share = 4.0 * self._log + 1.0 if self.ucb else 2.0

    @override
    def plan(self) -> Plan:
        if self.budget < self.num_arms:
            return (yield from few_pulls(self))
        active = every_arm(self)
        for pulls in shares(self, num_stages(self.num_arms), self.leftover):
            size, arms = active.shape[1], candidates(self, active)
            cyclic = min(pulls, math.floor(size * self._cyclic_share))
            made = yield Block(spread_evenly(self.batch, size, cyclic, self.tie, self.rng), arms)
            if pulls > cyclic:  # then greedily by U / pulls
                values = {"log": self._log, "estimate": self._estimate}
                steps = pulls - cyclic, self.tie, self.rng, values
                outcome = yield Sequential(self.rule, *steps, arms=arms, window=made, agent=self.name)
                made = outcome.statistics
            active = self.better_half(active, made)
        return last_answer(self, active, self.latest)


@dataclass(kw_only=True)
class SHAdaVarReuse(SHAdaVar):
    """SHAdaVar that keeps its samples: means are of all rewards of an arm, not of the last stage alone.

    Variances are still estimated within a stage, and so its pulls are those of SHAdaVar. The theorem of Lalitha et al.
    (2023) is about SHAdaVar, not about this form.

    Requires no oracle knowledge. See :class:`SHAdaVar` for the parameters and the minimum budget.
    """

    name = "SHAdaVar-Reuse"
    keeps_samples = True
