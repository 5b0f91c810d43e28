"""The view of a rule of a sequential agent: the statistics of one episode, and a tournament over its arms.

The numbers of an episode stand in one row of floats and one row of integers, small enough for the first-level cache. An
:class:`Episode` gives them names. Compiled code reads the rows through their addresses, see
:mod:`bai_gym.sampling.addresses`: no other form of passing arrays is as fast.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bai_gym.sampling.tournament import Tournament
from bai_gym.statistics import FloatArray, IntArray

__all__ = [
    "DUE",
    "HEADER",
    "LOST",
    "MADE",
    "NEVER",
    "PULLED",
    "STATE",
    "STOP",
    "STOPPED",
    "TIE",
    "TO_FIRST",
    "WAIT",
    "WAITING",
    "Episode",
    "at",
    "borrowed",
    "episode",
    "header",
    "int_width",
    "larger",
    "lines",
    "locate",
    "section",
    "numbers_of",
    "singles",
    "sums",
    "total",
    "values",
]

STOP = -1  # what `choose` returns to end the episode
WAIT = -2  # what `choose` returns to have `Sequential.supply` called first
NEVER = 2**62  # no pull
TO_FIRST = 1  # of `Episode.tie`
RUNNING, STOPPED, WAITING, LOST = range(4)  # lost: the rule chose an arm that does not exist

# The first integers of a row: sizes, then the state of the episode.
ARMS, WIDTH, TREE, NODES, FEATURES, MADE, PULLED, STATE, DUE, TIE, END = range(11)
HEADER = 11  # then the active arms, then start and size of each array of the state
LINE = 8  # floats in a cache line; each part of a row begins with one, so that no vector is read from two
# A row of floats: the reward; from LINE on pulls, means, variances and sums, each WIDTH long; then the numbers of the
# state, and from TREE on the values and the holders of the tournament, each NODES long.


class Episode(NamedTuple):
    """One episode, as the functions of a rule see it; k is the number of its candidate arms.

    Attributes:
        num_arms: k.
        pulls: ``(k,)`` pulls of each arm, as floats.
        mean: ``(k,)`` sample means.
        variance: ``(k,)`` unbiased sample variances, 0 below two pulls; only where the agent reads variances.
        active: ``(k,)`` 1, or 0 for arms that `refresh` has dropped.
        features: ``(k, d)`` features of the arms; d = 0 where they have none.
        tournament: Tournament of the rule's index.
        made: Pulls made in the episode so far, over all arms, those before the rule included.
        end: Pulls made when the rule ends at the latest.
        pulled: The arm pulled last, -1 before the first pull.
        reward: Its reward.
        tie: How exact ties are broken: ``TO_FIRST`` for the fewest pulls, then the lowest arm, 0 for at random.
    """

    num_arms: int
    pulls: FloatArray
    mean: FloatArray
    variance: FloatArray
    active: IntArray
    features: FloatArray
    tournament: Tournament
    made: int
    end: int
    pulled: int
    reward: float
    tie: int


def lines(numbers: int) -> int:
    """Return how many floats the cache lines hold that a number of floats takes."""
    return -(-numbers // LINE) * LINE


def int_width(arms: int, arrays: int) -> int:
    """Return the length of a row of integers: header, active arms, start and size of each array of the state."""
    return HEADER + arms + 2 * arrays


def borrowed(rng: np.random.Generator) -> np.random.Generator:
    """Return the generator; in compiled code, one whose references are not counted."""
    return rng


def locate(rows: np.ndarray, number: int) -> np.ndarray:
    """Return a row of an array; in compiled code, its address."""
    row: np.ndarray = rows[number]
    return row


def at(numbers: FloatArray, place: int) -> np.ndarray:
    """Return numbers from a place on; in compiled code, their address."""
    return numbers[place:]


def section(numbers: FloatArray, start: int, size: int) -> FloatArray:
    """Return a slice of numbers; in compiled code, in a form that compiles and runs faster than a slice.

    Args:
        numbers: Such as the memory of an episode.
        start: At least 0.
        size: At most the numbers that are there.
    """
    return numbers[start : start + size]


def singles(samples: FloatArray) -> np.ndarray:
    """Return the numbers of single precision of which pairs are seen as doubles."""
    return samples.view(np.float32)


def sums(f: FloatArray, q: IntArray) -> FloatArray:
    """Return the ``(k,)`` sums of rewards of an episode."""
    start = LINE + 3 * q[WIDTH]
    return f[start : start + q[ARMS]]


def numbers_of(f: FloatArray, q: IntArray) -> FloatArray:
    """Return the numbers of the state of an episode; in compiled code, their address."""
    return f[LINE + 4 * q[WIDTH] : q[TREE]]


def values(p: FloatArray) -> FloatArray:
    """Return the numbers that :func:`locate` or :func:`numbers_of` has located."""
    return p


def larger(value: float, other: float) -> float:
    """Return the larger value; neither is NaN, so that compilers make vector instructions of it, unlike of `max`."""
    return value if value > other else other


def total(numbers: FloatArray) -> float:
    """Return the sum of numbers: eight sums side by side, so that it is rounded in the same way on every machine."""
    whole = numbers.size - numbers.size % LINE
    a, b, c, d, e, f, g, h = numbers[:whole].reshape(-1, LINE).cumsum(axis=0)[-1] if whole else np.zeros(LINE)
    for place in range(whole, numbers.size):
        a += numbers[place]
    return float(((a + e) + (c + g)) + ((b + f) + (d + h)))


def header(q: IntArray) -> IntArray:
    """Return the mutable state of an episode."""
    return q[:HEADER]


def episode(f: FloatArray, q: IntArray, x: FloatArray) -> Episode:
    """Name the numbers of an episode: ``f`` its row of floats, ``q`` that of integers, ``x`` its features."""
    k, width, tree, nodes = q[ARMS], q[WIDTH], q[TREE], q[NODES]
    pulls, mean, variance = LINE, LINE + width, LINE + 2 * width
    return Episode(
        k,
        f[pulls : pulls + k],
        f[mean : mean + k],
        f[variance : variance + k],
        q[HEADER : HEADER + k],
        x,
        Tournament(f[tree : tree + nodes], f[tree + nodes : tree + 2 * nodes]),
        q[MADE],
        q[END],
        q[PULLED],
        f[0],
        q[TIE],
    )
