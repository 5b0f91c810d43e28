"""Merges folders of results: of several machines, or of commands that wrote to different folders."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from bai_gym.errors import OutputError, ParameterError
from bai_gym.results.reader import PARTS, ResultTable, gather, read_results
from bai_gym.results.writer import RESULTS, ResultsWriter, write_atomically

__all__ = ["merge_results"]


def merge_results(folders: Sequence[str | Path], out: str | Path) -> ResultTable:
    """Copy the chunks, recordings and results of some folders into one; nothing there is lost.

    Of the same agent, environment, budget, checkpoint and seed, the row with more runs is kept. A command that is
    repeated in the merged folder, with more runs, agents or budgets, plays only what is missing.

    Args:
        folders: Folders that `bai-gym run` or :func:`bai_gym.compare` have written, at least one.
        out: Where to merge them; created if missing. It may hold results already.

    Returns:
        The results in ``out``.

    Raises:
        OutputError: If a folder holds no results, or ``out`` cannot be written to.
        ParameterError: If there are no folders, or ``out`` is one of them.
    """
    sources, target = [Path(folder) for folder in folders], Path(out)
    if not sources:
        raise ParameterError("give at least one folder to merge")
    for source in sources:
        if source.resolve() == target.resolve():
            raise ParameterError(f"{source} is where the others are merged: name it once, as the output folder")
        if not (source / RESULTS).is_file():
            read_results(source)  # says what is wrong with a folder without results
            raise OutputError(f"{source} has no {RESULTS}: merge the folders of `bai-gym run` or bai_gym.compare(out=)")
    writer = ResultsWriter(target)
    merged = gather(target / RESULTS, ())
    for source in sources:
        for part in (path for kind in PARTS for path in sorted((source / kind).glob("*/*.parquet"))):
            copy = target / part.relative_to(source)
            if not copy.exists():
                with write_atomically(copy) as draft:
                    shutil.copyfile(part, draft)
        table = gather(source / RESULTS, ())
        merged = gather(target / RESULTS, table.results, table.command, table.optima)
        writer.save_results(merged.results, optima=merged.optima, facts={"command": merged.command})
    return merged
