"""Evaluating in chunks: the same results for any number of workers, resumable, and errors before the work."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pyarrow.parquet as pq
import pytest

from bai_gym import Comparison, Result, agents, compare, evaluate
from bai_gym.api import make_cells
from bai_gym.benchmark import chunk as chunk_module
from bai_gym.benchmark import runner
from bai_gym.benchmark.protocol import reset
from bai_gym.errors import AgentError, BaiGymError, BudgetError, ParameterError
from bai_gym.results.schema import write_table
from bai_gym.results.writer import CHUNK_RUNS, ResultsWriter

ENV = "BAI-Custom-v0"
PRIOR = "BAI-Bernoulli4-v0"  # its instances differ from run to run
RUNS = CHUNK_RUNS + 200  # two chunks, the second one short
AGENTS = ("SH", "VBR")


class Greedy:
    """A user's own class: nothing but ``act``, one observation at a time."""

    def act(self, observation: Any) -> int:
        pulls = observation["pulls"]
        return int(pulls.argmin() if pulls.min() == 0 else observation["means"].argmax())


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int, int]]:
    """(agent, chunk, runs) of every chunk that is played in this process."""
    calls = []
    play = runner.play_chunk

    def play_and_tell(cell: Any, chunk: int, runs: int, *rest: Any) -> Any:
        calls.append((cell.label, chunk, runs))
        return play(cell, chunk, runs, *rest)

    monkeypatch.setattr(runner, "play_chunk", play_and_tell)
    return calls


def facts(results: Comparison | list[Result]) -> list[dict[str, Any]]:
    """Everything in the results but the time that they took, how to call for them, and what only folders need."""
    rows = [asdict(result) for result in results]
    left_out = {"seconds": None, "rerun": None, "digest": None}
    return [{**row, "mean_pulls": row["mean_pulls"].tolist(), **left_out} for row in rows]


def chunk_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("chunks/*/*.parquet"))


def identity(files: list[Path]) -> list[tuple[int, int]]:
    return [(file.stat().st_ino, file.stat().st_mtime_ns) for file in files]


# ------------------------------------------------------------------------------------------------ workers


class Own:
    """An agent that plays a batch of episodes, pull by pull."""

    batched = True

    def act(self, observation: Any) -> Any:
        return observation["pulls"].argmin(axis=-1)


DIVIDED: dict[str, tuple[list[Any], str, dict[str, Any]]] = {
    "plain": (["SH", Own], PRIOR, {}),
    "sets": (["SAR"], "BAI-TopM-Custom-v0", {"env_kwargs": {"budget": 60}}),
    "stopping": (["UGapEc(b=0.3)"], "BAI-FC-Custom-v0", {"env_kwargs": {"epsilon": 0.1, "budget": 60}}),
    "checkpoints": (["CSAR"], "BAI-CustomThresholding-v0", {"budgets": [90], "checkpoints": [7, 50]}),
}
FIELDS = ("recommendation", "correct_recommendation", "correct", "simple_regret", "spent", "truncated", "pulls")


@pytest.mark.each("case", DIVIDED)
def test_workers_and_resuming_change_nothing(
    case: str, tmp_path: Path, contents: Callable[[Path], dict[str, bytes]], resumed: Callable[..., Any]
) -> None:
    names, env, options = DIVIDED[case]
    runs = CHUNK_RUNS + 50

    def results(workers: int, out: Path) -> list[dict[str, Any]]:
        return facts(compare(names, env, runs=runs, workers=workers, out=out, seed=5, reuse=True, **options))

    one, two = tmp_path / "one", tmp_path / "two"
    first = results(1, one)
    assert results(2, two) == first
    assert contents(one) == contents(two)
    assert len(contents(one)) == 2 * len(names) + 1  # chunks, and the results
    assert all(0 < row["errors"] < runs and (row["truncated"] > 0) == (case == "stopping") for row in first)
    cells = make_cells(names, env, options.get("budgets"), 5, options.get("env_kwargs"))
    if "checkpoints" not in options:  # what is read is what was played
        for cell in cells:
            read, fresh = ResultsWriter(one).load(cell.key, 1, 50), chunk_module.play_chunk(cell, 1, 50)
            for name in FIELDS:
                np.testing.assert_array_equal(getattr(read, name), getattr(fresh, name))
    assert resumed(one, 2 * len(names), lambda: results(1, one)) == first
    assert contents(one) == contents(two)


def test_the_seed_decides() -> None:
    first, again, other = (evaluate("SH", PRIOR, runs=500, seed=seed) for seed in (3, np.int64(3), 4))
    assert facts([first]) == facts([again])
    assert first.mean_pulls.tolist() != other.mean_pulls.tolist()


def test_every_chunk_is_told(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []

    def run(runs: int) -> list[tuple[int, int]]:
        told.clear()
        compare(AGENTS, ENV, runs=runs, budgets=[9], out=tmp_path, on_chunk=lambda *numbers: told.append(numbers))
        return told

    assert run(RUNS) == [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4)]
    assert run(RUNS) == [(4, 4)]
    assert run(CHUNK_RUNS) == [(2, 2)]
    assert run(2 * CHUNK_RUNS) == [(2, 4), (3, 4), (4, 4)]


# ------------------------------------------------------------------------------------------------ resuming


def test_only_unfinished_chunks_are_played_again(
    tmp_path: Path, contents: Callable[[Path], dict[str, bytes]], played: list[tuple[str, int, int]]
) -> None:
    first = compare(AGENTS, PRIOR, runs=RUNS, out=tmp_path)
    assert sorted(played) == [("SH", 0, 1000), ("SH", 1, 200), ("VBR", 0, 1000), ("VBR", 1, 200)]
    before = contents(tmp_path)
    lost, *kept = chunk_files(tmp_path)
    lost.unlink()
    stamps = identity(kept)
    played.clear()
    again = compare(AGENTS, PRIOR, runs=RUNS, out=tmp_path)
    assert played == [("SH", 0, 1000)]
    assert facts(again) == facts(first)
    assert again.paired("SH", "VBR") == first.paired("SH", "VBR")  # sees the order of the runs too
    assert identity(kept) == stamps
    assert contents(tmp_path) == before


@pytest.mark.each(
    ("runs", "replayed"), [(2 * CHUNK_RUNS + 100, [(1, 1000), (2, 100)]), (CHUNK_RUNS, []), (300, [(0, 300)])]
)
def test_another_number_of_runs_reuses_what_is_there(
    tmp_path: Path, played: list[tuple[str, int, int]], runs: int, replayed: list[tuple[int, int]]
) -> None:
    evaluate("SH", PRIOR, runs=RUNS, out=tmp_path)
    played.clear()
    result = evaluate("SH", PRIOR, runs=runs, out=tmp_path)
    assert sorted(played) == [("SH", *chunk) for chunk in replayed]
    assert facts([result]) == facts([evaluate("SH", PRIOR, runs=runs)])


def of_another_schema(file: Path) -> None:
    table = pq.read_table(file)
    write_table(table.replace_schema_metadata({**table.schema.metadata, b"schema": b"0"}), file)


def flipped(content: bytes) -> bytes:
    return content[:300] + bytes([content[300] ^ 1]) + content[301:]


DAMAGE: dict[str, Callable[[Path], object]] = {
    "truncated": lambda file: file.write_bytes(file.read_bytes()[:-20]),
    "a row too few": lambda file: write_table(pq.read_table(file)[1:], file),
    "without a checksum": lambda file: pq.write_table(pq.read_table(file), file),
    "a bit flipped": lambda file: file.write_bytes(flipped(file.read_bytes())),
    "another schema": of_another_schema,
}


@pytest.mark.each("damage", DAMAGE)
def test_a_damaged_chunk_is_named_and_played_again(
    tmp_path: Path,
    contents: Callable[[Path], dict[str, bytes]],
    played: list[tuple[str, int, int]],
    damage: str,
) -> None:
    first = evaluate("SH", PRIOR, runs=RUNS, out=tmp_path)
    before = contents(tmp_path)
    damaged = chunk_files(tmp_path)[1]
    DAMAGE[damage](damaged)
    played.clear()
    with pytest.warns(UserWarning, match="this chunk is played again") as caught:
        again = evaluate("SH", PRIOR, runs=RUNS, out=tmp_path)
    (warning,) = caught
    assert str(warning.message).startswith(f"{damaged} cannot be read (")
    assert "\n" not in str(warning.message)
    assert played == [("SH", 1, 200)]
    assert facts([again]) == facts([first])
    assert contents(tmp_path) == before


# ------------------------------------------------------------------------------------------------ agents


def test_an_agent_by_name_class_and_instance() -> None:
    named = facts([evaluate("SH", PRIOR, runs=300)])
    for agent in (" SH ", "SH()", agents.SequentialHalving, agents.SequentialHalving()):
        assert facts([evaluate(agent, PRIOR, runs=300)]) == named
    given = [evaluate(one, PRIOR, budget=60, runs=300) for one in ("VBR(reject=ucb)", agents.make("VBR", reject="ucb"))]
    assert facts(given[:1]) == facts(given[1:])


def test_an_instance_is_left_as_it_was() -> None:
    class Counting(Greedy):
        calls = 0

        def act(self, observation: Any) -> int:
            self.calls += 1
            return super().act(observation)

    agent = Counting()
    evaluate(agent, ENV, budget=5, runs=3)
    assert agent.calls == 0


def test_an_environment_object_is_as_good_as_its_id() -> None:
    by_object = facts(compare(AGENTS, gym.make(PRIOR, budget=30), runs=50))
    by_id = facts(compare(AGENTS, PRIOR, budgets=[30], runs=50))
    assert [{**row, "env": PRIOR} for row in by_object] == by_id
    with pytest.raises(ParameterError, match="^env_kwargs "):
        evaluate("SH", gym.make(ENV), runs=5, env_kwargs={"budget": 9})


# ------------------------------------------------------------------------------------------------ refusals


@pytest.mark.each(
    ("arguments", "kind", "words"),
    [
        ({"agents": ["SH", "VBR", "SH"]}, ParameterError, "SH is given twice"),
        ({"budgets": [20, 20]}, ParameterError, "budget 20 is given twice"),
        ({"agents": []}, ParameterError, "at least one agent"),
        ({"budgets": 20}, ParameterError, "budgets must be a list"),
        ({"agents": [7]}, AgentError, "int is not an agent"),
        # 1e15 pulls of 3e-8 seconds each are 347 days.
        ({"agents": ["UCB1"], "budgets": [10**9], "runs": 10**6}, ParameterError, "at least 347 days"),
        *(({"runs": runs}, ParameterError, "runs must be") for runs in (0, 1.5, True)),
        *(({"workers": workers}, ParameterError, "workers must be") for workers in (0, -2, 1.5, True)),
        *(({"seed": seed}, ParameterError, "seed must be") for seed in (-1, 1.5, None)),
        ({"budgets": [20, 7]}, BudgetError, "give at least 8"),
        *(({"env_kwargs": value}, ParameterError, "env_kwargs must be a dict") for value in ("budget=9", {5: 1})),
        *(({"env_kwargs": {"render_mode": mode}}, ParameterError, "render_mode") for mode in ("foo", ["ansi"])),
        *(({"out": out}, ParameterError, "^out must be") for out in (5, "", b"out")),
    ],
    ids=str,
)
def test_mistakes_are_refused_before_any_work(
    tmp_path: Path, arguments: dict[str, Any], kind: type[BaiGymError], words: str
) -> None:
    told: list[tuple[int, int]] = []
    given = {"agents": list(AGENTS), "runs": 10, "seed": 0, "budgets": [20], "out": tmp_path / "out", **arguments}
    with pytest.raises(kind, match=words) as caught:
        compare(given.pop("agents"), PRIOR, **given, on_chunk=lambda *numbers: told.append(numbers))
    assert "\n" not in str(caught.value)
    assert told == []
    assert not (tmp_path / "out").exists()


def test_an_instance_that_cannot_be_copied() -> None:
    class Holding(Greedy):
        def __init__(self) -> None:
            self.lock = threading.Lock()

    with pytest.raises(AgentError, match="Holding"):
        evaluate(Holding(), ENV, budget=5, runs=5)
    assert evaluate(Holding, ENV, budget=5, runs=5).runs == 5


# ------------------------------------------------------------------------------------------------ errors in workers


def test_an_error_of_this_library_comes_out_of_a_worker_as_it_was() -> None:
    class Beyond:
        def act(self, observation: Any) -> int:
            return 9

    said = []
    for workers in (1, 2):
        with pytest.raises(AgentError) as caught:
            evaluate(Beyond, ENV, budget=5, runs=1001, workers=workers)
        said.append(str(caught.value))
    assert said[0] == said[1] and said[0].endswith("not 9")


@pytest.mark.slow
def test_a_killed_worker(tmp_path: Path) -> None:
    mine = os.getpid()

    class Fatal:
        def act(self, observation: Any) -> int:
            assert os.getpid() != mine
            os.kill(os.getpid(), signal.SIGKILL)
            return 0

    class Once:
        batched = True

        def act(self, observation: Any) -> Any:
            assert os.getpid() != mine
            with contextlib.suppress(FileExistsError):
                (tmp_path / "killed").touch(exist_ok=False)
                os.kill(os.getpid(), signal.SIGKILL)
            return observation["pulls"].argmin(axis=-1)

    with pytest.raises(BaiGymError, match="lost 3 times") as caught:
        evaluate(Fatal, ENV, budget=5, runs=1001, workers=2)  # two chunks: one alone is played here
    assert "\n" not in str(caught.value)
    assert evaluate(Once, ENV, budget=5, runs=1001, workers=2).runs == 1001  # played again
    assert (tmp_path / "killed").exists()


# ------------------------------------------------------------------------------------------------ parts of chunks


class Patient:
    """An agent that plays one episode at a time, with random numbers of its own."""

    def reset(self, info: Any, rng: np.random.Generator) -> None:
        self.rng = rng

    def act(self, observation: Any) -> int:
        if observation["remaining"][0] > 0:
            return int(self.rng.integers(observation["pulls"].size))
        return int(observation["means"].argmax())


@pytest.mark.each(
    ("finished", "kept", "error"), [(0, 0, KeyboardInterrupt), (11, 7, KeyboardInterrupt), (30, 15, ConnectionError)]
)
def test_an_agent_that_plays_one_by_one_loses_half_of_its_work_at_most(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    contents: Callable[[Path], dict[str, bytes]],
    finished: int,
    kept: int,
    error: type[BaseException],
) -> None:
    """Parts have 1, 2, 4, 8, ... runs."""
    begun: list[int] = []

    def interrupted(*given: Any) -> None:
        if len(begun) == finished:
            raise error
        begun.append(1)
        reset(*given)

    def counted(*given: Any) -> None:
        begun.append(1)
        reset(*given)

    def play(folder: str | None) -> Comparison:
        out = None if folder is None else tmp_path / folder
        return compare([Patient], "BAI-Custom-v0", budgets=[20], runs=40, out=out, reuse=True)

    monkeypatch.setattr(chunk_module, "reset", interrupted)
    with pytest.raises(error) as caught:
        play("cut")
    if error is KeyboardInterrupt:
        assert ("some runs of the next" in caught.value.__notes__[0]) == bool(kept)
    begun.clear()
    monkeypatch.setattr(chunk_module, "reset", counted)
    found = play("cut")
    assert len(begun) == 40 - kept
    assert facts(found) == facts(play("whole")) == facts(play(None))
    assert contents(tmp_path / "cut") == contents(tmp_path / "whole")


class Shared:
    """An agent that plays a batch of episodes, and says nothing of how long it takes."""

    uses_variances = False

    def allocate(self, observation: Any) -> Any:
        left = int(observation["remaining"].flat[0])
        return np.full(observation["pulls"].shape, left // 4) if left else None

    def recommend(self, observation: Any) -> Any:
        return observation["means"].argmax(axis=-1)


def test_a_long_chunk_of_a_batched_agent_loses_half_of_its_work_at_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, contents: Callable[[Path], dict[str, bytes]]
) -> None:
    """Parts are an eighth, an eighth, a quarter and a half of the runs; an interruption stores those that are not yet.

    What is stored while runs are played depends on the time that they take, and the results do not.
    """
    played: list[int] = []
    stored: list[int] = []  # parts there before each is played
    play_blocks = chunk_module.play_blocks

    def play(folder: str | None, interrupted: bool = False) -> Comparison:
        out = None if folder is None else tmp_path / folder

        def blocks(agent: Any, bandit: Any, *rest: Any) -> Any:
            stored.append(0 if out is None else len(list(out.rglob("*.part"))))
            if interrupted and len(played) == 3:
                raise KeyboardInterrupt
            played.append(bandit.batch)
            return play_blocks(agent, bandit, *rest)

        monkeypatch.setattr(chunk_module, "play_blocks", blocks)
        played.clear()
        stored.clear()
        return compare([Shared], PRIOR, budgets=[20], runs=40, out=out, reuse=True)

    monkeypatch.setattr(chunk_module, "LONG", 4 * 20 * 40)
    for name, seconds, there in (("fast", 1e9, [0, 0, 0, 0]), ("slow", 0.0, [0, 1, 2, 3])):
        monkeypatch.setattr(chunk_module, "STORED", seconds)
        with pytest.raises(KeyboardInterrupt) as caught:
            play(name, interrupted=True)
        assert played == [5, 5, 10] and "some runs of the next" in caught.value.__notes__[0]
        assert stored == there
        assert len(list((tmp_path / name).rglob("*.part"))) == 3
        found = play(name)
        assert played == [20]
        assert facts(found) == facts(play(f"whole {name}")) == facts(play(None))
        assert contents(tmp_path / name) == contents(tmp_path / f"whole {name}")
    assert contents(tmp_path / "fast") == contents(tmp_path / "slow")
