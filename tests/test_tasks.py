"""The best arm: ties, batches, and what counts as right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bai_gym.errors import AgentError
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


@pytest.mark.parametrize(
    ("arms", "batch"), [([0, 2], 2), (np.array([0, 2], np.int8), 2), (2, 1), (np.int64(2), 1), ([2], 1)]
)
def test_forms_of_an_arm(arms: Any, batch: int) -> None:
    checked = BestArm().check(arms, batch, 3)
    assert checked.dtype == np.int64
    assert checked.tolist() == np.atleast_1d(arms).tolist()


@pytest.mark.parametrize(
    ("arms", "message"),
    [
        ([0, 3], "recommend: arm 3 does not exist; arms are numbered 0 to 2"),
        ([-1, 0], "recommend: arm -1 does not exist"),
        ([0], r"recommend must be 2 whole number\(s\), one arm per episode, not \[0\]"),
        (1, "recommend must be 2 whole"),
        ([0.0, 1.0], "recommend must be 2 whole"),
        ([True, False], "recommend must be 2 whole"),
        (None, "recommend must be 2 whole"),
        ([[0], [1, 2]], "recommend must be 2 whole"),
    ],
)
def test_what_is_no_arm(arms: Any, message: str) -> None:
    with pytest.raises(AgentError, match=message):
        BestArm().check(arms, 2, 3)
