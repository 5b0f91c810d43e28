"""FCVote: a fixed budget spent on independent runs of an agent of fixed confidence, which vote."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from typing_extensions import override

from bai_gym.agents.base import Plan
from bai_gym.agents.bounds.confident_runs import ConfidentRuns
from bai_gym.agents.sequential import first_block
from bai_gym.agents.tools.choosing import best_mean, keep_best
from bai_gym.errors import ParameterError
from bai_gym.problems import ProblemInfo
from bai_gym.validation import integer

__all__ = ["FCVote", "scales"]

LARGEST_DELTA = 1.0 / (4.0 * math.e)


@dataclass(kw_only=True)
class FCVote(ConfidentRuns):
    """Runs an agent of fixed confidence many times with small caps and a few times with large ones; the runs vote.

    The budget is divided equally among S scales. At scale c = 0, ..., S - 1 independent runs of the agent are capped at
    T_c = 2^c T_0 pulls, as many runs as the scale's budget allows. A scale is valid if at least half of its runs stop
    by themselves. The smallest valid scale recommends the plurality of these runs; without a valid scale it is the
    plurality of the arms of largest mean at the last one. Pulls that runs leave are not spent.

    An agent of this library, with the property that Balagopalan et al. (2026) show for ``FC2FB``: the budget that it
    needs is, up to logarithms, what the agent of fixed confidence needs. A valid scale of m runs errs with probability
    at most (4 e delta)^(m / 4).

    Args:
        agent: Name of an agent that decides when to stop; default ``"LUCB"``.
        delta: Its allowed error probability, above 0 and below 1 / (4 e); default 0.05.
        first: T_0, at least the agent's minimum budget; None (default): twice that.
        b: Length of an interval that contains the rewards, for agents that have this parameter. None (default): as the
            agent chooses it.
        sigma: In place of ``b``, for rewards that are sigma-sub-Gaussian; None (default): as the agent chooses.

    Requires what the agent requires. Minimum budget: T_0.
    """

    first: int | None = None

    name: ClassVar[str] = "FCVote"
    notes: ClassVar[tuple[str, ...]] = (
        "FCVote: its runs forget each other's samples, and with a small budget none of them stops by itself",
    )

    @override
    def minimum_budget(self, num_arms: int) -> int:
        """Return one run with the smallest cap."""
        least = self.made().minimum_budget(num_arms)
        return 2 * least if self.first is None else integer(self.first, f"first of {self.name}", least=least)

    @override
    def begin(self, info: ProblemInfo) -> None:
        if not 0.0 < self.delta < LARGEST_DELTA:
            raise ParameterError(f"delta of FCVote must lie strictly between 0 and 1 / (4 e) = 0.092, not {self.delta}")
        super().begin(info)

    @override
    def plan(self) -> Plan:
        first = self.minimum_budget(self.num_arms)
        if self.budget < first:
            yield first_block(self, self.budget)
            return best_mean(self.statistics, self.tie, self.rng)
        chosen = np.full(self.batch, -1)
        votes = np.zeros((self.batch, self.num_arms))
        for cap, runs in scales(self.budget, first):
            ended = np.zeros(self.batch, np.int64)
            votes, fallback = np.zeros_like(votes), np.zeros_like(votes)
            for _ in range(runs):
                arm, best, stopped = yield from self.run(cap)
                ended += stopped
                votes[np.flatnonzero(stopped), arm[stopped]] += 1
                fallback[np.arange(self.batch), best] += 1
            winners = keep_best(votes, 1, self.tie, self.rng).argmax(axis=1)
            chosen = np.where((chosen < 0) & (2 * ended >= runs), winners, chosen)
        last = keep_best(fallback, 1, self.tie, self.rng).argmax(axis=1)
        return np.where(chosen < 0, last, chosen)


def scales(budget: int, first: int) -> list[tuple[int, int]]:
    """Return the cap and the number of runs of each scale.

    Args:
        budget: n.
        first: T_0, at most n.
    """
    number = max(1, math.floor(math.log2(budget / (4 * first)))) if budget >= 8 * first else 1
    return [(first << scale, max(1, budget // (number * (first << scale)))) for scale in range(number)]
