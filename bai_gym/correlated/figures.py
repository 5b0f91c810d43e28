"""A figure of the posterior of a function after a few pulls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bai_gym.analysis.intervals import normal, z_score
from bai_gym.errors import ParameterError
from bai_gym.report.canvas import COLOURS, Caption, Drawing

__all__ = ["posterior_plot"]


def posterior_plot(
    points: ArrayLike,
    means: ArrayLike,
    deviations: ArrayLike,
    sample: ArrayLike,
    arms: ArrayLike,
    truth: ArrayLike,
    observed: tuple[ArrayLike, ArrayLike],
    path: str | Path,
    *,
    title: str | None = None,
) -> Path:
    """Draw the posterior of a function on a line: mean and 95 % intervals, at the arms and between, and a draw from it.

    Args:
        points: ``(P,)`` ascending points.
        means: ``(P,)`` posterior means there.
        deviations: ``(P,)`` posterior standard deviations, at least 0.
        sample: ``(P,)`` a draw from the posterior.
        arms: ``(K,)`` which of the points are arms, as indices.
        truth: ``(K,)`` true means of the arms.
        observed: Points and values of the rewards, ``(n,)`` each.
        path: The file to write, ``.png``, ``.svg`` or ``.pdf``; missing folders are made.
        title: Title of the figure.

    Returns:
        The path of the file.

    Raises:
        ParameterError: If the lengths are incompatible, a number is not finite, or the file's ending is unknown.
        MissingPackageError: If matplotlib is not installed.
        OutputError: If the file cannot be written.
    """
    x, mu, sd, f = (np.asarray(values, dtype=np.float64) for values in (points, means, deviations, sample))
    at, true = np.asarray(arms, dtype=np.int64), np.asarray(truth, dtype=np.float64)
    seen_x, seen_y = (np.asarray(values, dtype=np.float64) for values in observed)
    if not (x.ndim == 1 and x.shape == mu.shape == sd.shape == f.shape and x.size):
        raise ParameterError("points, means, deviations and sample must have equal lengths")
    if at.shape != true.shape or at.ndim != 1 or seen_x.shape != seen_y.shape or seen_x.ndim != 1:
        raise ParameterError("there must be one true mean for each arm, and one point for each observed reward")
    if at.size and not (0 <= at.min() and at.max() < x.size):
        raise ParameterError(f"arms are indices of the {x.size} points, from 0 to {x.size - 1}")
    if not all(np.isfinite(values).all() for values in (x, mu, sd, f, true, seen_x, seen_y)) or (sd < 0).any():
        raise ParameterError("all values must be finite numbers, and deviations at least 0")

    @Drawing
    def drawing(figure: Any) -> Caption:
        axes = figure.add_subplot()
        axes.fill_between(x, *normal(mu, sd), color=COLOURS[5], alpha=0.25, linewidth=0)
        axes.plot(x, mu, color=COLOURS[0], label="posterior mean")
        axes.errorbar(
            x[at],
            mu[at],
            z_score(0.95) * sd[at],
            fmt="o",
            color=COLOURS[0],
            capsize=3,
            label="arms, with 95 % intervals",
        )
        axes.plot(x, f, color=COLOURS[2], label="a draw from the posterior")
        axes.plot(seen_x, seen_y, "x", color=COLOURS[6], markersize=8, label="observed rewards")
        axes.plot(x[at], true, "D", color=COLOURS[1], fillstyle="none", label="true means")
        axes.set_xlabel("x")
        axes.set_ylabel("reward")
        figure.legend(loc="outside right upper", fontsize=10)
        return Caption(
            title,
            "Arms stand at points x of a line, and their means are a function drawn from a Gaussian process. Each "
            "reward narrows the intervals of the neighbours, too; the band is that of the function between the arms.",
        )

    return drawing.save(path)
