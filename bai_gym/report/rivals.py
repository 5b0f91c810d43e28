"""Tables of one agent against each of the others: for the terminal, as Markdown, as LaTeX, and as CSV.

Those of errors hold the same rows in the same order: by environment and budget, then by the difference of the error
probabilities, the strongest rival first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from bai_gym.results.comparison import PullsAgainst, Rival
from bai_gym.results.layout import Column, Table, decimals, exact
from bai_gym.results.pairs import DIFFERENCE

__all__ = ["pulls_table", "rivals_table"]


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
            Column("p-value", lambda row: _p_value(row.test.p_value)),
        ],
        {
            "reference": lambda _: reference,
            "agent": lambda row: row.agent,
            "env": lambda row: row.env,
            "budget": lambda row: row.budget,
            **DIFFERENCE,
            "p_value": lambda row: exact(row.test.p_value),
            "only_reference_errs": lambda row: row.test.only_a_errs,
            "only_agent_errs": lambda row: row.test.only_b_errs,
        },
        title=heading,
        above=f"{heading}.",
    )


def pulls_table(rows: Sequence[PullsAgainst]) -> Table[PullsAgainst]:
    """Lay out how many more pulls agents need than the one that needs the fewest.

    Args:
        rows: What :func:`bai_gym.analysis.pulls.against_fewest` returns; at least one.
    """
    several = len({row.env for row in rows}) > 1
    heading = "Pulls of each agent against the one with the fewest, on the same instances"
    return Table(
        rows,
        [
            Column("agent", lambda row: row.agent, False),
            Column("fewest", lambda row: row.reference, False),
            *([Column[PullsAgainst]("env", lambda row: row.env, False)] if several else []),
            Column("at most", lambda row: f"{row.budget:,}"),
            Column(f"difference of the mean pulls [{100 * rows[0].test.level:g} %]", _more_pulls),
            Column("ratio", lambda row: f"{row.test.ratio:.2f}"),
            Column("p-value", lambda row: _p_value(row.test.p_value)),
        ],
        {
            "agent": lambda row: row.agent,
            "reference": lambda row: row.reference,
            "env": lambda row: row.env,
            "budget": lambda row: row.budget,
            **DIFFERENCE,
            "ratio": lambda row: exact(row.test.ratio),
            "p_value": lambda row: exact(row.test.p_value),
        },
        title=heading,
        above=f"{heading}.",
        remarks=(
            "Paired t-tests and intervals, without correction for multiple tests; runs at the cap count with it.",
        ),
    )


def _more_pulls(row: PullsAgainst) -> str:
    lower, upper = row.test.interval
    ends = "unknown" if math.isnan(lower) else f"{lower:+,.0f}, {upper:+,.0f}"
    return f"{row.test.difference:+,.0f} [{ends}]"


def _p_value(value: float) -> str:
    return "< 0.0001" if value < 1e-4 else f"{value:.4f}"


def _difference(row: Rival) -> str:
    lower, upper = row.test.interval
    places = decimals((upper - lower) / 2)
    return f"{row.test.difference:+.{places}f} [{lower:+.{places}f}, {upper:+.{places}f}]"
