"""The episode specification, set by keyword arguments of an environment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Literal, cast, get_args

from bai_gym.bandits import Bandit
from bai_gym.budget import Budget, Costs, check_budget, check_costs
from bai_gym.errors import ParameterError
from bai_gym.problems import ProblemInfo
from bai_gym.rounds import AT_ONCE, Rounds
from bai_gym.tasks import BestArm, BestCandidate, Task, make_task
from bai_gym.validation import choice, flag, integer, real

__all__ = ["EpisodeSpec", "RewardKind"]

RewardKind = Literal["correct", "simple_regret", "estimate"]
"""Reward of the last step: 1 or 0 for a correct or wrong recommendation, minus the simple regret, or the mean of the
rewards of the recommended arms, which needs no true means."""


@dataclass(frozen=True)
class EpisodeSpec:
    """The specification of an episode.

    Attributes:
        budget: Pulls of an episode, or money where arms have costs; with fixed confidence the cap at which it is
            truncated.
        task: What is to be recommended.
        reward: Kind of the last reward.
        fixed_confidence: Whether the agent decides when to stop.
        pull_cost: Cost of a pull, with fixed confidence; where arms have costs, it multiplies them.
        costs: Costs of a pull of each arm, in the unit of the budget; None: the budget counts pulls.
        rounds: When the rewards of pulls arrive.
    """

    budget: Any
    task: Task
    reward: RewardKind
    fixed_confidence: bool = False
    pull_cost: float = 0.0
    costs: Costs | None = None
    rounds: Rounds = AT_ONCE

    @property
    def most_pulls(self) -> int:
        """The largest number of pulls that an episode can have."""
        return self.funds.most_pulls

    @property
    def funds(self) -> Budget:
        """The budget, of pulls or of money, as an object that is asked what it pays for."""
        return Budget.of(self.budget, self.costs)

    @property
    def may_stop(self) -> bool:
        """Whether an action can end the episode: with fixed confidence, and where arms have costs."""
        return self.fixed_confidence or self.costs is not None

    def in_pulls(self) -> EpisodeSpec:
        """Return the same with a budget of pulls, where all pulls cost the same; else this one."""
        funds = self.funds.in_pulls()
        if funds.costs == self.costs:
            return self
        return replace(self, budget=funds.total, pull_cost=self.pull_cost * self.funds.price(0), costs=None)

    @classmethod
    def of(
        cls,
        num_arms: int,
        budget: float,
        reward: str,
        task: Task | str,
        *,
        m: int | None = None,
        num_bandits: int | None = None,
        epsilon: float | None = None,
        threshold: float | None = None,
        fixed_confidence: bool = False,
        pull_cost: float = 0.0,
        costs: Mapping[str, float] | Iterable[float] | None = None,
        arm_names: Sequence[str] | None = None,
        candidates: BestCandidate | None = None,
        batch_size: int = 1,
        delay: int = 0,
    ) -> EpisodeSpec:
        """Check the keyword arguments.

        ``arm_names`` are those of the problem, by which costs may be given, and ``candidates`` is the problem's task,
        where it has candidates.

        Raises:
            BaiGymError: If one is invalid; the message is one line.
        """
        choice(reward, get_args(RewardKind), "reward")
        pull_cost = real(pull_cost, "pull_cost", least=0)
        fixed_confidence = flag(fixed_confidence, "fixed_confidence")
        if pull_cost and not fixed_confidence:
            raise ParameterError("pull_cost needs fixed_confidence=True: a fixed budget is spent in any case")
        made = make_task(task, num_arms=num_arms, m=m, num_bandits=num_bandits, epsilon=epsilon, threshold=threshold)
        if candidates is not None:
            made = cls._of_candidates(candidates, made)
        if isinstance(made, BestCandidate) and reward == "estimate":
            raise ParameterError(
                "reward='estimate' is the mean of an arm, and candidates need not be arms: leave it out"
            )
        checked = check_costs(costs, num_arms, arm_names)
        limit = check_budget(budget, checked)
        rounds = Rounds(integer(batch_size, "batch_size", least=1), integer(delay, "delay", least=0))
        if rounds.late and checked is not None:
            raise ParameterError(
                "costs need batch_size=1 and delay=0: a round is a number of pulls, and with costs the budget is money"
            )
        return cls(limit, made, cast(RewardKind, reward), fixed_confidence, pull_cost, checked, rounds)

    @staticmethod
    def _of_candidates(candidates: BestCandidate, task: Task) -> BestCandidate:
        """Return the task of a problem with candidates, with the accuracy of the given one."""
        if isinstance(task, BestCandidate):
            return task
        if not isinstance(task, BestArm):
            raise ParameterError(f"the task {task.name!r} has no candidates: leave out task=, or candidates=")
        made = copy(candidates)
        made.epsilon = task.epsilon
        return made

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
            costs=self.costs,
            rounds=self.rounds,
        )
