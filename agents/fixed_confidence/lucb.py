"""LUCB: pulls the weakest arm of the best set and its strongest challenger until their intervals separate."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bai_gym.agents.tools.sets import EPSILON, KEPT, OWN, VALUE, M, SetAgent, keep, prefers, range_of, rivals, room
from bai_gym.agents.tools.widths import hoeffding
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import STOP, Episode, Rule
from bai_gym.statistics import FloatArray
from bai_gym.tasks import BestArm, TopM
from bai_gym.validation import probability

__all__ = ["LUCB"]

K1 = 1.25
B, DELTA, CHALLENGER = OWN, OWN + 1, OWN + 2  # parameters; the last one is written by the rule


def radius(pulls: float, arms: int, t: float, p: FloatArray) -> float:
    """Return the width of an arm in round t."""
    return hoeffding(math.log(K1 * arms * t**4.0 / p[DELTA]), p[B], 2.0 * pulls)


def choose(e: Episode, rng: np.random.Generator) -> int:
    """Return h at the beginning of a round, or stop; then l."""
    p, m, arms = e.parameters, int(e.parameters[M]), e.pulls.size
    made = e.made - arms
    if made % 2 == 1 and e.pulled >= 0:
        return int(p[CHALLENGER])
    chosen, widths, index = room(e)
    for k in range(arms):
        widths[k] = radius(e.pulls[k], arms, made // 2 + 1.0, p)
        index[k] = -e.mean[k]
    _, challenger, weakest = rivals(e, 0, m, chosen, widths, index)
    e.memory[VALUE] = index[challenger] + index[weakest]  # U less L
    keep(e, np.inf)
    if e.memory[VALUE] < p[EPSILON]:
        e.memory[KEPT] = -np.inf
        return STOP
    p[CHALLENGER] = challenger
    if e.made < e.end - 1 or widths[challenger] < widths[weakest]:
        return weakest
    takes_challenger = widths[challenger] > widths[weakest] or prefers(p, challenger, weakest, rng)
    return challenger if takes_challenger else weakest


@dataclass(kw_only=True)
class LUCB(SetAgent):
    """In each round pulls h, the arm of smallest lower bound in the set J of best means, and l, the largest outside.

    Widths are b sqrt(log(k1 K t^4 / delta) / (2 T)) in round t, with k1 = 5/4. It stops when the upper bound of l is
    less than epsilon above the lower bound of h, and recommends J. With epsilon = 0 and tied arms only the cap of the
    environment stops it. With a fixed budget it may leave pulls unspent, and an odd last pull goes to the wider of the
    two.

    Paper: Kalyanakrishnan, Tewari, Auer and Stone (2012), "PAC Subset Selection in Stochastic Multi-armed Bandits".
    The constants are from a secondary description.

    Args:
        delta: Allowed error probability, in (0, 1). Default 0.1.
        b: Bound of the rewards, which lie in [0, b]; default 1.
        sigma: In place of ``b``, for rewards that are sigma-sub-Gaussian: ``b`` is then 2 sigma. This holds for
            Gaussian rewards, with sigma the largest standard deviation.

    Requires no oracle knowledge. Minimum budget: K.
    """

    delta: float = 0.1
    b: float = 1.0
    sigma: float | None = None

    name: ClassVar[str] = "LUCB"
    tasks: ClassVar[frozenset[str]] = frozenset({BestArm.name, TopM.name})
    uses_variances: ClassVar[bool] = False
    stops: ClassVar[bool] = True

    def begin(self, info: ProblemInfo) -> None:
        """Check the parameters, and set the rule."""
        probability(self.delta, f"delta of {self.name}")
        b = range_of(self.b, self.sigma, self.name)
        self.set_rule(Rule(choose=choose), b, self.delta, 0.0)
