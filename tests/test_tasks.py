"""What is asked for: answers, simple regrets, what counts as right, and what is no recommendation."""

from __future__ import annotations

import math
import re
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bai_gym.errors import AgentError, ParameterError, UnknownNameError
from bai_gym.tasks import TASKS, BestArm, BestOfEach, GoodArm, Task, Thresholding, TopM, make_task

MEANS = np.array([[0.1, 0.9, 0.4], [2.0, -1.0, 2.0]])
FOUR = np.array([[0.2, 0.9, 0.5, 0.7], [0.5, 0.5, 0.9, 0.5]])  # a row without ties at the border, and one with


# ------------------------------------------------------------------------------------------------ one arm


def test_answer_is_the_first_of_the_best() -> None:
    assert BestArm().correct_recommendation(MEANS).tolist() == [1, 0]
    assert BestArm().correct_recommendation(MEANS[0]).item() == 1


def test_simple_regret_is_the_best_mean_minus_the_chosen_one() -> None:
    np.testing.assert_allclose(BestArm().simple_regret(MEANS, np.array([2, 1])), [0.5, 3.0], rtol=1e-15)
    assert BestArm().simple_regret(MEANS[0], np.array(0)).item() == 0.8


def test_any_of_several_best_arms_is_right() -> None:
    assert BestArm().correct(MEANS, np.array([1, 2])).tolist() == [True, True]
    assert BestArm().correct(MEANS, np.array([0, 1])).tolist() == [False, False]


@pytest.mark.each(("arms", "batch"), [([0, 2], 2), (np.array([0, 2], np.int8), 2), (2, 1), (np.int64(2), 1), ([2], 1)])
def test_forms_of_an_arm(arms: Any, batch: int) -> None:
    checked = BestArm().check(arms, batch, 3)
    assert checked.dtype == np.int64
    assert checked.tolist() == np.atleast_1d(arms).tolist()


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
        ([1, 2], [0.2, 0.0], [False, True]),
    ],
)
def test_the_worst_arm_of_a_set_counts(arms: list[int], regrets: list[float], right: list[bool]) -> None:
    sets = np.zeros((2, 4), np.int64)
    sets[:, arms] = 1
    np.testing.assert_allclose(TopM(2).simple_regret(FOUR, sets), regrets, atol=1e-15)
    assert TopM(2).correct(FOUR, sets).tolist() == right
    assert TopM(2).arms(sets[0], 4) == tuple(arms)
    assert TopM(2).first_arm(sets, 4).tolist() == [arms[0]] * 2


@given(st.lists(st.integers(-5, 5), min_size=2, max_size=6), st.data())
def test_no_set_is_better_than_the_answer_and_m_of_1_is_the_best_arm(means: list[int], data: Any) -> None:
    m = data.draw(st.integers(1, len(means) - 1))
    arms = data.draw(st.permutations(range(len(means))))[:m]
    chosen = np.zeros(len(means), np.int64)
    chosen[arms] = 1
    values = np.array(means, float)
    # By the definition: how much the m-th best is better than each arm of the set, the largest of it.
    regret = max(sorted(means)[-m] - means[arm] for arm in arms)
    assert TopM(m).simple_regret(values, chosen).item() == regret
    assert regret >= 0
    assert TopM(m).correct(values, chosen).item() == (regret == 0)
    assert TopM(m).simple_regret(values, TopM(m).correct_recommendation(values)).item() == 0
    if m == 1:
        assert regret == BestArm().simple_regret(values, np.array(arms[0])).item()


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


def test_one_bandit_is_the_best_arm() -> None:
    means = np.random.default_rng(0).random((50, 5))
    arms = np.random.default_rng(1).integers(5, size=50)
    one, other = BestOfEach(1), BestArm()
    np.testing.assert_array_equal(one.correct_recommendation(means)[:, 0], other.correct_recommendation(means))
    np.testing.assert_array_equal(one.simple_regret(means, arms[:, None]), other.simple_regret(means, arms))


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


@pytest.mark.each(("threshold", "in_it"), [(-1e300, 1), (0.0, 1), (1.0, 0), (1e300, 0)])
def test_a_threshold_outside_of_all_means_has_an_empty_or_full_answer(threshold: float, in_it: int) -> None:
    task = Thresholding(threshold)
    assert (task.correct_recommendation(FOUR) == in_it).all()
    assert task.correct(FOUR, np.full((2, 4), in_it)).all()
    assert not task.correct(FOUR, np.full((2, 4), 1 - in_it)).any()


@given(
    st.lists(st.integers(-5, 5), min_size=2, max_size=6),
    st.integers(-6, 6),
    st.integers(0, 4),
    st.data(),
)
def test_a_set_is_right_if_every_arm_is_or_is_close(means: list[int], threshold: int, epsilon: int, data: Any) -> None:
    chosen = data.draw(st.lists(st.integers(0, 1), min_size=len(means), max_size=len(means)))
    task, values, recommendation = Thresholding(threshold, epsilon), np.array(means, float), np.array(chosen)
    # By the definition, arm by arm.
    wrong = [mean for mean, inside in zip(means, chosen, strict=True) if (mean >= threshold) != bool(inside)]
    assert task.simple_regret(values, recommendation).item() == max(
        (abs(mean - threshold) for mean in wrong), default=0
    )
    forgiven = [mean for mean in wrong if epsilon > 0 and abs(mean - threshold) <= epsilon]
    assert task.correct(values, recommendation).item() == (len(forgiven) == len(wrong))
    assert task.correct(values, task.correct_recommendation(values)).item()
    assert set(task.arms(recommendation, len(means))) == {arm for arm, inside in enumerate(chosen) if inside}


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
        (0.3, 0.2, 0.1, True),  # 0.09999999999999998
        (0.8, 0.7, 0.0999, False),
        (0.8, 0.7, 0.0, False),
        (1e9 + 1, 1e9, 1.0, True),
        (0.5, 0.5, 0.0, True),
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
        (TopM(2), [1, 0, 1], 1, [[1, 0, 1]]),
        (TopM(2), np.array([[True, False, True]]), 1, [[1, 0, 1]]),
        (TopM(2), np.array([1, 0, 1], np.uint8), 1, [[1, 0, 1]]),
        (Thresholding(0.5), [[0, 0, 0], [1, 1, 1]], 2, [[0, 0, 0], [1, 1, 1]]),
        (Thresholding(0.5), np.array([False, False, True]), 1, [[0, 0, 1]]),
        (BestOfEach(1), [[2], [0]], 2, [[2], [0]]),
        (BestOfEach(1), [2], 1, [[2]]),
    ],
)
def test_forms_of_a_recommendation(task: Task, recommendation: Any, batch: int, expected: Any) -> None:
    checked = task.check(recommendation, batch, 3)
    assert (checked.dtype, checked.tolist()) == (np.int64, expected)


@pytest.mark.each(
    ("task", "recommendation"),
    [
        *((BestArm(), wrong) for wrong in ([0, 6], [-1, 0], [0], 1, [0.0, 1.0], [True, False], None, [[0], [1, 2]])),
        (TopM(2), [[1, 1, 1, 0, 0, 0], [1, 1, 0, 0, 0, 0]]),
        (TopM(2), [[2, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0]]),
        (TopM(2), [[3, -1, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0]]),
        (TopM(2), [0, 1]),  # arms, not a set
        (TopM(2), [1, 1, 0, 0, 0, 0]),  # one set for two episodes
        (TopM(2), [[1.0, 1.0, 0.0, 0.0, 0.0, 0.0]] * 2),
        (TopM(2), [["1", "1", "0", "0", "0", "0"]] * 2),
        (TopM(2), [[1, 1, 0], [1]]),
        (TopM(2), None),
        (Thresholding(0.5), [[2, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0]]),
        (Thresholding(0.5), [0, 1]),
        *((BestOfEach(2), wrong) for wrong in ([[0, 3], [0, 0]], [[0, 0], [-1, 0]], [[0], [1]], [0, 1])),
        (BestOfEach(2), [[0.5, 1], [0, 0]]),
        (BestOfEach(2), np.zeros((2, 2, 1), int)),
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
        ({"task": "best-arm"}, "BestArm()"),
        ({"task": "best-arm", "epsilon": 0.1}, "BestArm(epsilon=0.1)"),
        ({"task": "top-m", "m": 3}, "TopM(m=3)"),
        ({"task": "top-m", "m": np.int64(1), "epsilon": 1}, "TopM(epsilon=1.0, m=1)"),
        ({"task": "best-of-each", "num_bandits": 2}, "BestOfEach(num_bandits=2)"),
        ({"task": "thresholding", "threshold": 0}, "Thresholding(threshold=0.0)"),
        ({"task": "thresholding", "threshold": -1.5, "epsilon": 0.1}, "Thresholding(epsilon=0.1, threshold=-1.5)"),
        ({"task": TopM(2, 0.5)}, "TopM(epsilon=0.5, m=2)"),
    ],
)
def test_tasks_by_name(keywords: dict[str, Any], expected: str) -> None:
    assert repr(make_task(num_arms=4, **keywords)) == expected


@pytest.mark.each(("task", "size"), [(BestArm(), (1, 1)), (TopM(3), (3, 1)), (BestOfEach(2), (1, 2))])
def test_every_task_has_a_size_and_a_number_of_bandits(task: Task, size: tuple[int, int]) -> None:
    assert (task.m, task.num_bandits) == size


TOP: dict[str, Any] = {"task": "top-m"}
EACH: dict[str, Any] = {"task": "best-of-each"}


@pytest.mark.each(
    ("keywords", "named"),
    [
        *(({"epsilon": value}, "epsilon") for value in (-0.1, math.nan, math.inf, "0.1", True, [0.1])),
        ({**TOP, "m": 2, "epsilon": -1e-9}, "epsilon"),
        ({**EACH, "num_bandits": 2, "epsilon": math.nan}, "epsilon"),
        ({"task": "thresholding", "threshold": 0.5, "epsilon": -1}, "epsilon"),
        *(({"task": "thresholding", "threshold": value}, "threshold") for value in (math.nan, math.inf, "0.5", True)),
        ({"task": "thresholding"}, "threshold"),
        ({"task": "good-arm"}, "threshold"),
        ({"threshold": 0.5}, "threshold"),
        *(({**TOP, "m": value}, "m") for value in (0, -1, 1.0, "2", True, 4, 100)),
        ({"task": TopM(4)}, "m"),
        (TOP, "m"),
        (EACH, "num_bandits"),
        *(({**EACH, "num_bandits": value}, "num_bandits") for value in (0, 2.0, "2", True, 3, 4, 8)),
        ({"task": BestOfEach(3)}, "num_bandits"),
        ({"m": 2}, "m"),
        ({"num_bandits": 2}, "num_bandits"),
        ({**TOP, "m": 2, "num_bandits": 2}, "num_bandits"),
        ({"task": TopM(2), "m": 2}, "m"),
        ({"task": BestArm(), "epsilon": 0.0}, "epsilon"),
    ],
)
def test_keywords_of_tasks_are_checked(keywords: dict[str, Any], named: str) -> None:
    with pytest.raises(ParameterError, match=rf"\b{named}\b") as caught:
        make_task(**{"task": "best-arm", "num_arms": 4, **keywords})
    for make in (gym.make, gym.make_vec):  # the environments say the same
        with pytest.raises(ParameterError, match=f"^{re.escape(str(caught.value))}$"):
            make("BAI-Custom-v0", **keywords)


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


def test_an_episode_of_a_good_arm_ends_with_an_arm_or_none() -> None:
    for last, right in ((1, True), (2, False), (4, False)):
        env = gym.make("BAI-CustomGoodArm-v0", budget=2)
        assert env.action_space == gym.spaces.MultiDiscrete([4, 5])
        env.reset(seed=0)
        for _ in range(2):
            env.step(np.array([0, 0]))
        *_, info = env.step(np.array([0, last]))
        assert bool(info["correct"]) is right
    stopping = gym.make("BAI-FC-CustomGoodArm-v0", means=[0.1, 0.2])
    stopping.reset(seed=0)
    _, reward, ended, _, info = stopping.step(np.array([2, 2]))  # stops at once, with none
    assert (reward, ended, bool(info["correct"])) == (1.0, True, True)


def test_an_unknown_task_suggests_the_nearest() -> None:
    assert set(TASKS) == {"best-arm", "top-m", "best-of-each", "thresholding", "good-arm"}
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
