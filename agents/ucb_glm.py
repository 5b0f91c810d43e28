"""UCB-GLM: upper confidence bounds in a generalized linear model of the arms' features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bai_gym.agents.choosing import most_pulled
from bai_gym.agents.linear_models import check_rewards
from bai_gym.agents.one_by_one import OneByOneAgent
from bai_gym.agents.parameters import check_choice, check_not_negative, check_positive, check_whole
from bai_gym.designs.span import RANK_TOLERANCE
from bai_gym.problems import Briefing
from bai_gym.regression import LINK_NAMES
from bai_gym.regression.inputs import exponents
from bai_gym.regression.links import LINKS
from bai_gym.regression.newton import Likelihood
from bai_gym.sampling import ArgmaxTable, SamplingRule, TieRule
from bai_gym.statistics import ROUNDING, FloatArray, IntArray, Observation, Statistics

__all__ = ["UCBGLM", "UCBGLMRule"]

RIDGE = 1e-8  # added to the diagonal of V
LARGEST = 1e300  # of a penalty in other units
FIRST_STEPS = 50  # of Newton's method, after the first pulls
REFRESH = 64  # pulls after which V^-1 is computed afresh
TIED = 1e-9  # indices that differ by less, relative to their largest part, differ by rounding alone


@dataclass(kw_only=True)
class UCBGLM(OneByOneAgent):
    """Pulls the arm of largest x^T theta + alpha sqrt(x^T V^-1 x), and recommends the arm pulled most often.

    theta is the maximum-likelihood estimate from all pulls so far, with a small penalty, without which it often does
    not exist after a few pulls; V is the sum of x x^T over these pulls. A method for small regret, here as a baseline.
    Arms pulled equally often are told apart by their sample means.

    Paper: Li, Lu and Zhou (2017), "Provably Optimal Algorithms for Generalized Linear Contextual Bandits", Algorithm 1;
    with this recommendation in Azizi, Kveton and Ghavamzadeh (2022). Differences: the penalty; every arm is pulled
    once first, instead of random arms until V is well-conditioned; V has 1e-8 added to its diagonal; for the link
    probit the likelihood is that of the model, where the paper solves the equations of the canonical link. Its
    theoretical alpha takes a lower bound of the derivative of the mean at the true theta, which nobody knows, so there
    is no such option.

    Args:
        link: How the mean follows from the score x^T theta: ``"logit"`` (default) and ``"probit"`` for rewards in
            [0, 1], ``"log"`` for rewards of at least 0, and ``"identity"`` for any, which makes a linear model. Other
            rewards are an error.
        alpha: Factor of the width, at least 0; default 0.5.
        penalty: Factor of |theta|^2 / 2, positive; default 1e-3.
        newton_steps: Steps of Newton's method per pull at most, from the estimate before, at least 1; default 3, and
            most pulls need fewer.

    Knows nothing. Needs features. Minimum budget: K.
    """

    link: str = "logit"
    alpha: float = 0.5
    penalty: float = 1e-3
    newton_steps: int = 3

    name: ClassVar[str] = "UCB-GLM"
    uses_variances: ClassVar[bool] = False
    needs_features: ClassVar[bool] = True

    def begin(self, briefing: Briefing) -> None:
        """Check the parameters and keep the features."""
        check_choice(self.link, LINK_NAMES, "link", self.name)
        check_positive(self.penalty, "penalty", self.name)
        check_not_negative(self.alpha, "alpha", self.name)
        check_whole(self.newton_steps, 1, "newton_steps", self.name)
        assert briefing.features is not None  # as needs_features says
        self._features = briefing.features

    def rule(self, steps: int) -> SamplingRule:
        """Return the rule of all remaining pulls."""
        return UCBGLMRule(
            steps,
            self._features,
            self.link,
            self.alpha,
            self.penalty,
            self.newton_steps,
            tie=self.tie,
            rng=self.rng,
        )

    def recommend(self, observation: Observation) -> IntArray:
        """Return the arm pulled most often."""
        return most_pulled(Statistics.of(observation), self.tie, self.rng)


class UCBGLMRule(SamplingRule):
    """Pulls the arm of largest x^T theta + alpha sqrt(x^T V^-1 x).

    After a pull, Newton's method goes on from the estimate before, and V^-1 and all norms change by a matrix of rank
    one. The parameter has one entry for each dimension of the span of the arms: what lies beyond it changes nothing.

    Args:
        steps: Number of pulls.
        features: ``(N, K, d)``.
        link: Name of the link.
        alpha: Factor of the width.
        penalty: Factor of |theta|^2 / 2.
        newton_steps: Most steps per pull.
        tie: Tie rule. Arms whose indices differ by rounding alone are tied: symmetric instances have many.
        rng: Source of randomness.
    """

    def __init__(
        self,
        steps: int,
        features: FloatArray,
        link: str,
        alpha: float,
        penalty: float,
        newton_steps: int,
        *,
        tie: TieRule,
        rng: np.random.Generator,
    ) -> None:
        """Turn the features into coordinates in their span."""
        self.steps = steps
        self._link_name, self._link = link, LINKS[link]
        self._alpha = alpha
        self._newton_steps = newton_steps
        self._tie: TieRule = tie
        self._rng = rng
        unit = exponents(features.reshape(len(features), -1))
        left, values, _ = np.linalg.svd(np.ldexp(features, -unit[:, None, None]), full_matrices=False)
        self._kept = values > RANK_TOLERANCE * max(features.shape[1:]) * values[:, :1]
        values = np.where(self._kept, values, 1.0)
        # Two forms of the arms: of the model, which the penalty is in units of, and of V, which then has eigenvalues
        # of at least 1 after the first pulls, whatever its condition number was.
        self._directions: FloatArray = left * self._kept[:, None, :]
        self._arms: FloatArray = self._directions * values[:, None, :]
        with np.errstate(over="ignore", under="ignore"):
            self._penalty = np.minimum(np.ldexp(penalty, -2 * unit), LARGEST)
            self._ridge = np.minimum(np.ldexp(RIDGE, -2 * unit)[:, None] / values**2, LARGEST)

    def start(self, window: Statistics) -> None:
        """Fit the model to the first pulls, one of each arm."""
        check_rewards(window.means, self._link_name, UCBGLM.name, ROUNDING * window.pulls)
        self._window = window
        self._pulls, self._means = window.pulls.T.copy(), window.means.T.copy()
        self._model = Likelihood(self._link, self._arms, self._pulls, self._means, self._penalty)
        self._theta = self._model.maximise(self._model.guess(self._pulls), FIRST_STEPS).theta
        self._rows = np.arange(len(self._pulls))
        self._refresh()
        self._table = ArgmaxTable(np.empty(window.pulls.shape), self._tie, self._rng)

    def choose(self) -> IntArray:
        """Return the arms of largest index."""
        scores = (self._arms @ self._theta[..., None])[..., 0]
        index = self._alpha * np.sqrt(self._norms)
        size = np.maximum(np.abs(scores).max(axis=-1), index.max(axis=-1))
        index += scores
        top = index.max(axis=-1, keepdims=True)
        np.copyto(index, top, where=index >= top - TIED * size[:, None])
        self._table.values[...] = index.T
        return self._table.argmax(self._window.pulls)

    def update(self, flat: IntArray, pulls: FloatArray, means: FloatArray, variances: FloatArray) -> None:
        """Take in rewards: fit the model again, and narrow the widths."""
        rows, slots = self._rows, flat // len(self._rows)
        before = self._means[rows, slots]
        rewards = before + (means - before) * pulls
        check_rewards(rewards, self._link_name, UCBGLM.name, ROUNDING * pulls)
        self._pulls[rows, slots], self._means[rows, slots] = pulls, means
        self._theta = self._model.maximise(self._theta, self._newton_steps).theta
        self._age += 1
        if self._age == REFRESH:
            self._refresh()
            return
        arm = self._directions[rows, slots]
        along = (self._inverse @ arm[..., None])[..., 0]
        shared = (self._directions @ along[..., None])[..., 0]
        scale = 1.0 / (1.0 + shared[rows, slots])[:, None]
        self._inverse -= along[:, :, None] * (scale * along)[:, None, :]
        self._norms -= scale * shared**2
        np.maximum(self._norms, 0.0, out=self._norms)

    def _refresh(self) -> None:
        """Compute V^-1 and the norms afresh."""
        arms = self._directions
        matrix = np.swapaxes(arms, -1, -2) @ (self._pulls[..., None] * arms)
        np.einsum("nii->ni", matrix)[...] += np.where(self._kept, self._ridge, 1.0)
        self._inverse = np.linalg.inv(matrix)
        self._norms = np.maximum(((arms @ self._inverse) * arms).sum(axis=-1), 0.0)
        self._age = 0
