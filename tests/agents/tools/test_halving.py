"""What the forms of sequential halving share: which samples decide who survives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bai_gym import agents, compare
from bai_gym.agents.tools.halving import gaps_of_arms
from bai_gym.tasks import BestArm, BestOfEach, GoodArm, Thresholding, TopM

Play = Callable[..., Any]


@pytest.mark.each("name", ["SH", "SHVar", "SHAdaVar"])
def test_estimates_come_from_the_stage_alone_unless_samples_are_kept(trace: Play, name: str) -> None:
    # Equal variances and few pulls: all three forms pull alike. Arm 0 pays `first` once, then 0, and arm 1 always 3. So
    # arm 1 wins the second stage 3 : 0. Of all samples, 10 / 5 = 2 loses against 3, and 18 / 5 = 3.6 wins.
    published = agents.make(name, tie="first")
    kept = agents.make(f"{name}-Reuse", tie="first")
    for first, winner in ((10.0, 1), (18.0, 0)):
        rewards = [[first, 0.0, 0.0, 0.0, 0.0], [3.0], [0.0], [0.0]]
        for agent, recommendation in ((published, 1), (kept, winner)):
            played = trace(agent, rewards, 12, variances=[1.0] * 4)
            assert played.arms == [0, 1, 2, 3, 0, 1] + [0, 1, 0, 1, 0, 1], agent.label
            assert played.recommendation == recommendation, (agent.label, first)


def test_arms_of_which_the_answer_is_least_certain_stay() -> None:
    means = np.array([[0.9, 0.5, 0.45, 0.1]])
    every = np.arange(4)[None]
    for task, gaps in (
        (Thresholding(0.5, epsilon=0.0), [0.4, 0.0, 0.05, 0.4]),
        (TopM(2), [0.45, 0.05, 0.05, 0.4]),  # those of successive accepts and rejects
        (BestOfEach(2), [0.4, 0.4, 0.35, 0.35]),
        (GoodArm(0.2), [0.7, np.inf, np.inf, np.inf]),
    ):
        np.testing.assert_allclose(gaps_of_arms(task, means, every)[0], gaps, atol=1e-12, err_msg=task.name)


class Guarded(BestArm):
    """An answer that is wrong only if arm 0 is worse than arm 1 and arm 2 above 0."""

    @staticmethod
    def contrasts(mean: Any, c: Any, x: Any) -> int:
        c.first[:2], c.second[:2], c.offset[:2], c.group[1] = (0, -1), (1, 2), 0.0, 0
        return 2


def test_of_a_group_the_strongest_contrast_counts() -> None:
    gaps = gaps_of_arms(Guarded(), np.array([[0.5, 0.4, -0.3, 0.0]]), np.arange(4)[None])
    np.testing.assert_allclose(gaps[0], [0.3, 0.3, 0.3, np.inf])


def test_every_question_is_answered_with_fewer_errors_than_by_equal_shares() -> None:
    for env, budget, keywords in (
        ("BAI-CustomThresholding-v0", 200, {"means": [0.0, 0.1, 0.4, 0.56, 1.0, 1.0, 0.0, 0.1]}),
        ("BAI-AllWithin-Custom-v0", 200, {"means": [0.0, 0.4, 0.5, 0.9, 0.1, 0.0, 0.1, 0.0], "epsilon": 0.15}),
        ("BAI-MultiBandit-Custom-v0", 200, {"means": [0.5, 0.3, 0.0, 0.0, 0.9, 0.0, 0.0, 0.0]}),
    ):
        for name in ("SR", "SH-Reuse", "SHVar-Reuse", "SHAdaVar-Reuse"):
            made: Any = {**keywords, "variances": [0.25] * 8}
            found = compare([name, "Uniform"], env, budgets=[budget], runs=2000, env_kwargs=made)
            test = found.paired("Uniform", name)
            assert test.interval[0] > 0.0, (env, name, str(test))
