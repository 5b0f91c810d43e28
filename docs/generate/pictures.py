"""Pictures of instances: the mean of every arm, and one standard deviation of its rewards."""

from __future__ import annotations

import io
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from bai_gym.problems import Problem
from bai_gym.statistics import FloatArray
from bai_gym.tasks import BestOfEach, GoodArm, Task, Thresholding

__all__ = ["picture"]

DRAWS = 3
WANTED, OTHER, LINE = "#d55e00", "#0072b2", "#555555"  # of the palette of Okabe and Ito, for colour-blind readers
FEW = 40  # arms, up to which dots are large
SETTINGS: Any = {"svg.fonttype": "none", "svg.hashsalt": "bai-gym", "font.size": 8.0, "font.family": "sans-serif"}


def picture(problem: Problem, task: Task, *, drawn: bool) -> str:
    """Draw the instance of a problem, or a few of those that it draws, always the same ones.

    Args:
        problem: One whose means are known.
        task: Says which arms are wanted, and coloured.
        drawn: Whether there are several instances.

    Returns:
        The text of an SVG file; the same for the same instances.
    """
    count = DRAWS if drawn else 1
    bandit = problem.draw(count, np.random.default_rng(0))
    with matplotlib.rc_context(SETTINGS):
        figure = Figure(figsize=(7.0, 2.2), layout="constrained")
        axes = np.atleast_1d(figure.subplots(1, count, sharey=True))
        for number, ax in enumerate(axes.tolist()):
            _draw(ax, bandit.means[number], bandit.variances[number], task)
            ax.set_xlabel("arm")
            if count > 1:
                ax.set_title(f"draw {number + 1}", fontsize=8)
        axes[0].set_ylabel("reward")
        file = io.StringIO()
        figure.savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue()


def _draw(ax: Axes, means: FloatArray, variances: FloatArray, task: Task) -> None:
    right = task.correct_recommendation(means)
    means, variances = (array.reshape(-1, task.metrics)[:, 0] for array in (means, variances))  # the first metric
    arms = np.arange(means.size)
    deviations = np.sqrt(variances)
    wanted = np.isin(arms, task.arms(right, means.size))
    few = means.size <= FEW
    for chosen, colour, size, order in (
        (~wanted, OTHER, 4.0 if few else 1.5, 2),
        (wanted, WANTED, 4.0 if few else 3.0, 3),  # or it would be lost among hundreds
    ):
        ax.vlines(
            arms[chosen], (means - deviations)[chosen], (means + deviations)[chosen], colour, lw=size / 4, alpha=0.5
        )
        ax.plot(arms[chosen], means[chosen], "o", color=colour, ms=size, zorder=order)
    if isinstance(task, Thresholding | GoodArm):
        ax.axhline(task.threshold, color=LINE, lw=0.8, ls="--")
    if isinstance(task, BestOfEach):
        size_of_bandit = means.size // task.num_bandits
        for border in range(size_of_bandit, means.size, size_of_bandit):
            ax.axvline(border - 0.5, color=LINE, lw=0.8, ls=":")
    ax.spines[["top", "right"]].set_visible(False)
    ax.margins(x=0.02)
    ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
