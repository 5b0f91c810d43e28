"""What the universal agent sees: features of each arm without a unit, the same in NumPy and in PyTorch.

All features are functions of the sufficient statistics and of the contrasts on which the answer rests, so they know no
question by its name. They do not change when rewards are scaled or shifted, and they exist for any number of arms and
any budget. ``xp`` is the module of the arrays, ``numpy`` or ``torch``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bai_gym.agents.tools.questions import gap
from bai_gym.analysis.posterior import OWN, prior_freedom
from bai_gym.sampling.compiler import NotCompiledError, can_compile, compile_loops
from bai_gym.statistics import FloatArray, IntArray
from bai_gym.tasks import Contrasts, Task

__all__ = [
    "ARM_FEATURES",
    "STATE_FEATURES",
    "Moments",
    "Rivals",
    "View",
    "binary_moments",
    "estimates",
    "moments",
    "of_rivals",
    "rivals",
    "view",
]

ARM_FEATURES = (
    "behind",
    "z",
    "log-z",
    "share",
    "noise",
    "pulls",
    "reach",
    "leader",
    "second",
    "position",
    "contender",
    "gain",
    "upper",
    "fixed",
)
STATE_FEATURES = (
    "left",
    "end",
    "arms",
    "budget",
    "pulls-per-arm",
    "contenders",
    "spread",
    "z-of-leader",
)
WEIGHT = ARM_FEATURES.index("contender")
FARTHEST = 9.0  # standard errors beyond which more makes no difference
LONGEST = 400.0  # pulls per arm beyond which a longer budget looks the same
MANY = 1e4  # degrees of freedom of a variance that is a function of the mean
STEP = 0.8  # standard errors
COMPILED_FROM = 1000  # contrasts; below, plain Python has ended before compiled code is loaded
NOTHING = 1e-30  # whose logarithm is finite
RIVALS = """
@compiled
def rivals(means, numbers, c, closest, arm, side, offset):
    for n in range(means.shape[0]):
        set_rivals(means[n], question(means[n], c, numbers[n]), c, closest, arm[n], side[n], offset[n])
"""


class Moments(NamedTuple):
    """Estimates, each ``(..., K)`` but for the unit; all but the means are in units of the noise.

    Attributes:
        means: Estimated means, in the unit of the reward.
        unit: ``(..., 1)`` standard deviation of the noise.
        variances: Estimated variances of one reward; about 1.
        freedom: Degrees of freedom of these variances.
    """

    means: Any
    unit: Any
    variances: Any
    freedom: Any


class Rivals(NamedTuple):
    """What each arm is compared with: of its contrasts that of the smallest gap, each ``(N, K)``.

    An arm that takes part in none is compared with an arm of the contrast of smallest gap.

    Attributes:
        arm: The other arm, or -1 for none.
        side: 1 where the answer rests on the arm's mean being the larger one, else -1.
        offset: The gap is side (mean - mean of the other arm) - offset.
    """

    arm: Any
    side: Any
    offset: Any


class View(NamedTuple):
    """What a network sees.

    Attributes:
        arms: ``(..., K, 14)`` features of each arm, in the order of :data:`ARM_FEATURES`.
        state: ``(..., 8)`` features of the episode, in the order of :data:`STATE_FEATURES`.
        pulls: ``(..., K)`` hand-made logits of the next pulls, to which a network adds its own.
        means: ``(..., K)`` estimated means, whose answer would be recommended.
        step: ``(..., K)`` what an output of 1 of a network adds to them.
    """

    arms: Any
    state: Any
    pulls: Any
    means: Any
    step: Any


def moments(pulls: Any, means: Any, variances: Any, xp: Any) -> Moments:
    """Return the estimates for rewards of any kind.

    An arm's own variance is drawn towards the pooled one, the more so the less the sample variances differ beyond
    chance, see :func:`bai_gym.analysis.posterior.prior_freedom`. Without two pulls of any arm, half the variance of the
    means takes the place of the pooled one.

    Source: Smyth (2004), "Linear Models and Empirical Bayes Methods for Assessing Differential Expression in Microarray
    Experiments", has the prior and another estimate of its degrees of freedom.

    Args:
        pulls: ``(..., K)`` at least 1.
        means: ``(..., K)`` sample means.
        variances: ``(..., K)`` unbiased sample variances.
        xp: ``numpy`` or ``torch``.
    """
    freedom = xp.clip(pulls - 1.0, 0.0, None)
    squares = freedom * variances
    all_freedom = freedom.sum(axis=-1, keepdims=True)
    centred = means - means.mean(axis=-1, keepdims=True)
    spread = (centred**2).mean(axis=-1, keepdims=True)
    pooled = squares.sum(axis=-1, keepdims=True) / xp.clip(all_freedom, 1.0, None)
    pooled = xp.where(all_freedom > 0.5, pooled, 0.5 * spread) + 1e-6 * spread
    pooled = xp.where(pooled > 0.0, pooled, 1.0 + 0.0 * pooled)
    own = prior_freedom(freedom, variances / pooled, xp)
    return Moments(means, xp.sqrt(pooled), (squares / pooled + own) / (freedom + own), freedom + own)


def binary_moments(pulls: Any, means: Any, xp: Any) -> Moments:
    """Return the estimates for rewards 0 and 1: shares of successes, drawn towards the mean of all arms.

    Args:
        pulls: ``(..., K)`` at least 1.
        means: ``(..., K)`` shares of successes.
        xp: ``numpy`` or ``torch``.
    """
    num_arms = pulls.shape[-1]
    centre = (means.sum(axis=-1, keepdims=True) + 1.0) / (num_arms + 2.0)
    shares = (pulls * means + OWN * centre) / (pulls + OWN)
    variances = shares * (1.0 - shares)
    pooled = (pulls * variances).sum(axis=-1, keepdims=True) / pulls.sum(axis=-1, keepdims=True)
    variances = (pulls * variances / pooled + 1.0) / (pulls + 1.0)
    return Moments(shares, xp.sqrt(pooled), variances, 0.0 * pulls + MANY)


def estimates(rewards: str, state: Any, xp: Any) -> Moments:
    """Return :func:`binary_moments` or, for any rewards, :func:`moments` of statistics with these attributes."""
    if rewards == "binary":
        return binary_moments(state.pulls, state.means, xp)
    return moments(state.pulls, state.means, state.variances, xp)


def set_rivals(
    mean: FloatArray, n: int, c: Contrasts, closest: FloatArray, arm: IntArray, side: FloatArray, offset: FloatArray
) -> None:
    """Find what each arm of an episode is compared with, by its n contrasts."""
    weakest = 0
    closest[:] = np.inf
    for k in range(n):
        i, j, distance = int(c.first[k]), int(c.second[k]), gap(mean, c, k)
        weakest = k if distance < gap(mean, c, weakest) else weakest
        if i >= 0 and distance < closest[i]:
            closest[i], arm[i], side[i], offset[i] = distance, j, 1.0, c.offset[k]
        if j >= 0 and distance < closest[j]:
            closest[j], arm[j], side[j], offset[j] = distance, i, -1.0, c.offset[k]
    for other in range(mean.size):
        if closest[other] == np.inf:
            arm[other], side[other], offset[other] = max(int(c.first[weakest]), int(c.second[weakest])), -1.0, 0.0


def rivals(means: FloatArray, task: Task, numbers: FloatArray) -> Rivals:
    """Return what each arm is compared with.

    Args:
        means: ``(N, K)`` estimated means.
        task: A task that states its contrasts, none of them in groups.
        numbers: ``(N, ...)`` its numbers in each episode, see :meth:`bai_gym.tasks.Task.numbers`.
    """
    functions, name = {"question": task.contrasts, "set_rivals": set_rivals}, f"the contrasts of {task.name}"
    found = Rivals(np.zeros(means.shape, np.int64), np.zeros(means.shape), np.zeros(means.shape))
    most = task.most_contrasts(means.shape[1])
    room = Contrasts.room(most)
    arguments = (np.ascontiguousarray(means, np.float64), numbers, room, np.zeros(means.shape[1]), *found)
    try:
        plain = len(means) * most < COMPILED_FROM or not can_compile()
        compile_loops(RIVALS, functions, name, plain=plain).call("rivals", *arguments)
    except NotCompiledError:  # the task is somebody's own
        compile_loops(RIVALS, functions, name, plain=True).call("rivals", *arguments)
    return found


def of_rivals(values: Any, found: Rivals, xp: Any) -> Any:
    """Return the values of the other arms, 0 where there is none: ``(N, K)`` -> ``(N, K)``."""
    take = np.take_along_axis if xp is np else xp.take_along_dim
    return xp.where(found.arm >= 0, take(values, xp.clip(found.arm, 0, None), -1), 0.0)


def to_rivals(values: Any, found: Rivals, xp: Any) -> Any:
    """Return the sums of the values of the arms that are compared with each arm: ``(N, K)`` -> ``(N, K)``."""
    values, arm = xp.where(found.arm >= 0, values, 0.0), xp.clip(found.arm, 0, None)
    if xp is not np:
        return xp.zeros_like(values).scatter_add(-1, arm, values)
    cells = arm + values.shape[1] * np.arange(len(values))[:, None]
    return np.bincount(cells.ravel(), values.ravel(), values.size).reshape(values.shape)


def view(pulls: Any, seen: Moments, found: Rivals, left: Any, xp: Any) -> View:
    """Return the features of an episode.

    Args:
        pulls: ``(N, K)`` at least 1.
        seen: Estimates of the arms.
        found: What the arms are compared with.
        left: ``(N, 1)`` pulls that are left.
        xp: ``numpy`` or ``torch``.
    """
    num_arms = pulls.shape[-1]
    _, unit, variances, freedom = seen
    means = (seen.means - seen.means.mean(axis=-1, keepdims=True)) / unit
    each = pulls.mean(axis=-1, keepdims=True)
    error = variances / pulls  # squared standard error
    position = xp.cumsum(xp.ones_like(found.arm), -1) - 1
    compared = to_rivals(xp.ones_like(pulls), found, xp) > 0.0
    upper, fixed = 1.0 * (found.side > 0.0), 1.0 * (found.arm < 0)
    lead = upper * compared
    second = (1.0 - upper) * compared
    distance = (found.side * (seen.means - of_rivals(seen.means, found, xp)) - found.offset) / unit
    both = error + of_rivals(error, found, xp)
    # From Student's t to about normal: evidence of few pulls counts less. Degrees of freedom after Welch.
    doubt = error**2 / freedom
    of_both = both**2 / (doubt + of_rivals(doubt, found, xp))
    z = xp.sqrt(of_both * xp.log1p(distance**2 / both / of_both) + 1e-12)
    z = xp.clip(z, 0.0, FARTHEST)
    behind = (1.0 - lead) * z
    deviation = xp.sqrt(variances + of_rivals(variances, found, xp))
    ahead = xp.abs(distance) / deviation * xp.sqrt(xp.clip(left, 1.0, None) / num_arms)
    spread = xp.sqrt((means**2).mean(axis=-1, keepdims=True) + 1e-3 / each)
    weight = xp.exp(-0.5 * behind**2)
    contenders = weight.sum(axis=-1, keepdims=True)
    # By how much one more pull lowers the sum of Phi(-z) over the contrasts of the arm (logarithm, up to a constant);
    # two arms that are compared with each other have theirs in common.
    slope = 0.5 * xp.log(z**2 + 0.5) - 0.5 * z**2 - xp.log(both)
    part = xp.exp(slope - xp.amax(slope, axis=-1, keepdims=True))
    mutual = (found.arm >= 0) & (of_rivals(found.arm, found, xp) == position)
    own = xp.where(mutual, 0.0, part)
    gain = xp.log(own + to_rivals(part, found, xp) + NOTHING) + xp.log(error / pulls)
    gain = xp.clip(gain - xp.amax(gain, axis=-1, keepdims=True), -16.0, 0.0)
    noise = 0.5 * xp.log(variances)
    weakest = xp.amin(z, axis=-1, keepdims=True)
    arms = xp.stack(
        (
            behind / 2.0,
            z / 2.0,
            xp.log(z + 0.2),
            xp.log(pulls / each),
            noise,
            xp.log(xp.clip(pulls, 1.0, 100.0 * LONGEST)) / 3.0,
            xp.log(ahead + 0.1),
            lead,
            second,
            xp.clip(means / spread, -4.0, 4.0) / 2.0,
            weight,
            gain / 4.0,
            upper,
            fixed,
        ),
        -1,
    )
    made = each * num_arms
    per_arm = xp.clip((made + left) / num_arms, 1.0, LONGEST)
    state = xp.concatenate(
        (
            left / (made + left),
            1.0 * (left < 0.5) + 0.0 * each,
            xp.log(0.0 * each + num_arms) / 3.0,
            xp.log(per_arm) / 3.0,
            xp.log(xp.clip(each, 1.0, LONGEST)) / 3.0,
            xp.log(contenders),
            xp.clip(xp.log(spread * xp.sqrt(per_arm) + 1e-3), -4.0, 6.0) / 3.0,
            weakest / 2.0,
        ),
        -1,
    )
    pulled = noise - 0.35 * behind**2 / (1.0 + 0.25 * behind)
    return View(arms, state, pulled, seen.means, STEP * unit * xp.sqrt(error))
