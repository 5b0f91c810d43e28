"""The results in the form of the page's script: columns of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from bai_gym.analysis.intervals import normal
from bai_gym.analysis.metrics import excess_error
from bai_gym.page.content import Content, Group
from bai_gym.page.numbers import short
from bai_gym.page.standings import Standings
from bai_gym.page.summary import summary
from bai_gym.report.tables import best_arm_remarks
from bai_gym.results.layout import group_notes
from bai_gym.results.result import Result
from bai_gym.statistics import FloatArray

__all__ = ["to_json"]


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
    kinds = {result.env: result.rewards for result in group.results}
    named = {result.env: result.arm_names for result in group.results if result.arm_names}
    joined = group_notes(note for result in group.results for note in result.notes)
    rows = []
    for result in group.results:
        last = result.at_end
        rank = standings.rank(result) if last else (None, None, None)
        optimum = group.optima.get((result.env, result.budget))
        gap: tuple[float | None, ...] = (None, None, None)
        if optimum is not None and last:
            excess = excess_error(result.error_probability, result.interval, optimum)
            gap = (short(excess.value), short(excess.lower), short(excess.upper))
        pulls = result.mean_pulls.sum()
        regret_low, regret_high = normal(result.simple_regret, result.simple_regret_se)
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
                "regretLow": short(regret_low),
                "regretHigh": short(regret_high),
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
                "notes": list(dict.fromkeys(notes(joined[note]) for note in result.notes)),
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
        "rewards": [kinds[env] for env in envs.things],
        "armNames": [list(named.get(env, ())) for env in envs.things],
        "best": {env: text for env in named for text in best_arm_remarks(r for r in group.results if r.env == env)},
        "knows": [list(text) for text in knows.things],
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
