"""Uniform allocation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare
from typing_extensions import override

from bai_gym import evaluate
from bai_gym.agents import Uniform
from bai_gym.bandits import GaussianBandit
from bai_gym.envs.scalar import BestArmEnv
from bai_gym.problems import FixedProblem, ProblemInfo
from bai_gym.tasks import BestArm

LEVEL = 0.001
RUNS = 20_000


def allocation(agent: Uniform, num_arms: int, budget: int) -> np.ndarray:
    agent.reset(ProblemInfo(num_arms, budget, RUNS), np.random.default_rng(0))
    return np.asarray(next(agent.start({})).counts)


def test_round_robin_by_hand(trace: Callable[..., Any]) -> None:
    played = trace(Uniform(tie="first"), [[1.0], [3.0], [2.0]], 8)
    assert played.arms == [0, 1, 2, 0, 1, 2, 0, 1]
    assert (played.idle, played.recommendation) == ([], 1)


def test_which_arms_get_one_more_is_random() -> None:
    counts = allocation(Uniform(), 4, 21)
    assert set(np.unique(counts)) == {5, 6}
    assert chisquare((counts == 6).sum(axis=0)).pvalue > LEVEL / 3  # one of four arms in each run


def test_random_mode_is_multinomial() -> None:
    counts = allocation(Uniform(mode="random"), 4, 21)
    assert (counts.sum(axis=1) == 21).all()
    assert counts.mean(axis=0) == pytest.approx(np.full(4, 21 / 4), abs=0.07)  # five standard errors
    np.testing.assert_allclose(np.cov(counts.T), 21 / 16 * (4 * np.eye(4) - 1), atol=0.2)


def test_random_mode_can_leave_an_arm_without_a_pull(trace: Callable[..., Any]) -> None:
    # The arms paid -1; one without a pull has the mean 0 in the observation, and must not win.
    for seed in range(40):
        played = trace(Uniform(mode="random"), [[-1.0]] * 4, 4, seed=seed)
        assert played.recommendation in played.arms


def test_it_plays_a_task_that_is_given_as_an_object() -> None:
    class WorstArm(BestArm):
        name = "worst-arm"

        @override
        def correct_recommendation(self, means: Any) -> Any:
            return means.argmin(axis=-1)

        @override
        def simple_regret(self, means: Any, recommendation: Any) -> Any:
            return np.take_along_axis(means, recommendation[..., None], -1)[..., 0] - means.min(axis=-1)

    env = BestArmEnv(FixedProblem(GaussianBandit([[0.0, 3.0]], 1.0)), 20, task=WorstArm())
    assert evaluate("Uniform", env, budget=20, runs=50).errors == 0
