"""FWS: Frank-Wolfe steps towards the optimal proportions of pulls, one step for each pull."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bai_gym.agents.fixed_confidence.stopping import (
    BERNOULLI,
    FAMILY,
    FIRST,
    ConfidenceAgent,
    bernoulli_divergence,
    is_separated,
    mean_of,
    own_term,
    variance_of,
)
from bai_gym.agents.fixed_confidence.track_and_stop import inside, tied_best
from bai_gym.agents.tools.scanning import arm_of_largest
from bai_gym.sampling import Episode, Rule, leader, noinline, section
from bai_gym.statistics import FloatArray

__all__ = ["FWS"]

# Rows of the memory: proportions x, step z, f_j, the derivatives of f_j by x_i and x_j, whether j is in J,
# scores, basis.
X, Z, F, BY_BEST, BY_OTHER, NEAR, SCORES, BASIS, ROW_COUNT = range(9)


def row(e: Episode, number: int) -> FloatArray:
    """Return a row of the memory."""
    return section(e.memory, number * e.pulls.size, e.pulls.size)


def mean_divergence(e: Episode, arm: int, q: float) -> float:
    """Return d(m, q) of an arm."""
    if e.parameters[FAMILY] == BERNOULLI:
        return bernoulli_divergence(inside(e.mean[arm]), q)
    return 0.5 * (e.mean[arm] - q) * (e.mean[arm] - q) / variance_of(e, arm)


def meeting_mean(e: Episode, best: int, other: int, x: float, y: float) -> float:
    """Return the p that minimises x d(m_best, p) + y d(m_other, p)."""
    if e.parameters[FAMILY] == BERNOULLI:
        return (x * inside(e.mean[best]) + y * inside(e.mean[other])) / (x + y)
    a, b = x / variance_of(e, best), y / variance_of(e, other)
    return (a * e.mean[best] + b * e.mean[other]) / (a + b)


@noinline
def solve_game(payoff: FloatArray, rows: int, columns: int, width: int, basis: FloatArray, z: FloatArray) -> None:
    """Write to z the mixed strategy of the row player, who maximises; by the simplex method with Bland's rule.

    The column player maximises the sum of y >= 0 subject to payoff y <= 1, for positive payoffs; z are the dual
    variables, which stand in the last row below the slack variables.

    Args:
        payoff: Tableau of ``rows + 1`` rows of ``width`` numbers; each of the first begins with ``columns`` payoffs,
            all positive.
        rows: Strategies of the row player.
        columns: Strategies of the column player.
        width: At least columns + rows + 1.
        basis: ``(rows,)`` room.
        z: ``(rows,)`` output.
    """
    last = columns + rows
    for k in range(rows + 1):
        for c in range(columns, last + 1):
            payoff[k * width + c] = 0.0
        if k < rows:
            payoff[k * width + columns + k] = payoff[k * width + last] = 1.0
            basis[k] = columns + k
    for c in range(columns):
        payoff[rows * width + c] = -1.0
    for _ in range(50 * (rows + columns)):
        enters = -1
        for c in range(last):
            if payoff[rows * width + c] < -1e-12:
                enters = c
                break
        if enters < 0:
            break
        leaves, least = -1, np.inf
        for k in range(rows):
            if payoff[k * width + enters] > 1e-12:
                ratio = payoff[k * width + last] / payoff[k * width + enters]
                if ratio < least or (ratio == least and basis[k] < basis[leaves]):
                    leaves, least = k, ratio
        if leaves < 0:
            break
        pivot = payoff[leaves * width + enters]
        for c in range(last + 1):
            payoff[leaves * width + c] /= pivot
        for k in range(rows + 1):
            factor = payoff[k * width + enters]
            if k != leaves and factor != 0.0:
                for c in range(last + 1):
                    payoff[k * width + c] -= factor * payoff[leaves * width + c]
        basis[leaves] = enters
    total = 0.0
    for k in range(rows):
        z[k] = max(payoff[rows * width + columns + k], 0.0)
        total += z[k]
    for k in range(rows):
        z[k] /= total


@noinline
def game_of_gradients(e: Episode, best: int, count: int) -> None:
    """Write to z the maximiser of the least <z - x, gradient of f_j> over j in J."""
    arms = e.pulls.size
    x, z, near, by_best, by_other = row(e, X), row(e, Z), row(e, NEAR), row(e, BY_BEST), row(e, BY_OTHER)
    width = 2 * arms + 1
    table = section(e.memory, ROW_COUNT * arms, (arms + 1) * width)
    low, high, column = np.inf, -np.inf, 0
    for j in range(arms):
        if near[j] == 0.0:
            continue
        at_x = x[best] * by_best[j] + x[j] * by_other[j]
        for k in range(arms):
            value = (by_best[j] if k == best else by_other[j] if k == j else 0.0) - at_x
            table[k * width + column] = value
            low, high = min(low, value), max(high, value)
        column += 1
    for k in range(arms):
        for c in range(count):  # a game has the same strategies after a shift and a change of scale
            table[k * width + c] = 1.0 + (table[k * width + c] - low) / (high - low)
    solve_game(table, arms, count, width, row(e, BASIS), z)


def is_square(number: int) -> bool:
    """Return whether a whole number is a square."""
    root = int(math.sqrt(float(number)))
    return root * root == number or (root + 1) * (root + 1) == number


def frank_wolfe(e: Episode, rng: np.random.Generator) -> int:
    """Make a step, and return the arm of largest x_k / N_k."""
    t, arms, best = float(e.made), e.pulls.size, leader(e.first)
    x, z, f, near = row(e, X), row(e, Z), row(e, F), row(e, NEAR)
    by_best, by_other, scores = row(e, BY_BEST), row(e, BY_OTHER), row(e, SCORES)
    if e.pulled < 0:
        for arm in range(arms):
            x[arm] = 1.0 / arms
    if tied_best(e) > 1 or is_square(e.made // arms):
        for arm in range(arms):
            z[arm] = 1.0 / arms
    else:
        least, count, nearest = np.inf, 0, 0
        for j in range(arms):
            if j != best:
                p = meeting_mean(e, best, j, x[best], x[j])
                by_best[j], by_other[j] = mean_divergence(e, best, p), mean_divergence(e, j, p)
                f[j] = x[best] * by_best[j] + x[j] * by_other[j]
                least = min(least, f[j])
        for j in range(arms):
            near[j] = 1.0 if j != best and f[j] < least + t**-0.9 / arms else 0.0
            count += int(near[j])
            nearest = j if near[j] == 1.0 else nearest
            z[j] = 0.0
        if count == 1:
            z[best if by_best[nearest] > by_other[nearest] else nearest] = 1.0
        else:
            game_of_gradients(e, best, count)
    for arm in range(arms):
        x[arm] = x[arm] * (t - 1.0) / t + z[arm] / t
        scores[arm] = x[arm] / e.pulls[arm]
    return arm_of_largest(scores, e.pulls, e.parameters[FIRST], rng)


@dataclass(kw_only=True)
class FWS(ConfidenceAgent):
    """Moves the proportions of pulls by a Frank-Wolfe step at each pull, towards those that are optimal for the means.

    The function to maximise is the smallest of the f_j over arms j, so it is not smooth: the step maximises the least
    slope of all f_j within t^-0.9 / K of the smallest, by a small linear program. Where floor(t / K) is a square, or
    arms are tied for the best, the step goes towards equal proportions.

    Paper: Wang, Tzeng and Proutiere (2021), "Fast Pure Exploration via Frank-Wolfe", which proves asymptotic
    optimality. Difference: Bernoulli means are kept 1e-6 from 0 and 1 in the steps; the authors first pull each arm
    until its mean is neither.

    Requires no oracle knowledge, unless ``sigma`` is None. Minimum budget: K, or 2 K for ``"student"``.
    """

    name: ClassVar[str] = "FWS"
    rule: ClassVar[Rule] = Rule(index=mean_of, second=own_term, choose=frank_wolfe, stops=is_separated)

    @property
    def memory(self) -> int:  # type: ignore[override]
        """Rows of numbers of all arms, and the tableau of the linear program."""
        return ROW_COUNT * self.num_arms + (self.num_arms + 1) * (2 * self.num_arms + 1)
