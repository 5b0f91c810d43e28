"""What wrappers that add to the observations of the plain environments have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import gymnasium as gym
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.vector import VectorWrapper
from gymnasium.vector.utils import batch_space

from bai_gym.statistics import IntArray, Observation

__all__ = ["BatchWrapper", "ScalarWrapper"]

if TYPE_CHECKING:
    AnyBatchWrapper = VectorWrapper[Observation, IntArray, Observation, IntArray, npt.NDArray[Any]]
else:
    AnyBatchWrapper = VectorWrapper  # without parameters in Gymnasium 1.1


class _Inside:
    """What agents and executors ask an environment for is asked of the one inside."""

    env: Any

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "env":
            raise AttributeError(name)
        return getattr(self.env, name)


class ScalarWrapper(_Inside, gym.Wrapper[Observation, Any, Observation, Any], gym.utils.RecordConstructorArgs):
    """Base of the wrappers of one episode."""

    def __init__(self, env: Any, added: dict[str, spaces.Space[Any]]) -> None:
        """Add parts to the observation space, of statistics."""
        gym.utils.RecordConstructorArgs.__init__(self)
        gym.Wrapper.__init__(self, env)
        if not added:
            return
        space = spaces.Dict({**env.observation_space.spaces, **added})
        self.observation_space = cast("gym.Space[Observation]", space)


class BatchWrapper(_Inside, AnyBatchWrapper):
    """Base of the wrappers of a batch of episodes."""

    def __init__(self, env: Any, added: dict[str, spaces.Space[Any]]) -> None:
        """Add parts to the observation space."""
        super().__init__(env)
        self.copy, env.copy = env.copy, False  # what is replaced need not be copied
        if not added:
            return
        self.single_observation_space = spaces.Dict({**env.single_observation_space.spaces, **added})
        self.observation_space = batch_space(self.single_observation_space, env.num_envs)

    def _with(self, observation: Observation, arrays: dict[str, npt.NDArray[Any]]) -> Observation:
        """Return the observation with other arrays, copied unless the batch shows live arrays."""
        arrays = {**observation, **arrays}
        return {key: array.copy() for key, array in arrays.items()} if self.copy else arrays
