"""Planned budgets as tables, as a figure, and as a web page; advice as a table."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from bai_gym.analysis.posterior import PRIOR
from bai_gym.planning import Advice, BudgetPlan, Measurement, Plans
from bai_gym.planning.now import NOW, row_name
from bai_gym.report.canvas import INLINE_STYLE, Caption, Drawing, look, named
from bai_gym.results.layout import Column, Table, exact, format_knowledge, with_interval
from bai_gym.results.page import html_page
from bai_gym.results.result import Result

__all__ = ["advice_table", "plan_curves", "plan_page", "plan_points", "plans_table"]

SHARES = (0.8, 0.95)  # of the instances
STYLE = f"{INLINE_STYLE}th:first-child, td:first-child {{ overflow-wrap: normal; }}\n"


def plans_table(plans: Plans) -> Table[BudgetPlan]:
    """Lay plans out in their order; the advice stands below.

    Where instances are random, there are quantiles of the measure over them.
    """
    goal = plans[0].goal
    columns = [
        Column[BudgetPlan]("agent", lambda row: row_name(row.agent, plans.winner), False),
        Column("budget", _budget),
        *([Column("mean pulls", _mean_pulls)] if plans[0].costs else []),
        Column(f"{goal.name} on fresh seeds", lambda row: _measured(row, lambda at: at.value)),
        Column("at most, at 95 %", lambda row: _measured(row, lambda at: at.upper)),
    ]
    fields: dict[str, Callable[[BudgetPlan], object]] = {
        "agent": lambda row: row.agent,
        "env": lambda row: row.env,
        "measure": lambda row: row.goal.measure,
        "target": lambda row: exact(row.goal.target),
        "certainty": lambda row: "" if row.goal.certainty is None else exact(row.goal.certainty),
        "budget": lambda row: "" if row.budget is None else row.budget,
        "reached": lambda row: "yes" if row.reached else "no",
        "value": lambda row: "" if row.confirmed is None else exact(row.confirmed.value),
        "upper": lambda row: "" if row.confirmed is None else exact(row.confirmed.upper),
    }
    if plans[0].costs:
        fields["mean_pulls"] = lambda row: exact(row.confirmed.result.sample_complexity) if row.confirmed else ""
    for share in SHARES:
        if any(row.each is not None for row in plans):
            columns.append(Column(f"at most, on {100 * share:g} % of instances", partial(_quantile, share)))
        fields[f"quantile_{100 * share:g}"] = partial(_exact_quantile, share)
    columns += [
        Column("runs", lambda row: f"{row.reported.runs:,}"),
        Column("oracle knowledge", lambda row: format_knowledge(row.knows), False),
    ]
    fields |= {
        "runs": lambda row: "" if row.confirmed is None else row.confirmed.runs,
        "oracle_knowledge": lambda row: ";".join(row.knows) or "none",
    }
    return Table(
        plans,
        columns,
        fields,
        notes=lambda row: row.notes,
        above=f"{plans[0].env}: budgets that bring the {goal.name} to {goal.target:g}.",
        remarks=[*_prior(plans.winner), plans.advice],
    )


def _prior(winner: str | None) -> list[str]:
    """Return how the means that earlier results leave possible are drawn, where there are such results."""
    return (
        [] if winner is None else [f"The means are drawn from their posterior given the log, with a prior of {PRIOR}."]
    )


def advice_table(advice: Advice) -> Table[Result]:
    """Lay out the fresh runs behind an advice, with a verdict on each agent; the advice stands above."""

    def verdict(row: Result) -> str:
        if row.agent == advice.best:
            return "chosen"
        if row.agent == NOW:
            return "as good" if advice.agent == NOW else "worse"
        return "as good" if row.agent in advice.equals else "worse"

    rows = advice.comparison.results
    return Table(
        rows,
        [
            Column[Result]("agent", lambda row: row_name(row.agent, advice.winner), False),
            Column("budget", lambda row: "0" if row.agent == NOW else f"{row.budget:,.12g}"),
            *([Column[Result]("mean pulls", lambda row: f"{row.sample_complexity:,.0f}")] if rows[0].costs else []),
            Column("error probability [95 %]", lambda row: with_interval(row.error_probability, *row.interval)),
            Column("simple regret", lambda row: f"{row.simple_regret:.3g}"),
            Column("its standard error", lambda row: f"{row.simple_regret_se:.2g}"),
            Column("against the chosen one", verdict, False),
        ],
        notes=lambda row: row.notes,
        title=rows[0].env,
        above=advice.summary,
        remarks=[
            f"Fresh runs, {rows[0].runs:,} of each agent on the same instances; the agent was chosen on other runs. As "
            f"good as it: not significantly worse, by paired tests of the {advice.measure} at joint level 5 %.",
            *([_others(advice)] if advice.others else []),
            *_prior(advice.winner),
            f"Not played: {len(advice.left_out)} registered agents, which `--left-out` lists with the reasons.",
        ],
    )


def _others(advice: Advice) -> str:
    return (
        f"Not shown: {len(advice.others)} agents that did less well in the first rounds, but not significantly worse, "
        "which `--all` plays and shows, too."
    )


def plan_points(plans: Plans) -> Table[tuple[BudgetPlan, Measurement]]:
    """Lay out the curves: what was measured at each budget on the way, with 90 % intervals."""
    goal = plans[0].goal
    rows = [(plan, point) for plan in plans for point in _most_runs(plan)]
    return Table(
        rows,
        [
            Column("agent", lambda row: row[0].agent, False),
            Column("budget", lambda row: f"{row[1].budget:,.12g}"),
            Column(f"{goal.name} [90 %]", lambda row: with_interval(row[1].value, row[1].lower, row[1].upper)),
            Column("runs", lambda row: f"{row[1].runs:,}"),
        ],
        {
            "agent": lambda row: row[0].agent,
            "budget": lambda row: row[1].budget,
            "value": lambda row: exact(row[1].value),
            "lower": lambda row: exact(row[1].lower),
            "upper": lambda row: exact(row[1].upper),
            "runs": lambda row: row[1].runs,
        },
        above=f"{plans[0].env}: the {goal.name} by budget.",
        remarks=["Brackets: 90 % intervals, of which the upper end is a confidence bound at 95 %."],
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
    return _drawing(plans).save(path)


def plan_page(plans: Plans) -> str:
    """Return a self-contained web page: the advice, the plans, the figure where matplotlib is installed, the curves."""
    goal = plans[0].goal
    name = f"The {goal.name} by budget, a curve for each agent; the table below has its numbers."
    body = f"""{plans_table(plans).html()}
{_drawing(plans).html(name)}
<h2>Curves</h2>
{plan_points(plans).html()}"""
    return html_page(f"How large a budget brings the {goal.name} to {goal.target:g}?", body, STYLE)


def _drawing(plans: Plans) -> Drawing:
    @Drawing
    def drawing(figure: Any) -> Caption:
        from matplotlib.ticker import FuncFormatter

        axes = figure.add_subplot()
        for index, plan in enumerate(plans):
            colour, marker, dashes = look(index)
            if plan.budget == 0 and plan.confirmed is not None:
                axes.axhline(plan.confirmed.value, color=colour, linewidth=1.2, label=plan.agent)
                continue
            points = [point for point in _most_runs(plan) if point.value > 0.0]
            x, y = [point.budget for point in points], [point.value for point in points]
            low = [point.value - max(point.lower, 0.0) for point in points]
            high = [min(point.upper, 10.0 * point.value) - point.value for point in points]
            style = {"color": colour, "marker": marker, "linestyle": dashes, "markersize": 5, "elinewidth": 1.0}
            fill = "none" if plan.knows else "full"
            axes.errorbar(x, y, yerr=[low, high], label=named(plan.agent, plan.knows), fillstyle=fill, **style)
            if plan.budget is not None:
                axes.axvline(plan.budget, color=colour, linewidth=1.0, linestyle=":")
        axes.axhline(plans[0].goal.target, color="#555555", linewidth=1.2, linestyle="--")
        axes.set_xscale("log")
        axes.set_yscale("log")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
            axis.set_minor_formatter(
                FuncFormatter(lambda value, _: f"{value:,.10g}" if f"{value:e}"[0] in "25" else "")
            )
        axes.set_xlabel("budget (money)" if plans[0].costs else "budget (pulls)")
        axes.set_ylabel(plans[0].goal.name)
        axes.legend(loc="lower left", fontsize=10)  # where no curve that falls comes by
        return Caption(
            plans[0].env,
            "Dashed: the target. Dotted: the planned budgets, confirmed on fresh seeds. Bars: 90 % intervals.",
        )

    return drawing


def _budget(row: BudgetPlan) -> str:
    return f"not reached with {row.reported.budget:,.12g}" if row.budget is None else f"{row.budget:,.12g}"


def _measured(row: BudgetPlan, measure: Callable[[Measurement], float]) -> str:
    return f"{measure(row.reported):.3g}"


def _mean_pulls(row: BudgetPlan) -> str:
    return f"{row.reported.result.sample_complexity:,.0f}"


def _quantile(share: float, row: BudgetPlan) -> str:
    return "" if row.each is None else f"{row.quantile(share):.3g}"


def _exact_quantile(share: float, row: BudgetPlan) -> str:
    return "" if row.each is None else exact(row.quantile(share))


def _most_runs(plan: BudgetPlan) -> list[Measurement]:
    """Return the measurement with the most runs at each budget, by budget."""
    best: dict[float, Measurement] = {}
    for point in plan.measurements:
        if point.budget not in best or point.runs >= best[point.budget].runs:
            best[point.budget] = point
    return list(best.values())
