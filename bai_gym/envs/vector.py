"""A batch of episodes as one environment: one step is a constant number of NumPy calls."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from bai_gym.envs.episodes import Episodes, make_problem
from bai_gym.envs.spaces import action_space, observation_space
from bai_gym.errors import ParameterError
from bai_gym.problems import Briefing, Problem
from bai_gym.statistics import FloatArray, IntArray, Observation

__all__ = ["BestArmVectorEnv"]

Step = tuple[Observation, FloatArray, npt.NDArray[np.bool_], npt.NDArray[np.bool_], dict[str, Any]]


class BestArmVectorEnv(VectorEnv[Observation, IntArray, npt.NDArray[Any]]):
    """N episodes of :class:`bai_gym.envs.scalar.BestArmEnv`, played together.

    Observations, rewards and infos are those of the scalar environment with a leading axis of N; infos follow
    Gymnasium's convention for vector environments (``info["correct"]`` and the mask ``info["_correct"]``).

    Args:
        problem: A family name or a problem object, fixed by the id.
        num_envs: N, at least 1.
        budget: Pulls per episode, at least 1.
        reward: ``"correct"`` or ``"simple_regret"``.
        autoreset_mode: ``AutoresetMode.NEXT_STEP`` (default), ``SAME_STEP`` or ``DISABLED``, or its value as a string.
        copy: If False, observations are the live arrays, overwritten by the next step: faster, for callers that do not
            keep them.
        render_mode: Must be None: render a scalar environment instead.
        **keywords: Go to the problem, as in the scalar form.

    Raises:
        BaiGymError: Whatever is wrong with an argument, in one line.
    """

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(
        self,
        problem: Problem | str,
        num_envs: int = 1,
        budget: int = 1000,
        reward: str = "correct",
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        render_mode: str | None = None,
        **keywords: Any,
    ) -> None:
        """Build the problem, the spaces and the arrays."""
        if render_mode is not None:
            raise ParameterError(
                "a native batch has no render_mode: use gym.make(...), or vectorization_mode='sync' in gym.make_vec"
            )
        if isinstance(num_envs, bool) or not isinstance(num_envs, int | np.integer) or num_envs < 1:
            raise ParameterError(f"num_envs must be a whole number of at least 1, not {num_envs!r}")
        self._mode = _check_mode(autoreset_mode)
        self.metadata = {**type(self).metadata, "autoreset_mode": self._mode}
        self.render_mode = None
        self.problem = make_problem(problem, keywords)
        self.num_envs = num_envs = int(num_envs)
        self.num_arms = self.problem.num_arms
        self._episodes = Episodes(self.problem, budget, reward, num_envs)
        self.budget = self._episodes.budget
        self.single_observation_space = observation_space(self.num_arms, self.budget)
        self.single_action_space = action_space(self.num_arms)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._copy = copy
        self._everywhere = np.ones(num_envs, dtype=bool)
        self._phases = {phase: np.full(num_envs, phase, dtype=object) for phase in ("explore", "recommend")}
        # Steps until some episode does something else than pull: until then no masks are needed.
        self._steady = 0

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start new episodes.

        Args:
            seed: Seed of the whole batch; the episodes of a native batch share one generator.
            options: ``{"reset_mask": (N,) bool}`` restarts only those episodes.

        Raises:
            ParameterError: If a list of seeds is given, or the mask is malformed.
        """
        if isinstance(seed, list | tuple):
            raise ParameterError("a native batch takes one seed for all episodes, not a list: reset(seed=0)")
        super().reset(seed=seed)
        mask = (options or {}).get("reset_mask")
        if mask is None:
            self._episodes.begin(self.np_random)
            mask = self._everywhere
        else:
            mask = np.asarray(mask)
            if mask.shape != (self.num_envs,) or mask.dtype != np.bool_ or not mask.any():
                raise ParameterError(f"reset_mask must be {self.num_envs} booleans, at least one of them True")
            if not hasattr(self._episodes, "bandit"):
                raise ResetNeeded("the first reset must start all episodes: call reset() without a reset_mask")
            self._episodes.begin(self.np_random, np.flatnonzero(mask))
        self._find_steady()
        return self._observation(), {"phase": _where(mask, "explore"), "_phase": mask.copy()}

    def step(self, actions: Any) -> Step:
        """Pull or recommend one arm in every episode.

        Args:
            actions: ``(N,)`` arms.

        Raises:
            ParameterError: If an action is not an arm.
            ResetNeeded: Before the first reset, or (without autoreset) for an episode that is over.
        """
        arms = self._check(actions)
        if self._steady == 0:
            return self._mixed_step(arms)
        self._episodes.pull_all(arms, self.np_random)
        self._steady -= 1
        ended = np.zeros(self.num_envs, dtype=bool)
        if self._steady == 0:
            info = {"phase": self._phase_names(ended), "_phase": self._everywhere.copy()}
        else:
            info = {"phase": self._phases["explore"].copy(), "_phase": self._everywhere.copy()}
        return self._observation(), np.zeros(self.num_envs), ended, np.zeros(self.num_envs, dtype=bool), info

    def _mixed_step(self, arms: IntArray) -> Step:
        """Step a batch in which some episodes pull, some recommend and some start anew."""
        episodes, rng = self._episodes, self.np_random
        if not hasattr(episodes, "bandit"):
            raise ResetNeeded("call reset() before the first step()")
        starting = episodes.over.copy()
        if self._mode is AutoresetMode.DISABLED and starting.any():
            raise ResetNeeded("some episodes are over: reset(options={'reset_mask': mask}) them before the next step()")
        ended = ~starting & (episodes.remaining[:, 0] == 0)
        pulling = np.flatnonzero(~starting & ~ended)
        if pulling.size:
            episodes.pull_rows(pulling, arms, rng)
        rewards = np.zeros(self.num_envs)
        info: dict[str, Any] = {}
        last: dict[str, Any] = {}
        rows = np.flatnonzero(ended)
        if rows.size:
            rewards[rows], truth = episodes.recommend(rows, arms)
            last = self._truth(truth, rows, ended)
        if starting.any():
            episodes.begin(rng, np.flatnonzero(starting))
        if rows.size and self._mode is AutoresetMode.SAME_STEP:
            last |= {"phase": _where(ended, "done"), "_phase": ended.copy()}
            info |= {"final_obs": self._single_observations(rows), "_final_obs": ended.copy()}
            info |= {"final_info": last, "_final_info": ended.copy()}
            episodes.begin(rng, rows)
        else:
            info |= last
        self._find_steady()
        info |= {"phase": self._phase_names(episodes.over), "_phase": self._everywhere.copy()}
        return self._observation(), rewards, ended, np.zeros(self.num_envs, dtype=bool), info

    def _check(self, actions: Any) -> IntArray:
        arms = np.asarray(actions)
        if arms.shape != (self.num_envs,) or arms.dtype.kind not in "iu":
            raise ParameterError(f"actions must be {self.num_envs} whole numbers, one arm per episode")
        if arms.min() < 0 or arms.max() >= self.num_arms:
            raise ParameterError(f"an action is not an arm; arms are numbered 0 to {self.num_arms - 1}")
        return arms if arms.dtype == np.int64 else arms.astype(np.int64)  # uint64 + int64 would be float64

    def _find_steady(self) -> None:
        self._steady = 0 if self._episodes.over.any() else int(self._episodes.remaining.min())

    def _phase_names(self, over: npt.NDArray[np.bool_]) -> npt.NDArray[Any]:
        names = np.where(self._episodes.remaining[:, 0] > 0, self._phases["explore"], self._phases["recommend"])
        return np.where(over, "done", names).astype(object)

    def _truth(
        self, truth: dict[str, npt.NDArray[Any]], rows: IntArray, ended: npt.NDArray[np.bool_]
    ) -> dict[str, npt.NDArray[Any]]:
        full: dict[str, npt.NDArray[Any]] = {}
        for name, values in truth.items():
            full[name] = np.zeros(self.num_envs, values.dtype)
            full[name][rows] = values
            full[f"_{name}"] = ended.copy()
        return full

    def _single_observations(self, rows: IntArray) -> npt.NDArray[Any]:
        batch = self._episodes.observation(copy=False)
        single = np.full(self.num_envs, None, dtype=object)
        for row in rows:
            single[row] = {name: array[row].copy() for name, array in batch.items()}
        return single

    def _observation(self) -> Observation:
        return self._episodes.observation(copy=self._copy)

    def briefing(self, knows: Iterable[str] = ()) -> Briefing:
        """Return what an agent is told before these episodes; call it after ``reset``.

        Raises:
            ResetNeeded: Before the first reset.
        """
        if not hasattr(self._episodes, "bandit"):
            raise ResetNeeded("the instances are drawn by reset(): call it before briefing()")
        return self._episodes.briefing(knows)


def _where(mask: npt.NDArray[np.bool_], word: str) -> npt.NDArray[Any]:
    """Return ``word`` where the mask says so, and None elsewhere."""
    words = np.full(mask.shape, None, dtype=object)
    words[mask] = word
    return words


def _check_mode(mode: AutoresetMode | str) -> AutoresetMode:
    try:
        return AutoresetMode(mode)
    except ValueError:
        allowed = ", ".join(repr(m.value) for m in AutoresetMode)
        raise ParameterError(f"autoreset_mode must be one of {allowed}, not {mode!r}") from None
