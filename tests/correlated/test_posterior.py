"""Posteriors: by hand, against the batch formula and scikit-learn, over long times, and the distribution of draws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bai_gym.bandits import GaussianPrior
from bai_gym.correlated import GaussianPosterior, forms
from bai_gym.errors import ParameterError
from bai_gym.statistics import FloatArray

LEVEL = 4.9  # standard deviations: two-sided 1e-6


def batch_formula(
    prior: FloatArray, mean: FloatArray, arms: Any, rewards: Any, noise: float
) -> tuple[FloatArray, FloatArray]:
    """Posterior mean and covariance from all rewards at once, one row for each pull."""
    data = prior[arms]
    gain = np.linalg.solve(prior[np.ix_(arms, arms)] + noise * np.eye(len(arms)), data)
    return mean + gain.T @ (np.asarray(rewards) - mean[arms]), prior - data.T @ gain


def test_two_arms_by_hand() -> None:
    posterior = GaussianPosterior(GaussianPrior([[1.0, 0.5], [0.5, 1.0]]), 1.0)
    # Arm 0 pays 2: c = (1, 1/2) and c_0 + s^2 = 2, so the mean moves by c and the variances fall by c^2 / 2.
    posterior.observe(np.array([0]), np.array([2.0]))
    np.testing.assert_allclose(posterior.mean, [[1.0, 0.5]], rtol=1e-15)
    np.testing.assert_allclose(posterior.covariance, [[[0.5, 0.25], [0.25, 0.875]]], rtol=1e-15)
    # Arm 1 pays 0: c = (1/4, 7/8), c_1 + s^2 = 15/8, and 0 is 1/2 too little: the mean moves by -(2/15, 7/15) / 2.
    posterior.observe(np.array([1]), np.array([0.0]))
    np.testing.assert_allclose(posterior.mean, [[1.0 - 1 / 15, 0.5 - 7 / 30]], rtol=1e-14)
    np.testing.assert_allclose(posterior.variance, [[0.5 - 1 / 30, 0.875 - 49 / 120]], rtol=1e-14)


def test_independent_arms_know_of_their_own_rewards_alone() -> None:
    posterior = GaussianPosterior(GaussianPrior(np.diag([4.0, 1.0]), mean=[1.0, 0.0]), 2.0)
    for reward in (3.0, 5.0):
        posterior.observe(np.array([0]), np.array([reward]))
    # Precision 1/4 + 2/2 = 5/4; mean (1/4 + 8/2) / (5/4) = 3.4.
    np.testing.assert_allclose(posterior.mean, [[3.4, 0.0]], rtol=1e-14)
    np.testing.assert_allclose(posterior.variance, [[0.8, 1.0]], rtol=1e-14)


priors = st.sampled_from(["dense", "singular", "linear", "each", "linear each"])


def make_prior(kind: str, arms: int, runs: int, rng: np.random.Generator) -> GaussianPrior:
    mean = rng.normal(size=arms)
    if kind == "dense":
        roots = rng.normal(size=(arms, arms))
        return GaussianPrior(roots @ roots.T, mean)
    if kind == "singular":  # two arms are the same, and one has no variance
        roots = rng.normal(size=(arms, arms))
        roots[1], roots[-1] = roots[0], 0.0
        return GaussianPrior(roots @ roots.T, mean)
    if kind == "each":
        return GaussianPrior.from_kernel(rng.normal(size=(runs, arms, 2)), "exponential", amplitude=2.0, mean=mean)
    shape = (runs, arms, 2) if "each" in kind else (arms, 2)
    return GaussianPrior.from_kernel(rng.normal(size=shape), "linear", amplitude=1.5, mean=mean)


@given(
    priors,
    st.integers(4, 7),
    st.integers(1, 60),
    st.floats(1e-2, 10.0),
    st.integers(0, 2**32),
    st.booleans(),
    st.sampled_from([None, 0, 1.0]),
)
def test_any_sequence_is_the_batch_formula(
    kind: str, arms: int, pulls: int, noise: float, seed: int, at_once: bool, share: float | None
) -> None:
    rng, runs = np.random.default_rng(seed), 3
    prior = make_prior(kind, arms, runs, rng)
    # Some runs see few arms.
    chosen = rng.integers(0, rng.integers(1, arms + 1, size=runs), size=(pulls, runs))
    rewards = rng.normal(1.0, 2.0, (pulls, runs))
    with pytest.MonkeyPatch.context() as patch:  # so that everything is often computed afresh
        patch.setattr(forms, "LEAST_ROWS", 3)
        patch.setattr(forms.WeightForm, "EVERY", 5)
        patch.setattr(forms, "ENTRIES_AT_ONCE", 2 * arms * arms)
        posterior = GaussianPosterior(
            prior, noise, runs, budget=None if share is None else int(share * pulls), draws=True
        )
        first = pulls // 2 if at_once else 0
        if first:
            counts = np.stack([np.bincount(part, minlength=arms) for part in chosen[:first].T])
            sums = np.stack([np.bincount(a, r, arms) for a, r in zip(chosen[:first].T, rewards[:first].T, strict=True)])
            posterior.add(counts, sums / np.maximum(counts, 1))
        for a, reward in zip(chosen[first:], rewards[first:], strict=True):
            posterior.observe(a, reward)
        covariances = posterior.covariance
        for run in range(runs):
            full = prior.covariance[run if len(prior.covariance) > 1 else 0]
            mean, covariance = batch_formula(full, prior.mean[0], chosen[:, run], rewards[:, run], noise)
            scale = 1.0 + full.max()
            np.testing.assert_allclose(posterior.mean[run], mean, atol=1e-8 * scale)
            np.testing.assert_allclose(covariances[run], covariance, atol=1e-8 * scale)
            np.testing.assert_allclose(posterior.variance[run], np.diag(covariance), atol=1e-8 * scale)
        assert (posterior.variance >= 0).all()
        assert (posterior.scale >= np.abs(rewards[first:]).max(axis=0, initial=0.0)).all()
        assert np.isfinite(posterior.draw(rng)).all()
        np.testing.assert_array_equal(posterior.pulls, [np.bincount(part, minlength=arms) for part in chosen.T])


@pytest.mark.each("noise", [0.0, 1e-300, 1e-12])
def test_rewards_without_noise_are_known_exactly(noise: float) -> None:
    for prior in (GaussianPrior.from_kernel(np.arange(6.0)[:, None], "matern"), GaussianPrior(np.ones((3, 3)))):
        posterior = GaussianPosterior(prior, noise, budget=3000)
        for _ in range(1000):
            for arm, reward in ((0, 0.3), (1, 0.3), (0, 0.3)):
                posterior.observe(np.array([arm]), np.array([reward]))
        posterior.refresh()
        np.testing.assert_allclose(posterior.mean[0, :2], 0.3, atol=1e-6)
        np.testing.assert_allclose(posterior.variance[0, :2], 0.0, atol=1e-6)
        assert np.isfinite(posterior.covariance).all()


def test_a_prior_without_variance_learns_nothing() -> None:
    posterior = GaussianPosterior(GaussianPrior(np.zeros((2, 2)), 4.0), 0.0)
    posterior.observe(np.array([1]), np.array([7.0]))
    posterior.refresh()
    assert posterior.mean.tolist() == [[4.0, 4.0]] and not posterior.variance.any()


@pytest.mark.each("kind", ["dense", "linear"])
@pytest.mark.each("afresh", [False, True])
def test_draws_have_the_law_of_the_posterior(kind: str, afresh: bool) -> None:
    runs, arms = 8_000, 5
    prior = make_prior(kind, arms, runs, np.random.default_rng(0))
    posterior = GaussianPosterior(prior, 0.5, runs, draws=True)
    for step, arm in enumerate((0, 3, 3, 1)):
        posterior.observe(np.full(runs, arm), np.full(runs, 0.7 * arm))
        if afresh and step == 2:
            posterior.refresh()
    drawn = posterior.draw(np.random.default_rng(1)) - posterior.mean
    truth = posterior.covariance[0]
    spread = np.sqrt(np.diag(truth))
    assert (np.abs(drawn.mean(axis=0)) <= LEVEL * spread / np.sqrt(runs) + 1e-7).all()
    error = np.sqrt((np.outer(spread**2, spread**2) + truth**2) / runs)
    assert (np.abs(drawn.T @ drawn / runs - truth) <= LEVEL * error + 1e-7).all()


@pytest.mark.each(
    ("prior", "noise", "batch", "message"),
    [
        (np.eye(2), -1.0, 1, "noise variance"),
        (np.eye(2), np.nan, 1, "noise variance"),
        (np.eye(2), np.ones(3), 2, "2 runs"),
        (np.stack([np.eye(2)] * 3), 1.0, 2, "3 runs"),
    ],
)
def test_what_is_wrong_is_named(prior: Any, noise: Any, batch: int, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        GaussianPosterior(GaussianPrior(prior), noise, batch)


def test_draws_are_announced() -> None:
    with pytest.raises(ParameterError, match="draws=True"):
        GaussianPosterior(GaussianPrior(np.eye(2)), 1.0).draw(np.random.default_rng(0))
