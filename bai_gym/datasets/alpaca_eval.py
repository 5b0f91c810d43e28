"""Preferences of AlpacaEval 2, from a user's clone of its repository: models by instructions.

A judge compares the output of a model with that of a reference model, GPT-4 Turbo, and the preference is 1 plus the
probability, by the judge, that the model's output is better. The clone, https://github.com/tatsu-lab/alpaca_eval, is
under the Apache License 2.0. It does not ship with the package: it holds outputs of the models, 800 MB of them.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from bai_gym.data.matrix import ScoreMatrix
from bai_gym.errors import DataError, MissingDataError
from bai_gym.rewards import Rewards
from bai_gym.validation import AnyPath, file_path

__all__ = ["PREFERENCES", "read_alpaca_eval"]

PREFERENCES = Rewards("bounded", 1.0, 2.0)
"""The kind of the scores."""

_FILES = "*/weighted_alpaca_eval_gpt4_turbo/annotations.json"  # two models have a second file, a level deeper


def read_alpaca_eval(path: AnyPath) -> ScoreMatrix:
    """Read the preferences of all models; of the 3.8 MB of each of them only these are kept.

    Args:
        path: A clone of the repository, or its folder ``results``, with files
            ``MODEL/weighted_alpaca_eval_gpt4_turbo/annotations.json``.

    Returns:
        One arm per model, in the order of the names, and one item per instruction, in the order of the first model.
        Cells that a file does not have, or without a number, are missing.

    Raises:
        MissingDataError: There are no such files.
        DataError: A file is not a list of comparisons, or a preference is not from 1 to 2.
    """
    folder = file_path(path, "path")
    results = folder / "results"
    files = sorted((results if results.is_dir() else folder).glob(_FILES))
    if not files:
        raise MissingDataError(
            f"{folder.absolute()} has no files results/{_FILES}; give the path of a clone of "
            "https://github.com/tatsu-lab/alpaca_eval"
        )
    rows = [_preferences(file) for file in files]
    items = {
        instruction: position for position, instruction in enumerate(dict.fromkeys(i for row in rows for i in row))
    }
    scores = np.full((len(files), len(items)), np.nan)
    for arm, row in enumerate(rows):
        scores[arm, [items[instruction] for instruction in row]] = list(row.values())
    refusal = PREFERENCES.refusal(scores[~np.isnan(scores)])
    if refusal is not None:
        raise DataError(f"{folder}: {refusal}")
    return ScoreMatrix(tuple(file.parts[-3] for file in files), scores, PREFERENCES)


def _preferences(file: Path) -> dict[str, float]:
    """The preference for each instruction, NaN where there is none."""
    try:
        rows = json.loads(file.read_bytes())
        return {row["instruction"]: np.nan if row["preference"] is None else float(row["preference"]) for row in rows}
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise DataError(
            f"{file} is not a list of comparisons with an instruction and a preference ({type(error).__name__})"
        ) from None
