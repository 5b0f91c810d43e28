"""Complexities of thresholding by hand, on the published experiments, and their inequalities."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from bai_gym.errors import ParameterError
from bai_gym.theory import threshold_gaps, threshold_h1, threshold_h2, threshold_sigma_h1, threshold_sigma_h2

# Gaps 1/2. Sigma = 1/3: sigma^2 + (16/3) / 2 = 25/9, so the numerator is 1/3 + 5/3 = 2.
MEANS, SIGMA = np.array([0.75, 0.75, -0.25, 0.75]), 1 / 3


def test_by_hand() -> None:
    assert threshold_gaps(MEANS, 0.25).tolist() == [0.5] * 4
    assert threshold_h1(MEANS, 0.25) == 16.0
    assert threshold_h1(MEANS, 0.25, 0.5) == 4.0
    assert threshold_h2(MEANS, 0.25) == 16.0
    # Four times 2 / (1/4), or 4 / (1/4) squared; the fourth smallest of four equal terms counts four times.
    assert threshold_sigma_h1(MEANS, SIGMA**2, 0.25) == pytest.approx(32, rel=1e-12)
    assert threshold_sigma_h1(MEANS, SIGMA**2, 0.25, squared=True) == pytest.approx(64, rel=1e-12)
    assert threshold_sigma_h2(MEANS, SIGMA**2, 0.25) == pytest.approx(32, rel=1e-12)


def test_thresholds_go_with_the_leading_axes() -> None:
    assert threshold_h2([[0.0, 1.0], [0.0, 2.0]], [0.5, 0.0]).tolist() == [8.0, math.inf]
    assert threshold_h1([0.0, 1.0], [0.5, 1.0, 3.0]).tolist() == [8.0, math.inf, pytest.approx(1 / 9 + 1 / 4)]


@pytest.mark.each(
    ("variances", "complexities"),
    [
        ([0.5] * 5 + [0.6] * 5 + [0.4] * 90, (13000, 10000, 20963.4, 33825.8, 15985.5)),
        ([0.3] * 5 + [0.8] * 5 + [0.25] * 90, (13000, 10000, 18921.0, 28076.5, 13850.6)),
    ],
)
def test_published_experiments(variances: list[float], complexities: tuple[float, ...]) -> None:
    """Experiments 4 and 5 of Mukherjee et al. (2017), the random variances at their mean."""
    means = np.array([0.45] * 5 + [0.55] * 5 + [0.4] * 90)
    found = (
        threshold_h1(means, 0.5),
        threshold_h2(means, 0.5),
        threshold_sigma_h1(means, variances, 0.5),
        threshold_sigma_h1(means, variances, 0.5, squared=True),
        threshold_sigma_h2(means, variances, 0.5),
    )
    assert found == pytest.approx(complexities, abs=0.05)


def test_ranks_count_the_smaller_terms() -> None:
    # Gaps sqrt(i): terms 1 / i of rank i.
    means = np.sqrt(np.arange(1, 5))
    assert (threshold_h1(means, 0.0), threshold_h2(means, 0.0)) == pytest.approx((25 / 12, 1.0))


@pytest.mark.each(
    ("call", "message"),
    [
        (lambda: threshold_h2(MEANS, math.nan), "threshold"),
        (lambda: threshold_h2(MEANS, "high"), "threshold"),
        (lambda: threshold_h2(MEANS, 10**400), "threshold"),
        (lambda: threshold_h1(MEANS, 0.5, -1.0), "epsilon"),
    ],
)
def test_what_is_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        call()
