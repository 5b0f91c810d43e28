"""Scores of models on disk, a file for every split, so that an interrupted computation resumes."""

from __future__ import annotations

import functools
import hashlib
import json
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

import numpy as np

from bai_gym.correlated.data.regression import RegressionTable
from bai_gym.correlated.problems.automl.grid import Model
from bai_gym.correlated.problems.automl.training import split_scores
from bai_gym.data.files import replace_file
from bai_gym.parallel import Workers, plays_elsewhere, run_calls
from bai_gym.statistics import FloatArray

__all__ = ["cached_scores", "folder_of"]

_FORMAT = 1  # raise it when the same data, models and seed give other scores


def cached_scores(
    table: RegressionTable, models: Sequence[Model], splits: int, *, cache: Path, workers: Workers = -1
) -> FloatArray:
    """Return the scores of models on some splits, those that are not on disk computed in parallel.

    They are known by the numbers in the table, the models, and the version of scikit-learn. A file is written as soon
    as its split is done, and never seen half-written. Where the folder cannot be written, a warning says so.

    Args:
        table: The data.
        models: K of them.
        splits: S; the splits have the seeds 0 to S - 1.
        cache: Where to look, and to write.
        workers: Processes, -1 for all cores; or an executor.

    Returns:
        ``(S, K)``, see :func:`bai_gym.correlated.problems.automl.training.split_scores`.

    Raises:
        DataError: Too few rows.
    """
    folder = folder_of(table, models, cache)
    found = {seed: _load(folder / f"{seed}.npy", len(models)) for seed in range(splits)}
    missing = [seed for seed, scores in found.items() if scores is None]
    troubles = set()
    if missing:
        elsewhere = plays_elsewhere(workers)  # on machines that do not see the folder
        place = None if elsewhere else folder
        calls = [functools.partial(_fill, table, tuple(models), seed, place) for seed in missing]
        with _progress(len(missing), table.name) as advance:

            def take(number: int, filled: tuple[FloatArray, str | None]) -> None:
                seed, (scores, trouble) = missing[number], filled
                found[seed] = scores
                troubles.add(_keep(folder, seed, scores) if elsewhere else trouble)
                advance()

            run_calls(calls, workers, take)
    if troubles - {None}:
        warnings.warn(
            f"the scores of models cannot be kept in {folder} ({next(iter(troubles - {None}))}), so every process "
            "computes its own; give cache=, or set BAI_GYM_CACHE, to a folder that can be written",
            UserWarning,
            stacklevel=2,
        )
    return np.stack([scores for scores in found.values() if scores is not None])


def folder_of(table: RegressionTable, models: Sequence[Model], cache: Path) -> Path:
    """Return the folder of these data and models."""
    kinds = [[model.family, model.parameters] for model in models]
    facts = [_FORMAT, table.digest, kinds, version("scikit-learn")]
    return cache / f"automl-{table.name}-{hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]}"


def _fill(
    table: RegressionTable, models: Sequence[Model], seed: int, folder: Path | None
) -> tuple[FloatArray, str | None]:
    """Compute one split and write it, if there is a folder; return it, and why it could not be written."""
    scores = split_scores(table, models, seed)
    return scores, None if folder is None else _keep(folder, seed, scores)


def _keep(folder: Path, seed: int, scores: FloatArray) -> str | None:
    """Write the scores of one split; return why that could not be done."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(folder / f"{seed}.npy", lambda file: np.save(file, scores, allow_pickle=False))
    except OSError as error:
        return str(error.strerror or error)
    return None


def _load(path: Path, num_models: int) -> FloatArray | None:
    """Return the scores in a file, or None where they are not there, or damaged."""
    try:
        scores: FloatArray = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    return scores if scores.dtype == np.float64 and scores.shape == (num_models,) else None


@contextmanager
def _progress(total: int, name: str) -> Iterator[Callable[[], object]]:
    """Show progress where somebody watches: this may take minutes."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(f"training models on {name}", total=total)
        yield lambda: bar.advance(task)
