"""What an evaluation finds out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from bai_gym.benchmark.intervals import wilson
from bai_gym.benchmark.paired import PairedTest, compare_paired
from bai_gym.errors import ParameterError, UnknownNameError, unknown_name
from bai_gym.statistics import FloatArray, IntArray

__all__ = ["QUANTILES", "Comparison", "Episodes", "Result", "Rival", "summarize"]

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
"""Levels of the quantiles of the sample complexity."""


@dataclass(frozen=True, slots=True, eq=False)
class Episodes:
    """The outcomes of some finished episodes, in the order of their numbers.

    Attributes:
        recommendation: ``(R, ...)`` recommendations, in the form of the task.
        answer: ``(R, ...)`` the right ones.
        correct: ``(R,)`` whether the recommendation is right.
        simple_regret: ``(R,)`` for one arm: best mean minus the recommended arm's mean; else see the task.
        spent: ``(R,)`` pulls that the agent asked for.
        truncated: ``(R,)`` with fixed confidence, whether the cap ended the episode.
        pulls: ``(K,)`` pulls of each arm, summed over the episodes.
        seconds: Time that playing them took just now; 0 for episodes read from disk.
    """

    recommendation: IntArray
    answer: IntArray
    correct: npt.NDArray[np.bool_]
    simple_regret: FloatArray
    spent: IntArray
    truncated: npt.NDArray[np.bool_]
    pulls: IntArray
    seconds: float = 0.0

    @classmethod
    def joined(cls, parts: Sequence[Episodes]) -> Episodes:
        """Return several groups of episodes as one."""
        return cls(
            recommendation=np.concatenate([part.recommendation for part in parts]),
            answer=np.concatenate([part.answer for part in parts]),
            correct=np.concatenate([part.correct for part in parts]),
            simple_regret=np.concatenate([part.simple_regret for part in parts]),
            spent=np.concatenate([part.spent for part in parts]),
            truncated=np.concatenate([part.truncated for part in parts]),
            pulls=np.sum([part.pulls for part in parts], axis=0),
            seconds=sum(part.seconds for part in parts),
        )


@dataclass(frozen=True, slots=True)
class Result:
    """One agent on one environment with one budget.

    Attributes:
        agent: Name of the agent, with the parameters that differ from their defaults.
        env: Id of the environment, with the keyword arguments given.
        budget: Pulls per episode, over all arms; with fixed confidence the cap.
        runs: Number of independent episodes.
        errors: Episodes with a wrong recommendation; a truncated one counts by what the agent recommends at the cap.
        error_probability: Estimated probability of misidentification, errors / runs.
        interval: Its Wilson interval at level 95 %.
        simple_regret: Mean simple regret, in the unit of the reward.
        simple_regret_se: Its standard error (NaN for a single run).
        mean_pulls: ``(K,)`` pulls per arm and episode.
        unspent: Mean number of pulls that the agent left unspent.
        sample_complexity: Mean number of pulls that the agent asked for.
        sample_quantiles: Its quantiles at :data:`QUANTILES`.
        truncated: Episodes that the cap ended, with fixed confidence.
        seconds: Computing time, summed over workers; episodes read from disk cost none.
        knows: What the agent was told that a real user would not know; empty: nothing.
        notes: Remarks that a reader of the numbers needs.
    """

    agent: str
    env: str
    budget: int
    runs: int
    errors: int
    error_probability: float
    interval: tuple[float, float]
    simple_regret: float
    simple_regret_se: float
    mean_pulls: FloatArray
    unspent: float
    sample_complexity: float
    sample_quantiles: tuple[float, ...]
    truncated: int
    seconds: float
    knows: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        """One line for people."""
        low, high = self.interval
        knows = ", ".join(self.knows) or "nothing"
        return (
            f"{self.agent} on {self.env}, budget {self.budget}: error probability {self.error_probability:.4f} "
            f"[{low:.4f}, {high:.4f}] in {self.runs} runs (knows {knows})"
        )


def summarize(
    agent: str, env: str, budget: int, episodes: Episodes, knows: Sequence[str], notes: Sequence[str]
) -> Result:
    """Return the result that the episodes give."""
    runs = episodes.correct.size
    errors = int(np.count_nonzero(~episodes.correct))
    regret = episodes.simple_regret
    return Result(
        agent=agent,
        env=env,
        budget=budget,
        runs=runs,
        errors=errors,
        error_probability=errors / runs,
        interval=wilson(errors, runs),
        simple_regret=float(regret.mean()),
        simple_regret_se=float(regret.std(ddof=1) / np.sqrt(runs)) if runs > 1 else float("nan"),
        mean_pulls=episodes.pulls / runs,
        unspent=budget - float(episodes.spent.mean()),
        sample_complexity=float(episodes.spent.mean()),
        sample_quantiles=tuple(np.quantile(episodes.spent, QUANTILES).tolist()),
        truncated=int(np.count_nonzero(episodes.truncated)),
        seconds=episodes.seconds,
        knows=tuple(knows),
        notes=tuple(notes),
    )


@dataclass(frozen=True, slots=True)
class Rival:
    """How a reference agent compares with another one, on one environment with one budget.

    Attributes:
        agent: Name of the other agent.
        env: Id of the environment, with the keyword arguments given.
        budget: Pulls per episode, over all arms.
        test: The reference is its agent A, the other agent B: differences below 0 speak for the reference.
    """

    agent: str
    env: str
    budget: int
    test: PairedTest


@dataclass(frozen=True, eq=False)
class Comparison(Sequence[Result]):
    """Results of several agents (and budgets) on the same instances: a sequence of :class:`Result`.

    Attributes:
        results: In the order in which agents and budgets were given.
    """

    results: tuple[Result, ...]
    _errors: dict[tuple[str, str, int], npt.NDArray[np.bool_]] = field(repr=False)

    def __getitem__(self, index: int) -> Result:  # type: ignore[override]
        """Return one result."""
        return self.results[index]

    def __len__(self) -> int:
        """Return the number of results."""
        return len(self.results)

    def __iter__(self) -> Iterator[Result]:
        """Go through the results."""
        return iter(self.results)

    def __str__(self) -> str:
        """One line per result."""
        return "\n".join(map(str, self.results))

    def find(self, agent: str, budget: int | None = None, env: str | None = None) -> Result:
        """Return the result of an agent.

        Args:
            agent: Its name in the results.
            budget: Needed where there are several.
            env: Needed where there are several.

        Raises:
            UnknownNameError: If there is no such result.
            ParameterError: If there are several.
        """
        found = [
            result
            for result in self.results
            if result.agent == agent and budget in (None, result.budget) and env in (None, result.env)
        ]
        if not found:
            known = dict.fromkeys(result.agent for result in self.results)
            cells = sorted({(result.env, result.budget) for result in self.results})
            there = ", ".join(f"{env} with budget {pulls}" for env, pulls in cells)
            if agent in known:
                asked = f"{env or 'any environment'} with {'any budget' if budget is None else f'budget {budget}'}"
                raise UnknownNameError(f"no result of {agent} on {asked}; there are: {there}")
            raise unknown_name("result", agent, known, f"agents compared: {', '.join(known)}; on {there}")
        if len(found) > 1:
            raise ParameterError(f"there are {len(found)} results of {agent}: say which budget (and env) is meant")
        return found[0]

    def paired(
        self, agent_a: str, agent_b: str, budget: int | None = None, env: str | None = None, level: float = 0.95
    ) -> PairedTest:
        """Compare two agents run by run, on their common instances.

        Args:
            agent_a: Name of the first agent in the results.
            agent_b: Name of the second agent.
            budget: Needed where there are several.
            env: Needed where there are several.
            level: Confidence level of the interval, in (0, 1).

        Returns:
            The difference of the error probabilities, first minus second, with interval and exact p-value.
        """
        a, b = (self.find(agent, budget, env) for agent in (agent_a, agent_b))
        errors_a, errors_b = (self._errors[r.agent, r.env, r.budget] for r in (a, b))
        return compare_paired(errors_a, errors_b, level)

    def against(self, reference: str, level: float = 0.95) -> list[Rival]:
        """Compare an agent with each other one that played where it did, run by run.

        Args:
            reference: Name of the agent in the results.
            level: Confidence level of each interval, in (0, 1).

        Returns:
            One paired comparison for each result of another agent, in the order of the results.

        Raises:
            UnknownNameError: If that agent has not played where another one has.
        """
        return [
            Rival(r.agent, r.env, r.budget, self.paired(reference, r.agent, r.budget, r.env, level))
            for r in self.results
            if r.agent != reference
        ]
