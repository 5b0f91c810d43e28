"""What an agent receives at reset, and nothing more."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from bai_gym.bandits import Bandit
from bai_gym.common.budget import Budget, Costs
from bai_gym.common.rounds import AT_ONCE, Rounds
from bai_gym.errors import AgentError, ParameterError
from bai_gym.rewards import REAL, Rewards
from bai_gym.statistics import FloatArray
from bai_gym.tasks import BestArm, Task
from bai_gym.theory import reward_bound

if TYPE_CHECKING:
    from bai_gym.bandits import GaussianPrior

__all__ = ["KNOWLEDGE", "ProblemInfo", "check_knowledge"]

KNOWLEDGE = {
    "complexity": "how hard the instance is: a complexity measure computed from the true means (and variances)",
    "prior": "the distribution that instances are drawn from",
    "range": "a bound b on the rewards, computed from the true means and variances",
    "variances": "the true reward variances",
}
"""The oracle knowledge that an agent can declare, with its meaning."""


def check_knowledge(knows: Iterable[str]) -> frozenset[str]:
    """Return the declared knowledge as a set.

    Raises:
        ParameterError: If it is not a set of names, or one is not in :data:`KNOWLEDGE`.
    """
    if isinstance(knows, str) or not isinstance(knows, Iterable):
        raise ParameterError(f"knows must be a set of names, such as {{'variances'}}, not {knows!r}")
    declared = frozenset(knows)
    unknown = sorted(declared - set(KNOWLEDGE))
    if unknown:
        raise ParameterError(f"an agent cannot declare to know {unknown[0]!r}; allowed: {', '.join(KNOWLEDGE)}")
    return declared


class ProblemInfo:
    """What an agent receives at reset: number of arms, budget, and the oracle knowledge that it declares.

    Attributes:
        num_arms: Number of arms K.
        budget: Total pulls over all arms, the same in every episode; money where arms have costs.
        batch: Number of episodes N.
        task: What is to be recommended.
        fixed_confidence: Whether the agent decides when to stop; the budget is then a cap.
        knows: The granted knowledge, elements of :data:`KNOWLEDGE`.
        checkpoints: Intermediate budgets, ascending, at which the agent must recommend; usually none. An agent can end
            its blocks there, if the order of the pulls within a block affects the distribution of its recommendations.
        features: ``(N, K, d)`` features of the arms, read-only; None where arms have none. Observations hold them too.
        rewards: The kind of the rewards, which is no secret: whoever runs the experiment knows it.
        costs: Costs of a pull of each arm, in the unit of the budget; None: all 1, and the budget counts pulls.
        paired: Whether the j-th pull of every arm is played on the same item, which is no secret either.
        num_items: How many items an arm can be pulled on before they come again, the same number for all arms; None:
            there is no end, or no common number.
        rounds: When the rewards of pulls arrive; an agent can make its requests round by round.
        arm_names: Names of the arms of the only episode, in its order; None: there are none, or several episodes.
        shuffled: Whether the arms of each episode are in an order of its own, which is not the order of the problem.
    """

    def __init__(
        self,
        num_arms: int,
        budget: Any,
        batch: int = 1,
        *,
        task: Task | None = None,
        fixed_confidence: bool = False,
        checkpoints: Iterable[int] = (),
        truth: Bandit | None = None,
        knows: Iterable[str] = (),
        costs: Costs | None = None,
        rounds: Rounds = AT_ONCE,
        arm_names: tuple[str, ...] | None = None,
        shuffled: bool = False,
    ) -> None:
        """Grant ``knows`` from the true instances ``truth``, which also provide the features.

        Without ``truth``, or if its means are unknown, no oracle knowledge can be read; without it, arms have no
        features, and rewards are any numbers.
        """
        self.num_arms = num_arms
        self.budget = budget
        self.batch = batch
        self.costs = costs
        self.rounds = rounds
        self.arm_names = arm_names
        self.shuffled = shuffled
        self.task: Task = BestArm() if task is None else task
        self.fixed_confidence = fixed_confidence
        self.checkpoints = tuple(checkpoints)
        self.knows = check_knowledge(knows)
        self.features: FloatArray | None = None if truth is None else truth.features
        self.rewards: Rewards = REAL if truth is None else truth.rewards
        self.paired: bool = truth is not None and truth.paired
        self.num_items: int | None = None if truth is None else truth.num_items
        self._truth = truth if self.knows and truth is not None and truth.known else None

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
        """Whether an action can end an episode: with fixed confidence, and where arms have costs."""
        return self.fixed_confidence or self.funds.may_remain

    def in_pulls(self) -> ProblemInfo:
        """Return the same with a budget of pulls, where all pulls cost the same."""
        funds, same = self.funds.in_pulls(), copy.copy(self)
        same.budget, same.costs = funds.total, funds.costs
        return same

    @property
    def candidates(self) -> FloatArray | None:
        """``(K_Z, d)`` what may be recommended, read-only; None where it is about arms."""
        return self.task.constants.get("candidates")

    @property
    def num_features(self) -> int | None:
        """Length d of each arm's features, None where arms have none."""
        return None if self.features is None else int(self.features.shape[-1])

    @property
    def means(self) -> FloatArray:
        """``(N, K)`` true means, from which :mod:`bai_gym.theory` computes complexities; needs ``"complexity"``."""
        return self._granted("complexity").means.copy()

    @property
    def variances(self) -> FloatArray:
        """``(N, K)`` true variances; needs ``"variances"``, or ``"complexity"``, which may depend on them."""
        return self._granted("complexity" if "complexity" in self.knows else "variances").variances.copy()

    @property
    def reward_bound(self) -> FloatArray:
        """``(N,)`` bounds b on the rewards, see :func:`bai_gym.theory.reward_bound`; needs ``"range"``."""
        truth = self._granted("range")
        return reward_bound(truth.means, truth.variances, self.most_pulls)

    @property
    def prior(self) -> GaussianPrior | None:
        """The normal distribution of the means; None where there is none; needs ``"prior"``.

        A real experiment has none.
        """
        self.check_granted("prior")
        return None if self._truth is None else self._truth.prior

    def check_agent(self, agent: Any, name: str) -> None:
        """Raise :class:`AgentError` if it takes no account of costs that there are, or needs paired arms in vain."""
        self.funds.in_pulls().check_agent(name, getattr(agent, "uses_costs", False))
        if getattr(agent, "uses_pairs", False) and not self.paired:
            raise AgentError(
                f"{name} compares arms on common items (uses_pairs), and pulls are not paired here: use an environment "
                "with paired=True (`bai-gym list envs`), a study with items=, or another agent"
            )

    def check_order(self, parameter: str) -> None:
        """Raise :class:`AgentError` where arms are shuffled; for a parameter that has a value for each arm."""
        if self.shuffled:
            raise AgentError(
                f"{parameter} has a value for each arm, and each episode has its arms in another order here: make the "
                "environment with shuffle=False"
            )

    def check_granted(self, fact: str) -> None:
        """Raise :class:`AgentError` unless the fact is granted.

        For knowledge that comes with the agent's parameters, such as ``"prior"``: it must be declared as well.
        """
        if fact not in self.knows:
            raise AgentError(f"the agent reads {fact!r} without declaring it: add it to the agent's `knows`")

    def _granted(self, fact: str) -> Bandit:
        self.check_granted(fact)
        if self._truth is None:
            raise AgentError(f"the agent needs {fact!r}, and this problem info was made without the true instances")
        return self._truth
