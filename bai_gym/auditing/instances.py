"""Instances of an audit: arms of two rewards, or Gaussian ones, as arrays and as arguments of an environment."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from bai_gym.bandits import (
    Bandit,
    BernoulliBandit,
    EmpiricalBandit,
    GaussianBandit,
    SampleTable,
)
from bai_gym.rewards import Rewards
from bai_gym.statistics import FloatArray

__all__ = ["LARGEST_TABLE", "MOST_ITEMS", "Instance", "share"]

LARGEST_TABLE = 1000  # rows of an arm
MOST_ITEMS = 10_000  # of paired arms


def share(p: float) -> float:
    """Return the fraction of at most 1,000 rows that is nearest to a probability, and neither 0 nor 1."""
    fraction = Fraction(p).limit_denominator(LARGEST_TABLE)
    return float(min(max(fraction, Fraction(1, LARGEST_TABLE)), 1 - Fraction(1, LARGEST_TABLE)))


@dataclass(frozen=True)
class Instance:
    """K independent arms. An arm is Gaussian, or returns its ``high`` reward with probability ``p``, else ``low``.

    Give ``low``, ``high`` and ``p``; or, for Gaussian arms, ``centre`` and ``deviation``.

    Attributes:
        low: The lower reward of each arm.
        high: The higher reward of each arm; the same for an arm whose reward is constant.
        p: Probability of the higher reward.
        centre: Means of Gaussian arms.
        deviation: Standard deviations of Gaussian arms.
        bounds: Interval that holds all rewards, for arms of two rewards; it is common knowledge.
        paired: Whether the j-th pull of every arm is played on the same item. Gaussian arms are independent all the
            same; arms of two rewards have their higher ones on the same items, as far as they are equally frequent.
    """

    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    p: tuple[float, ...] = ()
    centre: tuple[float, ...] = ()
    deviation: tuple[float, ...] = ()
    bounds: tuple[float, float] = (0.0, 1.0)
    paired: bool = False

    @property
    def is_gaussian(self) -> bool:
        """Whether the arms are Gaussian."""
        return bool(self.centre)

    @property
    def num_arms(self) -> int:
        """K."""
        return len(self.centre or self.low)

    @property
    def means(self) -> FloatArray:
        """``(K,)`` means."""
        if self.is_gaussian:
            return np.array(self.centre)
        low, high, p = map(np.array, (self.low, self.high, self.p))
        return np.asarray(low + p * (high - low))

    @property
    def deviations(self) -> FloatArray:
        """``(K,)`` standard deviations."""
        if self.is_gaussian:
            return np.array(self.deviation)
        low, high, p = map(np.array, (self.low, self.high, self.p))
        return np.asarray((high - low) * np.sqrt(p * (1.0 - p)))

    @property
    def best(self) -> int:
        """The arm of largest mean."""
        return int(self.means.argmax())

    @property
    def gap(self) -> float:
        """Largest mean minus the second largest."""
        second, first = np.sort(self.means)[-2:]
        return float(first - second)

    @property
    def is_bernoulli(self) -> bool:
        """Whether all rewards are 0 or 1."""
        return not self.is_gaussian and set(self.low) == {0.0} and set(self.high) == {1.0}

    def select(self, arms: list[int]) -> Instance:
        """Return the instance of these arms."""
        parts: dict[str, Any] = {
            name: tuple(getattr(self, name)[arm] for arm in arms) if getattr(self, name) else ()
            for name in ("low", "high", "p", "centre", "deviation")
        }
        return replace(self, **parts)

    def rounded(self, digits: int) -> Instance:
        """Return the instance with numbers of a few significant digits, and small probabilities as 1/n.

        The result may lie outside the class of rewards; see :func:`bai_gym.auditing.families.belongs`.
        """

        def short(values: tuple[float, ...]) -> tuple[float, ...]:
            return tuple(_significant(value, digits) for value in values)

        p = short(self.p) if self.is_bernoulli else tuple(_short_share(value) for value in self.p)
        return replace(
            self,
            low=short(self.low),
            high=short(self.high),
            p=p,
            centre=short(self.centre),
            deviation=short(self.deviation),
        )

    def bandit(self) -> Bandit:
        """Return the arms as a bandit of one instance."""
        kind = Rewards("bounded", *self.bounds)
        if self.paired:
            if self.is_gaussian:
                from bai_gym.paired.bandits.gaussian import PairedGaussianBandit  # of a wing

                return PairedGaussianBandit([self.centre], np.array([self.deviation]) ** 2, correlation=0.0)
            items = np.array(self.items()).T
            from bai_gym.paired.bandits.finite import PairedFiniteBandit  # of a wing

            return PairedFiniteBandit(items, np.arange(self.num_arms)[None, :], replace=True, kind=kind)
        if self.is_gaussian:
            return GaussianBandit([self.centre], np.array([self.deviation]) ** 2)
        if self.is_bernoulli:
            return BernoulliBandit([self.p])
        rows = [np.array(row) for row in self.rows()]
        offsets = np.concatenate([[0], np.cumsum([row.size for row in rows])])
        return EmpiricalBandit(SampleTable.of(np.concatenate(rows), offsets, kind), np.arange(self.num_arms)[None, :])

    def rows(self) -> list[list[float]]:
        """Return rewards of each arm whose uniform distribution is that of the arm."""
        found = []
        for low, high, p in zip(self.low, self.high, self.p, strict=True):
            part = Fraction(p).limit_denominator(LARGEST_TABLE) if low < high else Fraction(0)
            found.append([low] * (part.denominator - part.numerator) + [high] * part.numerator)
        return found

    @property
    def num_items(self) -> int:
        """Items of paired arms of two rewards: the least common multiple of the rows of each arm."""
        return math.lcm(*map(len, self.rows()))

    def items(self) -> list[list[float]]:
        """Return the rewards of each arm on all items, of which one is drawn for each pull; the higher ones last."""
        number = self.num_items
        return [[reward for reward in row for _ in range(number // len(row))] for row in self.rows()]

    def csv(self) -> str:
        """Return the log of rewards that ``BAI-Table-v0`` reads."""
        if self.paired:
            lines = [
                f"{arm},{item},{reward!r}" for arm, row in enumerate(self.items()) for item, reward in enumerate(row)
            ]
            return "\n".join(["arm,item,reward", *lines]) + "\n"
        lines = [f"{arm},{reward!r}" for arm, row in enumerate(self.rows()) for reward in row]
        return "\n".join(["arm,reward", *lines]) + "\n"

    def environment(self) -> tuple[str, dict[str, Any]]:
        """Return the id and the keywords of the environment with these arms."""
        if self.is_gaussian:
            variances = [float(f"{s * s:.12g}") for s in self.deviation]
            pairs: dict[str, Any] = {"paired": True, "correlation": 0.0} if self.paired else {}
            return "BAI-Custom-v0", {"means": list(self.centre), "variances": variances, **pairs}
        if self.is_bernoulli and not self.paired:
            return "BAI-Custom-v0", {"means": list(self.p), "distribution": "bernoulli"}
        kind = "bounded({:g}, {:g})".format(*self.bounds)
        log: dict[str, Any] = {
            "path": "counterexample.csv",
            "arm_column": "arm",
            "reward_column": "reward",
            "rewards": kind,
        }
        if self.paired:
            log |= {"paired": True, "item_column": "item"}
        return "BAI-Table-v0", log

    def in_words(self) -> str:
        """Return one line about each arm."""
        return "\n".join(
            f"arm {arm}{' (best)' if arm == self.best else ''}: {self._arm(arm)}" for arm in range(self.num_arms)
        )

    def _arm(self, arm: int) -> str:
        if self.is_gaussian:
            return f"Gaussian, mean {self.centre[arm]:.6g}, standard deviation {self.deviation[arm]:.6g}"
        low, high, p = self.low[arm], self.high[arm], self.p[arm]
        if low == high:
            return f"always {low:.6g}"
        return f"{high:.6g} with probability {p:.6g}, else {low:.6g} (mean {self.means[arm]:.6g})"


def _significant(value: float, digits: int) -> float:
    return float(f"{value:.{digits}g}")


def _short_share(p: float) -> float:
    """Return 1/n (or 1 - 1/n) with n of one digit for a small (or large) probability, else one digit of it."""
    if p <= 0.0 or p >= 1.0:
        return p
    if p < 0.1:
        return 1.0 / min(math.floor(_significant(1.0 / p, 1)), LARGEST_TABLE)
    if p > 0.9:
        return 1.0 - _short_share(1.0 - p)
    return share(round(p, 1))
