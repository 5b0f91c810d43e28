"""The native batch as a vector environment of stable-baselines3: one step for all N episodes."""

from __future__ import annotations

import inspect
import time
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvStepReturn
from typing_extensions import override

from bai_gym.agents.training.scaled import whole_sets
from bai_gym.common.seeding import check_seed
from bai_gym.envs.base_wrappers import BatchWrapper
from bai_gym.envs.registration import check_id
from bai_gym.envs.vector import BestArmVectorEnv
from bai_gym.errors import ParameterError, UnknownAttributeError, UnknownKeywordError

__all__ = ["SB3VecEnv"]

DEFAULT_NUM_ENVS = 64
SHARED = ("budget", "metadata", "action_encoding", "num_arms", "problem", "render_mode", "episode_spec", "spec")
"""Attributes that have one value for all episodes."""


class SB3VecEnv(VecEnv):
    """N episodes for stable-baselines3, equivalent to a ``DummyVecEnv`` of N scalar environments.

    Spaces, observations ``(N, ...)``, rewards ``(N,)`` float32 and dones ``(N,)`` are those of such a ``DummyVecEnv``.
    The info of an episode is empty except in its last step. There it is that of the scalar environment (``correct``,
    ``simple_regret``, ``correct_recommendation``), with the keys of stable-baselines3: ``terminal_observation``,
    ``TimeLimit.truncated``, ``episode`` (return ``r``, length ``l``, seconds ``t``, as in ``Monitor``) and
    ``is_success``, from which it logs the rate of correct recommendations.

    With the task ``top-m`` a policy over ``MultiDiscrete`` names sets of any size. Where one is due and has not m arms,
    it is made one: the arms it names come first, then the others, each from the largest sample mean on.

    Args:
        env: A registered id, or a batch made with ``autoreset_mode="SameStep"``.
        num_envs: N, at least 1; 64 if not given. Not with a batch, which has its own.
        **env_kwargs: Go to the environment of that id, as in ``gym.make``.

    Attributes:
        batch: The native batch.
        spec: Its specification, None if it was made without an id.

    Raises:
        UnknownNameError: If there is no such id.
        BaiGymError: If another argument is invalid; the message is one line.
    """

    def __init__(self, env: str | BestArmVectorEnv, num_envs: int | None = None, **env_kwargs: Any) -> None:
        """Make the batch, or check the given one."""
        if isinstance(env, str):
            self.batch = _make(env, DEFAULT_NUM_ENVS if num_envs is None else num_envs, env_kwargs)
        else:
            self.batch = _check(env, num_envs, env_kwargs)
        self.spec = self.batch.spec
        super().__init__(self.batch.num_envs, self.batch.single_observation_space, self.batch.single_action_space)
        self._actions: npt.NDArray[Any] | None = None
        self._returns = np.zeros(self.num_envs)
        self._lengths = np.zeros(self.num_envs, np.int64)
        self._started = time.time()
        self._no_infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]

    @override
    def reset(self) -> Any:
        """Restart all episodes, from the seed of :meth:`seed` if it was called before.

        Returns:
            Arrays ``(N, ...)``.
        """
        observation, info = self.batch.reset(seed=self._seeds[0])
        self._reset_seeds()
        self._actions = None
        self._returns[:] = 0.0
        self._lengths[:] = 0
        self.reset_infos = [{"phase": "explore", "rewards": kind} for kind in info["rewards"]]
        return observation

    @override
    def step_async(self, actions: npt.NDArray[Any]) -> None:
        """Keep the ``(N,)`` or ``(N, ...)`` actions for :meth:`step_wait`."""
        self._actions = actions

    @override
    def step_wait(self) -> VecEnvStepReturn:
        """Step all episodes; those that end restart immediately.

        Returns:
            Observations, rewards, dones and infos. All arrays are new: stable-baselines3 holds an observation until
            after the next step, and writes into rewards.

        Raises:
            ParameterError: If an action is not in the action space.
            ResetNeeded: Before the first :meth:`reset`.
        """
        actions, self._actions = self._actions, None
        actions = whole_sets(self.batch.unwrapped, actions)
        observation, rewards, terminated, truncated, info = self.batch.step(actions)
        self._returns += rewards
        self._lengths += 1
        if any(self._no_infos):  # a caller has written into one: the change stays in that step
            self._no_infos = [{} for _ in range(self.num_envs)]
        infos = self._no_infos.copy()
        dones = terminated | truncated
        if "final_info" in info:
            self._end(np.flatnonzero(dones), truncated, info, infos)
        return observation, rewards.astype(np.float32), dones, infos

    def _end(
        self,
        rows: npt.NDArray[np.intp],
        truncated: npt.NDArray[np.bool_],
        info: dict[str, Any],
        infos: list[dict[str, Any]],
    ) -> None:
        """Write the infos of the episodes that have ended."""
        seconds = round(time.time() - self._started, 6)
        last = info["final_info"]
        right = last["correct"] if "correct" in last else np.zeros(self.num_envs, dtype=bool)
        columns = (truncated, self._returns, self._lengths, right)
        for row, cut, total, length, success in zip(
            rows.tolist(), *(column[rows].tolist() for column in columns), strict=True
        ):
            infos[row] = {
                "terminal_observation": info["final_obs"][row],
                "TimeLimit.truncated": cut,
                "episode": {"r": round(total, 6), "l": length, "t": seconds},
                "is_success": success,
            }
        for name in [name for name in last if f"_{name}" in last]:
            there = np.flatnonzero(last[f"_{name}"])
            values = last[name][there]
            for row, value in zip(there.tolist(), values.tolist() if values.ndim == 1 else values, strict=True):
                infos[row][name] = value
        self._returns[rows] = 0.0
        self._lengths[rows] = 0

    @override
    def close(self) -> None:
        self.batch.close()

    @override
    def seed(self, seed: int | None = None) -> list[int | None]:
        """Seed the next :meth:`reset`. All episodes share one generator, and so have one seed.

        Args:
            seed: At least 0; None: a random one.

        Returns:
            That seed, N times.

        Raises:
            ParameterError: If it is not an integer of at least 0.
        """
        first = super().seed(None if seed is None else check_seed(seed))[0]
        self._seeds = [first] * self.num_envs
        return self._seeds

    @override
    def set_options(self, options: list[dict[str, Any]] | dict[str, Any] | None = None) -> None:
        """Accept no options: episodes have none.

        Raises:
            ParameterError: If there are any.
        """
        if options and (isinstance(options, dict) or any(options)):
            raise ParameterError(f"an episode has no options for its start, but these were given: {options!r}")

    @override
    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """Return an attribute that has one value for all episodes, once for each of ``indices`` (None: all).

        Raises:
            UnknownAttributeError: If it is not one of ``SHARED``, ``observation_space``, ``action_space`` and
                ``action_masks``, the method of each episode by which sb3-contrib knows that it has masks.
        """
        count = self._count(indices)
        if attr_name == "action_masks":
            return [partial(self.batch.action_masks().__getitem__, row) for row in self._get_indices(indices)]
        if attr_name in ("observation_space", "action_space"):
            return [getattr(self, attr_name)] * count
        if attr_name in SHARED:
            return [getattr(self.batch, attr_name)] * count
        raise UnknownAttributeError(
            f"the episodes of a native batch are no objects with an attribute {attr_name!r}; they share "
            f"{', '.join(SHARED)}, observation_space and action_space"
        )

    @override
    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Raise an error: the episode specification is fixed when the batch is made.

        Raises:
            ParameterError: Always.
        """
        raise ParameterError(f"{attr_name!r} of a native batch cannot be set: make another SB3VecEnv with it")

    @override
    def env_method(
        self, method_name: str, *method_args: Any, indices: VecEnvIndices = None, **method_kwargs: Any
    ) -> list[Any]:
        """Return the masks of ``action_masks``, for each of ``indices`` (None: all); there are no other methods.

        Raises:
            UnknownAttributeError: If it is another method: there are no separate environments.
        """
        if method_name == "action_masks" and not method_args and not method_kwargs:
            self._count(indices)
            return list(self.batch.action_masks()[list(self._get_indices(indices))])
        raise UnknownAttributeError(
            f"the episodes of a native batch are no objects with a method {method_name!r}: "
            "call that of the whole batch, which is the attribute `batch`"
        )

    @override
    def env_is_wrapped(self, wrapper_class: type[gym.Wrapper[Any, Any, Any, Any]], indices: Any = None) -> list[bool]:
        """Return False for each of ``indices`` (None: all): the episodes have no wrappers."""
        return [False] * self._count(indices)

    def _count(self, indices: VecEnvIndices) -> int:
        rows = list(self._get_indices(indices))
        wrong = [row for row in rows if not -self.num_envs <= row < self.num_envs]
        if wrong:
            raise ParameterError(f"there is no episode {wrong[0]}; they are numbered 0 to {self.num_envs - 1}")
        return len(rows)


def _make(env_id: str, num_envs: int, keywords: dict[str, Any]) -> Any:
    """Return the native batch of an id."""
    check_id(env_id)
    for word in keywords:
        if word in inspect.signature(gym.make_vec).parameters or word in ("autoreset_mode", "copy"):
            raise ParameterError(f"{word!r} is not a keyword of the environment; SB3VecEnv decides about it itself")
    try:
        batch = gym.make_vec(env_id, num_envs, autoreset_mode=AutoresetMode.SAME_STEP, **keywords)
    except UnknownKeywordError:
        raise
    # A foreign id, or a keyword of another type than any that is meant.
    except (gym.error.Error, TypeError, AttributeError, OverflowError) as error:
        raise ParameterError(f"{env_id} cannot be made as a native batch: {error}") from None
    return _check(batch)


def _check(batch: Any, num_envs: int | None = None, keywords: dict[str, Any] | None = None) -> Any:
    """Return the batch, if it is one that stable-baselines3 can use."""
    if not isinstance(batch, BestArmVectorEnv | BatchWrapper):
        raise ParameterError(
            f"env must be a registered id or a BestArmVectorEnv without other wrappers, not a {type(batch).__name__}"
        )
    if num_envs is not None or keywords:
        names = ", ".join([*(["num_envs"] if num_envs is not None else []), *(keywords or {})])
        raise ParameterError(f"{names} cannot be given with a batch: make it with them")
    if batch.metadata["autoreset_mode"] is not AutoresetMode.SAME_STEP or not batch.copy:
        raise ParameterError("the batch must be made with autoreset_mode='SameStep' and copy=True (the default)")
    return batch
