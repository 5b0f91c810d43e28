"""Differences of paired arms in observations: wrappers of the plain environments."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from typing_extensions import override

from bai_gym.bandits import Bandit
from bai_gym.envs.base_wrappers import ShowingBatch, ShowingWrapper, ShownArms
from bai_gym.paired.bandits.differences import PairStatistics
from bai_gym.statistics import FloatArray, IntArray

__all__ = ["Differences", "DifferencesBatch", "WRAPPERS"]


class _ComparedArms(ShownArms):
    """Paired arms of N episodes, whose pulls update the statistics of their differences."""

    def __init__(self, bandit: Bandit) -> None:
        super().__init__(bandit)
        bandit.keep_items()
        self.pairs = PairStatistics(bandit.batch, bandit.num_arms)
        self.shown = {"differences": self.pairs.means, "difference_variances": self.pairs.variances}
        self._pulls = np.zeros((bandit.batch, bandit.num_arms), np.int64)
        self._single = bandit.batch == 1

    @staticmethod
    @override
    def spaces(env: Any) -> dict[str, spaces.Space[Any]]:
        """Return the spaces of what is shown of an episode."""
        shape = env.num_arms, env.num_arms
        return {
            "differences": spaces.Box(-np.inf, np.inf, shape, np.float64),
            "difference_variances": spaces.Box(0.0, np.inf, shape, np.float64),
        }

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
    def clear(self, rows: IntArray) -> None:
        """Forget the pulls of some episodes."""
        self.inner.keep_items()
        self.pairs.clear(rows)
        self._pulls[rows] = 0


class Differences(ShowingWrapper):
    """An environment with paired arms that shows how they differ on the items that they have in common.

    The j-th pull of every arm is played on item j of one random order of questions, instances or seeds. Observations
    also hold ``differences`` and ``difference_variances`` of shape (K, K), float64: mean and unbiased variance of
    X_i - X_k over the items that arms i and k have in common, the first min(pulls_i, pulls_k); 0 without one, and below
    two. The other keys, the rewards and the infos are those of the environment.

    Args:
        env: A plain environment with paired arms.
    """

    arms = _ComparedArms


class DifferencesBatch(ShowingBatch):
    """A batch of episodes with paired arms that shows how they differ, see :class:`Differences`.

    Args:
        env: A plain batch with paired arms.
    """

    arms = _ComparedArms


WRAPPERS = (Differences, DifferencesBatch)
"""Of an environment, and of a batch of episodes."""
