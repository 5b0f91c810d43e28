"""Results as reports read them, made of the numbers that a test is about. Tests read this by ``run_path``."""

from __future__ import annotations

from typing import Any

import numpy as np

from bai_gym.analysis.intervals import wilson
from bai_gym.results.result import Result


def result(
    agent: str = "SH",
    env: str = "BAI-Gaussian64-v0",
    budget: int = 500,
    errors: int = 3,
    runs: int = 1000,
    **others: Any,
) -> Result:
    values = {
        "error_probability": errors / runs,
        "interval": wilson(errors, runs),
        "simple_regret": 0.0123,
        "simple_regret_se": 0.0011,
        "mean_pulls": np.array([125.25, 374.75]),
        "unspent": 0.0,
        "sample_complexity": 500.0,
        "sample_quantiles": (500.0,) * 7,
        "truncated": 0,
        "seconds": 1.25,
        "seed": 0,
    }
    return Result(agent=agent, env=env, budget=budget, runs=runs, errors=errors, **{**values, **others})
