"""Fewer arms, the same information."""

from __future__ import annotations

import numpy as np

from bai_gym.designs import g_optimal, project, reduce_support, variances

Instance = tuple[np.ndarray, np.ndarray]


def test_the_bound_of_caratheodory(many: list[Instance]) -> None:
    rng = np.random.default_rng(0)
    for x, active in many[::2]:
        weights = np.where(active, rng.random(len(x)), 0.0)
        weights /= weights.sum()
        fewer = reduce_support(x, weights, active)
        rank = int(project(x, active).rank)
        assert (fewer > 0).sum() <= max(1, rank * (rank + 1) // 2)
        assert (fewer >= 0).all() and not fewer[weights == 0].any()
        np.testing.assert_allclose(fewer.sum(), 1.0)
        if rank:
            before, after = variances(x, weights, active), variances(x, fewer, active)
            assert (after <= before * (1 + 1e-6)).all()


def test_information_is_kept_up_to_a_factor() -> None:
    rng = np.random.default_rng(1)
    x, weights = rng.standard_normal((20, 30, 3)), rng.dirichlet(np.ones(30), 20)
    fewer = reduce_support(x, weights)

    def information(w: np.ndarray) -> np.ndarray:
        return np.swapaxes(x, 1, 2) @ (w[..., None] * x)

    ratio = information(fewer) / information(weights)
    assert ((fewer > 0).sum(axis=-1) <= 6).all()
    np.testing.assert_allclose(ratio, np.broadcast_to(ratio[:, :1, :1], ratio.shape), rtol=1e-6)
    assert (ratio >= 1 - 1e-9).all()


def test_the_optimum_stays_the_optimum() -> None:
    # In two dimensions many arms on a circle make an optimum; three are enough.
    angle = np.linspace(0, np.pi, 24, endpoint=False)
    x = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    fewer = reduce_support(x, np.full(24, 1 / 24))
    assert (fewer > 0).sum() <= 3
    np.testing.assert_allclose(variances(x, fewer), 2.0)


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


def test_after_g_optimal() -> None:
    angle = np.linspace(0, np.pi, 50, endpoint=False)
    x = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    design = g_optimal(x)
    fewer = reduce_support(x, design.weights)
    assert (fewer > 0).sum() <= 3 and variances(x, fewer).max() <= 2.002
