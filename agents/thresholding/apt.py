"""APT, LSA and two UCB rules for thresholding: sequential agents that pull the arm closest to the threshold."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from typing_extensions import override

from bai_gym.agents.parameters import NotNegative, Positive
from bai_gym.agents.sequential import SequentialAgent
from bai_gym.agents.tools.ranges import length_of
from bai_gym.errors import ParameterError
from bai_gym.problems import ProblemInfo
from bai_gym.rewards import Rewards
from bai_gym.sampling import Rule, State
from bai_gym.statistics import FloatArray
from bai_gym.tasks import Thresholding
from bai_gym.theory import threshold_h1, threshold_sigma_h1

__all__ = ["APT", "LSA", "ThresholdUCBE", "ThresholdUCBEV"]


class APTState(State):
    """What the rule of APT uses."""

    threshold: float  # tau
    epsilon: float  # half width of the indifference zone


def apt_index(pulls: float, mean: float, variance: float, s: APTState) -> float:
    """Return -B, with B = sqrt(T) (|mean - threshold| + epsilon); the arm of smallest B is pulled."""
    return -np.sqrt(pulls) * (abs(mean - s.threshold) + s.epsilon)


@dataclass(kw_only=True)
class APT(SequentialAgent):
    """Pulls the arm of smallest sqrt(T) (|mean - threshold| + epsilon), and recommends the means above the threshold.

    Paper: Locatelli, Gutzeit and Carpentier (2016), "An Optimal Algorithm for the Thresholding Bandit Problem",
    Algorithm 1.

    Args:
        epsilon: Half width of the indifference zone around the threshold; at least 0, in the unit of the reward.
            Default 0.05, as in Mukherjee et al. (2017). Independent of the accuracy of the task.
    """

    epsilon: NotNegative = 0.05

    name = "APT"
    tasks = frozenset({Thresholding.name})
    uses_variances = False
    rule = Rule(index=apt_index, state=APTState)

    @override
    def begin(self, info: ProblemInfo) -> None:
        assert isinstance(self.task, Thresholding)  # as tasks says
        self.values = {"threshold": self.task.threshold, "epsilon": self.epsilon}


class LSAState(APTState):
    """What the rule of LSA uses."""

    alpha: float  # weight of the distance


def lsa_index(pulls: float, mean: float, variance: float, s: LSAState) -> float:
    """Return -alpha T (|mean - threshold| + epsilon)^2 - log(T) / 2, whose largest arm is pulled."""
    distance = abs(mean - s.threshold) + s.epsilon
    return -s.alpha * pulls * distance * distance - 0.5 * math.log(pulls)


@dataclass(kw_only=True)
class LSA(APT):
    """Logarithmic-sample algorithm: pulls the arm of smallest alpha T (|mean - threshold| + epsilon)^2 + log(T) / 2.

    It recommends the means above the threshold.

    Paper: Tao, Blanco, Peng and Zhou (2019), "Thresholding Bandit with Optimal Aggregate Regret"; the index as in a
    public implementation (github.com/Alanthink/banditpylib).

    Args:
        alpha: Weight of the distance, positive. None (default): 1 / b^2 for bounded rewards in an interval of length b,
            for others 1, as in that code, which is for rewards in [0, 1]. The value of the paper's theorem could not be
            checked.
        epsilon: Half width of the indifference zone around the threshold; at least 0, in the unit of the reward.
            Default 0. Independent of the accuracy of the task.
    """

    alpha: Positive | None = None
    epsilon: NotNegative = 0.0

    name = "LSA"
    rule = Rule(index=lsa_index, state=LSAState)

    @override
    def choices(self, rewards: Rewards) -> dict[str, Any]:
        """Return the weight, for which the unit of the rewards does not matter where they are bounded."""
        return {"alpha": length_of(rewards) ** -2.0}

    @override
    def begin(self, info: ProblemInfo) -> None:
        super().begin(info)
        self.values["alpha"] = self.setting("alpha")


class UCBEState(State):
    """What the rules of UCBE and UCBEV use."""

    threshold: float  # tau
    a: float  # exploration
    root: float  # sqrt(a)


def ucbe_index(pulls: float, mean: float, variance: float, s: UCBEState) -> float:
    """Return sqrt(a / T) - |mean - threshold|, whose largest arm is pulled."""
    return s.root / np.sqrt(pulls) - abs(mean - s.threshold)


@dataclass(kw_only=True)
class ThresholdUCBE(SequentialAgent):
    """Pulls the arm of smallest |mean - threshold| - sqrt(a / T), and recommends the means above the threshold.

    The exploration is a = c (n - K) / H_1, with the true complexity H_1, the sum of 1 / (mean - threshold)^2.

    Paper: Mukherjee et al. (2017), "Thresholding Bandits with Augmented UCB", section 4, where it is called UCBE. It
    adapts UCB-E, the agent for the best arm.

    Args:
        c: Factor of the exploration, positive; default 1. The experiments of Locatelli et al. (2016) have powers of 4.
        a: The exploration itself, at least 0, in place of c (n - K) / H_1; None (default): not given.

    Knows the complexity, unless ``a`` is given.
    """

    c: Positive = 1.0
    a: NotNegative | None = None

    name = "UCBE-T"
    tasks = frozenset({Thresholding.name})
    uses_variances = False
    rule = Rule(index=ucbe_index, state=UCBEState)

    @property
    @override
    def knows(self) -> frozenset[str]:  # type: ignore[override]
        """The complexity, unless ``a`` is given."""
        return frozenset({"complexity"} if self.a is None else ())

    @override
    def begin(self, info: ProblemInfo) -> None:
        free = max(self.budget - self.num_arms, 0)
        assert isinstance(self.task, Thresholding)  # as tasks says
        exploration = given_exploration(self)
        if exploration is None:
            exploration = self.c * (free / threshold_h1(info.means, self.task.threshold))
        self.exploration: FloatArray = exploration
        self.values = {"threshold": self.task.threshold, "root": np.sqrt(self.exploration)}


def given_exploration(agent: ThresholdUCBE | ThresholdUCBEV) -> FloatArray | None:
    """Return the ``(N,)`` exploration a if it is given."""
    if agent.a is None:
        return None
    if agent.c != 1.0:
        raise ParameterError(f"c of {agent.name} has no effect where a is given: leave one of them out")
    return np.full(agent.batch, float(agent.a))


def bernstein_index(pulls: float, mean: float, variance: float, s: UCBEState) -> float:
    """Return sqrt(2 a v / T) + 7 a / (3 (T - 1)) - |mean - threshold|, whose largest arm is pulled."""
    width = np.sqrt(2.0 * s.a * variance / pulls) + (7.0 / 3.0) * s.a / (pulls - 1.0)
    return width - abs(mean - s.threshold)


PRINTED, BERNSTEIN = Rule(index=ucbe_index, state=UCBEState), Rule(index=bernstein_index, state=UCBEState)


@dataclass(kw_only=True)
class ThresholdUCBEV(SequentialAgent):
    """UCBE-T with the exploration a = c (n - 2K) / H_sigma,1, where the complexity counts the true variances.

    Paper: Mukherjee et al. (2017), "Thresholding Bandits with Augmented UCB", section 4, where it is called UCBEV. As
    printed there, the index is that of UCBE-T: variances enter through the one number a, and not arm by arm as in
    GapE-V, which it adapts.

    Args:
        c: Factor of the exploration, positive; default 1. Experiment 6 of the paper has 1/4, 1 and 256.
        index: ``"printed"`` (default): |mean - threshold| - sqrt(a / T). ``"bernstein"``: the width of GapE-V,
            sqrt(2 a v / T) + 7 a / (3 (T - 1)), with the sample variance v and a = c (8/9) (n - 2K) / H, where H is
            H_sigma,1 with its numerators squared, as in Gabillon et al. (2011); it has two first pulls of every arm.
        a: The exploration itself, at least 0, in place of one of the above; None (default): not given.

    Knows the complexity, unless ``a`` is given.
    """

    c: Positive = 1.0
    index: Literal["printed", "bernstein"] = "printed"
    a: NotNegative | None = None

    name = "UCBEV-T"
    other_rules = {'index="bernstein"': BERNSTEIN}
    knows = ThresholdUCBE.knows
    tasks = frozenset({Thresholding.name})

    @property
    @override
    def uses_variances(self) -> bool:  # type: ignore[override]
        """Whether the width is that of GapE-V."""
        return self.index == "bernstein"

    @property
    @override
    def first_pulls(self) -> int:  # type: ignore[override]
        """A sample variance takes two pulls."""
        return 2 if self.index == "bernstein" else 1

    @property
    @override
    def rule(self) -> Rule:  # type: ignore[override]
        """The rule of the index."""
        return BERNSTEIN if self.index == "bernstein" else PRINTED

    @override
    def minimum_budget(self, num_arms: int) -> int:
        """Return the smallest budget for which the exploration is not negative."""
        return 2 * num_arms

    @override
    def begin(self, info: ProblemInfo) -> None:
        squared = self.index == "bernstein"
        free = max(self.budget - 2 * self.num_arms, 0) * (8.0 / 9.0 if squared else 1.0)
        assert isinstance(self.task, Thresholding)  # as tasks says
        exploration = given_exploration(self)
        if exploration is None:
            complexity = threshold_sigma_h1(info.means, info.variances, self.task.threshold, squared=squared)
            exploration = self.c * (free / complexity)
        self.exploration: FloatArray = exploration
        self.values = {"threshold": self.task.threshold, "a": self.exploration, "root": np.sqrt(self.exploration)}
