"""A base for agents of linear best-arm identification with fixed confidence: they share the rule that stops them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from typing_extensions import override

from bai_gym.agents.base import Agent
from bai_gym.agents.linear.least_squares import THRESHOLDS, start
from bai_gym.agents.linear.linear_models import linear_values, noise_deviation, shared_features
from bai_gym.agents.parameters import Count, Oracle, Positive, Probability
from bai_gym.agents.sequential import SequentialAgent
from bai_gym.agents.tools.choosing import largest
from bai_gym.agents.tools.ranges import ORACLE, dependence_note, sigma_or_oracle, variances_if_oracle
from bai_gym.bandits import Bandit
from bai_gym.errors import AgentError
from bai_gym.linear.designs import project
from bai_gym.problems import ProblemInfo
from bai_gym.statistics import ROUNDING, FloatArray, IntArray, Observation, Statistics
from bai_gym.validation import choice

__all__ = ["LinearConfidenceAgent", "best_estimate", "check_best_arm", "linear_notes"]

ELIMINATIONS = ("none", "selective")
MISFIT = 1e-6  # distance of the means from a linear model, relative to their size, that is no rounding error


@dataclass(kw_only=True)
class LinearConfidenceAgent(SequentialAgent):
    """Base of agents that stop by the likelihood ratio of a linear model, and recommend the best estimate.

    The estimate is that of least squares. With y = x_i - x_j, i the best arm, the agent stops when for every other j

        (y^T theta)^2 / (2 sigma^2 (y^T V^-1 y + rho y^T V^-2 y))  >  log(1 / delta) + log det(I + V / rho) / 2,

    V = sum x x^T over the pulls, in coordinates with sum x x^T = (K / r) I over the arms. The threshold is proved for
    any sampling rule, see :mod:`bai_gym.agents.linear.least_squares`. Arms of equal features count as one. With
    different arms tied for the best only the cap of the environment stops it; with a fixed budget it may leave pulls
    unspent.

    Elimination: Tirinzoni and Degenne (2022), "On Elimination Strategies for Bandit Fixed-Confidence Identification",
    their selective form.

    Args:
        delta: Allowed error probability, in (0, 1). Default 0.1.
        sigma: Standard deviation of the noise, positive, or a sigma for which it is sigma-sub-Gaussian. ``"oracle"``:
            the largest of the true ones. None (default): half the length of the interval of bounded rewards; for others
            ``"oracle"``.
        threshold: ``"self-normalized"``, above. ``"heuristic"``: log((1 + log t) / delta) after t pulls, usual in
            experiments, and ``"heuristic+"``: log((1 + t) / delta); both without the term with rho, and not proved.
        rho: Pulls in every direction that the prior of the mixture counts as; positive, default 1.
        batch_size: Pulls between two looks at whether to stop, at least 1, the default.
        elimination: ``"none"`` (default). ``"selective"``: an arm j for which the inequality has held at a look is
            dropped for good, and no longer among the alternatives that the sampling rule compares with.
    """

    delta: Probability = 0.1
    sigma: Positive | Oracle | None = None
    threshold: str = "self-normalized"
    rho: Positive = 1.0
    batch_size: Count = 1
    elimination: str = "none"

    stops = True
    needs_features = True
    uses_variances = False
    knows = property(variances_if_oracle)
    choices = sigma_or_oracle

    @property
    @override
    def notes(self) -> tuple[str, ...]:  # type: ignore[override]
        """A sentence for tables if the threshold is not proved."""
        if self.threshold == THRESHOLDS[0]:
            return ()
        return (f"{self.name}: the threshold {self.threshold} is a heuristic, its error probability may exceed delta",)

    def unmet_assumptions(self, bandit: Bandit) -> tuple[str, ...]:
        """Return notes if the confidence guarantee does not cover a bandit."""
        return () if self.notes else linear_notes(self, bandit)

    @override
    def begin(self, info: ProblemInfo) -> None:
        """Check the parameters, and set the fields of the regression; subclasses add their own."""
        check_best_arm(self)
        features = shared_features(info, math.inf, self.name)  # V needs no ridge
        self.values = {
            **start(features, self.rho),
            "noise": noise_deviation(self, info) ** 2,
            "first": self.rng.integers(self.num_arms, size=self.batch).astype(float) if self.tie == "random" else 0.0,
            "level": math.log(1.0 / self.delta),
            "threshold": THRESHOLDS.index(choice(self.threshold, THRESHOLDS, f"threshold of {self.name}")),
            "batch_size": self.batch_size,
            "eliminates": choice(self.elimination, ELIMINATIONS, f"elimination of {self.name}") != "none",
        }

    @property
    def rank(self) -> int:
        """The largest dimension of the span of the features, after :meth:`begin`."""
        return int(np.shape(self.values["c"])[-1])

    @override
    def recommend(self, observation: Observation) -> IntArray:
        """Return the arm of largest estimate, of several the most pulled; below the minimum budget, the best mean."""
        if self.budget < self.num_arms:
            return super().recommend(observation)
        return best_estimate(self, observation["features"], Statistics.of(observation))


def best_estimate(
    agent: Agent,
    features: FloatArray,
    statistics: Statistics,
    candidates: tuple[FloatArray, IntArray] | None = None,
) -> IntArray:
    """Return ``(N,)`` arms of largest estimate by least squares, of several the most pulled.

    Args:
        agent: Breaks the remaining ties.
        features: ``(N, K, d)``.
        statistics: Of all pulls.
        candidates: ``(N, m, d)`` what is estimated, in place of the arms, and its ``(N, m)`` pulls.
    """
    ranked, pulls = (None, statistics.pulls) if candidates is None else candidates
    values = linear_values(features, statistics, ranked)
    near = values >= values.max(axis=1, keepdims=True)
    return largest(np.where(near, pulls, -1.0), np.zeros(len(pulls)), pulls, agent.tie, agent.rng)


def check_best_arm(agent: Any) -> None:
    """Raise :class:`AgentError` for a task with an accuracy above 0, which the tests do not allow for."""
    if agent.task.epsilon > 0:
        raise AgentError(
            f"{agent.name} looks for the best arm itself: use an environment with epsilon=0, not "
            f"{agent.task.epsilon:g}, or an agent such as KL-LUCB, LUCB or UGapEc"
        )


def linear_notes(agent: Any, bandit: Bandit) -> tuple[str, ...]:
    """Return notes if a confidence guarantee for linear means and sub-Gaussian noise does not cover a bandit."""
    proved, notes = f"{agent.name}: its confidence is proved for", dependence_note(agent.name, bandit, by_pairs=True)
    sigma = agent.suited_to(bandit.rewards).setting("sigma")
    deviation = np.sqrt(bandit.variances.max()) if sigma == ORACLE else sigma
    if bandit.scale() > deviation * (1.0 + ROUNDING):
        notes += (f"{proved} {deviation:.4g}-sub-Gaussian rewards, and these need not be; give it sigma=",)
    if bandit.features is not None:
        axes = project(bandit.features).coordinates  # (N, K, m), orthonormal columns
        fitted = (axes @ (np.swapaxes(axes, 1, 2) @ bandit.means[..., None]))[..., 0]
        if (np.abs(fitted - bandit.means) > MISFIT * np.abs(bandit.means).max(axis=1, keepdims=True)).any():
            notes += (f"{proved} means that are linear in the features, and these are not",)
    return notes
