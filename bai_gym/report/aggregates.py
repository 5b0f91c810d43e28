"""Tables of scores over many environments: for the terminal, as Markdown, as LaTeX, and as CSV."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import attrgetter

from bai_gym.analysis.intervals import Estimate
from bai_gym.analysis.metrics import AGGREGATES
from bai_gym.results.aggregate import AgentScore, Aggregate
from bai_gym.results.layout import Column, Table, estimate_fields, exact, format_knowledge, with_interval

__all__ = ["NAMES", "aggregate_table"]

NAMES = {
    "iqm": "interquartile mean",
    "mean": "mean",
    "median": "median",
    "optimality_gap": "optimality gap",
}
"""Names of the aggregates in tables and figures."""


def aggregate_table(scores: Aggregate) -> Table[AgentScore]:
    """Lay aggregate scores out, the best interquartile mean first, with what a score is and the tasks below.

    In CSV each aggregate has the ends of its interval (``nan`` where it is unknown), then there are their level, the
    number of tasks, and `oracle_knowledge` and `notes` as in the table of results.
    """
    level = f"{100 * scores.level:g} %"
    tasks: dict[str, list[str]] = {}
    for env, budget in scores.tasks:
        tasks.setdefault(env, []).append(f"{budget:,}")
    where = "; ".join(f"{env} with {', '.join(budgets)}" for env, budgets in tasks.items())
    count = len(scores.tasks)
    remarks = [
        f"S{scores.description[1:]}; over {count} task{'s' * (count > 1)}, environments with budgets: {where}.",
        "Intervals: bootstrap of whole runs. The optimality gap is what is missing to 1: lower is better.",
    ]
    if scores.left_out:
        missing = len(scores.left_out)
        remarks.append(f"Left out, because not all agents have played them: {missing} task{'s' * (missing > 1)}.")
    fields: dict[str, Callable[[AgentScore], object]] = {"agent": lambda row: row.agent}
    columns = [Column[AgentScore]("agent", lambda row: row.agent, False)]
    for word in AGGREGATES:
        columns.append(Column(f"{NAMES[word]} [{level}]", partial(_estimate, word)))
        fields |= estimate_fields(word, attrgetter(word))
    columns.append(Column("oracle knowledge", lambda row: format_knowledge(row.knows), False))
    fields |= {
        "level": lambda _: exact(scores.level),
        "tasks": lambda _: len(scores.tasks),
        "oracle_knowledge": lambda row: format_knowledge(row.knows).replace(", ", ";"),
        "notes": lambda row: ";".join(row.notes),
    }
    return Table(list(scores), columns, fields, notes=lambda row: row.notes, remarks=remarks)


def _estimate(word: str, row: AgentScore) -> str:
    estimate: Estimate = getattr(row, word)
    return with_interval(estimate.value, estimate.lower, estimate.upper)
