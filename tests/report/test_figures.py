"""Figures: what they show (read from the text of an SVG), the same bytes again, and refusals."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from runpy import run_path
from typing import Any

import numpy as np
import pytest

from bai_gym.analysis.intervals import wilson
from bai_gym.errors import MissingPackageError, OutputError, ParameterError
from bai_gym.report import canvas
from bai_gym.report.figures import error_curves, instance_plot
from bai_gym.results.result import Result

matplotlib = pytest.importorskip("matplotlib")

result = partial(
    run_path(str(Path(__file__).with_name("rows.py")))["result"],
    env="BAI-Gaussian4-v0",
    runs=2000,
    mean_pulls=np.full(4, 25.0),
)
ROWS = [
    *(result("SH", budget=budget, errors=errors) for budget, errors in ((500, 900), (1000, 500), (2000, 260))),
    *(
        result("SHVar", budget=budget, errors=errors, knows=("variances",))
        for budget, errors in ((500, 700), (1000, 360), (2000, 0))
    ),
]


def text_of(path: Path) -> str:
    """All words of an SVG file, in drawing order, with lines joined."""
    return " ".join(" ".join(re.findall(r">([^<>]+)</(?:text|tspan)>", path.read_text("utf-8"))).split())


@pytest.mark.slow
@pytest.mark.each("suffix", [".png", ".svg", ".pdf"])
def test_the_same_input_gives_the_same_bytes_without_a_date(tmp_path: Path, suffix: str) -> None:
    first = error_curves(ROWS, tmp_path / f"a{suffix}", log=suffix == ".svg").read_bytes()
    matplotlib.rcParams["axes.facecolor"] = "red"  # the user's settings have no say
    try:
        second = error_curves(ROWS, tmp_path / f"b{suffix}", log=suffix == ".svg").read_bytes()
        assert matplotlib.rcParams["axes.facecolor"] == "red"
    finally:
        matplotlib.rcdefaults()
    assert first == second
    for word in (b"CreationDate", b"Creator", b"Producer", b"Software", b"dc:date", matplotlib.__version__.encode()):
        assert word not in first


@pytest.mark.slow
@pytest.mark.each("name", [r"$\foo{$", "costs $5 or $6", "log_$x_1$.csv"])
def test_names_are_no_formulas(tmp_path: Path, name: str) -> None:
    rows = [replace(row, agent=name, env=name) for row in ROWS[:3]]
    assert text_of(error_curves(rows, tmp_path / "figure.svg", log=True)).count(name) == 2  # title and legend
    assert error_curves(rows, tmp_path / "figure.png").exists()


def test_what_a_reader_needs_is_written_down(tmp_path: Path) -> None:
    text = text_of(error_curves(ROWS, tmp_path / "figure.svg", log=True))
    for words in (
        "BAI-Gaussian4-v0",
        "error probability",
        "budget (pulls)",
        "2,000 runs",
        "95 % Wilson",
        "no error seen",
    ):
        assert words in text
    assert "SHVar (oracle knowledge: variances)" in text and "SH (oracle" not in text
    assert text.index("SH ") < text.index("SHVar")  # the legend follows the curves from top to bottom


@pytest.mark.slow
def test_chance_is_a_line_where_it_fits_and_a_number_where_it_does_not(tmp_path: Path) -> None:
    low = [result(row.agent, budget=row.budget, errors=row.errors // 10) for row in ROWS]
    for rows, options, words in (
        (ROWS, {}, "dashed: a random guess, 1 − 1/K = 0.75"),
        (low, {}, "above the axis: a random guess, 1 − 1/K = 0.75"),
        (ROWS, {"chance": 0.5}, "dashed: a random guess, 0.5"),
    ):
        assert words in text_of(error_curves(rows, tmp_path / "figure.svg", **options))  # type: ignore[arg-type]
    assert "guess" not in text_of(error_curves(ROWS, tmp_path / "none.svg", chance=None))


def test_a_guess_errs_more_often_among_more_arms(tmp_path: Path, drawn: dict[str, Any]) -> None:
    rows = [result(errors=900, env=f"E{arms}", mean_pulls=np.ones(arms)) for arms in (2, 4, 8)]
    error_curves(rows, tmp_path / "figure.png", x="num_arms")
    (guess,) = [line for line in drawn["figure"].axes[0].lines if line.get_linestyle() == "--"]
    assert guess.get_xydata().tolist() == [[2, 0.5], [4, 0.75], [8, 0.875]]


@pytest.mark.slow
def test_curves_over_the_pulls_of_a_run(tmp_path: Path) -> None:
    rows = [result(budget=3000, errors=2000 - point // 2, checkpoint=point) for point in range(100, 3001, 100)]
    text = text_of(error_curves(rows, tmp_path / "pulls.svg", x="checkpoint", chance=None, log=True))
    assert " pulls " in f" {text} " and "budget" not in text
    assert "3,000" in text and "1,000" in text  # a linear axis: checkpoints are times
    bands = [
        "FillBetween" in error_curves(some, tmp_path / "a.svg", x="checkpoint").read_text() for some in (rows, rows[:5])
    ]
    assert bands == [True, False]  # where there are many points


def test_curves_and_intervals_are_drawn_where_they_belong(tmp_path: Path, drawn: dict[str, Any]) -> None:
    error_curves(ROWS, tmp_path / "figure.png", log=True)
    (axes,) = drawn["figure"].axes
    sh, shvar, unseen = axes.containers
    assert sh.lines[0].get_xydata().tolist() == [[500, 0.45], [1000, 0.25], [2000, 0.13]]
    assert shvar.lines[0].get_xydata().tolist() == [[500, 0.35], [1000, 0.18]]
    assert shvar.lines[0].get_markerfacecolor() == "white" != sh.lines[0].get_markerfacecolor()
    bar = sh.lines[2][0].get_segments()[0]
    assert bar[:, 1] == pytest.approx(wilson(900, 2000))
    assert unseen.lines[0].get_xydata().tolist() == [[2000, pytest.approx(wilson(0, 2000)[1])]]
    left, right = axes.get_xlim()
    assert left < 500 and right > 2000


def test_instance_plot_names_its_panels_and_instances(tmp_path: Path) -> None:
    one = text_of(instance_plot([0.5, 0.1, -0.2], [1, 2, 0], tmp_path / "one.svg", title="A title"))
    assert "A title" in one and "mean reward" in one and "reward variance" in one and "instance 1" not in one
    several = text_of(instance_plot(np.eye(3), np.eye(3), tmp_path / "three.svg", labels=list("uvw")))
    assert several.endswith(" u v w") and "best arm of each instance" in several


def test_instance_plot_rings_the_best_arm(tmp_path: Path, drawn: dict[str, Any]) -> None:
    instance_plot([0.1, 0.9, 0.3], [4.0, 5.0, 6.0], tmp_path / "figure.png")
    left, right = drawn["figure"].axes
    assert left.lines[-1].get_xydata().tolist() == [[1, 0.9]]
    assert right.lines[-1].get_xydata().tolist() == [[1, 5.0]]


def test_folders_are_made_and_unwritable_paths_named(tmp_path: Path) -> None:
    target = tmp_path / "new" / "folder" / "figure.svg"
    assert error_curves(ROWS, target) == target and target.exists()
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="figure.svg"):
        error_curves(ROWS, tmp_path / "file" / "figure.svg")


@pytest.mark.each(
    ("rows", "options", "message"),
    [
        ([], {}, "no results"),
        ([ROWS[0], ROWS[0]], {}, "several results"),
        ([ROWS[0], replace(ROWS[1], env="other")], {}, "2 environments"),
        (ROWS, {"x": "arms"}, "num_arms"),
        (ROWS, {"chance": 1.5}, "chance is 1.5"),
        (ROWS, {"chance": "top-m"}, "chance is 'top-m'"),
        (ROWS, {"path": "figure.jpg"}, ".png, .svg or .pdf"),
    ],
)
def test_misleading_figures_are_refused(
    tmp_path: Path, rows: list[Result], options: dict[str, object], message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        error_curves(**{"results": rows, "path": tmp_path / "figure.png", **options})  # type: ignore[arg-type]


@pytest.mark.each(
    ("means", "variances", "labels", "message"),
    [
        ([1.0, 2.0], [1.0], None, "shape"),
        ([1.0, np.nan], [1.0, 1.0], None, "finite"),
        ([1.0, 2.0], [1.0, -1.0], None, "at least 0"),
        ([1.0, 2.0], [1.0, 1.0], ["a", "b"], "2 labels for 1 instances"),
    ],
)
def test_malformed_instances_are_refused(
    tmp_path: Path, means: list[float], variances: list[float], labels: list[str] | None, message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        instance_plot(means, variances, tmp_path / "figure.png", labels=labels)


def test_missing_matplotlib_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingPackageError, match=r'pip install "bai-gym\[plots\]"'):
        error_curves(ROWS, tmp_path / "figure.png")


@pytest.mark.slow
def test_importing_and_drawing_leave_pyplot_alone() -> None:
    code = (
        "import sys, tempfile, bai_gym.report.figures as figures\n"
        "assert 'matplotlib' not in sys.modules\n"
        "figures.instance_plot([1.0, 2.0], [1.0, 1.0], tempfile.mkdtemp() + '/figure.svg')\n"
        "assert 'matplotlib' in sys.modules and 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_one_drawing_gives_all_formats(tmp_path: Path) -> None:
    assert error_curves(ROWS, tmp_path / "a.b.*") == tmp_path / "a.b.png"
    for suffix, start in ((".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")):
        assert (tmp_path / f"a.b{suffix}").read_bytes().startswith(start)
    alone = error_curves(ROWS, tmp_path / "alone.png").read_bytes()
    assert alone == (tmp_path / "a.b.png").read_bytes()
    assert (int.from_bytes(alone[16:20], "big"), int.from_bytes(alone[20:24], "big")) == (1600, 900)


def test_two_dozen_agents_look_different() -> None:
    looks = [canvas.look(number) for number in range(24)]
    assert len({(colour, str(dashes)) for colour, _, dashes in looks}) == 24  # lines without markers
    assert len({(colour, marker) for colour, marker, _ in looks}) == 24  # points without lines
