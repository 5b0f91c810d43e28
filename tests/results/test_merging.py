"""Merged folders: nothing is lost, nothing is played twice."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bai_gym import compare
from bai_gym.benchmark import runner
from bai_gym.errors import BaiGymError
from bai_gym.results.merging import merge_results
from bai_gym.results.reader import read_outcomes, read_results
from bai_gym.results.writer import ResultsWriter

ENV = "BAI-Custom-v0"


def test_merged_folders_hold_all_results_and_are_not_played_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, contents: Callable[[Path], dict[str, bytes]]
) -> None:
    compare(["SH"], ENV, budgets=[8, 16], runs=1200, out=tmp_path / "a")
    compare(["SH", "Uniform"], ENV, budgets=[8], runs=2000, out=tmp_path / "b")
    ResultsWriter(tmp_path / "b").save_results(read_results(tmp_path / "b")[0].results, optima={(ENV, 8): 0.9})
    merged = merge_results([tmp_path / "a", tmp_path / "b"], tmp_path / "all")
    assert read_results(tmp_path / "all")[0].optima == {(ENV, 8): 0.9}
    rows = {(row.agent, row.budget): row.runs for row in merged.results}
    assert rows == {("SH", 8): 2000, ("SH", 16): 1200, ("Uniform", 8): 2000}
    outcomes = read_outcomes(tmp_path / "all", merged.results)
    assert {key[0::2]: found.correct.size for key, found in outcomes.items()} == rows
    files = contents(tmp_path / "all")
    merge_results([tmp_path / "b"], tmp_path / "all")
    assert contents(tmp_path / "all") == files  # the same again changes nothing

    played: list[tuple[str, int]] = []
    play = runner.play_chunk

    def play_and_tell(cell: Any, chunk: int, *rest: Any) -> Any:
        played.append((cell.label, chunk))
        return play(cell, chunk, *rest)

    monkeypatch.setattr(runner, "play_chunk", play_and_tell)
    compare(["SH", "Uniform"], ENV, budgets=[8], runs=3000, out=tmp_path / "all")
    assert sorted(played) == [("SH", 2), ("Uniform", 2)]
    assert len(read_results(tmp_path / "all")[0].results) == 3


def test_a_copy_that_breaks_off_is_no_chunk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compare(["SH"], ENV, budgets=[8], runs=10, out=tmp_path / "a")

    def half(source: Path, target: Path) -> None:
        target.write_bytes(source.read_bytes()[:9])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shutil, "copyfile", half)
    with pytest.raises(BaiGymError, match="No space left"):
        merge_results([tmp_path / "a"], tmp_path / "all")
    assert not [*(tmp_path / "all").rglob("*.parquet")]


def test_errors(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    compare(["SH"], ENV, budgets=[8], runs=10, out=tmp_path / "a")
    for folders, out, words in (
        ([], "all", "at least one"),
        (["missing"], "all", "no folder"),
        (["empty"], "all", "no results"),
        (["a"], "a", "output folder"),
    ):
        with pytest.raises(BaiGymError, match=words) as caught:
            merge_results([tmp_path / folder for folder in folders], tmp_path / out)
        assert "\n" not in str(caught.value)
