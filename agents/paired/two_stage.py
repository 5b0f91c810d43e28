"""NM, Nelson and Matejcik's two-stage selection with common random numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import stdtrit
from typing_extensions import override

from bai_gym.agents.fixed_confidence.indifference import IndifferenceAgent
from bai_gym.agents.tools.scanning import pull_in_turn
from bai_gym.bandits import Bandit
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Episode, Rule, Sequential, State
from bai_gym.theory import nelson_matejcik_constant
from bai_gym.validation import choice

__all__ = ["NM"]

ROUNDING = 1e-9  # of variances: correlations are computed from their factors


class SecondStage(State):
    """What the rule of NM uses."""

    total: float  # pulls of all arms after both stages, more than any budget for rewards that vary enough


def has_all_items(e: Episode, s: SecondStage, w: SecondStage) -> bool:
    """Return whether the second stage has ended."""
    return e.made >= s.total


@dataclass(kw_only=True)
class NM(IndifferenceAgent):
    """Estimates the variance of the differences in a first stage, and from it how many common items all arms need.

    After n_0 items all arms are played on max(n_0, ceil((g S / zone)^2)) items in all, whatever the means are, and the
    arm of largest mean is recommended. S^2 is an estimate of the variance of a difference of two arms, the mean of all
    sample variances, and g the upper ``delta`` equicoordinate point of the (K - 1)-variate t distribution with
    (K - 1)(n_0 - 1) degrees of freedom and correlations 1/2.

    Proved, for normal rewards of which all differences have the same variance (sphericity): if the best mean exceeds
    all others by ``indifference``, it is recommended with probability at least 1 - delta. With ``variance="max"`` for
    any covariance, by the inequality of Bonferroni: S^2 is the largest sample variance of a difference, and g the
    (1 - delta / (K - 1))-quantile of Student's t with n_0 - 1 degrees of freedom.

    Paper: Nelson and Matejcik (1995), "Using Common Random Numbers for Indifference-Zone Selection and Multiple
    Comparisons in Simulation". We could not consult it; the constants are as others state them, and were checked by
    simulation.

    Args:
        delta: Allowed error probability, above 0 and below 1 - 1/K. Default 0.1. With ``variance="spherical"`` it is
            proved under sphericity alone, which the agent does not check: tables carry a note.
        indifference: Width of the zone, positive, in the unit of the reward. Default 0.1.
        first_pulls: n_0, items of the first stage, at least 2. Default 10.
        variance: ``"spherical"`` (default) or ``"max"``, as above.
        batch_size: Both stages together take as many more items as fill the last batch of so many pulls; at least 1,
            the default.
    """

    variance: str = "spherical"

    name: ClassVar[str] = "NM"
    uses_variances: ClassVar[bool] = False
    uses_pairs: ClassVar[bool] = True
    rule: ClassVar[Rule] = Rule(choose=pull_in_turn, stops=has_all_items, state=SecondStage)

    @property
    @override
    def notes(self) -> tuple[str, ...]:  # type: ignore[override]
        """A sentence for tables where ``delta`` depends on sphericity, of which rewards alone never assure."""
        if self.variance == "max":
            return ()
        proved = "its delta is proved if all differences of two arms have the same variance (sphericity)"
        return (f"{self.name}: {proved}, which it does not check; variance=max needs no such assumption",)

    @override
    def begin(self, info: ProblemInfo) -> None:
        if choice(self.variance, ("spherical", "max"), f"variance of {self.name}") == "max":
            self.constant = -float(stdtrit(self.first_pulls - 1, self.delta / (self.num_arms - 1)))
        else:
            self.constant = nelson_matejcik_constant(self.num_arms, 1.0 - self.delta, self.first_pulls)

    @override
    def sequential(self, steps: int, **options: Any) -> Sequential:
        """Return the request for the second stage."""
        variances = self._seen["difference_variances"]
        if self.variance == "max":
            square = variances.max(axis=(1, 2))
        else:
            square = variances.sum(axis=(1, 2)) / (self.num_arms * (self.num_arms - 1))
        items = np.maximum(np.ceil(square * (self.constant / self.indifference) ** 2), self.first_pulls)
        pulls = np.ceil(items * self.num_arms / self.batch_size) * self.batch_size
        self.values = {"total": np.ceil(pulls / self.num_arms) * self.num_arms}
        return super().sequential(steps, **options)

    @override
    def unmet_assumptions(self, bandit: Bandit) -> tuple[str, ...]:
        """Return notes if the confidence guarantee does not cover the rewards or the means of a bandit."""
        notes = super().unmet_assumptions(bandit)
        rows = range(0 if self.variance == "max" else len(bandit.means))
        extremes = next((extreme for row in rows if (extreme := unequal_differences(bandit, row)) is not None), None)
        if extremes is None:
            return notes
        least, most = extremes
        return (
            *notes,
            f"{self.name}: its confidence is proved for differences of arms that all have the same variance, and here "
            f"variances are from {least:.4g} to {most:.4g}; variance='max' is proved for any",
        )


def unequal_differences(bandit: Bandit, row: int) -> tuple[float, float] | None:
    """Return the least and the largest variance of a difference of two arms; None if equal, or unknown."""
    covariance = bandit.item_covariance(row)
    if covariance is None:
        return None
    diagonal = np.diagonal(covariance)
    variances = diagonal[:, None] + diagonal - 2.0 * covariance
    of_pairs = variances[np.triu_indices_from(variances, 1)]
    least, most = float(of_pairs.min()), float(of_pairs.max())
    return (least, most) if most - least > ROUNDING * diagonal.max() else None
