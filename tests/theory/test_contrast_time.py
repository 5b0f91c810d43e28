"""T* and w* of every task: closed forms, a convex solver, and where contrasts prove no bound."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from typing_extensions import override

from bai_gym.errors import InstanceError, ParameterError
from bai_gym.statistics import FloatArray
from bai_gym.tasks import AllWithin, BestArm, BestOfEach, GoodArm, Task, Thresholding, TopM
from bai_gym.theory import bernoulli_kl, characteristic_time, fixed_confidence_bound, optimal_weights
from bai_gym.theory.contrast_time import contrast_time

CASES: dict[str, tuple[Task, float]] = {  # with the smallest gap, below which the convex solver loses digits
    "best arm": (BestArm(), 0.03),
    "best arm, accuracy": (BestArm(0.05), 0.03),
    "top m": (TopM(2), 0.03),
    "best of each": (BestOfEach(2), 0.03),
    "thresholding": (Thresholding(0.5), 0.03),
    "a good arm": (GoodArm(0.5), 0.03),
    "no good arm": (GoodArm(0.95), 0.03),
    "all within": (AllWithin(0.3), 0.06),
}


class Grouped(BestArm):
    """A task whose contrasts are overturned together."""

    @staticmethod
    @override
    def contrasts(mean: FloatArray, c: Any, x: FloatArray) -> int:
        n = BestArm.contrasts(mean, c, x)
        c.group[:n] = 0
        return n


def by_solver(means: FloatArray, variances: FloatArray | None, task: Task, scale: FloatArray) -> FloatArray:
    """Return T* of all rows by a convex program: Gaussian w, or the mixture of alternatives of Bernoulli means."""
    cp, sparse = pytest.importorskip("cvxpy", reason="cvxpy is missing"), pytest.importorskip("scipy.sparse")
    rows, size = means.shape
    found = [task.contrasts_at(row) for row in means]
    episode = np.repeat(np.arange(rows), [c.first.size for c in found])
    one, other = (
        np.concatenate([np.where(arms >= 0, row * size + arms, -1) for row, arms in enumerate(parts)])
        for parts in ([c.first for c in found], [c.second for c in found])
    )
    offset, flat = np.concatenate([c.offset for c in found]), np.append(means.ravel(), 0.0)
    gap, n = flat[one] - flat[other] - offset, one.size

    def matrix(column: Any, width: int) -> Any:
        (k,) = np.nonzero(column >= 0)
        return sparse.csr_matrix((np.ones(k.size), (k, column[k])), (n, width))

    first, second = matrix(one, rows * size), matrix(other, rows * size)
    owner = np.repeat(np.arange(rows), size)
    if variances is not None:  # minimise sum w with v_i / w_i + v_j / w_j <= gap^2 / 2; u are w in their natural scale
        nearest = np.full(rows * size, np.inf)
        for arms in (one, other):
            np.minimum.at(nearest, arms[arms >= 0], gap[arms >= 0])
        (used,) = np.nonzero(nearest < np.inf)
        u, unit = cp.Variable(used.size), 2.0 * variances.ravel()[used] / nearest[used] ** 2
        needs = cp.multiply(nearest[used] ** 2, cp.inv_pos(u))
        constraints = [sparse.diags(1.0 / gap**2) @ (first + second)[:, used] @ needs <= 1.0]
        problem = cp.Problem(cp.Minimize((unit / scale[owner[used]]) @ u), constraints)
        problem.solve(solver="CLARABEL", tol_gap_rel=1e-10, tol_gap_abs=1e-10, tol_feas=1e-10)
        return np.asarray(np.bincount(owner[used], unit * u.value, rows))
    weight, total = cp.Variable(n), cp.Variable(rows)  # 1 / T*: the weights are those of the alternatives
    q_one, q_other = cp.Variable(n), cp.Variable(n)  # their means, times the weight
    costs = 0.0
    for arms, column, q in ((one, first, q_one), (other, second, q_other)):
        (k,) = np.nonzero(arms >= 0)
        mean = flat[arms[k]]
        kl = cp.rel_entr(cp.multiply(mean, weight[k]), q[k])
        kl += cp.rel_entr(cp.multiply(1 - mean, weight[k]), weight[k] - q[k])
        costs += column.T[:, k] @ cp.multiply(scale[episode[k]], kl)
    turned = cp.multiply(1.0 * (one >= 0), q_one) - cp.multiply(1.0 * (other >= 0), q_other)
    constraints = [costs <= total[owner], matrix(episode, rows).T @ weight == 1, turned <= cp.multiply(offset, weight)]
    problem = cp.Problem(cp.Minimize(cp.sum(total)), constraints)
    problem.solve(solver="CLARABEL", tol_gap_rel=1e-10, tol_gap_abs=1e-10, tol_feas=1e-10)
    return np.asarray(scale / total.value)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")  # to 1e-10; what it is worth is compared here
@pytest.mark.each("case", CASES)
@pytest.mark.each("bernoulli", [False, True])
def test_a_convex_solver_finds_the_same(case: str, bernoulli: bool) -> None:
    (task, least), rng = CASES[case], np.random.default_rng(0)
    drawn = rng.uniform(0.1, 0.9, (4000, 4))
    means = np.array([row for row in drawn if task.contrasts_at(row).gaps(row).min() > least][:200])
    assert len(means) == 200
    variances = None if bernoulli else rng.uniform(0.1, 2.0, means.shape)
    times = characteristic_time(means, variances, task=task)
    np.testing.assert_allclose(times, by_solver(means, variances, task, times), rtol=1e-6)


def test_closed_forms() -> None:
    means, variances = np.array([0.9, 0.2, 0.6]), np.array([1.0, 0.5, 3.0])
    # Thresholding: each arm has its own contrast, so that T* is the sum of 2 v / gap^2, and w* its parts.
    parts = 2 * variances / (means - 0.5) ** 2
    assert characteristic_time(means, variances, task=Thresholding(0.5)) == pytest.approx(parts.sum(), rel=1e-9)
    assert optimal_weights(means, variances, task=Thresholding(0.5)) == pytest.approx(parts / parts.sum(), rel=1e-9)
    accurate = (2 * variances / (np.abs(means - 0.5) + 0.05) ** 2).sum()
    assert characteristic_time(means, variances, task=Thresholding(0.5, 0.05)) == pytest.approx(accurate, rel=1e-9)
    coins = (1 / bernoulli_kl(means, 0.5)).sum()
    assert characteristic_time(means, task=Thresholding(0.5)) == pytest.approx(coins, rel=1e-9)
    # One good arm is pulled alone; without any all are.
    assert characteristic_time(means, variances, task=GoodArm(0.5)) == pytest.approx(2 / 0.4**2, rel=1e-9)
    assert optimal_weights(means, variances, task=GoodArm(0.5)).tolist() == [1.0, 0.0, 0.0]
    none = (2 * variances / (means - 1.0) ** 2).sum()
    assert characteristic_time(means, variances, task=GoodArm(1.0)) == pytest.approx(none, rel=1e-9)
    # Two arms: 2 (s_1 + s_2)^2 / gap^2, the gap being that of the contrast.
    for task, gap in ((BestArm(0.1), 0.4), (TopM(1), 0.3), (BestOfEach(1), 0.3), (AllWithin(0.1), 0.2)):
        time, weights = (f([0.2, 0.5], [1.0, 4.0], task=task) for f in (characteristic_time, optimal_weights))
        assert time == pytest.approx(18 / gap**2, rel=1e-9) and weights == pytest.approx([1 / 3, 2 / 3], rel=1e-4), task
    # The bandits have times of their own, which add up.
    both = characteristic_time([0.2, 0.5, 0.1, 0.8], [1.0, 4.0, 1.0, 1.0], task=BestOfEach(2))
    assert both == pytest.approx(18 / 0.3**2 + 8 / 0.7**2, rel=1e-9)


def test_the_method_for_the_best_arm_finds_the_same() -> None:
    rng, task = np.random.default_rng(1), BestArm()
    for row in range(30):
        size = int(rng.integers(2, 20))
        means, variances = rng.random(size), rng.uniform(0.1, 2.0, size)
        for given in (None, variances):
            time, weights = contrast_time(means, given, task.contrasts_at(means))
            assert time == pytest.approx(float(characteristic_time(means, given)), rel=2e-8), (row, given)
            np.testing.assert_allclose(weights, optimal_weights(means, given), atol=1e-4)


def test_gaps_and_variances_of_all_sizes() -> None:
    rng = np.random.default_rng(2)
    for task in (BestArm(0.01), TopM(3), BestOfEach(4), Thresholding(0.5), GoodArm(0.999), AllWithin(0.1)):
        for power in (1, 4):
            means = np.clip(0.5 + rng.choice([-0.5, 0.5], 8) * rng.random(8) ** power, 0.0, 1.0)
            for variances in (10.0 ** rng.uniform(-3, 3, 8), None):
                time = characteristic_time(means, variances, task=task)
                weights = optimal_weights(means, variances, task=task)
                assert 0 < time < math.inf and weights.sum() == pytest.approx(1.0), (task, power)


def test_no_contrast_and_no_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    assert characteristic_time([0.2, 0.5, 0.5], 1.0, task=TopM(1)) == math.inf
    assert optimal_weights([0.2, 0.5, 0.5], 1.0, task=TopM(1)).tolist() == [0.0, 0.5, 0.5]
    assert characteristic_time([0.8, 0.7, 0.1], 1.0, task=AllWithin(0.1)) == math.inf  # 0.8 - 0.7 is not quite 0.1
    # No Bernoulli mean is above 1.2, or 1.5 larger than another.
    assert (
        characteristic_time([0.2, 0.5], task=GoodArm(1.2)) == 0.0 == characteristic_time([0.2, 0.5], task=BestArm(1.5))
    )
    with pytest.raises(InstanceError, match="groups"):
        characteristic_time([0.1, 0.2, 0.4], 1.0, task=Grouped(0.1))
    with pytest.raises(ParameterError, match="leave it out"):
        characteristic_time([0.1, 0.2], 1.0, 0.5, task=TopM(1))
    with pytest.raises(ParameterError, match="m must be"):
        characteristic_time([0.1, 0.2], 1.0, task=TopM(2))
    monkeypatch.setattr("bai_gym.theory.contrast_time.STEPS", 3)
    with pytest.raises(InstanceError, match=r"T\* is between [\d.]+ and [\d.]+:"):
        characteristic_time([0.1, 0.2, 0.9], 1.0, task=TopM(1))


def test_where_contrasts_prove_a_bound() -> None:
    means, level = np.array([0.9, 0.85, 0.6, 0.2]), 0.8 * math.log(9)
    for task, proved in (
        (TopM(2), True),
        (TopM(2, 0.1), False),  # several sets are right
        (BestOfEach(2), True),
        (Thresholding(0.5), True),
        (Thresholding(0.5, 0.1), False),
        (GoodArm(0.95), True),
        (GoodArm(0.88), True),
        (GoodArm(0.5), False),  # each of three arms is right
    ):
        bound = fixed_confidence_bound(means, 0.1, 1.0, task=task)
        expected = level * characteristic_time(means, 1.0, task=task) if proved else 0.0
        assert bound == pytest.approx(float(expected), rel=1e-9), task
    # Arm 2 is left out of the arms within 0.2 by arms 0 and 1: to overturn one of its contrasts is not enough.
    within = AllWithin(0.2)
    assert within.decisive(means, within.contrasts_at(means)).tolist() == [True] * 6 + [False, False]
    assert (
        0 < fixed_confidence_bound(means, 0.1, 1.0, task=within) < level * characteristic_time(means, 1.0, task=within)
    )
