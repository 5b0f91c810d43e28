"""Trained agents: features, a small network in NumPy, and the weights shipped with the library."""

from typing import TYPE_CHECKING

from bai_gym.common.lazy import lazily

if TYPE_CHECKING:
    from bai_gym.agents.training.agent import Learned, shipped
    from bai_gym.agents.training.language_model import LanguageModel
    from bai_gym.agents.training.network import ArmNetwork
    from bai_gym.agents.training.sb3 import SB3Agent

__all__ = ["ArmNetwork", "LanguageModel", "Learned", "SB3Agent", "shipped"]

__getattr__, __dir__ = lazily(__name__)
