"""Which agent to use: those that need no oracle knowledge, compared by simulation on instances like the user's.

Agents are chosen and reported on different runs: the best of several estimates is too good on average. Three rounds, of
more and more runs, choose; in each of them agents play the same instances, and those that are significantly worse than
the best one are dropped. Only the finalists, the ten best of the second round, play the third one: to play all others
as often takes most of the time, and chooses no better agent. Fresh runs of the finalists that are left give the
numbers, and test them against the chosen one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import stdtr
from typing_extensions import override

from bai_gym.agents import registry
from bai_gym.agents.registry import check_rewards
from bai_gym.analysis.ranks import holm
from bai_gym.api import compare, make_cells
from bai_gym.benchmark.protocol import Traits, knowledge, least_budget
from bai_gym.benchmark.runner import reuse_in_steps, run_cells
from bai_gym.common.budget import common_cost
from bai_gym.common.seeding import generator
from bai_gym.envs.scalar import BestArmEnv
from bai_gym.errors import BaiGymError, ParameterError
from bai_gym.parallel import Workers
from bai_gym.planning.goals import ERROR, REGRET, budget_words
from bai_gym.planning.now import BASELINE, NOW, DecideNow, favourite
from bai_gym.results.comparison import Comparison
from bai_gym.results.result import Result
from bai_gym.validation import flag, integer

__all__ = ["Advice", "advise"]

SCREENING_RUNS = 200
FINALISTS = 10
SECOND_ROUND = 4  # times as many runs have the third round, and the fresh ones
LEVEL = 0.05  # of the tests against the best agent, corrected for their number
NAMED = 8  # agents that a sentence lists
SPLIT_BY_COST = tuple(f"{name}(costs=sqrt)" for name in (BASELINE, "SH", "SH-Reuse"))


@dataclass(frozen=True)
class Advice:
    """The agents that suit an experiment.

    Attributes:
        best: The agent that all rounds but the last have chosen.
        measure: What is to be small, ``"error probability"`` or ``"simple regret"``.
        comparison: Fresh runs of the finalists that are left, and of ``Uniform``. Where there are earlier results, the
            first is to decide now, and the second to collect equally, then decide (``Uniform``); the others by the
            measure.
        equals: Agents that the fresh runs cannot tell apart from the best one.
        screened: All agents in the first round, of few runs.
        left_out: Registered agents that were not played, with the reason.
        others: Agents that were no finalists, although the second round could not tell them apart from its best one.
        winner: The arm that earlier results favour; None where there are none.
    """

    best: str
    measure: str
    comparison: Comparison
    equals: tuple[str, ...]
    screened: Comparison
    left_out: Mapping[str, str]
    others: tuple[str, ...] = ()
    winner: str | None = None

    @property
    def agent(self) -> str:
        """The agent to use; ``"decide now"`` where the best one is not significantly better than that."""
        if self.winner is not None and not _worse(self.comparison, self.best, [NOW], self.measure):
            return NOW
        return self.best

    @property
    def summary(self) -> str:
        """Which agent to use, and why, or that more pulls are not worth it, in a few sentences."""
        best = self.comparison.find(self.best)
        value, runs = _value(best, self.measure), f"{best.runs:,} fresh runs"
        number = f"{value:.3g}"
        baselines = {"deciding now, for {winner},": NOW, "uniform allocation": BASELINE}
        if self.agent == NOW:
            now = _value(self.comparison.find(NOW), self.measure)
            return (
                f"More pulls are not worth it: decide now, for {self.winner}. The {self.measure} is {now:.3g}; with "
                f"{budget_words(best)} that of the best agent, {self.best}, is {number}, not significantly lower in "
                f"{runs}."
            )
        first = f"Use {self.best}: with {budget_words(best)} its {self.measure} is {number} in {runs}"
        rivals = [
            f"of {text.format(winner=self.winner)} {_value(result, self.measure):.3g}"
            for text, agent in baselines.items()
            for result in self.comparison
            if result.agent == agent != self.best
        ]
        if rivals:
            first += f", that {' and '.join(rivals)}"
        alike = {self.best, *self.equals, *self.others}
        worse = sum(row.agent not in alike for row in self.screened)
        second = f"{_listed(self.equals)} cannot be told apart from it" if self.equals else ""
        if self.others:
            more = f"{len(self.others)} with fewer runs"
            second = f"{second}, nor can {more}" if second else f"{more} cannot be told apart from it"
        if worse:
            second += f"{'; the other' if second else 'All other'} {worse} are significantly worse"
        lower = [row.agent for row in self.comparison if row.agent in self.equals and _value(row, self.measure) < value]
        why = ""
        if lower:
            why = (
                f" {_listed(lower)} did better in the fresh runs, by no more than chance explains; {self.best} was the "
                "best in the runs before them, which chose, so that the numbers shown are not too good."
            )
        return f"{first}. {second}.{why}" if second else f"{first}."

    @override
    def __str__(self) -> str:
        """The advice, and one line for each agent."""
        return f"{self.summary}\n{self.comparison}"


def advise(
    env: str | BestArmEnv,
    *,
    budget: float | None = None,
    regret: bool = False,
    runs: int = 2000,
    finalists: int | None = FINALISTS,
    seed: int = 0,
    workers: Workers = 1,
    env_kwargs: Mapping[str, Any] | None = None,
    out: str | Path | None = None,
    reuse: bool | None = None,
    on_round: Callable[[str], None] | None = None,
) -> Advice:
    """Compare the registered agents that need no oracle knowledge on instances like the user's.

    The environment says what is known, as in :func:`bai_gym.planning.plan`: ``BAI-Pilot-v0`` reads a log, from which agents
    start, ``BAI-Bernoulli10-v0`` with ``num_arms=`` stands for conversion rates of which nothing is known. A first
    round of 200 runs, and a second one of a quarter of ``runs``, drop agents that are significantly worse than the best
    one. Of the others, the ``finalists`` that did best play ``runs`` runs, which choose one. The numbers and tests
    reported are of as many fresh runs of all finalists that are left, and of ``Uniform``. Where pulls cost differently,
    agents that take no account of costs are left out, and those with a parameter ``costs`` are played with ``"sqrt"``,
    too.

    Args:
        env: A registered id, or an environment object.
        budget: Pulls of the experiment, or money where the environment has ``costs``; None: the environment's budget.
        regret: Whether the simple regret is to be small, instead of the error probability.
        runs: Runs that choose among the finalists, and fresh runs, at least 400.
        finalists: Their number, at least 1. None: all agents that are not significantly worse, which may take several
            times as long.
        seed: At least 0. The same seed gives the same advice, for any number of workers.
        workers: Processes, or an executor, see :func:`bai_gym.evaluate`.
        env_kwargs: Keyword arguments for ``gym.make``.
        out: Folder for finished chunks: the same call resumes an interrupted one.
        reuse: What to do with finished chunks, see :func:`bai_gym.evaluate`.
        on_round: Called with a description of each round.

    Returns:
        The agent to use, and the comparison, with the reasons why agents are not in it.

    Raises:
        BaiGymError: If an argument is invalid, or no agent can be used; the message is one line.
    """
    integer(runs, "runs", least=2 * SCREENING_RUNS)
    if finalists is not None:
        integer(finalists, "finalists", least=1)
    measure = REGRET if flag(regret, "regret") else ERROR
    budgets = None if budget is None else [budget]
    problem = make_cells([BASELINE], env, budgets, seed, env_kwargs)[0].env.problem  # errors of no agent
    usable, left_out = _usable(env, budgets, seed, env_kwargs)
    if not usable:
        raise ParameterError(
            "no registered agent without oracle knowledge can be used here; give another budget or task"
        )
    winner, folder = favourite(problem), None if out is None else Path(out)
    reuse = reuse_in_steps(make_cells(usable, env, budgets, seed, env_kwargs), folder, reuse)

    def choose(agents: Sequence[str], number: int) -> tuple[list[str], Comparison]:
        """Return the agents that are not significantly worse than the best one, best first, and the runs."""
        _tell(on_round, f"{len(agents)} agents, {number:,} runs of each")
        cells = make_cells(agents, env, budgets, seed, env_kwargs)
        played = run_cells(cells, number, workers=workers, out=folder, reuse=reuse)
        ranked = [row.agent for row in sorted(played, key=lambda row: _value(row, measure))]
        worse = _worse(played, ranked[0], agents, measure)
        return [agent for agent in ranked if agent not in worse], played

    candidates, screened = choose(usable, SCREENING_RUNS)
    others: tuple[str, ...] = ()
    if finalists is not None and len(candidates) > finalists:
        if (second := runs // SECOND_ROUND) > SCREENING_RUNS:
            candidates, _ = choose(candidates, second)
        candidates, others = candidates[:finalists], tuple(candidates[finalists:])
    candidates, _ = choose(candidates, runs)
    best = candidates[0]
    rivals: list[Any] = sorted({*candidates, *({BASELINE} & set(usable))})
    _tell(on_round, f"{len(rivals)} agents, {runs:,} fresh runs of each")
    fresh = int(generator(seed, "advice", "fresh").integers(2**63))
    final = compare(
        [*rivals, *([] if winner is None else [DecideNow()])],
        env,
        budgets=budgets,
        runs=runs,
        seed=fresh,
        workers=workers,
        env_kwargs=env_kwargs,
        out=out,
        reuse=reuse,
    )
    worse = _worse(final, best, rivals, measure)
    ahead = () if winner is None else (NOW, BASELINE)
    rows = sorted(
        final,
        key=lambda row: (ahead.index(row.agent) if row.agent in ahead else len(ahead), _value(row, measure), row.agent),
    )
    equals = tuple(row.agent for row in rows if row.agent in set(rivals) - worse - {best})
    comparison = Comparison(tuple(rows), final.outcomes)
    others = tuple(agent for agent in others if agent != BASELINE)  # which has fresh runs
    return Advice(best, measure, comparison, equals, screened, left_out, others, winner)


def _tell(on_round: Callable[[str], None] | None, words: str) -> None:
    if on_round is not None:
        on_round(words)


def _value(row: Result, measure: str) -> float:
    return row.error_probability if measure == ERROR else row.simple_regret


def _worse(played: Comparison, best: str, agents: Iterable[str], measure: str) -> set[str]:
    """Return the agents that are significantly worse than a given one, jointly at :data:`LEVEL`."""
    others = [agent for agent in agents if agent != best]
    adjusted = holm([_p_value(played, agent, best, measure) for agent in others])
    least = _value(played.find(best), measure)
    return {
        agent
        for agent, p_value in zip(others, adjusted, strict=True)
        if p_value <= LEVEL and _value(played.find(agent), measure) > least
    }


def _p_value(played: Comparison, agent: str, best: str, measure: str) -> float:
    """Return the two-sided p-value of the paired test: McNemar's of errors, Student's of simple regrets."""
    if measure == ERROR:
        return played.paired(agent, best).p_value
    differences = played.regrets(agent) - played.regrets(best)
    error = float(differences.std(ddof=1)) / math.sqrt(differences.size)
    if error == 0.0:
        return 1.0 if differences[0] == 0.0 else 0.0
    return 2.0 * float(stdtr(differences.size - 1, -abs(float(np.mean(differences))) / error))


def _usable(
    env: str | BestArmEnv, budgets: list[float] | None, seed: int, keywords: Mapping[str, Any] | None
) -> tuple[list[str], dict[str, str]]:
    """Return the agents that can be played, and why the others cannot."""
    usable, left_out = [], {}
    (baseline,) = make_cells([BASELINE], env, budgets, seed, keywords)
    rewards = baseline.env.problem.draw(1, generator(seed, "advice")).rewards
    costs = baseline.costs
    split = SPLIT_BY_COST if costs is not None and common_cost(costs) is None else ()
    for name in (*registry.names(), *split):
        try:
            cell = make_cells([name], env, budgets, seed, keywords)[0]
            agent = cell.prototype
            known = sorted(knowledge(agent))
            least = least_budget(agent, cell.env.problem.num_arms, cell.env.problem.num_features)
            if known:
                left_out[name] = f"knows {', '.join(known)}"
            elif split and not Traits.of(agent).uses_costs:
                left_out[name] = "takes no account of costs"
            elif cell.costs is None and cell.budget < least:
                left_out[name] = f"needs a budget of {least:,}"
            else:
                cell.check()
                check_rewards(name, rewards)
                usable.append(name)
        except BaiGymError as error:
            left_out[name] = str(error)
    return usable, left_out


def _listed(names: Sequence[str]) -> str:
    """Return names as words; many of them are cut short."""
    items = list(names) if len(names) <= NAMED else [*names[: NAMED - 1], f"{len(names) - NAMED + 1} more"]
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
