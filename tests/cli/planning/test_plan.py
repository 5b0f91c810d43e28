"""``bai-gym plan`` and ``bai-gym advise``: what they print and write, and costs as they are typed."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from bai_gym.theory import bechhofer_pulls

Command = Callable[..., tuple[str, str]]


def test_a_plan_is_a_page_tables_and_a_figure(command: Command) -> None:
    pytest.importorskip("matplotlib")
    words = ("plan", "BAI-Pilot-v0", "--regret", "0.05", "--certainty", "0.5", "--agent", "Uniform")
    out, _ = command(*words, "--out", "plans", "--curve")
    page = Path("plans/plan.html").read_text(encoding="utf-8")
    assert "<svg" in page and "The target is met without further pulls: decide now, for " in page
    rows, points = (
        list(csv.DictReader(Path("plans", name).read_text(encoding="utf-8").splitlines()))
        for name in ("plan.csv", "plan-curves.csv")
    )
    assert [row["agent"] for row in rows] == ["decide now", "Uniform"] and rows[0]["budget"] == "0"
    assert all(float(row["value"]) <= float(row["upper"]) <= 0.05 and row["reached"] == "yes" for row in rows)
    assert float(rows[0]["quantile_80"]) <= float(rows[0]["quantile_95"])
    assert all(float(row["lower"]) <= float(row["value"]) <= float(row["upper"]) for row in points)
    assert "50 % quantile of the simple regret" in " ".join(out.split()) and "page: plans/plan.html" in out
    assert "[90 %]" in out


def test_a_zone_is_planned_for_its_hardest_means(command: Command) -> None:
    out, _ = command("plan", "--zone", "2", "--arms", "2", "--deviation", "3", "--error", "0.2", "--agent", "Uniform")
    out = " ".join(out.split())
    assert f"{bechhofer_pulls(2, 0.8, 2.0, 3.0)} pulls of each arm" in out
    assert "means=[2.0, 0.0], variances=9.0" in out and "to 0.2" in out


@pytest.mark.slow
def test_costs_are_read_by_name_in_order_and_from_a_log(command: Command) -> None:
    rows = [("A", 1, 0.5), ("B", 0, 2), ("A", 0, 1.5), ("B", 1, 3), ("A", 1, 1)]
    lines = ["page,sale,dollars", *(f"{page},{sale},{price}" for page, sale, price in rows)]
    Path("log.csv").write_text("\n".join(lines))
    words = ("BAI-Pilot-v0", *(f"--set={pair}" for pair in ("path=log.csv", "arm_column=page", "reward_column=sale")))
    plans = []
    for costs in ("B=2.5,A=1", "1,2.5", "dollars"):
        out, _ = command("plan", *words, "--agent", "Uniform", "--error", "0.4", "--most", "500", "--costs", costs)
        plans.append(out.partition("│")[2])  # without the title
    assert plans[0] == plans[1] == plans[2] and "mean pulls" in out
    out, _ = command("advise", *words, "--costs", "dollars", "--budget", "20.5", "--runs", "400")
    assert "20.5" in out and "mean pulls" in out and "TTTS" not in out
    verdict = min(out.find(words) for words in ("Use ", "More pulls") if words in out)
    assert verdict < out.index("against the chosen one")


@pytest.mark.each(
    ("words", "part"),
    [
        (("--zone", "1e-300"), "zone must be"),
        (("--zone", "1e300"), "zone must be"),
        (("--zone", "1", "--deviation", "1e200"), "deviation must be"),
        (("--zone", "1e-20"), "give a larger zone"),
        (("--zone", "0.5", "--costs", "1,2"), "--costs"),
    ],
)
def test_targets_out_of_range_are_refused(refused: Callable[..., None], words: tuple[str, ...], part: str) -> None:
    refused(("plan", *words), part)
