"""F-race and its form with t-tests: elimination by the tests of Friedman and Wilcoxon, or Student, at every item."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import stdtr
from typing_extensions import override

from bai_gym.agents.paired.rank_tests import friedman_worse, signed_rank
from bai_gym.agents.paired.rounds import BoolArray, History, RaceAgent
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import States
from bai_gym.statistics import FloatArray, IntArray
from bai_gym.validation import choice, integer, probability

__all__ = ["FRace"]


@dataclass(kw_only=True)
class FRace(RaceAgent):
    """Plays every remaining arm on each item, and drops those that a test of ranks at that item finds worse.

    Friedman's test compares the ranks of more than two arms on the items so far; if it finds a difference, all arms
    are dropped whose sum of ranks is worse than the best one by Conover's critical difference. Two arms are compared
    by Wilcoxon's signed ranks, in the normal approximation. It ends when one arm is left, and recommends the arm of
    largest mean among those that remain.

    Its tests are those of a single look, and ranks compare other things than means: with two equal arms and 100 items
    it drops one of them in a third of the runs, and an arm that is mostly a little better and now and then far worse
    can win against one of larger mean.

    Paper: Birattari, Stutzle, Paquete and Varrentrapp (2002), "A Racing Algorithm for Configuring Metaheuristics", in
    the form of the R packages race and irace.

    Args:
        test: ``"friedman"`` (default), as above; or ``"t"``: paired t-tests of the arm of largest mean against each
            other one.
        level: Confidence of each test, in (0, 1). Default 0.95.
        adjust: p-values of ``"t"`` for several arms: ``"none"`` (default), ``"bonferroni"`` or ``"holm"``.
        first_test: Items before the first test, at least 2. Default 5.
        each_test: Items from one test to the next. Default 1.
        batch_size: Pulls between two looks, at least 1, the default: of the tests that are due only those in whose item
            a batch ends are made.
    """

    test: str = "friedman"
    level: float = 0.95
    adjust: str = "none"
    first_test: int = 5
    each_test: int = 1

    name: ClassVar[str] = "FRace"
    notes: ClassVar[tuple[str, ...]] = (
        "FRace: its level is that of one test, and not of the race, in which errors are far more frequent",
    )

    @override
    def begin(self, info: ProblemInfo) -> None:
        super().begin(info)
        choice(self.test, ("friedman", "t"), f"test of {self.name}")
        choice(self.adjust, ("none", "bonferroni", "holm"), f"adjust of {self.name}")
        probability(self.level, f"level of {self.name}")
        integer(self.first_test, f"first_test of {self.name}", least=2)
        integer(self.each_test, f"each_test of {self.name}", least=1)
        self.history = History(self.batch, self.num_arms)

    @override
    def note(self, rows: IntArray, states: States) -> None:
        """Note the rewards of an item."""
        self.history.note(rows, states["rounds"][rows].astype(np.int64) - 1, slice(None), states["reward"][rows])

    @override
    def remaining(self, rows: IntArray, states: States) -> BoolArray:
        """Return the arms that no test has dropped."""
        items = states["rounds"][rows].astype(np.int64)
        remains = states["remains"][rows] == 1.0
        due = (items >= self.first_test) & ((items - self.first_test) % self.each_test == 0)
        sizes = np.where(due, np.count_nonzero(remains, axis=1), 0)
        for t, k in np.unique(np.stack([items, sizes])[:, due], axis=1).T.tolist():
            group = np.flatnonzero((items == t) & (sizes == k))
            arms = np.nonzero(remains[group])[1].reshape(group.size, k)
            rewards = np.take_along_axis(self.history.rewards[rows[group], :t], arms[:, None, :], axis=2)
            remains[group[:, None], arms] = ~self.worse(rewards)
        return remains

    def worse(self, rewards: FloatArray) -> BoolArray:
        """Return which arms a test finds worse, ``(G, k)``, from ``(G, t, k)`` rewards of the remaining arms."""
        if self.test == "t":
            return t_worse(rewards, self.level, self.adjust)
        if rewards.shape[2] > 2:
            return friedman_worse(rewards, self.level)
        lead = rewards[:, :, 1] - rewards[:, :, 0]  # p-values against each of the two arms
        return np.stack([signed_rank(lead), signed_rank(-lead)], axis=1) < (1.0 - self.level) / 2.0


def t_worse(rewards: FloatArray, level: float, adjust: str) -> BoolArray:
    """Return which arms two-sided paired t-tests find worse than the arm of largest mean.

    Args:
        rewards: ``(G, t, k)`` rewards.
        level: Confidence.
        adjust: ``"none"``, ``"bonferroni"`` or ``"holm"``.
    """
    groups, t, k = rewards.shape
    best = rewards.mean(axis=1).argmax(axis=1)
    lead = np.take_along_axis(rewards, best[:, None, None], axis=2) - rewards
    mean, error = lead.mean(axis=1), lead.std(axis=1, ddof=1) / np.sqrt(t)
    with np.errstate(invalid="ignore", divide="ignore"):
        p = np.where(mean == 0.0, 1.0, 2.0 * stdtr(t - 1, -mean / error))
    p[np.arange(groups), best] = np.inf
    if adjust == "bonferroni":
        p *= k - 1
    elif adjust == "holm":
        order = p.argsort(axis=1)
        ascending = np.take_along_axis(p, order, axis=1) * np.arange(k - 1, -1, -1.0).clip(1.0)
        np.put_along_axis(p, order, np.maximum.accumulate(ascending, axis=1), axis=1)
    return np.asarray(p < 1.0 - level)
