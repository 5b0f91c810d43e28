"""The loop of sequential agents: choose an arm, draw its reward, update what depends on it; for all episodes.

Plain functions, which :mod:`bai_gym.sampling.compiler` compiles; without Numba they run as plain Python.
``f``, ``q`` and ``x`` locate the numbers of an episode, see :mod:`bai_gym.sampling.episode`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bai_gym.bandits.table import BERNOULLI, EMPIRICAL, FINITE, GAUSSIAN
from bai_gym.sampling.episode import (
    ARMS,
    DUE,
    LOST,
    LOWEST,
    MADE,
    NEVER,
    PULLED,
    RUNNING,
    STATE,
    STOP,
    STOPPED,
    WAIT,
    WAITING,
    Episode,
    borrowed,
    episode,
    header,
    locate,
    settings,
    sums,
)
from bai_gym.sampling.rare import rare
from bai_gym.sampling.tournament import WEIGHT, Tournament, fill, leader, renew
from bai_gym.statistics import FloatArray, IntArray

__all__ = ["INDEXED", "choose_all", "play", "take_in_all"]

LANES = 2  # episodes that take turns: while one waits for a division or its tournament, the others go on

# What a rule has, as bits.
INDEXED, SECOND_INDEX, CHOOSES, REFRESHES, VARIANCES = 1, 2, 4, 8, 16

Index = Callable[[float, float, float, Any], float]


def draw(kind: int, location: float, scale: float, start: int, samples: FloatArray, rng: np.random.Generator) -> float:
    """Return a reward of an arm.

    Args:
        kind: Of the arms.
        location: Mean (Gaussian, Bernoulli, Poisson), or as in :func:`draw_finite`.
        scale: Standard deviation (Gaussian), number of samples (empirical), or number of values (finite).
        start: Where the samples of the arm start (empirical), or the rewards that are left (finite).
        samples: Those of all arms, one arm after another (empirical), or all numbers (finite).
        rng: Source of randomness.
    """
    if kind == GAUSSIAN:
        return location + scale * rng.standard_normal()
    if kind == BERNOULLI:
        return 1.0 if rng.random() < location else 0.0
    if kind == EMPIRICAL:
        return float(samples[start + int(rng.random() * scale)])
    if kind == FINITE:
        return draw_finite(int(location), int(scale), start, samples, rng)
    return draw_poisson(location, rng)


@rare
def draw_finite(kinds: int, width: int, start: int, numbers: FloatArray, rng: np.random.Generator) -> float:
    """Return a reward of an arm that has not come since the arm last started again.

    Args:
        kinds: Where the values of the arm start, followed by how often each occurs.
        width: Number of values.
        start: Where the numbers of rewards left of each value start.
        numbers: All these numbers; what is left is changed.
        rng: Source of randomness.
    """
    left = 0.0
    for kind in range(width):
        left += numbers[start + kind]
    if left == 0.0:
        for kind in range(width):
            numbers[start + kind] = numbers[kinds + width + kind]
            left += numbers[start + kind]
    place, kind = rng.random() * left - numbers[start], 0
    while place >= 0.0:
        kind += 1
        place -= numbers[start + kind]
    numbers[start + kind] -= 1.0
    return float(numbers[kinds + kind])


@rare
def draw_poisson(mean: float, rng: np.random.Generator) -> float:
    """Return a Poisson reward."""
    return float(rng.poisson(mean))


@rare
def fill_tree(tree: Tournament, e: Episode, p: Any, index: Index, lowest: int, rng: np.random.Generator) -> None:
    """Compute the index of every active arm, and decide all nodes of the tournament."""
    half = tree.value.size >> 1
    for arm in range(half):
        node = half + arm
        if arm < e.pulls.size:
            active = e.active[arm] == 1
            tree.value[node] = index(e.pulls[arm], e.mean[arm], e.variance[arm], p) if active else -np.inf
            weight = -(e.pulls[arm] + 1.0) if lowest else 1.0
        else:
            tree.value[node] = -np.inf
            weight = -(2.0**28) if lowest else 0.0
        tree.holder[node] = weight * WEIGHT + arm
    fill(tree, rng)


@rare
def prepare(
    f: Any,
    q: Any,
    x: Any,
    rng: np.random.Generator,
    index: Index,
    second: Index,
    refresh: Callable[..., int],
    has: int,
) -> None:
    """Call the rule's `refresh`, where it has one, and compute all indices."""
    head = header(q)
    head[DUE] = refresh(f, q, x, rng) if has & REFRESHES else NEVER
    e, p = episode(f, q, x), settings(f, q)
    if has & INDEXED:
        fill_tree(e.first, e, p, index, head[LOWEST], rng)
    if has & SECOND_INDEX:
        fill_tree(e.second, e, p, second, head[LOWEST], rng)


@rare
def stay(q: Any, arm: int) -> None:
    """Note why an episode pauses: it has stopped, waits, or the arm does not exist."""
    head = header(q)
    if arm == STOP:
        head[STATE] = STOPPED
    elif arm == WAIT:
        head[STATE] = WAITING
    else:
        head[STATE] = LOST
        head[PULLED] = arm


def take_in(
    q: Any,
    p: Any,
    e: Episode,
    total: FloatArray,
    arm: int,
    reward: float,
    rng: np.random.Generator,
    index: Index,
    second: Index,
    has: int,
) -> None:
    """Add a reward to the statistics of an arm, and update its indices.

    The mean is sum / pulls, so equal means of whole rewards are exactly equal.
    """
    head = header(q)
    pulls = e.pulls[arm] + 1.0
    total[arm] += reward
    before = e.mean[arm]
    mean = before if reward == before else total[arm] / pulls  # so that an arm with a constant reward has variance 0
    variance = 0.0
    if has & VARIANCES and pulls > 1.0:
        # Welford's update, with the variance in the place of the sum of squares.
        variance = (e.variance[arm] * (pulls - 2.0) + (reward - before) * (reward - mean)) / (pulls - 1.0)
        e.variance[arm] = variance
    e.pulls[arm] = pulls
    e.mean[arm] = mean
    head[MADE] += 1
    head[PULLED] = arm
    if has & INDEXED:
        weight = -(pulls + 1.0) if head[LOWEST] else 1.0
        renew(e.first, arm, index(pulls, mean, variance, p), weight, rng)
        if has & SECOND_INDEX:
            renew(e.second, arm, second(pulls, mean, variance, p), weight, rng)


def play(
    kind: int,
    location: FloatArray,
    scale: FloatArray,
    start: IntArray,
    samples: FloatArray,
    rewards: np.random.Generator,
    floats: FloatArray,
    ints: IntArray,
    features: FloatArray,
    rng: np.random.Generator,
    index: Index,
    second: Index,
    choose: Callable[..., int],
    refresh: Callable[..., int],
    has: int,
    until: int,
) -> None:
    """Play episodes until they have made their pulls, have stopped, or wait; see :class:`bai_gym.sampling.Engine`."""
    rng, rewards = borrowed(rng), borrowed(rewards)
    episodes = floats.shape[0]
    for begin in range(0, episodes, LANES):
        end = min(begin + LANES, episodes)
        running = end - begin
        while running > 0:
            running = 0
            for number in range(begin, end):
                f, q = locate(floats, number), locate(ints, number)
                x = locate(features, number if features.shape[0] > 1 else 0)
                head = header(q)
                if head[MADE] >= until or head[STATE] != RUNNING:
                    continue
                if head[MADE] >= head[DUE]:
                    prepare(f, q, x, rng, index, second, refresh, has)
                e = episode(f, q, x)
                arm = choose(f, q, x, rng) if has & CHOOSES else leader(e.first)
                if arm < 0 or arm >= head[ARMS]:
                    stay(q, arm)
                    continue
                running += 1
                reward = draw(kind, location[number, arm], scale[number, arm], start[number, arm], samples, rewards)
                floats[number, 0] = reward
                take_in(q, settings(f, q), e, sums(f, q), arm, reward, rng, index, second, has)


def choose_all(
    chosen: IntArray,
    floats: FloatArray,
    ints: IntArray,
    features: FloatArray,
    rng: np.random.Generator,
    index: Index,
    second: Index,
    choose: Callable[..., int],
    refresh: Callable[..., int],
    has: int,
) -> None:
    """Set ``chosen`` to the next arm of every episode, ``STOP`` or ``WAIT``."""
    rng = borrowed(rng)
    for number in range(floats.shape[0]):
        f, q, x = locate(floats, number), locate(ints, number), locate(features, number if features.shape[0] > 1 else 0)
        head = header(q)
        if head[STATE] == STOPPED:
            chosen[number] = STOP
            continue
        if head[MADE] >= head[DUE]:
            prepare(f, q, x, rng, index, second, refresh, has)
        arm = choose(f, q, x, rng) if has & CHOOSES else leader(episode(f, q, x).first)
        if arm < 0 or arm >= head[ARMS]:
            stay(q, arm)
        chosen[number] = arm


def take_in_all(
    arms: IntArray,
    rewards: FloatArray,
    floats: FloatArray,
    ints: IntArray,
    features: FloatArray,
    rng: np.random.Generator,
    index: Index,
    second: Index,
    has: int,
) -> None:
    """Record a reward of every episode with a nonnegative arm."""
    rng = borrowed(rng)
    for number in range(floats.shape[0]):
        if arms[number] >= 0:
            f, q = locate(floats, number), locate(ints, number)
            x = locate(features, number if features.shape[0] > 1 else 0)
            floats[number, 0] = rewards[number]
            take_in(
                q, settings(f, q), episode(f, q, x), sums(f, q), arms[number], rewards[number], rng, index, second, has
            )
