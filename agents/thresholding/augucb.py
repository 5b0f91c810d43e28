"""AugUCB: thresholding with eliminations that use estimated variances."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bai_gym.agents.sequential import SequentialAgent
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import NEVER, STOP, Episode, Rule, columns, leader, renew, top, value_of
from bai_gym.statistics import FloatArray
from bai_gym.tasks import Thresholding
from bai_gym.validation import choice, real

__all__ = ["AugUCB", "Round", "schedule"]

LEAST_LOG = 0.5  # of |log((3/16) K log K)|, which is 0.04 for four arms


@dataclass(frozen=True)
class Round:
    """A round of AugUCB.

    Attributes:
        epsilon: epsilon_m, 2^-m.
        psi: psi_m, the exploration factor.
        pulls: l_m: pulls of the round for each arm that is active at its beginning.
        deviation: s of an arm with one pull and variance 1, but for the term without v.
        plus: What is added to v: s is deviation times sqrt((v + plus) / T). It is 1 as printed.
    """

    epsilon: float
    psi: float
    pulls: int
    deviation: float
    plus: float = 1.0


def schedule(num_arms: int, budget: int, rho: float = 1.0 / 3.0, width: str = "printed") -> list[Round]:
    """Return the rounds of AugUCB that a budget can reach.

    With A = log((3/16) K log K) and epsilon = 2^-m: psi = n epsilon / (128 A^2), l = ceil(2 psi log(n epsilon) /
    epsilon), s = sqrt(rho psi log(n epsilon) / 4) for T = 1 and v + 1 = 1, for m = 0, ..., M + 1, where M =
    floor(log2(n / e) / 2).

    Args:
        num_arms: K. |A| is replaced by 1/2 where it is smaller, which is the case for three to five arms.
        budget: n, at least 2.
        rho: The elimination parameter, positive.
        width: ``"printed"`` or ``"code"``, see :class:`AugUCB`.

    Source: Mukherjee et al. (2017), Algorithm 1. The brackets around l and M are read as ceiling and floor, as in a
    public implementation.
    """
    log = max(abs(math.log(0.1875 * num_arms * math.log(num_arms))), LEAST_LOG)
    last = math.floor(0.5 * math.log2(budget / math.e))
    rounds = []
    for m in range(max(last, -1) + 2):
        epsilon = 0.5**m
        psi = budget * epsilon / (128.0 * log**2)
        growth = math.log(budget * epsilon)
        pulls = max(math.ceil(2.0 * psi * growth / epsilon), 1)
        plus = 1.0 if width == "printed" else max(math.log(psi * budget * epsilon), 0.0) / (psi * growth)
        rounds.append(Round(epsilon, psi, pulls, math.sqrt(rho * psi * growth / 4.0), plus))
    return rounds


# Where what stands in the parameters of the rule: the rounds follow, each with its deviation, what it adds to v, and
# its pulls per arm.
THRESHOLD, FACTOR, PLUS, GOES_ON, ROUNDS = range(5)
# In its memory: the pulls made when the round began, and its number.
BEGUN, ROUND = range(2)


def index(pulls: float, mean: float, variance: float, parameters: FloatArray) -> float:
    """Return 2 s - |mean - threshold|, below 0 for the arms to drop; with factor 0 the index of APT.

    The factor is that of sqrt((v + plus) / T) in 2 s. The variance given has the divisor T - 1.
    """
    factor: float = parameters[FACTOR]
    distance: float = abs(mean - parameters[THRESHOLD])
    if factor == 0.0:
        return -math.sqrt(pulls) * distance
    return factor / pulls * math.sqrt((pulls - 1.0) * variance + parameters[PLUS] * pulls) - distance


def next_round(e: Episode, rng: np.random.Generator) -> int:
    """Drop the arms of negative index and begin a round: set the factor, and return when it ends."""
    before = 0  # round 0 counts the first pulls in
    if e.pulled >= 0:
        if e.parameters[FACTOR] == 0.0:
            return NEVER
        for arm in range(e.pulls.size):
            if value_of(e.first, arm) < 0.0:
                e.active[arm] = 0
        before = e.made
        e.memory[ROUND] += 1
    e.memory[BEGUN] = e.made
    at = ROUNDS + 3 * int(e.memory[ROUND])
    e.parameters[FACTOR] = 2.0 * e.parameters[at]
    e.parameters[PLUS] = e.parameters[at + 1]
    length = int(e.parameters[at + 2])
    return before + e.active.sum() * length if length > 0 else NEVER


def none_active(e: Episode) -> bool:
    """Return whether all arms have been dropped, or are to be: none before the first pull of a round."""
    best = top(e.first)
    return best < 0.0 and e.parameters[FACTOR] > 0.0 and (best == -np.inf or e.made > e.memory[BEGUN])


def choose(e: Episode, rng: np.random.Generator) -> int:
    """Return the arm of largest index: an active one, as the index of arms to drop is negative."""
    if none_active(e):
        if e.parameters[GOES_ON] == 0.0:
            return STOP
        e.parameters[FACTOR] = 0.0
        for arm in range(e.pulls.size):
            e.active[arm] = 1
            renew(e.first, arm, index(e.pulls[arm], e.mean[arm], e.variance[arm], e.parameters), rng)
    return leader(e.first)


@dataclass(kw_only=True)
class AugUCB(SequentialAgent):
    """Pulls the active arm of smallest |mean - threshold| - 2 s, and drops the arms with |mean - threshold| > 2 s.

    s = sqrt(rho psi (v + 1) log(n epsilon) / (4 T)), where v is the variance of the T rewards of the arm (divisor T).
    In rounds m = 0, 1, ... epsilon and psi are halved, see :func:`schedule`; a round ends after l_m pulls for each arm
    that is active at its beginning. Recommended are the arms with a mean of at least the threshold. Once no arm is
    active, the remaining pulls are not made, unless ``after`` says otherwise.

    Paper: Mukherjee et al. (2017), "Thresholding Bandits with Augmented UCB", Algorithm 1. Of what is printed,
    the index m is taken to grow with every reset, and the second increment of t in the loop is taken for a slip.

    Args:
        rho: Elimination parameter, positive; default 1/3, as in the paper's theorem and experiments.
        after: ``"stop"`` (default), or ``"apt"``: once no arm is active, go on as APT with epsilon 0.
        width: ``"printed"`` (default), or ``"code"``, as in the authors' program, where the term without variance has
            no factor psi: s = sqrt(rho (psi v log(n epsilon) + max(log(psi n epsilon), 0)) / (4 T)).

    Requires no oracle knowledge. Minimum budget: K. Its theory needs at least five arms; with fewer it warns.
    """

    rho: float = 1.0 / 3.0
    after: str = "stop"
    width: str = "printed"

    name: ClassVar[str] = "AugUCB"
    tasks: ClassVar[frozenset[str]] = frozenset({Thresholding.name})
    rule: ClassVar[Rule] = Rule(index=index, choose=choose, refresh=next_round)
    memory: ClassVar[int] = 2

    def begin(self, info: ProblemInfo) -> None:
        """Check the parameters and compute the rounds."""
        real(self.rho, f"rho of {self.name}", above=0)
        choice(self.after, ("stop", "apt"), f"after of {self.name}")
        choice(self.width, ("printed", "code"), f"width of {self.name}")
        assert isinstance(self.task, Thresholding)  # as tasks says
        if self.num_arms < 5:
            warnings.warn(
                f"{self.name} is not designed for {self.num_arms} arms: its exploration takes log((3/16) K log K)",
                stacklevel=2,
            )
        rounds = schedule(self.num_arms, self.budget, self.rho, self.width)
        table = [value for one in rounds for value in (one.deviation, one.plus, float(one.pulls))]
        table[-1] = 0.0  # the last round has no end
        goes_on = float(self.after == "apt")
        self.parameters = columns(self.batch, self.task.threshold, 0.0, 1.0, goes_on, *table)
