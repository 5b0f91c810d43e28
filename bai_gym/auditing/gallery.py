"""Stopping rules of papers, products and textbooks, as small functions of the statistics.

Each looks at any number of episodes at once, and returns the arm that it recommends, or -1 where it goes on. What a
rule promises is an error probability of at most delta, unless its entry says otherwise. Rules for two arms are shown
two arms. "Recalled" marks what was not read in its source when this was written: the formula is as remembered, or
derived, and the product may do more than it.

Known variances are those of Gaussian arms. With the others, rules of known variance take half the length of the
interval of the rewards, which is at least their standard deviation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri, stdtrit

from bai_gym.auditing.streams import Looks, Rule
from bai_gym.statistics import FloatArray, IntArray

__all__ = ["GALLERY", "GalleryRule"]

TINY = 1e-12  # the smallest variance of the rules with plug-in variances
NORMAL = 1.0 / math.sqrt(2.0 * math.pi)


@dataclass(frozen=True)
class GalleryRule:
    """A stopping rule and where it is from.

    Attributes:
        rule: The rule.
        stops_when: Its formula, in words.
        promise: What it is used for.
        source: Where it is stated, with the version.
        recalled: Whether the source was not read.
        rewards: Classes of rewards to audit it with, its own first.
        two_arms: Whether it is for two arms.
        num_looks: Number of equal looks that it plans; 0: it looks at every round.
    """

    rule: Rule
    stops_when: str
    promise: str
    source: str
    recalled: bool = False
    rewards: tuple[str, ...] = ("gaussian",)
    two_arms: bool = True
    num_looks: int = 0


def against_leader(looks: Looks, noise: FloatArray) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return the arm of largest mean, the gaps of the others to it, and the variances of these gaps.

    Args:
        looks: The statistics.
        noise: ``(..., K)`` variance of each sample mean.

    Returns:
        The arm, and ``(..., K)`` gaps and variances, where the gap of the arm itself is infinite; of two arms, for
        speed, ``(..., 1)``, the gap of the other.
    """
    if looks.means.shape[-1] == 2:
        lead = looks.means[..., 1] - looks.means[..., 0]
        spread = noise[..., 0] + noise[..., 1]
        return (lead > 0.0).astype(np.int64), np.abs(lead)[..., None], spread[..., None]
    best = looks.means.argmax(axis=-1)
    at = best[..., None]
    gap = np.take_along_axis(looks.means, at, axis=-1) - looks.means
    np.put_along_axis(gap, at, np.inf, axis=-1)
    return best, gap, np.take_along_axis(noise, at, axis=-1) + noise


def decided(looks: Looks, best: IntArray, stops: Any, first: int) -> IntArray:
    """Return the leader where a rule stops and all arms have at least ``first`` pulls, else -1."""
    return np.where(stops & (looks.pulls[..., 0] >= first), best, -1)


def known_noise(looks: Looks) -> FloatArray:
    """Return ``(..., K)`` variances of the sample means, where those of the rewards are known."""
    noise = looks.sigma**2 / looks.pulls
    return noise if noise.shape[-1] == 2 else np.broadcast_to(noise, looks.means.shape)


def plug_in_noise(looks: Looks) -> FloatArray:
    """Return ``(..., K)`` variances of the sample means, from the sample variances."""
    return np.maximum(looks.variances, TINY) / looks.pulls


def gk16(looks: Looks, delta: float, *, known: bool = False, first: int = 10, epsilon: float = 0.0) -> IntArray:
    """Stop when the likelihood ratio of the leader against each rival is above log((1 + log t) / delta)."""
    best, gap, spread = against_leader(looks, known_noise(looks) if known else plug_in_noise(looks))
    ratio = np.square(gap + epsilon)
    ratio /= 2.0 * spread
    t = looks.pulls[..., 0] * looks.means.shape[-1]
    return decided(looks, best, ratio.min(axis=-1) > np.log((1.0 + np.log(t)) / delta), first)


def peek(looks: Looks, delta: float, *, student: bool = False, first: int = 10) -> IntArray:
    """Stop when the two-sided p-value of the leader against each rival is below delta."""
    best, gap, spread = against_leader(looks, plug_in_noise(looks) if student else known_noise(looks))
    freedom = np.maximum(2.0 * (looks.pulls[..., 0] - 1.0), 1.0)
    quantile = -stdtrit(freedom, delta / 2.0) if student else -ndtri(delta / 2.0)
    return decided(looks, best, (gap / np.sqrt(spread)).min(axis=-1) > quantile, first)


def probability_to_be_best(looks: Looks, delta: float, *, first: int = 100) -> IntArray:
    """Stop when the posterior probability that the leader is better, under flat priors, is above 1 - delta."""
    best, gap, spread = against_leader(looks, plug_in_noise(looks))
    return decided(looks, best, (gap / np.sqrt(spread)).min(axis=-1) > -ndtri(delta), first)


def expected_loss(looks: Looks, delta: float, *, loss: float = 0.01, first: int = 100) -> IntArray:
    """Stop when the expected loss of the leader, under flat priors, is below a threshold; delta is not used."""
    best, gap, spread = against_leader(looks, plug_in_noise(looks))
    s = np.sqrt(spread)
    u = np.minimum(gap / s, 40.0)
    expected = s * (NORMAL * np.exp(-0.5 * u * u) - u * ndtr(-u))
    return decided(looks, best, expected.max(axis=-1) < loss, first)


def msprt(looks: Looks, delta: float, *, known: bool = False, tau: float = 1.0, first: int = 2) -> IntArray:
    """Stop when the mixture of likelihood ratios of the difference, over N(0, tau^2), is at least 1 / delta."""
    best, gap, spread = against_leader(looks, known_noise(looks) if known else plug_in_noise(looks))
    n = looks.pulls[..., :1]
    v = n * spread  # the sum of both variances
    with np.errstate(over="ignore"):
        ratio = 0.5 * np.log(v / (v + n * tau**2)) + (tau * n * gap) ** 2 / (2.0 * v * (v + n * tau**2))
    return decided(looks, best, ratio.min(axis=-1) >= -math.log(delta), first)


def stitched(looks: Looks, delta: float) -> IntArray:
    """Stop when the difference is outside a stitched confidence sequence of known variances."""
    best, gap, spread = against_leader(looks, known_noise(looks))
    n = looks.pulls[..., :1]
    v = np.maximum(n * n * spread, 2.0)  # of the sum of differences
    bound = 1.7 * np.sqrt(v * (np.log(np.log(2.0 * v)) + 0.72 * math.log(10.4 / delta)))
    return decided(looks, best, (n * gap > bound).all(axis=-1), 1)


def group_sequential(looks: Looks, delta: float, *, constant: float, obrien: bool) -> IntArray:
    """Stop when the z-score of a planned look is above its boundary; the constant is for delta = .05 and five looks."""
    best, gap, spread = against_leader(looks, known_noise(looks))
    boundary = constant * np.sqrt(looks.planned / looks.number) if obrien else constant
    return decided(looks, best, (gap / np.sqrt(spread)).min(axis=-1) > boundary, 1)


ERROR = "error probability at most delta"
ELEMENTARY = "elementary: a test of one look, made at every look"
JOHARI = (
    "Johari, Koomen, Pekelis and Walsh, always valid inference; several public implementations agree, paper not read"
)
TENSORZERO = (
    "tensorzero/tensorzero at commit 21455f7, tensorzero-core/src/experimentation/track_and_stop/check_stopping.rs"
)
CLASSICAL = "classical boundaries for five equal looks; the constant was checked by simulation"

GALLERY = MappingProxyType(
    {
        "gk16-known": GalleryRule(
            partial(gk16, known=True),
            "the likelihood ratio exceeds log((1 + log t) / delta), with known variances",
            "usual in experiments; not proved",
            "Garivier and Kaufmann (2016), section 6",
            recalled=True,
            rewards=("gaussian",),
            two_arms=False,
        ),
        "gk16-plugin": GalleryRule(
            gk16,
            "the same with sample variances, at least 1e-12, from 10 pulls of each arm on",
            ERROR,
            f"{TENSORZERO}; its defaults are delta .05, 10 pulls, and a look every 300 s",
            rewards=("bounded", "gaussian", "bernoulli"),
            two_arms=False,
        ),
        "gk16-plugin-100": GalleryRule(
            partial(gk16, first=100),
            "the same from 100 pulls of each arm on",
            ERROR,
            f"{TENSORZERO}, with other first pulls",
            rewards=("bounded",),
            two_arms=False,
        ),
        "gk16-plugin-2": GalleryRule(
            partial(gk16, first=2),
            "the same from two pulls of each arm on",
            ERROR,
            f"{TENSORZERO}, with other first pulls",
            rewards=("gaussian",),
            two_arms=False,
        ),
        "z-peek": GalleryRule(
            peek, "the two-sided p-value of a z-test is below delta, from 10 pulls on", ERROR, ELEMENTARY
        ),
        "z-5-looks": GalleryRule(
            peek, "the same at five equal looks", ERROR, ELEMENTARY.replace("every", "each"), num_looks=5
        ),
        "z-20-looks": GalleryRule(
            peek, "the same at 20 equal looks", ERROR, ELEMENTARY.replace("every", "each"), num_looks=20
        ),
        "t-peek": GalleryRule(
            partial(peek, student=True),
            "the two-sided p-value of a t-test is below delta, from 10 pulls on",
            ERROR,
            ELEMENTARY,
            rewards=("gaussian", "bounded"),
        ),
        "prob-best": GalleryRule(
            probability_to_be_best,
            "the probability to be best, under flat priors, exceeds 1 - delta, from 100 pulls on",
            "probability to be best of 1 - delta",
            "documentation of LaunchDarkly (a winner is declared by its probability to be best), and GrowthBook's 95 %",
            recalled=True,
            rewards=("gaussian", "bernoulli"),
        ),
        "prob-best-20-looks": GalleryRule(
            probability_to_be_best,
            "the same at 20 equal looks",
            "probability to be best of 1 - delta",
            "as prob-best",
            recalled=True,
            num_looks=20,
        ),
        "loss": GalleryRule(
            expected_loss,
            "the expected loss, under flat priors, is below .01, from 100 pulls on",
            "a small expected loss, and not an error probability",
            "after a rule of VWO; the formula is derived, details of the product are not",
            recalled=True,
        ),
        "msprt-known": GalleryRule(
            partial(msprt, known=True),
            "a mixture of likelihood ratios over N(0, 1) is at least 1 / delta, with known variances",
            ERROR,
            JOHARI,
            recalled=True,
        ),
        "msprt-plugin": GalleryRule(
            msprt,
            "the same with sample variances, from two pulls on",
            ERROR,
            JOHARI,
            recalled=True,
            rewards=("gaussian", "bounded"),
        ),
        "msprt-plugin-100": GalleryRule(
            partial(msprt, first=100),
            "the same from 100 pulls on",
            ERROR,
            JOHARI,
            recalled=True,
            rewards=("gaussian", "bounded"),
        ),
        "howard": GalleryRule(
            stitched,
            "the difference leaves a stitched confidence sequence of known variances",
            ERROR,
            "Howard, Ramdas, McAuliffe and Sekhon (2021), introduction",
            recalled=True,
        ),
        "obrien-fleming": GalleryRule(
            partial(group_sequential, constant=2.040, obrien=True),
            "|z| > 2.040 sqrt(5 / k) at look k of five, known variances",
            "two-sided level .05",
            CLASSICAL,
            num_looks=5,
        ),
        "pocock": GalleryRule(
            partial(group_sequential, constant=2.413, obrien=False),
            "|z| > 2.413 at one of five looks, known variances",
            "two-sided level .05",
            CLASSICAL,
            num_looks=5,
        ),
    }
)
"""The rules, by name; read-only."""


def rows() -> dict[str, list[dict[str, Any]]]:
    """Return the rows of listings: the audits, as an experiment, and the rules of the gallery."""
    return {
        "experiments": [{"id": "audit", "what": "Stopping rules, and what they promise", "source": "", "runs": 20_000}],
        "rules": [
            {"name": name, "what": rule.stops_when, "promise": rule.promise, "source": rule.source}
            for name, rule in GALLERY.items()
        ],
    }
