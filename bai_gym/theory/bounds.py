"""All bounds on error probabilities, with a table by names of agents.

Every bound takes an instance ``(..., K)`` and a budget n, which is broadcast against the leading axes, and returns
``(...)``: not clipped, so often above 1, and NaN outside the domain of the theorem. Malformed input raises.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from numpy.typing import ArrayLike

from bai_gym.statistics import FloatArray
from bai_gym.theory.gap_bounds import (
    gape_bound,
    gape_v_bound,
    successive_rejects_bound,
    ucb_e_bound,
    ugapeb_bound,
    ugapec_bound,
    ugapec_sample_complexity,
)
from bai_gym.theory.halving_bounds import sequential_halving_bound, shadavar_bound, shvar_bound
from bai_gym.theory.threshold_bounds import apt_bound, augucb_bound, csar_bound, ucbev_bound

__all__ = [
    "BOUNDS",
    "CONFIDENCE_BOUNDS",
    "THRESHOLD_BOUNDS",
    "Bound",
    "apt_bound",
    "augucb_bound",
    "csar_bound",
    "gape_bound",
    "gape_v_bound",
    "sequential_halving_bound",
    "shadavar_bound",
    "shvar_bound",
    "successive_rejects_bound",
    "ucb_e_bound",
    "ucbev_bound",
    "ugapeb_bound",
    "ugapec_bound",
    "ugapec_sample_complexity",
]


@dataclass(frozen=True)
class Bound:
    """The proved bound of one agent: call it with ``(means, variances, budget)``.

    The bound of a thresholding agent is called with ``(means, variances, threshold, budget)``.

    Attributes:
        function: The bound, on the arguments above.
        citation: Theorem and paper, in one line.
        rewards: Range of the rewards: ``"[0, 1]"`` or ``"Gaussian"``.
        parameters: Parameters of the agent for which it is proved, if not the defaults.
    """

    function: Callable[..., FloatArray]
    citation: str
    rewards: str
    parameters: Mapping[str, object] = field(default_factory=dict)

    def __call__(self, means: ArrayLike, variances: ArrayLike, *rest: ArrayLike) -> FloatArray:
        """Return the bound, ``(...)``; NaN outside its domain."""
        return self.function(means, variances, *rest)


BOUNDS = {
    "SH": Bound(
        lambda means, variances, budget: sequential_halving_bound(means, budget),
        "Karnin, Koren and Somekh (2013), Theorem 4.1",
        "[0, 1]",
    ),
    "SHVar": Bound(shvar_bound, "Lalitha et al. (2023), Theorem 4", "Gaussian"),
    "SHAdaVar": Bound(shadavar_bound, "Lalitha et al. (2023), Theorem 5, corrected; NaN at delta = 0.05", "Gaussian"),
    "SR": Bound(
        lambda means, variances, budget: successive_rejects_bound(means, budget),
        "Audibert, Bubeck and Munos (2010), Theorem 2",
        "[0, 1]",
    ),
    "UCB-E": Bound(
        lambda means, variances, budget: ucb_e_bound(means, budget),
        "Audibert, Bubeck and Munos (2010), Theorem 1",
        "[0, 1]",
        {"a": "theory", "b": 1.0},
    ),
    "GapE": Bound(
        lambda means, variances, budget: gape_bound(means, budget),
        "Gabillon, Ghavamzadeh, Lazaric and Bubeck (2011), Theorem 1",
        "[0, 1]",
        {"rescaled": False, "b": 1.0},
    ),
    "GapE-V": Bound(
        gape_v_bound,
        "Gabillon, Ghavamzadeh, Lazaric and Bubeck (2011), Theorem 2",
        "[0, 1]",
        {"rescaled": False, "b": 1.0},
    ),
    "UGapEb": Bound(
        lambda means, variances, budget: ugapeb_bound(means, budget),
        "Gabillon, Ghavamzadeh and Lazaric (2012), Theorem 1",
        "[0, 1]",
        {"b": 1.0},
    ),
}
"""Bounds for finding the best arm, by names in tables; called with ``(means, variances, budget)``."""

CONFIDENCE_BOUNDS = {
    "UGapEc": Bound(ugapec_bound, "Gabillon, Ghavamzadeh and Lazaric (2012), Theorem 2", "[0, b]"),
}
"""Bounds for agents that decide when to stop; called with ``(means, cap, delta, m, epsilon, b)``."""

THRESHOLD_BOUNDS = {
    "AugUCB": Bound(augucb_bound, "Mukherjee et al. (2017), Theorem 3.1, with the 4KT of its proof", "[0, 1]"),
    "UCBEV-T": Bound(ucbev_bound, "Mukherjee et al. (2017), Table 1, as printed", "[0, 1]"),
    "APT": Bound(
        lambda means, variances, threshold, budget: apt_bound(means, threshold, budget),
        "Locatelli, Gutzeit and Carpentier (2016), Theorem 2",
        "[0, 1]",
        {"epsilon": 0.0},
    ),
    "CSAR": Bound(
        lambda means, variances, threshold, budget: csar_bound(means, threshold, budget),
        "Chen et al. (2014), as in Mukherjee et al. (2017), Table 1",
        "[0, 1]",
    ),
}
"""Bounds for thresholding; called with ``(means, variances, threshold, budget)``."""
