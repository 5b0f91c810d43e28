"""OSE and PROSE, for more arms than pulls: optimism among the first arms of an order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from bai_gym.agents.parameters import Positive
from bai_gym.agents.sequential import SequentialAgent
from bai_gym.agents.tools.choosing import largest, shuffled_arms
from bai_gym.problems import ProblemInfo
from bai_gym.rewards import Rewards
from bai_gym.sampling import Episode, PerArm, Rule, State
from bai_gym.statistics import IntArray, Observation, Statistics

__all__ = ["OSE", "PROSE"]


class ScopeState(State):
    """What the rules of OSE and PROSE use."""

    width: float  # sigma sqrt(beta)
    power: float  # 1 / gamma
    turn: int  # j
    place: int  # of the arm pulled last, in the order
    order: PerArm  # the arms
    upper: PerArm  # upper bounds
    lower: PerArm  # lower bounds


def pull_in_drawn_scope(e: Episode, s: ScopeState, w: ScopeState, rng: np.random.Generator) -> int:
    """Pull from the first Z = floor(t^U) arms, with U uniform in (0, 1)."""
    set_bounds(e, s, w)
    return pull_largest_bound(rng.random(), e, s, w)


def pull_in_next_scope(e: Episode, s: ScopeState, w: ScopeState, rng: np.random.Generator) -> int:
    """Pull from the Z = floor(t^Q(j / log t)) arms of largest lower bounds: j = 1, ..., log t in turn."""
    set_bounds(e, s, w)
    sort_by_lower_bounds(e, s, w)
    turns = max(np.log(e.made + 1.0), 1.0)
    s.turn = s.turn + 1 if s.turn + 1 <= turns else 1
    return pull_largest_bound((s.turn / turns) ** s.power, e, s, w)


def pull_largest_bound(power: float, e: Episode, s: ScopeState, w: ScopeState) -> int:
    """Return the arm of largest upper bound among the first Z = floor(t^power), of several the first."""
    first, top = 0, -np.inf
    for place in range(min(int((e.made + 1.0) ** power), e.num_arms)):
        bound = w.upper[int(w.order[place])]
        first, top = (place, bound) if bound > top else (first, top)
    s.place = first
    return int(w.order[first])


def set_bounds(e: Episode, s: ScopeState, w: ScopeState) -> None:
    """Set mean +- sigma sqrt(beta / T) of the arm pulled last, at first of all; infinite without a pull."""
    for arm in range(e.pulled, e.pulled + 1) if e.pulled >= 0 else range(e.num_arms):
        width = s.width / np.sqrt(e.pulls[arm]) if e.pulls[arm] > 0.0 else np.inf
        w.upper[arm], w.lower[arm] = e.mean[arm] + width, e.mean[arm] - width


def sort_by_lower_bounds(e: Episode, s: ScopeState, w: ScopeState) -> None:
    """Sort the arms by insertion: only the one pulled last has changed, so a later one that stays is the end."""
    for begin in range(s.place, e.num_arms):
        arm, place = w.order[begin], begin
        while place > 0 and w.lower[int(w.order[place - 1])] < w.lower[int(arm)]:
            w.order[place] = w.order[place - 1]
            place -= 1
        w.order[place] = arm
        if e.pulled >= 0 and place == begin > s.place:
            break


@dataclass(kw_only=True)
class OSE(SequentialAgent):
    """Optimistic scope exploration: pulls the arm of largest upper bound among the first Z = floor(t^U) at pull t.

    U is uniform in (0, 1), so every order of magnitude of Z has the same chance. Arms stand in a random order. Bounds
    are mean +- sigma sqrt(beta / T), infinite without a pull. The arm of largest lower bound is recommended.

    Paper: Pilliat (2026), "Adaptive Algorithms for Infinitely Many-Armed Bandits: A Unified Framework" (arXiv
    2510.27319), Algorithm 1, with the constant beta of its experiments; the theory has 6 log(5 t / delta). The details
    are from a secondary description and the author's website, whose programs replace U by 1/J, 2/J, ..., 1 in turn.

    Args:
        beta: Squared width of the bounds, in units of sigma^2 / T; default 10.
        sigma: The rewards are sigma-sub-Gaussian. None (default): half the length of the interval of bounded rewards;
            for others 1.
    """

    beta: Positive = 10.0
    sigma: Positive | None = None

    name: ClassVar[str] = "OSE"
    uses_variances: ClassVar[bool] = False
    first_pulls: ClassVar[int] = 0
    rule: ClassVar[Rule] = Rule(choose=pull_in_drawn_scope, state=ScopeState)

    @override
    def choices(self, rewards: Rewards) -> dict[str, Any]:
        return {"sigma": 0.5 * rewards.width if np.isfinite(rewards.width) else 1.0}

    @override
    def minimum_budget(self, num_arms: int) -> int:
        """Return 1: not every arm need be pulled."""
        return 1

    @override
    def begin(self, info: ProblemInfo) -> None:
        self.width = self.setting("sigma") * self.beta**0.5
        order = shuffled_arms(self.batch, self.num_arms, self.tie, self.rng)
        self.values = {"width": self.width, "order": order.astype(np.float64)}

    @override
    def recommend(self, observation: Observation) -> IntArray:
        seen = Statistics.of(observation)
        lower = np.where(seen.pulls > 0, seen.means - self.width / np.sqrt(np.maximum(seen.pulls, 1)), -np.inf)
        return largest(lower, np.abs(seen.means).max(axis=1) + self.width, seen.pulls, self.tie, self.rng)


@dataclass(kw_only=True)
class PROSE(OSE):
    """Progressive ranking for OSE: the Z arms are those of largest lower bounds, and Z takes its values in turn.

    Z = floor(t^Q(j / log t)) with j = 1, 2, ..., log t and again from 1, and Q(x) = x^(1 / gamma): with gamma = 1, Z =
    floor(e^j). So arms that look bad are seldom pulled again. Ties go to the arm that comes first.

    Paper: Pilliat (2026), "Adaptive Algorithms for Infinitely Many-Armed Bandits: A Unified Framework" (arXiv
    2510.27319), Algorithm 2; the rest as for OSE. The author's programs have ceil(log2(t + 1)) in place of log t.

    Args:
        beta: As for OSE.
        sigma: As for OSE.
        gamma: Q is the quantile function of Beta(gamma, 1); default 1. The larger, the closer to UCB.
    """

    gamma: Positive = 1.0

    name: ClassVar[str] = "PROSE"
    rule: ClassVar[Rule] = Rule(choose=pull_in_next_scope, state=ScopeState)

    @override
    def begin(self, info: ProblemInfo) -> None:
        super().begin(info)
        self.values["power"] = 1.0 / self.gamma
