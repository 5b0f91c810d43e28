"""The algorithms, one file per family: ``make("SHVar")``, or the classes, ``from bai_gym.agents import SHVar``."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from bai_gym.agents.registry import BUILT_IN, find, make, names, register

if TYPE_CHECKING:
    from bai_gym.agents.base import Agent
    from bai_gym.agents.sequential import SequentialAgent

__all__ = ["Agent", "SequentialAgent", "make", "names", "register"]

_MORE = {  # classes that the registry does not name
    "Agent": "base",
    "GaussianProcessAgent": "bayesian.gaussian_process",
    "LanguageModel": "learned.language_model",
    "SB3Agent": "learned.sb3",
    "SequentialAgent": "sequential",
}
_NAMES = {entry.class_name: name for name, entry in BUILT_IN.items()}


def __getattr__(name: str) -> Any:
    """Import the class of an agent, by its own name or by the one in tables, such as ``SH``."""
    if name in _MORE:
        return getattr(import_module(f"bai_gym.agents.{_MORE[name]}"), name)
    if name in _NAMES or name in BUILT_IN:
        return find(_NAMES.get(name, name))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}; names() lists the agents")


def __dir__() -> list[str]:
    return sorted({*globals(), *_MORE, *_NAMES})
