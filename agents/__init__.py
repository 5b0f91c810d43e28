"""The algorithms, one file per family: ``make("SHVar")``, or the classes, ``from bai_gym.agents import SHVar``."""

from functools import cache
from typing import TYPE_CHECKING, Any

from bai_gym.agents.registry import BUILT_IN, find, make, names, register
from bai_gym.common.lazy import lazily

if TYPE_CHECKING:
    from bai_gym.agents.base import Agent
    from bai_gym.agents.correlated.gaussian_process import GaussianProcessAgent as GaussianProcessAgent
    from bai_gym.agents.sequential import SequentialAgent
    from bai_gym.agents.training.language_model import LanguageModel as LanguageModel
    from bai_gym.agents.training.sb3 import SB3Agent as SB3Agent

__all__ = ["Agent", "SequentialAgent", "make", "names", "register"]

_own, _own_names = lazily(__name__, "; names() lists the agents")


def __getattr__(name: str) -> Any:
    """Import the class of an agent, by its own name or by the one in tables, such as ``SH``."""
    named = name if name in BUILT_IN else _classes().get(name)
    return _own(name) if named is None else find(named)


def __dir__() -> list[str]:
    return sorted({*_own_names(), *_classes()})


@cache
def _classes() -> dict[str, str]:
    """Return the name in tables of each class."""
    return {entry.class_name: name for name, entry in BUILT_IN.items()}
