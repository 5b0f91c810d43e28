"""The arms and rewards that a built-in agent is for, compared with those that it is to play."""

from __future__ import annotations

import numpy as np

from bai_gym.agents.registry import ANY, BUILT_IN, UNIT
from bai_gym.bandits import Bandit
from bai_gym.errors import AgentError
from bai_gym.statistics import FloatArray

__all__ = ["check_arms", "check_rewards", "sample_rewards"]

PULLS = 50  # of each arm


def check_arms(name: str, num_arms: int) -> None:
    """Raise :class:`AgentError` if the agent of that name is for another number of arms."""
    entry = BUILT_IN.get(name)
    if entry is not None and entry.arms not in (None, num_arms):
        raise AgentError(
            f"{name} is for {entry.arms} arms, and there are {num_arms}: use an agent for any number of arms "
            "(`bai-gym list agents`)"
        )


def check_rewards(name: str, rewards: FloatArray) -> None:
    """Raise :class:`AgentError` if the agent of that name, with its default parameters, does not accept the rewards.

    An agent notices unfit rewards only when it meets them; this tells before it plays.
    """
    entry = BUILT_IN.get(name)
    if entry is None or entry.rewards == ANY:
        return
    fits = (rewards >= 0) & (rewards <= 1) if entry.rewards == UNIT else (rewards == 0) | (rewards == 1)
    if not fits.all():
        raise AgentError(
            f"{name} with its default parameters needs {entry.rewards}: another one here is {rewards[~fits][0]:g}"
        )


def sample_rewards(bandit: Bandit, rng: np.random.Generator) -> FloatArray:
    """Return 50 rewards of each arm of all instances, in one row."""
    return bandit.pull(np.tile(np.arange(bandit.batch * bandit.num_arms), PULLS), rng)
