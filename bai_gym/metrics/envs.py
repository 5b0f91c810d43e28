"""All metrics in observations: wrappers of the plain environments, whose rewards are those of the first metric."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from typing_extensions import override

from bai_gym.bandits import Bandit
from bai_gym.envs.base_wrappers import ShowingBatch, ShowingWrapper, ShownArms
from bai_gym.errors import ParameterError
from bai_gym.metrics.adapters import MEANS, VARIANCES
from bai_gym.statistics import FloatArray, IntArray, Statistics

__all__ = ["WRAPPERS", "Metrics", "MetricsBatch"]


class _MeasuredArms(ShownArms):
    """Arms of N episodes, whose pulls update the statistics of all metrics."""

    inner: Any

    def __init__(self, bandit: Bandit) -> None:
        super().__init__(bandit)
        self._cells = Statistics.zeros(bandit.means.shape)
        self.shown = {MEANS: self._cells.means, VARIANCES: self._cells.variances}

    @staticmethod
    @override
    def spaces(env: Any) -> dict[str, spaces.Space[Any]]:
        """Return the spaces of what is shown of an episode."""
        spec = env.episode_spec
        if spec.rounds.late or spec.costs is not None:
            raise ParameterError("batch_size, delay and costs are for pulls that give one number: leave them out here")
        shape = env.num_arms, spec.task.metrics
        return {
            MEANS: spaces.Box(-np.inf, np.inf, shape, np.float64),
            VARIANCES: spaces.Box(0.0, np.inf, shape, np.float64),
        }

    @override
    def pull(self, flat: IntArray, rng: np.random.Generator) -> FloatArray:
        numbers: FloatArray = self.inner.draw(flat, rng)
        metrics = numbers.shape[1]
        self._cells.add((flat[:, None] * metrics + np.arange(metrics)).reshape(-1), numbers.reshape(-1))
        return numbers[:, 0]

    @override
    def clear(self, rows: IntArray) -> None:
        """Forget the pulls of some episodes."""
        for array in (self._cells.pulls, *self.shown.values()):
            array[rows] = 0


class Metrics(ShowingWrapper):
    """An environment in which a pull gives D numbers, one of every metric.

    Observations also hold ``metric_means`` and ``metric_variances`` of shape (K, D), float64: mean and unbiased
    variance of the numbers of each arm; 0 without a pull, and below two. ``means`` and ``variances``, of shape (K,),
    are those of the first metric.

    Args:
        env: A plain environment whose arms have several metrics.
    """

    arms = _MeasuredArms


class MetricsBatch(ShowingBatch):
    """A batch of episodes in which a pull gives D numbers, see :class:`Metrics`.

    Args:
        env: A plain batch whose arms have several metrics.
    """

    arms = _MeasuredArms


WRAPPERS = (Metrics, MetricsBatch)
"""Of an environment, and of a batch of episodes."""
