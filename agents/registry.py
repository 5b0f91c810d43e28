"""The registry: agents by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any

from bai_gym.agents.apt import APT, ThresholdUCBE, ThresholdUCBEV
from bai_gym.agents.augucb import AugUCB
from bai_gym.agents.base import Agent
from bai_gym.agents.bayes_gap import BayesGap
from bai_gym.agents.bayes_optimal import BayesOptimal
from bai_gym.agents.bayesian import EI, GPTS, GPUCB, PI, BayesUCB
from bai_gym.agents.csar import CSAR
from bai_gym.agents.gape import AGapE, AGapEV, GapE, GapEV
from bai_gym.agents.gse import GSELin, GSELinFWG, GSELinGreedy, GSELinWynn, GSELog, GSELogFWG
from bai_gym.agents.knowledge_gradient import KG
from bai_gym.agents.learned import Learned
from bai_gym.agents.lin_gape import LinGapE, LinGapEGreedy
from bai_gym.agents.lin_ucb import LinUCB
from bai_gym.agents.lucb import LUCB
from bai_gym.agents.ocba import OCBA
from bai_gym.agents.od_linbai import ODLinBAI
from bai_gym.agents.peace import PeaceRho
from bai_gym.agents.sar import SAR
from bai_gym.agents.sequential_halving import SequentialHalving
from bai_gym.agents.shadavar import SHAdaVar
from bai_gym.agents.shvar import SHVar
from bai_gym.agents.successive_rejects import SuccessiveRejects
from bai_gym.agents.thompson import TS, TTTS
from bai_gym.agents.ucb1 import UCB1
from bai_gym.agents.ucb_e import UCBE, AdaptiveUCBE
from bai_gym.agents.ucb_glm import UCBGLM
from bai_gym.agents.ugape import AUGapEb, AUGapEbV, UGapEb, UGapEbV, UGapEc, UGapEcV
from bai_gym.agents.uniform import Uniform
from bai_gym.agents.vbr import VBR
from bai_gym.errors import ParameterError, unknown_name

__all__ = ["is_built_in", "find", "make", "names", "register"]

_AGENTS: dict[str, Callable[..., Any]] = {
    agent.name: agent
    for agent in (
        Uniform,
        SequentialHalving,
        SHVar,
        SHAdaVar,
        GapE,
        GapEV,
        AGapE,
        AGapEV,
        VBR,
        SuccessiveRejects,
        UCBE,
        AdaptiveUCBE,
        UCB1,
        UCBGLM,
        TS,
        TTTS,
        OCBA,
        SAR,
        UGapEb,
        UGapEbV,
        AUGapEb,
        AUGapEbV,
        UGapEc,
        UGapEcV,
        LUCB,
        GSELin,
        GSELinFWG,
        GSELinGreedy,
        GSELinWynn,
        GSELog,
        GSELogFWG,
        ODLinBAI,
        PeaceRho,
        LinUCB,
        LinGapE,
        LinGapEGreedy,
        BayesGap,
        GPUCB,
        BayesUCB,
        GPTS,
        PI,
        EI,
        KG,
        AugUCB,
        APT,
        ThresholdUCBE,
        ThresholdUCBEV,
        CSAR,
        Learned,
        BayesOptimal,
    )
}


OWN = frozenset(_AGENTS)


def is_built_in(name: str) -> bool:
    """Return whether the library registers an agent of that name itself."""
    return name in OWN


def names() -> tuple[str, ...]:
    """Return all registered names."""
    return tuple(_AGENTS)


def register(name: str, agent: Callable[..., Any]) -> None:
    """Register an agent under a name, for example for the command line.

    Args:
        name: A new name.
        agent: The class, or anything that returns an agent when called with keyword parameters.

    Raises:
        ParameterError: If the name is taken or malformed, or the agent is not callable.
    """
    if not isinstance(name, str) or not name.strip() or set(name) & set("()\n"):
        raise ParameterError(f"the name of an agent must be text without brackets, not {name!r}")
    if not callable(agent):
        raise ParameterError(f"{name} must be a class, or a function that returns an agent, not {agent!r}")
    if name in _AGENTS:
        raise ParameterError(f"an agent named {name!r} is already registered")
    _AGENTS[name] = agent


def find(name: str) -> Callable[..., Any]:
    """Return the factory of the agent of that name.

    Raises:
        UnknownNameError: If there is none; the message names the nearest ones.
    """
    if name not in _AGENTS:
        raise unknown_name("agent", name, _AGENTS, "`bai-gym list agents` shows all")
    return _AGENTS[name]


def make(name: str, **parameters: Any) -> Any:
    """Return a new agent.

    Args:
        name: One of :func:`names`.
        **parameters: The agent's parameters, see its class.

    Raises:
        UnknownNameError: If there is no such agent.
        ParameterError: If a parameter does not exist.
    """
    factory = find(name)
    if isinstance(factory, type) and issubclass(factory, Agent) and is_dataclass(factory):
        allowed = [field.name for field in fields(factory)]
        for parameter in parameters:
            if parameter not in allowed:
                raise ParameterError(f"{name} has no parameter {parameter!r}; it has: {', '.join(allowed)}")
    return factory(**parameters)
