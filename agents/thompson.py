"""Thompson sampling and top-two Thompson sampling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bai_gym.agents.choosing import best_mean, most_pulled
from bai_gym.agents.one_by_one import OneByOneAgent
from bai_gym.agents.parameters import check_positive, check_share
from bai_gym.agents.posteriors import POSTERIORS, Posterior
from bai_gym.agents.thompson_rules import ThompsonRule, TopTwoRule
from bai_gym.errors import ParameterError
from bai_gym.problems import Briefing
from bai_gym.sampling import SamplingRule
from bai_gym.statistics import IntArray, Observation, Statistics

__all__ = ["TS", "TTTS"]


@dataclass(kw_only=True)
class _ThompsonAgent(OneByOneAgent):
    """What both have in common: the posterior.

    Args:
        posterior: ``"student"`` (default): normal rewards of unknown variance, flat prior in mean and log variance.
            ``"bernoulli"``: rewards 0 and 1, uniform prior; other rewards are an error. ``"normal"``: normal rewards of
            the standard deviation ``sigma``, flat prior.
        sigma: Standard deviation of the rewards for ``"normal"``, positive; default 0.5, the largest that rewards in
            [0, 1] can have.
    """

    posterior: str = "student"
    sigma: float = 0.5

    @property
    def first_pulls(self) -> int:  # type: ignore[override]
        """First pulls of each arm."""
        return self._model.first_pulls

    @property
    def uses_variances(self) -> bool:  # type: ignore[override]
        """Whether the posterior needs the sample variances."""
        return self._model.uses_variances

    @property
    def _model(self) -> type[Posterior]:
        if self.posterior not in POSTERIORS:
            allowed = ", ".join(repr(name) for name in POSTERIORS)
            raise ParameterError(f"posterior of {self.name} must be one of {allowed}, not {self.posterior!r}")
        return POSTERIORS[self.posterior]

    def begin(self, briefing: Briefing) -> None:
        """Check the parameters."""
        check_positive(self.sigma, "sigma", self.name)

    def model(self, window: Statistics) -> Posterior:
        """Return the posterior for the statistics of a sampling rule."""
        return self._model(window, self.sigma, self.name)


@dataclass(kw_only=True)
class TS(_ThompsonAgent):
    """Draws a mean for each arm from its posterior, and pulls the arm of the largest; recommends the most pulled one.

    A method for small regret, here as a baseline. Arms pulled equally often are told apart by their sample means.

    Paper: Thompson (1933), "On the Likelihood that One Unknown Probability Exceeds Another"; for bandits Agrawal and
    Goyal (2012), "Analysis of Thompson Sampling for the Multi-armed Bandit Problem". Difference: every arm is pulled
    first, once, or twice for ``"student"``, also where the posterior would exist without.

    Args:
        posterior: ``"student"`` (default): normal rewards of unknown variance, flat prior in mean and log variance; two
            equal rewards leave no uncertainty, so not for rewards of few values. ``"bernoulli"``: rewards 0 and 1,
            uniform prior; other rewards are an error. ``"normal"``: normal rewards of the standard deviation ``sigma``,
            flat prior.
        sigma: Standard deviation of the rewards for ``"normal"``, positive; default 0.5, the largest that rewards in
            [0, 1] can have.

    Knows nothing (``sigma`` is a parameter). Minimum budget: K, or 2 K for ``"student"``.
    """

    name: ClassVar[str] = "TS"

    def rule(self, steps: int) -> SamplingRule:
        """Return the rule of all remaining pulls."""
        return ThompsonRule(steps, self.model, tie=self.tie, rng=self.rng)

    def recommend(self, observation: Observation) -> IntArray:
        """Return the arm pulled most often."""
        return most_pulled(Statistics.of(observation), self.tie, self.rng)


@dataclass(kw_only=True)
class TTTS(_ThompsonAgent):
    """Thompson sampling that pulls, with probability 1 - beta, the best of a draw in which another arm is the best.

    I is the arm of the largest draw. With probability beta it is pulled; else draws are repeated until their largest is
    another arm J, which is pulled. If none of ``tries`` has another one, the arm j is pulled that is the cheapest to
    confuse with I: of smallest (m_I - m_j)^2 / (v_I / T_I + v_j / T_j), with the sample means and variances (m (1 - m)
    for ``"bernoulli"``, sigma^2 for ``"normal"``). The arm of largest posterior mean is recommended.

    Paper: Russo (2016), "Simple Bayesian Algorithms for Best Arm Identification", section 3.3, which draws until there
    is another arm. Differences: the end after so many draws; every arm is pulled first, once, or twice for
    ``"student"``.

    Args:
        beta: Probability of pulling I, strictly between 0 and 1; default 1/2.
        tries: Draws for another arm at most, at least 0; default 100. Few of them save most of the time.
        posterior: ``"student"`` (default): normal rewards of unknown variance, flat prior in mean and log variance; two
            equal rewards leave no uncertainty, so not for rewards of few values. ``"bernoulli"``: rewards 0 and 1,
            uniform prior; other rewards are an error. ``"normal"``: normal rewards of the standard deviation ``sigma``,
            flat prior.
        sigma: Standard deviation of the rewards for ``"normal"``, positive; default 0.5, the largest that rewards in
            [0, 1] can have.

    Knows nothing (``sigma`` is a parameter). Minimum budget: K, or 2 K for ``"student"``.
    """

    beta: float = 0.5
    tries: int = 100

    name: ClassVar[str] = "TTTS"

    def begin(self, briefing: Briefing) -> None:
        """Check the parameters."""
        super().begin(briefing)
        check_share(self.beta, "beta", self.name)
        if isinstance(self.tries, bool) or not isinstance(self.tries, int) or self.tries < 0:
            raise ParameterError(f"tries of TTTS must be a whole number of at least 0, not {self.tries!r}")

    def rule(self, steps: int) -> SamplingRule:
        """Return the rule of all remaining pulls."""
        return TopTwoRule(steps, self.model, self.beta, self.tries, tie=self.tie, rng=self.rng)

    def recommend(self, observation: Observation) -> IntArray:
        """Return the arm of largest posterior mean."""
        statistics = Statistics.of(observation)
        if self.posterior == "bernoulli":
            means = (1.0 + np.rint(statistics.sums)) / (2.0 + statistics.pulls)
            statistics = Statistics(statistics.pulls, means, statistics.variances)
        return best_mean(statistics, self.tie, self.rng)
