"""Numbers in the page's data."""

from __future__ import annotations

import math

__all__ = ["short"]


def short(value: float) -> float | None:
    """Return seven digits of a number, more than a picture shows; None for what JSON cannot hold."""
    return float(f"{value:.7g}") if math.isfinite(value) else None
