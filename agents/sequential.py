"""Sequential agents, which decide after every pull: first pulls of every arm, then a rule to the end."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from bai_gym.agents.base import Agent, Plan
from bai_gym.agents.tools.choosing import best_recommendation, most_pulled, shuffled_arms, spread_evenly
from bai_gym.errors import AgentError
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Block, Outcome, Rule, Sequential, Values
from bai_gym.statistics import IntArray, Observation, Statistics

__all__ = ["SequentialAgent", "few_pulls", "first_block", "in_random_order", "recommend_best", "recommend_most_pulled"]


def recommend_best(agent: Agent, observation: Observation) -> IntArray:
    """Return the recommendation of largest means."""
    return best_recommendation(Statistics.of(observation), agent.task, agent.tie, agent.rng)


def recommend_most_pulled(agent: Agent, observation: Observation) -> IntArray:
    """Return the arm pulled most often."""
    return most_pulled(Statistics.of(observation), agent.tie, agent.rng)


@dataclass(kw_only=True)
class SequentialAgent(Agent):
    """Pulls every arm at least once, then follows a rule; recommends the arm of largest sample mean by default.

    A subclass sets :attr:`rule`, and in :meth:`begin` the initial :attr:`values` of its state. If a budget too small
    for the first pulls is allowed, arms share it as equally as possible.

    Args:
        plain: If True, the rule is played as it is stated in the paper; if False (default), in its fast form, where
            there is one. Both have the same distribution; only the random numbers differ.

    Attributes:
        rule: How each pull is decided, as the paper states it.
        fast: The same with caches; None: the plain rule is fast enough.
        first_pulls: First pulls of each arm.
        values: Initial values of the fields of the rule's state, by name, see :class:`bai_gym.sampling.Sequential`.
    """

    plain: bool = False

    rule: ClassVar[Rule]
    fast: ClassVar[Rule | None] = None
    first_pulls: ClassVar[int] = 1
    anytime = True

    @property
    def chosen_rule(self) -> Rule:
        """The rule that is played: the fast form, unless there is none or the plain one is wanted.

        If it receives a question, that is the one of the task.
        """
        rule = self.rule if self.plain or self.fast is None else self.fast
        return rule if rule.question is None else replace(rule, question=self.task.contrasts)

    @override
    def minimum_budget(self, num_arms: int) -> int:
        """Return the first pulls of all arms."""
        return self.first_pulls * num_arms

    @override
    def reset(self, info: ProblemInfo, rng: np.random.Generator | None = None) -> None:
        """Begin new episodes, see :meth:`Agent.reset`."""
        if not hasattr(self, "rule"):
            raise AgentError(
                f"{self.name} has no rule: set the class variable `rule` to a bai_gym.sampling.Rule; an agent without "
                "one derives from Agent, and defines allocate(observation) and recommend(observation)"
            )
        self.values: Values = {}
        super().reset(info, rng)

    @override
    def plan(self) -> Plan:
        first = min(self.first_pulls * self.num_arms, self.budget)
        if first:
            yield first_block(self, first)
        if first == self.budget:
            return self.recommend(self._seen)
        outcome = yield self.sequential(self.budget - first)
        return self.conclude(outcome)

    def sequential(self, steps: int, **options: Any) -> Sequential:
        """Return the request for the pulls after the first ones.

        Args:
            steps: Their number.
            **options: Further fields of :class:`bai_gym.sampling.Sequential`.
        """
        return Sequential(self.chosen_rule, steps, self.tie, self.rng, self.values, agent=self.name, **options)

    def conclude(self, outcome: Outcome) -> IntArray:
        """Return the final recommendation: that of :meth:`recommend` on the final statistics."""
        statistics = outcome.statistics
        remaining = np.zeros((self.batch, 1), np.int64)
        observation = {"pulls": statistics.pulls, "means": statistics.means, "variances": statistics.variances}
        return self.recommend({**self._seen, **observation, "remaining": remaining})

    recommend = recommend_best


def first_block(agent: Agent, pulls: int) -> Block:
    """Return a block that shares pulls equally; in random order if a checkpoint falls within it."""
    return in_random_order(agent, spread_evenly(agent.batch, agent.num_arms, pulls, agent.tie, agent.rng))


def few_pulls(agent: Agent) -> Plan:
    """Share all pulls, fewer than one or two of every arm, and return the recommendation of largest means."""
    made = yield Block(spread_evenly(agent.batch, agent.num_arms, agent.budget, agent.tie, agent.rng))
    return best_recommendation(made, agent.task, agent.tie, agent.rng)


def in_random_order(agent: Agent, counts: IntArray) -> Block:
    """Return a block of ``(N, K)`` pulls of all arms; in random order if a checkpoint falls within it."""
    if agent.tie == "first" or not any(point < counts[0].sum() for point in agent.checkpoints):
        return Block(counts)
    arms = shuffled_arms(agent.batch, agent.num_arms, agent.tie, agent.rng)
    return Block(np.take_along_axis(counts, arms, 1), arms)
