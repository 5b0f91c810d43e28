"""``cap="items"``: no arm is pulled more often than there are items, on common items and on independent ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bai_gym import agents
from bai_gym.bandits import Bandit, FiniteBandit, FinitePopulations, PairedFiniteBandit, SampleTable
from bai_gym.benchmark.rollout import Rollout, play_blocks
from bai_gym.problems import ProblemInfo

ITEMS = 7
SCORES = np.random.default_rng(3).random((ITEMS, 5)).round(2)
CAPPED = [("Uniform", {}), ("SR", {}), ("SR", {"leftover": "last"}), ("SH", {}), ("SH", {"rounding": "equal"})]
CAPPED += [("SH-Reuse", {}), ("SH-Reuse", {"rounding": "equal"}), ("SH", {"leftover": "last"}), ("Universal", {})]


def separate() -> FiniteBandit:
    table = SampleTable.of(SCORES.T.reshape(-1), np.arange(6) * ITEMS)
    return FiniteBandit(FinitePopulations.of(table), np.arange(5))


def play(name: str, parameters: dict[str, Any], bandit: Bandit, budget: int, runs: int = 50) -> Rollout:
    bandit, agent = bandit.select(np.zeros(runs, np.int64)), agents.make(name, **parameters)
    agent.reset(ProblemInfo(5, budget, runs, truth=bandit), np.random.default_rng(0))
    return play_blocks(agent, bandit, budget, np.random.default_rng(1))


@pytest.mark.each("bandit", [PairedFiniteBandit(SCORES, np.arange(5)), separate()])
@pytest.mark.each(("name", "parameters"), CAPPED)
def test_no_arm_is_pulled_on_an_item_twice(name: str, parameters: dict[str, Any], bandit: Bandit) -> None:
    for budget in (16, 20, 27, 33):
        most = play(name, parameters | {"cap": "items"}, bandit, budget).pulls.max()
        assert most <= ITEMS, budget
        if budget < 20:  # nothing has to be cut
            assert most == play(name, parameters, bandit, budget).pulls.max()
    # Every arm that counts has been played on every item, so its mean is exact.
    played = play(name, parameters | {"cap": "items"}, bandit, 5 * ITEMS * 3)
    assert played.pulls.max() == ITEMS and (played.recommendation == SCORES.mean(axis=0).argmax()).all()


def test_without_a_number_of_items_there_is_no_cap() -> None:
    bandit = PairedFiniteBandit(SCORES, np.arange(5), replace=True)
    for name, parameters in CAPPED:
        assert play(name, parameters | {"cap": "items"}, bandit, 105).pulls.max() > ITEMS, name


def test_a_stage_of_halving_that_is_cut_ranks_by_all_samples() -> None:
    # Stages of 15 pulls: 3 of each arm, and of three arms the 4 that are left in place of 5. No item is left for the
    # last stage, which alone would see nothing, and of all items arm 0 has the larger mean.
    scores = np.zeros((ITEMS, 5))
    scores[:, 0], scores[:3, 1], scores[:, 2:] = 0.5, 1.0, -1.0
    bandit = PairedFiniteBandit(scores, np.arange(5))
    assert (play("SH", {"cap": "items"}, bandit, 45).recommendation == 0).all()
