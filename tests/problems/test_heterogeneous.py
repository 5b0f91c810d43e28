"""The distribution of section 5.1 of Lalitha et al. (2023), against a loop that numbers arms as the paper does."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from bai_gym.errors import InstanceError, ParameterError
from bai_gym.problems import HeterogeneousGaussianProblem

LEVEL = 1e-3  # false-alarm rate of each statistical test here; the seeds are fixed
BATCH = 400


def by_hand(num_arms: int, noisy_best: bool) -> tuple[np.ndarray, np.ndarray]:
    """Unperturbed means and variances, arm by arm, i from 1."""
    means, variances = [], []
    for i in range(1, num_arms + 1):
        mean = 1 - math.sqrt((i - 1) / num_arms)
        even = i % 2 == 0  # the literal text makes these noisy
        means.append(mean)
        variances.append(0.9 * mean**2 + 0.1 if even != noisy_best else 0.1)
    return np.array(means), np.array(variances)


def test_by_hand_of_four_arms() -> None:
    # Means 1, 1 - sqrt(1/4) = 0.5, 1 - sqrt(1/2) = 0.293, 1 - sqrt(3/4) = 0.134.
    assert by_hand(4, True)[1] == pytest.approx([1.0, 0.1, 0.9 * 0.292893**2 + 0.1, 0.1], abs=1e-6)
    assert by_hand(4, False)[1] == pytest.approx([0.1, 0.325, 0.1, 0.9 * 0.133975**2 + 0.1], abs=1e-6)


@pytest.mark.each("noisy_best", [True, False])
def test_the_perturbations_have_the_stated_laws(noisy_best: bool) -> None:
    num_arms = 64
    keywords = {} if noisy_best else {"noisy_best": False}  # as in the figures is the default
    bandit = HeterogeneousGaussianProblem(num_arms, **keywords).draw(BATCH, np.random.default_rng(11))
    means, variances = by_hand(num_arms, noisy_best)
    shifts = ((bandit.means - means) / 0.05).reshape(-1)
    factors = (bandit.variances / variances).reshape(-1)
    assert stats.kstest(shifts, "norm").pvalue > LEVEL
    assert stats.kstest(factors, stats.uniform(0.5, 1.0).cdf).pvalue > LEVEL
    # The ends: the smallest of n uniform draws lies above x with probability (1 - x)^n, at most exp(-n x).
    reach = -math.log(LEVEL) / factors.size
    assert 0.5 <= factors.min() < 0.5 + reach
    assert 1.5 - reach < factors.max() <= 1.5
    # Mean, spread and correlation of n pairs are about N(0, 1/n), N(1, 1/2n) and N(0, 1/n).
    bound = stats.norm.isf(LEVEL / 2) / math.sqrt(shifts.size)
    assert abs(shifts.mean()) < bound
    assert abs(shifts.std() - 1.0) < bound / math.sqrt(2)
    assert abs(np.corrcoef(shifts, factors)[0, 1]) < bound


def test_what_is_refused() -> None:
    for num_arms in (1, 2.0, True, None):
        with pytest.raises(InstanceError, match="at least 2"):
            HeterogeneousGaussianProblem(num_arms)  # type: ignore[arg-type]
    for flag in ("yes", 1, None):
        with pytest.raises(ParameterError, match="noisy_best must be True or False"):
            HeterogeneousGaussianProblem(4, noisy_best=flag)  # type: ignore[arg-type]
