"""The Hedge strategy of online learning, exponential weights of cumulated losses, for compiled rules."""

from __future__ import annotations

import math

from bai_gym.agents.tools.scanning import smallest
from bai_gym.statistics import FloatArray

__all__ = ["exponential_weights", "mix_loss"]


def exponential_weights(losses: FloatArray, rate: float, w: FloatArray) -> float:
    """Set the weights to be in proportion to exp(-rate loss), and return the :func:`mix_loss`.

    Args:
        losses: ``(K,)`` cumulated losses, finite.
        rate: Learning rate, positive.
        w: ``(K,)``, which receive the weights; they sum to 1.
    """
    lowest, total = smallest(losses), 0.0
    for k in range(w.size):
        w[k] = math.exp(-rate * (losses[k] - lowest))
        total += w[k]
    for k in range(w.size):
        w[k] /= total
    return lowest - math.log(total / losses.size) / rate


def mix_loss(losses: FloatArray, rate: float) -> float:
    """Return -log(mean of exp(-rate loss)) / rate, the cumulated mix loss of exponential weights.

    Args:
        losses: ``(K,)`` cumulated losses, finite.
        rate: Learning rate, positive.
    """
    lowest, total = smallest(losses), 0.0
    for k in range(losses.size):
        total += math.exp(-rate * (losses[k] - lowest))
    return lowest - math.log(total / losses.size) / rate
