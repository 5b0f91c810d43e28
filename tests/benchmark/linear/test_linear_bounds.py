"""Bounds of structured arms: the lower one uses the features, and those of other agents do not."""

from __future__ import annotations

import numpy as np
import pytest

from bai_gym.api import make_cells
from bai_gym.bandits import FeatureBandit, GaussianBandit
from bai_gym.benchmark.bounds import proved_bounds
from bai_gym.benchmark.facts import facts
from bai_gym.linear.theory.lower_bounds import linear_bound
from bai_gym.tasks import BestArm


def test_the_lower_bound_is_that_of_the_features() -> None:
    for env, bound in (
        ("BAI-FC-LinearSoare6-v0", 222.2499 * 1.757780),  # T* times kl(0.1, 0.9)
        ("BAI-LinearSphere8-v0", None),  # another instance in each run
        ("BAI-CustomLogistic-v0", None),  # means are not linear
    ):
        (cell,) = make_cells(["LinGapE-GLR"], env, None, 0, {"fixed_confidence": True})
        assert facts(cell)["lower_bound"] == (None if bound is None else pytest.approx(bound, rel=1e-5))


def test_it_is_for_equal_variances() -> None:
    for variances in ([1.0, 1.0], [1.0, 4.0]):
        bandit = FeatureBandit(GaussianBandit([[1.0, 0.0]], [variances]), np.eye(2))
        assert (linear_bound(bandit, BestArm(), 0.1) is None) == (np.ptp(variances) > 0.0)


def test_features_are_nothing_to_the_bound_of_an_agent_that_ignores_them() -> None:
    arms = {"features": [[0.9], [0.5], [0.1]], "theta": [1.0]}
    (value,) = proved_bounds(make_cells(["SHVar"], "BAI-CustomLinear-v0", [2000], 0, arms)).values()
    plain = {"means": [0.9, 0.5, 0.1], "variances": 1.0}
    assert [value] == list(proved_bounds(make_cells(["SHVar"], "BAI-Custom-v0", [2000], 0, plain)).values())
    assert not proved_bounds(make_cells(["SH"], "BAI-CustomLinear-v0", [2000], 0, arms))
