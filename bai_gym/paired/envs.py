"""Differences of paired arms in observations: wrappers of the plain environments."""

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
from bai_gym.paired.bandits.differences import PairStatistics
from bai_gym.statistics import FloatArray, IntArray, Observation

__all__ = ["Differences", "DifferencesBatch"]


class _ComparedArms(WrappedBandit):
    """Paired arms of N episodes, whose pulls update the statistics of their differences."""

    inner: Bandit

    def __init__(self, bandit: Bandit) -> None:
        self.wrap(bandit)
        bandit.keep_items()
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


class Differences(ScalarWrapper):
    """An environment with paired arms that shows how they differ on the items that they have in common.

    The j-th pull of every arm is played on item j of one random order of questions, instances or seeds. Observations
    also hold ``differences`` and ``difference_variances`` of shape (K, K), float64: mean and unbiased variance of
    X_i - X_k over the items that arms i and k have in common, the first min(pulls_i, pulls_k); 0 without one, and below
    two. The other keys, the rewards and the infos are those of the environment.

    Args:
        env: A plain environment with paired arms.
    """

    _pairs: PairStatistics

    def __init__(self, env: BestArmEnv) -> None:
        """Add the differences to the observation space."""
        super().__init__(env, _difference_spaces(env.num_arms))

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


class DifferencesBatch(BatchWrapper):
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
