"""CR-A and CR-C: rejections by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bai_gym.agents import CRA, CRC

Play = Callable[..., Any]


def test_a_hopeless_arm_is_rejected_at_once(trace: Play) -> None:
    # K = 3, n = 12: log~(3) = 4/3, beta = 4/3 x 3 / 12 = 1/3, G = sqrt(3) - 1 = 0.73. Arm 0 is below the average of the
    # others by 0.75, and below the next by 0.7. CR-C pulls it once more; then beta = 4/9 and G = 1/2.
    rewards = [[0.0], [0.8], [0.7]]
    assert trace(CRA(tie="first"), rewards, 12).counts(3) == [1, 6, 5]
    assert trace(CRC(tie="first"), rewards, 12).counts(3) == [2, 5, 5]


def test_twice_the_range_is_half_the_gap(trace: Play) -> None:
    rewards = np.random.default_rng(1).random((4, 30))
    for kind in (CRA, CRC):
        plain = trace(kind(tie="first"), rewards, 60)
        assert trace(kind(tie="first", b=2.0), 2.0 * rewards, 60) == plain
        assert trace(kind(tie="first", sigma=1.0), 2.0 * rewards, 60) == plain
        assert trace(kind(tie="first", b=3.0), rewards, 60) != plain


def test_a_rejected_arm_is_not_recommended(trace: Play) -> None:
    # The gap of 0.4 exceeds G once beta > 1 / 1.4^2 = 0.51, so 4/3 t > 0.51 n: after 58 of 150 pulls arm 0 is rejected
    # with mean 0.6. Then the others pay less, and end at means of about 0.3.
    rewards = [[0.6], [1.0] * 20 + [0.0] * 80, [1.0] * 20 + [0.1] * 80]
    played = trace(CRA(tie="first"), rewards, 150)
    assert played.counts(3) == [20, 65, 65] and played.recommendation == 2


def test_two_arms_are_pulled_equally_often(trace: Play) -> None:
    for kind in (CRA, CRC):
        assert trace(kind(), [[1.0], [0.0]], 40).counts(2) == [20, 20]


@pytest.mark.each(
    ("kind", "rewards", "counts"),
    [
        (CRC, [0.0, 0.5, 0.72, 1.0], [2, 4, 7, 7]),  # gaps 0.5, 0.22
        (CRC, [0.0, 0.5, 1.1, 1.2], [2, 3, 8, 7]),  # gaps 0.5, 0.6; 8 pulls would suffice, but arm 1 has only 2
        (CRA, [1.0, 1.5, 1.6, 1.8], [2, 4, 7, 7]),  # gaps 0.63, 0.2
    ],
)
def test_two_rejections_by_hand(trace: Play, kind: type[CRA | CRC], rewards: list[float], counts: list[int]) -> None:
    # K = 4, n = 20. With four arms beta = 19/12 t / 20, and G = 0.78, 0.59, 0.45 after t = 4, 5, 6 pulls. Arm 0 is
    # rejected with R = 2 pulls: beta = 4/3 (t - 2) / 18, and G = 0.5, 0.389, 0.299, 0.225, 0.162 for t = 8 to 12. The
    # pulls before these are 4 of arm 1 if t = 12, or 3 if t = 9, 10 or 11.
    assert trace(kind(tie="first"), [[reward] for reward in rewards], 20).counts(4) == counts
