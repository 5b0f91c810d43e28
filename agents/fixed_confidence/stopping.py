"""Stopping rules of fixed confidence: likelihood ratios, thresholds by name, and a base for agents.

An agent stops when the evidence W for each contrast of its answer is above a threshold, and recommends that answer; W
is the logarithm of the generalised likelihood ratio, see :mod:`bai_gym.agents.tools.questions`. For the best arm i that
is W(i, j) = N_i d(m_i, p) + N_j d(m_j, p) for every other arm j, p the mean of both that fits best. Any sampling rule
may be combined with it. A wrong answer has a contrast that the true means overturn, so with U of these over all wrong
answers (:meth:`bai_gym.tasks.Task.overturned`; K - 1 for the best arm), the level log(U / delta) is proof. Of contrasts
that are overturned together only, one is enough.

Thresholds, with t pulls in all and K arms (proved: the recommendation is wrong with probability at most delta):

| name | formula | proved for |
|---|---|---|
| `mixture` | log(U / delta), for mixtures of likelihood ratios, not the largest | rewards of each family |
| `gk16` | log((1 + log t) / delta) | nothing; the usual one in experiments |
| `gk16-bernoulli` | log(2 t (K - 1) / delta) | rewards in [0, 1] |
| `kk21` | 3 log(1 + log N_i) + 3 log(1 + log N_j) + 2 C_exp(log((K - 1) / delta) / 2) | in [0, 1], Gaussian |
| `kk21-gauss` | 2 log(4 + log N_i) + 2 log(4 + log N_j) + 2 C_G(log((K - 1) / delta) / 2) | Gaussian, sub-Gaussian |
| `tt-bounded` | log(1 / delta) + 2 log(1 + t / 2) + 2 + log(K - 1) | rewards in [0, 1] |
| `student` | the sum over i and j of (N / 2) log(1 + q^2 / (N - 1)) | Gaussian, unknown variances |

`mixture` and `gk16` are for every question, the others for the best arm. `mixture` is the smallest of the proved ones
up to at least 10^6 pulls, and the default; see
:mod:`bai_gym.agents.tools.mixtures`. For unknown variances it is a threshold for W(i, j).

With d of Bernoulli rewards, what is proved for rewards 0 and 1 holds for all rewards X in [0, 1]: the proofs need that
a likelihood ratio (q / p)^X ((1 - q) / (1 - p))^(1 - X) has a mean of at most 1 where X has the mean p. It is convex in
X, so its mean is at most that for rewards 0 and 1. (The mixture over q of `gk16-bernoulli` is within 2 sqrt(N) of the
largest likelihood for sums of rewards that are no integers, too: S log S - log Gamma(S + 1/2) is convex in S, so the
ratio is the largest for S = 0 and S = N.)

Sources: Garivier and Kaufmann (2016), "Optimal Best Arm Identification with Fixed Confidence", Theorem 10 and section
6; Kaufmann and Koolen (2021), "Mixture Martingales Revisited with Applications to Sequential Tests and Confidence
Intervals"; Jourdan, Degenne, Baudry, de Heide and Kaufmann (2022), "Top Two Algorithms Revisited". `student` is derived
here: q is a quantile of Student's t with N - 1 degrees of freedom, of probability 6 delta / (pi^2 K N^2) on both sides.
Where no T-statistic ever exceeds its q, N log(1 + (m - mu)^2 / v) / 2 of each arm (v the biased sample variance) is at
most its term of the threshold, and W(i, j) at most their sum for every j that is better than i.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from bai_gym.agents.parameters import Count, Oracle, Positive, Probability
from bai_gym.agents.sequential import SequentialAgent
from bai_gym.agents.tools.batches import BatchState, is_look
from bai_gym.agents.tools.divergences import TINY, variance_of
from bai_gym.agents.tools.mixtures import (
    bounded_evidence,
    gaussian_evidence,
    student_level,
    student_threshold,
)
from bai_gym.agents.tools.posteriors import BERNOULLI, GAUSSIAN, STUDENT, pool_variances
from bai_gym.agents.tools.questions import QuestionState, ask, contrast_values, evidence, gap
from bai_gym.agents.tools.ranges import ORACLE, dependence_note, deviation_or_oracle, gaussian_note
from bai_gym.bandits import Bandit
from bai_gym.errors import AgentError
from bai_gym.problems import ProblemInfo
from bai_gym.rewards import Rewards
from bai_gym.sampling import Episode, Outcome
from bai_gym.statistics import ROUNDING, FloatArray, IntArray
from bai_gym.tasks import BestArm, Task
from bai_gym.theory.deviations import exponential_family_c, gaussian_c
from bai_gym.validation import choice

__all__ = [
    "BERNOULLI",
    "FAMILIES",
    "GAUSSIAN",
    "STUDENT",
    "ConfidenceAgent",
    "ConfidenceState",
    "common_term",
    "confidence_note",
    "fits",
    "is_separated",
    "mean_of",
    "own_term",
]

FAMILIES = ("gaussian", "bernoulli", "student")
THRESHOLDS = {
    "gaussian": ("mixture", "kk21-gauss", "kk21", "gk16", "tt-bounded"),
    "bernoulli": ("mixture", "gk16-bernoulli", "kk21", "tt-bounded", "gk16"),
    "student": ("mixture", "student", "gk16"),
}
"""Thresholds of each family, the default first."""
FOR_CONTRASTS = ("mixture", "gk16")  # those that are stated for contrasts of one arm and with an offset, too
HEURISTIC = {
    ("gaussian", "gk16"),
    ("gaussian", "tt-bounded"),
    ("bernoulli", "gk16"),
    ("student", "gk16"),
}
NAMES = (
    "gk16",
    "gk16-bernoulli",
    "kk21",
    "kk21-gauss",
    "tt-bounded",
    "student",
    "union",
    "mixture",
)
HUGE = 1e90  # whose cubes are floats
Question = Callable[[FloatArray, Any, FloatArray], int]
best_arm: Question = BestArm.contrasts
GK16, GK16_BERNOULLI, KK21, KK21_GAUSS, TT_BOUNDED, BY_STUDENT, UNION, MIXTURE = range(8)


class ConfidenceState(QuestionState, BatchState):
    """What stopping rules use."""

    threshold: int  # its place among NAMES
    level: float  # log(1 / delta)
    constant: float  # the constant part of the threshold
    single: float  # the same for a contrast of one arm
    misfit: bool  # whether a reward did not fit the family
    at: int  # the contrast that was not proved last


def is_settled(e: Episode, s: ConfidenceState, w: ConfidenceState, question: Question) -> bool:
    """Return whether the evidence suffices for each contrast of the answer; of a group, for one of them.

    It is also True where a reward does not fit the family.
    """
    pool_variances(e, s)
    if not fits(e, s):
        return True
    if not is_look(e, s):
        return False
    n = s.contrasts = ask(e.mean, s, w, question)
    s.answered = e.made
    s.at = s.at if s.at < n else 0
    if not is_proved(e, s, w, s.at, n):
        return False
    for k in range(n):
        if k != s.at and not is_proved(e, s, w, k, n):
            return False
    return True


def is_separated(e: Episode, s: ConfidenceState, w: ConfidenceState) -> bool:
    """Return :func:`is_settled` for the best arm."""
    return is_settled(e, s, w, best_arm)


def is_proved(e: Episode, s: ConfidenceState, w: ConfidenceState, k: int, n: int) -> bool:
    """Return whether the evidence suffices for a contrast, or for another one of its group; if not, remember it."""
    start = k
    while start > 0 and w.group[start - 1] == w.group[k]:
        start -= 1
    end = start
    while end < n and w.group[end] == w.group[k]:
        if suffices(e, s, w, end):
            return True
        end += 1
    s.at = k
    return False


def error_of(e: Episode, s: ConfidenceState, w: ConfidenceState, arm: int) -> float:
    """Return the variance of a sample mean, 0 for no arm."""
    return variance_of(e, s, w, arm) / e.pulls[arm] if arm >= 0 else 0.0


def level_of(s: ConfidenceState, i: int, j: int) -> float:
    """Return the constant part of the threshold for a contrast of two arms, or of one."""
    return s.constant if i >= 0 and j >= 0 else s.single


def suffices(e: Episode, s: ConfidenceState, w: ConfidenceState, k: int) -> bool:
    """Return whether the evidence for a contrast is above the threshold."""
    i, j, offset, distance = int(w.first[k]), int(w.second[k]), float(w.offset[k]), gap(e.mean, w, k)
    n, m = e.pulls[i] if i >= 0 else 0.0, e.pulls[j] if j >= 0 else 0.0
    ratio, level = likelihood_ratio(e, s, w, k), level_of(s, i, j)
    if s.threshold != MIXTURE:
        return ratio > common_term(e, s) + own_term(n, s) + own_term(m, s)
    if ratio < level:  # no mixture is larger than the largest likelihood ratio
        return False
    if s.family == BERNOULLI:
        one, two = e.mean[i] if i >= 0 else offset, e.mean[j] if j >= 0 else -offset
        return bounded_evidence(n, one, m, two, offset, level) >= level
    if s.family == STUDENT:
        return ratio >= student_threshold(n, m, level)
    own, other = w.variances[i] if i >= 0 else 0.0, w.variances[j] if j >= 0 else 0.0
    return gaussian_evidence(n, own, m, other, distance) >= level


def likelihood_ratio(e: Episode, s: ConfidenceState, w: ConfidenceState, k: int) -> float:
    """Return W, the logarithm of the generalised likelihood ratio for a contrast."""
    if s.family == BERNOULLI:
        return evidence(e, s, w, k)
    i, j, distance = int(w.first[k]), int(w.second[k]), gap(e.mean, w, k)
    if distance <= 0.0:
        return 0.0
    if s.family == GAUSSIAN:
        return 0.5 * distance * distance / max(error_of(e, s, w, i) + error_of(e, s, w, j), TINY)
    if i < 0 or j < 0:
        arm = max(i, j)
        return float(0.5 * e.pulls[arm] * math.log1p(distance * distance / variance_of(e, s, w, arm)))
    return student_evidence(e.pulls[i], variance_of(e, s, w, i), e.pulls[j], variance_of(e, s, w, j), distance)


def mean_of(pulls: float, mean: float, variance: float, s: ConfidenceState) -> float:
    """Return the mean: the index, whose leader is recommended."""
    return mean


def common_term(e: Episode, s: ConfidenceState) -> float:
    """Return the part of the threshold that all pairs of arms share."""
    t = float(e.made)
    if s.threshold == GK16:
        return s.level + math.log(1.0 + math.log(t))
    if s.threshold == GK16_BERNOULLI:
        return s.level + math.log(2.0 * t * (e.num_arms - 1.0))
    if s.threshold == TT_BOUNDED:
        return s.level + 2.0 * math.log(1.0 + 0.5 * t) + 2.0 + math.log(e.num_arms - 1.0)
    return s.constant if s.threshold != BY_STUDENT else 0.0


def own_term(pulls: float, s: ConfidenceState) -> float:
    """Return the part of the threshold that depends on the pulls of one arm; without pulls, of none."""
    if pulls == 0.0:
        return 0.0
    if s.threshold == KK21:
        return 3.0 * math.log(1.0 + math.log(pulls))
    if s.threshold == KK21_GAUSS:
        return 2.0 * math.log(4.0 + math.log(pulls))
    if s.threshold == BY_STUDENT:
        return student_term(pulls, s.constant)
    return 0.0


def student_term(pulls: float, level: float) -> float:
    """Return the threshold term (N / 2) L of an arm of unknown variance, with L = log(1 + q^2 / (N - 1)).

    With n = N - 1 and b = exp(-L), the probability of a larger T-statistic is that of a Beta(n / 2, 1 / 2) variable
    below b, which is at most sqrt(2 / (pi n)) b^(n / 2) / sqrt(1 - b). L is where this bound is exp(-level) / N^2.
    """
    half = 0.5 * (pulls - 1.0)
    goal = level + 2.0 * math.log(pulls) - 0.5 * math.log(math.pi * half)
    x = max(goal, 1e-9) / half
    for _ in range(50):  # Newton's method, from the left of the root of a concave function
        rest = -math.expm1(-x)
        step = (goal - half * x - 0.5 * math.log(rest)) / (half + 0.5 * (1.0 - rest) / rest)
        x += step
        if abs(step) <= 1e-12 * x:
            break
    return 0.5 * pulls * x


def student_evidence(n: float, v: float, m: float, w: float, gap: float) -> float:
    """Return W of two arms of unknown variance: pulls n, m, biased variances v, w, and the distance of their means.

    At the minimum over u in [0, 1] of n log(1 + (1 - u)^2 / a) / 2 + m log(1 + u^2 / b) / 2, with a = v / gap^2 and b =
    w / gap^2, u is a root of (n + m) u^3 - (n + 2 m) u^2 + (n b + m (1 + a)) u - n b; there may be three.
    """
    if gap * gap < TINY:
        return 0.0
    a, b = min(max(v / (gap * gap), TINY), HUGE), min(max(w / (gap * gap), TINY), HUGE)
    shift = (n + 2.0 * m) / (3.0 * (n + m))
    linear = (n * b + m * (1.0 + a)) / (n + m)
    third = linear / 3.0 - shift * shift
    half = shift * shift * shift - 0.5 * shift * linear + 0.5 * n * b / (n + m)
    square = half * half + third * third * third
    least = np.inf
    for k in range(3):
        if square >= 0.0:
            root = math.sqrt(square)
            u = shift + np.cbrt(half + root) + np.cbrt(half - root)
        else:
            angle = math.acos(min(max(half / math.sqrt(-third * third * third), -1.0), 1.0))
            u = shift + 2.0 * math.sqrt(-third) * math.cos((angle - 2.0 * math.pi * k) / 3.0)
        u = min(max(u, 0.0), 1.0)
        value = 0.5 * n * math.log1p((1.0 - u) * (1.0 - u) / a) + 0.5 * m * math.log1p(u * u / b)
        least = min(least, value)
        if square >= 0.0:  # the only root
            break
    return least


def fits(e: Episode, s: ConfidenceState) -> bool:
    """Return whether the last reward (at the start all means) is in [0, 1], which the Bernoulli family needs."""
    if s.family != BERNOULLI:
        return True
    inside = e.pulled < 0 or 0.0 <= e.reward <= 1.0
    for arm in range(e.num_arms if e.pulled < 0 else 0):
        inside = inside and 0.0 <= e.mean[arm] <= 1.0
    s.misfit = not inside
    return inside


def confidence_note(agent: str, family: str, sigma: float | str | None, bandit: Bandit) -> tuple[str, ...]:
    """Return a note unless the rewards of a bandit belong to a family for which the confidence is proved."""
    low, high = bandit.limits()
    proved = f"{agent}: its confidence is proved for"
    if family == "bernoulli":
        return () if low >= 0.0 and high <= 1.0 else (f"{proved} rewards in [0, 1], and these may take other values",)
    if family == "gaussian" and isinstance(sigma, float | int):
        if bandit.scale() <= sigma * (1.0 + ROUNDING):
            return ()
        return (f"{proved} {sigma:g}-sub-Gaussian rewards, and these need not be; give it sigma=",)
    return gaussian_note(agent, bandit)


@dataclass(kw_only=True)
class ConfidenceAgent(SequentialAgent):
    """Base of agents that stop by generalised likelihood ratios, and recommend the answer for the sample means.

    With arms tied for the best only the cap of the environment stops them; with a fixed budget they may leave pulls
    unspent. Those whose rule receives a question play every task that states its contrasts; the others look for the
    best arm itself, not for one that is at most epsilon worse.

    Args:
        delta: Allowed error probability, in (0, 1). Default 0.1.
        family: Rewards that the statistics are for: ``"bernoulli"``: 0 and 1, or any in [0, 1]; ``"gaussian"``: of
            known variance, or sub-Gaussian; ``"student"``: Gaussian of unknown variances, which takes two first pulls
            of each arm. None (default): ``"bernoulli"`` for rewards in [0, 1], ``"gaussian"`` for bounded ones and
            where ``sigma`` is given, else ``"student"``; the next of these where the agent or the threshold has not
            that family.
        sigma: Standard deviation of Gaussian rewards, positive; or a sigma for which rewards are sigma-sub-Gaussian.
            ``"oracle"``: the true variances of the arms, which is oracle knowledge. None (default): half the length of
            the interval of bounded rewards; for others ``"oracle"``, where the family is not that of unknown variances.
        threshold: Name of the threshold, see :mod:`bai_gym.agents.fixed_confidence.stopping`. None (default): the
            smallest proved one, ``"mixture"``. ``"gk16"``, usual in papers, is a heuristic.
        batch_size: Pulls between two looks at whether to stop, at least 1, the default. What is proved for a look after
            every pull holds for fewer looks. Pulls are chosen by all rewards so far.
    """

    delta: Probability = 0.1
    family: str | None = None
    sigma: Positive | Oracle | None = None
    threshold: str | None = None
    batch_size: Count = 1

    stops = True
    families: ClassVar[tuple[str, ...]] = FAMILIES
    thresholds: ClassVar[dict[str, tuple[str, ...]]] = THRESHOLDS

    @override
    def choices(self, rewards: Rewards) -> dict[str, Any]:
        """Return the family for rewards of a kind and, for the Gaussian one, a sigma."""
        suitable = ["bernoulli"] if rewards.in_unit_interval else []
        if self.sigma is not None:
            suitable = []
        elif np.isinf(rewards.width):
            suitable = ["student"]
        suitable = [family for family in (*suitable, "gaussian") if family in self.families]
        fitting = [one for one in suitable if self.threshold is None or self.threshold in self.thresholds[one]]
        family = (fitting or suitable)[0] if self.family is None else self.family
        sigma = {"sigma": deviation_or_oracle(rewards)} if family == "gaussian" else {}
        return {"family": family, **sigma}

    @property
    @override
    def first_pulls(self) -> int:  # type: ignore[override]
        """Two pulls of each arm where the statistics need the sample variances."""
        return 2 if self.setting("family") == "student" else 1

    @property
    @override
    def uses_variances(self) -> bool:  # type: ignore[override]
        """Whether the statistics need the sample variances."""
        return bool(self.setting("family") == "student")

    @property
    @override
    def knows(self) -> frozenset[str]:  # type: ignore[override]
        """The variances, where the family has known ones and ``sigma`` is the oracle's."""
        is_given = self.setting("family") == "gaussian" and self.setting("sigma") == ORACLE
        return frozenset({"variances"} if is_given else ())

    @property
    @override
    def notes(self) -> tuple[str, ...]:  # type: ignore[override]
        """A sentence for tables if the threshold is not proved."""
        if (self.setting("family"), self.threshold) not in HEURISTIC:
            return ()
        return (f"{self.name}: the threshold {self.threshold} is a heuristic, its error probability may exceed delta",)

    @property
    def by_pairs(self) -> bool:
        """Whether the evidence of two arms is added up."""
        return self.rule.stops in (is_settled, is_separated)

    @property
    @override
    def general(self) -> bool:  # type: ignore[override]
        """Whether the rule receives the question."""
        return self.rule.question is not None

    @property
    def question(self) -> Task:
        """The task whose contrasts the rule receives: that of the episodes, or the best arm."""
        return BestArm() if self.rule.question is None else self.task

    def unmet_assumptions(self, bandit: Bandit) -> tuple[str, ...]:
        """Return a note if the confidence guarantee does not cover the rewards of a bandit."""
        agent = self.suited_to(bandit.rewards)
        if agent.notes:
            return ()
        notes = confidence_note(self.name, agent.setting("family"), agent.setting("sigma"), bandit)
        return notes + dependence_note(self.name, bandit, by_pairs=self.by_pairs)

    @override
    def begin(self, info: ProblemInfo) -> None:
        """Check the parameters, and set the fields of :class:`ConfidenceState`; subclasses add their own."""
        family = choice(self.setting("family"), self.families, f"family of {self.name}")
        self.check_task()
        threshold = self.check_threshold()
        level = math.log(1.0 / self.delta)
        tie = self.tie if self.rule.question else "first"  # only rules that ask draw an order
        union = self.question.overturned(self.num_arms)
        pair = 0.5 * (level + math.log(union))
        constant = {
            "kk21": 2.0 * exponential_family_c(pair),
            "kk21-gauss": 2.0 * gaussian_c(pair),
            "student": level + math.log(math.pi**2 * self.num_arms / 6.0),
            "mixture": student_level(2.0 * pair) if family == "student" else 2.0 * pair,
        }.get(threshold, 0.0)
        self.values = {
            "family": FAMILIES.index(family),
            "threshold": NAMES.index(threshold),
            "level": level,
            "batch_size": self.batch_size,
            "constant": constant,
            "single": 2.0 * pair if threshold == "mixture" else constant,
            **contrast_values(self.question, self.num_arms, self.batch, tie, self.rng),
        }
        if family == "gaussian":
            self.values["variances"] = np.maximum(self.known_variances(info), TINY)

    def known_variances(self, info: ProblemInfo) -> FloatArray | float:
        """Return the square of sigma, checked, or the ``(N, K)`` true variances."""
        sigma = self.setting("sigma")
        return info.variances if sigma == ORACLE else float(sigma) ** 2

    def check_task(self) -> None:
        """Raise :class:`AgentError` for a task with an accuracy above 0, unless the rule knows its contrasts."""
        if self.question.epsilon != self.task.epsilon:
            raise AgentError(
                f"{self.name} looks for the best arm itself: use an environment with epsilon=0, not "
                f"{self.task.epsilon:g}, or an agent such as KL-LUCB, LUCB or UGapEc"
            )

    def check_threshold(self) -> str:
        """Return the name of the threshold."""
        family = self.setting("family")
        allowed = self.thresholds[family]
        if type(self.question) is not BestArm or self.question.epsilon > 0:
            allowed = tuple(name for name in allowed if name in FOR_CONTRASTS)
        if self.threshold is None:
            return allowed[0]
        return choice(self.threshold, allowed, f"threshold of {self.name} for {family} rewards and {self.task!r}")

    @override
    def conclude(self, outcome: Outcome) -> IntArray:
        """Return the recommendation; all rewards must fit the family."""
        means = outcome.statistics.means
        misfit = outcome.states["misfit"].any() or (means < 0).any() or (means > 1).any()
        if self.setting("family") == "bernoulli" and misfit:
            raise AgentError(
                f"{self.name} with family='bernoulli' needs rewards in [0, 1], but got another one: use "
                "family='gaussian' with sigma=, or family='student'"
            )
        return super().conclude(outcome)
