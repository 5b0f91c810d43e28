"""Plans a budget: the smallest number of pulls with which an agent reaches a target, found by simulation.

Errors fall about exponentially in the budget, so the logarithm of the error is interpolated linearly. The search
doubles the budget until the target is reached, narrows the interval, and then confirms a budget on fresh seeds: the
smallest of several estimates is too small on average, so a budget is not confirmed by the runs that chose it.

Where instances are random, for example because a pilot is compatible with many of them, the mean over them (known as
assurance) may hide that some are too hard. So a target can also be set for a quantile over the instances.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bai_gym.api import make_cells
from bai_gym.benchmark.cells import Cell
from bai_gym.benchmark.protocol import least_budget
from bai_gym.benchmark.runner import check_runs, run_cells
from bai_gym.envs.scalar import BestArmEnv
from bai_gym.errors import ParameterError
from bai_gym.planning.goals import ERROR, REGRET, Goal, Measurement, most_certain, quantile
from bai_gym.planning.instances import INSTANCES, on_each_instance
from bai_gym.problems import FixedProblem
from bai_gym.rerun import rerun_command
from bai_gym.seeding import check_seed, generator
from bai_gym.statistics import FloatArray
from bai_gym.validation import integer, probability, real

__all__ = ["BudgetPlan", "Plans", "plan"]

AIM = 0.85  # of the target: what the search aims at, so that the confirmation mostly succeeds at once
NARROWINGS = 3
CONFIRMATIONS = 12
SPREAD_RUNS = 100  # of each instance, where a mean has been planned


@dataclass(frozen=True)
class BudgetPlan:
    """The budget that an agent needs.

    Attributes:
        agent: Name of the agent, with the parameters that differ from their defaults.
        env: Id of the environment, with the keyword arguments given.
        goal: What the budget must achieve.
        budget: The budget; None if the target was not reached.
        confirmed: What was measured at this budget, on seeds that did not choose it; None without a budget.
        measurements: All measurements, by budget. Those of one budget come from different seeds.
        each: ``(M,)`` the measure at this budget on each of M random instances, ascending; None without a budget, or
            where there is a single instance.
    """

    agent: str
    env: str
    goal: Goal
    budget: int | None
    confirmed: Measurement | None
    measurements: tuple[Measurement, ...]
    each: FloatArray | None = None

    @property
    def knows(self) -> tuple[str, ...]:
        """Oracle knowledge of the agent."""
        return self.measurements[0].result.knows

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences that every report of the plan must carry."""
        return self.measurements[0].result.notes

    def quantile(self, share: float) -> float:
        """Return the value that the measure does not exceed on a share of the instances.

        Args:
            share: In (0, 1].

        Raises:
            ParameterError: If there is a single instance, or no budget.
        """
        if self.each is None:
            raise ParameterError("a quantile over instances needs a planned budget, and random instances")
        if not 0.0 < real(share, "share") <= 1.0:
            raise ParameterError(f"share must be above 0 and at most 1, not {share}")
        return quantile(self.each, share)

    def __str__(self) -> str:
        """One line for display."""
        where = "" if self.goal.certainty is None else f" on {100 * self.goal.certainty:.3g} % of the instances"
        goal = f"{self.goal.measure} to {self.goal.target:g}{where}"
        knows = f"(oracle knowledge: {', '.join(self.knows) or 'none'})"
        if self.confirmed is None:
            last = self.measurements[-1]
            return f"{self.agent}: no {goal} with up to {last.budget:,} pulls, where it is {last.value:.4g} {knows}"
        line = (
            f"{self.agent}: {self.budget:,} pulls bring the {goal}; on fresh seeds it is {self.confirmed.value:.4g}, "
            f"at most {self.confirmed.upper:.4g} at 95 %, in {self.confirmed.runs:,} runs {knows}"
        )
        if self.each is not None and self.goal.certainty is None:
            line += f"; on 80 % of the instances at most {self.quantile(0.8):.4g}, on 95 % {self.quantile(0.95):.4g}"
        return line


@dataclass(frozen=True)
class Plans(Sequence[BudgetPlan]):
    """The budgets of several agents for one target, the smallest first.

    Attributes:
        plans: One for each agent; those that did not reach the target come last.
    """

    plans: tuple[BudgetPlan, ...]

    @property
    def advice(self) -> str:
        """One sentence: which agent to take, with which budget."""
        reached = [plan for plan in self.plans if plan.budget is not None]
        if not reached:
            return (
                f"No agent reached the target with {self.plans[0].measurements[-1].budget:,} pulls: give a larger one."
            )
        best = next((plan for plan in reached if not plan.knows), reached[0])
        sentence = f"Take {best.agent} with {best.budget:,} pulls"
        if best.knows:
            return f"{sentence}, if you know the {' and the '.join(best.knows)}."
        slowest = [plan for plan in reached if not plan.knows][-1]
        assert slowest.budget is not None and best.budget is not None
        ratio = slowest.budget / best.budget
        if ratio >= 1.1:
            sentence += f"; {slowest.agent} needs {ratio:.2g} times as many"
        return sentence + "."

    def __getitem__(self, index: int) -> BudgetPlan:  # type: ignore[override]
        """Return one plan."""
        return self.plans[index]

    def __len__(self) -> int:
        """Return the number of plans."""
        return len(self.plans)

    def __iter__(self) -> Iterator[BudgetPlan]:
        """Go through the plans."""
        return iter(self.plans)

    def __str__(self) -> str:
        """One line for each agent, and the advice."""
        return "\n".join([*map(str, self.plans), self.advice])


def plan(
    agents: Any,
    env: str | BestArmEnv,
    *,
    error: float | None = None,
    regret: float | None = None,
    certainty: float | None = None,
    most: int = 100_000,
    seed: int = 0,
    workers: int | None = 1,
    env_kwargs: Mapping[str, Any] | None = None,
    out: str | Path | None = None,
    on_budget: Callable[[str, int], None] | None = None,
) -> Plans:
    """Return the smallest budget with which each agent reaches a target on an environment, by simulation.

    The environment says what is known: ``BAI-Custom-v0`` fixed means, ``BAI-Table-v0`` the rewards of a log,
    ``BAI-Pilot-v0`` the means that a pilot leaves possible, an id with random instances a prior.

    Args:
        agents: An agent or a list of them, see :func:`bai_gym.evaluate`.
        env: A registered id, or an environment object.
        error: Largest error probability wanted, in (0, 1). Default 0.05, unless ``regret`` is given.
        regret: Largest simple regret wanted instead, above 0, in the unit of the reward.
        certainty: Probability over random instances with which the error probability (or simple regret) must be at most
            the target, above 0 and at most 0.985; None: its mean over the instances must be.
        most: Largest budget to try.
        seed: At least 0. The same seed gives the same plan, for any number of workers.
        workers: Processes, see :func:`bai_gym.evaluate`.
        env_kwargs: Keyword arguments for ``gym.make``.
        out: Folder for finished chunks: the same call resumes an interrupted one.
        on_budget: Called with the name of the agent and the budget that is tried next.

    Returns:
        The plans, the smallest budget first. A planned budget has, at 95 % confidence, at most the target on seeds that
        were not used to choose it.

    Raises:
        BaiGymError: If an argument is invalid; the message is one line.
    """
    if error is not None and regret is not None:
        raise ParameterError("give error= or regret=, not both")
    if certainty is not None:
        probability(certainty, "certainty")
        if certainty > most_certain(INSTANCES):
            most_sure = f"{most_certain(INSTANCES):.3f}, which {INSTANCES} instances can confirm"
            raise ParameterError(f"certainty must be at most {most_sure}, not {certainty}")
    if regret is not None:
        goal = Goal(REGRET, real(regret, "regret", above=0), certainty)
    else:
        goal = Goal(ERROR, probability(0.05 if error is None else error, "error"), certainty)
    check_runs(1, workers)
    check_seed(seed)
    listed = list(agents) if isinstance(agents, Iterable) and not isinstance(agents, str) else [agents]
    first = [make_cells([agent], env, None, seed, env_kwargs)[0] for agent in listed]
    if not first:
        raise ParameterError("give at least one agent")
    integer(most, "most", least=max(1, *(_least(cell) for cell in first)))
    plans = []
    for agent, cell in zip(listed, first, strict=True):
        if cell.env.built.episode_spec.fixed_confidence:
            raise ParameterError("a plan needs a fixed budget, and here the agent decides when to stop")

        fixed = isinstance(cell.env.problem, FixedProblem)
        if fixed and certainty is not None:
            raise ParameterError("certainty= is over random instances, and this environment has a single one")

        def measure_at(
            budget: int, runs: int, number: int, each: bool, agent: Any = agent, name: str = cell.label
        ) -> Measurement:
            if on_budget is not None:
                on_budget(name, budget)
            own = int(generator(seed, "plan", number).integers(2**63))
            cells = make_cells([agent], env, [budget], own, env_kwargs)
            folder = None if out is None else Path(out)
            if each:
                return on_each_instance(agent, cells[0], goal, runs, workers=workers, out=folder)
            return goal.measured(run_cells(cells, runs, workers=workers, out=folder, rerun=rerun_command)[0])

        plans.append(_Search(cell.label, cell.env.label, goal, fixed, measure_at).run(_least(cell), most))
    return Plans(tuple(sorted(plans, key=lambda one: math.inf if one.budget is None else one.budget)))


def _least(cell: Cell) -> int:
    problem = cell.env.problem
    return max(1, least_budget(cell.agent.prototype, problem.num_arms, problem.num_features))


class _Search:
    """The search for one agent's budget.

    Args:
        agent: Its name.
        env: Name of the environment.
        goal: What the budget must achieve.
        fixed: Whether there is a single instance.
        measure_at: Returns a measurement with a budget and a number of runs, on the seed of a given number; or with a
            number of runs on each of many instances.
    """

    def __init__(
        self, agent: str, env: str, goal: Goal, fixed: bool, measure_at: Callable[[int, int, int, bool], Measurement]
    ) -> None:
        """Choose the numbers of runs: at the target, 20 and 400 errors are expected, or 2 and 10 per instance."""
        self._agent, self._env, self._goal, self._fixed = agent, env, goal, fixed
        self._measure_at = measure_at
        rare = goal.target if goal.measure == ERROR else 0.05
        self._few, self._many = max(400, math.ceil(20 / rare)), max(2000, math.ceil(400 / rare))
        if goal.certainty is not None:
            self._few, self._many = max(50, math.ceil(2 / rare)), max(100, math.ceil(10 / rare))
        self._found: list[Measurement] = []

    def run(self, least: int, most: int) -> BudgetPlan:
        """Return the plan."""
        low, high = self._bracket(least, most)
        if high is None:
            return self._plan(None)
        if low is None:
            return self._confirm(high.budget, -math.inf, most)
        for _ in range(NARROWINGS):
            budget = self._between(low, high)
            if not low.budget < budget < high.budget:
                break
            point = self._play(budget, self._many)
            low, high = (point, high) if point.value > AIM * self._goal.target else (low, point)
        slope = (self._log(high) - self._log(low)) / (high.budget - low.budget)
        return self._confirm(self._between(low, high), min(slope, -1e-3 / high.budget), most)

    def _bracket(self, least: int, most: int) -> tuple[Measurement | None, Measurement | None]:
        """Double the budget until the target is reached; return the last two measurements."""
        low, budget = None, least
        while True:
            point = self._play(budget, self._few)
            if point.value <= AIM * self._goal.target:
                return low, point
            if budget == most:
                return point, None
            low, budget = point, min(2 * budget, most)

    def _between(self, low: Measurement, high: Measurement) -> int:
        """Return the budget at which the line through two measurements, in logarithms, meets the aim."""
        start, end = self._log(low), self._log(high)
        share = (start - math.log(AIM * self._goal.target)) / max(start - end, 1e-9)
        share = min(max(share, 0.05), 0.95)
        return round(low.budget + share * (high.budget - low.budget))

    def _confirm(self, budget: int, slope: float, most: int) -> BudgetPlan:
        """Measure a budget on fresh seeds; where the target is not certain, try a larger one."""
        for attempt in range(1, CONFIRMATIONS + 1):
            point = self._play(budget, self._many, attempt)
            if point.upper <= self._goal.target:
                return self._plan(point)
            if budget == most:
                break
            excess = math.log(point.upper / self._goal.target) if math.isfinite(point.upper) else 0.0
            missing = max(self._log(point) - math.log(AIM * self._goal.target), excess)
            step = max(missing / -slope, 0.02 * budget, 1.0)
            budget = min(math.ceil(budget + min(step, 0.5 * budget)), most)
        return self._plan(None)

    def _play(self, budget: int, runs: int, number: int = 0) -> Measurement:
        point = self._measure_at(budget, runs, number, self._goal.certainty is not None)
        self._found.append(point)
        return point

    def _log(self, point: Measurement) -> float:
        """Return the logarithm of the measure; without errors, that of half an error."""
        runs = point.runs if point.each is None else point.runs / point.each.size
        least = 0.5 / runs * (1.0 if self._goal.measure == ERROR else self._goal.target)
        return math.log(max(point.value, least))

    def _plan(self, confirmed: Measurement | None) -> BudgetPlan:
        each = None
        if confirmed is not None:
            each = confirmed.each
            if each is None and not self._fixed:
                each = self._measure_at(confirmed.budget, SPREAD_RUNS, CONFIRMATIONS + 1, True).each
        found = tuple(sorted(self._found, key=lambda point: point.budget))
        budget = None if confirmed is None else confirmed.budget
        return BudgetPlan(self._agent, self._env, self._goal, budget, confirmed, found, each)
