"""Fixed instances of papers: Bernoulli set-ups, shapes of means, several bandits, and fixed confidence."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from bai_gym.bandits import BernoulliBandit, EmpiricalBandit, GaussianBandit, SampleTable
from bai_gym.errors import ParameterError
from bai_gym.problems.base import FixedProblem, arm_count
from bai_gym.validation import choice, integer, real

__all__ = [
    "CONFIDENCE_SETUPS",
    "MULTI_BANDIT_SETUPS",
    "SETUPS",
    "SHAPES",
    "bernoulli_setup",
    "confidence_setup",
    "many_arms",
    "mean_shape",
    "multi_bandit_setup",
]

SETUPS = {
    1: (0.5, *[0.4] * 19),
    2: (0.5, *[0.42] * 5, *[0.38] * 14),
    3: (0.5, *(0.5 - 0.37**arm for arm in (2, 3, 4))),
    4: (0.5, 0.42, 0.4, 0.4, 0.35, 0.35),
    5: (0.5, *(0.5 - 0.025 * arm for arm in range(2, 16))),
    6: (0.5, 0.48, *[0.37] * 18),
    7: (0.5, *[0.45] * 5, *[0.43] * 14, *[0.38] * 10),
}
"""Means of the set-ups of Audibert, Bubeck and Munos (2010), section 6, by number."""

_A, _B = (0.5, 0.45, 0.4, 0.3), (0.5, 0.3, 0.2, 0.1)
_C = ((0.0, 1.0), (0.45, 0.45), (0.25, 0.65), (0.0, 0.9))
_D = ((0.4, 0.6), (0.45, 0.45), (0.35, 0.55), (0.25, 0.65))

MULTI_BANDIT_SETUPS: dict[int, tuple[tuple[object, ...], ...]] = {1: (_A, _B), 2: (_C, _D), 3: (_C, _D, _C, _D)}
"""The bandits of each set-up: means of Bernoulli arms, or the two values of the reward, each with probability 1/2."""

CONFIDENCE_SETUPS = {
    "gk1": ((0.5, 0.45, 0.43, 0.4), None),
    "gk2": ((0.3, 0.21, 0.2, 0.19, 0.18), None),
    "menard": ((1.0, 0.85, 0.8, 0.7), 1.0),
    "brake4": ((1.0, 0.9, 0.9, 0.9), 1.0),
}
"""Means, and the variance of Gaussian arms or None for Bernoulli arms, of set-ups for fixed confidence."""

SHAPES: dict[str, Callable[[int], list[float]]] = {
    "OneGroup": lambda size: [0.5, *[0.45] * (size - 1)],
    "TwoGroups": lambda size: [0.5, *[0.45] * ((size - 1) // 2), *[0.4] * (size // 2)],
    "Linear": lambda size: [0.75 - 0.5 * k / size for k in range(size)],
    "Concave": lambda size: [
        math.sin(0.5 * math.pi * (size - 1) / size),
        *(math.sin(0.45 * math.pi * (size - k) / size) for k in range(1, size)),
    ],
    "Convex": lambda size: [0.3 / (k + 2) for k in range(size)],
    "Stair": lambda size: [0.75 * 3.0 ** (-m / size) for m in range(1, size + 1) for _ in range(m)],
}
"""Means of the instances of Wang, Tzeng and Proutiere (2023), by shape, for each size; arm 0 is the best."""


def bernoulli_setup(setup: int = 1) -> FixedProblem:
    """Return one of the seven Bernoulli set-ups; arm 0 is the best, with mean 0.5.

    Set-ups: 1 one group of bad arms, 2 two groups, 3 geometric, 4 three groups (six arms), 5 arithmetic, 6 two good
    arms and many bad ones, 7 three groups (thirty arms).

    Args:
        setup: 1 to 7.

    Source: Audibert, Bubeck and Munos (2010), "Best Arm Identification in Multi-Armed Bandits", section 6.

    Raises:
        ParameterError: If there is no such set-up.
    """
    _check(setup, SETUPS)
    return FixedProblem(BernoulliBandit(SETUPS[setup]))


def mean_shape(shape: str = "Linear", size: int = 10) -> FixedProblem:
    """Return Bernoulli arms whose means follow one of six shapes; arm 0 is the best.

    Args:
        shape: ``"OneGroup"`` (0.5, then 0.45), ``"TwoGroups"`` (0.5, then half of the others 0.45 and half 0.4),
            ``"Linear"`` (from 0.75 in steps of 0.5 / size), ``"Concave"`` (values of a sine), ``"Convex"`` (0.3 / 2,
            0.3 / 3, ...) or ``"Stair"`` (m arms of mean 0.75 / 3^(m / size), for m = 1, ..., size).
        size: At least 3. The number of arms; of a stair, whose number of arms is size (size + 1) / 2, the steps.

    Source: Wang, Tzeng and Proutiere (2023), "Best Arm Identification with Fixed Budget: A Large Deviation
    Perspective"; the means as in the authors' code (github.com/rctzeng/NeurIPS2023-CR).

    Raises:
        ParameterError: An unknown shape, or a size below 3.
    """
    return FixedProblem(BernoulliBandit(SHAPES[choice(shape, SHAPES, "shape")](integer(size, "size", least=3))))


def many_arms(alpha: float = 0.5, num_arms: int = 5000, sigma: float = 1.0) -> FixedProblem:
    """Return Gaussian arms of means 1 - (k / K)^alpha, k = 0, ..., K - 1; arm 0 is the best.

    The smaller alpha, the rarer are good arms: 0.01 K means are above 0.9 if it is 1/2, 0.1 K if it is 1.

    Args:
        alpha: Exponent, positive.
        num_arms: K, at least 2.
        sigma: Standard deviation of the rewards, positive.

    Source: Pilliat (2026), "Adaptive Algorithms for Infinitely Many-Armed Bandits: A Unified Framework", section 5.
    That quantiles are multiples of 1 / K, and sigma is 1, are readings of the figures on the author's website.

    Raises:
        ParameterError: If alpha or sigma is not positive.
    """
    exponent, deviation = real(alpha, "alpha", above=0), real(sigma, "sigma", above=0)
    quantiles = np.arange(arm_count(num_arms)) / num_arms
    return FixedProblem(GaussianBandit(1.0 - quantiles**exponent, deviation**2))


def multi_bandit_setup(setup: int = 1) -> FixedProblem:
    """Return a set-up of several bandits of four arms, concatenated.

    1: two Bernoulli bandits, an easy and a hard one. 2: two bandits whose rewards take one of two values, with similar
    means and very different variances. 3: those of 2, twice.

    Args:
        setup: 1, 2 or 3.

    Source: after Gabillon, Ghavamzadeh, Lazaric and Bubeck (2011), section 5; set-ups 2 and 3 as used by this library,
    since the paper could not be consulted.

    Raises:
        ParameterError: If there is no such set-up.
    """
    _check(setup, MULTI_BANDIT_SETUPS)
    arms = [arm for bandit in MULTI_BANDIT_SETUPS[setup] for arm in bandit]
    if setup == 1:
        return FixedProblem(BernoulliBandit(arms))
    values = np.array(arms, np.float64)
    table = SampleTable.of(values.reshape(-1), np.arange(0, values.size + 1, 2))
    return FixedProblem(EmpiricalBandit(table, np.arange(len(values))[None, :]))


def confidence_setup(setup: str = "gk1") -> FixedProblem:
    """Return an instance of a paper on fixed confidence; arm 0 is the best.

    Characteristic times T*: 990 (``"gk1"``), 327 (``"gk2"``), 450 (``"menard"``) and 1,493 (``"brake4"``). At delta =
    0.1 no algorithm takes fewer than 1.76 T* pulls on average, see :func:`bai_gym.theory.fixed_confidence_bound`.

    Args:
        setup: ``"gk1"`` or ``"gk2"``: four and five Bernoulli arms. ``"menard"`` or ``"brake4"``: four Gaussian arms of
            variance 1.

    Sources: Garivier and Kaufmann (2016), "Optimal Best Arm Identification with Fixed Confidence", section 6
    (``"gk1"``, ``"gk2"``); the experiments of Wang, Tzeng and Proutiere (2021), "Fast Pure Exploration via
    Frank-Wolfe", where it is named after Menard (``"menard"``); Balagopalan, Nguyen, Zhao and Jun (2025), "Fixing the
    Loose Brake" (``"brake4"``).

    Raises:
        ParameterError: If there is no such set-up.
    """
    means, variance = CONFIDENCE_SETUPS[choice(setup, CONFIDENCE_SETUPS, "setup")]
    return FixedProblem(BernoulliBandit(means) if variance is None else GaussianBandit(means, variance))


def _check(setup: object, setups: Mapping[int, object]) -> None:
    if type(setup) is not int or setup not in setups:
        raise ParameterError(f"setup must be one of {', '.join(map(str, setups))}, not {setup!r}")
