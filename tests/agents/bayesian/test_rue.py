"""RUE: predictions by hand and against generalised least squares, the arm that is pulled, errors."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from bai_gym.agents.bayesian.rue import predict, pull_largest_bound


def predictions(pulls: Any, means: Any, variances: Any, *, corrected: float = 0.0, budget: int = 100) -> Any:
    """The arrays of the state after a prediction."""
    e = SimpleNamespace(num_arms=len(pulls), pulls=np.array(pulls, float), mean=np.array(means), variance=variances)
    e.tie, e.active = 0, np.ones(len(pulls))
    fields = {name: np.zeros(e.mean.shape) for name in ("weight", "estimate", "bound")}
    s = SimpleNamespace(exploration=2.0 * math.log(budget), corrected=corrected)
    w = SimpleNamespace(**fields)
    predict(e, s, w)
    return w


def test_predictions_by_hand() -> None:
    """Three arms with two pulls each: sigma^2 = 8, sigma_0^2 = 2 (4 + 0 + 4) / (6 - 12 / 6) = 4, w = 8 / 16."""
    w = predictions([2, 2, 2], [1.0, 3.0, 5.0], [8.0, 8.0, 8.0])
    assert w.weight == pytest.approx([0.5] * 3) and w.estimate == pytest.approx([2.0, 3.0, 4.0])
    tau = math.sqrt(8.0 * (0.5 / 2 + 0.25 / 3))
    assert w.bound == pytest.approx(np.array([2.0, 3.0, 4.0]) + tau * math.sqrt(2.0 * math.log(100)))
    # Less the noise of the means, (K - 1) sigma^2: of variances 4 sigma_0^2 = (16 - 8) / 4 = 2, w = 2 / (2 + 4 / 2).
    assert predictions([2, 2, 2], [1.0, 3.0, 5.0], [4.0, 4.0, 4.0], corrected=1.0).weight == pytest.approx([0.5] * 3)
    # Of variances 8 nothing is left of the 16.
    w = predictions([2, 2, 2], [1.0, 3.0, 5.0], [8.0, 8.0, 8.0], corrected=1.0)
    assert w.estimate == pytest.approx([3.0] * 3)
    assert w.bound == pytest.approx([3.0 + math.sqrt(8.0 / 6 * 2.0 * math.log(100))] * 3)


def test_predictions_are_those_of_generalised_least_squares() -> None:
    pulls, means, variances = np.array([3, 9, 20]), np.array([0.2, 1.0, 0.7]), np.array([2.0, 1.0, 3.0])
    w = predictions(pulls, means, variances)
    noise = ((pulls - 1) * variances).sum() / (pulls - 1).sum()
    grand = (pulls * means).sum() / 32
    spread = (pulls * (means - grand) ** 2).sum() / (32 - (pulls**2).sum() / 32)
    precision = 1.0 / (spread + noise / pulls)
    centre = (precision * means).sum() / precision.sum()
    np.testing.assert_allclose(w.estimate, centre + spread * precision * (means - centre), rtol=1e-12)
    error = spread - spread**2 * precision + (1.0 - spread * precision) ** 2 / precision.sum()
    np.testing.assert_allclose((w.bound - w.estimate) ** 2, 2.0 * math.log(100) * error, rtol=1e-12)


def test_the_arm_of_largest_bound_is_pulled() -> None:
    """The second arm has the largest mean; the first one, of fewer pulls, the largest bound."""
    e = SimpleNamespace(
        num_arms=3, pulls=np.array([2.0, 50.0, 50.0]), mean=np.array([0.4, 0.5, 0.0]), variance=np.ones(3)
    )
    e.tie, e.active = 0, np.ones(3)
    s = SimpleNamespace(exploration=2.0 * math.log(200), corrected=0.0)
    w = SimpleNamespace(weight=np.zeros(3), estimate=np.zeros(3), bound=np.zeros(3))
    assert pull_largest_bound(e, s, w, np.random.default_rng(0)) == 0  # type: ignore[arg-type]
    assert w.estimate.argmax() == 1


def test_a_constant_added_to_all_rewards_changes_no_bound() -> None:
    """Nor where the means differ by far more than the noise, so that D is below 1."""
    for noise in (1e-4, 1.0):
        low = predictions([2, 7, 3], [0.0, 1.0, 3.0], [noise] * 3)
        high = predictions([2, 7, 3], [1000.0, 1001.0, 1003.0], [noise] * 3)
        np.testing.assert_allclose(high.bound - 1000.0, low.bound, atol=1e-9)
