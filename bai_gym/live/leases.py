"""Pulls without a reward: in the hands of workers, or to be handed out again."""

from __future__ import annotations

import time
from collections import deque

__all__ = ["Leases"]


class Leases:
    """Keeps the numbers of pulls without a reward."""

    def __init__(self) -> None:
        self._taken: dict[int, float] = {}  # in the hands of workers, with the time from which the lease counts
        self._free: deque[int] = deque()  # to be handed out again

    @property
    def taken(self) -> tuple[int, ...]:
        """Those in the hands of workers, in order."""
        return tuple(sorted(self._taken))

    @property
    def outstanding(self) -> tuple[int, ...]:
        """All of them, in order."""
        return tuple(sorted({*self._taken, *self._free}))

    def due(self, lease: float | None) -> list[int]:
        """Return those to be handed out again: the free ones, and those taken for ``lease`` seconds; None: no time."""
        now = time.monotonic()
        return [
            *self._free,
            *(number for number, since in self._taken.items() if lease is not None and now - since >= lease),
        ]

    def take(self, number: int) -> None:
        """Give a pull to a worker."""
        self.settle(number)
        self._taken[number] = time.monotonic()

    def release(self, number: int) -> None:
        """Have a pull handed out again."""
        self.settle(number)
        self._free.append(number)

    def settle(self, number: int) -> None:
        """Forget a pull, which has a reward."""
        self._taken.pop(number, None)
        if number in self._free:
            self._free.remove(number)
