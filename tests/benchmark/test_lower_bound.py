"""The lower bound on the mean number of pulls: where a cell knows it, and that it is the one of the true means."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bai_gym import compare
from bai_gym.api import make_cells
from bai_gym.benchmark.facts import facts
from bai_gym.results.reader import read_results
from bai_gym.results.writer import ResultsWriter
from bai_gym.theory import fixed_confidence_bound

CUSTOM = "BAI-FC-Custom-v0"
PAIR = {"means": [0.5, 0.0], "variances": [4.0, 4.0]}
# T* = 8 sigma^2 / gap^2 = 128, and kl(0.1, 0.9) = 0.8 log 9 = 1.75778.
BY_HAND = 128 * 1.757780


@pytest.mark.each(
    ("agent", "env", "keywords", "delta", "bound"),
    [
        ("T3C", CUSTOM, PAIR, 0.1, BY_HAND),
        ("T3C(delta=0.01)", CUSTOM, PAIR, 0.01, 128 * 4.503217),  # 0.98 log 99
        ("KL-LUCB(family=bernoulli)", "BAI-FC-GK1-v0", {}, 0.1, fixed_confidence_bound([0.5, 0.45, 0.43, 0.4], 0.1)),
        ("LUCB", CUSTOM, {"task": "top-m", "m": 1, **PAIR}, 0.1, BY_HAND),
        ("UGapEc", CUSTOM, {"task": "top-m", "m": 1, "epsilon": 0.1, **PAIR}, 0.1, None),
        ("APGAI", "BAI-FC-CustomGoodArm-v0", {**PAIR, "threshold": 0.25}, 0.1, 128 * 1.757780),  # 2 variance / gap^2
        ("LUCB", CUSTOM, {**PAIR, "epsilon": 0.1}, 0.1, None),  # another task
        ("T3C", CUSTOM, {"means": [0.5, 0.5], "variances": [1.0, 1.0]}, 0.1, None),  # infinite
        ("T3C", CUSTOM, {"means": [0.5, 0.0], "variances": [0.0, 1.0]}, 0.1, None),
        ("T3C", "BAI-FC-Gaussian64-v0", {}, 0.1, None),  # another instance in each run
        ("T3C", "BAI-Custom-v0", PAIR, None, None),  # a fixed budget
    ],
)
def test_what_a_cell_knows(
    agent: str, env: str, keywords: dict[str, Any], delta: float | None, bound: float | None
) -> None:
    (cell,) = make_cells([agent], env, None, 0, keywords)
    assert cell.delta == delta
    assert facts(cell)["lower_bound"] == (None if bound is None else pytest.approx(float(bound), rel=1e-5))


def test_results_keep_it(tmp_path: Path) -> None:
    (row,) = compare(["T3C(sigma=2.0)"], CUSTOM, budgets=[20_000], runs=5, env_kwargs=PAIR)
    assert row.over_bound == pytest.approx(row.sample_complexity / BY_HAND, rel=1e-5)
    assert f" {row.over_bound:.2f} " in str(row) and "Lower bound: kl(delta, 1 - delta) T*" in str(row)
    ResultsWriter(tmp_path).save_results([row])
    ((read,),) = (table.results for table in read_results(tmp_path))
    assert (read.delta, read.lower_bound) == (row.delta, row.lower_bound)
