"""Ridge regression pull by pull, in the three forms of its matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bai_gym.agents.ridge import Ridge, longest, noise_deviation, shared_features
from bai_gym.agents.ridge_forms import FeatureForm, GroupForm, LazyForm, cheapest_form, coordinates, orthogonal_groups
from bai_gym.bandits import FeatureBandit, GaussianBandit
from bai_gym.errors import InstanceError, ParameterError
from bai_gym.problems import Briefing
from bai_gym.statistics import Statistics


def adaptive(num_arms: int) -> np.ndarray:
    features = np.vstack([np.eye(num_arms - 1), np.zeros(num_arms - 1)])
    features[-1, :2] = np.cos(0.1), np.sin(0.1)
    return features


def sphere(runs: int, num_arms: int, dimension: int, seed: int = 0) -> np.ndarray:
    x = np.random.default_rng(seed).standard_normal((runs, num_arms, dimension))
    return np.asarray(x / np.linalg.norm(x, axis=-1, keepdims=True))


WITH_HOLES = np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 3.0], [0.0, 0.0, -1.0]])
CASES: list[tuple[type, np.ndarray]] = [
    (FeatureForm, sphere(1, 40, 4)),
    (FeatureForm, sphere(3, 40, 4)),
    (FeatureForm, sphere(3, 20, 1)),
    (LazyForm, sphere(1, 40, 33)),
    (LazyForm, sphere(3, 40, 33)),
    (LazyForm, sphere(3, 30, 50)),  # more features than arms
    (LazyForm, np.repeat(sphere(3, 40, 7), 4, axis=2)),  # of rank 7
    (GroupForm, adaptive(20)[None]),
    (GroupForm, np.stack([adaptive(20), 2.0 * adaptive(20)])),
    (GroupForm, np.eye(6)[None]),
    (GroupForm, WITH_HOLES[None]),
    (GroupForm, np.zeros((1, 4, 2))),
]


def direct(x: np.ndarray, lam: float, pulls: Any, sums: Any) -> tuple[np.ndarray, np.ndarray, float]:
    """Estimates, M and log det A / lam of one episode, from the definition."""
    a = lam * np.eye(x.shape[1]) + (x.T * pulls) @ x
    log_det = np.linalg.slogdet(a / lam)[1]
    return x @ np.linalg.solve(a, x.T @ sums), x @ np.linalg.solve(a, x.T), float(log_det)


def play(ridge: Ridge, window: Statistics, pulls: int, rng: np.random.Generator, mean: float = 0.0) -> None:
    arms, batch = window.pulls.shape
    weights = rng.dirichlet(np.full(arms, 0.3))  # some arms often, some hardly ever
    for _ in range(pulls):
        flat = rng.choice(arms, size=batch, p=weights) * batch + np.arange(batch)
        made, means, _ = window.add(flat, mean + rng.standard_normal(batch), variances=False)
        ridge.add(flat, made, means)


@pytest.mark.parametrize(("form", "x"), CASES, ids=lambda v: str(v.shape) if isinstance(v, np.ndarray) else v.__name__)
@pytest.mark.parametrize("lam", [1.0, 1e-4, 50.0])
@pytest.mark.parametrize("swept", [False, True])
def test_thousands_of_pulls_leave_no_error(form: type, x: np.ndarray, lam: float, swept: bool) -> None:
    rng = np.random.default_rng(1)
    batch, arms = 3 if len(x) == 1 else len(x), x.shape[1]
    ridge = Ridge(x, lam, batch)
    assert type(ridge._form) is form
    window = Statistics.zeros((batch, arms)).window()
    if swept:
        window.add(np.arange(batch * arms), rng.standard_normal(batch * arms))
    ridge.start(window)
    for pulls in (0, 1, 20, 3000):
        play(ridge, window, pulls, rng, mean=2.0)
        chosen = rng.integers(arms, size=batch)
        rows = ridge.covariances(chosen)
        for n in range(batch):
            scores, m, log_det = direct(x[n % len(x)], lam, window.pulls[:, n], window.sums[:, n])
            np.testing.assert_allclose(ridge.scores[n], scores, atol=1e-8, rtol=1e-9)
            np.testing.assert_allclose(ridge.variances[n], np.diag(m), atol=1e-8, rtol=1e-9)
            np.testing.assert_allclose(rows[n], m[chosen[n]], atol=1e-8, rtol=1e-9)
            assert ridge.log_det[n] == pytest.approx(log_det, abs=1e-6)
            assert ridge.scale[n] >= np.abs(scores).max() - 1e-9
    assert window.pulls.sum() == batch * (3021 + arms * swept)


def test_a_tiny_lam_is_made_up_for() -> None:
    # A^-1 falls from 1e8 to 1 in the first pulls, and what was subtracted leaves errors of 1e-8; then it is renewed.
    x = sphere(2, 30, 28)
    ridge, window = Ridge(x, 1e-8, 2), Statistics.zeros((2, 30)).window()
    ridge.start(window)
    rng = np.random.default_rng(0)
    order = rng.permutation(30)
    for arm in np.concatenate([order, order]):
        flat = arm * 2 + np.arange(2)
        made, means, _ = window.add(flat, rng.standard_normal(2))
        ridge.add(flat, made, means)
    for n in range(2):
        scores, m, _ = direct(x[n], 1e-8, window.pulls[:, n], window.sums[:, n])
        np.testing.assert_allclose(ridge.scores[n], scores, atol=1e-9, rtol=0)
        np.testing.assert_allclose(ridge.variances[n], np.diag(m), atol=1e-9, rtol=0)


def test_pending_pulls_are_counted_in() -> None:
    # One pull more than are held back, and one less: M has and has not been renewed.
    x = sphere(2, 40, 33)
    for pulls in (LazyForm.pending - 1, LazyForm.pending, LazyForm.pending + 1):
        ridge, window = Ridge(x, 1.0, 2), Statistics.zeros((2, 40)).window()
        ridge.start(window)
        play(ridge, window, pulls, np.random.default_rng(0))
        for n in range(2):
            _, m, _ = direct(x[n], 1.0, window.pulls[:, n], window.sums[:, n])
            np.testing.assert_allclose(ridge.covariances(np.array([3, 5]))[n], m[[3, 5][n]], atol=1e-12)


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
    def kind(num_arms: int, dimension: int, batch: int = 1000) -> type:
        return type(cheapest_form(sphere(1, num_arms, dimension), 1.0, batch))

    assert kind(128, 10) is FeatureForm and kind(128, 127) is LazyForm and kind(16, 10) is LazyForm
    assert type(cheapest_form(adaptive(128)[None], 1.0, 1000)) is GroupForm
    # M would take 4 GB, and A^-1 less.
    assert kind(300, 200) is LazyForm and kind(300, 200, 6000) is FeatureForm and kind(300, 400, 6000) is LazyForm


def test_separate_regressions() -> None:
    # x = (3, 4) has the square 25: after T pulls with sum s, x^T theta = 25 s / (lam + 25 T), and x^T A^-1 x is
    # 25 / (lam + 25 T). Nothing is learnt about the other arm, although it is the same.
    x = np.array([[[3.0, 4.0], [3.0, 4.0]]])
    ridge, window = Ridge(x, 2.0, 1, separate=True), Statistics.zeros((1, 2)).window()
    ridge.start(window)
    for reward in (1.0, 5.0):
        ridge.add(np.array([0]), *window.add(np.array([0]), np.array([reward]))[:2])
    np.testing.assert_allclose(ridge.scores, [[25 * 6 / 52, 0.0]])
    np.testing.assert_allclose(ridge.variances, [[25 / 52, 25 / 2]])
    np.testing.assert_allclose(ridge.covariances(np.array([0])), [[25 / 52, 0.0]])


def test_coordinates_keep_inner_products() -> None:
    x = sphere(3, 4, 9)
    found = coordinates(x)
    assert found.shape == (3, 4, 4)
    np.testing.assert_allclose(found @ found.transpose(0, 2, 1), x @ x.transpose(0, 2, 1), atol=1e-12)
    assert coordinates(found) is found


def briefing(features: Any, budget: int = 100, batch: int = 3) -> Briefing:
    num_arms = np.shape(features)[-2]
    variances = np.tile(np.arange(1.0, 1.0 + num_arms), (batch, 1))
    bandit = GaussianBandit(np.zeros((batch, num_arms)), variances)
    return Briefing(num_arms, budget, batch, truth=FeatureBandit(bandit, features), knows={"variances"})


def test_one_matrix_for_all_episodes_is_kept_once() -> None:
    told = briefing(np.eye(3))
    assert shared_features(told, 1.0, "A").shape == (1, 3, 3)
    told.features = np.tile(np.eye(3), (3, 1, 1))  # a copy for each, as environments have it
    assert shared_features(told, 1.0, "A").shape == (1, 3, 3)
    assert shared_features(briefing(sphere(3, 4, 2)), 1.0, "A").shape == (3, 4, 2)


def test_features_that_cannot_be_used() -> None:
    told = briefing(np.eye(3))
    told.features = np.full((3, 3, 2), np.nan)
    with pytest.raises(InstanceError, match=r"^features: arm 0 has nan in dimension 0"):
        shared_features(told, 1.0, "LinUCB")
    with pytest.raises(InstanceError, match=r"^LinUCB cannot use features as large as these: divide them by a number$"):
        shared_features(briefing(1e200 * np.eye(3)), 1.0, "LinUCB")
    message = "^lam of LinUCB is 1e-12, too small for 100 pulls of arms of length 1: give at least 1.01e-10$"
    with pytest.raises(ParameterError, match=message):
        shared_features(briefing(np.eye(3)), 1e-12, "LinUCB")
    shared_features(briefing(np.eye(3)), 1.01e-10, "LinUCB")


def test_lengths_and_noise() -> None:
    np.testing.assert_allclose(longest(np.array([[[3.0, 4.0], [1.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]])), [5.0, 0.0])
    told = briefing(np.eye(4))
    np.testing.assert_allclose(noise_deviation(None, told), [2.0, 2.0, 2.0])
    np.testing.assert_allclose(noise_deviation(0.5, told), [0.5, 0.5, 0.5])
