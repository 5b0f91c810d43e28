"""Results of evaluations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from bai_gym.analysis.intervals import wilson
from bai_gym.analysis.paired import PairedTest, compare_paired
from bai_gym.analysis.pulls import PairedPulls, compare_pulls
from bai_gym.errors import MissingPackageError, ParameterError, UnknownNameError, unknown_name
from bai_gym.results.paper import paper_table
from bai_gym.statistics import FloatArray, IntArray

__all__ = ["QUANTILES", "Checkpoint", "Comparison", "Episodes", "Result", "Rival", "pulls_vary", "summarize", "summed"]

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0)
"""Levels of the quantiles of the sample complexity; the last is the maximum."""


def pulls_vary(quantiles: Sequence[float]) -> bool:
    """Return whether the 5 % and the 95 % quantile of the sample complexity differ; earlier files lack those above."""
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
    correct: npt.NDArray[np.bool_]
    simple_regret: FloatArray
    pulls: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Episodes:
    """The outcomes of some finished episodes, in the order of their numbers.

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
            stored.
        checkpoints: Outcomes at intermediate budgets, ascending; usually none.
        tally: What the agent has counted in these episodes, such as replies that it could not read; usually nothing.
    """

    recommendation: IntArray
    correct_recommendation: IntArray
    correct: npt.NDArray[np.bool_]
    simple_regret: FloatArray
    spent: IntArray
    truncated: npt.NDArray[np.bool_]
    pulls: IntArray
    seconds: float = 0.0
    pulls_by_rank: IntArray | None = None
    checkpoints: tuple[Checkpoint, ...] = ()
    tally: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def joined(cls, parts: Sequence[Episodes]) -> Episodes:
        """Return several groups of episodes as one."""
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


@dataclass(frozen=True, slots=True)
class Result:
    """One agent on one environment with one budget.

    Attributes:
        agent: Name of the agent, with the parameters that differ from their defaults.
        env: Id of the environment, with the keyword arguments given.
        budget: Pulls per episode, over all arms; with fixed confidence the cap.
        runs: Number of independent episodes.
        errors: Episodes with a wrong recommendation; a truncated one counts by the agent's recommendation at the cap.
        error_probability: Estimated probability of misidentification, errors / runs.
        interval: Its Wilson interval at level 95 %.
        simple_regret: Mean simple regret, in the unit of the reward.
        simple_regret_se: Its standard error (NaN for a single run).
        mean_pulls: ``(K,)`` pulls per arm and episode.
        unspent: Mean number of pulls that the agent left unspent.
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
            delta on all instances; from the true means. None where it is unknown.
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

    @property
    def over_bound(self) -> float | None:
        """The mean number of pulls, divided by its lower bound; too small where the cap ended runs."""
        return None if self.lower_bound is None else self.sample_complexity / self.lower_bound

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
        return bool(self.truncated) or pulls_vary(self.sample_quantiles)

    @property
    def at_end(self) -> bool:
        """Whether the row is about the end of the runs, not an intermediate budget."""
        return self.checkpoint in (None, self.budget)

    def __str__(self) -> str:
        """One line for display."""
        low, high = self.interval
        knows = ", ".join(self.knows) or "none"
        after = "" if self.checkpoint is None else f", after {self.checkpoint} pulls"
        favourite = self.most_recommended
        most = "" if favourite is None else f", {favourite[1]:.1%} of them recommend {favourite[0]!r}"
        if self.stops:
            _, _, median, _, high_pulls, rare, most_pulls = self.sample_quantiles
            most += (
                f", pulls: mean {self.sample_complexity:.0f}, median {median:.0f}, 95 % quantile {high_pulls:.0f}, "
                f"99 % quantile {rare:.0f}, maximum {most_pulls:.0f}, "
                f"{self.truncated / self.runs:.1%} stopped by the cap"
            )
        if self.over_bound is not None:
            most += f", {self.over_bound:.2f} times the lower bound for delta {self.delta:g}"
        return (
            f"{self.agent} on {self.env}, budget {self.budget}{after}: error probability {self.error_probability:.4f} "
            f"[{low:.4f}, {high:.4f}] in {self.runs} runs{most} (oracle knowledge: {knows})"
        )


def summarize(
    agent: str,
    env: str,
    budget: int,
    episodes: Episodes,
    knows: Sequence[str],
    notes: Sequence[str],
    at: Checkpoint | None = None,
    seed: int | None = None,
    rerun: str = "",
    digest: str = "",
    arms: Sequence[tuple[str, float]] = (),
    delta: float | None = None,
    lower_bound: float | None = None,
) -> Result:
    """Return the result of some episodes, at their end or at one of their checkpoints.

    ``arms`` are the names and true means of the arms, in a fixed instance whose arms have names; ``delta`` and
    ``lower_bound`` see :class:`Result`.
    """
    point = episodes if at is None else at
    runs = point.correct.size
    errors = int(np.count_nonzero(~point.correct))
    regret = point.simple_regret
    with np.errstate(over="ignore"):  # the square of a regret may be more than a float holds
        deviation = float(regret.std(ddof=1)) if runs > 1 else float("nan")
    end = budget if at is None else at.pulls_made
    if episodes.tally:
        counted = ", ".join(f"{count:,} {what}" for what, count in episodes.tally.items())
        notes = (*notes, f"{agent}, budget {budget}: {counted} in {runs:,} runs")
    spent = np.minimum(episodes.spent, end)  # until it stops, an agent pulls in every step
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
        mean_pulls=point.pulls / runs,
        unspent=end - float(spent.mean()),
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
        arm_names=tuple(name for name, _ in arms),
        arm_means=tuple(mean for _, mean in arms),
        recommended=_recommended(episodes) if arms and at is None else (),
        delta=delta,
        lower_bound=lower_bound,
    )


def summed(tallies: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Return the sums of counts with the same description; those that are 0 remain."""
    total: dict[str, int] = {}
    for tally in tallies:
        for what, count in tally.items():
            total[what] = total.get(what, 0) + count
    return total


def _recommended(episodes: Episodes) -> tuple[int, ...]:
    """Return the number of runs that recommend each arm, where one arm or a set of arms is recommended."""
    num_arms, found = episodes.pulls.size, episodes.recommendation
    if found.ndim == 1:
        return tuple(np.bincount(found, minlength=num_arms).tolist())
    return tuple(found.sum(axis=0).tolist()) if found.shape[1] == num_arms else ()


def _by_rank(episodes: Episodes) -> tuple[float, ...]:
    """Return the pulls per episode by true rank, where the best arm varies."""
    if episodes.pulls_by_rank is None or (episodes.correct_recommendation == episodes.correct_recommendation[0]).all():
        return ()
    return tuple((episodes.pulls_by_rank / episodes.correct.size).tolist())


@dataclass(frozen=True, slots=True)
class Rival:
    """A paired comparison of a reference agent with another one, on one environment with one budget.

    Attributes:
        agent: Name of the other agent.
        env: Id of the environment, with the keyword arguments given.
        budget: Pulls per episode, over all arms.
        test: The reference is its agent A, the other agent B: differences below 0 favour the reference.
    """

    agent: str
    env: str
    budget: int
    test: PairedTest


@dataclass(frozen=True, eq=False)
class Comparison(Sequence[Result]):
    """Results of several agents (and budgets, and checkpoints) on the same instances: a sequence of :class:`Result`.

    Attributes:
        results: In the order in which agents and budgets were given.
    """

    results: tuple[Result, ...]
    _runs: Mapping[tuple[str, str, int, int | None], Episodes | Checkpoint] = field(repr=False)

    @property
    def final(self) -> tuple[Result, ...]:
        """The results at the end of the runs, all of them where there are no checkpoints."""
        return tuple(result for result in self.results if result.at_end)

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

    def find(
        self, agent: str, budget: int | None = None, env: str | None = None, checkpoint: int | None = None
    ) -> Result:
        """Return the result of an agent.

        Args:
            agent: Its name in the results.
            budget: Needed where there are several.
            env: Needed where there are several.
            checkpoint: Intermediate budget; None: the end of the runs.

        Raises:
            UnknownNameError: If there is no such result.
            ParameterError: If there are several.
        """
        found = [
            result
            for result in (self.final if checkpoint is None else self.results)
            if result.agent == agent
            and budget in (None, result.budget)
            and env in (None, result.env)
            and checkpoint in (None, result.checkpoint)
        ]
        if not found:
            known = dict.fromkeys(result.agent for result in self.results)
            cells = sorted({(result.env, result.budget) for result in self.results})
            there = ", ".join(f"{env} with budget {pulls}" for env, pulls in cells)
            if agent in known and checkpoint is not None:
                points = sorted({result.checkpoint for result in self.results if result.checkpoint is not None})
                shown = ", ".join(map(str, points[:20])) + (", ..." if len(points) > 20 else "")
                raise UnknownNameError(f"no result of {agent} after {checkpoint} pulls; there are: {shown or 'none'}")
            if agent in known:
                asked = f"{env or 'any environment'} with {'any budget' if budget is None else f'budget {budget}'}"
                raise UnknownNameError(f"no result of {agent} on {asked}; there are: {there}")
            raise unknown_name("result", agent, known, f"agents compared: {', '.join(known)}; on {there}")
        if len(found) > 1:
            raise ParameterError(f"there are {len(found)} results of {agent}: say which budget (and env) is meant")
        return found[0]

    def paired(
        self,
        agent_a: str,
        agent_b: str,
        budget: int | None = None,
        env: str | None = None,
        level: float = 0.95,
        checkpoint: int | None = None,
    ) -> PairedTest:
        """Compare two agents run by run, on their common instances.

        Args:
            agent_a: Name of the first agent in the results.
            agent_b: Name of the second agent.
            budget: Needed where there are several.
            env: Needed where there are several.
            level: Confidence level of the interval, in (0, 1).
            checkpoint: Intermediate budget; None: the end of the runs.

        Returns:
            The difference of the error probabilities, first minus second, with interval and exact p-value.
        """
        a, b = (self.outcome(self.find(agent, budget, env, checkpoint)) for agent in (agent_a, agent_b))
        return compare_paired(~a.correct, ~b.correct, level)

    def regrets(
        self, agent: str, budget: int | None = None, env: str | None = None, checkpoint: int | None = None
    ) -> FloatArray:
        """Return the simple regret of each run of an agent, ``(R,)``; the arguments are those of :meth:`find`.

        Two agents had the same instance in runs of the same number.
        """
        return self.outcome(self.find(agent, budget, env, checkpoint)).simple_regret

    def pulls(self, agent: str, budget: int | None = None, env: str | None = None) -> IntArray:
        """Return the number of pulls of each run of an agent, ``(R,)``; the arguments are those of :meth:`find`.

        Runs that reach the cap of an environment of fixed confidence count with it.
        """
        return self._episodes(agent, budget, env).spent

    def paired_pulls(
        self, agent_a: str, agent_b: str, budget: int | None = None, env: str | None = None, level: float = 0.95
    ) -> PairedPulls:
        """Compare the numbers of pulls of two agents run by run, on their common instances.

        Args:
            agent_a: Name of the first agent in the results.
            agent_b: Name of the second agent.
            budget: Needed where there are several.
            env: Needed where there are several.
            level: Confidence level of the interval, in (0, 1).

        Returns:
            The difference of the mean numbers of pulls, first minus second, with interval and p-value.
        """
        return compare_pulls(self.pulls(agent_a, budget, env), self.pulls(agent_b, budget, env), level)

    def to_pandas(self) -> Any:
        """Return the results as a pandas data frame, a row for each, with the columns of ``results.parquet``.

        Raises:
            MissingPackageError: If pandas is not installed.
        """
        from bai_gym.results.writer import arrow_table

        try:
            return arrow_table(self.results).to_pandas()
        except ImportError as error:
            raise MissingPackageError("to_pandas() needs pandas; pip install pandas") from error

    def to_latex(self, measure: str = "error_probability", level: float = 0.95) -> str:
        r"""Return the table of a paper: agents as rows, environments and budgets as columns, the best in bold.

        In bold is also every agent that is not significantly worse than the best one on the same instances, by paired
        tests at joint level ``level`` in each column. The preamble needs ``\usepackage{booktabs}``.

        Args:
            measure: ``"error_probability"``, or ``"pulls"`` for agents that decide when to stop.
            level: In (0, 1).

        Raises:
            ParameterError: If there is no such measure, or the level is out of range.
        """
        return paper_table(self, measure, level).latex()

    def recommendations(self, agent: str, budget: int | None = None, env: str | None = None) -> IntArray:
        """Return the final recommendation of an agent in each run, ``(R, ...)``, in the form of the task.

        The arguments are those of :meth:`find`.
        """
        return self._episodes(agent, budget, env).recommendation

    def _episodes(self, agent: str, budget: int | None, env: str | None) -> Episodes:
        episodes = self.outcome(self.find(agent, budget, env))
        assert isinstance(episodes, Episodes)  # the end of the runs, not a checkpoint
        return episodes

    def outcome(self, result: Result) -> Episodes | Checkpoint:
        """Return the single runs behind a result."""
        return self._runs[result.agent, result.env, result.budget, result.checkpoint]

    def against(self, reference: str, level: float = 0.95) -> list[Rival]:
        """Compare an agent run by run with each other agent on the same settings, at the end of the runs.

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
            for r in self.final
            if r.agent != reference
        ]
