"""Prints results and writes them to the output folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bai_gym.cli.console import ERR, OUT
from bai_gym.errors import MissingPackageError, OutputError
from bai_gym.report.figures import error_curves
from bai_gym.report.rivals import rivals_table
from bai_gym.report.runs import stopping_times
from bai_gym.report.tables import parts, results_table
from bai_gym.results.comparison import Comparison, Rival
from bai_gym.results.reader import gather, read_outcomes
from bai_gym.results.result import Optima, Result
from bai_gym.results.writer import RESULTS, ResultsWriter, check_replaceable
from bai_gym.theory import BOUNDS, CONFIDENCE_BOUNDS, THRESHOLD_BOUNDS

__all__ = [
    "check_files",
    "draw",
    "draw_curves",
    "draw_stopping",
    "print_bounds",
    "print_missing",
    "print_paths",
    "print_results",
    "print_rivals",
    "result_files",
    "rival_files",
    "save_all_results",
    "save_results",
    "save_rivals",
]

KINDS = {
    ".zip": "model",
    ".npz": "weights",
    ".html": "page",
    ".png": "figure",
    ".svg": "figure",
    ".pdf": "figure",
    ".md": "table",
    ".csv": "table",
    ".tex": "table",
    ".parquet": "table",
    ".txt": "claims",
    ".json": "verdict",
    ".py": "script",
}


def print_results(results: Comparison, optima: Optima | None = None) -> None:
    """Print the tables."""
    for part in parts(results, optima):
        OUT.print(part if isinstance(part, str) else part.rich(), soft_wrap=isinstance(part, str))


def result_files(name: str = "results") -> tuple[str, ...]:
    """Return the names of the files that :func:`save_results` writes."""
    return tuple(f"{name}{suffix}" for suffix in (".parquet", ".csv", ".md"))


def rival_files(name: str) -> tuple[str, ...]:
    """Return the names of the files that :func:`save_rivals` writes."""
    return tuple(f"{name}-paired{suffix}" for suffix in (".csv", ".md"))


def check_files(folder: Path, names: Iterable[str]) -> None:
    """Reject files that cannot be written, before any work is done.

    Raises:
        OutputError: For the first file that is a folder.
        SchemaError: For the first file that a newer version of this library wrote.
    """
    for path in (folder / name for name in names):
        if path.is_dir():
            raise OutputError(f"cannot write {path}: it is a folder; rename it, or choose another output folder")
        if path.suffix == ".parquet":
            check_replaceable(path)


def save_results(
    results: Sequence[Result],
    folder: Path,
    name: str = "results",
    optima: Optima | None = None,
    facts: Mapping[str, Any] | None = None,
) -> list[Path]:
    """Write the table as Parquet, CSV and Markdown; the facts are for :mod:`bai_gym.results.reader`."""
    writer = ResultsWriter(folder)
    parquet, csv, markdown = result_files(name)
    table = results_table(results, optima)
    return [
        writer.save_results(results, parquet, optima=optima, facts=facts),
        writer.save_text(csv, table.csv()),
        writer.save_text(markdown, table.markdown()),
    ]


def save_all_results(folder: Path, optima: Optima | None = None) -> tuple[Sequence[Result], list[Path]]:
    """Write the tables of all results that :func:`bai_gym.compare` has left in a folder; return results and paths."""
    table = gather(folder / RESULTS, (), optima=optima)
    return table.results, save_results(table.results, folder, optima=table.optima, facts={"command": table.command})


def print_rivals(reference: str, rivals: Sequence[Rival]) -> None:
    """Print the paired comparisons of an agent with the others."""
    OUT.print(rivals_table(reference, rivals).rich())
    OUT.print("Below 0: fewer errors. Tango intervals and exact McNemar tests, without correction for multiple tests.")


def save_rivals(reference: str, rivals: Sequence[Rival], folder: Path, name: str) -> list[Path]:
    """Write the same as CSV and Markdown."""
    writer = ResultsWriter(folder)
    csv, markdown = rival_files(name)
    table = rivals_table(reference, rivals)
    return [
        writer.save_text(csv, table.csv()),
        writer.save_text(markdown, table.markdown()),
    ]


def draw(figure: Callable[[], Path]) -> list[Path]:
    """Draw a figure and return its path; without matplotlib, print a message and continue."""
    try:
        return [figure()]
    except MissingPackageError as error:
        ERR.print(f"no figure: {error}", soft_wrap=True)
        return []


def draw_curves(results: Sequence[Result], path: Path, **options: Any) -> list[Path]:
    """Draw error probabilities, on a logarithmic axis, with the options of :func:`bai_gym.report.error_curves`."""
    return draw(lambda: error_curves(results, path, log=True, **options))


def draw_stopping(
    results: Sequence[Result],
    folder: Path,
    path: Path,
    *,
    title: str | None = None,
    agents: Sequence[str] | None = None,
) -> list[Path]:
    """Draw the stopping times of runs in a folder, those with the largest cap."""
    cap = max(row.budget for row in results)
    rows = [row for row in results if row.budget == cap]
    pulls = {agent: episodes.spent for (agent, _, _), episodes in read_outcomes(folder, rows).items()}
    subset = [row for row in rows if row.agent in pulls]
    return draw(lambda: stopping_times(subset, pulls, path, title=title, agents=agents))


def print_bounds(bounds: Mapping[tuple[str, str, int], float]) -> None:
    """Print the proved bounds on the error probabilities."""
    if not bounds:
        OUT.print("Bounds: no theorem covers these agents, with these parameters, on these rewards.")
        return
    OUT.print("Bounds on the error probability (clipped to 1; averaged over instances):", style="bold")
    theorems = BOUNDS | CONFIDENCE_BOUNDS | THRESHOLD_BOUNDS
    for (agent, env, budget), value in bounds.items():
        OUT.print(f"  {agent} on {env}, budget {budget:,}: {value:.4g} ({theorems[agent.partition('(')[0]].citation})")


def print_missing(sentences: Sequence[str]) -> None:
    """Print reasons for missing entries, one per line."""
    for sentence in sentences:
        OUT.print(sentence, soft_wrap=True)


def print_paths(paths: Sequence[Path]) -> None:
    """Print the paths of files."""
    for path in paths:
        OUT.print(f"{KINDS[path.suffix]}: {path}", soft_wrap=True)
