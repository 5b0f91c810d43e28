"""Checkpoints: intermediate budgets of a run, at which recommendations are scored, too.

:func:`pausing` asks an agent for recommendations on the way: an adapter, which divides requests where a checkpoint
falls within.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Sequence
from typing import Any

import numpy as np

from bai_gym.envs.specification import EpisodeSpec
from bai_gym.errors import AgentError, ParameterError
from bai_gym.parallel import check_memory
from bai_gym.sampling.plans import Plan, Start, execute
from bai_gym.sampling.requests import Part, checked, parts_of
from bai_gym.statistics import Observation
from bai_gym.validation import integer

__all__ = ["Checkpoints", "checkpoint_grid", "checkpoints_of", "pausing"]

Checkpoints = int | Sequence[int] | None
"""Intermediate budgets at which recommendations are scored: a step, or a list of pull counts; None: none."""

POINT_BYTES = 200  # of a checkpoint in a list


def checkpoint_grid(checkpoints: Checkpoints, budget: int) -> tuple[int, ...]:
    """Return the pull counts below the budget at which recommendations are scored; the budget is always one of them.

    Args:
        checkpoints: A number: its multiples. A list: its entries, in any order. None: none.
        budget: Pulls of the run.

    Raises:
        ParameterError: If one is no integer from 1 to the budget.
    """
    if checkpoints is None:
        return ()
    points: list[Any] = (
        [checkpoints] if not isinstance(checkpoints, list | tuple | range | np.ndarray) else list(checkpoints)
    )
    for point in points:
        rule = f"an integer number of pulls from 1 to the budget, {budget}, or a list of such"
        integer(point, "checkpoints", least=1, most=budget, rule=rule)
    if not points:
        raise ParameterError("checkpoints must not be an empty list; leave them out, or write 100 for every 100 pulls")
    if isinstance(checkpoints, int | np.integer):
        check_memory(budget // int(checkpoints), POINT_BYTES, "number of checkpoints", ParameterError)
        points = list(range(int(checkpoints), budget, int(checkpoints)))
    return tuple(sorted({int(point) for point in points} - {budget}))


def checkpoints_of(
    checkpoints: Checkpoints, budget: Any, spec: EpisodeSpec, agent: str, *, anytime: bool
) -> tuple[int, ...]:
    """Return the checkpoints of an agent in episodes of a specification, see :func:`checkpoint_grid`.

    Args:
        checkpoints: What the user asks for.
        budget: Of an episode.
        spec: The specification.
        agent: The name of the agent.
        anytime: Whether it can recommend at any time.

    Raises:
        ParameterError: If a checkpoint is invalid, or the episodes allow none.
        AgentError: If the agent cannot recommend at any time.
    """
    if checkpoints is None:
        return ()
    if spec.fixed_confidence:
        raise ParameterError("checkpoints need a fixed budget, and here the agent decides when to stop")
    if spec.costs is not None:
        raise ParameterError("checkpoints count pulls, and here the budget is money: compare budgets instead")
    points = checkpoint_grid(checkpoints, budget)
    if not anytime:
        raise AgentError(
            f"{agent} has no recommendation before the end of its budget, which checkpoints need: leave "
            "them out, or choose an agent that can recommend at any time (anytime = True), such as Uniform"
        )
    return points


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
