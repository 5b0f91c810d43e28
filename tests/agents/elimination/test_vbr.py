"""VBR (reading A): the schedule, the pulls and the rejections by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bai_gym.agents.elimination.vbr import VBR

Play = Callable[..., Any]


def test_rejections_of_equal_spread_by_hand(trace: Play) -> None:
    # Arms pay m, m + 2, m, m + 2, ...: arms of as many pulls have the same variance, so that the pulls go round. Arm 2
    # (smallest mean) goes at 15 pulls, then arms 0 and 1 are pulled to 20.
    rewards = [[5.0, 7.0], [3.0, 5.0], [1.0, 3.0]]
    played = trace(VBR(tie="first"), rewards, 20)
    assert played.arms[:6] == [0, 1, 2] * 2
    assert np.bincount(played.arms[:15]).tolist() == [5, 5, 5]
    assert sorted(np.bincount(played.arms[15:])) == [2, 3]
    assert played.recommendation == 0


def test_the_widest_interval_is_pulled(trace: Play) -> None:
    # Rewards m - d, m + d, ...: v / T is d^2 / (T - 1) for even T, d^2 (T + 1) / T^2 for odd T. Arm 2 (d = 3): 9, 4, 3,
    # 2.16, 1.8, 1.469; arm 1 (d = 2): 4, 1.778; of two 4s arm 1 has fewer pulls. Arm 1 is rejected at 12 pulls. Then
    # arm 0 (d = 1.01) has 1.02, and arm 2 has 1.469, 1.286, 1.111, 1.
    played = trace(VBR(tie="first"), [[8.99, 11.01], [7.0, 11.0], [7.0, 13.0]], 16)
    assert played.arms[6:] == [2, 1, 2, 2, 2, 2, 2, 2, 2, 0]


def test_early_rejection_of_an_interval_below_another_by_hand(trace: Play) -> None:
    # Arm 0 is the widest, also after its third pull: mean 1/3, r = 4/3 gamma. Arm 2 has mean 4 and r = gamma. Arm 0 is
    # below it if 1/3 + 4/3 gamma < 4 - gamma: gamma < 1.571.
    rewards = [[-1.0, 3.0], [0.5, 2.5], [3.0, 5.0]]
    assert 0 not in trace(VBR(tie="first", early=True, gamma=1.56), rewards, 30).arms[7:]
    assert trace(VBR(tie="first", early=True, gamma=1.58), rewards, 30).arms[6:8] == [0, 0]


def test_early_rejection_of_the_smallest_upper_bound(trace: Play) -> None:
    # After its third pull arm 0 has mean -2 and r = 6. Arm 1 has mean 1 and r = 0, and so the smaller bound.
    rewards = [[-8.0, 10.0], [1.0], [30.0]]
    for reject, rejected in (("mean", 0), ("ucb", 1)):
        agent = VBR(tie="first", early=True, gamma=1.0, reject=reject)
        assert rejected not in trace(agent, rewards, 30).arms[7:]


def test_early_rejection_happens_after_a_pull_and_one_at_a_time(trace: Play) -> None:
    # No variance: all intervals are points. One arm goes after each pull (7th, 8th, 9th), the rest is the survivor's.
    played = trace(VBR(tie="first", early=True), [[1.0], [2.0], [4.0], [3.0]], 30)
    assert played.arms[8:] == [0, 1, 2] + [2] * 19
    assert played.recommendation == 2
    # Equal points are not below each other.
    assert trace(VBR(tie="first", early=True), [[1.0], [1.0]], 20).counts(2) == [10, 10]


def test_the_upper_bound_rejects_another_arm_than_the_mean(trace: Play) -> None:
    # After 15 of 20 pulls arm 1 has mean 0 and a wide interval, arm 2 has mean 1 and none; arm 0 is far above.
    rewards = [[100.0], [-9.0, 9.0], [1.0]]
    by_mean = trace(VBR(tie="first", variance="sample"), rewards, 20)
    by_bound = trace(VBR(tie="first", variance="sample", reject="ucb"), rewards, 20)
    assert by_mean.arms[:15] == by_bound.arms[:15] == [0, 1, 2] * 2 + [1] * 9
    assert 1 not in by_mean.arms[15:] and set(by_mean.arms[15:]) == {0, 2}
    assert 2 not in by_bound.arms[15:] and set(by_bound.arms[15:]) == {1}
    # In the end, too: 18 pulls of arm 0 with mean 0 and a bound of 1.96 x 3.09 / sqrt(18) = 1.43, and 2 of arm 1.
    agent, rewards = VBR(tie="first", reject="ucb", variance="sample"), [[3.0, -3.0], [2.0]]
    assert trace(agent, rewards, 20).recommendation == 1


def test_without_variance_the_pulls_go_round(trace: Play) -> None:
    played = trace(VBR(tie="first"), [[1.0], [3.0], [2.0]], 20)
    assert played.arms == [0, 1, 2] * 5 + [1, 2] * 2 + [1]
    assert played.recommendation == 1
    assert np.bincount(trace(VBR(), [[1.0], [3.0], [2.0]], 20).arms[:15]).tolist() == [5, 5, 5]


def test_a_rejected_arm_is_not_recommended(trace: Play) -> None:
    # All arms are equally wide up to 30 pulls, when arm 0 is rejected with mean 7.5. The others end below it.
    others = [18.0, -2.0] * 5 + [0.0] * 10
    assert trace(VBR(tie="first"), [[17.5, -2.5], others, others], 40).recommendation == 1
