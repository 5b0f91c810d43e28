"""CSAR for thresholding: classifies one arm per phase, the one farthest from the threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from typing_extensions import override

from bai_gym.agents.base import Agent, Plan
from bai_gym.agents.sequential import first_block, recommend_best
from bai_gym.agents.tools.choosing import best_recommendation, shuffled_arms, spread_evenly
from bai_gym.agents.tools.rejects import budget_of_phases, phase_lengths
from bai_gym.agents.tools.scanning import pull_in_turn
from bai_gym.sampling import NEVER, STOP, Block, Episode, Rule, Sequential, State, Values, Vector
from bai_gym.statistics import ROUNDING, IntArray
from bai_gym.tasks import Thresholding

__all__ = ["CSAR", "csar_lengths"]


class CSARState(State):
    """What the rule of ``schedule="code"`` uses."""

    threshold: float  # of the task
    lengths: Vector  # pulls of an active arm at the end of each phase
    phase: int  # number of phases begun
    ended: bool  # whether the last phase has ended


def next_phase(e: Episode, s: CSARState, w: CSARState, rng: np.random.Generator) -> int:
    """End a phase, begin the next one that has pulls, and return when it ends."""
    if s.phase > 0:
        drop_lowest(e, s)
    while s.phase < e.num_arms:
        missing = 0.0
        for arm in range(e.num_arms):
            if e.active[arm] == 1:
                missing += w.lengths[s.phase] - e.pulls[arm]
        s.phase += 1
        if missing > 0.0:
            return e.made + int(missing)
        drop_lowest(e, s)
    s.ended = True
    return NEVER


def drop_lowest(e: Episode, s: CSARState) -> None:
    """Drop the active arm of smallest mean, if that mean is below the threshold."""
    lowest, least = -1, s.threshold
    for arm in range(e.num_arms):
        if e.active[arm] == 1 and e.mean[arm] < least:
            lowest, least = arm, e.mean[arm]
    if lowest >= 0:
        e.active[lowest] = 0


def pull_or_stop(e: Episode, s: CSARState, w: CSARState, rng: np.random.Generator) -> int:
    """Return the active arm of fewest pulls, or stop."""
    return STOP if s.ended else pull_in_turn(e, s, w, rng)


FROM_BELOW = Rule(choose=pull_or_stop, refresh=next_phase, state=CSARState)


@dataclass(kw_only=True)
class CSAR(Agent):
    """In each phase pulls all active arms equally often; then classifies the one farthest from the threshold.

    After phase k = 1, ..., K an active arm has T_k = ceil((n - K) / (log~(K) (K - k + 1))) pulls, where log~(K) = 1 +
    1/2 + ... + 1/K. A classified arm is not pulled any more; it is recommended if its mean is at least the
    threshold. Pulls lost to rounding are left unspent.

    Paper: Chen et al. (2014), "Combinatorial Pure Exploration of Multi-Armed Bandits", as Mukherjee et al. (2017),
    section 4, use it for thresholding. The schedule is from a secondary description.

    Args:
        schedule: ``"csar"`` (default), ``"sr"``: the K - 1 phases of successive rejects, or ``"code"``: as in the
            program of Mukherjee et al. In its phases k = 0, ..., K - 1, T_k = ceil((n - K) / ((1/2 + log~(K)) (K - k +
            1))), and each classifies only the arm of smallest mean, if that is below the threshold.
    """

    schedule: Literal["csar", "sr", "code"] = "csar"

    name = "CSAR"
    other_rules = {'schedule="code"': FROM_BELOW}
    tasks = frozenset({Thresholding.name})
    uses_variances = False
    anytime = True
    minimum_budget = budget_of_phases

    @override
    def plan(self) -> Plan:
        assert isinstance(self.task, Thresholding)  # as tasks says
        active = shuffled_arms(self.batch, self.num_arms, self.tie, self.rng)
        if self.budget <= self.num_arms:
            yield Block(spread_evenly(self.batch, self.num_arms, self.budget, self.tie, self.rng), active)
            return self.recommend(self._seen)
        if self.schedule == "code":
            yield first_block(self, self.num_arms)
            lengths = code_lengths(self.num_arms, self.budget).astype(float)
            values: Values = {"threshold": self.task.threshold, "lengths": lengths}
            left = self.budget - self.num_arms
            outcome = yield Sequential(FROM_BELOW, left, self.tie, self.rng, values, agent=self.name)
            return best_recommendation(outcome.statistics, self.task, self.tie, self.rng)
        schedule = csar_lengths if self.schedule == "csar" else phase_lengths
        for each in np.diff(schedule(self.num_arms, self.budget), prepend=0).tolist():
            if each:  # T_k does not grow in every phase
                yield Block(np.full(active.shape, each, np.int64), active)
            distances = np.abs(np.take_along_axis(self.statistics.means, active, axis=1) - self.task.threshold)
            is_good = np.ones(active.shape, dtype=bool)
            is_good[np.arange(self.batch), distances.argmax(axis=1)] = False
            active = active[is_good].reshape(self.batch, -1)
        return self.recommend(self._seen)

    recommend = recommend_best


def code_lengths(num_arms: int, budget: int) -> IntArray:
    """Return ``(K,)`` the pulls of an arm at the end of each phase of ``schedule="code"``, see :class:`CSAR`.

    Source: Mukherjee et al. (2017), code/CSAR.py in https://github.com/Subhojyoti/tbandit_IJCAI.
    """
    parts = (1.5 + (1.0 / np.arange(2, num_arms + 1)).sum()) * np.arange(num_arms + 1, 1, -1)
    return np.asarray(np.ceil(max(budget - num_arms, 0) / parts * (1.0 - ROUNDING)).astype(np.int64))


def csar_lengths(num_arms: int, budget: int) -> IntArray:
    """Return ``(K,)`` T_1, ..., T_K: the pulls that an arm has at the end of phase k, if it was active until then.

    T_k = ceil((n - K) / (log~(K) (K - k + 1))), where log~(K) = 1 + 1/2 + ... + 1/K; all 0 for n <= K.

    Source: Chen et al. (2014), Algorithm 1.
    """
    left = np.arange(num_arms, 0, -1)
    share = max(budget - num_arms, 0) / ((1.0 / left).sum() * left)
    # An integer that rounding has pushed just above its value stays the same.
    return np.asarray(np.ceil(share * (1.0 - ROUNDING)).astype(np.int64))
