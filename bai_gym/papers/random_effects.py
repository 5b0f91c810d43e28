"""RUE on the example of its authors' script: Zhu and Qiu (2024).

The paper is "UCB Exploration for Fixed-Budget Bayesian Best Arm Identification". Means, budgets and the number of runs
are those of the authors' code (github.com/rong-zhu/UCBExploration-BayesianBAI). The claim is a hypothesis of this
library.
"""

from __future__ import annotations

import numpy as np

from bai_gym.papers.model import Claim, Experiment, Panel, Setting, all_lower

__all__ = ["EXPERIMENTS"]

OTHERS = ("SR", "SH", "TTTS")
FRACTIONS = (8, 4, 2, 1)
MOST = 200_000  # of the complexity, in the longest budget


def means(num_arms: int) -> tuple[float, ...]:
    """Return the means: 0.5, then evenly spaced from 0.5 - 1 / (5 K) to 0.25."""
    return (0.5, *(round(float(mean), 9) for mean in np.linspace(0.5 - 0.2 / num_arms, 0.25, num_arms - 1)))


def longest(num_arms: int) -> int:
    """Return twice the complexity, the sum of 1 / gap^2, at most :data:`MOST`, or twice K^2 + 1 if that is more."""
    complexity = sum((0.5 - mean) ** -2 for mean in means(num_arms)[1:])
    return int(2.0 * max(min(complexity, MOST), num_arms**2 + 1))


def _panel(num_arms: int) -> Panel:
    arms = {"means": means(num_arms), "distribution": "bernoulli"}
    budgets = [longest(num_arms) // part for part in FRACTIONS]
    settings = tuple(Setting("BAI-Custom-v0", n, n, arms) for n in budgets)
    return Panel(f"k{num_arms}", f"K = {num_arms}, Bernoulli arms", settings)


EXPERIMENTS = (
    Experiment(
        "rue-40-80",
        "Many Bernoulli arms with evenly spaced means",
        "Zhu and Qiu (2024), the example of the authors' code",
        (_panel(40), _panel(80)),
        ("RUE", *OTHERS),
        (
            Claim(
                "RUE errs less than successive rejects, sequential halving and top-two Thompson sampling.",
                all_lower("RUE", OTHERS),
            ),
        ),
        runs=500,
        notes=(
            "TTTS has the Beta posterior of a uniform prior, and draws up to 100 times for another arm; the authors' "
            "up to K times.",
        ),
        claims_are="Hypotheses of this library",
    ),
)
"""The experiments, in order."""
