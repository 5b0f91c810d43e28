"""``bai-gym merge``: folders of results as one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bai_gym.cli.options import FOLDER

__all__ = ["merge"]


def merge(
    folders: Annotated[
        list[Path], typer.Argument(**FOLDER, help="Folders of `bai-gym run`, for example of several machines.")
    ],
    out: Annotated[Path, typer.Option(**FOLDER, help="Where to merge them; it may hold results already.")],
) -> None:
    """Merge folders of results into one. A command that is repeated there plays only what is missing."""
    from bai_gym.cli.output import check_files, print_paths, result_files, save_results
    from bai_gym.results.merging import merge_results

    check_files(out, result_files())
    table = merge_results(folders, out)
    print_paths(save_results(table.results, out, optima=table.optima, facts={"command": table.command}))
