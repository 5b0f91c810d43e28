"""Unified gap-based exploration: UGapEb for a fixed budget, UGapEc for fixed confidence, with two kinds of widths.

Paper: Gabillon, Ghavamzadeh and Lazaric (2012), "Best Arm Identification: A Unified Approach to Fixed Budget and Fixed
Confidence". With widths w, U = mean + w and L = mean - w, arm k has B_k = (m-th largest U of the other arms) - L_k. J
are the m arms of smallest B, its value is their largest B; u has the largest U outside J, l the smallest L in J.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from bai_gym.agents.bounds.ugape_fast import TIED, Cache, fast_complexity, select_untied, upper
from bai_gym.agents.parameters import Count, NotNegative, Oracle, Positive, Probability
from bai_gym.agents.tools.batches import is_look
from bai_gym.agents.tools.ranges import (
    ORACLE,
    complexity_and_range,
    has_unknown_variances,
    interval_values,
    range_choice,
    range_of,
    reward_bounds,
)
from bai_gym.agents.tools.sets import SetAgent, SetState, keep, prefers, rivals, smallest
from bai_gym.agents.tools.widths import IntervalState, WidthState, interval_width, pool_unknown, width
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import STOP, Episode, Rule, Values, Vector
from bai_gym.statistics import FloatArray
from bai_gym.theory import ugape_complexity, ugape_v_complexity

__all__ = ["AUGapEb", "AUGapEbV", "UGapEb", "UGapEbV", "UGapEc", "UGapEcV"]


FINITE = 1e300  # in place of an infinite width, since differences of infinite numbers are none


class UGapEState(SetState, WidthState, IntervalState):
    """What the rules of UGapE use."""

    last: bool  # whether the last sets are recommended, not those of smallest value
    rate: float  # a = rate / H where H is estimated, a = rate log(4 K t^3 / delta) with fixed confidence
    mixed: bool = False  # whether intervals hold at all times
    every: int = 1  # pulls from one estimate of H to the next
    delta: float  # allowed error probability
    order: Vector  # the m + 1 arms of largest U in a bandit


def select_arm(e: Episode, s: UGapEState, w: UGapEState, rng: np.random.Generator) -> int:
    """Return the wider of u and l (Figure 2), in the bandit of largest value; keep J if its value is the smallest."""
    size, pulled = e.num_arms // s.bandits, 0
    s.value = -np.inf
    pool_unknown(e, s)
    for start in range(0, e.num_arms, size):
        for k in range(start, start + size):
            n = e.pulls[k]
            w.width[k] = min(interval_width(e, s, k), FINITE) if s.mixed else width(s, s.a, n, e.variance[k])
            w.upper[k] = e.mean[k] + w.width[k]
            w.lower[k] = e.mean[k] - w.width[k]
        border, below = largest_two(w.upper, start, size, s, w)
        for k in range(start, start + size):
            w.index[k] = (below if w.upper[k] >= border else border) - w.lower[k]  # B_k
        value, u, low = rivals(s, w, start, size)
        if value > s.value:
            s.value = value
            is_wider = w.width[u] > w.width[low] or (w.width[u] == w.width[low] and prefers(e, u, low, rng))
            pulled = u if is_wider else low
    if e.pulled < 0 or s.value < s.kept_value:
        keep(s, w, np.inf if s.last else s.value)
    return pulled


def select_until_accurate(e: Episode, s: UGapEState, w: UGapEState, rng: np.random.Generator) -> int:
    """Stop once the value of J is below epsilon (Figure 1, right)."""
    if not s.mixed:
        s.a = s.rate * math.log(4.0 * e.num_arms * (e.made + s.aware) ** 3.0 / s.delta)
    arm = select_arm(e, s, w, rng)
    if is_look(e, s) and s.value < s.epsilon:
        s.kept_value = -np.inf
        return STOP
    return arm


def estimate_complexity(e: Episode, s: UGapEState, w: UGapEState, rng: np.random.Generator) -> int:
    """Set a = rate / H, with gaps raised by b sqrt(1 / (2 T)), and deviations lowered by b sqrt(2 / (T - 1))."""
    if (e.made - (2 if s.aware else 1) * e.num_arms) % s.every != 0:
        return e.end  # after the last pull
    size, complexity = e.num_arms // s.bandits, 0.0
    for start in range(0, e.num_arms, size):
        border, below = largest_two(e.mean, start, size, s, w)
        for k in range(start, start + size):
            gap = e.mean[k] - below if e.mean[k] >= border else border - e.mean[k]
            aim = max((gap + s.b * np.sqrt(0.5 / e.pulls[k]) + s.epsilon) / 2.0, s.epsilon)
            root = s.b
            if s.aware:
                sigma = max(np.sqrt(e.variance[k]) - s.b * np.sqrt(2.0 / max(e.pulls[k] - 1.0, 1.0)), 0.0)
                root = sigma + np.sqrt(sigma**2 + 7.0 / 3.0 * s.b * aim)
            complexity += (root / aim) ** 2
    s.a = s.rate / max(complexity, 1e-290)  # the square of a far larger gap than b is no float
    return e.made + s.every


def largest_two(values: FloatArray, start: int, size: int, s: UGapEState, w: UGapEState) -> tuple[float, float]:
    """Return the m-th and the next largest of the values in a bandit."""
    for k in range(start, start + size):
        w.index[k] = -values[k]
    smallest(w.index[start : start + size], s.m + 1, w.order)
    return values[start + int(w.order[s.m - 1])], values[start + int(w.order[s.m])]


GIVEN = Rule(choose=select_arm, state=UGapEState)
ADAPTIVE = Rule(choose=select_arm, refresh=estimate_complexity, state=UGapEState)
UNTIL_ACCURATE = Rule(choose=select_until_accurate, state=UGapEState)


def shared_values(agent: SetAgent, b: FloatArray | float) -> Values:
    """Return the values that the states of all forms have at the start."""
    order = np.zeros(agent.task.m + 1)
    return {**agent.task_values(), "b": b, "aware": agent.uses_variances, "order": order}


def begin_with_complexity(agent: UGapEb, info: ProblemInfo) -> None:
    """Check the parameters, and compute the exploration from the true complexity."""
    b, rate = reward_bounds(agent, info), exploration_rate(agent)
    task = agent.task.m, agent.task.epsilon, b, agent.task.num_bandits
    aware = agent.uses_variances
    complexity = ugape_v_complexity(info.means, info.variances, *task) if aware else ugape_complexity(info.means, *task)
    agent.values = {**shared_values(agent, b), "a": rate / complexity, "last": agent.output == "last"}


def begin_adaptive(agent: AUGapEb, info: ProblemInfo) -> None:
    """Check the parameters; the complexity is estimated as the episode goes on."""
    b, rate = range_of(agent), exploration_rate(agent)
    every = agent.num_arms * 2 if agent.refresh is None else agent.refresh
    agent.values = {**shared_values(agent, b), "rate": rate, "every": every, "last": True}


def begin_with_confidence(agent: UGapEc | UGapEcV, info: ProblemInfo) -> None:
    """Check the parameters."""
    values = {"rate": agent.c, "delta": agent.delta, "last": True}
    values |= interval_values(agent)
    if isinstance(agent, UGapEcV):
        values["mixed"] = values["unknown"]
    else:
        values["aware"] = False
    agent.values = {**shared_values(agent, 0.0), **agent.stopping_values(), **values}


def exploration_rate(agent: UGapEb | AUGapEb) -> float:
    """Return a H: the largest for which the error bound holds, times the scale."""
    pulls = max(agent.budget - agent.first_pulls * agent.num_arms, 0)
    return agent.scale * pulls / (2.0 if agent.uses_variances else 4.0)


def conservative(agent: UGapEb) -> tuple[str, ...]:
    """A sentence for tables where the exploration is that of the theorem, or less."""
    if agent.scale > 1.0:
        return ()
    small = "its exploration is the one that its error bound covers, so small that it may leave a good arm for good"
    return (f"{agent.name}: {small} after a few low rewards; a larger scale, or A-{agent.name}, explores more",)


class FastState(UGapEState, Cache):
    """What the fast forms use."""


def select_fast(e: Episode, s: FastState, w: FastState, rng: np.random.Generator) -> int:
    """Do as :func:`select_arm` does for one best arm of one bandit; call it where arms are tied."""
    arm = select_untied(e, s, w, rng)
    return select_tied(e, s, w, rng) if arm == TIED else arm


def select_tied(e: Episode, s: FastState, w: FastState, rng: np.random.Generator) -> int:
    """Return the choice of the plain rule."""
    return select_arm(e, s, w, rng)


def for_one_arm(rule: Rule) -> property:
    """Return the property of an agent that is its fast rule, which is for one best arm of one bandit."""
    return property(lambda agent: rule if agent.task.m * agent.task.num_bandits == 1 else None)


FAST = for_one_arm(Rule(index=upper, choose=select_fast, state=FastState))
FAST_ADAPTIVE = for_one_arm(Rule(index=upper, choose=select_fast, refresh=fast_complexity, state=FastState))


@dataclass(kw_only=True)
class UGapEb(SetAgent):
    """Finds the arms that could still be among the best, and pulls the wider of two arms at the border.

    Widths are b sqrt(a / T), with a = (n - K) / (4 H), H the sum of b^2 / max((gap + epsilon) / 2, epsilon)^2.

    Paper: Gabillon, Ghavamzadeh and Lazaric (2012), Figures 1 and 2, Theorem 1. The set after the last pull competes,
    too. Several bandits (appendix B of the report, which could not be consulted): work in the one of largest B.
    """

    scale: NotNegative = 1.0
    b: Positive | Oracle = ORACLE
    output: Literal["best", "last"] = "best"

    name = "UGapEb"
    uses_variances = False
    knows = property(complexity_and_range)
    notes = property(conservative)
    rule = GIVEN
    fast = FAST
    begin = begin_with_complexity


@dataclass(kw_only=True)
class UGapEbV(UGapEb):
    """UGapEb with empirical Bernstein widths: sqrt(2 a v / T) + 7 a b / (3 (T - 1)), v the sample variance.

    a = (n - 2K) / (2 H), H the sum of (sigma + sqrt(sigma^2 + (7/3) b g))^2 / g^2 with g = max((gap + epsilon) / 2,
    epsilon): what equal widths of g / 2 take. Derived here: the report HAL 00747005 could not be consulted.
    """

    name = "UGapEb-V"
    first_pulls = 2
    uses_variances = True


@dataclass(kw_only=True)
class AUGapEb(SetAgent):
    """UGapEb with the complexity estimated online, as in A-GapE; it recommends the set at the end.

    Not in the paper. Values of sets at different times cannot be compared, since a changes.
    """

    scale: NotNegative = 1.0
    b: Positive | None = None
    refresh: Count | None = None

    name = "A-UGapEb"
    uses_variances = False
    rule = ADAPTIVE
    choices = range_choice
    fast = FAST_ADAPTIVE
    begin = begin_adaptive


@dataclass(kw_only=True)
class AUGapEbV(AUGapEb):
    """UGapEb-V with the complexity estimated online, as in A-GapE-V; it recommends the set at the end."""

    name = "A-UGapEb-V"
    first_pulls = 2
    uses_variances = True


@dataclass(kw_only=True)
class UGapEc(SetAgent):
    """UGapEb's choice of arms until the value of the set to recommend is below epsilon.

    Widths are those of LUCB, also for unknown variances: b sqrt((1 + r / T) (log(K / delta) + log(1 + T / r) / 2) / (2
    T)) with r = 20; in the paper b sqrt(c log(4 K (t - 1)^3 / delta) / T), with t - 1 pulls made. With probability
    1 - delta all arms recommended are at most epsilon worse than the m-th best. With epsilon = 0 and tied arms only the
    cap of the environment stops it. With a fixed budget it may leave pulls unspent.

    Paper: Gabillon, Ghavamzadeh and Lazaric (2012), Figures 1 and 2, Theorem 2 for c = 1/2.

    Args:
        threshold: ``"mixture"`` (default) or ``"paper"``: the widths.
    """

    delta: Probability = 0.1
    b: Positive | None = None
    sigma: Positive | None = None
    c: Positive = 0.5
    threshold: Literal["mixture", "paper"] = "mixture"
    batch_size: Count = 1

    name = "UGapEc"
    stops = True
    uses_variances = property(has_unknown_variances)
    rule = UNTIL_ACCURATE
    choices = range_choice
    begin = begin_with_confidence


@dataclass(kw_only=True)
class UGapEcV(SetAgent):
    """UGapEc with the widths of UGapEb-V, a = c log(4 K t^3 / delta), as in a public implementation.

    With c = 1 these are the widths of Maurer and Pontil (2009), Theorem 4; the smaller c = 1/2 is not covered by it.
    They are for bounded rewards: for others, where ``b`` is not given, its widths are those of UGapEc.
    """

    delta: Probability = 0.1
    b: Positive | None = None
    c: Positive = 1.0
    batch_size: Count = 1

    name = "UGapEc-V"
    stops = True
    first_pulls = 2
    rule = UNTIL_ACCURATE
    choices = range_choice
    begin = begin_with_confidence
