"""Batches of bandits in PyTorch: blocks of pulls from their exact distribution, differentiable in the counts."""

from bai_gym.errors import MissingPackageError

try:
    import torch  # noqa: F401
except ImportError as error:
    raise MissingPackageError('bai_gym.training.arrays needs torch; pip install "bai-gym[learn]"') from error

from bai_gym.training.arrays.blocks import Arms, Block, State, arms_of, draw, merge, pull, start
from bai_gym.training.arrays.vector_env import TorchVectorEnv

__all__ = ["Arms", "Block", "State", "TorchVectorEnv", "arms_of", "draw", "merge", "pull", "start"]
