"""Tables: what they show, in which order, and that equal results give equal bytes."""

from __future__ import annotations

import csv
import io
import math
import re
from dataclasses import replace
from pathlib import Path
from runpy import run_path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import bai_gym
from bai_gym.cli.output import print_results
from bai_gym.report.tables import checkpoint_table, results_table
from bai_gym.results.result import Result

result = run_path(str(Path(__file__).with_name("rows.py")))["result"]
ROWS = [
    result("SH", errors=120, budget=5000, seconds=3.0),
    result("SHVar", errors=80, budget=5000, knows=("variances",)),
    result("SHVar", errors=240, knows=("variances",)),
    result("VBR", errors=240, notes=("reading A of the schedule; the paper could not be consulted",)),
    result(
        "uniform", errors=301, notes=("a second note", "reading A of the schedule; the paper could not be consulted")
    ),
]


def text_of_table(table: Any) -> str:
    console = Console(width=200, file=io.StringIO(), color_system=None)
    console.print(table)
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


def text_of(rows: list[Result], optima: dict[tuple[str, int], float] | None = None) -> str:
    return text_of_table(results_table(rows, optima).rich())


def body_of(markdown: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in markdown.splitlines()[2:] if "|" in line]


def test_rows_are_sorted_by_budget_then_error() -> None:
    agents = [(cells[1], cells[0].split(" ")[0]) for cells in body_of(results_table(ROWS).markdown())]
    assert agents == [("500", "SHVar"), ("500", "VBR"), ("500", "uniform"), ("5,000", "SHVar"), ("5,000", "SH")]


@pytest.mark.each("form", ["markdown", "csv", "latex"])
def test_order_of_the_input_does_not_matter(form: str) -> None:
    # Footnotes are numbered by the sorted rows, so they do not move either.
    first, second = (getattr(results_table(rows), form)() for rows in (ROWS, ROWS[::-1]))
    assert first == second and text_of(ROWS) == text_of(ROWS[::-1])


def test_markdown_row_in_full() -> None:
    # 80 errors of 1,000: Wilson's 95 % interval is (0.0647, 0.0985), half width 0.017: three decimals.
    row = result("SHVar", errors=80, budget=5000, knows=("variances", "complexity"))
    head = "| agent | budget | runs | error probability [95 %] | simple regret ± se | oracle knowledge |"
    text = "| SHVar | 5,000 | 1,000 | 0.080 [0.065, 0.098] | 0.0123 ± 0.0011 | variances, complexity |"
    assert results_table([row]).markdown() == f"{head}\n| --- | ---: | ---: | ---: | ---: | --- |\n{text}\n"
    other = replace(row, env="BAI-Bernoulli|16-v0", seed=7, simple_regret_se=math.nan)
    head = "| agent | env | budget | seed | runs |"
    several = results_table([row, other]).markdown()
    assert several.startswith(head) and "| BAI-Bernoulli\\|16-v0 | 5,000 | 7 |" in several and "± unknown" in several
    assert "BAI-Gaussian64-v0" in text_of([row]).splitlines()[0]


def test_every_table_says_what_an_agent_knows() -> None:
    for text in (results_table(ROWS).markdown(), results_table(ROWS).csv(), results_table(ROWS).latex(), text_of(ROWS)):
        lines = [line for line in text.splitlines() if "SH" in line]
        assert ["variances" in line for line in lines] == ["SHVar" in line for line in lines]
        assert ["none" in line for line in lines] == ["SHVar" not in line for line in lines]


def test_notes_are_numbered_once_each() -> None:
    markdown = results_table(ROWS).markdown()
    assert "| VBR <sup>1</sup> |" in markdown and "| uniform <sup>1, 2</sup> |" in markdown
    assert markdown.endswith("\n\n1. reading A of the schedule; the paper could not be consulted\n2. a second note\n")
    terminal = text_of(ROWS)
    assert "VBR [1]" in terminal and "uniform [1] [2]" in terminal and terminal.count("a second note") == 1


def test_agents_that_stop_by_themselves_show_their_pulls() -> None:
    stops = replace(
        ROWS[0], sample_complexity=1234.5, sample_quantiles=(1000.0, 1100.0, 1200.0, 1300.0, 2000.0, 2100.0, 2200.0)
    )
    assert "pulls" not in results_table(ROWS).markdown()
    markdown = results_table([*ROWS[1:], stops]).markdown()
    assert "| 1,234 / 1,200 / 2,000 / 2,100 / 2,200 |" in markdown
    assert "cap" not in markdown
    capped = replace(stops, truncated=3)
    text = results_table([capped]).markdown()
    assert "| stopped by the cap |" in text and "| 0.3 % |" in text
    (record,) = csv.DictReader(io.StringIO(results_table([capped]).csv()))
    assert (record["truncated"], record["sample_complexity"]) == ("3", "1234.5")
    assert record["sample_complexity_quantiles"] == "1000.0 1100.0 1200.0 1300.0 2000.0 2100.0 2200.0"


def test_pulls_are_held_against_their_lower_bound_where_it_is_known() -> None:
    plain = replace(ROWS[0], sample_quantiles=(300.0, 400.0, 450.0, 480.0, 500.0, 510.0, 520.0))
    known = replace(plain, delta=0.1, lower_bound=200.0)
    below = replace(known, agent="T3C", truncated=3, lower_bound=500.0 / 0.75)
    table = results_table([known, replace(plain, agent="LUCB"), below])
    cells = {line[0]: line for line in body_of(table.markdown())}
    column = body_of("\n\n" + table.markdown())[0].index("mean pulls / lower bound")
    assert [cells[name][column] for name in ("SH", "LUCB", "T3C")] == ["2.50", "unknown", "at least 0.75"]
    assert [cells[name][column - 2] for name in ("SH", "LUCB")] == ["0.1", ""]
    assert len(table.remarks) == 2 and len(results_table([known]).remarks) == 1  # below 1 is doubtful
    assert results_table([plain]).remarks == ()
    assert "lower bound" not in results_table([plain]).markdown()
    records = {record["agent"]: record for record in csv.DictReader(io.StringIO(table.csv()))}
    assert [(records[name]["delta"], records[name]["lower_bound"]) for name in ("SH", "LUCB")] == [
        ("0.1", "200.0"),
        ("", ""),
    ]


def test_csv_reads_back_exactly() -> None:
    third = result(
        errors=1, runs=3, simple_regret=1 / 3, mean_pulls=np.array([1 / 3, 499 + 2 / 3]), notes=("a, b", "c")
    )
    (record,) = csv.DictReader(io.StringIO(results_table([third]).csv()))
    assert float(record["error_probability"]) == 1 / 3
    assert (float(record["error_probability_lower"]), float(record["error_probability_upper"])) == third.interval
    assert float(record["simple_regret"]) == 1 / 3
    assert [float(pulls) for pulls in record["mean_pulls"].split(" ")] == third.mean_pulls.tolist()
    assert (record["oracle_knowledge"], record["notes"], record["errors"], record["runs"]) == (
        "none",
        "a, b;c",
        "1",
        "3",
    )


def test_no_name_in_a_csv_file_is_a_formula() -> None:
    for name in ('=HYPERLINK("x")', "+1+1", "-SH", "@SUM(A1)", "\t=1", "SH"):
        row = replace(ROWS[0], agent=name, simple_regret=-0.5)
        (record,) = csv.DictReader(io.StringIO(results_table([row]).csv()))
        assert record["agent"] == (name if name == "SH" else f"'{name}") and record["simple_regret"] == "-0.5"


def test_files_do_not_depend_on_the_time_it_took_and_the_terminal_shows_it() -> None:
    slow = [replace(row, seconds=row.seconds * 7) for row in ROWS]
    assert results_table(ROWS).csv() == results_table(slow).csv()
    assert results_table(ROWS).markdown() == results_table(slow).markdown()
    assert "8.8" in text_of(slow) and text_of(ROWS) != text_of(slow)


def test_checkpoints_have_a_column_and_a_table_of_their_own() -> None:
    rows = [
        result(agent, errors=errors - point // 10, checkpoint=point)
        for agent, errors in (("SH", 900), ("A", 800))
        for point in range(100, 501, 100)
    ]
    read = list(csv.DictReader(io.StringIO(results_table(rows).csv())))
    # By checkpoint, then error: A before SH.
    assert [(row["agent"], row["checkpoint"]) for row in read][:3] == [("A", "100"), ("SH", "100"), ("A", "200")]
    assert "| agent | budget | after | runs |" in results_table(rows).markdown()
    assert "checkpoint" not in results_table(ROWS).csv() and "after" not in results_table(ROWS).markdown()
    shown = text_of_table(checkpoint_table(rows).rich())
    assert shown.index("A ") < shown.index("SH")
    assert all(f" {point} " in shown for point in range(100, 501, 100))
    assert "0.750" in shown and "0.850" in shown  # (800 - 50) / 1000 and (900 - 50) / 1000
    few = text_of_table(checkpoint_table(rows, most=2).rich())  # every third from the last on
    assert " 500 " in few and " 200 " in few and " 300 " not in few and " 100 " not in few


def test_gaps_to_the_optimum_have_columns_where_an_optimum_is_known() -> None:
    optima = {("BAI-Gaussian64-v0", 500): 0.8}
    rows = [replace(ROWS[0], budget=500), ROWS[1]]  # 120 errors of 1,000, Wilson (0.101, 0.142); another budget
    markdown = results_table(rows, optima).markdown()
    assert "| error probability [95 %] | excess error [95 %] | simple regret ± se |" in markdown
    assert [cells[4] for cells in body_of(markdown)] == ["-0.080 [-0.099, -0.058]", "unknown"]
    assert "-0.080 [-0.099, -0.058]" in text_of(rows, optima)
    known, unknown = csv.DictReader(io.StringIO(results_table(rows, optima).csv()))
    assert float(known["optimum"]) == 0.8
    assert float(known["excess_error"]) == pytest.approx(0.12 - 0.2)
    assert float(known["excess_error_lower"]) == pytest.approx(rows[0].interval[0] - 0.2)
    assert float(known["excess_error_upper"]) == pytest.approx(rows[0].interval[1] - 0.2)
    assert {unknown[name] for name in unknown if name.startswith("optim")} == {""}
    assert (
        results_table(rows, {}).markdown() == results_table(rows).markdown()
        and "optim" not in results_table(rows).markdown()
    )
    assert results_table(rows, {}).csv() == results_table(rows).csv() and "optim" not in results_table(rows).csv()


def test_what_python_prints_is_what_the_command_line_prints(capsys: pytest.CaptureFixture[str]) -> None:
    stopping = bai_gym.compare(["LUCB(b=0.5)", "TTUCB(sigma=oracle, family=gaussian)"], "BAI-FC-Menard-v0", runs=5)
    at_points = bai_gym.compare(["Uniform", "TTTS"], "BAI-Gaussian8-v0", budgets=[200], runs=5, checkpoints=[50])
    for comparison, expected in (
        (stopping, ["LUCB(b=0.5) [", "its confidence is proved for rewards in an", "Pulls of each agent", "variances"]),
        (at_points, ["TTTS [", "chosen for real rewards", "error probability at intermediate budgets"]),
    ):
        print_results(comparison)
        printed = {*re.sub("[┃│┏┓┡┩└┘├┤━─┳╇┻┴┼]", " ", capsys.readouterr().out).split()}
        text = str(comparison)
        assert all(words in text for words in (*expected, "[1] ", "Intervals: Wilson")), text
        assert {word for word in text.split() if set(word) != {"-"}} <= printed
        assert printed - {*text.split()} <= {"seconds", *(f"{row.seconds:.1f}" for row in comparison)}
    assert "its confidence is proved for" in str(stopping[0]) and "TTUCB" not in str(stopping[0])


def test_paired_tests_print_as_sentences() -> None:
    comparison = bai_gym.compare(["SH-Reuse", "Uniform"], "BAI-Gaussian8-v0", budgets=[200], runs=100)
    test = comparison.paired("SH-Reuse", "Uniform")
    sentence = r"error probability of SH-Reuse minus that of Uniform: [+-]0\.\d+, 95 % interval [+-].+ to [+-].+, p .+"
    assert re.fullmatch(sentence + r" \(exact McNemar test; 100 runs\)", str(test))
    assert "minus that of Uniform" in str(test.at_level(0.9)) and "90 % interval" in str(test.at_level(0.9))
    pulls = bai_gym.compare(["LUCB", "T3C"], "BAI-FC-GK2-v0", runs=5).paired_pulls("LUCB", "T3C")
    assert re.fullmatch(r"mean pulls of LUCB minus those of T3C: [+-][\d,.]+, 95 % interval .*; 5 runs\)", str(pulls))
