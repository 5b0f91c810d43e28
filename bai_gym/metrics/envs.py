"""All metrics in observations: wrappers of the plain environments, whose rewards are those of the first metric."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from typing_extensions import override

from bai_gym.bandits import Bandit
from bai_gym.bandits.wrapped import WrappedBandit
from bai_gym.envs.base_wrappers import BatchWrapper, ScalarWrapper
from bai_gym.envs.scalar import BestArmEnv
from bai_gym.envs.vector import BestArmVectorEnv, Step
from bai_gym.errors import ParameterError
from bai_gym.metrics.adapters import MEANS, VARIANCES
from bai_gym.metrics.bandits import MetricBandit
from bai_gym.statistics import FloatArray, IntArray, Observation, Statistics

__all__ = ["WRAPPERS", "Metrics", "MetricsBatch"]


class _Measured(WrappedBandit):
    """Arms of N episodes, whose pulls update the statistics of all metrics."""

    inner: MetricBandit

    def __init__(self, bandit: MetricBandit) -> None:
        self.wrap(bandit)
        self._cells = Statistics.zeros(bandit.means.shape)
        self.shown = {MEANS: self._cells.means, VARIANCES: self._cells.variances}
        self.ended: dict[str, FloatArray] = {}

    @override
    def pull(self, flat: IntArray, rng: np.random.Generator) -> FloatArray:
        numbers = self.inner.draw(flat, rng)
        metrics = numbers.shape[1]
        self._cells.add((flat[:, None] * metrics + np.arange(metrics)).reshape(-1), numbers.reshape(-1))
        return numbers[:, 0]

    @override
    def select(self, rows: IntArray) -> _Measured:
        """Return some of the instances, without their statistics."""
        return type(self)(self.inner.select(rows))

    @override
    def replace(self, rows: IntArray, other: Bandit) -> None:
        """Replace some instances, and keep what was shown of the old ones as :attr:`ended`."""
        self.ended = {key: array[rows] for key, array in self.shown.items()}
        self.inner.replace(rows, other)
        for array in (self._cells.pulls, *self.shown.values()):
            array[rows] = 0


def _spaces(env: BestArmEnv | BestArmVectorEnv) -> dict[str, spaces.Space[Any]]:
    spec = env.episode_spec
    if spec.rounds.late or spec.costs is not None:
        raise ParameterError("batch_size, delay and costs are for pulls that give one number: leave them out here")
    shape = env.num_arms, spec.task.metrics
    return {
        MEANS: spaces.Box(-np.inf, np.inf, shape, np.float64),
        VARIANCES: spaces.Box(0.0, np.inf, shape, np.float64),
    }


class Metrics(ScalarWrapper):
    """An environment in which a pull gives D numbers, one of every metric.

    Observations also hold ``metric_means`` and ``metric_variances`` of shape (K, D), float64: mean and unbiased
    variance of the numbers of each arm; 0 without a pull, and below two. ``means`` and ``variances``, of shape (K,), are
    those of the first metric.

    Args:
        env: A plain environment whose arms have several metrics.
    """

    _arms: _Measured

    def __init__(self, env: BestArmEnv) -> None:
        """Add the metrics to the observation space."""
        super().__init__(env, _spaces(env))

    @override
    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode, see :meth:`BestArmEnv.reset`."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._arms = self.env._episode.bandit = _Measured(self.env._episode.bandit)
        return self._observation(observation), info

    @override
    def step(self, action: Any) -> tuple[Observation, Any, bool, bool, dict[str, Any]]:
        """Pull an arm, or give the recommendation, see :meth:`BestArmEnv.step`."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return self._observation(observation), reward, terminated, truncated, info

    def _observation(self, observation: Observation) -> Observation:
        return {**observation, **{key: array[0].copy() for key, array in self._arms.shown.items()}}


class MetricsBatch(BatchWrapper):
    """A batch of episodes in which a pull gives D numbers, see :class:`Metrics`.

    Args:
        env: A plain batch whose arms have several metrics.
    """

    _arms: _Measured

    def __init__(self, env: BestArmVectorEnv) -> None:
        """Add the metrics to the observation space."""
        super().__init__(env, _spaces(env))
        self._episodes = env._episodes

    @override
    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start new episodes, see :meth:`BestArmVectorEnv.reset`."""
        observation, info = self.env.reset(seed=seed, options=options)
        if not isinstance(self._episodes.bandit, _Measured):  # all are new
            self._arms = self._episodes.bandit = _Measured(self._episodes.bandit)
        return self._with(observation, self._arms.shown), info

    @override
    def step(self, actions: Any) -> Step:
        """Pull an arm, or give the recommendation, in every episode, see :meth:`BestArmVectorEnv.step`."""
        observation, rewards, terminated, truncated, info = self.env.step(actions)
        for place, row in enumerate(np.flatnonzero(info.get("_final_obs", False))):
            info["final_obs"][row] |= {key: array[place] for key, array in self._arms.ended.items()}
        return self._with(observation, self._arms.shown), rewards, terminated, truncated, info


WRAPPERS = (Metrics, MetricsBatch)
"""Of an environment, and of a batch of episodes."""
