"""Tables of one agent against each of the others: for the terminal, as Markdown, as LaTeX, and as CSV.

All hold the same rows in the same order: by environment and budget, then by the difference of the error
probabilities, the strongest rival first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bai_gym.report.layout import Sheet, csv_text, decimals, exact
from bai_gym.results.result import Rival

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["rivals_table", "rivals_to_csv", "rivals_to_latex", "rivals_to_markdown"]

CSV_COLUMNS = (
    "reference",
    "agent",
    "env",
    "budget",
    "runs",
    "difference",
    "difference_lower",
    "difference_upper",
    "level",
    "p_value",
    "only_reference_errs",
    "only_agent_errs",
)


def rivals_table(reference: str, rivals: Sequence[Rival]) -> Table:
    """Lay paired tests out for the terminal.

    Args:
        reference: Name of the agent that all others are compared with.
        rivals: The others, in any order; at least one.
    """
    return _sheet(reference, rivals).terminal()


def rivals_to_markdown(reference: str, rivals: Sequence[Rival]) -> str:
    """Lay paired tests out as a Markdown table below a sentence, ending in a line break; see :func:`rivals_table`."""
    return _sheet(reference, rivals, ".").markdown()


def rivals_to_latex(reference: str, rivals: Sequence[Rival]) -> str:
    """Lay paired tests out as a LaTeX table, with the rules of booktabs, below a sentence; see :func:`rivals_table`."""
    return _sheet(reference, rivals, ".").latex()


def rivals_to_csv(reference: str, rivals: Sequence[Rival]) -> str:
    """Write paired tests as CSV, with every digit; equal results give equal bytes. See :func:`rivals_table`."""
    return csv_text(
        CSV_COLUMNS,
        (
            (
                reference,
                row.agent,
                row.env,
                row.budget,
                row.test.runs,
                exact(row.test.difference),
                *map(exact, row.test.interval),
                exact(row.test.level),
                exact(row.test.p_value),
                row.test.only_a_errs,
                row.test.only_b_errs,
            )
            for row in _sorted(rivals)
        ),
    )


def _sheet(reference: str, rivals: Sequence[Rival], stop: str = "") -> Sheet:
    """Lay out the table below a sentence, which ends in `stop`."""
    rows = _sorted(rivals)
    return Sheet(
        columns=tuple(_columns(rows)),
        rows=tuple(tuple(_cells(row, rows)) for row in rows),
        above=f"{reference} against each other agent, on the same instances{stop}",
    )


def _sorted(rivals: Sequence[Rival]) -> list[Rival]:
    return sorted(rivals, key=lambda row: (row.env, row.budget, -row.test.difference, row.agent))


def _columns(rows: Sequence[Rival]) -> list[tuple[str, bool]]:
    """Headings, each with whether its column is numeric; the environment has a column where there are several."""
    return [
        ("against", False),
        *([("env", False)] if _several_envs(rows) else []),
        ("budget", True),
        (f"difference of the error probabilities [{100 * rows[0].test.level:g} %]", True),
        ("p-value", True),
    ]


def _several_envs(rows: Sequence[Rival]) -> bool:
    return len({row.env for row in rows}) > 1


def _cells(row: Rival, rows: Sequence[Rival]) -> list[str]:
    lower, upper = row.test.interval
    places = decimals((upper - lower) / 2)
    return [
        row.agent,
        *([row.env] if _several_envs(rows) else []),
        f"{row.budget:,}",
        f"{row.test.difference:+.{places}f} [{lower:+.{places}f}, {upper:+.{places}f}]",
        "< 0.0001" if row.test.p_value < 1e-4 else f"{row.test.p_value:.4f}",
    ]
