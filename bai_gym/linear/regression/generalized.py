"""Generalized linear models by penalised maximum likelihood: Newton steps on a batch of instances.

All instances of a batch step in parallel, and leave it when they are done.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bai_gym.linear.regression.inputs import Data, find_link, grouped
from bai_gym.linear.regression.linear import Axes, ridge, unscaled
from bai_gym.linear.regression.links import Link
from bai_gym.linear.regression.newton import Likelihood
from bai_gym.statistics import BoolArray, FloatArray, IntArray
from bai_gym.validation import integer, real

__all__ = ["FALLBACK_PENALTY", "Fit", "generalized_linear"]

FALLBACK_PENALTY = 1e-3
LARGEST = 1e300  # of a penalty in the units of the data
SEPARATED = 25  # steps without convergence after which an estimate without a penalty is abandoned


@dataclass(frozen=True, slots=True)
class Fit:
    """Estimates of generalized linear models.

    Attributes:
        theta: ``(..., d)`` estimates, always finite.
        iterations: ``(...)`` Newton steps that were made; 0 for the identity, which takes none.
        converged: ``(...)`` whether the last step was a full one that changed no score by more than 1e-8, or has left
            the gradient 0 up to rounding.
        penalty: ``(...)`` the penalties that were used: the given one, or the replacement of 0.
    """

    theta: FloatArray
    iterations: IntArray
    converged: BoolArray
    penalty: FloatArray


def generalized_linear(
    features: ArrayLike,
    pulls: ArrayLike,
    means: ArrayLike,
    *,
    link: str = "logit",
    penalty: float = 1e-3,
    max_iterations: int = 50,
) -> Fit:
    """Return the theta of largest log-likelihood minus penalty x |theta|^2 / 2.

    ========== =========================== ===================================================
    link       mean of score z = x^T theta rewards
    ========== =========================== ===================================================
    identity   z                           Gaussian with variance 1: least squares, ridge
    logit      1 / (1 + exp(-z))           0 and 1: logistic regression
    probit     Phi(z)                      0 and 1
    log        exp(z)                      0, 1, 2, ...: Poisson
    ========== =========================== ===================================================

    With a positive penalty the optimum always exists and is unique. A penalty of 0 asks for the plain
    maximum-likelihood estimate, of those that are equally likely the shortest. It does not exist where data are
    separable: where some direction of theta explains arms of rewards 0 alone, or 1 alone, the better the farther one
    goes, at no cost to other arms (for the log link: arms of rewards 0 alone). Such instances, and they alone, get the
    penalty 1e-3, and ``penalty`` of the result says so. They are recognised by their path: it has not come to an end
    within 25 steps, or the objective has become flat up to rounding. With the identity the estimate always exists.

    Steps are Newton's, with the exact second derivatives. One after which the objective is not higher, or its slope
    along the step is not at most a quarter of what it was, is lengthened or shortened until both hold, by doubling and
    bisection. They start from the weighted least-squares fit to what the arms' own means suggest, unless theta = 0 is
    better. Ends when a full step changes the score of no arm with pulls by more than 1e-8, relative to scores above 1,
    which depends on no units; what is left of the gradient is of second order in that change.

    Args:
        features: ``(..., K, d)`` features x of the arms, of any rank.
        pulls: ``(..., K)`` how often each arm was pulled, at least 0; any weights will do.
        means: ``(..., K)`` sample means: in [0, 1] for logit and probit, at least 0 for log; those of arms without a
            pull are not read.
        link: ``"identity"``, ``"logit"``, ``"probit"`` or ``"log"``.
        penalty: Factor of |theta|^2 / 2, at least 0; the default 1e-3 is hardly felt after a few pulls.
        max_iterations: Most steps, at least 1; where they do not suffice, ``converged`` of the result says so.

    Returns:
        The estimates; 0 where nothing was pulled.

    Raises:
        InstanceError: If features are NaN or infinite, or have the wrong shape; if theta is beyond floats.
        ParameterError: If another argument is malformed, the link unknown, or a mean outside of what it allows.

    Source: McCullagh and Nelder (1989), "Generalized Linear Models"; for bandits Li, Lu and Zhou (2017), and Azizi,
    Kveton and Ghavamzadeh (2022), section 5, where the gradient is the sum of (y - h(z)) x; for probit, whose link is
    not the canonical one, the likelihood's own gradient has weights. When estimates exist: Albert and Anderson (1984).
    The penalty is this library's choice.
    """
    data = grouped(features, pulls, means)
    model = find_link(link, data)
    penalty = real(penalty, "penalty", least=0)
    integer(max_iterations, "max_iterations", least=1)
    used = np.full(len(data.features), penalty)
    if link == "identity":
        size = len(used)
        estimates = _Estimates(ridge(data, penalty), np.zeros(size, np.int64), np.ones(size, np.bool_))
    elif penalty > 0.0:
        estimates = _penalised(model, data, penalty, max_iterations)
    else:
        estimates, given_up = _plain(model, data, max_iterations)
        rows = np.flatnonzero(given_up)
        if rows.size:
            used[rows] = FALLBACK_PENALTY
            estimates.put(rows, _penalised(model, data.select(rows), FALLBACK_PENALTY, max_iterations))
    theta = unscaled(estimates.theta, data)
    return Fit(
        theta,
        estimates.iterations.reshape(data.outer),
        estimates.converged.reshape(data.outer),
        used.reshape(data.outer),
    )


@dataclass(frozen=True, slots=True)
class _Estimates:
    """Estimates ``(n, d)`` in the units of the data, and how they were found."""

    theta: FloatArray
    iterations: IntArray
    converged: BoolArray

    def put(self, rows: IntArray, other: _Estimates) -> None:
        """Replace some estimates."""
        self.theta[rows], self.converged[rows] = other.theta, other.converged
        self.iterations[rows] = other.iterations


def _penalised(link: Link, data: Data, penalty: float, steps: int) -> _Estimates:
    """Estimate with a positive penalty; more dimensions than arms are first reduced to as many."""
    arms = np.where((data.weights > 0)[..., None], data.features, 0.0)
    axes = None
    if arms.shape[-1] > arms.shape[-2]:
        axes, triangle = np.linalg.qr(np.swapaxes(arms, -1, -2))
        arms = np.swapaxes(triangle, -1, -2)
    with np.errstate(over="ignore", under="ignore"):
        relative = np.minimum(np.ldexp(penalty / data.most, -2 * data.unit), LARGEST)
    model = Likelihood(link, arms, data.weights, data.means, relative)
    path = model.maximise(model.guess(data.pulls), steps)
    theta = path.theta if axes is None else (axes @ path.theta[..., None])[..., 0]
    return _Estimates(theta, path.iterations, path.converged)


def _plain(link: Link, data: Data, steps: int) -> tuple[_Estimates, BoolArray]:
    """Estimate without a penalty, in the span of the pulled arms; also return where there is no such estimate."""
    axes = Axes.of(data)
    turn = np.where(axes.kept, 1.0 / axes.values, 0.0)[..., None] * axes.right
    arms = np.where((data.weights > 0)[..., None], data.features @ np.swapaxes(turn, -1, -2), 0.0)
    model = Likelihood(link, arms, data.weights, data.means, np.zeros(len(arms)))
    path = model.maximise(model.guess(data.pulls), min(steps, SEPARATED))
    given_up = model.is_flat(path) | path.stuck | (~path.converged & (steps >= SEPARATED))
    return _Estimates((path.theta[:, None, :] @ turn)[:, 0], path.iterations, path.converged), given_up
