"""FC2FB: a fixed budget spent on runs of an agent of fixed confidence, the most cautious ones first."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np
from typing_extensions import override

from bai_gym.agents.base import Agent, Plan
from bai_gym.agents.bounds.inner_runs import inner_run
from bai_gym.agents.parameters import Positive
from bai_gym.agents.registry import make
from bai_gym.agents.sequential import first_block
from bai_gym.agents.tools.choosing import best_mean
from bai_gym.errors import ParameterError
from bai_gym.problems import ProblemInfo
from bai_gym.rewards import Rewards
from bai_gym.tasks import BestArm
from bai_gym.validation import integer, real

__all__ = ["FC2FB"]

SMALLEST_DELTA = 1e-300  # that the logarithms of all agents can take


@dataclass(kw_only=True)
class FC2FB(Agent):
    """Runs an agent of fixed confidence with ever larger error probabilities, until a run stops by itself.

    The budget n is divided equally among R = floor(log2(n / q)) runs, which forget each other's samples. Run r = 1,
    ..., R may err with probability delta^(2^(R - r)); the first one that stops within its share recommends.

    Paper: Balagopalan, Li, Zhao, Nguyen, Daitche, Nassif and Jun (2026), "Fixed Budget is No Harder Than Fixed
    Confidence in Best-Arm Identification up to Logarithmic Factors", Algorithm 3. Differences: where no run stops, it
    recommends the arm of largest mean over all samples, where the paper takes any arm; episodes whose answer is known
    make the pulls of the next run as long as others of their batch need it, and ignore them.

    Args:
        agent: Name of an agent that decides when to stop; default ``"EB-TCI"``, which errs least here.
        delta: The error probability of the last run, at most 1/2; default 1/e.
        q: The smallest number of pulls that the agent may need, at least 1. None (default): its minimum budget. The
            error bound of the paper holds for any; with a smaller one there are as many runs as the agent can begin.
        b: Length of an interval that contains the rewards, for agents that have this parameter. None (default): as the
            agent chooses it.
        sigma: In place of ``b``, for rewards that are sigma-sub-Gaussian; None (default): as the agent chooses.

    Requires what the agent requires. Minimum budget: 2 q, and that of the agent.
    """

    agent: str = "EB-TCI"
    delta: float = 1.0 / math.e
    q: int | None = None
    b: Positive | None = None
    sigma: Positive | None = None

    name = "FC2FB"
    notes = ("FC2FB: its runs forget each other's samples",)

    @property
    @override
    def knows(self) -> frozenset[str]:  # type: ignore[override]
        """What the agent of fixed confidence knows."""
        return frozenset(self.made().knows)

    @property
    @override
    def uses_variances(self) -> bool:  # type: ignore[override]
        """Whether the agent of fixed confidence reads variances."""
        return bool(self.made().uses_variances)

    @override
    def minimum_budget(self, num_arms: int) -> int:
        """Return the budget of a single run."""
        least = self.made().minimum_budget(num_arms)
        return max(least, 2 * (least if self.q is None else integer(self.q, f"q of {self.name}", least=1)))

    @override
    def begin(self, info: ProblemInfo) -> None:
        real(self.delta, f"delta of {self.name}", above=0, most=0.5)
        self._info = info

    @override
    def choices(self, rewards: Rewards) -> dict[str, Any]:
        """Return what the agent of fixed confidence chooses of the parameters that are given here, too."""
        return {name: value for name, value in self.made().choices(rewards).items() if name in ("b", "sigma")}

    def made(self, delta: float | None = None) -> Agent:
        """Return a new agent of fixed confidence.

        Args:
            delta: Its allowed error probability; None: that of the parameters.

        Raises:
            ParameterError: If the agent cannot play this part, or does not take the parameters.
        """
        kind = make(self.agent)
        taken = {field.name for field in fields(kind)} if is_dataclass(kind) else set()
        if not kind.stops or "delta" not in taken or BestArm.name not in kind.tasks or kind.needs_features:
            raise ParameterError(
                f"agent of {self.name} must find the best arm with a confidence delta, without features, as LUCB and "
                f"UGapEc do, not {self.agent!r}"
            )
        given: dict[str, Any] = {"delta": self.delta if delta is None else delta, "tie": self.tie}
        for name, value in (("b", self.b), ("sigma", self.sigma)):
            if name in taken:
                given[name] = value
            elif value is not None:
                raise ParameterError(f"{name} of {self.name} cannot be given with agent={self.agent!r}, which has none")
        agent: Agent = make(self.agent, **given)
        return agent.suited_to(self.rewards)

    @override
    def plan(self) -> Plan:
        if self.budget < self.minimum_budget(self.num_arms):
            yield first_block(self, self.budget)
            return best_mean(self.statistics, self.tie, self.rng)
        least = self.made().minimum_budget(self.num_arms)
        quotient = self.budget // (least if self.q is None else self.q)
        runs = min(quotient.bit_length() - 1, self.budget // least)  # floor(log2(n / q))
        answer = np.full(self.batch, -1)
        for left in reversed(range(runs)):
            agent = self.made(max(self.delta**2.0**left, SMALLEST_DELTA))
            arm, stopped = yield from inner_run(agent, self._info, self.budget // runs, self.rng)
            answer = np.where((answer < 0) & stopped, arm, answer)
            if (answer >= 0).all():
                break
        return np.where(answer < 0, best_mean(self.statistics, self.tie, self.rng), answer)
