"""Sequential halving."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from typing_extensions import override

from bai_gym.agents.base import Plan
from bai_gym.agents.sequential import few_pulls
from bai_gym.agents.tools.choosing import pulls_of_an_arm
from bai_gym.agents.tools.halving import HalvingAgent, all_samples, candidates, every_arm, last_answer, num_stages
from bai_gym.agents.tools.spending import buys, check_split, shares
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Block

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
        leftover: ``"drop"`` (default) or ``"last"``, see :class:`bai_gym.agents.tools.halving.HalvingAgent`.
        costs: Where arms have different costs: ``"equal"`` (default): equally many pulls of the active arms, or
            ``"sqrt"``: in proportion to 1 / sqrt(cost), the square-root rule of Kanarios, Zhang and Ying (2024, arXiv
            2402.16710). A stage has the money left, divided by the stages left; ``rounding`` and ``leftover`` have no
            effect. Neither split is better throughout.
        cap: ``"budget"`` (default): the budget alone limits the pulls of an arm. ``"items"``: where rewards are those
            of a number of items, drawn without replacement, no arm is pulled more often than there are items. Once the
            active arms have been, all samples rank them, and pulls that this saves are not made. Not with costs.

    Requires no oracle knowledge. Minimum budget: K ceil(log2 K).
    """

    rounding: Literal["stage", "equal"] = "stage"
    costs: str = "equal"
    cap: str = "budget"

    name = "SH"
    uses_variances = False

    @property
    @override
    def uses_costs(self) -> bool:  # type: ignore[override]
        return self.cap == "budget"

    @override
    def begin(self, info: ProblemInfo) -> None:
        super().begin(info)
        check_split(self.costs, self.name)
        self.most = pulls_of_an_arm(self.cap, info, self.name)

    @override
    def plan(self) -> Plan:
        if self.budget < self.num_arms:
            return (yield from few_pulls(self))
        active, room = every_arm(self), self.most
        for share in shares(self, num_stages(self.num_arms), self.leftover):
            counts = buys(self, share, active, split=self.costs, rounding=self.rounding, most=room)
            made = yield Block(counts, candidates(self, active))
            room -= counts[0].max()  # the same in every episode
            active = self.better_half(active, made if room else all_samples(self, active))
        return last_answer(self, active, self.latest)


@dataclass(kw_only=True)
class SequentialHalvingReuse(SequentialHalving):
    """Sequential halving that keeps its samples: means are of all rewards of an arm, not of the last stage alone.

    The theorem of Karnin, Koren and Somekh (2013) is about SH, not about this form.

    Requires no oracle knowledge. See :class:`SequentialHalving` for the parameters and the minimum budget.
    """

    name = "SH-Reuse"
    keeps_samples = True
