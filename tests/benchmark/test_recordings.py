"""Recorded episodes: pull by pull, on the instances of the benchmark, of the same law, and resumable."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from bai_gym import compare
from bai_gym.api import make_cells
from bai_gym.benchmark.recordings import record_cells, record_run
from bai_gym.errors import ParameterError, SchemaError
from bai_gym.results.reader import read_outcomes, read_recordings
from bai_gym.results.recording import Recording, Stage
from bai_gym.results.schema import write_table

ENV = "BAI-Bernoulli4-v0"
ARMS: dict[str, Any] = {"means": [0.9, 0.6, 0.5, 0.1], "distribution": "bernoulli"}


def recorded(agent: Any, env: str = "BAI-Custom-v0", budget: int = 40, run: int = 0, **keywords: Any) -> Recording:
    (cell,) = make_cells([agent], env, [budget], 0, keywords or (ARMS if env == "BAI-Custom-v0" else None))
    return record_run(cell, run, 200)


def test_sequential_halving_by_hand() -> None:
    """K = 4, n = 16: two rounds of 8 pulls, 2 for each of four arms, then 4 for each of the two that are left."""
    episode = recorded("SH(tie=first)", budget=16, **ARMS, shuffle=False)
    assert episode.arms[:8].tolist() == [0, 1, 2, 3] * 2
    left = episode.stages[1].candidates
    assert episode.stages == (Stage(0, None), Stage(8, left)) and left is not None and len(left) == 2
    assert sorted(episode.arms[8:].tolist()) == sorted(left * 4)
    means = np.array([episode.rewards[:8][episode.arms[:8] == arm].mean() for arm in range(4)])
    assert set(left) == set(np.argsort(-means, kind="stable")[:2].tolist())
    last = {arm: episode.rewards[8:][episode.arms[8:] == arm].mean() for arm in left}
    assert last[episode.recommendation[0]] == max(last.values())
    assert episode.correct_recommendation == (0,) and episode.correct == (episode.recommendation == (0,))
    assert episode.simple_regret == pytest.approx(0.9 - ARMS["means"][episode.recommendation[0]])
    assert episode.means.tolist() == ARMS["means"]
    assert episode.variances == pytest.approx([0.09, 0.24, 0.25, 0.09])
    assert (episode.task, episode.knows, episode.run, episode.seed) == ("the best arm", (), 0, 0)


def test_all_agents_and_budgets_meet_the_instance_of_the_run(tmp_path: Path) -> None:
    agent = "TTTS"
    played = compare(["Uniform", agent], ENV, budgets=[20, 30], runs=1003, seed=4, out=tmp_path)
    (uniform, other), (longer, _) = (make_cells(["Uniform", agent], ENV, [n], 4) for n in (20, 30))
    for run, size in ((0, 1000), (7, 1000), (1002, 3)):
        same = [record_run(cell, run, size).means.tolist() for cell in (uniform, other, longer)]
        assert same[0] == same[1] == same[2]
    # That it is the one of the benchmark is seen by the answers that were stored.
    answers = read_outcomes(tmp_path, played)["Uniform", ENV, 20].correct_recommendation
    for run, size in ((0, 1000), (7, 1000), (999, 1000), (1000, 3), (1002, 3)):
        assert record_run(uniform, run, size).means.argmax() == answers[run]


def test_classes_of_your_own_can_be_recorded() -> None:
    class OneByOne:
        def act(self, observation: Any) -> int:
            return int(observation["pulls"].argmin() if observation["remaining"][0] else observation["means"].argmax())

    class Many:
        batched = True

        def act(self, observation: Any) -> Any:
            return OneByOne.act(self, {key: value[0] for key, value in observation.items()}) * np.ones(1, np.int64)

    for kind in (OneByOne, Many):
        episode = recorded(kind, budget=8, **ARMS, shuffle=False)
        assert episode.arms.tolist() == [0, 1, 2, 3, 0, 1, 2, 3]
        assert episode.stages == (Stage(0, None),)


def test_spare_pulls_are_left_out() -> None:
    """8 arms, 200 pulls: three rounds of 66 (66 is no multiple of 8: the rest goes to some); an episode makes all."""
    assert recorded("SH", "BAI-Gaussian8-v0", 200).arms.size == 3 * 66


def test_arms_that_a_rule_drops_are_seen() -> None:
    """AugUCB drops arms one by one, within one phase of single pulls."""
    episode = recorded("AugUCB", "BAI-Thresholding100-ThreeGroups-v0", 3000)
    sizes = [100 if stage.candidates is None else len(stage.candidates) for stage in episode.stages]
    assert sizes[0] == 100 and sizes[-1] < 100 and sizes == sorted(sizes, reverse=True)
    known = [set(range(100)) if stage.candidates is None else set(stage.candidates) for stage in episode.stages]
    assert all(after <= before for before, after in zip(known, known[1:], strict=False))
    for stage, end in zip(
        episode.stages, [*[s.first_pull for s in episode.stages[1:]], episode.arms.size], strict=True
    ):
        assert stage.candidates is None or set(episode.arms[stage.first_pull : end].tolist()) <= set(stage.candidates)


@pytest.mark.slow
def test_the_folder_is_the_same_for_any_number_of_workers_and_goes_on(
    tmp_path: Path, contents: Callable[[Path], dict[str, bytes]]
) -> None:
    for name, workers in (("one", 1), ("two", 2)):
        compare(["SH", "TTTS"], ENV, budgets=[20, 30], runs=10, record=3, workers=workers, out=tmp_path / name)
    one = contents(tmp_path / "one")
    assert one == contents(tmp_path / "two")
    assert sum(name.startswith("recordings") for name in one) == 2 * 2 * 3
    without = {name: data for name, data in one.items() if not name.startswith("recordings")}
    compare(["SH", "TTTS"], ENV, budgets=[20, 30], runs=10, out=tmp_path / "none")
    assert contents(tmp_path / "none") == without  # recording changes no result

    sorted((tmp_path / "one").glob("recordings/*/*"))[0].unlink()
    told: list[tuple[int, int]] = []
    cells = make_cells(["SH", "TTTS"], ENV, [20, 30], 0)
    record_cells(cells, 3, 10, out=tmp_path / "one", on_chunk=lambda *numbers: told.append(numbers))
    assert told == [(11, 12), (12, 12)]
    assert contents(tmp_path / "one") == one


def test_an_executor_plays_the_recorded_runs_too(tmp_path: Path) -> None:
    class Here(Executor):
        calls = 0

        def submit(self, function: Any, *arguments: Any) -> Any:  # type: ignore[override]
            self.calls += 1
            done: Future[Any] = Future()
            done.set_result(function(*arguments))
            return done

    executor = Here()
    compare(["SH"], ENV, budgets=[20], runs=10, record=3, executor=executor, out=tmp_path)
    assert executor.calls == 1 + 3  # a chunk of runs, and each that is recorded


def test_wrong_numbers_are_refused_and_recordings_need_a_folder(tmp_path: Path) -> None:
    for record in (-1, 11, 1.5, True):
        with pytest.raises(ParameterError, match="record must be"):
            compare(["SH"], ENV, runs=10, record=record, out=tmp_path)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ParameterError, match="output folder"):
        compare(["SH"], ENV, runs=10, record=1)


@pytest.mark.each("damage", [b"bad", b"short"])
def test_a_damaged_recording_is_played_again(tmp_path: Path, damage: bytes) -> None:
    play = partial(compare, ["SH"], ENV, budgets=[20], runs=30, out=tmp_path, record=2)
    play()
    (cell,) = make_cells(["SH"], ENV, [20], 0)
    read = [episode.to_table() for episode in read_recordings(tmp_path)]
    assert read == [record_run(cell, run, 30).to_table() for run in (0, 1)]
    far = replace(record_run(cell, 0, 30), arms=np.array([300]), rewards=np.zeros(1)).to_table()
    assert far["arm"].to_pylist() == [300]
    first, second = sorted(tmp_path.glob("recordings/*/*.parquet"))
    kept, whole = first.read_bytes(), second.read_bytes()
    second.write_bytes(whole[:-30] if damage == b"short" else damage)
    with pytest.warns(UserWarning, match="000001-30.parquet"):
        play()
    assert (first.read_bytes(), second.read_bytes()) == (kept, whole)


def test_a_newer_recording_is_not_overwritten(tmp_path: Path) -> None:
    play = partial(compare, ["SH"], ENV, budgets=[20], runs=30, out=tmp_path, record=1)
    play()
    (file,) = tmp_path.glob("recordings/*/*.parquet")
    table = pq.read_table(file)
    write_table(table.replace_schema_metadata({**table.schema.metadata, b"schema": b"99"}), file)
    newer = file.read_bytes()
    with pytest.raises(SchemaError, match="newer bai-gym"):
        play()
    assert file.read_bytes() == newer
