"""Environments whose arms are the cells of a matrix that ships with the package."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest

import bai_gym  # noqa: F401  # registers the ids
from bai_gym.datasets import llm_agents
from bai_gym.errors import ParameterError
from bai_gym.problems import build


def test_an_environment_of_cells_reads_the_matrix() -> None:
    scores = llm_agents("gpqa").complete("items").scores
    env = gym.make("BAI-LLMAgents-GPQA-v0", cells=True, budget=scores.size + 2)
    env.reset(seed=1)
    for cell in (*range(scores.size), 5, 5):
        observation, *_ = env.step(cell)
    seen = observation["means"].reshape(scores.shape)
    assert observation["pulls"][5] == 3
    np.testing.assert_allclose(sorted(seen.mean(axis=1)), sorted(scores.mean(axis=1)))
    *_, info = env.step(int(seen.mean(axis=1).argmax()))
    assert info["correct"] and info["simple_regret"] == 0.0


def test_cells_exclude_an_order_of_questions() -> None:
    for keywords in ({"paired": True}, {"num_arms": 3}):
        with pytest.raises(ParameterError, match="cells=True"):
            build("llm-agents", cells=True, **keywords)
