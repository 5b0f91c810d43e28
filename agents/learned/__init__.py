"""Agents that were trained: features, a small network in NumPy, and the weights that come with the library."""

from bai_gym.agents.learned.agent import Learned, shipped
from bai_gym.agents.learned.network import ArmNetwork

__all__ = ["ArmNetwork", "Learned", "shipped"]
