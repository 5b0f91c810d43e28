"""Preferences of AlpacaEval, from files of the form of its repository."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from bai_gym.datasets.alpaca_eval import PREFERENCES, read_alpaca_eval
from bai_gym.errors import DataError, MissingDataError


def write(folder: Path, model: str, preferences: object) -> None:
    file = folder / "results" / model / "weighted_alpaca_eval_gpt4_turbo" / "annotations.json"
    file.parent.mkdir(parents=True)
    rows = preferences
    if isinstance(preferences, dict):
        rows = [{"instruction": i, "output_2": "text", "preference": value} for i, value in preferences.items()]
    file.write_text(json.dumps(rows), encoding="utf-8")


def test_preferences_are_matched_by_instruction(tmp_path: Path) -> None:
    write(tmp_path, "b", {"second": 1.25, "first": 1.0})
    write(tmp_path, "a", {"first": 1.5, "second": 2.0, "third": None})
    write(tmp_path, "c", {"third": 1.75, "first": 1.5})
    for path in (tmp_path, str(tmp_path / "results")):
        matrix = read_alpaca_eval(path)
        assert matrix.names == ("a", "b", "c") and matrix.rewards == PREFERENCES and matrix.prices is None
        nan = np.nan
        np.testing.assert_array_equal(matrix.scores, [[1.5, 2.0, nan], [1.0, 1.25, nan], [1.5, nan, 1.75]])


def test_files_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(MissingDataError, match="clone"):
        read_alpaca_eval(tmp_path)
    for model, preferences in (("high", {"first": 2.5}), ("text", {"first": "x"}), ("other", [{"x": 1}]), ("one", 3)):
        write(tmp_path / model, model, preferences)
        with pytest.raises(DataError):
            read_alpaca_eval(tmp_path / model)
