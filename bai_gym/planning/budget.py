"""Plans a budget: the smallest number of pulls with which an agent reaches a target, found by simulation.

Errors fall about exponentially in the budget, so the logarithm of the error is interpolated linearly. The search
doubles the budget until the target is reached, narrows the interval, and then confirms a budget on fresh seeds: the
smallest of several estimates is too small on average, so a budget is not confirmed by the runs that chose it.

Where instances are random, for example because a pilot is compatible with many of them, the mean over them (known as
assurance) may hide that some are too hard. So a target can also be set for a quantile over the instances.

Where there are earlier results (``BAI-Pilot-v0``), agents start from them, and the first plan is to decide now, for no
pulls: where that reaches the target, none are needed.

Where pulls have costs, budgets are money, in three significant digits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Context
from pathlib import Path
from typing import Any

from typing_extensions import override

from bai_gym.api import make_cells
from bai_gym.benchmark.cells import Cell
from bai_gym.benchmark.protocol import least_budget
from bai_gym.benchmark.runner import check_runs, reuse_in_steps, run_cells
from bai_gym.common.budget import Costs, common_cost
from bai_gym.common.seeding import check_seed, generator
from bai_gym.envs.scalar import BestArmEnv
from bai_gym.errors import ParameterError
from bai_gym.parallel import Workers
from bai_gym.planning.goals import ERROR, REGRET, Goal, Measurement, budget_words, most_certain, quantile
from bai_gym.planning.instances import INSTANCES, on_each_instance
from bai_gym.planning.now import BASELINE, NOW, DecideNow, favourite
from bai_gym.problems import FixedProblem
from bai_gym.report.rerun import rerun_command
from bai_gym.statistics import FloatArray
from bai_gym.validation import integer, probability, real

__all__ = ["BudgetPlan", "Plans", "plan"]

AIM = 0.85  # of the target: what the search aims at, so that the confirmation mostly succeeds at once
NARROWINGS = 3
CONFIRMATIONS = 12
SPREAD_RUNS = 50  # of each instance, where a mean has been planned
AGENTS = (BASELINE, "SH-Reuse", "SR", "Universal")
AGENTS_WITH_DATA = (BASELINE, "OCBA", "Universal")  # fast ones that start from earlier results
AGENTS_WITH_COSTS = (BASELINE, "Uniform(costs=sqrt)", "SH-Reuse", "SR")
AGENTS_WITH_DATA_AND_COSTS = (BASELINE, "Uniform(costs=sqrt)", "OCBA")
MOST_PULLS = 100_000  # the largest budget, or the number of pulls that it pays for at the mean cost
DIGITS = 3  # of a budget in money


@dataclass(frozen=True)
class BudgetPlan:
    """The budget that an agent needs, or what deciding now achieves.

    Attributes:
        agent: Name of the agent, with the parameters that differ from their defaults.
        env: Id of the environment, with the keyword arguments given.
        goal: What the budget must achieve.
        budget: The budget, in pulls, or in money where arms have costs; 0 for deciding now, whether or not that reaches
            the target; None if the target was not reached.
        confirmed: What was measured at this budget, on seeds that did not choose it; None without a budget.
        measurements: All measurements, by budget. Those of one budget come from different seeds.
        each: ``(M,)`` the measure at this budget on each of M random instances, ascending; None without a budget, or
            where there is a single instance.
    """

    agent: str
    env: str
    goal: Goal
    budget: float | None
    confirmed: Measurement | None
    measurements: tuple[Measurement, ...]
    each: FloatArray | None = None

    @property
    def reached(self) -> bool:
        """Whether the target is reached, at 95 % confidence."""
        return self.confirmed is not None and self.confirmed.upper <= self.goal.target

    @property
    def reported(self) -> Measurement:
        """What was measured at the budget; where the target was not reached, at the largest one that was tried."""
        return self.measurements[-1] if self.confirmed is None else self.confirmed

    @property
    def knows(self) -> tuple[str, ...]:
        """Oracle knowledge of the agent."""
        return self.measurements[0].result.knows

    @property
    def costs(self) -> Costs:
        """Costs of the arms, in the unit of the budget; empty: the budget counts pulls."""
        return self.measurements[0].result.costs

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

    @override
    def __str__(self) -> str:
        """One line for display."""
        where = "" if self.goal.certainty is None else f" on {100 * self.goal.certainty:.3g} % of the instances"
        measure = f"the {self.goal.measure}{where}"
        knows = f"(oracle knowledge: {', '.join(self.knows) or 'none'})"
        if self.confirmed is None:
            last = self.reported
            with_most = f"{self.agent}: with {budget_words(last.result)} {measure} is {last.value:.4g}"
            return f"{with_most}, above the target of {self.goal.target:g} {knows}"
        line = f"{self.agent}: with {budget_words(self.confirmed.result)} {measure} is at most {self.goal.target:g}; "
        line += "on fresh seeds it"
        if self.budget == 0:
            line = f"{self.agent}: without pulls the {self.goal.name}"
        line += (
            f" is {self.confirmed.value:.4g}, at most {self.confirmed.upper:.4g} at 95 %, in "
            f"{self.confirmed.runs:,} runs {knows}"
        )
        if self.each is not None and self.goal.certainty is None:
            line += f"; on 80 % of the instances at most {self.quantile(0.8):.4g}, on 95 % {self.quantile(0.95):.4g}"
        return line


@dataclass(frozen=True)
class Plans(Sequence[BudgetPlan]):
    """The budgets of several agents for one target, the smallest first.

    Attributes:
        plans: One for each agent; those that did not reach the target come last. Where there are earlier results, the
            first is to decide now, and the second to collect equally, then decide (``Uniform``).
        winner: The arm that earlier results favour; None where there are none.
    """

    plans: tuple[BudgetPlan, ...]
    winner: str | None = None

    @property
    def advised(self) -> BudgetPlan | None:
        """Deciding now if that reaches the target, else the smallest budget; None if no agent has reached the target.

        Agents that require oracle knowledge come last.
        """
        reached = sorted((plan for plan in self.plans if plan.reached), key=_budget)
        return next((plan for plan in reached if not plan.knows), reached[0] if reached else None)

    @property
    def advice(self) -> str:
        """Which agent to take, with which budget, or that the target is met without further pulls."""
        best, now, goal = self.advised, "", self.plans[0].goal
        at = self.plans[0].confirmed
        if self.winner is not None and at is not None:
            now = f" If you decide now, for {self.winner}, the {goal.name} is {at.value:.3g}."
        if best is None:
            nearest = min((plan for plan in self.plans if plan.budget != 0), key=lambda plan: plan.reported.value)
            last = nearest.reported
            return (
                f"No agent reached the target of {goal.target:g}. The nearest is {nearest.agent}: with "
                f"{budget_words(last.result)} the {goal.name} is {last.value:.3g}. Give a larger target, or allow a "
                f"larger budget.{now}"
            )
        if best.agent == NOW and at is not None:
            return (
                f"The target is met without further pulls: decide now, for {self.winner}. The {goal.name} is "
                f"{at.value:.3g}, at most {at.upper:.3g} at 95 %, and the target is {goal.target:g}."
            )
        assert best.confirmed is not None  # it has reached the target
        sentence = f"Take {best.agent} with {budget_words(best.confirmed.result)}"
        if best.knows:
            return f"{sentence}, if you know the {' and the '.join(best.knows)}.{now}"
        slowest = max((plan for plan in self.plans if plan.reached and not plan.knows), key=_budget)
        ratio = _budget(slowest) / _budget(best)
        if ratio >= 1.1:
            sentence += f"; {slowest.agent} needs {ratio:.2g} times as {'much' if best.costs else 'many'}"
        return f"{sentence}.{now}"

    @override
    def __getitem__(self, index: int) -> BudgetPlan:  # type: ignore[override]
        """Return one plan."""
        return self.plans[index]

    @override
    def __len__(self) -> int:
        """Return the number of plans."""
        return len(self.plans)

    @override
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
    most: float | None = None,
    seed: int = 0,
    workers: Workers = 1,
    env_kwargs: Mapping[str, Any] | None = None,
    out: str | Path | None = None,
    reuse: bool | None = None,
    on_budget: Callable[[str, float], None] | None = None,
) -> Plans:
    """Return the smallest budget with which each agent reaches a target on an environment, by simulation.

    The environment says what is known: ``BAI-Custom-v0`` fixed means, ``BAI-Table-v0`` the rewards of a log,
    ``BAI-Pilot-v0`` the means that a pilot leaves possible, an id with random instances a prior. With its ``costs``
    budgets are money.

    Args:
        agents: An agent or a list of them, see :func:`bai_gym.evaluate`; None: some that are fast. Agents that take no
            account of costs (``uses_costs``) are refused where pulls cost differently. Where there are
            earlier results, ``Uniform`` is always among them; agents with phases, such as SR, cannot start from these
            results, and a note says so.
        env: A registered id, or an environment object.
        error: Largest error probability wanted, in (0, 1). Default 0.05, unless ``regret`` is given.
        regret: Largest simple regret wanted instead, above 0, in the unit of the reward.
        certainty: Probability over random instances with which the error probability (or simple regret) must be at most
            the target, above 0 and at most 0.985; None: its mean over the instances must be.
        most: Largest budget to try; None: 100,000 pulls, or the money for as many at the mean cost.
        seed: At least 0. The same seed gives the same plan, for any number of workers.
        workers: Processes, or an executor, see :func:`bai_gym.evaluate`.
        env_kwargs: Keyword arguments for ``gym.make``.
        out: Folder for finished chunks: the same call resumes an interrupted one.
        reuse: What to do with finished chunks, see :func:`bai_gym.evaluate`.
        on_budget: Called with the name of the agent and the budget that is tried next.

    Returns:
        The plans, the smallest budget first, after those to decide now and to collect equally where there are earlier
        results. A planned budget has, at 95 % confidence, at most the target on seeds that were not used to choose it.

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
    baseline = make_cells([BASELINE], env, None, seed, env_kwargs)[0]
    winner, costs = favourite(baseline.env.problem), baseline.costs
    if baseline.episode_spec.fixed_confidence:
        raise ParameterError("a plan needs a fixed budget, and here the agent decides when to stop")
    if agents is None and (costs is None or common_cost(costs) is not None):
        agents = AGENTS if winner is None else AGENTS_WITH_DATA
    elif agents is None:
        agents = AGENTS_WITH_COSTS if winner is None else AGENTS_WITH_DATA_AND_COSTS
    listed = list(agents) if isinstance(agents, Iterable) and not isinstance(agents, str) else [agents]
    if not listed:
        raise ParameterError("give at least one agent")
    first = [make_cells([agent], env, None, seed, env_kwargs)[0] for agent in listed]
    if winner is not None:
        if BASELINE not in [cell.label for cell in first]:
            listed.append(BASELINE)
        listed.append(DecideNow())
        first = [make_cells([agent], env, None, seed, env_kwargs)[0] for agent in listed]
    for cell in first:
        replace(cell, budget=_least(cell)).check()
    least = max(map(_least, first))
    if costs is None:
        most = integer(MOST_PULLS if most is None else most, "most", least=least)
    else:
        most = real(MOST_PULLS * _mean(costs) if most is None else most, "most", least=least)
    folder = None if out is None else Path(out)
    reuse = reuse_in_steps(first, folder, reuse)
    plans = []
    for agent, cell in zip(listed, first, strict=True):
        fixed = isinstance(cell.env.problem, FixedProblem)
        if fixed and certainty is not None:
            raise ParameterError("certainty= is over random instances, and this environment has a single one")

        def measure_at(
            budget: float, runs: int, number: int, each: bool, agent: Any = agent, name: str = cell.label
        ) -> Measurement:
            if on_budget is not None:
                on_budget(name, budget)
            own = int(generator(seed, "plan", number).integers(2**63))
            some = 1 if costs is None else max(costs)  # no environment has a budget of 0
            cells = make_cells([agent], env, [budget or some], own, env_kwargs)
            if each:
                return on_each_instance(agent, cells[0], goal, runs, workers=workers, out=folder, reuse=reuse)
            played = run_cells(cells, runs, workers=workers, out=folder, rerun=rerun_command, reuse=reuse)
            return goal.measured(played[0])

        search = _Search(cell.label, cell.env.label, goal, fixed, measure_at, in_money=costs is not None)
        plans.append(search.now() if cell.label == NOW else search.run(_least(cell), most))
    ahead = () if winner is None else (NOW, BASELINE)
    plans.sort(key=lambda one: (ahead.index(one.agent) if one.agent in ahead else len(ahead), _budget(one)))
    return Plans(tuple(plans), winner)


def _budget(plan: BudgetPlan) -> float:
    return math.inf if plan.budget is None else plan.budget


def _least(cell: Cell) -> Any:
    """Return the smallest budget with which an agent can play, in pulls or in money."""
    problem = cell.env.problem
    pulls = max(1, least_budget(cell.prototype, problem.num_arms, problem.num_features))
    return pulls if cell.costs is None else max(*cell.costs, pulls * _mean(cell.costs))


def _mean(costs: Costs) -> float:
    return math.fsum(costs) / len(costs)


def _in_digits(money: float, rounding: str) -> float:
    """Round money to :data:`DIGITS` significant digits."""
    return float(Context(prec=DIGITS, rounding=rounding).create_decimal(f"{money:.12g}"))


class _Search:
    """The search for one agent's budget.

    Args:
        agent: Its name.
        env: Name of the environment.
        goal: What the budget must achieve.
        fixed: Whether there is a single instance.
        measure_at: Returns a measurement with a budget and a number of runs, on the seed of a given number; or with a
            number of runs on each of many instances.
        in_money: Whether budgets are money, and not pulls.
    """

    def __init__(
        self,
        agent: str,
        env: str,
        goal: Goal,
        fixed: bool,
        measure_at: Callable[[float, int, int, bool], Measurement],
        *,
        in_money: bool,
    ) -> None:
        """Choose the numbers of runs: at the target, 20 and 400 errors are expected, or 2 and 10 per instance."""
        self._agent, self._env, self._goal, self._fixed = agent, env, goal, fixed
        self._measure_at, self._in_money = measure_at, in_money
        rare = goal.target if goal.measure == ERROR else 0.05
        self._few, self._many = max(400, math.ceil(20 / rare)), max(2000, math.ceil(400 / rare))
        if goal.certainty is not None:
            self._few, self._many = max(50, math.ceil(2 / rare)), max(100, math.ceil(10 / rare))
        self._found: list[Measurement] = []

    def run(self, least: float, most: float) -> BudgetPlan:
        """Return the plan."""
        low, high = self._bracket(min(self._rounded_up(least), most), most)
        if high is None:
            return self._plan(None)
        # A few runs may have missed that smaller budgets reach the target, too.
        while low is not None and (low := self._play(low.budget, self._many)).value <= AIM * self._goal.target:
            high, low = low, self._next_below(low)
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

    def now(self) -> BudgetPlan:
        """Return what is achieved without pulls."""
        point = self._measure_at(0, self._many, 1, self._goal.certainty is not None)
        point = replace(point, result=replace(point.result, budget=0, unspent=0.0))
        self._found.append(point)
        return self._plan(point)

    def _bracket(self, least: float, most: float) -> tuple[Measurement | None, Measurement | None]:
        """Double the budget until the target is reached; return the last two measurements."""
        low, budget = None, least
        while True:
            point = self._play(budget, self._few)
            if point.value <= AIM * self._goal.target:
                return low, point
            if budget == most:
                return point, None
            low, budget = point, min(2 * budget, most)

    def _next_below(self, point: Measurement) -> Measurement | None:
        """Return the largest smaller budget that was measured, if there is one."""
        below = (found for found in self._found if found.budget < point.budget)
        return max(below, key=lambda found: found.budget, default=None)

    def _between(self, low: Measurement, high: Measurement) -> float:
        """Return the budget at which the line through two measurements, in logarithms, meets the aim."""
        start, end = self._log(low), self._log(high)
        share = (start - math.log(AIM * self._goal.target)) / max(start - end, 1e-9)
        share = min(max(share, 0.05), 0.95)
        between = low.budget + share * (high.budget - low.budget)
        return _in_digits(between, ROUND_HALF_EVEN) if self._in_money else round(between)

    def _rounded_up(self, budget: float) -> float:
        return _in_digits(budget, ROUND_CEILING) if self._in_money else math.ceil(budget)

    def _confirm(self, budget: float, slope: float, most: float) -> BudgetPlan:
        """Measure a budget on fresh seeds; where the target is not certain, try a larger one."""
        for attempt in range(1, CONFIRMATIONS + 1):
            point = self._play(budget, self._many, attempt)
            if point.upper <= self._goal.target:
                return self._plan(point)
            if budget == most:
                break
            excess = math.log(point.upper / self._goal.target) if math.isfinite(point.upper) else 0.0
            missing = max(self._log(point) - math.log(AIM * self._goal.target), excess)
            step = max(missing / -slope, 0.02 * budget, 0.0 if self._in_money else 1.0)
            budget = min(self._rounded_up(budget + min(step, 0.5 * budget)), most)
        return self._plan(None)

    def _play(self, budget: float, runs: int, number: int = 0) -> Measurement:
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
        points = tuple(sorted(self._found, key=lambda point: point.budget))
        budget = None if confirmed is None else confirmed.budget
        return BudgetPlan(self._agent, self._env, self._goal, budget, confirmed, points, each)
