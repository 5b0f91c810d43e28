"""The Bayes-optimal policy: no other agent is better on average over the prior."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from typing_extensions import override

from bai_gym.agents.base import Agent, Plan
from bai_gym.agents.tools.choosing import largest
from bai_gym.errors import AgentError
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Block
from bai_gym.statistics import BoolArray, IntArray
from bai_gym.theory import solve_bayes

__all__ = ["BayesOptimal"]

ROUNDED = 1e-6  # rounding error of rewards recovered from means


@dataclass(kw_only=True)
class BayesOptimal(Agent):
    """Plays exactly optimally on 0/1 rewards with means from a Beta prior: finite-horizon dynamic programming.

    Pulls the arm of largest expected value under optimal continuation, and recommends the arm that is
    most probably the best. Only for few arms and small budgets, such as K = 2, n = 100; K = 3, n = 40; K = 4, n = 20:
    the optimal actions of all states are computed in advance, and kept in the process.

    Sources: Bellman (1957), "Dynamic Programming"; for bandits Bradt, Johnson and Karlin (1956), "On Sequential
    Designs for Maximizing the Sum of n Observations".

    Args:
        objective: ``"correct"`` (default): the probability of a correct recommendation is maximised.
            ``"simple_regret"``: the expected mean of the recommended arm is.
        alpha: Parameter of the prior Beta(alpha, beta) of each mean, from 0.1 to 1,000; default 1, with beta = 1 the
            uniform prior of ``BAI-Bernoulli*``.
        beta: The other one.
        memory_limit: Gigabytes (10^9 bytes) that the computation may take; default 1.

    Knows the prior, and nothing about the instance: agents that are given its variances, say, may surpass it. Other
    rewards than 0 and 1 are an error.
    """

    objective: str = "correct"
    alpha: float = 1.0
    beta: float = 1.0
    memory_limit: float = 1.0

    name = "BayesOptimal"
    knows = frozenset({"prior"})
    uses_variances = False

    @override
    def minimum_budget(self, num_arms: int) -> int:
        """Return 1: arms without a pull are judged by the prior."""
        return 1

    @override
    def begin(self, info: ProblemInfo) -> None:
        """Compute the optimal actions, or look them up."""
        info.check_granted("prior")
        self._solution = solve_bayes(
            self.num_arms, self.budget, self.objective, self.alpha, self.beta, self.memory_limit
        )

    @override
    def plan(self) -> Plan:
        """Play pull by pull; recommend the arm that is most probably the best, or of largest mean."""
        pulls, successes = np.zeros((2, self.num_arms, self.batch), np.int64)
        rows = np.arange(self.batch)
        for _ in range(self.budget):
            arms = self._one_of(self._solution.best_actions(successes, pulls), pulls)
            statistics = yield Block.single(arms)
            rewards = statistics.means[:, 0]
            if not ((np.abs(rewards) < ROUNDED) | (np.abs(rewards - 1.0) < ROUNDED)).all():
                raise AgentError(
                    f"{self.name} needs rewards of 0 and 1, but got another one: use an agent that accepts any rewards"
                )
            pulls[arms, rows] += 1
            successes[arms, rows] += np.rint(rewards).astype(np.int64)
        return self._one_of(self._solution.best_actions(successes, pulls), pulls)

    def _one_of(self, best: BoolArray, pulls: IntArray) -> IntArray:
        """Return ``(N,)`` one of the best arms ``(K, N)`` of each episode, by the tie rule."""
        return largest(best.T.astype(np.float64), np.ones(self.batch), pulls.T, self.tie, self.rng)
