"""Logs of evaluation tools: the score of each model on each question, and which model is best.

The samples of lm-evaluation-harness (``samples_TASK_DATE.jsonl``, written with ``--log_samples``) are in a folder with
the name of the model. The logs of Inspect (``.eval``, a zip archive, or ``.json``) name it. Each file has the scores of
one model on one task.
"""

from __future__ import annotations

import json
import re
import struct
import zipfile
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pyarrow as pa

from bai_gym.data import ScoreMatrix
from bai_gym.data.csv_file import first_line
from bai_gym.errors import DataError
from bai_gym.live.summary import listed
from bai_gym.rewards import Rewards
from bai_gym.validation import AnyPath, choice

__all__ = ["common_questions", "read_evaluations"]

_Log = tuple[str, str, list[tuple[str, str, Any]]]  # model, task, and scores: question, metric, value

_NAMES = ("samples_*.jsonl", "*.eval", "[0-9]*_*.json")  # of logs in folders; results_*.json are none
_NO_METRICS = ("doc_id", "target")  # fields of a sample that may be numbers
_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}  # correct, partially correct, incorrect, no answer
_WHOLE = 5000  # characters that summaries of samples have of a text


def read_evaluations(*paths: AnyPath, metric: str | None = None) -> ScoreMatrix:
    """Read logs of lm-evaluation-harness or Inspect.

    Questions are the same if they have the same task and number or id, and the same document (lm-evaluation-harness,
    by its hash) or target (Inspect). The score of a question is the mean over its epochs, which are no independent
    questions. Inspect's grades C, P, I and N count as 1, 0.5, 0 and 0.

    Args:
        paths: Files, or folders with some, also in folders below.
        metric: The score to read, of which larger values are better: a metric of lm-evaluation-harness and its
            filter, such as ``"acc,none"``; or a scorer of Inspect, with a key behind a slash if it gives several
            values. None: the only one that there is.

    Returns:
        The scores of at least two models, on questions in the order of the files; NaN where a model has none.

    Raises:
        ParameterError: There is no such metric; or none is given, and there are several.
        DataError: A file is not there or no such log, two files have the same model and task, there are fewer than two
            models, or no score is a number.
    """
    files: dict[tuple[str, str], Path] = {}
    table: dict[str, dict[tuple[str, str], list[float]]] = {}  # by metric, and by model and question
    for given in map(Path, paths):
        logs = sorted(path for name in _NAMES for path in given.rglob(name)) if given.is_dir() else [given]
        for path in logs:
            model, task, scores = _log(path)
            if (first := files.setdefault((model, task), path)) is not path:
                raise DataError(f"{first} and {path} both have model {model!r} on task {task!r}; leave out one of them")
            for question, name, value in scores:
                if isinstance(value, int | float):
                    table.setdefault(name, {}).setdefault((model, f"{task} {question}"), []).append(value)
    names = tuple(dict.fromkeys(model for model, _ in files))
    source = ", ".join(map(str, paths))
    if len(names) < 2 or not table:
        raise DataError(
            f"models in the logs of {source}: {len(names)}, and metrics that are numbers: {len(table)}; expected at "
            "least two models and one metric: give more files or folders"
        )
    if metric is None and len(table) == 1:
        (metric,) = table
    cells = table[choice(metric, table, f"metric of {source}")]
    questions = dict.fromkeys(question for _, question in cells)
    matrix = np.array([[fmean(cells.get((name, one), (np.nan,))) for one in questions] for name in names])
    return ScoreMatrix(names, matrix, Rewards.read(matrix[~np.isnan(matrix)]), source=source)


def common_questions(matrix: ScoreMatrix) -> tuple[dict[str, Any], str]:
    """Return a log of the questions for which all models have a score, and a sentence that says how many they are.

    Args:
        matrix: The scores of all models.

    Returns:
        Columns ``"model"``, ``"question"`` and ``"score"``, question after question, and the sentence.

    Raises:
        DataError: There is no such question.
    """
    known = ~np.isnan(matrix.scores)
    common, counts = known.all(axis=0), known.sum(axis=1)
    numbers = listed([f"{matrix.names[model]} {counts[model]:,}" for model in np.argsort(counts)])
    models, questions = len(matrix.names), common.sum()
    if not questions:
        raise DataError(
            f"no question in {matrix.source} has a score of every model. Questions with a score: {numbers}; leave out "
            "models, or evaluate them on the same questions of one task"
        )
    log = {
        "model": matrix.names * questions,
        "question": np.repeat(np.arange(questions), models),
        "score": matrix.scores.T[common].ravel(),
    }
    sentence = f"The {models} models are compared on the {questions:,} questions for which all of them have a score"
    if questions < common.size:
        sentence += f"; {common.size - questions:,} others are left out. Questions with a score: {numbers}"
    return log, f"{sentence}."


def _log(path: Path) -> _Log:
    """What a file says, of either tool."""
    try:
        return _samples(path) if path.suffix == ".jsonl" else _inspect(path)
    except (AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError, zipfile.BadZipFile) as error:
        raise DataError(
            f"{path} is no readable file of samples (.jsonl), or log of Inspect with samples ({first_line(error)}); "
            "leave it out, or let `inspect log convert --to json` write a log in another form"
        ) from None


def _samples(path: Path) -> _Log:
    """Samples of lm-evaluation-harness: a line for each question and filter, with metrics among other fields."""
    scores = []
    with path.open(encoding="utf-8") as lines:
        for sample in map(json.loads, lines):
            question = f"{sample['doc_id']} {sample.get('doc_hash')}"
            for name, value in sample.items():
                if name not in _NO_METRICS:
                    scores.append((question, f"{name},{sample.get('filter', 'none')}", value))
    task = re.sub(r"^samples_|_\d{4}-\d\d-\d\dT[\d.-]+$", "", path.stem)
    return path.absolute().parent.name, task, scores


def _inspect(path: Path) -> _Log:
    """A log of Inspect, with the scores of all epochs; of an archive only the summaries of the samples are read."""
    if path.suffix == ".eval":
        log, samples = _member(path, "header.json"), _member(path, "summaries.json")
    else:
        log = json.loads(path.read_text(encoding="utf-8"))
        samples = log["samples"]
    scores = []
    for sample in samples:
        for scorer, score in (sample.get("scores") or {}).items():
            value = score["value"]
            for key, one in (value if isinstance(value, dict) else {"": value}).items():
                name = f"{scorer}/{key}".removesuffix("/")
                scores.append((f"{sample['id']} {sample['target']}"[:_WHOLE], name, _GRADES.get(str(one), one)))
    return log["eval"]["model"], log["eval"]["task"], scores


def _member(path: Path, name: str) -> Any:
    """A member of an archive. Those of Inspect are compressed by Zstandard, which Arrow has for every Python."""
    with path.open("rb") as file, zipfile.ZipFile(file) as archive:
        member = archive.getinfo(name)
        if member.compress_type != 93:  # Zstandard, which zipfile has from Python 3.14 on
            return json.loads(archive.read(member))
        file.seek(member.header_offset + 26)  # where its header has the lengths of the two fields that end it
        skipped = sum(struct.unpack("<HH", file.read(4)))
        packed = file.read(skipped + member.compress_size)[skipped:]
        return json.loads(pa.decompress(packed, member.file_size, "zstd", asbytes=True))
