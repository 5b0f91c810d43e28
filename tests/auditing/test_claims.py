"""Bounds for a fixed budget: the smallest budget that they promise delta for, and bounds that are too small."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

from bai_gym.api import agent_source
from bai_gym.auditing import Instance, Plan, audit
from bai_gym.auditing.claims import BoundPlayer
from bai_gym.errors import AgentError, BaiGymError, ParameterError
from bai_gym.theory import BOUNDS, successive_rejects_bound

WIDE = Instance(low=(0.0, 0.0, 0.0), high=(1.0, 1.0, 1.0), p=(0.9, 0.5, 0.4))
HASTY = """import numpy as np


def hasty(means, variances, budget):
    second, best = np.sort(means, axis=-1)[..., -2:].T
    return np.exp(-budget * (best - second) ** 2)
"""


def test_the_budget_is_the_smallest_that_the_bound_needs() -> None:
    player = BoundPlayer(agent_source("SR"), BOUNDS["SR"], 0.05, 10_000)
    budget = player.budget(WIDE)
    assert budget is not None and player.covers(WIDE)
    assert successive_rejects_bound(WIDE.means, budget) <= 0.05 < successive_rejects_bound(WIDE.means, budget - 1)
    episodes = player.play(WIDE, 3000, np.random.default_rng(0))
    assert (episodes.pulls <= budget).all() and episodes.pulls.max() > 0.9 * budget
    assert episodes.wrong(WIDE, 0.0).mean() < 0.05
    short = BoundPlayer(agent_source("SR"), BOUNDS["SR"], 0.05, budget - 1)
    assert short.budget(WIDE) is None and not short.covers(WIDE)
    assert not short.play(WIDE, 5, np.random.default_rng(0)).wrong(WIDE, 0.0).any()
    variances = pytest.approx([0.09, 0.25, 0.24])
    always = BoundPlayer(agent_source("SR"), lambda _, given, budget: float(given[0] != variances), 0.05, 100)
    assert always.budget(WIDE) == 4  # the agent's own minimum, K + 1


def test_proved_bounds_are_not_refuted_and_one_that_is_too_small_is(tmp_path: Path) -> None:
    plan = Plan(instances=16, variations=4, runs=25, most=50, certified=500)
    for name, rewards, cap in (("SR", "bounded", 3000), ("SHVar", "gaussian", 20_000)):
        right = audit(name, plan=plan, arms=(2, 2), cap=cap, progress=False)
        assert right.verdict == "not refuted" and right.goal.rewards == rewards and "Theorem" in str(right), name
    file = tmp_path / "mine.py"
    file.write_text(HASTY, encoding="utf-8")
    words = {"rewards": "bernoulli", "plan": plan, "progress": False, "arms": (2, 5), "cap": 3000}
    wrong = audit("SH", bound=f"{file}:hasty", out=tmp_path, **words)  # type: ignore[arg-type]
    assert wrong.verdict == "refuted" and wrong.worst.instance.num_arms == 5 and "hasty" in str(wrong)
    assert runpy.run_path(str(tmp_path / "counterexample.py"))["result"].bound > 0.05


def test_claims_are_checked() -> None:
    for agent, words, kind, match in (
        ("Uniform", {}, AgentError, "no bound of its error probability is known"),
        ("UCB-E", {}, AgentError, "bound="),  # the theorem is for other parameters
        ("SR", {"rewards": "gaussian"}, ParameterError, "must be bounded or bernoulli"),
        ("SR", {"looks": 10}, ParameterError, "looks"),
        ("SR", {"bound": 3}, ParameterError, "function of means"),
        ("SR", {"cap": 20}, BaiGymError, "larger cap"),
    ):
        with pytest.raises(kind, match=match):  # type: ignore[arg-type]
            audit(agent, progress=False, **words)  # type: ignore[arg-type]
