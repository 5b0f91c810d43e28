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
from typing_extensions import override

from bai_gym.agents.fixed_confidence.stopping import (
    BERNOULLI,
    GAUSSIAN,
    SLACK,
    STUDENT,
    ConfidenceAgent,
    ConfidenceState,
    evidence,
    is_separated,
    mean_of,
)
from bai_gym.agents.tools.divergences import TINY, bernoulli_divergence, variance_of
from bai_gym.agents.tools.posteriors import Posteriors, another_arm_of_largest_draw, arm_of_largest_draw
from bai_gym.agents.tools.scanning import arm_of_largest, largest
from bai_gym.agents.tools.variances import is_flat
from bai_gym.errors import ParameterError
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Episode, PerArm, Rule
from bai_gym.theory.deviations import inverse_h
from bai_gym.validation import choice, integer, probability

__all__ = ["EBTC", "EBTCI", "T3C", "TTEI", "TTTSGLR", "TTUCB"]

A = 1.2  # alpha and s of TTUCB
MOST = 700.0  # the exponential function of more is no float


class TopTwoState(ConfidenceState, Posteriors):
    """What the rules of top-two agents use."""

    beta: float  # probability of pulling the leader; 0 for the adaptive one
    tracks: bool  # whether the share of the leader is tracked
    tries: int  # largest number of draws for a challenger
    uniform: bool  # whether the bonus of TTUCB is the uniform one
    score: PerArm  # what is maximised
    leader: int = -1  # B for which evidence W(B, j) is known
    known: PerArm  # W(B, j) when it was computed last, for unknown variances
    by_gap: PerArm  # 1 / gap^2 then
    by_precision: PerArm  # v / N of B then
    led_by: PerArm  # N of B then
    counted: PerArm  # N of j then; 0 where it is not known
    led: PerArm  # times as leader, L
    own: PerArm  # pulls as leader


def t3c(e: Episode, s: TopTwoState, w: TopTwoState, rng: np.random.Generator) -> int:
    """Thompson sampling with the challenger of smallest transportation cost."""
    best = arm_of_largest_draw(e, s, w, rng)
    return one_of(e, s, w, best, cheapest(e, s, w, best, 0.0, rng), rng)


def ttts(e: Episode, s: TopTwoState, w: TopTwoState, rng: np.random.Generator) -> int:
    """Top-two Thompson sampling: repeat the draw until another arm is the best."""
    best = arm_of_largest_draw(e, s, w, rng)
    if rng.random() < s.beta:
        return best
    other = another_arm_of_largest_draw(e, s, w, best, s.tries, rng)
    return other if other != best else cheapest(e, s, w, best, 0.0, rng)


def eb_tc(e: Episode, s: TopTwoState, w: TopTwoState, rng: np.random.Generator) -> int:
    """Empirical best, and the challenger of smallest transportation cost."""
    best = e.leader
    return one_of(e, s, w, best, cheapest(e, s, w, best, 0.0, rng), rng)


def eb_tci(e: Episode, s: TopTwoState, w: TopTwoState, rng: np.random.Generator) -> int:
    """Empirical best, and the challenger of smallest transportation cost + log N_j."""
    best = e.leader
    return one_of(e, s, w, best, cheapest(e, s, w, best, 1.0, rng), rng)


def ttucb(e: Episode, s: TopTwoState, w: TopTwoState, rng: np.random.Generator) -> int:
    """Largest upper confidence bound, and the challenger of smallest transportation cost."""
    log_t = math.log(float(e.made))
    if s.uniform:
        g = 2.0 * A * (1.0 + A) * log_t
    else:
        g = inverse_h(2.0 * A * A * log_t + 2.0 * math.log(2.0 + A * log_t) + 2.0)
    for arm in range(e.num_arms):
        rate = g / e.pulls[arm] if s.family == GAUSSIAN else math.expm1(min(g / e.pulls[arm], MOST))
        w.score[arm] = e.mean[arm] + math.sqrt(rate * variance_of(e, s, w, arm))
    best = arm_of_largest(w.score, e, rng)
    return one_of(e, s, w, best, cheapest(e, s, w, best, 0.0, rng), rng)


def ttei(e: Episode, s: TopTwoState, w: TopTwoState, rng: np.random.Generator) -> int:
    """Top-two expected improvement: the largest over the best mean, and the largest over the leader."""
    largest = e.mean[e.leader]
    for arm in range(e.num_arms):
        w.score[arm] = log_improvement(e.mean[arm] - largest, variance_of(e, s, w, arm) / e.pulls[arm])
    best = arm_of_largest(w.score, e, rng)
    for arm in range(e.num_arms):
        square = variance_of(e, s, w, arm) / e.pulls[arm] + variance_of(e, s, w, best) / e.pulls[best]
        w.score[arm] = log_improvement(e.mean[arm] - e.mean[best], square)
    w.score[best] = -np.inf
    return one_of(e, s, w, best, arm_of_largest(w.score, e, rng), rng)


def cheapest(e: Episode, s: TopTwoState, w: TopTwoState, best: int, explores: float, rng: np.random.Generator) -> int:
    """Return the arm j other than the leader B of smallest W(B, j), to which log N_j is added if ``explores`` is 1."""
    if s.family == STUDENT and best == e.leader and not any_flat(e, s):
        score_few(e, s, w, best, explores)
    else:
        for arm in range(e.num_arms):
            w.score[arm] = -evidence(e, s, w, best, arm) - (math.log(e.pulls[arm]) if explores > 0.0 else 0.0)
    w.score[best] = -np.inf
    return arm_of_largest(w.score, e, rng)


def score_few(e: Episode, s: TopTwoState, w: TopTwoState, best: int, explores: float) -> None:
    """Score the arms for unknown variances: the largest scores are -W(B, j), others may be larger than that.

    W is the least sum of (N / 2) log(1 + gap_x^2 / v) of both arms. It shrinks at most by the factor by which gap^2 or
    gap^2 N_B / v_B have shrunk since it was computed, because log(1 + c z) >= c log(1 + z) for c in [0, 1]. So it is
    computed again only where it might be the smallest one.
    """
    precision = e.pulls[best] / variance_of(e, s, w, best)
    if s.leader != best:
        for arm in range(e.num_arms):
            w.counted[arm] = 0.0
        s.leader = best
    for arm in range(e.num_arms):
        gap = e.mean[best] - e.mean[arm]
        shrunk = gap * gap * w.by_gap[arm] * min(precision * w.by_precision[arm], 1.0)
        least = w.known[arm] * (1.0 if w.led_by[arm] == e.pulls[best] else min(shrunk, 1.0) * (1.0 - SLACK))
        w.score[arm] = -least if w.counted[arm] == e.pulls[arm] else 0.0
    if explores > 0.0:
        for arm in range(e.num_arms):
            w.score[arm] -= math.log(e.pulls[arm])
    w.score[best] = -np.inf
    top, is_final = largest(w.score), False
    while not is_final:
        is_final = True
        for arm in range(e.num_arms):
            if w.score[arm] == top and not (w.counted[arm] == e.pulls[arm] and w.led_by[arm] == e.pulls[best]):
                compute(e, s, w, best, arm, precision)
                w.score[arm] = -w.known[arm] - (math.log(e.pulls[arm]) if explores > 0.0 else 0.0)
                is_final = False
        top = largest(w.score)


def compute(e: Episode, s: TopTwoState, w: TopTwoState, best: int, arm: int, precision: float) -> None:
    """Compute W(B, j), and store what it was computed for."""
    gap = e.mean[best] - e.mean[arm]
    w.known[arm], w.led_by[arm], w.counted[arm] = evidence(e, s, w, best, arm), e.pulls[best], e.pulls[arm]
    w.by_gap[arm], w.by_precision[arm] = 1.0 / (gap * gap) if gap * gap > TINY else 0.0, 1.0 / precision


def any_flat(e: Episode, s: TopTwoState) -> bool:
    """Return whether the variance of an arm depends on those of others, as :func:`floored` has it."""
    is_any = False
    for arm in range(e.num_arms):
        is_any |= is_flat(e.variance[arm], s.pooled)
    return is_any


def one_of(e: Episode, s: TopTwoState, w: TopTwoState, best: int, other: int, rng: np.random.Generator) -> int:
    """Return the leader with probability beta, or the challenger.

    With tracking it is the leader B where B has been pulled in at most a share beta of the times when it was the
    leader.
    """
    if s.tracks:
        w.led[best] += 1.0
        if w.own[best] <= s.beta * w.led[best]:
            w.own[best] += 1.0
            return best
        return other
    return best if rng.random() < (s.beta if s.beta > 0.0 else adaptive_beta(e, s, w, best, other)) else other


def adaptive_beta(e: Episode, s: TopTwoState, w: TopTwoState, best: int, other: int) -> float:
    """Return the part of the leader in the divergence N_B d(m_B, p) + N_C d(m_C, p).

    For Gaussian rewards of equal variances it is N_C / (N_B + N_C).
    """
    n, m = e.pulls[best], e.pulls[other]
    if s.family == BERNOULLI:
        p = (n * e.mean[best] + m * e.mean[other]) / (n + m)
        own = n * bernoulli_divergence(e.mean[best], p)
        total = own + m * bernoulli_divergence(e.mean[other], p)
        return own / total if total > 0.0 else 0.5
    own, others = variance_of(e, s, w, best) / n, variance_of(e, s, w, other) / m
    return float(own / (own + others))


def log_improvement(difference: float, square: float) -> float:
    """Return log of the expected improvement s f(x), x = difference / s, s^2 = square, f(x) = x Phi(x) + phi(x).

    Far out, where the terms of f underflow, it is computed by a series.
    """
    z = difference / math.sqrt(square)
    if z < -30.0:
        u = 1.0 / (z * z)
        log_f = -0.5 * z * z - 0.5 * math.log(2.0 * math.pi) + math.log(u * (1.0 - u * (3.0 - u * (15.0 - 105.0 * u))))
    else:
        density = math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
        log_f = math.log(density + 0.5 * z * math.erfc(-z / math.sqrt(2.0)))
    return log_f + 0.5 * math.log(square)


@dataclass(kw_only=True)
class TopTwo(ConfidenceAgent):
    """Base of top-two agents.

    Args:
        beta: Probability of pulling the leader, in (0, 1); default 1/2. ``"ids"``: N_C / (N_B + N_C) for Gaussian
            rewards of equal variances, and generally the leader's part of the divergence N_B d(m_B, p) + N_C d(m_C, p).
        select: ``"random"``: the leader is pulled with probability beta. ``"tracking"``: it is pulled if it was
            pulled in at most a share beta of the times when it was the leader, this one included.
    """

    beta: float | str = 0.5
    select: str = "random"

    @override
    def begin(self, info: ProblemInfo) -> None:
        choice(self.select, ("random", "tracking"), f"select of {self.name}")
        if isinstance(self.beta, str):
            if self.beta != "ids":
                raise ParameterError(f"beta of {self.name} must be 'ids' or a number in (0, 1), not {self.beta!r}")
            if self.select == "tracking":
                raise ParameterError(f"beta='ids' of {self.name} needs select='random': tracking is for a fixed beta")
        beta = 0.0 if self.beta == "ids" else probability(self.beta, f"beta of {self.name}")
        super().begin(info)
        self.values.update(beta=beta, tracks=self.select == "tracking")


@dataclass(kw_only=True)
class T3C(TopTwo):
    """Pulls the best arm of a posterior draw, or the arm that is the cheapest to confuse with it.

    Paper: Shang, de Heide, Menard, Kaufmann and Valko (2020), "Fixed-confidence guarantees for Bayesian best-arm
    identification". For Gaussian rewards the mean number of pulls is T*_beta log(1 / delta) for small delta. The
    posterior has a flat prior for Gaussian rewards, and a uniform one for Bernoulli rewards.
    """

    name: ClassVar[str] = "T3C"
    rule: ClassVar[Rule] = Rule(index=mean_of, choose=t3c, stops=is_separated, state=TopTwoState)


@dataclass(kw_only=True)
class TTTSGLR(ConfidenceAgent):
    """Top-two Thompson sampling that stops by likelihood ratios.

    Paper: Shang, de Heide, Menard, Kaufmann and Valko (2020), "Fixed-confidence guarantees for Bayesian best-arm
    identification", after Russo (2016). Difference: after ``tries`` draws without another best arm the challenger is
    that of T3C; as the posterior concentrates, draws are repeated ever more often.

    Args:
        beta: Probability of pulling the leader, in (0, 1); default 1/2.
        tries: Largest number of draws for a challenger, at least 1; default 100.
    """

    beta: float = 0.5
    tries: int = 100

    name: ClassVar[str] = "TTTS-GLR"
    rule: ClassVar[Rule] = Rule(index=mean_of, choose=ttts, stops=is_separated, state=TopTwoState)

    @override
    def begin(self, info: ProblemInfo) -> None:
        integer(self.tries, f"tries of {self.name}", least=1)
        probability(self.beta, f"beta of {self.name}")
        super().begin(info)
        self.values.update(beta=self.beta, tries=self.tries)


@dataclass(kw_only=True)
class EBTC(TopTwo):
    """Pulls the arm of largest mean, or the arm that is the cheapest to confuse with it.

    An arm with an unlucky start may wait very long for its next pull, so the number of pulls has a heavy tail.

    Paper: Jourdan, Degenne, Baudry, de Heide and Kaufmann (2022), "Top Two Algorithms Revisited".
    """

    name: ClassVar[str] = "EB-TC"
    rule: ClassVar[Rule] = Rule(index=mean_of, choose=eb_tc, stops=is_separated, state=TopTwoState)


@dataclass(kw_only=True)
class EBTCI(TopTwo):
    """EB-TC whose challenger minimises W(B, j) + log N_j, so that arms with few pulls are explored.

    Paper: Jourdan, Degenne, Baudry, de Heide and Kaufmann (2022), "Top Two Algorithms Revisited".
    """

    name: ClassVar[str] = "EB-TCI"
    rule: ClassVar[Rule] = Rule(index=mean_of, choose=eb_tci, stops=is_separated, state=TopTwoState)


@dataclass(kw_only=True)
class TTUCB(TopTwo):
    """Pulls the arm of largest upper confidence bound, or the arm that is the cheapest to confuse with it.

    The bound is m + sigma sqrt(g(t) / N), with g(t) = h^-1(2 s a log t + 2 log(2 + a log t) + 2) and a = s = 1.2, where
    h(u) = u - log u. For unknown variances it is m + sqrt(v (exp(g(t) / N) - 1)), v the biased sample variance: again
    the largest q with N d(m, q) = g(t) / 2.

    Paper: Jourdan and Degenne (2023), "Non-Asymptotic Analysis of a UCB-based Top Two Algorithm". The constants are
    from public implementations; the bound for unknown variances is ours.

    Args:
        bonus: ``"mixture"`` (default): g as above. ``"uniform"``: g(t) = 2 a (1 + s) log t, which is larger.
        select: ``"tracking"`` (default) or ``"random"``.
    """

    select: str = "tracking"
    bonus: str = "mixture"

    name: ClassVar[str] = "TTUCB"
    families: ClassVar[tuple[str, ...]] = ("gaussian", "student")
    rule: ClassVar[Rule] = Rule(index=mean_of, choose=ttucb, stops=is_separated, state=TopTwoState)

    @override
    def begin(self, info: ProblemInfo) -> None:
        choice(self.bonus, ("mixture", "uniform"), f"bonus of {self.name}")
        super().begin(info)
        self.values["uniform"] = self.bonus == "uniform"


@dataclass(kw_only=True)
class TTEI(TopTwo):
    """Pulls the arm of largest expected improvement over the best mean, or of largest improvement over that arm.

    An arm with an unlucky start may wait very long for its next pull, so the number of pulls has a heavy tail, if not
    as heavy as that of EB-TC.

    Paper: Qin, Klabjan and Russo (2017), "Improving the Expected Improvement Algorithm", for Gaussian rewards of known
    variance: unless the rewards are bounded or ``sigma`` is given, it needs the true variances, as oracle knowledge.
    """

    name: ClassVar[str] = "TTEI"
    families: ClassVar[tuple[str, ...]] = ("gaussian",)
    rule: ClassVar[Rule] = Rule(index=mean_of, choose=ttei, stops=is_separated, state=TopTwoState)
