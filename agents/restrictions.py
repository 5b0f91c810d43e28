"""The arms and rewards that a built-in agent is for, compared with those that it is to play."""

from __future__ import annotations

from bai_gym.agents.registry import BUILT_IN
from bai_gym.errors import AgentError
from bai_gym.rewards import BINARY, Rewards
from bai_gym.wings import ANY, UNIT

__all__ = ["check_arms", "check_rewards"]


def check_arms(name: str, num_arms: int) -> None:
    """Raise :class:`AgentError` if the agent of that name is for another number of arms."""
    entry = BUILT_IN.get(name)
    if entry is not None and entry.arms not in (None, num_arms):
        raise AgentError(
            f"{name} is for {entry.arms} arms, and there are {num_arms}: use an agent for any number of arms "
            "(`bai-gym list agents`)"
        )


def check_rewards(name: str, rewards: Rewards) -> None:
    """Raise :class:`AgentError` if the agent of that name, with its default parameters, does not accept the rewards.

    An agent notices unfit rewards only when it meets them; their kind tells before it plays.
    """
    entry = BUILT_IN.get(name)
    if entry is None or entry.rewards == ANY:
        return
    if not (rewards.in_unit_interval if entry.rewards == UNIT else rewards == BINARY):
        raise AgentError(f"{name} with its default parameters needs {entry.rewards}, and these are {rewards.words}")
