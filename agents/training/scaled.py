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
from bai_gym.statistics import AnyArray, Observation
from bai_gym.tasks import TopM

__all__ = [
    "PROGRESS",
    "SCALED",
    "LastPull",
    "LastPullBatch",
    "Progress",
    "ProgressBatch",
    "Scaled",
    "ScaledBatch",
    "whole_sets",
]

Vectors = npt.NDArray[np.float32]


class _Scales:
    """Shows scaled statistics."""

    def __init__(self, env: Any, space: Any) -> None:
        self._scaling = scaling_of(env, space)
        self.space = self._scaling.space

    def __call__(self, observation: Observation, *_: Any) -> Vectors:
        return self._scaling(observation)


class _Recalls:
    """Shows vectors, and the last pull behind them."""

    def __init__(self, env: Any, space: Any) -> None:
        rewards, ones = env.problem.rewards, np.ones(env.num_arms)
        low = np.concatenate([space.low, 0.0 * ones, [min(rewards.low, 0.0)]])
        high = np.concatenate([space.high, ones, [max(rewards.high, 0.0)]])
        self.space = spaces.Box(low.astype(np.float32), high.astype(np.float32), dtype=np.float32)

    def __call__(self, observation: Vectors, actions: Any, info: dict[str, Any]) -> Vectors:
        number = len(observation)
        last = np.zeros((number, self.space.shape[0] - observation.shape[1]), np.float32)
        rows = np.flatnonzero(info.get("_outcome", "outcome" in info))
        if rows.size:
            last[rows, np.reshape(actions, (number, -1))[rows, 0]] = 1.0
            last[rows, -1] = np.ravel(info["outcome"])[rows]
        return np.concatenate([observation, last], axis=1)


class _One(ScalarWrapper):
    """One episode whose observations are shown in another form."""

    show: type[_Scales | _Recalls]

    def __init__(self, env: Any) -> None:
        """Compute the space."""
        super().__init__(env, {})
        self._show = self.show(env, env.observation_space)
        self.observation_space = cast("Any", self._show.space)

    @override
    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode, see :meth:`BestArmEnv.reset`."""
        observation, info = self.env.reset(seed=seed, options=options)
        return self._show(of_one(observation), None, info)[0], info

    @override
    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Pull an arm, or give the recommendation, see :meth:`BestArmEnv.step`."""
        observation, *others, info = self.env.step(action)
        return (self._show(of_one(observation), action, info)[0], *others, info)


class _Batch(BatchWrapper):
    """A batch of episodes whose observations are shown in another form."""

    show: type[_Scales | _Recalls]

    def __init__(self, env: Any) -> None:
        """Compute the space."""
        super().__init__(env, {})
        self._show = self.show(env, env.single_observation_space)
        self.single_observation_space = cast("Any", self._show.space)
        self.observation_space = batch_space(self.single_observation_space, env.num_envs)

    @override
    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start new episodes, see :meth:`BestArmVectorEnv.reset`."""
        observation, info = self.env.reset(seed=seed, options=options)
        return self._show(observation, None, info), info

    @override
    def step(self, actions: Any) -> Step:
        """Pull an arm, or give the recommendation, in every episode, see :meth:`BestArmVectorEnv.step`."""
        observation, rewards, terminated, truncated, info = self.env.step(actions)
        ended = np.flatnonzero(info.get("_final_obs", False))
        if ended.size:
            last = {name: array[ended] for name, array in info["final_info"].items() if name.endswith("outcome")}
            for row, shown in zip(
                ended, self._show(stacked(info, ended), np.asarray(actions)[ended], last), strict=True
            ):
                info["final_obs"][row] = shown
        return cast("Any", self._show(observation, actions, info)), rewards, terminated, truncated, info


class Scaled(_One):
    """An environment with ``observation="scaled"``, for networks.

    An observation is a flat float32 vector with finite bounds, see :class:`bai_gym.agents.training.scaling.Scaling`; it
    says what the statistics say, in units that hardly depend on the scale of rewards, on the budget or on K. With the
    task ``top-m`` every set is a recommendation: see :func:`whole_sets`.

    Args:
        env: An environment that shows statistics.
    """

    show = _Scales

    @override
    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Pull an arm, or give the recommendation, of which a set of another size than m becomes one of m arms."""
        whole = whole_sets(self.unwrapped, [action])
        return super().step(action if isinstance(whole, list) else whole[0])


class ScaledBatch(_Batch):
    """A batch of episodes with ``observation="scaled"``, see :class:`Scaled`."""

    show = _Scales

    @override
    def step(self, actions: Any) -> Step:
        """Do in every episode what :meth:`Scaled.step` does."""
        return super().step(whole_sets(self.unwrapped, actions))


class LastPull(_One):
    """An environment that also shows the last pull: for recurrent policies, and for RL^2 (Duan et al. 2016).

    An observation ends with K + 1 numbers, zeros before the first pull: 1 for the arm that was pulled, and the reward
    that the pull drew.

    Args:
        env: An environment with ``observation="scaled"``, whose rewards do not arrive late.
    """

    show = _Recalls


class LastPullBatch(_Batch):
    """A batch of episodes that also shows the last pull, see :class:`LastPull`."""

    show = _Recalls


class Progress(ScalarWrapper):
    """An environment with ``reward="progress"``: that of ``"correct"``, and what each step changes.

    The potential is an estimate, from the statistics, of the probability that the best guess is right: the product over
    arms of the probability that the arm is on its side of the border, as if means were normal. A step adds its
    change, and the end takes it back. So the return is that of ``"correct"`` minus a constant, and the same policies
    are best.

    Source: Ng, Harada and Russell (1999), "Policy invariance under reward transformations".

    Args:
        env: An environment that shows statistics, or scaled vectors, which need not be computed again then.
    """

    _before: float

    def __init__(self, env: Any) -> None:
        """Prepare the estimate."""
        super().__init__(env, {})
        self._scaling = scaling_of(env, env.unwrapped.observation_space)

    @override
    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode, see :meth:`BestArmEnv.reset`."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._before = float(potential(of_one(observation), self._scaling)[0])
        return observation, info

    @override
    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Pull an arm, or give the recommendation, see :meth:`BestArmEnv.step`."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        now = 0.0 if terminated else float(potential(of_one(observation), self._scaling)[0])
        reward, self._before = float(reward) + now - self._before, now
        return observation, reward, terminated, truncated, info


class ProgressBatch(BatchWrapper):
    """A batch of episodes with ``reward="progress"``, see :class:`Progress`."""

    _before: AnyArray

    def __init__(self, env: Any) -> None:
        """Prepare the estimate."""
        super().__init__(env, {})
        env.copy = self.copy  # observations stay as they are
        self._scaling = scaling_of(env, env.unwrapped.single_observation_space)

    @override
    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start new episodes, see :meth:`BestArmVectorEnv.reset`."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._before = potential(observation, self._scaling)
        return observation, info

    @override
    def step(self, actions: Any) -> Step:
        """Pull an arm, or give the recommendation, in every episode, see :meth:`BestArmVectorEnv.step`."""
        observation, rewards, terminated, truncated, info = self.env.step(actions)
        now = potential(observation, self._scaling)
        reached = np.where(terminated, 0.0, now)
        cut = np.flatnonzero(truncated & info.get("_final_obs", False))
        if cut.size:
            reached[cut] = potential(stacked(info, cut), self._scaling)
        began = info.get("_rewards", np.zeros_like(terminated)) & ~(terminated | truncated)  # instead of a step
        changed = np.where(began, 0.0, reached - self._before)
        self._before = now
        return observation, rewards + changed, terminated, truncated, info


SCALED = Scaled, ScaledBatch
PROGRESS = Progress, ProgressBatch


def scaling_of(env: Any, space: Any) -> Scaling:
    """Return how an environment's statistics, of the given space, are scaled."""
    return Scaling(space, env.problem.rewards, env.episode_spec.task)


def whole_sets(env: Any, actions: Any) -> Any:
    """Return actions whose sets have m arms, see :meth:`bai_gym.tasks.TopM.completed`: networks decide arm by arm.

    Args:
        env: A plain environment, or a batch.
        actions: ``(N, ...)``; what the environment will reject stays unchanged.
    """
    moves, episodes = env.action_encoding, getattr(env, "_episodes", None) or env._episode
    if not isinstance(moves.task, TopM) or shape_of(actions) != (episodes.batch, *moves.shape):
        return actions
    means = episodes.shown.means  # in a torch batch a tensor, on any device
    means = means.cpu().numpy() if hasattr(means, "cpu") else means
    return moves.completed(np.asarray(actions), means, episodes.remaining)


def shape_of(actions: Any) -> tuple[int, ...]:
    """Return the shape of actions; that of none where they are lists of unequal lengths."""
    try:
        return np.shape(actions)
    except ValueError:
        return ()


def potential(observation: Any, scaling: Scaling) -> AnyArray:
    """Return ``(N,)`` the estimated probability that the best guess is right, see :class:`Progress`."""
    vectors = observation if isinstance(observation, np.ndarray) else scaling(observation)
    distances = vectors[:, ARM_FEATURES - 3 : scaling.num_arms * ARM_FEATURES : ARM_FEATURES]
    free = getattr(scaling.task, "threshold", None) is None  # the border is the mean of an arm, which counts a half
    sides = ndtr(2.0 * np.abs(distances).astype(np.float64)).prod(axis=1)
    return np.asarray(sides * 2.0 ** (scaling.task.num_bandits * free))


def of_one(observation: Any) -> Any:
    """Return the observation of an episode as one of a batch."""
    if isinstance(observation, dict):
        return {name: array[None] for name, array in observation.items()}
    return observation[None]


def stacked(info: dict[str, Any], rows: AnyArray) -> Any:
    """Return the last observations of episodes that ended as one of a batch."""
    last = info["final_obs"][rows]
    if isinstance(last[0], dict):
        return {name: np.stack([one[name] for one in last]) for name in last[0]}
    return np.stack(list(last))
