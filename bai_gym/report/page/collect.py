"""Collects results of several folders for the page: comparisons, as columns of numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from bai_gym.analysis.optimum import Optima, excess_error
from bai_gym.report.page.numbers import short
from bai_gym.report.page.summary import summary
from bai_gym.report.tables import best_words
from bai_gym.results.reader import ResultTable
from bai_gym.results.recording import Recording
from bai_gym.results.result import Result
from bai_gym.statistics import FloatArray

if TYPE_CHECKING:
    from bai_gym.report.page.standings import Standings

__all__ = ["Content", "Group", "collect", "to_json"]


@dataclass(frozen=True)
class Group:
    """A group of results: a sweep over environments and budgets, or a panel of an experiment.

    Attributes:
        title: Its title.
        results: Each agent, environment, budget and checkpoint once.
        optima: Probability that the best possible agent is correct, by environment and budget, where known.
        tables: Its source files.
    """

    title: str
    results: tuple[Result, ...]
    optima: Optima
    tables: tuple[ResultTable, ...]

    @property
    def envs(self) -> list[str]:
        """Its environments, in the order of their results."""
        return list(dict.fromkeys(result.env for result in self.results))

    @property
    def agents(self) -> list[str]:
        """Its agents, in the order of their results."""
        return list(dict.fromkeys(result.agent for result in self.results))


@dataclass(frozen=True)
class Content:
    """The content of a page.

    Attributes:
        groups: The comparisons.
        recordings: Recorded episodes.
        notes: Remarks about the whole page.
    """

    groups: tuple[Group, ...]
    recordings: tuple[Recording, ...]
    notes: tuple[str, ...] = field(default=())

    @property
    def agents(self) -> list[str]:
        """The agents of all groups; their order decides how agents look."""
        return list(dict.fromkeys(agent for group in self.groups for agent in group.agents))


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
        words = "" if len(sweeps) == 1 else ", seed unknown" if seed is None else f", seed {seed}"
        groups.append(_group(title + words, members, notes))
    episodes = {(r.agent, r.env, r.budget, r.run, r.seed): r for r in recordings}
    order = sorted(episodes, key=lambda key: (key[1], key[2], key[4], key[3]))  # stable: agents as they came
    return Content((*groups, *panels), tuple(episodes[key] for key in order), tuple(notes))


def to_json(content: Content, standings: Sequence[Standings]) -> dict[str, Any]:
    """Return the results in the form of the page's script, without the recordings.

    Args:
        content: What the page shows.
        standings: Ranks and scores of each group.
    """
    return {
        "version": version("bai-gym"),
        "notes": list(content.notes),
        "groups": [_group_json(*both, content.agents) for both in zip(content.groups, standings, strict=True)],
    }


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
    found: dict[tuple[str, str, int, int], Result] = {}
    optima: Optima = {}
    twice = 0
    for table in tables:
        optima.update(table.optima)
        for result in table.results:
            # The end of the runs is one row, whether or not the command asked for checkpoints, too.
            key = result.agent, result.env, result.budget, result.checkpoint or result.budget
            other = found.get(key)
            if other is not None and (other.runs, other.errors) != (result.runs, result.errors):
                twice += 1
            if other is None or _weight(result) > _weight(other):
                found[key] = result
    if twice:
        rows = f"{twice} rows stand" if twice > 1 else "1 row stands"
        notes.append(f"{title}: {rows} in several of the folders, with different runs; those with more runs are shown.")
    return Group(title, tuple(found.values()), optima, tuple(tables))


def _weight(result: Result) -> tuple[int, bool]:
    """Return the precedence among duplicate results: more runs, then the end of a curve of checkpoints."""
    return result.runs, result.checkpoint is not None


def _spread(result: Result) -> FloatArray:
    """Return the pulls of each arm, or of each true rank, if arm numbers mean little."""
    return np.array(result.mean_pulls_by_rank) if result.mean_pulls_by_rank else result.mean_pulls


class _Table:
    """Numbers objects in order of appearance."""

    def __init__(self) -> None:
        self.numbers: dict[Any, int] = {}

    def __call__(self, thing: Any) -> int:
        return self.numbers.setdefault(thing, len(self.numbers))

    @property
    def things(self) -> list[Any]:
        return list(self.numbers)


def _group_json(group: Group, standings: Standings, order: Sequence[str]) -> dict[str, Any]:
    agents, envs, knows, notes, commands = (_Table() for _ in range(5))
    for agent in group.agents:
        agents(agent)
    arms = {result.env: int(result.mean_pulls.size) for result in group.results}
    named = {result.env: result.arm_names for result in group.results if result.arm_names}
    rows = []
    for result in group.results:
        last = result.at_end
        rank = standings.rank(result) if last else (None, None, None)
        optimum = group.optima.get((result.env, result.budget))
        gap: tuple[float | None, ...] = (None, None, None)
        if optimum is not None and last:
            found = excess_error(result.error_probability, result.interval, optimum)
            gap = (short(found.value), short(found.lower), short(found.upper))
        pulls = result.mean_pulls.sum()
        rows.append(
            {
                "agent": agents(result.agent),
                "env": envs(result.env),
                "budget": result.budget,
                "checkpoint": result.checkpoint,
                "runs": result.runs,
                "errors": result.errors,
                "low": short(result.interval[0]),
                "high": short(result.interval[1]),
                "rank": rank[0],
                "rankLow": rank[1],
                "rankHigh": rank[2],
                "regret": short(result.simple_regret),
                "regretSe": short(result.simple_regret_se),
                "gap": gap[0],
                "gapLow": gap[1],
                "gapHigh": gap[2],
                "pulls": short(result.sample_complexity),
                "pullsLow": short(result.sample_quantiles[0]),
                "pullsMedian": short(result.sample_quantiles[2]),
                "pullsHigh": short(result.sample_quantiles[4]),
                "pullsQuantiles": [short(value) for value in result.sample_quantiles],
                "delta": result.delta,
                "overBound": None if result.over_bound is None else short(result.over_bound),
                "morePulls": standings.more_pulls(result) if last else None,
                "stopping": standings.stopping(result),
                "truncated": result.truncated,
                "favourite": list(result.most_recommended) if result.most_recommended else None,
                "knows": knows(tuple(result.knows)),
                "notes": [notes(note) for note in result.notes],
                "rerun": commands(result.rerun),
                # Shares of the arms in 1/10,000: of the end of the runs only, checkpoints would make the page heavy.
                "share": [round(10_000 * share) for share in _spread(result) / pulls] if last and pulls else None,
                "byRank": bool(result.mean_pulls_by_rank),
            }
        )
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    return {
        "title": group.title,
        "seeds": [str(seed) for seed in sorted({r.seed for r in group.results if r.seed is not None})],
        "agents": agents.things,
        "looks": [order.index(agent) for agent in agents.things],
        "envs": envs.things,
        "arms": [arms[env] for env in envs.things],
        "armNames": [list(named.get(env, ())) for env in envs.things],
        "best": {env: words for env in named for words in best_words(r for r in group.results if r.env == env)},
        "knows": [list(words) for words in knows.things],
        "notes": notes.things,
        "reruns": commands.things,
        "commands": list(dict.fromkeys(line for table in group.tables for line in table.command.splitlines())),
        "rows": columns,
        "summary": summary(group, standings),
        "overall": standings.overall(agents.things, envs.things),
        "scores": standings.scores(agents.things),
        "claims": [
            {
                "are": table.claims_are,
                "list": [
                    {
                        "text": claim.text,
                        "verdict": str(claim.verdict),
                        "against": list(claim.against),
                        "open": list(claim.open),
                    }
                    for claim in table.claims
                ],
            }
            for table in group.tables
            if table.claims
        ],
    }
