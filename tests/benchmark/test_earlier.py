"""Agents start from the earlier results of a problem, exactly as those of a study do; agents with phases do not."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from bai_gym import Study, agents, evaluate
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


@pytest.mark.each(
    "agent",
    ["Uniform(tie=first)", "UCB1(tie=first)", "OCBA(tie=first)", "LUCB(tie=first)", "KL-LUCB(tie=first)"],
)
def test_the_runner_and_a_study_start_from_earlier_results_alike(agent: str) -> None:
    study = Study(list("abcd"), BUDGET, agent, earlier=LOG, rewards="real")
    while pulls := study.ask():
        study.tell(pulls[0], float(MEANS[pulls[0].arm]))
    counts = np.bincount([pull.arm for pull in study.log], minlength=4)
    alone = evaluate(agent, BestArmEnv(Known(False), BUDGET), runs=1)
    for path in ("blocks", "steps"):
        found = evaluate(agent, BestArmEnv(Known(), BUDGET), runs=1, path=path)
        np.testing.assert_array_equal(found.mean_pulls, counts, err_msg=path)
        assert found.error_probability == float(study.result().recommendation != 0), path
        assert found.notes == alone.notes, path
    if not agent.startswith("Uniform"):
        assert (alone.mean_pulls != counts).any()


def test_a_log_may_have_more_pulls_than_the_budget() -> None:
    for agent in ("Universal", "Universal(cap=items)", "Uniform"):
        assert evaluate(agent, BestArmEnv(Known(), 5), runs=5).mean_pulls.sum() == 5, agent


@pytest.mark.each("agent", ["SR", "SH", "A-UGapEb"])
def test_agents_with_phases_start_without_earlier_results_and_a_note_says_so(agent: str) -> None:
    for path in ("blocks", "steps"):
        pair = [evaluate(agent, BestArmEnv(Known(log), BUDGET), runs=50, path=path) for log in (False, True)]
        np.testing.assert_array_equal(pair[0].mean_pulls, pair[1].mean_pulls, err_msg=path)
        said = set(pair[1].notes) - set(pair[0].notes)
        assert len(said) == 1 and "without the earlier results" in said.pop()


def test_checkpoints_count_the_pulls_of_the_episode() -> None:
    for path in ("blocks", "steps"):
        rows: Any = evaluate("UCB1", BestArmEnv(Known(), BUDGET), runs=3, path=path, checkpoints=[10, 25])
        assert [row.mean_pulls.sum() for row in rows] == [10, 25, BUDGET], path


def test_a_gymnasium_loop_observes_the_pilot_and_agents_with_phases_do_not() -> None:
    env = gym.make("BAI-Pilot-v0", budget=12)
    for name in ("SR", "UCB1"):
        first, _ = env.reset(seed=0)
        assert first["pulls"].tolist() == [1000] * 4 and env.observation_space.contains(first)
        assert isinstance(env.unwrapped, BestArmEnv)
        agent = agents.make(name, tie="first")
        agent.reset(env.unwrapped.problem_info(agent.knows), np.random.default_rng(0))
        observation, ended = first, False
        while not ended:
            action = agent.act(observation)
            assert (agent.statistics.pulls.sum() >= 4000) == (name == "UCB1")
            observation, _, ended, *_ = env.step(action)
        assert (observation["pulls"] - first["pulls"]).sum() == 12
