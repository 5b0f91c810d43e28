"""Which agent to use: those that need no oracle knowledge, ranked by simulation on instances like the user's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bai_gym.agents import registry
from bai_gym.agents.restrictions import check_rewards, sample_rewards
from bai_gym.api import compare, make_cells
from bai_gym.benchmark.protocol import knowledge, least_budget
from bai_gym.envs.scalar import BestArmEnv
from bai_gym.errors import BaiGymError, ParameterError
from bai_gym.results.comparison import Comparison
from bai_gym.results.leaderboard import Leaderboard, leaderboards
from bai_gym.seeding import generator
from bai_gym.validation import integer

__all__ = ["Advice", "advise"]

SCREENING_RUNS = 200
CLEARLY_WORSE = 0.01  # p-value of the paired test against the best agent below which an agent is dropped
FINALISTS = 8
INSPECTED = 10  # instances whose rewards are compared with those that an agent accepts
BASELINE = "Uniform"


@dataclass(frozen=True)
class Advice:
    """The agents that suit an experiment.

    Attributes:
        leaderboard: The finalists and uniform allocation, the best first.
        screened: All agents in the first round of few runs.
        left_out: Registered agents that were not played, with the reason.
    """

    leaderboard: Leaderboard
    screened: Comparison
    left_out: Mapping[str, str]

    @property
    def agent(self) -> str:
        """The agent of the lowest error probability."""
        return self.leaderboard.standings[0].agent

    @property
    def summary(self) -> str:
        """Which agent to use, and why, in two sentences."""
        board = self.leaderboard
        best, budget = board.standings[0], board.budgets[0]
        equals = [row.agent for row in board.standings[1:] if row.rank_interval[0] == 1]
        first = f"Use {best.agent}: with {budget:,} pulls it errs in {best.error_probability:.1%} of {best.runs:,} runs"
        baseline = next((row for row in board.standings if row.agent == BASELINE), best)
        if baseline is not best:
            first += f", uniform allocation in {baseline.error_probability:.1%}"
        second = f"{_listed(equals)} cannot be told apart from it" if equals else "All others are significantly worse"
        return f"{first}. {second}."

    def __str__(self) -> str:
        """The leaderboard and the advice."""
        return f"{self.leaderboard}\n{self.summary}"


def advise(
    env: str | BestArmEnv,
    *,
    budget: int | None = None,
    runs: int = 2000,
    seed: int = 0,
    workers: int | None = 1,
    env_kwargs: Mapping[str, Any] | None = None,
    out: str | Path | None = None,
    on_round: Callable[[str], None] | None = None,
) -> Advice:
    """Rank the registered agents that need no oracle knowledge on instances like the user's.

    The environment says what is known, as in :func:`bai_gym.plan`: ``BAI-Pilot-v0`` reads a log, ``BAI-Bernoulli10-v0``
    with ``num_arms=`` stands for conversion rates of which nothing is known. After a first round of few runs only
    agents that are not clearly worse than the best one are played on.

    Args:
        env: A registered id, or an environment object.
        budget: Pulls of the experiment; None: the environment's budget.
        runs: Runs of the finalists, at least 400.
        seed: At least 0. The same seed gives the same advice, for any number of workers.
        workers: Processes, see :func:`bai_gym.evaluate`.
        env_kwargs: Keyword arguments for ``gym.make``.
        out: Folder for finished chunks: the same call resumes an interrupted one.
        on_round: Called with a description of each of the two rounds.

    Returns:
        The ranking, with the reasons why agents are not in it.

    Raises:
        BaiGymError: If an argument is invalid, or no agent can be used; the message is one line.
    """
    integer(runs, "runs", least=2 * SCREENING_RUNS)
    budgets = None if budget is None else [budget]
    make_cells([BASELINE], env, budgets, seed, env_kwargs)  # errors in the user's arguments, of no agent
    usable, left_out = _usable(env, budgets, seed, env_kwargs)
    if not usable:
        raise ParameterError(
            "no registered agent without oracle knowledge can be used here; give another budget or task"
        )

    def play(agents: list[str], number: int, words: str) -> Comparison:
        if on_round is not None:
            on_round(words)
        return compare(
            agents, env, budgets=budgets, runs=number, seed=seed, workers=workers, env_kwargs=env_kwargs, out=out
        )

    screened = play(usable, SCREENING_RUNS, f"{len(usable)} agents")
    ranked = sorted(screened, key=lambda row: row.error_probability)
    best = ranked[0].agent
    kept = [row.agent for row in ranked if screened.paired(best, row.agent).p_value >= CLEARLY_WORSE][:FINALISTS]
    kept += [BASELINE] if BASELINE in usable and BASELINE not in kept else []
    final = play(kept, runs, f"{len(kept)} finalists")
    return Advice(leaderboards(final)[0], screened, left_out)


def _usable(
    env: str | BestArmEnv, budgets: list[int] | None, seed: int, keywords: Mapping[str, Any] | None
) -> tuple[list[str], dict[str, str]]:
    """Return the agents that can be played, and why the others cannot."""
    usable, left_out = [], {}
    (baseline,) = make_cells([BASELINE], env, budgets, seed, keywords)
    rng = generator(seed, "advice")
    rewards = sample_rewards(baseline.env.problem.draw(INSPECTED, rng), rng)
    for name in registry.names():
        try:
            cell = make_cells([name], env, budgets, seed, keywords)[0]
            known = sorted(knowledge(cell.agent.prototype))
            least = least_budget(cell.agent.prototype, cell.env.problem.num_arms, cell.env.problem.num_features)
            if known:
                left_out[name] = f"knows {', '.join(known)}"
            elif cell.budget < least:
                left_out[name] = f"needs a budget of {least:,}"
            else:
                cell.check()
                check_rewards(name, rewards)
                usable.append(name)
        except BaiGymError as error:
            left_out[name] = str(error)
    return usable, left_out


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
