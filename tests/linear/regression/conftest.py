"""Data grouped by arm that all regressions are tried on."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

Data = tuple[np.ndarray, np.ndarray, np.ndarray]
Draw = Callable[..., Data]


def draw(seed: int, link: str = "identity", arms: int | None = None, width: int | None = None) -> Data:
    """Return features ``(K, d)``, pulls ``(K,)`` and means ``(K,)``; K and d up to 8.

    With repeated, opposite and zero rows, arms without pulls, more dimensions than arms, and rewards of one kind alone.
    """
    rng = np.random.default_rng(seed)
    arms = int(rng.integers(1, 9)) if arms is None else arms
    width = int(rng.integers(1, 9)) if width is None else width
    x = rng.standard_normal((arms, width)) if rng.random() < 0.5 else rng.integers(-1, 2, (arms, width)).astype(float)
    if rng.random() < 0.3:
        x = x[rng.integers(arms, size=arms)]
    pulls = rng.integers(0, rng.choice([2, 5, 100, 10_000]), arms)
    if link == "identity":
        return x, pulls, rng.normal(scale=3.0, size=arms)
    if link == "log":
        return x, pulls, rng.poisson(rng.choice([0.3, 5.0]) * pulls) / np.maximum(pulls, 1)
    chances = rng.random(arms) if rng.random() < 0.5 else rng.integers(0, 2, arms)
    return x, pulls, rng.binomial(pulls, chances) / np.maximum(pulls, 1)


@pytest.fixture(scope="session")
def data() -> Draw:
    """:func:`draw`."""
    return draw
