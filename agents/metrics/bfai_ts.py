"""BFAI-TS: top-two Thompson sampling for the best arm whose guardrails hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from typing_extensions import override

from bai_gym.agents.bayesian.thompson import TTTS, QuestionThompsonState, has_other_reward
from bai_gym.agents.sequential import SequentialAgent
from bai_gym.agents.tools.posteriors import draw_means
from bai_gym.agents.tools.questions import ask, random_arm, set_errors, weakest
from bai_gym.metrics.tasks import Feasible, best_feasible
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Episode, Rule

__all__ = ["BFAITS"]


def top_two_feasible(
    e: Episode, s: QuestionThompsonState, w: QuestionThompsonState, rng: np.random.Generator, question: Any
) -> int:
    """Pull the best feasible arm I of a draw or, with probability 1 - beta, draw again until it is another arm."""
    metrics = int(w.given[0])
    arms = e.num_arms // metrics
    draw_means(e, s, w, rng)
    best = best_feasible(w.draw, w.given)
    if best < 0:
        return metrics * int(rng.random() * arms)
    if rng.random() < s.beta:
        return best
    for _ in range(s.tries):
        draw_means(e, s, w, rng)
        other = best_feasible(w.draw, w.given)
        if other < 0:
            other = (best + metrics * (1 + int(rng.random() * (arms - 1)))) % e.num_arms
        if other != best:
            return other
    set_errors(e, s, w)
    return random_arm(e, s, w, weakest(e, s, w, ask(e.mean, s, w, question), 0.0, rng), 0.0, rng)


@dataclass(kw_only=True)
class BFAITS(TTTS):
    """Thompson sampling that pulls, with probability 1 - beta, the best feasible arm of a draw in which it is another.

    I is the arm of largest draw in the first metric, of those whose draws of the other metrics satisfy the limits; if
    there is none, a random arm is pulled. With probability beta it is pulled; else draws are repeated until another arm
    is the best feasible one, which is pulled, or none is feasible: then a random other arm. The answer for the sample
    means is recommended.

    Paper: Yang, Gao, Li and Wang (2025), "Stochastically Constrained Best Arm Identification with Thompson Sampling"
    (arXiv 2501.03877); its steps are from a secondary description. Differences: variances need not be known, see
    :class:`bai_gym.agents.bayesian.thompson.TTTS`, and if none of ``tries`` draws has another arm, one of the weakest
    contrast of the answer is pulled.

    Args:
        beta: Probability of pulling I, strictly between 0 and 1; default 1/2. The best one depends on the means.
        tries: Largest number of draws for another arm, at least 1; default 100.
        posterior: ``"bernoulli"``, ``"student"``, ``"normal"`` or None (default), see :class:`TTTS`; of all metrics.
        sigma: Standard deviation for ``"normal"``, positive, or None (default), see :class:`TTTS`.
    """

    name = "BFAI-TS"
    tasks = frozenset({Feasible.name})
    general = False
    rule = Rule(
        choose=top_two_feasible, stops=has_other_reward, state=QuestionThompsonState, question=Feasible.contrasts
    )
    fast = None
    other_rules = {}
    chosen_rule = SequentialAgent.chosen_rule

    @override
    def begin(self, info: ProblemInfo) -> None:
        super().begin(info)
        self.values["beta"] = self.beta
