"""The design on a basis: few arms, far apart."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from bai_gym.linear.designs import basis_design, project, variances


def test_it_is_a_basis(many: list[np.ndarray]) -> None:
    for x in many[::3]:
        weights = basis_design(x)
        rank = int(project(x).rank)
        if rank:
            np.testing.assert_allclose(weights[weights > 0], 1 / rank)
            assert (weights > 0).sum() == rank and np.isfinite(variances(x, weights)).all()
        else:
            np.testing.assert_allclose(weights, 1 / len(x))


def test_it_is_qr_with_column_pivoting() -> None:
    rng = np.random.default_rng(2)
    for width in [2, 4, 9, 9, 9, 9, 9, 9]:
        x = rng.standard_normal((40, width))
        pivots = scipy.linalg.qr(project(x).coordinates.T, pivoting=True)[2][:width]
        assert np.flatnonzero(basis_design(x)).tolist() == sorted(pivots)


def test_the_farthest_arms_are_taken() -> None:
    # Coordinates of the span, not units, say what is far: arm 2 is alone in its direction.
    x = np.array([[1.0, 0.0], [1.1, 0.0], [0.0, 1e-3], [1.0, 1e-5]])
    assert basis_design(x).tolist() == [0.0, 0.5, 0.5, 0.0]


def test_a_batch_is_its_instances() -> None:
    rng = np.random.default_rng(1)
    x = rng.standard_normal((5, 12, 4))
    batch = basis_design(x)
    for row in range(5):
        assert (batch[row] == basis_design(x[row])).all()
