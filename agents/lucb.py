"""LUCB: pulls the weakest arm of the best set and its strongest challenger until their intervals separate."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bai_gym.agents.parameters import check_positive, check_share
from bai_gym.agents.ugape import SetAgent
from bai_gym.agents.ugape_rules import StoppingSetRule, wider
from bai_gym.problems import Briefing
from bai_gym.sampling import SamplingRule, TieRule
from bai_gym.statistics import FloatArray, IntArray, Statistics
from bai_gym.tasks import BestArm, TopM

__all__ = ["LUCB"]

K1 = 1.25


@dataclass(kw_only=True)
class LUCB(SetAgent):
    """In each round pulls h, the arm of smallest lower bound in the set J of best means, and l, the largest outside.

    Widths are b sqrt(log(k1 K t^4 / delta) / (2 T)) in round t, with k1 = 5/4. It stops when the upper bound of l is
    less than epsilon above the lower bound of h, and recommends J. With an epsilon of 0 and tied arms it never stops,
    but for the cap of the environment; in an episode of fixed budget it may leave pulls over, and an odd last pull goes
    to the wider of the two.

    Paper: Kalyanakrishnan, Tewari, Auer and Stone (2012), "PAC Subset Selection in Stochastic Multi-armed Bandits".
    The constants are from a secondary description.

    Args:
        delta: Probability of an error that is allowed, in (0, 1). Default 0.1.
        b: Bound of the rewards, which lie in [0, b]; default 1.

    Knows nothing. Minimum budget: K.
    """

    delta: float = 0.1
    b: float = 1.0

    name: ClassVar[str] = "LUCB"
    tasks: ClassVar[frozenset[str]] = frozenset({BestArm.name, TopM.name})
    uses_variances: ClassVar[bool] = False
    first_pulls: ClassVar[int] = 1
    stops: ClassVar[bool] = True

    def begin(self, briefing: Briefing) -> None:
        """Check the parameters."""
        super().begin(briefing)
        check_share(self.delta, "delta", self.name)
        check_positive(self.b, "b", self.name)

    def rule(self, steps: int) -> SamplingRule:
        """Return the rule that stops by itself."""
        rule = _LUCBRule(self, steps)
        self._rule = rule
        return rule

    def width(self, pulls: FloatArray, round_number: int) -> FloatArray:
        """Return the widths in a round, counted from 1."""
        level = math.log(K1 * self.num_arms * float(round_number) ** 4 / self.delta)
        return np.asarray(self.b * np.sqrt(level / (2.0 * pulls)))


class _LUCBRule(StoppingSetRule):
    """Two pulls in each round, decided at its beginning; the value of J is the overlap of l with h."""

    _pair: IntArray

    def __init__(self, agent: LUCB, steps: int) -> None:
        self.steps = steps
        self.arms = agent.random_slots()
        self._agent = agent
        self._tie: TieRule = agent.tie
        self._rng = agent.rng

    def start(self, window: Statistics) -> None:
        """Decide about the first round."""
        super().start(window)
        self._made = 0
        self._begin_round()

    def keep(self, columns: IntArray, window: Statistics) -> None:
        """Go on with some episodes."""
        super().keep(columns, window)
        self._pair = self._pair[:, columns]

    def choose(self) -> IntArray:
        """Return h, then l."""
        slots = self._pair[self._made % 2]
        return np.asarray(slots * slots.size + np.arange(slots.size))

    def update(self, flat: IntArray, pulls: FloatArray, means: FloatArray, variances: FloatArray) -> None:
        """Decide about the next round, after both pulls of this one."""
        self._made += 1
        if self._made % 2 == 0:
            self._begin_round()

    def _begin_round(self) -> None:
        means = self._window.means
        widths = self._agent.width(self._window.pulls, self._made // 2 + 1)
        best = np.argsort(-means, axis=0, kind="stable")[: self._agent.task.m]
        inside = np.zeros(means.shape, dtype=bool)
        np.put_along_axis(inside, best, True, 0)
        lower = np.where(inside, means - widths, np.inf)
        upper = np.where(inside, -np.inf, means + widths)
        weakest, challenger = lower.argmin(axis=0), upper.argmax(axis=0)
        episodes = np.arange(means.shape[1])
        overlap = upper[challenger, episodes] - lower[weakest, episodes]
        self.take(inside, overlap, self._agent.task.epsilon)
        self._pair = np.stack([weakest, challenger])
        if self.steps - self._made == 1:
            width = widths[weakest, episodes], widths[challenger, episodes]
            self._pair[:] = wider(weakest, challenger, *width, self._tie, self._rng)
