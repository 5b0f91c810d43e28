"""User-defined arms, by features and parameters."""

from __future__ import annotations

from bai_gym.errors import ParameterError
from bai_gym.linear.bandits.linear import check_link, linear_bandit
from bai_gym.linear.tasks import BestCandidate
from bai_gym.problems.base import FixedProblem

__all__ = ["custom_linear_problem"]

DEMO_FEATURES = ((1.0, 0.0), (0.8, 0.6), (0.0, 1.0), (-0.6, 0.8))
DEMO_THETA = (0.5, 0.1)


def custom_linear_problem(
    features: object = None,
    theta: object = None,
    link: str = "identity",
    noise_variance: float | None = None,
    candidates: object = None,
) -> FixedProblem:
    """Return the problem of one fixed linear or generalized linear instance, see :func:`bai_gym.linear.linear_bandit`.

    Args:
        features: ``(K, d)``, one row for each arm. None, with ``theta`` left out too: the demonstration instance, four
            arms with two features each.
        theta: ``(d,)`` parameters; the mean of an arm is h(features @ theta).
        link: ``"identity"`` (Gaussian rewards), ``"logit"`` or ``"probit"`` (0 and 1), or ``"log"`` (counts).
        noise_variance: Variance of Gaussian rewards, above 0. None: 1.
        candidates: ``(K_Z, d)`` what may be recommended, in the span of the features; None: the arms. See
            :class:`bai_gym.linear.tasks.BestCandidate`.

    Raises:
        InstanceError: Malformed features, parameters or candidates.
        ParameterError: An unknown link, one of features and theta without the other, or a variance with a link that
            determines it.
    """
    if check_link(link) != "identity" and noise_variance is not None:
        raise ParameterError(f"noise_variance cannot be given with link={link!r}: the means determine the variances")
    if link != "identity" and candidates is not None:
        raise ParameterError(f"candidates need link='identity', means that are linear in the features, not {link!r}")
    notes: tuple[str, ...] = ()
    if features is None and theta is None:
        features, theta = DEMO_FEATURES, DEMO_THETA
        notes = ("no features were given: this is the demonstration instance, four arms with theta 0.5, 0.1",)
    elif features is None or theta is None:
        raise ParameterError("features and theta must both be given: features=[[...], ...] and theta=[...]")
    bandit = linear_bandit(features, theta, link=link, noise_variance=1.0 if noise_variance is None else noise_variance)
    task = None if candidates is None else BestCandidate(candidates, bandit.features[0])
    return FixedProblem(bandit, notes, task=task)
