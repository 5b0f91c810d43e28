"""No random damage of results, journals or databases changes a number silently: a short form of the benchmark."""

from __future__ import annotations

import runpy
from pathlib import Path


def test_damage_is_an_error_or_changes_nothing() -> None:
    script = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "live" / "damage.py"))
    outcomes = script["tally"](50, 1)
    assert sum(outcomes.values()) == 50
    assert {outcome for _, outcome in outcomes} == {"error or warning", "the same numbers"}, outcomes
