"""Linear bandits whose parameter changes with time, of Xiong et al. (2024)."""

from __future__ import annotations

import math

import numpy as np

from bai_gym.bandits import FeatureBandit
from bai_gym.errors import InstanceError
from bai_gym.linear.bandits.drifting import DriftingBandit
from bai_gym.linear.problems.linear import soare_features
from bai_gym.problems.base import FixedProblem
from bai_gym.statistics import FloatArray
from bai_gym.validation import integer, real

__all__ = ["oscillating_problem", "switching_problem"]

NOTE = (
    "The means of the arms change with time, and the best arm is that of the largest average over {horizon:,} pulls, "
    "which the budget should be. What is proved for constant means does not hold."
)


def oscillating_problem(
    num_features: int = 10,
    magnitude: float = 5.0,
    period: float = 200.0,
    horizon: int = 10_000,
    angle: float = 0.5,
    noise_variance: float = 1.0,
) -> FixedProblem:
    """Return the arms of Soare et al. (2014), of which the best one oscillates widely around a slightly better mean.

    Arms 0 to d - 1 are the unit vectors of d dimensions, and arm d is (cos w, sin w, 0, ...). At pull t = 0, 1, ... the
    first entry of theta is 0.3, the last one 0.5 - m sin(2 pi t / L), and the others are 0. The best arm is that of the
    largest average over the horizon: arm d - 1, with 0.5 where whole periods fit into it.

    Args:
        num_features: d, at least 3.
        magnitude: m, at least 0; the paper has 0, 1, ..., 9.
        period: L, above 0, in pulls; the paper also has 300, 600, ..., 3000 with the magnitude 2.5.
        horizon: Pulls over which means are averaged, at least 1: the budget. Pulls beyond it start the path again.
        angle: w, above 0 and at most pi.
        noise_variance: Above 0.

    Raises:
        InstanceError: Fewer than three dimensions.
        ParameterError: Another value outside its range.

    Source: Xiong, Camilleri, Fazel, Jain and Jamieson (2024), "A/B Testing and Best-arm Identification for Linear
    Bandits with Robustness to Non-stationarity", experiments, and the authors' code.
    """
    features = _arms(num_features, angle)
    real(magnitude, "magnitude", least=0)
    real(period, "period", above=0)
    times = np.arange(integer(horizon, "horizon", least=1))
    theta = np.zeros((times.size, features.shape[1]))
    theta[:, 0] = 0.3
    theta[:, -1] = 0.5 - magnitude * np.sin(2.0 * math.pi * times / period)
    return _problem(features, theta, noise_variance)


def switching_problem(
    num_features: int = 10, horizon: int = 10_000, angle: float = 0.5, noise_variance: float = 1.0
) -> FixedProblem:
    """Return the arms of Soare et al. (2014) with a path on which elimination drops the best arm.

    Arms 0 to d - 1 are the unit vectors of d dimensions, and arm d is (cos w, sin w, 0, ...). In the first third of the
    horizon theta is (0, 1, ..., 1), and arm 0 is the worst; then it is (2, 0, ..., 0). On average arm 0 is the best,
    and for w = 0.5 arm d is worse by 0.003.

    Args:
        num_features: d, at least 3.
        horizon: Pulls over which means are averaged, at least 3: the budget. Pulls beyond it start the path again.
        angle: w, above 0 and at most pi.
        noise_variance: Above 0.

    Raises:
        InstanceError: Fewer than three dimensions.
        ParameterError: Another value outside its range.

    Source: Xiong, Camilleri, Fazel, Jain and Jamieson (2024), "A/B Testing and Best-arm Identification for Linear
    Bandits with Robustness to Non-stationarity", the malicious example, and the authors' code.
    """
    features = _arms(num_features, angle)
    theta = np.zeros((integer(horizon, "horizon", least=3), features.shape[1]))
    theta[: horizon // 3, 1:] = 1.0
    theta[horizon // 3 :, 0] = 2.0
    return _problem(features, theta, noise_variance)


def _arms(num_features: object, angle: float) -> FloatArray:
    return soare_features(integer(num_features, "num_features", least=3, error=InstanceError), angle)


def _problem(features: FloatArray, theta: FloatArray, noise_variance: float) -> FixedProblem:
    rewards = DriftingBandit(theta @ features.T, real(noise_variance, "noise_variance", above=0))
    return FixedProblem(FeatureBandit(rewards, features), notes=(NOTE.format(horizon=len(theta)),))
