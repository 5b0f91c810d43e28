"""SHAdaVar: the cyclic part, the bounds, and what happens where they do not exist."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bai_gym.agents.elimination.sequential_halving import SequentialHalving
from bai_gym.agents.elimination.shadavar import SHAdaVar, SHAdaVarState, bound_per_pull
from bai_gym.problems import ProblemInfo
from bai_gym.statistics import Observation

Play = Callable[..., Any]
L = math.log(20.0)  # delta = 0.05


def after_reset(agent: SHAdaVar, num_arms: int, budget: int, batch: int = 1) -> SHAdaVar:
    agent.reset(ProblemInfo(num_arms, budget, batch), np.random.default_rng(0))
    return agent


def fresh(num_arms: int, budget: int, batch: int = 1) -> Observation:
    return {
        "pulls": np.zeros((batch, num_arms), np.int64),
        "means": np.zeros((batch, num_arms)),
        "variances": np.zeros((batch, num_arms)),
        "remaining": np.full((batch, 1), budget),
    }


@pytest.mark.each(
    ("pulls", "denominator"),
    [
        (13, 0.00071154),
        (100, 0.65209242),
    ],
)
def test_denominators_of_the_specification(pulls: int, denominator: float) -> None:
    index = bound_per_pull(float(pulls), 0.0, 3.0, SHAdaVarState.of(log=L)[0])
    assert 3.0 / (index * pulls) == pytest.approx(1 - 2 * math.sqrt(L / (pulls - 1)), rel=1e-11)
    assert 3.0 / (index * pulls) == pytest.approx(denominator, abs=1.1e-8)  # the last digit is rounded there


@pytest.mark.each(("pulls", "variance"), [(1, 2.0), (12, 0.0), (12, 2.0)])
def test_the_bound_is_infinite_up_to_4_l(pulls: int, variance: float) -> None:
    with np.errstate(all="ignore"):
        assert bound_per_pull(np.float64(pulls), 0.0, variance, SHAdaVarState.of(log=L)[0]) == np.inf
        assert (bound_per_pull(np.float64(pulls), 0.0, variance, SHAdaVarState.of()[0]) == np.inf) == (pulls == 1)


def first_request(agent: SHAdaVar, num_arms: int, budget: int, batch: int = 1) -> Any:
    return next(after_reset(agent, num_arms, budget, batch).start(fresh(num_arms, budget, batch)))


def test_the_cyclic_part_splits_62_to_2_at_64_arms() -> None:
    # floor(64 (4 L + 1)) = floor(830.9) = 830 = 62 x 13 + 2 x 12.
    counts = first_request(SHAdaVar(), 64, 6 * 831, 50).counts
    assert (counts.sum(axis=1) == 830).all()
    assert ((counts == 13).sum(axis=1) == 62).all() and ((counts == 12).sum(axis=1) == 2).all()
    assert len(np.unique(np.argwhere(counts == 12)[:, 1])) > 20  # different arms in different episodes
    counts = first_request(SHAdaVar(), 64, 6 * 830).counts
    assert counts.sum() == 830  # the whole stage


def test_two_arms_by_hand(trace: Play) -> None:
    # One stage. floor(2 x 12.98) = 25 cyclic pulls: 13 of arm 0, 12 of arm 1, whose bound is infinite: it is next.
    # Then both have 13 pulls. U / T of arm 1 (rewards 5, 5.1, ...): 0.291, then 0.005. Arm 0 (rewards 0, 2, ...): 116,
    # 1.93, 0.95, 0.63, 0.46, 0.37, 0.301, 0.256.
    played = trace(SHAdaVar(tie="first"), [[0.0, 2.0], [5.0, 5.1]], 40)
    assert played.arms == [0, 1] * 12 + [0, 1] + [0] * 7 + [1] + [0] * 6
    assert played.recommendation == 1


def test_the_plug_in_variant_by_hand(trace: Play) -> None:
    # Two pulls of each: v / T = 1 (rewards 0, 2), 1/4 (0, 1), 0, 0. Further pulls of arm 0: 4/9, 1/3, 6/25.
    played = trace(SHAdaVar(tie="first", ucb=False), [[0.0, 2.0], [0.0, 1.0], [7.0], [0.0]], 24)
    assert played.arms[:12] == [0, 1, 2, 3] * 2 + [0, 0, 0, 1]


def test_stages_start_afresh(trace: Play) -> None:
    # Arms 2 and 0 survive stage 1. Stage 2 begins with 25 cyclic pulls, whatever was pulled before.
    rewards = [[4.0], [0.0, 1.0], [5.0, 6.0], [1.0]]
    played = trace(SHAdaVar(tie="first", variance="sample"), rewards, 120)
    assert sorted(set(played.arms[60:])) == [0, 2]
    assert played.arms[60:85] == [0, 2] * 12 + [0]
    assert played.arms[85] == 2
    # Stage 1: 51 cyclic pulls, then arm 3 (12 pulls, infinite), then arms 1 and 2 of variance > 0, never 0 and 3.
    assert played.arms[:51] == ([0, 1, 2, 3] * 13)[:51]
    assert played.arms[51] == 3 and set(played.arms[52:60]) == {1, 2}
    # Stage 2: arm 0 has no variance, so that every pull goes to arm 2.
    assert set(played.arms[86:]) == {2}


def test_arms_without_variance_share_what_is_left_equally(trace: Play) -> None:
    played = trace(SHAdaVar(tie="first"), [[0.0], [1.0], [0.0], [1.0]], 200)
    assert played.arms[:100] == [0, 1, 2, 3] * 25
    assert played.arms[100:] == [1, 3] * 50
    shares = np.bincount(trace(SHAdaVar(), [[0.0], [1.0], [0.0], [1.0]], 200).arms[:100])
    assert shares.tolist() == [25] * 4  # ties are broken at random


@given(st.integers(2, 9), st.integers(0, 300))
def test_short_stages_are_sequential_halving(trace: Play, num_arms: int, extra: int) -> None:
    rewards = [[np.sin(9.0 * arm), 0.3 * arm] for arm in range(num_arms)]
    agent = SHAdaVar(tie="first")
    budget = agent.minimum_budget(num_arms) + extra
    stages = math.ceil(math.log2(num_arms))
    if budget // stages > math.floor(2 * (4 * L + 1)):  # of the last stage, which has two arms
        budget = stages * math.floor(2 * (4 * L + 1)) if num_arms <= 25 else agent.minimum_budget(num_arms)
    assert trace(agent, rewards, budget) == trace(SequentialHalving(tie="first"), rewards, budget)


def test_minimum_budgets() -> None:
    assert SHAdaVar().minimum_budget(64) == 384
    assert SHAdaVar(ucb=False).minimum_budget(64) == 768
