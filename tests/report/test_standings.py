"""Tables of leaderboards and of aggregate scores: what they show in each format."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest

from bai_gym import Comparison
from bai_gym.report.aggregates import aggregate_table
from bai_gym.report.standings import leaderboards_table
from bai_gym.results.aggregate import Aggregate, aggregate
from bai_gym.results.leaderboard import leaderboards

MADE = run_path(str(Path(__file__).parents[1] / "results" / "made.py"))
first, episodes, compared = MADE["first"], MADE["episodes"], MADE["compared"]
KNOWS = {"A_1": ("range", "variances"), "B": (), "C|": ()}
NOTES = {"A_1": (), "B": ("a note; 5 %",), "C|": ("a note; 5 %", "another")}
OUTCOMES = {
    (agent, "E", budget): episodes(first(errors // (budget // 50), 40))
    for agent, errors in (("A_1", 0), ("B", 20), ("C|", 22))
    for budget in (50, 100)
}
ROWS = [replace(row, knows=KNOWS[row.agent], notes=NOTES[row.agent]) for row in compared(OUTCOMES)]


BOARDS = leaderboards(Comparison(tuple(ROWS), OUTCOMES))


def scores(**options: Any) -> Aggregate:
    return aggregate(Comparison(tuple(ROWS), OUTCOMES), **options)


def test_leaderboard_as_markdown() -> None:
    lines = leaderboards_table(BOARDS).markdown().splitlines()
    assert lines[0] == "| budget | rank [95 %] | agent | runs | error probability [95 %] | oracle knowledge |"
    assert lines[2] == "| 50 | 1 [1, 1] | A_1 | 40 | 0.000 [0.000, 0.088] | range, variances |"
    # Wilson of 20 in 40: half of the width is 0.148, so two decimals are enough.
    assert lines[3] == "| 50 | 2 [2, 3] | B <sup>1</sup> | 40 | 0.50 [0.35, 0.65] | none |"
    assert lines[4].startswith("| 50 | 3 [2, 3] | C\\| <sup>1, 2</sup> | 40 |")
    assert [line.split(" | ")[0] for line in lines[2:11]] == ["| 50"] * 3 + ["| 100"] * 3 + ["| mean of 2"] * 3
    assert "1. a note; 5 %" in lines and "2. another" in lines
    assert lines[-1].startswith("Rank intervals of one leaderboard hold jointly with a confidence of 95 %")


def test_leaderboard_as_csv_has_every_digit() -> None:
    read = list(csv.DictReader(io.StringIO(leaderboards_table(BOARDS).csv())))
    assert [(row["budgets"], row["agent"]) for row in read[:4]] == [
        ("50", "A_1"),
        ("50", "B"),
        ("50", "C|"),
        ("100", "A_1"),
    ]
    assert read[-1]["budgets"] == "50 100"
    for row, standing in zip(read, (row for board in BOARDS for row in board.standings), strict=True):
        assert (int(row["rank_lower"]), int(row["rank_upper"])) == standing.rank_interval
        assert float(row["error_probability_upper"]) == standing.interval[1]
        assert (row["excess_error"], row["paired"], row["level"]) == ("", "yes", "0.95")
    assert (read[0]["oracle_knowledge"], read[1]["oracle_knowledge"]) == ("range;variances", "none")
    assert read[2]["notes"] == "a note; 5 %;another"


def test_leaderboards_say_what_a_reader_must_know() -> None:
    others = {("A_1", "F", 50): episodes(first(3, 40)), ("B", "F", 50): episodes(first(3, 40))}
    optima = {("F", 50): 0.95}
    boards = leaderboards(compared({**OUTCOMES, **others}), optima=optima)
    text = leaderboards_table(boards).markdown()
    assert "| env | budget | rank [95 %] |" in text and "| excess error [95 %] |" in text
    assert "| F | 50 | 1 [1, 2] | A_1 | 40 |" in text and "unknown |" in text
    assert "not paired" not in text and "The tests are not paired" in leaderboards_table(leaderboards(ROWS)).markdown()
    mixed = leaderboards(compared({**OUTCOMES, ("D", "E", 50): episodes(first(3, 50))}))
    text = leaderboards_table(mixed).markdown()
    assert "Some tests are not paired" in text and "Not in the mean over budgets on E: D, for want" in text
    gap = next(csv.DictReader(io.StringIO(leaderboards_table(leaderboards(compared(others), optima=optima)).csv())))
    assert float(gap["excess_error"]) == pytest.approx(3 / 40 - 0.05)


def test_aggregate_as_markdown() -> None:
    lines = aggregate_table(scores()).markdown().splitlines()
    assert lines[0] == (
        "| agent | interquartile mean [95 %] | mean [95 %] | median [95 %] | optimality gap [95 %] | oracle knowledge |"
    )
    assert [line.split(" | ")[0] for line in lines[2:5]] == ["| A_1", "| B <sup>1</sup>", "| C\\| <sup>1, 2</sup>"]
    assert lines[2].endswith("| range, variances |")
    assert (
        "Score: probability of a correct recommendation; over 2 tasks" in lines[-3] and "E with 50, 100." in lines[-3]
    )


def test_aggregate_as_csv_has_every_digit() -> None:
    read = list(csv.DictReader(io.StringIO(aggregate_table(scores()).csv())))
    assert [row["agent"] for row in read] == ["A_1", "B", "C|"]
    for row, score in zip(read, scores(), strict=True):
        assert float(row["iqm"]) == score.iqm.value and float(row["median_lower"]) == score.median.lower
        assert float(row["optimality_gap_upper"]) == score.optimality_gap.upper
        assert (row["tasks"], row["level"]) == ("2", "0.95")
    assert read[0]["oracle_knowledge"] == "range;variances"
