"""The Gaussian instances of Mukherjee et al. (2017), section 4: which of a hundred arms lie above 1/2?"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from typing_extensions import override

from bai_gym.bandits import GaussianBandit
from bai_gym.errors import unknown_name
from bai_gym.problems.base import Problem
from bai_gym.validation import choice

__all__ = ["THRESHOLDING_SETUPS", "ThresholdingProblem", "thresholding_setup"]

NUM_ARMS = 100
OTHER_MEAN = 0.4  # of arms 10, ..., 99

_Range = tuple[float, float]


@dataclass(frozen=True)
class _SetUp:
    """One experiment.

    Attributes:
        means: Means of arms 0, ..., 9; those of arms 5, ..., 9 lie above 1/2.
        below: Variance of arms 0, ..., 4.
        above: Variance of arms 5, ..., 9.
        others: Range of the variances of the other arms, which are uniform in it.
    """

    means: tuple[float, ...]
    below: float = 0.5
    above: float = 0.6
    others: _Range = (0.38, 0.42)


_TWO_GROUPS = (0.45,) * 5 + (0.55,) * 5

THRESHOLDING_SETUPS = {
    "Arithmetic": _SetUp((0.2, 0.25, 0.3, 0.35, 0.45, 0.55, 0.65, 0.7, 0.75, 0.8)),
    "Geometric": _SetUp((0.2, 0.36, 0.392, 0.3984, 0.45, 0.55, 0.6016, 0.608, 0.64, 0.8)),
    "ThreeGroups": _SetUp((0.1, 0.1, 0.1, 0.35, 0.45, 0.55, 0.65, 0.9, 0.9, 0.9)),
    "TwoGroups": _SetUp(_TWO_GROUPS),
    "Advanced": _SetUp(_TWO_GROUPS, 0.3, 0.8, (0.2, 0.3)),
}
"""Experiments 1 to 5 of the paper, by the names of their figures; experiment 6 has the instances of the fifth."""

IN_CODE = {
    name: replace(setup, others=(0.3, 0.4)) for name, setup in THRESHOLDING_SETUPS.items() if name != "Advanced"
} | {
    "Arithmetic": _SetUp((0.2, 0.25, 0.3, 0.35, 0.45, 0.55, 0.6, 0.65, 0.7, 0.75), others=(0.3, 0.4)),
    "Advanced": THRESHOLDING_SETUPS["Advanced"],
}
"""The same in the authors' program, which differs from the paper's text in two places."""


class ThresholdingProblem(Problem):
    """A hundred Gaussian arms, of which arms 5 to 9 have a mean above 1/2.

    The means are those of the set-up. The variances of arms 10 to 99 are drawn for every instance, uniformly in the
    range that the paper gives; fresh variances per instance are this library's reading.

    Args:
        setup: ``"Arithmetic"``, ``"Geometric"``, ``"ThreeGroups"``, ``"TwoGroups"`` or ``"Advanced"``.
        spread: Meaning of the paper's numbers: ``"variance"`` (default), as the text says, or ``"deviation"``,
            as a program has it that passes them to a generator of normal numbers which expects standard deviations.
            With the first, nearly all runs of nearly all algorithms end with an error. ``"code"``: standard deviations,
            and the set-ups of the authors' program. There arms 10 to 99 of experiments 1 to 4 have deviations in
            [0.3, 0.4], not in [0.38, 0.42], and arms 6 to 9 of experiment 1 have means 0.6 to 0.75, not 0.65 to 0.8.

    Raises:
        UnknownNameError: If there is no such set-up.
        ParameterError: If ``spread`` is none of these words.

    Source: Mukherjee et al. (2017), "Thresholding Bandits with Augmented UCB", section 4, experiments 1 to 5; the
    authors' program is code/create_environment.py in https://github.com/Subhojyoti/tbandit_IJCAI.
    """

    num_arms = NUM_ARMS

    def __init__(self, setup: str = "Arithmetic", *, spread: str = "variance") -> None:
        """Look up the set-up."""
        if not isinstance(setup, str) or setup not in THRESHOLDING_SETUPS:
            raise unknown_name("setup", str(setup), THRESHOLDING_SETUPS, f"allowed: {', '.join(THRESHOLDING_SETUPS)}")
        self.setup = setup
        self.spread = choice(spread, ("variance", "deviation", "code"), "spread")

    @override
    def draw(self, batch: int, rng: np.random.Generator) -> GaussianBandit:
        """Return instances with freshly drawn variances."""
        setup = (IN_CODE if self.spread == "code" else THRESHOLDING_SETUPS)[self.setup]
        means = np.full(NUM_ARMS, OTHER_MEAN)
        means[:10] = setup.means
        variances = np.empty((batch, NUM_ARMS))
        variances[:, :5] = setup.below
        variances[:, 5:10] = setup.above
        variances[:, 10:] = rng.uniform(*setup.others, size=(batch, NUM_ARMS - 10))
        if self.spread != "variance":
            variances **= 2
        return GaussianBandit(np.tile(means, (batch, 1)), variances)


def thresholding_setup(setup: str = "Arithmetic", spread: str = "variance") -> ThresholdingProblem:
    """Return one of the five set-ups, see :class:`ThresholdingProblem`."""
    return ThresholdingProblem(setup, spread=spread)
