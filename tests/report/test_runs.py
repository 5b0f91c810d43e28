"""Figures of runs: what is drawn where, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bai_gym import compare
from bai_gym.cli.output import draw_stopping
from bai_gym.errors import ParameterError
from bai_gym.report import canvas
from bai_gym.report.runs import arms_plot, regret_boxes, stopping_times, survival
from bai_gym.results.result import Result, Runs, summarize

REGRETS: dict[str, Any] = {"regrets": {"one": [0.0, 1.0, 2.0, 3.0, 9.0], "an agent of long name": [0.5, 0.5]}}
ARMS: dict[str, Any] = {
    "pulls": {"one": [1.0, 1.0, 2.0], "other": [0.0, 4.0, 0.0]},
    "recommended": {"one": [0, 0, 5], "other": [2, 3, 0]},
    "means": [0.1, 0.2, 0.3],
    "groups": ["a", "a", "b"],
}


def test_each_agent_has_a_box(drawn: dict[str, Any]) -> None:
    regret_boxes(**REGRETS, path="figure.png", title="A title")
    (axes,) = drawn["figure"].axes
    assert axes.get_title(loc="left") == "A title" and axes.get_ylabel() == "simple regret"
    assert [label.get_text() for label in axes.get_xticklabels()] == ["one", "an agent of\nlong name"]
    boxes = [patch.get_path().vertices[:, 1] for patch in axes.patches]
    assert [(box.min(), box.max()) for box in boxes] == [(1.0, 3.0), (0.5, 0.5)]
    points = sorted(line.get_ydata().tolist() for line in axes.lines if len(line.get_ydata()) == 1)
    # 9 is further than 1.5 box heights from the box; the means are 3 and 0.5.
    assert points == [[0.5], [3.0], [9.0]]


def test_pulls_stand_above_recommendations(drawn: dict[str, Any]) -> None:
    arms_plot(**ARMS, path="figure.png", title="A title")
    *panels, below = drawn["figure"].axes
    assert [axes.get_ylabel() for axes in panels] == ["one", "other"]
    heights = [[bar.get_height() for bar in axes.patches] for axes in panels]
    assert heights == [[0.25, 0.25, 0.5, 0.0, 0.0, -1.0], [0.0, 1.0, 0.0, -0.4, -0.6, 0.0]]
    assert below.lines[0].get_ydata().tolist() == [0.1, 0.2, 0.3]
    assert [text.get_text() for text in panels[0].texts] == ["a", "b"]
    assert [text.get_position()[0] for text in panels[0].texts] == [0.5, 2.0]
    # A line between arms 1 and 2, where the group changes, in each panel.
    assert all(axes.lines[-1].get_xdata() == [1.5, 1.5] for axes in (*panels, below))


@pytest.mark.each(
    ("regrets", "message"),
    [
        ({}, "no regrets to draw"),
        ({"one": []}, "the regrets of one must be finite numbers"),
        ({"one": [0.0, np.nan]}, "the regrets of one must be finite numbers"),
        ({"one": [[0.0]]}, "the regrets of one must be finite numbers"),
    ],
)
def test_wrong_regrets_are_named(regrets: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        regret_boxes(regrets, "figure.png")


@pytest.mark.each(
    ("change", "message"),
    [
        ({"pulls": {}}, "at least one agent"),
        ({"means": [0.1, np.inf, 0.2]}, "a finite number, for each arm"),
        ({"means": [0.1, 0.2]}, "pulls and recommendations of 2 arms for each agent"),
        ({"pulls": {"one": [1.0, 1.0, 2.0]}}, "pulls and recommendations of 3 arms for each agent"),
        ({"recommended": {"one": [0, 0, 5]}}, "pulls and recommendations must be counts"),
        ({"recommended": {"one": [0, 0, 5], "other": [0, 0, 0]}}, "must be counts"),
        ({"groups": ["a"]}, "1 groups for 3 arms"),
        ({"path": "figure.doc"}, "cannot draw a .doc; use .png, .svg or .pdf"),
    ],
)
def test_wrong_arms_are_named(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        arms_plot(**{"path": "figure.png", **ARMS, **change})


def stopped(agent: str, spent: list[int], truncated: int = 0, wrong: int = 0, knows: tuple[str, ...] = ()) -> Result:
    zeros = np.zeros(len(spent), int)
    correct, capped = np.arange(zeros.size) >= wrong, np.arange(zeros.size) < truncated
    runs = Runs(zeros, zeros, correct, zeros + 0.0, np.array(spent), capped, np.array([5, 5]))
    return summarize(agent, "E", 90, runs, knows, ())


PULLS = {"one": [40, 20, 20, 30], "other": [90, 90, 90, 60]}
STOPPED = [stopped("one", PULLS["one"]), stopped("other", PULLS["other"], 2, 1, ("range",))]


def test_the_share_of_runs_that_have_not_stopped() -> None:
    """Of the three runs with 90 pulls, the cap ended two, and one stopped by itself."""
    at, share = survival(PULLS["one"], 0, 90)
    assert (at.tolist(), share.tolist()) == ([20, 30, 40], [0.5, 0.25, 0.0])
    at, share = survival(PULLS["other"], 2, 90)
    assert (at.tolist(), share.tolist()) == ([60, 90], [0.75, 0.5])


def test_stopping_times_are_drawn_where_they_belong(drawn: dict[str, Any]) -> None:
    stopping_times(STOPPED, PULLS, "figure.png", agents=["third", "other", "one"])
    (axes,) = drawn["figure"].axes
    assert axes.get_xscale() == "log" and axes.get_title(loc="left") == "E, at most 90 pulls"
    one, other, cap = axes.lines
    assert one.get_ydata().tolist() == [1.0, 0.5, 0.25, 0.0] and one.get_xdata()[1:].tolist() == [20, 30, 40]
    assert other.get_ydata().tolist() == [1.0, 0.75, 0.5] and cap.get_xdata() == [90, 90]
    assert one.get_drawstyle() == "steps-post"
    assert [line.get_color() for line in (other, one)] == list(canvas.COLOURS[1:3])
    (legend,) = drawn["figure"].legends
    assert [" ".join(text.get_text().split()) for text in legend.get_texts()] == [
        "one: 0 of 4 runs wrong",
        "other (oracle knowledge: range): 1 of 4 runs wrong",
    ]


def test_an_agent_that_stops_before_the_first_pull_is_drawn_at_0(drawn: dict[str, Any]) -> None:
    stopping_times(STOPPED, {**PULLS, "one": [0, 0, 0, 30]}, "figure.png")
    (axes,) = drawn["figure"].axes
    assert axes.get_xscale() == "symlog" and axes.get_xlim()[0] < 0
    assert axes.lines[0].get_xdata()[1:].tolist() == [0, 30] and axes.lines[0].get_ydata().tolist() == [1, 0.25, 0]


def test_of_several_caps_the_largest_is_drawn(drawn: dict[str, Any], tmp_path: Path) -> None:
    played = compare(["LUCB"], "BAI-FC-Bernoulli10-v0", budgets=[40, 90], runs=5, out=tmp_path)
    draw_stopping(played, tmp_path, tmp_path / "figure.png")
    assert drawn["figure"].axes[0].get_title(loc="left").endswith("at most 90 pulls")


@pytest.mark.each(
    ("results", "pulls", "message"),
    [
        ([], {}, "one environment with one budget, not 0"),
        ([STOPPED[0], replace(STOPPED[1], budget=80)], PULLS, "not 2"),
        ([STOPPED[0], STOPPED[0]], PULLS, "agent one has several results"),
        (STOPPED, {"one": [1]}, "the pulls of other must be numbers of at least 0, one for each"),
        (STOPPED[:1], {"one": [-1, 3]}, "the pulls of one must be numbers of at least 0"),
    ],
)
def test_stopping_times_that_mislead_are_refused(results: list[Result], pulls: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        stopping_times(results, pulls, "figure.png")
