"""TopTwo-TCI: the best feasible arm, and the arm that is the cheapest to confuse with it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bai_gym.agents.fixed_confidence.stopping import ConfidenceAgent, ConfidenceState, Question, is_settled
from bai_gym.agents.tools.posteriors import BERNOULLI
from bai_gym.agents.tools.questions import answer, evidence, least_evidence, set_errors, weakest_group
from bai_gym.metrics.tasks import Feasible, best_feasible
from bai_gym.sampling import TO_FIRST, Episode, Rule

__all__ = ["TopTwoTCI"]


def leader_or_challenger(
    e: Episode, s: ConfidenceState, w: ConfidenceState, rng: np.random.Generator, question: Question
) -> int:
    """Pull the leader or the challenger, either with probability 1/2; where one of them is no arm, the other."""
    set_errors(e, s, w)
    n, leader, cost = answer(e, s, w, question), best_feasible(e.mean, w.given), 0.0
    for k in range(n):
        cost = cost if k > 0 and w.group[k] == w.group[k - 1] else 0.0  # Lambda: the sum over a group
        cost += evidence(e, s, w, k) if s.family == BERNOULLI else least_evidence(e, w, k)
        w.strength[k] = cost + w.log[arm_against(w, k, leader)]
    challenger = arm_against(w, weakest_group(w, n, e.tie == TO_FIRST, rng), leader)
    return leader if leader >= 0 and rng.random() < 0.5 else challenger


def arm_against(w: ConfidenceState, k: int, leader: int) -> int:
    """Return the first cell of the arm that may be the answer in place of the leader; for none, that of the leader."""
    metrics, i, j = int(w.given[0]), int(w.first[k]), int(w.second[k])
    cell = i if j < 0 or (i >= 0 and i - i % metrics != leader) else j
    return cell - cell % metrics


@dataclass(kw_only=True)
class TopTwoTCI(ConfidenceAgent):
    """Pulls the best feasible arm of the sample means, or the arm that is the cheapest to confuse with it.

    The leader is the answer for the sample means, an arm or none. Lambda_j is the cost of the nearest means for which j
    is the answer: for an arm, that it satisfies the limits that it violates and is not worse than the leader; for none,
    that the leader violates a limit. The challenger has the smallest Lambda_j + log N_j, where none has the pulls of
    the leader. The leader or the challenger is pulled, either with probability 1/2; where one is none, the other.

    Paper: Lardy, Katsimerou and Koolen (2025), "Constrained Best Arm Identification", TopTwo-TCI. Differences: costs
    are those of metrics that are independent in a pull, whose parts are added up; the paper knows or estimates their
    covariances. The rule that stops is proved without that, see :mod:`bai_gym.agents.fixed_confidence.stopping`.
    """

    name = "TopTwo-TCI"
    tasks = frozenset({Feasible.name})
    general = False
    rule = Rule(choose=leader_or_challenger, stops=is_settled, state=ConfidenceState, question=Feasible.contrasts)
