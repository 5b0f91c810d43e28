"""Track-and-Stop: the pulls follow the proportions that would be optimal if the sample means were the true ones."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bai_gym.agents.fixed_confidence.stopping import (
    BERNOULLI,
    FAMILY,
    FIRST,
    OWN,
    ConfidenceAgent,
    bernoulli_divergence,
    is_separated,
    mean_of,
    own_term,
    variance_of,
)
from bai_gym.agents.tools.scanning import arm_of_largest
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Episode, Rule, noinline, section
from bai_gym.statistics import FloatArray
from bai_gym.validation import choice, real

__all__ = ["TrackAndStop"]

C_TRACKING, GROWTH = OWN, OWN + 1  # parameters: 1 for C-tracking; by how much t grows until w* is computed again
Y, DUE, ROWS = range(3)  # memory: y of the last w*, when the next is due; then rows of K numbers:
WEIGHTS, TOTALS, SCORES, ROW_COUNT = range(4)  # w*, its sums over time (C-tracking), what is maximised

INTERIOR = 1e-6  # distance of Bernoulli means to 0 and 1, for w*
SMALLEST = 1e-9  # variances in units of the largest squared gap, for w*


def row(e: Episode, number: int) -> FloatArray:
    """Return a row of the memory."""
    return section(e.memory, ROWS + number * e.pulls.size, e.pulls.size)


def inside(mean: float) -> float:
    """Return a Bernoulli mean that is neither 0 nor 1."""
    return min(max(mean, INTERIOR), 1.0 - INTERIOR)


@noinline
def bernoulli_ratio(y: float, x: float, best: float, other: float) -> float:
    """Return x_a: the root of d(mu_1, p) + x d(mu_a, p) = y with p = (mu_1 + x mu_a) / (1 + x).

    Newton's method from any start: the left side is concave in x with slope d(mu_a, p), so it stays left of the root
    from the first step on.
    """
    for _ in range(60):
        p = (best + x * other) / (1.0 + x)
        slope = bernoulli_divergence(other, p)
        step = (y - bernoulli_divergence(best, p)) / slope - x
        x = max(x + step, 0.0)
        if abs(step) <= 1e-9 * x:
            break
    return x


@noinline
def optimal_shares(e: Episode, best: int, w: FloatArray, y: float) -> float:
    """Write w* of the sample means to ``w``, and return y; see :mod:`bai_gym.theory.characteristic_time`.

    Newton's method for F(y) = 1, F the sum of d(mu_1, p_a) / d(mu_a, p_a), within an interval that is known to hold the
    root; it starts at the given y.
    """
    is_bernoulli = e.parameters[FAMILY] == BERNOULLI
    top, low, high, widest = e.mean[best], 0.0, np.inf, 0.0
    for arm in range(w.size):
        widest = max(widest, (top - e.mean[arm]) * (top - e.mean[arm]))
    own = max(variance_of(e, best), SMALLEST * widest) if not is_bernoulli else 0.0
    for arm in range(w.size):
        if arm != best:
            gap = top - e.mean[arm]
            at_most = bernoulli_divergence(inside(top), inside(e.mean[arm])) if is_bernoulli else 0.5 * gap * gap / own
            high = min(high, at_most)
    if not low < y < high:
        y = 0.5 * high
    total = 0.0
    for _ in range(100):
        value, slope, total = 0.0, 0.0, 1.0
        for arm in range(w.size):
            if arm == best:
                continue
            if is_bernoulli:
                first, mean = inside(top), inside(e.mean[arm])
                w[arm] = x = bernoulli_ratio(y, w[arm], first, mean)
                p = (first + x * mean) / (1.0 + x)
                of_best, of_other = bernoulli_divergence(first, p), bernoulli_divergence(mean, p)
                value += of_best / of_other
                change = ((p - first) * of_other - (p - mean) * of_best) / (p * (1.0 - p)) * (mean - p) / (1.0 + x)
                slope += change / (of_other * of_other * of_other)
            else:
                gap, v = top - e.mean[arm], max(variance_of(e, arm), SMALLEST * widest)
                rest = 0.5 * gap * gap - own * y
                w[arm] = x = v * y / rest
                value += x * x * own / v
                slope += x * own * gap * gap / (rest * rest)
            total += x
        low, high = (low, y) if value > 1.0 else (y, high)
        new = y - (value - 1.0) / slope
        if not low < new < high:
            new = 0.5 * (low + high)
        step, y = abs(new - y), new
        if step <= 1e-10 * y:
            break
    w[best] = 1.0
    for arm in range(w.size):
        w[arm] /= total
    return y


def tied_best(e: Episode) -> int:
    """Return how many arms share the largest sample mean."""
    largest, count = -np.inf, 0
    for arm in range(e.pulls.size):
        count = count + 1 if e.mean[arm] == largest else count
        if e.mean[arm] > largest:
            largest, count = e.mean[arm], 1
    return count


def find_weights(e: Episode) -> None:
    """Compute w* of the sample means; equal shares for arms that are tied for the best."""
    w, best, tied = row(e, WEIGHTS), 0, tied_best(e)
    for arm in range(w.size):
        best = arm if e.mean[arm] > e.mean[best] else best
    if tied == 1:
        if e.memory[Y] == 0.0:
            for arm in range(w.size):
                w[arm] = 1.0 / w.size
        first = max(w[best], 1e-3)
        for arm in range(w.size):  # the ratios from which Newton's method starts
            w[arm] /= first
        e.memory[Y] = optimal_shares(e, best, w, e.memory[Y])
        return
    for arm in range(w.size):
        w[arm] = 1.0 / tied if e.mean[arm] == e.mean[best] else 0.0
    e.memory[Y] = 0.0


def track(e: Episode, rng: np.random.Generator) -> int:
    """Return the arm that lies furthest behind its share of the pulls; forced exploration comes first."""
    p, t, arms = e.parameters, float(e.made), e.pulls.size
    w, totals, scores = row(e, WEIGHTS), row(e, TOTALS), row(e, SCORES)
    if t >= e.memory[DUE]:
        find_weights(e)
        e.memory[DUE] = t * (1.0 + p[GROWTH])
    if p[C_TRACKING] == 1.0:
        if e.pulled < 0:
            for arm in range(arms):
                totals[arm] = e.pulls[arm]
        least = 0.5 / math.sqrt(arms * arms + t)
        above = 0.0
        for arm in range(arms):
            above += max(w[arm] - least, 0.0)
        for arm in range(arms):
            totals[arm] += least + max(w[arm] - least, 0.0) * (1.0 - arms * least) / above
            scores[arm] = totals[arm] - e.pulls[arm]
        return arm_of_largest(scores, e.pulls, p[FIRST], rng)
    few = math.sqrt(t) - 0.5 * arms
    must = False
    for arm in range(arms):
        must = must or e.pulls[arm] <= few
    for arm in range(arms):
        scores[arm] = -e.pulls[arm] if must else t * w[arm] - e.pulls[arm]
    return arm_of_largest(scores, e.pulls, p[FIRST], rng)


@dataclass(kw_only=True)
class TrackAndStop(ConfidenceAgent):
    """Pulls arms in the proportions w* that are optimal for the sample means, until the best arm is separated.

    D-tracking pulls an arm with at most sqrt(t) - K/2 pulls, if there is one (the one with fewest), else the arm of
    largest t w*_a - N_a. C-tracking pulls the arm whose sum of weights over time exceeds its pulls by most; the weights
    are w*, moved to at least 1 / (2 sqrt(K^2 + t)).

    Paper: Garivier and Kaufmann (2016), "Optimal Best Arm Identification with Fixed Confidence", sections 3 and 4. With
    a threshold of order log(1 / delta) the mean number of pulls is T* log(1 / delta) for small delta, the least
    possible. Differences: C-tracking moves weights towards equal ones, rather than to the nearest point in the maximum
    norm; ``lazy``; Bernoulli means are kept 1e-6 from 0 and 1 in w*; unknown variances are replaced by the sample
    variances.

    Args:
        tracking: ``"D"`` (default) or ``"C"``.
        lazy: w* is computed again when t has grown by this share since the last time; default 0: at every pull. With
            0.01 it is much faster. The error probability does not depend on it.

    Requires no oracle knowledge, unless ``sigma`` is None. Minimum budget: K, or 2 K for ``"student"``.
    """

    tracking: str = "D"
    lazy: float = 0.0

    name: ClassVar[str] = "TrackAndStop"
    rule: ClassVar[Rule] = Rule(index=mean_of, second=own_term, choose=track, stops=is_separated)

    @property
    def memory(self) -> int:  # type: ignore[override]
        """The last w*, and two more numbers for each arm."""
        return ROWS + ROW_COUNT * self.num_arms

    def begin(self, info: ProblemInfo) -> None:
        """Check the parameters."""
        choice(self.tracking, ("D", "C"), f"tracking of {self.name}")
        growth = real(self.lazy, f"lazy of {self.name}", least=0)
        self.set_parameters(info, self.tracking == "C", growth)
