"""Figures of scores over many environments: aggregates with their intervals, and performance profiles."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bai_gym.analysis.intervals import Estimate
from bai_gym.analysis.metrics import AGGREGATES
from bai_gym.report.aggregates import NAMES
from bai_gym.report.canvas import Caption, Drawing, named, places, style
from bai_gym.results.aggregate import Aggregate, Profile

__all__ = ["aggregate_intervals", "performance_profiles"]


def aggregate_intervals(
    scores: Aggregate, path: str | Path, *, title: str | None = None, agents: Sequence[str] | None = None
) -> Path:
    """Draw the aggregate scores of agents as dots with whiskers: a panel for each aggregate, a line for each agent.

    Args:
        scores: What :func:`bai_gym.aggregate` returns.
        path: The file to write, ``.png``, ``.svg`` or ``.pdf``; missing folders are made.
        title: Title of the figure.
        agents: The agents of all figures that belong together, in one order: an agent then has the same colour in
            all of them. None: those of this figure.

    Returns:
        The path of the file.

    Raises:
        ParameterError: If the file's ending is unknown.
        MissingPackageError: If matplotlib is not installed.
        OutputError: If the file cannot be written.
    """
    numbers = places((row.agent for row in scores), agents)

    @Drawing
    def drawing(figure: Any) -> Caption:
        figure.set_size_inches(10.0, 0.36 * len(scores) + 2.0)
        panels = figure.subplots(1, len(AGGREGATES), sharey=True)
        lines = np.arange(len(scores))
        for axes, word in zip(panels, AGGREGATES, strict=True):
            for line, row in enumerate(scores):
                estimate: Estimate = getattr(row, word)
                reach = np.nan_to_num([[estimate.value - estimate.lower], [estimate.upper - estimate.value]])
                axes.errorbar(
                    estimate.value,
                    line,
                    xerr=reach,
                    elinewidth=1.6,
                    capsize=3,
                    **style(numbers[row.agent], row.knows),
                )
            axes.set_title(NAMES[word], fontsize=11)
            axes.grid(visible=False, axis="y")
            axes.locator_params(axis="x", nbins=4)
            axes.margins(x=0.08)
        panels[0].set_ylim(len(scores) - 0.5, -0.5)
        names = [named(row.agent, row.knows) for row in scores]
        panels[0].set_yticks(lines, [textwrap.fill(name, 24, break_on_hyphens=False) for name in names])
        count = len(scores.tasks)
        sentence = (
            f"{scores.description.capitalize()}. Taken over {count} task{'s' * (count > 1)} (an environment with a "
            f"budget), with {100 * scores.level:g} % bootstrap intervals; to the right is better, except for the "
            "optimality gap."
        )
        if any(row.knows for row in scores):
            sentence += " Hollow markers: agents with oracle knowledge."
        return Caption(title, sentence)

    return drawing.save(path)


def performance_profiles(
    profile: Profile, path: str | Path, *, title: str | None = None, agents: Sequence[str] | None = None
) -> Path:
    """Draw performance profiles: a curve for each agent, with its pointwise intervals as a band.

    Args:
        profile: What :meth:`bai_gym.Aggregate.profile` or :meth:`bai_gym.Aggregate.run_profile` returns.
        path: The file to write, ``.png``, ``.svg`` or ``.pdf``; missing folders are made.
        title: Title of the figure.
        agents: The agents of all figures that belong together, in one order: an agent then has the same colour in
            all of them. None: those of this figure.

    Returns:
        The path of the file.

    Raises:
        ParameterError: If the file's ending is unknown.
        MissingPackageError: If matplotlib is not installed.
        OutputError: If the file cannot be written.
    """
    numbers = places(profile.agents, agents)
    tasks = profile.of == "tasks"

    @Drawing
    def drawing(figure: Any) -> Caption:
        axes = figure.add_subplot()
        tau = profile.thresholds
        for i, (agent, knows) in enumerate(zip(profile.agents, profile.knows, strict=True)):
            properties = style(numbers[agent], knows, 6.0)
            # A curve jumps at each task or run, and is constant in between.
            axes.fill_between(
                tau,
                profile.lower[i],
                profile.upper[i],
                step="post",
                color=properties["color"],
                alpha=0.15,
                linewidth=0,
                zorder=2,
            )
            axes.plot(
                tau,
                profile.shares[i],
                drawstyle="steps-post",
                # Markers of overlapping curves are side by side.
                markevery=(3 * i % max(1, len(tau) // 8), max(1, len(tau) // 8)),
                zorder=3,
                label=textwrap.fill(named(agent, knows), 28, subsequent_indent="  ", break_on_hyphens=False),
                **properties,
            )
        lowest = 0.0 if tasks else np.floor(10 * profile.shares.min()) / 10  # most runs have zero regret
        axes.set_ylim(lowest - 0.02 * (1 - lowest), 1 + 0.02 * (1 - lowest))
        if tasks:
            axes.set_xlabel("score τ")
            axes.set_ylabel("share of tasks with a score above τ")
        else:
            axes.set_xlabel("simple regret τ, in units of the scale")
            axes.set_ylabel("share of runs with at most τ")
        figure.legend(loc="outside right upper", fontsize=10)
        sentence = "Higher is better: "
        sentence += (
            "how many of the tasks (an environment with a budget) an agent scores more than τ on"
            if tasks
            else "how many runs, averaged over tasks, end with a simple regret of at most τ"
        )
        sentence += f"; bands: {100 * profile.level:g} % bootstrap intervals, each point for itself."
        if any(profile.knows):
            sentence += " Hollow markers: agents with oracle knowledge."
        return Caption(title, sentence)

    return drawing.save(path)
