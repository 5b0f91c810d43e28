"""Levels of the Gaussian problem against an independent simulation, and against published reference values.

The simulation below shares no code with the library: it draws instances and stage means straight from the formulas of
Lalitha et al. (2023), section 5.1 and Algorithms 1 to 3.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import bai_gym

RUNS = 10_000
ARMS, BUDGET = 64, 5_000
LEVEL = 0.001 / 6  # six comparisons in this file together err with probability at most 0.001
# From 20,000 simulated instances with standard errors of at most 0.004.
REFERENCE = {"Uniform": 0.254, "SH": 0.119, "SHVar": 0.080}
REFERENCE_RUNS = 20_000


def simulated_error(agent: str) -> float:
    """Return the error probability of an agent over fresh instances."""
    rng = np.random.default_rng(20261121)
    i = np.arange(ARMS)
    base = 1 - np.sqrt(i / ARMS)
    mu = base + rng.normal(0, 0.05, (RUNS, ARMS))
    var = np.where(i % 2 == 0, 0.9 * base**2 + 0.1, 0.1) * rng.uniform(0.5, 1.5, (RUNS, ARMS))
    if agent == "Uniform":
        estimate = rng.normal(mu, np.sqrt(var / (BUDGET / ARMS)))
        return float(np.mean(estimate.argmax(1) != mu.argmax(1)))
    active = np.tile(i, (RUNS, 1))
    stages = math.ceil(math.log2(ARMS))
    for _ in range(stages):
        m, v = np.take_along_axis(mu, active, 1), np.take_along_axis(var, active, 1)
        share = np.ones_like(v) if agent == "SH" else v
        pulls = BUDGET // stages * share / share.sum(1, keepdims=True)  # the real-valued allocation
        estimate = rng.normal(m, np.sqrt(v / pulls))
        best = np.argsort(-estimate, axis=1)[:, : math.ceil(active.shape[1] / 2)]
        active = np.take_along_axis(active, best, 1)
    return float(np.mean(active[:, 0] != mu.argmax(1)))


def p_value(errors_a: float, runs_a: int, errors_b: float, runs_b: int) -> float:
    """Return the two-sided p-value of equal error probabilities."""
    pooled = (errors_a * runs_a + errors_b * runs_b) / (runs_a + runs_b)
    deviation = math.sqrt(pooled * (1 - pooled) * (1 / runs_a + 1 / runs_b))
    return float(2 * stats.norm.sf(abs(errors_a - errors_b) / deviation))


@pytest.fixture(scope="module")
def comparison() -> bai_gym.Comparison:
    """Return the library's results."""
    return bai_gym.compare(list(REFERENCE), "BAI-Gaussian64-v0", budgets=[BUDGET], runs=RUNS, seed=1)


@pytest.mark.parametrize("agent", REFERENCE)
def test_error_agrees_with_an_independent_simulation(agent: str, comparison: bai_gym.Comparison) -> None:
    measured = comparison.find(agent).error_probability
    assert p_value(measured, RUNS, simulated_error(agent), RUNS) > LEVEL


@pytest.mark.parametrize("agent", REFERENCE)
def test_error_agrees_with_the_reference_values(agent: str, comparison: bai_gym.Comparison) -> None:
    measured = comparison.find(agent).error_probability
    assert p_value(measured, RUNS, REFERENCE[agent], REFERENCE_RUNS) > LEVEL


def test_the_check_would_notice_a_wrong_parity() -> None:
    """With quiet best arms uniform allocation errs in about 0.19 of the runs: far outside what the check accepts."""
    literal = bai_gym.evaluate(
        "Uniform", "BAI-Gaussian64-v0", budget=BUDGET, runs=RUNS, seed=1, env_kwargs={"noisy_best": False}
    )
    assert p_value(literal.error_probability, RUNS, REFERENCE["Uniform"], REFERENCE_RUNS) < LEVEL
