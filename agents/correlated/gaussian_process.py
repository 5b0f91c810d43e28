"""Base class of agents that model the means of all arms as jointly normal."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from bai_gym.agents.base import Agent, Plan
from bai_gym.agents.parameters import NotNegative, Oracle
from bai_gym.agents.tools.choosing import largest
from bai_gym.agents.tools.ranges import ORACLE
from bai_gym.bandits import KERNELS, GaussianPrior
from bai_gym.correlated.posterior import GaussianPosterior
from bai_gym.errors import AgentError, ParameterError
from bai_gym.problems import ProblemInfo
from bai_gym.rewards import Rewards
from bai_gym.sampling import Block
from bai_gym.statistics import FloatArray, IntArray, Observation
from bai_gym.validation import choice

__all__ = ["GaussianProcessAgent"]

PRIOR = "prior"  # in place of a kernel


@dataclass(kw_only=True)
class GaussianProcessAgent(Agent):
    """Keeps the joint posterior of all means; there are no first pulls, so any budget is allowed.

    Model: Hoffman, Shahriari and de Freitas (2014), "Exploiting correlation and budget constraints in Bayesian
    multi-armed bandit optimization", section 4.

    Args:
        kernel: ``"prior"`` (default): the environment's prior, which is oracle knowledge. Otherwise the user's model:
            one of ``"linear"``, ``"squared-exponential"``, ``"exponential"`` and ``"matern"``, see
            :func:`bai_gym.bandits.kernel_matrix`, or a function of features (any kernel of scikit-learn), both
            for arms with features; or a covariance ``(K, K)``, for any.
        length: Length scale of a named kernel, above 0; default 1.
        amplitude: Prior standard deviation of a mean, above 0; default 1. Multiplies what the kernel says (eta of the
            paper), and the standard deviations of a prior or covariance.
        nu: Smoothness of the Matern kernel: 0.5, 1.5 (default) or 2.5.
        prior_mean: Prior mean of every arm; None (default): 0, or that of the environment's prior.
        noise_variance: Variance of the rewards of an arm, at least 0. ``"oracle"``: the largest of the true ones. None
            (default): 1/4, the largest possible one, for binary rewards; for others ``"oracle"``.
        output: ``"mean"`` (default): recommend the arm of largest posterior mean. ``"pulled"``: of those pulled.

    Attributes:
        posterior: The posterior of the moment.
    """

    kernel: Any = PRIOR
    length: float = 1.0
    amplitude: float = 1.0
    nu: float = 1.5
    prior_mean: float | None = None
    noise_variance: NotNegative | Oracle | None = None
    output: str = "mean"

    uses_variances = False
    anytime = True
    draws: ClassVar[bool] = False  # whether the agent draws from the posterior
    outputs: ClassVar[tuple[str, ...]] = ("mean", "pulled")

    @property
    @override
    def knows(self) -> frozenset[str]:  # type: ignore[override]
        """The prior where ``kernel`` is ``"prior"``, and the variances if ``noise_variance`` is the oracle's."""
        knowledge = {"prior"} if self._uses_prior else set()
        return frozenset(knowledge | ({"variances"} if self.setting("noise_variance") == ORACLE else set()))

    @override
    def choices(self, rewards: Rewards) -> dict[str, Any]:
        """Return the noise of rewards of a kind: a bound of bounded ones would be far too large for most."""
        return {"noise_variance": 0.25 if rewards.kind == "binary" else ORACLE}

    @property
    @override
    def needs_features(self) -> bool:  # type: ignore[override]
        """Whether arms must have features: where the kernel is a function of them."""
        return not self._uses_prior and (isinstance(self.kernel, str) or callable(self.kernel))

    @override
    def _shown(self, parameter: str) -> Any:
        """Return the value of a parameter as the label shows it: a matrix by its shape, a function in one line."""
        value = super()._shown(parameter)
        if parameter != "kernel" or isinstance(value, str):
            return value
        return " ".join(repr(value).split()) if callable(value) else f"covariance {'x'.join(map(str, np.shape(value)))}"

    @property
    def _uses_prior(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == PRIOR

    @override
    def minimum_budget(self, num_arms: int) -> int:
        """Return 1: arms are correlated, so not every one must be pulled."""
        return 1

    @override
    def begin(self, info: ProblemInfo) -> None:
        """Make the prior, and the posterior before the first pull."""
        choice(self.output, self.outputs, f"output of {self.name}")
        noise = self.setting("noise_variance")
        self.prior: GaussianPrior = self._prior(info)
        if self.prior.num_arms != self.num_arms:
            raise ParameterError(
                f"the covariance of {self.name} is of {self.prior.num_arms} arms, and there are {self.num_arms}"
            )
        self._noise = info.variances.max(axis=1) if noise == ORACLE else np.full(self.batch, noise)
        self.posterior = self._new_posterior()

    def _prior(self, info: ProblemInfo) -> GaussianPrior:
        mean = 0.0 if self.prior_mean is None else self.prior_mean
        named = isinstance(self.kernel, str) and not self._uses_prior
        for parameter in ("length", "nu"):
            if not named and getattr(self, parameter) != getattr(type(self), parameter):
                raise ParameterError(
                    f"{parameter} of {self.name} has no effect here: give it with a kernel by name "
                    f"({', '.join(KERNELS)}), or leave it out"
                )
        if self._uses_prior:
            prior = info.prior
            if prior is None:
                raise AgentError(
                    f"{self.name} has no prior here: the environment provides none. Give kernel=, one of "
                    f"{', '.join(KERNELS)} for arms with features, or a covariance"
                )
            return prior.scaled(self.amplitude, self.prior_mean)
        if named or callable(self.kernel):
            assert info.features is not None  # otherwise the agent was rejected
            return GaussianPrior.from_kernel(
                info.features,
                self.kernel,
                length=self.length,
                amplitude=self.amplitude,
                nu=self.nu,
                mean=mean,
            )
        if np.ndim(self.kernel) < 2:
            raise ParameterError(
                f"kernel of {self.name} must be {', '.join(map(repr, (PRIOR, *KERNELS)))}, a function of features, or "
                f"a covariance (K, K), not {self.kernel!r}"
            )
        info.check_order(f"kernel of {self.name}")
        return GaussianPrior(self.kernel, mean).scaled(self.amplitude)

    def _new_posterior(self) -> GaussianPosterior:
        return GaussianPosterior(self.prior, self._noise, self.batch, budget=self.budget, draws=self.draws)

    @override
    def plan(self) -> Plan:
        """Pull arms one at a time, and update the posterior."""
        for pull in range(1, self.budget + 1):
            arms = self.choose(self.posterior, pull)
            statistics = yield Block.single(arms)
            self.posterior.observe(arms, statistics.means[:, 0])
        return self.recommended_arm(self.posterior)

    @override
    def recommend(self, observation: Observation) -> IntArray:
        """Return the arm of largest posterior mean, given the observation alone."""
        posterior = self._new_posterior()
        posterior.add(observation["pulls"], observation["means"])
        return self.recommended_arm(posterior)

    def recommended_arm(self, posterior: GaussianPosterior) -> IntArray:
        """Return the arm of largest posterior mean."""
        pulled = posterior.pulls > 0
        means = np.where(pulled, posterior.mean, -np.inf) if self.output == "pulled" else posterior.mean
        return largest(means, posterior.scale, posterior.pulls, self.tie, self.rng)

    @abstractmethod
    def choose(self, posterior: GaussianPosterior, pull: int) -> IntArray:
        """Return the arms ``(N,)`` to pull.

        Args:
            posterior: The current posterior.
            pull: Number of the pull, from 1.
        """

    def pull_largest(self, values: FloatArray, scale: FloatArray) -> IntArray:
        """Return the arms of largest value, as :func:`bai_gym.agents.tools.choosing.largest`."""
        return largest(values, scale, self.posterior.pulls, self.tie, self.rng)
