"""The loop of sequential agents: choose an arm, draw its reward, update what depends on it; for all episodes.

Plain functions, which :mod:`bai_gym.sampling.compiler` compiles; without Numba they run as plain Python.
``f``, ``q`` and ``x`` locate the numbers of an episode, see :mod:`bai_gym.sampling.episode`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bai_gym.bandits.streams import LARGEST_KEY, address, normal, part_of, uniform
from bai_gym.bandits.table import (
    BERNOULLI,
    EMPIRICAL,
    FINITE,
    GAUSSIAN,
    PAIRED_FINITE,
    PAIRED_GAUSSIAN,
    PAIRED_HEADER,
    SINGLE,
)
from bai_gym.sampling.episode import (
    ARMS,
    DUE,
    LOST,
    MADE,
    NEVER,
    PULLED,
    RUNNING,
    STATE,
    STOP,
    STOPPED,
    TIE,
    WAIT,
    WAITING,
    Episode,
    at,
    borrowed,
    episode,
    header,
    locate,
    numbers_of,
    section,
    singles,
    sums,
    values,
)
from bai_gym.sampling.inlining import noinline
from bai_gym.sampling.tournament import Tournament, fill, leader, renew, renew_pulled, value_of
from bai_gym.statistics import FloatArray, IntArray

__all__ = ["INDEXED", "choose_all", "play", "update_all"]

LANES = 4  # episodes that are played side by side, step by step, so that their divisions and comparisons overlap

# What a rule has, as bits.
INDEXED, CHOOSES, REFRESHES, ONLY_DROPS, VARIANCES = 1, 2, 4, 8, 16

Indices = Callable[[int, Any, Any, Any, Any, Any, int], int]
"""Computes indices: of (number, pulls, means, variances, where the indices go, parameters, bytes from each one's
parameters to the next); in compiled code, addresses."""


def draw(
    kind: int,
    location: FloatArray,
    scale: FloatArray,
    start: IntArray,
    samples: FloatArray,
    number: int,
    arm: int,
    rng: np.random.Generator,
) -> float:
    """Return a reward of an arm.

    Args:
        kind: Of the arms.
        location: ``(N, K)`` means (Gaussian, Bernoulli, Poisson), or as in :func:`draw_finite` and
            :func:`draw_paired_finite`.
        scale: ``(N, K)`` standard deviations (Gaussian), numbers of samples (empirical) or of values (finite).
        start: ``(N, K)`` where the samples of the arm start (empirical), or the rewards that are left (finite), or
            where the number of its pulls is (paired).
        samples: Those of all arms, one arm after another (empirical), or all numbers (finite).
        number: The episode.
        arm: The arm.
        rng: Source of randomness.
    """
    row, column = np.uint64(number), np.uint64(arm)
    if kind == GAUSSIAN:
        return location[row, column] + scale[row, column] * rng.standard_normal()
    if kind == BERNOULLI:
        return 1.0 if rng.random() < location[row, column] else 0.0
    if kind == EMPIRICAL:
        return float(samples[start[row, column] + int(rng.random() * scale[row, column])])
    if kind == SINGLE:
        return float(singles(samples)[start[row, column] + int(rng.random() * scale[row, column])])
    if kind == FINITE:
        return draw_finite(int(location[row, column]), int(scale[row, column]), start[row, column], samples, rng)
    if kind == PAIRED_GAUSSIAN:
        noise = draw_paired_gaussian(start[row, column], samples, number, rng)
        return location[row, column] + scale[row, column] * noise
    if kind == PAIRED_FINITE:
        return draw_paired_finite(int(location[row, column]), start[row, column], samples, number, rng)
    return draw_poisson(location[row, column], rng)


@noinline
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


def paired_key(row: int, numbers: FloatArray, rng: np.random.Generator) -> np.uint64:
    """Return the key of an instance of paired arms, whose numbers start at ``row``; drawn if it has none."""
    if numbers[row] == 0.0:
        numbers[row] = 1.0 + np.floor(rng.random() * (LARGEST_KEY - 1))
    return np.uint64(numbers[row])


@noinline
def draw_paired_gaussian(start: int, numbers: FloatArray, number: int, rng: np.random.Generator) -> float:
    """Return the standardised reward of an arm on its next item, see :class:`bai_gym.bandits.PairedGaussianBandit`.

    Args:
        start: Where the number of pulls of the arm is.
        numbers: All numbers of the bandit; the pulls are counted.
        number: The instance.
        rng: Source of the key.
    """
    row = PAIRED_HEADER + number * int(numbers[1])
    arm, factors = start - row - 1, int(numbers[3])
    h = address(paired_key(row, numbers, rng), np.uint64(numbers[start]))
    numbers[start] += 1.0
    loadings = int(numbers[2]) + arm * (factors + 1)
    reward = numbers[loadings + factors] * normal(part_of(h, np.uint64(factors + arm)))
    for factor in range(factors):
        reward += numbers[loadings + factor] * normal(part_of(h, np.uint64(factor)))
    return float(reward)


@noinline
def draw_paired_finite(candidate: int, start: int, numbers: FloatArray, number: int, rng: np.random.Generator) -> float:
    """Return the score of a candidate on its next item, see :class:`bai_gym.bandits.PairedFiniteBandit`.

    Args:
        candidate: The candidate.
        start: Where the number of pulls of the arm is.
        numbers: All numbers of the bandit; the pulls are counted.
        number: The instance.
        rng: Source of the key.
    """
    row, size = PAIRED_HEADER + number * int(numbers[1]), int(numbers[3])
    key, item = paired_key(row, numbers, rng), int(numbers[start])
    numbers[start] += 1.0
    scores = int(numbers[2]) + candidate * size
    if numbers[4] == 1.0:  # with replacement
        return float(numbers[scores + int(uniform(part_of(address(key, np.uint64(item)), np.uint64(0))) * size)])
    turn, place = item // size, item % size
    tag = row + 1 + int(numbers[0]) + turn % 2
    order = row + 3 + int(numbers[0]) + turn % 2 * size
    if numbers[tag] != turn + 1.0:
        shuffle(address(key, np.uint64(turn)), order, size, numbers)
        numbers[tag] = turn + 1.0
    return float(numbers[scores + int(numbers[order + place])])


@noinline
def shuffle(h: np.uint64, start: int, size: int, numbers: FloatArray) -> None:
    """Write the order of a pass through the items, whose address is ``h``."""
    bits = np.empty(size, np.uint64)
    for place in range(size):
        bits[place] = part_of(h, np.uint64(place))
    order = bits.argsort()
    for place in range(size):
        numbers[start + place] = order[place]


@noinline
def draw_poisson(mean: float, rng: np.random.Generator) -> float:
    """Return a Poisson reward."""
    return float(rng.poisson(mean))


@noinline
def fill_tree(tree: Tournament, e: Episode, p: Any, indices: Indices, lowest: int, rng: np.random.Generator) -> None:
    """Compute the index of every active arm, and decide all nodes of the tournament."""
    half = tree.value.size >> 1
    indices(e.pulls.size, at(e.pulls, 0), at(e.mean, 0), at(e.variance, 0), at(tree.value, half), p, 0)
    value = section(tree.value, half, half)
    for arm in range(e.pulls.size):
        value[arm] = value[arm] if e.active[arm] == 1 else -np.inf
    fill(tree, e.pulls, lowest, rng)


@noinline
def take_out(tree: Tournament, e: Episode, rng: np.random.Generator) -> None:
    """Take the arms that have been dropped out of the tournament."""
    for arm in range(e.pulls.size):
        if e.active[arm] == 0 and value_of(tree, arm) > -np.inf:
            renew(tree, arm, -np.inf, rng)


@noinline
def refresh_episode(
    f: Any,
    q: Any,
    x: Any,
    rng: np.random.Generator,
    indices: Indices,
    refresh: Callable[..., int],
    has: int,
) -> None:
    """Call the rule's `refresh`, where it has one, and bring the tournament up to date."""
    head = header(q)
    head[DUE] = refresh(f, q, x, rng) if has & REFRESHES else NEVER
    e, p = episode(f, q, x), numbers_of(f, q)
    keeps = has & ONLY_DROPS and head[PULLED] >= 0
    if has & INDEXED and keeps:
        take_out(e.tournament, e, rng)
    elif has & INDEXED:
        fill_tree(e.tournament, e, p, indices, head[TIE], rng)


@noinline
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


def record(q: Any, e: Episode, total: FloatArray, reward: float, has: int) -> tuple[float, float, float]:
    """Add a reward to the statistics of the arm pulled last, and return its pulls, mean and variance.

    The mean is sum / pulls, so equal means of whole rewards are exactly equal.
    """
    head = header(q)
    arm = np.uint64(head[PULLED])
    pulls = e.pulls[arm] + 1.0
    total[arm] += reward
    before = e.mean[arm]
    mean = before if reward == before else total[arm] / pulls  # so that an arm with a constant reward has variance 0
    variance = 0.0
    if has & VARIANCES and pulls > 1.0:
        # Welford's update, with the variance in the place of the sum of squares.
        variance = (e.variance[arm] * (pulls - 2.0) + (reward - before) * (reward - mean)) * (1.0 / (pulls - 1.0))
        e.variance[arm] = variance
    e.pulls[arm] = pulls
    e.mean[arm] = mean
    head[MADE] += 1
    return pulls, mean, variance


def index_of(e: Episode, p: Any, arm: int, indices: Indices) -> float:
    """Return an arm's index."""
    found = np.empty(1)
    indices(1, at(e.pulls, arm), at(e.mean, arm), at(e.variance, arm), at(found, 0), p, 0)
    return float(found[0])


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
    indices: Indices,
    choose: Callable[..., int],
    refresh: Callable[..., int],
    has: int,
    scratch: FloatArray,
    until: int,
) -> None:
    """Play episodes until they have made their pulls, have stopped, or wait; see :class:`bai_gym.sampling.Engine`.

    ``LANES`` episodes are played side by side: each one chooses and draws, each one records, all their indices are
    computed at once, and each tournament is renewed. ``scratch`` is ``(5 * LANES,)`` ones, which receive the pulls,
    means, variances and indices of the arms that they have just pulled, and whether they have pulled one.
    """
    rng, rewards = borrowed(rng), borrowed(rewards)
    samples, scratch = section(samples, 0, samples.size), section(scratch, 0, scratch.size)  # not counted, either
    pulls, means = section(scratch, 0, LANES), section(scratch, LANES, LANES)
    variances, found = section(scratch, 2 * LANES, LANES), section(scratch, 3 * LANES, LANES)
    played = section(scratch, 4 * LANES, LANES)
    episodes = floats.shape[0]
    for begin in range(0, episodes, LANES):
        end = min(begin + LANES, episodes)
        running = end - begin
        while running > 0:
            running = 0
            for number in range(begin, end):
                f, q = locate(floats, number), locate(ints, number)
                head = header(q)
                if head[MADE] >= until or head[STATE] != RUNNING:
                    continue
                x = locate(features, number if features.shape[0] > 1 else 0)
                if head[MADE] >= head[DUE]:
                    refresh_episode(f, q, x, rng, indices, refresh, has)
                arm = choose(f, q, x, rng) if has & CHOOSES else leader(episode(f, q, x).tournament)
                if arm < 0 or arm >= head[ARMS]:
                    stay(q, arm)
                    continue
                head[PULLED] = arm
                values(f)[0] = draw(kind, location, scale, start, samples, number, arm, rewards)
            for number in range(begin, end):
                f, q, lane = locate(floats, number), locate(ints, number), number - begin
                played[lane] = 0.0
                if header(q)[MADE] < until and header(q)[STATE] == RUNNING:
                    e = episode(f, q, f)  # the features are not read
                    pulls[lane], means[lane], variances[lane] = record(q, e, sums(f, q), e.reward, has)
                    played[lane] = 1.0
                    running += 1
            if has & INDEXED:
                p = numbers_of(locate(floats, begin), locate(ints, begin))
                indices(end - begin, at(pulls, 0), at(means, 0), at(variances, 0), at(found, 0), p, floats.strides[0])
                for number in range(begin, end):
                    f, q, lane = locate(floats, number), locate(ints, number), number - begin
                    if played[lane] == 1.0:
                        head, tree = header(q), episode(f, q, f).tournament
                        renew_pulled(tree, head[PULLED], found[lane], pulls[lane], head[TIE], rng)


def choose_all(
    chosen: IntArray,
    floats: FloatArray,
    ints: IntArray,
    features: FloatArray,
    rng: np.random.Generator,
    indices: Indices,
    choose: Callable[..., int],
    refresh: Callable[..., int],
    has: int,
) -> None:
    """Replace ``WAIT`` in ``chosen`` by the next arm of the episode, ``STOP``, or again ``WAIT``."""
    rng = borrowed(rng)
    for number in range(floats.shape[0]):
        if chosen[number] != WAIT:  # it has chosen, and others have waited
            continue
        f, q, x = locate(floats, number), locate(ints, number), locate(features, number if features.shape[0] > 1 else 0)
        head = header(q)
        if head[STATE] == STOPPED:
            chosen[number] = STOP
            continue
        if head[MADE] >= head[DUE]:
            refresh_episode(f, q, x, rng, indices, refresh, has)
        arm = choose(f, q, x, rng) if has & CHOOSES else leader(episode(f, q, x).tournament)
        if arm < 0 or arm >= head[ARMS]:
            stay(q, arm)
        chosen[number] = arm


def update_all(
    arms: IntArray,
    rewards: FloatArray,
    floats: FloatArray,
    ints: IntArray,
    features: FloatArray,
    rng: np.random.Generator,
    indices: Indices,
    has: int,
) -> None:
    """Record a reward of every episode with a nonnegative arm."""
    rng = borrowed(rng)
    for number in range(floats.shape[0]):
        if arms[number] >= 0:
            f, q = locate(floats, number), locate(ints, number)
            x = locate(features, number if features.shape[0] > 1 else 0)
            floats[number, 0] = rewards[number]
            header(q)[PULLED] = arms[number]
            e, p = episode(f, q, x), numbers_of(f, q)
            pulls, _, _ = record(q, e, sums(f, q), rewards[number], has)
            if has & INDEXED:
                value = index_of(e, p, arms[number], indices)
                renew_pulled(e.tournament, arms[number], value, pulls, header(q)[TIE], rng)
