"""Tables of scores over many environments: for the terminal, as Markdown, as LaTeX, and as CSV."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bai_gym.analysis.aggregate import AGGREGATES, AgentScore, Aggregate
from bai_gym.analysis.bootstrap import Estimate
from bai_gym.report.layout import Sheet, csv_text, exact, knows_words, number_notes, with_interval

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["NAMES", "aggregate_table", "aggregate_to_csv", "aggregate_to_latex", "aggregate_to_markdown"]

NAMES = {
    "iqm": "interquartile mean",
    "mean": "mean",
    "median": "median",
    "optimality_gap": "optimality gap",
}
"""Names of the aggregates in tables and figures."""


def aggregate_table(scores: Aggregate) -> Table:
    """Lay aggregate scores out for the terminal, the best interquartile mean first."""
    return _sheet(scores).terminal()


def aggregate_to_markdown(scores: Aggregate) -> str:
    """Lay aggregate scores out as a Markdown table, with what a score is and the tasks below."""
    return _sheet(scores).markdown()


def aggregate_to_latex(scores: Aggregate) -> str:
    """Lay aggregate scores out as a LaTeX table with the rules of booktabs; see :func:`aggregate_to_markdown`."""
    return _sheet(scores).latex()


def aggregate_to_csv(scores: Aggregate) -> str:
    """Write aggregate scores as CSV, with every digit.

    Returns:
        The file: a header line and a line per agent: each aggregate with the ends of its interval (``nan`` where it is
        unknown), their level, the number of tasks, then `knows` and `notes` as in the table of results.
    """
    ends = [f"{word}{end}" for word in AGGREGATES for end in ("", "_lower", "_upper")]
    return csv_text(
        ("agent", *ends, "level", "tasks", "knows", "notes"),
        (
            (
                row.agent,
                *(exact(number) for word in AGGREGATES for number in _numbers(_estimate(row, word))),
                exact(scores.level),
                len(scores.tasks),
                knows_words(row.knows).replace(", ", ";"),
                ";".join(row.notes),
            )
            for row in scores
        ),
    )


def _numbers(estimate: Estimate) -> tuple[float, float, float]:
    return estimate.value, estimate.lower, estimate.upper


def _estimate(row: AgentScore, word: str) -> Estimate:
    estimate: Estimate = getattr(row, word)
    return estimate


def _sheet(scores: Aggregate) -> Sheet:
    numbers = number_notes(row.notes for row in scores)
    level = f"{100 * scores.level:g} %"
    tasks: dict[str, list[str]] = {}
    for env, budget in scores.tasks:
        tasks.setdefault(env, []).append(f"{budget:,}")
    where = "; ".join(f"{env} with {', '.join(budgets)}" for env, budgets in tasks.items())
    count = len(scores.tasks)
    remarks = [
        f"S{scores.words[1:]}; over {count} task{'s' * (count > 1)}, environments with budgets: {where}.",
        "Intervals: bootstrap of whole runs. The optimality gap is what is missing to 1: lower is better.",
    ]
    if scores.left_out:
        missing = len(scores.left_out)
        remarks.append(f"Left out, because not all agents have played them: {missing} task{'s' * (missing > 1)}.")
    return Sheet(
        columns=(
            ("agent", False),
            *((f"{NAMES[word]} [{level}]", True) for word in AGGREGATES),
            ("oracle knowledge", False),
        ),
        rows=tuple(
            (
                row.agent,
                *(with_interval(*_numbers(_estimate(row, word))) for word in AGGREGATES),
                knows_words(row.knows),
            )
            for row in scores
        ),
        marks=tuple(tuple(numbers[note] for note in row.notes) for row in scores),
        notes=tuple(numbers),
        remarks=tuple(remarks),
    )
