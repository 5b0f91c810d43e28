"""Levels of the Gaussian problem against reference values, from an independent simulation of the formulas of
Lalitha et al. (2023), section 5.1 and Algorithms 1 to 3.
"""

from __future__ import annotations

import math

import pytest
from scipy import stats

import bai_gym

RUNS = 10_000
ARMS, BUDGET = 64, 5_000
LEVEL = 0.001 / 3  # three comparisons in this file together err with probability at most 0.001
# From 20,000 simulated instances with standard errors of at most 0.004.
REFERENCE = {"Uniform": 0.254, "SH": 0.119, "SHVar": 0.080}
REFERENCE_RUNS = 20_000


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
def test_error_agrees_with_the_reference_values(agent: str, comparison: bai_gym.Comparison) -> None:
    measured = comparison.find(agent).error_probability
    assert p_value(measured, RUNS, REFERENCE[agent], REFERENCE_RUNS) > LEVEL


def test_the_check_would_notice_a_wrong_parity() -> None:
    """With quiet best arms uniform allocation errs in about 0.19 of the runs: far outside what the check accepts."""
    literal = bai_gym.evaluate(
        "Uniform", "BAI-Gaussian64-v0", budget=BUDGET, runs=RUNS, seed=1, env_kwargs={"noisy_best": False}
    )
    assert p_value(literal.error_probability, RUNS, REFERENCE["Uniform"], REFERENCE_RUNS) < LEVEL
