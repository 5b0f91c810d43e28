"""Tables of one agent against each of the others: for the terminal, for Markdown, and as CSV.

All three hold the same rows in the same order: by environment and budget, then by the difference of the error
probabilities, the strongest rival first.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

from bai_gym.benchmark.result import Rival
from bai_gym.report.tables import decimals

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["rivals_table", "rivals_to_csv", "rivals_to_markdown"]

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
    from rich.table import Table
    from rich.text import Text

    rows = _sorted(rivals)
    table = Table(title=Text(f"{reference} against each other agent, on the same instances"))
    for heading, numeric in _columns(rows):
        table.add_column(Text(heading), justify="right" if numeric else "left")
    for row in rows:
        table.add_row(*(Text(cell) for cell in _cells(row, rows)))
    return table


def rivals_to_markdown(reference: str, rivals: Sequence[Rival]) -> str:
    """Lay paired tests out as a Markdown table below a sentence, ending in a line break; see :func:`rivals_table`."""
    rows = _sorted(rivals)
    columns = _columns(rows)
    lines = [
        f"{reference} against each other agent, on the same instances.",
        "",
        "| " + " | ".join(heading for heading, _ in columns) + " |",
        "| " + " | ".join("---:" if numeric else "---" for _, numeric in columns) + " |",
    ]
    lines.extend("| " + " | ".join(cell.replace("|", "\\|") for cell in _cells(row, rows)) + " |" for row in rows)
    return "\n".join(lines) + "\n"


def rivals_to_csv(reference: str, rivals: Sequence[Rival]) -> str:
    """Write paired tests as CSV, with every digit; equal results give equal bytes. See :func:`rivals_table`."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for row in _sorted(rivals):
        test = row.test
        writer.writerow(
            (
                reference,
                row.agent,
                row.env,
                row.budget,
                test.runs,
                repr(test.difference),
                *map(repr, test.interval),
                repr(test.level),
                repr(test.p_value),
                test.only_a_errs,
                test.only_b_errs,
            )
        )
    return buffer.getvalue()


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
