"""APT, LSA, UCBE-T and UCBEV-T for thresholding: exploration, indices and pulls by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bai_gym.agents import APT, LSA, ThresholdUCBE, ThresholdUCBEV
from bai_gym.agents.thresholding.apt import UCBEState, bernstein_index
from bai_gym.bandits import GaussianBandit
from bai_gym.errors import BudgetError
from bai_gym.problems import ProblemInfo
from bai_gym.tasks import Thresholding

Play = Callable[..., Any]
HALF = Thresholding(0.5)


def begun(agent: Any, budget: int, variances: Any = 0.0, **options: Any) -> Any:
    truth = GaussianBandit([0.75, 0.25], variances)  # gaps of 1/4: H_1 = 16 + 16
    agent.reset(ProblemInfo(2, budget, task=HALF, truth=truth, knows=agent.knows), np.random.default_rng(0))
    return agent


@pytest.mark.parametrize(
    ("agent", "variance", "exploration"),
    [
        (ThresholdUCBE(), 0.0, 32 / 32),  # (34 - 2) / H_1
        (ThresholdUCBE(c=4.0), 0.0, 4.0),
        # H_sigma,1 = 2 sqrt(16/3 x 1/4) x 16 = 32 x 1.154701 = 36.9504; with sigma 1: 32 (1 + sqrt(1 + 4/3)) = 80.8808.
        (ThresholdUCBEV(), 0.0, 30 / 36.9504),
        (ThresholdUCBEV(), 1.0, 30 / 80.8808),
        # Squared: 32 x 4/3; 32 x (1 + 1.5275252)^2 = 204.4283. 8/9 of n - 2 K.
        (ThresholdUCBEV(index="bernstein"), 1.0, 8 / 9 * 30 / 204.4283),
        (ThresholdUCBEV(index="bernstein", a=0.25), 1.0, 0.25),
    ],
)
def test_exploration_by_hand(agent: Any, variance: float, exploration: float) -> None:
    assert begun(agent, 34, variance).exploration.tolist() == pytest.approx([exploration], rel=3e-6)


def test_an_arm_at_the_threshold_leaves_no_exploration() -> None:
    for agent in (ThresholdUCBE(), ThresholdUCBEV(), ThresholdUCBEV(index="bernstein")):
        truth = GaussianBandit([0.5, 0.25, 0.75])
        agent.reset(ProblemInfo(3, 60, task=HALF, truth=truth, knows=agent.knows))
        assert agent.exploration.tolist() == [0.0]


def test_budgets_that_the_explorations_need() -> None:
    with pytest.raises(BudgetError, match="budget 3 is below the minimum of UCBEV-T for 2 arms: give at least 4"):
        begun(ThresholdUCBEV(), 3)
    assert begun(ThresholdUCBEV(allow_small_budget=True), 3).exploration.tolist() == [0.0]
    assert begun(ThresholdUCBE(), 2).exploration.tolist() == [0.0]


def test_apt_by_hand(trace: Play) -> None:
    # epsilon 0.1, distances 0 and 0.39: 0.1 sqrt T against 0.49, which 24 pulls do not reach (0.4899), and 25 do (0.5).
    # Then 0.49 sqrt 2 = 0.693 against 0.1 sqrt T: arm 0 again.
    played = trace(APT(epsilon=0.1, tie="first"), [[0.5], [0.89]], 28, task=HALF)
    assert played.arms == [0, 1, *[0] * 24, 1, 0]
    assert played.recommendation == [1, 1]  # a mean of exactly the threshold is in


def test_lsa_by_hand(trace: Play) -> None:
    # Distances 0.1 and 0.4: 0.01 T + log(T) / 2 against 0.16 T + log(T) / 2. Arm 0: 0.01, 0.367, 0.579, 0.733; arm 1:
    # 0.16, 0.667, 1.029.
    played = trace(LSA(tie="first"), [[0.6], [0.1]], 8, task=HALF)
    assert played.arms == [0, 1, 0, 1, 0, 0, 1, 0] and played.recommendation == [1, 0]


def test_ucbe_by_hand(trace: Play) -> None:
    # a = (34 - 2) / 32 = 1. sqrt(1/T) - distance, distances 0.25 and 0.05. Arm 0 at T = 1, 2, 3: 0.75, 0.457, 0.327;
    # arm 1 at T = 1, ..., 8: 0.95, 0.657, 0.527, 0.45, 0.397, 0.358, 0.328, 0.304. The largest comes next.
    played = trace(ThresholdUCBE(tie="first"), [[0.75], [0.45]], 34, means=[0.75, 0.25], task=HALF)
    assert played.arms[:12] == [0, 1, 1, 0, 1, 1, 0, 1, 1, 1, 1, 0]
    assert played.recommendation == [1, 0]


def test_the_index_with_sample_variances_by_hand() -> None:
    # sqrt(2 x 1/4 x 1/2 / 2) = 0.353553, 7/3 x 1/4 = 0.583333, and the mean is 1/4 away.
    state, _ = UCBEState.of(threshold=0.5, a=0.25)
    for mean in (0.25, 0.75):
        assert bernstein_index(2.0, mean, 0.5, state) == pytest.approx(0.686887, abs=1e-6)
