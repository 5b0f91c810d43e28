"""Sequential halving."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from bai_gym.agents.tools.choosing import pulls_of_an_arm, spread_evenly
from bai_gym.agents.tools.halving import HalvingAgent, Stage, all_samples, num_stages
from bai_gym.agents.tools.spending import bought_counts, check_split
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Block
from bai_gym.statistics import IntArray, Statistics
from bai_gym.validation import choice

__all__ = ["SequentialHalving", "SequentialHalvingReuse"]


@dataclass(kw_only=True)
class SequentialHalving(HalvingAgent):
    """In each stage the active arms are pulled equally often; the worse half of them is dropped.

    Paper: Karnin, Koren and Somekh (2013), "Almost Optimal Exploration in Multi-Armed Bandits"; as Algorithms 1 and 2
    of Lalitha et al. (2023).

    Args:
        rounding: ``"stage"`` (default): all floor(n / stages) pulls of a stage are made, in cyclic order, so that some
            random arms get one pull more than others. ``"equal"`` (Karnin et al.): every arm gets floor(n / (active
            arms x stages)) pulls, and the rest is not spent. If that is 0 (a budget below the minimum), the stage is as
            with ``"stage"``.
        samples: ``"stage"`` (default) or ``"all"``, see :class:`bai_gym.agents.tools.halving.HalvingAgent`.
        leftover: ``"drop"`` (default) or ``"last"``.
        costs: Where arms have different costs: ``"equal"`` (default): equally many pulls of the active arms, or
            ``"sqrt"``: in proportion to 1 / sqrt(cost), the square-root rule of Kanarios, Zhang and Ying (2024, arXiv
            2402.16710). A stage has the money left, divided by the stages left; ``rounding`` and ``leftover`` have no
            effect. Neither split is better throughout.
        cap: ``"budget"`` (default): the budget alone limits the pulls of an arm. ``"items"``: where rewards are those
            of a number of items, drawn without replacement, no arm is pulled more often than there are items. A stage
            that this shortens ranks by all samples, and pulls that it saves are not made.

    Requires no oracle knowledge. Minimum budget: K ceil(log2 K).
    """

    rounding: str = "stage"
    costs: str = "equal"
    cap: str = "budget"

    name: ClassVar[str] = "SH"
    uses_variances: ClassVar[bool] = False
    uses_costs: ClassVar[bool] = True

    @override
    def begin(self, info: ProblemInfo) -> None:
        super().begin(info)
        choice(self.rounding, ("stage", "equal"), f"rounding of {self.name}")
        check_split(self.costs, self.name)
        self.left = pulls_of_an_arm(self.cap, info, self.name)  # of an active arm, at least

    @override
    def pull_stage(self, active: IntArray, pulls: int) -> Stage:
        """Pull the active arms in cyclic order; where they have costs, as often as the money for the stage allows."""
        size = active.shape[-1]
        if self.arm_costs is not None:
            money = self.money_left / num_stages(size)
            bought: Statistics = yield Block(
                bought_counts(money, self.arm_costs[active], self.costs), self.candidates(active)
            )
            return bought
        if self.rounding == "equal" and pulls >= size:
            pulls -= pulls % size
        shortened = self.left is not None and pulls > self.left * size
        if self.left is not None:
            pulls = min(pulls, self.left * size)
            self.left -= -(-pulls // size)
        made: Statistics = yield Block(
            spread_evenly(self.batch, size, pulls, self.tie, self.rng), self.candidates(active)
        )
        return all_samples(self, active) if shortened else made


@dataclass(kw_only=True)
class SequentialHalvingReuse(SequentialHalving):
    """Sequential halving that keeps its samples: means are of all rewards of an arm, not of the last stage alone.

    It is SH with ``samples="all"``. The theorem of Karnin, Koren and Somekh (2013) is about SH, not about this form.

    Args:
        samples: ``"all"`` (default) or ``"stage"``, see :class:`bai_gym.agents.tools.halving.HalvingAgent`.

    Requires no oracle knowledge. See :class:`SequentialHalving` for the other parameters and the minimum budget.
    """

    samples: str = "all"

    name: ClassVar[str] = "SH-Reuse"
