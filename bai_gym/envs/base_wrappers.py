"""What wrappers that add to the observations of the plain environments have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.vector import VectorWrapper
from gymnasium.vector.utils import batch_space
from typing_extensions import override

from bai_gym.bandits import Bandit
from bai_gym.bandits.wrapped import WrappedBandit
from bai_gym.statistics import AnyArray, IntArray, Observation

__all__ = ["BatchWrapper", "ScalarWrapper", "ShowingBatch", "ShowingWrapper", "ShownArms"]

if TYPE_CHECKING:
    AnyBatchWrapper = VectorWrapper[Observation, IntArray, Observation, IntArray, AnyArray]
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

    def _with(self, observation: Observation, arrays: dict[str, AnyArray]) -> Observation:
        """Return the observation with other arrays, copied unless the batch shows live arrays."""
        arrays = {**observation, **arrays}
        return {key: array.copy() for key, array in arrays.items()} if self.copy else arrays


class ShownArms(WrappedBandit):
    """Arms of N episodes of which pulls update more than the statistics of rewards; a subclass says what.

    Attributes:
        shown: What observations show of it, live arrays ``(N, ...)`` by key.
        ended: The same of the instances that were replaced last.
        spaces: Returns the spaces of what is shown of an episode of a plain environment, by key.
        clear: Forgets the pulls of some episodes.
    """

    shown: dict[str, Any]
    ended: dict[str, Any]
    spaces: Any
    clear: Any

    def __init__(self, bandit: Bandit) -> None:
        """Begin before the first pull."""
        self.wrap(bandit)

    @override
    def select(self, rows: IntArray) -> Self:
        """Return some of the instances, without their pulls."""
        return type(self)(self.inner.select(rows))

    @override
    def replace(self, rows: IntArray, other: Bandit) -> None:
        """Replace some instances, and keep what was shown of the old ones."""
        self.ended = {key: array[rows] for key, array in self.shown.items()}
        self.inner.replace(rows, other)
        self.clear(rows)


class ShowingWrapper(ScalarWrapper):
    """An environment that shows what pulls update beside the statistics of rewards."""

    arms: ClassVar[type[ShownArms]]
    _shown: ShownArms

    def __init__(self, env: Any) -> None:
        """Add the keys to the observation space."""
        super().__init__(env, self.arms.spaces(env))

    @override
    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        """Start an episode, see :meth:`bai_gym.envs.scalar.BestArmEnv.reset`."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._shown = self.env._episode.bandit = self.arms(self.env._episode.bandit)
        return self._observation(observation), info

    @override
    def step(self, action: Any) -> Any:
        """Pull an arm, or give the recommendation, see :meth:`bai_gym.envs.scalar.BestArmEnv.step`."""
        observation, *rest = self.env.step(action)
        return self._observation(observation), *rest

    def _observation(self, observation: Observation) -> Observation:
        return {**observation, **{key: array[0].copy() for key, array in self._shown.shown.items()}}


class ShowingBatch(BatchWrapper):
    """A batch of episodes that shows what pulls update beside the statistics of rewards."""

    arms: ClassVar[type[ShownArms]]
    _shown: ShownArms

    def __init__(self, env: Any) -> None:
        """Add the keys to the observation space."""
        super().__init__(env, self.arms.spaces(env))
        self._episodes = env._episodes

    @override
    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        """Start new episodes, see :meth:`bai_gym.envs.vector.BestArmVectorEnv.reset`."""
        observation, info = self.env.reset(seed=seed, options=options)
        if not isinstance(self._episodes.bandit, ShownArms):  # all are new
            self._shown = self._episodes.bandit = self.arms(self._episodes.bandit)
        return self._with(observation, self._shown.shown), info

    @override
    def step(self, actions: Any) -> Any:
        """Pull an arm, or give the recommendation, in every episode."""
        observation, *rest, info = self.env.step(actions)
        for place, row in enumerate(np.flatnonzero(info.get("_final_obs", False))):
            info["final_obs"][row] |= {key: array[place] for key, array in self._shown.ended.items()}
        return self._with(observation, self._shown.shown), *rest, info
