"""Track-and-Stop for linear arms: the pulls follow the proportions that are optimal for the estimated parameter."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from typing_extensions import override

from bai_gym.agents.linear.least_squares import is_separated, log_det
from bai_gym.agents.linear.linear_confidence import LinearConfidenceAgent
from bai_gym.agents.linear.linear_games import GameState, distance_of, has_equal, invert_design, set_slopes
from bai_gym.agents.parameters import Count, NotNegative
from bai_gym.agents.tools.scanning import arm_of_largest
from bai_gym.linear.designs import basis_design
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Episode, PerArm, Rule

__all__ = ["LinTrackAndStop"]


class TrackingState(GameState):
    """What the rule of LinTrackAndStop uses."""

    lazy: float  # share by which t grows before w is computed again
    steps: int  # of Frank-Wolfe
    due: float  # t at which w is computed next
    total: PerArm  # sums of w over time
    basis: PerArm  # arms that span the space, one after the other
    rank: int  # how many there are
    next: int  # place in the basis of the arm that is pulled next for exploration
    least: float  # smallest eigenvalue of V that exploration provides, over sqrt(t)


def track(e: Episode, s: TrackingState, w: TrackingState, rng: np.random.Generator) -> int:
    """Pull the next arm of the basis where V has an eigenvalue below c sqrt(t), else the arm furthest behind."""
    find_proportions(e, s, w)
    for arm in range(e.num_arms):
        w.total[arm] = w.design[arm] + (w.total[arm] if e.pulled >= 0 else e.pulls[arm])
        w.behind[arm] = w.total[arm] - e.pulls[arm]
    if log_det(w.inverse, -s.least * np.sqrt(float(e.made)), w.work) == -math.inf:  # V - c sqrt(t) I has no root
        s.next = (s.next + 1) % s.rank
        return int(w.basis[s.next])
    return arm_of_largest(w.behind, e, rng)


def find_proportions(e: Episode, s: TrackingState, w: TrackingState) -> None:
    """Maximise the least f_j by Frank-Wolfe, from the last w on, if t has grown enough since."""
    if e.made < s.due:
        return
    s.due = e.made * (1.0 + s.lazy)
    is_tied = has_equal(e, s, w)
    for arm in range(e.num_arms if e.pulled < 0 or is_tied else 0):
        w.design[arm] = 1.0 / e.num_arms
    for step in range(1, 1 if is_tied else s.steps + 1):
        invert_design(s, w, w.design, e.num_arms)
        rival = closest_rival(e, s, w)
        if rival < 0:
            return
        set_slopes(e, s, w, rival)
        steepest = 0
        for arm in range(1, e.num_arms):
            steepest = arm if abs(w.slope[arm]) > abs(w.slope[steepest]) else steepest
        for arm in range(e.num_arms):
            w.design[arm] = (step * w.design[arm] + (1.0 if arm == steepest else 0.0)) / (step + 1.0)


def closest_rival(e: Episode, s: TrackingState, w: TrackingState) -> int:
    """Return the arm j of least f_j, and set y and ``turned`` to those of j; -1 where no other one is left."""
    rival, least = -1, math.inf
    for j in range(e.num_arms):
        value = distance_of(s, w, j) if j != s.best else math.inf
        if value < least:
            rival, least = j, value
    if rival >= 0:
        distance_of(s, w, rival)
    return rival


@dataclass(kw_only=True)
class LinTrackAndStop(LinearConfidenceAgent):
    """Track-and-Stop with a linear model: pulls follow the sums over time of proportions w that are optimal so far.

    w maximises the least evidence per pull that separates the best arm from another one, if the estimated theta were
    the true one; it is found by Frank-Wolfe. In between, arms that span the space are pulled in turn so that the
    smallest eigenvalue of V grows as sqrt(t).

    Paper: Jedra and Proutiere (2020), "Optimal Best-arm Identification in Linear Bandits", with the lazy form, in which
    w is computed seldom; details from the code of Wang, Tzeng and Proutiere (2021), which we could read. With a
    threshold of order log(1 / delta) the mean number of pulls is T* log(1 / delta) for small delta, whatever the number
    of arms. Differences: every arm is pulled once at the start, not d of them; exploration moves on when it is used;
    V, and so its eigenvalues, are those of coordinates in which all arms together are spread evenly; the threshold.

    Args:
        lazy: w is computed again when t has grown by this share, at least 0. Default 1: at powers of two. 0: at every
            pull, which is slow.
        iterations: Steps of Frank-Wolfe each time, at least 1; default 1000.
    """

    lazy: NotNegative = 1.0
    iterations: Count = 1000

    name = "LinTrackAndStop"
    rule = Rule(choose=track, stops=is_separated, state=TrackingState)

    @override
    def begin(self, info: ProblemInfo) -> None:
        super().begin(info)
        shape = np.shape(self.values["x"])[:-1]
        x = np.reshape(self.values["x"], (-1, self.num_arms, self.rank))
        chosen = basis_design(x) > 0
        order = np.argsort(~chosen, axis=1, kind="stable")
        members = np.where(chosen[..., None], x, 0.0)
        ranks = chosen.sum(axis=1)
        spread = np.linalg.eigvalsh(np.swapaxes(members, 1, 2) @ members)
        smallest = np.where(np.arange(self.rank) >= (self.rank - ranks)[:, None], spread, np.inf).min(axis=1)
        self.values |= {
            "lazy": self.lazy,
            "steps": self.iterations,
            "spread": np.zeros(self.rank**2),
            "basis": order.reshape(*shape, self.num_arms).astype(float),
            "next": self.rng.integers(ranks, size=self.batch).astype(float) if self.tie == "random" else 0.0,
            "rank": ranks.reshape(shape),
            "least": (smallest / np.sqrt(ranks)).reshape(shape),
        }
