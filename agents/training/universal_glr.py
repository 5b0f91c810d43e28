"""The universal network with fixed confidence: it decides what to pull, and a proved rule when to stop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from bai_gym.agents.fixed_confidence.stopping import ConfidenceAgent, ConfidenceState, Question, best_arm, is_settled
from bai_gym.agents.tools.scanning import arm_of_largest
from bai_gym.agents.training.universal import outputs, shares_of, shipped
from bai_gym.rewards import BINARY
from bai_gym.sampling import WAIT, Episode, PerArm, Rule, Sequential, States
from bai_gym.statistics import IntArray, Statistics

__all__ = ["UniversalGLR"]

GROWTH = 0.1  # part by which the pulls grow before the network is asked again
AHEAD = 5.0  # pulls that the network is told are left, over those made


class FollowingState(ConfidenceState):
    """What the rule uses."""

    due: int  # pulls after which the network is asked next
    share: PerArm  # of the next pulls
    owed: PerArm  # sums of the shares over time, less the pulls made since the start


def follow_shares(
    e: Episode, s: FollowingState, w: FollowingState, rng: np.random.Generator, question: Question
) -> int:
    """Pull the arm that is furthest behind the sum of its shares; wait for new ones where they are due."""
    if e.made >= s.due:
        return WAIT
    for arm in range(e.num_arms):
        w.owed[arm] += w.share[arm]
    arm = arm_of_largest(w.owed, e, rng)
    w.owed[arm] -= 1.0
    return arm


@dataclass(kw_only=True)
class UniversalGLR(ConfidenceAgent):
    """Pulls in the shares that the network of Universal allots, and stops by likelihood ratios.

    The guarantee is that of the threshold, whatever decides what to pull. The network, which was trained for budgets,
    is told that five times as many pulls are left as have been made, and asked again when these have grown by a tenth.
    """

    name: ClassVar[str] = "Universal-GLR"
    rule: ClassVar[Rule] = Rule(choose=follow_shares, stops=is_settled, state=FollowingState, question=best_arm)

    @override
    def sequential(self, steps: int, **options: Any) -> Sequential:
        return super().sequential(steps, supply=self.supply, **options)

    def supply(self, rows: IntArray, states: States, statistics: Statistics) -> None:
        """Ask the network for the shares of the next pulls."""
        kind = "binary" if self.rewards == BINARY else "any"
        seen = Statistics(*(array[rows] for array in (statistics.pulls, statistics.means, statistics.variances)))
        made = seen.pulls.sum(axis=1)
        networks, _ = shipped()
        scores, _ = outputs(networks[kind], kind, seen, AHEAD * made[:, None], self.task)
        states["share"][rows] = shares_of(scores)
        states["due"][rows] = made + np.maximum(GROWTH * made, 1.0)
