"""Successive accepts and rejects, by hand; for one arm it is successive rejects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bai_gym.agents import SuccessiveRejects
from bai_gym.agents.elimination.sar import SAR
from bai_gym.tasks import TopM

Play = Callable[..., Any]


@pytest.mark.each(
    ("means", "m", "arms", "chosen"),
    # n = 23, K = 4: (n - K) / logbar(4) = 19 x 12 / 19 = 12, so that n_k = 3, 4, 6.
    [
        # Gaps 0.9 - 0.3 to accept arm 0, 0.8 - 0.1 to reject arm 3: it goes. Then 0.6 and 0.5: arm 0 is accepted. Of
        # arms 1 and 2 the gaps are the same: arm 2 is rejected.
        ([0.9, 0.8, 0.3, 0.1], 2, [0, 1, 2, 3] * 3 + [0, 1, 2] + [1, 2] * 2, [1, 1, 0, 0]),
        # 0.8 against 0.2, then 0.7 against 0.2: arms 0 and 1 are accepted; at last arm 3 is rejected.
        ([0.9, 0.8, 0.3, 0.1], 3, [0, 1, 2, 3] * 3 + [1, 2, 3] + [2, 3] * 2, [1, 1, 1, 0]),
        # Equal gaps reject: arm 3. Then as many arms are left as are wanted: all are accepted, one a phase.
        ([0.5, 0.5, 0.5, 0.0], 3, [0, 1, 2, 3] * 3 + [0, 1, 2] + [1, 2] * 2, [1, 1, 1, 0]),
        ([0.1, 0.2, 0.6, 0.4], 1, [0, 1, 2, 3] * 3 + [1, 2, 3] + [2, 3] * 2, [0, 0, 1, 0]),
    ],
)
def test_four_arms_by_hand(trace: Play, means: list[float], m: int, arms: list[int], chosen: list[int]) -> None:
    played = trace(SAR(tie="first"), [[mean] for mean in means], 23, task=TopM(m))
    assert (played.arms, played.recommendation) == (arms, chosen)
    assert len(played.idle) == 23 - len(arms) and set(played.idle) == {chosen.index(1)}


def test_decisions_are_made_by_all_pulls_so_far(trace: Play) -> None:
    # After 3 pulls arm 0 leads by 2/3 to 1/3; after 6 arm 1 by 2/3 to 1/2. Arm 3 is rejected first, arm 2 accepted.
    rewards = [[1, 1, 0, 0, 0, 1], [0, 1, 0, 1, 1, 1], [2], [-2]]
    played = trace(SAR(tie="first"), rewards, 23, task=TopM(2))
    assert played.counts(4) == [6, 6, 4, 3]
    assert played.recommendation == [0, 1, 1, 0]


@pytest.mark.each("seed", range(5))
def test_for_one_arm_it_is_successive_rejects(trace: Play, scripted_blocks: Play, seed: int) -> None:
    rng = np.random.default_rng(seed)
    num_arms = int(rng.integers(2, 9))
    budget = num_arms + 1 + int(rng.integers(0, 80))
    rewards = rng.normal(size=(num_arms, budget))
    rejects = trace(SuccessiveRejects(tie="first"), rewards, budget)
    one = trace(SAR(tie="first"), rewards, budget)
    assert (one.arms, one.recommendation) == (rejects.arms, rejects.recommendation)
    as_set = trace(SAR(tie="first"), rewards, budget, task=TopM(1))
    assert (as_set.arms, as_set.recommendation.index(1)) == (rejects.arms, rejects.recommendation)
