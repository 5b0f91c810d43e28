"""The figures of ``bai-gym run``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from bai_gym.benchmark.cells import Cell
from bai_gym.cli.output import draw_curves, draw_stopping
from bai_gym.envs.specification import EpisodeSpec
from bai_gym.report.canvas import slug
from bai_gym.results.comparison import Comparison
from bai_gym.results.result import Result
from bai_gym.tasks import BestArm

__all__ = ["FIGURE", "draw_comparison"]

FIGURE = "figure.png"


def draw_comparison(
    comparison: Comparison,
    results: Sequence[Result],
    cells: Sequence[Cell],
    proved: Mapping[tuple[str, str, int], float],
    out: Path,
) -> list[Path]:
    """Draw a comparison, and if the folder has results on several environments or seeds, a figure of each.

    Args:
        comparison: What a command has played.
        results: All results of the folder.
        cells: Those of the comparison.
        proved: Bounds on error probabilities, by agent, environment and budget.
        out: The folder.

    Returns:
        The paths of the figures. A comparison on several environments has no figure for itself.
    """
    panels: dict[tuple[str, int | None], list[Result]] = {}
    for row in results:
        if row.at_end:
            panels.setdefault((row.env, row.seed), []).append(row)
    first, names = comparison[0], list(dict.fromkeys(row.agent for row in results))
    paths: list[Path] = []
    if len({row.env for row in comparison}) == 1:
        paths += _draw_one(comparison, panels[first.env, first.seed], cells[0].episode_spec, proved, out, names)
    for number, ((env, seed), rows) in enumerate(panels.items() if len(panels) > 1 else (), start=1):
        title = env if len({seed for _, seed in panels}) == 1 else f"{env}, seed {seed}"
        path = out / f"figure-{number}-{slug(title)}.png"
        if all(row.stops for row in rows):
            paths += draw_stopping(rows, out, path, title=title, agents=names)
        else:
            paths += draw_curves(rows, path, title=title, chance=None, agents=names)
    return paths


def _draw_one(
    comparison: Comparison,
    own: Sequence[Result],
    spec: EpisodeSpec,
    proved: Mapping[tuple[str, str, int], float],
    out: Path,
    names: Sequence[str],
) -> list[Path]:
    """Draw a comparison on one environment; ``own`` are the results of the folder there."""
    first = comparison[0]
    if spec.fixed_confidence:
        return draw_stopping(own, out, out / FIGURE, agents=names)
    return draw_curves(
        own if first.checkpoint is None else comparison,
        out / FIGURE,
        x="budget" if first.checkpoint is None else "checkpoint",
        title=first.env,
        bounds=proved,
        chance="one arm" if isinstance(spec.task, BestArm) else None,
        agents=names,
    )
