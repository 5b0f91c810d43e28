"""The best arm: ties, batches, and what counts as right."""

from __future__ import annotations

import numpy as np

from bai_gym.tasks import BestArm

MEANS = np.array([[0.1, 0.9, 0.4], [2.0, -1.0, 2.0]])


def test_answer_is_the_first_of_the_best() -> None:
    assert BestArm().answer(MEANS).tolist() == [1, 0]
    assert BestArm().answer(MEANS[0]).item() == 1


def test_simple_regret_is_the_best_mean_minus_the_chosen_one() -> None:
    np.testing.assert_allclose(BestArm().simple_regret(MEANS, np.array([2, 1])), [0.5, 3.0], rtol=1e-15)
    assert BestArm().simple_regret(MEANS[0], np.array(0)).item() == 0.8


def test_any_of_several_best_arms_is_right() -> None:
    assert BestArm().correct(MEANS, np.array([1, 2])).tolist() == [True, True]
    assert BestArm().correct(MEANS, np.array([0, 1])).tolist() == [False, False]
