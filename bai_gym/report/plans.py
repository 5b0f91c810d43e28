"""A table and a figure of planned budgets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from bai_gym.planning import BudgetPlan, Plans
from bai_gym.report.canvas import look, named, save, settings, target_of, write_sentence
from bai_gym.results.layout import Column, Table, exact, knows_words
from bai_gym.results.result import Result

__all__ = ["plan_curves", "plans_table"]


def plans_table(plans: Plans) -> Table[BudgetPlan]:
    """Lay plans out, the smallest budget first; the advice stands below."""
    first = plans[0]
    return Table(
        plans,
        [
            Column("agent", lambda row: row.agent, False),
            Column("budget", lambda row: "not reached" if row.budget is None else f"{row.budget:,}"),
            Column(f"{first.measure} on fresh seeds", lambda row: _measured(row, row.value)),
            Column("at most, at 95 %", lambda row: _measured(row, row.upper)),
            Column("runs", lambda row: "" if row.confirmed is None else f"{row.confirmed.runs:,}"),
            Column("oracle knowledge", lambda row: knows_words(row.knows), False),
        ],
        {
            "agent": lambda row: row.agent,
            "env": lambda row: row.env,
            "measure": lambda row: row.measure,
            "target": lambda row: exact(row.target),
            "budget": lambda row: "" if row.budget is None else row.budget,
            "value": lambda row: "" if row.confirmed is None else exact(row.value(row.confirmed)),
            "upper": lambda row: "" if row.confirmed is None else exact(row.upper(row.confirmed)),
            "runs": lambda row: "" if row.confirmed is None else row.confirmed.runs,
            "knows": lambda row: ", ".join(row.knows),
        },
        notes=lambda row: row.results[0].notes,
        above=f"{first.env}: budgets that bring the {first.measure} to {first.target:g}.",
        remarks=[plans.advice],
    )


def plan_curves(plans: Plans, path: str | Path) -> Path:
    """Draw what was measured on the way to the planned budgets, one curve per agent, and the target.

    Args:
        plans: The plans, of one target.
        path: The file to write, ``.png``, ``.svg`` or ``.pdf``; missing folders are made.

    Returns:
        The path of the file.

    Raises:
        ParameterError: If the file's ending is unknown.
        MissingPackageError: If matplotlib is not installed.
        OutputError: If the file cannot be written.
    """
    target = target_of(path)
    with settings():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(8.0, 4.5), layout="constrained")
        axes = figure.add_subplot()
        for index, plan in enumerate(plans):
            colour, marker, dashes = look(index)
            points = [row for row in _most_runs(plan) if plan.value(row) > 0.0]
            x, y = [row.budget for row in points], [plan.value(row) for row in points]
            style = {"color": colour, "marker": marker, "linestyle": dashes, "markersize": 5}
            axes.plot(x, y, label=named(plan.agent, plan.knows), fillstyle="none" if plan.knows else "full", **style)
            if plan.budget is not None:
                axes.axvline(plan.budget, color=colour, linewidth=1.0, linestyle=":")
        axes.axhline(plans[0].target, color="#555555", linewidth=1.2, linestyle="--")
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel("budget (pulls)")
        axes.set_ylabel(plans[0].measure)
        axes.set_title(plans[0].env, loc="left", fontweight="bold", fontsize=12)
        figure.legend(loc="outside right upper", fontsize=10)
        write_sentence(figure, "Dashed: the target. Dotted: the planned budgets, confirmed on fresh seeds.")
        return save(figure, target)


def _measured(row: BudgetPlan, measure: Callable[[Result], float]) -> str:
    return "" if row.confirmed is None else f"{measure(row.confirmed):.3g}"


def _most_runs(plan: BudgetPlan) -> list[Result]:
    """Return the measurement with the most runs at each budget."""
    best: dict[int, Result] = {}
    for row in plan.results:
        if row.budget not in best or row.runs >= best[row.budget].runs:
            best[row.budget] = row
    return list(best.values())
