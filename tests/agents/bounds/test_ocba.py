"""OCBA and OCBA-PCS: the proportions by hand, and the slopes of the bound against differences."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from bai_gym.agents.bounds.ocba import OCBA, OCBAPCS
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Engine, engine
from bai_gym.statistics import Statistics

Play = Callable[..., Any]


@pytest.mark.parametrize(
    ("num_arms", "budget", "first"), [(4, 8, 2), (4, 23, 2), (4, 24, 3), (4, 39, 4), (4, 40, 5), (4, 999, 5)]
)
def test_first_pulls(num_arms: int, budget: int, first: int) -> None:
    agent = OCBA()
    agent.reset(ProblemInfo(num_arms, budget))
    assert agent.first_pulls == first
    assert agent.minimum_budget(num_arms) == 8 and OCBA(n0=7).minimum_budget(4) == 28


def choices(
    pulls: list[int],
    means: list[float],
    variances: list[float],
    tie: Any = "first",
    batch: int = 1,
    kind: Any = OCBA,
    left: int = 1,
) -> Any:
    agent = kind(tie=tie)
    agent.reset(ProblemInfo(len(pulls), sum(pulls) + left, batch), np.random.default_rng(0))
    seen = Statistics(*(np.tile(values, (batch, 1)) for values in (pulls, means, variances)))
    return Engine(agent.sequential(left), seen, sum(pulls), None, variances=True).choose()


def choice(pulls: list[int], means: list[float], variances: list[float]) -> int:
    return int(choices(pulls, means, variances)[0])


def test_proportions_by_hand() -> None:
    # Best arm 0; d = 1, 2; v = 4, 1, 16: R_1 = 1, R_2 = 16/4 = 4, R_0 = 2 sqrt(1/1 + 16/16) = 2.828: sum 7.828.
    # After 29 pulls the targets are 30 R / 7.828 = 10.84, 3.83, 15.33.
    assert choice([10, 4, 15], [3.0, 2.0, 1.0], [4.0, 1.0, 16.0]) == 0
    assert choice([11, 3, 15], [3.0, 2.0, 1.0], [4.0, 1.0, 16.0]) == 1
    assert choice([12, 4, 13], [3.0, 2.0, 1.0], [4.0, 1.0, 16.0]) == 2


def test_of_tied_best_arms_the_least_pulled_one_is_pulled() -> None:
    assert choice([5, 9, 4, 1], [3.0, 3.0, 3.0, 2.0], [1.0, 1.0, 9.0, 100.0]) == 2
    assert choice([5, 9, 5, 1], [3.0, 3.0, 3.0, 2.0], [1.0, 1.0, 9.0, 100.0]) == 0
    assert choice([6, 3, 9], [1 / 3, 0.2 + 0.4 / 3, 0.0], [1.0, 1.0, 1.0]) == 1  # tied up to rounding


def test_without_variance_the_nearest_arm_and_the_best_are_pulled(trace: Play) -> None:
    # All variances count as equal: R_1 = 1, R_2 = 1/4, R_0 = sqrt(17)/4 = 1.03; in 40 pulls 18.1, 17.5, 4.4.
    played = trace(OCBA(tie="first", n0=2), [[3.0], [2.0], [1.0]], 40)
    assert played.counts(3) == [18, 18, 4] and played.recommendation == 0


# ------------------------------------------------------------------------------------------------ OCBA-PCS


def pcs_choice(pulls: list[int], means: list[float], variances: list[float], left: int) -> int:
    return int(choices(pulls, means, variances, kind=OCBAPCS, left=left)[0])


def test_pcs_of_two_arms_pulls_by_neyman_s_ratio() -> None:
    # Both slopes have the factor phi(z) d / s^3, and sigma_i^2 / T_i^2: the arm of largest sigma_i / T_i is pulled.
    assert pcs_choice([10, 19], [1.0, 0.5], [1.0, 4.0], 5) == 1
    assert pcs_choice([10, 21], [1.0, 0.5], [1.0, 4.0], 5) == 0


def test_pcs_gives_up_a_near_arm_for_a_farther_one_if_the_budget_is_small() -> None:
    # Variances 1, pulls 20, 10, 10, distances 0.1 and 0.5. Near the end s^2 = 0.15, z = 0.258, 1.291, and phi(z) d is
    # 0.0386 and 0.0867; with a hundred times the pulls z = 2.58, 12.9, and phi(z) d is 0.0014 and 4e-38.
    pulls, means, variances = [20, 10, 10], [1.0, 0.9, 0.5], [1.0, 1.0, 1.0]
    assert pcs_choice(pulls, means, variances, 1) == 2
    assert pcs_choice(pulls, means, variances, 3960) == 1


@pytest.mark.usefixtures("compiled")
def test_pcs_has_neither_underflow_nor_overflow_where_all_arms_are_far_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    assert pcs_choice([100, 10, 10], [1e3, 2.0, 1.0], [1.0, 1.0, 1.0], 1000) == 1
    monkeypatch.setattr(engine, "can_compile", lambda: False)
    assert pcs_choice([100, 10, 10], [1e3, 2.0, 1.0], [1.0, 1.0, 1.0], 1000) == 1


def test_pcs_follows_the_slopes_of_the_bound() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        pulls, means, v = rng.integers(5, 20, 4), rng.random(4), rng.random(4) + 0.1
        arm = pcs_choice(pulls.tolist(), means.tolist(), v.tolist(), 30)
        best, budget = int(means.argmax()), pulls.sum() + 30
        z_of = partial(_distances, means=means, v=v, best=best, budget=budget)
        slopes = [
            np.subtract(*(norm.sf(np.delete(z_of(pulls / pulls.sum() + step), best)).sum() for step in (unit, -unit)))
            for unit in 1e-5 * np.eye(4)
        ]
        assert slopes[arm] == pytest.approx(min(slopes), rel=1e-4)


def _distances(shares: Any, means: Any, v: Any, best: int, budget: int) -> Any:
    """Distances to the best arm, in standard deviations at the end."""
    return (means[best] - means) / np.sqrt((v[best] / shares[best] + v / shares) / budget)
