"""Thompson sampling and top-two Thompson sampling.

Most draws need not be made, since their arm has no chance to be the largest. A draw X is decided in two steps. For a
level L, with a probability p >= P(X >= L) there is a *hit*; else X < L is all that is known. A hit gives a number: from
L on it has the density of X, and below L it too says no more than X < L. :func:`misses` computes 1 - p for all arms, by
sums, products and a division; the hits, which are rare, are drawn by :func:`beyond`. If the value of a draw with X < L
is needed, it is redrawn until X < L holds. So choices have exactly the same distribution as in the pseudo-code.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bai_gym.agents.base import Agent
from bai_gym.agents.sequential import SequentialAgent
from bai_gym.agents.tools.choosing import best_mean, most_pulled
from bai_gym.agents.tools.scanning import arm_of_largest
from bai_gym.errors import AgentError
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import STOP, Episode, Played, Rule, columns, leader, noinline, section
from bai_gym.statistics import FloatArray, IntArray, Observation, Statistics
from bai_gym.validation import choice, integer, probability, real

__all__ = ["TS", "TTTS"]

POSTERIORS = ("student", "bernoulli", "normal")
FULL = -np.inf  # a level that every draw exceeds

# Parameters; VARIANCE is that of a reward where it is known, else 0.
TIE_FIRST, BERNOULLI, VARIANCE, BETA, TRIES = range(5)
# Rows of the memory, a number for each arm: mean of the posterior and standard deviation (scale of Student's
# distribution); parameters of the posterior; estimated variance of the sample mean; probabilities of no hit, and
# products of eight.
MEAN, SPREAD, A, B, C, NOISE, MISS, MISSES, ROWS = range(9)
BLOCK = 8
FEW = 32  # up to which drawing all normal numbers is faster than finding out which are needed
FIRST_TRIES = 2  # after which another arm is so rarely the best that hits are looked for


def row(e: Episode, number: int) -> FloatArray:
    """Return a row of the memory; its length is a multiple of ``BLOCK``."""
    width = e.memory.size // ROWS
    return section(e.memory, number * width, width)


def posterior_mean(pulls: float, mean: float, variance: float, parameters: FloatArray) -> float:
    """Return the mean of the posterior."""
    return (pulls * mean + 1.0) / (pulls + 2.0) if parameters[BERNOULLI] == 1.0 else mean


def learn(e: Episode, arm: int) -> bool:
    """Write the posterior of an arm into the memory; return whether its rewards fit."""
    fits = True
    pulls, mean, variance = e.pulls[arm], e.mean[arm], max(e.variance[arm], 0.0)
    if e.parameters[BERNOULLI] == 1.0:  # Beta(a, b), and a log(a / (a + b)) + b log(b / (a + b))
        a = 1.0 + np.rint(pulls * mean)
        fits = abs(pulls * mean + 1.0 - a) < 1e-6 and 1.0 <= a <= 1.0 + pulls
        b = 2.0 + pulls - a
        variance, least = mean * (1.0 - mean), 1e-6
        mean = a / (a + b)
        spread, c = math.sqrt(mean * (1.0 - mean) / (a + b + 1.0)), a * math.log(mean) + b * math.log(b / (a + b))
    else:  # twice the scale squared, and 1 / d: Student's t with d = T - 1, or normal, where d is infinite
        known, least, c = e.parameters[VARIANCE], 1e-12, 0.0
        variance = known if known > 0.0 else variance
        spread, a = math.sqrt(variance / pulls), 2.0 * variance / pulls
        b = 0.0 if known > 0.0 or a == 0.0 else 1.0 / (pulls - 1.0)
    row(e, MEAN)[arm], row(e, SPREAD)[arm], row(e, NOISE)[arm] = mean, spread, max(variance, least) / pulls
    row(e, A)[arm], row(e, B)[arm], row(e, C)[arm] = a, b, c
    return fits


def bound(root: float, factor: float, is_far: bool) -> float:
    """Return factor root^32, or 1 where a draw may well be beyond the level; with root 1 / (1 + c / 32), >= exp(-c)."""
    chance = root * root
    chance *= chance
    chance *= chance
    chance *= chance
    chance *= chance
    return factor * chance if is_far and chance < 1.0 else 1.0


def polar_hit(distance: float, a: float, b: float) -> float:
    """Return the probability of a hit of Student's t, or of the normal distribution, see :func:`polar_draw`.

    It takes an exponential above (d / 2) log(1 + z^2 / d) >= z^2 / (2 + z^2 / d), with z = distance / scale.
    """
    square = distance * distance
    base = a + b * square
    return bound(base / (base + square / 32.0), 0.5, distance > 0.0)


def beta_hit(a: float, b: float, c: float, level: float, log: float, log_rest: float, sign: float) -> float:
    """Return the probability of a hit of Beta(a, b), see :func:`beta_draw`: Chernoff's bound."""
    return bound(1.0 / (1.0 + (c - a * log - b * log_rest) / 32.0), 1.0, sign * ((a + b) * level - a) > 0.0)


def hit(e: Episode, arm: int, level: float, sign: float) -> float:
    """Return the probability that an arm is hit, for draws above a level (sign 1) or below it (sign -1)."""
    a, b = row(e, A)[arm], row(e, B)[arm]
    if e.parameters[BERNOULLI] == 1.0:
        return beta_hit(a, b, row(e, C)[arm], level, np.log(level), np.log(1.0 - level), sign)
    return polar_hit(sign * (level - row(e, MEAN)[arm]), a, b)


def misses(e: Episode, level: float, without: int) -> float:
    """Set the probabilities that arms are not hit, 1 for the arm ``without``, and return their product."""
    mean, a, b, c, miss, blocks = row(e, MEAN), row(e, A), row(e, B), row(e, C), row(e, MISS), row(e, MISSES)
    if e.parameters[BERNOULLI] == 1.0:
        log, log_rest = np.log(level), np.log(1.0 - level)
        for arm in range(miss.size):
            miss[arm] = 1.0 - beta_hit(a[arm], b[arm], c[arm], level, log, log_rest, 1.0)
    else:
        for arm in range(miss.size):
            miss[arm] = 1.0 - polar_hit(level - mean[arm], a[arm], b[arm])
    miss[without] = 1.0
    for place in range(e.pulls.size, miss.size):
        miss[place] = 1.0
    product = 1.0
    for block in range(miss.size // BLOCK):
        at = block * BLOCK
        left = (miss[at] * miss[at + 1]) * (miss[at + 2] * miss[at + 3])
        right = (miss[at + 4] * miss[at + 5]) * (miss[at + 6] * miss[at + 7])
        blocks[block] = left * right
        product *= blocks[block]
    return product


def beyond(e: Episode, arm: int, level: float, sign: float, rng: np.random.Generator) -> float:
    """Return the number of an arm that is hit; where the probability of that was 1, as for ``FULL``, it is a draw."""
    chance = 1.0 if level == FULL else hit(e, arm, level, sign)
    if e.parameters[BERNOULLI] == 1.0:
        if sign > 0.0:
            return beta_draw(row(e, A)[arm], row(e, B)[arm], level, chance, rng)
        return 1.0 - beta_draw(row(e, B)[arm], row(e, A)[arm], 1.0 - level, chance, rng)
    return float(row(e, MEAN)[arm] + sign * row(e, SPREAD)[arm] * polar_draw(row(e, B)[arm], chance, rng))


@noinline
def polar_draw(b: float, chance: float, rng: np.random.Generator) -> float:
    """Return a draw from Student's t with d = 1 / b, or from the normal distribution for b = 0.

    Bailey (1994), "Polar Generation of Random Variates with the t-Distribution", formula 3: with E exponential and an
    angle A uniform, sqrt(d (exp(2 E / d) - 1)) cos(A) is Student; for infinite d it is sqrt(2 E) cos(A). Above a
    positive level the angle is acute and E is large. Hits have both: an exponential above a bound starts again there.
    """
    exponential, angle = rng.standard_exponential(), math.pi * rng.random()
    if chance < 1.0:
        exponential -= math.log(2.0 * chance)
        angle *= 0.5
    return math.cos(angle) * math.sqrt(math.expm1(2.0 * exponential * b) / b if b > 0.0 else 2.0 * exponential)


@noinline
def beta_draw(a: float, b: float, level: float, chance: float, rng: np.random.Generator) -> float:
    """Return a draw of Beta(a, b), or with a level L above its mean the number of a hit.

    G / (G + H), G and H gamma of shapes a and b, is at least L where D = (1 - L) G - L H >= 0. With n = a + b, the pair
    G n L / a, H n (1 - L) / b has exp(c + t D) times the density there, with t = (n L - a) / (n L (1 - L)) and
    c = a log(a / (n L)) + b log(b / (n (1 - L))). So it is accepted with probability exp(-c - t D) / chance.
    """
    first, second = rng.standard_gamma(a), rng.standard_gamma(b)
    if chance < 1.0:
        n, rest = a + b, 1.0 - level
        first *= n * level / a
        second *= n * rest / b
        above = rest * first - level * second
        c = a * math.log(a / (n * level)) + b * math.log(b / (n * rest))
        tilt = (n * level - a) / (n * level * rest)
        if above < 0.0 or rng.random() * chance >= math.exp(-c - tilt * above):
            return -np.inf
    return first / (first + second)


def better(
    e: Episode, value: float, arm: int, best: float, holder: int, ties: int, rng: np.random.Generator
) -> tuple[float, int, int]:
    """Return the larger of a value and the best so far, its arm, and how many arms are tied there."""
    if value == best:
        fewer = e.pulls[arm] < e.pulls[holder] or (e.pulls[arm] == e.pulls[holder] and arm < holder)
        wins = fewer if e.parameters[TIE_FIRST] == 1.0 else rng.random() * (ties + 1) < 1.0
        return best, arm if wins else holder, ties + 1
    return (value, arm, 1) if value > best else (best, holder, ties)


def scan(
    e: Episode, level: float, ceiling: float, uniform: float, best: float, holder: int, rng: np.random.Generator
) -> tuple[float, int, int]:
    """Return the largest draw from the level on, its arm, and how many are tied there; of arms and of ``best``.

    The next arm hit is the first for which a uniform number is not below the product of the misses up to it. Draws
    are known not to exceed the ceiling: one that does is made again.
    """
    miss, blocks, ties, unhit = row(e, MISS), row(e, MISSES), 1, 1.0
    for block in range(miss.size // BLOCK):
        if uniform < unhit * blocks[block]:
            unhit *= blocks[block]
            continue
        for arm in range(block * BLOCK, (block + 1) * BLOCK):
            unhit *= miss[arm]
            while uniform >= unhit:
                value = beyond(e, arm, level, 1.0, rng)
                uniform, unhit = rng.random(), miss[arm] if value > ceiling else 1.0
                if level <= value <= ceiling:
                    best, holder, ties = better(e, value, arm, best, holder, ties, rng)
    return best, holder, ties


def largest_normal(e: Episode, rng: np.random.Generator) -> int:
    """Draw from all posteriors, which are normal, and return the arm of the largest value."""
    mean, spread, values = row(e, MEAN), row(e, SPREAD), section(row(e, MISS), 0, e.pulls.size)
    for arm in range(values.size):
        values[arm] = mean[arm] + spread[arm] * rng.standard_normal()
    return arm_of_largest(values, e.pulls, e.parameters[TIE_FIRST], rng)


def has_few_normals(e: Episode) -> bool:
    """Return whether :func:`largest_normal` is the fastest way."""
    return e.parameters[VARIANCE] > 0.0 and e.pulls.size <= FEW


def largest_draw(e: Episode, rng: np.random.Generator) -> int:
    """Draw from all posteriors, and return the arm of the largest value; ``STOP`` where a reward does not fit."""
    if e.pulled >= 0:
        if not learn(e, e.pulled) or (e.parameters[BERNOULLI] == 1.0 and e.reward != 0.0 and e.reward != 1.0):
            return STOP
    else:
        for arm in range(e.pulls.size):
            if not learn(e, arm):
                return STOP
    if has_few_normals(e):
        return largest_normal(e, rng)
    arm = leader(e.first)  # any one would do
    level = beyond(e, arm, FULL, 1.0, rng)
    misses(e, level, arm)
    return scan(e, level, np.inf, rng.random(), level, arm, rng)[1]


def level_between(e: Episode, best: int) -> float:
    """Return a level that draws of the arm ``best`` are rarely below, and draws of the others rarely above.

    It lies equally many standard deviations from that arm's mean and from the strongest other one's, nearly. Choices do
    not depend on it; only their time does.
    """
    mean, spread, between, level = row(e, MEAN), row(e, SPREAD), row(e, MISS), -np.inf
    width = spread[best] + 1e-300
    for arm in range(e.pulls.size):
        share = 0.02 + 0.96 * width / (width + spread[arm] + 1e-300)
        between[arm] = mean[best] - (mean[best] - mean[arm]) * share
    between[best] = -np.inf
    for arm in range(e.pulls.size):
        level = max(level, between[arm])
    return level


def another_arm(e: Episode, best: int, rng: np.random.Generator) -> int:
    """Draw up to ``tries`` times until the largest draw is of another arm than ``best``; return it, or else ``best``.

    The level is between that arm and the others. A draw without any hit, of the arm from above or of another one from
    below, fails; so how many fail before the next one with a hit is a geometric number.
    """
    left = e.parameters[TRIES]
    if has_few_normals(e):
        for _ in range(min(int(left), FIRST_TRIES)):
            left -= 1.0
            arm = largest_normal(e, rng)
            if arm != best:
                return arm
    if left == 0.0:
        return best
    level = level_between(e, best)
    own_miss = 1.0 - hit(e, best, level, -1.0)
    none = own_miss * misses(e, level, best)
    log_none = np.log(none)
    while none < 1.0:
        left -= 1.0 + np.floor(np.log(1.0 - rng.random()) / log_none)
        if left < 0.0:
            break
        uniform = none + (1.0 - none) * rng.random()  # there is a hit
        own = np.inf  # what is above the level, for now
        if uniform >= own_miss:
            own, uniform = beyond(e, best, level, -1.0, rng), rng.random()
        else:
            uniform /= own_miss
        value, arm, ties = scan(e, level, np.inf, uniform, -np.inf, best, rng)
        if value >= level:
            if own > level:
                own = beyond(e, best, FULL, 1.0, rng)
                while own <= level:
                    own = beyond(e, best, FULL, 1.0, rng)
            arm = better(e, own, best, value, arm, ties, rng)[1]
        elif own <= level:  # all others are below the level
            misses(e, own, best)
            arm = scan(e, own, level, rng.random(), own, best, rng)[1]
            misses(e, level, best)
        if arm != best:
            return arm
    return best


def cheapest_to_confuse(e: Episode, best: int, rng: np.random.Generator) -> int:
    """Return the arm j of smallest |m_I - m_j| / sqrt(v_I / T_I + v_j / T_j), where I is ``best``."""
    noise, score = row(e, NOISE), section(row(e, MISS), 0, e.pulls.size)
    for arm in range(e.pulls.size):
        score[arm] = -abs(e.mean[best] - e.mean[arm]) / math.sqrt(noise[best] + noise[arm])
    score[best] = -np.inf
    return arm_of_largest(score, e.pulls, e.parameters[TIE_FIRST], rng)


def top_two(e: Episode, rng: np.random.Generator) -> int:
    """Draw from all posteriors, and with probability 1 - beta draw again for another arm."""
    best = largest_draw(e, rng)
    if best == STOP or rng.random() < e.parameters[BETA]:
        return best
    other = another_arm(e, best, rng)
    return other if other != best else cheapest_to_confuse(e, best, rng)


def settings(agent: Agent, posterior: str, sigma: float, beta: float, tries: float) -> FloatArray:
    """Return the parameters of the rules, having checked those of the posterior."""
    choice(posterior, POSTERIORS, f"posterior of {agent.name}")
    real(sigma, f"sigma of {agent.name}", above=0)
    variance = min(max(sigma * sigma, 1e-300), 1e300) if posterior == "normal" else 0.0
    return columns(agent.batch, agent.tie == "first", posterior == "bernoulli", variance, beta, tries)


def check_rewards(agent: str, played: Played) -> None:
    """Raise :class:`AgentError` unless all rewards were 0 or 1: what the rule has met, and the last one."""
    statistics = played.statistics
    sums = statistics.pulls * statistics.means
    last = sums + 1.0 - played.memory.reshape(len(sums), ROWS, -1)[:, A, : sums.shape[1]]
    if played.stopped.any() or (np.minimum(abs(last), abs(last - 1.0)) > 1e-6).any():
        raise AgentError(
            f"{agent} with posterior='bernoulli' needs rewards of 0 and 1, but got another one: use posterior='student'"
        )


@dataclass(kw_only=True)
class TS(SequentialAgent):
    """Draws a mean for each arm from its posterior, and pulls the arm of the largest; recommends the most pulled one.

    Minimises cumulative regret; here a baseline. Ties in pulls are broken by sample means.

    Paper: Thompson (1933), "On the Likelihood that One Unknown Probability Exceeds Another"; for bandits Agrawal and
    Goyal (2012), "Analysis of Thompson Sampling for the Multi-armed Bandit Problem". Difference: every arm is pulled
    first, once, or twice for ``"student"``, also where the posterior would exist without.

    Args:
        posterior: ``"student"`` (default): normal rewards of unknown variance, flat prior in mean and log variance; two
            equal rewards leave no uncertainty, so not for rewards of few values. ``"bernoulli"``: rewards 0 and 1,
            uniform prior; other rewards are an error. ``"normal"``: normal rewards of the standard deviation ``sigma``,
            flat prior.
        sigma: Standard deviation of the rewards for ``"normal"``, positive; default 0.5, the largest that rewards in
            [0, 1] can have.

    Requires no oracle knowledge (``sigma`` is a parameter). Minimum budget: K, or 2 K for ``"student"``.
    """

    posterior: str = "student"
    sigma: float = 0.5

    name: ClassVar[str] = "TS"
    rule: ClassVar[Rule] = Rule(index=posterior_mean, choose=largest_draw)

    @property
    def first_pulls(self) -> int:  # type: ignore[override]
        """Two pulls of each arm where the posterior needs the sample variances."""
        return 2 if self.posterior == "student" else 1

    @property
    def uses_variances(self) -> bool:  # type: ignore[override]
        """Whether the posterior needs the sample variances."""
        return self.posterior == "student"

    @property
    def memory(self) -> int:  # type: ignore[override]
        """Rows of numbers of all arms."""
        return ROWS * BLOCK * math.ceil(self.num_arms / BLOCK)

    def begin(self, info: ProblemInfo) -> None:
        """Check the parameters."""
        self.parameters = settings(self, self.posterior, self.sigma, 1.0, 0.0)

    def conclude(self, played: Played) -> IntArray:
        """Return the recommendation; all rewards must fit the posterior."""
        if self.posterior == "bernoulli":
            check_rewards(self.name, played)
        return SequentialAgent.conclude(self, played)

    def recommend(self, observation: Observation) -> IntArray:
        """Return the arm pulled most often."""
        return most_pulled(Statistics.of(observation), self.tie, self.rng)


@dataclass(kw_only=True)
class TTTS(SequentialAgent):
    """Thompson sampling that pulls, with probability 1 - beta, the best of a draw in which another arm is the best.

    I is the arm of the largest draw. With probability beta it is pulled; else draws are repeated until their largest is
    another arm J, which is pulled. If none of ``tries`` has another one, the arm j is pulled that is the cheapest to
    confuse with I: of smallest (m_I - m_j)^2 / (v_I / T_I + v_j / T_j), with the sample means and variances (m (1 - m)
    for ``"bernoulli"``, sigma^2 for ``"normal"``). The arm of largest posterior mean is recommended.

    Paper: Russo (2016), "Simple Bayesian Algorithms for Best Arm Identification", section 3.3, which draws until there
    is another arm. Differences: a limit on the number of draws; every arm is pulled first, once, or twice for
    ``"student"``.

    Args:
        beta: Probability of pulling I, strictly between 0 and 1; default 1/2.
        tries: Draws for another arm at most, at least 1; default 100.
        posterior: ``"student"`` (default), ``"bernoulli"`` or ``"normal"``, see :class:`TS`.
        sigma: Standard deviation of the rewards for ``"normal"``, positive; default 0.5.

    Requires no oracle knowledge (``sigma`` is a parameter). Minimum budget: K, or 2 K for ``"student"``.
    """

    posterior: str = "student"
    sigma: float = 0.5
    beta: float = 0.5
    tries: int = 100

    name: ClassVar[str] = "TTTS"
    rule: ClassVar[Rule] = Rule(index=posterior_mean, choose=top_two)
    first_pulls, uses_variances, memory, conclude = TS.first_pulls, TS.uses_variances, TS.memory, TS.conclude

    def begin(self, info: ProblemInfo) -> None:
        """Check the parameters."""
        probability(self.beta, f"beta of {self.name}")
        integer(self.tries, f"tries of {self.name}", least=1)
        self.parameters = settings(self, self.posterior, self.sigma, self.beta, float(self.tries))

    def recommend(self, observation: Observation) -> IntArray:
        """Return the arm of largest posterior mean."""
        statistics = Statistics.of(observation)
        if self.posterior == "bernoulli":
            means = (1.0 + np.rint(statistics.sums)) / (2.0 + statistics.pulls)
            statistics = Statistics(statistics.pulls, means, statistics.variances)
        return best_mean(statistics, self.tie, self.rng)
