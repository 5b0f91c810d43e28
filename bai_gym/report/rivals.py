"""Tables of one agent against each of the others: for the terminal, as Markdown, as LaTeX, and as CSV.

All hold the same rows in the same order: by environment and budget, then by the difference of the error
probabilities, the strongest rival first.
"""

from __future__ import annotations

from collections.abc import Sequence

from bai_gym.results.layout import Column, Table, decimals, exact
from bai_gym.results.result import Rival

__all__ = ["rivals_table"]


def rivals_table(reference: str, rivals: Sequence[Rival]) -> Table[Rival]:
    """Lay paired tests out below a sentence; in CSV, equal results give equal bytes.

    Args:
        reference: Name of the agent that all others are compared with.
        rivals: The others, in any order; at least one.
    """
    rows = sorted(rivals, key=lambda row: (row.env, row.budget, -row.test.difference, row.agent))
    several = len({row.env for row in rows}) > 1
    heading = f"{reference} against each other agent, on the same instances"
    return Table(
        rows,
        [
            Column("against", lambda row: row.agent, False),
            *([Column[Rival]("env", lambda row: row.env, False)] if several else []),
            Column("budget", lambda row: f"{row.budget:,}"),
            Column(f"difference of the error probabilities [{100 * rows[0].test.level:g} %]", _difference),
            Column("p-value", lambda row: "< 0.0001" if row.test.p_value < 1e-4 else f"{row.test.p_value:.4f}"),
        ],
        {
            "reference": lambda _: reference,
            "agent": lambda row: row.agent,
            "env": lambda row: row.env,
            "budget": lambda row: row.budget,
            "runs": lambda row: row.test.runs,
            "difference": lambda row: exact(row.test.difference),
            "difference_lower": lambda row: exact(row.test.interval[0]),
            "difference_upper": lambda row: exact(row.test.interval[1]),
            "level": lambda row: exact(row.test.level),
            "p_value": lambda row: exact(row.test.p_value),
            "only_reference_errs": lambda row: row.test.only_a_errs,
            "only_agent_errs": lambda row: row.test.only_b_errs,
        },
        title=heading,
        above=f"{heading}.",
    )


def _difference(row: Rival) -> str:
    lower, upper = row.test.interval
    places = decimals((upper - lower) / 2)
    return f"{row.test.difference:+.{places}f} [{lower:+.{places}f}, {upper:+.{places}f}]"
