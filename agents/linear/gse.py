"""Generalized successive elimination: elimination in stages, with a model of the means and a design for its pulls."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Literal

from typing_extensions import override

from bai_gym.agents.base import Agent, Plan
from bai_gym.agents.linear.linear_models import (
    add_intercept,
    budget_for_any_features,
    generalized_values,
    linear_values,
    pulls_by_design,
    pulls_by_greed,
    rows_of,
)
from bai_gym.agents.parameters import Count, NotNegative, Positive
from bai_gym.agents.tools.choosing import shuffled_arms, spread_evenly
from bai_gym.agents.tools.halving import all_samples, num_stages, survivors
from bai_gym.agents.tools.spending import shares
from bai_gym.linear.bandits.linear import check_link
from bai_gym.linear.designs import frank_wolfe, wynn
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Block
from bai_gym.statistics import FloatArray, IntArray, Statistics
from bai_gym.validation import integer

__all__ = ["GSE", "GSELin", "GSELinFWG", "GSELinGreedy", "GSELinWynn", "GSELog", "GSELogFWG"]

SINGLE_STAGE = "K"


@dataclass(kw_only=True)
class GSE(Agent):
    """Stages in which 1 / eta of the arms survive, ranked by a model of the means: GSE, what all its forms share.

    There are s = ceil(log K) stages, to the base eta, of floor(n / s) pulls each. A stage shares its pulls among the
    active arms by an exploration rule, fits the model to the rewards of this stage, and keeps the ceil(k / eta) of k
    arms of largest fitted mean. The model has no intercept unless ``intercept`` adds one.

    Paper: Azizi, Kveton and Ghavamzadeh (2022), "Fixed-Budget Best-Arm Identification in Structured Bandits",
    Algorithm 1.

    Args:
        samples: ``"stage"`` (default, as published) or ``"all"``: fit to all samples of the active arms so far.
        leftover: ``"drop"`` (default) or ``"last"``: give the pulls left over by rounding to the last stage.
        eta: Whole number of at least 2; default 2, as in all the paper's experiments but one. ``"K"``: the number of
            arms, which means a single stage.
        intercept: If True, every arm gets a further feature of 1. Default False, as published.

    Minimum budget: s min(K, d), a pull for every dimension in each stage; below it, where that is allowed, there is one
    stage.
    """

    samples: Literal["stage", "all"] = "stage"
    leftover: Literal["drop", "last"] = "drop"
    eta: int | str = 2
    intercept: bool = False

    needs_features = True
    uses_variances = False
    minimum_budget = budget_for_any_features

    @override
    def least_budget(self, num_arms: int, num_features: int | None) -> int:
        """Return one pull for every dimension in each stage."""
        width = num_arms if num_features is None else num_features + self.intercept
        return num_stages(num_arms, self._rate(num_arms)) * min(num_arms, width)

    @override
    def begin(self, info: ProblemInfo) -> None:
        assert info.features is not None  # as needs_features says
        self._features = add_intercept(info.features) if self.intercept else info.features
        staged = self.budget >= self.least_budget(self.num_arms, info.num_features)
        self._eta = self._rate(self.num_arms) if staged else self.num_arms

    @override
    def plan(self) -> Plan:
        active = shuffled_arms(self.batch, self.num_arms, self.tie, self.rng)
        for pulls in shares(self, num_stages(self.num_arms, self._eta), self.leftover):
            features = rows_of(self._features, active)
            made = yield Block(self.explore(features, pulls), active)
            values = self.fit(features, all_samples(self, active) if self.samples == "all" else made)
            active = survivors(self, active, values, -(-active.shape[1] // self._eta))
        return active[:, 0]

    def explore(self, features: FloatArray, pulls: int) -> IntArray:
        """Return ``(N, k)`` counts, each row with the sum ``pulls``, for active arms with features ``(N, k, d)``.

        They are equal, unless a form says otherwise.
        """
        return spread_evenly(len(features), features.shape[1], pulls, self.tie, self.rng)

    def fit(self, features: FloatArray, estimates: Statistics) -> FloatArray:
        """Return the ``(N, k)`` values that rank arms: estimates by least squares, unless a form says otherwise.

        Args:
            features: ``(N, k, d)``.
            estimates: ``(N, k)`` statistics of the samples.
        """
        return linear_values(features, estimates)

    def _rate(self, num_arms: int) -> int:
        if self.eta == SINGLE_STAGE:
            return num_arms
        return integer(self.eta, f"eta of {self.name}", least=2, rule="an integer of at least 2, or 'K'")


@dataclass(kw_only=True)
class GSELin(GSE):
    """GSE with a linear model; in each stage the active arms are pulled equally often.

    Means are estimated by least squares. See :class:`GSE` for the stages, parameters and the minimum budget.

    Paper: Azizi, Kveton and Ghavamzadeh (2022), Algorithm 1, GSE-Lin of section 8.
    """

    name = "GSE-Lin"


@dataclass(kw_only=True)
class GSELinFWG(GSE):
    """GSE with a linear model; pulls by the G-optimal design of Frank-Wolfe (FWG).

    The design is :func:`bai_gym.linear.designs.frank_wolfe`, from equal weights. The paper rounds it by the method of
    Allen-Zhu et al. (2017), in whose place stands :func:`bai_gym.linear.designs.exchange_design`. It matters:
    Frank-Wolfe leaves traces of weight on all arms, and a rounding that gives each of them a pull can have several
    times the variance.

    Paper: Azizi, Kveton and Ghavamzadeh (2022), Algorithms 1 and 2, GSE-Lin-FWG of section 8.

    Args:
        iterations: N, the steps of Frank-Wolfe; default 100.
        rounding: ``"exchange"`` (default), or ``"efficient"``: :func:`bai_gym.linear.designs.round_design`.

    See :class:`GSE` for the other parameters.
    """

    iterations: Count = 100
    rounding: Literal["exchange", "efficient"] = "exchange"

    name = "GSE-Lin-FWG"

    @override
    def explore(self, features: FloatArray, pulls: int) -> IntArray:
        return pulls_by_design(partial(frank_wolfe, max_iterations=self.iterations), self.rounding, features, pulls)


@dataclass(kw_only=True)
class GSELinWynn(GSE):
    """GSE with a linear model; pulls by the G-optimal design of Wynn's algorithm.

    The design is :func:`bai_gym.linear.designs.wynn`, from equal weights and with exact steps; the paper does not say
    when it stops.

    Paper: Azizi, Kveton and Ghavamzadeh (2022), Algorithm 1, GSE-Lin-Wynn of section 8, after Fedorov (1972).

    Args:
        tolerance: Ends when the largest variance is within this share of the optimum; default 0.01.
        iterations: Most steps; default 1,000 (with 64 random arms in 10 dimensions it takes 750 to 1 %).
        rounding: ``"exchange"`` (default), or ``"efficient"``, see :class:`GSELinFWG`.

    See :class:`GSE` for the other parameters.
    """

    tolerance: Positive = 0.01
    iterations: Count = 1000
    rounding: Literal["exchange", "efficient"] = "exchange"

    name = "GSE-Lin-Wynn"

    @override
    def explore(self, features: FloatArray, pulls: int) -> IntArray:
        solve = partial(wynn, tolerance=self.tolerance, max_iterations=self.iterations)
        return pulls_by_design(solve, self.rounding, features, pulls)


@dataclass(kw_only=True)
class GSELinGreedy(GSE):
    """GSE with a linear model; pulls in turn, each to make the largest variance least (G-allocation).

    The rule is :func:`bai_gym.linear.designs.greedy_allocation`. A stage that has fewer pulls than dimensions starts
    from a ridge of 1e-6 pulls of every arm, instead of one pull of each arm of a basis.

    Paper: Azizi, Kveton and Ghavamzadeh (2022), Algorithm 1, GSE-Lin-Greedy of section 8, after Soare, Lazaric and
    Munos (2014).

    See :class:`GSE` for the parameters.
    """

    name = "GSE-Lin-Greedy"

    @override
    def explore(self, features: FloatArray, pulls: int) -> IntArray:
        """Choose the pulls in turn."""
        return pulls_by_greed(features, pulls)


@dataclass(kw_only=True)
class GSELog(GSE):
    """GSE with a generalized linear model, logistic by default; active arms are pulled equally often.

    The parameter is estimated by maximum likelihood with a small ridge penalty, so that it always exists
    (:func:`bai_gym.linear.regression.generalized_linear`). Arms are ranked by x^T theta.

    Paper: Azizi, Kveton and Ghavamzadeh (2022), Algorithm 1 with the model of section 4.2, GSE-Log of section 8.4.

    Args:
        link: ``"logit"`` (default) and ``"probit"`` for rewards in [0, 1], ``"log"`` for counts.
        penalty: Factor of |theta|^2 / 2, at least 0; default 1e-3. With 0 it is used only where there is no estimate
            without.

    See :class:`GSE` for the other parameters.
    """

    link: str = "logit"
    penalty: NotNegative = 1e-3

    name = "GSE-Log"

    @override
    def begin(self, info: ProblemInfo) -> None:
        super().begin(info)
        check_link(self.link)

    @override
    def fit(self, features: FloatArray, estimates: Statistics) -> FloatArray:
        """Fit by maximum likelihood."""
        return generalized_values(features, estimates, self.link, self.penalty, self.name)


@dataclass(kw_only=True)
class GSELogFWG(GSELinFWG, GSELog):
    """GSE with a generalized linear model, logistic by default; pulls by the G-optimal design of Frank-Wolfe (FWG).

    The design is that of the linear model, see :class:`GSELinFWG`: it does not depend on the unknown parameter.

    Paper: Azizi, Kveton and Ghavamzadeh (2022), Algorithms 1 and 2, GSE-Log-FWG of section 8.4.

    Args:
        link: See :class:`GSELog`.
        penalty: Likewise.
        iterations: N, the steps of Frank-Wolfe; default 100.
        rounding: ``"exchange"`` (default), or ``"efficient"``, see :class:`GSELinFWG`.

    See :class:`GSE` for the other parameters.
    """

    name = "GSE-Log-FWG"
