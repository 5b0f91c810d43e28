"""Arms that are user functions."""

from __future__ import annotations

import numpy as np
from typing_extensions import override

from bai_gym.bandits.base import Bandit, check_num_arms
from bai_gym.live.executor.executor import Executor
from bai_gym.rewards import Rewards
from bai_gym.statistics import FloatArray, IntArray, Statistics

__all__ = ["FunctionBandit"]

SEEDS = 2**63


class FunctionBandit(Bandit):
    """Each pull calls a function; the true means and variances are unknown, and NaN.

    Several instances are copies of one experiment, and pulls are always made sequentially: a batch is a mere
    convenience.

    Args:
        executor: Makes the pulls, with their timeout and error policy, and declares the kind of rewards.
        batch: N, the number of instances.

    Raises:
        InstanceError: Fewer than two arms.
    """

    known = False

    def __init__(self, executor: Executor, batch: int = 1) -> None:
        """Check the number of arms."""
        check_num_arms(executor.num_arms)
        self.executor = executor
        self.means = np.full((batch, executor.num_arms), np.nan)
        self.variances = np.full((batch, executor.num_arms), np.nan)
        self._made = 0

    @property
    @override
    def rewards(self) -> Rewards:
        return self.executor.rewards

    @override
    def pull(self, flat: IntArray, rng: np.random.Generator) -> FloatArray:
        """Return one reward for each pulled arm.

        Functions that take a generator get one that is seeded by ``rng``, for every pull.

        Raises:
            PullError: If a pull fails, and the error policy says so.
        """
        return np.array([self._pull_one(int(position) % self.num_arms, rng) for position in flat], np.float64)

    def _pull_one(self, arm: int, rng: np.random.Generator) -> float:
        self._made += 1
        seed = int(rng.integers(SEEDS)) if self.executor.takes_rng else 0
        return self.executor.pull(arm, (seed,), f"pull {self._made}").reward

    @override
    def draw_blocks(
        self, flat: IntArray | slice, counts: IntArray, rng: np.random.Generator, *, variances: bool = True
    ) -> Statistics:
        """Make the pulls of the blocks sequentially."""
        positions = np.arange(self.means.size)[flat] if isinstance(flat, slice) else flat
        block = Statistics(counts, np.empty(counts.size), np.zeros(counts.size))
        for place, (position, count) in enumerate(zip(positions, counts, strict=True)):
            rewards = self.pull(np.repeat(position, count), rng)
            block.means[place] = rewards.mean()
            if variances and count > 1:
                block.variances[place] = rewards.var(ddof=1)
        return block
