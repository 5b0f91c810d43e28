"""Agents that use a normal prior of all means, or a kernel."""

from typing import TYPE_CHECKING

from bai_gym.common.lazy import lazily

if TYPE_CHECKING:
    from bai_gym.agents.correlated.gaussian_process import GaussianProcessAgent

__all__ = ["GaussianProcessAgent"]

__getattr__, __dir__ = lazily(__name__)
