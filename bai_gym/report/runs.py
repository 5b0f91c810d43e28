"""Figures of single runs: simple regrets, stopping times, and the arms that agents pulled and recommended."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bai_gym.errors import ParameterError
from bai_gym.report.canvas import COLOURS, Caption, Drawing, named, places, style
from bai_gym.results.result import Result
from bai_gym.statistics import FloatArray

__all__ = ["arms_plot", "regret_boxes", "stopping_times"]

MOST = 12  # groups of arms up to which a figure names them


def regret_boxes(regrets: Mapping[str, ArrayLike], path: str | Path, *, title: str | None = None) -> Path:
    """Draw the simple regrets of agents as boxes, one beside the other.

    Args:
        regrets: Simple regret of each run, ``(R,)``, by the name of the agent.
        path: The file to write, ``.png``, ``.svg`` or ``.pdf``; missing folders are made.
        title: Title of the figure.

    Returns:
        The path of the file.

    Raises:
        ParameterError: If there is nothing to draw, a number is not finite, or the file's ending is unknown.
        MissingPackageError: If matplotlib is not installed.
        OutputError: If the file cannot be written.
    """
    rows = {name: np.asarray(values, dtype=np.float64) for name, values in regrets.items()}
    if not rows:
        raise ParameterError("there are no regrets to draw")
    for name, values in rows.items():
        if values.ndim != 1 or not values.size or not np.isfinite(values).all():
            raise ParameterError(f"the regrets of {name} must be finite numbers, one for each of at least one run")

    @Drawing
    def drawing(figure: Any) -> Caption:
        figure.set_size_inches(max(6.0, 1.2 * len(rows) + 1.0), 4.5)
        axes = figure.add_subplot()
        boxes = axes.boxplot(list(rows.values()), patch_artist=True, showmeans=True, widths=0.6)
        for i, box in enumerate(boxes["boxes"]):
            box.set(facecolor=COLOURS[i % len(COLOURS)], alpha=0.35)
        for line in boxes["medians"]:
            line.set(color="black", linewidth=1.6)
        for mark in boxes["means"]:
            mark.set(marker="D", markerfacecolor="white", markeredgecolor="black", markersize=5)
        names = [textwrap.fill(name, 14, break_on_hyphens=False) for name in rows]
        axes.set_xticks(range(1, len(rows) + 1), names, fontsize=10)
        axes.grid(visible=False, axis="x")
        axes.set_ylabel("simple regret")
        return Caption(
            title,
            "Lower is better: how much the recommended arm's mean is below the best one's, run by run. Boxes: "
            "quartiles and median; whiskers: the furthest run within 1.5 box heights; circles: runs beyond; diamonds: "
            "means.",
        )

    return drawing.save(path)


def stopping_times(
    results: Sequence[Result],
    pulls: Mapping[str, ArrayLike],
    path: str | Path,
    *,
    title: str | None = None,
    agents: Sequence[str] | None = None,
) -> Path:
    """Draw the share of runs that have not stopped yet against the number of pulls, on a logarithmic axis.

    Runs that the cap ended have not stopped by themselves: a curve that does not come down to 0 ends there, at their
    share. The legend also says how many runs are wrong.

    Args:
        results: One result for each agent, of one environment with one cap, the budget.
        pulls: Pulls of each run, ``(R,)``, by the name of the agent.
        path: The file to write, ``.png``, ``.svg`` or ``.pdf``; missing folders are made.
        title: Title of the figure; None: the environment and the cap.
        agents: See :func:`bai_gym.report.figures.error_curves`.

    Returns:
        The path of the file.

    Raises:
        ParameterError: If there is nothing to draw, results are of several environments or caps, pulls are missing or
            negative, or the file's ending is unknown.
        MissingPackageError: If matplotlib is not installed.
        OutputError: If the file cannot be written.
    """
    env, cap = _one_setting(results)
    names = [row.agent for row in results]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ParameterError(f"agent {twice} has several results; draw one figure for each setting")
    times = {}
    for name in names:
        times[name] = np.sort(np.asarray(pulls.get(name, ()), dtype=np.float64))
        if times[name].ndim != 1 or not times[name].size or not (np.isfinite(times[name]) & (times[name] >= 0)).all():
            raise ParameterError(f"the pulls of {name} must be numbers of at least 0, one for each of at least one run")
    numbers = places(names, agents)

    @Drawing
    def drawing(figure: Any) -> Caption:
        from matplotlib.ticker import FuncFormatter

        axes = figure.add_subplot()
        least, most = min(values[0] for values in times.values()), max(values[-1] for values in times.values())
        start = least / 1.1 if least > 0 else -0.5  # an agent may stop before the first pull
        for row in results:
            at, share = survival(times[row.agent], row.truncated, cap)
            label = f"{named(row.agent, row.knows)}: {row.errors:,} of {row.runs:,} runs wrong"
            axes.plot(
                [start, *at],
                [1.0, *share],
                drawstyle="steps-post",
                markevery=max(1, len(at) // 8),
                **style(numbers[row.agent], row.knows),
                label=textwrap.fill(label, 34, subsequent_indent="  ", break_on_hyphens=False),
            )
        axes.set_xscale(**({"value": "log"} if least > 0 else {"value": "symlog", "linthresh": 1.0}))
        axes.set_xlim(start, max(most, 1.0) * 1.1)
        axes.set_ylim(-0.02, 1.02)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
        axes.xaxis.set_minor_formatter(
            FuncFormatter(lambda value, _: f"{value:,.10g}" if most < 30 * least and f"{value:e}"[0] in "25" else "")
        )
        if any(row.truncated for row in results):
            axes.axvline(cap, linestyle="--", color="#555555", linewidth=1.2, zorder=1)
        axes.set_xlabel("pulls")
        axes.set_ylabel("share of runs that have not stopped")
        figure.legend(loc="outside right upper", fontsize=10)
        sentence = "Further left is better: an agent stops when it is confident of its recommendation."
        if any(row.truncated for row in results):
            sentence += (
                f" Dashed: the cap of {cap:,} pulls; a curve that reaches it ends at the share of runs stopped by it."
            )
        if any(row.knows for row in results):
            sentence += " Hollow markers: agents with oracle knowledge."
        return Caption(title or f"{env}, at most {cap:,} pulls", sentence)

    return drawing.save(path)


def survival(pulls: ArrayLike, truncated: int, cap: int) -> tuple[FloatArray, FloatArray]:
    """Return the share of runs that have not stopped by themselves after some numbers of pulls.

    Args:
        pulls: ``(R,)`` pulls of each run.
        truncated: Runs that the cap ended, all with ``cap`` pulls.
        cap: Largest number of pulls.

    Returns:
        Numbers of pulls, ascending, and the shares from each of them on.
    """
    values = np.asarray(pulls)
    at, counts = np.unique(values, return_counts=True)
    counts = np.where(at == cap, counts - truncated, counts)
    return at.astype(np.float64), 1.0 - np.cumsum(counts) / values.size


def _one_setting(results: Sequence[Result]) -> tuple[str, int]:
    """Return the environment and the budget of results."""
    cells = sorted({(row.env, row.budget) for row in results})
    if len(cells) != 1:
        text = "; ".join(f"{env} with budget {budget:,}" for env, budget in cells) or "none"
        raise ParameterError(
            f"a figure of stopping times shows one environment with one budget, not {len(cells)} ({text})"
        )
    return cells[0]


def arms_plot(
    pulls: Mapping[str, ArrayLike],
    recommended: Mapping[str, ArrayLike],
    means: ArrayLike,
    path: str | Path,
    *,
    groups: Sequence[str] | None = None,
    title: str | None = None,
) -> Path:
    """Draw the shares of pulls and recommendations of each arm of an instance, and its true mean.

    Args:
        pulls: Mean pulls of each arm, ``(K,)``, by the name of the agent.
        recommended: Runs in which each arm was recommended, ``(K,)``, by the same names.
        means: ``(K,)`` true means.
        path: The file to write, ``.png``, ``.svg`` or ``.pdf``; missing folders are made.
        groups: The group of each arm; the names of neighbours of one group are written once.
        title: Title of the figure.

    Returns:
        The path of the file.

    Raises:
        ParameterError: If there is nothing to draw, lengths or names are incompatible, a number is not finite, or
            the file's ending is unknown.
        MissingPackageError: If matplotlib is not installed.
        OutputError: If the file cannot be written.
    """
    truth = np.asarray(means, dtype=np.float64)
    shares = {name: (_shares(pulls[name]), _shares(recommended.get(name, ()))) for name in pulls}
    if not shares or truth.ndim != 1 or not np.isfinite(truth).all():
        raise ParameterError("give at least one agent, and a true mean, a finite number, for each arm")
    if set(pulls) != set(recommended) or any(row.shape != truth.shape for two in shares.values() for row in two):
        raise ParameterError(f"there must be pulls and recommendations of {truth.size} arms for each agent")
    if groups is not None and len(groups) != truth.size:
        raise ParameterError(f"{len(groups)} groups for {truth.size} arms; give one for each")

    @Drawing
    def drawing(figure: Any) -> Caption:
        figure.set_size_inches(10.0, 1.9 * len(shares) + 2.6)
        *panels, below = figure.subplots(len(shares) + 1, 1, sharex=True)
        arms = np.arange(truth.size)
        top = 1.1 * max(row.max() for two in shares.values() for row in two)
        for axes, (name, (share, chosen)) in zip(panels, shares.items(), strict=True):
            axes.bar(arms, share, width=1.0, color=COLOURS[0], label="share of its pulls")
            axes.bar(arms, -chosen, width=1.0, color=COLOURS[1], label="share of runs that\nrecommend it")
            axes.axhline(0.0, color="black", linewidth=0.8)
            axes.set_ylim(-top, top)
            axes.yaxis.set_major_formatter(lambda value, _: f"{abs(value):g}")
            axes.set_ylabel(textwrap.fill(name, 18, break_on_hyphens=False))
        below.plot(arms, truth, ".", color=COLOURS[6], markersize=4)
        below.set_ylabel("true mean")
        below.set_xlabel("arm")
        below.set_xlim(-1, truth.size)
        for axes in (*panels, below):
            axes.grid(visible=False, axis="x")
        if groups is not None:
            _part(panels, below, groups)
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right upper", fontsize=10)
        return Caption(
            title,
            "Each column is an arm, counted from 0. Upwards: how an agent's pulls are distributed; downwards: how "
            "often it recommends the arm in the end; at the bottom: how good the arm is.",
        )

    return drawing.save(path)


def _shares(counts: ArrayLike) -> FloatArray:
    """Counts as shares of their sum."""
    values = np.asarray(counts, dtype=np.float64)
    if values.ndim != 1 or not np.isfinite(values).all() or (values < 0).any() or not values.sum() > 0:
        raise ParameterError("pulls and recommendations must be counts, at least 0, of at least one pull and one run")
    return np.asarray(values / values.sum())


def _part(panels: Sequence[Any], below: Any, groups: Sequence[str]) -> None:
    """Draw lines between groups, and write the names where they fit."""
    sizes = [(name, len(list(members))) for name, members in groupby(groups)]
    start = 0
    for name, size in sizes:
        for axes in (*panels, below):
            if start:
                axes.axvline(start - 0.5, color="#888888", linewidth=0.8, linestyle=":")
        if len(sizes) <= MOST:
            label = textwrap.fill(name, max(8, size // 2), break_long_words=False)
            panels[0].text(
                start + (size - 1) / 2, 1.02, label, transform=panels[0].get_xaxis_transform(), ha="center", fontsize=8
            )
        start += size
