"""The linear and logistic bandits of Azizi et al. (2022), number for number."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import kstest

from bai_gym.bandits import BernoulliBandit, FeatureBandit, GaussianBandit, PoissonBandit
from bai_gym.errors import InstanceError, ParameterError
from bai_gym.linear import LinearCornerProblem, LinearSphereProblem, LogisticProblem
from bai_gym.linear.problems.linear import closest_pairs
from bai_gym.problems import Problem, build
from bai_gym.statistics import FloatArray

LEVEL = 0.001


def drawn(problem: Problem, batch: int = 1, seed: int = 0) -> tuple[FeatureBandit, FloatArray]:
    bandit = problem.draw(batch, np.random.default_rng(seed))
    assert isinstance(bandit, FeatureBandit)
    assert bandit.features is not None
    assert bandit.features.shape == (batch, problem.num_arms, problem.num_features)
    return bandit, bandit.features


@pytest.mark.each("arms", [3, 11])
def test_adaptive(arms: int) -> None:
    bandit, features = drawn(build("linear-adaptive", num_arms=arms))
    assert features.shape == (1, arms, arms - 1)
    np.testing.assert_array_equal(features[0, :-1], np.eye(arms - 1))
    np.testing.assert_allclose(features[0, -1, :2], [0.9950042, 0.0998334], rtol=1e-6)
    assert not features[0, -1, 2:].any()
    assert bandit.means[0, 0] == 1.0 and not bandit.means[0, 1:-1].any()
    assert 1.0 - bandit.means[0, -1] == pytest.approx(0.0049958, abs=1e-7)
    assert (bandit.variances == 10.0).all() and isinstance(bandit.inner, GaussianBandit)
    wider, _ = drawn(build("linear-adaptive", num_arms=arms, angle=np.pi / 2, noise_variance=2.0))
    assert wider.means[0, -1] == pytest.approx(0.0, abs=1e-15)
    assert (wider.variances == 2.0).all()
    longer, _ = drawn(build("linear-adaptive", num_arms=arms, scale=2.0))
    np.testing.assert_array_equal(longer.means, 2.0 * bandit.means)


def test_static() -> None:
    for gap in (0.03, 0.3):
        bandit, features = drawn(build("linear-static", gap=gap))
        np.testing.assert_array_equal(features[0], np.eye(16))
        assert bandit.means.tolist() == [[gap, *[0.0] * 15]]
        assert (bandit.variances == 10.0).all()


@pytest.mark.each(("arms", "dimension"), [(2, 2), (8, 10), (30, 2)])
def test_sphere(arms: int, dimension: int) -> None:
    problem = build("linear-sphere", num_arms=arms, num_features=dimension)
    bandit, features = drawn(problem, 300)
    np.testing.assert_allclose(np.linalg.norm(features, axis=-1), 1.0)
    assert (bandit.variances == 10.0).all()
    products = features @ features.transpose(0, 2, 1) - 3.0 * np.eye(arms)
    closest = products.max(axis=(1, 2))
    order = bandit.means.argsort(axis=1)
    best, second = order[:, -1], order[:, -2]
    # The two best arms are the two closest, and their gap follows from the angle between them.
    rows = np.arange(300)
    np.testing.assert_allclose(products[rows, best, second], closest)
    gaps = bandit.means[rows, best] - bandit.means[rows, second]
    np.testing.assert_allclose(gaps, 0.98 * (1.0 - closest), atol=1e-12)
    np.testing.assert_allclose(bandit.means[rows, best], 0.99 + 0.01 * closest)
    # No arm is the best one by its number: neither of the pair's two is preferred.
    assert abs((best < second).mean() - 0.5) < 3.3 * 0.5 / np.sqrt(300)


def test_sphere_is_uniform() -> None:
    _, features = drawn(LinearSphereProblem(4, 3), 5000)
    # In three dimensions each coordinate of a uniform point on the sphere is uniform on [-1, 1] (Archimedes).
    for coordinate in range(3):
        assert kstest(features[:, 0, coordinate], "uniform", args=(-1, 2)).pvalue > LEVEL / 3


def test_closest_pairs_do_not_depend_on_how_many_are_looked_at_together(monkeypatch: pytest.MonkeyPatch) -> None:
    _, features = drawn(LinearSphereProblem(9, 4), 50)
    pairs = closest_pairs(features)
    assert (pairs[:, 0] < pairs[:, 1]).all()
    monkeypatch.setattr("bai_gym.linear.problems.linear.PAIRS_AT_ONCE", 200)
    np.testing.assert_array_equal(closest_pairs(features), pairs)


@pytest.mark.each("arms", [3, 12])
def test_corner(arms: int) -> None:
    bandit, features = drawn(LinearCornerProblem(arms), 4000)
    assert features.shape == (4000, arms, 2)
    np.testing.assert_array_equal(features[:, 0], np.tile([1.0, 0.0], (4000, 1)))
    np.testing.assert_allclose(features[:, -1], np.tile([-np.sqrt(0.5), np.sqrt(0.5)], (4000, 1)))
    np.testing.assert_array_equal(bandit.means, features[..., 0])  # theta is the first unit vector
    assert (bandit.means.argmax(axis=1) == 0).all()
    assert (bandit.variances == 1.0).all()
    angles = np.arctan2(features[:, 1:-1, 1], features[:, 1:-1, 0])
    assert kstest(angles.reshape(-1)[:4000], "norm", args=(np.pi / 4, 0.09)).pvalue > LEVEL


@pytest.mark.each("dimension", [5, 12])
def test_logistic(dimension: int) -> None:
    bandit, features = drawn(build("logistic", num_features=dimension), 5000)
    assert isinstance(bandit.inner, BernoulliBandit)
    assert features.shape == (5000, 8, dimension)
    assert kstest(features[:, 3, 1], "uniform", args=(-0.5, 1)).pvalue > LEVEL / 8
    # The variance of a score is d (1/12) (3/d) = 1/4, whatever d is.
    scores = np.log(bandit.means / (1.0 - bandit.means))[:, 0]
    assert np.var(scores) == pytest.approx(0.25, rel=0.15)
    assert scores.mean() == pytest.approx(0.0, abs=4.4 * 0.5 / np.sqrt(5000))


def test_logistic_as_the_authors_code_has_it() -> None:
    text, _ = drawn(LogisticProblem(8, 12), 3)
    code, _ = drawn(LogisticProblem(8, 12, theta_sd="3/d"), 3)
    ratio = np.log(code.means / (1 - code.means)) / np.log(text.means / (1 - text.means))
    np.testing.assert_allclose(ratio, 0.5)  # 3/12 instead of sqrt(3/12)


def test_custom() -> None:
    features, theta = [[1.0, 2.0], [0.0, -1.0], [0.5, 0.5]], [0.5, -0.25]
    problem = build("custom-linear", features=features, theta=theta)
    assert (problem.num_arms, problem.num_features, problem.notes) == (3, 2, ())
    bandit, seen = drawn(problem, 4)
    assert seen.tolist() == [features] * 4
    assert bandit.means.tolist() == [[0.0, 0.25, 0.125]] * 4
    assert (bandit.variances == 1.0).all()
    assert (drawn(build("custom-linear", features=features, theta=theta, noise_variance=4))[0].variances == 4).all()
    demonstration, _ = drawn(build("custom-linear"))
    np.testing.assert_allclose(demonstration.means, [[0.5, 0.46, 0.1, -0.22]])
    for link, kind in (("logit", BernoulliBandit), ("probit", BernoulliBandit), ("log", PoissonBandit)):
        assert isinstance(drawn(build("custom-linear", features=features, theta=theta, link=link))[0].inner, kind)


def test_factorial() -> None:
    bandit, features = drawn(build("linear-factorial"))
    assert features.shape == (1, 16, 11) and (np.abs(features) == 1.0).all()
    np.testing.assert_array_equal(features[0].T @ features[0], 16.0 * np.eye(11))  # all effects are orthogonal
    assert bandit.means[0].argmax() == 11
    np.testing.assert_allclose(np.sort(bandit.means[0])[:-5:-1], [0.235, 0.205, 0.185, 0.105])
    assert bandit.variances[0] == pytest.approx(0.09)


def test_mistakes_are_named() -> None:
    cases: list[tuple[str, dict[str, Any], str]] = [
        ("custom-linear", {"theta": [1.0, 2.0]}, "must both be given"),
        ("custom-linear", {"features": [[1.0], [math.nan]], "theta": [1.0]}, "features: arm 1"),
        ("custom-linear", {"features": [[1.0], [2.0]], "theta": [[1.0], [2.0]]}, "one instance"),
        ("linear-adaptive", {"num_arms": 2}, "at least 3 arms"),
        ("linear-adaptive", {"angle": 0.0}, "angle"),
        ("linear-adaptive", {"noise_variance": -1}, "positive"),
        ("linear-static", {"gap": "wide"}, "gap"),
        ("linear-sphere", {"num_features": 1}, "num_features"),
        ("linear-corner", {"num_arms": 2}, "arms"),
        ("logistic", {"theta_sd": "1/d"}, "theta_sd"),
    ]
    for family, keywords, match in cases:
        with pytest.raises((InstanceError, ParameterError), match=match):
            build(family, **keywords)
