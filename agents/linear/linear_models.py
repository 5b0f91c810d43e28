"""Shared parts of agents with a model on features: checks, pulls by designs, and estimates that rank arms."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from bai_gym.agents.tools.ranges import ORACLE
from bai_gym.bandits.features import check_features
from bai_gym.errors import AgentError, InstanceError, ParameterError
from bai_gym.linear.designs import Design, DifferenceDesign, exchange_design, greedy_allocation, round_design
from bai_gym.linear.regression import generalized_linear, least_squares
from bai_gym.linear.regression.links import LINKS
from bai_gym.linear.tasks import BestCandidate
from bai_gym.problems import ProblemInfo
from bai_gym.statistics import FloatArray, IntArray, Statistics
from bai_gym.tasks import Task

__all__ = [
    "add_intercept",
    "arm_order",
    "budget_for_any_features",
    "candidate_combinations",
    "check_rewards",
    "design_weights",
    "generalized_values",
    "in_parts",
    "levelled",
    "linear_values",
    "longest",
    "noise_deviation",
    "pulls_by_design",
    "pulls_by_greed",
    "rows_of",
    "shared_features",
]

ENTRIES = 2**19  # of features that are worked on at a time: designs step over them hundreds of times, near the cache
LARGEST_RATIO = 1e12  # of n L^2 to lam: beyond it, rounding errors would be seen
STEPS = 2.0**36  # values that differ by less than one such part of the largest one are tied


def budget_for_any_features(agent: Any, num_arms: int) -> int:
    """Return the minimum for as many features as arms, which suffices for any number."""
    return int(agent.least_budget(num_arms, None))


def shared_features(info: ProblemInfo, lam: float, agent: str) -> FloatArray:
    """Return ``(1, K, d)`` features where all episodes have the same ones, else ``(N, K, d)``, checked.

    Args:
        info: Of arms that have features.
        lam: Weight of the identity in the regression.
        agent: Whose parameter lam is, for errors.

    Raises:
        InstanceError: If features are not finite numbers, or too large.
        ParameterError: If lam is too small for numbers of 16 digits.
    """
    features = info.features
    assert features is not None  # the agent needs them, and says so
    same = features.strides[0] == 0 or bool((features == features[:1]).all())
    result = check_features(features[:1] if same else features)
    length, budget = float(longest(result).max()), info.budget
    if not math.isfinite(budget * length * length):
        raise InstanceError(f"{agent} cannot use features as large as these: divide them by a number")
    least = budget * length**2 / LARGEST_RATIO
    if lam < least:
        raise ParameterError(
            f"lam of {agent} is {lam:g}, too small for {budget} pulls of arms of length {length:g}: "
            f"give at least {1.01 * least:.3g}"
        )
    return result


def candidate_combinations(task: Task) -> tuple[IntArray, FloatArray] | None:
    """Return the ``(m,)`` different candidates, and the ``(m, K)`` combinations of arms that they are.

    None: recommendations are about the arms themselves.
    """
    if not isinstance(task, BestCandidate):
        return None
    different = np.sort(np.unique(task.candidates, axis=0, return_index=True)[1])
    return different, task.combinations[different]


def longest(features: FloatArray) -> FloatArray:
    """Return ``(N,)`` the length of the longest arm, from ``(N, K, d)`` features."""
    with np.errstate(over="ignore"):
        return np.asarray(np.sqrt(np.einsum("nkd,nkd->nk", features, features).max(axis=1)))


def noise_deviation(agent: Any, info: ProblemInfo) -> FloatArray:
    """Return ``(N,)`` standard deviations of the noise: an agent's sigma, or the largest from the problem info."""
    sigma = agent.setting("sigma")
    if sigma == ORACLE:
        return np.asarray(np.sqrt(info.variances.max(axis=1)))
    return np.full(info.batch, float(sigma))


def add_intercept(features: FloatArray) -> FloatArray:
    """Return ``(N, K, d + 1)`` features with a one at the end."""
    return np.concatenate([features, np.ones((*features.shape[:-1], 1))], axis=-1)


def rows_of(features: FloatArray, arms: IntArray) -> FloatArray:
    """Return the features ``(N, k, d)`` of some arms ``(N, k)``."""
    return np.take_along_axis(features, arms[..., None], axis=1)


def in_parts(work: Callable[..., np.ndarray], features: FloatArray, *others: np.ndarray) -> np.ndarray:
    """Return ``work(features, *others)``, called on some episodes at a time.

    Args:
        work: Works on each episode by itself.
        features: ``(N, k, d)``.
        *others: Further arrays of N episodes.
    """
    per_part = max(1, ENTRIES // max(1, features[0].size))
    if per_part >= len(features):
        return work(features, *others)
    starts = range(0, len(features), per_part)
    return np.concatenate([work(*(array[at : at + per_part] for array in (features, *others))) for at in starts])


def pulls_by_design(solve: Callable[[FloatArray], Design], rounding: str, features: FloatArray, pulls: int) -> IntArray:
    """Return ``(N, k)`` counts with the sum ``pulls``, by the design that ``solve`` finds for features ``(N, k, d)``.

    Args:
        solve: Returns the design.
        rounding: How the design becomes numbers of pulls: ``"exchange"`` or ``"efficient"``.
        features: ``(N, k, d)``.
        pulls: At least 1.
    """

    def work(x: FloatArray) -> IntArray:
        weights = design_weights(solve, x)
        if rounding == "exchange":
            return exchange_design(x, weights, pulls)
        return round_design(weights, pulls, allow_small_budget=True)

    return in_parts(work, features)


def design_weights(solve: Callable[[FloatArray], Design | DifferenceDesign], features: FloatArray) -> FloatArray:
    """Return ``(N, k)`` weights; episodes with the same arms, in any order, share one design, computed once."""
    order, first, which = arm_order(features)
    weights = np.empty(order.shape)
    np.put_along_axis(weights, order, solve(rows_of(features[first], order[first])).weights[which], axis=-1)
    return weights


def arm_order(features: FloatArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return an order of the arms of each episode, in which those with the same arms have the same features.

    Arms are sorted by two fixed random projections of their features, an order that reveals nothing about their means.
    Arms with equal features keep the order that they come in.

    Args:
        features: ``(N, k, d)``.

    Returns:
        ``(N, k)`` arms in order; ``(m,)`` one episode for each of the different features; ``(N,)`` which of them each
        episode has.
    """
    projections = np.random.default_rng(0).standard_normal((features.shape[-1], 2))
    # Sums over each row by itself, unlike a matrix product: equal features have equal sums, bit for bit.
    keys = np.einsum("nkd,dj->nkj", features, projections)
    order = np.argsort(keys[..., 0], axis=-1, kind="stable")
    keys = np.take_along_axis(keys, order[..., None], axis=1).reshape(len(keys), -1)
    _, first, which = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return order, first, which.reshape(-1)


def pulls_by_greed(features: FloatArray, pulls: int) -> IntArray:
    """Return ``(N, k)`` counts with the sum ``pulls``, chosen in turn for features ``(N, k, d)``."""
    start = "basis" if pulls >= min(features.shape[1:]) else "ridge"
    return in_parts(lambda x: greedy_allocation(x, pulls, start=start), features)


def linear_values(features: FloatArray, estimates: Statistics, candidates: FloatArray | None = None) -> FloatArray:
    """Return the values that rank arms: x^T theta, with theta by least squares (of minimum norm if not unique).

    Args:
        features: ``(N, k, d)``.
        estimates: ``(N, k)`` statistics of the samples.
        candidates: ``(N, m, d)`` what is ranked; None: the arms.

    Returns:
        ``(N, k)``, or ``(N, m)``, values without a unit; differences within rounding error are removed.
    """
    ranked = features if candidates is None else candidates
    return in_parts(_linear, features, estimates.pulls, estimates.means, ranked)


def generalized_values(
    features: FloatArray, estimates: Statistics, link: str, penalty: float, agent: str
) -> FloatArray:
    """Return the values that rank arms: x^T theta, with theta by penalised maximum likelihood.

    Args:
        features: ``(N, k, d)``.
        estimates: ``(N, k)`` statistics of the samples.
        link: See :func:`bai_gym.linear.regression.generalized_linear`.
        penalty: Its penalty.
        agent: Name, for errors.

    Raises:
        AgentError: If rewards lie outside the range of the link.
    """
    check_rewards(estimates.means, link, agent)

    def work(x: FloatArray, pulls: IntArray, means: FloatArray) -> FloatArray:
        return levelled(x, generalized_linear(x, pulls, means, link=link, penalty=penalty).theta)

    return in_parts(work, features, estimates.pulls, estimates.means)


def check_rewards(rewards: FloatArray, link: str, agent: str, slack: FloatArray | float = 0.0) -> None:
    """Raise :class:`AgentError` if rewards, or means of them, lie farther than slack from what the link allows."""
    allowed = LINKS[link].allows(rewards, slack)
    if not allowed.all():
        raise AgentError(
            f"{agent} with link={link!r} needs rewards in {LINKS[link].range}, but got {rewards[~allowed][0]:g}: "
            "use link='identity' for any rewards"
        )


def _linear(features: FloatArray, pulls: IntArray, means: FloatArray, ranked: FloatArray) -> FloatArray:
    return levelled(ranked, least_squares(features, pulls, means))


def levelled(features: FloatArray, theta: FloatArray) -> FloatArray:
    """Return the values x^T theta that rank arms, without a unit and differences within rounding error.

    Args:
        features: ``(N, k, d)``.
        theta: ``(N, d)``.
    """
    scores = (features @ theta[..., None])[..., 0]
    scale = np.abs(scores).max(axis=-1, keepdims=True)
    return np.rint(scores * (STEPS / np.where(scale > 0, scale, 1.0)))
