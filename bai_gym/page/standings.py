"""Ranks on each environment, and scores over all of them, of one group of results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from bai_gym.analysis.intervals import Estimate
from bai_gym.errors import ParameterError
from bai_gym.page.content import Group
from bai_gym.page.numbers import short
from bai_gym.report.runs import survival
from bai_gym.results.aggregate import Aggregate, Profile, aggregate
from bai_gym.results.comparison import Comparison, PullsAgainst, against_fewest
from bai_gym.results.layout import Table
from bai_gym.results.leaderboard import Leaderboard, leaderboards
from bai_gym.results.paper import paper_table
from bai_gym.results.result import Outcomes, Result
from bai_gym.statistics import IntArray

__all__ = ["Standings", "standings"]

PLACES = 200  # of a curve of stopping times: more than a picture shows


@dataclass(frozen=True)
class Standings:
    """Leaderboards and scores of a group.

    Attributes:
        boards: Leaderboards of each environment and budget, and of each environment over its budgets.
        aggregate: Scores over environments and budgets, None where there are none.
        reason: Reason why there are none; empty if none are expected.
        spent: ``(R,)`` pulls of each run, by (agent, env, budget), of agents that decide when to stop.
        paper: Agents as rows, environments and budgets as columns; None where runs cannot be paired.
    """

    boards: tuple[Leaderboard, ...]
    aggregate: Aggregate | None
    reason: str = ""
    spent: Mapping[tuple[str, str, int], IntArray] = field(default_factory=dict)
    paper: Table[str] | None = None

    @cached_property
    def pulls(self) -> tuple[PullsAgainst, ...]:
        """Comparisons of the pulls of agents that decide when to stop."""
        return tuple(against_fewest(self.spent))

    def more_pulls(self, result: Result) -> list[float | None] | None:
        """Return difference, interval and p-value of the pulls against the fewest, for the page's script."""
        for row in self.pulls:
            if (row.agent, row.env, row.budget) == (result.agent, result.env, result.budget):
                return [short(value) for value in (row.test.difference, *row.test.interval, row.test.p_value)]
        return None

    def stopping(self, result: Result) -> list[list[float | None]] | None:
        """Return the share of runs that have not stopped after some pulls, for the page's script."""
        spent = self.spent.get((result.agent, result.env, result.budget))
        if spent is None or not result.at_end:
            return None
        at, share = survival(spent, result.truncated, result.budget)
        places = np.unique(np.linspace(0, at.size - 1, PLACES).round().astype(int))
        return [[short(value) for value in values[places]] for values in (at, share)]

    @cached_property
    def profiles(self) -> tuple[Profile, ...]:
        """Performance profiles by tasks and by runs; none where there are no scores. The page and figures show both."""
        return () if self.aggregate is None else (self.aggregate.profile(), self.aggregate.run_profile())

    def rank(self, result: Result) -> tuple[int, int, int]:
        """Return the rank of a result at the end of its runs, and the least and the largest rank that it may have."""
        for board in self.boards:
            if (board.env, board.budgets) == (result.env, (result.budget,)):
                for row in board.standings:
                    if row.agent == result.agent:
                        return row.rank, *row.rank_interval
        raise KeyError((result.agent, result.env, result.budget))

    def overall(self, agents: Sequence[str], envs: Sequence[str]) -> list[dict[str, Any]]:
        """Return the leaderboards over budgets, for the page's script; it knows agents and environments by number."""
        return [
            {
                "env": envs.index(board.env),
                "budgets": list(board.budgets),
                "leftOut": [agents.index(agent) for agent in board.left_out],
                "rows": [
                    {
                        "agent": agents.index(row.agent),
                        "rank": row.rank,
                        "rankLow": row.rank_interval[0],
                        "rankHigh": row.rank_interval[1],
                        "error": short(row.error_probability),
                        "low": short(row.interval[0]),
                        "high": short(row.interval[1]),
                        "gap": None
                        if row.excess_error is None
                        else [
                            short(v) for v in (row.excess_error.value, row.excess_error.lower, row.excess_error.upper)
                        ],
                    }
                    for row in board.standings
                ],
            }
            for board in self.boards
            if board.overall
        ]

    def scores(self, agents: Sequence[str]) -> dict[str, Any] | None:
        """Return the scores over environments and budgets, for the page's script."""
        aggregate = self.aggregate
        if aggregate is None:
            return {"reason": self.reason} if self.reason else None
        return {
            "description": aggregate.description,
            "tasks": len(aggregate.tasks),
            "leftOut": len(aggregate.left_out),
            "without": [agent for agent in agents if agent not in aggregate.agents],
            "runs": [min(aggregate.runs), max(aggregate.runs)],
            "rows": [
                {
                    "agent": agents.index(row.agent),
                    "iqm": _estimate(row.iqm),
                    "mean": _estimate(row.mean),
                    "median": _estimate(row.median),
                    "gap": _estimate(row.optimality_gap),
                }
                for row in aggregate
            ],
            "profiles": [_profile(profile, agents) for profile in self.profiles],
        }


def standings(group: Group, outcomes: Outcomes) -> Standings:
    """Rank and score the agents of a group; scores cover agents with many common tasks.

    Args:
        group: The results.
        outcomes: The runs behind them, by (agent, env, budget), where known.
    """
    ends = tuple(result for result in group.results if result.at_end)
    compared = Comparison(ends, outcomes)
    boards = leaderboards(compared, optima=group.optima)
    spent = {
        key: outcomes[key].spent for row in ends if row.stops and (key := (row.agent, row.env, row.budget)) in outcomes
    }
    paper = _paper(ends, outcomes)
    if len(group.envs) < 2:
        return Standings(boards, None, spent=spent, paper=paper)
    try:
        scores = aggregate(compared, agents=_scored(ends), optima=group.optima, common=True)
        return Standings(boards, scores, spent=spent, paper=paper)
    except ParameterError as error:
        return Standings(boards, None, str(error), spent, paper)


def _paper(ends: Sequence[Result], outcomes: Outcomes) -> Table[str] | None:
    """Return the table of a paper, if all runs are known and equally many."""
    keys = {(row.agent, row.env, row.budget) for row in ends}
    if len({row.runs for row in ends}) > 1 or not outcomes.keys() >= keys:
        return None
    return paper_table(ends, outcomes)


def _scored(ends: Sequence[Result]) -> list[str]:
    """Return the agents that are scored: those that maximise agents times common tasks."""
    tasks: dict[str, set[tuple[str, int]]] = {}
    for result in ends:
        tasks.setdefault(result.agent, set()).add((result.env, result.budget))
    choices = [[agent for agent in tasks if len(tasks[agent]) >= least] for least in {len(t) for t in tasks.values()}]
    several = [agents for agents in choices if len(agents) > 1] or [list(tasks)]
    return max(
        several,
        key=lambda agents: (len(agents) * len(set.intersection(*(tasks[agent] for agent in agents))), len(agents)),
    )


def _estimate(estimate: Estimate) -> list[float | None]:
    return [short(estimate.value), short(estimate.lower), short(estimate.upper)]


def _profile(profile: Profile, agents: Sequence[str]) -> dict[str, Any]:
    """Return the curves in three digits: a picture shows no more."""

    def rounded(values: Any) -> list[float | None]:
        return [None if np.isnan(value) else round(float(value), 3) for value in values]

    return {
        "of": profile.of,
        "thresholds": [short(value) for value in profile.thresholds],
        "curves": [
            {"agent": agents.index(agent), "share": rounded(share), "low": rounded(low), "high": rounded(high)}
            for agent, share, low, high in zip(
                profile.agents, profile.shares, profile.lower, profile.upper, strict=True
            )
        ],
    }
