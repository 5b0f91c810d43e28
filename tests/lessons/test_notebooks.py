"""The notebooks run from top to bottom as Jupyter runs them: as students get them, and with the solutions put in."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

LESSONS = Path(__file__).resolve().parents[2] / "examples" / "lessons"
NOTEBOOKS = sorted(LESSONS.rglob("[1-9]_*.ipynb"), key=lambda path: path.stem)
TRAINING = "7_beat_the_textbook"  # takes long, and what networks come to depends on the machine in the last digits
SECONDS = 180.0  # that a notebook may take on two cores
CHECK = re.compile(r"checks\.(\w+)\(\1\)")

each = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def read(path: Path) -> dict[str, Any]:
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return notebook


def code_of(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def printed(cell: dict[str, Any]) -> str:
    said = "".join("".join(output["text"]) for output in cell["outputs"] if output["output_type"] == "stream")
    return re.sub(r"^bai-gym compiles .*\n", "", said, flags=re.MULTILINE)  # said where compiling takes long


def kinds(cell: dict[str, Any]) -> set[str]:
    # A computation of more than a second has a line of progress, which is empty at the end.
    progress: list[Any] = [{"text/plain": []}, {"text/plain": ""}]
    return {output["output_type"] for output in cell["outputs"] if output.get("data") not in progress}


Printed = dict[str, str]  # what cells print, by their ids


def error(said: str, agent: str, budget: int | str = "") -> float:
    """The error of an agent in percent, in a line such as "SH, budget 1000: wrong in 47.9%"."""
    at = f", budget +{budget}:" if budget else ""
    (found,) = re.findall(rf"^ *{re.escape(agent)}{at} +wrong in ([0-9.]+)%", said, re.MULTILINE)
    return float(found)


def paired_test(said: str, start: str) -> tuple[float, float, float]:
    """Difference and upper end in percent, and p, in the first line with such a start."""
    number = r"([+-]?[0-9.e-]+)"
    found = re.search(rf"{start}.*?{number}% \[{number}%, {number}%\],? *p = {number}", said)
    assert found, (start, said)
    return float(found[1]), float(found[3]), float(found[4])


def tells_apart(said: str, start: str) -> bool:
    return paired_test(said, start)[2] < 0.05


def number(said: str, pattern: str) -> float:
    """The first number in text after a pattern."""
    found = re.search(rf"{pattern}.*?([0-9.]+)", said)
    assert found, (pattern, said)
    return float(found[1])


def beats(said: str, agent: str, rival: str) -> list[bool]:
    """Whether an agent is significantly better, in each of several tests."""
    found = re.findall(rf"{agent} against {rival}: ([+-][0-9.]+)%.* p = ([0-9.e-]+)", said)
    return [float(difference) < 0 and float(p_value) < 0.05 for difference, p_value in found]


def waits(said: str) -> bool:
    return "This cell waits" in said


# What the text of a lesson says of its output, and whether that is so. Cells that wait for solutions print less.
CLAIMS: dict[str, dict[str, Callable[[Printed], bool]]] = {
    "1_first_episode": {
        "while those of the others fall": lambda p: all(
            error(p["compare"], name, 1000) < error(p["compare"], name, 50) / 2 for name in ("Uniform", "SH")
        ),
        "With few pulls it beats uniform allocation": lambda p: (
            "Greedy," not in p["compare"] or error(p["compare"], "Greedy", 50) < error(p["compare"], "Uniform", 50)
        ),
    },
    "2_sequential_halving": {
        "With the smallest budget the two cannot be distinguished": lambda p: (
            not tells_apart(p["paired"], "SH minus Uniform, budget 1000")
        ),
        "halving wins as soon as its rounds contain more": lambda p: all(
            paired_test(p["paired"], f"SH minus Uniform, budget {budget}")[1] < 0 for budget in (2000, 4000, 8000)
        ),
        "uniform allocation can be better": lambda p: (
            tells_apart(p["few"], "SH minus Uniform") and paired_test(p["few"], "SH minus Uniform")[0] > 0
        ),
    },
    "3_regret_and_identification": {
        "after 1,000 pulls about a quarter": lambda p: (
            0.2 < number(p["earn"], "TS:.* 500, +") / number(p["earn"], "Uniform:.* 500, +") < 0.3
        ),
        "With 50 pulls it cannot be distinguished": lambda p: not tells_apart(p["find"], "TS minus Uniform, budget 50"),
        "Thompson sampling is wrong more than twice as often. UCB1": lambda p: (
            error(p["find"], "UCB1", 1000) < error(p["find"], "Uniform", 1000) < error(p["find"], "TS", 1000) / 2
        ),
        "TS gives it 79 %": lambda p: number(p["both"], "TS, budget 1000.*best arm") == 79,
        "TTTS gives the best arm nearly half": lambda p: 45 < number(p["both"], "TTTS, budget 1000.*best arm") < 50,
        "often than Thompson sampling, uniform allocation and sequential halving": lambda p: all(
            paired_test(p["both"], f"TTTS minus {name}, budget 1000")[1] < 0 for name in ("TS", "Uniform", "SH")
        ),
        "more than twice\nthat of TS": lambda p: (
            number(p["both"], "TTTS, budget 1000.*regret") > 2 * number(p["both"], " TS, budget 1000.*regret")
        ),
    },
    "4_variance_matters": {
        "an eighth of the pulls is too few for it": lambda p: (
            [float(share) for share in re.findall(r"wrong in ([0-9.]+)%", p["imports"])] == [2.6, 0.0]
        ),
        "Knowing the variances helps most with few pulls. SHAdaVar gains less": lambda p: (
            (gain := [paired_test(p["compare"], f"budget +{n}, SHVar minus SH")[0] for n in (1000, 2000, 5000)])
            == sorted(gain)
            and paired_test(p["compare"], "budget +1000, SHAdaVar minus SH")[0] > gain[0] + 5
        ),
        "With 5,000 pulls it gains about as much as SHVar": lambda p: (
            abs(
                paired_test(p["compare"], "budget +5000, SHAdaVar minus SH")[0]
                - paired_test(p["compare"], "budget +5000, SHVar minus SH")[0]
            )
            < 2
        ),
        "with 10,000 all are within two points of each other": lambda p: all(
            abs(paired_test(p["compare"], f"budget 10000, {name} minus SH")[0]) < 2 for name in ("SHVar", "SHAdaVar")
        ),
        "In the first case there is no significant difference": lambda p: (
            not any(tells_apart(p["nothing"], f"budget +2000, {name} minus SH") for name in ("SHVar", "SHAdaVar"))
        ),
        "In the\nsecond case SHVar has a *larger* error probability": lambda p: all(
            paired_test(p["nothing"].partition("quiet one")[2], f"budget +{budget}")[0] > 2 for budget in (1000, 2000)
        ),
    },
    "5_structure_pays": {
        "the optimal design is hardly ever wrong, and sequential halving is most of the time": lambda p: (
            error(p["mine"], "OD-LinBAI", 240) < 1 and error(p["mine"], "SH", 240) > 50
        ),
        "`GSE-Lin` looks at the features, and is no better than `SH`": lambda p: (
            error(p["mine"], "GSE-Lin", 240) > error(p["mine"], "SH", 240) - 3
        ),
        "With 16 arms there is no visible difference; with 128 it is large": lambda p: (
            not tells_apart(p["sphere"], "16 arms") and paired_test(p["sphere"], "128 arms")[0] < -10
        ),
        "no arm is informative about another": lambda p: not tells_apart(p["static"], "difference"),
    },
    "6_when_may_i_stop": {
        "with ten looks about a fifth": lambda p: waits(p["peeking"]) or 18 < number(p["peeking"], " 10 looks:") < 22,
        "with 1,000 looks\nmore than a half": lambda p: waits(p["peeking"]) or number(p["peeking"], "1000 looks:") > 50,
        "less than 5 % ever cross them": lambda p: waits(p["valid"]) or number(p["valid"], "some time:") < 5,
        "That takes 263 pairs": lambda p: number(p["price"], "test takes") == 263,
        "two\nexperiments in five take longer": lambda p: (
            waits(p["price"]) or 38 < number(p["price"], r"0\.2:(?s:.*?)on average;") < 44
        ),
        "found after a quarter of the pairs": lambda p: (
            waits(p["price"]) or number(p["price"], r"0\.4:(?s:.*?)%(?s:.*?)%, after") < 263 / 4
        ),
        "misses it in nearly two thirds": lambda p: 60 < 100 - number(p["price"], r"0\.1: .* in") < 200 / 3,
        "`T3C` needs about half of the pulls": lambda p: (
            0.45 < number(p["arms"], r"T3C.*%,") / number(p["arms"], r"SE.*%,") < 0.55
        ),
    },
    "7_beat_the_textbook": {
        "the trained agent beats uniform allocation, sequential halving and successive rejects": lambda p: all(
            paired_test(p["mcnemar"], f"{name} ")[0] < 0 and 6 * paired_test(p["mcnemar"], f"{name} ")[2] < 0.05
            for name in ("Uniform", "SH", "SR")
        ),
        "does not beat A-GapE, which was its teacher": lambda p: 6 * paired_test(p["mcnemar"], "A-GapE")[2] > 0.05,
        "it is behind the optimum": lambda p: 6 * paired_test(p["mcnemar"], "BayesOptimal")[2] < 0.05,
        'it "cannot be told from" TTTS': lambda p: 5 * paired_test(p["mcnemar"], "TTTS")[2] > 0.05,
        "The numbers of the small test are too good": lambda p: all(
            float(few) < float(many) for few, many in re.findall(r"([0-9.]+)% +([0-9.]+)%", p["choice"])
        ),
        "Too good?": lambda p: error(p["first"], "FirstArm") < error(p["first"], "SH"),
    },
    "8_no_oracle_knowledge": {
        "the guess beats sequential halving on all three": lambda p: (
            waits(p["hand"]) or beats(p["hand"], "ByHand", "SH") == [True] * 3
        ),
        "`MyAgent` beats sequential halving on all three": lambda p: (
            waits(p["training"]) or beats(p["agent"], "MyAgent", "SH") == [True] * 3
        ),
        "With 64 arms it also beats the guess": lambda p: (
            waits(p["training"]) or beats(p["agent"], "MyAgent", "ByHand")[2]
        ),
    },
    "9_which_model": {"Three are tied": lambda p: p["imports"].partition("Best: ")[2].count(",") == 2},
}


def check_claims(notebook: dict[str, Any], cells: list[dict[str, Any]], name: str) -> None:
    """Compare what the text says with what the cells have printed."""
    text = "\n".join("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown")
    said = {cell["id"]: printed(cell) for cell in cells}
    for words, holds in CLAIMS[name].items():
        assert words in text, f"{name} no longer says {words!r}: what it says instead belongs here"
        assert holds(said), f"{name} says {words!r}, and its cells print something else"


@each
def test_the_text_agrees_with_the_stored_outputs(path: Path) -> None:
    check_claims(read(path), code_of(read(path)), path.stem)


@each
def test_a_lesson_has_all_its_parts(path: Path) -> None:
    texts = ["".join(cell["source"]) for cell in read(path)["cells"]]
    assert re.search(r"\*\*Time:\*\* about \d+ minutes\. \*\*It takes for granted:\*\* ", texts[0])
    assert "\n## For the class\n" in texts[-1]
    asked = [place for place, text in enumerate(texts) if "**Predict:** " in text]
    assert len(asked) >= 2 and all(read(path)["cells"][place + 1]["cell_type"] == "code" for place in asked)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the lessons, in which a notebook must leave nothing lying about."""
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setenv("PYTHONWARNINGS", "default")
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    copy = tmp_path / "lessons"
    shutil.copytree(LESSONS, copy, ignore=shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints"))
    before = sorted(copy.rglob("*"))
    yield copy
    assert sorted(copy.rglob("*")) == before


def execute(notebook: dict[str, Any], folder: Path) -> list[dict[str, Any]]:
    """Run a notebook in a kernel, as Jupyter does; return its code cells. An exception in a cell is raised."""
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    pytest.importorskip("matplotlib")
    if "import torch" in json.dumps(notebook):
        pytest.importorskip("torch")
    if "bai_gym.training" in json.dumps(notebook):
        pytest.importorskip("stable_baselines3")
        pytest.importorskip("tensorboard")
    node = nbformat.reads(json.dumps(notebook), as_version=4)
    nbformat.validate(node)
    started = time.perf_counter()
    nbclient.NotebookClient(node, timeout=SECONDS, resources={"metadata": {"path": str(folder)}}).execute()
    assert time.perf_counter() - started < SECONDS
    cells = code_of(json.loads(nbformat.writes(node)))
    streams = [output for cell in cells for output in cell["outputs"] if output["output_type"] == "stream"]
    said = [line for output in streams if output["name"] == "stderr" for line in "".join(output["text"]).splitlines()]
    # No warnings; whether something has to be compiled depends on what ran before on this machine.
    assert [line for line in said if not line.startswith("bai-gym compiles ")] == []
    return cells


@pytest.mark.slow
@pytest.mark.parametrize("path", [path for path in NOTEBOOKS if path.stem != TRAINING], ids=lambda path: path.stem)
def test_a_lesson_runs_as_it_is(path: Path, folder: Path) -> None:
    stored = code_of(read(path))
    cells = execute(read(path), folder / path.relative_to(LESSONS).parent)
    checked = {cell["id"]: printed(cell) for cell in cells if CHECK.fullmatch("".join(cell["source"]))}
    assert checked and all(said.startswith("Not done yet: ") for said in checked.values())
    assert [printed(cell) for cell in cells] == [printed(cell) for cell in stored]  # what is stored is what comes out
    assert [kinds(cell) for cell in cells] == [kinds(cell) for cell in stored]


@pytest.mark.slow
@each
def test_a_lesson_runs_with_its_solutions(path: Path, folder: Path, put_in: ModuleType) -> None:
    cells = execute(put_in.solved(path), folder / path.relative_to(LESSONS).parent)
    checked = {cell["id"]: printed(cell) for cell in cells if CHECK.fullmatch("".join(cell["source"]))}
    assert checked and all(said.startswith("Right: ") for said in checked.values())
    assert "This cell waits" not in "".join(printed(cell) for cell in cells)
    check_claims(read(path), cells, path.stem)
