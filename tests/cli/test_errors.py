"""Every mistake at the command line: exit code 2, nothing on stdout, one line that names the thing and the way out."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from bai_gym.cli import main

RUN = ("run", "BAI-Custom-v0", "--runs", "5")
TABLE = ("run", "BAI-Table-v0", "--runs", "5", "--set", "path=log.csv")
COLUMNS = ("--set", "arm_column=page", "--set", "reward_column=sales")
TRAIN = ("train", "BAI-Bernoulli3-v0")
UNIVERSAL = ("train", "--universal")
FILM = ("run", "BAI-MovieLens64-v0", "--runs", "5")


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
        ((*RUN, "--backend", "dusk"), ("unknown backend 'dusk'", "Did you mean dask", "loky, dask, ray")),
        # Clusters.
        ((*RUN, "--address", "tcp://a:1"), ("--address tcp://a:1 needs a cluster", "--backend dask or --backend")),
        *(
            (
                (*words, "--backend", "dask", "--address", "tcp://a:1", "--workers", "1"),
                ("--workers 1 counts processes of this machine", "leave --workers out"),
            )
            for words in (RUN, ("reproduce", "shvar-3"))
        ),
        # The command line itself.
        (("frobnicate",), ("No such command 'frobnicate'", "`bai-gym --help`")),
        (("run",), ("Missing argument", "env", "`bai-gym run --help`")),
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
            for option in ("--steps", "--imitated-steps", "--width", "--num-envs", "--epochs", "--runs")
        ),
        ((*TRAIN, "--out="), ("'--out': '' is not a folder",)),
        (("reproduce", "shvar-3", "--out="), ("'--out': '' is not a folder; write . for the current one",)),
        (("list", "env"), ("No such command 'env'", "`bai-gym list --help`")),
        # Training.
        (("train",), ("give the id of an environment, or --universal",)),
        ((*TRAIN, "--minutes", "3"), ("--minutes can only be given with --universal",)),
        ((*TRAIN, "--universal"), ("an environment cannot be given with --universal",)),
        ((*UNIVERSAL, "--epochs", "3"), ("--epochs cannot be given with --universal",)),
        # Options.
        ((*RUN, "--runs", "0"), ("runs must be a whole number of at least 1, not 0",)),
        ((*RUN, "--workers", "0"), ("workers must be a whole number of at least 1, or -1 for all cores, not 0",)),
        ((*RUN, "--seed", "-1"), ("seed must be an integer of at least 0, not -1",)),
        ((*RUN, "--budget", "0"), ("budget must be a whole number of pulls, at least 1", "not 0")),
        ((*RUN, "--budget", "3"), ("budget 3 is below the minimum of ", "4 arms", "give at least ")),
        ((*RUN, "--path", "fast"), ("path must be one of 'auto', 'blocks', 'steps', not 'fast'",)),
        ((*RUN, "--agent", "SH", "--agent", "SH"), ("SH is given twice",)),
        ((*RUN, "--agent", "SH(delta=1)"), ("SH has no parameter 'delta'; it has: tie, ",)),
        ((*RUN, "--agent", "SH(tie="), ("'SH(tie='", "NAME(parameter=value, ...)")),
        (("reproduce", "shvar-3", "--runs", "0"), ("runs must be a whole number of at least 1, not 0",)),
        (("reproduce", "shvar-3", "--runs", "5", "--workers", "0"), ("workers must be", "not 0")),
        (("reproduce", "shvar-3", "--runs", "5", "--seed", "-1"), ("seed must be", "not -1")),
        # Keywords of environments, and instances.
        *(
            ((*RUN, "--set", pair), (f"--set {pair!r} cannot be read; write --set KEYWORD=VALUE",))
            for pair in ("means", "=3", "my means=3", "")
        ),
        ((*RUN, "--set", "num_arms=8"), ("'num_arms' is not a keyword of the custom environments", "allowed: means")),
        ((*RUN, "--set", "means=[1, 0]", "--set", "variances=[1, -2]"), ("variances: arm 1 has -2.0", "negative")),
        ((*RUN, "--set", "means=[1, nan]"), ("means: arm 1 has nan", "finite number")),
        ((*RUN, "--set", "means=[-inf, 1]"), ("means: arm 0 has -inf", "finite number")),
        ((*RUN, "--set", "means=[1]"), ("at least 2 arms, not 1",)),
        ((*RUN, "--set", "means=much"), ("means", "much")),
        ((*RUN, "--set", f"means=[1{400 * '0'}, 1]"), ("means must be finite numbers of at most 1.8e308",)),
        *(
            (
                (*RUN, "--set", f"render_mode={mode}"),
                ("render_mode must be None or one of ansi, rgb_array, human, not ",),
            )
            for mode in ("foo", "5")
        ),
        # Files and folders.
        (FILM, ("'movielens-1m' is not in", "bai-gym data fetch movielens-1m", "BAI_GYM_DATA")),
        (
            ("run", "BAI-Automobile-v0", "--runs", "5"),
            ("'automobile' is not in", "bai-gym data fetch automobile", "BAI_GYM_DATA"),
        ),
        *(
            (
                words,
                ("'electric-motor' is not in", "download measures_v2.csv from https://www.kaggle.com", "BAI_GYM_DATA"),
            )
            for words in (("run", "BAI-ElectricMotor-v0", "--runs", "5"), ("data", "fetch", "electric-motor"))
        ),
        (
            ("run", "BAI-ElectricMotor-v0", "--runs", "5", "--set", "target=torque"),
            ("target must be one of 'pm', 'stator_winding'", "not 'torque'"),
        ),
        (
            ("run", "BAI-AutomobileLike-v0", "--runs", "5", "--set", "num_arms=206"),
            ("206 arms asked for, but the data have only 205 rows",),
        ),
        ((*TABLE, *COLUMNS), ("no data file", "log.csv", "give the path")),
        (TABLE, ("path=, arm_column= and reward_column=",)),
        ((*TABLE, *COLUMNS, "--set", "path=5"), ("path of a file", "not 5")),
    ],
    ids=lambda value: " ".join(value) if isinstance(value[0], str) else None,
)
def test_mistakes(command: Command, words: tuple[str, ...], parts: tuple[str, ...]) -> None:
    assert_refused(command(*words), *parts)


@pytest.mark.parametrize(
    ("log", "parts"),
    [
        ("side,sales\na,1\nb,2\n", ("log.csv has no column 'page'", "It has 'side', 'sales'")),
        ("page,sale\na,1\nb,2\n", ("log.csv has no column 'sales'", "Did you mean 'sale'?")),
        ("page,sales\n", ("log.csv", "no rows", "one row per observation")),
        ("page,sales\na,1\na,2\n", ("only one arm, 'a'", "at least two")),
        ("page,sales\na,1\n,2\n", ("'page'", "log.csv", "row 2")),
        ("page,sales\na,1\nb,ten\n", ("'sales' of log.csv, row 2, is 'ten'", "finite number")),
        ("page,sales\na,1\nb,nan\n", ("'sales' of log.csv, row 2", "finite number")),
        ("page,sales\na,1\nb,\n", ("'sales' of log.csv, row 2", "finite number")),
        ("", ("log.csv is empty",)),
    ],
)
def test_tables_that_cannot_be_used(command: Command, tmp_path: Path, log: str, parts: tuple[str, ...]) -> None:
    (tmp_path / "log.csv").write_text(log)
    assert_refused(command(*TABLE, *COLUMNS), *parts)


def test_an_arm_without_rows(command: Command, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("page,sales\na,1\nb,2\n")
    outcome = command(*TABLE, *COLUMNS, "--set", "arms=['a', 'c']")
    assert_refused(outcome, "arm 'c' has no rows", "log.csv has the arms", "'b'")


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
        (("--stages", "9"), "--stages must be the fewest and the most, such as 6-18, not '9'"),
        (("--stages", "9-4"), "stages must be the fewest and the most, not 9 and 4"),
        (("--family", "poisson"), "families must be some of gaussian, bernoulli, bernoulli-prior, not poisson"),
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


@pytest.mark.parametrize(
    ("pair", "rule"),
    [
        ("arm_column=['page']", "arm_column must be the name of a column, as text, not ['page']"),
        ("reward_column=5", "reward_column must be the name of a column, as text, not 5"),
        ("separator=5", "separator must be one ASCII character, such as ',' or ';', not 5"),
    ],
)
def test_keywords_of_a_table_of_another_type(command: Command, tmp_path: Path, pair: str, rule: str) -> None:
    (tmp_path / "log.csv").write_text("page,sales\na,1\nb,2\n")
    assert_refused(command(*TABLE, *COLUMNS, "--set", pair), rule)


def test_a_table_in_another_encoding(command: Command, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("page,sales\né,1\nb,2\n", encoding="latin-1")
    assert_refused(command(*TABLE, *COLUMNS), "log.csv is malformed: ", "not in UTF-8: save it in that encoding")


def test_mistakes_leave_nothing_behind(command: Command, tmp_path: Path) -> None:
    assert_refused(command(*RUN, "--budget", "3", "--out", "out"), "budget 3")
    assert_refused(command("reproduce", "shvar-3", "--runs", "0", "--out", "out"), "runs")
    assert list(tmp_path.iterdir()) == []


def test_the_budget_that_the_error_names_is_enough(command: Command) -> None:
    outcome = command(*RUN, "--agent", "VBR", "--budget", "1")
    least = outcome.err.partition("give at least ")[2].split()[0].strip(",;:")
    assert command(*RUN, "--agent", "VBR", "--budget", least).code == 0
    assert command(*RUN, "--agent", "VBR", "--budget", str(int(least) - 1)).code == 2


@pytest.mark.parametrize("words", [(), ("list",)])
def test_no_command_shows_the_help(command: Command, words: tuple[str, ...]) -> None:
    outcome = command(*words)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(f"Usage: {' '.join(('bai-gym', *words))} ") and "Commands:" in outcome.err


def test_a_defect_is_not_hidden(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    # Only mistakes of the user become one line; what else goes wrong keeps its traceback.
    monkeypatch.setattr("bai_gym.cli.run.compare", lambda *_, **__: 1 // 0)
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


def test_an_interruption(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("bai_gym.cli.run.compare", interrupted)
    outcome = command(*RUN)
    assert outcome.code == 130
    assert outcome.err == "interrupted; with --out, the same command resumes\n"


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
