"""What the tests of all agents need to know of those with a normal prior, see ``tests/agents/cases.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from bai_gym.agents.correlated.gaussian_process import GaussianProcessAgent
from bai_gym.agents.correlated.normal_prior import PriorAgent
from bai_gym.bandits import Bandit, GaussianPrior
from bai_gym.correlated import PriorBandit

VARIANTS: list[tuple[str, dict[str, Any]]] = [
    ("BayesGap", {"kernel": "squared-exponential", "length": 0.1, "amplitude": 30.0}),
    ("BayesGap", {"kernel": "linear", "amplitude": 30.0, "output": "last"}),
    ("BayesGap", {"output": "mean"}),
    ("KG", {"candidates": 2}),
    ("BayesElim", {"samples": "all"}),
    ("PI-BAI", {"weights": "bound"}),
    ("PI-BAI", {"weights": "T3C", "discard": True}),
    ("PI-BAI", {"weights": "TSTCI", "warm_up": 5}),
    ("PI-BAI", {"prior_mean": 0.0, "prior_sd": 30.0, "sigma": 1.0}),
]
REFUSED = [(["PI-BAI"], "alpha", [1.1])]
EXCLUDED: list[tuple[str, dict[str, Any]]] = [
    ("EI", {"nu": 2.5}),
    ("EI", {"length": 2.0, "kernel": np.eye(3)}),
]
CORRELATED = ["BayesGap", "GP-UCB", "BayesUCB", "GP-TS", "PI", "EI", "KG"]
CHOICES: list[tuple[list[str], list[dict[str, Any]]]] = [
    (CORRELATED, [{"noise_variance": noise} for noise in (0.25, *["oracle"] * 4)]),
    (["PI-BAI", "BayesElim"], [{"sigma": sigma} for sigma in (0.5, *["oracle"] * 4)]),
]


def fit(agent: Any, bandit: Bandit) -> Bandit:
    """Return the arms with a prior that says nothing about any other arm."""
    if "prior" in agent.knows and isinstance(agent, GaussianProcessAgent | PriorAgent):
        return PriorBandit(bandit, GaussianPrior(900.0 * np.eye(bandit.num_arms)))
    return bandit
