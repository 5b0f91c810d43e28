"""The lower bound on the mean number of pulls where means are linear in the features of the arms."""

from __future__ import annotations

import numpy as np

from bai_gym.bandits import FeatureBandit, GaussianBandit
from bai_gym.linear.tasks import BestCandidate
from bai_gym.linear.theory.characteristic_time import linear_characteristic_time
from bai_gym.tasks import BestArm, Task
from bai_gym.theory import bernoulli_kl

__all__ = ["linear_bound"]


def linear_bound(bandit: FeatureBandit, task: Task, delta: float) -> float | None:
    """Return the bound of an instance of linear arms with Gaussian noise; None for others.

    Args:
        bandit: The arms.
        task: What is to be recommended: the best arm or candidate.
        delta: Error probability.
    """
    if not isinstance(task, BestArm | BestCandidate) or task.epsilon > 0:
        return None
    x, means, variances = bandit.features[0], bandit.means[0], bandit.variances[0]
    theta = np.linalg.lstsq(x, means, rcond=None)[0]
    is_linear = np.allclose(x @ theta, means, rtol=0.0, atol=1e-9 * float(np.abs(means).max()))
    if not isinstance(bandit.inner, GaussianBandit) or not is_linear or np.ptp(variances) or not variances[0] > 0:
        return None
    candidates = task.candidates if isinstance(task, BestCandidate) else None
    time = linear_characteristic_time(x, theta, float(variances[0]), candidates=candidates).lower
    bound = float(bernoulli_kl(delta, 1.0 - delta)) * time
    return bound if delta < 0.5 and 0 < bound < np.inf else None
