"""Asks an agent for recommendations on the way: an adapter, which divides requests where a checkpoint falls within."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Sequence
from typing import Any

from bai_gym.sampling.plans import Plan, Start, execute
from bai_gym.sampling.requests import Part, checked, parts_of
from bai_gym.statistics import Observation

__all__ = ["pausing"]


def pausing(begin: Start, counts: Sequence[int], pause: Callable[[int, Observation, Any], None]) -> Start:
    """Return a plan that pauses when certain numbers of pulls have been made; otherwise it is the same.

    Args:
        begin: Starts the plan.
        counts: Pulls of an episode, ascending; without any, the plan is the same.
        pause: Called with each count, and the observation then. When the plan has ended before a count, nothing changes
            any more: it then receives the recommendation, too, in place of None.
    """
    if not counts:
        return begin

    def paused(seen: Observation) -> Plan:
        left, due = int(seen["remaining"].flat[0]), deque(counts)
        batch, num_arms = seen["pulls"].shape

        def made() -> int:
            return left - int(seen["remaining"].flat[0])

        def play(asked: object) -> Generator[Part, Any, Any]:
            before = made()
            whole = checked(asked, batch, num_arms, left - before)
            for part in parts_of(whole, [at - before for at in due if before < at < before + whole.end]):
                outcome = yield part
                if due and made() == due[0]:
                    pause(due.popleft(), seen, None)
            return outcome

        recommendation = yield from execute(begin(seen), play)
        for count in due:
            pause(count, seen, recommendation)
        return recommendation

    return paused
