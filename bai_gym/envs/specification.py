"""The episode specification, set by keyword arguments of an environment."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, cast, get_args

import numpy as np

from bai_gym.bandits import Bandit
from bai_gym.errors import BudgetError, ParameterError
from bai_gym.problems import ProblemInfo
from bai_gym.tasks import Task, make_task

__all__ = ["RewardKind", "EpisodeSpec", "check_budget"]

RewardKind = Literal["correct", "simple_regret", "estimate"]
"""Reward of the last step: 1 or 0 for a correct or wrong recommendation, minus the simple regret, or the mean of the
rewards of the recommended arms, which needs no true means."""


def check_budget(budget: object) -> int:
    """Return the budget as an int.

    Raises:
        BudgetError: If it is not a whole number of at least 1 (and at most 2^53, up to which floats count exactly).
    """
    if isinstance(budget, bool) or not isinstance(budget, int | np.integer) or not 1 <= budget <= 2**53:
        raise BudgetError(f"budget must be a whole number of pulls, at least 1 (and at most 2^53), not {budget!r}")
    return int(budget)


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
        if reward not in get_args(RewardKind):
            raise ParameterError(f"reward must be 'correct', 'simple_regret' or 'estimate', not {reward!r}")
        if isinstance(pull_cost, bool) or not isinstance(pull_cost, int | float) or not 0 <= pull_cost < math.inf:
            raise ParameterError(f"pull_cost must be a number of at least 0, not {pull_cost!r}")
        if not isinstance(fixed_confidence, bool):
            raise ParameterError(f"fixed_confidence must be True or False, not {fixed_confidence!r}")
        if pull_cost and not fixed_confidence:
            raise ParameterError("pull_cost needs fixed_confidence=True: a fixed budget is spent in any case")
        made = make_task(task, num_arms=num_arms, m=m, num_bandits=num_bandits, epsilon=epsilon, threshold=threshold)
        return cls(check_budget(budget), made, cast(RewardKind, reward), fixed_confidence, float(pull_cost))

    def problem_info(self, bandit: Bandit, knows: Iterable[str] = (), checkpoints: Iterable[int] = ()) -> ProblemInfo:
        """Return what agents receive before they play the given instances.

        Args:
            bandit: The instances, one for each episode.
            knows: Knowledge to grant from them, words of ``bai_gym.problems.KNOWLEDGE``.
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
