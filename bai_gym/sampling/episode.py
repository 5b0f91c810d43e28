"""The view of a rule of a sequential agent: the statistics of one episode, and two tournaments over its arms.

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
    "LOWEST",
    "MADE",
    "NEVER",
    "PULLED",
    "STATE",
    "STOP",
    "STOPPED",
    "WAIT",
    "WAITING",
    "Episode",
    "at",
    "borrowed",
    "episode",
    "float_width",
    "header",
    "int_width",
    "locate",
    "section",
    "settings",
    "singles",
    "sums",
    "values",
]

STOP = -1  # what `choose` returns to end the episode
WAIT = -2  # what `choose` returns to have `Sequential.supply` called first
NEVER = 2**62  # no pull
RUNNING, STOPPED, WAITING, LOST = range(4)  # lost: the rule chose an arm that does not exist

# The first integers of a row: sizes, then the state of the episode.
ARMS, PARAMETERS, MEMORY, TREES, FIRST, SECOND, FEATURES, MADE, PULLED, STATE, DUE, LOWEST, END = range(13)
HEADER = 13


class Episode(NamedTuple):
    """One episode, as functions of sequential agents see it; k is the number of its candidate arms.

    Attributes:
        pulls: ``(k,)`` pulls of each arm, as floats.
        mean: ``(k,)`` sample means.
        variance: ``(k,)`` unbiased sample variances, 0 below two pulls; only where the agent reads variances.
        parameters: ``(P,)`` parameters of the rule; `refresh` may change them.
        memory: ``(M,)`` numbers that the rule stores, 0 at the start.
        active: ``(k,)`` 1, or 0 for arms that `refresh` has dropped.
        features: ``(k, d)`` features of the arms; d = 0 where they have none.
        first: Tournament of the rule's index.
        second: Tournament of the rule's second index.
        made: Pulls made in the episode so far, over all arms, those before the rule included.
        end: Pulls made when the rule ends at the latest.
        pulled: The arm pulled last, -1 before the first pull.
        reward: Its reward.
    """

    pulls: FloatArray
    mean: FloatArray
    variance: FloatArray
    parameters: FloatArray
    memory: FloatArray
    active: IntArray
    features: FloatArray
    first: Tournament
    second: Tournament
    made: int
    end: int
    pulled: int
    reward: float


def float_width(arms: int, parameters: int, memory: int, first: int, second: int) -> int:
    """Return the length of a row of floats: reward, statistics, sums, parameters, memory, tournaments."""
    return 1 + 4 * arms + parameters + memory + 2 * (first + second)


def int_width(arms: int) -> int:
    """Return the length of a row of integers: header, active arms."""
    return HEADER + arms


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
    k = q[ARMS]
    return f[1 + 3 * k : 1 + 4 * k]


def settings(f: FloatArray, q: IntArray) -> FloatArray:
    """Return the ``(P,)`` parameters of an episode; in compiled code, their address."""
    k = q[ARMS]
    return f[1 + 4 * k : 1 + 4 * k + q[PARAMETERS]]


def values(p: FloatArray) -> FloatArray:
    """Return the numbers that :func:`locate` or :func:`settings` has located."""
    return p


def header(q: IntArray) -> IntArray:
    """Return the mutable state of an episode."""
    return q[:HEADER]


def episode(f: FloatArray, q: IntArray, x: FloatArray) -> Episode:
    """Name the numbers of an episode: ``f`` its row of floats, ``q`` that of integers, ``x`` its features."""
    k, trees, first, second = q[ARMS], q[TREES], q[FIRST], q[SECOND]
    memory = trees - q[MEMORY]
    other = trees + 2 * first
    return Episode(
        f[1 : 1 + k],
        f[1 + k : 1 + 2 * k],
        f[1 + 2 * k : 1 + 3 * k],
        f[1 + 4 * k : memory],
        f[memory:trees],
        q[HEADER : HEADER + k],
        x,
        Tournament(f[trees : trees + first], f[trees + first : other]),
        Tournament(f[other : other + second], f[other + second : other + 2 * second]),
        q[MADE],
        q[END],
        q[PULLED],
        f[0],
    )
