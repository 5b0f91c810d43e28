"""What bandits offer whose arms are played on common items; of others it is asked in vain."""

from __future__ import annotations

import numpy as np

from bai_gym.errors import InstanceError
from bai_gym.statistics import FloatArray, IntArray

__all__ = ["Items"]


class Items:
    """The part of a bandit that is about common items, which paired arms have.

    Attributes:
        paired: Whether the j-th pull of every arm is played on the same item.
    """

    paired: bool = False

    def keep_items(self) -> None:
        """Let :meth:`item_rewards` find the rewards of all later pulls; called before the first one.

        Raises:
            InstanceError: If arms are not paired.
        """
        raise InstanceError("the arms are not paired: their pulls have no items in common")

    def take_items(self, flat: IntArray, rng: np.random.Generator) -> IntArray:
        """Count a pull of each of some arms of paired bandits, whose rewards :meth:`item_rewards` then returns.

        Args:
            flat: ``(R,)`` positions ``instance * K + arm``, each at most once.
            rng: Source of randomness.

        Returns:
            ``(R,)`` items.

        Raises:
            InstanceError: If arms are not paired.
        """
        raise InstanceError("the arms are not paired: their pulls have no items in common")

    def item_rewards(self, rows: IntArray, items: IntArray) -> FloatArray:
        """Return the rewards of all arms of paired bandits on items.

        Args:
            rows: ``(...,)`` instances.
            items: ``(...,)`` items, numbered from 0, that some arm has been pulled on since :meth:`keep_items`.

        Returns:
            ``(..., K)`` rewards; also of arms that have not been pulled on the item yet.

        Raises:
            InstanceError: If arms are not paired.
        """
        raise InstanceError("the arms are not paired: their pulls have no items in common")
