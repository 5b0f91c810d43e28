"""Instances that all designs are tried on, and variances computed in the plainest way."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import minimize

KINDS = ("gaussian", "lengths", "duplicates", "flat", "few", "clusters", "whole", "units")


def draw(kind: str, rng: np.random.Generator) -> np.ndarray:
    """Return features of one instance, K up to 200 and d up to 20."""
    size, width = int(rng.integers(1, 201)), int(rng.integers(1, 21))
    if kind == "few":  # fewer arms than dimensions
        size = int(rng.integers(1, width + 1))
    x = rng.standard_normal((size, width))
    if kind == "lengths":
        x *= np.exp(1.5 * rng.standard_normal((size, 1)))
    elif kind == "duplicates":
        x = x[rng.integers(size, size=size)] * rng.choice([-1.0, 1.0], (size, 1))
    elif kind == "flat":  # rank at most half of the dimension, and some arms at 0
        rank = max(1, width // 2)
        x = x[:, :rank] @ rng.standard_normal((rank, width))
        x[rng.random(size) < 0.1] = 0.0
    elif kind == "clusters":  # appendix H of Azizi et al. (2022): many arms around few points
        x = x[rng.integers(min(size, 5), size=size)] + 1e-3 * rng.standard_normal((size, width))
    elif kind == "whole":
        x = rng.integers(-1, 2, (size, width)).astype(np.float64)
    elif kind == "units":
        x *= 10.0 ** rng.integers(-3, 4, width)
    return x


@pytest.fixture(scope="session")
def many() -> list[np.ndarray]:
    """Return 200 instances: features ``(K, d)``."""
    rng = np.random.default_rng(20)
    return [draw(KINDS[number % len(KINDS)], rng) for number in range(200)]


@pytest.fixture(scope="session")
def plain() -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Return the variances of arms by least squares: norms of the rows of X (W^1/2 X)^+."""

    def compute(features: np.ndarray, weights: np.ndarray) -> np.ndarray:
        # Units away first: they cost precision, and change nothing.
        scale = np.abs(features).max(axis=0)
        x = features / np.where(scale > 0, scale, 1.0)
        inverse = np.linalg.pinv(np.sqrt(weights)[:, None] * x, rcond=1e-9)
        return ((x @ inverse) ** 2).sum(axis=-1)

    return compute


@pytest.fixture(scope="session")
def optimum() -> Callable[[np.ndarray, np.ndarray], float]:
    """Return the least largest y^T A^-1 y over designs, as a smooth problem with constraints."""

    def solve(x: np.ndarray, y: np.ndarray) -> float:
        arms = len(x)

        def inverse(v: np.ndarray) -> np.ndarray:
            return np.linalg.inv(x.T @ (v[:arms, None] * x) + 1e-12 * np.eye(x.shape[1]))

        def slack(v: np.ndarray) -> np.ndarray:
            return np.asarray(v[-1] - ((y @ inverse(v)) * y).sum(axis=1))

        def slope(v: np.ndarray) -> np.ndarray:
            return np.hstack([(y @ inverse(v) @ x.T) ** 2, np.ones((len(y), 1))])

        last = np.eye(arms + 1)[-1]
        start = np.append(np.full(arms, 1.0 / arms), 0.0)
        start[-1] = -slack(start).min()
        found = minimize(
            lambda v: v[-1],
            start,
            jac=lambda v: last,
            bounds=[(1e-9, 1.0)] * arms + [(0.0, None)],
            constraints=[
                {"type": "ineq", "fun": slack, "jac": slope},
                {"type": "eq", "fun": lambda v: v[:arms].sum() - 1.0, "jac": lambda v: 1.0 - last},
            ],
            method="SLSQP",
            options={"maxiter": 500, "ftol": 1e-10},
        )
        return float(found.fun)

    return solve
