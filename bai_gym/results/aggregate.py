"""Scores of agents over many environments, with bootstrap intervals, after Agarwal et al. (2021).

The unit of a score. A single run is correct or wrong, so the interquartile mean of single runs would be a step function
of their mean. The unit is therefore the task, an environment with a budget, and its score is the probability of a
correct recommendation, optionally on a scale where 0 is a random guess and 1 the best possible agent. The aggregates
are taken over tasks: interquartile mean (the mean of the middle half of the tasks, without the easiest and the
hardest), mean, median, and optimality gap (by how much scores fall short of 1). Performance profiles are over tasks
too, or over single runs by simple regret, which is finer than correct or wrong.

The tasks are fixed, not a sample of a larger population of tasks: intervals measure how far more runs on the same tasks
could move a number. They come from the bootstrap of whole runs (:mod:`bai_gym.analysis.bootstrap`), in which run i has
the same weight for all agents and tasks. That is more than the strata of Agarwal et al., whose runs are independent:
ours share instances, which makes differences between agents precise, and tasks dependent. With fewer than about 30 runs
intervals are too short.

References:
    R. Agarwal, M. Schwarzer, P. S. Castro, A. Courville and M. G. Bellemare (2021), "Deep reinforcement learning at the
    edge of the statistical precipice", Advances in Neural Information Processing Systems 34: section 4, and appendix
    A.3 for the probability of improvement.
    E. D. Dolan and J. J. More (2002), "Benchmarking optimization software with performance profiles", Mathematical
    Programming 91, 201-213.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from bai_gym.analysis.bootstrap import check_samples, resample
from bai_gym.analysis.intervals import Estimate, check_level, percentile
from bai_gym.analysis.metrics import AGGREGATES, interquartile_mean
from bai_gym.common.seeding import check_seed
from bai_gym.errors import ParameterError, unknown_name
from bai_gym.results.evaluations import Evaluation, Source, Task, collect, declared, describe_task
from bai_gym.results.result import Optima
from bai_gym.statistics import FloatArray
from bai_gym.validation import choice

__all__ = ["AgentScore", "Aggregate", "Profile", "aggregate"]

NEVER, ALWAYS = "never being right", "being always right"

Chance = float | Literal["one arm"] | Mapping[Task, float] | None
"""Error probability of a random guess, see :func:`aggregate`."""


@dataclass(frozen=True, slots=True)
class AgentScore:
    """An agent's scores over all tasks.

    Attributes:
        agent: Name of the agent.
        iqm: Interquartile mean.
        mean: Mean.
        median: Median.
        optimality_gap: Mean shortfall from 1; the only one of the four that is lower for better agents.
        knows: Oracle knowledge of the agent on any of the tasks.
        notes: Remarks that a reader of the numbers needs.
    """

    agent: str
    iqm: Estimate
    mean: Estimate
    median: Estimate
    optimality_gap: Estimate
    knows: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """A performance profile: a curve for each agent.

    Attributes:
        of: ``"tasks"``: share of the tasks with a score above the threshold. ``"runs"``: share of the runs, averaged
            over tasks, with a simple regret of at most the threshold, in units of the scale. Higher is better in both.
        thresholds: ``(P,)`` ascending.
        agents: A names.
        knows: Oracle knowledge of each of them.
        shares: ``(A, P)`` the curves, in [0, 1].
        lower: ``(A, P)`` lower ends of their intervals, each for itself; NaN for a single run.
        upper: ``(A, P)`` upper ends.
        level: Confidence level of the intervals.
    """

    of: Literal["tasks", "runs"]
    thresholds: FloatArray
    agents: tuple[str, ...]
    knows: tuple[tuple[str, ...], ...]
    shares: FloatArray
    lower: FloatArray
    upper: FloatArray
    level: float


@dataclass(frozen=True, eq=False)
class Aggregate(Sequence[AgentScore]):
    """Scores of several agents over the same tasks: a sequence of :class:`AgentScore`, the best one first.

    Attributes:
        rows: By interquartile mean, then by name.
        tasks: T environments with a budget each, in alphabetical and ascending order.
        runs: ``(T,)`` runs of each agent on each task.
        scores: ``(A, T)`` the score of each agent, in the order of the rows, on each task.
        level: Confidence level of each interval.
        samples: Number of bootstrap samples.
        seed: Their seed.
        zero: Meaning of score 0: never correct, or a random guess.
        one: Meaning of score 1: always correct, or the best possible agent.
        left_out: Tasks that not all agents have played, and that are left out.
    """

    rows: tuple[AgentScore, ...]
    tasks: tuple[Task, ...]
    runs: tuple[int, ...]
    scores: FloatArray
    level: float
    samples: int
    seed: int
    zero: str
    one: str
    left_out: tuple[Task, ...]
    _drawn: FloatArray = field(repr=False)  # (B, A, T) bootstrap samples of the scores
    _played: tuple[tuple[Evaluation, ...], ...] = field(repr=False)  # A times T

    @property
    def agents(self) -> tuple[str, ...]:
        """Names of the agents, in the order of the rows."""
        return tuple(row.agent for row in self.rows)

    @override
    def __getitem__(self, index: int) -> AgentScore:  # type: ignore[override]
        """Return one agent's scores."""
        return self.rows[index]

    @override
    def __len__(self) -> int:
        """Return the number of agents."""
        return len(self.rows)

    @override
    def __str__(self) -> str:
        """A heading and one line per agent."""
        number = len(self.tasks)
        lines = [f"{number} task{'s' * (number > 1)}, {self.description}"]
        for row in self.rows:
            knows = ", ".join(row.knows) or "none"
            lines.append(
                f"{row.agent}: interquartile mean {row.iqm.value:.4f} [{row.iqm.lower:.4f}, {row.iqm.upper:.4f}], "
                f"mean {row.mean.value:.4f}, optimality gap {row.optimality_gap.value:.4f} (oracle knowledge: {knows})"
            )
        return "\n".join(lines)

    @property
    def description(self) -> str:
        """Description of a score."""
        if (self.zero, self.one) == (NEVER, ALWAYS):
            return "score: probability of a correct recommendation"
        return f"score: probability of a correct recommendation, scaled so that {self.zero} scores 0 and {self.one} 1"

    def find(self, agent: str) -> AgentScore:
        """Return the scores of an agent.

        Raises:
            UnknownNameError: If it is not there.
        """
        return self.rows[self._index(agent)]

    def difference(self, agent_a: str, agent_b: str, of: str = "iqm") -> Estimate:
        """Return the difference of an aggregate of two agents, first minus second: paired, as both had the same runs.

        Args:
            agent_a: Name of the first agent.
            agent_b: Name of the second agent.
            of: Which aggregate, a key of :data:`AGGREGATES`.

        Raises:
            UnknownNameError: If there is no such agent.
            ParameterError: If there is no such aggregate.
        """
        choice(of, AGGREGATES, "of")
        a, b = self._index(agent_a), self._index(agent_b)
        function = AGGREGATES[of]
        value = float(function(self.scores[a]) - function(self.scores[b]))
        return self._estimate(value, function(self._drawn[:, a]) - function(self._drawn[:, b]))

    def improvement(self, agent_a: str, agent_b: str, by: Literal["correct", "simple_regret"] = "correct") -> Estimate:
        """Return the probability of improvement of one agent over another, averaged over the tasks.

        The probability that A does better than B on the same instance, where ties count one half. By ``"correct"``, a
        correct run is better than a wrong one, and the number is 1/2 plus half the mean difference of the probabilities
        of being correct. By ``"simple_regret"`` it is finer: the better of two wrong arms wins.

        Args:
            agent_a: Name of the first agent.
            agent_b: Name of the second agent.
            by: What is compared.

        Raises:
            UnknownNameError: If there is no such agent.
            ParameterError: If ``by`` is neither of the two.
        """
        choice(by, ("correct", "simple_regret"), "by")
        a, b = self._index(agent_a), self._index(agent_b)
        if agent_a > agent_b:  # one order for both, so that the two probabilities add up to 1
            other_way = self.improvement(agent_b, agent_a, by)
            return Estimate(1 - other_way.value, 1 - other_way.upper, 1 - other_way.lower)
        wins: list[FloatArray] = []
        for one, other in zip(self._played[a], self._played[b], strict=True):
            if by == "correct":
                advantage = np.subtract(one.right, other.right, dtype=np.float64)
            else:
                advantage = np.sign(other.regret - one.regret)
            wins.append((1.0 + advantage) / 2)
        addresses = [("pair", agent_a, agent_b, *task) for task in self.tasks]
        value = float(np.mean([win.mean() for win in wins]))
        return self._estimate(value, self._resampled(wins, addresses, 0.5 / len(wins)).mean(axis=1))

    def profile(self) -> Profile:
        """Return the share of the tasks with a score above each of 101 thresholds, for each agent.

        The thresholds go from 0, or the lowest score, to 1.
        """
        tau = np.linspace(min(0.0, self.scores.min()), 1.0, 101)
        shares = np.stack([(self.scores > at).mean(axis=-1) for at in tau], axis=-1)
        drawn = np.stack([(self._drawn > at).mean(axis=-1) for at in tau], axis=-1)
        return self._profile("tasks", tau, shares, drawn)

    def run_profile(self) -> Profile:
        """Return the share of the runs with a simple regret of at most each threshold, averaged over the tasks.

        Simple regrets of a task are in units of the mean regret of those runs, of all agents, that have any: 1 is a
        typical error. The 101 thresholds go from 0 to what one run in 200 exceeds.
        """
        units = [self._scale(t) for t in range(len(self.tasks))]
        regrets = [[row.regret / unit for row, unit in zip(rows, units, strict=True)] for rows in self._played]
        top = float(np.quantile(np.concatenate([values for scaled in regrets for values in scaled]), 0.995)) or 1.0
        tau = np.linspace(0.0, top, 101)
        shares = np.zeros((len(self), tau.size))
        drawn = np.zeros((self.samples, len(self), tau.size))
        sizes = np.array(self.runs)
        for runs in sorted(set(self.runs)):  # tasks with the same number of runs are averaged run by run
            tasks = np.flatnonzero(sizes == runs)
            columns: list[npt.NDArray[np.generic]] = []
            for a, scaled in enumerate(regrets):
                counts = np.zeros((tau.size, runs))
                for t in tasks:
                    counts += scaled[t] <= tau[:, None]
                shares[a] += counts.mean(axis=1) / len(units)
                columns.extend(counts)
            addresses = [("profile", agent, runs) for agent in self.agents for _ in tau]
            whole = self._resampled(columns, addresses, 0.5 * len(tasks) / len(units), 1 / len(tasks), len(tasks))
            drawn += whole.reshape(drawn.shape) / len(units)
        return self._profile("runs", tau, shares, drawn)

    def _index(self, agent: str) -> int:
        if agent not in self.agents:
            raise unknown_name("agent", agent, self.agents, f"agents scored: {', '.join(self.agents)}")
        return self.agents.index(agent)

    def _scale(self, index: int) -> float:
        """Return the unit of the simple regrets of a task."""
        regrets = np.concatenate([rows[index].regret for rows in self._played])
        return float(regrets[regrets > 0].mean()) if (regrets > 0).any() else 1.0

    def _resampled(
        self,
        columns: Sequence[npt.NDArray[np.generic]],
        addresses: Sequence[tuple[str | int, ...]],
        unseen: float,
        size: float = 1.0,
        most: float = 1.0,
    ) -> FloatArray:
        return resample(columns, addresses, samples=self.samples, seed=self.seed, unseen=unseen, size=size, most=most)

    def _estimate(self, value: float, drawn: FloatArray) -> Estimate:
        return _estimate(value, drawn, self.level, self.runs)

    def _profile(self, of: Literal["tasks", "runs"], tau: FloatArray, shares: FloatArray, drawn: FloatArray) -> Profile:
        lower, upper = percentile(shares, drawn, self.level)
        if min(self.runs) == 1:
            lower, upper = np.full_like(shares, np.nan), np.full_like(shares, np.nan)
        knows = tuple(row.knows for row in self.rows)
        return Profile(of, tau, self.agents, knows, shares, lower, upper, self.level)


def aggregate(
    source: Source,
    *,
    agents: Sequence[str] | None = None,
    optima: Optima | None = None,
    chance: Chance = None,
    common: bool = False,
    level: float = 0.95,
    samples: int = 2000,
    seed: int = 0,
) -> Aggregate:
    """Score agents over many tasks, a task being an environment with a budget.

    The score of a task is the probability p of a correct recommendation, or ``(p - guess) / (best - guess)`` if the
    probability of a correct guess or that of the best possible agent is given.

    Args:
        source: What ``compare`` returns, or several of these.
        agents: Names of the agents to score; None: all.
        optima: Probability that the best possible agent is correct, by environment and budget; 1 where there is none.
        chance: Error probability of a random guess: a number, one for each task, or ``"one arm"``, that of naming one
            of K arms at random, 1 - 1/K. None: score 0 is never correct.
        common: What to do if agents have not played the same tasks with the same numbers of runs. False: raise an
            error. True: score the tasks that all have played, and on each task the first runs, as many as all have.
        level: Confidence level of each interval, strictly between 0 and 1.
        samples: Bootstrap samples, at least 100.
        seed: Seed of the bootstrap, at least 0; independent of the seed of the runs.

    Returns:
        Interquartile mean, mean, median and optimality gap of each agent, each with its interval (NaN where a task has
        a single run), and methods for differences, probabilities of improvement and performance profiles.

    Raises:
        UnknownNameError: If an agent does not exist.
        ParameterError: If the agents cannot be compared, or an argument is out of range; the message names what is
            missing.
    """
    check_level(level)
    check_seed(seed)
    check_samples(samples)
    names, tasks, left_out, table = _table(collect(source), agents, common)
    if common:
        table = {(n, t): _first(row, min(table[m, t].runs for m in names)) for (n, t), row in table.items()}
    _check_runs(names, tasks, table)
    low, high = _range(tasks, table, names, optima or {}, chance)
    columns = [table[name, task].right for name in names for task in tasks]
    addresses = [(name, *task) for name in names for task in tasks]
    drawn = resample(columns, addresses, samples=samples, seed=seed, unseen=0.5 / len(tasks))
    drawn = (drawn.reshape(samples, len(names), len(tasks)) - low) / (high - low)
    right = np.array([[1 - table[name, task].errors / table[name, task].runs for task in tasks] for name in names])
    scores = (right - low) / (high - low)
    order = sorted(range(len(names)), key=lambda i: (-interquartile_mean(scores[i]), names[i]))
    runs = tuple(table[names[0], task].runs for task in tasks)
    rows = []
    for i in order:
        estimates = {
            word: _estimate(float(function(scores[i])), function(drawn[:, i]), level, runs)
            for word, function in AGGREGATES.items()
        }
        knows, notes = declared(table[names[i], task] for task in tasks)
        rows.append(AgentScore(names[i], **estimates, knows=knows, notes=notes))
    return Aggregate(
        rows=tuple(rows),
        tasks=tuple(tasks),
        runs=runs,
        scores=scores[order],
        level=level,
        samples=samples,
        seed=seed,
        zero=NEVER if chance is None else "a random guess",
        one=_one(sum(task in (optima or {}) for task in tasks), len(tasks)),
        left_out=tuple(left_out),
        _drawn=drawn[:, order],
        _played=tuple(tuple(table[names[i], task] for task in tasks) for i in order),
    )


def _estimate(value: float, drawn: FloatArray, level: float, runs: Sequence[int]) -> Estimate:
    if min(runs) == 1:  # one run carries no information about the variance
        return Estimate(value, float("nan"), float("nan"))
    lower, upper = percentile(value, drawn, level)
    return Estimate(value, float(lower), float(upper))


def _one(known: int, tasks: int) -> str:
    """Describe score 1, given the number of tasks on which the best possible agent is known."""
    if known == 0:
        return ALWAYS
    best = "the best possible agent"
    return best if known == tasks else f"{best} ({known} of {tasks} tasks; on the others, {ALWAYS})"


_Table = dict[tuple[str, Task], Evaluation]


def _table(
    entries: Sequence[Evaluation], agents: Sequence[str] | None, common: bool
) -> tuple[list[str], list[Task], list[Task], _Table]:
    """Return agents, tasks that all of them have played, tasks that are left out, and the data of each cell."""
    known = sorted({entry.agent for entry in entries})
    if isinstance(agents, str):
        raise ParameterError(f"agents must be a list, even of one: write agents=[{agents!r}]")
    names = known if agents is None else sorted(set(agents))
    if not names:
        raise ParameterError("give at least one agent")
    for name in names:
        if name not in known:
            raise unknown_name("agent", name, known, f"agents that played: {', '.join(known)}")
    table = {(entry.agent, entry.task): entry for entry in entries if entry.agent in names}
    every = sorted({task for _, task in table})
    tasks = [task for task in every if all((name, task) in table for name in names)]
    missing = [(name, task) for task in every for name in names if (name, task) not in table]
    if missing and not common:
        name, task = missing[0]
        more = f", and {len(missing) - 1} more such pairs are missing" if len(missing) > 1 else ""
        raise ParameterError(
            f"{name} has not played {describe_task(task)}{more}; play it there, leave out the agent with agents=[...], "
            "or score the tasks that all have played with common=True"
        )
    if not tasks:
        raise ParameterError(
            f"there is no task that all of {', '.join(names)} have played; leave some out with agents=[...]"
        )
    subset = {(name, task): table[name, task] for name in names for task in tasks}
    for (name, task), entry in subset.items():
        if entry.correct is None:
            raise ParameterError(
                f"of {name} on {describe_task(task)} only counts are known, and the bootstrap needs each run; "
                "give what bai_gym.compare returns"
            )
    return names, tasks, [task for task in every if task not in tasks], subset


def _first(entry: Evaluation, runs: int) -> Evaluation:
    """Return the first runs of an entry."""
    correct = entry.right[:runs]
    errors = int(np.count_nonzero(~correct))
    return replace(entry, runs=runs, errors=errors, correct=correct, simple_regret=entry.regret[:runs])


def _check_runs(names: Sequence[str], tasks: Sequence[Task], table: _Table) -> None:
    """Raise :class:`ParameterError` if agents have different numbers of runs on a task."""
    for task in tasks:
        one, other = (pick(names, key=lambda name: table[name, task].runs) for pick in (min, max))
        if table[one, task].runs != table[other, task].runs:
            raise ParameterError(
                f"{one} has {table[one, task].runs:,} runs on {describe_task(task)}, {other} "
                f"{table[other, task].runs:,}; give all the same number, or compare the first runs that all have "
                "with common=True"
            )


def _range(
    tasks: Sequence[Task], table: _Table, names: Sequence[str], optima: Optima, chance: Chance
) -> tuple[FloatArray, FloatArray]:
    """Return ``(T,)`` probabilities of being correct at score 0 and at score 1."""
    low, high = np.zeros(len(tasks)), np.ones(len(tasks))
    for t, task in enumerate(tasks):
        high[t] = optima.get(task, 1.0)
        if chance is None:
            continue
        if chance == "one arm":
            arms = table[names[0], task].num_arms
            if arms is None:
                raise ParameterError(
                    f"on {describe_task(task)} not one arm is recommended: give the error probability of a guess, "
                    "chance={(env, budget): ...}, or leave out chance"
                )
            low[t] = 1 / arms
            continue
        guess = chance.get(task) if isinstance(chance, Mapping) else chance
        if guess is None:
            raise ParameterError(f"chance has no error probability of a guess on {describe_task(task)}")
        if isinstance(guess, str) or not 0.0 <= guess <= 1.0:
            raise ParameterError(f'chance is {guess!r}; it must be in [0, 1], "one arm", a mapping, or None')
        low[t] = 1 - guess
    for t, task in enumerate(tasks):
        if not low[t] < high[t] <= 1:
            raise ParameterError(
                f"on {describe_task(task)} a guess is correct with probability {low[t]:g}, the best possible agent "
                f"with {high[t]:g}; the first must be lower, and the second at most 1"
            )
    return low, high
