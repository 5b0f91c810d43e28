"""Features of an observation for learned agents: dimensionless, and defined for any number of arms and any budget.

The functions work on NumPy arrays and on PyTorch tensors alike, so training and inference share one definition. Both
kinds of input know the operations by the same names; ``xp`` is the module, ``numpy`` or ``torch``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, cast, get_args

import numpy as np

from bai_gym.tasks import Task
from bai_gym.validation import choice

__all__ = ["ARM_FEATURES", "REWARDS", "STATE_FEATURES", "Features", "Rewards", "check_rewards", "features"]

Rewards = Literal["any", "binary"]
"""``"any"``: means are seen relative to each other, in units of the noise. ``"binary"``: rewards are 0 or 1, and means
are seen where they lie in [0, 1]."""
REWARDS: tuple[str, ...] = get_args(Rewards)

ARM_FEATURES = 8
STATE_FEATURES = 5
SMALLEST = 1e-12  # of a scale; keeps ratios finite where rewards have no noise
FARTHEST = 6.0  # standard errors or deviations beyond which more makes no difference


class Features(NamedTuple):
    """What a network sees.

    Attributes:
        arms: ``(..., K, 8)`` of each arm: its share of the pulls, the number of its pulls, its mean, its distance from
            the largest mean, its standard error, that distance in standard errors, its noise relative to that of all
            arms, and whether its mean is the largest. For other tasks the largest mean is the border that an arm of the
            recommendation must reach: the m-th largest mean, the largest of its bandit, or the threshold.
        state: ``(..., 5)`` of the episode: the share of the budget that is left, whether nothing is left, the pulls
            made and left per arm, and the number of arms.
        order: ``(..., K)`` 1 for arms without a pull, which come first; -1 for them when nothing is left, as then they
            come last; 0 for all others.
    """

    arms: Any
    state: Any
    order: Any


def check_rewards(rewards: str) -> Rewards:
    """Return the kind of rewards if there is such a kind.

    Raises:
        ParameterError: If there is not.
    """
    return cast(Rewards, choice(rewards, REWARDS, "rewards"))


def features(observation: Mapping[str, Any], rewards: Rewards, xp: Any, task: Task | None = None) -> Features:
    """Return the features of observations.

    Args:
        observation: ``pulls``, ``means``, ``variances`` of shape ``(..., K)`` and ``remaining`` ``(..., 1)``, floats.
        rewards: Kind of rewards.
        xp: ``numpy`` or ``torch``, whichever the arrays are of.
        task: What is to be recommended; None: the best arm.
    """
    threshold = getattr(task, "threshold", None)
    pulls, means, remaining = observation["pulls"], observation["means"], observation["remaining"]
    num_arms = pulls.shape[-1]
    total = pulls.sum(axis=-1, keepdims=True)
    unpulled = pulls < 0.5
    count = xp.clip(pulls, 1.0, None)
    if rewards == "binary":
        # Mean and variance of the Beta posterior from the uniform prior.
        means = (pulls * means + 1.0) / (pulls + 2.0)
        spread = means * (1.0 - means)
        errors = xp.sqrt(spread / (pulls + 3.0))
        centre, scale = (0.5 if threshold is None else threshold) + 0.0 * total, 0.5 + 0.0 * total
        noise = xp.sqrt(spread)
    else:
        degrees = count - 1.0
        squares = degrees * observation["variances"]
        pooled = squares.sum(axis=-1, keepdims=True) / xp.clip(degrees.sum(axis=-1, keepdims=True), 1.0, None)
        # An arm's own variance, drawn towards that of all arms as if by two further pulls.
        noise = xp.sqrt((squares + 2.0 * pooled) / (degrees + 2.0))
        errors = noise / xp.sqrt(count)
        pulled = 1.0 * ~unpulled
        centre = (pulled * means).sum(axis=-1, keepdims=True) / xp.clip(pulled.sum(axis=-1, keepdims=True), 1.0, None)
        apart = xp.sqrt((pulled * (means - centre) ** 2).sum(axis=-1, keepdims=True) / num_arms)
        scale = xp.sqrt(pooled)
        scale = xp.where(scale > SMALLEST, scale, apart) + SMALLEST
        if threshold is not None:
            centre = threshold + 0.0 * total
        means = xp.where(unpulled, centre, means)
    best = _border(xp.where(unpulled, -xp.inf, means), task, xp) if threshold is None else centre
    best = xp.where(xp.isfinite(best), best, centre)
    leads = 1.0 * (means >= best)
    gap = best - means
    # The error of the distance to the leader; the leader's own is that of its mean.
    best_error = xp.amax(leads * errors, axis=-1, keepdims=True)
    error = xp.sqrt(errors**2 + (1.0 - leads) * best_error**2) if threshold is None else errors
    arms = xp.stack(
        (
            xp.log((pulls + 1.0) / (total / num_arms + 1.0)),
            xp.log(count) / 4.0,
            xp.clip((means - centre) / scale, -FARTHEST, FARTHEST),
            xp.clip(gap / scale, -FARTHEST, FARTHEST),
            xp.clip(errors / scale, 0.0, FARTHEST),
            xp.clip(gap / (error + SMALLEST), -FARTHEST, FARTHEST) / 2.0,
            xp.log(xp.clip(noise / scale, 1e-3, 1e3)),
            leads,
        ),
        axis=-1,
    )
    state = xp.concatenate(
        (
            remaining / (remaining + total),
            1.0 * (remaining < 1.0),
            xp.log(total / num_arms + 1.0) / 3.0,
            xp.log(remaining / num_arms + 1.0) / 3.0,
            xp.log(0.0 * total + num_arms) / 3.0,
        ),
        axis=-1,
    )
    return Features(arms, state, unpulled * (1.0 - 2.0 * (remaining < 1.0)))


def _border(means: Any, task: Task | None, xp: Any) -> Any:
    """Return the mean that an arm of the recommendation must reach, by the ``(..., K)`` sample means."""
    m, bandits = (1, 1) if task is None else (task.m, task.num_bandits)
    each = means.reshape(*means.shape[:-1], bandits, -1)
    if m == 1:
        best = xp.amax(each, axis=-1, keepdims=True)
    else:
        order = np.sort(each, axis=-1) if xp is np else each.sort(dim=-1).values
        best = order[..., -m : order.shape[-1] - m + 1]
    return xp.broadcast_to(best, each.shape).reshape(means.shape)
