"""Leaderboards: agents on one environment by error probability, with confidence intervals of their ranks.

All agents played the same instances, so each pair of them is compared run by run, by the exact McNemar test, and the
tests of a leaderboard are corrected for their number (:mod:`bai_gym.analysis.ranks`): with probability of at least
`level`, all rank intervals of a leaderboard hold jointly. Where only counts of errors are known, or two agents have
different numbers of runs, Fisher's exact test replaces McNemar's, and the leaderboard says so.

An environment with several budgets has an overall leaderboard, too, by the mean error probability over the budgets. The
mean, not the mean of the ranks: ranks of similar agents depend on chance and on the other agents, while a mean of error
probabilities is the error at a random budget. Runs of one number have the same instance at all budgets, so a run counts
as one: its errors at all budgets are summed, two agents are compared by random signs of the differences (McNemar's test
for more than one budget), and intervals come from the bootstrap of whole runs (:mod:`bai_gym.analysis.bootstrap`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from typing_extensions import override

from bai_gym.analysis.bootstrap import check_samples, resample
from bai_gym.analysis.intervals import Estimate, check_level, percentile, wilson
from bai_gym.analysis.metrics import excess_error
from bai_gym.analysis.paired import mcnemar_exact
from bai_gym.analysis.ranks import holm, random_signs, rank_intervals, surely_better, unpaired
from bai_gym.common.seeding import check_seed
from bai_gym.results.evaluations import Evaluation, Source, collect, declared
from bai_gym.results.result import Optima
from bai_gym.statistics import FloatArray

__all__ = ["Leaderboard", "Pair", "Standing", "leaderboards"]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two agents of a leaderboard.

    Attributes:
        agent_a: Name of the first agent.
        agent_b: Name of the second agent.
        difference: Error probability of A minus that of B, in [-1, 1]; over several budgets the mean.
        p_value: Two-sided p-value of "both err equally often", of this pair alone.
        adjusted: The same corrected for all pairs of the leaderboard (:func:`bai_gym.analysis.ranks.holm`).
        paired: Whether the agents were compared run by run.
    """

    agent_a: str
    agent_b: str
    difference: float
    p_value: float
    adjusted: float
    paired: bool


@dataclass(frozen=True, slots=True)
class Standing:
    """An agent's line in a leaderboard.

    Attributes:
        agent: Name of the agent.
        rank: 1 + the number of agents with a lower error probability.
        rank_interval: Least and largest rank consistent with the tests of the leaderboard.
        runs: Runs, of each budget.
        error_probability: Estimated, over several budgets the mean.
        interval: Its Wilson interval; over several budgets, that of the bootstrap.
        excess_error: Error probability minus that of the best possible agent, if known.
        knows: Oracle knowledge of the agent.
        notes: Remarks that a reader of the numbers needs.
    """

    agent: str
    rank: int
    rank_interval: tuple[int, int]
    runs: int
    error_probability: float
    interval: tuple[float, float]
    excess_error: Estimate | None
    knows: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Leaderboard:
    """The agents on one environment, the best first.

    Attributes:
        env: Id of the environment, with the keyword arguments given.
        budgets: The budget; several in an overall leaderboard.
        level: Joint confidence level of all rank intervals, and level of each interval of an error probability.
        standings: By error probability, then by name.
        pairs: The tests behind the rank intervals.
        left_out: Agents that have not played at all budgets of an overall leaderboard, and so are not in it.
    """

    env: str
    budgets: tuple[int, ...]
    level: float
    standings: tuple[Standing, ...]
    pairs: tuple[Pair, ...]
    left_out: tuple[str, ...] = ()

    @property
    def overall(self) -> bool:
        """Whether it covers several budgets."""
        return len(self.budgets) > 1

    @property
    def paired(self) -> bool:
        """Whether all agents were compared run by run."""
        return all(pair.paired for pair in self.pairs)

    @override
    def __str__(self) -> str:
        """A heading and one line per agent."""
        budgets = ", ".join(f"{budget:,}" for budget in self.budgets)
        lines = [f"{self.env}, {'mean over budgets' if self.overall else 'budget'} {budgets}"]
        for row in self.standings:
            low, high = row.interval
            first, last = row.rank_interval
            knows = ", ".join(row.knows) or "none"
            lines.append(
                f"{row.rank} [{first}, {last}] {row.agent}: error probability {row.error_probability:.4f} "
                f"[{low:.4f}, {high:.4f}] (oracle knowledge: {knows})"
            )
        return "\n".join(lines)


def leaderboards(
    source: Source,
    *,
    optima: Optima | None = None,
    level: float = 0.95,
    samples: int = 2000,
    seed: int = 0,
) -> tuple[Leaderboard, ...]:
    """Rank agents on each environment and budget, and over all budgets of an environment.

    With fixed confidence ranks are by errors, too; the sample complexity is a separate column.

    Args:
        source: What ``compare`` returns, several of these, or rows of results. Rows alone hold counts only: their
            tests are not paired, and there is no overall leaderboard.
        optima: Largest possible probabilities of a correct recommendation, by environment and budget.
        level: Confidence level, strictly between 0 and 1.
        samples: Bootstrap samples of the overall leaderboards, at least 100.
        seed: Seed of the bootstrap, at least 0; independent of the seed of the runs.

    Returns:
        By environment: a leaderboard for each budget, ascending; after them, where there are several budgets and at
        least one agent has outcomes of single runs at all of them, the overall one.

    Raises:
        ParameterError: If there are no results, an agent has two on one environment and budget, or an argument is out
            of range.
    """
    check_level(level)
    check_seed(seed)
    check_samples(samples)
    by_env: dict[str, dict[int, list[Evaluation]]] = {}
    for entry in sorted(collect(source), key=lambda entry: (entry.env, entry.budget)):
        by_env.setdefault(entry.env, {}).setdefault(entry.budget, []).append(entry)
    complete = {env: _complete(list(budgets.values())) for env, budgets in by_env.items() if len(budgets) > 1}
    drawn = _mean_errors(complete, samples, seed)
    boards: list[Leaderboard] = []
    for env, budgets in by_env.items():
        boards.extend(_at_budget(entries, optima or {}, level) for entries in budgets.values())
        if complete.get(env):
            every = {entry.agent for entries in budgets.values() for entry in entries}
            left_out = tuple(sorted(every - complete[env].keys()))
            boards.append(_overall(complete[env], drawn, optima or {}, level, left_out))
    return tuple(boards)


def _at_budget(entries: Sequence[Evaluation], optima: Optima, level: float) -> Leaderboard:
    """Rank the agents on one environment with one budget."""
    tests = []
    for a, b in combinations(entries, 2):
        paired = a.correct is not None and b.correct is not None and a.runs == b.runs
        if paired:
            p_value = mcnemar_exact(int((a.wrong & b.right).sum()), int((b.wrong & a.right).sum()))
        else:
            p_value = unpaired(a.errors, a.runs, b.errors, b.runs)
        tests.append((a.errors / a.runs - b.errors / b.runs, p_value, paired))
    optimum = optima.get(entries[0].task)
    lines = []
    for entry in entries:
        share, bounds = entry.errors / entry.runs, wilson(entry.errors, entry.runs, level)
        excess = None if optimum is None else excess_error(share, bounds, optimum)
        lines.append((entry.agent, entry.runs, share, bounds, excess, entry.knows, entry.notes))
    return _board(entries[0].env, (entries[0].budget,), level, lines, tests)


def _complete(budgets: Sequence[Sequence[Evaluation]]) -> dict[str, list[Evaluation]]:
    """Return the rows of the agents that have outcomes of the same number of runs, that of most agents, everywhere.

    Args:
        budgets: The evaluations on one environment at each budget.
    """
    by_agent: dict[str, list[Evaluation]] = {}
    for entry in (entry for entries in budgets for entry in entries if entry.correct is not None):
        by_agent.setdefault(entry.agent, []).append(entry)
    runs = {agent: {row.runs for row in rows} for agent, rows in by_agent.items() if len(rows) == len(budgets)}
    sizes = [size for group in runs.values() for size in group if len(group) == 1]
    if not sizes:
        return {}
    usual = max(sizes, key=lambda size: (sizes.count(size), size))
    return {agent: by_agent[agent] for agent, group in runs.items() if group == {usual}}


def _mean_errors(
    complete: dict[str, dict[str, list[Evaluation]]], samples: int, seed: int
) -> dict[tuple[str, str], FloatArray]:
    """Return ``(B,)`` bootstrap samples of the mean error over budgets, by environment and agent."""
    groups = {(env, agent): rows for env, agents in complete.items() for agent, rows in agents.items()}
    rows = [row for group in groups.values() for row in group]
    if not rows:
        return {}
    drawn = resample(
        [row.wrong for row in rows],
        [(row.agent, row.env, row.budget) for row in rows],
        samples=samples,
        seed=seed,
        unseen=[0.5 / len(group) for group in groups.values() for _ in group],
    )
    ends = np.cumsum([len(group) for group in groups.values()])[:-1]
    parts = np.split(drawn, ends, axis=1)
    return {key: part.mean(axis=1) for key, part in zip(groups, parts, strict=True)}


def _overall(
    complete: dict[str, list[Evaluation]],
    drawn: dict[tuple[str, str], FloatArray],
    optima: Optima,
    level: float,
    left_out: tuple[str, ...],
) -> Leaderboard:
    """Rank agents by their mean error over the budgets of an environment."""
    tasks = [row.task for row in next(iter(complete.values()))]
    best = [optima[task] for task in tasks if task in optima]
    optimum = sum(best) / len(best) if len(best) == len(tasks) else None
    lines = []
    for agent, rows in complete.items():
        runs = rows[0].runs
        share = sum(row.errors for row in rows) / (runs * len(rows))
        low, high = percentile(share, drawn[tasks[0][0], agent], level)
        bounds = (float(low), float(high)) if runs > 1 else (float("nan"), float("nan"))
        excess = None if optimum is None else excess_error(share, bounds, optimum)
        lines.append((agent, runs, share, bounds, excess, *declared(rows)))
    wrong = {agent: np.sum([row.wrong for row in rows], axis=0, dtype=np.int64) for agent, rows in complete.items()}
    tests = []
    for a, b in combinations(complete, 2):
        difference = wrong[a] - wrong[b]
        tests.append((float(difference.mean()) / len(tasks), random_signs(difference), True))
    return _board(tasks[0][0], tuple(budget for _, budget in tasks), level, lines, tests, left_out)


_Line = tuple[str, int, float, tuple[float, float], Estimate | None, tuple[str, ...], tuple[str, ...]]


def _board(
    env: str,
    budgets: tuple[int, ...],
    level: float,
    lines: Sequence[_Line],
    tests: Sequence[tuple[float, float, bool]],
    left_out: tuple[str, ...] = (),
) -> Leaderboard:
    """Sort lines, and compute the rank intervals.

    Args:
        env: Id of the environment.
        budgets: Its budgets.
        level: Confidence level.
        lines: For each agent, the fields of a standing except its ranks.
        tests: Difference, p-value, and whether it is paired, of each pair, in the order of ``combinations``.
        left_out: Agents that are not in it.
    """
    adjusted = holm([p_value for _, p_value, _ in tests])
    better = surely_better(len(lines), [difference for difference, _, _ in tests], adjusted, level)
    pairs = [
        Pair(first[0], second[0], difference, p_value, corrected, paired)
        for (first, second), (difference, p_value, paired), corrected in zip(
            combinations(lines, 2), tests, adjusted.tolist(), strict=True
        )
    ]
    shares = [share for _, _, share, *_ in lines]
    standings = [
        Standing(agent, 1 + sum(other < share for other in shares), ranks, runs, share, bounds, excess, knows, notes)
        for (agent, runs, share, bounds, excess, knows, notes), ranks in zip(lines, rank_intervals(better), strict=True)
    ]
    standings.sort(key=lambda row: (row.error_probability, row.agent))
    return Leaderboard(env, budgets, level, tuple(standings), tuple(pairs), left_out)
