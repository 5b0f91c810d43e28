"""Solutions of lesson 5."""

import numpy as np


# %% least_squares
def least_squares(features, pulls, means):
    """Return the estimate of theta from how often each arm was pulled and the means of its rewards."""
    V = features.T @ (pulls[:, None] * features)
    b = features.T @ (pulls * means)
    return np.linalg.solve(V, b)


# %% arm_variances
def arm_variances(features, weights):
    """Return x^T V^-1 x for each arm x, with V the sum of weight x x^T."""
    V = features.T @ (weights[:, None] * features)
    return (features @ np.linalg.inv(V) * features).sum(axis=1)


# %% design
def design(features, steps):
    """Return weights of the arms, with sum 1, that make the largest variance of an arm as small as possible."""
    K, d = features.shape
    weights = np.full(K, 1 / K)
    for _ in range(steps):
        variances = arm_variances(features, weights)
        arm = variances.argmax()
        step = (variances[arm] / d - 1) / (variances[arm] - 1)
        weights = (1 - step) * weights
        weights[arm] += step
    return weights
