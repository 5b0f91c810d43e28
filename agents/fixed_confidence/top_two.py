"""Top-two algorithms with a stopping rule: a contrast of a leader B and a challenger C, and one of the two is pulled.

They differ in how the contrast is chosen, from those of an answer (:mod:`bai_gym.agents.tools.questions`); W is the
evidence for it:

| agent | answer for | contrast |
|---|---|---|
| T3C | a draw from the posterior | smallest W |
| TTTS-GLR | a draw from the posterior | the one overturned most by the first draw that overturns any |
| EB-TC | the sample means | smallest W |
| EB-TCI | the sample means | smallest W + log N_C |
| TTUCB | upper confidence bounds | smallest W |

For the best arm the answer is B, and its contrasts are those with every other arm C. So these are the published
algorithms; for other questions they are the ones of Qin and You (arXiv 2310.19319), with some of their names.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from typing_extensions import override

from bai_gym.agents.bayesian.thompson import QuestionThompsonState, top_two_of_question
from bai_gym.agents.fixed_confidence.stopping import (
    GAUSSIAN,
    ConfidenceAgent,
    ConfidenceState,
    Question,
    best_arm,
    is_settled,
)
from bai_gym.agents.parameters import Count, Probability
from bai_gym.agents.tools.divergences import variance_of
from bai_gym.agents.tools.posteriors import draw_means
from bai_gym.agents.tools.questions import answer, ask, random_arm, set_errors, weakest
from bai_gym.errors import ParameterError
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Episode, PerArm, Rule
from bai_gym.tasks import BestArm, BestOfEach
from bai_gym.theory.deviations import inverse_h

__all__ = ["EBTC", "EBTCI", "T3C", "TTTSGLR", "TTUCB"]

A = 1.2  # alpha and s of TTUCB
MOST = 700.0  # the exponential function of more is no float


class TopTwoState(QuestionThompsonState, ConfidenceState):
    """What the rules of top-two agents use."""

    tracks: bool  # whether the share of the leader is tracked
    score: PerArm  # upper bounds
    led: PerArm  # times as leader, L
    own: PerArm  # pulls as leader


def t3c(e: Episode, s: TopTwoState, w: TopTwoState, rng: np.random.Generator, question: Question) -> int:
    """Pull an arm of the weakest contrast of the answer for a draw."""
    set_errors(e, s, w)
    draw_means(e, s, w, rng)
    n = ask(w.draw, s, w, question)
    return one_of(e, s, w, weakest(e, s, w, n, 0.0, rng), rng)


def eb_tc(e: Episode, s: TopTwoState, w: TopTwoState, rng: np.random.Generator, question: Question) -> int:
    """Pull an arm of the weakest contrast of the answer for the sample means."""
    set_errors(e, s, w)
    n = answer(e, s, w, question)
    return one_of(e, s, w, weakest(e, s, w, n, 0.0, rng), rng)


def eb_tci(e: Episode, s: TopTwoState, w: TopTwoState, rng: np.random.Generator, question: Question) -> int:
    """EB-TC with the smallest W + log N of the challenger."""
    set_errors(e, s, w)
    n = answer(e, s, w, question)
    return one_of(e, s, w, weakest(e, s, w, n, 1.0, rng), rng)


def ttucb(e: Episode, s: TopTwoState, w: TopTwoState, rng: np.random.Generator, question: Question) -> int:
    """Pull an arm of the weakest contrast of the answer for upper confidence bounds."""
    set_errors(e, s, w)
    log_t = math.log(float(e.made))
    g = inverse_h(2.0 * A * A * log_t + 2.0 * math.log(2.0 + A * log_t) + 2.0)
    for arm in range(e.num_arms):
        rate = g / e.pulls[arm] if s.family == GAUSSIAN else math.expm1(min(g / e.pulls[arm], MOST))
        w.score[arm] = e.mean[arm] + math.sqrt(rate * variance_of(e, s, w, arm))
    n = ask(w.score, s, w, question)
    return one_of(e, s, w, weakest(e, s, w, n, 0.0, rng), rng)


def one_of(e: Episode, s: TopTwoState, w: TopTwoState, k: int, rng: np.random.Generator) -> int:
    """Return an arm of a contrast: the leader, its first arm, with probability beta, or the challenger.

    With tracking it is the leader where that has been pulled in at most a share beta of the times when it was the
    leader.
    """
    leader, other = int(w.first[k]), int(w.second[k])
    if not s.tracks or leader < 0 or other < 0:
        return random_arm(e, s, w, k, s.beta, rng)
    w.led[leader] += 1.0
    if w.own[leader] <= s.beta * w.led[leader]:
        w.own[leader] += 1.0
        return leader
    return other


@dataclass(kw_only=True)
class TopTwo(ConfidenceAgent):
    """Base of top-two agents.

    Args:
        beta: Probability of pulling the leader, in (0, 1). ``"ids"``: its part in the evidence, N_C / (N_B + N_C) for
            Gaussian rewards of equal variances. None (default): 1/2 for the best arm, as published, else ``"ids"``.
        select: ``"random"``: the leader is pulled with probability beta. ``"tracking"``: it is pulled if it was
            pulled in at most a share beta of the times when it was the leader, this one included.
    """

    beta: Probability | Literal["ids"] | None = None
    select: Literal["random", "tracking"] = "random"

    @override
    def begin(self, info: ProblemInfo) -> None:
        beta = self.beta
        if beta is None:
            beta = 0.5 if self.task.name == BestArm.name or self.select == "tracking" else "ids"
        if beta == "ids" and self.select == "tracking":
            raise ParameterError(f"beta='ids' of {self.name} needs select='random': tracking is for a fixed beta")
        super().begin(info)
        self.values["beta"] = 0.0 if isinstance(beta, str) else beta
        self.values["tracks"] = self.select == "tracking"


@dataclass(kw_only=True)
class T3C(TopTwo):
    """Pulls the best arm of a posterior draw, or the arm that is the cheapest to confuse with it.

    Paper: Shang, de Heide, Menard, Kaufmann and Valko (2020), "Fixed-confidence guarantees for Bayesian best-arm
    identification". For Gaussian rewards the mean number of pulls is T*_beta log(1 / delta) for small delta. The
    posterior has a flat prior for Gaussian rewards, and a uniform one for Bernoulli rewards.
    """

    name = "T3C"
    rule = Rule(choose=t3c, stops=is_settled, state=TopTwoState, question=best_arm)


@dataclass(kw_only=True)
class TTTSGLR(TopTwo):
    """Top-two Thompson sampling that stops by likelihood ratios.

    Paper: Shang, de Heide, Menard, Kaufmann and Valko (2020), "Fixed-confidence guarantees for Bayesian best-arm
    identification", after Russo (2016). Difference: after ``tries`` draws without another best arm the challenger is
    that of T3C; as the posterior concentrates, draws are repeated ever more often.

    Args:
        tries: Largest number of draws for a challenger, at least 1; default 100.
    """

    select: Literal["random"] = "random"
    tries: Count = 100

    name = "TTTS-GLR"
    rule = Rule(choose=top_two_of_question, stops=is_settled, state=TopTwoState, question=best_arm)

    @override
    def begin(self, info: ProblemInfo) -> None:
        super().begin(info)
        self.values["tries"] = self.tries
        self.values["leads"] = self.task.name == BestArm.name and self.values["beta"] != 0.0


@dataclass(kw_only=True)
class EBTC(TopTwo):
    """Pulls the arm of largest mean, or the arm that is the cheapest to confuse with it.

    An arm with an unlucky start may wait very long for its next pull, so the number of pulls has a heavy tail.

    Paper: Jourdan, Degenne, Baudry, de Heide and Kaufmann (2022), "Top Two Algorithms Revisited".
    """

    name = "EB-TC"
    rule = Rule(choose=eb_tc, stops=is_settled, state=TopTwoState, question=best_arm)


@dataclass(kw_only=True)
class EBTCI(TopTwo):
    """EB-TC whose challenger minimises W(B, j) + log N_j, so that arms with few pulls are explored.

    Paper: Jourdan, Degenne, Baudry, de Heide and Kaufmann (2022), "Top Two Algorithms Revisited".
    """

    name = "EB-TCI"
    rule = Rule(choose=eb_tci, stops=is_settled, state=TopTwoState, question=best_arm)


@dataclass(kw_only=True)
class TTUCB(TopTwo):
    """Pulls the arm of largest upper confidence bound, or the arm that is the cheapest to confuse with it.

    The bound is m + sigma sqrt(g(t) / N), with g(t) = h^-1(2 s a log t + 2 log(2 + a log t) + 2) and a = s = 1.2, where
    h(u) = u - log u. For unknown variances it is m + sqrt(v (exp(g(t) / N) - 1)), v the biased sample variance: again
    the largest q with N d(m, q) = g(t) / 2.

    Paper: Jourdan and Degenne (2023), "Non-Asymptotic Analysis of a UCB-based Top Two Algorithm". The constants are
    from public implementations; the bound for unknown variances is ours.

    Args:
        select: ``"tracking"`` (default) or ``"random"``.
    """

    select: Literal["random", "tracking"] = "tracking"

    tasks = frozenset({BestArm.name, BestOfEach.name})  # where a large bound is good news
    general = False
    name = "TTUCB"
    families = ("gaussian", "student")
    rule = Rule(choose=ttucb, stops=is_settled, state=TopTwoState, question=best_arm)
