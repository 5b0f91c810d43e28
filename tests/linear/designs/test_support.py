"""Fewer arms, the same information."""

from __future__ import annotations

import numpy as np

from bai_gym.linear.designs import project, reduce_support, variances


def test_the_bound_of_caratheodory(many: list[np.ndarray]) -> None:
    rng = np.random.default_rng(0)
    for x in many[::5]:
        weights = np.where(rng.random(len(x)) < 0.7, rng.random(len(x)), 0.0)
        weights[0] += 0.1
        weights /= weights.sum()
        fewer = reduce_support(x, weights)
        rank = int(project(x).rank)
        assert (fewer > 0).sum() <= max(1, rank * (rank + 1) // 2)
        assert (fewer >= 0).all() and not fewer[weights == 0].any()
        np.testing.assert_allclose(fewer.sum(), 1.0)
        if rank:
            before, after = variances(x, weights), variances(x, fewer)
            assert (after <= before * (1 + 1e-6)).all()


def test_sparse_designs_and_duplicates() -> None:
    np.testing.assert_allclose(reduce_support(np.eye(3), [0.2, 0.3, 0.5]), [0.2, 0.3, 0.5])
    thrice = np.concatenate([np.eye(3), -np.eye(3), np.eye(3)])
    fewer = reduce_support(thrice, np.full(9, 1 / 9))
    np.testing.assert_allclose(np.sort(fewer), [0] * 6 + [1 / 3] * 3, atol=1e-12)
    assert reduce_support(np.zeros((3, 2)), [0.2, 0.5, 0.3]).tolist() == [0.0, 1.0, 0.0]
    # Pulls of features 0 are worth nothing.
    np.testing.assert_allclose(reduce_support([[1.0, 0], [0, 1.0], [0, 0]], [0.2, 0.2, 0.6]), [0.5, 0.5, 0.0])


def test_a_batch_is_its_instances() -> None:
    rng = np.random.default_rng(2)
    x = rng.standard_normal((6, 40, 4))
    x[:3, :, 2:] = 0.0
    weights = np.where(rng.random((6, 40)) < rng.random((6, 1)), rng.random((6, 40)), 0.0)
    weights[:, 0] += 0.1
    weights /= weights.sum(axis=-1, keepdims=True)
    batch = reduce_support(x, weights)
    for row in range(6):
        alone = reduce_support(x[row], weights[row])
        rank = 2 if row < 3 else 4
        assert (alone > 0).sum() <= rank * (rank + 1) // 2 >= (batch[row] > 0).sum()
        assert variances(x[row], batch[row]).max() <= variances(x[row], weights[row]).max() * (1 + 1e-9)
