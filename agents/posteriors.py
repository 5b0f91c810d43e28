"""Posterior distributions of arm means, kept as tables that a step renews at one entry per episode.

The arm axis is first, ``(k, N)``, as everywhere within sampling rules. A draw for all arms is the inner loop of
Thompson sampling, and is nearly all of its cost.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from scipy import special

from bai_gym.errors import AgentError
from bai_gym.statistics import FloatArray, IntArray, Statistics

__all__ = [
    "POSTERIORS",
    "BernoulliPosterior",
    "NormalPosterior",
    "Posterior",
    "StudentPosterior",
    "count_successes",
]

SMALLEST_BERNOULLI_VARIANCE = 1e-6
SMALLEST_VARIANCE = 1e-12


class Posterior(ABC):
    """Independent posteriors of the means of k arms in N episodes.

    Args:
        window: ``(k, N)`` statistics, updated in place by whoever drives the sampling rule.
        sigma: Standard deviation of the rewards, for models in which it is known.
        name: The agent, for errors.

    Attributes:
        first_pulls: Pulls of an arm before its posterior exists.
        uses_variances: Whether the sample variances are read.
        tables: ``(tables, k, N)`` what a draw needs, beside the means.
    """

    first_pulls: ClassVar[int] = 1
    uses_variances: ClassVar[bool] = False
    tables: FloatArray

    def __init__(self, window: Statistics, sigma: float, name: str) -> None:
        """Fill the tables."""
        self._window = window
        self._sigma = sigma
        self._name = name
        self.tables = np.stack(self._parameters(window.pulls, window.means, window.variances))
        self._flat_tables = [table.reshape(-1) for table in self.tables]
        self._means = window.means.reshape(-1)

    def update(self, flat: IntArray, pulls: FloatArray, means: FloatArray, variances: FloatArray) -> None:
        """Renew the entries of the pulled arms, see :meth:`bai_gym.sampling.SamplingRule.update`."""
        for table, values in zip(self._flat_tables, self._parameters(pulls, means, variances), strict=True):
            table[flat] = values

    def draw(self, rng: np.random.Generator, out: FloatArray) -> None:
        """Set ``out`` to ``(k, N)`` independent draws."""
        self._draw(self._window.means, self.tables, rng, out)

    def draw_columns(self, columns: IntArray, rng: np.random.Generator) -> FloatArray:
        """Return ``(k, m)`` independent draws for the episodes ``columns``, which may be repeated."""
        out = np.empty((len(self._window.means), columns.size))
        self._draw(self._window.means.take(columns, axis=1), self.tables.take(columns, axis=2), rng, out)
        return out

    def draw_pairs(self, flat: IntArray, times: int, rng: np.random.Generator) -> FloatArray:
        """Return ``(times, P)`` independent draws for the arms at positions ``slot * N + episode``."""
        out = np.empty((times, flat.size))
        self._draw(self._means.take(flat), self._tables_at(flat), rng, out)
        return out

    def exceed_bound(self, levels: FloatArray, columns: IntArray) -> FloatArray:
        """Return bounds from above, ``(k, m)``, fast to compute, on the probability of a draw above ``(m,)`` levels."""
        return self._bound(self._window.means.take(columns, axis=1), self.tables.take(columns, axis=2), levels)

    def exceed(self, levels: FloatArray, flat: IntArray) -> FloatArray:
        """Return the probability of a draw above each of ``(P,)`` levels, for the arms at ``flat``."""
        return self._exceed(self._means.take(flat), self._tables_at(flat), levels)

    def exceeded_with(self, probabilities: FloatArray, flat: IntArray) -> FloatArray:
        """Return the levels that are exceeded with ``(P,)`` given probabilities, for the arms at ``flat``."""
        return self._exceeded_with(self._means.take(flat), self._tables_at(flat), probabilities)

    def certain(self, columns: IntArray) -> npt.NDArray[np.bool_] | None:
        """Return where, ``(k, m)``, the posterior is a single point, or None if it never is."""
        return None

    def _tables_at(self, flat: IntArray) -> FloatArray:
        return np.stack([table.take(flat) for table in self._flat_tables])

    @abstractmethod
    def variances(self, columns: IntArray) -> FloatArray:
        """Return ``(k, m)`` variances of a single reward, as estimated, all positive, of the episodes ``columns``."""

    @abstractmethod
    def _parameters(self, pulls: FloatArray, means: FloatArray, variances: FloatArray) -> tuple[FloatArray, ...]:
        """Return what the tables hold, elementwise, for statistics of any shape."""

    @abstractmethod
    def _draw(self, means: FloatArray, tables: FloatArray, rng: np.random.Generator, out: FloatArray) -> None:
        """Set ``out`` to draws from the posteriors with the given means and tables, which broadcast to its shape."""

    @abstractmethod
    def _bound(self, means: FloatArray, tables: FloatArray, levels: FloatArray) -> FloatArray:
        """Return bounds on the probability of a draw above the levels, elementwise."""

    @abstractmethod
    def _exceed(self, means: FloatArray, tables: FloatArray, levels: FloatArray) -> FloatArray:
        """Return the probability of a draw above the levels, elementwise."""

    @abstractmethod
    def _exceeded_with(self, means: FloatArray, tables: FloatArray, probabilities: FloatArray) -> FloatArray:
        """Return the inverse of :meth:`_exceed`, elementwise."""


class NormalPosterior(Posterior):
    """N(mean, sigma^2 / T): normal rewards of known variance, flat prior."""

    def variances(self, columns: IntArray) -> FloatArray:
        """Return sigma^2."""
        return np.full((len(self._window.means), columns.size), self._sigma**2)

    def _parameters(self, pulls: FloatArray, means: FloatArray, variances: FloatArray) -> tuple[FloatArray, ...]:
        """Return sigma / sqrt(T)."""
        return (self._sigma / np.sqrt(pulls),)

    def _draw(self, means: FloatArray, tables: FloatArray, rng: np.random.Generator, out: FloatArray) -> None:
        rng.standard_normal(out=out)
        out *= tables[0]
        out += means

    def _bound(self, means: FloatArray, tables: FloatArray, levels: FloatArray) -> FloatArray:
        distance = (levels - means) / tables[0]
        return np.where(distance > 0.0, 0.5 * np.exp(-0.5 * distance**2), 1.0)

    def _exceed(self, means: FloatArray, tables: FloatArray, levels: FloatArray) -> FloatArray:
        return np.asarray(special.ndtr((means - levels) / tables[0]))

    def _exceeded_with(self, means: FloatArray, tables: FloatArray, probabilities: FloatArray) -> FloatArray:
        return np.asarray(means - tables[0] * special.ndtri(probabilities))


class StudentPosterior(Posterior):
    """mean + sqrt(v / T) t, t of Student's law with T - 1 degrees of freedom: normal rewards of unknown variance.

    The prior is flat in the mean and in the logarithm of the variance. Rewards without variance leave a single point.

    Drawn by Bailey (1994), "Polar Generation of Random Variates with the t-Distribution", formula 3: with E exponential
    and an angle A uniform, sqrt(d (exp(2 E / d) - 1)) cos(A) is Student with d degrees of freedom. This is several
    times faster than a normal over the root of a gamma.
    """

    first_pulls: ClassVar[int] = 2
    uses_variances: ClassVar[bool] = True

    def variances(self, columns: IntArray) -> FloatArray:
        """Return the sample variances."""
        return np.maximum(self._window.variances.take(columns, axis=1), SMALLEST_VARIANCE)

    def _parameters(self, pulls: FloatArray, means: FloatArray, variances: FloatArray) -> tuple[FloatArray, ...]:
        """Return sqrt(v d / T) and 2 / d, with d = T - 1."""
        freedom = pulls - 1.0
        return np.sqrt(variances * freedom / pulls), 2.0 / freedom

    def _draw(self, means: FloatArray, tables: FloatArray, rng: np.random.Generator, out: FloatArray) -> None:
        rng.standard_exponential(out=out)
        out *= tables[1]
        np.expm1(out, out=out)
        np.sqrt(out, out=out)
        # The 24 bits of a single-precision angle shift no probability by more than 1e-7, and its cosine is much faster.
        angle = rng.random(out.shape, dtype=np.float32)
        angle *= np.float32(2.0 * np.pi)
        np.cos(angle, out=angle)
        out *= angle
        out *= tables[0]
        out += means

    def certain(self, columns: IntArray) -> npt.NDArray[np.bool_]:
        """Return where the sample variance is 0."""
        return np.asarray(self.tables[0].take(columns, axis=1) == 0.0)

    def _bound(self, means: FloatArray, tables: FloatArray, levels: FloatArray) -> FloatArray:
        # In the formula above the cosine is at most 1, and positive half of the time.
        distance = self._distance(means, tables, levels)
        return np.where(distance > 0.0, 0.5 * np.exp(-np.log1p(distance**2) / tables[1]), 1.0)

    def _exceed(self, means: FloatArray, tables: FloatArray, levels: FloatArray) -> FloatArray:
        freedom = 2.0 / tables[1]
        return np.asarray(special.stdtr(freedom, -np.sqrt(freedom) * self._distance(means, tables, levels)))

    def _exceeded_with(self, means: FloatArray, tables: FloatArray, probabilities: FloatArray) -> FloatArray:
        freedom = 2.0 / tables[1]
        return np.asarray(means - tables[0] / np.sqrt(freedom) * special.stdtrit(freedom, probabilities))

    @staticmethod
    def _distance(means: FloatArray, tables: FloatArray, levels: FloatArray) -> FloatArray:
        """Return the distance of the levels from the means in units of tables[0]; finite where that is 0."""
        return np.asarray(np.clip((levels - means) / np.maximum(tables[0], 1e-200), -1e100, 1e100))


class BernoulliPosterior(Posterior):
    """Beta(1 + successes, 1 + failures): rewards 0 and 1, uniform prior."""

    def __init__(self, window: Statistics, sigma: float, name: str) -> None:
        """Fill the tables."""
        super().__init__(window, sigma, name)
        self._refuse_unless((np.abs(window.means - 0.5) == 0.5) | (window.pulls > 1.0))

    def update(self, flat: IntArray, pulls: FloatArray, means: FloatArray, variances: FloatArray) -> None:
        """Renew the entries of the pulled arms, and check that the rewards were 0 or 1."""
        before = self._flat_tables[0].take(flat)
        super().update(flat, pulls, means, variances)
        gain = self._flat_tables[0].take(flat) - before
        self._refuse_unless((gain == 0.0) | (gain == 1.0))

    def variances(self, columns: IntArray) -> FloatArray:
        """Return m (1 - m)."""
        means = self._window.means.take(columns, axis=1)
        return np.maximum(means * (1.0 - means), SMALLEST_BERNOULLI_VARIANCE)

    def _parameters(self, pulls: FloatArray, means: FloatArray, variances: FloatArray) -> tuple[FloatArray, ...]:
        """Return 1 + successes and 1 + failures."""
        successes, fits = count_successes(pulls, means)
        self._refuse_unless(fits)
        return 1.0 + successes, 1.0 + pulls - successes

    def _draw(self, means: FloatArray, tables: FloatArray, rng: np.random.Generator, out: FloatArray) -> None:
        rng.standard_gamma(tables[0], size=out.shape, out=out)
        other = rng.standard_gamma(tables[1], size=out.shape)
        other += out
        out /= other

    def _bound(self, means: FloatArray, tables: FloatArray, levels: FloatArray) -> FloatArray:
        # Beta(1 + s, 1 + f) exceeds x as often as a binomial of s + f + 1 trials of probability x is at most s: at most
        # exp(-(s + f + 1) kl(s / (s + f + 1), x)), Chernoff's bound.
        level = np.clip(levels, 1e-12, 1.0 - 1e-12)
        successes, failures = tables[0] - 1.0, tables[1]
        trials = successes + failures
        share = successes / trials
        exponent = special.xlogy(successes, share / level) + failures * np.log((1.0 - share) / (1.0 - level))
        return np.where(share < level, np.exp(-exponent), 1.0)

    def _exceed(self, means: FloatArray, tables: FloatArray, levels: FloatArray) -> FloatArray:
        return np.asarray(special.betaincc(tables[0], tables[1], levels))

    def _exceeded_with(self, means: FloatArray, tables: FloatArray, probabilities: FloatArray) -> FloatArray:
        return np.asarray(special.betainccinv(tables[0], tables[1], probabilities))

    def _refuse_unless(self, fits: np.ndarray) -> None:
        if not fits.all():
            raise AgentError(
                f"{self._name} with posterior='bernoulli' needs rewards of 0 and 1, and has met another one: "
                "use posterior='student'"
            )


def count_successes(pulls: npt.NDArray[np.floating], means: FloatArray) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
    """Return the successes among pulls with given means of rewards 0 and 1, and where the means are such ones."""
    sums = pulls * means
    successes = np.asarray(np.rint(sums))
    return successes, (np.abs(sums - successes) < 1e-6) & (successes >= 0.0) & (successes <= pulls)


POSTERIORS: dict[str, type[Posterior]] = {
    "student": StudentPosterior,
    "bernoulli": BernoulliPosterior,
    "normal": NormalPosterior,
}
