"""Logs of evaluation tools: files that the tools wrote, and files that cannot be used."""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bai_gym.errors import DataError, ParameterError
from bai_gym.live.evaluations import common_questions, read_evaluations

LOGS = Path(__file__).parent / "evaluations"  # its README.md says what wrote them
HARNESS, INSPECT = LOGS / "lm-eval", LOGS / "inspect"

# Of the replies in README.md; the second row of each is that of a metric to which a sentence with the answer is right.
SMALL = [1, 0, 0, 0, 0, 1, np.nan, np.nan], [1, 0, 1, 0, 0, 1, np.nan, np.nan]
MEDIUM = [1, 1, 0, 1, 0, 1, 0, 0], [1, 1, 0, 1, 0, 1, 1, 0]
LARGE = [1, 1, 1, 0, 1, 1, 0, 1], [1, 1, 1, 1, 1, 1, 0, 1]


def scores_of(matrix: Any) -> dict[str, list[float]]:
    return {
        name.split("/")[-1].removeprefix("org__"): row for name, row in zip(matrix.names, matrix.scores, strict=True)
    }


@pytest.mark.parametrize(("metric", "place"), [("exact_match,strict-match", 0), ("exact_match,flexible-extract", 1)])
def test_samples_of_the_harness(metric: str, place: int) -> None:
    matrix = read_evaluations(HARNESS, metric=metric)
    assert matrix.names == ("org__large", "org__medium", "org__small") and str(matrix.rewards) == "binary"
    for name, row in scores_of(matrix).items():
        np.testing.assert_array_equal(row, {"small": SMALL, "medium": MEDIUM, "large": LARGE}[name][place])


@pytest.mark.parametrize(("metric", "place"), [("match", 0), ("includes", 1)])
def test_logs_of_inspect_whose_epochs_are_averaged(metric: str, place: int) -> None:
    matrix = read_evaluations(INSPECT, metric=metric)
    assert sorted(matrix.names) == ["mockllm/large", "mockllm/medium", "mockllm/small"]
    second = np.array([1, 1, 1, 1, 1, 1, 0, 1])
    large = (np.array(LARGE[place]) + second) / 2  # one question differs in one epoch, to the first of the scorers
    for name, row in scores_of(matrix).items():
        np.testing.assert_array_equal(row, {"small": SMALL[place], "medium": MEDIUM[place], "large": large}[name])


def test_archives_of_inspect_that_are_not_compressed_by_zstandard(tmp_path: Path) -> None:
    for path in INSPECT.iterdir():
        shutil.copy(path, tmp_path)
    archive = next(tmp_path.glob("*.eval"))
    log = {"header.json": {"eval": {"model": "old", "task": "capitals"}}}
    log["summaries.json"] = [{"id": 1, "target": "paris", "scores": {"match": {"value": "C"}}}]  # type: ignore[assignment]
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in log.items():
            packed.writestr(name, json.dumps(content))
    matrix = read_evaluations(tmp_path, metric="match")
    assert "old" in matrix.names and np.isnan(matrix.scores[matrix.names.index("old")]).sum() == 7


def test_the_questions_of_all_models_are_compared() -> None:
    log, sentence = common_questions(read_evaluations(HARNESS, metric="exact_match,strict-match"))
    assert log["question"].tolist() == np.repeat(np.arange(6), 3).tolist()
    table = np.array(log["score"]).reshape(6, 3).T
    np.testing.assert_array_equal(table, [LARGE[0][:6], MEDIUM[0][:6], SMALL[0][:6]])
    assert log["model"][:4] == ("org__large", "org__medium", "org__small", "org__large")
    assert sentence == (
        "The 3 models are compared on the 6 questions for which all of them have a score; 2 others are left out. "
        "Questions with a score: org__small 6, org__large 8 and org__medium 8."
    )
    two = read_evaluations(HARNESS / "org__large", HARNESS / "org__medium", metric="exact_match,strict-match")
    assert common_questions(two)[1] == (
        "The 2 models are compared on the 8 questions for which all of them have a score."
    )


def samples(
    folder: Path, model: str, rows: list[dict[str, Any]], name: str = "samples_t_2026-01-02T03-04-05.6.jsonl"
) -> None:
    (folder / model).mkdir(exist_ok=True)
    (folder / model / name).write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows), "utf-8")


def inspect_log(path: Path, model: str, values: list[Any], task: str = "t") -> None:
    scored = [
        {"id": number, "epoch": 1, "target": "x", "scores": None if value is None else {"s": {"value": value}}}
        for number, value in enumerate(values)
    ]
    path.write_text(json.dumps({"eval": {"model": model, "task": task}, "samples": scored}), "utf-8")


def test_older_samples_and_questions_that_differ(tmp_path: Path) -> None:
    # No tool wrote these: older versions, as far as known, had no "filter" and "metrics", and numbers as targets.
    row = {"doc_id": 0, "doc": {"text": "a\u2028b\x85"}, "target": 3, "doc_hash": "a", "acc": 1.0, "f1": [0, 1]}
    samples(tmp_path, "one", [row, {**row, "doc_id": 1, "doc_hash": "b"}])
    samples(tmp_path, "two", [{**row, "acc": False}, {**row, "doc_id": 1, "doc_hash": "other"}])
    (tmp_path / "two" / "results_2026-01-02T03-04-05.6.json").write_text("{}", "utf-8")
    matrix = read_evaluations(tmp_path)
    np.testing.assert_array_equal(matrix.scores, [[1, 1, np.nan], [0, np.nan, 1]])


def test_values_of_scores_of_inspect(tmp_path: Path) -> None:
    inspect_log(tmp_path / "1_a.json", "a", ["C", "I", "P", "N", True, 0.25, None, float("nan"), "maybe"])
    inspect_log(tmp_path / "2_b.json", "b", [1] * 9)
    (tmp_path / "logs.json").write_text("{}", "utf-8")  # a list of logs, as Inspect writes it
    matrix = read_evaluations(tmp_path)
    np.testing.assert_array_equal(matrix.scores, [[1, 0, 0.5, 0, 1, 0.25, np.nan, np.nan, np.nan], [1] * 9])
    inspect_log(tmp_path / "1_a.json", "a", [{"right": "C", "short": 0.5}])
    inspect_log(tmp_path / "2_b.json", "b", [{"right": "I", "short": 0.5}])
    np.testing.assert_array_equal(read_evaluations(tmp_path, metric="s/right").scores, [[1], [0]])


def no_file(folder: Path) -> None:
    (folder / "nothing").mkdir()


def one_model(folder: Path) -> None:
    samples(folder, "a", [{"doc_id": 0, "acc": 1}])


def no_numbers(folder: Path) -> None:
    for model in "ab":
        samples(folder, model, [{"doc_id": 0, "acc": [1, 2]}])


def twice(folder: Path) -> None:
    inspect_log(folder / "1_a.json", "a", ["C"])
    inspect_log(folder / "2_a.json", "a", ["C"])


def damaged_line(folder: Path) -> None:
    samples(folder, "a", [])
    next(folder.rglob("*.jsonl")).write_text('{"doc_id": 0, "acc"', "utf-8")


def damaged_archive(folder: Path) -> None:
    path = Path(shutil.copy(next(INSPECT.glob("*.eval")), folder))
    with zipfile.ZipFile(path) as archive:
        place = archive.getinfo("summaries.json").header_offset + 60
    content = path.read_bytes()
    path.write_bytes(content[:place] + b"damage" + content[place + 6 :])


def no_archive(folder: Path) -> None:
    (folder / "x.eval").write_text("no archive", "utf-8")


def unfinished(folder: Path) -> None:
    with zipfile.ZipFile(folder / "x.eval", "w") as archive:
        archive.writestr("_journal/start.json", "{}")


def without_samples(folder: Path) -> None:
    (folder / "1_x.json").write_text('{"eval": {"model": "a", "task": "t"}}', "utf-8")


def no_log(folder: Path) -> None:
    (folder / "1_x.json").write_text("[1]", "utf-8")


@pytest.mark.parametrize(
    ("write", "said"),
    [
        (no_file, r"models in the logs of .*: 0, and metrics .*: 0; expected at least two models"),
        (one_model, "models in the logs of .*: 1, .*give more files or folders"),
        (no_numbers, "metrics that are numbers: 0"),
        (twice, r"1_a\.json and .*2_a\.json both have model 'a' on task 't'; leave out one"),
        (damaged_line, r"a.samples_t_.*\.jsonl is no readable file of samples .*; leave it out"),
        (damaged_archive, r"capitals_.*\.eval is no readable .*inspect log convert --to json"),
        (no_archive, r"x\.eval is no readable .*not a zip file"),
        (unfinished, r"x\.eval is no readable .*header\.json"),
        (without_samples, r"1_x\.json is no readable .*samples"),
        (no_log, r"1_x\.json is no readable "),
    ],
)
def test_logs_that_cannot_be_used(tmp_path: Path, write: Callable[[Path], None], said: str) -> None:
    write(tmp_path)
    with pytest.raises(DataError) as refusal:
        read_evaluations(tmp_path)
    assert re.search(said, str(refusal.value)) and "\n" not in str(refusal.value)


def test_a_file_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"gone\.eval is no readable .*No such file"):
        read_evaluations(tmp_path / "gone.eval")


@pytest.mark.parametrize(("metric", "said"), [(None, "not None"), ("acc", "not 'acc'")])
def test_a_metric_has_to_be_named(metric: str | None, said: str) -> None:
    with pytest.raises(ParameterError, match=f"metric of .*inspect must be 'match' or 'includes', {said}"):
        read_evaluations(INSPECT, metric=metric)


def test_models_without_common_questions(tmp_path: Path) -> None:
    samples(tmp_path, "a", [{"doc_id": 0, "acc": 1}, {"doc_id": 1, "acc": 1}])
    samples(tmp_path, "b", [{"doc_id": 2, "acc": 1}])
    with pytest.raises(
        DataError, match="no question in .* of every model. Questions with a score: b 1 and a 2; leave out"
    ):
        common_questions(read_evaluations(tmp_path))
    inspect_log(tmp_path / "1_c.json", "c", [None])  # all of its samples failed: it is not left out in silence
    with pytest.raises(DataError, match="c 0, b 1 and a 2"):
        common_questions(read_evaluations(tmp_path, metric="acc,none"))
