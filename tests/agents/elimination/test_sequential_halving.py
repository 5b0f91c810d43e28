"""Sequential halving, stage by stage."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from bai_gym.agents import SequentialHalving
from bai_gym.agents.tools.halving import num_stages
from bai_gym.problems import ProblemInfo
from bai_gym.statistics import Statistics

Play = Callable[..., Any]


def test_number_of_stages() -> None:
    assert [num_stages(k) for k in (2, 3, 4, 5, 8, 9, 64, 65, 100)] == [1, 2, 2, 3, 3, 4, 6, 7, 7]


def test_five_arms_with_remainders_by_hand(trace: Play) -> None:
    # K = 5: 3 stages of floor(23 / 3) = 7 pulls of 5, 3 and 2 arms; 2 pulls are left over.
    played = trace(SequentialHalving(tie="first"), [[1.0], [5.0], [2.0], [4.0], [3.0]], 23)
    assert played.arms == [0, 1, 2, 3, 4, 0, 1] + [1, 3, 4, 1, 3, 4, 1] + [1, 3, 1, 3, 1, 3, 1]
    assert played.idle == [1, 1]
    assert played.recommendation == 1


def test_leftover_pulls_go_to_the_last_stage_if_asked(trace: Play) -> None:
    # 4 arms, 11 pulls: stages of 5 and 5 + 1.
    played = trace(SequentialHalving(tie="first", leftover="last"), [[3.0], [2.0], [1.0], [0.0]], 11)
    assert played.arms == [0, 1, 2, 3, 0] + [0, 1, 0, 1, 0, 1]
    assert played.idle == []


def test_equal_rounding_by_hand(trace: Play) -> None:
    # 5 arms, 23 pulls: floor(23 / 3) = 7 per stage, so 1, 2 and 3 pulls per arm of 5, 3 and 2 arms.
    played = trace(SequentialHalving(tie="first", rounding="equal"), [[1.0], [5.0], [2.0], [4.0], [3.0]], 23)
    assert played.arms == [0, 1, 2, 3, 4] + [1, 3, 4] * 2 + [1, 3] * 3
    assert played.idle == [1] * 6


bits = st.integers(0, 1).map(float)


@settings(max_examples=50)
@given(st.lists(bits, min_size=2, max_size=14), st.lists(bits, min_size=2, max_size=14), st.integers(0, 7), st.data())
def test_equal_sums_tie_whatever_the_past(
    scripted_blocks: Play, past: list[float], other: list[float], ones: int, data: st.DataObject
) -> None:
    # Four arms; the first two survive stage 1 with these rewards, and have as many ones in stage 2.
    pulls = max(len(past), len(other))
    late = [1.0] * ones + [0.0] * (2 * pulls - ones)
    rewards = [(early * pulls)[:pulls] + data.draw(st.permutations(late)) for early in (past, other)]
    agent = SequentialHalving(tie="first")
    rollout = scripted_blocks(agent, [*rewards, [0.0], [0.0]], 8 * pulls)
    assert rollout.recommendation.tolist() == [0]


def test_the_arms_with_one_more_pull_are_random_in_each_stage() -> None:
    agent = SequentialHalving()
    agent.reset(ProblemInfo(3, 10, 20_000), np.random.default_rng(0))  # two stages of 5 pulls
    plan = agent.start({})
    first = next(plan).counts
    assert (np.sort(first, axis=1) == [1, 2, 2]).all()
    assert chisquare((first == 1).sum(axis=0)).pvalue > 0.001 / 2  # level 0.001 over both tests
    zeros = np.zeros((20_000, 3))
    block = plan.send(Statistics(first, zeros, zeros))
    second = np.zeros_like(first)
    np.put_along_axis(second, block.arms, block.counts, -1)
    assert (np.sort(second, axis=1) == [0, 2, 3]).all()
    # All means tie, so that each arm is equally likely to be dropped, to have 2 and to have 3 pulls.
    assert chisquare(np.unique(second, axis=0, return_counts=True)[1]).pvalue > 0.001 / 2
