"""What the row of a cell says besides the outcome of its runs."""

from __future__ import annotations

from typing import Any

from bai_gym.benchmark.cells import Cell
from bai_gym.benchmark.protocol import describe, knowledge, least_budget, notes, unmet_assumptions
from bai_gym.problems import FixedProblem

__all__ = ["facts"]


def facts(cell: Cell) -> dict[str, Any]:
    """Return what is known before any run, for :func:`bai_gym.results.result.summarize`.

    That is the agent's oracle knowledge, notes about it and about the problem, the kind of rewards and the like.
    """
    problem, spec, delta = cell.env.problem, cell.episode_spec, cell.delta
    agent = cell.prototype
    said = list(notes(agent))
    if callable(getattr(agent, "unmet_assumptions", None)):
        said += unmet_assumptions(agent, cell.instances())
    trained = dict(getattr(agent, "trained_on", None) or {}).get("env")
    if trained and "prior" in knowledge(agent) and trained != cell.env.label.partition("(")[0]:
        said.append(
            f"{describe(agent)}: the instances here are not drawn from the prior of {trained} that it knows, so it may "
            "err far more often than agents without a prior"
        )
    least = least_budget(agent, problem.num_arms, problem.num_features)
    if spec.most_pulls < least:
        said.append(f"{describe(agent)}: budget below its minimum of {least}")
    if problem.earlier is not None and not cell.traits.starts_from_earlier:
        said.append(f"{describe(agent)}: it decides by the pulls of its phases and starts without the earlier results")
    if not spec.shuffle and problem.known:
        said.append("arms have the same numbers in all episodes (shuffle=False): an agent may know the best one")
    if not spec.rotate and problem.num_features is not None and not problem.isotropic:
        said.append("features are the same in all episodes (rotate=False): an agent may know the best arm")
    return {
        "knows": tuple(sorted(knowledge(agent))),
        "notes": (*said, *problem.notes),
        "seed": cell.seed,
        "arms": named_arms(cell) if problem.arm_names else (),
        "delta": delta,
        "lower_bound": None if delta is None else problem.lower_bound(spec.task, delta, cell.costs),
        "rewards": str(cell.env.rewards),
        "costs": cell.costs or (),
    }


def named_arms(cell: Cell) -> tuple[tuple[str, float], ...]:
    """Return name and true mean of each arm; none if arms have no names, or no fixed means, or several."""
    problem = cell.env.problem
    if not problem.arm_names or not isinstance(problem, FixedProblem) or cell.episode_spec.task.metrics > 1:
        return ()
    return tuple(zip(problem.arm_names, cell.instances().means[0].tolist(), strict=True))
