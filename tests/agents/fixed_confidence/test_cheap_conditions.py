"""Cheap conditions of agents of fixed confidence: decisions of the exact rule at every pull."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bai_gym
from bai_gym import agents
from bai_gym.agents.fixed_confidence import intervals, racing
from bai_gym.agents.tools import questions
from bai_gym.agents.tools.divergences import bernoulli_bound_near, bernoulli_upper_bound
from bai_gym.agents.tools.mixtures import bounded_end_near, bounded_upper_end
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
    """Uncompiled; runs are the same without cheap conditions."""
    monkeypatch.setattr(engine, "can_compile", lambda: False)
    near = intervals.upper_end_near

    names = FEW + (GAUSSIAN_ONLY if family == "gaussian" else ())
    if family == "student":
        names = tuple(name for name in names if not name.startswith("KL"))
    for name in names:
        cheap = runs_of(name, family)
        with monkeypatch.context() as patch:
            patch.setattr(racing, "overlap", lambda e, s, w, i, j: False)
            if family == "bernoulli":
                patch.setattr(questions, "least_evidence", lambda e, w, k: 0.0)
            for module in (intervals, racing):
                patch.setattr(module, "upper_end", lambda e, s, w, arm: near(e, s, w, arm, 0.0))
            assert cheap == runs_of(name, family), name


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
