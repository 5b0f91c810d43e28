"""Runs of an agent of fixed confidence within a fixed budget, each of which sees its own pulls only."""

from __future__ import annotations

from collections.abc import Generator
from copy import copy
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from bai_gym.agents.base import Agent
from bai_gym.agents.registry import make
from bai_gym.agents.tools.choosing import best_mean
from bai_gym.errors import ParameterError
from bai_gym.problems import ProblemInfo
from bai_gym.rewards import Rewards
from bai_gym.sampling import Request, Sequential, execute
from bai_gym.statistics import IntArray, Statistics
from bai_gym.tasks import BestArm
from bai_gym.validation import real

__all__ = ["Bools", "ConfidentRuns"]

Bools = npt.NDArray[np.bool_]


@dataclass(kw_only=True)
class ConfidentRuns(Agent):
    """Base class of agents that spend a fixed budget on runs of an agent of fixed confidence.

    Args:
        agent: Name of an agent that decides when to stop.
        delta: Its allowed error probability.
        b: Length of an interval that contains the rewards, for agents that have this parameter. None (default): as the
            agent chooses it.
        sigma: In place of ``b``, for rewards that are sigma-sub-Gaussian; None (default): as the agent chooses.
    """

    agent: str = "LUCB"
    delta: float = 0.05
    b: float | None = None
    sigma: float | None = None

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
    def choices(self, rewards: Rewards) -> dict[str, Any]:
        """Return what the agent of fixed confidence chooses of the parameters that are given here, too."""
        return {name: value for name, value in self.made().choices(rewards).items() if name in ("b", "sigma")}

    @override
    def begin(self, info: ProblemInfo) -> None:
        """Check the parameters, and keep what the agent of fixed confidence is granted."""
        for name, value in (("b", self.b), ("sigma", self.sigma)):
            if value is not None:
                real(value, f"{name} of {self.name}", above=0)
        self._info = info

    def run(self, cap: int, delta: float | None = None) -> Generator[Request, Any, tuple[IntArray, IntArray, Bools]]:
        """Play one run of at most ``cap`` pulls, with an allowed error probability as in :meth:`made`.

        Returns:
            ``(N,)`` its recommendations, the arms of largest mean, and whether it stopped by itself.
        """
        agent, own = self.made(delta), Statistics.zeros((self.batch, self.num_arms))
        info = copy(self._info)
        info.budget, info.checkpoints = cap, ()
        agent.reset(info, self.rng)
        left = np.full((self.batch, 1), cap, np.int64)
        seen = {"pulls": own.pulls, "means": own.means, "variances": own.variances, "remaining": left}
        stopped: Bools = np.zeros(self.batch, bool)

        def play(request: Request) -> Generator[Request, Any, Any]:
            nonlocal left, stopped
            if isinstance(request, Sequential):
                window = own.copy() if request.arms is None else own.take(request.arms)
                outcome = yield replace(request, window=window if request.window is None else request.window)
                stopped = outcome.stopped
                _set(own, request.arms, outcome.statistics)
                left -= request.steps
            else:
                outcome = yield request
                left -= outcome.pulls[0].sum()
                _merge(own, request.arms, outcome)
            return outcome

        recommended = yield from execute(agent.start(seen), play)
        return recommended, best_mean(own, self.tie, self.rng), stopped


def _set(own: Statistics, arms: IntArray | None, now: Statistics) -> None:
    """Replace the statistics of the candidate arms, in place."""
    for name in ("pulls", "means", "variances"):
        if arms is None:
            getattr(own, name)[...] = getattr(now, name)
        else:
            np.put_along_axis(getattr(own, name), arms, getattr(now, name), 1)


def _merge(own: Statistics, arms: IntArray | None, block: Statistics) -> None:
    """Add the pulls of a block, in place."""
    made, part = block.flat()
    first = np.arange(len(own.pulls))[:, None] * own.pulls.shape[1]
    own.merge(made if arms is None else (first + arms).take(made), part)
