"""AugUCB: thresholding with eliminations that use estimated variances."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Literal

import numpy as np
from typing_extensions import override

from bai_gym.agents.parameters import Positive
from bai_gym.agents.sequential import SequentialAgent
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import NEVER, STOP, Episode, Rule, State, arm_of_largest_index, set_index
from bai_gym.tasks import Thresholding

__all__ = ["AugUCB"]

LEAST_LOG = 0.5  # of |log((3/16) K log K)|, which is 0.04 for four arms


class AugUCBState(State):
    """What the rule of AugUCB uses."""

    tau: float  # the threshold
    rho: float  # elimination parameter
    n: float  # budget
    a: float  # A = |log((3/16) K log K)|
    last: int  # M = floor(log2(n / e) / 2), the last round that ends
    by_program: bool  # whether s is that of the authors' program
    continues: bool  # whether it continues as APT once no arm is active
    m: int = -1  # number of the round
    psi: float  # psi_m = n epsilon_m / (128 A^2), the exploration factor, with epsilon_m = 2^-m
    log: float  # log(n epsilon_m)
    added: float  # the term of s without variance: psi_m log(n epsilon_m) as printed
    begun: int  # pulls made when the round began
    is_apt: bool  # whether it continues as APT now


def index(pulls: float, mean: float, variance: float, s: AugUCBState) -> float:
    """Return 2 s - |mean - tau|, whose largest arm is pulled; an arm of negative index is to be dropped."""
    distance = abs(mean - s.tau)
    return -np.sqrt(pulls) * distance if s.is_apt else 2.0 * width(pulls, variance, s) - distance


def width(pulls: float, variance: float, s: AugUCBState) -> float:
    """Return s = sqrt(rho psi_m (v + 1) log(n epsilon_m) / (4 T)), where v has the divisor T, not T - 1."""
    inverse = 1.0 / pulls
    v = variance * (1.0 - inverse)
    return np.sqrt(0.25 * s.rho * (s.psi * s.log * v + s.added) * inverse)


def next_round(e: Episode, s: AugUCBState, w: AugUCBState, rng: np.random.Generator) -> int:
    """Drop the arms with |mean - tau| > 2 s, and begin round m; return N_m, the pulls at which it ends.

    Within a round, the index of an arm changes by its own pulls alone. So an arm of negative index is not pulled while
    another one is left, and it suffices to drop it before s changes.
    """
    if s.is_apt:
        return NEVER
    active = e.num_arms
    if e.pulled >= 0:
        active = 0
        for arm in range(e.num_arms):
            is_close = abs(e.mean[arm] - s.tau) <= 2.0 * width(e.pulls[arm], e.variance[arm], s)
            e.active[arm] = 1 if is_close and e.active[arm] == 1 else 0
            active += 1 if e.active[arm] == 1 else 0  # in plain Python, a sum of the int8 would overflow
    s.m += 1
    epsilon = 0.5**s.m
    s.psi = s.n * epsilon / (128.0 * s.a**2)
    s.log = math.log(s.n * epsilon)
    s.added = max(math.log(s.psi * s.n * epsilon), 0.0) if s.by_program else s.psi * s.log
    s.begun = e.made
    if s.m > s.last:
        return NEVER
    length = max(math.ceil(2.0 * s.psi * s.log / epsilon), 1)  # l_m
    return (e.made if s.m > 0 else 0) + active * length  # round 0 counts the first pulls in


def pull_closest(e: Episode, s: AugUCBState, w: AugUCBState, rng: np.random.Generator) -> int:
    """Pull the active arm of largest index; if there is none, stop or continue as APT."""
    if not s.is_apt and none_is_active(e, s):
        if not s.continues:
            return STOP
        s.is_apt = True
        for arm in range(e.num_arms):
            e.active[arm] = 1
            set_index(e.indices, arm, index(e.pulls[arm], e.mean[arm], e.variance[arm], s))
        return arm_of_largest_index(e.indices, e.pulls, e.tie, rng)
    return e.leader


def none_is_active(e: Episode, s: AugUCBState) -> bool:
    """Return whether |mean - tau| > 2 s of all arms; this is tested after a pull, not when a round has just begun."""
    largest = e.indices.value[e.leader]
    return largest == -np.inf or (largest < 0.0 and e.made > s.begun)


@dataclass(kw_only=True)
class AugUCB(SequentialAgent):
    """Pulls the active arm of smallest |mean - threshold| - 2 s, and drops the arms with |mean - threshold| > 2 s.

    s = sqrt(rho psi (v + 1) log(n epsilon) / (4 T)), where v is the variance of the T rewards of the arm (divisor T).
    In rounds m = 0, 1, ..., M + 1 epsilon = 2^-m and psi = n epsilon / (128 A^2), with M = floor(log2(n / e) / 2) and A
    = |log((3/16) K log K)|, but at least 1/2. A round ends after l = ceil(2 psi log(n epsilon) / epsilon) pulls for
    each arm that is active at its beginning. The arms with a mean of at least the threshold are recommended. Once no
    arm is active, the remaining pulls are not made, unless ``after`` says otherwise.

    Paper: Mukherjee et al. (2017), "Thresholding Bandits with Augmented UCB", Algorithm 1. Of what is printed,
    the index m is taken to grow with every reset, and the second increment of t in the loop is taken for a slip.

    Args:
        rho: Elimination parameter, positive; default 1/3, as in the paper's theorem and experiments.
        after: ``"stop"`` (default), or ``"apt"``: once no arm is active, continue as APT with epsilon 0.
        width: ``"printed"`` (default), or ``"code"``, as in the authors' program, where the term without variance has
            no factor psi: s = sqrt(rho (psi v log(n epsilon) + max(log(psi n epsilon), 0)) / (4 T)).

    Its theory needs at least five arms; with fewer it warns.
    """

    rho: Positive = 1.0 / 3.0
    after: Literal["stop", "apt"] = "stop"
    width: Literal["printed", "code"] = "printed"

    name = "AugUCB"
    tasks = frozenset({Thresholding.name})
    rule = Rule(index=index, choose=pull_closest, refresh=next_round, state=AugUCBState)

    @override
    def begin(self, info: ProblemInfo) -> None:
        assert isinstance(self.task, Thresholding)  # as tasks says
        if self.num_arms < 5:
            warnings.warn(
                f"{self.name} is not designed for {self.num_arms} arms: its exploration takes log((3/16) K log K)",
                stacklevel=2,
            )
        log = math.log(0.1875 * self.num_arms * math.log(self.num_arms))
        self.values = {
            "tau": self.task.threshold,
            "rho": self.rho,
            "n": self.budget,
            "a": max(abs(log), LEAST_LOG),
            "last": max(math.floor(0.5 * math.log2(self.budget / math.e)), -1),
            "by_program": self.width == "code",
            "continues": self.after == "apt",
        }
