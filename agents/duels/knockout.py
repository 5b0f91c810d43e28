"""Knockout: items are paired at random, and the winners of a round are the items of the next one."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from typing_extensions import override

from bai_gym.agents.parameters import Probability
from bai_gym.agents.sequential import SequentialAgent
from bai_gym.bandits import Bandit
from bai_gym.duels.tasks import Condorcet, count_items, pair
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Episode, Outcome, Rule, State, Vector
from bai_gym.statistics import IntArray

__all__ = ["Knockout"]

SHRINKING = 2.0 ** (1.0 / 3.0)  # by which the accuracy grows from round to round
EXACT = 1e-9  # rounding of chances


class KnockoutState(State):
    """What the rule of Knockout uses."""

    epsilon: float  # allowed in the next round
    delta: float
    left: int  # items of this round
    duel: int  # of this round: items 2 duel and 2 duel + 1 of the order
    order: Vector  # the items; those of the round come first, and winners replace them


def the_pair(e: Episode, s: KnockoutState, w: KnockoutState, rng: np.random.Generator) -> int:
    """Return the arm that is the duel at hand."""
    return pair(int(w.order[2 * s.duel]), int(w.order[2 * s.duel + 1]), w.order.size)


def let_winners_advance(e: Episode, s: KnockoutState, w: KnockoutState, rng: np.random.Generator) -> int:
    """End the duel at hand if it is decided, and the round if that was its last duel."""
    if e.made > 0:
        arm = the_pair(e, s, w, rng)
        duels, lead = e.pulls[arm], e.mean[arm] - 0.5
        width = math.sqrt(math.log(4.0 * duels**2 / s.delta) / (2.0 * duels))
        if abs(lead) <= width - s.epsilon and duels <= math.log(2.0 / s.delta) / (2.0 * s.epsilon**2):
            return e.made + 1
        one, other = w.order[2 * s.duel], w.order[2 * s.duel + 1]
        w.order[s.duel] = one if (lead if one < other else -lead) > 0.0 else other
        s.duel += 1
        if s.left - 2 * s.duel > 1:
            return e.made + 1
        if s.left % 2 == 1:
            w.order[s.duel] = w.order[s.left - 1]
        s.left, s.duel = (s.left + 1) // 2, 0
        s.epsilon /= SHRINKING
        s.delta /= 2.0
    for place in range(s.left - 1, 0, -1):
        chosen = int(rng.random() * (place + 1))
        w.order[place], w.order[chosen] = w.order[chosen], w.order[place]
    return e.made + 1


def is_over(e: Episode, s: KnockoutState, w: KnockoutState) -> bool:
    """Return whether one item is left."""
    return s.left == 1


@dataclass(kw_only=True)
class Knockout(SequentialAgent):
    """Pairs the items at random, compares each pair until its winner is clear, and goes on with the winners.

    In round i a pair is compared r times, until its mean is further from 1/2 than sqrt(log(4 r^2 / delta_i) / (2 r)) -
    epsilon_i, or r > log(2 / delta_i) / (2 epsilon_i^2); delta_i = delta / 2^i, epsilon_i = (2^(1/3) - 1) epsilon /
    2^(i/3). The item with more wins advances, and so does an item without a rival.

    Paper: Falahatgar, Orlitsky, Pichapati and Suresh (2017), "Maximum Selection and Ranking under Noisy Comparisons",
    Algorithms 1 to 3, with strong stochastic transitivity (its relaxed form with gamma is not offered). The recommended
    item loses no duel by more than epsilon, with probability 1 - delta.

    Args:
        delta: Allowed error probability, in (0, 1). Default 0.1.
        epsilon: Accuracy, in (0, 1). Default 0.05.

    Requires no oracle knowledge. Minimum budget: n - 1 with n items.
    """

    delta: Probability = 0.1
    epsilon: Probability = 0.05

    name = "Knockout"
    tasks = frozenset({"condorcet"})
    stops = True
    anytime = False  # who has advanced is not part of the observation
    uses_variances = False
    first_pulls = 0
    rule = Rule(choose=the_pair, refresh=let_winners_advance, stops=is_over, state=KnockoutState)

    @override
    def minimum_budget(self, num_arms: int) -> int:
        """Return n - 1, since each item but one loses: of K = n (n - 1) / 2 arms the root of 2 K, rounded down."""
        return math.isqrt(2 * num_arms)

    @override
    def begin(self, info: ProblemInfo) -> None:
        items = count_items(self.num_arms)
        self.values = {
            "epsilon": (SHRINKING - 1.0) * self.epsilon / SHRINKING,
            "delta": self.delta / 2.0,
            "left": items,
            "order": np.arange(items, dtype=np.float64),
        }

    @override
    def conclude(self, outcome: Outcome) -> IntArray:
        """Return the item that is left; where the budget ended before, one of those."""
        return outcome.states["order"][:, 0].astype(np.int64)

    def unmet_assumptions(self, bandit: Bandit) -> tuple[str, ...]:
        """Return a note if chances are not transitive, and one if an item is too close to the winner."""
        notes = []
        leads = Condorcet().leads(bandit.means)
        leads[np.isinf(leads)] = 0.0
        first, second = leads[..., None], leads[:, None]  # of i over j, and of j over k
        chain = (first >= 0.0) & (second >= 0.0)
        least, most = np.maximum(first, second), first + second
        if (chain & (np.clip(leads[:, :, None], least - EXACT, most + EXACT) != leads[:, :, None])).any():
            notes.append(f"{self.name}: it assumes strong stochastic transitivity and the triangle inequality")
        if (np.sort(leads.min(axis=2))[:, -2] > -self.epsilon).any():
            notes.append(f"{self.name}: it may return an item that loses by less than epsilon={self.epsilon:g}")
        return tuple(notes)
