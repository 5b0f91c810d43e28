"""The normal prior over the means of K arms."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from bai_gym import validation
from bai_gym.bandits.kernels import kernel_matrix
from bai_gym.errors import ParameterError
from bai_gym.statistics import FloatArray, IntArray
from bai_gym.validation import ROWS, real

__all__ = ["GaussianPrior"]

ROUNDING = 100 * np.finfo(np.float64).eps  # times K: the share of a prior variance that rounding leaves uncertain
TOLERANCE = 1e-8  # of the largest variance: asymmetry and negative eigenvalues up to this are rounding


class GaussianPrior:
    """A joint normal distribution of the means of K arms, for all N runs or one for each.

    Any covariance is allowed, so this is a Gaussian process on K points; and with features and the linear kernel it is
    Bayesian linear regression. (The model of Hoffman, Shahriari and de Freitas 2014, section 4, X = V D^(1/2), is
    :attr:`factor`.)

    Args:
        covariance: ``(K, K)``, or ``(N, K, K)``: symmetric and positive semi-definite, up to rounding.
        mean: A number, ``(K,)``, or ``(N, K)``; default 0.

    Attributes:
        mean: ``(n, K)``, with n = 1 for one distribution for all runs.
        variance: ``(n, K)``, the diagonal of the covariance.

    Raises:
        ParameterError: Not finite, not symmetric, not positive semi-definite, or of a wrong size.
    """

    def __init__(self, covariance: object, mean: object = 0.0) -> None:
        """Check and copy."""
        matrices = validation.array(covariance, "the prior covariance", kind=ROWS)
        if matrices.ndim not in (2, 3) or matrices.shape[-1] != matrices.shape[-2] or matrices.size == 0:
            raise ParameterError(f"the prior covariance must have shape (K, K) or (N, K, K), not {matrices.shape}")
        matrices = matrices if matrices.ndim == 3 else matrices[None]
        scale = np.abs(matrices).max(axis=(1, 2))
        turned = np.swapaxes(matrices, 1, 2)
        skew = np.abs(matrices - turned)
        if (skew.max(axis=(1, 2)) > TOLERANCE * scale).any():
            run, row, column = np.unravel_index(int(skew.argmax()), skew.shape)
            one, other = matrices[run, row, column], matrices[run, column, row]
            raise ParameterError(
                f"the prior covariance must be symmetric: of arms {row} and {column} it is {one:g} one way, {other:g} "
                "the other"
            )
        matrices = 0.5 * (matrices + turned)
        smallest = np.linalg.eigvalsh(matrices)[:, 0]
        if (smallest < -TOLERANCE * scale).any():
            raise ParameterError(
                f"the prior covariance must be positive semi-definite, and has the eigenvalue {smallest.min():.3g}: "
                "add a little to its diagonal, or take a kernel"
            )
        self._keep(matrices, None, mean)

    @classmethod
    def from_kernel(
        cls,
        features: FloatArray,
        kernel: str | Callable[[FloatArray], Any] = "squared-exponential",
        *,
        length: float = 1.0,
        amplitude: float = 1.0,
        nu: float = 1.5,
        mean: object = 0.0,
    ) -> GaussianPrior:
        """Return the prior with covariance amplitude^2 k(x, x').

        Args:
            features: ``(K, d)``, or ``(N, K, d)``, finite; one matrix for all runs is detected.
            kernel: See :func:`bai_gym.bandits.kernel_matrix`; so are the next but one.
            length: Length scale.
            amplitude: Above 0: the prior standard deviation of a mean where k(x, x) = 1.
            nu: Smoothness of the Matern kernel.
            mean: A number, ``(K,)``, or ``(N, K)``.

        Raises:
            UnknownNameError: If there is no kernel of that name.
            ParameterError: If features or a parameter are outside their range.
        """
        if np.ndim(features) == 3 and np.asarray(features).strides[0] == 0:  # one matrix, shown N times
            features = features[0]
        array = validation.array(features, "features", kind=ROWS)
        if array.ndim not in (2, 3) or 0 in array.shape:
            raise ParameterError(f"features must have shape (K, d) or (N, K, d), not {array.shape}")
        scale = real(amplitude, "amplitude", above=0)
        if array.ndim == 3 and (array == array[:1]).all():
            array = array[0]
        rows = array if array.ndim == 3 else array[None]
        if isinstance(kernel, str):
            prior = cls.__new__(cls)
            if kernel == "linear":
                kernel_matrix(rows[:1, :1], kernel, length, nu)  # checks the parameters
                prior._keep(None, scale * rows, mean)
            else:
                prior._keep(scale**2 * kernel_matrix(rows, kernel, length, nu), None, mean)
            return prior
        return cls(scale**2 * kernel_matrix(rows, kernel), mean)

    def _keep(self, covariance: FloatArray | None, factor: FloatArray | None, mean: object) -> None:
        self._covariance = covariance
        self._factor = factor
        if covariance is not None:
            shape = covariance.shape[:2]
            self.variance: FloatArray = np.maximum(np.einsum("nkk->nk", covariance), 0.0)
        else:
            assert factor is not None
            shape = factor.shape[:2]
            self.variance = np.einsum("nkd,nkd->nk", factor, factor)
        centre = validation.array(mean, "the prior mean", kind=ROWS)
        if centre.ndim > 2 or (centre.ndim and centre.shape[-1] != shape[1]):
            raise ParameterError(
                f"the prior mean must be a number, or one for each of {shape[1]} arms, not of shape {centre.shape}"
            )
        if centre.ndim == 2 and len(centre) not in (1, shape[0]) and shape[0] != 1:
            raise ParameterError(f"the prior mean is given for {len(centre)} runs, and the covariance for {shape[0]}")
        rows = len(centre) if centre.ndim == 2 else 1
        self.mean: FloatArray = np.array(np.broadcast_to(centre, (rows, shape[1])))

    @property
    def num_arms(self) -> int:
        """K."""
        return int(self.variance.shape[1])

    @property
    def rows(self) -> int:
        """Number n of distributions: 1, or one for each run."""
        return int(max(len(self.variance), len(self.mean)))

    @property
    def scale(self) -> FloatArray:
        """``(n,)`` the largest variance of an arm."""
        return np.asarray(self.variance.max(axis=1))

    @property
    def slim(self) -> bool:
        """Whether the covariance is given as a factor with at most half as many columns as arms."""
        return self._factor is not None and 2 * self._factor.shape[2] <= self.num_arms

    @functools.cached_property
    def covariance(self) -> FloatArray:
        """``(n, K, K)``."""
        if self._covariance is not None:
            return self._covariance
        assert self._factor is not None
        return np.asarray(self._factor @ np.swapaxes(self._factor, 1, 2))

    @functools.cached_property
    def factor(self) -> FloatArray:
        """``(n, K, r)`` X with X X^T the covariance."""
        if self._factor is not None:
            return self._factor
        values, vectors = np.linalg.eigh(self.covariance)
        return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :])

    def columns(self, arms: IntArray, runs: IntArray | None = None) -> FloatArray:
        """Return the covariances of all arms with some of them, as a new array.

        Args:
            arms: ``(n,)`` or ``(n, c)`` arms of n runs.
            runs: ``(n,)`` which runs; None: all of them in order.

        Returns:
            ``(n, K)`` or ``(n, c, K)``.
        """
        matrices = self._covariance if self._covariance is not None else self.factor
        rows: IntArray | int = 0
        if len(matrices) > 1:
            rows = np.arange(len(arms)) if runs is None else runs
            rows = rows if arms.ndim == 1 else rows[:, None]
        chosen = matrices[rows, arms]
        if self._covariance is not None:
            return np.asarray(chosen)
        if len(matrices) == 1:
            return np.asarray(chosen @ matrices[0].T)
        turned = np.swapaxes(matrices if runs is None else matrices[runs], 1, 2)
        return np.asarray(chosen @ turned if arms.ndim == 2 else (chosen[:, None, :] @ turned)[:, 0])

    @property
    def noise_floor(self) -> FloatArray:
        """``(n,)`` variance of the rounding error in the mean of an arm."""
        return np.maximum(ROUNDING * self.num_arms * self.scale, 1e-290)

    def scaled(self, amplitude: float = 1.0, mean: object = None) -> GaussianPrior:
        """Return the prior with its covariance times amplitude^2, and with another mean where one is given."""
        scale = real(amplitude, "amplitude", above=0)
        if scale == 1.0 and mean is None:
            return self
        prior = type(self).__new__(type(self))
        covariance = None if self._covariance is None else scale**2 * self._covariance
        factor = None if self._factor is None else scale * self._factor
        prior._keep(covariance, factor, self.mean if mean is None else mean)
        return prior

    def arranged(self, order: IntArray) -> GaussianPrior:
        """Return one distribution for each run, of the arms in its own order.

        Args:
            order: ``(N, K)`` the arm that each arm of a run is.
        """
        runs = np.arange(len(order))[:, None]

        def of_run(arrays: FloatArray) -> IntArray:
            return np.zeros_like(runs) if len(arrays) == 1 else runs

        covariance, factor = self._covariance, self._factor
        if covariance is not None:
            covariance = covariance[of_run(covariance)[:, :, None], order[:, :, None], order[:, None, :]]
        if factor is not None:
            factor = factor[of_run(factor), order]
        prior = type(self).__new__(type(self))
        prior._keep(covariance, factor, self.mean[of_run(self.mean), order])
        return prior

    def of_run(self, run: int) -> GaussianPrior:
        """Return the distribution of a run."""
        if self.rows == 1:
            return self
        centre = self.mean[run if len(self.mean) > 1 else 0]
        return GaussianPrior(self.covariance[run if len(self.covariance) > 1 else 0], centre)

    def draw(self, batch: int, rng: np.random.Generator) -> FloatArray:
        """Return the means of ``batch`` runs, ``(batch, K)``, drawn from the prior.

        Args:
            batch: Number of runs; N if there is one distribution for each.
            rng: Source of randomness.
        """
        return self.mean + self.draw_centred(batch, rng)

    def draw_centred(self, batch: int, rng: np.random.Generator) -> FloatArray:
        """Return :meth:`draw` less the mean."""
        normals = rng.standard_normal((batch, self.factor.shape[2]))
        if len(self.factor) == 1:
            return np.asarray(normals @ self.factor[0].T)
        return np.asarray((self.factor @ normals[..., None])[..., 0])
