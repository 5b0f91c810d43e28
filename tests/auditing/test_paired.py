"""Rules on common items: instances have the moments that they state, and a rule is refuted where its proof ends."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bai_gym
from bai_gym import agents
from bai_gym.auditing import Instance, Plan, audit
from bai_gym.auditing.families import Goal, draw
from bai_gym.errors import ParameterError

pytestmark = pytest.mark.skipif("PairedRace" not in agents.names(), reason="the wing of paired pulls is not there")

CARELESS = "KN(paired=True, first_pulls=3)"  # of three rewards it learns little about variances, which it needs
PLAN = Plan(instances=8, variations=2, runs=25, most=50, certified=1000)
JUMP = Instance(low=(-1.0, 0.0, -1.0), high=(5.0, 0.0, 4.0), p=(0.2, 0.0, 0.1), bounds=(-1.0, 5.0), paired=True)


def test_paired_instances_have_the_moments_that_they_state() -> None:
    for instance in (JUMP, Instance(centre=(0.5, 0.0), deviation=(1.0, 0.1), paired=True)):
        bandit = instance.bandit()
        assert bandit.paired and bandit.num_items is None
        np.testing.assert_allclose(bandit.means[0], instance.means, atol=1e-12)
        np.testing.assert_allclose(bandit.variances[0], instance.deviations**2, atol=1e-12)
    assert JUMP.num_items == 10 and JUMP.items()[0] == [-1.0] * 8 + [5.0] * 2
    assert JUMP.items()[2] == [-1.0] * 9 + [4.0]  # the higher rewards are on the same items
    goal = Goal("bounded", (2, 5), paired=True)
    rng = np.random.default_rng(0)
    drawn = [draw(goal, rng).instance for _ in range(50)]
    assert all(one.paired and one.num_items <= 10_000 and one.select([0, 1]).paired for one in drawn)


WORDS: dict[str, Any] = {"cap": 120, "arms": (2, 2), "plan": PLAN, "progress": False}


@pytest.mark.slow
def test_a_careless_rule_is_refuted_and_a_proved_one_is_not() -> None:
    for rule, rewards, verdict in ((CARELESS, "bounded", "refuted"), ("PairedRace", "gaussian", "not refuted")):
        found = audit(rule, rewards=rewards, **WORDS)
        assert found.verdict == verdict and found.worst.instance.paired and "common items" in str(found), rule


def test_a_counterexample_on_common_items_is_an_environment(tmp_path: Path) -> None:
    found = audit(CARELESS, rewards="bounded", out=tmp_path, **WORDS)
    assert found.refuted and runpy.run_path(str(tmp_path / "counterexample.py"))["result"].bound > 0.05
    stored = json.loads((tmp_path / "audit.json").read_text(encoding="utf-8"))["counterexample"]
    keywords = {**stored["keywords"], "path": str(tmp_path / "counterexample.csv")}
    played = bai_gym.evaluate(CARELESS, stored["environment"], budget=120, runs=50, env_kwargs=keywords)
    assert played.error_probability > 0.05
    with pytest.raises(ParameterError, match="gaussian or bounded"):
        audit("PairedRace", rewards="bernoulli", **WORDS)
