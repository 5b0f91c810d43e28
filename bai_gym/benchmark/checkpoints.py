"""Intermediate budgets of a run, at which recommendations are scored, too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bai_gym.benchmark.protocol import Traits
from bai_gym.envs.specification import EpisodeSpec
from bai_gym.errors import AgentError, ParameterError
from bai_gym.parallel import check_memory
from bai_gym.validation import integer

__all__ = ["Checkpoints", "checkpoint_grid", "checkpoints_of"]

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
    checkpoints: int | Sequence[int], budget: Any, spec: EpisodeSpec, agent: str, traits: Traits
) -> tuple[int, ...]:
    """Return the checkpoints of an agent in episodes of a specification, see :func:`checkpoint_grid`.

    Raises:
        ParameterError: If a checkpoint is invalid, or the episodes allow none.
        AgentError: If the agent cannot recommend at any time.
    """
    points = checkpoint_grid(checkpoints, budget)
    if spec.fixed_confidence:
        raise ParameterError("checkpoints need a fixed budget, and here the agent decides when to stop")
    if spec.costs is not None:
        raise ParameterError("checkpoints count pulls, and here the budget is money: compare budgets instead")
    if not traits.any_time:
        raise AgentError(
            f"{agent} has no recommendation before the end of its budget, which checkpoints need: leave "
            "them out, or choose an agent that can recommend at any time (anytime = True), such as Uniform"
        )
    return points
