"""What the row of a cell says besides the outcome of its runs."""

from __future__ import annotations

from typing import Any

from bai_gym.benchmark.cells import Cell
from bai_gym.benchmark.protocol import describe, knowledge, least_budget, notes, unmet_assumptions
from bai_gym.problems import FixedProblem

__all__ = ["describe_agent", "facts"]


def facts(cell: Cell) -> dict[str, Any]:
    """Return what is known before any run, by the names of the fields of :class:`bai_gym.results.result.Result`."""
    problem, task, delta = cell.env.problem, cell.episode_spec.task, cell.delta
    return {
        "seed": cell.seed,
        "arms": named_arms(cell),
        "delta": delta,
        "lower_bound": None if delta is None else problem.lower_bound(task, delta, cell.costs),
        "rewards": str(cell.env.rewards),
        "costs": cell.costs or (),
    }


def describe_agent(cell: Cell) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the agent's oracle knowledge, and the notes about it and about the problem."""
    agent = cell.prototype
    extra: tuple[str, ...] = ()
    least = least_budget(agent, cell.env.problem.num_arms, cell.env.problem.num_features)
    if cell.episode_spec.most_pulls < least:
        extra = (f"{describe(agent)}: budget below its minimum of {least}",)
    if cell.env.problem.earlier is not None and cell.earlier is None:
        extra += (f"{describe(agent)}: it decides by the pulls of its phases and starts without the earlier results",)
    unmet = unmet_assumptions(agent, cell.instances()) if callable(getattr(agent, "unmet_assumptions", None)) else ()
    return tuple(sorted(knowledge(agent))), (*notes(agent), *unmet, *extra, *cell.env.problem.notes)


def named_arms(cell: Cell) -> tuple[tuple[str, float], ...]:
    """Return name and true mean of each arm; none if arms have no names, or no fixed means."""
    problem = cell.env.problem
    if problem.arm_names is None or not isinstance(problem, FixedProblem):
        return ()
    return tuple(zip(problem.arm_names, cell.instances().means[0].tolist(), strict=True))
