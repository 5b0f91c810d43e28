"""Complexities of instances, which some agents know as oracles, bounds on errors, and exact optima.

Best arm and top m: :mod:`bai_gym.theory.complexity`; thresholding: :mod:`bai_gym.theory.thresholding`; bounds, with a
table of them by agent: :mod:`bai_gym.theory.bounds`; the lower bound for fixed confidence:
:mod:`bai_gym.theory.characteristic_time`; ranking and selection: :mod:`bai_gym.theory.selection`. The optimal value on
small Bernoulli bandits: :mod:`bai_gym.theory.bayes_optimal`.
"""

from typing import TYPE_CHECKING

from bai_gym.common.lazy import lazily

if TYPE_CHECKING:
    from bai_gym.theory.bayes_optimal import BayesSolution, optimal_value, solve_bayes
    from bai_gym.theory.bounds import (
        BOUNDS,
        CONFIDENCE_BOUNDS,
        THRESHOLD_BOUNDS,
        Bound,
        apt_bound,
        augucb_bound,
        csar_bound,
        gape_bound,
        gape_v_bound,
        sequential_halving_bound,
        shadavar_bound,
        shvar_bound,
        successive_rejects_bound,
        ucb_e_bound,
        ucbev_bound,
        ugapeb_bound,
        ugapec_bound,
        ugapec_sample_complexity,
    )
    from bai_gym.theory.characteristic_time import (
        bernoulli_kl,
        characteristic_time,
        fixed_confidence_bound,
        optimal_weights,
    )
    from bai_gym.theory.complexity import (
        best_arm_h1,
        best_arm_h2,
        gape_complexity,
        gape_v_complexity,
        gaps,
        reward_bound,
        top_gaps,
        ugape_complexity,
        ugape_v_complexity,
    )
    from bai_gym.theory.selection import bechhofer_constant, bechhofer_pulls, rinott_constant
    from bai_gym.theory.thresholding import (
        threshold_gaps,
        threshold_h1,
        threshold_h2,
        threshold_sigma_h1,
        threshold_sigma_h2,
    )

__all__ = [
    "BOUNDS",
    "BayesSolution",
    "Bound",
    "CONFIDENCE_BOUNDS",
    "THRESHOLD_BOUNDS",
    "apt_bound",
    "augucb_bound",
    "bechhofer_constant",
    "bechhofer_pulls",
    "bernoulli_kl",
    "best_arm_h1",
    "best_arm_h2",
    "characteristic_time",
    "csar_bound",
    "fixed_confidence_bound",
    "gape_bound",
    "gape_complexity",
    "gape_v_bound",
    "gape_v_complexity",
    "gaps",
    "optimal_value",
    "optimal_weights",
    "reward_bound",
    "rinott_constant",
    "sequential_halving_bound",
    "shadavar_bound",
    "shvar_bound",
    "solve_bayes",
    "successive_rejects_bound",
    "threshold_gaps",
    "threshold_h1",
    "threshold_h2",
    "threshold_sigma_h1",
    "threshold_sigma_h2",
    "top_gaps",
    "ucb_e_bound",
    "ucbev_bound",
    "ugape_complexity",
    "ugape_v_complexity",
    "ugapeb_bound",
    "ugapec_bound",
    "ugapec_sample_complexity",
]

__getattr__, __dir__ = lazily(__name__)
