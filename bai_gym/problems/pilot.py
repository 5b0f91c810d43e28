"""The instances that a pilot leaves possible: true means drawn from their posterior given some rewards of every arm.

The rewards of the pilot are known: agents start from them, as a :class:`bai_gym.Study` does from ``earlier=``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.special import betaln, expit, log_expit
from typing_extensions import override

from bai_gym.bandits import Bandit, BernoulliBandit, EmpiricalBandit, GaussianBandit, SampleTable
from bai_gym.errors import DataError
from bai_gym.problems.base import Problem
from bai_gym.problems.custom import table_problem
from bai_gym.rewards import BINARY, REAL, Rewards
from bai_gym.statistics import FloatArray, Statistics

__all__ = ["PilotProblem", "pilot_problem"]

SPREADS = 2000  # points at which the posterior of the spread is computed
WIDEST = 10.0  # times the range of the pilot's means: the largest spread considered
NARROWEST = 1e-3  # times a standard error: the smallest
POINTS = 40, 80  # of each of two parameters of rates: to find where their posterior is, and to draw from it
NEGLIGIBLE = 25.0  # below the maximum of a log density
LEAST_WEIGHT = 0.1  # pulls that the centre of rates counts for, at least


class PilotProblem(Problem):
    """Draws true means from the posterior of a hierarchical model, given the rewards of a pilot.

    Means vary around an unknown centre with an unknown spread, and both are drawn, too. So the means are shrunk towards
    each other as far as the data support it: the lead that the best arm of a pilot has is too large on average.

    Where the rewards of the pilot are binary, so are those of the instances, and their rates have a beta distribution:
    Beta(m w, (1 - m) w), whose centre m has Jeffreys' prior; w is the number of pulls that m counts for. Otherwise
    rewards are normal, with variances drawn from their posteriors under the usual prior 1 / variance. Sample means are
    normal around the true ones, and these around a centre with a flat prior. Normal rewards are real, whatever those of
    the pilot are; a note says so.

    The spread has the uniform shrinkage prior: the share of its distance to the centre that a mean loses, s^2 / (s^2 +
    spread^2) or w / (w + n), is uniform on [0, 1], where s^2 and n are the harmonic means over the arms of squared
    standard errors and of pulls. It is proper and has no scale of its own, so that it suits two arms as well as many.

    Args:
        table: The rewards of the pilot, at least two of each arm, and their kind.
        notes: See :class:`bai_gym.problems.Problem`.
        arm_names: See :class:`bai_gym.problems.Problem`.

    Raises:
        DataError: If an arm has fewer than two rewards, or no rewards of an arm vary.

    Source: Gelman et al. (2013), "Bayesian Data Analysis", 3rd edition, sections 5.3 and 5.4; the prior: Daniels
    (1999), "A prior for the variance in hierarchical models", Canadian Journal of Statistics 27, and for rates
    Christiansen and Morris (1997), "Hierarchical Poisson regression modeling", JASA 92.
    """

    def __init__(
        self, table: SampleTable, notes: tuple[str, ...] = (), arm_names: tuple[str, ...] | None = None
    ) -> None:
        """Summarise the pilot."""
        self._pulls = np.diff(table.offsets).astype(np.float64)
        if self._pulls.min() < 2:
            arm = int(self._pulls.argmin())
            name = repr(arm_names[arm]) if arm_names else str(arm)
            raise DataError(f"arm {name} has a single reward in the pilot; a variance takes at least two")
        if table.kind not in (BINARY, REAL):
            notes = (*notes, f"rewards are {table.kind} in the pilot, and simulated as normal: real")
        self.num_arms, self.notes, self.arm_names = self._pulls.size, notes, arm_names
        self._means = np.asarray(table.means, np.float64).reshape(-1)
        self._variances = np.asarray(table.variances, np.float64).reshape(-1) * self._pulls / (self._pulls - 1.0)
        pulls, means, variances = self._pulls[None].astype(np.int64), self._means[None], self._variances[None]
        self.earlier = Statistics(pulls, means, variances)
        self._rates: _Rates | None = None
        self._normal: _NormalMeans | None = None
        if table.kind == BINARY:
            self._rates = _Rates(np.rint(self._pulls * self._means), self._pulls)
            return
        if self._variances.min() <= 0.0:
            raise DataError("all rewards of an arm are equal in the pilot, so its variance cannot be estimated")
        self._normal = _NormalMeans(self._means, self._variances / self._pulls)

    @override
    def draw(self, batch: int, rng: np.random.Generator) -> Bandit:
        if self._rates is not None:
            return BernoulliBandit(self._rates.draw(batch, rng))
        assert self._normal is not None
        means, freedom = self._normal.draw(batch, rng), self._pulls - 1.0
        return GaussianBandit(means, self._variances * freedom / rng.chisquare(freedom, means.shape))


class _NormalMeans:
    """The posterior of normal means, around a centre with a flat prior.

    Args:
        means: ``(K,)`` sample means.
        squared_errors: ``(K,)`` their squared standard errors, above 0.
    """

    def __init__(self, means: FloatArray, squared_errors: FloatArray) -> None:
        self._means, self._squared_errors = means, squared_errors
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

    def draw(self, batch: int, rng: np.random.Generator) -> FloatArray:
        """Return true means, ``(batch, K)``."""
        squares = self._spreads[rng.choice(SPREADS, batch, p=self._weights), None] ** 2
        precision = 1.0 / (self._squared_errors + squares)  # of a sample mean around the centre
        total = precision.sum(axis=1, keepdims=True)
        centre = (precision * self._means).sum(axis=1, keepdims=True) / total
        centre = centre + rng.standard_normal((batch, 1)) / np.sqrt(total)
        shares = squares * precision  # share of its distance to the centre that a mean keeps
        deviation = np.sqrt(shares * self._squared_errors)
        return np.asarray(centre + shares * (self._means - centre) + deviation * rng.standard_normal(precision.shape))


class _Rates:
    """The posterior of rates that have a beta distribution, by its centre m and the pulls w that m counts for.

    Logit m and log w are computed at the points of a grid; a first, coarse one finds where their posterior is.

    Args:
        successes: ``(K,)`` whole numbers.
        pulls: ``(K,)`` the pulls that they are of.
    """

    def __init__(self, successes: FloatArray, pulls: FloatArray) -> None:
        self._successes, self._failures = successes, pulls - successes
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

    def draw(self, batch: int, rng: np.random.Generator) -> FloatArray:
        """Return true rates, ``(batch, K)``."""
        cells = rng.choice(self._chances.size, batch, p=self._chances)
        centre, weight = np.unravel_index(cells, (self._centres.size, self._weights.size))
        steps = self._centres[1] - self._centres[0], self._weights[1] - self._weights[0]
        logit = self._centres[centre] + steps[0] * (rng.random(batch) - 0.5)
        pulls = np.exp(self._weights[weight] + steps[1] * (rng.random(batch) - 0.5))
        good, bad = pulls * expit(logit), pulls * expit(-logit)
        rates: FloatArray = rng.beta(good[:, None] + self._successes, bad[:, None] + self._failures)
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


def _ends_around(points: FloatArray, likely: npt.NDArray[np.bool_]) -> tuple[float, float]:
    """Return the points just below and just above the likely ones, or the ends of the grid."""
    places = np.flatnonzero(likely)
    return float(points[max(places[0] - 1, 0)]), float(points[min(places[-1] + 1, points.size - 1)])


def pilot_problem(
    path: str | Path | None = None,
    arm_column: str | None = None,
    reward_column: str | None = None,
    separator: str | None = None,
    bins: int | None = None,
    arms: Sequence[str | int | float] | None = None,
    missing: str = "error",
    rewards: Rewards | str | None = None,
    cost_column: str | None = None,
) -> PilotProblem:
    """Return the problem of a pilot whose rewards are in a file.

    Args:
        path: A CSV or Parquet file, see :func:`bai_gym.problems.custom.table_problem`; None: its synthetic log.
        arm_column: The column that names the arm.
        reward_column: The column with the reward.
        separator: One character between the fields of a CSV file; None looks for it.
        bins: Cut a numeric arm column into this many arms.
        arms: The arms wanted, in this order; None: all.
        missing: ``"error"``, or ``"drop"`` to leave out rows without an arm or a reward.
        rewards: The kind of rewards, see :func:`bai_gym.problems.custom.table_problem`; None: that which they show.
        cost_column: The column that says what a row has cost, see there.

    Raises:
        ParameterError: Some of ``path``, ``arm_column`` and ``reward_column`` are given, but not all; no such kind of
            rewards.
        DataError: The file cannot be used, or its rewards do not suffice.
    """
    columns = (path, arm_column, reward_column, separator, bins, arms, missing)
    log = table_problem(*columns, rewards=rewards, cost_column=cost_column)
    bandit = log.draw(1, np.random.default_rng(0))
    assert isinstance(bandit, EmpiricalBandit)
    problem = PilotProblem(bandit.samples, log.notes, log.arm_names)
    problem.costs = log.costs
    return problem
