"""Thompson sampling and top-two Thompson sampling."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bai_gym.agents.choosing import best_mean, most_pulled
from bai_gym.agents.one_by_one import OneByOneAgent
from bai_gym.agents.posteriors import POSTERIORS, Posterior
from bai_gym.errors import ParameterError
from bai_gym.problems import Briefing
from bai_gym.sampling import ArgmaxTable, SamplingRule, TieRule
from bai_gym.statistics import FloatArray, IntArray, Observation, Statistics

__all__ = ["TS", "TTTS", "ThompsonRule", "TopTwoRule"]


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
        if not (math.isfinite(self.sigma) and self.sigma > 0):
            raise ParameterError(f"sigma of {self.name} must be a positive number, not {self.sigma}")

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
        return ThompsonRule(self, steps)

    def recommend(self, observation: Observation) -> IntArray:
        """Return the arm pulled most often."""
        return most_pulled(Statistics.of(observation), self.tie, self.rng)


@dataclass(kw_only=True)
class TTTS(_ThompsonAgent):
    """Thompson sampling that pulls, with probability 1 - beta, the best of a draw in which another arm is the best.

    I is the arm of the largest draw. With probability beta it is pulled; else draws are repeated until their largest is
    another arm J, which is pulled. If none of 100 has another one, the arm j is pulled that is the cheapest to confuse
    with I: of smallest (m_I - m_j)^2 / (v_I / T_I + v_j / T_j), with the sample means and variances (m (1 - m) for
    ``"bernoulli"``, sigma^2 for ``"normal"``). The arm of largest posterior mean is recommended.

    Paper: Russo (2016), "Simple Bayesian Algorithms for Best Arm Identification", section 3.3, which draws until there
    is another arm. Differences: the end after 100 draws; every arm is pulled first, once, or twice for ``"student"``.

    Args:
        beta: Probability of pulling I, strictly between 0 and 1; default 1/2.
        posterior: ``"student"`` (default): normal rewards of unknown variance, flat prior in mean and log variance; two
            equal rewards leave no uncertainty, so not for rewards of few values. ``"bernoulli"``: rewards 0 and 1,
            uniform prior; other rewards are an error. ``"normal"``: normal rewards of the standard deviation ``sigma``,
            flat prior.
        sigma: Standard deviation of the rewards for ``"normal"``, positive; default 0.5, the largest that rewards in
            [0, 1] can have.

    Knows nothing (``sigma`` is a parameter). Minimum budget: K, or 2 K for ``"student"``.
    """

    beta: float = 0.5

    name: ClassVar[str] = "TTTS"

    def begin(self, briefing: Briefing) -> None:
        """Check the parameters."""
        super().begin(briefing)
        if not 0.0 < self.beta < 1.0:
            raise ParameterError(f"beta of TTTS must lie strictly between 0 and 1, not {self.beta}")

    def rule(self, steps: int) -> SamplingRule:
        """Return the rule of all remaining pulls."""
        return TopTwoRule(self, steps, self.beta)

    def recommend(self, observation: Observation) -> IntArray:
        """Return the arm of largest posterior mean."""
        statistics = Statistics.of(observation)
        if self.posterior == "bernoulli":
            means = (1.0 + np.rint(statistics.sums)) / (2.0 + statistics.pulls)
            statistics = Statistics(statistics.pulls, means, statistics.variances)
        return best_mean(statistics, self.tie, self.rng)


class ThompsonRule(SamplingRule):
    """Pulls the arm of the largest draw from the posteriors."""

    def __init__(self, agent: _ThompsonAgent, steps: int) -> None:
        """Remember the agent's posterior and tie rule."""
        self.steps = steps
        self._agent = agent
        self._tie: TieRule = agent.tie
        self._rng = agent.rng

    def start(self, window: Statistics) -> None:
        """Compute the posteriors; every arm has had its first pulls."""
        self._window = window
        self._posterior = self._agent.model(window)
        self._table = ArgmaxTable(np.empty(window.pulls.shape), self._tie, self._rng)

    def choose(self) -> IntArray:
        """Draw, and return the arms of the largest values."""
        self._posterior.draw(self._rng, self._table.values)
        return self._table.argmax(self._window.pulls)

    def update(self, flat: IntArray, pulls: FloatArray, means: FloatArray, variances: FloatArray) -> None:
        """Renew the posteriors of the pulled arms."""
        self._posterior.update(flat, pulls, means, variances)


class TopTwoRule(ThompsonRule):
    """Pulls the arm of the largest draw, or the best of a later draw in which another arm is the best."""

    TRIES = 100

    def __init__(self, agent: _ThompsonAgent, steps: int, beta: float) -> None:
        """Remember beta too."""
        super().__init__(agent, steps)
        self._beta = beta

    def choose(self) -> IntArray:
        """Draw, and draw again where the best arm is not the one to be pulled."""
        chosen = super().choose()
        batch = chosen.size
        waiting = np.flatnonzero(self._rng.random(batch) >= self._beta)
        leaders = chosen // batch
        tries = 0
        while waiting.size and tries < self.TRIES:
            # Few episodes are left after the first draws, so each gets several at once, of which the first success
            # counts. The number is chosen for the size of the arrays, and does not matter for the law.
            each = min(self.TRIES - tries, max(1, max(batch, 200) // (4 * waiting.size)))
            tries += each
            best = self._best_of(waiting, each)
            other = best != leaders[waiting]
            done = other.any(axis=0)
            found = waiting[done]
            chosen[found] = best[other.argmax(axis=0), np.arange(waiting.size)][done] * batch + found
            waiting = waiting[~done]
        if waiting.size:
            chosen[waiting] = self._cheapest(leaders[waiting], waiting) * batch + waiting
        return chosen

    def _best_of(self, columns: IntArray, each: int) -> IntArray:
        """Return ``(each, m)`` slots of the largest of independent draws for the episodes ``columns``."""
        repeated = np.tile(columns, each)
        table = ArgmaxTable(self._posterior.draw_columns(repeated, self._rng), self._tie, self._rng)
        pulls = self._window.pulls.take(repeated, axis=1) if self._tie == "first" else self._window.pulls
        return (table.argmax(pulls) // repeated.size).reshape(each, columns.size)

    def _cheapest(self, leaders: IntArray, columns: IntArray) -> IntArray:
        """Return the slots, in the episodes ``columns``, of the arms cheapest to confuse with ``leaders``."""
        pulls = self._window.pulls.take(columns, axis=1)
        means = self._window.means.take(columns, axis=1)
        spread = self._posterior.variances(columns) / pulls
        episodes = np.arange(columns.size)
        costs = means[leaders, episodes] - means
        costs *= costs
        costs /= spread[leaders, episodes] + spread
        costs[leaders, episodes] = np.inf
        return ArgmaxTable(-costs, self._tie, self._rng).argmax(pulls) // columns.size
