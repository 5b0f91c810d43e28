"""Agents by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import Any

from bai_gym.agents.base import Agent
from bai_gym.agents.loading import is_reference, load
from bai_gym.errors import ParameterError, unknown_name

__all__ = ["BUILT_IN", "build", "find", "is_shared", "make", "names", "register"]

BUILT_IN: dict[str, str] = {
    "Uniform": "uniform:Uniform",
    "SH": "sequential_halving:SequentialHalving",
    "DSH": "doubling_halving:DoublingHalving",
    "SubsetSH": "subset_halving:SubsetHalving",
    "FBKT": "fbkt:FBKT",
    "SHVar": "shvar:SHVar",
    "SHAdaVar": "shadavar:SHAdaVar",
    "GapE": "gape:GapE",
    "GapE-V": "gape:GapEV",
    "A-GapE": "gape:AGapE",
    "A-GapE-V": "gape:AGapEV",
    "VBR": "vbr:VBR",
    "SR": "successive_rejects:SuccessiveRejects",
    "CR-A": "continuous_rejects:CRA",
    "CR-C": "continuous_rejects:CRC",
    "UCB-E": "ucb_e:UCBE",
    "A-UCB-E": "ucb_e:AdaptiveUCBE",
    "UCB1": "ucb1:UCB1",
    "UCB-GLM": "ucb_glm:UCBGLM",
    "TS": "thompson:TS",
    "TTTS": "thompson:TTTS",
    "OCBA": "ocba:OCBA",
    "OCBA-PCS": "ocba:OCBAPCS",
    "EB-TC-eps": "eb_tc_eps:EBTCEps",
    "GNA": "neyman:GNA",
    "NA-AIPW": "neyman:NAAIPW",
    "R-go-Tracking": "minimax_tracking:RgoTracking",
    "FCVote": "fc_vote:FCVote",
    "SAR": "sar:SAR",
    "UGapEb": "ugape:UGapEb",
    "UGapEb-V": "ugape:UGapEbV",
    "A-UGapEb": "ugape:AUGapEb",
    "A-UGapEb-V": "ugape:AUGapEbV",
    "UGapEc": "ugape:UGapEc",
    "UGapEc-V": "ugape:UGapEcV",
    "LUCB": "lucb:LUCB",
    "GSE-Lin": "gse:GSELin",
    "GSE-Lin-FWG": "gse:GSELinFWG",
    "GSE-Lin-Greedy": "gse:GSELinGreedy",
    "GSE-Lin-Wynn": "gse:GSELinWynn",
    "GSE-Log": "gse:GSELog",
    "GSE-Log-FWG": "gse:GSELogFWG",
    "OD-LinBAI": "od_linbai:ODLinBAI",
    "Peace-rho": "peace:PeaceRho",
    "LinUCB": "lin_ucb:LinUCB",
    "LinGapE": "lin_gape:LinGapE",
    "LinGapE-Greedy": "lin_gape:LinGapEGreedy",
    "BayesGap": "bayes_gap:BayesGap",
    "GP-UCB": "bayesian:GPUCB",
    "BayesUCB": "bayesian:BayesUCB",
    "GP-TS": "bayesian:GPTS",
    "PI": "bayesian:PI",
    "EI": "bayesian:EI",
    "KG": "knowledge_gradient:KG",
    "RHO": "rho:RHO",
    "AugUCB": "augucb:AugUCB",
    "APT": "apt:APT",
    "UCBE": "apt:ThresholdUCBE",
    "UCBEV": "apt:ThresholdUCBEV",
    "LSA": "apt:LSA",
    "CSAR": "csar:CSAR",
    "APT-G": "good_arm:APTG",
    "HDoC": "good_arm:HDoC",
    "LUCB-G": "good_arm:LUCBG",
    "APGAI": "apgai:APGAI",
    "Learned": "learned.agent:Learned",
    "Universal": "universal:Universal",
    "DPT": "in_context:DPT",
    "ICPE": "in_context:ICPE",
    "BayesOptimal": "bayes_optimal:BayesOptimal",
    "TrackAndStop": "track_and_stop:TrackAndStop",
    "T3C": "top_two:T3C",
    "TTTS-GLR": "top_two:TTTSGLR",
    "TTEI": "top_two:TTEI",
    "TTUCB": "top_two:TTUCB",
    "EB-TC": "top_two:EBTC",
    "EB-TCI": "top_two:EBTCI",
    "FWS": "fws:FWS",
    "AdaHedge-BR": "ada_hedge:AdaHedgeBR",
    "KL-LUCB": "kl_lucb:KLLUCB",
    "KL-Racing": "elimination:KLRacing",
    "SE": "elimination:SuccessiveElimination",
    "lil-UCB": "lil_ucb:LilUCB",
    "Rinott": "indifference:Rinott",
    "KN": "indifference:KN",
    "FC-DSH": "fc_dsh:FCDSH",
    "BrakeBooster": "brake_booster:BrakeBooster",
}
"""Module and class of each built-in agent, which is imported when it is first needed."""

_AGENTS: dict[str, Callable[..., Any] | str] = dict(BUILT_IN)


def is_shared(name: str) -> bool:
    """Return whether another process finds the agent of that name: in the library, in a file or in a module."""
    return name in BUILT_IN or (name not in _AGENTS and is_reference(name))


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

    Args:
        name: One of :func:`names`, or a reference such as ``"mine.py:Thirds"``, see
            :func:`bai_gym.agents.loading.load`.

    Raises:
        UnknownNameError: If there is none; the message names the nearest ones.
        AgentError: If the file that it refers to cannot be loaded.
    """
    if name not in _AGENTS and is_reference(name):
        return load(name)
    if name not in _AGENTS:
        raise unknown_name("agent", name, _AGENTS, "`bai-gym list agents` shows all")
    agent = _AGENTS[name]
    if isinstance(agent, str):
        module, _, kind = agent.partition(":")
        agent = _AGENTS[name] = getattr(import_module(f"bai_gym.agents.{module}"), kind)
    return agent


def make(name: str, **parameters: Any) -> Any:
    """Return a new agent.

    Args:
        name: One of :func:`names`, or a reference, see :func:`find`.
        **parameters: The agent's parameters, see its class.

    Raises:
        UnknownNameError: If there is no such agent.
        ParameterError: If a parameter does not exist.
    """
    return build(name, find(name), parameters)


def build(name: str, factory: Callable[..., Any], parameters: Mapping[str, Any]) -> Any:
    """Return a new agent of a factory that :func:`find` has returned; see :func:`make`."""
    if isinstance(factory, type) and issubclass(factory, Agent) and is_dataclass(factory):
        allowed = [field.name for field in fields(factory)]
        for parameter in parameters:
            if parameter not in allowed:
                raise ParameterError(f"{name} has no parameter {parameter!r}; it has: {', '.join(allowed)}")
    return factory(**parameters)
