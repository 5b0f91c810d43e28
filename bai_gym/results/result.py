"""Records of what was played: the outcomes of single runs, and the result of an agent on an environment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np
from typing_extensions import override

from bai_gym.analysis.intervals import wilson
from bai_gym.statistics import BoolArray, FloatArray, IntArray

__all__ = ["QUANTILES", "Checkpoint", "Runs", "Optima", "Outcomes", "Result", "pulls_vary", "summarize", "summed"]

Optima = dict[tuple[str, int], float]
"""Largest possible probability of a correct recommendation, by environment and budget as in the results."""

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0)
"""Levels of the quantiles of the sample complexity; the last is the maximum."""


def pulls_vary(quantiles: Sequence[float]) -> bool:
    """Return whether the 5 % and the 95 % quantile of the sample complexity differ."""
    return quantiles[0] != quantiles[4]


@dataclass(frozen=True, slots=True, eq=False)
class Checkpoint:
    """The outcomes of some episodes at an intermediate budget.

    Attributes:
        pulls_made: The intermediate budget.
        correct: ``(R,)`` whether the recommendation at that budget is correct.
        simple_regret: ``(R,)`` its simple regret.
        pulls: ``(K,)`` pulls of each arm until then, summed over the episodes.
    """

    pulls_made: int
    correct: BoolArray
    simple_regret: FloatArray
    pulls: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """The outcomes of some finished runs, of an episode each, in the order of their numbers.

    Attributes:
        recommendation: ``(R, ...)`` recommendations, in the form of the task.
        correct_recommendation: ``(R, ...)`` correct recommendations.
        correct: ``(R,)`` whether the recommendation is correct.
        simple_regret: ``(R,)`` for one arm: best mean minus the recommended arm's mean; else see the task.
        spent: ``(R,)`` pulls that the agent requested.
        truncated: ``(R,)`` with fixed confidence, whether the cap ended the episode.
        pulls: ``(K,)`` pulls of each arm, summed over the episodes.
        seconds: Computing time; 0 for episodes read from disk.
        pulls_by_rank: ``(K,)`` the same by the true rank of the arm in each episode, the best first; None if not
            unknown.
        checkpoints: Outcomes at intermediate budgets, ascending; usually none.
        tally: What the agent has counted in these episodes, such as replies that it could not read; usually nothing.
    """

    recommendation: IntArray
    correct_recommendation: IntArray
    correct: BoolArray
    simple_regret: FloatArray
    spent: IntArray
    truncated: BoolArray
    pulls: IntArray
    seconds: float = 0.0
    pulls_by_rank: IntArray | None = None
    checkpoints: tuple[Checkpoint, ...] = ()
    tally: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def joined(cls, parts: Sequence[Runs]) -> Runs:
        """Return several groups of runs as one."""
        if len(parts) == 1:
            return parts[0]
        ranked = [part.pulls_by_rank for part in parts if part.pulls_by_rank is not None]
        return cls(
            recommendation=np.concatenate([part.recommendation for part in parts]),
            correct_recommendation=np.concatenate([part.correct_recommendation for part in parts]),
            correct=np.concatenate([part.correct for part in parts]),
            simple_regret=np.concatenate([part.simple_regret for part in parts]),
            spent=np.concatenate([part.spent for part in parts]),
            truncated=np.concatenate([part.truncated for part in parts]),
            pulls=np.sum([part.pulls for part in parts], axis=0),
            seconds=sum(part.seconds for part in parts),
            pulls_by_rank=np.sum(ranked, axis=0) if len(ranked) == len(parts) else None,
            checkpoints=tuple(
                Checkpoint(
                    same[0].pulls_made,
                    np.concatenate([point.correct for point in same]),
                    np.concatenate([point.simple_regret for point in same]),
                    np.sum([point.pulls for point in same], axis=0),
                )
                for same in zip(*(part.checkpoints for part in parts), strict=True)
            ),
            tally=summed(part.tally for part in parts),
        )


Outcomes: TypeAlias = Mapping[tuple[str, str, int], Runs]
"""The runs of each (agent, env, budget); runs of the same number and seed had the same instance."""


@dataclass(frozen=True, slots=True)
class Result:
    """One agent on one environment with one budget.

    Attributes:
        agent: Name of the agent, with the parameters that differ from their defaults.
        env: Id of the environment, with the keyword arguments given.
        budget: Pulls per episode, over all arms, or money where they have costs; with fixed confidence the cap.
        runs: Number of independent episodes.
        errors: Episodes with a wrong recommendation; a truncated one counts by the agent's recommendation at the cap.
        error_probability: Estimated probability of misidentification, errors / runs.
        interval: Its Wilson interval at level 95 %.
        simple_regret: Mean simple regret, in the unit of the reward.
        simple_regret_se: Its standard error (NaN for a single run).
        mean_pulls: ``(K,)`` pulls per arm and episode.
        unspent: Mean number of pulls that the agent left unspent, or the mean money where arms have costs.
        sample_complexity: Mean number of pulls that the agent requested.
        sample_quantiles: Its quantiles at :data:`QUANTILES`.
        truncated: Episodes that the cap ended, with fixed confidence.
        seconds: Computing time, summed over workers; episodes read from disk cost none.
        knows: Oracle knowledge of the agent; empty: none.
        notes: Remarks that a reader of the numbers needs.
        checkpoint: Intermediate budget of the row, in a run of ``budget`` pulls, or ``budget`` itself; None without
            checkpoints.
        seed: The user's seed; None if unknown.
        rerun: A shell command that reproduces the row; empty if none can, because the agent or the environment is a
            user object.
        mean_pulls_by_rank: If the best arm differs between episodes, so that arm numbers mean little: pulls per episode
            by the true rank of the arm, K numbers, the best arm first. Otherwise, and at checkpoints, empty.
        digest: Hash of the code, the parameters and the data behind the row, independent of the budget; empty if
            nothing was stored.
        arm_names: Names of the K arms, in a fixed instance whose arms have names; else empty.
        arm_means: Their true means.
        recommended: Number of runs that recommend each of them (or a set with it); at checkpoints empty.
        delta: With fixed confidence, the error probability that the agent allows itself; else None.
        lower_bound: kl(delta, 1 - delta) T*, which no mean number of pulls is below if the error probability is at most
            delta on all instances, and no mean money where arms have costs; from the true means. None where it is
            unknown.
        rewards: The kind of the environment's rewards, such as ``"binary"``; empty where it is unknown.
        costs: Costs of a pull of each arm, in the unit of the budget; empty: the budget counts pulls.
    """

    agent: str
    env: str
    budget: Any
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
    checkpoint: int | None = None
    seed: int | None = None
    rerun: str = ""
    mean_pulls_by_rank: tuple[float, ...] = ()
    digest: str = ""
    arm_names: tuple[str, ...] = ()
    arm_means: tuple[float, ...] = ()
    recommended: tuple[int, ...] = ()
    delta: float | None = None
    lower_bound: float | None = None
    rewards: str = ""
    costs: tuple[float, ...] = ()

    @property
    def money_spent(self) -> float | None:
        """Mean money that an episode costs; None where arms have no costs."""
        return self.budget - self.unspent if self.costs else None

    @property
    def over_bound(self) -> float | None:
        """Mean pulls, or money where arms have costs, divided by the bound; too small where the cap ended runs."""
        spent = self.sample_complexity if self.money_spent is None else self.money_spent
        return None if self.lower_bound is None else spent / self.lower_bound

    @property
    def best_arms(self) -> tuple[str, ...]:
        """The names of the arms with the largest true mean; empty where arms have no names."""
        top = max(self.arm_means, default=0.0)
        return tuple(name for name, mean in zip(self.arm_names, self.arm_means, strict=True) if mean == top)

    @property
    def most_recommended(self) -> tuple[str, float] | None:
        """The name of the arm that most runs recommend, and the share of these runs; None where that is unknown."""
        if not self.recommended:
            return None
        arm = int(np.argmax(self.recommended))
        return self.arm_names[arm], self.recommended[arm] / self.runs

    @property
    def stops(self) -> bool:
        """Whether the number of pulls varies from run to run: the agent decides when to stop."""
        fixed = bool(self.costs) and self.delta is None  # what the money pays for depends on the arms
        return bool(self.truncated) or (pulls_vary(self.sample_quantiles) and not fixed)

    @property
    def at_end(self) -> bool:
        """Whether the row is about the end of the runs, not an intermediate budget."""
        return self.checkpoint in (None, self.budget)

    @property
    def precedence(self) -> tuple[int, bool]:
        """The order among results of the same runs: more runs first, then the end of a curve of checkpoints."""
        return self.runs, self.checkpoint is not None

    @override
    def __str__(self) -> str:
        """The table of the command line, with its notes, as text."""
        return str(import_module("bai_gym.report.tables").text([self]))  # by name, because tables are a layer above


def summarize(
    agent: str,
    env: str,
    budget: float,
    episodes: Runs,
    knows: Sequence[str],
    notes: Sequence[str],
    at: Checkpoint | None = None,
    seed: int | None = None,
    rerun: str = "",
    digest: str = "",
    arms: Sequence[tuple[str, float]] = (),
    delta: float | None = None,
    lower_bound: float | None = None,
    rewards: str = "",
    costs: Sequence[float] = (),
) -> Result:
    """Return the result of some episodes, at their end or at one of their checkpoints.

    ``arms`` are the names and true means of the arms, in a fixed instance whose arms have names; for ``delta``,
    ``lower_bound``, ``rewards`` and ``costs`` see :class:`Result`.
    """
    names, means = zip(*arms, strict=True) if arms else ((), ())
    point = episodes if at is None else at
    runs = point.correct.size
    errors = int(np.count_nonzero(~point.correct))
    regret = point.simple_regret
    with np.errstate(over="ignore"):  # the square of a regret may be more than a float holds
        deviation = float(regret.std(ddof=1)) if runs > 1 else float("nan")
    end: Any = budget if at is None else at.pulls_made
    if episodes.tally:
        counted = ", ".join(f"{count:,} {what}" for what, count in episodes.tally.items())
        notes = (*notes, f"{agent}, budget {budget}: {counted} in {runs:,} runs")
    mean_pulls = point.pulls / runs
    if costs:
        spent, unspent = episodes.spent, max(end - float(mean_pulls @ np.array(costs)), 0.0)
    else:
        spent = np.minimum(episodes.spent, end)  # until it stops, an agent pulls in every step
        unspent = end - float(spent.mean())
    return Result(
        agent=agent,
        env=env,
        budget=budget,
        runs=runs,
        errors=errors,
        error_probability=errors / runs,
        interval=wilson(errors, runs),
        simple_regret=float(regret.mean()),
        simple_regret_se=float(deviation / np.sqrt(runs)),
        mean_pulls=mean_pulls,
        unspent=unspent,
        sample_complexity=float(spent.mean()),
        sample_quantiles=tuple(np.quantile(spent, QUANTILES).tolist()),
        truncated=int(np.count_nonzero(episodes.truncated)),
        seconds=episodes.seconds,
        knows=tuple(knows),
        notes=tuple(notes),
        checkpoint=end if episodes.checkpoints else None,
        seed=seed,
        rerun=rerun,
        mean_pulls_by_rank=_by_rank(episodes) if at is None else (),
        digest=digest,
        arm_names=names,
        arm_means=means,
        recommended=_recommended(episodes) if arms and at is None else (),
        delta=delta,
        lower_bound=lower_bound,
        rewards=rewards,
        costs=tuple(costs),
    )


def summed(tallies: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Return the sums of counts with the same description; those that are 0 remain."""
    total: dict[str, int] = {}
    for tally in tallies:
        for what, count in tally.items():
            total[what] = total.get(what, 0) + count
    return total


def _recommended(episodes: Runs) -> tuple[int, ...]:
    """Return the number of runs that recommend each arm, where one arm or a set of arms is recommended."""
    num_arms, recommendation = episodes.pulls.size, episodes.recommendation
    if recommendation.ndim == 1:
        return tuple(np.bincount(recommendation, minlength=num_arms).tolist())
    return tuple(recommendation.sum(axis=0).tolist()) if recommendation.shape[1] == num_arms else ()


def _by_rank(episodes: Runs) -> tuple[float, ...]:
    """Return the pulls per episode by true rank, where the best arm varies."""
    if episodes.pulls_by_rank is None or (episodes.correct_recommendation == episodes.correct_recommendation[0]).all():
        return ()
    return tuple((episodes.pulls_by_rank / episodes.correct.size).tolist())
