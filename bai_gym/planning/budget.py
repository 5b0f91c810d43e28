"""Plans a budget: the smallest number of pulls with which an agent reaches a target, found by simulation.

Errors fall about exponentially in the budget, so the logarithm of the error is interpolated linearly. The search
doubles the budget until the target is reached, narrows the interval, and then confirms a budget on fresh seeds: the
smallest of several estimates is too small on average, so the runs that chose a budget cannot also vouch for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bai_gym.analysis.intervals import wilson, z_score
from bai_gym.api import make_cells
from bai_gym.benchmark.cells import Cell
from bai_gym.benchmark.protocol import least_budget
from bai_gym.benchmark.runner import check_runs, run_cells
from bai_gym.envs.scalar import BestArmEnv
from bai_gym.errors import ParameterError
from bai_gym.rerun import rerun_command
from bai_gym.results.result import Result
from bai_gym.seeding import check_seed, generator
from bai_gym.validation import integer, probability, real

__all__ = ["BudgetPlan", "Plans", "plan"]

ONE_SIDED = 0.9  # level of the two-sided interval whose upper end is a one-sided bound at 95 %
AIM = 0.85  # of the target: what the search aims at, so that the confirmation mostly succeeds at once
NARROWINGS = 3
CONFIRMATIONS = 12


@dataclass(frozen=True)
class BudgetPlan:
    """The budget that an agent needs.

    Attributes:
        agent: Name of the agent, with the parameters that differ from their defaults.
        env: Id of the environment, with the keyword arguments given.
        measure: ``"error probability"`` or ``"simple regret"``.
        target: The largest value wanted.
        budget: The budget; None if the target was not reached.
        confirmed: What was measured at this budget, on seeds that did not choose it; None without a budget.
        results: All measurements, by budget. Those of one budget come from different seeds.
    """

    agent: str
    env: str
    measure: str
    target: float
    budget: int | None
    confirmed: Result | None
    results: tuple[Result, ...]

    @property
    def knows(self) -> tuple[str, ...]:
        """Oracle knowledge of the agent."""
        return self.results[0].knows

    def value(self, result: Result) -> float:
        """Return the measure of a result."""
        return result.error_probability if self.measure == "error probability" else result.simple_regret

    def upper(self, result: Result) -> float:
        """Return the one-sided 95 % confidence bound of the measure."""
        if self.measure == "error probability":
            return wilson(result.errors, result.runs, ONE_SIDED)[1]
        return result.simple_regret + z_score(ONE_SIDED) * result.simple_regret_se

    def __str__(self) -> str:
        """One line for display."""
        goal = f"{self.measure} to {self.target:g}"
        knows = f"(oracle knowledge: {', '.join(self.knows) or 'none'})"
        if self.confirmed is None:
            last = self.results[-1]
            return (
                f"{self.agent}: no {goal} with up to {last.budget:,} pulls, where it is {self.value(last):.4g} {knows}"
            )
        value, upper = self.value(self.confirmed), self.upper(self.confirmed)
        return (
            f"{self.agent}: {self.budget:,} pulls bring the {goal}; on fresh seeds it is {value:.4g}, at most "
            f"{upper:.4g} at 95 %, in {self.confirmed.runs:,} runs {knows}"
        )


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
            return f"No agent reached the target with {self.plans[0].results[-1].budget:,} pulls: give a larger one."
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
        most: Largest budget to try.
        seed: At least 0. The same seed gives the same plan, for any number of workers.
        workers: Processes, see :func:`bai_gym.evaluate`.
        env_kwargs: Keyword arguments for ``gym.make``.
        out: Folder for finished chunks: the same call continues where an interrupted one stopped.
        on_budget: Called with the name of the agent and the budget that is tried next.

    Returns:
        The plans, the smallest budget first. A planned budget has, at 95 % confidence, at most the target on seeds that
        were not used to choose it.

    Raises:
        BaiGymError: If an argument is invalid; the message is one line.
    """
    if error is not None and regret is not None:
        raise ParameterError("give error= or regret=, not both")
    if regret is not None:
        measure, target = "simple regret", real(regret, "regret", above=0)
    else:
        measure, target = "error probability", probability(0.05 if error is None else error, "error")
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

        def measure_at(budget: int, runs: int, number: int, agent: Any = agent, name: str = cell.label) -> Result:
            if on_budget is not None:
                on_budget(name, budget)
            own = int(generator(seed, "plan", number).integers(2**63))
            cells = make_cells([agent], env, [budget], own, env_kwargs)
            folder = None if out is None else Path(out)
            return run_cells(cells, runs, workers=workers, out=folder, rerun=rerun_command)[0]

        plans.append(_Search(cell.label, cell.env.label, measure, target, measure_at).run(_least(cell), most))
    return Plans(tuple(sorted(plans, key=lambda one: math.inf if one.budget is None else one.budget)))


def _least(cell: Cell) -> int:
    problem = cell.env.problem
    return max(1, least_budget(cell.agent.prototype, problem.num_arms, problem.num_features))


class _Search:
    """The search for one agent's budget.

    Args:
        agent: Its name.
        env: Name of the environment.
        measure: What is to be small.
        target: How small.
        measure_at: Returns a measurement with a budget and a number of runs, on the seed of a given number.
    """

    def __init__(
        self, agent: str, env: str, measure: str, target: float, measure_at: Callable[[int, int, int], Result]
    ) -> None:
        """Choose the numbers of runs: at the target, 20 and 400 errors are expected in them."""
        self._found = BudgetPlan(agent, env, measure, target, None, None, ())
        self._measure_at = measure_at
        rare = target if measure == "error probability" else 0.05
        self._few, self._many = max(400, math.ceil(20 / rare)), max(2000, math.ceil(400 / rare))
        self._results: list[Result] = []

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
            low, high = (point, high) if self._found.value(point) > AIM * self._found.target else (low, point)
        slope = (self._log(high) - self._log(low)) / (high.budget - low.budget)
        return self._confirm(self._between(low, high), min(slope, -1e-3 / high.budget), most)

    def _bracket(self, least: int, most: int) -> tuple[Result | None, Result | None]:
        """Double the budget until the target is reached; return the last two measurements."""
        low, budget = None, least
        while True:
            point = self._play(budget, self._few)
            if self._found.value(point) <= AIM * self._found.target:
                return low, point
            if budget == most:
                return point, None
            low, budget = point, min(2 * budget, most)

    def _between(self, low: Result, high: Result) -> int:
        """Return the budget at which the line through two measurements, in logarithms, meets the aim."""
        start, end = self._log(low), self._log(high)
        share = (start - math.log(AIM * self._found.target)) / max(start - end, 1e-9)
        share = min(max(share, 0.05), 0.95)
        return round(low.budget + share * (high.budget - low.budget))

    def _confirm(self, budget: int, slope: float, most: int) -> BudgetPlan:
        """Measure a budget on fresh seeds; where the target is not certain, try a larger one."""
        for attempt in range(1, CONFIRMATIONS + 1):
            point = self._play(budget, self._many, attempt)
            if self._found.upper(point) <= self._found.target:
                return self._plan(point)
            if budget == most:
                break
            missing = self._log(point) - math.log(AIM * self._found.target)
            step = max(missing / -slope, 0.02 * budget, 1.0)
            budget = min(math.ceil(budget + min(step, 0.5 * budget)), most)
        return self._plan(None)

    def _play(self, budget: int, runs: int, number: int = 0) -> Result:
        result = self._measure_at(budget, runs, number)
        self._results.append(result)
        return result

    def _log(self, result: Result) -> float:
        """Return the logarithm of the measure; without errors, that of half an error."""
        least = 0.5 / result.runs * (1.0 if self._found.measure == "error probability" else self._found.target)
        return math.log(max(self._found.value(result), least))

    def _plan(self, confirmed: Result | None) -> BudgetPlan:
        found = self._found
        results = tuple(sorted(self._results, key=lambda result: result.budget))
        budget = None if confirmed is None else confirmed.budget
        return BudgetPlan(found.agent, found.env, found.measure, found.target, budget, confirmed, results)
