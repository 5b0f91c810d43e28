"""The knowledge gradient with correlated beliefs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from typing_extensions import override

from bai_gym.agents.correlated.gaussian_process import GaussianProcessAgent
from bai_gym.agents.correlated.improvement import log_improvement
from bai_gym.agents.parameters import Count
from bai_gym.agents.tools.choosing import keep_best
from bai_gym.correlated.posterior import GaussianPosterior
from bai_gym.statistics import FloatArray, IntArray

__all__ = ["KG", "log_expected_rise"]

ENTRIES_AT_ONCE = 2_000_000  # of lines that are worked on at a time


@dataclass(kw_only=True)
class KG(GaussianProcessAgent):
    """Pulls the arm after which the largest posterior mean is expected to have risen most (knowledge gradient).

    A reward of arm a moves all posterior means along the column a of the covariance. What is expected of their maximum
    is an integral over a piecewise linear function, computed exactly. For the last pull it is the best choice, where
    the arm of largest posterior mean is recommended.

    Paper: Frazier, Powell and Dayanik (2009), "The Knowledge-Gradient Policy for Correlated Normal Beliefs", Algorithm
    2 and equation 14.

    Args:
        kernel: ``"prior"`` (default): the prior of the environment; or ``"linear"``, ``"squared-exponential"``,
            ``"exponential"``, ``"matern"``, a function of features, or a covariance: the user's own model.
        length: Length scale of a named kernel, above 0; default 1.
        amplitude: Prior standard deviation of a mean, above 0; default 1.
        nu: Smoothness of the Matern kernel: 0.5, 1.5 (default) or 2.5.
        prior_mean: Prior mean of every arm; None (default): 0, or that of the environment's prior.
        noise_variance: Variance of the rewards. ``"oracle"``: the largest of the true ones. None (default): 1/4 for
            binary rewards, for others ``"oracle"``.
        output: ``"mean"`` (default): recommend the arm of largest posterior mean. ``"pulled"``: of those pulled.
        candidates: Of how many arms the knowledge gradient is computed; default 16. They are those for which it would
            be largest if no arm said anything about another one. K or more: as published, in time that grows like K^2.

    Knows the prior unless ``kernel`` is given, and the variances if ``noise_variance`` is the oracle's.
    """

    candidates: Count = 16

    name = "KG"

    @override
    def choose(self, posterior: GaussianPosterior, pull: int) -> IntArray:
        """Return the arms of largest knowledge gradient."""
        values = np.full(posterior.mean.shape, -np.inf)
        arms = self._candidates(posterior)
        per_part = max(1, ENTRIES_AT_ONCE // (arms.shape[1] * self.num_arms))
        slopes = posterior.columns(arms)
        own = np.take_along_axis(posterior.variance, arms, axis=1)
        slopes /= np.sqrt(own + posterior.noise[:, None])[..., None]
        for at in range(0, self.batch, per_part):
            part = slice(at, at + per_part)
            lines = slopes[part].reshape(-1, self.num_arms)
            means = np.repeat(posterior.mean[part], arms.shape[1], axis=0)
            rises = log_expected_rise(means, lines).reshape(-1, arms.shape[1])
            np.put_along_axis(values[part], arms[part], rises, axis=1)
        return self.pull_largest(values, np.ones(self.batch))

    def _candidates(self, posterior: GaussianPosterior) -> IntArray:
        """Return ``(N, c)`` arms."""
        if self.candidates >= self.num_arms:
            return np.broadcast_to(np.arange(self.num_arms), posterior.mean.shape)
        mean, variance = posterior.mean, posterior.variance
        shift = variance / np.sqrt(variance + posterior.noise[:, None])
        rows, first = np.arange(self.batch), mean.argmax(axis=1)
        top = mean[rows, first]
        distance = mean - top[:, None]
        others = mean.copy()
        others[rows, first] = -np.inf
        distance[rows, first] = others.max(axis=1) - top
        choice = keep_best(log_improvement(distance, shift), self.candidates, self.tie, self.rng)
        return np.nonzero(choice)[1].reshape(self.batch, self.candidates)


def log_expected_rise(intercepts: FloatArray, slopes: FloatArray) -> FloatArray:
    """Return log(E max_k (a_k + b_k Z) - max_k a_k) for a standard normal Z.

    The largest line is followed from left to right. Where its slope rises by d at a point z, that adds d (phi(z) - |z|
    Phi(-|z|)), all terms being above 0 (Frazier, Powell and Dayanik 2009, equation 14).

    Args:
        intercepts: ``(R, K)`` a.
        slopes: ``(R, K)`` b.

    Returns:
        ``(R,)``; -inf where the maximum is certain.
    """
    steepness = slopes.min(axis=1)
    now = np.where(slopes == steepness[:, None], intercepts, -np.inf).argmax(axis=1)
    result = np.full(len(slopes), -np.inf)
    a, b, live = intercepts, slopes, np.arange(len(slopes))
    while live.size:
        at = np.arange(live.size)
        drop = a[at, now][:, None] - a
        rise = b - b[at, now][:, None]
        ahead = rise > 0
        going = ahead.any(axis=1)
        if not going.all():
            rows = np.flatnonzero(going)
            a, b, now, live = a[rows], b[rows], now[rows], live[rows]
            drop, rise, ahead = drop[rows], rise[rows], ahead[rows]
            at = np.arange(live.size)
            if not live.size:
                break
        with np.errstate(over="ignore"):
            crossing = np.divide(drop, rise, out=np.full(drop.shape, np.inf), where=ahead)
        points = crossing.min(axis=1)
        now = np.where(crossing == points[:, None], rise, -1.0).argmax(axis=1)  # of several lines the steepest
        step = rise[at, now]
        term = log_improvement(-np.abs(points), np.ones(live.size)) + np.log(step)
        result[live] = np.logaddexp(result[live], term)
    return result
