"""``bai-gym report``: folders of results as one web page, with tables and figures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bai_gym.cli.console import ERR, OUT, progress_bars
from bai_gym.cli.options import FOLDER, WHOLE
from bai_gym.errors import MissingPackageError

if TYPE_CHECKING:
    from bai_gym.page.content import Group
    from bai_gym.results.result import Outcomes, Runs

__all__ = ["report"]

PAGE = "report.html"


def report(
    folders: Annotated[
        list[Path], typer.Argument(**FOLDER, help="Folders of results, including their subfolders.", show_default=False)
    ],
    out: Annotated[Path, typer.Option(**FOLDER, help="Folder for the page, tables and figures.")] = Path("report"),
    size_limit: Annotated[
        int | None,
        typer.Option(
            **WHOLE,
            help="Maximum size of the page in bytes; recordings that do not fit are left out. [default: 5500000]",
        ),
    ] = None,
) -> None:
    """Turn folders of results into one web page, tables and figures."""
    from bai_gym.cli.output import check_files, print_paths
    from bai_gym.page import build_page, collect, standings
    from bai_gym.page.build import SIZE_LIMIT
    from bai_gym.page.files import save_figures, save_tables
    from bai_gym.results.reader import read_recordings, read_results
    from bai_gym.results.writer import write_atomically

    check_files(out, [PAGE])
    with progress_bars() as on_stage:
        on_stage("reading results", 0, None)
        # A folder may be given along with one of its parents.
        by_path = {table.path.resolve(): table for folder in folders for table in read_results(folder)}
        tables = list(by_path.values())
        recordings = [recording for folder in folders for recording in read_recordings(folder)]
        content = collect(tables, recordings)
        ranked = []
        for number, group in enumerate(content.groups):
            on_stage("ranking agents", number, len(content.groups))
            ranked.append(standings(group, _outcomes(group)))
        on_stage("writing the page", 0, None)
        page = build_page(content, ranked, SIZE_LIMIT if size_limit is None else size_limit)
        with write_atomically(out / PAGE) as draft:
            draft.write_text(page.html, encoding="utf-8", newline="\n")
        paths = [out / PAGE, *save_tables(content, ranked, out)]
    print_paths(paths)
    OUT.print(f"{page.size / 1e6:.1f} MB; open {out / PAGE} with a browser, it needs no network", soft_wrap=True)
    if page.left_out:
        ERR.print(page.left_out, soft_wrap=True)
    try:
        with progress_bars() as on_stage:
            figures = save_figures(content, ranked, out, lambda done, total: on_stage("drawing", done, total))
        print_paths(figures)
    except MissingPackageError as error:
        ERR.print(f"no figures: {error}", soft_wrap=True)


def _outcomes(group: Group) -> Outcomes:
    """Read the single runs of a group, from the folders of its results."""
    from bai_gym.results.reader import read_outcomes

    outcomes: dict[tuple[str, str, int], Runs] = {}
    for folder in dict.fromkeys(table.path.parent for table in group.tables):
        outcomes |= read_outcomes(folder, group.results)
    return outcomes
