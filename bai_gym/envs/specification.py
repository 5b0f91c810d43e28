"""The episode specification, set by keyword arguments of an environment."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, cast, get_args

from bai_gym.bandits import Bandit
from bai_gym.errors import BudgetError, ParameterError
from bai_gym.problems import ProblemInfo
from bai_gym.tasks import Task, make_task
from bai_gym.validation import choice, flag, integer, real

__all__ = ["RewardKind", "EpisodeSpec", "check_budget"]

RewardKind = Literal["correct", "simple_regret", "estimate"]
"""Reward of the last step: 1 or 0 for a correct or wrong recommendation, minus the simple regret, or the mean of the
rewards of the recommended arms, which needs no true means."""


def check_budget(budget: object) -> int:
    """Return the budget as an int.

    Raises:
        BudgetError: If it is not an integer of at least 1 (and at most 2^53, up to which floats count exactly).
    """
    rule = "an integer number of pulls, at least 1 (and at most 2^53)"
    return integer(budget, "budget", least=1, most=2**53, rule=rule, error=BudgetError)


@dataclass(frozen=True)
class EpisodeSpec:
    """The specification of an episode.

    Attributes:
        budget: Pulls of an episode; with fixed confidence the cap at which it is truncated.
        task: What is to be recommended.
        reward: Kind of the last reward.
        fixed_confidence: Whether the agent decides when to stop.
        pull_cost: Cost of a pull, with fixed confidence.
    """

    budget: int
    task: Task
    reward: RewardKind
    fixed_confidence: bool = False
    pull_cost: float = 0.0

    @classmethod
    def of(
        cls,
        num_arms: int,
        budget: int,
        reward: str,
        task: Task | str,
        *,
        m: int | None = None,
        num_bandits: int | None = None,
        epsilon: float | None = None,
        threshold: float | None = None,
        fixed_confidence: bool = False,
        pull_cost: float = 0.0,
    ) -> EpisodeSpec:
        """Check the keyword arguments.

        Raises:
            BaiGymError: If one is invalid; the message is one line.
        """
        choice(reward, get_args(RewardKind), "reward")
        pull_cost = real(pull_cost, "pull_cost", least=0)
        fixed_confidence = flag(fixed_confidence, "fixed_confidence")
        if pull_cost and not fixed_confidence:
            raise ParameterError("pull_cost needs fixed_confidence=True: a fixed budget is spent in any case")
        made = make_task(task, num_arms=num_arms, m=m, num_bandits=num_bandits, epsilon=epsilon, threshold=threshold)
        return cls(check_budget(budget), made, cast(RewardKind, reward), fixed_confidence, pull_cost)

    def problem_info(self, bandit: Bandit, knows: Iterable[str] = (), checkpoints: Iterable[int] = ()) -> ProblemInfo:
        """Return what agents receive before they play the given instances.

        Args:
            bandit: The instances, one for each episode.
            knows: Knowledge to grant from them, elements of ``bai_gym.problems.KNOWLEDGE``.
            checkpoints: Pull counts after which the agent is asked for a recommendation.
        """
        return ProblemInfo(
            bandit.num_arms,
            self.budget,
            bandit.batch,
            task=self.task,
            fixed_confidence=self.fixed_confidence,
            checkpoints=checkpoints,
            truth=bandit,
            knows=knows,
        )
