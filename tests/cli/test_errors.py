"""Every mistake at the command line: exit code 2, nothing on stdout, one line that names the thing and the way out."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bai_gym.benchmark.chunk import play_chunk

RUN = ("run", "BAI-Custom-v0", "--runs", "5")
TABLE = ("run", "BAI-Table-v0", "--runs", "5", "--set", "path=log.csv")
COLUMNS = ("--set", "arm_column=page", "--set", "reward_column=sales")
Command = Callable[..., Any]
Refused = Callable[..., None]


@pytest.mark.each(
    ("words", "parts"),
    [
        # Names.
        (("run", "BAI-Gausian64-v0"), ("'BAI-Gausian64-v0'", "Did you mean BAI-Gaussian64-v0", "bai-gym list envs")),
        ((*RUN, "--agent", "SHvr"), ("unknown agent 'SHvr'", "Did you mean SHVar", "bai-gym list agents")),
        # Shards.
        *(
            ((*RUN, "--out", "shards", "--shard", text), (f"--shard '{text}' is no part", "3/16"))
            for text in ("0/4", "5/4", "3", "a/b", "-1/2")
        ),
        ((*RUN, "--shard", "1/2"), ("--shard needs a folder", "--out")),
        ((*RUN, "--out", "shards", "--shard", "1/2", "--no-reuse"), ("a shard never deletes", "--no-reuse")),
        # The command line itself.
        (("frobnicate",), ("No such command 'frobnicate'", "`bai-gym --help`")),
        (("run",), ("Missing argument", "ENV", "`bai-gym run --help`")),
        ((*RUN, "--bugdet", "9"), ("No such option: --bugdet", "--budget", "`bai-gym run --help`")),
        *(
            ((*RUN, option, text), (f"Invalid value for '{option}': {text!r} is not a valid integer (see `bai-gym ",))
            for option, text in (("--runs", "1e4"), ("--seed", "abc"), ("--workers", "two"))
        ),
        ((*RUN, "--out", ""), ("'--out': '' is not a folder; write . for the current one",)),
        # Options.
        ((*RUN, "--agent", "SH(tie="), ("'SH(tie='", "NAME(parameter=value, ...)")),
        ((*RUN, "--agent", "SH", "--budget", "3", "--out", "out"), ("budget 3",)),
        # Keywords of environments, and instances.
        *(
            ((*RUN, "--set", pair), (f"--set {pair!r} cannot be read; write --set KEYWORD=VALUE",))
            for pair in ("means", "=3", "my means=3", "")
        ),
        (
            (*RUN, "--set", "num_arms=8"),
            ("'num_arms' of the custom environments", "allowed: means"),
        ),
        ((*RUN, "--set", "means=[1, NaN]"), ("means: arm 1 has nan",)),  # a literal, although not of Python
        *(
            ((*RUN, "--set", "means=[1,0]", "--costs", costs), (repr(costs), "A=1,B=2.5"))
            for costs in ("A=1,2", "A=1,A=2", "dollars", "1,x", "A=x,B=1", "")
        ),
        *(((*RUN, "--set", pair, "--costs", "1,2"), ("given twice",)) for pair in ("costs=[1,2]", "cost_column=price")),
        ((*RUN, "--set", "means=[1,0]", "--costs", "A=1,B=2"), ("no cost of arm '0'",)),
        # Files and folders.
        ((*TABLE, *COLUMNS), ("no data file", "log.csv", "give the path")),
    ],
    ids=lambda value: " ".join(value) if isinstance(value[0], str) else None,
)
def test_mistakes(refused: Refused, words: tuple[str, ...], parts: tuple[str, ...]) -> None:
    refused(words, *parts)
    assert not Path("out").exists() and not Path("shards").exists()


def test_an_output_folder_that_cannot_be_written(refused: Refused, tmp_path: Path) -> None:
    # A file in the way stops every user, even root, whom permissions do not.
    (tmp_path / "taken").write_text("mine")
    for below in ("", "/deep/down"):
        refused((*RUN, "--out", f"taken{below}"), f"cannot write to the output folder taken{below}: ", "choose another")
    assert (tmp_path / "taken").read_text() == "mine"
    for name in ("figure.png", "results.parquet", "results.csv", "results.md"):
        (tmp_path / name / name).mkdir(parents=True)
        refused((*RUN, "--out", name), f"cannot write {name}/{name}: it is a folder; rename it")
        assert [path.name for path in (tmp_path / name).iterdir()] == [name]  # found before the work


def test_the_budget_that_the_error_names_is_enough(outcome: Command) -> None:
    ended = outcome(*RUN, "--agent", "VBR", "--budget", "1")
    least = ended.err.partition("give at least ")[2].split()[0].strip(",;:")
    assert outcome(*RUN, "--agent", "VBR", "--budget", least).code == 0
    assert outcome(*RUN, "--agent", "VBR", "--budget", str(int(least) - 1)).code == 2


def test_no_command_shows_the_help(outcome: Command) -> None:
    for words in ((), ("list",)):
        code, out, err = outcome(*words)
        assert (code, out) == (2, "")
        assert err.startswith(f"Usage: {' '.join(('bai-gym', *words))} ") and "Commands:" in err


def test_a_defect_is_not_hidden(outcome: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    # Only mistakes of the user become one line; what else goes wrong keeps its traceback.
    monkeypatch.setattr("bai_gym.api.compare", lambda *_, **__: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        outcome(*RUN)


def test_warnings_are_one_line_too(outcome: Command, tmp_path: Path) -> None:
    words = (*RUN, "--agent", "SH", "--out", "out")
    assert outcome(*words).code == 0
    (chunk,) = tmp_path.glob("out/chunks/*/*.parquet")
    chunk.write_bytes(b"")
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        ended = outcome(*words)
    assert ended.code == 0
    assert ended.err.count("\n") == 1
    assert ended.err.startswith("warning: ") and "this chunk is played again" in ended.err


@pytest.mark.each(
    ("chunk", "out", "words"),
    [
        (1, ("--out", "results"), "no chunk of runs was finished, so nothing is saved in results"),
        (2, ("--out", "results"), "1 of 2 chunks of runs are saved in results; the same command resumes"),
        (2, (), "nothing is saved without an output folder"),
    ],
)
def test_an_interruption_says_what_is_saved(
    outcome: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, chunk: int, out: tuple[str, ...], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    number = itertools.count(1)

    def interrupted(*given: Any) -> Any:
        if next(number) == chunk:
            raise KeyboardInterrupt
        return play_chunk(*given)

    monkeypatch.setattr("bai_gym.benchmark.runner.play_chunk", interrupted)
    ended = outcome(*RUN, "--agent", "GapE", "--agent", "SH", *out)
    assert ended.code == 130
    assert ended.err == f"interrupted: {words}\n"
    # What is played first is what takes least time.
    assert [path.parent.name.split("_")[1] for path in tmp_path.rglob("*.parquet")] == ["SH"] * ("1 of 2" in words)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
@pytest.mark.parametrize("words", ["run BAI-Bernoulli3-v0 --agent SH --runs 20 --budget 30", "--version"])
def test_output_that_nobody_takes_is_no_traceback(words: str) -> None:
    command = [sys.executable, "-c", "from bai_gym.cli import main; main()", *words.split()]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "standard output" in done.stderr
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert done.returncode not in (0, 2) and done.stderr == ""
