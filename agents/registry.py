"""Agents by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any

from bai_gym.agents.base import Agent
from bai_gym.errors import ParameterError, unknown_name

__all__ = ["comes_along", "find", "make", "names", "register"]

import importlib
_found = {}
for _module, _names in [('bai_gym.agents.apt', ['APT', 'ThresholdUCBE', 'ThresholdUCBEV']), ('bai_gym.agents.augucb', ['AugUCB']), ('bai_gym.agents.bayes_gap', ['BayesGap']), ('bai_gym.agents.bayes_optimal', ['BayesOptimal']), ('bai_gym.agents.bayesian', ['EI', 'GPTS', 'GPUCB', 'PI', 'BayesUCB']), ('bai_gym.agents.csar', ['CSAR']), ('bai_gym.agents.gape', ['AGapE', 'AGapEV', 'GapE', 'GapEV']), ('bai_gym.agents.gse', ['GSELin', 'GSELinFWG', 'GSELinGreedy', 'GSELinWynn', 'GSELog', 'GSELogFWG']), ('bai_gym.agents.knowledge_gradient', ['KG']), ('bai_gym.agents.learned', ['Learned']), ('bai_gym.agents.lin_gape', ['LinGapE', 'LinGapEGreedy']), ('bai_gym.agents.lin_ucb', ['LinUCB']), ('bai_gym.agents.lucb', ['LUCB']), ('bai_gym.agents.ocba', ['OCBA']), ('bai_gym.agents.od_linbai', ['ODLinBAI']), ('bai_gym.agents.peace', ['PeaceRho']), ('bai_gym.agents.sar', ['SAR']), ('bai_gym.agents.sequential_halving', ['SequentialHalving']), ('bai_gym.agents.shadavar', ['SHAdaVar']), ('bai_gym.agents.shvar', ['SHVar']), ('bai_gym.agents.successive_rejects', ['SuccessiveRejects']), ('bai_gym.agents.thompson', ['TS', 'TTTS']), ('bai_gym.agents.ucb1', ['UCB1']), ('bai_gym.agents.ucb_e', ['UCBE', 'AdaptiveUCBE']), ('bai_gym.agents.ucb_glm', ['UCBGLM']), ('bai_gym.agents.ugape', ['AUGapEb', 'AUGapEbV', 'UGapEb', 'UGapEbV', 'UGapEc', 'UGapEcV']), ('bai_gym.agents.uniform', ['Uniform']), ('bai_gym.agents.vbr', ['VBR'])]:
    try:
        _m = importlib.import_module(_module)
        for _n in _names:
            _found[_n] = getattr(_m, _n)
    except (ImportError, AttributeError):
        continue
_AGENTS: dict[str, Callable[..., Any]] = {_found[n].name: _found[n] for n in ['Uniform', 'SequentialHalving', 'SHVar', 'SHAdaVar', 'GapE', 'GapEV', 'AGapE', 'AGapEV', 'VBR', 'SuccessiveRejects', 'UCBE', 'AdaptiveUCBE', 'UCB1', 'UCBGLM', 'TS', 'TTTS', 'OCBA', 'SAR', 'UGapEb', 'UGapEbV', 'AUGapEb', 'AUGapEbV', 'UGapEc', 'UGapEcV', 'LUCB', 'GSELin', 'GSELinFWG', 'GSELinGreedy', 'GSELinWynn', 'GSELog', 'GSELogFWG', 'ODLinBAI', 'PeaceRho', 'LinUCB', 'LinGapE', 'LinGapEGreedy', 'BayesGap', 'GPUCB', 'BayesUCB', 'GPTS', 'PI', 'EI', 'KG', 'AugUCB', 'APT', 'ThresholdUCBE', 'ThresholdUCBEV', 'CSAR', 'Learned', 'BayesOptimal'] if n in _found}

OWN = frozenset(_AGENTS)


def comes_along(name: str) -> bool:
    """Return whether the agent of that name comes with the library, so that everybody has it."""
    return name in OWN


def names() -> tuple[str, ...]:
    """Return all registered names."""
    return tuple(_AGENTS)


def register(name: str, agent: Callable[..., Any]) -> None:
    """Make an agent known by name, for example to the command line.

    Args:
        name: A new name.
        agent: The class, or anything that returns an agent when called with keyword parameters.

    Raises:
        ParameterError: If the name is taken.
    """
    if name in _AGENTS:
        raise ParameterError(f"an agent named {name!r} is already registered")
    _AGENTS[name] = agent


def find(name: str) -> Callable[..., Any]:
    """Return what makes the agent of that name.

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
