"""Selection with stated tie rules, shared by many agents: the best mean, a random few, a random order, whole counts."""

from __future__ import annotations

import numpy as np

from bai_gym.problems import ProblemInfo
from bai_gym.sampling import TieRule
from bai_gym.statistics import ROUNDING, AnyArray, BoolArray, FloatArray, IntArray, Statistics
from bai_gym.tasks import BestArm, BestOfEach, GoodArm, Task, Thresholding, TopM
from bai_gym.validation import choice

__all__ = [
    "SLACK",
    "above_threshold",
    "best_recommendation",
    "best_mean",
    "best_remaining",
    "keep_best",
    "largest",
    "largest_remainders",
    "most_pulled",
    "pulls_of_an_arm",
    "random_subset",
    "shuffled_arms",
    "spread_evenly",
    "systematic",
    "whole_counts",
]

SLACK = 1e-9  # values of linear algebra that differ by less, relative to what they are sums of, are equal


def best_mean(statistics: Statistics, tie: TieRule, rng: np.random.Generator) -> IntArray:
    """Return the arm of largest sample mean; ties go to more pulls, then by the rule; arms without a pull come last.

    Means that differ by no more than the rounding of a running mean are tied: 1/3 after 3 pulls equals 1/3 after 6.

    Args:
        statistics: ``(N, K)``.
        tie: ``"random"``, or ``"first"`` for the lowest arm number.
        rng: Source of randomness.

    Returns:
        ``(N,)`` arms.
    """
    means = np.where(statistics.pulls > 0, statistics.means, -np.inf)
    top = means.max(axis=-1, keepdims=True)
    best = means >= top - ROUNDING * np.abs(top)
    arms = best.argmax(axis=-1)
    tied = np.flatnonzero(np.count_nonzero(best, axis=-1) > 1)
    if tied.size:
        pulls = np.where(best[tied], statistics.pulls[tied], -1)
        most = pulls == pulls.max(axis=-1, keepdims=True)
        keys = rng.random(most.shape) if tie == "random" else np.ones(most.shape)
        arms[tied] = np.where(most, keys, -1.0).argmax(axis=-1)
    return np.asarray(arms)


def best_remaining(statistics: Statistics, active: BoolArray, tie: TieRule, rng: np.random.Generator) -> IntArray:
    """Return the arm of largest sample mean among the active ones; ties as in :func:`best_mean`.

    Args:
        statistics: ``(N, K)``.
        active: ``(N, K)`` arms that have not been dropped, at least one in each row.
        tie: ``"random"``, or ``"first"`` for the lowest arm number.
        rng: Source of randomness.

    Returns:
        ``(N,)`` arms.
    """
    pulls = np.where(active, statistics.pulls, 0)  # arms without a pull come last
    return best_mean(Statistics(pulls, statistics.means, statistics.variances), tie, rng)


def best_recommendation(statistics: Statistics, task: Task, tie: TieRule, rng: np.random.Generator) -> IntArray:
    """Return the recommendation of largest sample means, in the form of the task; ties as in :func:`best_mean`.

    Args:
        statistics: ``(N, K)``.
        task: What is to be recommended.
        tie: ``"random"``, or ``"first"`` for the lowest arm number.
        rng: Source of randomness.

    Returns:
        ``(N,)`` arms, ``(N, K)`` sets, ``(N, M)`` arms of each bandit, or ``(N, 1)`` arms or K for none.
    """
    if isinstance(task, Thresholding):
        return above_threshold(statistics, task.threshold)
    if isinstance(task, GoodArm):
        best = best_mean(statistics, tie, rng)[:, None]
        good = np.take_along_axis(above_threshold(statistics, task.threshold), best, 1)
        return np.where(good == 1, best, statistics.pulls.shape[1])
    if isinstance(task, TopM):
        return _best_set(statistics, task.m, tie, rng)
    if isinstance(task, BestOfEach):
        split = (statistics.pulls, statistics.means, statistics.variances)
        rows = Statistics(*(array.reshape(-1, array.shape[-1] // task.num_bandits) for array in split))
        return best_mean(rows, tie, rng).reshape(-1, task.num_bandits)
    if type(task) is not BestArm:  # of another distribution: it breaks ties itself
        return task.correct_recommendation(statistics.means)
    return best_mean(statistics, tie, rng)


def above_threshold(statistics: Statistics, threshold: float) -> IntArray:
    """Return the arms whose sample mean is at least the threshold; arms without a pull are left out.

    A mean that falls short of the threshold by no more than the rounding of a running mean is equal to it.

    Args:
        statistics: ``(N, K)``.
        threshold: In the unit of the reward.

    Returns:
        ``(N, K)`` zeros and ones.
    """
    reached = statistics.means >= threshold - ROUNDING * abs(threshold)
    return (reached & (statistics.pulls > 0)).astype(np.int64)


def _best_set(statistics: Statistics, size: int, tie: TieRule, rng: np.random.Generator) -> IntArray:
    pulled = statistics.pulls > 0
    means = np.where(pulled, statistics.means, -np.inf)
    border = np.partition(means, -size, axis=-1)[:, -size, None]
    slack = ROUNDING * np.abs(np.where(np.isfinite(border), border, 0.0))
    with np.errstate(invalid="ignore"):  # -inf less -inf, of arms without a pull
        above, level = means > border + slack, np.abs(means - border) <= slack
    level |= means == border  # -inf
    # Of the arms at the border, those with more pulls.
    keys = np.where(level, statistics.pulls, -1.0) + np.where(above, np.inf, 0.0)
    return keep_best(keys, size, tie, rng).astype(np.int64)


def most_pulled(statistics: Statistics, tie: TieRule, rng: np.random.Generator) -> IntArray:
    """Return the arm with the most pulls; ties go to the larger sample mean, then by the rule, see :func:`best_mean`.

    Args:
        statistics: ``(N, K)``.
        tie: ``"random"``, or ``"first"`` for the lowest arm number.
        rng: Source of randomness.

    Returns:
        ``(N,)`` arms.
    """
    pulls = statistics.pulls
    most = np.where(pulls == pulls.max(axis=-1, keepdims=True), pulls, 0)
    return best_mean(Statistics(most, statistics.means, statistics.variances), tie, rng)


def largest(values: FloatArray, scale: FloatArray, pulls: AnyArray, tie: TieRule, rng: np.random.Generator) -> IntArray:
    """Return the column of the largest value in each row; values within rounding error are tied.

    Args:
        values: ``(N, k)``; finite values, and -inf.
        scale: ``(N,)`` magnitude of the terms that the values are sums of. A value is tied with the largest one if it
            is less by at most ``SLACK`` times the sum of the two magnitudes.
        pulls: ``(N, k)`` pulls of each arm, for the rule ``"first"``.
        tie: ``"random"``, or ``"first"`` for the fewest pulls, then the lowest column.
        rng: Source of randomness.

    Returns:
        ``(N,)`` columns.
    """
    best = values.argmax(axis=-1)
    top = values[np.arange(len(values)), best]
    near = values >= (top - SLACK * (scale + np.abs(top)))[:, None]
    if np.count_nonzero(near) > len(near):
        tied = np.flatnonzero(np.count_nonzero(near, axis=-1) > 1)
        among = near[tied]
        keys = rng.random(among.shape) if tie == "random" else -1.0 * pulls[tied]
        best[tied] = np.where(among, keys, -np.inf).argmax(axis=-1)
    return np.asarray(best)


def keep_best(values: FloatArray, size: int, tie: TieRule, rng: np.random.Generator) -> BoolArray:
    """Return a mask of the ``size`` largest values of each row; ties at the border are broken by the rule.

    Args:
        values: ``(N, k)``; -inf allowed.
        size: From 1 to k.
        tie: ``"random"``, or ``"first"`` for the lowest column.
        rng: Source of randomness.

    Returns:
        ``(N, k)`` mask with exactly ``size`` True per row.
    """
    columns = values.shape[-1]
    if size == columns - 1:  # mostly the smallest value is that of one column
        choice: BoolArray = values > values.min(axis=-1, keepdims=True)
        if np.count_nonzero(choice) == size * len(choice):
            return choice
    border = np.partition(values, columns - size, axis=-1)[:, columns - size, None]
    choice = values >= border
    crowded = np.flatnonzero(np.count_nonzero(choice, axis=-1) > size)
    if crowded.size:
        above = values[crowded] > border[crowded]
        level = choice[crowded] & ~above
        keys = rng.random(level.shape) if tie == "random" else np.broadcast_to(np.arange(columns) * 1.0, level.shape)
        rank = np.where(level, keys, np.inf).argsort(axis=-1, kind="stable").argsort(axis=-1, kind="stable")
        places = size - np.count_nonzero(above, axis=-1, keepdims=True)
        choice[crowded] = above | (level & (rank < places))
    return choice


def pulls_of_an_arm(cap: str, info: ProblemInfo, agent: str) -> float:
    """Return the most pulls of an arm by an agent's parameter ``cap``, ``"budget"`` or ``"items"``; inf: no limit.

    Raises:
        ParameterError: Another cap.
    """
    capped = choice(cap, ("budget", "items"), f"cap of {agent}") == "items"
    return info.num_items if capped and info.num_items is not None else np.inf


def random_subset(batch: int, columns: int, size: int, tie: TieRule, rng: np.random.Generator) -> BoolArray:
    """Return a mask of ``size`` columns per row: uniformly random, or the first ones under the rule ``"first"``."""
    if size == 0 or tie == "first":
        return np.broadcast_to(np.arange(columns) < size, (batch, columns))
    return keep_best(rng.random((batch, columns)), size, tie, rng)


def shuffled_arms(batch: int, num_arms: int, tie: TieRule, rng: np.random.Generator) -> IntArray:
    """Return ``(N, K)`` all arms in random order, or in ascending order under the rule ``"first"``.

    For algorithms that take the first of several tied arms, as designs do: it is then a random one.
    """
    arms = np.broadcast_to(np.arange(num_arms), (batch, num_arms))
    return arms if tie == "first" else rng.permuted(arms, axis=1)


def spread_evenly(batch: int, columns: int, pulls: int, tie: TieRule, rng: np.random.Generator) -> IntArray:
    """Return ``(batch, columns)`` counts of ``pulls`` cyclic pulls: equal up to one extra pull for some columns."""
    each, extra = divmod(pulls, columns)
    counts = np.full((batch, columns), each, np.int64)
    if extra == 1 and tie == "random":  # frequent, and much faster than by a mask
        counts[np.arange(batch), rng.integers(columns, size=batch)] += 1
    elif extra:
        counts += random_subset(batch, columns, extra, tie, rng)
    return counts


def whole_counts(wanted: FloatArray, size: int, tie: TieRule, rng: np.random.Generator) -> IntArray:
    """Return whole counts of the same sum, as :func:`systematic` with a random offset.

    Args:
        wanted: ``(N, K)`` real counts that sum to ``size``.
        size: The sum.
        tie: ``"random"``, or ``"first"`` for the offset 0.5.
        rng: Source of randomness.
    """
    offset = np.full((len(wanted), 1), 0.5) if tie == "first" else rng.random((len(wanted), 1))
    return systematic(wanted, size, offset)


def systematic(wanted: FloatArray, size: int, offset: FloatArray) -> IntArray:
    """Return whole counts that sum to ``size``, each less than 1 away and right in the mean over uniform offsets.

    Args:
        wanted: ``(N, K)`` real counts that sum to ``size``.
        size: The sum.
        offset: ``(N, 1)`` in [0, 1).
    """
    ends = np.cumsum(wanted, axis=1) + offset
    ends[:, -1:] = size + offset
    return np.diff(np.floor(ends), axis=1, prepend=0.0).astype(np.int64)


def largest_remainders(wanted: FloatArray, size: int, rng: np.random.Generator | None = None) -> IntArray:
    """Return whole counts that sum to ``size``: rounded down, and one more where the most is cut off.

    Args:
        wanted: ``(N, K)`` real counts that sum to ``size``.
        size: The sum.
        rng: Decides among equal remainders; None: the arm that comes first.
    """
    order = np.broadcast_to(np.arange(wanted.shape[1]), wanted.shape)
    if rng is not None:
        order = np.argsort(rng.random(wanted.shape), axis=1)
    shuffled = np.take_along_axis(wanted, order, axis=1)
    counts = np.floor(shuffled)
    missing = np.rint(size - counts.sum(axis=1, keepdims=True))
    rank = (counts - shuffled).argsort(axis=1, kind="stable").argsort(axis=1)
    result = np.empty(wanted.shape, np.int64)
    np.put_along_axis(result, order, (counts + (rank < missing)).astype(np.int64), axis=1)
    return result
