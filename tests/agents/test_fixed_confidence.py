"""Agents of fixed confidence keep their promise: errors with probability at most delta, and they stop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import beta

from bai_gym import agents
from bai_gym.bandits import Bandit, BernoulliBandit, EmpiricalBandit, SampleTable
from bai_gym.benchmark.rollout import Rollout, play_blocks
from bai_gym.errors import AgentError
from bai_gym.problems import ProblemInfo
from bai_gym.tasks import BestArm, BestOfEach, Task, TopM

RUNS = 1000
CAP = 100_000
DELTA = 0.1
LEVEL = 0.999

# Arms that pay one of two values; means 0.5, 0.2, 0.2, 0.15, and variances of 0 to 0.25.
TWO_VALUES = np.array([[0.0, 1.0], [0.2, 0.2], [0.1, 0.3], [0.0, 0.3]])
INSTANCES: dict[str, tuple[Bandit, list[Task]]] = {
    "four arms": (BernoulliBandit([0.9, 0.5, 0.4, 0.3]), [BestArm()]),
    "two good ones": (BernoulliBandit([0.6, 0.5, 0.2, 0.6, 0.4]), [BestArm(0.3)]),
    "ten arms": (BernoulliBandit([0.3] * 6 + [0.95] + [0.3] * 3), [BestArm()]),
    "top m": (BernoulliBandit([0.4, 0.9, 0.1, 0.9, 0.3]), [TopM(2), TopM(3, 0.4), BestArm(0.2)]),
    "two values": (
        EmpiricalBandit(SampleTable.of(TWO_VALUES.reshape(-1), np.arange(0, 9, 2)), np.arange(4)[None]),
        [BestArm(), TopM(2, 0.3), BestOfEach(2, 0.2)],
    ),
}
NAMES = [name for name in agents.names() if getattr(agents.make(name), "stops", False)]


def play(agent: Any, bandit: Bandit, task: Task, seed: int = 0) -> Rollout:
    batch = bandit.select(np.zeros(RUNS, np.int64))
    info = ProblemInfo(bandit.num_arms, CAP, RUNS, task=task, fixed_confidence=True)
    agent.reset(info, np.random.default_rng([seed, 0]))
    return play_blocks(agent, batch, CAP, np.random.default_rng([seed, 1]), task)


def lower_limit(errors: int) -> float:
    """The Clopper-Pearson limit that the error probability exceeds with confidence LEVEL."""
    return float(beta.ppf(1 - LEVEL, errors, RUNS - errors + 1)) if errors else 0.0


def errors_of(rollout: Rollout, bandit: Bandit, task: Task) -> int:
    return int(np.count_nonzero(~task.correct(np.tile(bandit.means, (RUNS, 1)), rollout.recommendation)))


@pytest.mark.parametrize("instance", INSTANCES)
@pytest.mark.parametrize("name", NAMES)
def test_errors_are_no_more_frequent_than_delta_and_it_stops(name: str, instance: str) -> None:
    bandit, tasks = INSTANCES[instance]
    assert bandit.means.max() <= 1 and name in {"UGapEc", "UGapEc-V", "LUCB"}
    for task in tasks:
        agent = agents.make(name, delta=DELTA)
        if task.name not in agent.tasks:
            with pytest.raises(AgentError, match=f"{name} cannot do the task 'best-of-each'"):
                play(agent, bandit, task)
            continue
        rollout = play(agent, bandit, task)
        spent = rollout.pulls.sum(axis=1)
        assert spent.max() < CAP
        assert len(set(spent.tolist())) > 10  # each for itself
        assert lower_limit(errors_of(rollout, bandit, task)) <= DELTA


@pytest.mark.parametrize(
    ("name", "parameters"), [("UGapEc", {"b": 0.02}), ("UGapEc-V", {"c": 0.002}), ("LUCB", {"b": 0.02})]
)
def test_too_narrow_intervals_would_be_seen(name: str, parameters: dict[str, float]) -> None:
    bandit, task = BernoulliBandit([0.5, 0.45, 0.4]), BestArm()
    rollout = play(agents.make(name, delta=DELTA, **parameters), bandit, task)
    assert lower_limit(errors_of(rollout, bandit, task)) > DELTA


def test_less_accuracy_and_less_confidence_take_fewer_pulls() -> None:
    bandit = INSTANCES["four arms"][0]
    for name in NAMES:
        mean = [
            play(agents.make(name, delta=delta), bandit, BestArm(epsilon)).pulls.sum(axis=1).mean()
            for delta, epsilon in ((0.01, 0.0), (0.1, 0.0), (0.1, 0.2))
        ]
        assert mean[0] > 1.05 * mean[1] > 1.1 * mean[2]
