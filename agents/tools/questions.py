"""What the answer to a question rests on: contrasts of means, the evidence for each, and each arm's part in it.

A question is :attr:`bai_gym.tasks.Task.contrasts`, a function that states the answer at given means as contrasts
m_i - m_j - offset > 0, where i or j may be missing. The evidence W for a contrast is the cost of the nearest means that
overturn it: the least N_i d(m_i, p) + N_j d(m_j, q) over p - q <= offset, or N_i d(m_i, offset) of one arm. A wrong
answer has a contrast that the true means overturn, so rules need nothing else of a question: the contrast that is the
weakest, and one of its arms. By information-directed selection (IDS) it is pulled with the probability of its part in
W.

Source: Qin and You, "Dual-Directed Algorithm Design for Efficient Pure Exploration" (Operations Research, arXiv
2310.19319), which proves that this is optimal for the best arm, epsilon-best arms and thresholds.

Where variances are unknown, pulls are decided by v = (squares + a pooled) / (pulls - 1 + a) with a = 2: the sum of
squared deviations is drawn towards the average sample variance of the arms. With nu = pulls - 1 + a and x = g^2 pulls /
(nu v), the cost A of moving a mean by g is (nu + 1) x / (2 + x). That is at most (nu + 1) log(1 + x) / 2, as in a
posterior with Student's t, and close to it for small x; and g^2 / (2 A) is linear in g^2. The cost of a contrast of two
arms is AB / (A + B), where A and B are those of moving either arm alone: the same as for known variances after many
pulls. The normal form with variances plugged in starves arms of few pulls, even with larger a: at threshold .5, with
unequal variances and 1,000 pulls, EB-TCI errs .086 by normal costs, with a = 5, and .031 by those of the posterior.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bai_gym.agents.tools.divergences import TINY, bernoulli_divergence
from bai_gym.agents.tools.posteriors import BERNOULLI, STUDENT, RewardFamily
from bai_gym.agents.tools.scanning import largest, place_of_smallest
from bai_gym.sampling import TO_FIRST, Episode, PerArm, Scratch, TieRule, larger
from bai_gym.statistics import FloatArray
from bai_gym.tasks import Contrasts, Task

__all__ = [
    "QuestionState",
    "answer",
    "ask",
    "contrast_values",
    "evidence",
    "gap",
    "least_evidence",
    "random_arm",
    "set_errors",
    "two_means",
    "weakest",
    "weakest_group",
]

TIED = 1e-12  # distance of tied means, in units of the largest
PRIOR_PULLS = 2.0  # a


class QuestionState(RewardFamily):
    """What rules use that know a question by its contrasts."""

    first: Scratch  # the arm i of each contrast, or -1
    second: Scratch  # j
    offset: Scratch
    group: Scratch  # contrasts of one group are overturned together only
    strength: Scratch  # what the contrasts are compared by
    given: Scratch  # the numbers of the task
    order: PerArm  # in [0, 1): of arms with equal means, those of larger numbers count as better
    seen: PerArm  # the means for which the answer is, without ties
    answered: int = -1  # pulls made when the stopping rule set the contrasts, -1: they have been set since
    contrasts: int  # their number then
    metrics: int = 1  # numbers that a pull gives, each of an arm of its own
    known: int = -1  # pulls made when what follows was set
    log: PerArm  # logarithms of the pulls
    squares: PerArm  # sums of squared deviations, for unknown variances
    scale: PerArm  # 1 / (nu pulls), for them
    error: PerArm  # variance of each sample mean, estimated if need be; the largest possible one for Bernoulli rewards
    base: PerArm  # g^2 / (2 A) is base + slope g^2 for the cost A of moving a mean by g; at most that for Bernoulli
    slope: PerArm


def contrast_values(
    task: Task, num_arms: int, batch: int, tie: TieRule, rng: np.random.Generator
) -> dict[str, FloatArray | float]:
    """Return the values of :class:`QuestionState` for a task, in ``batch`` episodes."""
    order = np.tile(np.arange(num_arms)[::-1] / num_arms, (batch, 1))
    order = rng.permuted(order, axis=1) if tie == "random" else order
    most = task.most_contrasts(num_arms)
    room = {name: np.zeros(most) for name in ("first", "second", "offset", "strength")}
    given = np.array(task.numbers(num_arms), np.float64)
    return {**room, "group": np.arange(float(most)), "given": given, "order": order, "metrics": task.metrics}


def answer(e: Episode, s: QuestionState, w: QuestionState, question: Any) -> int:
    """Set the contrasts of the answer for the sample means, unless the stopping rule just has; return their number."""
    return s.contrasts if s.answered == e.made else ask(e.mean, s, w, question)


def ask(mean: FloatArray, s: QuestionState, w: QuestionState, question: Any) -> int:
    """Set the contrasts of the answer for these means, the equal ones in an order of the episode's own."""
    s.answered = -1
    for arm in range(mean.size):
        w.seen[arm] = abs(mean[arm])
    apart = TIED * largest(w.seen) + TINY
    for arm in range(mean.size):
        w.seen[arm] = mean[arm] + w.order[arm] * apart
    return int(question(w.seen, w, w.given))


def gap(mean: FloatArray, w: QuestionState | Contrasts, k: int) -> float:
    """Return m_i - m_j - offset of a contrast."""
    i, j = int(w.first[k]), int(w.second[k])
    return (mean[i] if i >= 0 else 0.0) - (mean[j] if j >= 0 else 0.0) - w.offset[k]


def set_errors(e: Episode, s: QuestionState, w: QuestionState) -> None:
    """Compute the variances of the sample means, from which pulls are decided; call it before each choice."""
    first, end = (e.pulled, e.pulled + 1) if e.made == s.known + 1 else (0, e.num_arms)  # arms with other pulls
    s.known = e.made
    for arm in range(first, end):
        w.log[arm] = math.log(e.pulls[arm])
        if s.family == STUDENT:
            nu = e.pulls[arm] - 1.0 + PRIOR_PULLS
            w.squares[arm] = (e.pulls[arm] - 1.0) * e.variance[arm]
            w.scale[arm], w.slope[arm] = 1.0 / (nu * e.pulls[arm]), 0.5 / (nu + 1.0)
        else:
            w.error[arm] = w.base[arm] = (0.25 if s.family == BERNOULLI else w.variances[arm]) / e.pulls[arm]
    if s.family == STUDENT and s.metrics == 1:
        shrink(w, s.pooled, 0, 1)
    elif s.family == STUDENT:
        for metric in range(s.metrics):  # each has a unit of its own
            shrink(w, e.variance[metric :: s.metrics].mean(), metric, s.metrics)


def shrink(w: QuestionState, pooled: float, first: int, step: int) -> None:
    """Compute the errors of arms of unknown variances, drawn towards a common one, in a loop of vector instructions."""
    for arm in range(first, w.error.size, step):
        w.error[arm] = larger((w.squares[arm] + PRIOR_PULLS * pooled) * w.scale[arm], TINY)
        w.base[arm] = w.error[arm] * (1.0 - 2.0 * w.slope[arm])


def weakest(
    e: Episode, s: QuestionState, w: QuestionState, n: int, exploration: float, rng: np.random.Generator
) -> int:
    """Return the contrast of least evidence; for a group stands the one of most evidence.

    For Bernoulli rewards it is computed where a bound from below is not above that of the group of lowest bound.

    Args:
        e: The episode.
        s: Numbers of the state.
        w: Its arrays; the errors of :func:`set_errors` and the first n contrasts are set.
        n: Number of contrasts.
        exploration: How many times the logarithm of the pulls of the arm with fewer pulls is added to the evidence.
        rng: Breaks ties.
    """
    for k in range(n):
        w.strength[k] = least_evidence(e, w, k) + bonus(w, k, exploration)
    if s.family == BERNOULLI:
        group, enough = w.group[weakest_group(w, n, True, rng)], -np.inf
        for k in range(n):
            if w.group[k] == group:
                w.strength[k] = evidence(e, s, w, k) + bonus(w, k, exploration)
                enough = max(enough, w.strength[k])
        for k in range(n):
            if w.group[k] != group and w.strength[k] <= enough:
                w.strength[k] = evidence(e, s, w, k) + bonus(w, k, exploration)
    return weakest_group(w, n, e.tie == TO_FIRST, rng)


def least_evidence(e: Episode, w: QuestionState, k: int) -> float:
    """Return the evidence for a contrast; for Bernoulli rewards that for the variance 1/4, which is at most it."""
    g = larger(gap(e.mean, w, k), 0.0)
    own, other = distances(w, k, g)
    return float(0.5 * g * g / (own + other))


def distances(w: QuestionState, k: int, g: float) -> tuple[float, float]:
    """Return g^2 / (2 A) of both arms of a contrast, for the cost A of moving each alone; 0 of no arm."""
    i, j = int(w.first[k]), int(w.second[k])
    own = w.base[i] + w.slope[i] * g * g if i >= 0 else 0.0
    return own, (w.base[j] + w.slope[j] * g * g if j >= 0 else 0.0)


def bonus(w: QuestionState, k: int, exploration: float) -> float:
    """Return so many times the logarithm of the pulls of the arm of a contrast that has fewer."""
    if exploration == 0.0:
        return 0.0
    i, j = int(w.first[k]), int(w.second[k])
    return float(exploration * min(w.log[i] if i >= 0 else np.inf, w.log[j] if j >= 0 else np.inf))


def weakest_group(w: QuestionState, n: int, to_first: bool, rng: np.random.Generator) -> int:
    """Return the strongest contrast of the group whose strongest one is the weakest."""
    groups = 1
    for k in range(n - 1):
        groups += w.group[k + 1] != w.group[k]
    if groups == n:
        return place_of_smallest(w.strength[:n], to_first, rng)
    least, found, ties, strongest, begins = np.inf, -1, 0.0, 0, True
    for k in range(n):
        strongest = k if begins or w.strength[k] > w.strength[strongest] else strongest
        begins = k == n - 1 or w.group[k + 1] != w.group[k]  # whether the next one is of another group
        if begins:
            value = w.strength[strongest]
            if found < 0 or value < least:
                least, found, ties = value, strongest, 1.0
            elif value == least and not to_first:
                ties += 1.0
                found = strongest if rng.random() * ties < 1.0 else found
    return found


def evidence(e: Episode, s: QuestionState, w: QuestionState, k: int) -> float:
    """Return the evidence W for a contrast, for Bernoulli rewards."""
    own, other = costs(e, s, w, k)
    return own + other


def costs(e: Episode, s: QuestionState, w: QuestionState, k: int) -> tuple[float, float]:
    """Return the parts of the two arms in it; 0 of an arm that is missing."""
    if gap(e.mean, w, k) <= 0.0:
        return 0.0, 0.0
    i, j = int(w.first[k]), int(w.second[k])
    p, q = two_means(e, s, w, k, e.pulls)
    own = e.pulls[i] * bernoulli_cost(e.mean[i], p) if i >= 0 else 0.0
    return own, (e.pulls[j] * bernoulli_cost(e.mean[j], q) if j >= 0 else 0.0)


def part_of_first(e: Episode, s: QuestionState, w: QuestionState, k: int) -> float:
    """Return the share of the arm i in the evidence for a contrast; without evidence, by the errors alone."""
    own, other = distances(w, k, larger(gap(e.mean, w, k), 0.0))
    if s.family == BERNOULLI:
        parts = costs(e, s, w, k)
        own, other = parts if 0.0 < parts[0] + parts[1] < np.inf else (own, other)
    return float(own / (own + other))


def random_arm(e: Episode, s: QuestionState, w: QuestionState, k: int, beta: float, rng: np.random.Generator) -> int:
    """Return the arm i of a contrast with probability beta, or if that is 0 with its part in the evidence; else j."""
    i, j = int(w.first[k]), int(w.second[k])
    if i < 0 or j < 0:
        return max(i, j)
    return i if rng.random() < (beta if beta > 0.0 else part_of_first(e, s, w, k)) else j


def bernoulli_cost(mean: float, p: float) -> float:
    """Return d(mean, p) of Bernoulli rewards; infinite where p is no mean."""
    if p < 0.0 or p > 1.0 or (p in (0.0, 1.0) and p != mean):
        return np.inf
    return 0.0 if p == mean else bernoulli_divergence(mean, p)


def two_means(e: Episode, s: QuestionState, w: QuestionState, k: int, x: FloatArray) -> tuple[float, float]:
    """Return the p and q = p - offset of least x_i d(m_i, p) + x_j d(m_j, q); of one arm, the mean at the border.

    Args:
        e: The episode.
        s: Numbers of the state.
        w: Its arrays.
        k: The contrast.
        x: ``(k,)`` positive weights of the arms.
    """
    i, j, offset = int(w.first[k]), int(w.second[k]), float(w.offset[k])
    if i < 0 or j < 0:
        return offset, -offset
    if s.family != BERNOULLI:
        a, b = x[i] / (w.error[i] * e.pulls[i]), x[j] / (w.error[j] * e.pulls[j])
        p = float((a * e.mean[i] + b * (e.mean[j] + offset)) / (a + b))
        return p, p - offset
    if offset == 0.0:
        p = float((x[i] * e.mean[i] + x[j] * e.mean[j]) / (x[i] + x[j]))
        return p, p
    low, high = max(offset, 0.0), 1.0 + min(offset, 0.0)
    low, high = max(low, min(e.mean[i], e.mean[j] + offset)), min(high, max(e.mean[i], e.mean[j] + offset))
    for _ in range(45):  # halvings
        p = 0.5 * (low + high)
        q = p - offset
        slope = x[i] * (p - e.mean[i]) * q * (1.0 - q) + x[j] * (q - e.mean[j]) * p * (1.0 - p)
        low, high = (p, high) if slope < 0.0 else (low, p)
    return 0.5 * (low + high), 0.5 * (low + high) - offset
