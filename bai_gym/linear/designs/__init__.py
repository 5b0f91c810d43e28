"""Optimal designs for linear models: which arms to pull, and how often, to estimate all means equally well.

    design = g_optimal(features)                   # features (..., K, d)
    counts = round_design(design.weights, budget)  # integer numbers of pulls (..., K), with the budget as their sum

Everything works on batches: the arm axis is last but one in features and last elsewhere, and the axes before it are
broadcast. Features may have any rank: designs live on the span of the arms (:func:`project`). The functions
state sources and guarantees. Designs by Frank-Wolfe: :func:`g_optimal`, :func:`frank_wolfe` (FWG), :func:`wynn`; with
a certificate, for all differences of arms: :func:`xy_optimal`, and for any directions or for the differences of tens of
thousands of candidates: :func:`minimax_design`, :func:`pair_design`, which take one instance; for the difference of two
arms: :func:`solve_contrasts`; pull by pull:
:func:`greedy_allocation`; starting designs: :func:`basis_design`; roundings that depend on the features:
:func:`exchange_design`; fewer arms: :func:`reduce_support`.
"""

from bai_gym.linear.designs.contrast import solve_contrasts
from bai_gym.linear.designs.differences import DifferenceDesign, xy_optimal
from bai_gym.linear.designs.exchange import exchange_design
from bai_gym.linear.designs.frank_wolfe import Design, frank_wolfe, g_optimal, wynn
from bai_gym.linear.designs.greedy import greedy_allocation
from bai_gym.linear.designs.minimax import MinimaxDesign, minimax_design, pair_design
from bai_gym.linear.designs.rounding import ROUNDINGS, ceil_allocation, round_design
from bai_gym.linear.designs.span import RANK_TOLERANCE, Span, project, variances
from bai_gym.linear.designs.start import basis_design
from bai_gym.linear.designs.support import reduce_support

__all__ = [
    "RANK_TOLERANCE",
    "ROUNDINGS",
    "Design",
    "DifferenceDesign",
    "MinimaxDesign",
    "Span",
    "basis_design",
    "ceil_allocation",
    "exchange_design",
    "frank_wolfe",
    "g_optimal",
    "greedy_allocation",
    "minimax_design",
    "pair_design",
    "project",
    "reduce_support",
    "round_design",
    "solve_contrasts",
    "variances",
    "wynn",
    "xy_optimal",
]
