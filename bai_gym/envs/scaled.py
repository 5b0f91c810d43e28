"""Observations fit for networks: wrappers that show one flat vector of bounded numbers in place of statistics."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.vector.utils import batch_space
from typing_extensions import override

from bai_gym.agents.learned.scaling import Scaling
from bai_gym.envs.base_wrappers import BatchWrapper, ScalarWrapper
from bai_gym.envs.vector import Step
from bai_gym.statistics import Observation

__all__ = ["Scaled", "ScaledBatch"]


class Scaled(ScalarWrapper):
    """An environment with ``observation="scaled"``, for networks.

    An observation is a flat float32 vector with finite bounds, see :class:`bai_gym.agents.learned.scaling.Scaling`; it
    says what the statistics say, in units that hardly depend on the scale of rewards, on the budget or on K.

    Args:
        env: An environment that shows statistics.
    """

    def __init__(self, env: Any) -> None:
        """Compute the space."""
        super().__init__(env, {})
        self._scaling = scaling_of(env, env.observation_space)
        self.observation_space = cast("Any", self._scaling.space)

    @override
    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode, see :meth:`BestArmEnv.reset`."""
        observation, info = self.env.reset(seed=seed, options=options)
        return self._scaled(observation), info

    @override
    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Pull an arm, or give the recommendation, see :meth:`BestArmEnv.step`."""
        observation, *others = self.env.step(action)
        return (self._scaled(observation), *others)

    def _scaled(self, observation: Observation) -> npt.NDArray[np.float32]:
        scaled: npt.NDArray[np.float32] = self._scaling({name: array[None] for name, array in observation.items()})[0]
        return scaled


class ScaledBatch(BatchWrapper):
    """A batch of episodes with ``observation="scaled"``, see :class:`Scaled`.

    Args:
        env: A batch that shows statistics.
    """

    def __init__(self, env: Any) -> None:
        """Compute the space."""
        super().__init__(env, {})
        self._scaling = scaling_of(env, env.single_observation_space)
        self.single_observation_space = cast("Any", self._scaling.space)
        self.observation_space = batch_space(self.single_observation_space, env.num_envs)
        self._shown = np.empty(self.observation_space.shape or (), np.float32)

    @override
    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start new episodes, see :meth:`BestArmVectorEnv.reset`."""
        observation, info = self.env.reset(seed=seed, options=options)
        return self._scaled(observation), info

    @override
    def step(self, actions: Any) -> Step:
        """Pull an arm, or give the recommendation, in every episode, see :meth:`BestArmVectorEnv.step`."""
        observation, rewards, terminated, truncated, info = self.env.step(actions)
        ended = np.flatnonzero(info.get("_final_obs", False))
        if ended.size:
            last = [info["final_obs"][row] for row in ended]
            scaled = self._scaling({name: np.stack([one[name] for one in last]) for name in last[0]})
            for row, vector in zip(ended, scaled, strict=True):
                info["final_obs"][row] = vector
        return self._scaled(observation), rewards, terminated, truncated, info

    def _scaled(self, observation: Observation) -> Any:
        return self._scaling(observation, None if self.copy else self._shown)


def scaling_of(env: Any, space: spaces.Dict) -> Scaling:
    """Return how an environment's statistics, of the given space, are scaled."""
    return Scaling(space, env.problem.rewards, env.episode_spec.task)
