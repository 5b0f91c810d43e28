"""What the forms of sequential halving share: which samples decide who survives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bai_gym import agents

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
