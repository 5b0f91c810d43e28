"""Bootstrap of whole runs, with common weights for all agents and tasks.

Run i of every agent, budget and environment under one seed shares its randomness: the instance in any case, and where
environments are alike the rewards too. (Uniform's errors on the first two classical set-ups have a correlation of 0.8.)
So tasks must not be resampled independently of each other: intervals of averages over tasks would be too short. Each
bootstrap sample therefore gives run i one weight, for all agents and tasks.

The weights are independent and exponential, Rubin's Bayesian bootstrap. It has the variance of the ordinary one, whose
weights are multinomial counts, up to the factor R / (R + 1); it needs no equal number of runs; and an outcome that was
seen once never disappears. For an agent without errors, both would claim certainty. So there is a prior of half a wrong
and half a correct run, divided among the tasks that are averaged. With one task the distribution is then exactly
Jeffreys' posterior, whose intervals have good coverage at any error probability.

References:
    D. B. Rubin (1981), "The Bayesian bootstrap", Annals of Statistics 9(1), 130-134.
    L. D. Brown, T. T. Cai and A. DasGupta (2001), "Interval estimation for a binomial proportion", Statistical Science
    16(2), 101-133: Jeffreys' interval.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bai_gym.common.seeding import generator
from bai_gym.statistics import FloatArray
from bai_gym.validation import integer

__all__ = ["check_samples", "resample"]

BLOCK = 1000  # runs per draw of weights; fixed, because the random numbers depend on it
GRID = 2.0**20  # weights are multiples of 1 / GRID: their sums are exact, for any order and number of threads


def check_samples(samples: object) -> int:
    """Return a number of bootstrap samples.

    Raises:
        ParameterError: If it is no integer of at least 100.
    """
    return integer(samples, "samples", least=100, rule="an integer of at least 100, such as 2000")


def resample(
    columns: Sequence[npt.NDArray[np.generic]],
    addresses: Sequence[tuple[str | int, ...]],
    *,
    samples: int,
    seed: int,
    unseen: npt.ArrayLike,
    size: float = 1.0,
    most: float = 1.0,
) -> FloatArray:
    """Draw from the bootstrap distribution of means over runs.

    Args:
        columns: C arrays ``(R_c,)``: in the order of the runs, whole or half numbers from 0 to `most`, or booleans.
        addresses: C addresses. The prior's weights of a column are named by it, and so do not depend on the others.
        samples: Number of bootstrap samples B.
        seed: At least 0.
        unseen: Number of runs of either extreme, 0 and `most`, that the prior adds to a column: 1/2 for Jeffreys'.
            One number, or ``(C,)``.
        size: A weight of these runs, beside their number.
        most: Largest possible number.

    Returns:
        ``(B, C)`` means, in [0, most].
    """
    lengths = np.array([column.size for column in columns])
    sums = np.zeros((samples, len(columns)))
    totals = {int(length): np.zeros(samples) for length in np.unique(lengths)}
    for block, start in enumerate(range(0, int(lengths.max()), BLOCK)):
        stop = min(start + BLOCK, int(lengths.max()))
        # Run by run: the weights of the first runs do not depend on the number of runs.
        weights = generator(seed, "weights", block).standard_exponential((stop - start, samples)).T
        weights = np.rint(weights * GRID) / GRID
        values = np.zeros((stop - start, len(columns)))
        for c, column in enumerate(columns):
            part = column[start:stop]
            values[: part.size, c] = part
        sums += weights @ values
        for length, total in totals.items():
            total += weights[:, : max(0, min(length, stop) - start)].sum(axis=1)
    whole = np.stack([totals[int(length)] for length in lengths], axis=1)
    shapes = np.broadcast_to(np.asarray(unseen, dtype=np.float64), len(columns))
    for c, (address, shape) in enumerate(zip(addresses, shapes, strict=True)):
        low, high = size * generator(seed, "unseen", *address).standard_gamma(shape, (2, samples))
        sums[:, c] += most * high
        whole[:, c] += low + high
    return np.asarray(sums / whole)
