"""How tables are written in each format: escapes, marks, notes."""

from __future__ import annotations

import io
import math
import re

import pytest
from rich.console import Console

from bai_gym.results.layout import Column, Table, decimals, escape_latex, group_notes, with_interval

Row = tuple[str, str, tuple[str, ...]]
AGENT: Column[Row] = Column("agent", lambda row: row[0], numeric=False)
ERROR: Column[Row] = Column("error [95 %]", lambda row: row[1])
SHEET = Table(
    [("[a] & b_c", "-0.1 [-0.2, 0.1]", ()), ("d|e", "1 ± 2", ("50 % of {x}", "another"))],
    [AGENT, ERROR],
    notes=lambda row: row[2],
    above="A sentence.",
    remarks=("A remark #1.",),
)


def test_markdown_in_full() -> None:
    assert SHEET.markdown() == (
        "A sentence.\n\n"
        "| agent | error [95 %] |\n"
        "| --- | ---: |\n"
        "| [a] & b_c | -0.1 [-0.2, 0.1] |\n"
        "| d\\|e <sup>1, 2</sup> | 1 ± 2 |\n"
        "\n1. 50 % of {x}\n2. another\n"
        "\nA remark #1.\n"
    )


def test_latex_in_full() -> None:
    assert SHEET.latex() == (
        "% Needs \\usepackage{booktabs} in the preamble.\n"
        "A sentence.\n\n\\medskip\n"
        "\\begin{tabular}{lr}\n"
        "\\toprule\n"
        "agent & error [95 \\%] \\\\\n"
        "\\midrule\n"
        "{[a] \\& b\\_c} & $-$0.1 [$-$0.2, 0.1] \\\\\n"
        "d\\textbar{}e\\textsuperscript{1,2} & 1 $\\pm$ 2 \\\\\n"
        "\\bottomrule\n"
        "\\end{tabular}\n"
        "\n\\medskip\n"
        "{\\footnotesize\\raggedright\n"
        "\\textsuperscript{1} 50 \\% of \\{x\\}\\par\n"
        "\\textsuperscript{2} another\\par\n"
        "A remark \\#1.\\par\n"
        "}\n"
    )


def test_html_in_full() -> None:
    assert SHEET.html() == (
        "<p>A sentence.</p>\n<table>\n<thead><tr><th>agent</th><th>error [95 %]</th></tr></thead>\n<tbody>\n"
        "<tr><td>[a] &amp; b_c</td><td>-0.1 [-0.2, 0.1]</td></tr>\n"
        "<tr><td>d|e<sup>1, 2</sup></td><td>1 ± 2</td></tr>\n</tbody>\n</table>\n"
        "<ol>\n<li>50 % of {x}</li>\n<li>another</li>\n</ol>\n<p>A remark #1.</p>\n"
    )


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("A-GapE-V (c=2)", "A-GapE-V (c=2)"),
        ("BAI-Gaussian64-v0, gse-5", "BAI-Gaussian64-v0, gse-5"),
        ("-0.5", "$-$0.5"),
        ("x < 1 > 0 ≥ −1", "x $<$ 1 $>$ 0 $\\geq$ $-$1"),
        ("\\a{b}", "\\textbackslash{}a\\{b\\}"),
        ("~^$", "\\textasciitilde{}\\textasciicircum{}\\$"),
    ],
)
def test_latex_escapes(text: str, escaped: str) -> None:
    assert escape_latex(text) == escaped


def test_every_special_character_of_latex_is_escaped() -> None:
    text = "".join(map(chr, range(32, 127)))
    bare = re.sub(r"\$[<>-]\$|\\[&%$#_{}]|\\text[a-z]+\{\}", "", escape_latex(text))
    assert not set("&%$#_{}~^\\<>|") & set(bare)


def test_the_terminal_shows_marks_and_notes_and_columns_of_its_own() -> None:
    console = Console(file=io.StringIO(), width=80, color_system=None)
    console.print(SHEET.rich())
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "A sentence." in text and "d|e [1] [2]" in text and "[2] another" in text and "A remark #1." in text
    columns = [ERROR, AGENT, Column("seconds", lambda _: "0.8", terminal=True)]
    table = Table([("a", "1", ("n",))], columns, notes=lambda row: row[2], marked=1)
    assert str(table.rich().columns[2].header) == "seconds"
    assert "| 1 | a <sup>1</sup> |" in table.markdown() and "0.8" not in table.markdown() + table.latex()


def test_csv_quotes_what_needs_it() -> None:
    rows = [("x, y", 1), ('"', None)]
    table = Table(rows, [], {"a": lambda row: row[0], "b": lambda row: row[1]})
    assert table.csv() == 'a,b\n"x, y",1\n"""",\n'
    assert Table(rows, [Column("c", lambda row: str(row[1]))]).csv() == "c\n1\nNone\n"


def test_notes_are_numbered_by_appearance() -> None:
    table = Table([("x", "", ("b", "a")), ("y", "", ("a", "c"))], [AGENT], notes=lambda row: row[2])
    assert table.markdown().endswith("| x <sup>1, 2</sup> |\n| y <sup>2, 3</sup> |\n\n1. b\n2. a\n3. c\n")


def test_notes_that_differ_only_in_the_agent_or_in_what_it_chose_are_one() -> None:
    """Four agents with six notes have three footnotes; a note that stands alone stays as it is."""
    chosen, forgets = "chosen for binary rewards", "it forgets stages"
    rows = [
        ("A", "", (f"A: b=1, {chosen}",)),
        ("B", "", (f"B: variance='jeffreys', {chosen}", f"B: {forgets}")),
        ("C(n=2)", "", (f"C(n=2): b=1, {chosen}", f"C(n=2): {forgets}")),
        ("D", "", (forgets,)),
    ]
    table = Table(rows, [AGENT], notes=lambda row: row[2])
    assert table.markdown() == (
        "| agent |\n| --- |\n"
        "| A <sup>1</sup> |\n| B <sup>1, 2</sup> |\n| C(n=2) <sup>1, 2</sup> |\n| D <sup>3</sup> |\n\n"
        f"1. {chosen}: b=1 (A, C(n=2)); variance='jeffreys' (B)\n2. B, C(n=2): {forgets}\n3. {forgets}\n"
    )
    for text in (table.html(), table.latex()):
        assert text.count("chosen for binary rewards") == 1
    for alone in ("A: b=1, sigma=0.5, chosen for bounded(0, 1) rewards", "A: words", "words", ": ", "A: "):
        assert group_notes([alone, alone]) == {alone: alone}
    one = ("the same", "the same")  # of one row: marked once
    assert "| A <sup>1</sup> |" in Table([("A", "", one)], [AGENT], notes=lambda row: row[2]).markdown()


def test_numbers_are_as_precise_as_their_intervals() -> None:
    assert with_interval(0.1234, 0.1, 0.15) == "0.123 [0.100, 0.150]"
    assert with_interval(0.5, math.nan, math.nan) == "0.5000 [unknown]"
    assert [decimals(value) for value in (0.5, 0.03, 0.0, math.nan, 1e-12)] == [2, 3, 4, 4, 8]
