"""What the tests of all agents need to know of those that pull arms on common items, see ``tests/agents/cases.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from bai_gym.bandits import ArrangedBandit, Bandit, BernoulliBandit, GaussianBandit
from bai_gym.paired import BestRow, PairedFiniteBandit, PairedGaussianBandit
from bai_gym.rewards import Rewards

TASKS = [BestRow(3)]
VARIANTS: list[tuple[str, dict[str, Any]]] = [
    ("KN", {"paired": True}),
    ("UCB-E-LRF", {"exchange": False, "batch_size": 1}),
]
REFUSED: list[tuple[list[str], str, list[Any]]] = [
    (["PairedRace"], "family", ["real", "counts"]),
    (["PairedOCBA"], "n0", [1, 2.5]),
    (["UCB-E-LRF"], "ensemble", [1, 2.5]),
    (["UCB-E-LRF"], "optimism", [-1.0]),
    (["UCB-E-LRF"], "random_share", [-0.1, 1.1]),
]
FAMILIES = ("binary", "bounded(0, 1)", "bounded(0, 10)", "gaussian", "gaussian")
CHOICES: list[tuple[list[str], list[dict[str, Any]]]] = [
    (["PairedRace"], [{"family": family} for family in FAMILIES]),
    (["PairedOCBA"], [{"variance": "jeffreys"}, {}, {}, {}, {}]),
]


def fit(agent: Any, bandit: Bandit) -> Bandit:
    """Return arms of the same means, or of the same kind of rewards, on common items; as cells, of three rows."""
    if "best-row" in agent.tasks:
        return ArrangedBandit(bandit, np.tile(np.arange(bandit.num_arms // 3 * 3), (bandit.batch, 1)))
    if not agent.uses_pairs:
        return bandit
    if isinstance(bandit, GaussianBandit):
        return PairedGaussianBandit(bandit.means, bandit.variances, correlation=0.5)
    if isinstance(bandit, BernoulliBandit):
        ones = np.arange(100)[:, None] < np.arange(101)  # (items, candidates); candidate c has 1 on c of 100 items
        return PairedFiniteBandit(ones.astype(float), np.rint(100.0 * bandit.means).astype(np.int64), replace=True)
    scores = np.random.default_rng(0).integers(0, 2, (300, bandit.num_arms)).astype(float)
    candidates = np.tile(np.arange(bandit.num_arms), (bandit.batch, 1))
    return PairedFiniteBandit(scores, candidates, kind=Rewards.of(str(bandit.rewards)))
