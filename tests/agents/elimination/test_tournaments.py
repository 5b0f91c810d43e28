"""DSH and FBKT: stages and episodes by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bai_gym.agents import FBKT, DoublingHalving
from bai_gym.agents.elimination.fbkt import round_shares
from bai_gym.bandits import GaussianBandit

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


def test_knockouts_by_hand(trace: Play) -> None:
    # Arm 0 has a bye twice. 1 pull each of the pairs (1, 3) and (2, 4), 2 of the winners 3 and 2, and 2 of 0 and 2.
    played = trace(FBKT(tie="first"), [[0.5], [0.1], [0.9], [0.3], [0.2]], 36)
    assert (played.arms, played.recommendation) == ([1, 2, 3, 4, 3, 2, 3, 2, 0, 2, 0, 2], 2)
    # 15 pulls shared by 3 : 4 : 4 are 4, 5 and 5; the odd ones are left over. Of equal means the first arm wins.
    played = trace(FBKT(tie="first", leftover="scale"), [[0.9], [0.3], [0.3], [0.3], [0.2]], 15)
    assert (played.arms, played.recommendation) == ([1, 2, 3, 4, 1, 2, 1, 2, 0, 1, 0, 1], 0)


def test_shares_of_rounds_by_hand() -> None:
    # phi = 3: r / 6 (2/3)^r = 1/9, 4/27, 4/27, ...; 5 arms take three rounds of 4, 2 and 2 arms that play.
    assert [float(share) for share in round_shares(5, 3, "drop")] == pytest.approx([1 / 9, 4 / 27, 4 / 27])
    assert [float(share) for share in round_shares(5, 3, "scale")] == pytest.approx([3 / 11, 4 / 11, 4 / 11])
    assert FBKT().minimum_budget(5) == 36 and FBKT(leftover="scale").minimum_budget(5) == 15
    bandit = GaussianBandit(np.zeros(5))
    assert "59%" in FBKT().unmet_assumptions(bandit)[0] and not FBKT(leftover="scale").unmet_assumptions(bandit)
    assert float(sum(round_shares(2**60, 3, "drop"))) == pytest.approx(1.0, abs=1e-8)
