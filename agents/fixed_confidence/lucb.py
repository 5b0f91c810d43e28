"""LUCB: pulls the weakest arm of the best set and its strongest challenger until their intervals separate."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from typing_extensions import override

from bai_gym.agents.tools.batches import is_look
from bai_gym.agents.tools.ranges import has_unknown_variances, interval_values, range_choice
from bai_gym.agents.tools.sets import SetAgent, SetState, keep, prefers, rivals
from bai_gym.agents.tools.widths import IntervalState, hoeffding, interval_width, pool_unknown
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import STOP, Episode, Rule
from bai_gym.tasks import BestArm, TopM

__all__ = ["LUCB"]

K1 = 1.25


class LUCBState(SetState, IntervalState):
    """What the rule of LUCB uses."""

    delta: float  # allowed error probability
    mixed: bool  # whether intervals hold at all times
    challenger: int  # l, which is pulled after h


def pull_pair(e: Episode, s: LUCBState, w: LUCBState, rng: np.random.Generator) -> int:
    """Return h at the beginning of a round, or stop; then l."""
    made = e.made - e.num_arms
    if made % 2 == 1 and e.pulled >= 0:
        return s.challenger
    pool_unknown(e, s)
    level = exploration(e.num_arms, made // 2 + 1.0, s.delta)
    for k in range(e.num_arms):
        w.width[k] = interval_width(e, s, k) if s.mixed else hoeffding(level, s.b, 2.0 * e.pulls[k])
        w.upper[k] = e.mean[k] + w.width[k]
        w.lower[k] = e.mean[k] - w.width[k]
        w.index[k] = -e.mean[k]
    _, s.challenger, weakest = rivals(s, w, 0, e.num_arms)  # l and h
    s.value = w.upper[s.challenger] - w.lower[weakest]
    keep(s, w, np.inf)
    if is_look(e, s) and s.value < s.epsilon:
        s.kept_value = -np.inf
        return STOP
    if e.made < e.end - 1:
        return weakest
    is_wider = w.width[s.challenger] > w.width[weakest]
    is_tied = w.width[s.challenger] == w.width[weakest]
    return s.challenger if is_wider or (is_tied and prefers(e, s.challenger, weakest, rng)) else weakest


def exploration(num_arms: int, t: float, delta: float) -> float:
    """Return log(k1 K t^4 / delta) of round t."""
    return math.log(K1 * num_arms * t**4.0 / delta)


@dataclass(kw_only=True)
class LUCB(SetAgent):
    """In each round pulls h, the arm of smallest lower bound in the set J of best means, and l, the largest outside.

    Widths are b sqrt((1 + r / T) (log(K / delta) + log(1 + T / r) / 2) / (2 T)) with r = 20, for which the intervals of
    all arms hold at all times with probability 1 - delta. Where neither b nor sigma is known, rewards are taken for
    Gaussian ones of unknown variances, with the widths that belong to these (:mod:`bai_gym.agents.tools.mixtures`). In
    the paper they are b sqrt(log(k1 K t^4 / delta) / (2 T)) in round
    t, with k1 = 5/4. It stops when the upper bound of l is
    less than epsilon above the lower bound of h, and recommends J. With epsilon = 0 and tied arms only the cap of the
    environment stops it. With a fixed budget it may leave pulls unspent, and an odd last pull goes to the wider of the
    two.

    Paper: Kalyanakrishnan, Tewari, Auer and Stone (2012), "PAC Subset Selection in Stochastic Multi-armed Bandits".
    The paper's constants are from a secondary description.

    Args:
        delta: Allowed error probability, in (0, 1). Default 0.1.
        b: Length of an interval that contains the rewards. None (default): that of bounded rewards; others are taken
            for Gaussian ones of unknown variances.
        sigma: In place of ``b``, for rewards that are sigma-sub-Gaussian: ``b`` is then 2 sigma. This holds for
            Gaussian rewards, with sigma the largest standard deviation.
        threshold: ``"mixture"`` (default) or ``"paper"``: the widths.
        batch_size: Pulls between two looks at whether to stop, at least 1, the default.
    """

    delta: float = 0.1
    b: float | None = None
    sigma: float | None = None
    threshold: str = "mixture"
    batch_size: int = 1

    name: ClassVar[str] = "LUCB"
    tasks: ClassVar[frozenset[str]] = frozenset({BestArm.name, TopM.name})
    uses_variances = property(has_unknown_variances)
    stops: ClassVar[bool] = True
    rule: ClassVar[Rule] = Rule(choose=pull_pair, state=LUCBState)
    choices = range_choice

    @override
    def begin(self, info: ProblemInfo) -> None:
        values = {**interval_values(self), "delta": self.delta}
        self.values = {**self.task_values(), **self.stopping_values(), **values}
