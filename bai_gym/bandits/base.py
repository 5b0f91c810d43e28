"""The interface of bandit models."""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from bai_gym import validation
from bai_gym.bandits.draws import Draws
from bai_gym.bandits.items import Items
from bai_gym.errors import InstanceError
from bai_gym.rewards import REAL, Rewards
from bai_gym.statistics import FloatArray, IntArray, Statistics

if TYPE_CHECKING:
    from bai_gym.bandits.gaussian_prior import GaussianPrior

__all__ = ["Bandit", "check_candidates", "check_means", "check_num_arms", "check_range"]


class Bandit(Items, ABC):
    """A batch of N instances with K arms each.

    Attributes:
        means: ``(N, K)`` true mean rewards.
        variances: ``(N, K)`` true reward variances (squared units of the reward).
        known: Whether these are known. In real experiments they are unknown, and NaN.
        state_size: Floats per arm and instance that pulls change.
        by_instance: Names of the arrays, beside means and variances, that have a row for each instance.
    """

    known: bool = True
    state_size: int = 0
    by_instance: ClassVar[tuple[str, ...]] = ()

    means: FloatArray
    variances: FloatArray

    @property
    def features(self) -> FloatArray | None:
        """``(N, K, d)`` features of the arms, read-only, where they have any."""
        return None

    @property
    def prior(self) -> GaussianPrior | None:
        """The distribution of the means, if it is a known normal one."""
        return None

    @property
    def rewards(self) -> Rewards:
        """The kind of the rewards, which everybody who runs the experiment knows; agents receive it."""
        return REAL

    @property
    def num_items(self) -> int | None:
        """How many pulls of an arm are without replacement, after which its mean is exact; None: there is no end."""
        return None

    @property
    def batch(self) -> int:
        """Number of instances N."""
        return int(self.means.shape[0])

    @property
    def num_arms(self) -> int:
        """Number of arms K."""
        return int(self.means.shape[1])

    @abstractmethod
    def pull(self, flat: IntArray, rng: np.random.Generator) -> FloatArray:
        """Return one reward for each pulled arm.

        Args:
            flat: ``(R,)`` positions ``instance * K + arm``.
            rng: Source of randomness.

        Returns:
            ``(R,)`` rewards.
        """

    @abstractmethod
    def draw_blocks(
        self, flat: IntArray | slice, counts: IntArray, rng: np.random.Generator, *, variances: bool = True
    ) -> Statistics:
        """Pull each of some arms several times, from the exact joint distribution of their statistics.

        Args:
            flat: ``(R,)`` positions ``instance * K + arm``, each at most once; or the slice of all.
            counts: ``(R,)`` pulls of each, at least 1.
            rng: Source of randomness.
            variances: If False the sample variances are not drawn (0), which saves time.

        Returns:
            ``(R,)`` statistics of these pulls.
        """

    def pull_block(
        self,
        counts: IntArray,
        rng: np.random.Generator,
        *,
        arms: IntArray | None = None,
        variances: bool = True,
    ) -> Statistics:
        """Pull arms several times each, from the exact joint distribution of their statistics.

        Args:
            counts: ``(N, K)`` pulls of all arms, or ``(N, k)`` pulls of the candidates; each at least 0.
            rng: Source of randomness.
            arms: ``(N, k)`` candidate arms, no arm twice in an instance; None: all K.
            variances: If False the sample variances are not drawn (0), which saves time.

        Returns:
            Statistics of these pulls alone, shaped like ``counts``; ``.sums`` and ``.squares`` give the sums of the
            rewards and of their squares.
        """
        flat = slice(None) if arms is None else self.positions(arms).reshape(-1)
        if counts.all():
            part = self.draw_blocks(flat, counts.reshape(-1), rng, variances=variances)
            shape = counts.shape
            return Statistics(counts, part.means.reshape(shape), part.variances.reshape(shape))
        pulled = np.flatnonzero(counts)
        flat = pulled if isinstance(flat, slice) else flat.take(pulled)
        part = self.draw_blocks(flat, counts.take(pulled), rng, variances=variances)
        block = Statistics(counts, np.zeros(counts.shape), np.zeros(counts.shape))
        block.means.reshape(-1)[pulled] = part.means
        block.variances.reshape(-1)[pulled] = part.variances
        return block

    def positions(self, arms: IntArray) -> IntArray:
        """Return the flat positions ``instance * K + arm`` of ``(N, k)`` arms."""
        return arms + np.arange(self.batch)[:, None] * self.num_arms

    def limits(self) -> tuple[float, float]:
        """Return lower and upper bounds on all rewards, the tightest ones that are true; infinite if unknown.

        By default those of the kind of rewards. They can be tighter: what everybody knows of a table may be "real
        numbers", while it is true that no reward exceeds its largest entry. Guarantees and notes depend on what is
        true; agents depend on the kind alone.
        """
        return self.rewards.low, self.rewards.high

    def scale(self) -> float:
        """Return a sigma for which the rewards of all arms are sigma-sub-Gaussian; infinite if unknown."""
        low, high = self.limits()
        return (high - low) / 2.0

    def draws(self) -> Draws | None:
        """Return how the loops of sequential agents draw from the arms; None: they pull, which takes longer."""
        return None

    def select(self, rows: IntArray) -> Self:
        """Return the bandit made of the given instances, in that order; repetitions are allowed."""
        chosen = copy(self)
        for name in ("means", "variances", *self.by_instance):
            setattr(chosen, name, getattr(self, name)[rows])
        return chosen

    def replace(self, rows: IntArray, other: Self) -> None:
        """Replace the given instances by those of ``other``, in order."""
        for name in ("means", "variances", *self.by_instance):
            getattr(self, name)[rows] = getattr(other, name)


def check_num_arms(num_arms: int) -> None:
    """Raise :class:`InstanceError` below two arms."""
    if num_arms < 2:
        raise InstanceError(f"a bandit needs at least 2 arms, not {num_arms}: one arm leaves nothing to identify")


def check_candidates(candidates: IntArray, number: int) -> IntArray:
    """Return the ``(N, K)`` candidates that are the arms of each instance, of so many; raise otherwise."""
    chosen = np.atleast_2d(np.asarray(candidates, np.int64))
    check_num_arms(chosen.shape[-1])
    if chosen.min() < 0 or chosen.max() >= number:
        raise InstanceError(f"candidate arms are numbered 0 to {number - 1}")
    return chosen


def check_range(values: FloatArray, low: float, high: float, name: str, rule: str) -> None:
    """Raise :class:`InstanceError` unless ``(N, K)`` values of arms lie in a range."""
    outside = (values < low) | (values > high)
    if outside.any():
        arm = int(np.argwhere(outside)[0, 1])
        raise InstanceError(f"{name}: arm {arm} has {values[outside][0]}; {rule}")


def check_means(means: object, name: str = "means", *, most: float = validation.LARGEST) -> FloatArray:
    """Return means as ``(N, K)`` floats.

    Raises:
        InstanceError: If they are not finite numbers of at most that magnitude, or fewer than two arms.
    """
    array = np.atleast_2d(
        validation.array(means, name, finite=False, kind="numbers, one per arm, not {!r}", error=InstanceError)
    )
    if array.ndim != 2 or array.shape[0] == 0:
        raise InstanceError(f"{name} must have shape (K,) or (N, K), not {array.shape}")
    check_num_arms(array.shape[1])
    good = np.abs(array) <= most  # NaN is bad, too
    if not good.all():
        row, arm = np.argwhere(~good)[0]
        rule = f"a finite number of at most {most:g} in magnitude"
        raise InstanceError(f"{name}: arm {arm} has {array[row, arm]}; every value must be {rule}")
    return array
