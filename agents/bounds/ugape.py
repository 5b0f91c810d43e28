"""Unified gap-based exploration: UGapEb for a fixed budget, UGapEc for fixed confidence, with two kinds of widths.

Paper: Gabillon, Ghavamzadeh and Lazaric (2012), "Best Arm Identification: A Unified Approach to Fixed Budget and Fixed
Confidence". With widths w, U = mean + w and L = mean - w, arm k has B_k = (m-th largest U of the other arms) - L_k. J
are the m arms of smallest B, its value is their largest B; u has the largest U outside J, l the smallest L in J.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from bai_gym.agents.sequential import reward_bounds
from bai_gym.agents.tools.sets import (
    KEPT,
    SETS,
    VALUE,
    SetAgent,
    borders,
    cut,
    keep,
    prefers,
    range_of,
    rivals,
    room,
    safest,
)
from bai_gym.agents.tools.widths import bernstein, hoeffding
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import STOP, Episode, Rule, leader, leader_without, top, total, value_of
from bai_gym.statistics import FloatArray
from bai_gym.theory import ugape_complexity, ugape_v_complexity
from bai_gym.validation import choice, integer, probability, real

__all__ = ["AUGapEb", "AUGapEbV", "UGapEb", "UGapEbV", "UGapEc", "UGapEcV"]

# Parameters: task, tie rule; a, b, 1 for Bernstein's widths, what is added to the values of kept sets (inf: the last
# one is recommended). Then a = RATE / H, estimated after EVERY so many pulls, or a = RATE log(4 K t^3 / DELTA).
EPSILON, M, BANDITS, FIRST, A, B, BERNSTEIN, LAST, RATE, EVERY, DELTA = range(11)


def width(pulls: float, variance: float, p: FloatArray) -> float:
    """Return the width of an arm."""
    return bernstein(p[A], p[B], pulls, variance) if p[BERNSTEIN] > 0.0 else hoeffding(p[A], p[B], pulls)


def upper(pulls: float, mean: float, variance: float, p: FloatArray) -> float:
    """Return U."""
    return mean + width(pulls, variance, p)


def select_one(e: Episode, rng: np.random.Generator) -> int:
    """Do as :func:`select_arm` does for one best arm, by the tournament of U; exact ties of U are ignored.

    B_k is the largest U less L_k, but for the first, the arm of largest U, the second-largest less L_k. So J is the
    first or the arm of largest L, and u is the first, or where J is that, the second.
    """
    first, low = leader(e.first), safest(e)
    second = leader_without(e.first, first, rng)
    value = top(e.first) - (2.0 * e.mean[low] - value_of(e.first, low))  # L = 2 mean - U
    of_first = value_of(e.first, second) - (2.0 * e.mean[first] - value_of(e.first, first))
    low = first if of_first < value else low
    u = second if low == first else first
    value, least = min(value, of_first), np.inf if e.pulled < 0 else e.memory[KEPT]
    e.memory[VALUE], e.memory[SETS] = value, low if value < least else e.memory[SETS]
    e.memory[KEPT] = min(value, least) + e.parameters[LAST]
    wider = value_of(e.first, u) - e.mean[u] - (value_of(e.first, low) - e.mean[low])
    if abs(wider) <= 1e-14 * (abs(e.mean[u]) + abs(top(e.first))):  # widths that differ by rounding alone are equal
        return u if prefers(e.parameters, u, low, rng) else low
    return u if wider > 0.0 else low


def select_arm(e: Episode, rng: np.random.Generator) -> int:
    """Return the wider of u and l (Figure 2), in the bandit of largest value; keep J if its value is the smallest."""
    p, m, arm = e.parameters, int(e.parameters[M]), 0
    chosen, widths, index = room(e)
    e.memory[VALUE] = -np.inf
    for start in range(0, e.pulls.size, widths.size):
        pulls, mean, variance = cut(e, start, widths.size)
        for k in range(widths.size):
            widths[k] = width(pulls[k], variance[k], p)
            index[k] = -(mean[k] + widths[k])
        border, below = borders(index, m, chosen)
        for k in range(widths.size):
            index[k] = (below if mean[k] + widths[k] >= border else border) - (mean[k] - widths[k])
        value, u, low = rivals(e, start, m, chosen, widths, index)
        if value > e.memory[VALUE]:
            e.memory[VALUE] = value
            takes_u = widths[u] > widths[low] or (widths[u] == widths[low] and prefers(p, u, low, rng))
            arm = start + (u if takes_u else low)
        chosen = chosen[m:]
    if e.pulled < 0 or e.memory[VALUE] < e.memory[KEPT]:
        keep(e, e.memory[VALUE] + p[LAST])
    return arm


def select_until_accurate(e: Episode, rng: np.random.Generator) -> int:
    """Stop once the value of J is below epsilon (Figure 1, right)."""
    p, time = e.parameters, e.made + e.parameters[BERNSTEIN]
    p[A] = p[RATE] * math.log(4.0 * e.pulls.size * time**3.0 / p[DELTA])
    arm = select_arm(e, rng)
    if e.memory[VALUE] < p[EPSILON]:
        e.memory[KEPT] = -np.inf
        return STOP
    return arm


def estimate(e: Episode, rng: np.random.Generator) -> int:
    """Set a = RATE / H, with gaps raised by b sqrt(1 / (2 T)), and deviations lowered by b sqrt(2 / (T - 1))."""
    p, complexity, (chosen, _, terms) = e.parameters, 0.0, room(e)
    b, epsilon, has_variances = p[B], p[EPSILON], p[BERNSTEIN] > 0.0
    if (e.made - (1.0 + p[BERNSTEIN]) * e.pulls.size) % p[EVERY] != 0.0:
        return e.end  # after the last pull
    for start in range(0, e.pulls.size, terms.size):
        pulls, mean, variance = cut(e, start, terms.size)
        for k in range(terms.size):
            terms[k] = -mean[k]
        border, below = borders(terms, int(p[M]), chosen)
        for k in range(terms.size):  # in a form that compilers turn into vector instructions
            gap = (mean[k] - below if mean[k] >= border else border - mean[k]) + b * math.sqrt(0.5 / pulls[k])
            aim = max((gap + epsilon) / 2.0, epsilon)
            sigma = max(math.sqrt(variance[k]) - b * math.sqrt(2.0 / max(pulls[k] - 1.0, 1.0)), 0.0)
            root = sigma + math.sqrt(sigma * sigma + 7.0 / 3.0 * b * aim) if has_variances else b
            terms[k] = (root / aim) * (root / aim)
        complexity += total(terms)
    p[A] = p[RATE] / max(complexity, 1e-290)  # the square of a far larger gap than b is no float
    chosen[1] = np.inf  # for one best arm: all L have changed
    return e.made + int(p[EVERY])


def prepare(agent: UGapEb | UGapEbV | AUGapEb | AUGapEbV | UGapEc | UGapEcV, info: ProblemInfo) -> None:
    """Check the parameters and set the rule."""
    given = range_of(agent.b, agent.sigma, agent.name) if isinstance(agent, UGapEc) else agent.b
    b, v, one = reward_bounds(given, info, agent.name), agent.uses_variances, agent.task.m * agent.task.num_bandits == 1
    if isinstance(agent, UGapEc | UGapEcV):
        probability(agent.delta, f"delta of {agent.name}")
        real(agent.c, f"c of {agent.name}", above=0)
        return agent.set_rule(Rule(choose=select_until_accurate), 0.0, b, v, np.inf, agent.c, 0.0, agent.delta)
    real(agent.scale, f"scale of {agent.name}", least=0)
    rate = agent.scale * max(agent.budget - agent.first_pulls * agent.num_arms, 0) / (2.0 if v else 4.0)
    rule = Rule(upper, select_one) if one else Rule(choose=select_arm)
    if isinstance(agent, AUGapEb | AUGapEbV):
        every = agent.num_arms * 2 if agent.refresh is None else agent.refresh
        integer(every, f"refresh of {agent.name}", least=1)
        return agent.set_rule(replace(rule, refresh=estimate), 0.0, b, v, np.inf, rate, every)
    choice(agent.output, ("best", "last"), f"output of {agent.name}")
    task = agent.task.m, agent.task.epsilon, b, agent.task.num_bandits
    a = rate / (ugape_v_complexity(info.means, info.variances, *task) if v else ugape_complexity(info.means, *task))
    agent.set_rule(rule, a, b, v, 0.0 if agent.output == "best" else np.inf)


def oracle(agent: UGapEb | UGapEbV) -> frozenset[str]:
    """Complexity, and the range unless ``b`` is given."""
    return frozenset({"complexity"} if agent.b is not None else {"complexity", "range"})


@dataclass(kw_only=True)
class UGapEb(SetAgent):
    """Finds the arms that could still be among the best, and pulls the wider of two arms at the border.

    Widths are b sqrt(a / T), with a = (n - K) / (4 H), H the sum of b^2 / max((gap + epsilon) / 2, epsilon)^2.

    Paper: Gabillon, Ghavamzadeh and Lazaric (2012), Figures 1 and 2, Theorem 1. The set after the last pull competes,
    too. Several bandits (appendix B of the report, which could not be consulted): work in the one of largest B.
    """

    scale: float = 1.0
    b: float | None = None
    output: str = "best"

    name: ClassVar[str] = "UGapEb"
    uses_variances: ClassVar[bool] = False
    knows = property(oracle)
    begin = prepare


@dataclass(kw_only=True)
class UGapEbV(SetAgent):
    """UGapEb with empirical Bernstein widths: sqrt(2 a v / T) + 7 a b / (3 (T - 1)), v the sample variance.

    a = (n - 2K) / (2 H), H the sum of (sigma + sqrt(sigma^2 + (7/3) b g))^2 / g^2 with g = max((gap + epsilon) / 2,
    epsilon): what equal widths of g / 2 take. Derived here: the report HAL 00747005 could not be consulted.
    """

    scale: float = 1.0
    b: float | None = None
    output: str = "best"

    name: ClassVar[str] = "UGapEb-V"
    first_pulls: ClassVar[int] = 2
    knows = property(oracle)
    begin = prepare


@dataclass(kw_only=True)
class AUGapEb(SetAgent):
    """UGapEb with the complexity estimated online, as in A-GapE; it recommends the set at the end.

    Not in the paper. Values of sets at different times cannot be compared, since a changes.
    """

    scale: float = 1.0
    b: float = 1.0
    refresh: int | None = None

    name: ClassVar[str] = "A-UGapEb"
    uses_variances: ClassVar[bool] = False
    begin = prepare


@dataclass(kw_only=True)
class AUGapEbV(SetAgent):
    """UGapEb-V with the complexity estimated online, as in A-GapE-V; it recommends the set at the end."""

    scale: float = 1.0
    b: float = 1.0
    refresh: int | None = None

    name: ClassVar[str] = "A-UGapEb-V"
    first_pulls: ClassVar[int] = 2
    begin = prepare


@dataclass(kw_only=True)
class UGapEc(SetAgent):
    """UGapEb's choice of arms until the value of the set to recommend is below epsilon.

    Widths are b sqrt(c log(4 K (t - 1)^3 / delta) / T), with t - 1 pulls made. With probability 1 - delta all arms
    recommended are at most epsilon worse than the m-th best. With epsilon = 0 and tied arms only the cap of the
    environment stops it. With a fixed budget it may leave pulls unspent.

    Paper: Gabillon, Ghavamzadeh and Lazaric (2012), Figures 1 and 2, Theorem 2 for c = 1/2.
    """

    delta: float = 0.1
    b: float = 1.0
    sigma: float | None = None
    c: float = 0.5

    name: ClassVar[str] = "UGapEc"
    stops: ClassVar[bool] = True
    uses_variances: ClassVar[bool] = False
    begin = prepare


@dataclass(kw_only=True)
class UGapEcV(SetAgent):
    """UGapEc with the widths of UGapEb-V, a = c log(4 K t^3 / delta), as in a public implementation.

    With c = 1 these are the widths of Maurer and Pontil (2009), Theorem 4; the smaller c = 1/2 is not covered by it.
    """

    delta: float = 0.1
    b: float = 1.0
    c: float = 1.0

    name: ClassVar[str] = "UGapEc-V"
    stops: ClassVar[bool] = True
    first_pulls: ClassVar[int] = 2
    begin = prepare
