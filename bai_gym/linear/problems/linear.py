"""The linear and logistic bandits of Azizi, Kveton and Ghavamzadeh (2022), and a factorial experiment."""

from __future__ import annotations

import math

import numpy as np
from typing_extensions import override

from bai_gym.bandits import FeatureBandit
from bai_gym.errors import InstanceError, ParameterError
from bai_gym.linear.bandits.linear import linear_bandit
from bai_gym.linear.problems.experiments import factor_features
from bai_gym.linear.tasks import BestCandidate
from bai_gym.problems.base import FixedProblem, Problem, arm_count
from bai_gym.statistics import FloatArray, IntArray
from bai_gym.validation import choice, integer, real

__all__ = [
    "LinearCornerProblem",
    "LinearSphereProblem",
    "LogisticProblem",
    "adaptive_problem",
    "closest_pairs",
    "factorial_problem",
    "soare_features",
    "static_problem",
    "transductive_problem",
]

# The mean, four factors and six products; numpy.random.seed(6) and randint(-10, 10) / 100 in the authors' code.
EFFECTS = (0.0, -0.01, -0.07, 0.0, 0.03, 0.025, 0.0, 0.06, -0.09, 0.01, 0.03)
CORNER_SPREAD = 0.09  # standard deviation of the angles around pi/4
EXPONENTS = {"sqrt(3/d)": 0.5, "3/d": 1.0}  # of 3 / d
PAIRS_AT_ONCE = 2_000_000  # inner products held at a time


def adaptive_problem(
    num_arms: int = 16, angle: float = 0.1, noise_variance: float = 10.0, scale: float = 1.0
) -> FixedProblem:
    """Return the unit vectors and one disturbing arm close to the best of them.

    Arms 0 to d - 1 are the unit vectors of d = K - 1 dimensions, and arm d is (cos w, sin w, 0, ...); theta is a
    multiple of the first unit vector. So arm 0 is the best, and the last one is worse by length (1 - cos w): 0.0049958
    for w = 0.1. The second direction separates the two, so an adaptive algorithm pulls arm 1.

    Args:
        num_arms: K, at least 3.
        angle: w, above 0 and at most pi.
        noise_variance: Above 0; the paper's N(0, 10) is a variance.
        scale: Length of theta, above 0: the first unit vector is multiplied by it. Soare et al. (2014) have 2, with
            noise of variance 1.

    Raises:
        InstanceError: Fewer than three arms.
        ParameterError: Another number outside its range.

    Source: Azizi, Kveton and Ghavamzadeh (2022), "Fixed-Budget Best-Arm Identification in Structured Bandits", section
    8.1, after Soare, Lazaric and Munos (2014).
    """
    arms = _at_least(num_arms, 3, pair_bytes=24)
    features = soare_features(arms - 1, angle)
    theta = real(scale, "scale", above=0) * features[0]
    return FixedProblem(linear_bandit(features, theta, noise_variance=noise_variance))


def soare_features(num_features: int, angle: float) -> FloatArray:
    """Return ``(d + 1, d)`` features: the d unit vectors, and (cos w, sin w, 0, ...).

    Args:
        num_features: d, at least 2.
        angle: w, above 0 and at most pi.

    Raises:
        ParameterError: An angle outside its range.
    """
    real(angle, "angle", above=0, most=math.pi, rule="above 0 and at most pi")
    features = np.vstack([np.eye(num_features), np.zeros(num_features)])
    features[-1, :2] = math.cos(angle), math.sin(angle)
    return features


def static_problem(num_arms: int = 16, gap: float = 0.1, noise_variance: float = 10.0) -> FixedProblem:
    """Return the unit vectors of K dimensions: arm 0 has the mean ``gap``, and all others 0.

    No arm carries information about another, so the best allocation does not depend on rewards.

    Args:
        num_arms: K = d, at least 2.
        gap: Above 0; the paper has 0.01, 0.03, 0.05, 0.1 and 0.3.
        noise_variance: Above 0. The paper's text does not say it; 10 is that of its other experiments.

    Raises:
        InstanceError: Fewer than two arms.
        ParameterError: A gap or a variance outside its range.

    Source: Azizi, Kveton and Ghavamzadeh (2022), section 8.2, after Xu, Honda and Sugiyama (2018).
    """
    arms = arm_count(num_arms, pair_bytes=24)
    real(gap, "gap", above=0)
    return FixedProblem(linear_bandit(np.eye(arms), gap * np.eye(arms)[0], noise_variance=noise_variance))


def transductive_problem(num_features: int = 5, angle: float = 0.1, noise_variance: float = 1.0) -> FixedProblem:
    """Return 2d unit vectors as arms, and candidates of which half are arms, and half are close to one each.

    The arms are e_1, ..., e_2d in 2d dimensions, and theta = e_1. The candidates are e_i, and cos(w) e_i + sin(w)
    e_(d+i), for i = 1, ..., d: candidate 0 is the best, and candidate d is worse by 1 - cos(w), 0.0049958 for w = 0.1.
    So arms 0 and d have to be pulled, though d is no candidate.

    Args:
        num_features: d, at least 1: there are 2d arms with 2d features, and 2d candidates.
        angle: w, above 0 and at most pi.
        noise_variance: Above 0.

    Raises:
        InstanceError: Fewer than one dimension.
        ParameterError: Another number outside its range.

    Source: Fiez, Jain, Jamieson and Ratliff (2019), "Sequential Experimental Design for Transductive Linear Bandits",
    the transductive example, with the angle of the authors' code, where d is 20 to 80.
    """
    d = integer(num_features, "num_features", least=1, error=InstanceError)
    real(angle, "angle", above=0, most=math.pi, rule="above 0 and at most pi")
    arms = np.eye(arm_count(2 * d, num_features=2 * d, pair_bytes=24))
    candidates = np.vstack([arms[:d], math.cos(angle) * arms[:d] + math.sin(angle) * arms[d:]])
    bandit = linear_bandit(arms, arms[0], noise_variance=noise_variance)
    return FixedProblem(bandit, task=BestCandidate(candidates, bandit.features[0]))


def factorial_problem(noise_variance: float = 0.09) -> FixedProblem:
    """Return all combinations of four factors at two levels, with main effects and interactions of two factors.

    16 arms have 11 features: 1, the levels -1 or 1 of each factor, and the products of each two of them. The effects
    are those that the authors drew: arm 11 is the best, with 0.235, and the next ones have 0.205, 0.185 and 0.105.

    Args:
        noise_variance: Above 0; the paper's standard deviation of 0.3 is the default.

    Raises:
        ParameterError: A variance that is not above 0.

    Source: Xiong, Camilleri, Fazel, Jain and Jamieson (2024), "A/B Testing and Best-arm Identification for Linear
    Bandits with Robustness to Non-stationarity", the multivariate example, after Fiez et al. (2019), with theta as
    drawn by the authors' code.
    """
    return FixedProblem(linear_bandit(factor_features(4), EFFECTS, noise_variance=noise_variance))


class LinearSphereProblem(Problem):
    """Arms are uniform on the unit sphere; theta is almost the best arm, and its nearest neighbour almost as good.

    With x_i and x_j the two closest arms, theta = x_i + alpha (x_j - x_i). Then x_i is the best arm and x_j the next
    one, worse by (1 - 2 alpha) (1 - x_i @ x_j). Which of the two is x_i is drawn.

    Args:
        num_arms: K, at least 2.
        num_features: d, at least 2.
        noise_variance: Above 0. 10 is that of the paper's other experiments (section 8.3 does not say it); its appendix
            E.3 has 1.
        alpha: At least 0 and below 0.5; 0.01 in the paper, 0 in the code of Fiez et al. (2019), who have nine
            dimensions, 250 to 2,000 arms and noise of variance 1.

    Raises:
        InstanceError: Fewer than two arms or dimensions.
        ParameterError: A variance that is not above 0, or another alpha.

    Source: Azizi, Kveton and Ghavamzadeh (2022), section 8.3, after Tao, Blanco and Zhou (2018).
    """

    num_features: int
    isotropic = True

    def __init__(
        self, num_arms: int = 16, num_features: int = 10, *, noise_variance: float = 10.0, alpha: float = 0.01
    ) -> None:
        """Check the sizes."""
        self.num_features = integer(num_features, "num_features", least=2, error=InstanceError)
        self.num_arms = arm_count(num_arms, num_features=self.num_features, pair_bytes=8)
        self.noise_variance = real(noise_variance, "noise_variance", above=0)
        self.alpha = real(alpha, "alpha", least=0)
        if self.alpha >= 0.5:
            raise ParameterError(f"alpha must be at least 0 and below 0.5, not {self.alpha:g}")

    @override
    def draw(self, batch: int, rng: np.random.Generator) -> FeatureBandit:
        features = rng.standard_normal((batch, self.num_arms, self.num_features))
        features /= np.linalg.norm(features, axis=-1, keepdims=True)
        pairs = rng.permuted(closest_pairs(features), axis=1)
        rows = np.arange(batch)
        best, next_best = features[rows, pairs[:, 0]], features[rows, pairs[:, 1]]
        theta = best + self.alpha * (next_best - best)
        return linear_bandit(features, theta, noise_variance=self.noise_variance)


class LinearCornerProblem(Problem):
    """In the plane: the best arm, a distant arm, and all others clustered at 45 degrees between the two.

    Arm 0 is (1, 0), which is theta too; the last arm has the angle 3 pi / 4; each other one pi / 4 plus its own normal
    deviation with standard deviation 0.09. A single stage with an optimal design does best here.

    Args:
        num_arms: K, at least 3.
        noise_variance: Above 0.

    Raises:
        InstanceError: Fewer than three arms.
        ParameterError: A variance that is not above 0.

    Source: Azizi, Kveton and Ghavamzadeh (2022), appendix E.3, figure 7, after Yang and Tan (2022), section 5.1.
    """

    num_features = 2

    def __init__(self, num_arms: int = 12, *, noise_variance: float = 1.0) -> None:
        """Check the number of arms."""
        self.num_arms = _at_least(num_arms, 3)
        self.noise_variance = real(noise_variance, "noise_variance", above=0)

    @override
    def draw(self, batch: int, rng: np.random.Generator) -> FeatureBandit:
        angles = np.zeros((batch, self.num_arms))
        angles[:, 1:-1] = math.pi / 4 + CORNER_SPREAD * rng.standard_normal((batch, self.num_arms - 2))
        angles[:, -1] = 3 * math.pi / 4
        features = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
        return linear_bandit(features, [1.0, 0.0], noise_variance=self.noise_variance)


class LogisticProblem(Problem):
    """A logistic bandit: features uniform on [-0.5, 0.5], theta normal, rewards 0 and 1.

    Args:
        num_arms: K, at least 2.
        num_features: d, at least 1; the paper has 5, 7, 10 and 12.
        theta_sd: Standard deviation of each entry of theta. ``"sqrt(3/d)"``: the paper's text, N(0, (3/d) I).
            ``"3/d"``: the authors' code.

    Raises:
        InstanceError: Fewer than two arms, or no feature.
        ParameterError: Another ``theta_sd``.

    Source: Azizi, Kveton and Ghavamzadeh (2022), section 8.4.
    """

    num_features: int
    isotropic = True  # theta is

    def __init__(self, num_arms: int = 8, num_features: int = 5, *, theta_sd: str = "sqrt(3/d)") -> None:
        """Check the sizes."""
        self.num_features = integer(num_features, "num_features", least=1, error=InstanceError)
        self.num_arms = arm_count(num_arms, num_features=self.num_features)
        self.theta_sd = choice(theta_sd, EXPONENTS, "theta_sd")

    @override
    def draw(self, batch: int, rng: np.random.Generator) -> FeatureBandit:
        features = rng.uniform(-0.5, 0.5, (batch, self.num_arms, self.num_features))
        theta = (3.0 / self.num_features) ** EXPONENTS[self.theta_sd] * rng.standard_normal((batch, self.num_features))
        return linear_bandit(features, theta, link="logit")


def closest_pairs(features: FloatArray) -> IntArray:
    """Return the ``(N, 2)`` two closest of ``(N, K, d)`` unit vectors, those of largest inner product, in order."""
    batch, arms, _ = features.shape
    pairs = np.empty((batch, 2), np.int64)
    per_part = max(1, PAIRS_AT_ONCE // arms**2)
    diagonal = np.arange(arms)
    for first in range(0, batch, per_part):
        part = features[first : first + per_part]
        products = part @ part.transpose(0, 2, 1)
        products[:, diagonal, diagonal] = -np.inf
        flat = products.reshape(len(part), -1).argmax(axis=1)
        pairs[first : first + per_part] = np.stack([flat // arms, flat % arms], axis=1)
    return np.sort(pairs, axis=1)  # or rounding would decide which comes first


def _at_least(num_arms: object, least: int, *, pair_bytes: int = 0) -> int:
    arms = arm_count(num_arms, pair_bytes=pair_bytes)
    if arms < least:
        raise InstanceError(f"this environment needs at least {least} arms, not {arms}")
    return arms
