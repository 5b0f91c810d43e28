"""Agents start from the earlier results of a problem; agents with phases do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bai_gym import agents, evaluate
from bai_gym.bandits import GaussianBandit
from bai_gym.envs.scalar import BestArmEnv
from bai_gym.problems import Problem
from bai_gym.statistics import Statistics

MEANS = np.array([0.5, 0.3, 0.45, 0.1])
LOG = {"arm": list("aaaaaabbbccccd"), "reward": [0.9, 0.1, 0.4, 0.8, 0.2, 0.3, 0.7, 0.6, 0.5, 0.2, 0.1, 0.4, 0.1, 0.3]}
BUDGET = 40


class Known(Problem):
    """Arms whose rewards are their means, after the rewards of the log."""

    num_arms = 4

    def __init__(self, with_log: bool = True) -> None:
        rewards = [[r for arm, r in zip(LOG["arm"], LOG["reward"], strict=True) if arm == name] for name in "abcd"]
        moments = [(len(r), np.mean(r), np.var(r, ddof=1) if len(r) > 1 else 0.0) for r in rewards]
        pulls, means, variances = map(np.array, zip(*moments, strict=True))
        self.earlier = Statistics(pulls[None], means[None], variances[None]) if with_log else None

    def draw(self, batch: int, rng: np.random.Generator) -> GaussianBandit:
        return GaussianBandit(np.tile(MEANS, (batch, 1)), np.zeros((batch, 4)))


@pytest.mark.each("agent", ["Uniform(tie=first)", "UCB1(tie=first)", "OCBA(tie=first)", "LUCB(tie=first)"])
def test_blocks_and_steps_start_from_earlier_results_alike(agent: str) -> None:
    # Rewards are the means, so that the pulls are determined.
    alone = evaluate(agent, BestArmEnv(Known(False), BUDGET), runs=1)
    blocks, steps = (evaluate(agent, BestArmEnv(Known(), BUDGET), runs=1, path=path) for path in ("blocks", "steps"))
    np.testing.assert_array_equal(blocks.mean_pulls, steps.mean_pulls)
    assert blocks.mean_pulls.sum() == BUDGET
    assert blocks.error_probability == steps.error_probability
    assert blocks.notes == steps.notes == alone.notes
    if not agent.startswith("Uniform"):
        assert (alone.mean_pulls != blocks.mean_pulls).any()


def test_a_log_may_have_more_pulls_than_the_budget() -> None:
    assert evaluate("Uniform", BestArmEnv(Known(), 5), runs=5).mean_pulls.sum() == 5
    for path in ("blocks", "steps"):  # checkpoints count the pulls of the episode
        rows: Any = evaluate("UCB1", BestArmEnv(Known(), BUDGET), runs=3, path=path, checkpoints=[10, 25])
        assert [row.mean_pulls.sum() for row in rows] == [10, 25, BUDGET], path


@pytest.mark.each("agent", ["SR", "A-UGapEb"])
def test_agents_with_phases_start_without_earlier_results_and_a_note_says_so(agent: str) -> None:
    for path in ("blocks", "steps"):
        pair = [evaluate(agent, BestArmEnv(Known(log), BUDGET), runs=50, path=path) for log in (False, True)]
        np.testing.assert_array_equal(pair[0].mean_pulls, pair[1].mean_pulls, err_msg=path)
        said = set(pair[1].notes) - set(pair[0].notes)
        assert len(said) == 1 and "without the earlier results" in said.pop()


def test_a_gymnasium_loop_observes_the_log_and_agents_with_phases_do_not() -> None:
    env = BestArmEnv(Known(), 12, shuffle=False)
    for name in ("SR", "UCB1"):
        first, _ = env.reset(seed=0)
        assert first["pulls"].tolist() == [6, 3, 4, 1] and env.observation_space.contains(first)
        agent = agents.make(name, tie="first")
        agent.reset(env.problem_info(agent.knows), np.random.default_rng(0))
        observation, ended = first, False
        while not ended:
            action = agent.act(observation)
            assert (agent.statistics.pulls.sum() >= 14) == (name == "UCB1")
            observation, _, ended, *_ = env.step(action)
        assert (observation["pulls"] - first["pulls"]).sum() == 12
