"""The posterior of the true means of K arms, given their rewards: one prior for evidence pages, plans and advice.

The prior is hierarchical: means vary around an unknown centre with an unknown spread, and both are drawn, too. So means
are shrunk towards each other as far as the data support it: the lead of the best arm of a log is too large on average.
The spread has the uniform shrinkage prior: the share of its distance to the centre that a mean loses, s^2 / (s^2 +
spread^2) or w / (w + n), is uniform on [0, 1], where s^2 and n are the harmonic means over the arms of squared standard
errors and of pulls. It is proper and has no scale of its own, so that it suits two arms as well as many.

Sources: Gelman et al. (2013), "Bayesian Data Analysis", 3rd edition, sections 5.3 and 5.4; the prior: Daniels (1999),
"A prior for the variance in hierarchical models", Canadian Journal of Statistics 27, and for rates Christiansen and
Morris (1997), "Hierarchical Poisson regression modeling", JASA 92; variances that are drawn towards each other: Smyth
(2004), "Linear Models and Empirical Bayes Methods for Assessing Differential Expression in Microarray Experiments".
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import betaln, expit, log_expit, ndtr, ndtri

from bai_gym.analysis.intervals import are_binary
from bai_gym.rewards import Rewards
from bai_gym.statistics import BoolArray, FloatArray, IntArray

__all__ = ["OWN", "PRIOR", "MeansPosterior", "prior_freedom"]

PRIOR = "means that vary around an unknown centre with an unknown spread (uniform shrinkage prior)"

OWN = 2.0  # pulls by which at least a variance is drawn towards that of all arms, a rate towards their mean
LEAST_VARIATION = 0.05  # squared coefficient of variation of the variances that is assumed in any case
SPREADS = 2000  # points at which the posterior of the spread is computed
WIDEST = 10.0  # times the range of the sample means: the largest spread considered
NARROWEST = 1e-3  # times a standard error: the smallest
POINTS = 40, 80  # of each of two parameters of rates: to find where their posterior is, and to draw from it
NEGLIGIBLE = 25.0  # below the maximum of a log density
LEAST_WEIGHT = 0.1  # pulls that the centre of rates counts for, at least
LARGEST_POSSIBLE = 0.2  # pulls for which the largest variance that bounds allow counts
LEAST_DISPERSION = 1e-6


class MeansPosterior:
    """Draws true means, and the variances of single rewards, from their posterior.

    Where rewards have two bounds, means are rates of the range between them and have a beta distribution: Beta(m w, (1
    - m) w), whose centre m has Jeffreys' prior; w is the number of pulls that m counts for. Rewards of 0 and 1 count as
    they are. Others vary less: a pull counts for 1 / phi of them, where phi is the variance as a share of the largest
    one that the mean allows. So no mean is beyond the bounds, and few rewards close to a bound are no certainty.

    All other rewards are taken for normal. Sample means are normal around the true ones, and these around a centre with
    a flat prior; counts have no mean below 0.

    An arm's own variance (or phi) is drawn towards that of all arms, the more so the fewer pulls it has, and the less
    the sample variances differ beyond chance.

    Args:
        pulls: ``(K,)`` rewards of each arm.
        means: ``(K,)`` their means; not read without a reward.
        variances: ``(K,)`` their unbiased variances; not read below two rewards.
        rewards: The kind of rewards; where all of them are 0 or 1, they are taken for binary.

    Attributes:
        known: Whether something is known about all arms: each has a reward, and a variance can be estimated.
    """

    def __init__(self, pulls: IntArray, means: FloatArray, variances: FloatArray, rewards: Rewards) -> None:
        """Compute what draws need."""
        n = np.asarray(pulls, np.float64)
        freedom = np.maximum(n - 1.0, 0.0)
        squares = np.where(n > 1, freedom * np.nan_to_num(variances), 0.0)
        binary = are_binary(pulls, means, variances)
        low, width = (0.0, 1.0) if binary else (rewards.low, rewards.width)
        self._bounded = bool(np.isfinite(width))
        self.known = bool(n.all() and (self._bounded or squares.any()))
        if not self.known:
            return
        self._low, self._width, self._pulls = low, width, n
        self._means = np.asarray(means, np.float64)
        self._noise: _Noise | None = None
        if self._bounded:
            self._means = np.clip((self._means - low) / width, 0.0, 1.0)
            counted = n
            if not binary:
                centre = (self._means.sum() + 1.0) / (n.size + 2.0)
                rates = (n * self._means + OWN * centre) / (n + OWN)
                self._noise = _Noise(freedom, squares / width**2 / (rates * (1.0 - rates)), LARGEST_POSSIBLE)
                counted = n / np.clip(self._noise.expected, LEAST_DISPERSION, 1.0)
            self._rates = _Rates(counted * self._means, counted)
            return
        self._width = float(np.sqrt(squares.max()))  # the unit
        self._noise = _Noise(freedom, squares / self._width / self._width)
        self._means = self._means / self._width
        self._normal = _NormalMeans(self._means, self._noise.expected / n, low / self._width)

    def draw(self, batch: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Return true means and variances of single rewards, ``(batch, K)`` each; only if ``known``."""
        if not self._bounded:
            assert self._noise is not None
            variances = self._noise.draw(batch, rng)
            means = self._normal.draw(variances / self._pulls, rng)
            return self._width * means, self._width**2 * variances
        shares = np.ones((batch, self._pulls.size))
        if self._noise is not None:
            shares = np.clip(self._noise.draw(batch, rng), LEAST_DISPERSION, 1.0)
        counted = self._pulls / shares
        rates = self._rates.draw(counted * self._means, counted, rng)
        return self._low + self._width * rates, self._width**2 * shares * rates * (1.0 - rates)


def prior_freedom(freedom: Any, ratios: Any, xp: Any) -> Any:
    """Return for how many degrees of freedom the pooled variance counts beside an arm's own one, ``(..., 1)``.

    Empirical Bayes, with the squared coefficient of variation of the true variances from the second moments.

    Args:
        freedom: ``(..., K)`` degrees of freedom of the sample variances.
        ratios: ``(..., K)`` the sample variances, divided by the pooled one.
        xp: ``numpy`` or ``torch``.
    """
    num_arms, total = freedom.shape[-1], freedom.sum(axis=-1, keepdims=True)
    beyond = (freedom * (ratios - 1.0) ** 2).sum(axis=-1, keepdims=True) - 2.0 * (num_arms - 1.0)
    variation = xp.clip(beyond, 0.0, None) / (total + 2.0 * num_arms)
    return OWN + xp.where(total > 0.5, 2.0 / (variation + LEAST_VARIATION), 0.0)


class _Noise:
    """The posterior of the variances of single rewards, each drawn towards the pooled one.

    Args:
        freedom: ``(K,)`` degrees of freedom of the sample variances.
        squares: ``(K,)`` the variances, times these.
        at_one: Degrees of freedom for which the value 1 counts in the pooled one.
    """

    def __init__(self, freedom: FloatArray, squares: FloatArray, at_one: float = 0.0) -> None:
        self._freedom, self._squares = freedom, squares
        self._all = float(freedom.sum()) + at_one
        self._pooled = (float(squares.sum()) + at_one) / self._all
        ratios = np.divide(squares, freedom * self._pooled, out=np.ones_like(squares), where=freedom > 0)
        self._own = float(prior_freedom(freedom, ratios, np)[0])
        self.expected = (self._own * self._pooled + squares) / (self._own + freedom)

    def draw(self, batch: int, rng: np.random.Generator) -> FloatArray:
        """Return variances, ``(batch, K)``: first the pooled one, from scaled inverse chi-square distributions."""
        pooled = self._pooled * self._all / rng.chisquare(self._all, (batch, 1))
        freedom = self._own + self._freedom
        return np.asarray((self._own * pooled + self._squares) / rng.chisquare(freedom, (batch, freedom.size)))


class _NormalMeans:
    """The posterior of normal means, around a centre with a flat prior.

    Args:
        means: ``(K,)`` sample means.
        squared_errors: ``(K,)`` what is expected of their squared standard errors, above 0.
        low: No true mean is below this.
    """

    def __init__(self, means: FloatArray, squared_errors: FloatArray, low: float) -> None:
        self._means, self._low = means, low
        typical = 1.0 / float(np.mean(1.0 / squared_errors))
        reach = max(float(np.ptp(means)), float(np.sqrt(squared_errors.max())))
        self._spreads = np.geomspace(NARROWEST * np.sqrt(typical), WIDEST * reach, SPREADS)
        squares = self._spreads**2
        precision = 1.0 / (squared_errors + squares[:, None])  # (SPREADS, K)
        total = precision.sum(axis=1)
        centre = (precision * means).sum(axis=1) / total
        distances = (precision * (means - centre[:, None]) ** 2).sum(axis=1)
        log = 0.5 * (np.log(precision).sum(axis=1) - np.log(total) - distances)
        log += np.log(squares) - 2.0 * np.log(typical + squares)  # the prior, by the logarithm of the spread
        weights = np.exp(log - log.max())
        self._weights = weights / weights.sum()

    def draw(self, squared_errors: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return true means, ``(batch, K)``, given squared standard errors of that shape."""
        batch = squared_errors.shape[0]
        squares = self._spreads[rng.choice(SPREADS, batch, p=self._weights), None] ** 2
        precision = 1.0 / (squared_errors + squares)  # of a sample mean around the centre
        total = precision.sum(axis=1, keepdims=True)
        centre = (precision * self._means).sum(axis=1, keepdims=True) / total
        centre = centre + rng.standard_normal((batch, 1)) / np.sqrt(total)
        shares = squares * precision  # share of its distance to the centre that a mean keeps
        expected, deviation = centre + shares * (self._means - centre), np.sqrt(shares * squared_errors)
        above = ndtr((expected - self._low) / deviation)
        drawn = expected - deviation * ndtri(above * (1.0 - rng.random(expected.shape)))
        return np.where(np.isfinite(drawn), np.maximum(drawn, self._low), self._low)  # infinite far below the bound


class _Rates:
    """The posterior of rates that have a beta distribution, by its centre m and the pulls w that m counts for.

    Logit m and log w are computed at the points of a grid; a first, coarse one finds where their posterior is.

    Args:
        successes: ``(K,)`` numbers, at least 0.
        pulls: ``(K,)`` the pulls that they are of.
    """

    def __init__(self, successes: FloatArray, pulls: FloatArray) -> None:
        self._pulls = 1.0 / float(np.mean(1.0 / pulls))
        pairs, counts = np.unique(np.stack([successes, pulls - successes], axis=1), axis=0, return_counts=True)
        self._distinct = [
            (float(good), float(bad), int(count)) for (good, bad), count in zip(pairs, counts, strict=True)
        ]
        shares = (successes + 0.5) / (pulls + 1.0)
        logits = np.log(shares / (1.0 - shares))
        reach = float(np.ptp(logits) + 4.0 * np.sqrt(1.0 / (pulls * shares * (1.0 - shares))).max())
        box = [
            (float(logits.min()) - reach, float(logits.max()) + reach),
            (float(np.log(LEAST_WEIGHT)), float(np.log(1.0 / NARROWEST * self._pulls))),
        ]
        for points in POINTS:
            self._centres, self._weights = (np.linspace(*ends, points) for ends in box)
            log = self._log_density(self._centres, self._weights)
            likely = log > log.max() - NEGLIGIBLE
            box = [
                _ends_around(self._centres, likely.any(axis=1)),
                _ends_around(self._weights, likely.any(axis=0)),
            ]
        chances = np.exp(log - log.max()).ravel()
        self._chances = chances / chances.sum()

    def draw(self, successes: FloatArray, counted: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return true rates, ``(batch, K)``, given successes and the pulls that they are of, of that shape."""
        batch = counted.shape[0]
        cells = rng.choice(self._chances.size, batch, p=self._chances)
        centre, weight = np.unravel_index(cells, (self._centres.size, self._weights.size))
        steps = self._centres[1] - self._centres[0], self._weights[1] - self._weights[0]
        logit = self._centres[centre] + steps[0] * (rng.random(batch) - 0.5)
        pulls = np.exp(self._weights[weight] + steps[1] * (rng.random(batch) - 0.5))
        good, bad = pulls * expit(logit), pulls * expit(-logit)
        rates: FloatArray = rng.beta(good[:, None] + successes, bad[:, None] + counted - successes)
        return rates

    def _log_density(self, logits: FloatArray, log_weights: FloatArray) -> FloatArray:
        """Return the log density of logit m and log w, up to a constant, ``(logits, log_weights)``."""
        weights = np.exp(log_weights)
        good, bad = expit(logits)[:, None] * weights, expit(-logits)[:, None] * weights
        log = 0.5 * (log_expit(logits) + log_expit(-logits))[:, None] + log_weights
        log = log - 2.0 * np.log(weights + self._pulls)
        prior = betaln(good, bad)
        for successes, failures, count in self._distinct:
            log += count * (betaln(good + successes, bad + failures) - prior)
        return np.asarray(log)


def _ends_around(points: FloatArray, likely: BoolArray) -> tuple[float, float]:
    """Return the points just below and just above the likely ones, or the ends of the grid."""
    places = np.flatnonzero(likely)
    return float(points[max(places[0] - 1, 0)]), float(points[min(places[-1] + 1, points.size - 1)])
