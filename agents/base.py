"""Base class of agents: given the number of arms and the budget, an agent requests pulls and recommends an arm."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from copy import copy
from dataclasses import MISSING, dataclass, fields
from typing import Any, ClassVar, Self, cast, get_args

import numpy as np

from bai_gym.adapters import stepper_of
from bai_gym.agents.parameters import check_parameters
from bai_gym.agents.registry import check_arms
from bai_gym.common.budget import Budget
from bai_gym.envs.actions import ActionEncoding
from bai_gym.errors import AgentError
from bai_gym.problems import ProblemInfo
from bai_gym.rewards import REAL, Rewards
from bai_gym.sampling import Plan, Rule, Stepper, TieRule, allocations
from bai_gym.statistics import FloatArray, IntArray, Observation, Statistics
from bai_gym.tasks import TASKS, Task
from bai_gym.validation import choice
from bai_gym.wings import hook

__all__ = ["Agent", "Plan"]


class _ClassName:
    """The name of an agent whose class sets none: that of the class."""

    def __get__(self, agent: object, owner: type) -> str:
        return owner.__name__


@dataclass(kw_only=True)
class Agent(ABC):  # noqa: B024 (subclasses have abstract methods)
    """Base class of agents; a subclass defines :meth:`plan`, or :meth:`allocate` and :meth:`recommend`.

    One agent plays N episodes at a time, in lock-step: observations, counts and recommendations have a leading axis
    of N (1 in a single episode).

    Parameters that depend on the kind of rewards, such as a posterior or a range, are None by default: the agent then
    chooses them by the kind (:meth:`chosen`), which is public, once it is known (:meth:`reset`, :meth:`suited_to`).

    Args:
        tie: How exact ties are broken. ``"random"`` (default): uniformly, by the agent's generator. ``"first"``: by
            fewest pulls, then lowest arm number; for tests and for comparison with pseudo-code.
        allow_small_budget: If True, accept a budget below the minimum; arms that it does not reach rank last. If False
            (default), raise :class:`BudgetError`.

    Attributes:
        name: The name in tables and in ``agents.make``; by default that of the class.
        knows: Oracle knowledge that the agent requires, words of ``bai_gym.problems.KNOWLEDGE``.
        batched: Whether :meth:`act` takes batches of observations.
        uses_variances: Whether the agent reads ``observation["variances"]``. If not, the runner neither draws the
            variances nor includes the key.
        uses_pairs: Whether the agent reads ``observation["differences"]`` and ``["difference_variances"]``, which only
            paired environments have (``pairs=True``; the runner sets it).
        notes: Sentences that every report showing the agent must carry.
        tasks: Names of the tasks that the agent supports, see :mod:`bai_gym.tasks`.
        general: Whether it plays every other task, too, that states its contrasts.
        stops: Whether the agent decides when to stop, as environments with fixed confidence require.
        needs_features: Whether arms must have features.
        other_rules: Rules that are played with other parameters than the defaults, such as ``tracking="C"``, by these
            parameters; the agent's page shows them, too.
        anytime: Whether :meth:`recommend` may be called after any pull and changes no state: the recommendation depends
            on the observation alone. Such an agent can be evaluated at checkpoints.
        reads_pending: Whether :meth:`act` reads ``observation["pending"]``, where rewards arrive late.
        uses_costs: Whether the agent takes account of arms of different costs; others are refused there. Arms that cost
            the same count as without costs.
        quick: Whether an episode takes at most about a nanosecond for each arm and pull of its budget, as with few
            blocks and little work between them. The runner then divides only very long chunks of episodes into parts.
    """

    tie: TieRule = "random"
    allow_small_budget: bool = False

    batched: ClassVar[bool] = True
    reads_pending: ClassVar[bool] = True
    name: ClassVar[str] = cast(str, _ClassName())
    knows: ClassVar[frozenset[str]] = frozenset()
    uses_variances: ClassVar[bool] = True
    uses_pairs: ClassVar[bool] = False
    notes: ClassVar[tuple[str, ...]] = ()
    tasks: ClassVar[frozenset[str]] = frozenset({"best-arm"})
    general: ClassVar[bool] = False
    stops: ClassVar[bool] = False
    needs_features: ClassVar[bool] = False
    other_rules: ClassVar[Mapping[str, Rule]] = {}
    anytime: ClassVar[bool] = False
    uses_costs: ClassVar[bool] = False
    quick: ClassVar[bool] = False
    _adapter = cast(Any, None)  # of plans, where a pull gives several metrics

    @property
    def rewards(self) -> Rewards:
        """The kind of rewards of the episodes; any numbers before it is known."""
        return getattr(self, "_rewards", REAL)

    def suited_to(self, rewards: Rewards) -> Self:
        """Return a copy that knows the kind of rewards, as after :meth:`reset`.

        Its oracle knowledge, minimum budget and use of variances are those for such rewards.
        """
        agent = copy(self)
        agent._rewards = rewards
        return agent

    def choices(self, rewards: Rewards) -> Mapping[str, Any]:
        """Return what the agent takes for rewards of a kind where a parameter is None, by parameter.

        Args:
            rewards: The kind of rewards.
        """
        return {}

    def chosen(self, rewards: Rewards) -> dict[str, Any]:
        """Return the parameters that are None, and so chosen by the kind of rewards, with the values chosen."""
        return {name: value for name, value in self.choices(rewards).items() if getattr(self, name) is None}

    def setting(self, parameter: str) -> Any:
        """Return the value of a parameter: the one given or, where that is None, the one chosen."""
        value = getattr(self, parameter)
        return self.choices(self.rewards).get(parameter) if value is None else value

    @property
    def label(self) -> str:
        """The name, with the parameters that differ from their defaults."""
        changed = []
        for field in fields(self):
            value = self._shown(field.name)
            default = field.default if field.default_factory is MISSING else field.default_factory()
            if value != default:
                changed.append(f"{field.name}={value}")
        return f"{self.name}({', '.join(changed)})" if changed else self.name

    def _shown(self, parameter: str) -> Any:
        """Return the value of a parameter as the label shows it."""
        return getattr(self, parameter)

    def minimum_budget(self, num_arms: int) -> int:
        """Return the smallest budget for which the algorithm is defined as published.

        Where arms have costs, the smallest budget is this number times the mean cost.

        Args:
            num_arms: K, at least 2.
        """
        return num_arms

    def least_budget(self, num_arms: int, num_features: int | None) -> int:
        """Return the smallest budget for a number of features, if the algorithm depends on it.

        Args:
            num_arms: K, at least 2.
            num_features: d, or None where arms have no features.
        """
        return self.minimum_budget(num_arms)

    def reset(self, info: ProblemInfo, rng: np.random.Generator | None = None) -> None:
        """Begin new episodes.

        Args:
            info: Number of arms, budget, number of episodes N, the kind of rewards, and the knowledge granted.
            rng: The agent's own source of randomness; never the environment's. None: a fresh unseeded one.

        Raises:
            BudgetError: If the budget is below the agent's minimum (and ``allow_small_budget`` is False).
            ParameterError: If a parameter is outside its range.
            AgentError: If the agent does not support the number of arms, the task or costs, needs features and the arms
                have none, or needs common items where arms are not paired.
        """
        told, info = info, info.in_pulls()
        info, self._adapter = hook("metrics")(info) if info.task.metrics > 1 else (info, None)
        check_parameters(self)
        self._rewards: Rewards = info.rewards
        choice(self.tie, get_args(TieRule), "tie")
        info.check_agent(self, self.name)
        if self.needs_features and info.features is None:
            raise AgentError(
                f"{self.name} needs arms with features, and these have none: use an environment that has them "
                "(`bai-gym list envs`), or an agent that ignores features"
            )
        self.funds: Budget = info.funds
        least = self.least_budget(info.num_arms, info.num_features)
        self.funds.check_least(least, self.name, info.num_arms, allow_small=self.allow_small_budget)
        self.num_arms: int = info.num_arms
        self.budget: int = self.funds.most_pulls
        self.batch: int = info.batch
        self.rng: np.random.Generator = np.random.default_rng() if rng is None else rng
        self.task: Task = info.task
        self.checkpoints: tuple[int, ...] = info.checkpoints
        if not self.plays(self.task):
            allowed = ", ".join(self.known_tasks)
            raise AgentError(f"{self.name} does not support the task {self.task.name!r}; it supports: {allowed}")
        if info.fixed_confidence and not self.stops:
            raise AgentError(
                f"{self.name} does not decide when to stop: use an environment of fixed budget, or an agent that does "
                "(`bai-gym list agents`)"
            )
        check_arms(self.name, info.num_arms)
        self._told = told  # for a Gymnasium loop, whose stepper is made there
        self._stepper: Stepper | None = None
        self.begin(info)

    def plays(self, task: Task | type[Task]) -> bool:
        """Return whether the agent plays a task: one of :attr:`tasks` or, if it is :attr:`general`, with contrasts."""
        return task.name in self.tasks or (self.general and task.contrasts is not None)

    @property
    def known_tasks(self) -> list[str]:
        """The names of all tasks that the agent plays, those of other distributions included."""
        return sorted({*self.tasks, *(name for name, task in TASKS.items() if self.plays(task))})

    def begin(self, info: ProblemInfo) -> None:  # noqa: B027 (a hook: most agents need nothing here)
        """Prepare what the algorithm needs, for example from granted knowledge; called by :meth:`reset`."""

    def start(self, seen: Observation) -> Plan:
        """Return the plan of the episodes that :meth:`reset` has begun; ``seen`` is kept up to date by the executor."""

        def begin(seen: Observation) -> Plan:
            self._seen = seen
            return self.plan()

        return begin(seen) if self._adapter is None else self._adapter(begin)(seen)

    def plan(self) -> Plan:
        """Yield requests, each of which gives its outcome, and return the recommendation.

        A request is a :class:`bai_gym.sampling.Block`, whose outcome is the ``(N, k)`` statistics of its pulls, or a
        :class:`bai_gym.sampling.Sequential`, whose outcome is a :class:`bai_gym.sampling.Outcome`. Unless a subclass
        defines a plan, it consists of what :meth:`allocate` returns, and ends with :meth:`recommend`.
        """
        return (yield from allocations(self, self._seen))

    @property
    def statistics(self) -> Statistics:
        """``(N, K)`` statistics of the episodes so far, overwritten by the next pulls: copy what must be kept.

        They are computed when read, so a plan that needs only outcomes is faster without them.
        """
        return Statistics.of(self._seen)

    @property
    def left(self) -> FloatArray:
        """``(N,)`` pulls left or, where arms have different costs, money: what :attr:`funds` are now."""
        return np.array(self._seen["remaining"][:, 0], np.float64)

    @property
    def features(self) -> FloatArray | None:
        """``(N, K, d)`` features of the arms, read-only; None where arms have none."""
        return self._seen.get("features")

    def allocate(self, observation: Observation) -> Any:
        """Return the next pulls.

        Args:
            observation: ``pulls``, ``means``, ``variances`` of shape ``(N, K)`` and ``remaining`` of shape ``(N, 1)``;
                where arms have features, ``features`` of shape ``(N, K, d)``. Read-only, and overwritten by the next
                pulls.

        Returns:
            Counts ``(N, K)`` of pulls to make before the next decision, equally many in each episode; or a
            :class:`bai_gym.sampling.Block` or :class:`bai_gym.sampling.Sequential`; or None to stop.
        """
        raise AgentError(f"{type(self).__name__} needs plan(), or allocate(observation) and recommend(observation)")

    def recommend(self, observation: Observation) -> IntArray:
        """Return the ``(N,)`` recommended arms, from an observation alone; see :attr:`anytime`."""
        raise AgentError(f"{type(self).__name__} has no recommendation before the end of its plan")

    def act(self, observation: Observation) -> Any:
        """Return the next action in a Gymnasium loop: the arm to pull or, at the end, the recommended arm.

        Args:
            observation: As the environment gives it, of one episode ``(K,)`` or of a batch ``(N, K)``.

        Returns:
            An int for one episode, ``(N,)`` int64 for a batch.

        Raises:
            AgentError: If the agent has not been reset, or the observation does not follow from its last action.
        """
        if not hasattr(self, "_told"):
            call = "agent.reset(env.unwrapped.problem_info(agent.knows), rng)"
            raise AgentError(f"{self.name} has not been reset: call {call}")
        if self._stepper is None:
            encoding = ActionEncoding(self._told.num_arms, self.task, fixed_confidence=self._told.may_stop)
            self._stepper = stepper_of(self, encoding, self._told)
        return self._stepper.act(observation)

    @property
    def idle_pulls(self) -> IntArray | None:
        """``(N, K)`` pulls of a Gymnasium loop after the agent's last request; None while it makes requests."""
        return None if self._stepper is None else self._stepper.idle
