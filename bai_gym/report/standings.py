"""Tables of leaderboards: for the terminal, as Markdown, as LaTeX, and as CSV."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from bai_gym.results.layout import Column, Table, decimals, estimate_fields, exact, format_knowledge, with_interval
from bai_gym.results.leaderboard import Leaderboard, Standing

__all__ = ["leaderboards_table"]

Line: TypeAlias = tuple[Leaderboard, Standing]


def leaderboards_table(boards: Sequence[Leaderboard], remarks: Sequence[str] = ()) -> Table[Line]:
    """Lay leaderboards out in one table, one below the other in the order given; further remarks come last.

    In CSV, `budgets` are joined by spaces, several in an overall leaderboard; `oracle_knowledge` is ``none`` or
    names joined by ``;``, as are `notes`; `paired` is ``yes`` where all agents of the leaderboard were compared run by
    run, else ``no``. The columns of an unknown excess error are empty.
    """
    rows = [(board, row) for board in boards for row in board.standings]
    several = len({board.env for board in boards}) > 1
    known = any(row.excess_error is not None for _, row in rows)
    levels = sorted({board.level for board in boards})
    share = " to ".join(f"{100 * level:g} %" for level in levels) or "95 %"
    return Table(
        rows,
        [
            *([Column[Line]("env", lambda line: line[0].env, False)] if several else []),
            Column("budget", lambda line: _budget(line[0])),
            Column(f"rank [{share}]", lambda line: "{} [{}, {}]".format(line[1].rank, *line[1].rank_interval)),
            Column("agent", lambda line: line[1].agent, False),
            Column("runs", lambda line: f"{line[1].runs:,}"),
            Column(
                f"error probability [{share}]",
                lambda line: with_interval(line[1].error_probability, *line[1].interval),
            ),
            *([Column[Line](f"excess error [{share}]", lambda line: _excess(line[1]))] if known else []),
            Column("oracle knowledge", lambda line: format_knowledge(line[1].knows), False),
        ],
        {
            "env": lambda line: line[0].env,
            "budgets": lambda line: " ".join(map(str, line[0].budgets)),
            "agent": lambda line: line[1].agent,
            "rank": lambda line: line[1].rank,
            "rank_lower": lambda line: line[1].rank_interval[0],
            "rank_upper": lambda line: line[1].rank_interval[1],
            "runs": lambda line: line[1].runs,
            "error_probability": lambda line: exact(line[1].error_probability),
            "error_probability_lower": lambda line: exact(line[1].interval[0]),
            "error_probability_upper": lambda line: exact(line[1].interval[1]),
            **estimate_fields("excess_error", lambda line: line[1].excess_error),
            "level": lambda line: exact(line[0].level),
            "paired": lambda line: "yes" if line[0].paired else "no",
            "oracle_knowledge": lambda line: format_knowledge(line[1].knows).replace(", ", ";"),
            "notes": lambda line: ";".join(line[1].notes),
        },
        notes=lambda line: line[1].notes,
        marked=3 if several else 2,
        title=None if several or not boards else boards[0].env,
        remarks=(*_remarks(boards, share), *remarks),
    )


def _budget(board: Leaderboard) -> str:
    return f"mean of {len(board.budgets)}" if board.overall else f"{board.budgets[0]:,}"


def _excess(row: Standing) -> str:
    if row.excess_error is None:
        return "unknown"
    excess = row.excess_error
    places = decimals((row.interval[1] - row.interval[0]) / 2)
    return f"{excess.value:.{places}f} [{excess.lower:.{places}f}, {excess.upper:.{places}f}]"


def _remarks(boards: Sequence[Leaderboard], share: str) -> tuple[str, ...]:
    """Remarks about the ranks."""
    ranked = [board for board in boards if board.pairs]
    remarks = []
    if ranked:
        remarks.append(
            f"Rank intervals of one leaderboard hold jointly with a confidence of {share}: exact tests of all pairs "
            "of agents on the same instances, corrected for their number (Holm)."
        )
    if any(not board.paired for board in ranked):
        whole = all(not pair.paired for board in ranked for pair in board.pairs)
        remarks.append(
            ("The" if whole else "Some")
            + " tests are not paired, for want of outcomes of single runs or of equal numbers of runs: they are less "
            "powerful."
        )
    for board in boards:
        if board.left_out:
            remarks.append(
                f"Not in the mean over budgets on {board.env}: {', '.join(board.left_out)}, for want of equally many "
                "runs at every budget."
            )
    return tuple(remarks)
