"""UCB-GLM: upper confidence bounds in a generalized linear model of the arms' features."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bai_gym.agents.sequential import SequentialAgent
from bai_gym.agents.structured.linear_models import check_rewards
from bai_gym.agents.structured.ridge import SEEN, Ridge, is_current, largest_place, regression, shared_features
from bai_gym.agents.tools.choosing import most_pulled
from bai_gym.problems import ProblemInfo
from bai_gym.regression import LINK_NAMES, generalized_linear
from bai_gym.regression.links import LINKS
from bai_gym.regression.newton import BENT, CLOSE, EPSILON, JITTER, SEARCHES
from bai_gym.sampling import WAIT, Episode, Rule, Sequential, section
from bai_gym.statistics import ROUNDING, FloatArray, IntArray, Observation, Statistics
from bai_gym.validation import choice, integer, real

__all__ = ["UCBGLM"]

RIDGE = 1e-8  # added to the diagonal of V
FIRST_STEPS = 50  # of Newton's method, after the first pulls
FAR = 28.0  # standard deviations beyond which a tail of the normal distribution is computed by its series

LINK, LOWER, UPPER, ALPHA, STEPS, PENALTY = range(6)  # parameters
REFUSED, REWARD, THETA = range(3)  # memory: whether the last reward is refused, that reward, then vectors and a matrix


def part(e: Episode, number: int) -> FloatArray:
    """Return a ``(d,)`` part of the memory: theta, a step, the gradient, then the rows of the curvature."""
    d = e.features.shape[1]
    return section(regression(e).own, THETA + number * d, d)


def hazard(z: float) -> float:
    """Return phi(z) / Phi(z), the derivative of log Phi."""
    if z > -FAR:
        return math.exp(-0.5 * z * z) * math.sqrt(2.0 / math.pi) / math.erfc(-z / math.sqrt(2.0))
    part = 1.0 / (z * z)
    return -z / (1.0 - part * (1.0 - part * (3.0 - part * (15.0 - 105.0 * part))))


def bend(z: float, rate: float) -> float:
    """Return minus the second derivative of log Phi, from the first."""
    return 1.0 if z < -1e4 else min(max(rate * (z + rate), 0.0), 1.0)


def slopes(link: int, z: float, mean: float) -> tuple[float, float]:
    """Return the first and minus the second derivative of the log-likelihood, see :mod:`bai_gym.regression.links`."""
    if link == 0:  # identity
        return mean - z, 1.0
    if link == 1:  # logit
        tail = math.exp(-abs(z))
        small, large = tail / (1.0 + tail), 1.0 / (1.0 + tail)
        p, q = (large, small) if z > 0.0 else (small, large)
        return mean * q - (1.0 - mean) * p, p * q
    if link == 2:  # probit
        up, down = hazard(z), hazard(-z)
        return mean * up - (1.0 - mean) * down, mean * bend(z, up) + (1.0 - mean) * bend(-z, down)
    rate = math.exp(min(z, 700.0))  # log
    return mean - rate, rate


def set_scores(e: Episode, theta: FloatArray, out: FloatArray) -> None:
    """Set ``(k,)`` ``out`` to x^T theta, in the order of places."""
    order = regression(e).order
    for place in range(out.size):
        arm, total = int(order[place]), 0.0
        for i in range(theta.size):
            total += e.features[arm, i] * theta[i]
        out[place] = total


def differentiate(e: Episode) -> None:
    """Compute the gradient of the penalised log-likelihood at theta, and the curvature."""
    r, d, theta, gradient = regression(e), e.features.shape[1], part(e, 0), part(e, 2)
    for i in range(d):
        gradient[i] = -r.given[PENALTY] * theta[i]
        row = part(e, 3 + i)
        for j in range(d):
            row[j] = 0.0
        row[i] = r.given[PENALTY]
    for place in range(e.pulls.size):
        arm = int(r.order[place])
        first, second = slopes(int(r.given[LINK]), r.other[place], e.mean[arm])
        for i in range(d):
            gradient[i] += e.pulls[arm] * first * e.features[arm, i]
            row, factor = part(e, 3 + i), e.pulls[arm] * second * e.features[arm, i]
            for j in range(i + 1):
                row[j] += factor * e.features[arm, j]


def solve(e: Episode) -> None:
    """Set the step to curvature^-1 gradient, by Cholesky's decomposition, in the place of the curvature."""
    d, step, gradient = e.features.shape[1], part(e, 1), part(e, 2)
    for i in range(d):
        row = part(e, 3 + i)
        row[i] *= 1.0 + EPSILON * max(JITTER, 4 * d)  # a singular matrix remains solvable
        for j in range(i + 1):
            other, total = part(e, 3 + j), row[j]
            for k in range(j):
                total -= row[k] * other[k]
            row[j] = total / other[j] if j < i else math.sqrt(total) if total > 0.0 else 1.0
        total = gradient[i]
        for k in range(i):
            total -= row[k] * step[k]
        step[i] = total / row[i]
    for i in range(d - 1, -1, -1):
        for k in range(i + 1, d):
            step[i] -= part(e, 3 + k)[i] * step[k]
        step[i] /= part(e, 3 + i)[i]


def slope(e: Episode, length: float) -> float:
    """Return the derivative of the penalised log-likelihood along the step, after so much of it."""
    r, theta, step, total = regression(e), part(e, 0), part(e, 1), 0.0
    for place in range(e.pulls.size):
        arm = int(r.order[place])
        z = r.other[place] + length * r.row[place]
        total += e.pulls[arm] * slopes(int(r.given[LINK]), z, e.mean[arm])[0] * r.row[place]
    for i in range(step.size):
        total -= r.given[PENALTY] * (theta[i] + length * step[i]) * step[i]
    return total


def step_length(e: Episode) -> float:
    """Return the length at which the slope has fallen to a quarter, by doubling and bisection."""
    low, high, length, start = 0.0, np.inf, 1.0, slope(e, 0.0)
    for _ in range(SEARCHES):
        now = slope(e, length)
        if abs(now) <= BENT * start:
            return length
        low, high = (length, high) if now > 0.0 else (low, length)
        length = 2.0 * length if high == np.inf else 0.5 * (low + high)
    return low


def climb(e: Episode) -> None:
    """Make steps of Newton's method from theta, until they are short or as many as allowed."""
    r, theta, step = regression(e), part(e, 0), part(e, 1)
    for _ in range(int(r.given[STEPS])):
        set_scores(e, theta, r.other)
        differentiate(e)
        solve(e)
        set_scores(e, step, r.row)
        change = farthest(r.row)
        length = 1.0 if change < CLOSE else step_length(e)
        for i in range(step.size):
            theta[i] += length * step[i]
        if length == 0.0 or (length == 1.0 and change < CLOSE * max(1.0, farthest(r.other))):
            return


def farthest(values: FloatArray) -> float:
    """Return the largest absolute value."""
    found = 0.0
    for value in values:
        found = max(found, abs(value))
    return found


def pull_upper_bound(e: Episode, rng: np.random.Generator) -> int:
    """Return the arm of largest x^T theta + alpha sqrt(x^T V^-1 x)."""
    r = regression(e)
    if 0.0 < r.numbers[SEEN] < e.made:
        slack = ROUNDING * e.pulls[e.pulled]
        if e.reward < r.given[LOWER] - slack or e.reward > r.given[UPPER] + slack:
            r.own[REFUSED], r.own[REWARD] = 1.0, e.reward
            return WAIT
        climb(e)
    if not is_current(e):
        return WAIT
    set_scores(e, part(e, 0), r.other)
    for k in range(e.pulls.size):
        r.values[k] = r.other[k] + r.given[ALPHA] * math.sqrt(r.squares[k])
    return int(r.order[largest_place(e, r.values, farthest(r.other), rng)])


@dataclass(kw_only=True)
class UCBGLM(SequentialAgent):
    """Pulls the arm of largest x^T theta + alpha sqrt(x^T V^-1 x), and recommends the arm pulled most often.

    theta is the maximum-likelihood estimate from all pulls so far, with a small penalty, without which it often does
    not exist after a few pulls; V is the sum of x x^T over these pulls. Minimises cumulative regret; here a baseline.
    Ties in pulls are broken by sample means.

    Paper: Li, Lu and Zhou (2017), "Provably Optimal Algorithms for Generalized Linear Contextual Bandits", Algorithm 1;
    with this recommendation in Azizi, Kveton and Ghavamzadeh (2022). Differences: the penalty; every arm is pulled
    once first, instead of random arms until V is well-conditioned; V has 1e-8 added to its diagonal; for the link
    probit the likelihood is that of the model, where the paper solves the equations of the canonical link. Its
    theoretical alpha takes a lower bound of the derivative of the mean at the true theta, which is unknown, so there
    is no such option.

    Args:
        link: How the mean follows from the score x^T theta: ``"logit"`` (default) and ``"probit"`` for rewards in
            [0, 1], ``"log"`` for rewards of at least 0, and ``"identity"`` for any, which makes a linear model. Other
            rewards are an error.
        alpha: Factor of the width, at least 0; default 0.5.
        penalty: Factor of |theta|^2 / 2, positive; default 1e-3.
        newton_steps: Steps of Newton's method per pull at most, from the estimate before, at least 1; default 3, and
            most pulls need fewer.

    Requires no oracle knowledge. Needs features. Minimum budget: K.
    """

    link: str = "logit"
    alpha: float = 0.5
    penalty: float = 1e-3
    newton_steps: int = 3

    name: ClassVar[str] = "UCB-GLM"
    uses_variances: ClassVar[bool] = False
    needs_features: ClassVar[bool] = True
    rule: ClassVar[Rule] = Rule(choose=pull_upper_bound)

    @property
    def memory(self) -> int:  # type: ignore[override]
        """What the regression takes, which V is the matrix of, and the estimate."""
        d = self._features.shape[-1]
        return self._ridge.size + THETA + (3 + d) * d

    def begin(self, info: ProblemInfo) -> None:
        """Check the parameters and keep the features."""
        choice(self.link, LINK_NAMES, f"link of {self.name}")
        real(self.penalty, f"penalty of {self.name}", above=0)
        real(self.alpha, f"alpha of {self.name}", least=0)
        integer(self.newton_steps, f"newton_steps of {self.name}", least=1)
        self._features = shared_features(info, math.inf, self.name)
        self._ridge = Ridge(self._features, RIDGE)
        link = LINKS[self.link]
        given = (LINK_NAMES.index(self.link), link.smallest, link.largest, self.alpha, self.newton_steps, self.penalty)
        self.parameters = self._ridge.columns(self.batch, self.tie, *given)

    def sequential(self, steps: int, **options: Any) -> Sequential:
        """Return the request for the pulls after the first ones."""
        return super().sequential(steps, supply=self.supply, **options)

    def supply(self, rows: IntArray, memory: FloatArray, statistics: Statistics) -> None:
        """Compute V^-1, and at first the estimate from the first pulls, one of each arm."""
        own = memory[:, self._ridge.size :]
        check_rewards(own[rows[own[rows, REFUSED] == 1.0], REWARD], self.link, self.name)
        first = rows[memory[rows, SEEN] == 0.0]
        if first.size:
            x = self._features if len(self._features) == 1 else self._features[first]
            pulls, means = statistics.pulls[first], statistics.means[first]
            check_rewards(means, self.link, self.name, ROUNDING * pulls)
            fit = generalized_linear(x, pulls, means, link=self.link, penalty=self.penalty, max_iterations=FIRST_STEPS)
            own[first, THETA : THETA + x.shape[-1]] = fit.theta
        self._ridge.fit(rows, memory, statistics)

    def recommend(self, observation: Observation) -> IntArray:
        """Return the arm pulled most often."""
        return most_pulled(Statistics.of(observation), self.tie, self.rng)
