"""What tests of several folders need."""

from __future__ import annotations

import gc
import inspect
import itertools
import os
import re
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import settings

from bai_gym.cli import console, main
from bai_gym.cli.main import app
from bai_gym.sampling import compiler

# The same examples everywhere, however long they take: whether a change passes must not depend on day or machine.
# `pytest --hypothesis-profile=default` looks for new ones.
settings.register_profile("reproducible", derandomize=True, deadline=None, max_examples=30)
settings.load_profile("reproducible")


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rules are compiled even where there is little to play, which plain Python plays otherwise."""
    monkeypatch.setattr("bai_gym.sampling.engine.COMPILED_FROM", 0)


@pytest.fixture(scope="session")
def is_whole() -> bool:
    """Whether all wings are there: some are left out in copies, see `.ci/without.py`."""
    return "BAI_GYM_WITHOUT" not in os.environ


@pytest.fixture
def every_wing(is_whole: bool) -> None:
    """Skip a test of the whole library where files of wings have been left out."""
    if not is_whole:
        pytest.skip("some wings are not there")


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Keep the figure in place of writing it."""
    kept: dict[str, Any] = {}
    monkeypatch.setattr("bai_gym.report.canvas.write", lambda figure, target: kept.update(figure=figure, target=target))
    return kept


Contents = Callable[[Path], dict[str, bytes]]


@pytest.fixture
def contents() -> Contents:
    """Return every file of a folder, hidden ones too, with its bytes."""

    def read(folder: Path) -> dict[str, bytes]:
        return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}

    return read


@pytest.fixture(scope="session")
def shortened() -> Callable[[str], str]:
    """Return a program that does the same in less time: at most 50 runs, and a tenth of round numbers of steps."""

    def few(found: re.Match[str]) -> str:
        return f"{found[1]}{min(int(found[2]), 50)}"

    def tenth(found: re.Match[str]) -> str:
        return str(int(found[0]) // 10)

    return lambda program: re.sub(r"\b\d+_000\b", tenth, re.sub(r"\b(runs[= ])([\d_]+)", few, program))


CARS = 30
MOMENTS = 40
MOTOR = "u_q,coolant,stator_winding,u_d,stator_tooth,motor_speed,i_d,i_q,pm,stator_yoke,ambient,torque,profile_id"


@pytest.fixture(scope="session")
def small_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with made-up files in the formats of UCI Automobile, Electric Motor, and Open Bandit."""
    folder = tmp_path_factory.mktemp("small-data")
    rng = np.random.default_rng(0)
    cars = []
    for car in range(CARS):
        width, weight, engine, city = 60 + 10 * rng.random(), *rng.integers((1500, 60, 13), (4000, 300, 49))
        price = "?" if car % 10 == 7 else 5000 + 10 * weight
        cars.append(
            f"3,?,make{car},gas,std,two,sedan,rwd,front,88.60,168.80,{width:.2f},48.80,{weight},dohc,four,{engine},mpfi,"
            f"3.47,2.68,9.00,111,5000,{city},{city + 6},{price}\n"
        )
    moments = [
        ",".join(f"{value:.6f}" for value in 20 + rng.normal(size=12).cumsum()) + ",17\n" for _ in range(MOMENTS)
    ]
    for place, content in (
        ("automobile/imports-85.data", "".join(cars)),
        ("electric-motor/measures_v2.csv", f"{MOTOR}\n" + "".join(moments)),
        *((f"open-bandit/{campaign}.csv", _displays(items, rng)) for campaign, items in (("men", 34), ("women", 46))),
    ):
        (folder / place).parent.mkdir(exist_ok=True)
        (folder / place).write_text(content)
    return folder


def _displays(items: int, rng: np.random.Generator) -> str:
    """Five displays of each item in the format of the Open Bandit Dataset, a few of them with a click."""
    rows = [f"{n},2019-11-24,{n % items},{n % 3 + 1},{int(rng.random() < 0.1)}\n" for n in range(5 * items)]
    return ",timestamp,item_id,position,click\n" + "".join(rows)


@pytest.fixture
def apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An empty folder without data, for commands that print as into a file."""
    monkeypatch.setenv("BAI_GYM_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("BAI_GYM_CACHE", str(tmp_path / "derived"))
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.setattr(console.OUT, "width", console.FILE_WIDTH)
    monkeypatch.setattr(compiler, "NOTE_AFTER", 600.0)  # what is compiled depends on what ran before on this machine
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def command(apart: None, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[str, str]]:
    """Run a command in this process, and return what it printed."""

    def run(*words: str) -> tuple[str, str]:
        assert not app(list(words), standalone_mode=False, prog_name="bai-gym")
        return capsys.readouterr()

    return run


class Outcome(NamedTuple):
    """How a command ended."""

    code: object
    out: str
    err: str


@pytest.fixture
def outcome(apart: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """Run a command line in this process as a shell does."""
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # main replaces it

    def run(*words: str) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["bai-gym", *words])
        with pytest.raises(SystemExit) as left:
            main()
        return Outcome(left.value.code, *capsys.readouterr())

    return run


Background = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture(scope="module")
def background() -> Iterator[Background]:
    """Start ``python -m module words...`` beside the tests, its output in a file; everything is ended with the module.

    ``until`` is what the output must say before the start is over.
    """
    started: list[subprocess.Popen[bytes]] = []

    def start(*words: str, log: Path, until: str, env: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", *words]
        with log.open("wb") as output:
            process = subprocess.Popen(
                command, stdout=output, stderr=output, start_new_session=True, env={**os.environ, **(env or {})}
            )
        started.append(process)
        patience = time.monotonic() + 120
        while until not in log.read_text(errors="replace"):
            assert process.poll() is None and time.monotonic() < patience, log.read_text(errors="replace")
            time.sleep(0.05)
        return process

    yield start
    for process in started:
        process.terminate()
    patience = time.monotonic() + 5
    for process in started:
        try:
            process.wait(max(0, patience - time.monotonic()))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


# `@pytest.mark.each(names, values)` is `@pytest.mark.parametrize` as one test: it loops over all cases, and names those
# that fail. It is for contracts of many agents or inputs, whose cases are not worth a line of the report each.


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give the arguments that a test loops over a place."""
    for mark in metafunc.definition.iter_markers("each"):
        names = argument_names(mark)
        metafunc.parametrize(names, [pytest.param(*[None] * len(names), id="each")])


def argument_names(mark: pytest.Mark) -> list[str]:
    """Return the names that a mark loops over."""
    names: str | Sequence[str] = mark.args[0]
    return [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)


def cases_of(mark: pytest.Mark) -> list[tuple[str, dict[str, Any]]]:
    """Return the cases of a mark, each with a name for messages."""
    names, cases, ids = argument_names(mark), [], mark.kwargs.get("ids")
    for number, value in enumerate(mark.args[1]):
        given = value.values if hasattr(value, "marks") else value if len(names) > 1 else (value,)
        named = list(ids)[number] if ids and not callable(ids) else getattr(value, "id", None)
        shown = ids if callable(ids) else lambda one: getattr(one, "__name__", one)
        label = named or ", ".join(str(shown(one)) for one in given)
        skips = [m for m in getattr(value, "marks", ()) if m.name == "skip" or (m.name == "skipif" and m.args[0])]
        if not skips:
            cases.append((label[:120], dict(zip(names, given, strict=True))))
    return cases


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Call a test once for each case of its marks, with a folder of its own, and report all that fail."""
    marks = list(pyfuncitem.iter_markers("each"))
    if not marks:
        return None
    arguments = inspect.signature(pyfuncitem.obj).parameters
    fixtures = {name: pyfuncitem.funcargs[name] for name in arguments if name in pyfuncitem.funcargs}
    failures: list[Exception] = []
    reasons: list[str] = []
    cases = list(itertools.product(*(cases_of(mark) for mark in reversed(marks))))
    for number, case in enumerate(cases):
        given = {name: value for _, values in case for name, value in values.items()}
        if "tmp_path" in fixtures:
            given["tmp_path"] = fixtures["tmp_path"] / f"case{number}"
            given["tmp_path"].mkdir()
        if "monkeypatch" in fixtures:  # one of its own: what other fixtures have set stays
            given["monkeypatch"] = pytest.MonkeyPatch()
        try:
            pyfuncitem.obj(**{**fixtures, **given})
        except pytest.skip.Exception as reason:
            reasons.append(str(reason))
        except (Exception, pytest.fail.Exception) as failure:
            failure.add_note("case: " + "; ".join(label for label, _ in case))
            failures.append(failure if isinstance(failure, Exception) else AssertionError(str(failure)))
        finally:
            if "monkeypatch" in fixtures:
                given["monkeypatch"].undo()
            if "capsys" in fixtures:
                fixtures["capsys"].readouterr()
    if len(failures) == 1:
        raise failures[0]
    if failures:
        raise ExceptionGroup(f"{len(failures)} of {len(cases)} cases fail", failures)
    if len(reasons) == len(cases):
        pytest.skip(reasons[0] if reasons else "there is no case")
    return True


def pytest_configure() -> None:
    """Collect no garbage until all tests are known: what is imported stays."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Collect garbage again, but not among what has been imported."""
    gc.freeze()
    gc.enable()
