"""The posterior of the means of K correlated arms, of N runs, updated after every pull."""

from __future__ import annotations

import numpy as np

from bai_gym.bandits.gaussian_prior import GaussianPrior
from bai_gym.correlated.forms import Form, RowForm, WeightForm
from bai_gym.errors import ParameterError
from bai_gym.statistics import AnyArray, FloatArray, IntArray
from bai_gym.validation import array

__all__ = ["GaussianPosterior"]


class GaussianPosterior:
    """Means of K arms given rewards with normal noise of known variance, for N runs in lock-step.

    After a pull of arm a with reward y, c being column a of the covariance C: C - c c^T / (c_a + s^2), and the mean
    plus c (y - mean_a) / (c_a + s^2). (Hoffman, Shahriari and de Freitas 2014, equations 4 and 5, as updates; Rasmussen
    and Williams 2006, "Gaussian Processes for Machine Learning", section 2.2.)

    C itself is not kept. A pull takes one column of it, see :mod:`bai_gym.correlated.forms`. From time to time
    everything is recomputed from pulls and sums of rewards, so that rounding errors do not accumulate.

    Args:
        prior: The prior.
        noise_variance: s^2, at least 0, a number or ``(N,)``. Below about 1e-14 K of the prior variance it makes no
            difference.
        batch: N.
        budget: About how many pulls there will be, where that is known; saves memory.
        draws: Whether :meth:`draw` will be called.

    Attributes:
        prior: The prior.
        mean: ``(N, K)`` posterior means; updated in place, not to be written to.
        variance: ``(N, K)`` posterior variances of the means, at least 0; likewise.
        noise: ``(N,)`` s^2.
        pulls: ``(N, K)`` pulls observed, int64; likewise.
        scale: ``(N,)`` magnitude of the numbers that means are sums of; errors of rounding are in proportion.

    Raises:
        ParameterError: If the noise variance is negative or not finite, or the prior is for another number of runs.
    """

    def __init__(
        self,
        prior: GaussianPrior,
        noise_variance: object,
        batch: int = 1,
        *,
        budget: int | None = None,
        draws: bool = False,
    ) -> None:
        """Begin with the prior."""
        if prior.rows not in (1, batch):
            raise ParameterError(f"the prior is given for {prior.rows} runs, and there are {batch}")
        noise = array(noise_variance, "the noise variance", least=0)
        if noise.ndim > 1 or (noise.ndim and noise.size not in (1, batch)):
            raise ParameterError(f"the noise variance must be a number, or one for each of {batch} runs")
        self.prior = prior
        self.noise: FloatArray = np.maximum(np.broadcast_to(noise.reshape(-1), (batch,)), prior.noise_floor)
        self._start = np.broadcast_to(prior.mean, (batch, prior.num_arms))
        self.mean: FloatArray = self._start.copy()
        self.variance: FloatArray = np.broadcast_to(prior.variance, self.mean.shape).copy()
        self.pulls: IntArray = np.zeros(self.mean.shape, np.int64)
        self.scale: FloatArray = np.abs(self.mean).max(axis=1) + np.sqrt(prior.scale)
        self._sums = np.zeros(self.mean.shape)
        self._rows = np.arange(batch)
        self._draws = draws
        self._form: Form = (
            WeightForm(prior, self.noise) if prior.slim else RowForm(prior, self.noise, budget, draws=draws)
        )

    def observe(self, arms: IntArray, rewards: FloatArray) -> FloatArray:
        """Update with one reward in each run.

        Args:
            arms: ``(N,)`` the pulled arms.
            rewards: ``(N,)``.

        Returns:
            ``(N, K)`` u, by which the covariance has become C - u u^T.
        """
        if self._form.due:
            self.refresh()
        self.pulls[self._rows, arms] += 1
        self._sums[self._rows, arms] += rewards
        column = self._form.column(arms)
        total = np.sqrt(np.maximum(column[self._rows, arms], 0.0) + self.noise)
        step = (rewards - self.mean[self._rows, arms]) / total
        column /= total[:, None]
        self._form.add(arms, column, total)
        self.mean += column * step[:, None]
        self.variance -= column * column
        np.maximum(self.variance, 0.0, out=self.variance)
        np.maximum(self.scale, np.abs(rewards), out=self.scale)
        return column

    def add(self, pulls: AnyArray, means: FloatArray) -> None:
        """Update with several rewards.

        Args:
            pulls: ``(N, K)`` pulls of each arm.
            means: ``(N, K)`` mean rewards of these; read where there are pulls.
        """
        self.pulls += pulls.astype(np.int64, copy=False)
        sums = np.where(pulls > 0, pulls * means, 0.0)
        self._sums += sums
        np.maximum(self.scale, np.abs(np.where(pulls > 0, means, 0.0)).max(axis=1), out=self.scale)
        self.refresh()

    def refresh(self) -> None:
        """Recompute everything from pulls and sums of rewards."""
        excess = np.where(self.pulls > 0, self._sums / np.maximum(self.pulls, 1) - self._start, 0.0)
        self._form.fit(self.pulls, excess, self.mean, self.variance)
        self.mean += self._start

    def columns(self, arms: IntArray) -> FloatArray:
        """Return the posterior covariances of all arms with some arms of each run, as a new array.

        Args:
            arms: ``(N, c)``.

        Returns:
            ``(N, c, K)``.
        """
        return self._form.columns(arms)

    @property
    def covariance(self) -> FloatArray:
        """``(N, K, K)`` posterior covariances, computed on demand."""
        batch, arms = self.mean.shape
        return self.columns(np.broadcast_to(np.arange(arms), (batch, arms)))

    def draw(self, rng: np.random.Generator) -> FloatArray:
        """Return ``(N, K)`` means drawn from the joint posterior.

        Args:
            rng: Source of randomness.
        """
        if not self._draws:
            raise ParameterError("a posterior that is drawn from must be made with draws=True")
        return self.mean + self._form.draw(rng)
