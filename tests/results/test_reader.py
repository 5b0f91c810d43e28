"""Folders of results are read again as they were written, and files of newer versions are refused."""

from __future__ import annotations

import shlex
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bai_gym import compare
from bai_gym.benchmark import cells
from bai_gym.errors import OutputError, SchemaError
from bai_gym.results.reader import read_outcomes, read_recordings, read_results
from bai_gym.results.schema import CHECKSUM, SCHEMA_VERSION, write_table
from bai_gym.results.writer import _HOST as HOST

Command = Callable[..., tuple[str, str]]
ENV = "BAI-Bernoulli4-v0"
AGENTS = ["SH", "TTTS(posterior=bernoulli)"]


def plain(results: Any) -> list[Any]:
    return [{**vars_of(row), "seconds": None, "digest": None} for row in results]


def vars_of(row: Any) -> dict[str, Any]:
    return {name: np.asarray(getattr(row, name)).tolist() for name in row.__slots__}


def with_schema(file: Path, version: int) -> None:
    table = pq.read_table(file)
    write_table(table.replace_schema_metadata({**table.schema.metadata, b"schema": str(version).encode()}), file)


def test_what_python_wrote_is_read(tmp_path: Path) -> None:
    played = compare(["SH", "GapE"], ENV, budgets=[40, 20], runs=1100, seed=3, out=tmp_path)  # without and with oracle
    (table,) = read_results(tmp_path)
    assert plain(table.results) == plain(played)
    assert table.title == ENV and table.path == tmp_path / "results.parquet"
    words = f"run {ENV} --agent SH --agent GapE --budget 40 --budget 20 --runs 1100 --seed 3"
    assert table.command == f"bai-gym {words}"
    outcomes = read_outcomes(tmp_path, played)
    assert len(outcomes) == 4
    for result in played:
        episodes = outcomes[result.agent, ENV, result.budget]
        assert episodes.correct.size == 1100 and np.count_nonzero(~episodes.correct) == result.errors
        assert episodes.recommendation.tolist() == played.recommendations(result.agent, result.budget).tolist()


def test_checkpoints_are_read(tmp_path: Path) -> None:
    played = compare(["Uniform"], ENV, budgets=[40], runs=30, checkpoints=10, out=tmp_path)
    (table,) = read_results(tmp_path)
    assert [row.checkpoint for row in table.results] == [10, 20, 30, 40]
    assert plain(table.results) == plain(played)
    assert [point.pulls_made for point in read_outcomes(tmp_path, played)["Uniform", ENV, 40].checkpoints] == [
        10,
        20,
        30,
    ]


def test_what_the_command_line_wrote_is_read(tmp_path: Path, command: Command) -> None:
    words = "run BAI-Bernoulli3-v0 --agent SH --budget 12 --runs 200 --seed 1 --optimum --out here"
    command(*words.split())
    (table,) = read_results(tmp_path)
    assert table.command == "bai-gym run BAI-Bernoulli3-v0 --agent SH --budget 12 --runs 200 --seed 1"
    assert list(table.optima) == [("BAI-Bernoulli3-v0", 12)] and 0.5 < table.optima["BAI-Bernoulli3-v0", 12] < 1


@pytest.mark.slow
def test_claims_are_read(tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("bai_gym.papers", reason="an experiment has claims")
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # figures would take most of the time
    command("reproduce", "gse-7", "--runs", "20", "--workers", "1", "--out", str(tmp_path))
    (table,) = read_results(tmp_path)
    assert (table.path.stem, table.command) == ("gse-7", "bai-gym reproduce gse-7 --runs 20 --seed 0")
    assert table.claims and {claim.verdict for claim in table.claims} <= {"confirmed", "refuted", "undecided"}
    written = (table.path.parent / "gse-7-claims.txt").read_text()
    assert table.claims_are and all(f"{claim.verdict:<10} {claim.text}" in written for claim in table.claims)


def test_the_row_can_be_played_again_by_its_command(tmp_path: Path, command: Command) -> None:
    keywords = {"means": [0.9, 0.5], "distribution": "bernoulli", "task": "thresholding", "threshold": 0.6}
    arguments: dict[str, Any] = {"budgets": [12], "runs": 70, "seed": 5, "checkpoints": [3]}
    log = tmp_path / "log.csv"
    log.write_text("1,2\na,0\na,1\nb,1\nb,1\n")
    columns = {"path": str(log), "arm_column": "1", "reward_column": "2"}  # texts, not numbers
    rows = [
        *compare(["Uniform", "APT"], "BAI-Custom-v0", env_kwargs=keywords, **arguments),
        *compare(["SR"], "BAI-Table-v0", env_kwargs=columns, budgets=[12], runs=70),
    ]
    for row in rows:
        out = tmp_path / f"{row.agent}-{row.checkpoint}"
        assert row.rerun
        command(*shlex.split(row.rerun)[1:], "--out", str(out))
        again = [other for other in read_results(out)[0].results if other.checkpoint == row.checkpoint]
        assert plain(again) == plain([row])


def test_nothing_is_promised_where_no_command_can(tmp_path: Path) -> None:
    class Own:
        batched = True

        def act(self, observation: Any) -> Any:
            return observation["pulls"].argmin(axis=-1)

    played = compare(["SH", Own], ENV, budgets=[20], runs=10, out=tmp_path)
    assert [bool(row.rerun) for row in played] == [True, False]
    assert read_results(tmp_path)[0].command == ""


def test_pandas_and_polars_read_results_and_single_runs(tmp_path: Path) -> None:
    played = compare(["SH", "Uniform"], ENV, budgets=[40, 20], runs=1100, out=tmp_path)
    rows = pd.read_parquet(tmp_path / "results.parquet")
    assert rows["error_probability"].tolist() == [row.error_probability for row in played]
    assert rows["rewards"].tolist() == ["binary"] * 4
    runs = pd.read_parquet(tmp_path / "chunks")
    errors = 1 - runs.groupby(["agent", "budget"], observed=True)["correct"].mean()
    assert all(errors[row.agent, row.budget] == pytest.approx(row.error_probability) for row in played)
    frame = pl.read_parquet(tmp_path / "chunks" / "**" / "*.parquet")
    assert len(frame) == len(runs) == 4 * 1100
    by_polars = frame.group_by("agent", "budget").agg(1 - pl.col("correct").mean()).rows()
    assert {(agent, budget): error for agent, budget, error in by_polars} == pytest.approx(errors.to_dict())


# --------------------------------------------------------------------------------------------- other versions


@pytest.mark.each("which", ["results.parquet", "chunks/*/*.parquet", "recordings/*/*.parquet"])
def test_a_newer_version_is_refused_by_name(tmp_path: Path, which: str) -> None:
    played = compare(["SH"], ENV, budgets=[20], runs=30, out=tmp_path, record=1)
    (file,) = tmp_path.glob(which)
    with_schema(file, SCHEMA_VERSION + 1)
    words = f"newer bai-gym \\(schema {SCHEMA_VERSION + 1}; this one reads {SCHEMA_VERSION}\\): update bai-gym"
    with pytest.raises(SchemaError, match=words):
        read_results(tmp_path)
        read_outcomes(tmp_path, played)
        read_recordings(tmp_path)


@pytest.mark.each("which", ["results.parquet", "chunks/*/*.parquet"])
def test_what_a_newer_version_wrote_is_not_overwritten(
    which: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, outcome: Callable[..., Any]
) -> None:
    compare(["SH"], ENV, budgets=[20], runs=30, out=tmp_path)
    (file,) = tmp_path.glob(which)
    with_schema(file, SCHEMA_VERSION + 1)
    before = file.read_bytes()
    monkeypatch.setattr("bai_gym.benchmark.runner.play_chunk", None)  # nothing is played
    with pytest.raises(SchemaError, match="newer bai-gym"):
        compare(["SH"], ENV, budgets=[20], runs=30, out=tmp_path)
    code, _, said = outcome(*f"run {ENV} --agent SH --budget 20 --runs 30 --out {tmp_path}".split())
    assert code == 2 and "newer bai-gym" in said and "Traceback" not in said
    assert file.read_bytes() == before


# --------------------------------------------------------------------------------------------- what is not there


def test_no_folder_and_nothing_in_it(tmp_path: Path) -> None:
    for reader in (read_results, lambda folder: read_outcomes(folder, ()), read_recordings):
        with pytest.raises(OutputError, match="missing"):
            reader(tmp_path / "missing")
    pq.write_table(pa.table({"agent": ["SH"]}), tmp_path / "other.parquet")
    with pytest.raises(OutputError, match="there are no results in .*; `bai-gym run ... --out"):
        read_results(tmp_path)
    assert read_recordings(tmp_path) == []


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    played = compare(["SH"], ENV, budgets=[20], runs=30, out=tmp_path, record=1)
    for which, reader in (
        ("results.parquet", read_results),
        ("chunks/*/*.parquet", lambda folder: read_outcomes(folder, played)),
        ("recordings/*/*.parquet", read_recordings),
    ):
        (file,) = tmp_path.glob(which)
        whole = file.read_bytes()
        pq.write_table(pq.read_table(file), file)
        forged = file.read_bytes()
        damages = [whole[:-30], forged, whole.replace(CHECKSUM, b"checkSum")]
        damages += [
            whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :] for place in range(3, len(whole), 97)
        ]
        damages += [whole[:place] + bytes(32) + whole[place + 32 :] for place in range(0, len(whole) - 32, 97)]
        for damage in damages:
            file.write_bytes(damage)
            with pytest.raises((OutputError, SchemaError), match=file.name) as caught:
                reader(tmp_path)
            assert "\n" not in str(caught.value)
        file.write_bytes(whole)


def test_a_result_of_many_runs_has_no_chunks(tmp_path: Path) -> None:
    """They are not counted one by one."""
    (played,) = compare(["SH"], ENV, budgets=[20], runs=30, out=tmp_path)
    assert read_outcomes(tmp_path, [replace(played, runs=2**53)]) == {}


def test_drafts_of_killed_processes_are_passed_over(tmp_path: Path) -> None:
    played = compare(["SH"], ENV, budgets=[20], runs=30, out=tmp_path, record=1)
    for file in list(tmp_path.rglob("*.parquet")):
        file.with_name(f".draft-{HOST}-1-0123abcd-{file.name}").write_bytes(b"half of it")
    assert len(read_results(tmp_path)) == len(read_outcomes(tmp_path, played)) == len(read_recordings(tmp_path)) == 1


def test_of_several_evaluations_that_of_a_result_is_found(tmp_path: Path) -> None:
    """Other seeds, and fewer runs than an earlier command had, with the same or another number of errors."""
    played = [
        compare(["SH", "Uniform"], ENV, budgets=[20], runs=runs, seed=seed, out=tmp_path)
        for seed, runs in ((1, 40), (2, 40), (3, 40), (2, 2100), (2, 1200), (2, 1000), (2, 300))
    ]
    for rows in played:
        outcomes = read_outcomes(tmp_path, rows)
        assert {key[0] for key in outcomes} == {"SH", "Uniform"}
        for row in rows:
            found = outcomes[row.agent, row.env, row.budget]
            assert found.recommendation.tolist() == rows.recommendations(row.agent).tolist()
    assert read_outcomes(tmp_path, compare(["SH"], ENV, budgets=[20], runs=40, seed=4)) == {}
    for file in tmp_path.glob("chunks/*/000000-1000.parquet"):
        file.unlink()
    assert read_outcomes(tmp_path, played[-2]) == {}  # its first chunk is missing


def test_chunks_of_many_arms_have_fewer_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cells, "CHUNK_BYTES", 80 * 4 * 50)  # 50 runs of 4 arms
    for runs in (130, 50, 30):
        played = compare(["SH"], ENV, budgets=[20], runs=runs, out=tmp_path)
        (episodes,) = read_outcomes(tmp_path, played.results).values()
        assert episodes.recommendation.tolist() == played.recommendations("SH").tolist()
    assert len(list(tmp_path.glob("chunks/*/*.parquet"))) == 4  # 50, 50 and 30, and 30 beside the first
    played = compare(["SH"], ENV, budgets=[20], runs=130, out=tmp_path, record=60)  # on the instances of the runs
    (episodes,) = read_outcomes(tmp_path, played).values()
    best = [recording.correct_recommendation for recording in read_recordings(tmp_path)]
    assert best == [(arm,) for arm in episodes.correct_recommendation[:60].tolist()]


# ------------------------------------------------------------------------------------------------ several commands


def rows_of(folder: Path) -> set[tuple[str, str, int, int, int | None]]:
    (table,) = read_results(folder)
    return {(row.agent, row.env, row.budget, row.runs, row.seed) for row in table.results}


def test_what_earlier_commands_found_stays(tmp_path: Path) -> None:
    commands: list[dict[str, Any]] = [
        {"agents": ["SH"], "env": ENV, "budgets": [20]},
        {"agents": ["SH"], "env": "BAI-Bernoulli3-v0", "budgets": [20]},
        {"agents": ["SR"], "env": ENV, "budgets": [20]},
        {"agents": ["SH"], "env": ENV, "budgets": [40]},
        {"agents": ["SH"], "env": ENV, "budgets": [20], "seed": 7},
    ]
    for command in commands:
        compare(**command, runs=10, out=tmp_path)
    rows = {(c["agents"][0], c["env"], c["budgets"][0], 10, c.get("seed", 0)) for c in commands}
    assert rows_of(tmp_path) == rows
    assert len(read_results(tmp_path)[0].command.splitlines()) == len(commands)
    for runs, kept in ((30, 30), (20, 30)):  # of the same, the row with more runs stays
        compare(**commands[0], runs=runs, out=tmp_path)
        assert rows_of(tmp_path) == rows - {("SH", ENV, 20, 10, 0)} | {("SH", ENV, 20, kept, 0)}


def test_rows_of_an_agent_that_has_changed_give_way(tmp_path: Path) -> None:
    for first in (1, 2):

        class Own:
            arm = first

            def act(self, observation: Any) -> int:
                return self.arm

        compare([Own], ENV, budgets=[20], runs=30 // first, out=tmp_path)
    assert {row[3] for row in rows_of(tmp_path)} == {15}


def test_rows_of_code_that_cannot_be_known_give_way(tmp_path: Path) -> None:
    class Own:
        def __init__(self) -> None:
            self.lock = threading.Lock()

        def act(self, observation: Any) -> int:
            return 0

    for runs in (30, 15):
        compare([Own], ENV, budgets=[20], runs=runs, out=tmp_path, reuse=False)
    assert {row[3] for row in rows_of(tmp_path)} == {15}


def test_damaged_earlier_results_are_told_and_replaced(tmp_path: Path) -> None:
    (tmp_path / "results.parquet").write_bytes(b"nothing")
    with pytest.warns(UserWarning, match=r"results\.parquet"):
        compare(["SH"], ENV, budgets=[20], runs=10, out=tmp_path)
    assert len(rows_of(tmp_path)) == 1


def test_pulls_are_told_by_true_rank_where_the_best_arm_varies(tmp_path: Path) -> None:
    compare(["UCB-E", "Uniform"], "BAI-Bernoulli10-v0", budgets=[400], runs=300, out=tmp_path / "drawn")
    compare(
        ["Uniform"], "BAI-Custom-v0", budgets=[40], runs=30, env_kwargs={"means": [0.5, 0.9]}, out=tmp_path / "same"
    )
    (drawn, same) = read_results(tmp_path)
    pulls = np.array(drawn.results[0].mean_pulls_by_rank)
    assert pulls.sum() == pytest.approx(400) and pulls[0] > 2 * pulls[-1]
    assert np.ptp(drawn.results[0].mean_pulls) < np.ptp(pulls) / 2  # numbers of arms say nothing
    assert drawn.results[1].mean_pulls_by_rank == (40.0,) * 10
    assert same.results[0].mean_pulls_by_rank == ()
