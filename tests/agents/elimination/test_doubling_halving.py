"""DSH: stages and episodes by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bai_gym.agents import DoublingHalving

Play = Callable[..., Any]


def test_runs_of_doubling_halving_by_hand(trace: Play) -> None:
    # Stages of 3 pulls of 3 arms, and of the better two; then twice as many.
    played = trace(DoublingHalving(tie="first"), [[0.5], [0.1], [0.9]], 18)
    assert played.arms == [0, 1, 2, 0, 2, 0, *[0, 1, 2] * 2, *[0, 2] * 3] and played.recommendation == 2


def test_the_winner_of_the_last_run_or_the_largest_mean(trace: Play) -> None:
    # Two arms: runs of 2, 4 and 8 pulls. Arm 0 wins the first two runs with 1 : 0 and 0.6 : 0.5, the third is cut.
    rewards = [[1.0, 0.6, 0.6, *[0.0] * 9], [0.0, 0.5, 0.5, *[0.9] * 9]]
    assert trace(DoublingHalving(tie="first"), rewards, 12).recommendation == 0
    assert trace(DoublingHalving(tie="first", output="mean"), rewards, 12).recommendation == 1
    assert trace(DoublingHalving(tie="first"), rewards, 14).recommendation == 1  # the third is over
    assert DoublingHalving(output="mean").anytime and not DoublingHalving().anytime
