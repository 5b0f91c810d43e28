"""Rounds of pulls: when the rewards of batched or delayed experiments arrive."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["AT_ONCE", "Rounds"]


@dataclass(frozen=True)
class Rounds:
    """When the rewards of the pulls of an episode arrive.

    The pulls are made in rounds of ``batch_size``; the last round of a budget may be shorter. The rewards of a round
    arrive at the end of the round that comes ``delay`` rounds later. Nothing is left to wait for when the budget is
    spent: then all rewards arrive.

    Attributes:
        batch_size: Pulls of a round, at least 1.
        delay: Rounds, at least 0.
    """

    batch_size: int = 1
    delay: int = 0

    @property
    def late(self) -> bool:
        """Whether some rewards do not arrive at once."""
        return self.batch_size > 1 or self.delay > 0

    @property
    def most_pending(self) -> int:
        """The largest number of pulls whose rewards have not arrived."""
        return self.batch_size * (self.delay + 1)

    def arrived(self, made: int, budget: int) -> int:
        """Return how many rewards, those of the first pulls, have arrived after a number of pulls."""
        if made >= budget:
            return made
        return self.batch_size * max(made // self.batch_size - self.delay, 0)

    def left(self, made: int, budget: int) -> int:
        """Return how many pulls the current round still has after a number of pulls."""
        return min(self.batch_size - made % self.batch_size, budget - made)


AT_ONCE = Rounds()
"""Every reward arrives before the next pull."""
