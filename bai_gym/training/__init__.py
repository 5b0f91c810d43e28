"""Training agents by imitation and reinforcement learning, PyTorch batches, episodes as text."""

from typing import TYPE_CHECKING, Any

from bai_gym.common.lazy import lazily
from bai_gym.errors import MissingPackageError

if TYPE_CHECKING:
    from bai_gym.agents.training.language_model import LanguageModel
    from bai_gym.agents.training.sb3 import SB3Agent
    from bai_gym.training.imitation import imitate
    from bai_gym.training.learning import Trained, train
    from bai_gym.training.policy import ArmPolicy, export
    from bai_gym.training.recipe import Recipe, recipe_for
    from bai_gym.training.tracking import AgainstAgents, weights_and_biases
    from bai_gym.training.vec_env import SB3VecEnv

__all__ = [
    "AgainstAgents",
    "ArmPolicy",
    "LanguageModel",
    "Recipe",
    "SB3Agent",
    "SB3VecEnv",
    "Trained",
    "export",
    "imitate",
    "recipe_for",
    "train",
    "weights_and_biases",
]

_find, __dir__ = lazily(__name__)


def __getattr__(name: str) -> Any:
    try:
        return _find(name)
    except ModuleNotFoundError as error:
        raise MissingPackageError('training needs stable-baselines3 and torch; pip install "bai-gym[learn]"') from error
