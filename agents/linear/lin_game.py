"""LinGame: linear pure exploration as a game of AdaHedge learners against closest alternatives."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from typing_extensions import override

from bai_gym.agents.linear.least_squares import arm_of, is_separated
from bai_gym.agents.linear.linear_confidence import LinearConfidenceAgent
from bai_gym.agents.linear.linear_games import GameState, closest_rival, invert_design, set_slopes
from bai_gym.agents.linear.plain_ridge import product
from bai_gym.agents.tools.hedge import exponential_weights, mix_loss
from bai_gym.agents.tools.scanning import arm_of_largest
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Episode, PerArm, Rule, Vector

__all__ = ["LinGame"]

FIRST_D = 0.01


class LinGameState(GameState):
    """What the rule of LinGame uses."""

    total: PerArm  # sums of the weights over time
    gain: PerArm  # gains of the round
    mix_gap: PerArm  # D of the learner of each recommendation, the sum of its mixability gaps
    losses: Vector  # K rows: the cumulated losses of the learner of each recommendation


def play_round(e: Episode, s: LinGameState, w: LinGameState, rng: np.random.Generator) -> int:
    """Play one round of the game, and return the arm whose pulls are furthest behind the weights (C-tracking)."""
    for arm in range(e.num_arms if e.pulled < 0 else 0):
        w.total[arm], w.mix_gap[arm] = e.pulls[arm], FIRST_D
    losses = w.losses[
        s.best * e.num_arms : s.best * e.num_arms + e.num_arms
    ]  # of the learner of the current recommendation
    rate = math.log(e.num_arms) / w.mix_gap[s.best]
    exponential_weights(losses, rate, w.design)
    respond(e, s, w, w.design)
    before, gain = mix_loss(losses, rate), 0.0
    for k in range(e.num_arms):
        w.gain[k] = optimistic_gain(e, s, w, k, w.slope[k])
        gain += w.design[k] * w.gain[k]
        losses[k] -= w.gain[k]
    w.mix_gap[s.best] += max(before - mix_loss(losses, rate) - gain, 0.0)
    for k in range(e.num_arms):
        w.total[k] += w.design[k]
        w.behind[k] = w.total[k] - e.pulls[k]
    return arm_of_largest(w.behind, e, rng)


def respond(e: Episode, s: GameState, w: GameState, design: np.ndarray) -> None:
    """Set the slopes to the x_k^T (theta - alternative) of the closest alternative under proportions w."""
    invert_design(s, w, design, e.num_arms)
    rival = closest_rival(e, s, w)
    for k in range(e.num_arms):
        w.slope[k] = 0.0
    if rival >= 0:
        set_slopes(e, s, w, rival)


def optimistic_gain(e: Episode, s: GameState, w: GameState, arm: int, slope: float) -> float:
    """Return the least of log t and (|slope| + sqrt(2 sigma^2 log t x^T V^-1 x))^2 / (2 sigma^2)."""
    level, x = math.log(float(e.made)), arm_of(s, w, arm)
    far = abs(slope) + np.sqrt(2.0 * s.noise * level * max(product(s, w, x, x), 0.0))
    return min(level, 0.5 * far * far / s.noise)


@dataclass(kw_only=True)
class LinGame(LinearConfidenceAgent):
    """Learns the proportions of pulls by AdaHedge, against the parameter that is the hardest to tell apart with them.

    There is one learner for each possible recommendation. In each round that of the current best arm gives weights w;
    the best response is the closest parameter with another best arm; and the learner gains for each arm the squared
    difference of its means under both, with a bonus for what is uncertain. Pulls follow the sums of the weights.

    Paper: Degenne, Menard, Shang and Valko (2020), "Gamification of Pure Exploration for Linear Bandits", which proves
    asymptotic optimality; details from the authors' code. Difference: the threshold.
    """

    name: ClassVar[str] = "LinGame"
    rule: ClassVar[Rule] = Rule(choose=play_round, stops=is_separated, state=LinGameState)

    @override
    def begin(self, info: ProblemInfo) -> None:
        super().begin(info)
        self.values |= {"spread": np.zeros(self.rank**2), "losses": np.zeros(self.num_arms**2)}
