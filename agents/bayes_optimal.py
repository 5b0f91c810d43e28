"""Bayes-optimal play: what no other agent can surpass, on average over the prior."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from bai_gym.agents.base import Agent
from bai_gym.agents.posteriors import count_successes
from bai_gym.errors import AgentError
from bai_gym.problems import Briefing
from bai_gym.sampling import ArgmaxTable, SamplingRule, TieRule
from bai_gym.statistics import FloatArray, IntArray, Observation, Statistics
from bai_gym.theory import BayesSolution, solve_bayes

__all__ = ["BayesOptimal", "BayesOptimalRule"]


@dataclass(kw_only=True)
class BayesOptimal(Agent):
    """Plays exactly optimally on 0/1 rewards with means from a Beta prior: finite-horizon dynamic programming.

    Pulls the arm after which the expected value of going on optimally is the largest, and recommends the arm that is
    most probably the best. For few arms and small budgets alone, such as K = 2, n = 100; K = 3, n = 40; K = 4, n = 20:
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

    Knows the prior, and nothing about the instance: agents that are told its variances, say, may surpass it. Minimum
    budget: 1. Other rewards than 0 and 1 are an error.
    """

    objective: str = "correct"
    alpha: float = 1.0
    beta: float = 1.0
    memory_limit: float = 1.0

    name: ClassVar[str] = "BayesOptimal"
    knows: ClassVar[frozenset[str]] = frozenset({"prior"})
    uses_variances: ClassVar[bool] = False

    def minimum_budget(self, num_arms: int) -> int:
        """Return 1: arms without a pull are judged by the prior."""
        return 1

    def begin(self, briefing: Briefing) -> None:
        """Compute the optimal actions, or look them up."""
        briefing.check_granted("prior")
        self._solution = solve_bayes(
            self.num_arms, self.budget, self.objective, self.alpha, self.beta, self.memory_limit
        )

    def allocate(self, observation: Observation) -> SamplingRule:
        """Decide about each pull."""
        remaining = int(observation["remaining"].flat[0])
        return BayesOptimalRule(remaining, self._solution, tie=self.tie, rng=self.rng)

    def recommend(self, observation: Observation) -> IntArray:
        """Return the arm that is most probably the best one, or of largest posterior mean."""
        if observation["remaining"].any():
            raise AgentError(f"{self.name} recommends when the budget is spent, and there are pulls left")
        window = Statistics.of(observation).window()
        best = self._solution.best_actions(_successes(window.pulls, window.means), window.pulls.astype(np.int64))
        return np.asarray(_one_of(best, window.pulls, self.tie, self.rng) // self.batch)


class BayesOptimalRule(SamplingRule):
    """Pulls an arm that is optimal in the state of its episode.

    Args:
        steps: Number of pulls.
        solution: The optimal actions.
        tie: Tie rule.
        rng: Source of randomness.
    """

    def __init__(self, steps: int, solution: BayesSolution, *, tie: TieRule, rng: np.random.Generator) -> None:
        """Remember the solution."""
        self.steps = steps
        self._solution = solution
        self._tie: TieRule = tie
        self._rng = rng

    def start(self, window: Statistics) -> None:
        """Count successes."""
        self._pulls = window.pulls.astype(np.int64)
        self._successes = _successes(window.pulls, window.means)

    def choose(self) -> IntArray:
        """Return optimal arms."""
        best = self._solution.best_actions(self._successes, self._pulls)
        return _one_of(best, self._pulls, self._tie, self._rng)

    def update(self, flat: IntArray, pulls: FloatArray, means: FloatArray, variances: FloatArray) -> None:
        """Count the successes of the pulled arms."""
        successes = self._successes.reshape(-1)
        now = _successes(pulls, means)
        _refuse_unless(now - successes.take(flat) >> 1 == 0)  # 0 or 1
        successes[flat] = now
        self._pulls.reshape(-1)[flat] += 1


def _successes(pulls: npt.NDArray[np.float64], means: FloatArray) -> IntArray:
    successes, fits = count_successes(pulls, means)
    _refuse_unless(fits)
    return successes.astype(np.int64)


def _refuse_unless(fits: npt.NDArray[np.bool_]) -> None:
    if not fits.all():
        raise AgentError("BayesOptimal needs rewards of 0 and 1, and has met another one: use an agent for any rewards")


def _one_of(
    best: npt.NDArray[np.bool_], pulls: npt.NDArray[np.number], tie: TieRule, rng: np.random.Generator
) -> IntArray:
    """Return one of the best arms of each episode, by the tie rule, as a flat position ``arm * N + episode``."""
    return ArgmaxTable(best.astype(np.float64), tie, rng).argmax(pulls)
