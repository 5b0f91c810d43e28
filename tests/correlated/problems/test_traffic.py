"""Sensors as arms: the prior is made of history, and the rest of the signals are the truth."""

from __future__ import annotations

from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

import bai_gym
from bai_gym.agents import BayesGap
from bai_gym.correlated import Signals, TrafficProblem, traffic_problem
from bai_gym.envs.scalar import BestArmEnv
from bai_gym.errors import BaiGymError, DataError, InstanceError, MissingDataError, ParameterError
from bai_gym.problems import FrozenProblem, ProblemInfo, build

# Six signals of two sensors. History is four: sensor 0 has mean 2 and squares 1 + 1 + 1 + 1 about it, sensor 1 has mean
# 4 and squares 4 + 4 + 4 + 4; they go up together twice and against each other twice.
SIGNALS = np.array([[1.0, 2.0], [3.0, 6.0], [1.0, 6.0], [3.0, 2.0], [7.0, 8.0], [9.0, 5.0]])


def test_a_case_worked_by_hand() -> None:
    problem = TrafficProblem(Signals(("a", "b"), SIGNALS))
    assert (problem.num_arms, problem.arm_names) == (2, ("a", "b"))
    assert problem.prior_mean.tolist() == [2.0, 4.0]
    np.testing.assert_allclose(problem.prior_covariance, [[4 / 3, 0.0], [0.0, 16 / 3]], rtol=1e-15, atol=1e-15)
    assert problem.noise_variance == pytest.approx(0.05 * (4 / 3 + 16 / 3) / 2, rel=1e-15)
    bandit = problem.draw(400, np.random.default_rng(0))
    assert {tuple(row) for row in bandit.means.tolist()} == {(7.0, 8.0), (9.0, 5.0)}
    assert (bandit.variances == problem.noise_variance).all()
    # Agents are given the prior, also where the instance is fixed.
    prior = FrozenProblem(problem, 3).draw(3, np.random.default_rng(0)).prior
    assert bandit.prior is prior is problem.prior
    np.testing.assert_array_equal(prior.covariance[0], problem.prior_covariance)
    np.testing.assert_array_equal(prior.mean[0], [2.0, 4.0])
    # Binomial(400, 1/2): five standard deviations are 50.
    assert abs((bandit.means[:, 0] == 7.0).sum() - 200) < 50


def test_an_agent_plays_with_the_prior_of_the_paper() -> None:
    # 20 times the standard deviation, 400 times the variance.
    agent = BayesGap(amplitude=20.0)
    truth = TrafficProblem(Signals(("a", "b"), SIGNALS)).draw(1, np.random.default_rng(0))
    agent.reset(ProblemInfo(2, 3, truth=truth, knows=agent.knows), np.random.default_rng(1))
    np.testing.assert_allclose(agent.prior.covariance[0], [[1600 / 3, 0.0], [0.0, 6400 / 3]], rtol=1e-14, atol=1e-12)
    np.testing.assert_array_equal(agent.prior.mean[0], [2.0, 4.0])
    few = bai_gym.evaluate(agent, "BAI-Traffic357-v0", budget=60, runs=400, seed=0)
    # 60 pulls of 357 arms: who believes arms to be independent and alike names one of the 60 pulled, or guesses, and is
    # right in at most 61 / 357 of the runs. Binomial(400, 61 / 357) is above 106 with probability 1e-6.
    assert few.runs - few.errors > 106


def test_the_size_is_that_of_the_paper() -> None:
    problem = traffic_problem()
    assert (problem.num_arms, problem.test_signals.shape) == (357, (840, 357))
    assert problem.prior_covariance.shape == (357, 357)
    np.testing.assert_array_equal(problem.prior_covariance, problem.prior_covariance.T)
    assert np.linalg.eigvalsh(problem.prior_covariance).min() > 0
    # 4.78, but for the estimation of the variance from 1,680 correlated signals: its standard deviation is below
    # 4.78 sqrt(2 / 1680) = 0.165 for one sensor, and so for their average.
    assert abs(problem.noise_variance - 4.78) < 5 * 0.165
    assert any("synthetic" in note for note in problem.notes)
    assert not np.array_equal(problem.test_signals, traffic_problem(signals_seed=1).test_signals)


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "speeds.csv"
    np.savetxt(path, SIGNALS, delimiter=",", header="a,b", comments="")
    env = gym.make("BAI-Traffic357-v0", path=str(path), budget=3).unwrapped
    assert isinstance(env, BestArmEnv) and isinstance(env.problem, TrafficProblem)
    assert env.num_arms == 2
    env.reset(seed=0)
    env.step(0)
    assert build("traffic", path=path, instance="fixed").arm_names == ("a", "b")


def test_los_loop_is_cut_to_working_hours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BAI_GYM_DATA", str(tmp_path))
    with pytest.raises(MissingDataError, match="'los-loop' is not in .*from its folder data.*los_speed.csv"):
        traffic_problem("los-loop")
    steps = np.arange(2016)
    values = np.column_stack([steps, steps + 0.5])
    (tmp_path / "los-loop").mkdir()
    np.savetxt(tmp_path / "los-loop" / "los_speed.csv", values, delimiter=",", header="11,12", comments="")
    problem = traffic_problem("los-loop")
    # 1 March 2012 was a Thursday: days 2 and 3 are a weekend. 6:00 is step 72 of a day, 11:00 is step 132.
    kept = np.concatenate([288 * day + np.arange(72, 132) for day in (0, 1, 4, 5, 6)])
    assert problem.prior_mean[0] == kept[:200].mean()
    np.testing.assert_array_equal(problem.test_signals[:, 0], kept[200:])
    np.savetxt(tmp_path / "los-loop" / "los_speed.csv", values[:-1], delimiter=",", header="11,12", comments="")
    with pytest.raises(DataError, match="Los-loop has 2016 rows.*this file has 2015"):
        traffic_problem("los-loop")


REFUSED: list[tuple[dict[str, object], type[BaiGymError], str]] = [
    ({"data": "metr-la"}, ParameterError, "data must be 'like' or 'los-loop', not 'metr-la'; .*give path="),
    ({"data": "like", "path": "x.csv"}, ParameterError, "data and signals_seed have no effect"),
    ({"header": True}, ParameterError, "give path= with it"),
    ({"data": "los-loop", "signals_seed": 1}, ParameterError, "seed of the synthetic signals"),
    ({"path": "missing.csv"}, MissingDataError, "there is no file"),
]


@pytest.mark.parametrize(("keywords", "kind", "message"), REFUSED)
def test_wrong_arguments_are_refused(keywords: dict[str, object], kind: type[BaiGymError], message: str) -> None:
    with pytest.raises(kind, match=message):
        traffic_problem(**keywords)  # type: ignore[arg-type]


def test_signals_that_cannot_be_used_are_refused() -> None:
    with pytest.raises(DataError, match="there are 2 signals"):
        TrafficProblem(Signals(("a", "b"), SIGNALS[:2]))
    with pytest.raises(DataError, match="do not vary"):
        TrafficProblem(Signals(("a", "b"), np.ones((9, 2))))
    with pytest.raises(InstanceError, match="at least 2 arms"):
        TrafficProblem(Signals(("a",), SIGNALS[:, :1]))
