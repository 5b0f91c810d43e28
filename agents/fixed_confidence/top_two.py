"""Top-two algorithms with a stopping rule: a leader B, a challenger C, and one of the two is pulled.

They differ in how the two are chosen; with W the evidence of :mod:`bai_gym.agents.fixed_confidence.stopping`:

| agent | leader B | challenger C |
|---|---|---|
| T3C | largest draw from the posterior | smallest W(B, j) |
| TTTS-GLR | largest draw from the posterior | the largest of the first draw in which it is not B |
| EB-TC | largest mean | smallest W(B, j) |
| EB-TCI | largest mean | smallest W(B, j) + log N_j |
| TTUCB | largest upper confidence bound | smallest W(B, j) |
| TTEI | largest expected improvement over the best mean | largest expected improvement over B |
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bai_gym.agents.fixed_confidence.stopping import (
    BERNOULLI,
    FAMILY,
    FIRST,
    OWN,
    STUDENT,
    ConfidenceAgent,
    bernoulli_divergence,
    evidence,
    is_separated,
    mean_of,
    own_term,
    variance_of,
)
from bai_gym.agents.tools.scanning import arm_of_largest
from bai_gym.errors import ParameterError
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Episode, Rule, leader, noinline, section
from bai_gym.statistics import FloatArray
from bai_gym.theory.deviations import inverse_h
from bai_gym.validation import choice, integer, probability

__all__ = ["EBTC", "EBTCI", "T3C", "TTEI", "TTTSGLR", "TTUCB"]

BETA, TRACKS, TRIES, BONUS = range(OWN, OWN + 4)  # parameters; a beta of 0 stands for "ids"
SCORES, LED, OWN_PULLS, ROW_COUNT = range(
    4
)  # rows of the memory: what is maximised; times as leader, and own pulls then

A = 1.2  # alpha and s of TTUCB


def row(e: Episode, number: int) -> FloatArray:
    """Return a row of the memory."""
    return section(e.memory, number * e.pulls.size, e.pulls.size)


def share(e: Episode, best: int, other: int) -> float:
    """Return the adaptive beta: the part of the leader in the divergence N_B d(m_B, p) + N_C d(m_C, p).

    For Gaussian rewards of equal variances it is N_C / (N_B + N_C).
    """
    n, m = e.pulls[best], e.pulls[other]
    if e.parameters[FAMILY] == BERNOULLI:
        p = (n * e.mean[best] + m * e.mean[other]) / (n + m)
        own = n * bernoulli_divergence(e.mean[best], p)
        total = own + m * bernoulli_divergence(e.mean[other], p)
        return own / total if total > 0.0 else 0.5
    own, others = variance_of(e, best) / n, variance_of(e, other) / m
    return own / (own + others)


def one_of(e: Episode, best: int, other: int, rng: np.random.Generator) -> int:
    """Return the leader, with probability beta, or the challenger.

    With tracking it is the leader B where B has been pulled in at most a share beta of the times when it was the
    leader.
    """
    beta = e.parameters[BETA]
    if e.parameters[TRACKS] == 1.0:
        led, own = row(e, LED), row(e, OWN_PULLS)
        led[best] += 1.0
        if own[best] <= beta * led[best]:
            own[best] += 1.0
            return best
        return other
    return best if rng.random() < (beta if beta > 0.0 else share(e, best, other)) else other


def cheapest(e: Episode, best: int, penalty: float, rng: np.random.Generator) -> int:
    """Return the arm j other than the leader of smallest W(B, j) + penalty log N_j."""
    scores = row(e, SCORES)
    for arm in range(scores.size):
        scores[arm] = -evidence(e, best, arm) - penalty * math.log(e.pulls[arm])
    scores[best] = -np.inf
    return arm_of_largest(scores, e.pulls, e.parameters[FIRST], rng)


@noinline
def posterior_draw(e: Episode, rng: np.random.Generator) -> int:
    """Draw the mean of each arm from its posterior, and return the arm of the largest."""
    scores, family = row(e, SCORES), e.parameters[FAMILY]
    for arm in range(scores.size):
        pulls, mean = e.pulls[arm], e.mean[arm]
        if family == BERNOULLI:  # Beta(1 + successes, 1 + failures)
            ones = rng.standard_gamma(1.0 + pulls * mean)
            scores[arm] = ones / (ones + rng.standard_gamma(1.0 + pulls * (1.0 - mean)))
        else:
            scale = 1.0
            if family == STUDENT:  # v / (N - 1), with the biased variance v, is the unbiased one over N
                scale = pulls / (2.0 * rng.standard_gamma(0.5 * (pulls - 1.0)))
            scores[arm] = mean + math.sqrt(variance_of(e, arm) / pulls * scale) * rng.standard_normal()
    return arm_of_largest(scores, e.pulls, e.parameters[FIRST], rng)


def t3c(e: Episode, rng: np.random.Generator) -> int:
    """Thompson sampling with the challenger of smallest transportation cost."""
    best = posterior_draw(e, rng)
    return one_of(e, best, cheapest(e, best, 0.0, rng), rng)


def ttts(e: Episode, rng: np.random.Generator) -> int:
    """Top-two Thompson sampling: repeat the draw until another arm is the best."""
    best = posterior_draw(e, rng)
    if rng.random() < e.parameters[BETA]:
        return best
    other = best
    for _ in range(int(e.parameters[TRIES])):
        other = posterior_draw(e, rng)
        if other != best:
            break
    return other if other != best else cheapest(e, best, 0.0, rng)


def eb_tc(e: Episode, rng: np.random.Generator) -> int:
    """Empirical best, and the challenger of smallest transportation cost."""
    best = leader(e.first)
    return one_of(e, best, cheapest(e, best, 0.0, rng), rng)


def eb_tci(e: Episode, rng: np.random.Generator) -> int:
    """Empirical best, and the challenger of smallest penalised transportation cost."""
    best = leader(e.first)
    return one_of(e, best, cheapest(e, best, 1.0, rng), rng)


def ttucb(e: Episode, rng: np.random.Generator) -> int:
    """Largest upper confidence bound, and the challenger of smallest transportation cost."""
    scores, log_t = row(e, SCORES), math.log(float(e.made))
    if e.parameters[BONUS] == 0.0:
        g = inverse_h(2.0 * A * A * log_t + 2.0 * math.log(2.0 + A * log_t) + 2.0)
    else:
        g = 2.0 * A * (1.0 + A) * log_t
    for arm in range(scores.size):
        scores[arm] = e.mean[arm] + math.sqrt(g * variance_of(e, arm) / e.pulls[arm])
    best = arm_of_largest(scores, e.pulls, e.parameters[FIRST], rng)
    return one_of(e, best, cheapest(e, best, 0.0, rng), rng)


def log_improvement(z: float) -> float:
    """Return log(z Phi(z) + phi(z)); far out by a series, where the terms underflow."""
    if z < -30.0:
        u = 1.0 / (z * z)
        return -0.5 * z * z - 0.5 * math.log(2.0 * math.pi) + math.log(u * (1.0 - u * (3.0 - u * (15.0 - 105.0 * u))))
    density = math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
    return math.log(density + 0.5 * z * math.erfc(-z / math.sqrt(2.0)))


def ttei(e: Episode, rng: np.random.Generator) -> int:
    """Top-two expected improvement."""
    scores, best = row(e, SCORES), leader(e.first)
    for arm in range(scores.size):
        spread = math.sqrt(variance_of(e, arm) / e.pulls[arm])
        scores[arm] = log_improvement((e.mean[arm] - e.mean[best]) / spread) + math.log(spread)
    best = arm_of_largest(scores, e.pulls, e.parameters[FIRST], rng)
    for arm in range(scores.size):
        spread = math.sqrt(variance_of(e, arm) / e.pulls[arm] + variance_of(e, best) / e.pulls[best])
        scores[arm] = log_improvement((e.mean[arm] - e.mean[best]) / spread) + math.log(spread)
    scores[best] = -np.inf
    return one_of(e, best, arm_of_largest(scores, e.pulls, e.parameters[FIRST], rng), rng)


@dataclass(kw_only=True)
class TopTwo(ConfidenceAgent):
    """Base of top-two agents.

    Args:
        beta: Probability of pulling the leader, in (0, 1); default 1/2. ``"ids"``: N_C / (N_B + N_C) for Gaussian
            rewards of equal variances, and generally the leader's part of the divergence N_B d(m_B, p) + N_C d(m_C, p).
        select: ``"random"``: the leader is pulled with probability beta. ``"tracking"``: it is pulled if it has been in
            at most a share beta of the times when it was the leader, this one included.
    """

    beta: float | str = 0.5
    select: str = "random"

    @property
    def memory(self) -> int:  # type: ignore[override]
        """Rows of numbers of all arms."""
        return ROW_COUNT * self.num_arms

    def begin(self, info: ProblemInfo) -> None:
        """Check the parameters."""
        self.set_parameters(info, *self.own_parameters())

    def own_parameters(self) -> tuple[float, ...]:
        """Return beta (0 for the adaptive one), whether it is tracked, the draws for a challenger, and the bonus."""
        choice(self.select, ("random", "tracking"), f"select of {self.name}")
        if isinstance(self.beta, str):
            if self.beta != "ids":
                raise ParameterError(f"beta of {self.name} must be 'ids' or a number in (0, 1), not {self.beta!r}")
            if self.select == "tracking":
                raise ParameterError(f"beta='ids' of {self.name} needs select='random': tracking is for a fixed beta")
            return 0.0, 0.0, 0.0, 0.0
        return probability(self.beta, f"beta of {self.name}"), float(self.select == "tracking"), 0.0, 0.0


@dataclass(kw_only=True)
class T3C(TopTwo):
    """Pulls the best arm of a posterior draw, or the arm that is the cheapest to confuse with it.

    Paper: Shang, de Heide, Menard, Kaufmann and Valko (2020), "Fixed-confidence guarantees for Bayesian best-arm
    identification". For Gaussian rewards the mean number of pulls is T*_beta log(1 / delta) for small delta. The
    posterior has a flat prior for Gaussian rewards, and a uniform one for Bernoulli rewards.

    Requires no oracle knowledge, unless ``sigma`` is None. Minimum budget: K, or 2 K for ``"student"``.
    """

    name: ClassVar[str] = "T3C"
    rule: ClassVar[Rule] = Rule(index=mean_of, second=own_term, choose=t3c, stops=is_separated)


@dataclass(kw_only=True)
class TTTSGLR(ConfidenceAgent):
    """Top-two Thompson sampling that stops by likelihood ratios.

    Paper: Shang, de Heide, Menard, Kaufmann and Valko (2020), "Fixed-confidence guarantees for Bayesian best-arm
    identification", after Russo (2016). Difference: after ``tries`` draws without another best arm the challenger is
    that of T3C; as the posterior concentrates, draws are repeated ever more often.

    Args:
        beta: Probability of pulling the leader, in (0, 1); default 1/2.
        tries: Draws for a challenger at most, at least 1; default 100.

    Requires no oracle knowledge, unless ``sigma`` is None. Minimum budget: K, or 2 K for ``"student"``.
    """

    beta: float = 0.5
    tries: int = 100

    name: ClassVar[str] = "TTTS-GLR"
    rule: ClassVar[Rule] = Rule(index=mean_of, second=own_term, choose=ttts, stops=is_separated)
    memory = TopTwo.memory

    def begin(self, info: ProblemInfo) -> None:
        """Check the parameters."""
        tries = float(integer(self.tries, f"tries of {self.name}", least=1))
        self.set_parameters(info, probability(self.beta, f"beta of {self.name}"), 0.0, tries, 0.0)


@dataclass(kw_only=True)
class EBTC(TopTwo):
    """Pulls the arm of largest mean, or the arm that is the cheapest to confuse with it.

    An arm with an unlucky start may wait very long for its next pull, so the number of pulls has a heavy tail.

    Paper: Jourdan, Degenne, Baudry, de Heide and Kaufmann (2022), "Top Two Algorithms Revisited".

    Requires no oracle knowledge, unless ``sigma`` is None. Minimum budget: K, or 2 K for ``"student"``.
    """

    name: ClassVar[str] = "EB-TC"
    rule: ClassVar[Rule] = Rule(index=mean_of, second=own_term, choose=eb_tc, stops=is_separated)


@dataclass(kw_only=True)
class EBTCI(TopTwo):
    """EB-TC whose challenger minimises W(B, j) + log N_j, so that arms with few pulls are explored.

    Paper: Jourdan, Degenne, Baudry, de Heide and Kaufmann (2022), "Top Two Algorithms Revisited".

    Requires no oracle knowledge, unless ``sigma`` is None. Minimum budget: K, or 2 K for ``"student"``.
    """

    name: ClassVar[str] = "EB-TCI"
    rule: ClassVar[Rule] = Rule(index=mean_of, second=own_term, choose=eb_tci, stops=is_separated)


@dataclass(kw_only=True)
class TTUCB(TopTwo):
    """Pulls the arm of largest upper confidence bound, or the arm that is the cheapest to confuse with it.

    The bound is m + sigma sqrt(g(t) / N), with g(t) = h^-1(2 s a log t + 2 log(2 + a log t) + 2) and a = s = 1.2, where
    h(u) = u - log u.

    Paper: Jourdan and Degenne (2023), "Non-Asymptotic Analysis of a UCB-based Top Two Algorithm". The constants are
    from public implementations.

    Args:
        bonus: ``"mixture"`` (default): g as above. ``"uniform"``: g(t) = 2 a (1 + s) log t, which is larger.
        select: ``"tracking"`` (default) or ``"random"``.

    Requires no oracle knowledge, unless ``sigma`` is None. Minimum budget: K.
    """

    select: str = "tracking"
    bonus: str = "mixture"

    name: ClassVar[str] = "TTUCB"
    families: ClassVar[tuple[str, ...]] = ("gaussian",)
    rule: ClassVar[Rule] = Rule(index=mean_of, second=own_term, choose=ttucb, stops=is_separated)

    def own_parameters(self) -> tuple[float, ...]:
        """Return the parameters of the rule."""
        choice(self.bonus, ("mixture", "uniform"), f"bonus of {self.name}")
        return (*super().own_parameters()[:3], float(self.bonus == "uniform"))


@dataclass(kw_only=True)
class TTEI(TopTwo):
    """Pulls the arm of largest expected improvement over the best mean, or of largest improvement over that arm.

    Paper: Qin, Klabjan and Russo (2017), "Improving the Expected Improvement Algorithm", for Gaussian rewards of known
    variance.

    Requires no oracle knowledge, unless ``sigma`` is None. Minimum budget: K.
    """

    name: ClassVar[str] = "TTEI"
    families: ClassVar[tuple[str, ...]] = ("gaussian",)
    rule: ClassVar[Rule] = Rule(index=mean_of, second=own_term, choose=ttei, stops=is_separated)
