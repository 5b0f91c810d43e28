"""PairedOCBA: the pull that lowers a bound on the error probability the most, where arms share their items."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bai_gym.agents.sequential import SequentialAgent
from bai_gym.agents.tools.scanning import arm_of_largest
from bai_gym.agents.tools.variances import (
    VarianceState,
    estimated_variance,
    floored,
    normal_assumption,
    pool,
    variance_choice,
    variance_estimate,
)
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Episode, PerArm, Rule, Sequential, Vector, noinline
from bai_gym.statistics import FloatArray
from bai_gym.validation import integer

__all__ = ["PairedOCBA"]

ITEMS = 500  # after the first pulls, whose rewards are kept for the variances of the differences


class PairedOCBAState(VarianceState):
    """What the rule of PairedOCBA uses."""

    first: int  # items of the first pulls
    horizon: int
    nearest: float
    moves: int
    items: Vector  # rewards of the arms on the items after these, K for each item
    lead: Vector  # K x K mean differences on common items
    scatter: Vector  # K x K sums of squared deviations from them
    spread: PerArm  # estimated variances of the arms
    weight: PerArm  # how much less likely an error is per unit of variance
    value: PerArm  # what is largest for the arm to pull
    joined: PerArm  # what the pull of an arm is worth after one of the leader


def pull_what_lowers_the_bound(e: Episode, s: PairedOCBAState, rng: np.random.Generator) -> int:
    """Pull the arm."""
    note(e, s)
    pool(e, s)
    for arm in range(e.num_arms):
        s.spread[arm] = estimated_variance(e.pulls[arm], e.mean[arm], e.variance[arm], s)
    best = arm_of_largest(e.mean, e, rng)
    weigh(e, s, best)
    n, alone = e.pulls[best], 0.0
    for arm in range(e.num_arms):
        own, c = e.pulls[arm], s.weight[arm]
        if arm == best:
            s.joined[arm] = -np.inf
            continue
        now, led = variance(e, s, best, arm, n, own), variance(e, s, best, arm, n + 1.0, own)
        alone += c * (now - led)
        s.value[arm] = c * (now - variance(e, s, best, arm, n, own + 1.0))
        s.joined[arm] = c * (led - variance(e, s, best, arm, n + 1.0, own + 1.0))
    if s.moves == 0:
        s.value[best] = best_average(alone, s.joined)
    else:
        near = 0
        for arm in range(e.num_arms):
            if arm != best and (near == best or e.mean[arm] > e.mean[near]):
                near = arm
        s.value[best] = max(alone, 0.5 * (alone + s.joined[near])) if s.moves == 1 else alone
    return arm_of_largest(s.value, e, rng)


def weigh(e: Episode, s: PairedOCBAState, best: int) -> None:
    growth = e.end / e.made if s.horizon == 1 else 1.0
    least = np.inf
    for arm in range(e.num_arms):
        if arm != best:
            both = variance(e, s, best, arm, e.pulls[best], e.pulls[arm])
            z2 = max(growth * (e.mean[best] - e.mean[arm]) ** 2 / both, s.nearest)
            s.value[arm], s.weight[arm] = z2, both
            least = min(least, z2)
    for arm in range(e.num_arms):
        if arm != best:
            s.weight[arm] = math.exp(0.5 * (least - s.value[arm])) * math.sqrt(s.value[arm]) / s.weight[arm]


def variance(e: Episode, s: PairedOCBAState, i: int, k: int, n_i: float, n_k: float) -> float:
    """Return the variance of the difference of the means of two arms after n_i and n_k pulls."""
    more, fewer = max(n_i, n_k), min(n_i, n_k)
    common = min(min(e.pulls[i], e.pulls[k]), s.first + s.items.size // e.num_arms)
    of_pair = floored(common, s.scatter[i * e.num_arms + k] / (common - 1.0), s.spread[i] + s.spread[k])
    return of_pair / more + (s.spread[i] if n_i < n_k else s.spread[k]) * (1.0 / fewer - 1.0 / more)


def best_average(alone: float, others: FloatArray) -> float:
    """Return the largest average of a value with any of the others."""
    best, average = -np.inf, 0.0
    while True:
        whole, number = alone, 1
        for place in range(others.size):
            if others[place] > best:
                whole, number = whole + others[place], number + 1
        average = whole / number
        if average <= best:
            return best
        best = average


def note(e: Episode, s: PairedOCBAState) -> None:
    """Compare the last reward with those of the other arms on its item."""
    arm, k = e.pulled, e.num_arms
    item = -1 if arm < 0 else int(e.pulls[arm]) - 1
    place = (item - s.first) * k
    if arm < 0 or place >= s.items.size:
        return
    s.items[place + arm] = e.reward
    for other in range(k):
        if other != arm and e.pulls[other] > item:
            pair, twin = arm * k + other, other * k + arm
            difference = e.reward - s.items[place + other]
            before = s.lead[pair]
            s.lead[pair] = before + (difference - before) / (item + 1.0)
            s.lead[twin] = -s.lead[pair]
            s.scatter[pair] += (difference - before) * (difference - s.lead[pair])
            s.scatter[twin] = s.scatter[pair]


@dataclass(kw_only=True)
class PairedOCBA(SequentialAgent):
    """X."""

    n0: int = 10
    variance: str | None = None
    horizon: int = 1
    nearest: float = 1.0
    moves: int = 0

    name: ClassVar[str] = "PairedOCBA"
    uses_pairs: ClassVar[bool] = True
    rule: ClassVar[Rule] = Rule(choose=pull_what_lowers_the_bound, state=PairedOCBAState)
    choices = variance_choice
    unmet_assumptions = normal_assumption

    @property
    def first_pulls(self) -> int:  # type: ignore[override]
        """First pulls of each arm."""
        return self.n0

    def begin(self, info: ProblemInfo) -> None:
        """Check the parameters."""
        integer(self.n0, f"n0 of {self.name}", least=2)
        self.values = {"estimate": variance_estimate(self), "first": self.n0}
        self.values |= {"horizon": self.horizon, "nearest": self.nearest, "moves": self.moves}

    def sequential(self, steps: int, **options: Any) -> Sequential:
        """Return the request for the pulls after the first ones, with what these tell of the differences."""
        self.values["items"] = np.zeros(min(steps, ITEMS) * self.num_arms)
        self.values["lead"] = self._seen["differences"].reshape(self.batch, -1)
        self.values["scatter"] = (self.n0 - 1) * self._seen["difference_variances"].reshape(self.batch, -1)
        return super().sequential(steps, **options)
