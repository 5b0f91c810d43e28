"""Paired arms of tables and of moments."""

from __future__ import annotations

from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

import bai_gym  # noqa: F401  # registers the ids
from bai_gym.errors import DataError, InstanceError, ParameterError
from bai_gym.problems import build

PAIRED_LOG = "model,question,score\na,1,1\nb,1,0\nc,1,1\na,2,1\nb,2,1\nc,2,0\nb,3,1\na,3,0\nc,4,1\nb,4,1\n"


def test_paired_arms_of_a_log_share_their_items(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(PAIRED_LOG)
    columns = {"arm_column": "model", "reward_column": "score", "item_column": "question", "paired": True}
    # Complete: items 1 and 2, or arm b alone; with zeros, b has three of four and the others half.
    for replace in (False, True):
        problem = build("table", path=path, replace=replace, **columns)
        bandit = problem.draw(4, np.random.default_rng(0))
        assert problem.paired and bandit.means.tolist() == [[1.0, 0.5, 0.5]] * 4
        rewards = np.stack([bandit.pull(np.array([arm, 3 + arm]), np.random.default_rng(1)) for arm in range(3)])
        assert {*map(tuple, rewards.T.tolist())} <= {(1.0, 0.0, 1.0), (1.0, 1.0, 0.0)}
    kept, warning = problem.notes
    assert "2 of 12 scores" in kept and "3 of 3 arms and 2 of 4 items" in kept
    assert "with 'items' a; with 'zero' b" in warning
    assert build("table", path=path, missing="zero", **columns).draw(1, np.random.default_rng(0)).means[0, 1] == 0.75
    for keywords, error in (
        ({"missing": "error"}, DataError),
        ({"missing": "arms"}, DataError),  # one arm is left
        ({"missing": "drop"}, ParameterError),
        ({"item_column": None}, ParameterError),
        ({"paired": False}, ParameterError),
        ({"item_column": "model"}, ParameterError),
    ):
        with pytest.raises(error):
            build("table", path=path, **{**columns, **keywords})
    path.write_text("model,question,score,dollars\na,1,1,.5\nb,1,0,2\na,2,0,1.5\nb,2,1,3\nc,1,1,7\n")
    costs = build("table", path=path, cost_column="dollars", missing="arms", **columns).costs
    assert costs == (1.0, 2.5)  # arm c has not seen question 2
    path.write_text(PAIRED_LOG + "a,1,0\n")
    with pytest.raises(DataError, match="has 2 rewards on one item of log.csv"):
        build("table", path=path, **columns)


def test_paired_gaussian_arms_need_a_correlation_or_a_covariance() -> None:
    for demo in (build("custom", paired=True), gym.make("BAI-PairedGaussian10-v0").unwrapped.problem):
        assert demo.paired and demo.draw(1, np.random.default_rng(0)).correlations[0, 1] == pytest.approx(0.5)
    given = build("custom", means=[0.0, 1.0], paired=True, covariance=[[4.0, 1.0], [1.0, 1.0]])
    bandit = given.draw(2, np.random.default_rng(0))
    assert bandit.variances.tolist() == [[4.0, 1.0]] * 2 and bandit.correlations[0, 1] == pytest.approx(0.5)
    for keywords in (
        {"means": [0.0, 1.0], "paired": True},
        {"means": [0.0, 1.0], "correlation": 0.5},
        {"paired": True, "covariance": np.eye(4)},
        {"paired": True, "distribution": "bernoulli"},
        {"paired": "yes"},
    ):
        with pytest.raises((InstanceError, ParameterError)):
            build("custom", **keywords)
