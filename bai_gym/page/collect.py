"""Collects results of several folders for the page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from bai_gym.page.content import Content, Group
from bai_gym.results.reader import ResultTable
from bai_gym.results.recording import Recording
from bai_gym.results.result import Optima, Result

__all__ = ["collect"]


def collect(tables: Iterable[ResultTable], recordings: Iterable[Recording] = ()) -> Content:
    """Sort the content of folders: sweeps first, then panels.

    Panels of experiments stay separate. All other files of one seed form one sweep, in any folder:
    the instances of an environment are the same in all of them. Where two files hold the same agent on the same
    environment with the same budget, the one with more runs counts.

    Args:
        tables: The files of results.
        recordings: The recorded episodes; the same episode is shown once.
    """
    notes: list[str] = []
    sweeps: dict[int | None, list[ResultTable]] = {}
    panels: list[Group] = []
    groups: list[Group] = []
    for table in tables:
        if not table.results:
            continue
        if _is_panel(table):
            panels.append(_group(table.title, [table], notes))
            continue
        for part in _by_seed(table):
            sweeps.setdefault(part.results[0].seed, []).append(part)
    for seed, members in sweeps.items():
        envs = list(dict.fromkeys(result.env for table in members for result in table.results))
        title = envs[0] if len(envs) == 1 else f"{len(envs)} environments"
        text = "" if len(sweeps) == 1 else ", seed unknown" if seed is None else f", seed {seed}"
        groups.append(_group(title + text, members, notes))
    episodes = {(r.agent, r.env, r.budget, r.run, r.seed): r for r in recordings}
    order = sorted(episodes, key=lambda key: (key[1], key[2], key[4], key[3]))  # stable: agents as they came
    return Content((*groups, *panels), tuple(episodes[key] for key in order), tuple(notes))


def _is_panel(table: ResultTable) -> bool:
    return ", ".join(dict.fromkeys(result.env for result in table.results)) != table.title


def _by_seed(table: ResultTable) -> Iterator[ResultTable]:
    """Yield the results of each seed, with the commands that give them."""
    seeds = dict.fromkeys(result.seed for result in table.results)
    for seed in seeds:
        rows = tuple(result for result in table.results if result.seed == seed)
        lines = table.command.splitlines()
        own = lines if len(seeds) == 1 else [line for line in lines if f" --seed {seed} " in f"{line} "]
        yield replace(table, results=rows, command="\n".join(own))


def _group(title: str, tables: Sequence[ResultTable], notes: list[str]) -> Group:
    by_place: dict[tuple[str, str, int, int], Result] = {}
    optima: Optima = {}
    twice = 0
    for table in tables:
        optima.update(table.optima)
        for result in table.results:
            # The end of the runs is one row, whether or not the command asked for checkpoints, too.
            key = result.agent, result.env, result.budget, result.checkpoint or result.budget
            other = by_place.get(key)
            if other is not None and (other.runs, other.errors) != (result.runs, result.errors):
                twice += 1
            if other is None or result.precedence > other.precedence:
                by_place[key] = result
    if twice:
        rows = f"{twice} rows stand" if twice > 1 else "1 row stands"
        notes.append(f"{title}: {rows} in several of the folders, with different runs; those with more runs are shown.")
    return Group(title, tuple(by_place.values()), optima, tuple(tables))
