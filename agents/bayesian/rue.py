"""RUE, random-effect UCB exploration: upper bounds of means that are shrunk towards each other."""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np
from typing_extensions import override

from bai_gym.agents.sequential import SequentialAgent
from bai_gym.agents.tools.choosing import best_mean
from bai_gym.agents.tools.scanning import arm_of_largest
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Episode, PerArm, Rule, State
from bai_gym.statistics import IntArray, Observation, Statistics

__all__ = ["RUE", "predict"]

TINY = 1e-300


class RUEState(State):
    """What the rule of RUE uses."""

    exploration: float  # 2 log n
    corrected: float  # 1 if the noise of the sample means is subtracted from their spread, else 0
    weight: PerArm  # w_k, of an arm's own mean
    estimate: PerArm  # of the arm's mean
    bound: PerArm  # U_k


def pull_largest_bound(e: Episode, s: RUEState, w: RUEState, rng: np.random.Generator) -> int:
    """Pull the arm of largest U."""
    predict(e, s, w)
    return arm_of_largest(w.bound, e, rng)


def predict(e: Any, s: Any, w: Any) -> None:
    """Estimate the means, as random effects of unknown mean and variance, and their upper bounds.

    In place of numbers, entries of ``e`` may be arrays, one entry for each episode.
    """
    within = freedom = pulls = rewards = squares = 0.0
    for arm in range(e.num_arms):
        n = e.pulls[arm]
        within += np.maximum(n - 1.0, 0.0) * e.variance[arm]
        freedom += np.maximum(n - 1.0, 0.0)
        pulls += n
        rewards += n * e.mean[arm]
        squares += n * n
    noise = within / np.maximum(freedom, 1.0)  # sigma^2
    between = -s.corrected * (e.num_arms - 1.0) * noise
    for arm in range(e.num_arms):
        between += e.pulls[arm] * (e.mean[arm] - rewards / pulls) ** 2
    spread = np.maximum(between, 0.0) / np.maximum(pulls - squares / pulls, 1.0)  # sigma_0^2
    weights = weighted = 0.0
    for arm in range(e.num_arms):
        w.weight[arm] = e.pulls[arm] * spread / np.maximum(e.pulls[arm] * spread + noise, TINY)
        weights += (1.0 - w.weight[arm]) * e.pulls[arm]
        weighted += (1.0 - w.weight[arm]) * e.pulls[arm] * e.mean[arm]
    weights = np.maximum(weights, TINY)  # D, 0 where all w are 1
    for arm in range(e.num_arms):
        own = w.weight[arm]
        w.estimate[arm] = own * e.mean[arm] + (1.0 - own) * weighted / weights
        part = spread / np.maximum(e.pulls[arm] * spread + noise, TINY)  # w / n
        w.bound[arm] = w.estimate[arm] + np.sqrt(s.exploration * noise * (part + (1.0 - own) ** 2 / weights))


@dataclass(kw_only=True)
class RUE(SequentialAgent):
    """Pulls the arm of largest upper bound of its mean, with a prior of all means that is learned as it goes.

    The means are random effects N(mu_0, sigma_0^2), and the rewards have the variance sigma^2 around them; all three
    are estimated after every pull. An arm's mean is predicted by its sample mean, shrunk towards mu_0, and tau^2 is the
    mean square error of that. The arm of largest prediction + sqrt(2 tau^2 log n) is pulled, and the one of largest
    prediction recommended.

    Paper: Zhu and Qiu (2024), "UCB Exploration for Fixed-Budget Bayesian Best Arm Identification" (TMLR, arXiv
    2408.04869), Algorithm 1, as its authors' code computes it, but with no least value of D.

    Args:
        spread: Estimate of sigma_0^2. ``"raw"`` (default): as in the authors' code, the spread of the sample means,
            noise included. ``"unbiased"``: their noise is subtracted, as in an analysis of variance.
    """

    spread: Literal["raw", "unbiased"] = "raw"

    name = "RUE"
    first_pulls = 2
    rule = Rule(choose=pull_largest_bound, state=RUEState)

    @override
    def begin(self, info: ProblemInfo) -> None:
        self.values = {"exploration": 2.0 * math.log(self.budget), "corrected": float(self.spread == "unbiased")}

    @override
    def recommend(self, observation: Observation) -> IntArray:
        """Return the arms of largest prediction, of those that have been pulled."""
        statistics = Statistics.of(observation)
        e = SimpleNamespace(
            num_arms=self.num_arms, pulls=statistics.pulls.T, mean=statistics.means.T, variance=statistics.variances.T
        )
        s = SimpleNamespace(**self.values)
        w = SimpleNamespace(**{name: np.empty(e.mean.shape) for name in ("weight", "estimate", "bound")})
        predict(e, s, w)
        return best_mean(Statistics(statistics.pulls, w.estimate.T, statistics.variances), self.tie, self.rng)
