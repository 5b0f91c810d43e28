"""OD-LinBAI against a case worked by hand, and the count of its pulls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bai_gym import agents
from bai_gym.agents.linear.od_linbai import phase_supports
from bai_gym.benchmark.rollout import play_blocks
from bai_gym.errors import BudgetError
from bai_gym.linear import linear_bandit
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Block, Plan


def reset(agent: Any, truth: Any, budget: int, seed: int = 0) -> Any:
    agent.reset(ProblemInfo(truth.num_arms, budget, truth.batch, truth=truth), np.random.default_rng(seed))
    return agent


def blocks_of(truth: Any, budget: int, **parameters: Any) -> list[Block]:
    """The phases of one episode."""
    agent = reset(agents.make("OD-LinBAI", **parameters), truth, budget)
    phases: list[Block] = []
    plan = agent.plan

    def noting() -> Plan:
        inner, outcome = plan(), None
        while True:
            try:
                phases.append(inner.send(outcome))
            except StopIteration as end:
                return end.value
            outcome = yield phases[-1]

    agent.plan = noting
    play_blocks(agent, truth, budget, np.random.default_rng(0))
    return phases


def test_by_hand(trace: Callable[..., Any]) -> None:
    # d = 2: one phase, m = 13 - min(3, 3) = 10. The optimal design of e_1, e_2 and a short arm is (1/2, 1/2, 0): 5
    # pulls each. Of the 3 that are left nobody looks at the rewards: theta = (1, 2), and the third arm promises 0.3.
    features, rewards = [[1.0, 0.0], [0.0, 1.0], [0.1, 0.1]], [[1.0] * 5 + [99.0] * 3, [2.0], [9.0]]
    played = trace(agents.make("OD-LinBAI", tie="first"), rewards, 13, features=features)
    assert played.counts(3) == [8, 5, 0] and played.arms[10:] == [0, 0, 0] and played.idle == []
    assert played.recommendation == 1
    # Shared, 1.5 each: the first arm gets 2 of them, and its mean is (5 + 2 x 99) / 7.
    played = trace(agents.make("OD-LinBAI", tie="first", leftover="share"), rewards, 13, features=features)
    assert played.counts(3) == [7, 6, 0]
    assert played.recommendation == 0


@pytest.mark.parametrize(
    ("arms", "rank", "supports"),
    [(128, 10, [55, 5, 3, 2]), (20, 10, [20, 5, 3, 2]), (3, 2, [3]), (9, 1, [1]), (9, 0, [1]), (16, 16, [16, 8, 4, 2])],
)
def test_what_rounding_up_can_take(arms: int, rank: int, supports: list[int]) -> None:
    # min(K, d (d + 1) / 2), then ceil(d / 2^r), r = 1, ..., ceil(log2 d) - 1.
    assert phase_supports(arms, rank) == supports


def test_phases_keep_half_of_the_dimension() -> None:
    truth = linear_bandit(np.random.default_rng(0).standard_normal((40, 10)), np.arange(10.0), noise_variance=1e-9)
    phases = blocks_of(truth, 300, leftover="share")
    assert [block.counts.shape[1] for block in phases] == [40, 5, 3, 2]
    # (300 - 40 - 5 - 3 - 2) / 4 = 62.5: phases have 40 + 62, 5 + 63, 3 + 62 and 2 + 63 pulls.
    assert [int(block.counts.sum()) for block in phases] == [102, 68, 65, 65]


def test_one_dimension_takes_the_longest_arm_and_the_sign() -> None:
    features = np.array([[1.0], [-3.0], [2.0]])
    for theta, best in ((1.0, 2), (-1.0, 1)):
        truth = linear_bandit(features, [theta], noise_variance=1e-6)
        (phase,) = blocks_of(truth, 20, tie="first", leftover="share")
        assert phase.counts.tolist() == [[0, 20, 0]]
        rollout = play_blocks(reset(agents.make("OD-LinBAI"), truth, 20), truth, 20, np.random.default_rng(0))
        assert rollout.recommendation.tolist() == [best]


def test_episodes_of_different_ranks_play_as_if_alone() -> None:
    rng = np.random.default_rng(2)
    features = rng.standard_normal((60, 12, 4))
    features[::3, :, 2:] = 0.0  # rank 2: one phase instead of two
    features[1::3, :, 1:] = 0.0  # rank 1
    theta = rng.standard_normal((60, 4))
    truth = linear_bandit(features, theta, noise_variance=1e-8)
    rollout = play_blocks(reset(agents.make("OD-LinBAI"), truth, 97), truth, 97, np.random.default_rng(0))
    assert (rollout.pulls.sum(axis=-1) == 97).all()
    assert (rollout.recommendation == truth.means.argmax(axis=-1)).all()
    # Rank 1: m = 96 pulls on the longest arm.
    longest = np.abs(features[1::3, :, 0]).argmax(axis=-1)
    assert (rollout.pulls[1::3][np.arange(20), longest] >= 96).all()
    # Rank 2: arms by the optimal design alone, of at most 3 arms, and the first one of the shuffled arms.
    assert ((rollout.pulls[::3] > 0).sum(axis=-1) <= 4).all()


def test_small_budgets() -> None:
    truth = linear_bandit(np.random.default_rng(0).standard_normal((40, 10)), np.ones(10))
    with pytest.raises(BudgetError, match="give at least 51"):
        reset(agents.make("OD-LinBAI"), truth, 50)
    for budget in (1, 9, 30, 50):
        (phase,) = blocks_of(truth, budget, allow_small_budget=True)
        assert phase.counts.sum() == budget
