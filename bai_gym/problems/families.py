"""The problem families behind the ids, by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from bai_gym.errors import ParameterError, unknown_name
from bai_gym.problems.automl import automl_problem
from bai_gym.problems.base import FrozenProblem, Problem
from bai_gym.problems.bernoulli import BernoulliPriorProblem
from bai_gym.problems.custom import custom_linear_problem, custom_problem, table_problem
from bai_gym.problems.drift import oscillating_problem, switching_problem
from bai_gym.problems.function import function_problem
from bai_gym.problems.gaussian_process import GaussianProcessProblem
from bai_gym.problems.heterogeneous import HeterogeneousGaussianProblem
from bai_gym.problems.linear import (
    LinearCornerProblem,
    LinearSphereProblem,
    LogisticProblem,
    adaptive_problem,
    factorial_problem,
    static_problem,
    transductive_problem,
)
from bai_gym.problems.linear_experiments import LinearManyArmsProblem, LinearMultivariateProblem
from bai_gym.problems.matrices import alpaca_eval_problem, aslib_problem, llm_agents_problem
from bai_gym.problems.movielens import movielens_like_problem, movielens_problem
from bai_gym.problems.newsvendor import newsvendor_problem
from bai_gym.problems.open_bandit import open_bandit_problem
from bai_gym.problems.pilot import pilot_problem
from bai_gym.problems.prior import gaussian_prior_problem, hierarchical_prior_problem, linear_prior_problem
from bai_gym.problems.rows import automobile_like_problem, automobile_problem, electric_motor_problem
from bai_gym.problems.scores import llm_selection_like_problem, llm_selection_problem
from bai_gym.problems.setups import bernoulli_setup, confidence_setup, mean_shape, multi_bandit_setup
from bai_gym.problems.thresholding import thresholding_setup
from bai_gym.problems.traffic import traffic_problem
from bai_gym.seeding import check_seed
from bai_gym.validation import choice

__all__ = ["FAMILIES", "build"]


FAMILIES: dict[str, Callable[..., Problem]] = {
    "gaussian": HeterogeneousGaussianProblem,
    "bernoulli": BernoulliPriorProblem,
    "bernoulli-setup": bernoulli_setup,
    "confidence-setup": confidence_setup,
    "mean-shape": mean_shape,
    "multi-bandit-setup": multi_bandit_setup,
    "thresholding-setup": thresholding_setup,
    "movielens": movielens_problem,
    "movielens-like": movielens_like_problem,
    "linear-adaptive": adaptive_problem,
    "linear-static": static_problem,
    "linear-sphere": LinearSphereProblem,
    "linear-corner": LinearCornerProblem,
    "linear-transductive": transductive_problem,
    "linear-factorial": factorial_problem,
    "linear-many-arms": LinearManyArmsProblem,
    "linear-multivariate": LinearMultivariateProblem,
    "linear-oscillating": oscillating_problem,
    "linear-switching": switching_problem,
    "logistic": LogisticProblem,
    "automobile": automobile_problem,
    "automobile-like": automobile_like_problem,
    "electric-motor": electric_motor_problem,
    "automl": automl_problem,
    "traffic": traffic_problem,
    "gaussian-process": GaussianProcessProblem,
    "gaussian-prior": gaussian_prior_problem,
    "linear-prior": linear_prior_problem,
    "hierarchical-prior": hierarchical_prior_problem,
    "custom": custom_problem,
    "custom-linear": custom_linear_problem,
    "function": function_problem,
    "table": table_problem,
    "llm-selection": llm_selection_problem,
    "llm-selection-like": llm_selection_like_problem,
    "llm-agents": llm_agents_problem,
    "alpaca-eval": alpaca_eval_problem,
    "aslib": aslib_problem,
    "open-bandit": open_bandit_problem,
    "newsvendor": newsvendor_problem,
    "pilot": pilot_problem,
}
"""Classes and functions that make a problem, by the name of the family; ids accept their keywords."""


def build(
    family: str,
    others: Iterable[str] = (),
    /,
    *,
    instance: str = "random",
    instance_seed: int | None = None,
    **keywords: Any,
) -> Problem:
    """Return the problem of a family.

    Args:
        family: A key of :data:`FAMILIES`.
        others: Keywords that the caller has taken, such as those of an environment; the error for an unknown keyword
            lists them, too.
        instance: ``"random"``: fresh instance per episode. ``"fixed"``: fixed instance, drawn once from
            ``instance_seed``.
        instance_seed: Seed of the fixed instance, at least 0; 0 unless given.
        **keywords: Keyword arguments of the family's builder.

    Raises:
        UnknownNameError: If there is no such family.
        ParameterError: If a keyword is unknown, or a value outside its range.
    """
    if family not in FAMILIES:
        raise unknown_name("problem family", family, FAMILIES, f"known: {', '.join(FAMILIES)}")
    builder = FAMILIES[family]
    allowed = inspect.signature(builder).parameters
    for keyword in keywords:
        if keyword not in allowed:
            names = ", ".join([*allowed, "instance", "instance_seed", *others])
            raise ParameterError(f"{keyword!r} is not a keyword of the {family} environments; allowed: {names}")
    if choice(instance, ("random", "fixed"), "instance") == "random":
        if instance_seed is not None:
            raise ParameterError("instance_seed is the seed of a fixed instance: give instance='fixed' with it")
        return builder(**keywords)
    return FrozenProblem(builder(**keywords), check_seed(0 if instance_seed is None else instance_seed))
