"""Figures of scores: what they show, where it stands, and the same bytes again."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest

from bai_gym import Comparison
from bai_gym.report.scores import aggregate_intervals, performance_profiles
from bai_gym.results.aggregate import Aggregate, aggregate

matplotlib = pytest.importorskip("matplotlib")


MADE = run_path(str(Path(__file__).parents[1] / "results" / "made.py"))
first, episodes, compared = MADE["first"], MADE["episodes"], MADE["compared"]


@pytest.fixture(scope="module")
def scores() -> Aggregate:
    outcomes = {
        (agent, "E", n): episodes(first(errors * n, 40)) for agent, errors in (("A", 1), ("B", 3)) for n in (1, 2, 4, 8)
    }
    rows = [replace(row, knows=("range",) if row.agent == "B" else ()) for row in compared(outcomes)]
    return aggregate(Comparison(tuple(rows), outcomes))


def text_of(path: Path) -> str:
    return " ".join(re.findall(r">([^<>]+)</(?:text|tspan)>", path.read_text("utf-8")))


def test_aggregates_stand_where_they_belong(tmp_path: Path, drawn: dict[str, Any], scores: Aggregate) -> None:
    aggregate_intervals(scores, tmp_path / "figure.png")
    panels = drawn["figure"].axes
    assert [axes.get_title() for axes in panels] == ["interquartile mean", "mean", "median", "optimality gap"]
    assert [label.get_text() for label in panels[0].get_yticklabels()] == ["A", "B (oracle knowledge:\nrange)"]
    for axes, name in zip(panels, ("iqm", "mean", "median", "optimality_gap"), strict=True):
        for line, (row, bars) in enumerate(zip(scores, axes.containers, strict=True)):
            estimate = getattr(row, name)
            assert bars.lines[0].get_xydata().tolist() == [[estimate.value, line]]
            ends = bars.lines[2][0].get_segments()[0]
            assert ends[:, 0].tolist() == pytest.approx([estimate.lower, estimate.upper])
    known, told = (bars.lines[0] for bars in panels[0].containers)
    assert told.get_markerfacecolor() == "white" != known.get_markerfacecolor()
    assert known.get_marker() != told.get_marker()


def test_profiles_stand_where_they_belong(tmp_path: Path, drawn: dict[str, Any], scores: Aggregate) -> None:
    profile = scores.profile()
    performance_profiles(profile, tmp_path / "figure.png")
    (axes,) = drawn["figure"].axes
    for line, shares in zip(axes.lines, profile.shares, strict=True):
        assert line.get_xdata().tolist() == profile.thresholds.tolist()
        assert line.get_ydata().tolist() == shares.tolist()
        assert line.get_drawstyle() == "steps-post"
    assert len(axes.collections) == 2  # a band each


def test_what_a_reader_needs_is_written_down(tmp_path: Path, scores: Aggregate) -> None:
    text = text_of(aggregate_intervals(scores, tmp_path / "a.svg", title="A title"))
    for words in ("A title", "95 % bootstrap intervals", "4 tasks", "B (oracle knowledge: range)", "Hollow markers"):
        assert words in text
    text = text_of(performance_profiles(scores.profile(), tmp_path / "b.svg", title="A title"))
    for words in ("A title", "score τ", "share of tasks", "each point for itself", "B (oracle knowledge: range)"):
        assert words in text
    text = text_of(performance_profiles(scores.run_profile(), tmp_path / "c.svg"))
    assert "simple regret τ" in text and "share of runs" in text
