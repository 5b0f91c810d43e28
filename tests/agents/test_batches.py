"""Looks between batches: every agent that decides when to stop waits for the end of a batch, and errs rarely."""

from __future__ import annotations

from pathlib import Path
from runpy import run_path

import numpy as np

from bai_gym import agents
from bai_gym.bandits import BernoulliBandit, GaussianBandit
from bai_gym.benchmark.rollout import play_blocks
from bai_gym.problems import ProblemInfo

CASES = run_path(str(Path(__file__).with_name("cases.py")))
RUNS, CAP, SIZE = 100, 20_000, 50
BATCHED = [name for name in agents.names() if agents.make(name).stops and hasattr(agents.make(name), "batch_size")]
NAMES = [name for name in BATCHED if name != "Tri-BBAI"]  # which has batches of its own
MEANS = np.tile([0.9, 0.3, 0.2], (RUNS, 1))
LATE: dict[str, set[int]] = {
    "LUCB": {1},  # its rounds begin after 3, 5, 7, ... pulls
    "KL-LUCB": {1},
}


def test_whoever_looks_between_batches_stops_at_their_ends() -> None:
    """A batch may end within a round or an item: then the look comes after it."""
    assert NAMES
    for name in NAMES:
        agent = agents.make(name)
        given = {"indifference": 0.5} if hasattr(agent, "indifference") else {}
        given |= {"items": 100} if hasattr(agent, "items") else {}
        normal = agent.uses_pairs or hasattr(agent, "indifference")
        bandit = CASES["fit"](agent, GaussianBandit(MEANS, 1.0) if normal else BernoulliBandit(MEANS))
        spent = []
        for size in (1, SIZE):
            agent, task = agents.make(name, batch_size=size, **given), CASES["usual_task"](agent)
            info = ProblemInfo(3, CAP, RUNS, truth=bandit, knows=agent.knows, task=task, fixed_confidence=True)
            agent.reset(info, np.random.default_rng(0))
            played = play_blocks(agent, bandit, CAP, np.random.default_rng(1), task=task)
            assert (played.recommendation.reshape(RUNS) == 0).mean() > 0.9, (name, size)
            spent.append(played.pulls.sum(axis=1))
        late = set(range(3)) if agent.uses_pairs else LATE.get(name, {0})  # within an item
        assert set((spent[1] % SIZE).tolist()) <= late, name
        assert 0 < spent[1].mean() - spent[0].mean() < (2 if agent.uses_pairs else 1) * SIZE + 10, name
