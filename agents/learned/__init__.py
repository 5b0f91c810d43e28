"""Trained agents: features, a small network in NumPy, and the weights shipped with the library."""

from bai_gym.agents.learned.agent import Learned, shipped
from bai_gym.agents.learned.network import ArmNetwork

__all__ = ["ArmNetwork", "Learned", "shipped"]
