"""The table of a paper: agents as rows, environments or budgets as columns, the best of each column in bold.

In bold is the best agent of a column, and with it every agent that is not significantly worse: paired tests against the
best one on the same instances, the exact McNemar test for error probabilities and the paired t-test for pulls, with
Holm's correction for the number of agents.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from bai_gym.analysis.intervals import check_level
from bai_gym.analysis.paired import compare_paired
from bai_gym.analysis.pulls import compare_pulls
from bai_gym.analysis.ranks import holm
from bai_gym.results.layout import Column, Table, format_knowledge, with_interval
from bai_gym.results.result import Outcomes, Result
from bai_gym.validation import choice, flag, integer

__all__ = ["MEASURES", "paper_table"]

MEASURES = ("error_probability", "pulls")
Setting = tuple[str, int]  # environment and budget


def paper_table(
    results: Sequence[Result],
    outcomes: Outcomes,
    measure: str = "error_probability",
    level: float = 0.95,
    *,
    intervals: bool = True,
    digits: int | None = None,
    grouped: bool = False,
    names: Mapping[str, str] | None = None,
) -> Table[str]:
    """Lay results out with a row for each agent and a column for each environment and budget.

    Args:
        results: The results at the end of the runs.
        outcomes: The runs behind them, by (agent, env, budget).
        measure: ``"error_probability"``: with Wilson intervals. ``"pulls"``: means with standard errors, for agents
            that decide when to stop.
        level: Joint confidence level of the tests of a column, in (0, 1).
        intervals: Whether to show intervals or standard errors.
        digits: Decimals of all numbers, 0 to 12; None: as many as the uncertainty leaves.
        grouped: Whether the budgets of an environment have a common heading.
        names: Names to show in place of those of agents and environments.

    Raises:
        ParameterError: If there is no such measure, or a parameter is out of range.
    """
    choice(measure, MEASURES, "measure")
    check_level(level)
    flag(intervals, "intervals")
    flag(grouped, "grouped")
    if digits is not None:
        integer(digits, "digits", least=0, most=12)
    shown = dict(names or {})
    rows: dict[str, dict[Setting, Result]] = {}
    for result in results:
        rows.setdefault(result.agent, {})[result.env, result.budget] = result
    settings = list(dict.fromkeys((result.env, result.budget) for result in results))
    bold = {setting: _best(results, outcomes, setting, measure, level) for setting in settings}

    def cell_of(setting: Setting) -> Callable[[str], str]:
        return lambda agent: _cell(rows[agent].get(setting), outcomes, measure, intervals, digits)

    def is_bold(setting: Setting) -> Callable[[str], bool]:
        return lambda agent: agent in bold[setting]

    def notes_of(agent: str) -> list[str]:
        results = rows[agent].values()
        knows = sorted({word for result in results for word in result.knows})
        facts = [f"is given oracle knowledge: {format_knowledge(knows)}"] if knows else []
        return [*facts, *dict.fromkeys(note for result in results for note in result.notes)]

    return Table(
        list(rows),
        [
            Column("agent", lambda agent: shown.get(agent, agent), numeric=False),
            *(
                Column(f"n = {s[1]:,}", cell_of(s), bold=is_bold(s), group=shown.get(s[0], s[0]))
                if grouped
                else Column(_heading(s, settings, shown), cell_of(s), bold=is_bold(s))
                for s in settings
            ),
        ],
        notes=notes_of,
        remarks=(_remark(results, settings, measure, level, intervals, shown),),
    )


def _heading(setting: Setting, settings: list[Setting], shown: Mapping[str, str]) -> str:
    env, budget = setting
    if len({other for other, _ in settings}) == 1:
        return f"n = {budget:,}"
    name = shown.get(env, env)
    return name if len({other for other, _ in settings}) == len(settings) else f"{name}, n = {budget:,}"


def _cell(result: Result | None, outcomes: Outcomes, measure: str, intervals: bool, digits: int | None) -> str:
    if result is None:
        return "-"
    if measure == "error_probability":
        text = with_interval(result.error_probability, *result.interval, digits)
        return text if intervals else text.partition(" ")[0]
    pulls = outcomes[result.agent, result.env, result.budget].spent
    error = pulls.std(ddof=1) / math.sqrt(pulls.size) if pulls.size > 1 else math.nan
    places = digits if digits is not None else 0 if not 0 < error < 10 else 1
    mean = f"{pulls.mean():,.{places}f}"
    return f"{mean} ± " + ("unknown" if math.isnan(error) else f"{error:,.{places}f}") if intervals else mean


def _best(
    results: Sequence[Result],
    outcomes: Outcomes,
    setting: Setting,
    measure: str,
    level: float,
) -> set[str]:
    """Return the agents of a column that are in bold."""
    here = [result for result in results if (result.env, result.budget) == setting]
    errors = measure == "error_probability"
    values = [result.error_probability if errors else result.sample_complexity for result in here]
    best = here[int(np.argmin(values))].agent
    runs = {result.agent: outcomes[result.agent, *setting] for result in here}
    others = [result.agent for result in here if result.agent != best]

    def p_value(agent: str) -> float:
        if errors:
            return compare_paired(~runs[agent].correct, ~runs[best].correct).p_value
        return compare_pulls(runs[agent].spent, runs[best].spent).p_value

    adjusted = holm([p_value(agent) for agent in others])
    return {best, *(agent for agent, p in zip(others, adjusted, strict=True) if p > 1 - level)}


def _remark(
    results: Sequence[Result],
    settings: list[Setting],
    measure: str,
    level: float,
    intervals: bool,
    shown: Mapping[str, str],
) -> str:
    runs = sorted({result.runs for result in results})
    count = f"{runs[0]:,}" if len(runs) == 1 else f"{runs[0]:,} to {runs[-1]:,}"
    envs = {shown.get(env, env) for env, _ in settings}
    where = f" on {next(iter(envs))}" if len(envs) == 1 else ""
    errors = measure == "error_probability"
    what = "Error probabilities" if errors else "Mean numbers of pulls"
    if intervals:
        what += " with 95 % Wilson intervals" if errors else " ± standard error"
    tests = "exact McNemar tests" if errors else "paired t-tests"
    return (
        f"{what}{where}, {count} runs. Bold: the best of a column, and all agents that are not significantly worse "
        f"({tests} against the best on the same instances, with Holm's correction, level {100 * (1 - level):.3g} %)."
    )
