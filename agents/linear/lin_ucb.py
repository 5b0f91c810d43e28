"""LinUCB: upper confidence bounds from a linear model of the means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from typing_extensions import override

from bai_gym.agents.linear import lin_ucb_fast
from bai_gym.agents.linear.linear_models import longest, noise_deviation, shared_features
from bai_gym.agents.linear.plain_ridge import RidgeState, product, start, update_regression
from bai_gym.agents.linear.ridge_fit import Ridge
from bai_gym.agents.parameters import NotNegative, Oracle, Positive, Probability
from bai_gym.agents.sequential import SequentialAgent
from bai_gym.agents.tools.choosing import largest
from bai_gym.agents.tools.ranges import ORACLE, deviation_or_oracle
from bai_gym.agents.tools.scanning import arm_of_nearly_largest
from bai_gym.problems import ProblemInfo
from bai_gym.rewards import Rewards
from bai_gym.sampling import Episode, PerArm, Rule, Sequential
from bai_gym.statistics import FloatArray, IntArray, Observation, Statistics

__all__ = ["LinUCB"]


class LinUCBState(RidgeState):
    """What the rule of LinUCB uses."""

    alpha: float  # factor of the width
    lam: float  # weight of the identity in A
    disjoint: bool  # whether each arm has a regression of its own
    lengths: PerArm  # x^T x
    index: PerArm  # upper confidence bounds


def pull_upper_bound(e: Episode, s: LinUCBState, w: LinUCBState, rng: np.random.Generator) -> int:
    """Pull the arm of largest x^T theta + alpha sqrt(x^T A^-1 x)."""
    if s.disjoint:
        set_disjoint_bounds(e, s, w)
    else:
        update_regression(e, s, w)
        for arm in range(e.num_arms):
            square = product(s, w, e.features[arm], e.features[arm])
            w.index[arm] = w.scores[arm] + s.alpha * np.sqrt(max(square, 0.0))
    return arm_of_nearly_largest(w.index, s.scale, e, rng)


def set_disjoint_bounds(e: Episode, s: LinUCBState, w: LinUCBState) -> None:
    """Set the bounds with A = lam I + T x x^T for each arm: x^T A^-1 x = x^T x / (lam + T x^T x)."""
    s.scale = max(s.scale, abs(e.reward))
    for arm in range(e.num_arms):
        square = w.lengths[arm] / (s.lam + e.pulls[arm] * w.lengths[arm])
        w.index[arm] = square * e.pulls[arm] * e.mean[arm] + s.alpha * np.sqrt(square)


@dataclass(kw_only=True)
class LinUCB(SequentialAgent):
    """Pulls the arm of largest x^T theta + alpha sqrt(x^T A^-1 x), and recommends the arm pulled most often.

    A = lam I + sum x x^T over the pulls, and theta = A^-1 sum y x is the ridge regression of the rewards. Minimises
    cumulative regret; a baseline that shows the value of pure exploration. Ties in pulls are broken by x^T theta.

    Paper: Li, Chu, Langford and Schapire (2010), "A Contextual-Bandit Approach to Personalized News Article
    Recommendation", Algorithm 1; the radius of Abbasi-Yadkori, Pal and Szepesvari (2011), "Improved Algorithms for
    Linear Stochastic Bandits", Theorem 2 (OFUL), at the time n; the recommendation of Azizi, Kveton and Ghavamzadeh
    (2022), "Fixed-Budget Best-Arm Identification in Structured Bandits", section 8 and appendix F.

    Args:
        alpha: Factor of the width, at least 0. None (default): sigma sqrt(d log((1 + n L^2 / lam) / delta)) +
            sqrt(lam) S, with n the budget, d the number of features and L the length of the longest arm. The code of
            Azizi et al. has 0.51296 = 1 / sqrt(log(2 / 0.001) / 2), for any noise.
        lam: Weight of the identity in A, positive; default 1.
        sigma: Standard deviation of the noise, positive. ``"oracle"``: the largest of the true ones. None (default):
            half the length of the interval of bounded rewards; for others ``"oracle"``.
        delta: Probability with which the widths of OFUL fail, in (0, 1); default 0.05.
        S: Bound on the length of the true theta, at least 0; default 1. If it is far too small, the agent keeps pulling
            the first arm whose reward exceeds the bound.
        model: ``"shared"`` (default): one theta for all arms. ``"disjoint"``: each arm has a ridge regression of its
            own, as in Li et al. and the code of Azizi et al.

    Knows the true variances, if ``sigma`` is the oracle's and ``alpha`` is not given.
    """

    alpha: NotNegative | None = None
    lam: Positive = 1.0
    sigma: Positive | Oracle | None = None
    delta: Probability = 0.05
    S: NotNegative = 1.0
    model: Literal["shared", "disjoint"] = "shared"

    name = "LinUCB"
    uses_variances = False
    needs_features = True
    first_pulls = 0
    rule = Rule(choose=pull_upper_bound, state=LinUCBState)

    @property
    @override
    def knows(self) -> frozenset[str]:  # type: ignore[override]
        """The variances, if the width depends on them."""
        return frozenset({"variances"} if self.alpha is None and self.setting("sigma") == ORACLE else ())

    @override
    def choices(self, rewards: Rewards) -> dict[str, Any]:
        """Return the deviation for rewards of a kind, where the width depends on it."""
        return {"sigma": deviation_or_oracle(rewards)} if self.alpha is None else {}

    @property
    @override
    def fast(self) -> Rule | None:  # type: ignore[override]
        """The fast form for one regression."""
        return lin_ucb_fast.SHARED if self.model == "shared" else None

    @override
    def minimum_budget(self, num_arms: int) -> int:
        """Return 1: the widths of arms without a pull are finite."""
        return 1

    @override
    def begin(self, info: ProblemInfo) -> None:
        features = shared_features(info, self.lam, self.name)
        if self.alpha is not None:
            self.width_factor: FloatArray = np.full(self.batch, float(self.alpha))
        else:
            ratio = (1.0 + self.budget * longest(features) ** 2 / self.lam) / self.delta
            noise = noise_deviation(self, info)
            self.width_factor = noise * np.sqrt(features.shape[-1] * np.log(ratio)) + np.sqrt(self.lam) * self.S
        self._ridge = Ridge(features, self.lam) if self.model == "shared" else None
        self._lengths: FloatArray = np.einsum("nkd,nkd->nk", features, features)
        if self._ridge is not None and not self.plain:
            self.values = {"alpha": self.width_factor, **self._ridge.values}
            return
        own = {"lam": self.lam, "disjoint": self.model == "disjoint", "lengths": self._lengths}
        self.values = {"alpha": self.width_factor, **own, **start(features.shape[-1], self.lam)}

    @override
    def sequential(self, steps: int, **options: Any) -> Sequential:
        """Return the request for all pulls."""
        return super().sequential(steps, supply=None if self._ridge is None else self._ridge.fit, **options)

    @override
    def recommend(self, observation: Observation) -> IntArray:
        """Return the arm pulled most often."""
        statistics = Statistics.of(observation)
        pulls, scores = statistics.pulls, self._scores(statistics)
        most = np.where(pulls == pulls.max(axis=-1, keepdims=True), scores, -np.inf)
        return largest(most, np.abs(scores).max(axis=-1), pulls, self.tie, self.rng)

    def _scores(self, statistics: Statistics) -> FloatArray:
        """Return the ``(N, K)`` estimates x^T theta."""
        if self._ridge is not None:
            return self._ridge.scores(statistics.pulls, statistics.means)
        return self._lengths * statistics.sums / (self.lam + statistics.pulls * self._lengths)
