"""Strengths of items: the model of Bradley and Terry, fitted to duels."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from bai_gym.duels.tasks import count_items, pairs
from bai_gym.sampling import TieRule
from bai_gym.statistics import FloatArray, IntArray

__all__ = ["SPREAD", "STEPS", "differences", "fitted", "reductions", "strongest"]

SPREAD = 1.5  # standard deviation of strengths in the prior
STEPS = 30  # of Newton's method, from equal strengths; one or two follow a single duel


def differences(items: int) -> FloatArray:
    """Return ``(K, n)`` e_i - e_j of all pairs i < j."""
    left, right = pairs(items)
    unit = np.eye(items)
    return np.asarray(unit[left] - unit[right])


def fitted(
    pulls: FloatArray,
    means: FloatArray,
    strengths: FloatArray | None = None,
    spread: float = SPREAD,
    steps: int = STEPS,
) -> tuple[FloatArray, FloatArray]:
    """Return the strengths that maximise their posterior, ``(N, n)``, and their covariances ``(N, n, n)`` there.

    Item i beats j with probability 1 / (1 + exp(s_j - s_i)); the prior of the strengths is normal; the covariance is
    that of Laplace's approximation. A tie counts as half a win.

    Source: Bradley and Terry (1952), "Rank Analysis of Incomplete Block Designs: I. The Method of Paired Comparisons".

    Args:
        pulls: ``(N, K)`` duels of each pair i < j of n items.
        means: ``(N, K)`` how often i has won.
        strengths: ``(N, n)`` where Newton's method starts; None: equal ones.
        spread: Standard deviation of the strengths in the prior, above 0.
        steps: Steps of Newton's method.
    """
    items = count_items(pulls.shape[1])
    x, prior = differences(items), np.eye(items) / spread**2
    squares = np.einsum("ka,kb->kab", x, x).reshape(len(x), -1)
    strengths = np.zeros((len(pulls), items)) if strengths is None else strengths
    for _ in range(steps):
        chances = expit(strengths @ x.T)
        information = ((pulls * chances * (1.0 - chances)) @ squares).reshape(-1, items, items) + prior
        covariance = np.linalg.inv(information)
        slope = (pulls * (means - chances)) @ x - strengths / spread**2
        strengths = strengths + np.einsum("nab,nb->na", covariance, slope)
    return strengths, covariance


def strongest(strengths: FloatArray, tie: TieRule, rng: np.random.Generator) -> IntArray:
    """Return ``(N,)`` the items of largest strength, of equal ones a random one or (``"first"``) the first."""
    keys = rng.random(strengths.shape) * 1e-9 * (tie == "random")
    return np.asarray((strengths + keys).argmax(axis=1))


def reductions(strengths: FloatArray, covariance: FloatArray, one: IntArray, other: IntArray) -> FloatArray:
    """Return ``(N, K)`` by how much a duel of each pair reduces the variance of the difference of two items.

    With v = p (1 - p), p the chance of the first of the pair (a, b), it is v c^2 / (1 + v V), where
    c = (e_i - e_j)' C (e_a - e_b), and V is the variance of s_a - s_b.

    Args:
        strengths: ``(N, n)`` s.
        covariance: ``(N, n, n)`` C.
        one: ``(N,)`` items i.
        other: ``(N,)`` items j.
    """
    rows, x = np.arange(len(strengths)), differences(strengths.shape[1])
    spread = covariance @ x.T  # (N, n, K)
    chances = expit(strengths @ x.T)
    v = chances * (1.0 - chances)
    shared = spread[rows, one] - spread[rows, other]
    return np.asarray(v * shared**2 / (1.0 + v * np.einsum("ka,nak->nk", x, spread)))
