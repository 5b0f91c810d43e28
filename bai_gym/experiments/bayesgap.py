"""Figures of Hoffman, Shahriari and de Freitas (2014).

"Exploiting correlation and budget constraints in Bayesian multi-armed bandit optimization".
"""

from __future__ import annotations

from bai_gym.experiments.model import Experiment, Panel, Setting

__all__ = ["EXPERIMENTS"]

PAPER = "Hoffman, Shahriari and de Freitas (2014)"
GRID_NOTE = (
    "The paper gives the kernel exp(-(x - x')^2) and K = 10; the grid 0, 0.5, ..., 4.5, noise of variance 0.1 and five "
    "pulls of random arms are ours. It states nothing about the figure that could be judged."
)

EXPERIMENTS: tuple[Experiment, ...] = (
    Experiment(
        "bayesgap-1",
        "A Gaussian process at ten arms after five pulls",
        f"{PAPER}, figure 1",
        (Panel("", "K = 10, five pulls", (Setting("BAI-GP10-v0", 5, 5),)),),
        notes=(GRID_NOTE,),
        instances=1,
    ),
)
"""The figures, in order."""
