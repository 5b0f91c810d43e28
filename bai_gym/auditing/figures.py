"""Audits of stopping rules as a figure, a table and a web page."""

from __future__ import annotations

import html
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bai_gym.auditing import Audit
from bai_gym.auditing.certificate import Certificate
from bai_gym.report.canvas import INLINE_STYLE, Caption, Drawing, look
from bai_gym.results.layout import Column, Table, exact
from bai_gym.results.page import html_page

__all__ = ["audit_curve", "audit_page", "audits_table"]

STYLE = f"""{INLINE_STYLE}.verdict {{ border-left: .3rem solid #d55e00; padding-left: .75rem; }}
.verdict, td:first-child {{ white-space: pre-line; }}
pre {{ overflow-x: auto; padding: .75rem; border: 1px solid var(--line); }}
"""


def audits_table(audits: Sequence[Audit]) -> Table[Audit]:
    """Lay audits out, one row for each, in their order."""
    columns = [
        Column[Audit]("rule", lambda row: row.rule, False),
        Column("rewards", lambda row: row.goal.rewards, False),
        Column("delta", lambda row: f"{row.delta:g}"),
        Column("cap", lambda row: f"{row.cap:,}"),
        Column("verdict", lambda row: row.verdict, False),
        Column("errors, worst instance", lambda row: f"{row.certificates[0].rate:.4f}"),
        Column("at least", lambda row: f"{row.certificates[0].bound:.4f}"),
        Column("exceeds delta by pull", lambda row: "" if row.fails_by is None else f"{row.fails_by:,}"),
    ]
    return Table(
        audits,
        columns,
        {
            "rule": lambda row: row.rule,
            "rewards": lambda row: row.goal.rewards,
            "delta": lambda row: exact(row.delta),
            "cap": lambda row: row.cap,
            "looks": lambda row: row.looks,
            "verdict": lambda row: row.verdict,
            "errors": lambda row: row.certificates[0].errors,
            "runs": lambda row: row.certificates[0].runs,
            "bound": lambda row: exact(row.certificates[0].bound),
            "fails_by": lambda row: "" if row.fails_by is None else row.fails_by,
        },
        remarks=[
            "Bounds of a row: Clopper-Pearson, joint level .999, fresh runs. A rule that is not refuted is not proved."
        ],
    )


def audit_curve(audit: Audit, path: str | Path) -> Path:
    """Draw the share of runs that have stopped with a wrong arm, against the number of looks, on the worst instance.

    Args:
        audit: The audit.
        path: The file to write, ``.png``, ``.svg`` or ``.pdf``; missing folders are made.

    Returns:
        The path of the file.

    Raises:
        ParameterError: If the file's ending is unknown.
        MissingPackageError: If matplotlib is not installed.
        OutputError: If the file cannot be written.
    """
    return _drawing(audit).save(path)


def audit_page(audit: Audit) -> str:
    """Return a web page of one file: the verdict, the figure where matplotlib is installed, instances, the script."""
    title, _, verdict = str(audit).partition("\n")
    again = f"<h2>Repeat it</h2>\n<pre>{html.escape(audit.script)}</pre>" if audit.script else ""
    body = f"""<p class="verdict">{html.escape(verdict)}</p>
{_drawing(audit).html("The share of runs that have stopped with a wrong arm, by the number of looks.")}
<h2>Instances found</h2>
{_finalists(audit).html()}
{again}"""
    return html_page(title, body, STYLE)


def _finalists(audit: Audit) -> Table[Certificate]:
    """Lay out the instances that the verdict rests on, the worst first."""
    columns = [
        Column[Certificate]("arms", lambda row: row.instance.in_words(), False),
        Column("errors", lambda row: f"{row.errors:,}"),
        Column("fresh runs", lambda row: f"{row.runs:,}"),
        Column("errors, %", lambda row: f"{100.0 * row.rate:.2f}"),
        Column("error probability at least", lambda row: f"{row.bound:.4f}"),
    ]
    remark = f"Bounds: Clopper-Pearson, all rows together at level .999, for a promise of at most {audit.delta:g}."
    return Table(audit.certificates, columns, {}, remarks=[remark])


def _drawing(audit: Audit) -> Drawing:
    @Drawing
    def drawing(figure: Any) -> Caption:
        from matplotlib.ticker import FuncFormatter

        axes = figure.add_subplot()
        looks, shares = audit.curve()
        last = audit.num_looks
        colour, _, _ = look(1)
        axes.step([1, *looks, last], [0.0, *shares, shares[-1] if shares else 0.0], where="post", color=colour)
        axes.axhline(audit.delta, color="black", linestyle="--", linewidth=1.0, label=f"promised: {audit.delta:g}")
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        axes.set_ylim(bottom=0.0)
        axes.set_xlabel("looks")
        axes.set_ylabel("runs that have stopped with a wrong arm")
        axes.set_title(f"{audit.rule}: {audit.verdict}")
        axes.legend()
        return Caption(
            None, "The line is the share of wrong runs on one instance; above the dashes the rule breaks its promise."
        )

    return drawing
