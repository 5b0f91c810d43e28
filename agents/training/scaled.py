"""What networks learn from: wrappers that show one flat vector of bounded numbers, the last pull, or progress."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.vector.utils import batch_space
from scipy.special import ndtr
from typing_extensions import override

from bai_gym.agents.training.features import ARM_FEATURES
from bai_gym.agents.training.scaling import Scaling
from bai_gym.envs.base_wrappers import BatchWrapper, ScalarWrapper
from bai_gym.envs.vector import Step
from bai_gym.statistics import Observation

__all__ = ["LastPull", "LastPullBatch", "Progress", "ProgressBatch", "Scaled", "ScaledBatch"]


class Scaled(ScalarWrapper):
    """An environment with ``observation="scaled"``, for networks.

    An observation is a flat float32 vector with finite bounds, see :class:`bai_gym.agents.training.scaling.Scaling`; it
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
            for row, vector in zip(ended, self._scaling(stacked(info["final_obs"][ended])), strict=True):
                info["final_obs"][row] = vector
        return self._scaled(observation), rewards, terminated, truncated, info

    def _scaled(self, observation: Observation) -> Any:
        return self._scaling(observation, None if self.copy else self._shown)


def scaling_of(env: Any, space: Any) -> Scaling:
    """Return how an environment's statistics, of the given space, are scaled."""
    return Scaling(space, env.problem.rewards, env.episode_spec.task)


def stacked(observations: Any) -> Observation:
    """Return observations of single episodes as one of a batch."""
    return {name: np.stack([one[name] for one in observations]) for name in observations[0]}


class Progress(ScalarWrapper):
    """An environment with ``reward="progress"``: that of ``"correct"``, and what each step changes.

    The potential is an estimate, from the statistics, of the probability that the best guess is right: the product over
    arms of the probability that the arm is on its side of the border, as if means were normal. A step adds its
    change, and the end takes it back. So the return is that of ``"correct"`` minus a constant, and the same policies
    are best.

    Source: Ng, Harada and Russell (1999), "Policy invariance under reward transformations".

    Args:
        env: An environment that shows statistics.
    """

    _before: float

    def __init__(self, env: Any) -> None:
        """Prepare the estimate."""
        super().__init__(env, {})
        self._scaling = scaling_of(env, env.observation_space)

    @override
    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode, see :meth:`BestArmEnv.reset`."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._before = self._potential(observation)
        return observation, info

    @override
    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Pull an arm, or give the recommendation, see :meth:`BestArmEnv.step`."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        now = 0.0 if terminated else self._potential(observation)
        reward, self._before = float(reward) + now - self._before, now
        return observation, reward, terminated, truncated, info

    def _potential(self, observation: Observation) -> float:
        return float(potential({name: array[None] for name, array in observation.items()}, self._scaling)[0])


class ProgressBatch(BatchWrapper):
    """A batch of episodes with ``reward="progress"``, see :class:`Progress`.

    Args:
        env: A batch that shows statistics.
    """

    _before: npt.NDArray[Any]

    def __init__(self, env: Any) -> None:
        """Prepare the estimate."""
        super().__init__(env, {})
        self._scaling = scaling_of(env, env.single_observation_space)

    @override
    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start new episodes, see :meth:`BestArmVectorEnv.reset`."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._before = potential(observation, self._scaling)
        return self._with(observation, {}), info

    @override
    def step(self, actions: Any) -> Step:
        """Pull an arm, or give the recommendation, in every episode, see :meth:`BestArmVectorEnv.step`."""
        observation, rewards, terminated, truncated, info = self.env.step(actions)
        now = potential(observation, self._scaling)
        reached = np.where(terminated, 0.0, now)
        cut = np.flatnonzero(truncated & info.get("_final_obs", False))
        if cut.size:
            reached[cut] = potential(stacked(info["final_obs"][cut]), self._scaling)
        began = info.get("_rewards", np.zeros_like(terminated)) & ~(terminated | truncated)  # instead of a step
        changed = np.where(began, 0.0, reached - self._before)
        self._before = now
        return self._with(observation, {}), rewards + changed, terminated, truncated, info


def potential(observation: Observation, scaling: Scaling) -> npt.NDArray[Any]:
    """Return ``(N,)`` the estimated probability that the best guess is right, see :class:`Progress`."""
    distances = scaling(observation)[:, ARM_FEATURES - 3 : scaling.num_arms * ARM_FEATURES : ARM_FEATURES]
    free = getattr(scaling.task, "threshold", None) is None  # the border is the mean of an arm, which counts a half
    sides = ndtr(2.0 * np.abs(distances).astype(np.float64)).prod(axis=1)
    return np.asarray(sides * 2.0 ** (scaling.task.num_bandits * free))


class LastPull(ScalarWrapper):
    """An environment that also shows the last pull: for recurrent policies, and for RL^2 (Duan et al. 2016).

    An observation ends with K + 1 numbers, zeros before the first pull: 1 for the arm that was pulled, and the reward
    that the pull drew; of statistics they are the part ``last``.

    Args:
        env: An environment whose rewards do not arrive late.
    """

    def __init__(self, env: Any) -> None:
        """Add the last pull to the observation space."""
        self._last = np.zeros(env.num_arms + 1, np.float32)
        shown = env.observation_space
        super().__init__(env, {"last": _pull_space(env)} if isinstance(shown, spaces.Dict) else {})
        if not isinstance(shown, spaces.Dict):
            self.observation_space = cast("Any", _joined(shown, env))

    @override
    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode, see :meth:`BestArmEnv.reset`."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._last[:] = 0.0
        return self._more(observation), info

    @override
    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Pull an arm, or give the recommendation, see :meth:`BestArmEnv.step`."""
        observation, *others, info = self.env.step(action)
        self._last[:] = 0.0
        if "outcome" in info:
            self._last[int(np.ravel(action)[0])], self._last[-1] = 1.0, info["outcome"]
        return (self._more(observation), *others, info)

    def _more(self, observation: Any) -> Any:
        if isinstance(observation, dict):
            return {**observation, "last": self._last.copy()}
        return np.concatenate([observation, self._last])


class LastPullBatch(BatchWrapper):
    """A batch of episodes that also shows the last pull, see :class:`LastPull`.

    Args:
        env: A batch whose rewards do not arrive late.
    """

    def __init__(self, env: Any) -> None:
        """Add the last pull to the observation space."""
        shown = env.single_observation_space
        super().__init__(env, {"last": _pull_space(env)} if isinstance(shown, spaces.Dict) else {})
        if not isinstance(shown, spaces.Dict):
            self.single_observation_space = cast("Any", _joined(shown, env))
            self.observation_space = batch_space(self.single_observation_space, env.num_envs)

    @override
    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start new episodes, see :meth:`BestArmVectorEnv.reset`."""
        observation, info = self.env.reset(seed=seed, options=options)
        return self._more(observation, np.zeros((self.env.num_envs, self.env.num_arms + 1), np.float32)), info

    @override
    def step(self, actions: Any) -> Step:
        """Pull an arm, or give the recommendation, in every episode, see :meth:`BestArmVectorEnv.step`."""
        observation, rewards, terminated, truncated, info = self.env.step(actions)
        last = self._pulls(actions, info)
        if "final_obs" in info:
            ended = self._pulls(actions, info["final_info"])
            for row in np.flatnonzero(info["_final_obs"]):
                one = info["final_obs"][row]
                joined = {**one, "last": ended[row]} if isinstance(one, dict) else np.concatenate([one, ended[row]])
                info["final_obs"][row] = joined
        return self._more(observation, last), rewards, terminated, truncated, info

    def _pulls(self, actions: Any, info: dict[str, Any]) -> npt.NDArray[np.float32]:
        last = np.zeros((self.env.num_envs, self.env.num_arms + 1), np.float32)
        rows = np.flatnonzero(info.get("_outcome", False))
        last[rows, np.asarray(actions).reshape(len(last), -1)[rows, 0]] = 1.0
        last[rows, -1] = info["outcome"][rows] if rows.size else 0.0
        return last

    def _more(self, observation: Any, last: npt.NDArray[np.float32]) -> Any:
        if isinstance(observation, dict):
            return self._with(observation, {"last": last})
        return np.concatenate([observation, last], axis=1)


def _pull_space(env: Any) -> spaces.Box:
    rewards = env.problem.rewards
    low, high = np.zeros(env.num_arms + 1, np.float32), np.ones(env.num_arms + 1, np.float32)
    low[-1], high[-1] = min(rewards.low, 0.0), max(rewards.high, 0.0)
    return spaces.Box(low, high, dtype=np.float32)


def _joined(shown: Any, env: Any) -> spaces.Box:
    last = _pull_space(env)
    return spaces.Box(np.concatenate([shown.low, last.low]), np.concatenate([shown.high, last.high]), dtype=np.float32)
