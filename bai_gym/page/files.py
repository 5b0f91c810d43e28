"""The tables and figures of the page as files, for papers and for other programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from bai_gym.benchmark.runner import OnChunk
from bai_gym.page.content import Content, Group
from bai_gym.page.standings import Standings
from bai_gym.report.aggregates import aggregate_table
from bai_gym.report.canvas import ALL_FORMATS, FORMATS, slug
from bai_gym.report.figures import Axis, error_curves
from bai_gym.report.rivals import pulls_table
from bai_gym.report.runs import stopping_times
from bai_gym.report.scores import aggregate_intervals, performance_profiles
from bai_gym.report.standings import leaderboards_table
from bai_gym.report.tables import arms_tables, best_arm_remarks, results_table
from bai_gym.results.layout import Table
from bai_gym.results.result import Result
from bai_gym.results.writer import write_atomically

__all__ = ["save_figures", "save_tables"]


def save_tables(content: Content, ranked: Sequence[Standings], folder: Path) -> list[Path]:
    """Write results, leaderboards, scores and the table of a paper of each group as Markdown, CSV and LaTeX.

    Args:
        content: The results.
        ranked: Ranks and scores of each group.
        folder: Made if missing.

    Raises:
        OutputError: If the disk rejects it.
    """
    paths = []
    for (name, group), standings in zip(_named(content), ranked, strict=True):
        tables: dict[str, Table[Any]] = {
            name: results_table(group.results, group.optima),
            f"{name}-leaderboard": leaderboards_table(standings.boards, best_arm_remarks(group.results)),
        }
        arms = arms_tables(group.results)
        tables |= {f"{name}-arms{f'-{number}' * (len(arms) > 1)}": table for number, table in enumerate(arms, start=1)}
        if standings.paper is not None:
            tables[f"{name}-paper"] = standings.paper
        if standings.pulls:
            tables[f"{name}-pulls"] = pulls_table(standings.pulls)
        if standings.aggregate is not None:
            tables[f"{name}-scores"] = aggregate_table(standings.aggregate)
        for file, table in tables.items():
            for suffix, text in ((".md", table.markdown()), (".csv", table.csv()), (".tex", table.latex())):
                path = folder / f"{file}{suffix}"
                with write_atomically(path) as draft:
                    draft.write_text(text, encoding="utf-8", newline="\n")
                paths.append(path)
    return paths


def save_figures(
    content: Content, ranked: Sequence[Standings], folder: Path, on_file: OnChunk | None = None
) -> list[Path]:
    """Draw curves and scores of each group as PNG, SVG and PDF.

    Args:
        content: The results.
        ranked: Ranks and scores of each group.
        folder: Made if missing.
        on_file: Called after each file with (finished files, all files).

    Raises:
        MissingPackageError: If matplotlib is not installed.
        OutputError: If the disk rejects it.
    """
    jobs: list[Callable[[], Path]] = []
    for (name, group), standings in zip(_named(content), ranked, strict=True):
        for own, title, rows, x in _curves(name, group):
            jobs.append(partial(_draw_curves, folder / own, rows, x, title, content.agents))
        for env, budget in dict.fromkeys((env, budget) for _, env, budget in standings.spent):
            rows = [row for row in group.results if row.at_end and (row.env, row.budget) == (env, budget)]
            path = folder / f"{name if len(group.envs) == 1 else f'{name}-{slug(env)}'}-pulls-{budget}"
            jobs.append(partial(_draw_stopping, path, rows, standings, content.agents))
        if standings.aggregate is not None:
            scores = folder / f"{name}-scores"
            jobs.append(partial(_draw, aggregate_intervals, standings.aggregate, scores, group.title, content.agents))
            for profile in standings.profiles:
                path = folder / f"{name}-profile-{profile.of}"
                jobs.append(partial(_draw, performance_profiles, profile, path, group.title, content.agents))
    paths: list[Path] = []
    for number, job in enumerate(jobs, start=1):
        first = job()
        paths += [first.with_suffix(suffix) for suffix in FORMATS]
        if on_file is not None:
            on_file(number * len(FORMATS), len(jobs) * len(FORMATS))
    return paths


def _draw_curves(path: Path, rows: Sequence[Result], x: Axis, title: str, agents: Sequence[str]) -> Path:
    return error_curves(rows, f"{path}{ALL_FORMATS}", x=x, title=title, log=True, chance=None, agents=agents)


def _draw_stopping(path: Path, rows: Sequence[Result], found: Standings, agents: Sequence[str]) -> Path:
    stopped = {row.agent: found.spent[key] for row in rows if (key := (row.agent, row.env, row.budget)) in found.spent}
    subset = [row for row in rows if row.agent in stopped]
    return stopping_times(subset, stopped, f"{path}{ALL_FORMATS}", agents=agents)


def _draw(figure: Callable[..., Path], what: Any, path: Path, title: str, agents: Sequence[str]) -> Path:
    return figure(what, f"{path}{ALL_FORMATS}", title=title, agents=agents)


def _curves(name: str, group: Group) -> Iterator[tuple[str, str, Sequence[Result], Axis]]:
    """Yield the curves to draw: file name, title, results, and the horizontal axis."""
    ends = [result for result in group.results if result.at_end]
    arms = {result.env: result.mean_pulls.size for result in ends}
    budgets = {(result.env, result.budget) for result in ends}
    if len(arms) > 1 and len(budgets) == len(arms):  # one figure across environments
        if len(set(arms.values())) == len(arms):
            yield name, group.title, ends, "num_arms"
        else:
            yield name, group.title, ends, {env: float(number) for number, env in enumerate(arms, start=1)}
        return
    for env in arms:
        own = name if len(arms) == 1 else f"{name}-{slug(env)}"
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
        name = base = slug(group.title)
        number = 1
        while name in taken:
            number += 1
            name = f"{base}-{number}"
        taken.add(name)
        yield name, group
