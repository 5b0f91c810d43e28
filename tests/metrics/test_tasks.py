"""Guardrails and Pareto sets, by hand and by what their contrasts must say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bai_gym.errors import ParameterError
from bai_gym.metrics import Feasible, ParetoSet
from bai_gym.problems import build

ARMS = np.array([[1.0, 5.0], [2.0, 3.0], [3.0, 7.0], [0.5, 1.0]])


def test_answers_by_hand() -> None:
    for task, answer, regrets in (
        (Feasible(("max", "<= 4")), [1], [1.0, 0.0, 3.0, 1.5, 3.0]),
        (Feasible(("max", "<= 0")), [4], [5.0, 3.0, 7.0, 1.0, 0.0]),
    ):
        assert task.correct_recommendation(ARMS).tolist() == answer, task
        assert task.simple_regret(np.stack([ARMS] * 5), np.arange(5)[:, None]).tolist() == regrets, task
    task = ParetoSet(("max", "min"))
    assert task.correct_recommendation(ARMS.reshape(-1)).tolist() == [0, 1, 1, 1]
    for chosen, regret in (([0, 1, 1, 1], 0.0), ([1, 0, 1, 1], 1.5)):
        assert task.simple_regret(ARMS, np.array(chosen)) == regret, chosen


@pytest.mark.each("task", [Feasible(("min", ">= 0.3", "<= 0.8")), ParetoSet(("max", "min", "max"))])
def test_a_wrong_answer_has_a_group_of_contrasts_that_is_overturned(task: Any) -> None:
    rng, cells = np.random.default_rng(0), 4 * task.metrics
    for true in rng.random((60, cells)):
        found = set()
        for sample in rng.random((150, cells)):
            c, answer = task.contrasts_at(sample), task.correct_recommendation(sample)
            assert c.first.size <= task.most_contrasts(cells)
            if task.correct(true, answer):
                continue
            over = c.gaps(true) < 0
            assert any(over[c.group == group].all() for group in c.group), (task, true, sample)
            if isinstance(task, Feasible):  # an answer that is not feasible has a limit, else the right one is better
                one, two = (np.where(cell < 0, -1, cell // task.metrics) for cell in (c.first, c.second))
                own, right = np.maximum(one, two) == answer, task.correct_recommendation(true)
                own &= over & (np.minimum(one, two) < 0)
                over = own & (own.cumsum() == 1) if own.any() else over & ((one == right) | (two == right))
            found |= {*zip(c.first[over].tolist(), c.second[over].tolist(), strict=True)}
        assert len(found) <= task.overturned(cells), (task, true, found)


def test_goals_are_checked() -> None:
    guarded = build("metrics", means=ARMS, goals=("min", "<=3")).task
    for goals, match in ((("max",), "one for each"), (("max", "most"), "such as"), (("<= 3", "max"), "but for the")):
        with pytest.raises(ParameterError, match=match):
            build("metrics", means=ARMS, goals=goals)
    with pytest.raises(ParameterError, match="must be 'max' or 'min'"):
        guarded.in_place_of(ParetoSet())
