"""Tables of results: for the terminal, as Markdown, as LaTeX, and as CSV.

All hold the same rows in the same order: by budget, then error probability, lowest first (by environment
before that where there are several). Each row shows the oracle knowledge of the agent, because variances or the
complexity make the task easier.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from numpy.typing import NDArray

from bai_gym.analysis.optimum import Gap, Optima, optimality_gap
from bai_gym.report.layout import Sheet, csv_text, decimals, exact, knows_words, number_notes

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["ResultLike", "checkpoint_table", "rich_table", "to_csv", "to_latex", "to_markdown"]

CSV_COLUMNS = (
    "agent",
    "env",
    "budget",
    "runs",
    "errors",
    "error_probability",
    "error_probability_lower",
    "error_probability_upper",
    "simple_regret",
    "simple_regret_se",
    "unspent",
    "sample_complexity",
    "sample_complexity_quantiles",
    "truncated",
    "knows",
    "mean_pulls",
    "notes",
)
GAP_COLUMNS = ("optimum", "optimality_gap", "optimality_gap_lower", "optimality_gap_upper")


class ResultLike(Protocol):
    """The interface of one result: one agent on one environment with one budget."""

    @property
    def agent(self) -> str:
        """Name of the agent."""

    @property
    def env(self) -> str:
        """Id of the environment."""

    @property
    def budget(self) -> int:
        """Total pulls over all arms in one run."""

    @property
    def runs(self) -> int:
        """Number of independent runs."""

    @property
    def errors(self) -> int:
        """Number of runs with a wrong recommendation."""

    @property
    def error_probability(self) -> float:
        """Estimated probability of misidentification, in [0, 1]."""

    @property
    def interval(self) -> tuple[float, float]:
        """95 % Wilson interval of the error probability."""

    @property
    def simple_regret(self) -> float:
        """Mean simple regret, in units of the reward."""

    @property
    def simple_regret_se(self) -> float:
        """Standard error of the mean simple regret."""

    @property
    def mean_pulls(self) -> NDArray[Any]:
        """Pulls of each arm, averaged over the runs, shape (K,)."""

    @property
    def unspent(self) -> float:
        """Mean number of unspent pulls."""

    @property
    def sample_complexity(self) -> float:
        """Mean number of pulls that the agent requested."""

    @property
    def sample_quantiles(self) -> tuple[float, ...]:
        """Its quantiles: 5, 25, 50, 75 and 95 %."""

    @property
    def truncated(self) -> int:
        """Episodes that the cap ended, with fixed confidence."""

    @property
    def seconds(self) -> float:
        """Time of the whole computation in seconds."""

    @property
    def knows(self) -> tuple[str, ...]:
        """Oracle knowledge of the agent."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks that a reader of the numbers needs."""

    @property
    def checkpoint(self) -> int | None:
        """Intermediate budget of the row; None without checkpoints."""

    @property
    def seed(self) -> int | None:
        """The user's seed; None if unknown."""


def rich_table(results: Sequence[ResultLike], optima: Optima | None = None) -> Table:
    """Lay results out for the terminal.

    Args:
        results: The results, in any order.
        optima: If not empty, there is a column of optimality gaps.

    Returns:
        A table with a row per result; notes become numbered footnotes in its caption.
    """
    rows = _sorted(results)
    return _sheet(rows, optima, seconds=True).terminal(None if _several_envs(rows) or not rows else rows[0].env)


def checkpoint_table(results: Sequence[ResultLike], most: int = 8) -> Table:
    """Lay out error probabilities at intermediate budgets for the terminal.

    Args:
        results: Results at checkpoints, of one environment and budget.
        most: Maximum number of columns; more checkpoints are thinned evenly, and the last one is kept.

    Returns:
        A table with a row per agent and a column per checkpoint, the lowest error at the last one first.
    """
    from rich.table import Table
    from rich.text import Text

    after = {(row.agent, row.checkpoint): row for row in results}
    points = sorted({row.checkpoint for row in results if row.checkpoint is not None})
    shown = points[-1 :: -max(1, -(-len(points) // most))][::-1]
    last = [row for row in _sorted(results) if row.checkpoint == points[-1]]
    table = Table()
    table.add_column("agent")
    for point in shown:
        table.add_column(f"{point:,}", justify="right")
    for row in last:
        places = decimals((row.interval[1] - row.interval[0]) / 2)
        cells = (f"{after[row.agent, point].error_probability:.{places}f}" for point in shown)
        table.add_row(Text(row.agent), *cells)
    return table


def to_markdown(results: Sequence[ResultLike], optima: Optima | None = None) -> str:
    """Lay results out as a Markdown table, for a file: as in :func:`to_csv`, the seconds are left out.

    Args:
        results: The results, in any order.
        optima: If not empty, there is a column of optimality gaps.

    Returns:
        The table, with a row per result and the notes as numbered footnotes below, ending in a line break.
    """
    return _sheet(_sorted(results), optima, seconds=False).markdown()


def to_latex(results: Sequence[ResultLike], optima: Optima | None = None) -> str:
    r"""Lay results out as a LaTeX table with the rules of booktabs, to be read by ``\input``; as :func:`to_markdown`.

    Args:
        results: The results, in any order.
        optima: If not empty, there is a column of optimality gaps.

    Returns:
        A ``tabular``, with the notes as numbered footnotes below, ending in a line break.
    """
    return _sheet(_sorted(results), optima, seconds=False).latex()


def to_csv(results: Sequence[ResultLike], optima: Optima | None = None) -> str:
    """Write results as CSV, with every digit.

    Equal results give equal bytes: floats are written by ``repr``, the shortest form that reads back to the same
    number, and the seconds, which differ between runs, are left out.

    Args:
        results: The results, in any order.
        optima: If not empty, there are columns of the optimum and of the optimality gap.

    Returns:
        The file: a header line and a line per result, each ending in a line feed. `knows` is ``none`` or names
        joined by ``;``, `mean_pulls` holds K numbers joined by spaces,
        `sample_complexity_quantiles` those at 5, 25, 50, 75 and 95 %, `notes` are joined by ``;``. The columns of an
        unknown optimum are empty.
    """
    points, seeds = _has_checkpoints(results), _several_seeds(results)
    return csv_text(
        CSV_COLUMNS
        + (("checkpoint",) if points else ())
        + (("seed",) if seeds else ())
        + (GAP_COLUMNS if optima else ()),
        (
            (
                row.agent,
                row.env,
                int(row.budget),
                int(row.runs),
                int(row.errors),
                exact(row.error_probability),
                exact(row.interval[0]),
                exact(row.interval[1]),
                exact(row.simple_regret),
                exact(row.simple_regret_se),
                exact(row.unspent),
                exact(row.sample_complexity),
                " ".join(exact(value) for value in row.sample_quantiles),
                int(row.truncated),
                ";".join(row.knows) or "none",
                " ".join(exact(pulls) for pulls in row.mean_pulls),
                ";".join(row.notes),
                *((row.checkpoint,) if points else ()),
                *((row.seed,) if seeds else ()),
                *(_gap_fields(row, optima) if optima else ()),
            )
            for row in _sorted(results)
        ),
    )


def _sorted(results: Sequence[ResultLike]) -> list[ResultLike]:
    """By environment, budget, checkpoint and error probability; ties by name, for any order of the input."""

    def key(row: ResultLike) -> tuple[object, ...]:
        return row.env, row.budget, row.checkpoint or 0, row.seed or 0, row.error_probability, row.agent, row.knows

    return sorted(results, key=key)


def _has_checkpoints(rows: Sequence[ResultLike]) -> bool:
    return any(row.checkpoint is not None for row in rows)


def _several_envs(rows: Sequence[ResultLike]) -> bool:
    return len({row.env for row in rows}) > 1


def _several_seeds(rows: Sequence[ResultLike]) -> bool:
    return len({row.seed for row in rows}) > 1


def _or_unknown_seed(row: ResultLike) -> str:
    return "unknown" if row.seed is None else str(row.seed)


def _sheet(rows: Sequence[ResultLike], optima: Optima | None, *, seconds: bool) -> Sheet:
    """Lay out sorted rows."""
    numbers = number_notes(row.notes for row in rows)
    cells = (tuple(_cells(row, rows, optima)) for row in rows)
    return Sheet(
        columns=tuple(_columns(rows, optima, seconds=seconds)),
        rows=tuple(line if seconds else line[:-1] for line in cells),
        marks=tuple(tuple(numbers[note] for note in row.notes) for row in rows),
        notes=tuple(numbers),
    )


def _columns(rows: Sequence[ResultLike], optima: Optima | None, *, seconds: bool) -> list[tuple[str, bool]]:
    """Headings, each with whether its column is numeric; the environment has a column where there are several."""
    return [
        ("agent", False),
        *([("env", False)] if _several_envs(rows) else []),
        ("budget", True),
        *([("after", True)] if _has_checkpoints(rows) else []),
        *([("seed", True)] if _several_seeds(rows) else []),
        ("runs", True),
        ("error probability [95 %]", True),
        *([("optimality gap [95 %]", True)] if optima else []),
        ("simple regret ± se", True),
        *([("pulls: mean [5 %, 95 %]", True)] if _pulls_vary(rows) else []),
        *([("truncated", True)] if any(row.truncated for row in rows) else []),
        ("oracle knowledge", False),
        *([("seconds", True)] if seconds else []),
    ]


def _gap(row: ResultLike, optima: Optima) -> Gap | None:
    optimum = optima.get((row.env, row.budget))
    return None if optimum is None else optimality_gap(row.error_probability, row.interval, optimum)


def _gap_fields(row: ResultLike, optima: Optima) -> tuple[str, ...]:
    """The fields of :data:`GAP_COLUMNS`."""
    gap = _gap(row, optima)
    if gap is None:
        return ("",) * len(GAP_COLUMNS)
    return tuple(map(exact, (optima[row.env, row.budget], gap.value, gap.lower, gap.upper)))


def _shown(gap: Gap | None, places: int) -> str:
    return "unknown" if gap is None else f"{gap.value:.{places}f} [{gap.lower:.{places}f}, {gap.upper:.{places}f}]"


def _pulls_vary(rows: Sequence[ResultLike]) -> bool:
    """Whether some agent decides when to stop."""
    return any(row.truncated or row.sample_quantiles[0] != row.sample_quantiles[-1] for row in rows)


def _cells(row: ResultLike, rows: Sequence[ResultLike], optima: Optima | None) -> list[str]:
    """The cells of a row, in the order of :func:`_columns`."""
    low, *_, high = row.sample_quantiles
    pulls = f"{row.sample_complexity:,.0f} [{low:,.0f}, {high:,.0f}]"
    lower, upper = row.interval
    places = decimals((upper - lower) / 2)
    regret_places = decimals(row.simple_regret_se)
    return [
        row.agent,
        *([row.env] if _several_envs(rows) else []),
        f"{row.budget:,}",
        *([f"{row.checkpoint or row.budget:,}"] if _has_checkpoints(rows) else []),
        *([_or_unknown_seed(row)] if _several_seeds(rows) else []),
        f"{row.runs:,}",
        f"{row.error_probability:.{places}f} [{lower:.{places}f}, {upper:.{places}f}]",
        *([_shown(_gap(row, optima), places)] if optima else []),
        f"{row.simple_regret:.{regret_places}f} ± {_or_unknown(row.simple_regret_se, regret_places)}",
        *([pulls] if _pulls_vary(rows) else []),
        *([f"{row.truncated:,}"] if any(other.truncated for other in rows) else []),
        knows_words(row.knows),
        f"{row.seconds:.1f}",
    ]


def _or_unknown(value: float, places: int) -> str:
    return "unknown" if math.isnan(value) else f"{value:.{places}f}"
