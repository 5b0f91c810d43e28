"""VBR, variance-based rejects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from bai_gym.agents.base import Plan, PlannedAgent
from bai_gym.agents.choosing import best_mean, spread_evenly
from bai_gym.agents.parameters import check_choice, check_positive
from bai_gym.agents.rejects import rejection_times
from bai_gym.problems import Briefing
from bai_gym.sampling import ArgmaxTable, Block, SamplingRule, TieRule
from bai_gym.statistics import FloatArray, IntArray, Statistics

__all__ = ["VBR"]


@dataclass(kw_only=True)
class VBR(PlannedAgent):
    """Pulls the arm of widest confidence interval, and rejects arms on the schedule of successive rejects.

    Every arm is pulled twice. Then each pull goes to the active arm of largest r = gamma sqrt(v / T), from all samples
    so far; at the times at which successive rejects would drop an arm, the active arm of smallest mean is dropped. The
    survivor is recommended.

    Paper: Faella, Finzi and Sauro (2020), "Rapidly Finding the Best Arm Using Variance". **The paper could not be
    consulted.** That one arm goes in each of about K stages, by intervals of gamma empirical standard errors, is known
    from Lalitha et al. (2023); schedule, pull rule and rejection rule are this library's reading ("reading A"), so the
    curve of the paper is not claimed to be reproduced.

    Args:
        gamma: Width of the intervals in standard errors, positive. Default 1.96, as in Lalitha et al. Without
            ``early`` it has almost no effect.
        reject: ``"mean"`` (default): drop the smallest mean. ``"ucb"``: drop the smallest mean + r.
        early: If True, an arm is also dropped, by the same rule, after every pull that leaves some active arm's
            mean + r below another's mean - r; the schedule moves on. Default False. Pulls after the last rejection go
            to the survivor.

    Knows nothing. Minimum budget: 2 K.
    """

    gamma: float = 1.96
    reject: str = "mean"
    early: bool = False

    name: ClassVar[str] = "VBR"
    notes: ClassVar[tuple[str, ...]] = (
        "VBR: reading A of its schedule and rules; the paper of Faella et al. (2020) could not be consulted",
    )

    def minimum_budget(self, num_arms: int) -> int:
        """Return two pulls per arm."""
        return 2 * num_arms

    def begin(self, briefing: Briefing) -> None:
        """Check the parameters."""
        check_positive(self.gamma, "gamma", self.name)
        check_choice(self.reject, ("mean", "ucb"), "reject", self.name)
        self._active: npt.NDArray[np.bool_] = np.ones((self.batch, self.num_arms), dtype=bool)

    def plan(self) -> Plan:
        """Pull every arm twice, then run the rule to the end."""
        first = min(2 * self.num_arms, self.budget)
        yield Block(spread_evenly(self.batch, self.num_arms, first, self.tie, self.rng))
        if self.budget > first:
            rule = _RejectingRule(self, self.budget - first)
            yield rule
            self._active = rule.active.T

    def answer(self) -> IntArray:
        """Return the survivor (the best mean of the arms still active, where several are)."""
        statistics = Statistics(
            np.where(self._active, self.statistics.pulls, 0), self.statistics.means, self.statistics.variances
        )
        return best_mean(statistics, self.tie, self.rng)


class _RejectingRule(SamplingRule):
    """Pulls the widest interval; rejects arms at scheduled times, and early where asked to."""

    def __init__(self, agent: VBR, steps: int) -> None:
        self.steps = steps
        self._gamma = agent.gamma
        self._by_mean = agent.reject == "mean"
        self._early = agent.early
        self._tie: TieRule = agent.tie
        self._rng = agent.rng
        self._times = rejection_times(agent.num_arms, agent.budget)
        self._spent = agent.budget - steps

    def start(self, window: Statistics) -> None:
        """Compute all radii, and reject what is due before the first pull; every arm has been pulled twice."""
        self._window = window
        self.active = np.ones(window.pulls.shape, dtype=bool)
        self._rejected = np.zeros(window.pulls.shape[1], np.int64)
        self._table = ArgmaxTable(self._index(window.pulls, window.variances), self._tie, self._rng)
        self._reject_due(early=False)

    def still_active(self) -> npt.NDArray[np.bool_]:
        """Return ``(k, N)`` which arms have not been dropped."""
        return self.active

    def choose(self) -> IntArray:
        """Return the active arms of largest radius."""
        return self._table.argmax(self._window.pulls)

    def update(self, flat: IntArray, pulls: FloatArray, means: FloatArray, variances: FloatArray) -> None:
        """Renew the radius of the pulled arms, and reject what is due."""
        self._table.flat[flat] = self._index(pulls, variances)
        self._spent += 1
        self._reject_due(early=self._early)

    def _radius(self, pulls: FloatArray, variances: FloatArray) -> FloatArray:
        radius = variances / pulls
        np.sqrt(radius, out=radius)
        radius *= self._gamma
        return radius

    def _index(self, pulls: FloatArray, variances: FloatArray) -> FloatArray:
        # Arms of radius 0 tie; the least pulled comes first.
        return np.where(variances > 0, self._radius(pulls, variances), -pulls)

    def _reject_due(self, *, early: bool) -> None:
        """Reject one arm where the schedule, or an early separation, asks for it, then all others already due."""
        last = len(self._times)
        while True:
            due = self._times[np.minimum(self._rejected, last - 1)] <= self._spent
            if early:
                due |= self._separated()
                early = False
            due &= self._rejected < last
            rows = np.flatnonzero(due)
            if rows.size == 0:
                return
            self._reject(rows)

    def _separated(self) -> npt.NDArray[np.bool_]:
        """Return where an active arm's interval lies entirely below another's."""
        radius = self._radius(self._window.pulls, self._window.variances)
        upper = np.where(self.active, self._window.means + radius, np.inf).min(axis=0)
        lower = np.where(self.active, self._window.means - radius, -np.inf).max(axis=0)
        return np.asarray(upper < lower)

    def _reject(self, rows: IntArray) -> None:
        values = self._window.means[:, rows]
        if not self._by_mean:
            values = values + self._radius(self._window.pulls[:, rows], self._window.variances[:, rows])
        values = np.where(self.active[:, rows], -values, -np.inf)
        chosen = ArgmaxTable(values, self._tie, self._rng).argmax(self._window.pulls[:, rows])
        slots = chosen // rows.size
        self.active[slots, rows] = False
        self._table.values[slots, rows] = -np.inf
        self._rejected[rows] += 1
