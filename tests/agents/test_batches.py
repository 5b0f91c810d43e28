"""Looks between batches: every agent that decides when to stop waits for the end of a batch, and errs rarely."""

from __future__ import annotations

from typing import Any

import numpy as np

from bai_gym import agents
from bai_gym.bandits import Bandit, BernoulliBandit, FeatureBandit, GaussianBandit, PairedGaussianBandit
from bai_gym.benchmark.rollout import play_blocks
from bai_gym.problems import ProblemInfo
from bai_gym.tasks import BestArm, GoodArm, Task

RUNS, CAP, SIZE = 200, 20_000, 50
ROUNDS = {"RAGE", "XY-static", "XY-adaptive", "XY-oracle", "Tri-BBAI", "Opt-BBAI"}
SIZES = {"FC-DSH": 500}  # its phases are long
MEANS = np.tile([0.9, 0.3, 0.2], (RUNS, 1))
LATE: dict[str, set[int]] = {
    "LUCB": {1},  # its rounds begin after 3, 5, 7, ... pulls
    "KL-LUCB": {1},
    "PairedRace": {0, 1, 2},  # a batch may end within an item
    "FRace": {0, 1, 2},
    "NM": {0, 1, 2},
    "FC-DSH": {263, 31},  # looks after 763 or 1,531 pulls, at the end of a phase
}
PARAMETERS: dict[str, dict[str, Any]] = {"Rinott": {"indifference": 0.5}, "KN": {"indifference": 0.5}}
PARAMETERS |= {"NM": {"indifference": 0.5}, "WilcoxonRace": {"items": 100}}


def bandit_for(name: str) -> Bandit:
    if agents.make(name).uses_pairs:
        return PairedGaussianBandit(MEANS, 1.0, correlation=0.0)
    if agents.make(name).needs_features:
        return FeatureBandit(BernoulliBandit(MEANS), np.eye(3))
    return GaussianBandit(MEANS, 1.0) if name in ("Rinott", "KN") else BernoulliBandit(MEANS)


def test_whoever_looks_between_batches_stops_at_their_ends() -> None:
    """A batch may end within a round or an item: then the look comes after it."""
    names = [name for name in agents.names() if agents.make(name).stops and name not in ROUNDS]
    assert len(names) >= 32
    for name in names:
        batch = SIZES.get(name, SIZE)
        task: Task = BestArm() if "best-arm" in agents.make(name).tasks else GoodArm(0.5)
        spent = []
        for size in (1, batch):
            bandit = bandit_for(name)
            agent = agents.make(name, batch_size=size, **PARAMETERS.get(name, {}))
            info = ProblemInfo(3, CAP, RUNS, truth=bandit, task=task, fixed_confidence=True)
            agent.reset(info, np.random.default_rng(0))
            played = play_blocks(agent, bandit, CAP, np.random.default_rng(1), task=task)
            assert (played.recommendation.reshape(RUNS) == 0).mean() > 0.9, (name, size)
            spent.append(played.pulls.sum(axis=1))
        assert set((spent[1] % batch).tolist()) <= LATE.get(name, {0}), name
        assert 0 < spent[1].mean() - spent[0].mean() < batch + 10, name
