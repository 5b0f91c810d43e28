"""What the tests of all agents need to know of those for duels, see ``tests/agents/cases.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from bai_gym.bandits import ArrangedBandit, Bandit
from bai_gym.duels import Condorcet

TASKS = [Condorcet()]


def fit(agent: Any, bandit: Bandit) -> Bandit:
    """The first 6 or 3 arms, all pairs of 4 or 3 items, where the agent needs pairs."""
    if {*agent.tasks} != {"condorcet"}:
        return bandit
    arms = 6 if bandit.num_arms >= 6 else 3
    return ArrangedBandit(bandit, np.tile(np.arange(arms), (bandit.batch, 1)))
