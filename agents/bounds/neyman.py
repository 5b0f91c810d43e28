"""Neyman allocation: GNA, and NA-AIPW for two arms, which draw arms in proportion to what their variances call for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from typing_extensions import override

from bai_gym.agents.sequential import SequentialAgent
from bai_gym.agents.tools.choosing import keep_best
from bai_gym.agents.tools.scanning import arm_of_largest
from bai_gym.agents.tools.variances import (
    VarianceState,
    estimated_variance,
    pool,
    variance_choice,
    variance_estimate,
)
from bai_gym.errors import ParameterError
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Episode, Outcome, PerArm, Rule
from bai_gym.statistics import FloatArray, IntArray
from bai_gym.validation import choice

__all__ = ["GNA", "NAAIPW"]

SMALLEST_SHARE = 0.1  # of an arm, times 1 / K
SMALLEST_DEVIATION = 1e-3  # times the largest one


class NeymanState(VarianceState):
    """What the rule of GNA uses."""

    tracks: bool  # whether shares are tracked, and not drawn from
    arm: int  # the arm of the last draw
    chance: float  # its probability
    before: float  # its mean before
    estimates: PerArm  # sums over the draws of the estimates of each mean
    share: PerArm  # the shares


def draw_by_shares(e: Episode, s: NeymanState, w: NeymanState, rng: np.random.Generator) -> int:
    """Complete the estimates of the last pull, and draw the next arm or take the one farthest behind its share."""
    if e.pulled >= 0:
        w.estimates[e.pulled] += (e.reward - s.before) / s.chance
    pool(e, s)
    set_shares(e, s, arm_of_largest(e.mean, e, rng), w.share)
    for arm in range(e.num_arms):
        w.estimates[arm] += e.mean[arm]
    if s.tracks:
        for arm in range(e.num_arms):
            w.share[arm] = e.made * w.share[arm] - e.pulls[arm]
        return arm_of_largest(w.share, e, rng)
    s.arm = draw(w.share, rng)
    s.chance, s.before = w.share[s.arm], e.mean[s.arm]
    return s.arm


def set_shares(e: Episode, s: NeymanState, best: int, shares: FloatArray) -> None:
    """Set the shares that are best for the estimated variances, where the best arm is compared with all others."""
    top = others = 0.0
    for arm in range(e.num_arms):
        shares[arm] = np.sqrt(estimated_variance(e.pulls[arm], e.mean[arm], e.variance[arm], s))
        top = max(top, shares[arm])
    for arm in range(e.num_arms):
        deviation = max(shares[arm], SMALLEST_DEVIATION * top) if top > 0.0 else 1.0
        shares[arm] = deviation**2
        if arm != best:
            others += shares[arm]
    of_best = np.sqrt(shares[best]) / (np.sqrt(shares[best]) + np.sqrt(others))
    whole = 0.0
    for arm in range(e.num_arms):
        share = of_best if arm == best else (1.0 - of_best) * shares[arm] / others
        shares[arm] = max(share, SMALLEST_SHARE / e.num_arms)
        whole += shares[arm]
    for arm in range(e.num_arms):
        shares[arm] /= whole


def draw(shares: FloatArray, rng: np.random.Generator) -> int:
    """Return a random arm."""
    left, arm = rng.random() - shares[0], 0
    while left >= 0.0 and arm < shares.size - 1:
        arm += 1
        left -= shares[arm]
    return arm


@dataclass(kw_only=True)
class GNA(SequentialAgent):
    """Generalized Neyman allocation: draws random arms with the shares that are best for the estimated variances.

    With s_i the sample standard deviations, b the arm of largest mean and S the sum of s_i^2 over the other arms, the
    shares are s_b / (s_b + sqrt(S)) of b, and the rest divided in proportion to s_i^2. They minimise the largest
    variance s_b^2 / w_b + s_i^2 / w_i of a difference. Means are estimated by adaptive augmented inverse probability
    weighting: the average, over the draws, of m_i + [i is drawn] (reward - m_i) / w_i, with the sample mean m_i before
    the draw; the arm of largest estimate is recommended.

    Paper: Kato (2024), "Generalized Neyman Allocation for Locally Minimax Optimal Best-Arm Identification". The text
    beyond the introduction could not be consulted: the shares are derived here. First pulls, which enter the estimates
    by the means only, and bounds of the shares, at least 0.1 / K, are this library's.

    Args:
        sampling: ``"random"`` (default), or ``"track"``: pull the arm farthest behind its share.
        estimator: ``"aipw"`` (default), or ``"mean"``: the sample mean, which ``"track"`` takes.
        variance: Estimate of the variances: ``"jeffreys"``, ``"floor"``, ``"sample"`` or None (default), by the kind of
            rewards, see :mod:`bai_gym.agents.tools.variances`.
    """

    sampling: str = "random"
    estimator: str = "aipw"
    variance: str | None = None

    name: ClassVar[str] = "GNA"
    first_pulls: ClassVar[int] = 2
    rule: ClassVar[Rule] = Rule(choose=draw_by_shares, state=NeymanState)
    choices = variance_choice

    @property
    @override
    def anytime(self) -> bool:  # type: ignore[override]
        """The weighted estimates do not follow from the statistics."""
        return self.estimator == "mean"

    @override
    def begin(self, info: ProblemInfo) -> None:
        choice(self.sampling, ("random", "track"), f"sampling of {self.name}")
        choice(self.estimator, ("aipw", "mean"), f"estimator of {self.name}")
        if self.sampling == "track" and self.estimator == "aipw":
            raise ParameterError(
                f"{self.name} with sampling='track' draws no random arms, whose probabilities estimator='aipw' needs: "
                "give estimator='mean'"
            )
        self.values = {"tracks": self.sampling == "track", "estimate": variance_estimate(self)}

    @override
    def conclude(self, outcome: Outcome) -> IntArray:
        """Return the arm of largest estimate: A2IPW, or the sample mean."""
        if self.estimator == "mean":
            return super().conclude(outcome)
        rows, states, statistics = np.arange(self.batch), outcome.states, outcome.statistics
        last, before = states["arm"].astype(np.int64), states["before"]
        estimates, pulls = states["estimates"].copy(), statistics.pulls[rows, last]
        reward = statistics.means[rows, last] * pulls - before * (pulls - 1)
        estimates[rows, last] += (reward - before) / states["chance"]
        return np.asarray(keep_best(estimates, 1, self.tie, self.rng).argmax(axis=1))


@dataclass(kw_only=True)
class NAAIPW(GNA):
    """Neyman allocation for two arms, drawn in the ratio of their estimated standard deviations.

    The means are estimated as by GNA, of which this is the case of two arms.

    Paper: Kato (2023), "Locally Optimal Fixed-Budget Best Arm Identification in Two-Armed Gaussian Bandits with Unknown
    Variances". First pulls and bounds of the shares are this library's, as for GNA.
    """

    name: ClassVar[str] = "NA-AIPW"
