"""What stands beside the page: its tables and figures as files, for papers and for other programs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from bai_gym.benchmark.result import Result
from bai_gym.benchmark.store import write_atomically
from bai_gym.report.figures import Axis, error_curves
from bai_gym.report.page.collect import Content, Group
from bai_gym.report.tables import to_csv, to_markdown

__all__ = ["save_figures", "save_tables"]

FORMATS = (".png", ".svg", ".pdf")


def save_tables(content: Content, folder: Path) -> list[Path]:
    """Write the results of each group as Markdown and CSV.

    Raises:
        OutputError: If the disk refuses.
    """
    paths = []
    for name, group in _named(content):
        for suffix, text in (
            (".md", to_markdown(group.results, group.optima)),
            (".csv", to_csv(group.results, group.optima)),
        ):
            path = folder / f"{name}{suffix}"
            with write_atomically(path) as draft:
                draft.write_text(text, encoding="utf-8")
            paths.append(path)
    return paths


def save_figures(content: Content, folder: Path) -> list[Path]:
    """Draw the curves of each group as PNG, SVG and PDF.

    Raises:
        MissingPackageError: If matplotlib is not installed.
        OutputError: If the disk refuses.
    """
    return [
        error_curves(rows, folder / f"{name}{suffix}", x=x, title=title, log=True, chance=None)
        for group_name, group in _named(content)
        for name, title, rows, x in _curves(group_name, group)
        for suffix in FORMATS
    ]


def _curves(name: str, group: Group) -> Iterator[tuple[str, str, Sequence[Result], Axis]]:
    """Yield what there is to draw: name of the file, title, results, and the horizontal axis."""
    ends = [result for result in group.results if result.checkpoint in (None, result.budget)]
    arms = {result.env: result.mean_pulls.size for result in ends}
    budgets = {(result.env, result.budget) for result in ends}
    if len(arms) > 1 and len(budgets) == len(arms):  # one figure across environments
        if len(set(arms.values())) == len(arms):
            yield name, group.title, ends, "num_arms"
        else:
            yield name, group.title, ends, {env: float(number) for number, env in enumerate(arms, start=1)}
        return
    for env in arms:
        own = name if len(arms) == 1 else f"{name}-{_slug(env)}"
        rows = [result for result in ends if result.env == env]
        yield own, env, rows, "budget"
        for _, budget in sorted(pair for pair in budgets if pair[0] == env):
            within = [r for r in group.results if (r.env, r.budget) == (env, budget) and r.checkpoint is not None]
            if len({result.checkpoint for result in within}) > 1:
                yield f"{own}-within-{budget}", f"{env}, budget {budget:,}", within, "checkpoint"


def _named(content: Content) -> Iterator[tuple[str, Group]]:
    """Yield each group with a name for its files; the names differ."""
    taken: set[str] = set()
    for group in content.groups:
        name = base = _slug(group.title)
        number = 1
        while name in taken:
            number += 1
            name = f"{base}-{number}"
        taken.add(name)
        yield name, group


def _slug(text: str) -> str:
    """Return words that any file system takes."""
    return re.sub(r"[^A-Za-z0-9.=]+", "-", text)[:80].strip("-.") or "results"
