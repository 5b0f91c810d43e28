"""Arms with features, and means that follow from them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bai_gym.bandits import Bandit, BernoulliBandit, FeatureBandit, GaussianBandit, PoissonBandit
from bai_gym.errors import BaiGymError, InstanceError, ParameterError
from bai_gym.linear import linear_bandit

X = [[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]]
Y = [[2.0, 1.0], [-1.0, 0.5], [0.0, 0.0]]


def features_of(bandit: Bandit) -> list[object]:
    assert bandit.features is not None
    return list(bandit.features.tolist())


@pytest.mark.each(
    ("link", "kind", "means", "variances"),
    [
        # Scores 0.5, -1 and 0.3 - 0.8 = -0.5.
        ("identity", GaussianBandit, [0.5, -1.0, -0.5], [2.5, 2.5, 2.5]),
        ("logit", BernoulliBandit, [0.6224593, 0.2689414, 0.3775407], [0.2350037, 0.1966119, 0.2350037]),
        ("probit", BernoulliBandit, [0.6914625, 0.1586553, 0.3085375], [0.2133421, 0.1334838, 0.2133421]),
        ("log", PoissonBandit, [1.6487213, 0.3678794, 0.6065307], [1.6487213, 0.3678794, 0.6065307]),
    ],
)
def test_means_and_variances_by_hand(link: str, kind: type, means: list[float], variances: list[float]) -> None:
    bandit = linear_bandit(X, [0.5, -1.0], link=link, noise_variance=2.5)
    assert isinstance(bandit.inner, kind)
    assert (bandit.batch, bandit.num_arms) == (1, 3)
    np.testing.assert_allclose(bandit.means, [means], rtol=1e-6)
    np.testing.assert_allclose(bandit.variances, [variances], rtol=1e-6)


@pytest.mark.each(
    ("features", "theta", "matrices", "means"),
    [
        (X, [1.0, 2.0], [X], [[1.0, 2.0, 2.2]]),
        (X, [[1.0, 2.0], [-1.0, 0.0]], [X, X], [[1.0, 2.0, 2.2], [-1.0, 0.0, -0.6]]),
        ([X, Y], [1.0, 2.0], [X, Y], [[1.0, 2.0, 2.2], [4.0, 0.0, 0.0]]),
        ([X, Y], [[1.0, 2.0], [-1.0, 0.0]], [X, Y], [[1.0, 2.0, 2.2], [-2.0, 1.0, 0.0]]),
    ],
)
def test_one_feature_matrix_for_all_instances_or_one_each(
    features: object, theta: object, matrices: list[object], means: list[list[float]]
) -> None:
    bandit = linear_bandit(features, theta)
    np.testing.assert_allclose(bandit.means, means)
    assert features_of(bandit) == matrices
    assert bandit.features is not None and bandit.features.dtype == np.float64
    with pytest.raises(ValueError, match="read-only"):
        bandit.features[0, 0, 0] = 1.0


def test_a_shared_matrix_takes_the_memory_of_one() -> None:
    bandit = linear_bandit(np.eye(50), np.ones(50)).select(np.zeros(10_000, np.int64))
    assert bandit.features is not None and bandit.features.shape == (10_000, 50, 50)
    assert bandit.features.strides[0] == 0
    bandit.replace(np.array([3, 5]), bandit.select(np.array([0, 0])))
    assert bandit.features.strides[0] == 0


def test_arms_with_equal_features_have_equal_means_bit_for_bit() -> None:
    rng = np.random.default_rng(0)
    row = rng.standard_normal(37)
    bandit = linear_bandit(np.tile(row, (50, 1)), rng.standard_normal((20, 37)))
    assert (bandit.means == bandit.means[:, :1]).all()


@pytest.mark.each("shared", [True, False])
def test_select_and_replace_take_features_along(shared: bool) -> None:
    theta = [[1.0, 0.0], [0.0, 1.0]]
    bandit = linear_bandit(X if shared else [X, Y], theta)
    second = X if shared else Y
    chosen = bandit.select(np.array([1, 0, 1]))
    assert features_of(chosen) == [second, X, second]
    other = linear_bandit([Y, np.negative(Y)], [1.0, 1.0])
    chosen.replace(np.array([2, 0]), other)
    assert features_of(chosen) == [np.negative(Y).tolist(), X, Y]
    np.testing.assert_allclose(chosen.means, [[-3.0, 0.5, 0.0], [1.0, 0.0, 0.6], [3.0, -0.5, 0.0]])
    # Those it was made from are left alone.
    assert features_of(bandit) == [X, second]
    assert features_of(other) == [Y, np.negative(Y).tolist()]


def test_a_single_instance_can_be_replaced_and_its_copies_stay() -> None:
    bandit = linear_bandit(X, [1.0, 0.0])
    copy = bandit.select(np.array([0]))
    bandit.replace(np.array([0]), linear_bandit(Y, [1.0, 0.0]))
    assert features_of(bandit) == [Y]
    assert features_of(copy) == [X]
    bandit.replace(np.array([0]), linear_bandit(X, [2.0, 0.0]))
    assert (features_of(bandit), bandit.means.tolist()) == ([X], [[2.0, 0.0, 1.2]])


BAD: list[tuple[object, object, dict[str, object], type[BaiGymError], str]] = [
    ([[1.0], [math.nan]], [1.0], {}, InstanceError, "features: arm 1 has nan in dimension 0"),
    ([[1.0]], [1.0], {}, InstanceError, "at least 2 arms"),
    (np.zeros((0, 3, 2)), [1.0, 1.0], {}, InstanceError, "shape"),
    (X, [1.0], {}, InstanceError, "theta has 1 entries"),
    ([X, Y], np.zeros((3, 2)), {}, InstanceError, "2 instances, and theta for 3"),
    ([[1e200], [0.0]], [1e200], {}, InstanceError, "means: arm 0"),
    ([[14.0], [0.0]], [1.0], {"link": "log"}, InstanceError, "Poisson"),
    (X, [1.0, 1.0], {"link": "tobit"}, ParameterError, "link"),
    (X, [1.0, 1.0], {"noise_variance": 0}, ParameterError, "noise_variance"),
]


@pytest.mark.each(("features", "theta", "keywords", "kind", "named"), BAD)
def test_mistakes(
    features: object, theta: object, keywords: dict[str, object], kind: type[BaiGymError], named: str
) -> None:
    with pytest.raises(kind, match=named):
        linear_bandit(features, theta, **keywords)  # type: ignore[arg-type]
    for means, given, match in (([0.0, 1.0], X, "3 arms"), (np.zeros((3, 3)), [X, Y], "2 instances")):
        with pytest.raises(InstanceError, match=match):
            FeatureBandit(GaussianBandit(means), given)
