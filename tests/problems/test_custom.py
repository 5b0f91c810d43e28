"""The user's own arms, and the two demonstrations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from bai_gym.bandits import BernoulliBandit, GaussianBandit
from bai_gym.errors import BaiGymError, DataError, InstanceError, ParameterError
from bai_gym.problems import build
from bai_gym.rewards import COUNTS

RNG = np.random.default_rng(0)


def test_given_moments_are_taken_as_they_are() -> None:
    problem = build("custom", means=[1.0, 2.0], variances=[0.5, 3.0])
    bandit = problem.draw(3, RNG)
    assert isinstance(bandit, GaussianBandit)
    assert bandit.means.tolist() == [[1.0, 2.0]] * 3
    assert bandit.variances.tolist() == [[0.5, 3.0]] * 3
    assert problem.notes == ()
    assert build("custom", means=[1, 2]).draw(1, RNG).variances.tolist() == [[1.0, 1.0]]
    assert build("custom", means=[1, 2], variances=4).draw(1, RNG).variances.tolist() == [[4.0, 4.0]]


def test_bernoulli_arms_need_means_alone() -> None:
    bandit = build("custom", means=[0.25, 0.5], distribution="bernoulli").draw(1, RNG)
    assert isinstance(bandit, BernoulliBandit)
    assert bandit.variances.tolist() == [[0.1875, 0.25]]
    with pytest.raises(ParameterError, match="the means determine them"):
        build("custom", means=[0.25, 0.5], variances=[1.0, 1.0], distribution="bernoulli")
    with pytest.raises(InstanceError, match=r"lies in \[0, 1\]"):
        build("custom", means=[0.25, -0.5], distribution="bernoulli")


@pytest.mark.each("distribution", ["gaussian", "bernoulli"])
def test_the_demonstration_instance(distribution: str) -> None:
    problem = build("custom", distribution=distribution)
    bandit = problem.draw(1, RNG)
    assert bandit.means.tolist() == [[0.5, 0.45, 0.4, 0.3]]
    assert bandit.variances[0, 0] == 0.25
    assert ["demonstration" in note for note in problem.notes] == [True]


def test_a_log_becomes_arms(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("page,clicks\nb,1\na,2\nb,3\na,6\na,4\n")
    problem = build("table", path=path, arm_column="page", reward_column="clicks")
    bandit = problem.draw(2, RNG)
    assert problem.arm_names == ("a", "b")
    assert problem.notes == ()
    assert bandit.means.tolist() == [[4.0, 2.0]] * 2
    np.testing.assert_allclose(bandit.variances, [[8 / 3, 1.0]] * 2)
    assert set(bandit.pull(np.zeros(99, np.int64), RNG)) == {2.0, 6.0, 4.0}
    assert set(bandit.pull(np.ones(99, np.int64), RNG)) == {1.0, 3.0}


def test_rows_are_left_out_with_a_note_and_numbers_are_cut_into_bins(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("page,clicks\nb,no\na,yes\nb,\na,no\n")
    problem = build("table", path=path, arm_column="page", reward_column="clicks", missing="drop")
    assert problem.notes == ("rows of log.csv without an arm or a reward, left out: 1",)
    assert problem.draw(1, RNG).means.tolist() == [[0.5, 0.0]]
    path.write_text("dose;effect\n1;0\n2;0\n3;1\n4;1\n")
    problem = build("table", path=path, arm_column="dose", reward_column="effect", separator=";", bins=2)
    assert problem.arm_names == ("1..2", "3..4")
    assert problem.draw(1, RNG).means.tolist() == [[0.0, 1.0]]


def test_the_demonstration_log() -> None:
    problem = build("table")
    bandit = problem.draw(1, RNG)
    assert problem.arm_names == ("long form", "present page", "one field", "one field, quote")
    np.testing.assert_allclose(bandit.means, [[0.25, 0.3, 0.34, 0.4]])
    np.testing.assert_allclose(bandit.variances, [[0.1875, 0.21, 0.2244, 0.24]])
    assert ["synthetic" in note for note in problem.notes] == [True]


def test_a_table_declares_the_kind_of_its_rewards(tmp_path: Path) -> None:
    cases = [
        ([0, 1, 1, 0], None, "binary"),
        ([0, 1, 0.5, 0], None, "bounded(0, 1)"),
        ([1, 5, 4, 2], None, "real"),
        ([1, 5, 4, 2], "bounded(1, 5)", "bounded(1, 5)"),
        ([1, 5, 4, 2], COUNTS, "counts"),
        ([1, 5, 4, 2], "binary", None),
    ]
    for rewards, given, kind in cases:
        log = tmp_path / "log.csv"
        log.write_text("arm,reward\n" + "".join(f"{'ab'[row % 2]},{reward}\n" for row, reward in enumerate(rewards)))
        columns: dict[str, Any] = {"path": log, "arm_column": "arm", "reward_column": "reward"}
        for replace in (True, False):
            if kind is None:
                with pytest.raises(DataError, match=r"row \d, is [45], which is not binary"):
                    build("table", **columns, replace=replace, rewards=given)
            else:
                assert str(build("table", **columns, replace=replace, rewards=given).draw(1, RNG).rewards) == kind


def test_half_of_what_a_table_needs_is_refused() -> None:
    columns: dict[str, Any] = {"path": "log.csv", "arm_column": "page", "reward_column": "clicks"}
    incomplete = [{name: columns[name] for name in columns if name != left_out} for left_out in columns]
    for keywords in (*incomplete, {"path": "log.csv"}, {"separator": ";"}, {"bins": 2}, {"rewards": "real"}):
        with pytest.raises(ParameterError, match="path=, arm_column= and reward_column="):
            build("table", **keywords)


@pytest.mark.filterwarnings("ignore")
def test_values_of_another_type_are_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("page,bought\na,0\nb,1\n")
    log = {"path": str(tmp_path / "log.csv"), "arm_column": "page", "reward_column": "bought"}
    ragged, array, paths = [[1.0], [0.5, 1.0]], np.array(["a", "b"]), (10**30, "\0", b"\0", [1], "\ud800")
    for env, keywords in (
        *(("BAI-Custom-v0", {"task": task}) for task in ([1], {}, array)),
        ("BAI-Table-v0", {**log, "missing": array}),
        ("BAI-Custom-v0", {"means": [0.1, 0.2], "paired": True, "correlation": ragged}),
        *(("BAI-Table-v0", {**log, "path": path}) for path in paths),
        *(
            (env, {"path": path})
            for path in paths
            for env in ("BAI-Automobile-v0", "BAI-AlpacaEval-v0", "BAI-ASlib-v0")
        ),
    ):
        if env not in gym.registry or ("paired" in keywords and "BAI-PairedCustom-v0" not in gym.registry):
            continue  # of a wing
        with pytest.raises(BaiGymError) as caught:
            gym.make(env, **keywords)
        assert "\n" not in str(caught.value), (env, keywords)


def test_a_column_of_a_log_has_the_costs(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("model,question,score,dollars\na,1,1,.5\nb,1,0,2\na,2,0,1.5\nb,2,1,3\nc,1,1,7\n")
    columns = {"path": path, "arm_column": "model", "reward_column": "score", "cost_column": "dollars"}
    assert build("table", **columns).costs == (1.0, 2.5, 7.0)
    assert build("table", arms=["b", "a"], **columns).costs == (2.5, 1.0)
    for keywords in ({}, {"num_envs": 2}):
        make = gym.make_vec if keywords else gym.make
        for costs, found in ((None, (1.0, 2.5, 7.0)), ([1, 2, 3], (1.0, 2.0, 3.0))):
            env: Any = make("BAI-Table-v0", budget=20.5, costs=costs, **columns, **keywords)
            assert env.unwrapped.episode_spec.costs == found and env.unwrapped.budget == 20.5
    path.write_text("model,score,dollars\na,1,0\nb,1,2\n")
    with pytest.raises(ParameterError, match="costs"):
        gym.make("BAI-Table-v0", budget=20.5, **columns)
    for keywords, error in (({"cost_column": "euros"}, DataError), ({"path": None}, ParameterError)):
        with pytest.raises(error):
            build("table", **{**columns, **keywords})
