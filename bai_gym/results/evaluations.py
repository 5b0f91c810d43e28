"""Evaluations: results joined with the outcomes of single runs, for leaderboards and aggregate scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from bai_gym.errors import ParameterError
from bai_gym.results.comparison import Comparison
from bai_gym.results.result import Outcomes, Result, Runs
from bai_gym.statistics import FloatArray

__all__ = ["Evaluation", "Source", "Task", "collect", "matching", "describe_task", "declared"]

Task: TypeAlias = tuple[str, int]
"""A task for scoring: an environment and a budget."""

Source: TypeAlias = Comparison | Iterable[Comparison | Result] | Outcomes
"""Source of the numbers: what ``compare`` returns, several of these, rows of results, or outcomes of single runs."""


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
        knows: Oracle knowledge of the agent; None if unknown.
        notes: Remarks that a reader of the numbers needs.
    """

    agent: str
    env: str
    budget: int
    runs: int
    errors: int
    correct: npt.NDArray[np.bool_] | None
    simple_regret: FloatArray | None
    num_arms: int | None
    knows: tuple[str, ...] | None
    notes: tuple[str, ...]

    @property
    def task(self) -> Task:
        """The environment and the budget."""
        return self.env, self.budget

    @property
    def right(self) -> npt.NDArray[np.bool_]:
        """``(R,)`` whether the recommendation of each run is correct; only if that is known."""
        assert self.correct is not None
        return self.correct

    @property
    def wrong(self) -> npt.NDArray[np.bool_]:
        """``(R,)`` whether the recommendation of each run is wrong; only where that is known."""
        return ~self.right

    @property
    def regret(self) -> FloatArray:
        """``(R,)`` the simple regret of each run; only where that is known."""
        assert self.simple_regret is not None
        return self.simple_regret


def collect(source: Source, results: Iterable[Result] = ()) -> list[Evaluation]:
    """Join results and outcomes.

    Results at intermediate budgets are ignored.

    Args:
        source: Source of the numbers.
        results: Further rows, which state the oracle knowledge of agents if ``source`` is a mapping of outcomes.

    Returns:
        One entry for each (agent, env, budget), in that order.

    Raises:
        ParameterError: If there are no results, a wrong type, a duplicate, or a result that contradicts its outcomes.
    """
    rows: dict[tuple[str, str, int], Result] = {}
    runs: dict[tuple[str, str, int], Runs] = {}
    if isinstance(source, Mapping):
        for key, episodes in source.items():
            runs[_checked_key(key, episodes)] = episodes
    else:
        for item in _items(source):
            if isinstance(item, Comparison):
                for row in item.final:
                    _add(rows, row)
                    outcome = item.outcome(row)
                    assert isinstance(outcome, Runs)  # the end of the runs, not a checkpoint
                    runs[_key(row)] = outcome
            else:
                _add(rows, item)
    for row in results:
        if row.at_end:
            _add(rows, row)
    keys = sorted(rows.keys() | runs.keys())
    if not keys:
        raise ParameterError("there are no results; give what bai_gym.compare returns, or a list of that")
    return [_entry(key, rows.get(key), runs.get(key)) for key in keys]


def matching(results: Iterable[Result], outcomes: Outcomes) -> dict[tuple[str, str, int], Runs]:
    """Return those outcomes that the results were computed from, or at least agree with in numbers of runs and errors.

    A folder can hold outcomes of other evaluations beside those of its tables: with other seeds, or more runs.

    Args:
        results: Rows of tables.
        outcomes: Single runs, by (agent, env, budget).
    """
    rows = {_key(row): (row.runs, row.errors) for row in results if row.at_end}
    return {key: episodes for key, episodes in outcomes.items() if rows.get(key) == _counts(episodes)}


def describe_task(task: Task) -> str:
    """Name an environment and a budget in a sentence."""
    return f"{task[0]} with budget {task[1]:,}"


def declared(entries: Iterable[Evaluation]) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
    """Return the declared oracle knowledge of an agent on any of some tasks (None: unknown), and all notes about it."""
    rows = list(entries)
    notes = tuple(dict.fromkeys(note for row in rows for note in row.notes))
    if any(row.knows is None for row in rows):
        return None, notes
    return tuple(sorted({word for row in rows for word in row.knows or ()})), notes


def _items(source: Any) -> list[Comparison | Result]:
    items: Sequence[Any] = [source] if isinstance(source, Comparison | Result) else ()
    if not items:
        if isinstance(source, str) or not isinstance(source, Iterable):
            raise ParameterError(
                f"results must be what bai_gym.compare returns, or a list of that, not {type(source).__name__}"
            )
        items = list(source)
    for item in items:
        if not isinstance(item, Comparison | Result):
            raise ParameterError(f"a list of results must hold comparisons or results, not {type(item).__name__}")
    return [item for item in items if isinstance(item, Comparison) or item.at_end]


def _key(row: Result) -> tuple[str, str, int]:
    return row.agent, row.env, row.budget


def _checked_key(key: Any, episodes: Any) -> tuple[str, str, int]:
    if not (isinstance(key, tuple) and len(key) == 3 and isinstance(episodes, Runs)):
        raise ParameterError("outcomes must map (agent, env, budget) to the Runs that were played")
    return key


def _add(rows: dict[tuple[str, str, int], Result], row: Result) -> None:
    """Add a result, unless there is one of the same agent already."""
    if _key(row) in rows:
        raise ParameterError(
            f"{row.agent} has two results on {describe_task((row.env, row.budget))}; leave one out, "
            "or give the agents different names"
        )
    rows[_key(row)] = row


def _counts(episodes: Runs) -> tuple[int, int]:
    """Return the number of runs, and that of errors."""
    return episodes.correct.size, int(np.count_nonzero(~episodes.correct))


def _entry(key: tuple[str, str, int], row: Result | None, episodes: Runs | None) -> Evaluation:
    agent, env, budget = key
    known = row and (row.runs, row.errors)
    counts = episodes and _counts(episodes)
    if known and counts and known != counts:
        raise ParameterError(
            f"the result of {agent} on {describe_task((env, budget))} has {known[1]} errors in {known[0]} runs, its "
            f"outcomes {counts[1]} in {counts[0]}: they belong to different evaluations"
        )
    number, errors = counts or known or (0, 0)
    if number < 1:
        raise ParameterError(f"there is no run of {agent} on {describe_task((env, budget))}; give at least 1")
    one_arm = episodes is not None and episodes.recommendation.ndim == 1
    return Evaluation(
        agent=agent,
        env=env,
        budget=budget,
        runs=number,
        errors=errors,
        correct=None if episodes is None else episodes.correct,
        simple_regret=None if episodes is None else episodes.simple_regret,
        num_arms=episodes.pulls.size if episodes is not None and one_arm else None,
        knows=None if row is None else row.knows,
        notes=() if row is None else row.notes,
    )
