"""``cap="items"``: no arm is pulled more often than there are items."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bai_gym import agents
from bai_gym.bandits import FiniteBandit, FinitePopulations, SampleTable
from bai_gym.benchmark.rollout import Rollout, play_blocks
from bai_gym.problems import ProblemInfo

ITEMS = 7
SCORES = np.random.default_rng(3).random((ITEMS, 5)).round(2)
CAPPED = [name for name in agents.names() if hasattr(agents.make(name), "cap") and not agents.make(name).uses_pairs]
VARIANTS: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in CAPPED),
    ("SR", {"leftover": "last"}),
    ("SH", {"rounding": "equal"}),
    ("SH", {"leftover": "last"}),
    ("SH-Reuse", {"rounding": "equal"}),
]


def play(name: str, parameters: dict[str, Any], scores: Any, budget: Any, costs: Any = None) -> Rollout:
    """Play 50 episodes whose rewards are the scores of each arm, in random order."""
    table = SampleTable.of(scores.T.reshape(-1), np.arange(6) * ITEMS)
    bandit = FiniteBandit(FinitePopulations.of(table), np.tile(np.arange(5), (50, 1)))
    agent = agents.make(name, **parameters)
    info = ProblemInfo(5, budget, 50, truth=bandit, costs=costs)
    agent.reset(info, np.random.default_rng(0))
    return play_blocks(agent, bandit, info.funds, np.random.default_rng(1))


@pytest.mark.each(("name", "parameters"), VARIANTS)
def test_no_arm_is_pulled_on_an_item_twice(name: str, parameters: dict[str, Any]) -> None:
    for budget in (16, 27, 33):
        most = play(name, parameters | {"cap": "items"}, SCORES, budget).pulls.max()
        assert most <= ITEMS, budget
        if budget < 20:  # nothing has to be cut
            assert most == play(name, parameters, SCORES, budget).pulls.max()
    if agents.make(name, cap="items", **parameters).uses_costs:
        money = play(name, parameters | {"cap": "items"}, SCORES, 200.0, (1.0, 2.0, 1.0, 1.0, 1.0))
        assert money.pulls.max() <= ITEMS
    # Every arm that counts has been played on every item, so its mean is exact.
    assert play(name, parameters, SCORES, 5 * ITEMS * 3).pulls.max() > ITEMS
    played = play(name, parameters | {"cap": "items"}, SCORES, 5 * ITEMS * 3)
    assert played.pulls.max() == ITEMS and (played.recommendation == SCORES.mean(axis=0).argmax()).all()


def test_a_stage_of_halving_that_is_cut_ranks_by_all_samples() -> None:
    # Stages of 15 pulls: 3 of each arm, and of three arms the 4 that are left in place of 5. No item is left for the
    # last stage, which alone would see nothing, and of all items arm 0 has the larger mean.
    scores = np.zeros((ITEMS, 5))
    scores[:, 0], scores[:3, 1], scores[:, 2:] = 0.5, 1.0, -1.0
    assert (play("SH", {"cap": "items"}, scores, 45).recommendation == 0).all()
