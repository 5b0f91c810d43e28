"""What the tests of all agents need to know of those with features, see ``tests/agents/cases.py``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bai_gym.bandits import Bandit, FeatureBandit

# LinUCB has to be told how large means may be: of arms far beyond that it stays with the first that it pulls.
# Designs for 64 arms take time, and agents that halve rho make many of them.
NEEDED: dict[str, dict[str, Any]] = {
    "LinUCB": {"S": 60.0},
    **{name: {"iterations": 10} for name in ("P1-Peace", "Mixed-Peace")},
}
VARIANTS: list[tuple[str, dict[str, Any]]] = [
    ("GSE-Log", {"link": "identity"}),
    ("UCB-GLM", {"link": "identity"}),
    ("UCB-GLM", {"link": "identity", "alpha": 3.0, "penalty": 1.0, "newton_steps": 1}),
    ("LinUCB", {"S": 60.0, "model": "disjoint"}),
    ("LinGapE", {"radius": "determinant"}),
]

UCB = ["LinUCB", "LinGapE", "LinGapE-Greedy"]
CONFIDENCE = ["LinGapE-GLR", "LinTrackAndStop", "LinFWS", "LinGame", "LinGame-C"]
ROUNDS = ["RAGE", "XY-static", "XY-adaptive", "XY-oracle"]
REFUSED: list[tuple[list[str], str, str | list[Any]]] = [
    ([*UCB, *CONFIDENCE, *ROUNDS], "delta", "between 0 and 1"),
    ([*UCB, *CONFIDENCE, *ROUNDS], "sigma", [0.0, "big"]),
    (UCB, "lam", "positive"),
    (UCB, "S", "at least 0"),
    (["LinUCB"], "alpha", "at least 0"),
    (["LinUCB"], "model", "word"),
    (UCB[1:], "radius", "word"),
    (CONFIDENCE, "threshold", "word"),
    (CONFIDENCE, "elimination", "word"),
    (CONFIDENCE, "rho", "positive"),
    (["LinTrackAndStop"], "lazy", "at least 0"),
    (["LinTrackAndStop"], "iterations", "count"),
    (["RAGE"], "drops", "word"),
    (["RAGE"], "r0", "count"),
    (["XY-adaptive"], "alpha", [0.0, -1.0, math.nan, math.inf, 1.1]),
    (["XY-adaptive"], "estimate", "word"),
    (["UCB-GLM"], "link", "word"),
    (["UCB-GLM"], "alpha", [-0.1, math.nan, math.inf, [1], "theory"]),
    (["UCB-GLM"], "penalty", "positive"),
    (["UCB-GLM"], "newton_steps", "count"),
    (["Peace-rho", "Mixed-Peace", "P1-RAGE", "P1-Peace", "XY-BAI"], "iterations", "count"),
    (["P1-RAGE"], "rounds", "count"),
    (["Peace-rho", "OD-LinBAI"], "order", "word"),
    (["GSE-Lin"], "eta", [1, 2.5, "k"]),
    (["GSE-Lin"], "intercept", "flag"),
    (["GSE-Lin-FWG", "GSE-Lin-Wynn", "GSE-Log-FWG"], "iterations", "count"),
    (["GSE-Lin-FWG"], "rounding", "word"),
    (["GSE-Log"], "penalty", "at least 0"),
]
EXCLUDED: list[tuple[str, dict[str, Any]]] = []
CHOICES = [([*UCB, *CONFIDENCE, *ROUNDS], [{"sigma": sigma} for sigma in (0.5, 0.5, 5.0, "oracle", "oracle")])]


def fit(agent: Any, bandit: Bandit) -> Bandit:
    """Return the arms with features that say nothing about any other arm."""
    return FeatureBandit(bandit, np.eye(bandit.num_arms)) if agent.needs_features else bandit
