"""Audits of stopping rules as a figure, and as a table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bai_gym.auditing import Audit
from bai_gym.report.canvas import look, save, settings, target_of, write_sentence
from bai_gym.results.layout import Column, Table, exact

__all__ = ["audit_curve", "audits_table"]


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
    target = target_of(path)
    with settings():
        return save(_figure(audit), target)


def _figure(audit: Audit) -> Any:
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter

    figure = Figure(figsize=(8.0, 4.5), layout="constrained")
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
    write_sentence(
        figure, "The line is the share of wrong runs on one instance; above the dashes the rule breaks its promise."
    )
    return figure
