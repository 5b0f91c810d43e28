"""The instances of Mukherjee et al. (2017), against the numbers of the paper."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from bai_gym.errors import UnknownNameError
from bai_gym.problems import ThresholdingProblem
from bai_gym.problems.thresholding import THRESHOLDING_SETUPS
from bai_gym.theory import threshold_h1, threshold_h2, threshold_sigma_h1

# 0.4 - 0.2^i and 0.6 + 0.2^(5-i), i = 1, ..., 4.
FIRST_TEN = {
    "Arithmetic": [0.2, 0.25, 0.3, 0.35, 0.45, 0.55, 0.65, 0.7, 0.75, 0.8],
    "Geometric": [0.2, 0.36, 0.392, 0.3984, 0.45, 0.55, 0.6016, 0.608, 0.64, 0.8],
    "ThreeGroups": [0.1, 0.1, 0.1, 0.35, 0.45, 0.55, 0.65, 0.9, 0.9, 0.9],
    "TwoGroups": [0.45] * 5 + [0.55] * 5,
    "Advanced": [0.45] * 5 + [0.55] * 5,
}
# H_1 by hand for the two groups: 10 / 0.05^2 + 90 / 0.1^2 = 13000.
H_1 = {"Arithmetic": 9993.11, "Geometric": 10289.48, "ThreeGroups": 9926.39, "TwoGroups": 13000, "Advanced": 13000}


@pytest.mark.each("setup", THRESHOLDING_SETUPS)
def test_instances_are_those_of_the_paper(setup: str) -> None:
    bandit = ThresholdingProblem(setup).draw(50, np.random.default_rng(0))
    assert (bandit.batch, bandit.num_arms) == (50, 100)
    np.testing.assert_allclose(bandit.means, np.tile([*FIRST_TEN[setup], *[0.4] * 90], (50, 1)))
    below, above, low, high = (0.3, 0.8, 0.2, 0.3) if setup == "Advanced" else (0.5, 0.6, 0.38, 0.42)
    assert (bandit.variances[:, :5] == below).all() and (bandit.variances[:, 5:10] == above).all()
    rest = bandit.variances[:, 10:]
    assert low <= rest.min() < low + 0.01 * (high - low) and high - 0.01 * (high - low) < rest.max() <= high
    assert len(np.unique(rest)) == rest.size  # fresh in every instance
    np.testing.assert_allclose(threshold_h1(bandit.means, 0.5), H_1[setup], rtol=1e-6)
    np.testing.assert_allclose(threshold_h2(bandit.means, 0.5), 10000 if H_1[setup] == 13000 else 9200, rtol=1e-6)
    expected = {"Arithmetic": 16088.6, "TwoGroups": 20963.4, "Advanced": 18921.0}
    if setup in expected:  # at the middle of the variances' range
        middle = np.where(np.arange(100) < 10, bandit.variances[0], 0.5 * (low + high))
        np.testing.assert_allclose(threshold_sigma_h1(bandit.means[0], middle, 0.5), expected[setup], rtol=1e-5)


@pytest.mark.each("setup", THRESHOLDING_SETUPS)
def test_numbers_as_deviations_and_as_in_the_authors_program(setup: str) -> None:
    text, deviations, code = (
        ThresholdingProblem(setup, spread=spread).draw(50, np.random.default_rng(0))
        for spread in ("variance", "deviation", "code")
    )
    np.testing.assert_allclose(deviations.variances, text.variances**2)
    np.testing.assert_array_equal(deviations.means, text.means)
    np.testing.assert_allclose(code.variances[:, :10], text.variances[:, :10] ** 2)
    low, high = (0.04, 0.09) if setup == "Advanced" else (0.09, 0.16)
    assert low <= code.variances[:, 10:].min() < 1.01 * low and 0.99 * high < code.variances[:, 10:].max() <= high
    arms = code.means[0, :10]
    if setup == "Arithmetic":  # 0.6 + (0, ..., 3) 0.05 above the threshold, where the text has 0.65
        assert arms.tolist() == [*FIRST_TEN[setup][:6], 0.6, 0.65, 0.7, 0.75]
    else:
        assert arms.tolist() == FIRST_TEN[setup]


@pytest.mark.each("setup", THRESHOLDING_SETUPS)
def test_ids_ask_for_the_five_arms_above_one_half(setup: str) -> None:
    env: Any = gym.make(f"BAI-Thresholding100-{setup}-v0", shuffle=False).unwrapped
    env.reset(seed=0)
    task = env.problem_info().task  # agents are given the threshold
    assert (env.budget, task.name, task.threshold, task.epsilon) == (10_000, "thresholding", 0.5, 0.0)
    answer = task.correct_recommendation(env.problem_info({"complexity"}).means)
    assert np.flatnonzero(answer[0]).tolist() == [5, 6, 7, 8, 9]


def test_an_unknown_setup_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="allowed: Arithmetic, Geometric, ThreeGroups, TwoGroups, Advanced"):
        ThresholdingProblem("Harmonic")
