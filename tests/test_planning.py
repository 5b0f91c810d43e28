"""Planned budgets: right on fresh seeds, smallest, repeatable; advice on agents; bad input."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr

from bai_gym import advise, evaluate, plan
from bai_gym.agents import registry
from bai_gym.errors import BaiGymError, ParameterError
from bai_gym.report.plans import plan_curves, plans_table

TWO_ARMS = {"means": [0.5, 0.0], "variances": 1.0}


def test_uniform_on_two_arms_needs_what_the_normal_distribution_says() -> None:
    """The error with n pulls is Phi(-0.5 / sqrt(4 / n)); the target of 0.1 takes n = 26.3."""
    found = plan("Uniform", "BAI-Custom-v0", error=0.1, env_kwargs=TWO_ARMS)[0]
    assert found.budget is not None
    assert 26 <= found.budget <= 36
    exact = float(ndtr(-0.5 / np.sqrt(4 / found.budget)))
    assert found.confirmed is not None
    assert abs(found.confirmed.value - exact) < 4 * np.sqrt(exact / found.confirmed.runs)


def test_plans_hold_on_fresh_seeds() -> None:
    rng, ratios = np.random.default_rng(0), []
    for number in range(4):
        keywords = {"means": rng.normal(0.0, 1.0, 5).tolist(), "variances": 4.0}
        for found in plan(["SH", "Uniform"], "BAI-Custom-v0", error=0.1, env_kwargs=keywords, seed=number):
            if found.budget is not None:
                again = evaluate(
                    found.agent,
                    found.env.partition("(")[0],
                    budget=found.budget,
                    runs=8000,
                    seed=999,
                    env_kwargs=keywords,
                )
                ratios.append(again.error_probability / 0.1)
    assert len(ratios) >= 6
    assert max(ratios) < 1.08
    assert min(ratios) > 1 / 3


def test_the_same_seed_gives_the_same_plan_and_chunks_are_reused(tmp_path: Path) -> None:
    played: list[int] = []
    arguments: dict[str, Any] = {"env_kwargs": TWO_ARMS, "error": 0.2, "out": tmp_path}
    first = plan(["SH", "Uniform"], "BAI-Custom-v0", **arguments, on_budget=lambda _, budget: played.append(budget))
    files = sorted(path for path in tmp_path.rglob("*.parquet"))
    again = plan(["SH", "Uniform"], "BAI-Custom-v0", **arguments, workers=2)
    assert [(p.agent, p.budget) for p in first] == [(p.agent, p.budget) for p in again]
    assert sorted(path for path in tmp_path.rglob("*.parquet")) == files
    assert first[0].budget in played
    assert first.advice.startswith(f"Take {first[0].agent} with {first[0].budget}")


def test_simple_regret_as_the_target() -> None:
    found = plan("Uniform", "BAI-Custom-v0", regret=0.1, env_kwargs=TWO_ARMS)[0]
    assert found.budget is not None
    regret = 0.5 * float(ndtr(-0.5 / np.sqrt(4 / found.budget)))
    assert 0.04 < regret < 0.103


def test_a_target_that_cannot_be_reached(tmp_path: Path) -> None:
    """Sixty pulls do not tell means of 0.1 and 0.09 apart."""
    plans = plan(["Uniform", "SH"], "BAI-Custom-v0", error=0.01, most=60, env_kwargs={"means": [0.1, 0.09, 0.0]})
    assert [found.budget for found in plans] == [None, None]
    assert "larger" in plans.advice
    assert "not reached" in plans_table(plans).markdown()
    assert plan_curves(plans, tmp_path / "plan.svg").stat().st_size > 1000


def test_oracle_knowledge_is_shown_and_not_advised() -> None:
    plans = plan(
        ["SHVar", "SH"], "BAI-Custom-v0", error=0.2, env_kwargs={"means": [1.0, 0.0], "variances": [9.0, 0.01]}
    )
    assert "variances" in plans_table(plans).markdown()
    assert plans.advice.startswith("Take SH ")


@pytest.mark.each(
    ("keywords", "words"),
    [
        ({"error": 0.0}, "error"),
        ({"error": 0.1, "regret": 0.1}, "not both"),
        ({"regret": -1.0}, "regret"),
        ({"most": 1}, "most"),
        ({"agents": []}, "at least one agent"),
        ({"workers": 0}, "workers"),
        ({"env_kwargs": {**TWO_ARMS, "fixed_confidence": True}}, "fixed budget"),
    ],
)
def test_errors(keywords: dict[str, Any], words: str) -> None:
    arguments = {"agents": ["SH"], "env": "BAI-Custom-v0", "env_kwargs": TWO_ARMS, **keywords}
    with pytest.raises(BaiGymError, match=words) as caught:
        plan(**arguments)
    assert "\n" not in str(caught.value)


def test_advice_ranks_agents_without_oracle_knowledge(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "names", lambda: ("Uniform", "SH", "SHVar", "APT", "SR"))
    advice = advise("BAI-Custom-v0", budget=11, runs=400, env_kwargs={"means": [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]})
    assert {row.agent for row in advice.screened} == {"Uniform", "SR"}
    assert "variances" in advice.left_out["SHVar"]
    assert "18" in advice.left_out["SH"]  # its least budget: 6 arms, 3 stages
    assert "thresholding" in advice.left_out["APT"]
    first, second = advice.words.split(". ")
    assert advice.agent in first
    other = ({"Uniform", "SR"} - {advice.agent}).pop()
    assert other in second or "worse" in second


def test_advice_needs_an_agent() -> None:
    with pytest.raises(BaiGymError, match="at least 2 arms"):
        advise("BAI-Custom-v0", env_kwargs={"means": [1.0]})
    with pytest.raises(ParameterError, match="runs"):
        advise("BAI-Custom-v0", runs=10)
