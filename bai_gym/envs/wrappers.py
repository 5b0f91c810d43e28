"""What ``gym.make`` puts around the plain environments: late rewards, and differences of paired arms.

The wrappers read what they do in the specification of the episode, ``env.unwrapped.episode_spec``.
"""

from __future__ import annotations

from collections import deque
from typing import Any, cast

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorWrapper
from gymnasium.vector.utils import batch_space
from typing_extensions import override

from bai_gym.bandits import Bandit
from bai_gym.bandits.wrapped import WrappedBandit
from bai_gym.envs.scalar import BestArmEnv
from bai_gym.envs.specification import EpisodeSpec, make_episode
from bai_gym.envs.vector import BestArmVectorEnv, Step
from bai_gym.errors import ParameterError
from bai_gym.parallel import check_memory
from bai_gym.problems import Problem
from bai_gym.statistics import FloatArray, IntArray, Observation, Statistics

__all__ = [
    "Differences",
    "DifferencesBatch",
    "LateRewards",
    "LateRewardsBatch",
    "make_env",
    "make_vec_env",
    "pending_space",
    "wrapped",
]

PENDING_BYTES = 24  # of a pull whose reward has not arrived


def make_env(
    problem: Problem | str,
    spec: EpisodeSpec | float | None = None,
    render_mode: str | None = None,
    **keywords: Any,
) -> Any:
    """Return the environment of an episode, with the wrappers that it needs: the entry point of all ids.

    The arguments and the errors are those of :class:`bai_gym.envs.scalar.BestArmEnv`.
    """
    made, spec = make_episode(problem, spec, keywords, ("render_mode",), plain=False)
    return wrapped(BestArmEnv(made, spec, render_mode))


make_env.metadata = BestArmEnv.metadata  # type: ignore[attr-defined]  # where gym.make looks for the render modes


def make_vec_env(
    problem: Problem | str,
    num_envs: int = 1,
    spec: EpisodeSpec | float | None = None,
    autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    copy: bool = True,
    render_mode: str | None = None,
    **keywords: Any,
) -> Any:
    """Return a batch of episodes, with the wrappers that it needs: the vector entry point of all ids.

    The arguments and the errors are those of :class:`bai_gym.envs.vector.BestArmVectorEnv`.
    """
    own = ("num_envs", "autoreset_mode", "copy", "render_mode")
    made, spec = make_episode(problem, spec, keywords, own, plain=False)
    return wrapped(BestArmVectorEnv(made, num_envs, spec, autoreset_mode, copy, render_mode))


def wrapped(env: BestArmEnv | BestArmVectorEnv) -> Any:
    """Return the environment in the wrapper that its specification needs, if any."""
    if env.episode_spec.rounds.late:
        return LateRewardsBatch(env) if isinstance(env, BestArmVectorEnv) else LateRewards(env)
    if env.episode_spec.pairs:
        return DifferencesBatch(env) if isinstance(env, BestArmVectorEnv) else Differences(env)
    return env


class _Inside:
    """What agents and executors ask an environment for is asked of the one inside."""

    env: Any

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "env":
            raise AttributeError(name)
        return getattr(self.env, name)


class _Scalar(_Inside, gym.Wrapper[Observation, Any, Observation, Any], gym.utils.RecordConstructorArgs):
    """Base of the wrappers of one episode."""

    def __init__(self, env: Any, added: dict[str, spaces.Space[Any]]) -> None:
        """Add parts to the observation space."""
        gym.utils.RecordConstructorArgs.__init__(self)
        gym.Wrapper.__init__(self, env)
        space = spaces.Dict({**env.observation_space.spaces, **added})
        self.observation_space = cast("gym.Space[Observation]", space)


class _Batch(_Inside, VectorWrapper[Observation, IntArray, Observation, IntArray, npt.NDArray[Any]]):
    """Base of the wrappers of a batch of episodes."""

    def __init__(self, env: Any, added: dict[str, spaces.Space[Any]]) -> None:
        """Add parts to the observation space."""
        super().__init__(env)
        self.copy, env.copy = env.copy, False  # what is replaced need not be copied
        self.single_observation_space = spaces.Dict({**env.single_observation_space.spaces, **added})
        self.observation_space = batch_space(self.single_observation_space, env.num_envs)

    def _with(self, observation: Observation, arrays: dict[str, npt.NDArray[Any]]) -> Observation:
        """Return the observation with other arrays, copied unless the batch shows live arrays."""
        arrays = {**observation, **arrays}
        return {key: array.copy() for key, array in arrays.items()} if self.copy else arrays


def pending_space(num_arms: int, spec: EpisodeSpec) -> spaces.Box:
    """Return the space of ``pending``, the pulls of each arm whose rewards have not arrived, ``(K,)``."""
    return spaces.Box(0, min(spec.rounds.most_pending, spec.most_pulls), (num_arms,), np.int64)


class LateRewards(_Scalar):
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


class LateRewardsBatch(_Batch):
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

    def _end(self, last: dict[str, npt.NDArray[Any]], row: int, *, everything: bool) -> None:
        """Complete the last observation of an episode; everything has arrived if the budget is spent."""
        last["pending"] = np.zeros(self.env.num_arms, np.int64) if everything else self._pending[row].copy()
        if not everything:
            last |= {key: getattr(self._shown, key)[row].copy() for key in ("pulls", "means", "variances")}

    def _observation(self, observation: Observation) -> Observation:
        shown = self._shown
        arrays = {"pulls": shown.pulls, "means": shown.means, "variances": shown.variances, "pending": self._pending}
        return self._with(observation, arrays)


class _ComparedArms(WrappedBandit):
    """Paired arms of N episodes, whose pulls update the statistics of their differences."""

    inner: Bandit

    def __init__(self, bandit: Bandit) -> None:
        self.wrap(bandit)
        bandit.keep_items()
        from bai_gym.bandits.differences import PairStatistics  # of a wing

        self.pairs = PairStatistics(bandit.batch, bandit.num_arms)
        self.ended: dict[str, FloatArray] = {}
        self._pulls = np.zeros((bandit.batch, bandit.num_arms), np.int64)
        self._single = bandit.batch == 1

    def shown(self) -> dict[str, FloatArray]:
        """Return what observations show, the live arrays."""
        return {"differences": self.pairs.means, "difference_variances": self.pairs.variances}

    @override
    def pull(self, flat: IntArray, rng: np.random.Generator) -> FloatArray:
        items = self.inner.take_items(flat, rng)
        if self._single:  # without the time that arrays of one take
            arm = int(flat[0])
            rewards = self.pairs.item_rewards(self.inner, int(items[0]))
            self._pulls[0, arm] += 1
            self.pairs.add_one(arm, rewards, self._pulls[0])
            return rewards[arm : arm + 1]
        rows, arms = np.divmod(flat, self.num_arms)
        rewards = self.inner.item_rewards(rows, items)
        self._pulls[rows, arms] += 1
        self.pairs.add(rows, arms, rewards, self._pulls[rows])
        return rewards[np.arange(rows.size), arms]

    @override
    def select(self, rows: IntArray) -> _ComparedArms:
        """Return some of the instances, without the differences seen so far."""
        return type(self)(self.inner.select(rows))

    @override
    def replace(self, rows: IntArray, other: Bandit) -> None:
        """Replace some instances, and keep the differences of the old ones, ``(R, K, K)``, as :attr:`ended`."""
        self.ended = {key: array[rows] for key, array in self.shown().items()}
        self.inner.replace(rows, other)
        self.inner.keep_items()
        self.pairs.clear(rows)
        self._pulls[rows] = 0


def _difference_spaces(num_arms: int) -> dict[str, spaces.Space[Any]]:
    shape = num_arms, num_arms
    return {
        "differences": spaces.Box(-np.inf, np.inf, shape, np.float64),
        "difference_variances": spaces.Box(0.0, np.inf, shape, np.float64),
    }


class Differences(_Scalar):
    """An environment with paired arms that shows how they differ on the items that they have in common.

    The j-th pull of every arm is played on item j of one random order of questions, instances or seeds. Observations
    also hold ``differences`` and ``difference_variances`` of shape (K, K), float64: mean and unbiased variance of
    X_i - X_k over the items that arms i and k have in common, the first min(pulls_i, pulls_k); 0 without one, and below
    two. The other keys, the rewards and the infos are those of the environment.

    Args:
        env: A plain environment with paired arms.
    """

    def __init__(self, env: BestArmEnv) -> None:
        """Add the differences to the observation space."""
        super().__init__(env, _difference_spaces(env.num_arms))
        from bai_gym.bandits.differences import PairStatistics  # of a wing

        self._pairs = PairStatistics(1, env.num_arms)

    @override
    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode, see :meth:`BestArmEnv.reset`."""
        observation, info = self.env.reset(seed=seed, options=options)
        arms = self.env._episode.bandit = _ComparedArms(self.env._episode.bandit)
        self._pairs = arms.pairs
        return self._observation(observation), info

    @override
    def step(self, action: Any) -> tuple[Observation, Any, bool, bool, dict[str, Any]]:
        """Pull an arm, or give the recommendation, see :meth:`BestArmEnv.step`."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return self._observation(observation), reward, terminated, truncated, info

    def _observation(self, observation: Observation) -> Observation:
        return {
            **observation,
            "differences": self._pairs.means[0].copy(),
            "difference_variances": self._pairs.variances[0].copy(),
        }


class DifferencesBatch(_Batch):
    """A batch of episodes with paired arms that shows how they differ, see :class:`Differences`.

    Args:
        env: A plain batch with paired arms.
    """

    _arms: _ComparedArms

    def __init__(self, env: BestArmVectorEnv) -> None:
        """Add the differences to the observation space."""
        super().__init__(env, _difference_spaces(env.num_arms))
        self._episodes = env._episodes

    @override
    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start new episodes, see :meth:`BestArmVectorEnv.reset`."""
        observation, info = self.env.reset(seed=seed, options=options)
        if not isinstance(self._episodes.bandit, _ComparedArms):  # all are new
            self._arms = self._episodes.bandit = _ComparedArms(self._episodes.bandit)
        return self._with(observation, self._arms.shown()), info

    @override
    def step(self, actions: Any) -> Step:
        """Pull an arm, or give the recommendation, in every episode, see :meth:`BestArmVectorEnv.step`."""
        observation, rewards, terminated, truncated, info = self.env.step(actions)
        for place, row in enumerate(np.flatnonzero(info.get("_final_obs", False))):
            info["final_obs"][row] |= {key: array[place] for key, array in self._arms.ended.items()}
        return self._with(observation, self._arms.shown()), rewards, terminated, truncated, info
