"""The first sentences of the page: which agent is best overall, and where it cannot be told apart from others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from bai_gym.page.content import Group
from bai_gym.page.standings import Standings
from bai_gym.report.canvas import named
from bai_gym.results.aggregate import AgentScore, Aggregate
from bai_gym.results.layout import with_interval
from bai_gym.results.leaderboard import Leaderboard, Standing
from bai_gym.results.result import pulls_vary

__all__ = ["summary"]

LISTED = 3  # names in a list; the others are counted


def summary(group: Group, found: Standings) -> str:
    """Return one to four sentences on the agents of a group, or on its claims; empty for a single agent.

    The best agent overall has the highest interquartile mean of scores; on one environment, the lowest error
    probability, averaged over the budgets. Two agents cannot be told apart where the interval of the difference of
    their scores contains 0 (at 95 %, with Bonferroni's correction for the number of agents), or where the corrected
    test of the leaderboard finds no difference.

    Args:
        group: The results.
        found: Their ranks and scores.
    """
    sentences = _claims(group)
    if len(group.agents) > 1:
        if _stops(group):
            sentences += _fewest_pulls(group)
        elif found.aggregate is not None:
            sentences += _by_score(found.aggregate, found.boards)
        else:
            sentences += _by_error(found.boards)
    return " ".join(sentences)


def _claims(group: Group) -> list[str]:
    verdicts = Counter(str(claim.verdict) for table in group.tables for claim in table.claims)
    if not verdicts:
        return []
    counts = [f"{verdicts[word]} {word}" for word in ("confirmed", "refuted", "undecided") if verdicts[word]]
    return [f"Of {_many(verdicts.total(), 'claim')}, {_listed(counts)}."]


def _stops(group: Group) -> bool:
    """Whether all agents decide when to stop, so that errors alone do not rank them."""
    stopping = {row.agent for row in group.results if pulls_vary(row.sample_quantiles) and not row.costs}
    return stopping == set(group.agents)


def _fewest_pulls(group: Group) -> list[str]:
    by_task: dict[tuple[str, int], list[tuple[float, str]]] = {}
    for row in group.results:
        if row.at_end:
            by_task.setdefault((row.env, row.budget), []).append((row.sample_complexity, row.agent))
    firsts = [min(rows) for rows in by_task.values() if len(rows) > 1]
    if not firsts:
        return []
    (agent, wins), *_ = Counter(agent for _, agent in firsts).most_common()
    if len(firsts) == 1:
        return [f"{agent} stops earliest, after {firsts[0][0]:,.0f} pulls on average."]
    return [f"{agent} stops earliest on average in {wins} of {len(firsts)} cases."]


def _by_score(aggregate: Aggregate, boards: Sequence[Leaderboard]) -> list[str]:
    best, *others = aggregate
    jointly = replace(aggregate, level=1 - (1 - aggregate.level) / max(len(others), 1))
    rivals = [row.agent for row in others if not jointly.difference(best.agent, row.agent).lower > 0]
    score = with_interval(best.iqm.value, best.iqm.lower, best.iqm.upper)
    over = f"{score} over {_many(len(aggregate.tasks), 'task')}"
    name = named(best.agent, best.knows)
    if rivals:
        first = f"{name} has the highest score overall, {over}, but cannot be told apart from {_listed(rivals)}."
    else:
        first = f"{name} is the best agent overall, with a score of {over}."
    return [first, *_places(best.agent, boards), *_without_knowledge(best.knows, others)]


def _by_error(boards: Sequence[Leaderboard]) -> list[str]:
    """Rank by the leaderboards alone: of one environment, or of several for which there are no scores."""
    envs = dict.fromkeys(board.env for board in boards)
    overall = next((board for board in boards if board.overall), None)
    if len(envs) > 1 or (overall is None and len(boards) > 1):
        places = _one_each(boards)
        agent, wins = Counter(board.standings[0].agent for board in places).most_common(1)[0]
        clear = sum(b.standings[0].agent == agent and b.standings[0].rank_interval == (1, 1) for b in places)
        return [
            f"{agent} has the lowest error probability in {wins} of {len(places)} cases; it can be told apart from all "
            f"others in {clear or 'none'} of these."
        ]
    board = overall or boards[0]
    best, *others = board.standings
    error = with_interval(best.error_probability, *best.interval)
    average = f", averaged over {len(board.budgets)} budgets" if board.overall else ""
    rivals, _ = _compared(board, best.agent)
    text = f"{named(best.agent, best.knows)} has the lowest error probability, {error}{average}"
    first = f"{text}, but cannot be told apart from {_listed(rivals)}." if rivals else f"{text}."
    single = [b for b in boards if b is not board] if board.overall else []
    return [
        first,
        *_at_the_end(best.agent, single),
        *_places(best.agent, single),
        *_without_knowledge(best.knows, others),
    ]


def _at_the_end(agent: str, boards: Sequence[Leaderboard]) -> list[str]:
    """Name the first agent with the largest budget, where it is another one than over all budgets."""
    last = max(boards, key=lambda board: board.budgets[0], default=None)
    if last is None or last.standings[0].agent == agent:
        return []
    first, pulls = last.standings[0], last.budgets[0]
    return [f"With the largest budget, {pulls:,} pulls, {first.agent} has the lowest, {first.error_probability:.3f}."]


def _one_each(boards: Sequence[Leaderboard]) -> list[Leaderboard]:
    """Return the overall leaderboard of each environment, or those of its budgets where there is none."""
    overall = {board.env for board in boards if board.overall}
    return [board for board in boards if board.overall or board.env not in overall]


def _places(agent: str, boards: Sequence[Leaderboard]) -> list[str]:
    """Say on which environments, or with which budgets, an agent is not the only first one."""
    places = _one_each(boards)
    several = len({board.env for board in places}) > 1
    tied, behind = [], []
    for board in places:
        rivals, better = _compared(board, agent)
        setting = board.env if several else f"{board.budgets[0]:,} pulls"
        if several and sum(other.env == board.env for other in places) > 1:
            setting += f" with {board.budgets[0]:,} pulls"
        if better:
            behind.append(f"{setting} ({_listed(better)})")
        elif rivals:
            tied.append(f"{setting} ({_listed(rivals)})")
    preposition = "on" if several else "with"
    sentences = []
    if tied:
        everywhere = f"any single {'environment' if several else 'budget'}"
        where = everywhere if len(tied) == len(places) else _listed(tied)
        sentences.append(f"It cannot be told apart from others {preposition} {where}.")
    if behind:
        sentences.append(f"Others are better {preposition} {_listed(behind)}.")
    return sentences


def _compared(board: Leaderboard, agent: str) -> tuple[list[str], list[str]]:
    """Return the agents that an agent cannot be told apart from, and those that are significantly better."""
    tied, better = [], []
    for pair in board.pairs:
        if agent not in (pair.agent_a, pair.agent_b):
            continue
        first = pair.agent_a == agent
        other, difference = (pair.agent_b, pair.difference) if first else (pair.agent_a, -pair.difference)
        if pair.adjusted > 1 - board.level or difference == 0:
            tied.append(other)
        elif difference > 0:
            better.append(other)
    order = [row.agent for row in board.standings]
    return sorted(tied, key=order.index), sorted(better, key=order.index)


def _without_knowledge(knows: tuple[str, ...], others: Sequence[AgentScore | Standing]) -> list[str]:
    """Name the first agent without oracle knowledge, where the best one has some."""
    plain = next((row.agent for row in others if not row.knows), None)
    return [f"Of those without oracle knowledge, {plain} is first."] if knows and plain is not None else []


def _many(number: int, one: str) -> str:
    return f"{number:,} {one}{'s' * (number != 1)}"


def _listed(names: Sequence[str]) -> str:
    """Write "A, B and C", or "A, B, C and 4 more"."""
    items = list(names) if len(names) <= LISTED + 1 else [*names[:LISTED], f"{len(names) - LISTED} more"]
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
