"""LUCB: pulls both arms of the contrast that is the furthest from being settled by their intervals."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
from typing_extensions import override

from bai_gym.agents.fixed_confidence.stopping import Question, best_arm
from bai_gym.agents.parameters import Count, Positive, Probability
from bai_gym.agents.sequential import SequentialAgent
from bai_gym.agents.tools.batches import BatchState, is_look
from bai_gym.agents.tools.questions import QuestionState, answer, contrast_values, gap, weakest_group
from bai_gym.agents.tools.ranges import (
    has_unknown_variances,
    interval_values,
    range_assumptions,
    range_choice,
    range_of,
)
from bai_gym.agents.tools.variances import is_flat
from bai_gym.agents.tools.widths import IntervalState, hoeffding, interval_width, pool_unknown
from bai_gym.bandits import Bandit
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import STOP, TO_FIRST, Episode, PerArm, Rule

__all__ = ["LUCB"]

K1 = 1.25


class LUCBState(QuestionState, IntervalState, BatchState):
    """What the rule of LUCB uses."""

    delta: float  # allowed error probability
    mixed: bool  # whether intervals hold at all times
    challenger: int = -1  # the second arm of a round, where it has not been pulled
    width: PerArm  # width of each interval


def pull_pair(e: Episode, s: LUCBState, w: LUCBState, rng: np.random.Generator, question: Question) -> int:
    """Return the first arm of the contrast of smallest lower bound, or stop where all are positive; then the second."""
    set_widths(e, s, w)
    if s.challenger >= 0 and e.pulled >= 0:
        arm, s.challenger = s.challenger, -1
        return arm
    n = answer(e, s, w, question)
    for k in range(n):
        i, j = int(w.first[k]), int(w.second[k])
        both = (w.width[i] if i >= 0 else 0.0) + (w.width[j] if j >= 0 else 0.0)
        distance = gap(e.mean, w, k)  # of several metrics, whose units differ, in widths
        w.strength[k] = distance - both if s.metrics == 1 else distance / both - 1.0
    k = weakest_group(w, n, e.tie == TO_FIRST, rng)
    if is_look(e, s) and w.strength[k] > 0.0:
        return STOP
    i, j = int(w.first[k]), int(w.second[k])
    if i < 0 or j < 0:
        return max(i, j)
    if e.made < e.end - 1:
        s.challenger = j
        return i
    is_tied = w.width[i] == w.width[j]
    return j if w.width[j] > w.width[i] or (is_tied and e.tie != TO_FIRST and rng.random() < 0.5) else i


def set_widths(e: Episode, s: LUCBState, w: LUCBState) -> None:
    """Compute the widths that have changed: of the last arm, of arms of equal rewards, and all of the paper's."""
    pool_unknown(e, s)
    level = exploration(e.num_arms, (e.made - e.num_arms) // 2 + 1.0, s.delta)
    everything, s.known = e.made != s.known + 1, e.made
    for arm in range(e.num_arms):
        if not s.mixed:
            w.width[arm] = hoeffding(level, s.b, 2.0 * e.pulls[arm])
        elif everything or arm == e.pulled or (s.unknown and is_flat(e.variance[arm], s.pooled)):
            w.width[arm] = interval_width(e, s, arm)


def exploration(num_arms: int, t: float, delta: float) -> float:
    """Return log(k1 K t^4 / delta) of round t."""
    return math.log(K1 * num_arms * t**4.0 / delta)


@dataclass(kw_only=True)
class LUCB(SequentialAgent):
    """Pulls both arms of the contrast whose lower bound is the smallest, until the lower bounds of all are positive.

    The lower bound of a contrast (:mod:`bai_gym.agents.tools.questions`) is m_i - m_j - offset less the widths of both
    arms. For the m best arms these are h, the arm of smallest lower bound in the set of best means, and l, the one of
    largest upper bound outside, as published; an arm that is compared with a threshold is pulled alone. Widths are
    b sqrt((1 + r / T) (log(K / delta) + log(1 + T / r) / 2) / (2 T)) with r = 20, for which the intervals of all arms
    hold at all times with probability 1 - delta. Where neither b nor sigma is known, rewards are taken for Gaussian
    ones of unknown variances, with the widths that belong to these (:mod:`bai_gym.agents.tools.mixtures`). In the paper
    they are b sqrt(log(k1 K t^4 / delta) / (2 T)) in round t, with k1 = 5/4. With tied arms only the cap of the
    environment stops it. With a fixed budget it may leave pulls unspent, and an odd last pull goes to the wider of the
    two.

    Paper: Kalyanakrishnan, Tewari, Auer and Stone (2012), "PAC Subset Selection in Stochastic Multi-armed Bandits".
    The paper's constants are from a secondary description. Other questions are ours.

    Args:
        delta: Allowed error probability, in (0, 1). Default 0.1.
        b: Length of an interval that contains the rewards. None (default): that of bounded rewards; others are taken
            for Gaussian ones of unknown variances.
        sigma: In place of ``b``, for rewards that are sigma-sub-Gaussian: ``b`` is then 2 sigma. This holds for
            Gaussian rewards, with sigma the largest standard deviation.
        threshold: ``"mixture"`` (default) or ``"paper"``: the widths.
        batch_size: Pulls between two looks at whether to stop, at least 1, the default.
    """

    delta: Probability = 0.1
    b: Positive | None = None
    sigma: Positive | None = None
    threshold: Literal["mixture", "paper"] = "mixture"
    batch_size: Count = 1

    name = "LUCB"
    general = True
    uses_variances = property(has_unknown_variances)
    stops = True
    rule = Rule(choose=pull_pair, state=LUCBState, question=best_arm)
    choices = range_choice

    @property
    def unmet_assumptions(self) -> Callable[[Bandit], tuple[str, ...]]:
        """Returns a note if the confidence guarantee does not cover the rewards of a bandit."""
        return partial(range_assumptions, self)

    @override
    def begin(self, info: ProblemInfo) -> None:
        mixed = self.threshold == "mixture"
        if not mixed:
            range_of(self)  # which the paper's widths need
        values = {"delta": self.delta, "mixed": mixed, "batch_size": self.batch_size}
        self.values = {
            **interval_values(self),
            **values,
            **contrast_values(self.task, self.num_arms, self.batch, self.tie, self.rng),
        }
