"""Cheap conditions of agents of fixed confidence: decisions of the exact rule at every pull, and bounds that hold."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import bai_gym
from bai_gym import agents
from bai_gym.agents.fixed_confidence import intervals, racing, stopping
from bai_gym.agents.tools import questions
from bai_gym.agents.tools.divergences import bernoulli_bound_near, bernoulli_upper_bound
from bai_gym.agents.tools.mixtures import (
    bounded_end_near,
    bounded_growth,
    bounded_upper_end,
    has_both_priors,
    log_bounded,
)
from bai_gym.sampling import engine

FEW = ("TrackAndStop", "T3C", "TTTS-GLR", "EB-TC", "EB-TCI", "FWS", "AdaHedge-BR", "KL-LUCB", "KL-Racing")
GAUSSIAN_ONLY = ("TTUCB", "SE")
INSTANCES: dict[str, dict[str, Any]] = {
    "bernoulli": {"means": [0.8, 0.4, 0.3, 0.1], "distribution": "bernoulli"},
    "gaussian": {"means": [1.0, 0.4, 0.2, 0.0], "variances": [0.2, 0.1, 0.3, 0.2]},
    "student": {"means": [1.0, 0.4, 0.2, 0.0], "variances": [0.2, 0.1, 0.3, 0.2]},
}


def runs_of(name: str, family: str) -> tuple[Any, ...]:
    """What two runs have pulled and recommended."""
    agent = agents.make(name, family=family, **({"sigma": 0.5} if family == "gaussian" else {}))
    found = bai_gym.evaluate(agent, "BAI-FC-Custom-v0", runs=2, budget=400, env_kwargs=INSTANCES[family])
    return (np.asarray(found.mean_pulls).tolist(), found.truncated, found.error_probability)


@pytest.mark.slow
@pytest.mark.each("family", ["bernoulli", "gaussian", "student"])
def test_decisions_are_those_of_the_exact_rule_at_every_pull(monkeypatch: pytest.MonkeyPatch, family: str) -> None:
    """Uncompiled; one cheap condition is checked where it holds, and runs are the same without any."""
    monkeypatch.setattr(engine, "can_compile", lambda: False)
    near = intervals.upper_end_near

    def checked_fall(e: Any, s: Any, w: Any) -> bool:
        found = falls_short(e, s, w)
        assert not found or not stopping.suffices(e, s, w, s.at)
        looks.append(found)
        return found

    falls_short, looks = stopping.falls_short, list[bool]()
    names = FEW + (GAUSSIAN_ONLY if family == "gaussian" else ())
    if family == "student":
        names = tuple(name for name in names if not name.startswith("KL"))
    for name in names:
        with monkeypatch.context() as patch:
            patch.setattr(stopping, "falls_short", checked_fall)
            cheap = runs_of(name, family)
        with monkeypatch.context() as patch:
            patch.setattr(stopping, "falls_short", lambda e, s, w: False)
            patch.setattr(racing, "overlap", lambda e, s, w, i, j: False)
            patch.setattr(questions, "least_evidence", questions.evidence)
            for module in (intervals, racing):
                patch.setattr(module, "upper_end", lambda e, s, w, arm: near(e, s, w, arm, 0.0))
            assert cheap == runs_of(name, family), name
    assert sum(looks) > (0.8 if family == "bernoulli" else 0.2) * len(looks) > 0


def test_evidence_grows_at_most_as_said() -> None:
    rng = np.random.default_rng(0)
    for case in range(60):
        n, total, x = 0.0, 0.0, float(rng.uniform(0.02, 0.98))
        for _ in range(60):
            reward = float((rng.random() < 0.4) if case % 2 else rng.choice([0.0, 1.0, rng.random()]))
            before, had_both = log_bounded(n, total, x) if n else math.log(1.0), n == 0.0 or has_both_priors(n, total)
            n, total = n + 1.0, total + reward
            most = bounded_growth(n, total, reward, x)
            if had_both:  # else the first evidence is that of one prior
                assert log_bounded(n, total, x) - before <= most + 1e-9, (n, total, reward, x)
            if n > 20 and abs(x - total / n) < 0.2 and reward in (0.0, 1.0):
                assert most - (log_bounded(n, total, x) - before) < 0.25, (n, total, reward, x)  # it is a close bound


def test_ends_from_a_start_are_those_of_a_full_search() -> None:
    rng = np.random.default_rng(3)
    for _ in range(100):
        n = float(rng.choice([1, 2, int(rng.integers(1, 50)), int(rng.integers(1, 5000))]))
        mean = float(rng.choice([0.0, 1.0, rng.random(), int(rng.integers(0, int(n) + 1)) / n]))
        level = float(rng.uniform(1.0, 10.0))
        end, bound = bounded_upper_end(n, mean, level), bernoulli_upper_bound(mean, level / n)
        for start in (0.0, 1.0, end, bound, float(rng.random()), min(end * (1.0 + 1e-4), 1.0), end * (1.0 - 1e-3)):
            assert bounded_end_near(n, mean, level, start) == pytest.approx(end, abs=1e-9), (n, mean, level, start)
            assert bernoulli_bound_near(mean, level / n, start) == pytest.approx(bound, abs=1e-9), (n, mean, start)
