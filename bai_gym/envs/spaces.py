"""Observation and action spaces of best-arm identification."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector.utils import batch_space
from typing_extensions import override

from bai_gym.common.budget import Budget
from bai_gym.rewards import REAL, Rewards
from bai_gym.statistics import AnyArray
from bai_gym.tasks import Task, TopM

__all__ = ["ArmAndRecommendation", "action_space", "observation_space"]


def observation_space(
    num_arms: int,
    budget: int | Budget,
    num_features: int | None = None,
    start: int = 0,
    *,
    task: Task | None = None,
    rewards: Rewards = REAL,
) -> spaces.Dict:
    """Return the space of one episode's observations.

    ============== ======== ======= ==================================================================
    key            shape    dtype   meaning
    ============== ======== ======= ==================================================================
    ``pulls``      (K,)     int64   pulls of each arm so far, 0 to the budget; with those before the episode, if any
    ``means``      (K,)     float64 mean of each arm's rewards; 0 without a pull
    ``variances``  (K,)     float64 unbiased variance of each arm's rewards; 0 below two pulls
    ``remaining``  (1,)     int64   pulls left; 0 means that the next action is the recommendation
    ``features``   (K, d)   float64 features of each arm, constant in an episode; only if there are any
    ``candidates`` (K_Z, d) float64 what may be recommended, always the same; only where it is not the arms
    ``costs``      (K,)     float64 cost of a pull of each arm, always the same; only where arms have costs
    ============== ======== ======= ==================================================================

    Where arms have costs, ``remaining`` is float64 and the money left: the next action must be the recommendation when
    that is less than the smallest cost. Wrappers add keys, see :mod:`bai_gym.envs.wrappers`.

    Args:
        num_arms: K.
        budget: Pulls of the episode, or its budget of money.
        num_features: d; None: arms have no features.
        start: The most pulls of an arm that the first observation shows.
        task: What is to be recommended; None: arms.
        rewards: Their kind: means of zeros and ones are in [0, 1].
    """
    arms = (num_arms,)
    low, high = (0.0, 1.0) if rewards.kind == "binary" else (-np.inf, np.inf)
    funds = Budget.given(budget)
    most = funds.most_pulls
    parts: dict[str, spaces.Space[Any]] = {
        "pulls": spaces.Box(0, most + start, arms, np.int64),
        "means": spaces.Box(low, high, arms, np.float64),
        "variances": spaces.Box(0.0, np.inf, arms, np.float64),
        "remaining": spaces.Box(0, funds.total, (1,), funds.dtype),
    }
    parts |= {name: spaces.Box(0.0, np.inf, arms, np.float64) for name in funds.facts}
    if num_features is not None:
        parts["features"] = spaces.Box(-np.inf, np.inf, (num_arms, num_features), np.float64)
    for key, values in ({} if task is None else task.constants).items():
        parts[key] = spaces.Box(-np.inf, np.inf, values.shape, np.float64)
    return spaces.Dict(parts)


def action_space(num_arms: int, task: Task, *, fixed_confidence: bool = False) -> spaces.Space[Any]:
    """Return the space of one episode's actions.

    ============== ============================= ======================================================
    task           fixed budget                  fixed confidence
    ============== ============================= ======================================================
    best arm       ``Discrete(K)``               ``Discrete(2K)``: K + i stops and recommends arm i
    best candidate ``Discrete(max(K, K_Z))``     ``Discrete(K + K_Z)``: K + j stops and recommends candidate j
    several arms   ``MultiDiscrete([K, ...])``   ``MultiDiscrete([K + 1, ...])``: K in entry 0 stops
    ============== ============================= ======================================================

    With candidates and a fixed budget ``info["action_mask"]`` says which actions are allowed next: ``(max(K, K_Z),)``
    int8, ones for the K arms before the recommendation, and for the K_Z candidates when it is due.

    Where arms have costs, the actions are those of fixed confidence: the agent may recommend with money left.

    With several arms to recommend, entry 0 is the arm to pull and the others are the recommendation, read only in the
    step that gives it.
    """
    if task.one_number:
        (answers,) = task.sizes(num_arms)
        return spaces.Discrete(num_arms + answers if fixed_confidence else max(num_arms, answers))
    return ArmAndRecommendation(
        num_arms + fixed_confidence, task.sizes(num_arms), task.m if isinstance(task, TopM) else None
    )


class ArmAndRecommendation(spaces.MultiDiscrete):
    """An arm to pull, and a recommendation; every sample is valid.

    Args:
        num_first: Values of entry 0.
        sizes: Values of each entry of the recommendation.
        num_ones: Where the recommendation is a set: how many arms it has.
        seed: Seed of the sampling.
    """

    def __init__(
        self, num_first: int, sizes: tuple[int, ...], num_ones: int | None = None, seed: int | None = None
    ) -> None:
        """Build the space."""
        self.num_ones = num_ones
        super().__init__(np.array([num_first, *sizes]), np.int64, seed=seed)

    @override
    def sample(self, mask: Any = None, probability: Any = None) -> AnyArray:
        """Return a random arm with a random recommendation of the right size."""
        if mask is not None or probability is not None:
            return super().sample(mask, probability)
        action = super().sample()
        if self.num_ones is not None:
            chosen = self.np_random.permutation(action.size - 1)[: self.num_ones]
            action[1:] = 0
            action[1 + chosen] = 1
        return action


class _Batch(spaces.Box):
    """A batch of one action space."""

    def __init__(self, single: ArmAndRecommendation, num_envs: int) -> None:
        self.single = single
        high = np.tile(single.nvec - 1, (num_envs, 1))
        super().__init__(np.zeros_like(high), high, dtype=np.int64)

    @override
    def sample(self, mask: None = None, probability: None = None) -> AnyArray:
        """Return a random action for each episode."""
        return np.stack([self.single.sample() for _ in range(self.shape[0])])

    @override
    def seed(self, seed: int | None = None) -> int:
        """Seed the sampling."""
        self.single.seed(seed)
        return super().seed(seed)


@batch_space.register(ArmAndRecommendation)
def _batch(space: ArmAndRecommendation, n: int = 1) -> _Batch:
    return _Batch(ArmAndRecommendation(int(space.nvec[0]), tuple(space.nvec[1:].tolist()), space.num_ones), n)
