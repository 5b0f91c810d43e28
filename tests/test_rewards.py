"""Kinds of rewards: what text names them, what data show, which rewards belong to them."""

from __future__ import annotations

import numpy as np
import pytest

from bai_gym.bandits import BernoulliBandit, FeatureBandit, GaussianBandit, PoissonBandit
from bai_gym.errors import ParameterError
from bai_gym.problems import ProblemInfo
from bai_gym.rewards import BINARY, COUNTS, REAL, UNIT, Rewards


def test_text_names_every_kind_and_is_written_back() -> None:
    cases = {
        "binary": (0.0, 1.0),
        "bounded(1, 5)": (1.0, 5.0),
        "bounded(-0.5, 1e-3)": (-0.5, 1e-3),
        "counts": (0.0, np.inf),
        "real": (-np.inf, np.inf),
    }
    for text, limits in cases.items():
        made = Rewards.of(text)
        assert (made.low, made.high) == limits, text
        assert Rewards.of(str(made)) == made, text
        assert Rewards.of(made) is made, text


def test_what_is_no_kind_is_an_error_of_one_line() -> None:
    for given in ("Binary", "bounded", "bounded(1, 1)", "bounded(2, 1)", "bounded(a, b)", "bounded(0, inf)", 3, None):
        with pytest.raises(ParameterError, match="rewards must be") as caught:
            Rewards.of(given)
        assert "\n" not in str(caught.value), given
    with pytest.raises(ParameterError, match="no other bounds"):
        Rewards("binary", 0.0, 2.0)


def test_data_show_their_kind() -> None:
    cases = [([0, 1, 1], BINARY), ([1, 1], BINARY), ([0, 0.5], UNIT), ([1, 2], REAL), ([-0.1, 0.5], REAL)]
    for values, kind in cases:
        assert Rewards.read(np.array(values, float)) == kind, values


def test_a_reward_of_another_kind_is_named() -> None:
    cases = [
        (BINARY, [0, 1], [0, 0.5], "0.5"),
        (UNIT, [0, 0.3, 1], [0.2, 1.5], "1.5"),
        (COUNTS, [0, 7], [-1], "-1"),
        (COUNTS, [3], [1.5], "1.5"),
    ]
    for kind, good, bad, named in cases:
        assert kind.refusal(np.array(good, float)) is None, kind
        assert named in str(kind.refusal(np.array(bad, float))), kind
    assert REAL.refusal(np.array([-1e9, 0.5])) is None


def test_agents_are_told_the_kind_without_declaring_anything() -> None:
    features = np.eye(2)
    cases = [
        (BernoulliBandit([0.1, 0.2]), BINARY),
        (GaussianBandit([0.1, 0.2]), REAL),
        (PoissonBandit([1.0, 2.0]), COUNTS),
        (FeatureBandit(BernoulliBandit([0.1, 0.2]), features), BINARY),
    ]
    for bandit, kind in cases:
        assert ProblemInfo(2, 10, truth=bandit).rewards == kind, bandit
    assert ProblemInfo(2, 10).rewards == REAL
