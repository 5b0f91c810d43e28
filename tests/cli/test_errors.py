"""Every mistake at the command line: exit code 2, nothing on stdout, one line that names the thing and the way out."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bai_gym.benchmark.chunk import play_chunk
from bai_gym.cli import main

RUN = ("run", "BAI-Custom-v0", "--runs", "5")
TABLE = ("run", "BAI-Table-v0", "--runs", "5", "--set", "path=log.csv")
COLUMNS = ("--set", "arm_column=page", "--set", "reward_column=sales")
TRAIN = ("train", "sb3", "BAI-Bernoulli3-v0")
UNIVERSAL = ("train", "universal")
MOVIES = ("run", "BAI-MovieLens64-v0", "--runs", "5")


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    code: object
    out: str
    err: str


Command = Callable[..., Outcome]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Command:
    """Run a command line in this process, in an empty folder and without data."""
    monkeypatch.setenv("BAI_GYM_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # main replaces it

    def run(*words: str) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["bai-gym", *words])
        with pytest.raises(SystemExit) as left:
            main()
        return Outcome(left.value.code, *capsys.readouterr())

    return run


def assert_refused(outcome: Outcome, *parts: str) -> None:
    """Check for one line of error with all the parts, and no work done."""
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.count("\n") == 1
    assert outcome.err.startswith("error: ") and outcome.err.endswith("\n")
    assert [part for part in parts if part not in outcome.err] == []


@pytest.mark.each(
    ("words", "parts"),
    [
        # Names.
        (("run", "BAI-Gausian64-v0"), ("'BAI-Gausian64-v0'", "Did you mean BAI-Gaussian64-v0", "bai-gym list envs")),
        (("run", "CartPole-v1"), ("CartPole-v1", "bai-gym list envs")),
        ((*RUN, "--agent", "SHvr"), ("unknown agent 'SHvr'", "Did you mean SHVar", "bai-gym list agents")),
        ((*RUN, "--agent", "SH", "--agent", "shadavar"), ("'shadavar'", "Did you mean SHAdaVar")),
        (("reproduce", "shvar2"), ("unknown experiment 'shvar2'", "Did you mean shvar-2", "bai-gym list experiments")),
        (("reproduce", "shvar-3", "figure-9"), ("unknown experiment 'figure-9'", "bai-gym list experiments")),
        (("data", "fetch", "movielens"), ("unknown data set 'movielens'", "Did you mean movielens-1m")),
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
        ((*RUN, "--budget", "many"), ("'--budget'", "integer", "`bai-gym run --help`")),
        *(
            ((*words, option, text), (f"Invalid value for '{option}': {text!r} is not a valid integer (see `bai-gym ",))
            for words in (RUN, ("reproduce", "shvar-3"))
            for option, text in (("--runs", "1e4"), ("--seed", "abc"), ("--workers", "two"))
        ),
        ((*RUN, "--budget", "50", "--budget", "1e3"), ("'--budget': '1e3' is not a valid integer",)),
        ((*RUN, "--out", ""), ("'--out': '' is not a folder; write . for the current one",)),
        *(
            ((*TRAIN, option, "1e4"), (f"'{option}': '1e4' is not a valid integer",))
            for option in ("--steps", "--seed", "--runs")
        ),
        ((*TRAIN, "--out="), ("'--out': '' is not a folder",)),
        (("reproduce", "shvar-3", "--out="), ("'--out': '' is not a folder; write . for the current one",)),
        (("list", "env"), ("No such command 'env'", "`bai-gym list --help`")),
        # Training.
        (("train", "BAI-Bernoulli3-v0"), ("No such command 'BAI-Bernoulli3-v0'", "`bai-gym train --help`")),
        (("train", "sb3"), ("Missing argument 'env'", "`bai-gym train sb3 --help`")),
        ((*TRAIN, "--minutes", "3"), ("No such option: --minutes",)),
        ((*UNIVERSAL, "BAI-Bernoulli3-v0"), ("unexpected extra argument", "BAI-Bernoulli3-v0")),
        (("plan", "--zone", "1e-300"), ("zone must be", "not 1e-300")),
        (("plan", "--zone", "1e300"), ("zone must be", "not 1e+300")),
        (("plan", "--zone", "1", "--deviation", "1e200"), ("deviation must be", "not 1e+200")),
        (("plan", "--zone", "1e-20"), ("zone 1e-20 is so small", "give a larger zone")),
        (("run", "BAI-Traffic357-v0", "--set", "path=/dev/zero"), ("/dev/zero is not a file", "path must be")),
        ((*UNIVERSAL, "--minutes", "-1"), ("minutes must be", "not -1.0")),
        ((*UNIVERSAL, "--minutes", "nan"), ("minutes must be", "not nan")),
        ((*UNIVERSAL, "--recipe", "epochs=3"), ("unknown entry of the recipe 'epochs'", "it has stages, families")),
        ((*TRAIN, "--recipe", "widht=3"), ("Did you mean width",)),
        ((*TRAIN, "--recipe", "seed=3"), ("unknown entry of the recipe 'seed'. (give --seed)",)),
        ((*TRAIN, "--recipe", "width"), ("--recipe 'width' cannot be read; write --recipe KEYWORD=VALUE",)),
        ((*TRAIN, "--recipe", "network=[1]"), ("unknown network '[1]'",)),
        ((*TRAIN, "--recipe", "width=1e4"), ("width must be an integer of at least 1, not 10000.0",)),
        # Options.
        ((*RUN, "--runs", "0"), ("runs must be an integer of at least 1, not 0",)),
        ((*RUN, "--workers", "0"), ("workers must be an integer of at least 1, or -1 for all cores, not 0",)),
        ((*RUN, "--agent", "SH(delta=1)"), ("SH has no parameter 'delta'; it has: tie, ",)),
        ((*RUN, "--agent", "SH(tie="), ("'SH(tie='", "NAME(parameter=value, ...)")),
        # Keywords of environments, and instances.
        *(
            ((*RUN, "--set", pair), (f"--set {pair!r} cannot be read; write --set KEYWORD=VALUE",))
            for pair in ("means", "=3", "my means=3", "")
        ),
        ((*RUN, "--set", "num_arms=8"), ("'num_arms' is not a keyword of the custom environments", "allowed: means")),
        ((*RUN, "--set", "means=[1, NaN]"), ("means: arm 1 has nan",)),  # a literal, although not of Python
        ((*RUN, "--set", "means=much"), ("means", "much")),
        *(
            ((*RUN, "--set", "means=[1,0]", "--costs", costs), (repr(costs), "A=1,B=2.5"))
            for costs in ("A=1,2", "A=1,A=2", "dollars", "1,x", "A=x,B=1", "")
        ),
        *(((*RUN, "--set", pair, "--costs", "1,2"), ("given twice",)) for pair in ("costs=[1,2]", "cost_column=price")),
        ((*RUN, "--set", "means=[1,0]", "--costs", "A=1,B=2"), ("no cost of arm '0'",)),
        (("plan", "--zone", "0.5", "--costs", "1,2"), ("--costs",)),
        # Files and folders.
        (MOVIES, ("'movielens-1m' is not in", "bai-gym data fetch movielens-1m", "BAI_GYM_DATA")),
        ((*TABLE, *COLUMNS), ("no data file", "log.csv", "give the path")),
    ],
    ids=lambda value: " ".join(value) if isinstance(value[0], str) else None,
)
def test_mistakes(command: Command, words: tuple[str, ...], parts: tuple[str, ...]) -> None:
    assert_refused(command(*words), *parts)


@pytest.mark.parametrize("below", ["", "/deep/down"])
def test_an_output_folder_that_cannot_be_written(command: Command, tmp_path: Path, below: str) -> None:
    # A file in the way stops every user, even root, whom permissions do not.
    (tmp_path / "taken").write_text("mine")
    assert_refused(
        command(*RUN, "--out", f"taken{below}"), f"cannot write to the output folder taken{below}: ", "choose another"
    )
    assert (tmp_path / "taken").read_text() == "mine"


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        (("--recipe", "stages=9"), "stages must be the fewest and the most, such as 6,20, not 9"),
        (("--recipe", "stages=6-18"), "stages must be the fewest and the most, such as 6,20, not '6-18'"),
        (("--recipe", "stages=9,4"), "stages must be the fewest and the most, not 9 and 4"),
        (("--recipe", "families=3"), "families must be words, with commas between them, not 3"),
        (
            ("--recipe", "families=poisson"),
            "families must be some of gaussian, bernoulli, bernoulli-prior, not poisson",
        ),
        (("--start-from", "none.npz"), "there is no file of weights 'none.npz'"),
        (("--agent", "SHvr"), "unknown agent 'SHvr'"),
    ],
)
def test_mistakes_of_universal_training_are_found_before_the_work(
    command: Command, tmp_path: Path, words: tuple[str, ...], rule: str
) -> None:
    pytest.importorskip("stable_baselines3")
    assert_refused(command(*UNIVERSAL, *words), rule)
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    ("words", "file"),
    [
        *((RUN, name) for name in ("figure.png", "results.parquet", "results.csv", "results.md")),
        (TRAIN, "results.md"),
        (("reproduce", "shvar-3", "--runs", "3"), "shvar-3/shvar-3-literal.png"),  # of the second panel
        (("reproduce", "shvar-2", "shvar-3", "--runs", "3"), "shvar-3/shvar-3-claims.txt"),  # of the second figure
        (("reproduce", "learned-5", "--runs", "3"), "learned-5/learned-5-paired.md"),
    ],
)
def test_a_folder_with_the_name_of_a_file_is_found_before_the_work(
    command: Command, tmp_path: Path, words: tuple[str, ...], file: str
) -> None:
    if words is TRAIN:
        pytest.importorskip("stable_baselines3")
    (tmp_path / "out" / file).mkdir(parents=True)
    rule = f"cannot write out/{file}: it is a folder; rename it, or choose another output folder"
    assert_refused(command(*words, "--out", "out"), rule)
    assert [path.name for path in (tmp_path / "out" / file).parent.iterdir()] == [Path(file).name]


def test_mistakes_leave_nothing_behind(command: Command, tmp_path: Path) -> None:
    assert_refused(command(*RUN, "--agent", "SH", "--budget", "3", "--out", "out"), "budget 3")
    assert_refused(command("reproduce", "shvar-3", "--runs", "0", "--out", "out"), "runs")
    assert list(tmp_path.iterdir()) == []


def test_the_budget_that_the_error_names_is_enough(command: Command) -> None:
    outcome = command(*RUN, "--agent", "VBR", "--budget", "1")
    least = outcome.err.partition("give at least ")[2].split()[0].strip(",;:")
    assert command(*RUN, "--agent", "VBR", "--budget", least).code == 0
    assert command(*RUN, "--agent", "VBR", "--budget", str(int(least) - 1)).code == 2


@pytest.mark.parametrize("words", [(), ("list",), ("train",)])
def test_no_command_shows_the_help(command: Command, words: tuple[str, ...]) -> None:
    outcome = command(*words)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(f"Usage: {' '.join(('bai-gym', *words))} ") and "Commands:" in outcome.err


def test_a_defect_is_not_hidden(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    # Only mistakes of the user become one line; what else goes wrong keeps its traceback.
    monkeypatch.setattr("bai_gym.api.compare", lambda *_, **__: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        command(*RUN)


def test_warnings_are_one_line_too(command: Command, tmp_path: Path) -> None:
    words = (*RUN, "--agent", "SH", "--out", "out")
    assert command(*words).code == 0
    (chunk,) = tmp_path.glob("out/chunks/*/*.parquet")
    chunk.write_bytes(b"")
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        outcome = command(*words)
    assert outcome.code == 0
    assert outcome.err.count("\n") == 1
    assert outcome.err.startswith("warning: ") and "this chunk is played again" in outcome.err


@pytest.mark.each(
    ("chunk", "out", "words"),
    [
        (1, ("--out", "results"), "no chunk of runs was finished, so nothing is saved in results"),
        (2, ("--out", "results"), "1 of 2 chunks of runs are saved in results; the same command resumes"),
        (2, (), "nothing is saved without an output folder"),
    ],
)
def test_an_interruption_says_what_is_saved(
    command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, chunk: int, out: tuple[str, ...], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    number = itertools.count(1)

    def interrupted(*given: Any) -> Any:
        if next(number) == chunk:
            raise KeyboardInterrupt
        return play_chunk(*given)

    monkeypatch.setattr("bai_gym.benchmark.runner.play_chunk", interrupted)
    outcome = command(*RUN, "--agent", "GapE", "--agent", "SH", *out)
    assert outcome.code == 130
    assert outcome.err == f"interrupted: {words}\n"
    # What is played first is what takes least time.
    assert [path.parent.name.split("_")[1] for path in tmp_path.rglob("*.parquet")] == ["SH"] * ("1 of 2" in words)


@pytest.mark.slow
def test_as_a_program(tmp_path: Path) -> None:
    line = [sys.executable, "-c", "from bai_gym.cli import main; main()", *RUN, "--agent", "SHvr"]
    environment = {name: value for name, value in os.environ.items() if name != "FORCE_COLOR"}
    done = subprocess.run(line, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment, timeout=60)
    assert_refused(Outcome(done.returncode, done.stdout, done.stderr), "unknown agent 'SHvr'", "SHVar")


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
