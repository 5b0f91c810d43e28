"""Linear bandits of the experiments of Fiez et al. (2019): many arms in the plane, and combinations of factors."""

from __future__ import annotations

import itertools

import numpy as np
from typing_extensions import override

from bai_gym.bandits import FeatureBandit
from bai_gym.errors import InstanceError
from bai_gym.linear.bandits.linear import linear_bandit
from bai_gym.problems.base import Problem, arm_count
from bai_gym.statistics import FloatArray
from bai_gym.validation import integer, real

__all__ = ["LinearManyArmsProblem", "LinearMultivariateProblem"]

CLUSTER = 0.78, 0.1  # the least angle, and the width
LEAST_GAP = 1e-5  # effects with a smaller gap of the two best arms are drawn again
MOST_FACTORS = 10


class LinearManyArmsProblem(Problem):
    """In the plane: the best arm, an arm that tells it from the others, and all others between the two.

    Arm 0 is (1, 0), which is theta too; the last arm is 0.707 (-1, 1); each other one has its own angle, uniform on
    [0.78, 0.88]. The best arm is better by at least 0.289. Few pulls prove it, mostly of the last arm, which is the
    worst; what takes time is the number of arms.

    Args:
        num_arms: K, at least 3; the paper has 10,000 to 30,000.
        noise_variance: Above 0.

    Raises:
        InstanceError: Fewer than three arms.
        ParameterError: A variance that is not above 0.

    Source: Fiez, Jain, Jamieson and Ratliff (2019), "Sequential Experimental Design for Transductive Linear Bandits",
    the experiment with many arms, with the angles of the authors' code.
    """

    num_features = 2

    def __init__(self, num_arms: int = 1000, *, noise_variance: float = 1.0) -> None:
        """Check the number of arms."""
        self.num_arms = arm_count(num_arms, num_features=2)
        if self.num_arms < 3:
            raise InstanceError(f"this environment needs at least 3 arms, not {self.num_arms}")
        self.noise_variance = real(noise_variance, "noise_variance", above=0)

    @override
    def draw(self, batch: int, rng: np.random.Generator) -> FeatureBandit:
        least, width = CLUSTER
        angles = least + width * rng.random((batch, self.num_arms))
        features = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
        features[:, 0], features[:, -1] = (1.0, 0.0), (-0.707, 0.707)
        return linear_bandit(features, [1.0, 0.0], noise_variance=self.noise_variance)


class LinearMultivariateProblem(Problem):
    """All combinations of D factors at two levels, with random main effects and interactions of two factors.

    The 2^D arms have 1 + D + D (D - 1) / 2 features: 1, the levels -1 or 1 of each factor, and the products of each two
    of them. Each effect is uniform on -0.10, -0.09, ..., 0.09, that of the first product half as large; they are drawn
    until the two best arms differ by 1e-5. ``linear-factorial`` has one such draw.

    Args:
        num_factors: D, from 2 to 10; the paper has 3 to 6.
        noise_variance: Above 0.

    Raises:
        InstanceError: Another number of factors.
        ParameterError: A variance that is not above 0.

    Source: Fiez, Jain, Jamieson and Ratliff (2019), "Sequential Experimental Design for Transductive Linear Bandits",
    the multivariate experiment, with the effects of the authors' code.
    """

    num_features: int

    def __init__(self, num_factors: int = 4, *, noise_variance: float = 1.0) -> None:
        """Check the number of factors."""
        self.num_factors = integer(num_factors, "num_factors", least=2, most=MOST_FACTORS, error=InstanceError)
        self.num_arms = arm_count(2**self.num_factors)
        self._features = factor_features(self.num_factors)
        self.num_features = self._features.shape[1]
        self.noise_variance = real(noise_variance, "noise_variance", above=0)

    @override
    def draw(self, batch: int, rng: np.random.Generator) -> FeatureBandit:
        theta = np.zeros((batch, self.num_features))
        again = np.arange(batch)
        while again.size:
            theta[again] = rng.integers(-10, 10, (again.size, self.num_features)) / 100.0
            theta[again, 1 + self.num_factors] /= 2.0
            two = np.partition(theta[again] @ self._features.T, -2, axis=1)[:, -2:]
            again = again[two[:, 1] - two[:, 0] < LEAST_GAP]
        return linear_bandit(self._features, theta, noise_variance=self.noise_variance)


def factor_features(num_factors: int) -> FloatArray:
    """Return ``(2^D, 1 + D + D (D - 1) / 2)`` features: 1, the levels of D factors, and the products of each two."""
    levels = np.array(list(itertools.product((-1.0, 1.0), repeat=num_factors)))
    products = [levels[:, i] * levels[:, j] for i, j in itertools.combinations(range(num_factors), 2)]
    return np.column_stack([np.ones(len(levels)), levels, *products])
