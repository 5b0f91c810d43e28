"""The lower bound on the mean number of pulls in a given instance, where it is known."""

from __future__ import annotations

import numpy as np

from bai_gym.bandits import Bandit, BernoulliBandit, FeatureBandit, GaussianBandit
from bai_gym.common.budget import Costs
from bai_gym.tasks import Task
from bai_gym.theory import fixed_confidence_bound
from bai_gym.wings import hook

__all__ = ["instance_bound"]


def instance_bound(bandit: Bandit, task: Task, delta: float, costs: Costs | None = None) -> float | None:
    """Return the bound of a bandit of one instance, see :meth:`bai_gym.problems.Problem.lower_bound`."""
    if isinstance(bandit, FeatureBandit) and costs is None:
        return hook("linear_bound", lambda *_: None)(bandit, task, delta)  # type: ignore[no-any-return]
    if task.contrasts is None:
        return None
    variances = None
    if isinstance(bandit, GaussianBandit) and (bandit.variances[0] > 0).all():
        variances = bandit.variances[0] * (1.0 if costs is None else np.array(costs))
    elif not isinstance(bandit, BernoulliBandit) or costs is not None:
        return None
    bound = float(fixed_confidence_bound(bandit.means[0], delta, variances, task=task))
    return bound if 0 < bound < np.inf else None
