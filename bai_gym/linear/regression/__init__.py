"""Regression on bandit data: estimates of the parameter from pulls of arms with features, in batches.

    theta = least_squares(features, pulls, means)                # features (..., K, d), pulls and means (..., K)
    fit = generalized_linear(features, pulls, means, link="logit")
    estimates = scores(features, theta)                          # x^T theta of each arm, (..., K)

Data are grouped by arm: pulls and sample means. These are sufficient for a linear model, and for a generalized linear
one with the canonical distribution of its link. Features may have any rank, arms may have no pulls, and all axes before
those of the arms are broadcast.
"""

from bai_gym.linear.regression.generalized import FALLBACK_PENALTY, Fit, generalized_linear
from bai_gym.linear.regression.linear import least_squares, scores
from bai_gym.linear.regression.links import LINK_NAMES

__all__ = ["FALLBACK_PENALTY", "LINK_NAMES", "Fit", "generalized_linear", "least_squares", "scores"]
