"""A network of traffic sensors: Hoffman, Shahriari and de Freitas (2014), section 6.1."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from typing_extensions import override

from bai_gym.bandits import GaussianBandit, GaussianPrior
from bai_gym.correlated.bandits import PriorBandit
from bai_gym.correlated.data.signals import Signals, read_signals, traffic_like
from bai_gym.data import require
from bai_gym.errors import DataError, InstanceError, ParameterError
from bai_gym.problems.base import Problem
from bai_gym.statistics import FloatArray

__all__ = ["TrafficProblem", "traffic_problem"]

NOISE_SHARE = 0.05  # of the average variance of the signals
WEEK = 288 * 7  # five-minute steps
LOS_LOOP_DAYS, LOS_LOOP_HOURS = (0, 1, 4, 5, 6), slice(72, 132)  # Thursday, Friday, Monday to Wednesday; 6:00 to 11:00


class TrafficProblem(Problem):
    """Find the sensor with the highest reading at a moment, from noisy readings.

    The first two thirds of the signals are history: they give the prior. Each of the others is the vector of true
    means of an instance, drawn uniformly, with replacement. (The paper takes each of its 840 once.) Rewards are
    Gaussian, with 5 % of the average variance of the historical signals. Where real readings are rounded, several
    sensors may have the highest one: each of them is correct. Agents that declare to know the prior are given it.

    Args:
        signals: At least three, of at least two sensors.

    Attributes:
        prior_mean: ``(K,)`` means of the historical signals.
        prior_covariance: ``(K, K)`` their covariance, G (divisor: their number less one). The paper's prior is broader:
            eta^2 G with eta = 20, which agents have with ``amplitude=20.0``.
        prior: The normal distribution with these moments.
        noise_variance: Variance of the rewards.
        test_signals: ``(S, K)`` the vectors of true means. All these are read-only.

    Raises:
        DataError: Too few signals, or all historical ones are the same.

    Source: Hoffman, Shahriari and de Freitas (2014), section 6.1, after Srinivas et al. (2010). That the historical
    mean is the prior mean is a choice of this library: the text does not say.
    """

    def __init__(self, signals: Signals) -> None:
        """Split the signals, and compute the moments of history."""
        values = signals.values
        split = 2 * len(values) // 3
        if split < 2:
            raise DataError(f"there are {len(values)} signals; two thirds of them must be two at least")
        history = values[:split]
        self.num_arms = values.shape[1]
        if self.num_arms < 2:
            raise InstanceError("a bandit needs at least 2 arms: give signals of two sensors or more")
        self.notes = signals.notes
        self.arm_names = signals.names
        self.prior_mean: FloatArray = history.mean(axis=0)
        self.prior_covariance: FloatArray = np.cov(history, rowvar=False)
        self.noise_variance = NOISE_SHARE * float(history.var(axis=0, ddof=1).mean())
        if not 0 < self.noise_variance < np.inf:
            raise DataError(
                "the historical signals do not vary, or are too large: the noise cannot be derived from them"
            )
        self.test_signals: FloatArray = values[split:].copy()
        for array in (self.prior_mean, self.prior_covariance, self.test_signals):
            array.setflags(write=False)
        self.prior = GaussianPrior(self.prior_covariance, self.prior_mean)

    @override
    def draw(self, batch: int, rng: np.random.Generator) -> PriorBandit:
        """Return instances with randomly chosen signals as their means."""
        chosen = rng.integers(len(self.test_signals), size=batch)
        return PriorBandit(GaussianBandit(self.test_signals[chosen], self.noise_variance), self.prior)


def traffic_problem(
    data: str | None = None, path: str | Path | None = None, header: bool | None = None, signals_seed: int | None = None
) -> TrafficProblem:
    """Return the problem of the least congested place.

    Args:
        data: ``"like"`` (default): 2,520 synthetic signals of 357 sensors, see
            :func:`bai_gym.correlated.traffic_like`; the paper's own data were never published. ``"los-loop"``: speeds of
            207 sensors in Los Angeles, working days from 6 to 11, from the data directory.
        path: Instead, a matrix time x sensors of your own, see :func:`bai_gym.correlated.read_signals`; all rows count.
        header: Whether a CSV file at ``path`` begins with names; None finds out.
        signals_seed: Seed of the synthetic signals, at least 0; None: 0.

    Raises:
        ParameterError: Unknown data, or keywords that exclude each other.
        MissingDataError: There is no such file.
        DataError: It cannot be used.
    """
    if path is not None:
        if data is not None or signals_seed is not None:
            raise ParameterError("path is given, so data and signals_seed have no effect: leave them out")
        return TrafficProblem(read_signals(path, header))
    if header is not None:
        raise ParameterError("header says how the file at path begins: give path= with it")
    if data in (None, "like"):
        return TrafficProblem(traffic_like(0 if signals_seed is None else signals_seed))
    if data != "los-loop":
        raise ParameterError(f"data must be 'like' or 'los-loop', not {data!r}; for a file of your own give path=")
    if signals_seed is not None:
        raise ParameterError("signals_seed is the seed of the synthetic signals: leave it out with data='los-loop'")
    return TrafficProblem(_working_hours(read_signals(require("los-loop"))))


def _working_hours(signals: Signals) -> Signals:
    """Return the 300 snapshots of Los-loop's week that the paper would have taken."""
    if len(signals.values) != WEEK:
        raise DataError(
            f"Los-loop has {WEEK} rows, seven days of five-minute steps, and this file has {len(signals.values)}; give "
            "path= to use all rows of a file"
        )
    days = signals.values.reshape(7, -1, signals.values.shape[1])[list(LOS_LOOP_DAYS), LOS_LOOP_HOURS]
    return Signals(signals.names, days.reshape(-1, signals.values.shape[1]), signals.notes)
