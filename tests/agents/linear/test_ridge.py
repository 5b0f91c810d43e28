"""Ridge regression pull by pull, in the forms of its matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bai_gym.agents import make
from bai_gym.agents.linear.linear_models import longest, noise_deviation, shared_features
from bai_gym.agents.linear.ridge import RegressionState, read_row, update_regression
from bai_gym.agents.linear.ridge_fit import Ridge, coordinates, orthogonal_groups
from bai_gym.bandits import FeatureBandit, GaussianBandit
from bai_gym.errors import InstanceError, ParameterError
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import STOP, WAIT, Engine, Episode, Outcome, Rule, Sequential
from bai_gym.statistics import Statistics


def adaptive(num_arms: int) -> np.ndarray:
    features = np.vstack([np.eye(num_arms - 1), np.zeros(num_arms - 1)])
    features[-1, :2] = np.cos(0.1), np.sin(0.1)
    return features


def sphere(runs: int, num_arms: int, dimension: int, seed: int = 0) -> np.ndarray:
    x = np.random.default_rng(seed).standard_normal((runs, num_arms, dimension))
    return np.asarray(x / np.linalg.norm(x, axis=-1, keepdims=True))


WITH_HOLES = np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 3.0], [0.0, 0.0, -1.0]])
INVERSE, WHOLE, GROUPS = "inverse", "whole", "groups"
CASES: list[tuple[str, np.ndarray]] = [
    (INVERSE, sphere(1, 40, 4)),
    (INVERSE, sphere(3, 20, 1)),
    (WHOLE, sphere(1, 40, 33)),
    (WHOLE, sphere(3, 30, 50)),  # more features than arms
    (WHOLE, np.repeat(sphere(3, 40, 7), 4, axis=2)),  # of rank 7
    (GROUPS, np.stack([adaptive(20), 2.0 * adaptive(20)])),
    (GROUPS, WITH_HOLES[None]),
    (GROUPS, np.zeros((1, 4, 2))),
]


def form(ridge: Ridge) -> str:
    """The form of the matrix."""
    if ridge.width:
        return INVERSE
    return WHOLE if np.size(ridge.values["matrix"]) == ridge.order.size**2 else GROUPS


class UnevenState(RegressionState):
    last: int  # pulls at the end
    in_turn: bool  # whether arms are pulled in turn


def pull_unevenly(e: Episode, s: UnevenState, w: UnevenState, rng: np.random.Generator) -> int:
    """Pull some arms often, some hardly ever, or in turn; at the end note a row of M."""
    if not update_regression(e, s, w):
        return WAIT
    if e.made >= s.last:
        read_row(s, w, e.num_arms // 2, w.other)
        return STOP
    return e.made % e.num_arms if s.in_turn else int(rng.random() ** 3 * e.num_arms)


def play(x: np.ndarray, ridge: Ridge, lam: float, pulls: int, *, begin: Statistics, in_turn: bool = False) -> Outcome:
    """Pull until so many are made."""
    batch, arms = begin.pulls.shape
    rule = Rule(choose=pull_unevenly, state=UnevenState)
    values = {**ridge.values, "last": pulls, "in_turn": in_turn}
    request = Sequential(rule, pulls + 1, "first", np.random.default_rng(1), values, supply=ridge.fit)
    features = np.broadcast_to(x, (batch, *x.shape[1:]))
    engine = Engine(request, begin, int(begin.pulls[0].sum()), features, variances=False)
    bandit = GaussianBandit(np.full((batch, arms), 2.0), 1.0)
    engine.advance(bandit.draws(), np.random.default_rng(2), pulls + 1, lambda rows, slots: np.zeros(0))
    played = engine.outcome
    assert (played.statistics.pulls.sum(axis=1) == max(pulls, begin.pulls[0].sum())).all() and played.stopped.all()
    return played


def direct(x: np.ndarray, lam: float, pulls: Any, sums: Any) -> tuple[np.ndarray, np.ndarray, float]:
    """Estimates, M and log det A / lam of one episode, from the definition."""
    a = lam * np.eye(x.shape[1]) + (x.T * pulls) @ x
    log_det = np.linalg.slogdet(a / lam)[1]
    return x @ np.linalg.solve(a, x.T @ sums), x @ np.linalg.solve(a, x.T), float(log_det)


def check(x: np.ndarray, ridge: Ridge, lam: float, played: Outcome, tolerance: float) -> None:
    """Compare all that is kept with its definition."""
    arms, order = x.shape[1], ridge.order
    states, statistics = played.states, played.statistics
    close: dict[str, Any] = {"atol": tolerance, "rtol": 1e-9}
    for n in range(len(statistics.pulls)):
        scores, m, log_det = direct(x[n % len(x)], lam, statistics.pulls[n], statistics.sums[n])
        np.testing.assert_allclose(states["scores"][n], scores[order], **close)
        np.testing.assert_allclose(states["squares"][n], np.diag(m)[order], **close)
        np.testing.assert_allclose(states["other"][n], m[order[arms // 2], order], **close)
        assert states["log_det"][n] == pytest.approx(log_det, abs=1e-6)
        assert states["scale"][n] >= 1.0
    np.testing.assert_allclose(ridge.scores(statistics.pulls, statistics.means)[:, order], states["scores"], atol=1e-7)


@pytest.mark.each(("name", "x"), CASES, ids=lambda v: str(v.shape) if isinstance(v, np.ndarray) else v)
@pytest.mark.each("lam", [1e-4, 50.0])
@pytest.mark.each("swept", [False, True])
def test_thousands_of_pulls_leave_no_error(name: str, x: np.ndarray, lam: float, swept: bool) -> None:
    batch, arms = 3 if len(x) == 1 else len(x), x.shape[1]
    ridge = Ridge(x, lam)
    assert form(ridge) == name
    begin = Statistics.zeros((batch, arms))
    if swept:
        begin = Statistics(np.ones((batch, arms), np.int64), np.full((batch, arms), 1.5), np.zeros((batch, arms)))
    for pulls in (arms, arms + 1, 3000):
        check(x, ridge, lam, play(x, ridge, lam, pulls, begin=begin), 1e-8)


def test_a_tiny_lam_is_made_up_for() -> None:
    # A^-1 falls from 1e8 to 1 in the first pulls, and what was subtracted leaves errors of 1e-8; then it is renewed.
    x = sphere(2, 30, 28)
    ridge = Ridge(x, 1e-8)
    check(x, ridge, 1e-8, play(x, ridge, 1e-8, 60, begin=Statistics.zeros((2, 30)), in_turn=True), 1e-9)


def test_groups_of_orthogonal_arms() -> None:
    assert orthogonal_groups(np.eye(3)[None]).tolist() == [0, 1, 2]
    assert orthogonal_groups(adaptive(5)[None]).tolist() == [0, 0, 1, 2, 0]
    chain = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [0.0, 0.0, 2.0], [1.0, 0.0, 0.0]])
    assert orthogonal_groups(chain[None]).tolist() == [0, 0, 0, 0]
    assert orthogonal_groups(WITH_HOLES[None]).tolist() == [0, 1, 0, 2, 2]
    # Arms have to be orthogonal in all episodes.
    swapped = np.eye(3)[:, [0, 1, 2]].copy()
    swapped[1] = [0.0, 1.0, 1.0]
    assert orthogonal_groups(np.stack([np.eye(3), swapped])).tolist() == [0, 1, 1]


def test_the_cheapest_form() -> None:
    # A pull changes d^2 numbers and reads K d, or changes K^2.
    assert form(Ridge(sphere(1, 128, 10), 1.0)) == INVERSE and form(Ridge(sphere(1, 128, 127), 1.0)) == WHOLE
    assert form(Ridge(sphere(1, 16, 10), 1.0)) == WHOLE and form(Ridge(adaptive(128)[None], 1.0)) == GROUPS


def test_coordinates_keep_inner_products() -> None:
    x = sphere(3, 4, 9)
    found = coordinates(x)
    assert found.shape == (3, 4, 4)
    np.testing.assert_allclose(found @ found.transpose(0, 2, 1), x @ x.transpose(0, 2, 1), atol=1e-12)
    assert coordinates(found) is found


def info(features: Any, budget: int = 100, batch: int = 3) -> ProblemInfo:
    num_arms = np.shape(features)[-2]
    variances = np.tile(np.arange(1.0, 1.0 + num_arms), (batch, 1))
    bandit = GaussianBandit(np.zeros((batch, num_arms)), variances)
    return ProblemInfo(num_arms, budget, batch, truth=FeatureBandit(bandit, features), knows={"variances"})


def test_one_matrix_for_all_episodes_is_kept_once() -> None:
    told = info(np.eye(3))
    assert shared_features(told, 1.0, "A").shape == (1, 3, 3)
    told.features = np.tile(np.eye(3), (3, 1, 1))  # a copy for each, as environments have it
    assert shared_features(told, 1.0, "A").shape == (1, 3, 3)
    assert shared_features(info(sphere(3, 4, 2)), 1.0, "A").shape == (3, 4, 2)


def test_features_that_cannot_be_used() -> None:
    told = info(np.eye(3))
    told.features = np.full((3, 3, 2), np.nan)
    with pytest.raises(InstanceError, match="arm 0 has nan"):
        shared_features(told, 1.0, "LinUCB")
    with pytest.raises(InstanceError, match="as large as these"):
        shared_features(info(1e200 * np.eye(3)), 1.0, "LinUCB")
    with pytest.raises(ParameterError, match="at least 1.01e-10"):
        shared_features(info(np.eye(3)), 1e-12, "LinUCB")
    shared_features(info(np.eye(3)), 1.01e-10, "LinUCB")


def test_lengths_and_noise() -> None:
    np.testing.assert_allclose(longest(np.array([[[3.0, 4.0], [1.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]])), [5.0, 0.0])
    told = info(np.eye(4))
    np.testing.assert_allclose(noise_deviation(make("LinUCB"), told), [2.0, 2.0, 2.0])
    np.testing.assert_allclose(noise_deviation(make("LinUCB", sigma=0.5), told), [0.5, 0.5, 0.5])
