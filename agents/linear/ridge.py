"""Ridge regression on the features of arms, updated after every pull: the fast model of the linear bandit algorithms.

theta = A^-1 sum y x with A = lam I + sum x x^T over the pulls, as in :mod:`bai_gym.agents.linear.plain_ridge`.
Algorithms read the scores x^T theta and rows of the matrix M = X A^-1 X^T, from which a pull of arm a takes
M_a M_a^T / (1 + M_aa). Where there are few features, the inverse of A is kept, and a row is X (A^-1 x); otherwise M
itself, in one block for each group of arms that are orthogonal to all others: M is 0 elsewhere, and stays so.

The arms are kept in an order in which groups are contiguous: a *place* is a position in that order. Rounding errors are
watched; where they could be seen, and at the start, the rule waits for NumPy to fit the regression to the statistics,
see :meth:`bai_gym.agents.linear.ridge_fit.Ridge.fit`.
"""

from __future__ import annotations

import math

import numpy as np

from bai_gym.agents.tools.choosing import SLACK
from bai_gym.agents.tools.scanning import fewer_pulls, largest
from bai_gym.sampling import TO_FIRST, Episode, PerArm, State, Vector
from bai_gym.statistics import FloatArray

__all__ = ["RegressionState", "largest_place", "read_row", "update_regression"]

DRIFT = 1e-12  # relative errors of M beyond which everything is recomputed
EPSILON = 2.0**-52


class RegressionState(State):
    """The regression of one episode; a rule that uses it has these among its fields. Arrays are in order of places."""

    width: int  # d where A^-1 is kept, 0 where M is
    seen: int  # pulls that the regression contains
    due: int  # pulls at which errors are looked at; 0: it has to be fitted
    fitted: int  # pulls when it was fitted
    largest: float  # the largest square then
    log_det: float  # log det A - log det lam I
    scale: float  # magnitude of rewards and scores
    scores: PerArm  # x^T theta
    squares: PerArm  # x^T A^-1 x
    row: PerArm  # of M, last read; free for a rule
    other: PerArm  # free for a rule
    values: PerArm  # free for a rule
    matrix: Vector  # A^-1, X^T, and A^-1 x; or the blocks of M
    order: PerArm  # the arm at each place
    places: PerArm  # the place of each arm
    starts: PerArm  # where the group of each place starts
    sizes: PerArm  # its size
    blocks: PerArm  # where the row of M is, in the matrix


def read_row(s: RegressionState, w: RegressionState, place: int, out: FloatArray) -> None:
    """Set ``(k,)`` ``out`` to the row of M for the arm at a place."""
    arms, d, matrix = out.size, s.width, w.matrix
    if d == 0:
        size, start, at = int(w.sizes[place]), int(w.starts[place]), int(w.blocks[place])
        if size < arms:
            for k in range(arms):
                out[k] = 0.0
        part, block = out[start : start + size], matrix[at : at + size]
        for k in range(size):
            part[k] = block[k]
        return
    turned, solved = matrix[d * d : d * d + d * arms], matrix[d * (d + arms) : d * (d + arms) + d]
    for i in range(d):
        solved[i] = 0.0
    for j in range(d):
        entry, inverse = turned[j * arms + place], matrix[j * d : j * d + d]
        for i in range(d):
            solved[i] += entry * inverse[i]
    for k in range(arms):
        out[k] = 0.0
    for j in range(d):
        entry, column = solved[j], turned[j * arms : j * arms + arms]
        for k in range(arms):
            out[k] += entry * column[k]


def update_regression(e: Episode, s: RegressionState, w: RegressionState) -> bool:
    """Add the last pull, and return True; False where the rule has to wait for the regression to be fitted."""
    if e.made >= s.due:
        error = EPSILON * np.sqrt(e.made - s.fitted) * s.largest
        if s.due == 0 or error > DRIFT * largest(w.squares):
            s.due = 0
            return False
        s.due = 2 * e.made
    if s.seen < e.made:
        add_last_pull(e, s, w)
        s.seen = e.made
    return True


def add_last_pull(e: Episode, s: RegressionState, w: RegressionState) -> None:
    """Change the estimates and the matrix by the last pull."""
    d, matrix = s.width, w.matrix
    place = int(w.places[e.pulled])
    read_row(s, w, place, w.row)
    square = w.row[place]
    share = 1.0 / (1.0 + square)
    step = (e.reward - w.scores[place]) * share
    start, side = int(w.starts[place]), int(w.sizes[place])
    row, scores, squares = w.row[start : start + side], w.scores[start : start + side], w.squares[start : start + side]
    for k in range(side):
        scores[k] += step * row[k]
    for k in range(side):
        left = squares[k] - share * row[k] * row[k]
        squares[k] = left if left > 0.0 else 0.0
    at, direction = int(w.blocks[start]), row
    if d > 0:
        at, side, direction = 0, d, matrix[d * (d + e.num_arms) : d * (d + e.num_arms) + d]
    for i in range(side):
        part, factor = matrix[at + i * side : at + i * side + side], share * direction[i]
        for j in range(side):
            part[j] -= factor * direction[j]
    s.log_det += math.log1p(square)
    s.scale = max(s.scale, abs(e.reward))


def largest_place(
    e: Episode, s: RegressionState, w: RegressionState, values: FloatArray, scale: float, rng: np.random.Generator
) -> int:
    """Return the place of the largest of ``(k,)`` values, with ties as in :func:`.scanning.arm_of_nearly_largest`."""
    top = largest(values)
    least = top - SLACK * (scale + abs(top))
    tied, places = 0, 0
    for place in range(values.size):
        tied += 1 if values[place] >= least else 0
        places += place if values[place] >= least else 0
    return places if tied == 1 else tied_place(e, s, w, values, least, tied, rng)


def tied_place(
    e: Episode,
    s: RegressionState,
    w: RegressionState,
    values: FloatArray,
    least: float,
    tied: int,
    rng: np.random.Generator,
) -> int:
    """Return one of the places whose values are not below ``least``, by the tie rule."""
    order, chosen = w.order, -1
    number = 0 if e.tie == TO_FIRST else int(rng.random() * tied)
    for place in range(values.size):
        if values[place] >= least:
            if e.tie != TO_FIRST:
                chosen = place if number == 0 else chosen
                number -= 1
            elif chosen < 0 or fewer_pulls(e, int(order[place]), int(order[chosen])):
                chosen = place
    return chosen
