"""Tables of results: for the terminal, for Markdown, and as CSV.

All three hold the same rows in the same order: by budget, then error probability, lowest first (by environment
before that where there are several). Each row says what the agent knew about the instance, because an agent that was
told the variances or the complexity has answered an easier question.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from numpy.typing import NDArray

from bai_gym.benchmark.optimum import Gap, Optima, optimality_gap

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["ResultLike", "checkpoint_table", "decimals", "rich_table", "to_csv", "to_markdown"]

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
    """What a report reads of one result: one agent on one environment with one budget."""

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
        """Share of runs with a wrong recommendation, in [0, 1]."""

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
        """Mean number of pulls left over."""

    @property
    def sample_complexity(self) -> float:
        """Mean number of pulls that the agent asked for."""

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
        """What the agent was told about the true instance."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks that a reader of the numbers needs."""

    @property
    def checkpoint(self) -> int | None:
        """Pulls after which the answer was given; None where nobody asked for checkpoints."""


def rich_table(results: Sequence[ResultLike], optima: Optima | None = None) -> Table:
    """Lay results out for the terminal.

    Args:
        results: The results, in any order.
        optima: Where given and not empty, there is a column of optimality gaps.

    Returns:
        A table with a row per result; notes become numbered footnotes in its caption.
    """
    from rich.table import Table
    from rich.text import Text

    rows = _sorted(results)
    numbers = _footnotes(rows)
    columns, several = _columns(rows, optima, seconds=True), _several_envs(rows)
    # Text, not str: square brackets in a str would be read as markup.
    table = Table(
        title=None if several or not rows else Text(rows[0].env),
        caption=Text("\n".join(f"[{number}] {note}" for note, number in numbers.items())) if numbers else None,
        caption_justify="left",
    )
    for heading, numeric in columns:
        table.add_column(Text(heading), justify="right" if numeric else "left")
    for row in rows:
        marks = "".join(f" [{numbers[note]}]" for note in row.notes)
        table.add_row(*(Text(cell) for cell in _cells(row, rows, row.agent + marks, optima)))
    return table


def checkpoint_table(results: Sequence[ResultLike], most: int = 8) -> Table:
    """Lay out for the terminal how error probabilities fall with the pulls.

    Args:
        results: Results at checkpoints, of one environment and budget.
        most: Columns; of more checkpoints as many are shown, evenly spaced, the last one among them.

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
        optima: Where given and not empty, there is a column of optimality gaps.

    Returns:
        The table, with a row per result and the notes as numbered footnotes below, ending in a line break.
    """
    rows = _sorted(results)
    numbers = _footnotes(rows)
    columns = _columns(rows, optima, seconds=False)
    lines = [
        "| " + " | ".join(heading for heading, _ in columns) + " |",
        "| " + " | ".join("---:" if numeric else "---" for _, numeric in columns) + " |",
    ]
    for row in rows:
        marks = ", ".join(str(numbers[note]) for note in row.notes)
        agent = _escaped(row.agent) + (f" <sup>{marks}</sup>" if marks else "")
        cells = [agent, *(_escaped(cell) for cell in _cells(row, rows, row.agent, optima)[1:-1])]
        lines.append("| " + " | ".join(cells) + " |")
    if numbers:
        lines.append("")
        lines.extend(f"{number}. {note}" for note, number in numbers.items())
    return "\n".join(lines) + "\n"


def to_csv(results: Sequence[ResultLike], optima: Optima | None = None) -> str:
    """Write results as CSV, with every digit.

    Equal results give equal bytes, however they were computed: floats are written by ``repr``, the shortest form
    that reads back to the same number, and the seconds, which differ between two runs of anything, are left out.

    Args:
        results: The results, in any order.
        optima: Where given and not empty, there are columns of the optimum and of the optimality gap.

    Returns:
        The file: a header line and a line per result, each ending in a line feed. `knows` is ``nothing`` or names
        joined by ``;``, `mean_pulls` holds K numbers joined by spaces,
        `sample_complexity_quantiles` those at 5, 25, 50, 75 and 95 %, `notes` are joined by ``;``. The columns of an
        unknown optimum are empty.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    points = _has_checkpoints(results)
    writer.writerow(CSV_COLUMNS + (("checkpoint",) if points else ()) + (GAP_COLUMNS if optima else ()))
    for row in _sorted(results):
        writer.writerow(
            (
                row.agent,
                row.env,
                int(row.budget),
                int(row.runs),
                int(row.errors),
                _exact(row.error_probability),
                _exact(row.interval[0]),
                _exact(row.interval[1]),
                _exact(row.simple_regret),
                _exact(row.simple_regret_se),
                _exact(row.unspent),
                _exact(row.sample_complexity),
                " ".join(_exact(value) for value in row.sample_quantiles),
                int(row.truncated),
                ";".join(row.knows) or "nothing",
                " ".join(_exact(pulls) for pulls in row.mean_pulls),
                ";".join(row.notes),
                *((row.checkpoint,) if points else ()),
                *(_gap_fields(row, optima) if optima else ()),
            )
        )
    return buffer.getvalue()


def _sorted(results: Sequence[ResultLike]) -> list[ResultLike]:
    """By environment, budget, checkpoint and error probability; ties by name, whatever the order of the input."""

    def key(row: ResultLike) -> tuple[object, ...]:
        return row.env, row.budget, row.checkpoint or 0, row.error_probability, row.agent, row.knows

    return sorted(results, key=key)


def _has_checkpoints(rows: Sequence[ResultLike]) -> bool:
    return any(row.checkpoint is not None for row in rows)


def _several_envs(rows: Sequence[ResultLike]) -> bool:
    return len({row.env for row in rows}) > 1


def _footnotes(rows: Sequence[ResultLike]) -> dict[str, int]:
    """Number each distinct note, from 1, in order of appearance."""
    notes = dict.fromkeys(note for row in rows for note in row.notes)
    return {note: number for number, note in enumerate(notes, start=1)}


def _columns(rows: Sequence[ResultLike], optima: Optima | None, *, seconds: bool) -> list[tuple[str, bool]]:
    """Headings, each with whether its column is numeric; the environment has a column where there are several."""
    return [
        ("agent", False),
        *([("env", False)] if _several_envs(rows) else []),
        ("budget", True),
        *([("after", True)] if _has_checkpoints(rows) else []),
        ("runs", True),
        ("error probability [95 %]", True),
        *([("optimality gap [95 %]", True)] if optima else []),
        ("simple regret ± se", True),
        *([("pulls: mean [5 %, 95 %]", True)] if _pulls_vary(rows) else []),
        *([("truncated", True)] if any(row.truncated for row in rows) else []),
        ("knows", False),
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
    return tuple(map(_exact, (optima[row.env, row.budget], gap.value, gap.lower, gap.upper)))


def _shown(gap: Gap | None, places: int) -> str:
    return "unknown" if gap is None else f"{gap.value:.{places}f} [{gap.lower:.{places}f}, {gap.upper:.{places}f}]"


def _pulls_vary(rows: Sequence[ResultLike]) -> bool:
    """Whether some agent decides when to stop."""
    return any(row.truncated or row.sample_quantiles[0] != row.sample_quantiles[-1] for row in rows)


def _cells(row: ResultLike, rows: Sequence[ResultLike], agent: str, optima: Optima | None) -> list[str]:
    """The cells of a row, in the order of :func:`_columns`."""
    low, *_, high = row.sample_quantiles
    pulls = f"{row.sample_complexity:,.0f} [{low:,.0f}, {high:,.0f}]"
    lower, upper = row.interval
    places = decimals((upper - lower) / 2)
    regret_places = decimals(row.simple_regret_se)
    return [
        agent,
        *([row.env] if _several_envs(rows) else []),
        f"{row.budget:,}",
        *([f"{row.checkpoint or row.budget:,}"] if _has_checkpoints(rows) else []),
        f"{row.runs:,}",
        f"{row.error_probability:.{places}f} [{lower:.{places}f}, {upper:.{places}f}]",
        *([_shown(_gap(row, optima), places)] if optima else []),
        f"{row.simple_regret:.{regret_places}f} ± {_or_unknown(row.simple_regret_se, regret_places)}",
        *([pulls] if _pulls_vary(rows) else []),
        *([f"{row.truncated:,}"] if any(other.truncated for other in rows) else []),
        ", ".join(row.knows) or "nothing",
        f"{row.seconds:.1f}",
    ]


def decimals(uncertainty: float) -> int:
    """Decimals that show two digits of the uncertainty, between 2 and 8; 4 where it is 0 or unknown."""
    if not (math.isfinite(uncertainty) and uncertainty > 0):
        return 4
    return min(max(1 - math.floor(math.log10(uncertainty)), 2), 8)


def _or_unknown(value: float, places: int) -> str:
    return "unknown" if math.isnan(value) else f"{value:.{places}f}"


def _exact(value: float) -> str:
    """Shortest decimal form that reads back to the same float."""
    return repr(float(value))


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|")
