"""Evaluating in chunks: the same results for any number of workers, resumable, and errors before the work."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import threading
import weakref
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pyarrow.parquet as pq
import pytest

from bai_gym import Comparison, Result, agents, compare, evaluate
from bai_gym.agents.elimination.sequential_halving import SequentialHalving
from bai_gym.api import make_cells
from bai_gym.benchmark import chunk as chunk_module
from bai_gym.benchmark import runner
from bai_gym.benchmark.protocol import reset
from bai_gym.errors import AgentError, BaiGymError, BudgetError, ParameterError
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


@pytest.mark.slow
def test_workers_change_nothing(tmp_path: Path, contents: Callable[[Path], dict[str, bytes]]) -> None:
    # A class of a function, as one of a notebook, cannot be imported: it travels to the workers whole.
    class Own:
        batched = True

        def act(self, observation: Any) -> Any:
            return observation["pulls"].argmin(axis=-1)

    def results(name: str, workers: int) -> list[dict[str, Any]]:
        return facts(compare([*AGENTS, Own], ENV, budgets=[12, 9], runs=RUNS, workers=workers, out=tmp_path / name))

    one, two = results("one", 1), results("two", 2)
    assert one == two
    assert [(row["agent"], row["budget"], row["runs"]) for row in one] == [
        (name, budget, RUNS) for budget in (12, 9) for name in ("SH", "VBR", "Own")
    ]
    written = contents(tmp_path / "one")
    assert len(written) == 3 * 2 * 2 + 1  # chunks, and the results
    assert written == contents(tmp_path / "two")


def test_the_seed_decides() -> None:
    first, again, other = (evaluate("SH", PRIOR, runs=500, seed=seed) for seed in (3, np.int64(3), 4))
    assert facts([first]) == facts([again])
    assert first.mean_pulls.tolist() != other.mean_pulls.tolist()


def test_chunks_are_joined_and_independent() -> None:
    comparison = compare(["SH"], ENV, runs=2 * CHUNK_RUNS + 1, budgets=[8])
    correct = comparison.outcome(comparison[0]).correct
    assert comparison[0].runs == correct.size == 2 * CHUNK_RUNS + 1
    assert 0 < comparison[0].errors < comparison[0].runs
    assert (correct[:CHUNK_RUNS] != correct[CHUNK_RUNS:-1]).any()  # of one instance, so the rewards differ


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


def test_results_read_from_disk_have_paired_tests_too(tmp_path: Path) -> None:
    played_now, read = (compare(AGENTS, PRIOR, budgets=[20], runs=RUNS, out=tmp_path) for _ in range(2))
    assert (
        played_now.paired("SH", "VBR")
        == read.paired("SH", "VBR")
        == compare(AGENTS, PRIOR, budgets=[20], runs=RUNS).paired("SH", "VBR")
    )
    assert played_now.paired("SH", "VBR").only_a_errs > 0
    assert played_now[0].seconds > 0 == read[0].seconds


@pytest.mark.each(
    ("runs", "replayed"),
    [
        (2 * CHUNK_RUNS + 100, [(1, 1000), (2, 100)]),
        (RUNS, []),
        (CHUNK_RUNS, []),
        (300, [(0, 300)]),
    ],
)
def test_another_number_of_runs_reuses_what_is_there(
    tmp_path: Path, played: list[tuple[str, int, int]], runs: int, replayed: list[tuple[int, int]]
) -> None:
    evaluate("SH", PRIOR, runs=RUNS, out=tmp_path)
    played.clear()
    result = evaluate("SH", PRIOR, runs=runs, out=tmp_path)
    assert sorted(played) == [("SH", *chunk) for chunk in replayed]
    assert facts([result]) == facts([evaluate("SH", PRIOR, runs=runs)])


def test_another_agent_or_seed_does_not_reuse(tmp_path: Path, played: list[tuple[str, int, int]]) -> None:
    evaluate("SH", PRIOR, runs=20, out=tmp_path)
    played.clear()
    evaluate("SH", PRIOR, runs=20, out=tmp_path, seed=1)
    evaluate("SH(tie=first)", PRIOR, runs=20, out=tmp_path)
    assert played == [("SH", 0, 20), ("SH(tie=first)", 0, 20)]


def without_metadata(file: Path) -> None:
    pq.write_table(pq.read_table(file).replace_schema_metadata(None), file)


def of_another_schema(file: Path) -> None:
    table = pq.read_table(file)
    pq.write_table(table.replace_schema_metadata({**table.schema.metadata, b"schema": b"0"}), file)


DAMAGE: dict[str, Callable[[Path], object]] = {
    "truncated": lambda file: file.write_bytes(file.read_bytes()[:-20]),
    "empty": lambda file: file.write_bytes(b""),
    "garbage": lambda file: file.write_bytes(b"PAR1 no table PAR1"),
    "a row too few": lambda file: pq.write_table(pq.read_table(file)[1:], file),
    "a column too few": lambda file: pq.write_table(pq.read_table(file).drop_columns(["spent"]), file),
    "another schema": of_another_schema,
    "no metadata": without_metadata,
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


@pytest.mark.each("agent", ["SH", " SH ", "SH()", agents.SequentialHalving, agents.SequentialHalving()], ids=str)
def test_an_agent_by_name_class_and_instance(agent: Any) -> None:
    assert facts([evaluate(agent, PRIOR, runs=300)]) == facts([evaluate("SH", PRIOR, runs=300)])


def test_parameters_in_brackets_are_those_of_the_instance() -> None:
    named = evaluate("SHAdaVar(delta=0.2, tie=first)", PRIOR, budget=60, runs=300)
    assert facts([named]) == facts([evaluate(agents.SHAdaVar(delta=0.2, tie="first"), PRIOR, budget=60, runs=300)])


def test_an_instance_is_left_as_it_was() -> None:
    class Counting(Greedy):
        calls = 0

        def act(self, observation: Any) -> int:
            self.calls += 1
            return super().act(observation)

    agent = Counting()
    evaluate(agent, ENV, budget=5, runs=3)
    assert agent.calls == 0


@pytest.mark.each("workers", [1, 2])
@pytest.mark.each("takes", ["no reset", "nothing", "the problem info", "the problem info and a generator"])
def test_a_users_own_class_runs_whatever_its_reset_takes(workers: int, takes: str) -> None:
    class Own:
        """Pulls the arms in turn and recommends the largest mean."""

        def act(self, observation: Any) -> int:
            assert getattr(self, "told", "no reset") == takes
            return int((-observation["pulls"] if observation["remaining"][0] else observation["means"]).argmax())

    def with_nothing(self: Any) -> None:
        self.told = "nothing"

    def with_problem_info(self: Any, info: Any) -> None:
        self.told = "the problem info" if (info.num_arms, info.budget) == (3, 6) else "something else"

    def with_both(self: Any, info: Any, rng: np.random.Generator) -> None:
        self.told = "the problem info and a generator" if info.budget + rng.integers(1) == 6 else "something else"

    resets = {
        "nothing": with_nothing,
        "the problem info": with_problem_info,
        "the problem info and a generator": with_both,
    }
    if takes in resets:
        Own.reset = resets[takes]  # type: ignore[attr-defined]
    arms = {"means": [0.0, 1.0, 0.5], "variances": 0.0}
    result = evaluate(Own, ENV, budget=6, runs=25, env_kwargs=arms, workers=workers)
    assert (result.agent, result.errors, result.mean_pulls.tolist()) == ("Own", 0, [2.0, 2.0, 2.0])


@pytest.mark.each("workers", [1, 2])
def test_an_environment_object_is_as_good_as_its_id(workers: int) -> None:
    by_object = compare(AGENTS, gym.make(PRIOR, budget=30), runs=50, workers=workers)
    (first, second) = facts(by_object)
    assert [first["budget"], second["budget"]] == [30, 30]
    by_id = facts(compare(AGENTS, PRIOR, budgets=[30], runs=50))
    assert [{**row, "env": PRIOR} for row in (first, second)] == by_id


def test_agents_are_compared_on_the_same_instances(tmp_path: Path) -> None:
    compare(["SH", "Uniform", Greedy], PRIOR, budgets=[8, 12], runs=RUNS, out=tmp_path)
    answers = [
        np.concatenate([pq.read_table(file)["correct_recommendation"].to_numpy() for file in chunk_files_of(cell)])
        for cell in (tmp_path / "chunks").iterdir()
    ]
    assert len(answers) == 6
    assert set(answers[0].tolist()) == {0, 1, 2, 3}
    for answer in answers[1:]:
        assert (answer == answers[0]).all()


def chunk_files_of(cell: Path) -> list[Path]:
    return sorted(cell.glob("*.parquet"))


# ------------------------------------------------------------------------------------------------ refusals


@pytest.mark.each(
    ("arguments", "kind", "words"),
    [
        ({"agents": ["SH", "VBR", "SH"]}, ParameterError, "SH is given twice"),
        ({"budgets": [20, 20]}, ParameterError, "budget 20 is given twice"),
        ({"agents": []}, ParameterError, "at least one agent"),
        ({"agents": "SH"}, ParameterError, "agents must be a list"),
        ({"budgets": 20}, ParameterError, "budgets must be a list"),
        ({"agents": [7]}, AgentError, "int is not an agent"),
        *(({"runs": runs}, ParameterError, "runs must be") for runs in (0, -1, 1.5, True, "10", None)),
        *(({"workers": workers}, ParameterError, "workers must be") for workers in (0, -2, 1.5, True, "2")),
        *(({"seed": seed}, ParameterError, "seed must be") for seed in (-1, 1.5, True, "0", None)),
        *(({"budgets": [budget]}, BudgetError, "budget must be") for budget in (0, -4, 20.0, True)),
        ({"budgets": [20, 7]}, BudgetError, "give at least 8"),
        *(
            ({"env_kwargs": value}, ParameterError, "env_kwargs must be a dict")
            for value in (5, "budget=9", [("budget", 9)], {5: 1})
        ),
        *(
            ({"env_kwargs": {"render_mode": mode}}, ParameterError, "render_mode")
            for mode in ("foo", 5, ["ansi"], True, b"ansi")
        ),
    ],
    ids=str,
)
def test_mistakes_are_refused_before_any_work(
    tmp_path: Path, arguments: dict[str, Any], kind: type[BaiGymError], words: str
) -> None:
    told: list[tuple[int, int]] = []
    given = {"agents": list(AGENTS), "runs": 10, "seed": 0, "budgets": [20], **arguments}
    with pytest.raises(kind, match=words) as caught:
        compare(given.pop("agents"), PRIOR, **given, out=tmp_path / "out", on_chunk=lambda *n: told.append(n))
    assert "\n" not in str(caught.value)
    assert told == []
    assert not (tmp_path / "out").exists()


@pytest.mark.each("out", [5, "", b"out", ["out"], True, 1.5])
def test_an_output_folder_is_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, out: Any) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ParameterError, match="^out must be"):
        compare(AGENTS, ENV, budgets=[9], runs=5, out=out)
    with pytest.raises(ParameterError, match="^out must be"):
        evaluate("SH", ENV, budget=9, runs=5, out=out)
    assert list(tmp_path.iterdir()) == []


def test_an_environment_object_takes_no_keywords() -> None:
    for keywords in (5, {"budget": 9}):
        with pytest.raises(ParameterError, match="^env_kwargs "):
            evaluate("SH", gym.make(ENV), runs=5, env_kwargs=keywords)  # type: ignore[arg-type]


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


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs a signal that cannot be caught")
def test_workers_follow_to_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, contents: Callable[[Path], dict[str, bytes]]
) -> None:
    # Worker processes are used again, and stay in the folder in which they were started.
    keywords = {"path": "log.csv", "arm_column": "page", "reward_column": "sales"}
    for name, best in (("one", "a"), ("two", "b")):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "log.csv").write_text("page,sales\n" + "".join(f"{page},{int(page == best)}\n" for page in "abc"))
        monkeypatch.chdir(folder)
        results = [
            evaluate("SH", "BAI-Table-v0", budget=9, runs=1500, workers=workers, out=out, env_kwargs=keywords)
            for workers, out in ((2, "by two"), (1, "by one"))
        ]
        assert [result.errors for result in results] == [0, 0]
        assert contents(folder / "by two") == contents(folder / "by one") != {}


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


def test_an_agent_that_cannot_be_sent_to_workers() -> None:
    lock = threading.Lock()

    class Tied:
        def act(self, observation: Any) -> int:
            with lock:
                return 0

    with pytest.raises(BaiGymError, match="workers=1$") as caught:
        evaluate(Tied, ENV, budget=5, runs=1001, workers=2)
    assert "\n" not in str(caught.value)
    assert evaluate(Tied, ENV, budget=5, runs=5, workers=1).runs == 5


@pytest.mark.slow
def test_arrays_of_earlier_chunks_are_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    class Cyclic(SequentialHalving):
        def begin(self, info: Any) -> None:
            super().begin(info)
            self.own = self  # so that only a garbage collection frees it

    alive: list[weakref.ref[Any]] = []
    most = []
    play = chunk_module.play_blocks

    def watched(agent: Any, *rest: Any) -> Any:
        most.append(sum(ref() is not None for ref in alive))
        alive.append(weakref.ref(agent))  # its plan holds the statistics
        return play(agent, *rest)

    monkeypatch.setattr(chunk_module, "play_blocks", watched)
    gc.disable()
    try:
        evaluate(Cyclic, "BAI-Gaussian8-v0", budget=30_000, runs=4000, env_kwargs={"num_arms": 1001})
    finally:
        gc.enable()
    assert most == [0, 1, 2, 3] * 4  # four chunks of four parts


# ------------------------------------------------------------------------------------------------ parts of chunks


class Patient:
    """An agent that plays one episode at a time, with random numbers of its own."""

    def reset(self, info: Any, rng: np.random.Generator) -> None:
        self.rng = rng

    def act(self, observation: Any) -> int:
        if observation["remaining"][0] > 0:
            return int(self.rng.integers(observation["pulls"].size))
        return int(observation["means"].argmax())


@pytest.mark.each(("finished", "kept"), [(0, 0), (1, 1), (11, 7), (30, 15)])
def test_an_agent_that_plays_one_by_one_loses_half_of_its_work_at_most(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    contents: Callable[[Path], dict[str, bytes]],
    finished: int,
    kept: int,
) -> None:
    """Parts have 1, 2, 4, 8, ... runs."""
    begun: list[int] = []

    def interrupted(*given: Any) -> None:
        if len(begun) == finished:
            raise KeyboardInterrupt
        begun.append(1)
        reset(*given)

    def counted(*given: Any) -> None:
        begun.append(1)
        reset(*given)

    def play(folder: str | None) -> Comparison:
        out = None if folder is None else tmp_path / folder
        return compare([Patient], "BAI-Custom-v0", budgets=[20], runs=40, out=out, reuse=True)

    monkeypatch.setattr(chunk_module, "reset", interrupted)
    with pytest.raises(KeyboardInterrupt) as caught:
        play("cut")
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


def test_an_error_leaves_what_was_played_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[int] = []

    def play(fails_at: int) -> None:
        def failing(*given: Any) -> None:
            if len(begun) == fails_at:
                raise ConnectionError("no answer")
            begun.append(1)
            reset(*given)

        monkeypatch.setattr(chunk_module, "reset", failing)
        begun.clear()
        compare([Patient], ENV, budgets=[20], runs=40, out=tmp_path, reuse=True)

    with pytest.raises(ConnectionError):
        play(11)
    play(-1)
    assert len(begun) == 40 - 7  # parts of 1, 2 and 4 runs were there


def test_the_instances_of_a_chunk_are_drawn_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunk_module, "LONG", 1)
    monkeypatch.setattr(chunk_module, "STORED", 0.0)
    drawn: list[int] = []
    problem: Any = gym.make(PRIOR).unwrapped.problem  # type: ignore[attr-defined]
    draw = type(problem).draw

    def counted(self: Any, batch: int, rng: Any) -> Any:
        drawn.append(batch)
        return draw(self, batch, rng)

    monkeypatch.setattr(type(problem), "draw", counted)
    for agent, path, parts in (
        (Shared, "auto", 4),
        (Shared, "steps", 4),
        (Patient, "auto", 7),
        ("SH", "auto", 1),
        ("SH", "steps", 4),
    ):
        cell = make_cells([agent], PRIOR, [20], 0, path=path)[0]
        assert len(chunk_module.part_starts(cell, 80)) == parts
        _ = cell.key  # draws instances, too
        for writer in (None, ResultsWriter(tmp_path)):
            drawn.clear()
            chunk_module.play_chunk(cell, 0, 80, writer)
            assert drawn == [80], (agent, path)


def test_chunks_of_quick_agents_are_played_in_one_piece() -> None:
    def parts(agent: Any, **keywords: Any) -> int:
        cell = make_cells([agent], "BAI-Gaussian64-v0", [5000], 0, **keywords)[0]
        return len(chunk_module.part_starts(cell, CHUNK_RUNS))

    for agent in ("SH", "SHVar", "SHAdaVar", "SR", "Uniform"):
        assert parts(agent) == 1, agent
    # Pull by pull, or with a recommendation at many budgets, they are as slow as others.
    assert parts("SH", path="steps") == parts("Uniform", checkpoints=100) == parts("RHO") == parts("TTTS") == 4
    late = make_cells(["SH"], "BAI-Gaussian64-v0", [5000], 0, {"batch_size": 8})[0]
    assert len(chunk_module.part_starts(late, CHUNK_RUNS)) == 4
