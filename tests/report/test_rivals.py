"""Tables of one agent against the others: what they show, and that equal results give equal bytes."""

from __future__ import annotations

import csv
import io

import numpy as np
from rich.console import Console

from bai_gym.analysis.paired import paired_test
from bai_gym.report.rivals import pulls_table, rivals_table
from bai_gym.results.comparison import Rival, against_fewest

# In 1,000 runs: 40 against 80, 5 against 5, and 60 against 20 discordant ones.
WORSE, EQUAL, BETTER = (
    Rival("b[1]", "E", 100, paired_test(40, 80, 1000)),
    Rival("c|d", "E", 100, paired_test(5, 5, 1000)),
    Rival("e", "E", 100, paired_test(60, 20, 1000)),
)
RIVALS = [WORSE, EQUAL, BETTER]


def text_of(reference: str, rivals: list[Rival]) -> str:
    console = Console(file=io.StringIO(), width=160, color_system=None)
    console.print(rivals_table(reference, rivals).rich())
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


def test_the_strongest_rival_comes_first() -> None:
    more = [*RIVALS, Rival("z", "E", 20, paired_test(0, 9, 1000))]
    agents = [line.split(" | ")[0] for line in rivals_table("a", more).markdown().splitlines()[4:]]
    assert agents == ["| z", "| e", "| c\\|d", "| b[1]"]


def test_several_environments_have_a_column() -> None:
    both = [WORSE, Rival("b", "F", 100, paired_test(1, 2, 1000))]
    assert "| against | env | budget |" in rivals_table("a", both).markdown()
    assert "| b | F | 100 |" in rivals_table("a", both).markdown()
    assert " env " in text_of("a", both)


def test_csv_has_every_digit() -> None:
    rows = list(csv.DictReader(io.StringIO(rivals_table("a", RIVALS).csv())))
    assert [row["agent"] for row in rows] == ["e", "c|d", "b[1]"]
    assert {row["reference"] for row in rows} == {"a"}
    for row, rival in zip(rows, (BETTER, EQUAL, WORSE), strict=True):
        test = rival.test
        assert (float(row["difference"]), float(row["p_value"])) == (test.difference, test.p_value)
        assert (float(row["difference_lower"]), float(row["difference_upper"])) == test.interval
        assert (row["only_reference_errs"], row["only_agent_errs"]) == (str(test.only_a_errs), str(test.only_b_errs))
        assert (row["runs"], row["budget"], row["env"], row["level"]) == ("1000", "100", "E", "0.95")


def test_pulls_against_the_fewest() -> None:
    pulls = {("A", "E", 90): [51, 62, 73], ("B", "E", 90): [40, 60, 80], ("C", "E", 90): [40, 60, 77]}
    table = pulls_table(against_fewest({key: np.array(values) for key, values in pulls.items()}))
    rows = list(csv.DictReader(io.StringIO(table.csv())))
    assert [(row["agent"], row["reference"], float(row["difference"])) for row in rows] == [
        ("B", "C", 1.0),
        ("A", "C", 3.0),
    ]
    # Differences 11, 2, -4: standard deviation 7.55, so the half width is 4.303 x 7.55 / sqrt(3) = 18.75.
    assert "| A | C | 90 | +3 [-16, +22] | 1.05 | 0.56" in table.markdown()
    equal = pulls_table(against_fewest({("A", "E", 9): np.array([4, 5]), ("B", "E", 9): np.array([5, 6])}))
    assert "| B | A | 9 | +1 [unknown] | 1.22 | 0.5000 |" in equal.markdown()
