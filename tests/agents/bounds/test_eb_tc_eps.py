"""EB-TC-eps: its pulls by hand, and what the slack is for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bai_gym.agents import EBTCEps
from bai_gym.agents.bounds.eb_tc_eps import EBTCState, pull_pair
from bai_gym.errors import ParameterError
from bai_gym.problems import ProblemInfo

Play = Callable[..., Any]


def test_first_pulls_by_hand(trace: Play) -> None:
    # Constant rewards 2 and 1: B = 0, C = 1. M <= t / 2 at t = 1 (M = 0), t = 2 (M = 1), t = 4 (M = 2), but not at t =
    # 3 (M = 2 > 1.5) and t = 5 (M = 3 > 2.5).
    assert trace(EBTCEps(tie="first"), [[2.0], [1.0]], 7).arms == [0, 1, 1, 1, 0, 1, 0]


def test_ids_by_hand(trace: Play) -> None:
    # beta = "ids" gives C the share T_B / (T_B + T_C) of each visit, summed, less its pulls: 1/2, pulled; -1/2 + 1/3,
    # not; (2, 2) 1/3, pulled; -2/3 + 2/5, not; (3, 3) -4/15 + 1/2, pulled.
    assert trace(EBTCEps(tie="first", beta="ids"), [[2.0], [1.0]], 7).arms == [0, 1, 1, 0, 1, 0, 1]


def test_the_challenger_by_hand(episode: Play) -> None:
    # Means 1, 0.8, 0, epsilon 0.1, pulls 4, 1, 25: (0.2 + 0.1) / sqrt(1/4 + 1) = 0.268, 1.1 / sqrt(1/4 + 1/25) = 2.04.
    s, w = EBTCState.of(epsilon=0.1, beta=0.5, cost=np.zeros(3), due=np.zeros(9))
    e = episode([4, 1, 25], [1.0, 0.8, 0.0])
    assert [pull_pair(e, s, w, np.random.default_rng(0)) for _ in range(4)] == [1, 1, 0, 1]
    assert w.cost.tolist() == pytest.approx([-np.inf, -0.3 / np.sqrt(1.25), -1.1 / np.sqrt(0.29)])


def test_pairs_of_too_many_arms() -> None:
    with pytest.raises(ParameterError, match="num_arms=10000000 would take about"):
        EBTCEps().reset(ProblemInfo(10**7, 10**7))
