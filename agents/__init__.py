"""The algorithms: one file per family, all behind ``make(name)`` and ``names()``."""

from bai_gym.agents.base import Agent, PlannedAgent
from bai_gym.agents.gape import AGapE, AGapEV, GapE, GapEV
from bai_gym.agents.registry import make, names, register
from bai_gym.agents.sequential_halving import SequentialHalving
from bai_gym.agents.shadavar import SHAdaVar
from bai_gym.agents.shvar import SHVar
from bai_gym.agents.uniform import Uniform
from bai_gym.agents.vbr import VBR

__all__ = [
    "VBR",
    "AGapE",
    "AGapEV",
    "Agent",
    "GapE",
    "GapEV",
    "PlannedAgent",
    "SHAdaVar",
    "SHVar",
    "SequentialHalving",
    "Uniform",
    "make",
    "names",
    "register",
]
