"""Doubling sequential halving, which does not need the budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from typing_extensions import override

from bai_gym.agents.base import Agent, Plan
from bai_gym.agents.sequential import first_block, recommend_best
from bai_gym.agents.tools.choosing import keep_best, shuffled_arms, spread_evenly
from bai_gym.agents.tools.halving import budget_of_stages
from bai_gym.sampling import Block
from bai_gym.statistics import Statistics

__all__ = ["DoublingHalving"]


@dataclass(kw_only=True)
class DoublingHalving(Agent):
    """Runs sequential halving on all arms again and again, each time with twice the budget.

    Run k = 0, 1, ... has K 2^k pulls in each of its ceil(log2 K) stages; its estimates come from the samples of the
    stage only. The budget ends the last run, wherever it is.

    Paper: Jun and Nowak (2016), "Anytime Exploration for Multi-armed Bandits using Confidence Information", where it is
    a baseline.

    Args:
        output: ``"last"`` (default): the winner of the last run that was finished, to which the error bounds of
            sequential halving apply. ``"mean"``: the arm of largest mean over all samples.

    Requires no oracle knowledge, and does not use the budget. Minimum budget: K ceil(log2 K), the first run.
    """

    output: Literal["last", "mean"] = "last"

    name = "DSH"
    uses_variances = False
    quick = True
    minimum_budget = budget_of_stages

    @property
    @override
    def anytime(self) -> bool:  # type: ignore[override]
        """The winner of the last run does not follow from the statistics of all samples."""
        return self.output == "mean"

    @property
    @override
    def notes(self) -> tuple[str, ...]:  # type: ignore[override]
        """A sentence for tables, unless all samples are used."""
        used = "decides by its last complete run alone, about a quarter to a half of the budget; output=mean uses all"
        return () if self.output == "mean" else (f"{self.name}: {used} samples",)

    @override
    def plan(self) -> Plan:
        """Run sequential halving until the budget is spent."""
        if self.budget < self.num_arms:
            yield first_block(self, self.budget)
            return self.recommend(self._seen)
        winner, left, each = None, self.budget, self.num_arms
        while left:
            active = shuffled_arms(self.batch, self.num_arms, self.tie, self.rng)
            while active.shape[1] > 1 and left:
                size, pulls = active.shape[1], min(each, left)
                counts = spread_evenly(self.batch, size, pulls, self.tie, self.rng)
                made: Statistics = yield Block(counts, active)
                left -= pulls
                if pulls < each:
                    break
                kept = keep_best(made.means, -(-size // 2), self.tie, self.rng)
                active = active[kept].reshape(self.batch, -1)
            if active.shape[1] == 1:
                winner = active[:, 0]
            each *= 2
        return winner if winner is not None and self.output == "last" else self.recommend(self._seen)

    recommend = recommend_best
