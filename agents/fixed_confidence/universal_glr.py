"""A top-two agent that has learned how widely to draw, how much to explore, and what share the leader gets."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from typing_extensions import override

from bai_gym.agents.fixed_confidence.stopping import (
    ConfidenceAgent,
    ConfidenceState,
    Question,
    best_arm,
    is_settled,
)
from bai_gym.agents.tools.posteriors import Posteriors, draw_means
from bai_gym.agents.tools.questions import answer, ask, part_of_first, random_arm, set_errors, weakest
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Episode, Rule, Scratch

__all__ = ["UniversalGLR"]

WIDTH, EXPLORATION, SHARE, SLOPE = range(4)  # outputs of the network, and the slope of the share
INPUTS = 4  # 1 and what it sees
LONG = 5000.0  # pulls per arm beyond which more look the same; in training there were seldom more
SMALLEST = 1e-9  # part of an arm in the evidence


class LearnedState(Posteriors, ConfidenceState):
    """What the rule uses."""

    weights: Scratch  # of the network, output by output; last the slope of the share
    wanted: float  # log(U / delta), about the evidence that ends an episode


def universal_glr(e: Episode, s: LearnedState, w: LearnedState, rng: np.random.Generator, question: Question) -> int:
    """Pull an arm of the weakest contrast of the answer for a draw, as the network has it."""
    set_errors(e, s, w)
    n = answer(e, s, w, question)
    progress = min(w.strength[weakest(e, s, w, n, 0.0, rng)] / s.wanted, 1.0)
    contrasts, pulls = 0.5 * math.log(float(n)), 0.5 * math.log(min(float(e.made) / e.num_arms, LONG)) - 1.5

    draw_means(e, s, w, rng)
    width = math.exp(output(w, WIDTH, progress, contrasts, pulls))
    for arm in range(e.num_arms):
        w.draw[arm] = e.mean[arm] + width * (w.draw[arm] - e.mean[arm])
    n = ask(w.draw, s, w, question)
    k = weakest(e, s, w, n, output(w, EXPLORATION, progress, contrasts, pulls), rng)

    part = min(max(part_of_first(e, s, w, k), SMALLEST), 1.0 - SMALLEST)
    logit = w.weights[INPUTS * SLOPE] * math.log(part / (1.0 - part)) + output(w, SHARE, progress, contrasts, pulls)
    return random_arm(e, s, w, k, 1.0 / (1.0 + math.exp(-logit)), rng)


def output(w: LearnedState, row: int, progress: float, contrasts: float, pulls: float) -> float:
    """Return an output of the network."""
    at = INPUTS * row
    by_state = w.weights[at + 1] * progress + w.weights[at + 2] * contrasts + w.weights[at + 3] * pulls
    return float(w.weights[at] + by_state)


@dataclass(kw_only=True)
class UniversalGLR(ConfidenceAgent):
    """Pulls an arm of the weakest contrast of the answer for a draw; a small trained network steers all three.

    The network has one layer. It sees how near the evidence is to the end, the number of contrasts and the pulls per
    arm, and says how wide the posterior is made from which the answer is drawn, how much contrasts of arms with few
    pulls are preferred, and how the share of the leader differs from that arm's part in the evidence. With other
    weights the same rule is ``T3C`` or ``EB-TCI``. It was trained for the expected number of pulls, on many questions,
    see its page. When to stop is decided by the proved rule, whose guarantee holds for any choice of pulls.

    Attributes:
        weights: ``(13,)`` weights of the network; a subclass may have others.
    """

    weights: ClassVar[tuple[float, ...]] = (
        *(-0.613, -1.315, -0.401, 0.927),
        *(0.459, 0.864, 0.69, -0.742),
        *(-1.567, 1.404, -0.012, 0.386),
        1.983,
    )

    name = "Universal-GLR"
    rule = Rule(choose=universal_glr, stops=is_settled, state=LearnedState, question=best_arm)

    @override
    def begin(self, info: ProblemInfo) -> None:
        super().begin(info)
        wanted = math.log(self.question.overturned(self.num_arms) / self.delta)
        self.values |= {"weights": np.array(self.weights), "wanted": wanted}
