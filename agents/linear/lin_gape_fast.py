"""The fast forms of LinGapE's rules: the regression of :mod:`bai_gym.agents.linear.ridge`, and designs kept by episode.

Where i and j are in groups that are orthogonal, the design for their difference consists of those for x_i and x_j
themselves: pairs of an arm with the one past the last, whose features are 0.
"""

from __future__ import annotations

import numpy as np

from bai_gym.agents.linear.pair_designs import PairDesigns
from bai_gym.agents.linear.ridge import RegressionState, largest_place, read_row, update_regression
from bai_gym.agents.linear.ridge_fit import Ridge
from bai_gym.agents.tools.scanning import less_pulled
from bai_gym.agents.tools.widths import EllipsoidState, ellipsoid_radius
from bai_gym.sampling import WAIT, Episode, Rule, States, Values, Vector
from bai_gym.statistics import IntArray

__all__ = ["BY_RATIO", "GREEDILY", "start", "supply_designs"]

SAME = 1e-12  # ||x_i - x_j||^2 up to this, times ||x_i||^2 + ||x_j||^2, is 0 but for rounding
SLOTS = 509  # for designs of two arms; each of a single arm has its own
DESIGNS = 4096  # numbers of designs that an episode keeps, and 4 K
NOT_FOUND = -1  # size of a design that rounding errors have kept from being found


class GreedyState(EllipsoidState, RegressionState):
    """What the greedy rule uses."""


class RatioState(GreedyState):
    """What the rule uses that pulls by designs; a design is its pair, its size, its places, and their weights."""

    first: int  # the lower of the places of i and j
    second: int  # the higher one
    asked: int  # the pair whose design is waited for, plus one; 0: none
    next: int  # where the next design is written among the designs; 0: there is none yet
    slots: Vector  # where designs are, 0 for nowhere, see `slot_of`
    designs: Vector


def start(num_arms: int) -> Values:
    """Return the values of a :class:`RatioState` that hold no design."""
    return {"slots": np.zeros(num_arms + SLOTS), "designs": np.zeros(4 * num_arms + DESIGNS)}


def rivals(e: Episode, s: GreedyState, w: GreedyState, rng: np.random.Generator) -> tuple[int, int, bool]:
    """Return the places of i and j, and whether they have equal features."""
    factor, scale, scores, squares, row, values = ellipsoid_radius(e, s), s.scale, w.scores, w.squares, w.row, w.values
    first = largest_place(e, s, w, scores, scale, rng)
    read_row(s, w, first, row)
    own = squares[first]
    for k in range(e.num_arms):
        both = squares[k] + own
        square = both - 2.0 * row[k]
        row[k] = square if square > SAME * both else 0.0  # of x_k - x_i
        values[k] = scores[k] + factor * np.sqrt(row[k])
    values[first] = -np.inf
    second = largest_place(e, s, w, values, scale, rng)
    return first, second, row[second] == 0.0


def less_pulled_of(
    e: Episode, s: GreedyState, w: GreedyState, first: int, second: int, rng: np.random.Generator
) -> int:
    """Return the arm of fewer pulls at one of two places."""
    return less_pulled(e, int(w.order[first]), int(w.order[second]), rng)


def narrowest(e: Episode, s: GreedyState, w: GreedyState, first: int, second: int, rng: np.random.Generator) -> int:
    """Return the arm after whose pull the width of x_i - x_j is least."""
    row, other, squares, values = w.row, w.other, w.squares, w.values
    read_row(s, w, first, row)
    read_row(s, w, second, other)
    for k in range(e.num_arms):
        values[k] = (row[k] - other[k]) * (row[k] - other[k]) / (1.0 + squares[k])
    return int(w.order[largest_place(e, s, w, values, 0.0, rng)])


def pull_greedily(e: Episode, s: GreedyState, w: GreedyState, rng: np.random.Generator) -> int:
    """Return the arm that makes the width of the difference least."""
    if not update_regression(e, s, w):
        return WAIT
    first, second, equal = rivals(e, s, w, rng)
    return less_pulled_of(e, s, w, first, second, rng) if equal else narrowest(e, s, w, first, second, rng)


def slot_of(pair: int, arms: int) -> int:
    """Return the slot that tells where the design of a pair is."""
    return pair // (arms + 1) if pair % (arms + 1) == arms else arms + pair % SLOTS


def pull_by_ratio(e: Episode, s: RatioState, w: RatioState, rng: np.random.Generator) -> int:
    """Return the arm that lags behind most in the design for the difference, or wait for that."""
    if not update_regression(e, s, w):
        return WAIT
    arms, order, values, designs = e.num_arms, w.order, w.values, w.designs
    if s.asked == 0:
        i, j, equal = rivals(e, s, w, rng)
        if equal:
            return less_pulled_of(e, s, w, i, j, rng)
        s.first, s.second = min(i, j), max(i, j)
    first, second = s.first, s.second
    same_group = w.starts[first] == w.starts[second]
    for place in range(arms):
        values[place] = -np.inf
    for part in range(1 if same_group else 2):
        pair = (second if part else first) * (arms + 1) + (second if same_group else arms)
        at = int(w.slots[slot_of(pair, arms)])
        if at == 0 or designs[at] != pair:
            s.asked = pair + 1
            return WAIT
        size = int(designs[at + 1])
        if size == NOT_FOUND:
            s.asked = 0
            return narrowest(e, s, w, first, second, rng)
        for k in range(at + 2, at + 2 + size):
            place = int(designs[k])
            values[place] = -e.pulls[int(order[place])] / designs[k + size]
    s.asked = 0
    return int(order[largest_place(e, s, w, values, 0.0, rng)])


def supply_designs(found: PairDesigns, ridge: Ridge, rows: IntArray, states: States) -> None:
    """Write designs into the states of episodes that wait for one."""
    arms = ridge.order.size
    slots, designs, ends = states["slots"], states["designs"], states["next"]
    pairs = states["asked"][rows].astype(np.int64) - 1
    names = np.append(ridge.order, arms)  # of the places, and of the one past the last
    given = names[pairs // (arms + 1)], names[pairs % (arms + 1)]
    for row, pair, design in zip(rows.tolist(), pairs.tolist(), found.find(rows, *given), strict=True):
        numbers = np.array([pair, NOT_FOUND], float)
        if design is not None:
            numbers = np.concatenate([[pair, design.arms.size], ridge.places[design.arms], design.weights])
        at = int(ends[row])
        if at == 0 or at + numbers.size > designs.shape[1]:  # full: forget all
            at = 1
            slots[row] = 0
        designs[row, at : at + numbers.size] = numbers
        slots[row, slot_of(pair, arms)] = at
        ends[row] = at + numbers.size


GREEDILY = Rule(choose=pull_greedily, state=GreedyState)
BY_RATIO = Rule(choose=pull_by_ratio, state=RatioState)
