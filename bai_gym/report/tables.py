"""Tables of results: for the terminal, as text, as Markdown, as LaTeX, and as CSV.

All hold the same rows in the same order: by budget, then error probability, lowest first (by environment
before that where there are several). Each row shows the oracle knowledge of the agent, because variances or the
complexity make the task easier.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from bai_gym.analysis.intervals import Estimate
from bai_gym.analysis.metrics import excess_error
from bai_gym.report.rivals import pulls_table
from bai_gym.results.comparison import Comparison, against_fewest
from bai_gym.results.layout import Column, Table, decimals, estimate_fields, exact, format_knowledge
from bai_gym.results.result import Optima, Result, pulls_vary

__all__ = ["arms_tables", "best_arm_remarks", "bound_remarks", "checkpoint_table", "parts", "results_table", "text"]


def results_table(results: Sequence[Result], optima: Optima | None = None) -> Table[Result]:
    """Lay results out.

    In CSV, equal results give equal bytes, however they were computed: floats are written by ``repr``, the shortest
    form that reads back to the same number, and the seconds, which differ between two runs of anything, are in the
    terminal alone. In CSV, `oracle_knowledge` is ``none`` or names joined by ``;``, `mean_pulls` holds K numbers joined
    by spaces, `sample_complexity_quantiles` those at 5, 25, 50, 75, 95, 99 and 100 %, `notes` are joined by ``;``, and
    the columns of an unknown optimum are empty.

    Args:
        results: The results, in any order.
        optima: If not empty, there are columns of the excess error over them.

    Returns:
        A table with a row per result; in the terminal with the name of the environment above it, where it is one.
    """
    rows = _sorted(results)
    several = len({row.env for row in rows}) > 1
    return Table(
        rows,
        _columns(rows, optima, several),
        _fields(rows, optima),
        notes=lambda row: row.notes,
        title=None if several or not rows else rows[0].env,
        remarks=(*best_arm_remarks(rows), *bound_remarks(rows)),
    )


def parts(results: Comparison, optima: Optima | None = None) -> Iterator[Table[Any] | str]:
    """Yield the tables of a comparison, and sentences between them, in the order in which they are printed.

    Some checkpoints are in a table of their own.

    Args:
        results: The comparison.
        optima: See :func:`results_table`.
    """
    yield results_table(results.final, optima)
    for env, budget in dict.fromkeys((row.env, row.budget) for row in results if row.checkpoint is not None):
        yield f"{env}, budget {_amount(budget)}: error probability at intermediate budgets"
        yield checkpoint_table([row for row in results if (row.env, row.budget) == (env, budget)])
    yield "Intervals: Wilson, 95 %." + (" Agents are compared on the same instances." if len(results) > 1 else "")
    yield from arms_tables(results)
    counted = [row for row in results.final if not row.costs]  # where pulls cost the same, fewer are cheaper
    played = {(row.agent, row.env, row.budget): row for row in counted}
    if pulls := against_fewest({key: runs.spent for key, runs in results.outcomes.items() if key in played}):
        yield pulls_table(pulls)
    if optima:
        yield "Excess error: error probability minus the smallest possible one, of the best agent given only the prior."


def text(results: Sequence[Result]) -> str:
    """Return what the command line prints of results, as text without a line break at the end."""
    whole = results if isinstance(results, Comparison) else Comparison(tuple(results), {})
    return "\n".join(part if isinstance(part, str) else f"\n{part.text()}"[:-1] for part in parts(whole))[1:]


def bound_remarks(results: Iterable[Result]) -> tuple[str, ...]:
    """Return sentences on the lower bound of the mean number of pulls, where it is known."""
    ratios = [row.over_bound for row in results if row.over_bound is not None]
    if not ratios:
        return ()
    text = (
        "Lower bound: kl(delta, 1 - delta) T*, from the true means; no agent that errs with probability at most delta "
        "on all instances takes fewer pulls on average (Garivier and Kaufmann 2016)."
    )
    doubt = "Fewer pulls than the lower bound: by chance, or the error probability exceeds delta on some instances."
    return (text, doubt) if min(ratios) < 1 else (text,)


def best_arm_remarks(results: Iterable[Result]) -> tuple[str, ...]:
    """Return a sentence for each environment with named arms: which of them is best."""
    remarks: dict[str, str] = {}
    for row in results:
        if row.best_arms and row.env not in remarks:
            top, others = max(row.arm_means), [mean for mean in row.arm_means if mean < max(row.arm_means)]
            second = f"; the next mean is {max(others):.4g}" if others else ""
            remarks[row.env] = (
                f"best of {row.env}: {' and '.join(map(repr, row.best_arms))}, with a mean of {top:.4g}{second}"
            )
    return tuple(f"{text[0].upper()}{text[1:]}." for text in remarks.values())


def arms_tables(results: Sequence[Result], most: int = 50) -> list[Table[int]]:
    """Lay out how often agents recommend and pull the arms that have names, best arm first.

    Args:
        results: The results; of an environment and agent, those with the largest budget count.
        most: Maximum number of arms; environments with more are left out.

    Returns:
        A table for each environment with named arms.
    """
    groups: dict[str, list[Result]] = {}
    for row in results:
        if row.at_end and row.recommended and len(row.arm_names) <= most:
            groups.setdefault(row.env, []).append(row)
    tables = []
    for env, rows in groups.items():
        budget = max(row.budget for row in rows)
        by_agent = {row.agent: row for row in rows if row.budget == budget}
        names, means = rows[0].arm_names, rows[0].arm_means
        order = sorted(range(len(names)), key=lambda arm: (-means[arm], arm))
        columns: list[Column[int]] = [
            Column("arm", names.__getitem__, False),
            Column("mean", partial(_mean_of, means)),
        ]
        for agent, row in by_agent.items():
            columns.append(Column(f"{agent}: recommended, pulls", partial(_shares_of, row)))
        heading = f"Arms of {env}: shares of runs that recommend them, and of pulls, with budget {budget:,}"
        tables.append(Table(order, columns, title=heading, above=f"{heading}."))
    return tables


def _mean_of(means: Sequence[float], arm: int) -> str:
    return f"{means[arm]:.4g}"


def _shares_of(row: Result, arm: int) -> str:
    pulls = 100 * row.mean_pulls[arm] / max(row.mean_pulls.sum(), 1e-300)
    return f"{100 * row.recommended[arm] / row.runs:.1f} %, {pulls:.1f} %"


def checkpoint_table(results: Sequence[Result], most: int = 8) -> Table[Result]:
    """Lay out error probabilities at intermediate budgets.

    Args:
        results: Results at checkpoints, of one environment and budget.
        most: Maximum number of columns; more checkpoints are thinned evenly, and the last one is kept.

    Returns:
        A table with a row per agent and a column per checkpoint, the lowest error at the last one first.
    """
    after = {(row.agent, row.checkpoint): row for row in results}
    points = sorted({row.checkpoint for row in results if row.checkpoint is not None})
    subset = points[-1 :: -max(1, -(-len(points) // most))][::-1]

    def error_after(point: int) -> Callable[[Result], str]:
        return lambda row: f"{after[row.agent, point].error_probability:.{_places(row)}f}"

    return Table(
        [row for row in _sorted(results) if row.checkpoint == points[-1]],
        [Column("agent", lambda row: row.agent, False), *(Column(f"{p:,}", error_after(p)) for p in subset)],
    )


def _sorted(results: Sequence[Result]) -> list[Result]:
    """By environment, budget, checkpoint and error probability; ties by name, for any order of the input."""

    def key(row: Result) -> tuple[object, ...]:
        return row.env, row.budget, row.checkpoint or 0, row.seed or 0, row.error_probability, row.agent, row.knows

    return sorted(results, key=key)


def _has_checkpoints(rows: Sequence[Result]) -> bool:
    return any(row.checkpoint is not None for row in rows)


def _several_seeds(rows: Sequence[Result]) -> bool:
    return len({row.seed for row in rows}) > 1


def _columns(rows: Sequence[Result], optima: Optima | None, several: bool) -> list[Column[Result]]:
    """The columns; some only where they say something."""
    stops = any(row.truncated or pulls_vary(row.sample_quantiles) for row in rows)  # or arms have costs
    columns: list[tuple[bool, Column[Result]]] = [
        (True, Column("agent", lambda row: row.agent, False)),
        (several, Column("env", lambda row: row.env, False)),
        (True, Column("budget", lambda row: _amount(row.budget))),
        (any(row.costs for row in rows), Column("money spent", lambda row: _amount(row.money_spent))),
        (_has_checkpoints(rows), Column("after", lambda row: f"{row.checkpoint or row.budget:,}")),
        (_several_seeds(rows), Column("seed", lambda row: "unknown" if row.seed is None else str(row.seed))),
        (True, Column("runs", lambda row: f"{row.runs:,}")),
        (True, Column("error probability [95 %]", lambda row: _share(row.error_probability, *row.interval, row))),
        (bool(optima), Column("excess error [95 %]", lambda row: _format_excess(row, optima or {}))),
        (True, Column("simple regret ± se", _regret)),
        (any(row.delta is not None for row in rows), Column("delta", lambda row: _or_empty(row.delta))),
        (stops, Column("pulls: mean / median / 95 % / 99 % / maximum", _pulls)),
        (any(row.over_bound is not None for row in rows), Column("mean pulls / lower bound", _over_bound)),
        (any(row.most_recommended for row in rows), Column("most recommended", _favourite, False)),
        (
            any(row.truncated for row in rows),
            Column("stopped by the cap", lambda row: f"{100 * row.truncated / row.runs:.1f} %"),
        ),
        (True, Column("oracle knowledge", lambda row: format_knowledge(row.knows), False)),
        (True, Column("seconds", lambda row: f"{row.seconds:.1f}", terminal=True)),
    ]
    return [column for is_visible, column in columns if is_visible]


def _fields(rows: Sequence[Result], optima: Optima | None) -> dict[str, Callable[[Result], object]]:
    """The columns of CSV."""
    fields: dict[str, Callable[[Result], object]] = {
        "agent": lambda row: row.agent,
        "env": lambda row: row.env,
        "budget": lambda row: exact(row.budget) if row.costs else int(row.budget),
        "runs": lambda row: int(row.runs),
        "errors": lambda row: int(row.errors),
        "error_probability": lambda row: exact(row.error_probability),
        "error_probability_lower": lambda row: exact(row.interval[0]),
        "error_probability_upper": lambda row: exact(row.interval[1]),
        "simple_regret": lambda row: exact(row.simple_regret),
        "simple_regret_se": lambda row: exact(row.simple_regret_se),
        "unspent": lambda row: exact(row.unspent),
        "sample_complexity": lambda row: exact(row.sample_complexity),
        "sample_complexity_quantiles": lambda row: " ".join(map(exact, row.sample_quantiles)),
        "truncated": lambda row: int(row.truncated),
        "oracle_knowledge": lambda row: ";".join(row.knows) or "none",
        "mean_pulls": lambda row: " ".join(map(exact, row.mean_pulls)),
        "notes": lambda row: ";".join(row.notes),
    }
    if any(row.rewards for row in rows):
        fields["rewards"] = lambda row: row.rewards
    if any(row.arm_names for row in rows):
        fields["arms"] = lambda row: ";".join(row.arm_names)
        fields["best_arms"] = lambda row: ";".join(row.best_arms)
        fields["most_recommended"] = lambda row: row.most_recommended[0] if row.most_recommended else ""
        fields["most_recommended_share"] = lambda row: exact(row.most_recommended[1]) if row.most_recommended else ""
    if any(row.costs for row in rows):
        fields["money_spent"] = lambda row: "" if row.money_spent is None else exact(row.money_spent)
        fields["costs"] = lambda row: " ".join(map(exact, row.costs))
    if any(row.delta is not None for row in rows):
        fields["delta"] = lambda row: "" if row.delta is None else exact(row.delta)
        fields["lower_bound"] = lambda row: "" if row.lower_bound is None else exact(row.lower_bound)
    if _has_checkpoints(rows):
        fields["checkpoint"] = lambda row: row.checkpoint
    if _several_seeds(rows):
        fields["seed"] = lambda row: row.seed
    if optima:
        fields["optimum"] = lambda row: exact(optima[row.env, row.budget]) if (row.env, row.budget) in optima else ""
        fields |= estimate_fields("excess_error", partial(_excess, optima=optima))
    return fields


def _excess(row: Result, optima: Optima) -> Estimate | None:
    optimum = optima.get((row.env, row.budget))
    return None if optimum is None else excess_error(row.error_probability, row.interval, optimum)


def _format_excess(row: Result, optima: Optima) -> str:
    excess = _excess(row, optima)
    return "unknown" if excess is None else _share(excess.value, excess.lower, excess.upper, row)


def _places(row: Result) -> int:
    return decimals((row.interval[1] - row.interval[0]) / 2)


def _share(value: float, lower: float, upper: float, row: Result) -> str:
    places = _places(row)
    return f"{value:.{places}f} [{lower:.{places}f}, {upper:.{places}f}]"


def _favourite(row: Result) -> str:
    return "" if row.most_recommended is None else f"{row.most_recommended[0]} ({100 * row.most_recommended[1]:.0f} %)"


def _regret(row: Result) -> str:
    places = decimals(row.simple_regret_se)
    error = "unknown" if math.isnan(row.simple_regret_se) else f"{row.simple_regret_se:.{places}f}"
    return f"{row.simple_regret:.{places}f} ± {error}"


def _amount(amount: float | None) -> str:
    """Return pulls, or money in six digits; empty for None."""
    return "" if amount is None else f"{amount:,}" if isinstance(amount, int) else f"{amount:,.6g}"


def _or_empty(number: float | None) -> str:
    return "" if number is None else f"{number:g}"


def _over_bound(row: Result) -> str:
    return "unknown" if row.over_bound is None else f"{_censored(row)}{row.over_bound:.2f}"


def _pulls(row: Result) -> str:
    _, _, median, _, high, rare, most = row.sample_quantiles
    return f"{_censored(row)}{row.sample_complexity:,.0f} / {median:,.0f} / {high:,.0f} / {rare:,.0f} / {most:,.0f}"


def _censored(row: Result) -> str:
    """Runs that the cap ended count with the cap, which makes the mean too small."""
    return "at least " if row.truncated else ""
