"""The shell command that reproduces some cells."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bai_gym.benchmark.cells import Cell
from bai_gym.benchmark.sources import LIBRARY_IDS
from bai_gym.validation import literal

__all__ = ["rerun_command"]

LONGEST = 4000  # characters; limit of a line in some shells


def rerun_command(cells: Sequence[Cell], runs: int) -> str:
    """Return the command that reproduces the results.

    It omits options that do not affect results, such as the number of workers and the output folder.

    Args:
        cells: At least one, of one environment, as :func:`bai_gym.api.make_cells` returns them.
        runs: Episodes of each.

    Returns:
        One line, or empty if no command can: the environment or an agent is a user object, or a keyword cannot be
        written as text.
    """
    first = cells[0]
    env, agents = first.env, dict.fromkeys(cell.agent.spec for cell in cells)
    if not isinstance(env.env, str) or env.env not in LIBRARY_IDS or not all(agents):
        return ""
    arguments = ["bai-gym", "run", env.env]
    for name, value in env.keywords.items():
        written = _written(value)
        if written is None:
            return ""
        arguments += ["--set", f"{name}={written}"]
    arguments += [word for agent in agents for word in ("--agent", agent)]
    arguments += [word for budget in dict.fromkeys(cell.budget for cell in cells) for word in ("--budget", str(budget))]
    arguments += ["--runs", str(runs), "--seed", str(first.seed)]
    arguments += ["--path", first.path] if first.path != "auto" else []
    arguments += ["--checkpoints", _points(cells)] if first.checkpoints else []
    line = shlex.join(arguments)
    return line if len(line) <= LONGEST else ""


def _points(cells: Sequence[Cell]) -> str:
    """Return the checkpoints in the form of ``--checkpoints``: a step, if they are its multiples, else a list."""
    points = cells[0].checkpoints
    step = points[0]
    if all(cell.checkpoints == tuple(range(step, cell.budget, step)) for cell in cells):
        return str(step)
    return ",".join(map(str, points if len(points) > 1 else points * 2))  # a single number would be a step


def _written(value: Any) -> str | None:
    """Return a keyword in the form of ``--set``, or None."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, str | Path):
        text = str(value)
        return text if literal(text) is text else repr(text)
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return None
    return repr(value)
