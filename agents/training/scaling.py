"""Observations fit for networks: the features of :mod:`bai_gym.agents.training.features` as one flat, bounded vector.

``observation="scaled"`` of an environment shows eight features of each arm, the order of the arms, five features of the
episode, and then what else its statistics hold (features, costs, pending pulls), scaled to [-1, 1].
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from bai_gym.agents.training.features import FARTHEST, SMALLEST, features
from bai_gym.agents.training.features import Rewards as Kind
from bai_gym.envs.late import pending_space
from bai_gym.envs.spaces import observation_space
from bai_gym.problems import ProblemInfo
from bai_gym.rewards import Rewards
from bai_gym.statistics import AnyArray
from bai_gym.tasks import Task

__all__ = ["STATISTICS", "Scaling"]

STATISTICS = ("pulls", "means", "variances", "remaining")
MOST = 65_536  # pulls up to which arms that begin with pulls are told apart from others
CELLS = 4096  # arms times episodes at once: temporary arrays then stay in the cache, and the heap keeps its size
NOISIEST = math.log(1e3)  # of the noise of an arm, relative to all
MARGIN = 1.0 + 1e-6  # of the bounds, for rounding to float32


class Scaling:
    """How the statistics of an environment become vectors.

    Args:
        space: Of one episode's statistics.
        rewards: The kind of the rewards: where they are 0 and 1, means are seen where they lie in [0, 1]; else relative
            to each other, in units of the noise.
        task: What is to be recommended.

    Attributes:
        num_arms: K.
        space: Of one episode's vectors, ``(D,)`` float32: arm by arm the features of :class:`Features`, then the order,
            then those of the episode, then the other parts of the statistics.
    """

    def __init__(self, space: spaces.Dict, rewards: Rewards, task: Task) -> None:
        """Compute the bounds."""
        self.kind: Kind = "binary" if rewards.kind == "binary" else "any"
        self.task = task
        pulls: Any = space["pulls"]
        self.num_arms = k = pulls.shape[0]
        most = float(pulls.high.max())
        made = most * (k if most < MOST else 1)  # arms that begin with pulls may have as many each
        self._others: dict[str, Any] = {name: part for name, part in space.spaces.items() if name not in STATISTICS}
        arm = [math.log(made + k), math.log(made + 1.0) / 4.0, *[FARTHEST] * 3, FARTHEST / 2.0, NOISIEST, 1.0]
        state = [1.0, 1.0, *[math.log(made + 1.0) / 3.0] * 2, math.log(k) / 3.0]
        high = [*arm * k, *[1.0] * k, *state, *[1.0] * sum(math.prod(part.shape) for part in self._others.values())]
        bounds = np.array(high, np.float32) * np.float32(MARGIN)
        self.space = spaces.Box(-bounds, bounds, dtype=np.float32)

    @classmethod
    def of(cls, info: ProblemInfo) -> Scaling:
        """Return that of the observations that an agent with this information receives."""
        task, rewards = info.task, info.rewards
        space = observation_space(info.num_arms, info.funds, info.num_features, task=task, rewards=rewards)
        if info.rounds.late:
            space["pending"] = pending_space(info.num_arms, info)
        return cls(space, rewards, task)

    def __call__(self, observation: Mapping[str, AnyArray]) -> npt.NDArray[np.float32]:
        """Return the ``(N, D)`` vectors of N observations."""
        vectors = np.empty((len(observation["pulls"]), self.space.shape[0]), np.float32)
        size = max(CELLS // self.num_arms, 1)
        for first in range(0, len(vectors), size):
            rows = slice(first, first + size)
            floats = {name: np.asarray(array[rows], np.float64) for name, array in observation.items()}
            self.flat(floats, np, vectors[rows])
        return vectors

    def flat(self, observation: Mapping[str, Any], xp: Any, out: Any = None) -> Any:
        """Return the same as floats of the observation's type, or write it into ``out``.

        Args:
            observation: Floats.
            xp: ``numpy`` or ``torch``, whose arrays it holds.
            out: ``(N, D)``; None: a new array.
        """
        left, costs = observation["remaining"], observation.get("costs")
        if costs is not None:  # pulls that are left, at most: those of the cheapest arm
            left = left / xp.amin(costs, axis=-1, keepdims=True)
        seen = features({**observation, "remaining": left}, self.kind, xp, self.task)
        parts = [seen.arms.reshape(len(seen.order), -1), seen.order, seen.state]
        for name, space in self._others.items():
            values = observation[name].reshape(len(seen.order), -1)
            most = float(space.high.max())
            largest = most if math.isfinite(most) else xp.amax(abs(values), axis=-1, keepdims=True)
            parts.append(values / (largest + SMALLEST))
        return xp.concatenate(parts, axis=1, out=out)
