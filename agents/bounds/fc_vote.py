"""FCVote: a fixed budget spent on independent runs of an agent of fixed confidence, which vote."""

from __future__ import annotations

import math
from collections.abc import Generator
from copy import copy
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from bai_gym.agents.base import Agent, Plan
from bai_gym.agents.registry import make
from bai_gym.agents.sequential import first_block
from bai_gym.agents.tools.choosing import best_mean, keep_best
from bai_gym.errors import ParameterError
from bai_gym.problems import ProblemInfo
from bai_gym.rewards import Rewards
from bai_gym.sampling import Request, Sequential, execute
from bai_gym.statistics import IntArray, Statistics
from bai_gym.tasks import BestArm
from bai_gym.validation import integer, real

__all__ = ["FCVote", "scales"]

LARGEST_DELTA = 1.0 / (4.0 * math.e)
Bools = npt.NDArray[np.bool_]


@dataclass(kw_only=True)
class FCVote(Agent):
    """Runs an agent of fixed confidence many times with small caps and a few times with large ones; the runs vote.

    The budget is divided equally among S scales. At scale c = 0, ..., S - 1 independent runs of the agent are capped at
    T_c = 2^c T_0 pulls, as many runs as the scale's budget allows. A scale is valid if at least half of its runs stop
    by themselves. The smallest valid scale recommends the plurality of these runs; without a valid scale it is the
    plurality of the arms of largest mean at the last one. Pulls that runs leave are not spent.

    An agent of this library, with the property that Balagopalan et al. (2026, arXiv 2602.03972) show for their own
    construction: the budget that it needs is, up to logarithms, what the agent of fixed confidence needs. A valid scale
    of m runs errs with probability at most (4 e delta)^(m / 4).

    Args:
        agent: Name of an agent that decides when to stop; default ``"LUCB"``.
        delta: Its allowed error probability, above 0 and below 1 / (4 e); default 0.05.
        first: T_0, at least the agent's minimum budget; None (default): twice that.
        b: Length of an interval that contains the rewards, for agents that have this parameter. None (default): as the
            agent chooses it.
        sigma: In place of ``b``, for rewards that are sigma-sub-Gaussian; None (default): as the agent chooses.

    Requires what the agent requires. Minimum budget: T_0.
    """

    agent: str = "LUCB"
    delta: float = 0.05
    first: int | None = None
    b: float | None = None
    sigma: float | None = None

    name: ClassVar[str] = "FCVote"
    notes: ClassVar[tuple[str, ...]] = (
        "FCVote: its runs forget each other's samples, and with a small budget none of them stops by itself",
    )

    @property
    @override
    def knows(self) -> frozenset[str]:  # type: ignore[override]
        """What the agent of fixed confidence knows."""
        return frozenset(self._made().knows)

    @property
    @override
    def uses_variances(self) -> bool:  # type: ignore[override]
        """Whether the agent of fixed confidence reads variances."""
        return bool(self._made().uses_variances)

    def _made(self) -> Agent:
        """Return a new agent of fixed confidence.

        Raises:
            ParameterError: If the agent cannot play this part, or does not take the parameters.
        """
        kind = make(self.agent)
        taken = {field.name for field in fields(kind)} if is_dataclass(kind) else set()
        if not kind.stops or "delta" not in taken or BestArm.name not in kind.tasks or kind.needs_features:
            raise ParameterError(
                f"agent of FCVote must find the best arm with a confidence delta, without features, as LUCB and UGapEc "
                f"do, not {self.agent!r}"
            )
        given: dict[str, Any] = {"delta": self.delta, "tie": self.tie}
        for name, value in (("b", self.b), ("sigma", self.sigma)):
            if name in taken:
                given[name] = value
            elif value is not None:
                raise ParameterError(f"{name} of FCVote cannot be given with agent={self.agent!r}, which has none")
        agent: Agent = make(self.agent, **given)
        return agent.suited_to(self.rewards)

    @override
    def choices(self, rewards: Rewards) -> dict[str, Any]:
        """Return what the agent of fixed confidence chooses of the parameters that are given here, too."""
        return {name: value for name, value in self._made().choices(rewards).items() if name in ("b", "sigma")}

    @override
    def minimum_budget(self, num_arms: int) -> int:
        """Return one run with the smallest cap."""
        return 2 * self._made().minimum_budget(num_arms) if self.first is None else self.first

    @override
    def reset(self, info: ProblemInfo, rng: np.random.Generator | None = None) -> None:
        """Check the parameters, on which the minimum budget depends, and begin new episodes."""
        self._rewards = info.rewards
        real(self.delta, f"delta of {self.name}", finite=False)
        if not 0.0 < self.delta < LARGEST_DELTA:
            raise ParameterError(f"delta of FCVote must lie strictly between 0 and 1 / (4 e) = 0.092, not {self.delta}")
        for name, value in (("b", self.b), ("sigma", self.sigma)):
            if value is not None:
                real(value, f"{name} of {self.name}", above=0)
        if self.first is not None:
            integer(self.first, f"first of {self.name}", least=self._made().minimum_budget(info.num_arms))
        super().reset(info, rng)

    @override
    def begin(self, info: ProblemInfo) -> None:
        """Keep what the agent of fixed confidence is granted."""
        self._info = info

    @override
    def plan(self) -> Plan:
        first = self.minimum_budget(self.num_arms)
        if self.budget < first:
            yield first_block(self, self.budget)
            return best_mean(self.statistics, self.tie, self.rng)
        chosen = np.full(self.batch, -1)
        votes = np.zeros((self.batch, self.num_arms))
        for cap, runs in scales(self.budget, first):
            ended = np.zeros(self.batch, np.int64)
            votes, fallback = np.zeros_like(votes), np.zeros_like(votes)
            for _ in range(runs):
                arm, best, stopped = yield from self._run(cap)
                ended += stopped
                votes[np.flatnonzero(stopped), arm[stopped]] += 1
                fallback[np.arange(self.batch), best] += 1
            winners = keep_best(votes, 1, self.tie, self.rng).argmax(axis=1)
            chosen = np.where((chosen < 0) & (2 * ended >= runs), winners, chosen)
        last = keep_best(fallback, 1, self.tie, self.rng).argmax(axis=1)
        return np.where(chosen < 0, last, chosen)

    def _run(self, cap: int) -> Generator[Request, Any, tuple[IntArray, IntArray, Bools]]:
        """Play one run that sees its own pulls only.

        Returns:
            ``(N,)`` its recommendations, the arms of largest mean, and whether it stopped by itself.
        """
        agent, own = self._made(), Statistics.zeros((self.batch, self.num_arms))
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


def scales(budget: int, first: int) -> list[tuple[int, int]]:
    """Return the cap and the number of runs of each scale.

    Args:
        budget: n.
        first: T_0, at most n.
    """
    number = max(1, math.floor(math.log2(budget / (4 * first)))) if budget >= 8 * first else 1
    return [(first << scale, max(1, budget // (number * (first << scale)))) for scale in range(number)]
