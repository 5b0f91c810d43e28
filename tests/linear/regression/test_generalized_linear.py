"""Generalized linear models on grouped data: cases by hand, what defines the estimate, and other implementations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq, linprog
from scipy.special import expit, log_ndtr, logit, ndtri
from scipy.stats import norm

from bai_gym.linear import LINKS as MEANS
from bai_gym.linear.regression import FALLBACK_PENALTY, LINK_NAMES, Fit, generalized_linear, least_squares

Draw = Callable[..., tuple[np.ndarray, np.ndarray, np.ndarray]]
SEEDS = st.integers(0, 2**32)
LINKS = ("logit", "probit", "log")


def slope(link: str, z: np.ndarray, means: np.ndarray) -> np.ndarray:
    """The derivative of the log-likelihood of one pull, in the plainest way."""
    if link == "identity":
        return means - z
    if link == "logit":
        return means - expit(z)
    if link == "log":
        return means - np.exp(z)
    up, down = (np.exp(norm.logpdf(z) - log_ndtr(sign * z)) for sign in (1, -1))
    return means * up - (1 - means) * down


def gradient(link: str, x: np.ndarray, pulls: np.ndarray, means: np.ndarray, fit: Fit) -> np.ndarray:
    """Of the penalised log-likelihood, at one estimate."""
    return np.asarray(x.T @ (pulls * slope(link, x @ fit.theta, means)) - fit.penalty * fit.theta)


# ------------------------------------------------------------------------------------------------ by hand


@pytest.mark.each("link", LINK_NAMES)
def test_unit_vectors_give_each_arm_its_own_mean(link: str) -> None:
    means = np.array([0.5, 0.02, 0.99, 0.125])
    fit = generalized_linear(np.eye(4), [2, 50, 100, 8], means, link=link, penalty=0.0)
    np.testing.assert_allclose(MEANS[link](fit.theta), means, rtol=1e-10)
    assert fit.converged and fit.penalty == 0.0


@pytest.mark.each(
    ("link", "z"),
    [("identity", 0.375), ("logit", np.log(3 / 5)), ("probit", ndtri(0.375)), ("log", np.log(0.375))],
)
def test_arms_of_equal_features_are_one_arm(link: str, z: float) -> None:
    # 3 of 8 rewards are 1; the shortest theta with x^T theta = z is z x / |x|^2.
    fit = generalized_linear([[3.0, 4.0]] * 2, [2, 6], [1.0, 1 / 6], link=link, penalty=0.0)
    np.testing.assert_allclose(fit.theta, [3 * z / 25, 4 * z / 25], rtol=1e-10)


@pytest.mark.each("link", LINK_NAMES)
@pytest.mark.each("mean", [0.0, 0.3, 1.0])
@pytest.mark.each("penalty", [1e-6, 10.0])
def test_one_dimension_is_an_equation(link: str, mean: float, penalty: float) -> None:
    # 7 x slope(2 theta) = penalty x theta, with x = 2.
    def level(theta: float) -> float:
        return float(14 * slope(link, np.array(2 * theta), np.array(mean)) - penalty * theta)

    expected = brentq(level, -15.0, 15.0, xtol=1e-14)
    fit = generalized_linear([[2.0]], [7], [mean], link=link, penalty=penalty)
    assert fit.theta[0] == pytest.approx(expected, rel=1e-9, abs=1e-10)
    assert fit.converged and fit.penalty == penalty


@pytest.mark.each("link", LINK_NAMES)
def test_without_pulls_nothing_is_known(link: str) -> None:
    for penalty in (0.0, 1e-3):
        fit = generalized_linear(np.ones((3, 2)), [0, 0, 0], [np.nan, 0.5, -7.0], link=link, penalty=penalty)
        assert not fit.theta.any() and fit.converged


def test_the_identity_is_least_squares_and_ridge(data: Draw) -> None:
    for seed in range(10):
        x, pulls, means = data(seed)
        fit = generalized_linear(x, pulls, means, link="identity", penalty=0.0)
        np.testing.assert_array_equal(fit.theta, least_squares(x, pulls, means))
        fit = generalized_linear(x, pulls, means, link="identity", penalty=0.7)
        matrix = x.T @ (pulls[:, None] * x) + 0.7 * np.eye(x.shape[1])
        np.testing.assert_allclose(fit.theta, np.linalg.solve(matrix, x.T @ (pulls * means)), rtol=1e-9, atol=1e-12)
        assert fit.converged and fit.iterations == 0 and fit.penalty == 0.7


# ------------------------------------------------------------------------------------------------ the optimum


@pytest.mark.each("link", LINKS)
@given(seed=SEEDS, penalty=st.sampled_from([0.0, 1e-6, 0.1, 100.0]))
def test_the_gradient_vanishes_and_the_estimate_is_the_shortest(
    link: str, seed: int, penalty: float, data: Draw
) -> None:
    x, pulls, means = data(seed, link)
    fit = generalized_linear(x, pulls, means, link=link, penalty=penalty)
    assert fit.converged and fit.iterations < 50
    assert fit.penalty in (penalty, FALLBACK_PENALTY if penalty == 0.0 else penalty)
    left = gradient(link, x, pulls, means, fit)
    np.testing.assert_allclose(left, 0.0, atol=1e-10 * (1 + (pulls * (1 + means)).sum()))
    rows = x[pulls > 0]
    np.testing.assert_allclose(np.linalg.pinv(rows) @ (rows @ fit.theta), fit.theta, atol=1e-8)


def is_separable(link: str, x: np.ndarray, pulls: np.ndarray, means: np.ndarray) -> bool:
    """Whether some direction explains arms of one reward alone the better the farther one goes (Albert, Anderson 1984).

    That is, whether sum of s x^T v over those arms can be 1, where s x^T v >= 0 for them, and x^T v = 0 for the others.
    """
    x, means = x[pulls > 0], means[pulls > 0]
    ends = means == 0 if link == "log" else (means == 0) | (means == 1)
    if not ends.any():
        return False
    signed = np.where(means[ends] > 0, 1.0, -1.0)[:, None] * x[ends]
    bounds = [(-1e6, 1e6)] * x.shape[1]
    others = x[~ends] if (~ends).any() else np.zeros((1, x.shape[1]))
    equal = np.vstack([others, signed.sum(axis=0)])
    values = np.append(np.zeros(len(others)), 1.0)
    found = linprog(np.zeros(x.shape[1]), -signed, np.zeros(len(signed)), equal, values, bounds, method="highs")
    return bool(found.status == 0)


@pytest.mark.each("link", LINKS)
def test_the_penalty_comes_in_where_data_are_separable_and_nowhere_else(link: str) -> None:
    rng = np.random.default_rng(0)
    size = 100
    x = rng.integers(-2, 3, (size, 6, 3)).astype(float)
    pulls = rng.integers(0, 4, (size, 6))
    if link == "log":
        means = rng.poisson(0.6 * pulls) / np.maximum(pulls, 1)
    else:
        means = rng.binomial(pulls, 0.5) / np.maximum(pulls, 1)
    fit = generalized_linear(x, pulls, means, link=link, penalty=0.0)
    separable = np.array([is_separable(link, *one) for one in zip(x, pulls, means, strict=True)])
    assert 10 < separable.sum() < size - 10
    np.testing.assert_array_equal(fit.penalty, np.where(separable, FALLBACK_PENALTY, 0.0))
    assert fit.converged.all()
    alone = generalized_linear(x[separable], pulls[separable], means[separable], link=link, penalty=FALLBACK_PENALTY)
    np.testing.assert_allclose(fit.theta[separable], alone.theta, atol=1e-9)


def test_too_few_steps_are_admitted() -> None:
    x, pulls, means = [[1.0]], [1000], [0.999]
    one = generalized_linear(x, pulls, means, max_iterations=1)
    assert not one.converged and one.iterations == 1
    assert generalized_linear(x, pulls, means, max_iterations=30).converged
    # Without a penalty an estimate that is on its way is not given up either.
    one = generalized_linear(x, pulls, means, max_iterations=1, penalty=0.0)
    assert not one.converged and one.penalty == 0.0


@pytest.mark.each("link", LINK_NAMES)
@pytest.mark.each("penalty", [0.0, 0.01])
def test_a_batch_is_its_instances(link: str, penalty: float, data: Draw) -> None:
    several = [data(seed, link, arms=6, width=4) for seed in range(12)]
    x, pulls, means = (np.stack(part).reshape(3, 4, *part[0].shape) for part in zip(*several, strict=True))
    fit = generalized_linear(x, pulls, means, link=link, penalty=penalty)
    assert fit.theta.shape == (3, 4, 4)
    assert fit.iterations.shape == fit.converged.shape == fit.penalty.shape == (3, 4)
    for number, one in enumerate(several):
        alone = generalized_linear(*one, link=link, penalty=penalty)
        place = divmod(number, 4)
        np.testing.assert_allclose(fit.theta[place], alone.theta, rtol=1e-8, atol=1e-9)
        assert (fit.iterations[place], fit.penalty[place]) == (alone.iterations, alone.penalty)
        assert alone.theta.shape == (4,) and alone.converged.shape == ()
    shared = generalized_linear(x[0, 0], pulls, means[0], link=link, penalty=penalty)
    expected = generalized_linear(x[0, 0], pulls[2, 1], means[0, 1], link=link, penalty=penalty)
    np.testing.assert_allclose(shared.theta[2, 1], expected.theta, rtol=1e-7, atol=1e-8)


@pytest.mark.each("link", LINKS)
@given(seed=SEEDS, exponent=st.integers(-60, 60))
def test_units_of_features_do_not_matter(link: str, seed: int, exponent: int, data: Draw) -> None:
    x, pulls, means = data(seed, link)
    unit = 2.0**exponent
    for penalty in (0.0, 1e-3):
        plain = generalized_linear(x, pulls, means, link=link, penalty=penalty)
        if plain.penalty == penalty:
            other = generalized_linear(x * unit, pulls, means, link=link, penalty=penalty * unit**2)
            np.testing.assert_allclose(other.theta * unit, plain.theta, rtol=1e-9)


# ------------------------------------------------------------------------------------------------ far tails


@pytest.mark.each("link", LINKS)
def test_a_trillion_pulls(link: str) -> None:
    means = np.array([1e-11, 0.5, 1.0 - 1e-11])
    fit = generalized_linear(np.eye(3), np.full(3, 10**12), means, link=link, penalty=0.0)
    assert fit.converged and fit.penalty == 0.0
    if link == "logit":
        np.testing.assert_allclose(fit.theta, logit(means), rtol=1e-6)
    else:
        np.testing.assert_allclose(MEANS[link](fit.theta), means, rtol=1e-9)


def test_counts_far_apart() -> None:
    means = np.array([1e-9, 1.0, 1e12, 1e300])
    fit = generalized_linear(np.eye(4), [10**10, 3, 1, 1], means, link="log", penalty=0.0)
    np.testing.assert_allclose(fit.theta, np.log(means), rtol=1e-9, atol=1e-12)
    fit = generalized_linear([[1.0], [-1.0]], [1, 1], [1e12, 0.0], link="log")
    assert fit.converged and fit.theta[0] == pytest.approx(np.log(1e12), rel=1e-9)


# ------------------------------------------------------------------------------------------------ elsewhere
