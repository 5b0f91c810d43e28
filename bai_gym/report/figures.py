"""Figures of results and of instances, for papers and web pages.

:func:`error_curves` draws error probability against budget or number of arms; :func:`instance_plot` draws the means
and variances of an instance. Each figure carries one sentence on how to read it. :mod:`bai_gym.report.canvas` describes
the files.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from bai_gym.errors import ParameterError
from bai_gym.report.canvas import COLOURS, MARKERS, Caption, Drawing, named, places, style
from bai_gym.results.result import Result
from bai_gym.statistics import FloatArray

__all__ = ["error_curves", "instance_plot"]

Axis = Literal["budget", "num_arms", "checkpoint"] | Mapping[str, float]
"""The quantity of a horizontal axis: a property of the results, or a number for each environment."""
AXES = {"budget": "budget (pulls)", "num_arms": "number of arms K", "checkpoint": "pulls"}
DENSE = 25  # points of a curve from which on it is a line with a band, without markers


def error_curves(
    results: Sequence[Result],
    path: str | Path,
    *,
    x: Axis = "budget",
    x_name: str = "set-up",
    title: str | None = None,
    bounds: Mapping[tuple[str, str, int], float] | None = None,
    chance: float | Literal["one arm"] | None = "one arm",
    log: bool = False,
    agents: Sequence[str] | None = None,
) -> Path:
    """Draw error probability with its 95 % interval against budget or number of arms, one curve per agent.

    Agents with oracle knowledge have hollow markers, and the legend names the knowledge. The legend
    is in the order of the curves at their right ends. On a logarithmic axis a point without errors stands at the upper
    end of its interval, as an arrow pointing down.

    Args:
        results: The results; an agent has at most one for each value of `x`.
        path: The file to write, ``.png``, ``.svg`` or ``.pdf``; missing folders are made.
        x: The quantity on the horizontal axis: the budget, the number of arms K, the pulls made at checkpoints, or a
            number for each environment.
        x_name: Label of these numbers.
        title: Title of the figure; without one, the environment where there is only one.
        bounds: Bounds on error probabilities, by agent, environment and budget; drawn dotted, in the agent's colour.
        chance: Error probability of a guess, drawn dashed: that of naming one of K arms at random, ``1 - 1/K``
            (``"one arm"``), a number in [0, 1] for other tasks, or None for no such line. On a linear axis that
            ends far below it, the sentence under the figure gives the number instead of a line.
        log: Whether the error probability has a logarithmic axis.
        agents: The agents of all figures that belong together, in one order: an agent then has the same colour in
            all of them. None: those of this figure.

    Returns:
        The path of the file.

    Raises:
        ParameterError: If there is nothing to draw, an agent has two results for one value of `x`, results of
            several environments would share a curve, or the file's ending is unknown.
        MissingPackageError: If matplotlib is not installed.
        OutputError: If the file cannot be written.
    """
    curves = _curves(results, x, x_name)
    numbers = places((row.agent for row in results), agents)
    if chance not in (None, "one arm") and (isinstance(chance, str) or not 0.0 <= chance <= 1.0):
        raise ParameterError(f'chance is {chance!r}; it must be a number in [0, 1], "one arm" or None')

    @Drawing
    def drawing(figure: Any) -> Caption:
        legend = {name: textwrap.fill(name, 28, subsequent_indent="  ", break_on_hyphens=False) for name in curves}
        lines = sum(text.count("\n") + 1 for text in legend.values())
        figure.set_size_inches(8.0, max(4.5, 0.2 * lines + 1.5))
        axes = figure.add_subplot()
        handles = {}
        for i, (name, rows) in enumerate(curves.items()):
            offset = 5.0 * (i - (len(curves) - 1) / 2)
            number = numbers[rows[0].agent] if agents is not None else i
            handles[name] = _draw_curve(axes, rows, number, x, log, offset)
            ends = [row for row in rows if row.checkpoint in (None, row.budget)]  # of the theorems
            bounded = [(_x_of(row, x), (bounds or {}).get((row.agent, row.env, row.budget))) for row in ends]
            _draw_bound(axes, [(at, value) for at, value in bounded if value is not None], number)
        _place_x_axis(axes, sorted({_x_of(row, x) for row in results}), x, x_name)
        _place_y_axis(axes, results, log)
        sentence = _reading(results, log)
        if bounds:
            sentence += "; dotted: what is proved, a bound on the error probability"
        guess = _chance_line(results, x, chance)
        if guess is not None:
            is_line = _draw_chance(axes, *guess)
            sentence += f"; {'dashed' if is_line else 'above the axis'}: {_describe_chance(chance, guess[1])}"
        axes.set_ylabel("error probability")
        envs = {row.env for row in results}
        heading = title if title is not None else (next(iter(envs)) if len(envs) == 1 else None)
        order = sorted(curves, key=lambda name: -_last(curves[name], x).error_probability)
        figure.legend([handles[n] for n in order], [legend[n] for n in order], loc="outside right upper", fontsize=10)
        return Caption(heading, sentence + ".")

    return drawing.save(path)


def instance_plot(
    means: ArrayLike,
    variances: ArrayLike,
    path: str | Path,
    *,
    labels: Sequence[str] | None = None,
    title: str | None = None,
) -> Path:
    """Draw the means and the reward variances of the arms of an instance, or of several, in two panels.

    The best arm of each instance carries a ring, in both panels.

    Args:
        means: Means of the arms, shape (K,) or (R, K) for R instances.
        variances: Reward variances of the arms, at least 0, of the same shape.
        path: The file to write, ``.png``, ``.svg`` or ``.pdf``; missing folders are made.
        labels: Names of the R instances; ``instance 1`` and so on where not given. One instance has no legend.
        title: Title of the figure.

    Returns:
        The path of the file.

    Raises:
        ParameterError: If the shapes are incompatible, a number is not finite, a variance is negative, or the
            file's ending is unknown.
        MissingPackageError: If matplotlib is not installed.
        OutputError: If the file cannot be written.
    """
    mu, v = _instances(means, variances)
    names = [f"instance {i}" for i in range(1, len(mu) + 1)] if labels is None else list(labels)
    if len(names) != len(mu):
        raise ParameterError(f"{len(names)} labels for {len(mu)} instances; give one for each")

    @Drawing
    def drawing(figure: Any) -> Caption:
        figure.set_size_inches(8.0, 3.6)
        panels = figure.subplots(1, 2, sharex=True)
        arms = np.arange(mu.shape[1])
        for axes, values, quantity in zip(panels, (mu, v), ("mean reward", "reward variance"), strict=True):
            for i, row in enumerate(values):
                colour, marker = COLOURS[i % len(COLOURS)], MARKERS[i % len(MARKERS)]
                size = 6.0 if len(arms) <= 32 else 4.0
                axes.plot(arms, row, marker, color=colour, markersize=size, label=names[i])
                best = int(np.argmax(mu[i]))
                axes.plot(
                    best, row[best], "o", color=colour, markersize=size + 7, fillstyle="none", markeredgewidth=1.4
                )
            axes.set_xlabel("arm")
            axes.set_ylabel(quantity)
            axes.locator_params(axis="x", integer=True, steps=[1, 2, 4, 5, 8, 10])
            axes.margins(x=0.04, y=0.12)
            if values is v and v.min() < 0.5 * v.max():  # zero is close enough to show
                axes.set_ylim(bottom=0)
        if len(mu) > 1:
            handles, texts = panels[0].get_legend_handles_labels()
            figure.legend(handles, texts, loc="outside upper right", ncols=min(len(mu), 6), fontsize=10)
        best_words = "the ring marks the best arm" if len(mu) == 1 else "a ring marks the best arm of each instance"
        return Caption(
            title,
            f"Each point is an arm, counted from 0: its mean reward (left) and the variance of its "
            f"rewards (right); {best_words}.",
        )

    return drawing.save(path)


# ------------------------------------------------------------------------------------------------------- curves


def _curves(results: Sequence[Result], x: Axis, x_name: str) -> dict[str, list[Result]]:
    """Results by the name that the legend gives them, in order of appearance, each sorted along `x`."""
    if isinstance(x, str) and x not in AXES:
        raise ParameterError(f"x is {x!r}; it must be {', '.join(map(repr, AXES))}")
    if not results:
        raise ParameterError("there are no results to draw")
    envs = sorted({row.env for row in results})
    if x in ("budget", "checkpoint") and len(envs) > 1:
        raise ParameterError(f"results of {len(envs)} environments ({', '.join(envs)}): draw one figure for each")
    curves: dict[str, list[Result]] = {}
    for row in results:
        curves.setdefault(named(row.agent, row.knows), []).append(row)
    for name, rows in curves.items():
        rows.sort(key=lambda row: _x_of(row, x))
        values = [_x_of(row, x) for row in rows]
        if len(set(values)) < len(values):
            where = x if isinstance(x, str) else x_name
            raise ParameterError(f"agent {name} has several results at one {where}; draw one figure for each setting")
    return curves


def _x_of(row: Result, x: Axis) -> float:
    if not isinstance(x, str):
        return x[row.env]
    if x == "checkpoint":
        return int(row.budget if row.checkpoint is None else row.checkpoint)
    return int(row.budget) if x == "budget" else len(row.mean_pulls)


def _last(rows: Sequence[Result], x: Axis) -> Result:
    return max(rows, key=lambda row: _x_of(row, x))


def _draw_curve(axes: Any, rows: Sequence[Result], index: int, x: Axis, log: bool, offset: float) -> Any:
    """Draw one agent's curve and intervals; return its legend handle.

    Points without errors on a logarithmic axis are not connected to the curve, which would seem to rise to them. They
    are shifted by `offset` (points of 1/72 inch), because those of different agents have one height.
    """
    from matplotlib.transforms import ScaledTranslation

    properties = {**style(index, rows[0].knows), "elinewidth": 1.1, "capsize": 3, "zorder": 3}
    at = np.array([_x_of(row, x) for row in rows], dtype=np.float64)
    p = np.array([row.error_probability for row in rows])
    low, high = np.array([row.interval for row in rows]).T
    if len(rows) >= DENSE:
        return _draw_band(axes, at, p, low, high, rows[0], index)
    reach = np.maximum([p - low, high - p], 0.0)  # (2, points)
    with_errors = np.full(len(p), True) if not log else p > 0
    bars = axes.errorbar(at[with_errors], p[with_errors], yerr=reach[:, with_errors], **properties)
    if not with_errors.all():
        aside = axes.transData + ScaledTranslation(offset / 72, 0.0, axes.figure.dpi_scale_trans)
        none = ~with_errors
        axes.errorbar(
            at[none],
            high[none],
            yerr=0.4 * high[none],
            uplims=True,
            transform=aside,
            **{**properties, "linestyle": "none"},
        )
    return bars


def _draw_band(
    axes: Any,
    at: FloatArray,
    p: FloatArray,
    low: FloatArray,
    high: FloatArray,
    row: Result,
    index: int,
) -> Any:
    """Draw a curve of many points: a line, its intervals as a band, and a marker now and then."""
    properties = style(index, row.knows)
    axes.fill_between(at, low, high, color=properties["color"], alpha=0.15, linewidth=0, zorder=2)
    return axes.plot(
        at,
        np.where(p > 0, p, np.nan) if axes.get_yscale() == "log" else p,
        markevery=max(1, len(at) // 10),
        zorder=3,
        **properties,
    )[0]


def _draw_bound(axes: Any, points: Sequence[tuple[float, float]], index: int) -> None:
    """Draw the proved bounds of the agent of the given number."""
    if points:
        at, values = zip(*sorted(points), strict=True)
        marker = "_" if len(points) == 1 else None
        axes.plot(at, values, ":", marker=marker, markersize=14, color=COLOURS[index % len(COLOURS)], linewidth=1.6)


def _place_x_axis(axes: Any, values: list[float], x: Axis, x_name: str) -> None:
    """Ticks at the values if they are few; logarithmic where they span a decade."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    place = np.array(values, dtype=np.float64)
    # Set, not fitted: points without errors are not part of the curve and would be ignored.
    margin = 0.05 * np.ptp(place) if len(values) > 1 else 0.2 * place[0]
    axes.set_xlim(place[0] - margin, place[-1] + margin)
    if values[-1] >= 10 * values[0] and x != "checkpoint":  # checkpoints are times
        axes.set_xscale("log")
        axes.xaxis.set_minor_locator(NullLocator())
        place = np.log(place)
        axes.set_xlim(*np.exp([place[0] - 0.05 * np.ptp(place), place[-1] + 0.05 * np.ptp(place)]))
    if len(values) <= 8:
        ticks: list[float] = []
        for i, value in enumerate(values):  # a label needs about a tenth of the axis
            if not ticks or place[i] - place[values.index(ticks[-1])] >= 0.1 * np.ptp(place):
                ticks.append(value)
        axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axes.set_xlabel(AXES[x] if isinstance(x, str) else x_name)
    axes.grid(visible=False, axis="x")


def _place_y_axis(axes: Any, results: Sequence[Result], log: bool) -> None:
    """From 0 to a little above the highest interval, or as far down as the lowest point on a logarithmic axis."""
    top = max(row.interval[1] for row in results)
    if not log:
        axes.set_ylim(0.0, min(1.08 * top, 1.02))
        return
    from matplotlib.ticker import FuncFormatter

    axes.set_yscale("log")
    lowest = min(row.interval[0] if row.errors > 0 else 0.5 * row.interval[1] for row in results)
    axes.set_ylim(0.7 * lowest, min(1.4 * top, 1.3))
    axes.grid(visible=True, which="minor", axis="y", linewidth=0.5)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    if top < 20 * lowest:  # fewer than two decades: powers of ten alone would leave the axis bare
        axes.yaxis.set_minor_formatter(FuncFormatter(lambda value, _: f"{value:g}" if f"{value:e}"[0] in "25" else ""))


def _chance_line(results: Sequence[Result], x: Axis, chance: float | str | None) -> tuple[Any, Any] | None:
    """Ends or course of the chance line, as (x, y) arrays; None for no line."""
    if chance is None:
        return None
    at = np.array(sorted({_x_of(row, x) for row in results}), dtype=np.float64)
    if chance != "one arm":
        return at, np.full(len(at), float(chance))
    if x == "num_arms":
        return at, 1 - 1 / at
    num_arms = {len(row.mean_pulls) for row in results}
    return (at, np.full(len(at), 1 - 1 / num_arms.pop())) if len(num_arms) == 1 else None


def _draw_chance(axes: Any, at: FloatArray, y: FloatArray) -> bool:
    """Draw the chance line if it does not squeeze the curves; return whether it did."""
    bottom, top = axes.get_ylim()
    if axes.get_yscale() == "linear" and y.max() > 2 * top:
        return False
    axes.set_ylim(bottom, max(top, 1.15 * y.max() if axes.get_yscale() == "log" else 1.05 * y.max()))
    if np.ptp(y) > 0:
        axes.plot(at, y, "--", color="#555555", linewidth=1.2, zorder=2)
    else:
        axes.axhline(y[0], linestyle="--", color="#555555", linewidth=1.2, zorder=2)
    return True


def _describe_chance(chance: float | str | None, y: FloatArray) -> str:
    if chance == "one arm":
        return "a random guess, 1 − 1/K" + (f" = {y[0]:.3g}" if np.ptp(y) == 0 else "")
    return f"a random guess, {y[0]:.3g}"


def _reading(results: Sequence[Result], log: bool) -> str:
    """The sentence under the figure, without the score of chance."""
    runs = sorted({row.runs for row in results})
    count = f"{runs[0]:,}" if len(runs) == 1 else f"{runs[0]:,} to {runs[-1]:,}"
    parts = [f"Lower is better: share of {count} runs with a wrong recommendation, with 95 % Wilson intervals"]
    if any(row.knows for row in results):
        parts.append("hollow markers: agents with oracle knowledge")
    if log and any(row.errors == 0 for row in results):
        parts.append("arrows: no error seen, drawn at the upper end of the interval")
    return "; ".join(parts)


# -------------------------------------------------------------------------------------------- instances


def _instances(means: ArrayLike, variances: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Means and variances as arrays of shape (R, K), checked."""
    mu, v = np.asarray(means, dtype=np.float64), np.asarray(variances, dtype=np.float64)
    if mu.shape != v.shape or mu.ndim not in (1, 2) or mu.size == 0:
        raise ParameterError(
            f"means have shape {mu.shape} and variances {v.shape}; both must be (K,), or (R, K) for R instances"
        )
    if not (np.isfinite(mu).all() and np.isfinite(v).all()):
        raise ParameterError("means and variances must be finite numbers")
    if (v < 0).any():
        raise ParameterError(f"a variance is {v.min():g}; it must be at least 0")
    return np.atleast_2d(mu), np.atleast_2d(v)
