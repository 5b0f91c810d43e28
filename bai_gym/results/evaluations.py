"""Evaluations: results joined with the outcomes of single runs, for leaderboards and aggregate scores."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from bai_gym.errors import ParameterError
from bai_gym.results.comparison import Comparison
from bai_gym.results.result import Result, Runs
from bai_gym.statistics import BoolArray, FloatArray

__all__ = ["Evaluation", "Source", "Task", "collect", "describe_task", "declared"]

Task: TypeAlias = tuple[str, int]
"""A task for scoring: an environment and a budget."""

Source: TypeAlias = Comparison | Iterable[Comparison | Result]
"""Source of the numbers: what ``compare`` returns, several of these, or rows of results, whose runs are not known."""


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """One agent on one environment with one budget.

    Attributes:
        agent: Name of the agent.
        env: Id of the environment, with the keyword arguments given.
        budget: Pulls per episode.
        runs: Number of independent episodes R.
        errors: Episodes with a wrong recommendation.
        correct: ``(R,)`` whether the recommendation of each run is correct; None if only the counts are known.
        simple_regret: ``(R,)`` its simple regret; None where only the counts are known.
        num_arms: K where one arm is recommended; None for other recommendations, and where that is not known.
        knows: Oracle knowledge of the agent.
        notes: Remarks that a reader of the numbers needs.
    """

    agent: str
    env: str
    budget: int
    runs: int
    errors: int
    correct: BoolArray | None
    simple_regret: FloatArray | None
    num_arms: int | None
    knows: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def task(self) -> Task:
        """The environment and the budget."""
        return self.env, self.budget

    @property
    def right(self) -> BoolArray:
        """``(R,)`` whether the recommendation of each run is correct; only if that is known."""
        assert self.correct is not None
        return self.correct

    @property
    def wrong(self) -> BoolArray:
        """``(R,)`` whether the recommendation of each run is wrong; only where that is known."""
        return ~self.right

    @property
    def regret(self) -> FloatArray:
        """``(R,)`` the simple regret of each run; only where that is known."""
        assert self.simple_regret is not None
        return self.simple_regret


def collect(source: Source) -> list[Evaluation]:
    """Join results and outcomes.

    Results at intermediate budgets are ignored.

    Args:
        source: Source of the numbers.

    Returns:
        One entry for each (agent, env, budget), in that order.

    Raises:
        ParameterError: If there are no results, a wrong type, a duplicate, or a result that contradicts its outcomes.
    """
    evaluations: dict[tuple[str, str, int], Evaluation] = {}
    for item in _items(source):
        rows, outcomes = (item.final, item.outcomes) if isinstance(item, Comparison) else ((item,) * item.at_end, {})
        for row in rows:
            key = row.agent, row.env, row.budget
            if key in evaluations:
                raise ParameterError(
                    f"{row.agent} has two results on {describe_task((row.env, row.budget))}; leave one out, "
                    "or give the agents different names"
                )
            evaluations[key] = _entry(row, outcomes.get(key))
    if not evaluations:
        raise ParameterError("there are no results; give what bai_gym.compare returns, or a list of that")
    return [evaluations[key] for key in sorted(evaluations)]


def describe_task(task: Task) -> str:
    """Name an environment and a budget in a sentence."""
    return f"{task[0]} with budget {task[1]:,}"


def declared(entries: Iterable[Evaluation]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the declared oracle knowledge of an agent on any of some tasks, and all notes about it."""
    rows = list(entries)
    notes = tuple(dict.fromkeys(note for row in rows for note in row.notes))
    return tuple(sorted({word for row in rows for word in row.knows})), notes


def _items(source: Any) -> list[Comparison | Result]:
    if isinstance(source, Comparison | Result):
        return [source]
    if isinstance(source, str) or not isinstance(source, Iterable):
        raise ParameterError(
            f"results must be what bai_gym.compare returns, or a list of that, not {type(source).__name__}"
        )
    items = list(source)
    for item in items:
        if not isinstance(item, Comparison | Result):
            raise ParameterError(f"a list of results must hold comparisons or results, not {type(item).__name__}")
    return items


def _entry(row: Result, runs: Runs | None) -> Evaluation:
    counts = None if runs is None else (runs.correct.size, int(np.count_nonzero(~runs.correct)))
    if counts is not None and counts != (row.runs, row.errors):
        raise ParameterError(
            f"the result of {row.agent} on {describe_task((row.env, row.budget))} has {row.errors} errors in "
            f"{row.runs} runs, its outcomes {counts[1]} in {counts[0]}: they belong to different evaluations"
        )
    return Evaluation(
        agent=row.agent,
        env=row.env,
        budget=row.budget,
        runs=row.runs,
        errors=row.errors,
        correct=None if runs is None else runs.correct,
        simple_regret=None if runs is None else runs.simple_regret,
        num_arms=runs.pulls.size if runs is not None and runs.recommendation.ndim == 1 else None,
        knows=row.knows,
        notes=row.notes,
    )
