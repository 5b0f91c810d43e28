"""BrakeBooster: restarts another agent of fixed confidence, with growing caps, until most runs have stopped."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import Any, ClassVar

import numpy as np

from bai_gym.agents.fixed_confidence.stopping import MISFIT, ConfidenceAgent
from bai_gym.agents.registry import find
from bai_gym.errors import ParameterError
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import NEVER, STOP, Episode, Played, Rule, Tournament, noinline, section
from bai_gym.sampling.sequential import pull_leader
from bai_gym.sampling.tournament import fill, nodes, renew_pulled
from bai_gym.statistics import FloatArray, IntArray
from bai_gym.validation import integer, probability, real

__all__ = ["BrakeBooster"]

# Parameters: those of the base agent twice, at work and as they were; then FIRST_RUNS, FIRST_CAP, FACTOR, the first
# pulls of each arm, the tie rule, the lengths of the base's parameters and memory. They are counted from the end.
FIRST_RUNS, FIRST_CAP, FACTOR, FIRST_PULLS, LOWEST, OF_BASE, BASE_MEMORY, OWN = range(8)
# Memory: round r, place c in it, runs of the block so far, capped ones, pulls of the run, when a refresh is due,
# whether the run's rule has begun, winner + 1; then rows of K numbers, four trees, the memory of the base.
ROUND, PLACE, RUNS, CAPPED, MADE, DUE, BEGUN, WINNER, ROWS = range(9)
PULLS, MEANS, VARIANCES, SUMS, VOTES, ROW_COUNT = range(6)

NEGLIGIBLE = 1e-12

# The functions of the base agent, which `braked` replaces.
base_index: Callable[..., float] = float
base_second: Callable[..., float] = float
base_choose: Callable[..., int] = int
base_refresh: Callable[..., int] = int
base_stops: Callable[..., bool] = bool


def own(e: Episode, number: int) -> float:
    """Return a parameter of the wrapper."""
    return float(e.parameters[e.parameters.size - OWN + number])


def row(e: Episode, number: int) -> FloatArray:
    """Return a row of the memory."""
    return section(e.memory, ROWS + number * e.pulls.size, e.pulls.size)


def tree(e: Episode, number: int) -> Tournament:
    """Return a tournament of the base."""
    size = 2
    while size < 2 * e.pulls.size:
        size *= 2
    at = ROWS + ROW_COUNT * e.pulls.size + 2 * number * size
    return Tournament(section(e.memory, at, size), section(e.memory, at + size, size))


def run_of(e: Episode, pulled: int) -> Episode:
    """Return the current run, as the base agent sees it."""
    length, size = int(own(e, BASE_MEMORY)), int(own(e, OF_BASE))
    return Episode(
        row(e, PULLS),
        row(e, MEANS),
        row(e, VARIANCES),
        section(e.parameters, 0, size),
        section(e.memory, e.memory.size - length, length),
        e.active,
        e.features,
        tree(e, 0),
        tree(e, 1),
        int(e.memory[MADE]),
        int(e.memory[MADE]) + NEVER // 2,
        pulled,
        e.reward,
    )


@noinline
def restart(e: Episode) -> None:
    """Begin a run without samples."""
    size = int(own(e, OF_BASE))
    for k in range(size):
        e.parameters[k] = e.parameters[size + k]
    for k in range(e.memory.size - int(own(e, BASE_MEMORY)), e.memory.size):
        e.memory[k] = 0.0
    for arm in range(e.pulls.size):
        row(e, PULLS)[arm] = row(e, MEANS)[arm] = row(e, VARIANCES)[arm] = row(e, SUMS)[arm] = 0.0
        e.active[arm] = 1
    e.memory[MADE] = e.memory[DUE] = e.memory[BEGUN] = 0.0


def runs_of_block(e: Episode) -> float:
    """Return L = ceil(r f^(r - c) L_1)."""
    r, c = e.memory[ROUND], e.memory[PLACE]
    return math.ceil(r * own(e, FACTOR) ** (r - c) * own(e, FIRST_RUNS))


def cap_of_block(e: Episode) -> float:
    """Return T = ceil(f^(c - 1) T_1)."""
    return math.ceil(own(e, FACTOR) ** (e.memory[PLACE] - 1.0) * own(e, FIRST_CAP))


@noinline
def take_in(e: Episode, arm: int, reward: float) -> None:
    """Add a reward to the statistics of the run."""
    pulls, means, variances, sums = row(e, PULLS), row(e, MEANS), row(e, VARIANCES), row(e, SUMS)
    before = means[arm]
    pulls[arm] += 1.0
    sums[arm] += reward
    mean = before if reward == before and pulls[arm] > 1.0 else sums[arm] / pulls[arm]
    if pulls[arm] > 1.0:
        squares = variances[arm] * (pulls[arm] - 2.0) + (reward - before) * (reward - mean)
        variances[arm] = squares / (pulls[arm] - 1.0)
    means[arm] = mean
    e.memory[MADE] += 1.0


@noinline
def end_run(e: Episode, vote: int, rng: np.random.Generator) -> bool:
    """Count a run, with its vote or -1 if it was capped; return whether the block ends with most runs stopped."""
    votes = row(e, VOTES)
    e.memory[RUNS] += 1.0
    if vote >= 0:
        votes[vote] += 1.0
    else:
        e.memory[CAPPED] += 1.0
    runs = runs_of_block(e)
    restart(e)
    if e.memory[RUNS] < runs:
        return False
    if e.memory[CAPPED] <= 0.5 * runs:
        winner, ties = 0, 1.0
        for arm in range(1, votes.size):
            if votes[arm] == votes[winner]:
                ties += 1.0
                if own(e, LOWEST) == 0.0 and rng.random() * ties < 1.0:
                    winner = arm
            elif votes[arm] > votes[winner]:
                winner, ties = arm, 1.0
        e.memory[WINNER] = winner + 1.0
        return True
    e.memory[RUNS] = e.memory[CAPPED] = 0.0
    for arm in range(votes.size):
        votes[arm] = 0.0
    e.memory[PLACE] += 1.0
    if e.memory[PLACE] > e.memory[ROUND]:
        e.memory[ROUND], e.memory[PLACE] = e.memory[ROUND] + 1.0, 1.0
    return False


def best_left(run: Episode) -> int:
    """Return the arm of largest mean among those that the base has not dropped."""
    best = -1
    for arm in range(run.pulls.size):
        if run.active[arm] == 1 and (best < 0 or run.mean[arm] > run.mean[best]):
            best = arm
    return best


@noinline
def first_pull(e: Episode, rng: np.random.Generator) -> int:
    """Return the next of the first pulls of a run, the arms in a random order; -1 if they have been made."""
    pulls, few, ties, least = row(e, PULLS), -1, 1.0, own(e, FIRST_PULLS)
    for arm in range(pulls.size):
        if few < 0 or pulls[arm] < pulls[few]:
            few, ties = arm, 1.0
        elif pulls[arm] == pulls[few]:
            ties += 1.0
            if own(e, LOWEST) == 0.0 and rng.random() * ties < 1.0:
                few = arm
    return few if pulls[few] < least else -1


def choose(e: Episode, rng: np.random.Generator) -> int:
    """Return the next pull of the current run; begin others as runs end, and stop with the block that decides."""
    lowest, pulled = int(own(e, LOWEST)), e.pulled
    if pulled < 0:
        restart(e)
        e.memory[ROUND] = e.memory[PLACE] = 1.0
        for arm in range(e.pulls.size):  # the first pulls are those of the first run
            row(e, PULLS)[arm], row(e, MEANS)[arm] = e.pulls[arm], e.mean[arm]
            row(e, VARIANCES)[arm], row(e, SUMS)[arm] = e.variance[arm], e.pulls[arm] * e.mean[arm]
            e.memory[MADE] += e.pulls[arm]
    else:
        take_in(e, pulled, e.reward)
        if e.memory[BEGUN] == 1.0:
            pulls, mean, variance = row(e, PULLS)[pulled], row(e, MEANS)[pulled], row(e, VARIANCES)[pulled]
            value = base_index(pulls, mean, variance, e.parameters)
            renew_pulled(tree(e, 0), pulled, value, pulls, lowest, rng)
            value = base_second(pulls, mean, variance, e.parameters)
            renew_pulled(tree(e, 1), pulled, value, pulls, lowest, rng)
    while True:
        arm = first_pull(e, rng)
        if arm >= 0 and e.memory[MADE] < cap_of_block(e):
            return arm
        run = run_of(e, pulled if e.memory[BEGUN] == 1.0 else -1)
        if arm < 0 and e.memory[MADE] >= e.memory[DUE]:
            e.memory[DUE] = base_refresh(run, rng)
            for k in range(run.pulls.size):
                pulls, mean, variance, active = run.pulls[k], run.mean[k], run.variance[k], run.active[k] == 1
                leaf = (run.first.value.size >> 1) + k
                run.first.value[leaf] = base_index(pulls, mean, variance, e.parameters) if active else -np.inf
                run.second.value[leaf] = base_second(pulls, mean, variance, e.parameters) if active else -np.inf
            fill(run.first, run.pulls, lowest, rng)
            fill(run.second, run.pulls, lowest, rng)
        e.memory[BEGUN] = 1.0
        vote = -1
        if arm < 0:
            arm = STOP if base_stops(run) else base_choose(run, rng)
            if arm >= 0 and e.memory[MADE] < cap_of_block(e):
                return arm
            vote = best_left(run) if arm == STOP else -1
        if e.parameters[MISFIT] == 1.0 or end_run(e, vote, rng):
            return STOP


def no_index(pulls: float, mean: float, variance: float, p: FloatArray) -> float:
    """Stand for a missing index."""
    return 0.0


def no_refresh(e: Episode, rng: np.random.Generator) -> int:
    """Stand for a missing refresh."""
    return NEVER


def never(e: Episode) -> bool:
    """Stand for a missing stopping rule."""
    return False


@functools.cache
def braked(rule: Rule) -> Rule:
    """Return the rule that restarts another."""
    parts: dict[str, Any] = {
        "base_index": rule.index or no_index,
        "base_second": rule.second or no_index,
        "base_choose": rule.choose or pull_leader,
        "base_refresh": rule.refresh or no_refresh,
        "base_stops": rule.stops or never,
    }
    code, names = choose.__code__, {**choose.__globals__, **parts}
    bound = FunctionType(code, names, choose.__name__)
    bound.__qualname__, bound.__module__ = choose.__qualname__, choose.__module__
    return Rule(choose=bound)


def least_runs(delta: float, base_delta: float, factor: float) -> int:
    """Return L_1, for which the errors of all blocks sum to at most delta.

    A wrong plurality of a block takes at least L / 4 wrong runs of L, which has a probability of at most q^L with q =
    (4 e delta_0)^(1/4), as C(L, L / 4) <= (4 e)^(L / 4).
    """
    q = (4.0 * math.e * base_delta) ** 0.25
    runs, total = 0, np.inf
    while total > delta:
        runs, total, r = runs + 1, 0.0, 1
        while q ** (r * runs) > NEGLIGIBLE * delta:
            exponent = float(r * runs)
            for _ in range(r):
                total += q**exponent
                exponent *= factor
                if q**exponent < NEGLIGIBLE * delta:
                    break
            r += 1
    return runs


@dataclass(kw_only=True)
class BrakeBooster(ConfidenceAgent):
    """Runs another agent many times from scratch with a cap, until at most half of the runs of a block were capped.

    In round r = 1, 2, ... there are blocks c = 1, ..., r of L = ceil(r f^(r - c) L_1) runs of at most T = ceil(f^(c -
    1) T_1) pulls each, of the base agent with error probability delta_0. After the first block in which at most L / 2
    runs were capped it recommends the plurality of the runs that stopped. So the number of pulls has an exponential
    tail even if the base agent sometimes never stops. All samples are discarded between runs.

    Paper: Balagopalan, Nguyen, Zhao and Jun (2025), "Fixing the Loose Brake: Exponential-Tailed Stopping Time in Best
    Arm Identification"; blocks as in the authors' script for LUCB. L_1 is derived here; the script has 1, which is not
    proved.

    Args:
        base: Name of the base agent, one that recommends the arm of largest mean: ``"SE"`` (default), ``"KL-LUCB"``,
            ``"TrackAndStop"`` and so on. It gets ``family``, ``sigma`` and ``threshold``.
        base_delta: delta_0, in (0, 1 / (4 e)) = (0, 0.092); default 0.05.
        cap: T_1, at least 1; default 32768.
        runs: L_1, at least 1. None (default): the smallest for which the error probability is proved to be at most
            delta.
        factor: f, above 1; default 2.

    Requires no oracle knowledge, unless ``sigma`` is None. Minimum budget: K, or 2 K for ``"student"``.
    """

    base: str = "SE"
    base_delta: float = 0.05
    cap: int = 32768
    runs: int | None = None
    factor: float = 2.0

    name: ClassVar[str] = "BrakeBooster"
    anytime: ClassVar[bool] = False

    @property
    def notes(self) -> tuple[str, ...]:  # type: ignore[override]
        """Sentences for tables if the threshold or the number of runs is not proved."""
        said = super().notes
        if self.runs is None or self.runs >= least_runs(self.delta, self.base_delta, self.factor):
            return said
        return (*said, f"{self.name}: runs={self.runs} is too few for a proof, its error probability may exceed delta")

    @property
    def rule(self) -> Rule:  # type: ignore[override]
        """The rule of the base agent, with restarts."""
        return braked(self.base_agent().rule)

    @property
    def memory(self) -> int:  # type: ignore[override]
        """State of the block, statistics and trees of the run, and the memory of the base."""
        base = self.base_agent()
        base.num_arms = self.num_arms
        return ROWS + ROW_COUNT * self.num_arms + 4 * nodes(self.num_arms) + base.memory

    def base_agent(self) -> ConfidenceAgent:
        """Return a new base agent."""
        kind: Any = find(self.base)
        fit = isinstance(kind, type) and issubclass(kind, ConfidenceAgent) and kind.name not in ("lil-UCB", "FC-DSH")
        if not fit or issubclass(kind, BrakeBooster):
            raise ParameterError(
                f"base of {self.name} must be an agent of fixed confidence that recommends the largest mean, such as "
                f"'SE', 'KL-LUCB' or 'TrackAndStop', not {self.base!r}"
            )
        agent: ConfidenceAgent = kind(
            delta=self.base_delta,
            family=self.family,
            sigma=self.sigma,
            threshold=self.threshold,
            tie=self.tie,
            allow_small_budget=self.allow_small_budget,
        )
        return agent

    def begin(self, info: ProblemInfo) -> None:
        """Check the parameters, and take those of the base agent."""
        probability(self.delta, f"delta of {self.name}")
        limit = 1.0 / (4.0 * math.e)
        real(self.base_delta, f"base_delta of {self.name}", above=0)
        if self.base_delta >= limit:
            raise ParameterError(
                f"base_delta of {self.name} must be below 1 / (4 e) = {limit:.3f}, not {self.base_delta}"
            )
        cap = integer(self.cap, f"cap of {self.name}", least=1)
        factor = real(self.factor, f"factor of {self.name}", above=1)
        if self.runs is not None:
            integer(self.runs, f"runs of {self.name}", least=1)
        runs = least_runs(self.delta, self.base_delta, factor) if self.runs is None else self.runs
        base = self.base_agent()
        base.reset(info, self.rng)
        size = base.parameters.shape[1]
        wrapper = runs, cap, factor, self.first_pulls, self.tie == "first", size, base.memory
        rows = np.tile(np.array(wrapper, np.float64), (self.batch, 1))
        self.parameters = np.hstack([base.parameters, base.parameters, rows])

    def conclude(self, played: Played) -> IntArray:
        """Return the winner; at the cap, the arm of largest mean over all runs."""
        best = super().conclude(played)
        winner = played.memory[:, WINNER].astype(np.int64) - 1
        return np.where(winner >= 0, winner, best)
