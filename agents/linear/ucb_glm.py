"""UCB-GLM: upper confidence bounds in a generalized linear model of the arms' features."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from typing_extensions import override

from bai_gym.agents.linear import likelihood
from bai_gym.agents.linear.likelihood import LikelihoodState, farthest, maximize_likelihood
from bai_gym.agents.linear.linear_models import check_rewards, shared_features
from bai_gym.agents.linear.ridge import RegressionState, update_regression
from bai_gym.agents.linear.ridge_fit import Ridge
from bai_gym.agents.parameters import Count, NotNegative, Positive
from bai_gym.agents.sequential import SequentialAgent, recommend_most_pulled
from bai_gym.agents.tools.scanning import arm_of_nearly_largest
from bai_gym.linear.regression import LINK_NAMES, generalized_linear
from bai_gym.linear.regression.links import LINKS
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import WAIT, Episode, PerArm, Rule, Sequential, States
from bai_gym.statistics import ROUNDING, IntArray, Statistics
from bai_gym.validation import choice

__all__ = ["UCBGLM"]

RIDGE = 1e-8  # added to the diagonal of V
FIRST_STEPS = 50  # of Newton's method, after the first pulls


class UCBGLMState(LikelihoodState, RegressionState):
    """What the rule of UCB-GLM uses; V is the matrix of the regression."""

    alpha: float  # factor of the width
    lower: float  # the link allows no smaller rewards
    upper: float  # nor larger ones
    is_refused: bool  # whether the last reward is not allowed
    refused: float  # that reward
    index: PerArm  # upper confidence bounds


def pull_upper_bound(e: Episode, s: UCBGLMState, w: UCBGLMState, rng: np.random.Generator) -> int:
    """Pull the arm of largest x^T theta + alpha sqrt(x^T V^-1 x), with theta of maximum likelihood."""
    if 0 < s.seen < e.made:  # at first, theta is computed by `UCBGLM.supply`
        if not is_allowed(e, s):
            return WAIT
        maximize_likelihood(e, s, w)
    if not update_regression(e, s, w):
        return WAIT  # for V^-1
    for arm in range(e.num_arms):
        w.index[arm] = w.z[arm] + s.alpha * np.sqrt(w.squares[int(w.places[arm])])
    return arm_of_nearly_largest(w.index, farthest(w.z), e, rng)


def is_allowed(e: Episode, s: UCBGLMState) -> bool:
    """Return whether the link allows the last reward; if not, note it."""
    slack = ROUNDING * e.pulls[e.pulled]
    s.is_refused, s.refused = e.reward < s.lower - slack or e.reward > s.upper + slack, e.reward
    return not s.is_refused


@dataclass(kw_only=True)
class UCBGLM(SequentialAgent):
    """Pulls the arm of largest x^T theta + alpha sqrt(x^T V^-1 x), and recommends the arm pulled most often.

    theta is the maximum-likelihood estimate from all pulls so far, with a small penalty, without which it often does
    not exist after a few pulls; V is the sum of x x^T over these pulls. Minimises cumulative regret; here a baseline.
    Ties in pulls are broken by sample means.

    Paper: Li, Lu and Zhou (2017), "Provably Optimal Algorithms for Generalized Linear Contextual Bandits", Algorithm 1;
    with this recommendation in Azizi, Kveton and Ghavamzadeh (2022). Differences: the penalty; every arm is pulled
    once first, instead of random arms until V is well-conditioned; V has 1e-8 added to its diagonal; for the link
    probit the likelihood is that of the model, where the paper solves the equations of the canonical link. Its
    theoretical alpha takes a lower bound of the derivative of the mean at the true theta, which is unknown, so there
    is no such option.

    Args:
        link: How the mean follows from the score x^T theta: ``"logit"`` (default) and ``"probit"`` for rewards in
            [0, 1], ``"log"`` for rewards of at least 0, and ``"identity"`` for any, which makes a linear model. Other
            rewards are an error.
        alpha: Factor of the width, at least 0; default 0.5.
        penalty: Factor of |theta|^2 / 2, positive; default 1e-3.
        newton_steps: Steps of Newton's method per pull at most, from the estimate before, at least 1; default 3, and
            most pulls need fewer.
    """

    link: str = "logit"
    alpha: NotNegative = 0.5
    penalty: Positive = 1e-3
    newton_steps: Count = 3

    name = "UCB-GLM"
    uses_variances = False
    needs_features = True
    rule = Rule(choose=pull_upper_bound, state=UCBGLMState)

    @override
    def begin(self, info: ProblemInfo) -> None:
        choice(self.link, LINK_NAMES, f"link of {self.name}")
        self._features = shared_features(info, math.inf, self.name)
        self._ridge = Ridge(self._features, RIDGE)
        link = LINKS[self.link]
        self.values = {
            "link": LINK_NAMES.index(self.link),
            "lower": link.smallest,
            "upper": link.largest,
            "alpha": self.alpha,
            "newton_steps": self.newton_steps,
            "penalty": self.penalty,
            **self._ridge.values,
            **likelihood.start(self._features.shape[-1]),
        }

    @override
    def sequential(self, steps: int, **options: Any) -> Sequential:
        return super().sequential(steps, supply=self.supply, **options)

    def supply(self, rows: IntArray, states: States, statistics: Statistics) -> None:
        """Compute V^-1, and at first the estimate from the first pulls, one of each arm."""
        check_rewards(states["refused"][rows[states["is_refused"][rows] == 1]], self.link, self.name)
        first = rows[states["seen"][rows] == 0]
        if first.size:
            x = self._features if len(self._features) == 1 else self._features[first]
            pulls, means = statistics.pulls[first], statistics.means[first]
            check_rewards(means, self.link, self.name, ROUNDING * pulls)
            fit = generalized_linear(x, pulls, means, link=self.link, penalty=self.penalty, max_iterations=FIRST_STEPS)
            states["theta"][first] = fit.theta
            states["z"][first] = (x @ fit.theta[..., None])[..., 0]
        self._ridge.fit(rows, states, statistics)

    recommend = recommend_most_pulled
