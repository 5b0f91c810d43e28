"""What the universal agent sees: features of each arm without a unit, the same in NumPy and in PyTorch.

All features are functions of the sufficient statistics. They do not change when rewards are scaled or shifted, and
they exist for any number of arms and any budget. ``xp`` is the module of the arrays, ``numpy`` or ``torch``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from bai_gym.analysis.posterior import OWN, prior_freedom

__all__ = ["ARM_FEATURES", "STATE_FEATURES", "Moments", "View", "binary_moments", "moments", "view"]

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
NEVER = 1e9  # lowers the mean of the leader where the second arm is searched


class Moments(NamedTuple):
    """Estimates in units of the noise, each ``(..., K)``.

    Attributes:
        means: Estimated means, centred.
        variances: Estimated variances of one reward; about 1.
        freedom: Degrees of freedom of these variances.
    """

    means: Any
    variances: Any
    freedom: Any


class View(NamedTuple):
    """What a network sees.

    Attributes:
        arms: ``(..., K, 12)`` features of each arm, in the order of :data:`ARM_FEATURES`.
        state: ``(..., 8)`` features of the episode, in the order of :data:`STATE_FEATURES`.
        pulls: ``(..., K)`` hand-made logits of the next pulls, to which a network adds its own.
        recommendation: ``(..., K)`` hand-made logits of the recommendation, likewise.
    """

    arms: Any
    state: Any
    pulls: Any
    recommendation: Any


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
    return Moments(centred / xp.sqrt(pooled), (squares / pooled + own) / (freedom + own), freedom + own)


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
    centred = shares - shares.mean(axis=-1, keepdims=True)
    return Moments(centred / xp.sqrt(pooled), variances, 0.0 * pulls + MANY)


def view(pulls: Any, seen: Moments, left: Any, xp: Any) -> View:
    """Return the features of an episode.

    Args:
        pulls: ``(..., K)`` at least 1.
        seen: Estimates of the arms.
        left: ``(..., 1)`` pulls that are left.
        xp: ``numpy`` or ``torch``.
    """
    num_arms = pulls.shape[-1]
    means, variances, freedom = seen
    each = pulls.mean(axis=-1, keepdims=True)
    error = variances / pulls  # squared standard error
    position = xp.cumsum(xp.ones_like(pulls), -1) - 1.0
    lead = 1.0 * (position == means.argmax(-1)[..., None])
    others = 1.0 - lead
    second = 1.0 * (position == (means - NEVER * lead).argmax(-1)[..., None])
    lead_error = (lead * error).sum(axis=-1, keepdims=True)
    lead_variance = (lead * variances).sum(axis=-1, keepdims=True)
    gap = (lead * means).sum(axis=-1, keepdims=True) - means
    gap = gap + lead * (second * gap).sum(axis=-1, keepdims=True)  # the leader's: to the second arm
    both = error + others * lead_error + lead * (second * error).sum(axis=-1, keepdims=True)
    # From Student's t to about normal: evidence of few pulls counts less. Degrees of freedom after Welch.
    doubt = error**2 / freedom
    doubt = doubt + others * (lead * doubt).sum(axis=-1, keepdims=True) + lead * (second * doubt).sum(-1)[..., None]
    of_both = both**2 / doubt
    z = xp.sqrt(of_both * xp.log1p(gap**2 / both / of_both) + 1e-12)
    z = xp.clip(z, 0.0, FARTHEST)
    behind = others * z
    ahead = gap / xp.sqrt(variances + lead_variance) * xp.sqrt(xp.clip(left, 1.0, None) / num_arms)
    spread = xp.sqrt((means**2).mean(axis=-1, keepdims=True) + 1e-3 / each)
    weight = xp.exp(-0.5 * behind**2)
    contenders = weight.sum(axis=-1, keepdims=True)
    # By how much one more pull lowers the sum of Phi(-z) over all arms but the leader (logarithm, up to a constant).
    slope = 0.5 * xp.log(z**2 + 0.5) - 0.5 * z**2 - xp.log(both)
    top = xp.amax(slope - NEVER * lead, axis=-1, keepdims=True)
    total = top + xp.log((others * xp.exp(xp.clip(slope - top, None, 0.0))).sum(axis=-1, keepdims=True))
    gain = others * slope + lead * total + xp.log(error / pulls)
    gain = xp.clip(gain - xp.amax(gain, axis=-1, keepdims=True), -16.0, 0.0)
    noise = 0.5 * xp.log(variances)
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
            (lead * z).sum(axis=-1, keepdims=True) / 2.0,
        ),
        -1,
    )
    pulled = noise - 0.35 * behind**2 / (1.0 + 0.25 * behind)
    return View(arms, state, pulled, -1.7 * behind)
