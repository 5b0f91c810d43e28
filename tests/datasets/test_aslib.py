"""Scenarios of ASlib, from files of their form."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bai_gym.datasets.aslib import RUNTIMES, read_aslib
from bai_gym.errors import DataError, MissingDataError
from bai_gym.problems import build

HEAD = """% a comment
@RELATION ALGORITHM_RUNS

@ATTRIBUTE instance_id STRING
@ATTRIBUTE repetition NUMERIC
@ATTRIBUTE algorithm STRING
@ATTRIBUTE {} NUMERIC
@ATTRIBUTE runstatus {{ok, timeout, memout, not_applicable, crash, other}}

@DATA
"""
RUNTIME = HEAD.format("runtime") + "p1,1,fast,20,ok\np1,1,'slow, sure',80,ok\n\n% half way\np2,1,fast,100,timeout\n"
RUNTIME += "p2,1,'slow, sure',?,memout\np3,1,fast,1,ok\np3,2,fast,3,ok\np3,1,'slow, sure',150,ok\n"
QUALITY = (
    HEAD.format("predictive_accuracy") + "d1,1,tree,0.75,ok\nd1,1,forest,1,ok\nd2,1,tree,?,crash\nd2,1,forest,0.5,ok\n"
)
DESCRIPTION = "algorithm_cutoff_time: 100.0\nmaximize:\n- false\nperformance_measures:\n    - runtime\n"
DESCRIPTION += "performance_type:\n    - runtime\n"
ACCURACY = "algorithm_cutoff_time: 0\nmaximize: [true]\nperformance_type: 'solution_quality'\n"


def scenario(folder: Path, runs: str, description: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "algorithm_runs.arff").write_text(runs, encoding="utf-8")
    (folder / "description.txt").write_text(description, encoding="utf-8")
    return folder


def test_runtimes_are_penalised_and_in_cut_off_times(tmp_path: Path) -> None:
    matrix = read_aslib(scenario(tmp_path, RUNTIME, DESCRIPTION))
    assert matrix.names == ("fast", "slow, sure") and matrix.rewards == RUNTIMES
    np.testing.assert_allclose(matrix.scores, [[-0.2, -10, -0.02], [-0.8, -10, -10]])  # a mean of two repetitions


def test_qualities_are_scores(tmp_path: Path) -> None:
    matrix = read_aslib(scenario(tmp_path, QUALITY, ACCURACY))
    assert matrix.names == ("tree", "forest") and str(matrix.rewards) == "bounded(0, 1)"
    np.testing.assert_array_equal(matrix.scores, [[0.75, np.nan], [1.0, 0.5]])
    for missing, means in (("items", [0.75, 1.0]), ("zero", [0.375, 0.75])):
        found = build("aslib", path=tmp_path, missing=missing).draw(1, np.random.default_rng(0)).means
        assert found.tolist() == [means]
    less = scenario(tmp_path, QUALITY.replace("\n", "\r\n"), ACCURACY.replace("[true]", "\n- false"))
    np.testing.assert_array_equal(read_aslib(less).scores, -matrix.scores)


@pytest.mark.each(
    ("runs", "description", "complaint"),
    [
        (RUNTIME, DESCRIPTION.replace("maximize", "minimize"), "no maximize"),
        (RUNTIME, DESCRIPTION.replace("100.0", "'?'"), "cutoff_time above 0"),
        (RUNTIME.replace("@DATA", ""), DESCRIPTION, "@data"),
        (RUNTIME.replace("@ATTRIBUTE algorithm", "@ATTRIBUTE solver"), DESCRIPTION, "algorithm"),
        (RUNTIME.replace("80,ok", "80"), DESCRIPTION, "run 2, has 4 fields"),
        (HEAD.format("runtime") + "p1,1,fast,20,ok\n", DESCRIPTION, "at least two"),
        (QUALITY.replace("ok\n", "crash\n"), ACCURACY, "no run that ended well"),
    ],
)
def test_scenarios_that_cannot_be_used(tmp_path: Path, runs: str, description: str, complaint: str) -> None:
    with pytest.raises(DataError, match=complaint):
        read_aslib(scenario(tmp_path, runs, description))


def test_a_scenario_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(MissingDataError, match=r"description\.txt"):
        read_aslib(tmp_path)
