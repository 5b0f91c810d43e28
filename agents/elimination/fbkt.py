"""FBKT: a knockout tournament with a fixed budget."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from typing_extensions import override

from bai_gym.agents.base import Agent, Plan
from bai_gym.agents.sequential import first_block
from bai_gym.agents.tools.choosing import best_mean, keep_best, shuffled_arms
from bai_gym.agents.tools.halving import FORGETS, num_stages
from bai_gym.bandits import Bandit
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Block
from bai_gym.statistics import Statistics
from bai_gym.validation import choice, integer

__all__ = ["FBKT", "round_shares"]

NEGLIGIBLE = 0.1  # share of the budget


@dataclass(kw_only=True)
class FBKT(Agent):
    """Knocks arms out in pairs: in each round, of every pair the arm with the larger mean of fresh samples advances.

    Round r = 1, ..., ceil(log2 K) has a share of r / (phi (phi - 1)) ((phi - 1) / phi)^r of the budget, divided equally
    among the arms in it. Pairs are random; of an odd number of arms a random one advances without a match.

    Paper: Hong, Jiang and Zhong (2022), "Solving Large-Scale Fixed-Budget Ranking and Selection Problems"; the rule as
    in the authors' code (github.com/biazhong/FBKT), with random pairs in place of fixed ones.

    Args:
        phi: An integer of at least 2; default 3, as in the authors' experiments. The larger it is, the more of the
            budget is left for late rounds.
        leftover: ``"drop"`` (default): the shares add up to 1 over infinitely many rounds only, and the rest is not
            spent. ``"scale"``: the shares are divided by their sum.

    Requires no oracle knowledge. Minimum budget: that with a pull of each arm in every round.
    """

    phi: int = 3
    leftover: str = "drop"

    name: ClassVar[str] = "FBKT"
    uses_variances: ClassVar[bool] = False
    notes: ClassVar[tuple[str, ...]] = (f"FBKT: {FORGETS}",)
    quick: ClassVar[bool] = True

    @override
    def minimum_budget(self, num_arms: int) -> int:
        """Return the smallest budget with a pull of each arm in every round."""
        needs, left = [], num_arms
        for share in round_shares(num_arms, self.phi, self.leftover):
            needs.append(math.ceil((left - left % 2) / share))
            left = -(-left // 2)
        return max(needs)

    def unmet_assumptions(self, bandit: Bandit) -> tuple[str, ...]:
        """Return a note if arms are so few that much of the budget is left for rounds that are not played."""
        unspent = 1.0 - float(sum(round_shares(bandit.num_arms, self.phi, self.leftover)))
        if unspent < NEGLIGIBLE:
            return ()
        return (
            f"{self.name}: with {bandit.num_arms} arms it leaves {unspent:.0%} of the budget unspent, as published; "
            "leftover=scale spends it",
        )

    @override
    def reset(self, info: ProblemInfo, rng: np.random.Generator | None = None) -> None:
        """Check the parameters, on which the minimum budget depends, and begin new episodes."""
        integer(self.phi, f"phi of {self.name}", least=2)
        choice(self.leftover, ("drop", "scale"), f"leftover of {self.name}")
        super().reset(info, rng)

    @override
    def plan(self) -> Plan:
        if self.budget < self.minimum_budget(self.num_arms):
            yield first_block(self, self.budget)
            return best_mean(self.statistics, self.tie, self.rng)
        left = shuffled_arms(self.batch, self.num_arms, self.tie, self.rng)
        for share in round_shares(self.num_arms, self.phi, self.leftover):
            half, odd = divmod(left.shape[1], 2)
            left = self.rng.permuted(left, axis=1) if self.tie == "random" else left
            playing = left[:, odd:]
            pulls = math.floor(share * self.budget) // (2 * half)
            made: Statistics = yield Block(np.full(playing.shape, pulls), playing)
            # Arm j of the first half plays against arm j of the second.
            means = made.means.reshape(self.batch, 2, half).swapaxes(1, 2).reshape(-1, 2)
            pairs = playing.reshape(self.batch, 2, half).swapaxes(1, 2).reshape(-1, 2)
            winners = pairs[keep_best(means, 1, self.tie, self.rng)].reshape(self.batch, half)
            left = np.concatenate([left[:, :odd], winners], axis=1)
        return left[:, 0]


def round_shares(num_arms: int, phi: int, leftover: str) -> list[Fraction]:
    """Return the share of the budget that each round has, see :class:`FBKT`."""
    ratio = Fraction(phi - 1, phi)
    shares = [Fraction(r, phi * (phi - 1)) * ratio**r for r in range(1, num_stages(num_arms) + 1)]
    return [share / sum(shares) for share in shares] if leftover == "scale" else shares
