"""Bounds on the error probability of agents with a fixed budget, as promises that an audit can refute.

On every instance the agent has the smallest budget for which its bound is at most delta, so that it promises the same
everywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bai_gym.auditing.instances import Instance
from bai_gym.auditing.streams import Episodes
from bai_gym.benchmark.cells import Cell
from bai_gym.benchmark.chunk import play_chunk
from bai_gym.benchmark.sources import AgentSource, EnvSource
from bai_gym.envs.scalar import BestArmEnv
from bai_gym.problems import FixedProblem

__all__ = ["BoundPlayer", "Claim", "play_agent"]

Claim = Callable[[Any, Any, int], Any]
"""A bound on the error probability: of the means and variances, ``(1, K)`` arrays, and the budget."""


def play_agent(
    source: AgentSource, instance: Instance, budget: int, runs: int, rng: np.random.Generator, *, stops: bool
) -> Episodes:
    """Return episodes of an agent on an instance.

    Args:
        source: Source of the agent.
        instance: The instance.
        budget: Pulls of an episode; at most, if it stops.
        runs: Number of episodes.
        rng: Source of randomness.
        stops: Whether the agent decides when to stop.
    """
    env = BestArmEnv(FixedProblem(instance.bandit()), budget=budget, fixed_confidence=stops)
    cell = Cell.of(EnvSource(env), source, budget, int(rng.integers(2**63)))
    parts = []
    for chunk, size in enumerate(cell.chunk_sizes(runs)):
        played = play_chunk(cell, chunk, size)
        arms = np.where(played.truncated & stops, -1, played.recommendation)
        parts.append(Episodes(arms, np.asarray(played.spent, np.int64)))
    return Episodes.joined(parts)


@dataclass(frozen=True)
class BoundPlayer:
    """Plays an agent with the smallest budget for which a bound is at most delta.

    Attributes:
        source: Source of the agent.
        bound: The bound; NaN where it says nothing.
        delta: See above.
        cap: Largest budget.
    """

    source: AgentSource
    bound: Claim
    delta: float
    cap: int

    def play(self, instance: Instance, runs: int, rng: np.random.Generator) -> Episodes:
        """Return episodes of an instance; where no budget suffices, they end at the cap without a recommendation."""
        budget = self.budget(instance)
        if budget is None:
            return Episodes(np.full(runs, -1), np.full(runs, self.cap))
        return play_agent(self.source, instance, budget, runs, rng, stops=False)

    def covers(self, instance: Instance) -> bool:
        """Return whether some budget up to the cap suffices."""
        return self._least(instance) <= self.cap and self._suffices(instance, self.cap)

    def budget(self, instance: Instance) -> int | None:
        """Return the smallest sufficient budget; a larger one than a sufficient one is taken to suffice, too."""
        if not self.covers(instance):
            return None
        low, high = self._least(instance) - 1, self.cap
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._suffices(instance, middle) else (middle, high)
        return high

    def _least(self, instance: Instance) -> int:
        least: Callable[[int], int] = getattr(self.source.prototype, "minimum_budget", int)
        return least(instance.num_arms)

    def _suffices(self, instance: Instance, budget: int) -> bool:
        value = np.asarray(self.bound(instance.means[None], instance.deviations[None] ** 2, budget))
        return bool((value <= self.delta).all())
