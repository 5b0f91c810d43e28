"""SAVAGE: pairs of items are compared in turn until their outcome cannot matter any more."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from typing_extensions import override

from bai_gym.agents.parameters import Probability
from bai_gym.agents.sequential import SequentialAgent
from bai_gym.agents.tools.scanning import pull_in_turn
from bai_gym.duels.tasks import pairs
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Episode, Rule, State, Vector

__all__ = ["SAVAGE"]


class SavageState(State):
    """What the rule of SAVAGE uses."""

    level: float  # log(pi^2 K / (3 delta))
    remaining: int  # pairs that still matter
    left: Vector  # the items of each pair
    right: Vector
    least: Vector  # duels that each item wins for certain
    most: Vector  # duels that it may win


def drop_what_cannot_matter(e: Episode, s: SavageState, w: SavageState, rng: np.random.Generator) -> int:
    """Drop pairs that are decided, and those of two items that can win no more; return when the next round ends."""
    for item in range(w.least.size):
        w.least[item], w.most[item] = 0.0, w.least.size - 1.0
    for arm in range(e.num_arms):
        if is_certain(e, s, arm):
            winner, loser = (w.left[arm], w.right[arm]) if e.mean[arm] > 0.5 else (w.right[arm], w.left[arm])
            w.least[int(winner)] += 1.0
            w.most[int(loser)] -= 1.0
    certain = 0.0
    for item in range(w.least.size):
        certain = max(certain, w.least[item])
    s.remaining = 0
    for arm in range(e.num_arms):
        may_win = max(w.most[int(w.left[arm])], w.most[int(w.right[arm])]) > certain
        e.active[arm] = int(e.active[arm] == 1 and may_win and not is_certain(e, s, arm))
        s.remaining += e.active[arm]
    return e.made + max(s.remaining, 1)


def is_certain(e: Episode, s: SavageState, arm: int) -> bool:
    """Return whether the interval of a pair does not contain 1/2."""
    width = math.sqrt((s.level + 2.0 * math.log(e.pulls[arm])) / (2.0 * e.pulls[arm]))
    return bool(abs(e.mean[arm] - 0.5) > width)


def is_decided(e: Episode, s: SavageState, w: SavageState) -> bool:
    """Return whether no pair matters any more."""
    return s.remaining == 0


@dataclass(kw_only=True)
class SAVAGE(SequentialAgent):
    """Compares all pairs in turn, and drops those whose outcome cannot matter any more, until none is left.

    After t duels the interval of a pair is its mean plus or minus sqrt(log(pi^2 K t^2 / (3 delta)) / (2 t)), K the
    number of pairs. A pair is dropped when its interval does not contain 1/2, or when neither of its items can win more
    duels than another one wins for certain. The item that beats all others is recommended.

    Paper: Urvoy, Clerot, Feraud and Naamane (2013), "Generic Exploration and K-armed Voting Bandits", with the test of
    independence for Copeland scores; where one item beats all others, that is the Copeland winner. The constants are
    those that duelpy cites from the supplement of the paper.

    Args:
        delta: Allowed error probability, in (0, 1). Default 0.1.

    Requires no oracle knowledge.
    """

    delta: Probability = 0.1

    name = "SAVAGE"
    tasks = frozenset({"condorcet"})
    stops = True
    anytime = False  # what has been dropped is not part of the observation
    uses_variances = False
    rule = Rule(choose=pull_in_turn, refresh=drop_what_cannot_matter, stops=is_decided, state=SavageState)

    @override
    def begin(self, info: ProblemInfo) -> None:
        (items,) = self.task.sizes(self.num_arms)
        left, right = pairs(items)
        self.values = {
            "level": math.log(math.pi**2 * self.num_arms / (3.0 * self.delta)),
            "remaining": self.num_arms,
            "left": left.astype(np.float64),
            "right": right.astype(np.float64),
            "least": np.zeros(items),
            "most": np.zeros(items),
        }
