"""Rewards that arrive late: wrappers of the plain environments."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
from gymnasium import spaces
from typing_extensions import override

from bai_gym.envs.base_wrappers import BatchWrapper, ScalarWrapper
from bai_gym.envs.scalar import BestArmEnv
from bai_gym.envs.specification import EpisodeSpec
from bai_gym.envs.vector import BestArmVectorEnv, Step
from bai_gym.errors import ParameterError
from bai_gym.parallel import check_memory
from bai_gym.problems import ProblemInfo
from bai_gym.statistics import AnyArray, IntArray, Observation, Statistics

__all__ = ["LateRewards", "LateRewardsBatch", "pending_space"]

PENDING_BYTES = 24  # of a pull whose reward has not arrived


def pending_space(num_arms: int, spec: EpisodeSpec | ProblemInfo) -> spaces.Box:
    """Return the space of ``pending``, the pulls of each arm whose rewards have not arrived, ``(K,)``."""
    return spaces.Box(0, min(spec.rounds.most_pending, spec.most_pulls), (num_arms,), np.int64)


class LateRewards(ScalarWrapper):
    """An environment whose rewards arrive late: at the end of a round of pulls, or rounds after it.

    With ``batch_size=b`` pulls are made in rounds of b, and their rewards arrive at the end of the round; a step is a
    pull, as always. With ``delay=d`` the rewards of a round arrive d rounds later, at the end of that round. When the
    budget is spent, all rewards arrive before the recommendation is due. ``pulls``, ``means`` and ``variances`` are the
    statistics of the rewards that have arrived, and ``pending`` of shape (K,) counts the other pulls. ``b = 1`` without
    a delay is the environment without rounds, ``b = budget`` a single round. Not with ``costs`` or ``pairs``.

    Args:
        env: A plain environment; when rewards arrive is said by ``env.episode_spec.rounds``.
    """

    def __init__(self, env: BestArmEnv) -> None:
        """Add ``pending`` to the observation space."""
        super().__init__(env, {"pending": pending_space(env.num_arms, env.episode_spec)})
        self._rounds, self._budget = env.episode_spec.rounds, env.episode_spec.most_pulls
        self._late: deque[tuple[int, float, float]] = deque()  # pulled arms, each with mean and variance after the pull
        self._made = self._arrived = 0
        self._pending = np.zeros(env.num_arms, np.int64)
        self._shown = env._episode.shown = Statistics.zeros((1, env.num_arms))

    @override
    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode, see :meth:`BestArmEnv.reset`."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._late.clear()
        self._made = self._arrived = 0
        self._pending[:] = 0
        for key in ("pulls", "means", "variances"):
            getattr(self._shown, key)[0] = observation[key]
        return self._observation(observation), info

    @override
    def step(self, action: Any) -> tuple[Observation, Any, bool, bool, dict[str, Any]]:
        """Pull an arm, or give the recommendation, see :meth:`BestArmEnv.step`."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        info.pop("outcome", None)
        made = self._budget - int(observation["remaining"][0])
        if made > self._made:
            arm = int(np.ravel(action)[0])
            self._late.append((arm, observation["means"][arm], observation["variances"][arm]))
            self._pending[arm] += 1
            self._made, arrived = made, self._rounds.arrived(made, self._budget)
            for _ in range(arrived - self._arrived):
                self._arrive(*self._late.popleft())
            self._arrived = arrived
        return self._observation(observation), reward, terminated, truncated, info

    def _arrive(self, arm: int, mean: float, variance: float) -> None:
        shown = self._shown
        shown.pulls[0, arm] += 1
        shown.means[0, arm], shown.variances[0, arm] = mean, variance
        self._pending[arm] -= 1

    def _observation(self, observation: Observation) -> Observation:
        shown = self._shown
        return {
            **observation,
            "pulls": shown.pulls[0].copy(),
            "means": shown.means[0].copy(),
            "variances": shown.variances[0].copy(),
            "pending": self._pending.copy(),
        }


class LateRewardsBatch(BatchWrapper):
    """A batch of episodes whose rewards arrive late, see :class:`LateRewards`.

    Args:
        env: A plain batch.

    Raises:
        ParameterError: If the pulls whose rewards have not arrived do not fit into memory.
    """

    def __init__(self, env: BestArmVectorEnv) -> None:
        """Allocate the arrays."""
        super().__init__(env, {"pending": pending_space(env.num_arms, env.episode_spec)})
        self._rounds, self._budget = env.episode_spec.rounds, env.episode_spec.most_pulls
        self._room = min(self._rounds.most_pending, self._budget)
        check_memory(env.num_envs, PENDING_BYTES * self._room, "num_envs", ParameterError)
        self._episodes = env._episodes
        shape = env.num_envs, self._room  # pull t is in column t modulo the room
        self._flat, self._means, self._variances = np.zeros(shape, np.int64), np.zeros(shape), np.zeros(shape)
        self._everyone = np.arange(env.num_envs)
        self._first = self._everyone * env.num_arms
        self._made, self._arrived = np.zeros((2, env.num_envs), np.int64)
        self._pending = np.zeros((env.num_envs, env.num_arms), np.int64)
        self._shown = self._episodes.shown = Statistics.zeros((env.num_envs, env.num_arms))

    @override
    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start new episodes, see :meth:`BestArmVectorEnv.reset`."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._begin()
        return self._observation(observation), info

    @override
    def step(self, actions: Any) -> Step:
        """Pull an arm, or give the recommendation, in every episode, see :meth:`BestArmVectorEnv.step`."""
        observation, rewards, terminated, truncated, info = self.env.step(actions)
        for said in (info, info.get("final_info", {})):
            said.pop("outcome", None)
            said.pop("_outcome", None)
        arms = np.asarray(actions, np.int64).reshape(self._made.size, -1)[:, 0]
        pulled = self._budget - self._episodes.remaining[:, 0] > self._made
        if pulled.all():
            self._pull(self._everyone, self._first + arms)
        else:
            rows = np.flatnonzero(pulled)
            self._pull(rows, self._first[rows] + arms[rows])
            for row in np.flatnonzero(info.get("_final_obs", False)).tolist():
                self._end(info["final_obs"][row], row, everything=truncated[row])
            self._begin()
        return self._observation(observation), rewards, terminated, truncated, info

    def _begin(self) -> None:
        """Begin the episodes without a pull."""
        rows = np.flatnonzero(self._episodes.remaining[:, 0] == self._budget)
        self._pending[rows] = 0
        self._made[rows] = self._arrived[rows] = 0
        for key in ("pulls", "means", "variances"):
            getattr(self._shown, key)[rows] = getattr(self._episodes.statistics, key)[rows]

    def _pull(self, rows: IntArray, flat: IntArray) -> None:
        """Keep what a pull of each of the ``(R,)`` rows has changed, and show all pulls whose time has come.

        Args:
            rows: ``(R,)`` episodes.
            flat: ``(R,)`` positions ``episode * K + arm``.
        """
        made, now = self._made[rows], self._episodes.statistics
        column = rows * self._room + made % self._room
        self._flat.put(column, flat)
        self._means.put(column, now.means.take(flat))
        self._variances.put(column, now.variances.take(flat))
        self._pending.reshape(-1)[flat] += 1
        made += 1
        self._made[rows] = made
        ends = (made % self._rounds.batch_size == 0) | (made == self._budget)
        for number in set(made[ends].tolist()):
            ending = rows[made == number]
            until = self._rounds.arrived(number, self._budget)
            for pull in range(int(self._arrived[ending[0]]), until):
                column = ending * self._room + pull % self._room
                there = self._flat.take(column)
                self._shown.pulls.reshape(-1)[there] += 1
                self._shown.means.put(there, self._means.take(column))
                self._shown.variances.put(there, self._variances.take(column))
                self._pending.reshape(-1)[there] -= 1
            self._arrived[ending] = until

    def _end(self, last: dict[str, AnyArray], row: int, *, everything: bool) -> None:
        """Complete the last observation of an episode; everything has arrived if the budget is spent."""
        last["pending"] = np.zeros(self.env.num_arms, np.int64) if everything else self._pending[row].copy()
        if not everything:
            last |= {key: getattr(self._shown, key)[row].copy() for key in ("pulls", "means", "variances")}

    def _observation(self, observation: Observation) -> Observation:
        shown = self._shown
        arrays = {"pulls": shown.pulls, "means": shown.means, "variances": shown.variances, "pending": self._pending}
        return self._with(observation, arrays)
