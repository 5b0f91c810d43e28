"""OCBA: the proportions by hand, and every choice against the formulas."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bai_gym.agents.ocba import OCBA
from bai_gym.errors import ParameterError
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Engine
from bai_gym.statistics import Statistics

Play = Callable[..., Any]


@pytest.mark.parametrize(
    ("num_arms", "budget", "first"), [(4, 8, 2), (4, 23, 2), (4, 24, 3), (4, 39, 4), (4, 40, 5), (4, 999, 5)]
)
def test_first_pulls(num_arms: int, budget: int, first: int) -> None:
    agent = OCBA()
    agent.reset(ProblemInfo(num_arms, budget))
    assert agent.first_pulls == first
    assert agent.minimum_budget(num_arms) == 8 and OCBA(n0=7).minimum_budget(4) == 28


def choices(pulls: list[int], means: list[float], variances: list[float], tie: Any = "first", batch: int = 1) -> Any:
    agent = OCBA(tie=tie)
    agent.reset(ProblemInfo(len(pulls), 100, batch), np.random.default_rng(0))
    seen = Statistics(*(np.tile(values, (batch, 1)) for values in (pulls, means, variances)))
    return Engine(agent.sequential(1), seen, sum(pulls), None, variances=True).choose()


def choice(pulls: list[int], means: list[float], variances: list[float]) -> int:
    return int(choices(pulls, means, variances)[0])


def test_proportions_by_hand() -> None:
    # Best arm 0; d = 1, 2; v = 4, 1, 16: R_1 = 1, R_2 = 16/4 = 4, R_0 = 2 sqrt(1/1 + 16/16) = 2.828: sum 7.828.
    # After 29 pulls the targets are 30 R / 7.828 = 10.84, 3.83, 15.33.
    assert choice([10, 4, 15], [3.0, 2.0, 1.0], [4.0, 1.0, 16.0]) == 0
    assert choice([11, 3, 15], [3.0, 2.0, 1.0], [4.0, 1.0, 16.0]) == 1
    assert choice([12, 4, 13], [3.0, 2.0, 1.0], [4.0, 1.0, 16.0]) == 2


def test_of_tied_best_arms_the_least_pulled_one_is_pulled() -> None:
    assert choice([5, 9, 4, 1], [3.0, 3.0, 3.0, 2.0], [1.0, 1.0, 9.0, 100.0]) == 2
    assert choice([5, 9, 5, 1], [3.0, 3.0, 3.0, 2.0], [1.0, 1.0, 9.0, 100.0]) == 0
    assert choice([6, 3, 9], [1 / 3, 0.2 + 0.4 / 3, 0.0], [1.0, 1.0, 1.0]) == 1  # tied up to rounding


def test_exact_ties_are_broken_uniformly() -> None:
    for means in ([3.0, 3.0, 3.0, 2.0], [9.0, 3.0, 3.0, 3.0]):  # the best arms, and others far behind
        chosen = choices([2, 2, 2, 9] if means[0] == 3.0 else [9, 2, 2, 2], means, [1.0] * 4, "random", 6000)
        counts = np.bincount(chosen, minlength=4)
        if means[0] == 3.0:
            assert counts[3] == 0 and (abs(counts[:3] - 2000) < 150).all()
        else:
            assert counts[0] == 0 and (abs(counts[1:] - 2000) < 150).all()


def test_without_variance_the_nearest_arm_and_the_best_are_pulled(trace: Play) -> None:
    # All variances count as equal: R_1 = 1, R_2 = 1/4, R_0 = sqrt(17)/4 = 1.03; in 40 pulls 18.1, 17.5, 4.4.
    played = trace(OCBA(tie="first", n0=2), [[3.0], [2.0], [1.0]], 40)
    assert played.counts(3) == [18, 18, 4] and played.recommendation == 0


@pytest.mark.parametrize("seed", range(8))
def test_it_follows_the_formula(trace: Play, seed: int) -> None:
    rng = np.random.default_rng(seed)
    num_arms = int(rng.integers(2, 6))
    rewards = rng.random((num_arms, 80)) * rng.random((num_arms, 1)) + np.linspace(0, 0.2, num_arms)[:, None]
    played = trace(OCBA(tie="first"), rewards, 80)
    first = max(2, min(5, 80 // (2 * num_arms)))
    assert played.arms[: first * num_arms] == list(range(num_arms)) * first
    made: list[list[float]] = [list(arm[:first]) for arm in rewards]
    for step in range(first * num_arms, 80):
        means, variances = np.array([np.mean(m) for m in made]), np.array([np.var(m, ddof=1) for m in made])
        best = int(means.argmax())
        others = np.arange(num_arms) != best
        ratios = np.zeros(num_arms)
        ratios[others] = variances[others] / (means[best] - means[others]) ** 2
        ratios[best] = math.sqrt(variances[best] * np.sum(ratios[others] ** 2 / variances[others]))
        lag = (step + 1) * ratios / ratios.sum() - [len(m) for m in made]
        arm = played.arms[step]
        assert lag[arm] == pytest.approx(lag.max(), rel=1e-9)
        made[arm].append(rewards[arm][len(made[arm])])
    assert played.recommendation == int(np.argmax([np.mean(m) for m in made]))


def test_parameters_out_of_range() -> None:
    with pytest.raises(ParameterError, match="n0 of OCBA must be at least 2, for a variance, not 1"):
        OCBA(n0=1).reset(ProblemInfo(3, 20))
