"""EB-TC with a slack, for any budget: the arm of largest mean against its closest rival within the slack."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from typing_extensions import override

from bai_gym.agents.parameters import Positive, Probability
from bai_gym.agents.sequential import SequentialAgent
from bai_gym.agents.tools.scanning import arm_of_largest
from bai_gym.errors import ParameterError
from bai_gym.parallel import check_memory
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Episode, PerArm, Rule, State, Vector

__all__ = ["EBTCEps"]


class EBTCState(State):
    """What the rule of EB-TC-eps uses."""

    epsilon: float  # the slack
    beta: float  # share of the leader in the pulls of a pair; 0 stands for "ids"
    cost: PerArm  # minus the evidence that the leader is better than an arm
    due: Vector  # for each pair (leader, challenger): visits times 1 - beta, minus the pulls of the challenger


def pull_pair(e: Episode, s: EBTCState, w: EBTCState, rng: np.random.Generator) -> int:
    """Pull the challenger C where its pair (B, C) has pulled it too rarely, else the leader B."""
    best, cost, epsilon = arm_of_largest(e.mean, e, rng), w.cost, s.epsilon
    for arm in range(e.num_arms):
        distance = e.mean[best] - e.mean[arm] + epsilon
        cost[arm] = -distance / np.sqrt(1.0 / e.pulls[best] + 1.0 / e.pulls[arm])
    cost[best] = -np.inf
    other = arm_of_largest(cost, e, rng)
    pair = best * e.num_arms + other
    w.due[pair] += 1.0 - s.beta if s.beta > 0.0 else e.pulls[best] / (e.pulls[best] + e.pulls[other])
    if w.due[pair] >= 0.0:
        w.due[pair] -= 1.0
        return other
    return best


@dataclass(kw_only=True)
class EBTCEps(SequentialAgent):
    """Pulls the arm B of largest mean, or the arm C of smallest (mean_B - mean_j + epsilon) / sqrt(1/T_B + 1/T_j).

    Without the slack, two arms of almost equal means would take all pulls, and an arm with an unlucky start would wait
    very long. Each pair (B, C) counts its visits t and the pulls M of C in them; C is
    pulled if M is at most (1 - beta) t, else B. The arm of largest mean is recommended, after any number of pulls.

    Paper: Jourdan, Degenne and Kaufmann (2023), "An epsilon-Best-Arm Identification Algorithm for Fixed-Confidence and
    Beyond". Difference: only the sampling rule, for a fixed budget, without the stopping rule of fixed confidence.

    Args:
        epsilon: The slack, in the unit of the rewards, above 0. Default 0.1, for rewards of standard deviation about 1.
        beta: Share of the leader in the pulls of a pair, in (0, 1); default 1/2. ``"ids"``: T_C / (T_B + T_C), averaged
            over the visits of the pair.
    """

    epsilon: Positive = 0.1
    beta: Probability | Literal["ids"] = 0.5

    name = "EB-TC-eps"
    uses_variances = False
    rule = Rule(choose=pull_pair, state=EBTCState)

    @override
    def begin(self, info: ProblemInfo) -> None:
        """Check the parameters and the memory for all pairs of arms, and set the parameters of the rule."""
        check_memory(self.num_arms, 8 * self.batch, "num_arms", ParameterError, power=2)
        beta = 0.0 if isinstance(self.beta, str) else self.beta
        self.values = {"epsilon": self.epsilon, "beta": beta, "due": np.zeros(self.num_arms**2)}
