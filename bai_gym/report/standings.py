"""Tables of leaderboards: for the terminal, as Markdown, as LaTeX, and as CSV."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bai_gym.analysis.leaderboard import Leaderboard, Standing
from bai_gym.report.layout import Sheet, csv_text, decimals, exact, knows_words, number_notes, with_interval

if TYPE_CHECKING:
    from rich.table import Table

__all__ = [
    "leaderboards_table",
    "leaderboards_to_csv",
    "leaderboards_to_latex",
    "leaderboards_to_markdown",
]

CSV_COLUMNS = (
    "env",
    "budgets",
    "agent",
    "rank",
    "rank_lower",
    "rank_upper",
    "runs",
    "error_probability",
    "error_probability_lower",
    "error_probability_upper",
    "optimality_gap",
    "optimality_gap_lower",
    "optimality_gap_upper",
    "level",
    "paired",
    "knows",
    "notes",
)


def leaderboards_table(boards: Sequence[Leaderboard]) -> Table:
    """Lay leaderboards out for the terminal, one below the other in the order given."""
    return _sheet(boards).terminal(boards[0].env if len({board.env for board in boards}) == 1 else None)


def leaderboards_to_markdown(boards: Sequence[Leaderboard]) -> str:
    """Lay leaderboards out as one Markdown table, in the order given, ending in a line break."""
    return _sheet(boards).markdown()


def leaderboards_to_latex(boards: Sequence[Leaderboard]) -> str:
    """Lay leaderboards out as one LaTeX table with the rules of booktabs, in the order given."""
    return _sheet(boards).latex()


def leaderboards_to_csv(boards: Sequence[Leaderboard]) -> str:
    """Write leaderboards as CSV, with every digit, in the order given.

    Returns:
        The file: a header line and a line per agent. `budgets` are joined by spaces, several in an overall leaderboard;
        `knows` is ``none``, ``unknown``, or names joined by ``;``, as are `notes`; `paired` is ``yes`` where all
        agents of the leaderboard were compared run by run, else ``no``. The columns of an unknown gap are empty.
    """
    return csv_text(
        CSV_COLUMNS,
        (
            (
                board.env,
                " ".join(map(str, board.budgets)),
                row.agent,
                row.rank,
                *row.rank_interval,
                row.runs,
                exact(row.error_probability),
                *map(exact, row.interval),
                *(("",) * 3 if row.gap is None else map(exact, (row.gap.value, row.gap.lower, row.gap.upper))),
                exact(board.level),
                "yes" if board.paired else "no",
                knows_words(row.knows).replace(", ", ";"),
                ";".join(row.notes),
            )
            for board in boards
            for row in board.standings
        ),
    )


def _sheet(boards: Sequence[Leaderboard]) -> Sheet:
    rows = [(board, row) for board in boards for row in board.standings]
    several = len({board.env for board in boards}) > 1
    gaps = any(row.gap is not None for _, row in rows)
    levels = sorted({board.level for board in boards})
    share = " to ".join(f"{100 * level:g} %" for level in levels) or "95 %"
    numbers = number_notes(row.notes for _, row in rows)
    return Sheet(
        columns=(
            *([("env", False)] if several else []),
            ("budget", True),
            (f"rank [{share}]", True),
            ("agent", False),
            ("runs", True),
            (f"error probability [{share}]", True),
            *([(f"optimality gap [{share}]", True)] if gaps else []),
            ("oracle knowledge", False),
        ),
        rows=tuple(_cells(board, row, several, gaps) for board, row in rows),
        marks=tuple(tuple(numbers[note] for note in row.notes) for _, row in rows),
        notes=tuple(numbers),
        marked=3 if several else 2,
        remarks=_remarks(boards, share),
    )


def _cells(board: Leaderboard, row: Standing, several: bool, gaps: bool) -> tuple[str, ...]:
    first, last = row.rank_interval
    places = decimals((row.interval[1] - row.interval[0]) / 2)
    gap = "unknown"
    if row.gap is not None:
        gap = f"{row.gap.value:.{places}f} [{row.gap.lower:.{places}f}, {row.gap.upper:.{places}f}]"
    return (
        *([board.env] if several else []),
        f"mean of {len(board.budgets)}" if board.overall else f"{board.budgets[0]:,}",
        f"{row.rank} [{first}, {last}]",
        row.agent,
        f"{row.runs:,}",
        with_interval(row.error_probability, *row.interval),
        *([gap] if gaps else []),
        knows_words(row.knows),
    )


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
