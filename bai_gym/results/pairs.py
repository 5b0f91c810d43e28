"""The table of all paired tests: every two agents of a comparison, on the same instances."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from bai_gym.analysis.paired import PairedTest, compare_paired
from bai_gym.analysis.ranks import holm
from bai_gym.results.layout import Column, Table, exact, with_interval
from bai_gym.results.result import Outcomes, Result

__all__ = ["DIFFERENCE", "Pair", "pairs_table"]


@dataclass(frozen=True, slots=True)
class Pair:
    """A paired test of two agents, on one environment with one budget.

    Attributes:
        agent_a: Agent A of the test; differences below 0 favour it.
        agent_b: Agent B.
        env: Id of the environment, with the keyword arguments given.
        budget: Pulls per episode, over all arms.
        test: The test.
        adjusted: Its p-value after Holm's correction for all pairs of the environment and budget.
    """

    agent_a: str
    agent_b: str
    env: str
    budget: int
    test: PairedTest
    adjusted: float


DIFFERENCE: dict[str, Callable[[Any], Any]] = {
    "runs": lambda row: row.test.runs,
    "difference": lambda row: exact(row.test.difference),
    "difference_lower": lambda row: exact(row.test.interval[0]),
    "difference_upper": lambda row: exact(row.test.interval[1]),
    "level": lambda row: exact(row.test.level),
}
"""Columns of a file about rows with a paired ``test``."""


def pairs_table(results: Sequence[Result], outcomes: Outcomes, level: float = 0.95) -> Table[Pair]:
    """Test every two agents on each environment with each budget.

    Args:
        results: The results at the end of the runs.
        outcomes: The runs behind them, by (agent, env, budget).
        level: Confidence level of each interval, in (0, 1).

    Returns:
        A table with a row for each two agents; its ``rows`` are the tests.
    """
    settings = dict.fromkeys((result.env, result.budget) for result in results)
    rows = [pair for setting in settings for pair in _pairs(results, outcomes, setting, level)]
    columns: list[tuple[bool, Column[Pair]]] = [
        (len({env for env, _ in settings}) > 1, Column("env", lambda row: row.env, False)),
        (len({budget for _, budget in settings}) > 1, Column("budget", lambda row: f"{row.budget:,}")),
        (True, Column("A", lambda row: row.agent_a, False)),
        (True, Column("B", lambda row: row.agent_b, False)),
        (True, Column(f"error of A minus error of B [{100 * level:g} %]", _difference)),
        (True, Column("only A errs / only B errs", lambda row: f"{row.test.only_a_errs:,} / {row.test.only_b_errs:,}")),
        (True, Column("p-value", lambda row: f"{row.test.p_value:.2g}")),
        (True, Column("p-value, Holm", lambda row: f"{row.adjusted:.2g}", bold=lambda row: row.adjusted < 1 - level)),
    ]
    return Table(
        rows,
        [column for is_visible, column in columns if is_visible],
        {
            "agent_a": lambda row: row.agent_a,
            "agent_b": lambda row: row.agent_b,
            "env": lambda row: row.env,
            "budget": lambda row: row.budget,
            **DIFFERENCE,
            "only_a_errs": lambda row: row.test.only_a_errs,
            "only_b_errs": lambda row: row.test.only_b_errs,
            "p_value": lambda row: exact(row.test.p_value),
            "p_value_holm": lambda row: exact(row.adjusted),
        },
        remarks=(
            "Exact McNemar tests and Tango intervals on the same instances; Holm's correction is for all pairs of an "
            f"environment and budget, and bold is significant at level {100 * (1 - level):.3g} %.",
        ),
    )


def _pairs(results: Sequence[Result], outcomes: Outcomes, setting: tuple[str, int], level: float) -> Iterable[Pair]:
    agents = [result.agent for result in results if (result.env, result.budget) == setting]
    wrong = {agent: ~outcomes[agent, *setting].correct for agent in agents}
    comparisons = [(a, b, compare_paired(wrong[a], wrong[b], level)) for a, b in combinations(agents, 2)]
    adjusted = holm([test.p_value for _, _, test in comparisons])
    return [Pair(a, b, *setting, test, float(p)) for (a, b, test), p in zip(comparisons, adjusted, strict=True)]


def _difference(row: Pair) -> str:
    return with_interval(row.test.difference, *row.test.interval)
