"""Log-likelihoods by link: derivatives, tails, and names."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from bai_gym.linear import LINKS as MEANS
from bai_gym.linear.regression import LINK_NAMES
from bai_gym.linear.regression.links import LINKS

Z = np.concatenate([np.linspace(-9, 9, 73), [-40.0, -30.0, 30.0]])


def test_links_are_those_of_bandits() -> None:
    assert tuple(MEANS) == LINK_NAMES == tuple(LINKS)


@pytest.mark.each("name", LINKS)
@pytest.mark.each("mean", [0.0, 0.25, 1.0])
def test_derivatives(name: str, mean: float) -> None:
    link, means = LINKS[name], np.full(Z.shape, mean)
    first, second = link.slopes(Z, means)
    for step in (1e-4,):
        up, here, down = (link.log_likelihood(Z + h, means) for h in (step, 0.0, -step))
        scale = 1 + np.abs(here)
        np.testing.assert_allclose((up - down) / (2 * step), first, rtol=1e-6, atol=1e-9 * scale.max())
        more, less = (link.slopes(Z + h, means)[0] for h in (step, -step))
        np.testing.assert_allclose((less - more) / (2 * step), second, rtol=1e-6, atol=1e-9)
    assert (second >= 0).all()


@pytest.mark.each("name", LINKS)
def test_slopes_vanish_at_the_mean(name: str) -> None:
    z = np.linspace(-8, 8, 33)
    means = np.minimum(MEANS[name](z), 1e300)
    first, second = LINKS[name].slopes(z, means)
    assert (np.abs(first) <= 1e-13 * np.maximum(means, 1.0) + 1e-15 * np.abs(second) + 1e-14).all()


def test_probit_in_the_tails() -> None:
    link = LINKS["probit"]
    ones = np.ones(6)
    z = np.array([-1e8, -1e4, -100.0, -38.0, 38.0, 1e8])
    first, second = link.slopes(z, ones)
    # phi / Phi (Mills ratio): -z - 1/z + 2/z^3 - 10/z^5 far to the left; curvature 1 - 1/z^2 + 6/z^4.
    left = z[:4]
    np.testing.assert_allclose(first[:4], -left - 1 / left + 2 / left**3 - 10 / left**5, rtol=1e-8)
    np.testing.assert_allclose(second[:4], 1 - 1 / left**2 + 6 / left**4, rtol=1e-5)
    assert first[4] == pytest.approx(norm.pdf(38.0), rel=1e-10) and first[5] == 0.0
    np.testing.assert_allclose(link.log_likelihood(z, ones)[:4], norm.logcdf(left), rtol=1e-12)
    mirrored = link.slopes(-z, np.zeros(6))
    np.testing.assert_array_equal(mirrored[0], -first)
    np.testing.assert_array_equal(mirrored[1], second)


def test_logit_in_the_tails() -> None:
    link, ones = LINKS["logit"], np.ones(4)
    z = np.array([-800.0, -40.0, 40.0, 700.0])
    first, second = link.slopes(z, ones)
    np.testing.assert_allclose(first, [1.0, 1.0, np.exp(-40.0), np.exp(-700.0)], rtol=1e-12)
    np.testing.assert_allclose(second, [0.0, np.exp(-40.0), np.exp(-40.0), np.exp(-700.0)], rtol=1e-12)
    expected = [-800.0, -40.0, -np.exp(-40.0), -np.exp(-700.0)]
    np.testing.assert_allclose(link.log_likelihood(z, ones), expected, rtol=1e-12)
