"""Training agents with stable-baselines3; the only package that imports it, and PyTorch, at import time."""

from bai_gym.errors import MissingPackageError

try:
    import stable_baselines3  # noqa: F401  # and torch with it
except ImportError as error:
    raise MissingPackageError('training needs stable-baselines3 and torch; pip install "bai-gym[learn]"') from error

from bai_gym.training.imitation import imitate
from bai_gym.training.in_context import InContextRecipe, train_in_context
from bai_gym.training.learning import Trained, train
from bai_gym.training.policy import ArmPolicy, export
from bai_gym.training.recipe import Recipe, recipe_for
from bai_gym.training.tracking import AgainstAgents, weights_and_biases
from bai_gym.training.vec_env import SB3VecEnv

__all__ = [
    "AgainstAgents",
    "ArmPolicy",
    "InContextRecipe",
    "Recipe",
    "SB3VecEnv",
    "Trained",
    "export",
    "imitate",
    "recipe_for",
    "train",
    "train_in_context",
    "weights_and_biases",
]
