"""Trained agents: features, a small network in NumPy, and the weights shipped with the library."""

from bai_gym.agents.training.agent import Learned, shipped
from bai_gym.agents.training.network import ArmNetwork

__all__ = ["ArmNetwork", "Learned", "shipped"]
