"""What is asked for: answers, simple regrets, what counts as right, and what is no recommendation."""

from __future__ import annotations

import math
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from bai_gym.errors import AgentError, ParameterError, UnknownNameError
from bai_gym.tasks import TASKS, AllWithin, BestArm, BestOfEach, GoodArm, Task, Thresholding, TopM, make_task

MEANS = np.array([[0.1, 0.9, 0.4], [2.0, -1.0, 2.0]])
FOUR = np.array([[0.2, 0.9, 0.5, 0.7], [0.5, 0.5, 0.9, 0.5]])  # a row without ties at the border, and one with


# ------------------------------------------------------------------------------------------------ one arm


def test_the_best_arm_by_hand() -> None:
    task = BestArm()
    assert task.correct_recommendation(MEANS).tolist() == [1, 0]  # the first of the best
    assert task.correct_recommendation(MEANS[0]).item() == 1
    np.testing.assert_allclose(task.simple_regret(MEANS, np.array([2, 1])), [0.5, 3.0], rtol=1e-15)
    assert task.correct(MEANS, np.array([1, 2])).tolist() == [True, True]  # any of the best is right
    assert task.correct(MEANS, np.array([0, 1])).tolist() == [False, False]


# ------------------------------------------------------------------------------------------------ several arms


@pytest.mark.each(
    ("m", "sets"),
    [(1, [[0, 1, 0, 0], [0, 0, 1, 0]]), (2, [[0, 1, 0, 1], [1, 0, 1, 0]]), (3, [[0, 1, 1, 1], [1, 1, 1, 0]])],
)
def test_the_m_best_arms_the_lowest_of_tied_ones(m: int, sets: list[list[int]]) -> None:
    task = TopM(m)
    assert task.correct_recommendation(FOUR).tolist() == sets
    assert task.correct_recommendation(FOUR[0]).tolist() == sets[0]
    assert not task.simple_regret(FOUR, task.correct_recommendation(FOUR)).any()
    assert task.correct(FOUR, task.correct_recommendation(FOUR)).all()


@pytest.mark.each(
    ("arms", "regrets", "right"),
    # Second best means: 0.7 and 0.5. Order within a set does not count, and any of the tied arms is right.
    [
        ([1, 3], [0.0, 0.0], [True, True]),
        ([2, 3], [0.2, 0.0], [False, True]),
        ([0, 1], [0.5, 0.0], [False, True]),
    ],
)
def test_the_worst_arm_of_a_set_counts(arms: list[int], regrets: list[float], right: list[bool]) -> None:
    sets = np.zeros((2, 4), np.int64)
    sets[:, arms] = 1
    np.testing.assert_allclose(TopM(2).simple_regret(FOUR, sets), regrets, atol=1e-15)
    assert TopM(2).correct(FOUR, sets).tolist() == right
    assert TopM(2).arms(sets[0], 4) == tuple(arms)
    assert TopM(2).first_arm(sets, 4).tolist() == [arms[0]] * 2


def test_one_arm_of_each_bandit_by_hand() -> None:
    task = BestOfEach(2)
    assert task.correct_recommendation(FOUR).tolist() == [[1, 1], [0, 0]]
    assert task.correct_recommendation(FOUR[0]).tolist() == [1, 1]
    for arms, regrets in (
        ([1, 1], [0.0, 0.4]),
        ([0, 1], [0.7, 0.4]),
        ([1, 0], [0.2, 0.0]),
        ([0, 0], [0.7, 0.0]),  # the larger of 0.7 and 0.2
    ):
        recommendation = np.array([arms, arms])
        np.testing.assert_allclose(task.simple_regret(FOUR, recommendation), regrets, atol=1e-15)
        assert task.correct(FOUR, recommendation).tolist() == [regret == 0 for regret in regrets]
    assert task.arms(np.array([1, 0]), 4) == (1, 2)
    assert task.first_arm(np.array([[1, 0], [0, 1]]), 4).tolist() == [1, 0]
    assert BestOfEach(3).arms(np.array([0, 3, 2]), 12) == (0, 7, 10)


def test_arms_above_a_threshold_by_hand() -> None:
    task = Thresholding(0.5)
    assert task.correct_recommendation(FOUR).tolist() == [[0, 1, 1, 1], [1, 1, 1, 1]]  # 0.5 itself is in
    assert task.correct_recommendation(FOUR[0]).tolist() == [0, 1, 1, 1]
    for arms, regrets, right in (
        ([0, 1, 1, 1], [0.0, 0.0], [True, False]),  # an arm at the threshold left out: wrong, at no regret
        ([1, 1, 1, 1], [0.3, 0.0], [False, True]),
        ([0, 0, 0, 0], [0.4, 0.4], [False, False]),
        ([1, 0, 1, 1], [0.4, 0.0], [False, False]),  # the larger of 0.3 and 0.4
    ):
        recommendation = np.array([arms, arms])
        np.testing.assert_allclose(task.simple_regret(FOUR, recommendation), regrets, atol=1e-15)
        assert task.correct(FOUR, recommendation).tolist() == right
    assert task.arms(np.array([0, 1, 0, 1]), 4) == (1, 3)
    assert task.arms(np.zeros(4, np.int64), 4) == ()
    assert task.first_arm(np.array([[0, 0, 1, 1], [0, 0, 0, 0]]), 4).tolist() == [2, 0]


# ------------------------------------------------------------------------------------------------ accuracy


def test_epsilon_forgives_arms_close_to_the_threshold() -> None:
    # 0.55 - 0.5 is 0.050000000000000044, 0.5 - 0.45 is 0.04999999999999999.
    means = np.array([0.45, 0.55, 0.44, 0.56])
    for recommendation, right in (
        ([1, 0, 0, 1], True),
        ([1, 0, 1, 1], False),
        ([1, 0, 0, 0], False),
        ([0, 1, 0, 1], True),
    ):
        assert Thresholding(0.5, 0.05).correct(means, np.array(recommendation)).item() == right
    assert not Thresholding(0.5, 0.0499).correct(means, np.array([1, 1, 0, 1])).item()


@pytest.mark.each("task", [BestArm, lambda e: TopM(1, e), lambda e: BestOfEach(1, e)])
@pytest.mark.each(
    ("best", "other", "epsilon", "right"),
    [
        (0.8, 0.7, 0.1, True),  # 0.8 - 0.7 is 0.10000000000000009
        (0.8, 0.7, 0.0999, False),
        (0.8, 0.7, 0.0, False),
        (1e9 + 1, 1e9, 1.0, True),
        (0.5, 0.5 - 1e-12, 0.0, False),  # without an accuracy there is no slack
    ],
)
def test_a_regret_of_epsilon_is_right(task: Any, best: float, other: float, epsilon: float, right: bool) -> None:
    made: Task = task(epsilon)
    means = np.array([[best, other]])
    recommendation = {"best-arm": np.array([1]), "top-m": np.array([[0, 1]]), "best-of-each": np.array([[1]])}[
        made.name
    ]
    assert made.correct(means, recommendation).tolist() == [right]
    assert made.simple_regret(means, recommendation).tolist() == [
        best - other
    ]  # the accuracy does not enter the regret
    assert made.correct(means, made.correct_recommendation(means)).all()


def test_epsilon_counts_for_every_arm_of_a_set() -> None:
    means = np.array([1.0, 0.9, 0.85, 0.5])
    sets = np.array([[1, 0, 1, 0], [0, 1, 1, 0], [1, 0, 0, 1]])
    assert TopM(2, 0.05).correct(np.tile(means, (3, 1)), sets).tolist() == [True, True, False]
    assert BestOfEach(2, 0.35).correct(means, np.array([1, 1])).item()
    assert not BestOfEach(2, 0.34).correct(means, np.array([1, 1])).item()


# ------------------------------------------------------------------------------------------------ forms


@pytest.mark.each(
    ("task", "recommendation", "batch", "expected"),
    [
        (TopM(2), [[1, 0, 1], [0, 1, 1]], 2, [[1, 0, 1], [0, 1, 1]]),
        (TopM(2), np.array([[True, False, True]]), 1, [[1, 0, 1]]),
        (Thresholding(0.5), [[0, 0, 0], [1, 1, 1]], 2, [[0, 0, 0], [1, 1, 1]]),
        (BestOfEach(1), [2], 1, [[2]]),
    ],
)
def test_forms_of_a_recommendation(task: Task, recommendation: Any, batch: int, expected: Any) -> None:
    checked = task.check(recommendation, batch, 3)
    assert (checked.dtype, checked.tolist()) == (np.int64, expected)


@pytest.mark.each(
    ("task", "recommendation"),
    [
        *((BestArm(), wrong) for wrong in ([0, 6], [-1, 0], [0], [0.0, 1.0], [True, False], None)),
        (TopM(2), [[1, 1, 1, 0, 0, 0], [1, 1, 0, 0, 0, 0]]),
        (TopM(2), [[2, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0]]),
        (TopM(2), [0, 1]),  # arms, not a set
        (TopM(2), [[1.0, 1.0, 0.0, 0.0, 0.0, 0.0]] * 2),
        (TopM(2), [[1, 1, 0], [1]]),
        (Thresholding(0.5), [[2, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0]]),
        *((BestOfEach(2), wrong) for wrong in ([[0, 3], [0, 0]], [[0, 0], [-1, 0]], [[0], [1]], [0, 1])),
    ],
)
def test_what_is_no_recommendation(task: Task, recommendation: Any) -> None:
    for error in (AgentError, ParameterError):
        with pytest.raises(error, match="^recommend"):
            task.check(recommendation, 2, 6, error=error)


# ------------------------------------------------------------------------------------------------ keywords


@pytest.mark.each(
    ("keywords", "expected"),
    [
        ({"task": "best-arm", "epsilon": 0.1}, "BestArm(epsilon=0.1)"),
        ({"task": "top-m", "m": 3}, "TopM(m=3)"),
        ({"task": "best-of-each", "num_bandits": 2}, "BestOfEach(num_bandits=2)"),
        ({"task": "thresholding", "threshold": 0}, "Thresholding(threshold=0.0)"),
        ({"task": "thresholding", "threshold": -1.5, "epsilon": 0.1}, "Thresholding(epsilon=0.1, threshold=-1.5)"),
        ({"task": "all-within", "epsilon": 0.2}, "AllWithin(epsilon=0.2)"),
        ({"task": TopM(2, 0.5)}, "TopM(epsilon=0.5, m=2)"),
    ],
)
def test_tasks_by_name(keywords: dict[str, Any], expected: str) -> None:
    assert repr(make_task(num_arms=4, **keywords)) == expected


TOP: dict[str, Any] = {"task": "top-m"}
EACH: dict[str, Any] = {"task": "best-of-each"}


@pytest.mark.each(
    ("keywords", "named"),
    [
        *(({"epsilon": value}, "epsilon") for value in (-0.1, math.nan, "0.1", True)),
        *(({"task": "thresholding", "threshold": value}, "threshold") for value in (math.nan, "0.5")),
        ({"task": "thresholding"}, "threshold"),
        ({"task": "good-arm"}, "threshold"),
        ({"task": "all-within"}, "epsilon"),
        ({"threshold": 0.5}, "threshold"),
        *(({**TOP, "m": value}, "m") for value in (0, 1.0, True, 4)),
        ({"task": TopM(4)}, "m"),
        (TOP, "m"),
        (EACH, "num_bandits"),
        *(({**EACH, "num_bandits": value}, "num_bandits") for value in (0, 2.0, 3, 4)),
        ({"task": BestOfEach(3)}, "num_bandits"),
        ({"m": 2}, "m"),
        ({**TOP, "m": 2, "num_bandits": 2}, "num_bandits"),
        ({"task": TopM(2), "m": 2}, "m"),
        ({"task": BestArm(), "epsilon": 0.0}, "epsilon"),
    ],
)
def test_keywords_of_tasks_are_checked(keywords: dict[str, Any], named: str) -> None:
    with pytest.raises(ParameterError, match=rf"\b{named}\b"):
        make_task(**{"task": "best-arm", "num_arms": 4, **keywords})
    with pytest.raises(ParameterError, match=rf"\b{named}\b"):
        gym.make("BAI-Custom-v0", **keywords)


def test_a_good_arm_or_none() -> None:
    means = np.array(
        [[0.2, 0.7, 0.5], [0.2, 0.7, 0.5], [0.2, 0.7, 0.5], [0.2, 0.7, 0.5], [0.1, 0.3, 0.4], [0.1, 0.5, 0.4]]
    )
    answers = np.array([[0], [1], [2], [3], [3], [3]])
    task = make_task("good-arm", num_arms=3, threshold=0.5)
    assert task.correct_recommendation(means)[:, 0].tolist() == [1, 1, 1, 1, 3, 1]
    np.testing.assert_allclose(task.simple_regret(means, answers), [0.3, 0.0, 0.0, 0.2, 0.0, 0.0], atol=1e-15)
    # Arms at the threshold are good, so that none is wrong where one has just that mean.
    assert task.correct(means, answers).tolist() == [False, True, True, False, True, False]
    assert GoodArm(0.5, 0.2).correct(means, answers).tolist() == [False, True, True, True, True, True]
    assert [task.arms(one, 3) for one in answers] == [(0,), (1,), (2,), (), (), ()]
    assert task.first_arm(answers, 3).tolist() == [0, 1, 2, 0, 0, 0] and task.sizes(3) == (4,)
    assert task.describe() == "an arm with a mean of at least 0.5, or none if there is no such arm"
    assert repr(GoodArm(0.5)) == "GoodArm(threshold=0.5)"
    for wrong in ([[4]], [[-1]], [3], [[0.5]], [[0, 1]]):
        with pytest.raises(AgentError, match="^recommend"):
            task.check(wrong if wrong != [3] else [[3, 3], [1]], 1, 3)


def test_an_unknown_task_suggests_the_nearest() -> None:
    assert set(TASKS) >= {"best-arm", "top-m", "best-of-each", "thresholding", "good-arm", "all-within"}
    with pytest.raises(UnknownNameError, match="unknown task 'topm'. Did you mean top-m"):
        make_task("topm", num_arms=4)


def test_sets_are_completed_by_the_largest_means() -> None:
    sets = np.array([[0, 0, 0, 0], [1, 1, 1, 1], [1, 0, 0, 0], [1, 0, 0, 1], [1, 1, 0, 1]])
    means = np.tile([0.2, 0.9, 0.5, 0.4], (5, 1))
    before = sets.copy()
    whole = TopM(2).completed(sets, means)
    assert whole.tolist() == [[0, 1, 1, 0], [0, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 1], [0, 1, 0, 1]]
    np.testing.assert_array_equal(sets, before)
    assert TopM(2).completed(sets[:0], means[:0]).shape == (0, 4)


# ------------------------------------------------------------------------------------------------ contrasts

STATED: list[Task] = [
    *(BestArm(epsilon) for epsilon in (0.0, 0.2)),
    *(TopM(2, epsilon) for epsilon in (0.0, 0.2)),
    *(BestOfEach(2, epsilon) for epsilon in (0.0, 0.2)),
    *(Thresholding(0.5, epsilon) for epsilon in (0.0, 0.2)),
    *(GoodArm(threshold, epsilon) for threshold in (0.5, 0.8) for epsilon in (0.0, 0.2)),
    AllWithin(0.2),
]


@pytest.mark.each("task", STATED)
def test_an_answer_is_wrong_only_if_one_of_its_contrasts_is_overturned(task: Task) -> None:
    rng = np.random.default_rng(0)
    for sample in rng.random((300, 6)):
        c, answer = task.contrasts_at(sample), task.correct_recommendation(sample)
        assert c.first.size <= task.most_contrasts(6)
        assert (c.gaps(sample) >= 0).all() and task.correct(sample, answer)
        others = rng.random((200, 6))
        against, right = c.gaps(others) < 0, task.correct(others, np.tile(answer, (200, *[1] * answer.ndim)))
        wrong = ~right
        assert not (wrong & ~against.any(axis=1)).any(), (task, sample)
        # Several arms may keep another out of a set, and with epsilon a set may miss the best arm.
        if not (isinstance(task, AllWithin) or (isinstance(task, TopM) and task.epsilon)):
            assert not (right & against.any(axis=1)).any(), (task, sample)


@pytest.mark.each("task", STATED)
def test_at_most_so_many_contrasts_are_overturned_most_by_the_same_means(task: Task) -> None:
    rng = np.random.default_rng(1)
    for true in rng.random((20, 6)):  # U is about one vector of true means, and all wrong answers to it
        found = set()
        for sample in rng.random((500, 6)):
            c = task.contrasts_at(sample)
            k = int(c.gaps(true).argmin())
            if not task.correct(true, task.correct_recommendation(sample)):
                found.add((int(c.first[k]), int(c.second[k]), float(c.offset[k])))
        assert len(found) <= task.overturned(6), (task, true, len(found))


def test_a_task_without_contrasts_says_so() -> None:
    class Silent(BestArm):
        contrasts = None

    with pytest.raises(ParameterError, match="states no contrasts"):
        Silent().contrasts_at(FOUR[0])
