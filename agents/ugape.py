"""Unified gap-based exploration: UGapEb for a fixed budget, UGapEc for fixed confidence, with two kinds of widths."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bai_gym.agents.choosing import best_answer
from bai_gym.agents.gape import bernstein_width, hoeffding_width
from bai_gym.agents.one_by_one import OneByOneAgent, reward_bounds
from bai_gym.agents.parameters import check_choice, check_not_negative, check_positive, check_share
from bai_gym.agents.top_two import TopTwo
from bai_gym.agents.ugape_rules import BudgetRule, ConfidenceRule, OneBestRule, SetRule, Widths
from bai_gym.errors import ParameterError
from bai_gym.problems import Briefing
from bai_gym.sampling import SamplingRule
from bai_gym.statistics import FloatArray, IntArray, Observation, Statistics
from bai_gym.tasks import BestArm, BestOfEach, TopM
from bai_gym.theory import top_gaps

__all__ = ["AUGapEb", "AUGapEbV", "UGapEb", "UGapEbV", "UGapEc", "UGapEcV"]


@dataclass(kw_only=True)
class SetAgent(OneByOneAgent):
    """Base of agents that keep a set of arms to recommend: the best arm, the top m, or the best of each bandit."""

    tasks: ClassVar[frozenset[str]] = frozenset({BestArm.name, TopM.name, BestOfEach.name})
    anytime: ClassVar[bool] = False  # the set depends on the rule, too

    def begin(self, briefing: Briefing) -> None:
        """Forget the rule of earlier episodes."""
        self._rule: SetRule | None = None

    def random_slots(self) -> IntArray | None:
        """Return ``(N, K)`` arms in random order within each bandit, or None under the tie rule ``"first"``."""
        if self.tie == "first":
            return None
        bandits = self.task.num_bandits
        size = self.num_arms // bandits
        rows = np.tile(np.arange(size), (self.batch * bandits, 1))
        slots = self.rng.permuted(rows, axis=1).reshape(self.batch, bandits, size)
        return (slots + np.arange(bandits)[:, None] * size).reshape(self.batch, self.num_arms)

    def recommend(self, observation: Observation) -> IntArray:
        """Return the set that the rule has arrived at; without a rule, that of largest means."""
        if self._rule is None:
            return best_answer(Statistics.of(observation), self.task, self.tie, self.rng)
        sets = np.zeros((self.batch, self.num_arms), np.int64)
        slots = self._rule.sets.T.astype(np.int64)
        if self._rule.arms is None:
            sets[...] = slots
        else:
            np.put_along_axis(sets, self._rule.arms, slots, -1)
        if isinstance(self.task, TopM):
            return sets
        if isinstance(self.task, BestOfEach):
            return np.asarray(self.task.by_bandit(sets).argmax(axis=-1))
        return np.asarray(sets.argmax(axis=-1))


@dataclass(kw_only=True)
class _UGapEb(SetAgent):
    """What the four of a fixed budget have in common.

    Args:
        scale: Multiplies the exploration a; at least 0, default 1.
    """

    scale: float = 1.0

    def begin(self, briefing: Briefing) -> None:
        """Check the parameters and find the bound of the rewards."""
        super().begin(briefing)
        check_not_negative(self.scale, "scale", self.name)

    @property
    def free_pulls(self) -> int:
        """Pulls after the first ones."""
        return max(self.budget - self.first_pulls * self.num_arms, 0)

    def _budget_rule(self, steps: int, *, keep_best: bool, refresh: int | None) -> SamplingRule:
        arms = self.random_slots()
        rule: OneBestRule | BudgetRule
        if self.task.m == 1 and self.task.num_bandits == 1 and refresh != 1:
            rule = OneBestRule(
                steps,
                self.widths,
                self.width,
                keep_best=keep_best,
                refresh=refresh,
                tie=self.tie,
                rng=self.rng,
                arms=arms,
            )
        else:
            rule = BudgetRule(
                steps,
                self.widths,
                m=self.task.m,
                num_bandits=self.task.num_bandits,
                keep_best=keep_best,
                tie=self.tie,
                rng=self.rng,
                arms=arms,
            )
        self._rule = rule
        return rule

    @abstractmethod
    def width(self, pulls: FloatArray, variances: FloatArray) -> FloatArray:
        """Return widths, elementwise, with the exploration of the moment."""

    def widths(self, window: Statistics) -> FloatArray:
        """Return all widths of a window."""
        return self.width(window.pulls, window.variances)


@dataclass(kw_only=True)
class _ToldUGapEb(_UGapEb):
    """What the two that are told the complexity have in common.

    Args:
        b: Bound of the rewards, which lie in [0, b]; None (default): max over arms of mean + sigma sqrt(log n), which
            takes knowledge of the range.
        output: ``"best"`` (default): recommend the set whose value B was smallest over time, as published.
            ``"last"``: the set at the end.
    """

    b: float | None = None
    output: str = "best"

    @property
    def knows(self) -> frozenset[str]:  # type: ignore[override]
        """Complexity, and the range unless ``b`` is given."""
        return frozenset({"complexity"} if self.b is not None else {"complexity", "range"})

    def begin(self, briefing: Briefing) -> None:
        """Check the parameters and find the bound of the rewards."""
        super().begin(briefing)
        check_positive(self.b, "b", self.name)
        check_choice(self.output, ("best", "last"), "output", self.name)
        self.bound: FloatArray = reward_bounds(self.b, briefing)

    def rule(self, steps: int) -> SamplingRule:
        """Return the rule with widths that depend on each arm alone."""
        return self._budget_rule(steps, keep_best=self.output == "best", refresh=None)


@dataclass(kw_only=True)
class UGapEb(_ToldUGapEb):
    """Finds the arms that could still be among the best, and pulls the wider of two arms at the border.

    Widths are b sqrt(a / T), with a = (n - K) / (4 H), H the sum of b^2 / max((gap + epsilon) / 2, epsilon)^2. The arms
    recommended are those whose worst gap index B was smallest over time.

    Paper: Gabillon, Ghavamzadeh and Lazaric (2012), "Best Arm Identification: A Unified Approach to Fixed Budget and
    Fixed Confidence", Figures 1 and 2, Theorem 1. Several bandits (appendix B of the report, which could not be
    consulted): work in the bandit of largest B. The set after the last pull competes too.

    Args:
        scale: Multiplies a; at least 0, default 1, the value that minimises the error bound.
        b: Bound of the rewards, see above.
        output: ``"best"`` or ``"last"``.

    Knows the complexity H, and the range of the rewards unless ``b`` is given. Minimum budget: K.
    """

    name: ClassVar[str] = "UGapEb"
    uses_variances: ClassVar[bool] = False
    first_pulls: ClassVar[int] = 1

    def begin(self, briefing: Briefing) -> None:
        """Compute the exploration from the true complexity."""
        super().begin(briefing)
        complexity = briefing.ugape_complexity(self.bound)
        self.exploration: FloatArray = self.scale * self.free_pulls / (4.0 * complexity)

    def width(self, pulls: FloatArray, variances: FloatArray) -> FloatArray:
        """Return b sqrt(a / T)."""
        return hoeffding_width(self.exploration, self.bound, pulls)


@dataclass(kw_only=True)
class UGapEbV(_ToldUGapEb):
    """UGapEb with empirical Bernstein widths: sqrt(2 a v / T) + 7 a b / (3 (T - 1)), v the sample variance.

    a = (n - 2K) / (2 H), H the sum of (sigma + sqrt(sigma^2 + (7/3) b g))^2 / g^2 with g = max((gap + epsilon) / 2,
    epsilon): what equal widths of g / 2 take. Constants derived here; those of the report could not be consulted.

    Paper: Gabillon, Ghavamzadeh and Lazaric (2012), section 2 and the report HAL 00747005, appendix B.

    Args:
        scale: Multiplies a; at least 0, default 1.
        b: Bound of the rewards, see above.
        output: ``"best"`` or ``"last"``.

    Knows the complexity H, and the range of the rewards unless ``b`` is given. Minimum budget: 2 K.
    """

    name: ClassVar[str] = "UGapEb-V"
    first_pulls: ClassVar[int] = 2

    def begin(self, briefing: Briefing) -> None:
        """Compute the exploration from the true complexity."""
        super().begin(briefing)
        complexity = briefing.ugape_v_complexity(self.bound)
        self.exploration: FloatArray = self.scale * self.free_pulls / (2.0 * complexity)

    def width(self, pulls: FloatArray, variances: FloatArray) -> FloatArray:
        """Return the empirical Bernstein width."""
        return bernstein_width(self.exploration, self.bound, pulls, variances)


@dataclass(kw_only=True)
class _AdaptiveUGapEb(_UGapEb):
    """What the two that estimate the complexity have in common.

    Values of B at different times are not comparable where a changes, so the set at the end is recommended.

    Args:
        b: Bound of the rewards, which lie in [0, b]; default 1.
        refresh: Pulls after which the complexity is estimated anew; None (default): two for every arm. 1: at every
            pull, which costs more and changes little.
    """

    b: float = 1.0
    refresh: int | None = None

    def begin(self, briefing: Briefing) -> None:
        """Check the parameters."""
        super().begin(briefing)
        check_positive(self.b, "b", self.name)
        whole = isinstance(self.refresh, int) and not isinstance(self.refresh, bool)
        if self.refresh is not None and not (whole and self.refresh >= 1):
            raise ParameterError(f"refresh of {self.name} must be a whole number of at least 1, not {self.refresh!r}")
        self.bound: FloatArray = np.full(self.batch, float(self.b))

    def rule(self, steps: int) -> SamplingRule:
        """Return the rule that estimates H from time to time."""
        self._asked = 0
        return self._budget_rule(steps, keep_best=False, refresh=self.refresh or 2 * self.num_arms)

    def widths(self, window: Statistics) -> FloatArray:
        """Return all widths, with the complexity estimated anew where that is due."""
        # The rule for one best arm asks only then; the general one asks at every pull.
        every = self.refresh or 2 * self.num_arms
        if isinstance(self._rule, OneBestRule) or self._asked % every == 0:
            self.exploration = self.explore(window)
        self._asked += 1
        return self.width(window.pulls, window.variances)

    @abstractmethod
    def explore(self, window: Statistics) -> FloatArray:
        """Return ``(N,)`` exploration from the estimated complexity."""

    def aims(self, window: Statistics) -> FloatArray:
        """Return ``(k, N)`` max((gap + epsilon) / 2, epsilon), with estimated gaps raised by b sqrt(1 / (2 T))."""
        task = self.task
        if task.m == 1 and task.num_bandits == 1:
            gaps = _gaps_to_best(window.means)
        else:
            gaps = top_gaps(window.means.T, task.m, task.num_bandits).T
        # In place: arrays of this size cost more to allocate than to fill.
        margin = 0.5 / window.pulls
        np.sqrt(margin, out=margin)
        margin *= self.bound
        gaps += margin
        gaps += task.epsilon
        gaps /= 2.0
        return np.maximum(gaps, task.epsilon, out=gaps)


def _gaps_to_best(means: FloatArray) -> FloatArray:
    """Return ``(k, N)`` distances to the best other arm: ``top_gaps`` for one best arm, several times faster."""
    top = TopTwo(means)
    gaps = np.asarray(top.first_value - means)
    gaps.reshape(-1)[top.first] = top.first_value - top.second_value
    return gaps


@dataclass(kw_only=True)
class AUGapEb(_AdaptiveUGapEb):
    """UGapEb that estimates the complexity on the way, with gaps raised by b sqrt(1 / (2 T)).

    Paper: Gabillon, Ghavamzadeh and Lazaric (2012); the estimate is that of A-GapE (Gabillon et al. 2011). Difference:
    H is estimated anew once for every 2 K pulls by default, not at every pull.

    Args:
        scale: Multiplies a; at least 0, default 1.
        b: Bound of the rewards, which lie in [0, b]; default 1.
        refresh: See above.

    Knows nothing. Minimum budget: K.
    """

    name: ClassVar[str] = "A-UGapEb"
    uses_variances: ClassVar[bool] = False
    first_pulls: ClassVar[int] = 1

    def explore(self, window: Statistics) -> FloatArray:
        """Return (n - K) / (4 H)."""
        aims = self.aims(window)
        np.divide(self.bound, aims, out=aims)
        complexity = np.einsum("kn,kn->n", aims, aims)
        return np.asarray(self.scale * self.free_pulls / (4.0 * complexity))

    def width(self, pulls: FloatArray, variances: FloatArray) -> FloatArray:
        """Return b sqrt(a / T)."""
        return hoeffding_width(self.exploration, self.bound, pulls)


@dataclass(kw_only=True)
class AUGapEbV(_AdaptiveUGapEb):
    """UGapEb-V that estimates the complexity on the way, with standard deviations lowered by b sqrt(2 / (T - 1)).

    Paper: Gabillon, Ghavamzadeh and Lazaric (2012); the estimate is that of A-GapE-V (Gabillon et al. 2011).
    Difference: H is estimated anew once for every 2 K pulls by default, not at every pull.

    Args:
        scale: Multiplies a; at least 0, default 1.
        b: Bound of the rewards, which lie in [0, b]; default 1.
        refresh: See above.

    Knows nothing. Minimum budget: 2 K.
    """

    name: ClassVar[str] = "A-UGapEb-V"
    first_pulls: ClassVar[int] = 2

    def explore(self, window: Statistics) -> FloatArray:
        """Return (n - 2K) / (2 H)."""
        aims = self.aims(window)
        deviation = np.sqrt(window.variances) - self.bound * np.sqrt(2.0 / (window.pulls - 1.0))
        lowest = np.maximum(deviation, 0.0)
        root = lowest + np.sqrt(lowest**2 + (7.0 / 3.0) * self.bound * aims)
        complexity = np.sum((root / aims) ** 2, axis=0)
        return np.asarray(self.scale * self.free_pulls / (2.0 * complexity))

    def width(self, pulls: FloatArray, variances: FloatArray) -> FloatArray:
        """Return the empirical Bernstein width."""
        return bernstein_width(self.exploration, self.bound, pulls, variances)


@dataclass(kw_only=True)
class _UGapEc(SetAgent):
    """What the two of fixed confidence have in common.

    Args:
        delta: Probability of an error that is allowed, in (0, 1). Default 0.1.
        b: Bound of the rewards, which lie in [0, b]; default 1.
        c: Exploration parameter, positive. Default 1/2, for which the theory holds.
    """

    delta: float = 0.1
    b: float = 1.0
    c: float = 0.5

    stops: ClassVar[bool] = True

    def begin(self, briefing: Briefing) -> None:
        """Check the parameters."""
        super().begin(briefing)
        check_share(self.delta, "delta", self.name)
        check_positive(self.b, "b", self.name)
        check_positive(self.c, "c", self.name)

    def rule(self, steps: int) -> SamplingRule:
        """Return the rule that stops by itself."""
        widths: Widths = self.widths
        rule = ConfidenceRule(
            steps,
            widths,
            m=self.task.m,
            num_bandits=self.task.num_bandits,
            epsilon=self.task.epsilon,
            tie=self.tie,
            rng=self.rng,
            arms=self.random_slots(),
        )
        self._rule = rule
        return rule

    @abstractmethod
    def widths(self, window: Statistics) -> FloatArray:
        """Return all widths of a window."""

    def exploration(self, pulls: float) -> float:
        """Return c log(4 K pulls^3 / delta)."""
        return self.c * math.log(4.0 * self.num_arms * pulls**3 / self.delta)


@dataclass(kw_only=True)
class UGapEc(_UGapEc):
    """UGapEb's choice of arms until the worst gap index B of the arms to recommend is below epsilon.

    Widths are b sqrt(c log(4 K (t - 1)^3 / delta) / T), with t - 1 pulls made. With probability 1 - delta all arms
    recommended are at most epsilon worse than the m-th best. With an epsilon of 0 and tied arms it never stops, but for
    the cap of the environment; in an episode of fixed budget it may leave pulls over.

    Paper: Gabillon, Ghavamzadeh and Lazaric (2012), Figures 1 and 2, Theorem 2.

    Args:
        delta: Probability of an error that is allowed, in (0, 1). Default 0.1.
        b: Bound of the rewards, which lie in [0, b]; default 1.
        c: Exploration parameter, positive. Default 1/2, for which the theory holds.

    Knows nothing. Minimum budget: K.
    """

    name: ClassVar[str] = "UGapEc"
    uses_variances: ClassVar[bool] = False
    first_pulls: ClassVar[int] = 1

    def widths(self, window: Statistics) -> FloatArray:
        """Return the widths at the time of the window."""
        a = self.exploration(float(window.pulls[:, 0].sum()) if window.pulls.size else 1.0)
        return np.asarray(self.b * math.sqrt(a) / np.sqrt(window.pulls))


@dataclass(kw_only=True)
class UGapEcV(_UGapEc):
    """UGapEc with empirical Bernstein widths: sqrt(2 a v / T) + 7 a b / (3 (T - 1)), a = c log(4 K t^3 / delta).

    Paper: Gabillon, Ghavamzadeh and Lazaric (2012), and the report HAL 00747005, appendix B, which could not be
    consulted: the widths are those of a public implementation.

    Args:
        delta: Probability of an error that is allowed, in (0, 1). Default 0.1.
        b: Bound of the rewards, which lie in [0, b]; default 1.
        c: Exploration parameter, positive. Default 1/2.

    Knows nothing. Minimum budget: 2 K.
    """

    name: ClassVar[str] = "UGapEc-V"
    first_pulls: ClassVar[int] = 2

    def widths(self, window: Statistics) -> FloatArray:
        """Return the widths at the time of the window."""
        a = self.exploration(float(window.pulls[:, 0].sum()) + 1.0 if window.pulls.size else 1.0)
        return bernstein_width(np.array(a), np.array(self.b), window.pulls, window.variances)
