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
    "Uniform": "elimination.uniform:Uniform",
    "SH": "elimination.sequential_halving:SequentialHalving",
    "DSH": "elimination.doubling_halving:DoublingHalving",
    "SubsetSH": "elimination.subset_halving:SubsetHalving",
    "FBKT": "elimination.fbkt:FBKT",
    "SHVar": "elimination.shvar:SHVar",
    "SHAdaVar": "elimination.shadavar:SHAdaVar",
    "GapE": "bounds.gape:GapE",
    "GapE-V": "bounds.gape:GapEV",
    "A-GapE": "bounds.gape:AGapE",
    "A-GapE-V": "bounds.gape:AGapEV",
    "VBR": "elimination.vbr:VBR",
    "SR": "elimination.successive_rejects:SuccessiveRejects",
    "CR-A": "elimination.continuous_rejects:CRA",
    "CR-C": "elimination.continuous_rejects:CRC",
    "UCB-E": "bounds.ucb_e:UCBE",
    "A-UCB-E": "bounds.ucb_e:AdaptiveUCBE",
    "UCB1": "bounds.ucb1:UCB1",
    "UCB-GLM": "structured.ucb_glm:UCBGLM",
    "TS": "bayesian.thompson:TS",
    "TTTS": "bayesian.thompson:TTTS",
    "OCBA": "bounds.ocba:OCBA",
    "OCBA-PCS": "bounds.ocba:OCBAPCS",
    "EB-TC-eps": "bounds.eb_tc_eps:EBTCEps",
    "GNA": "bounds.neyman:GNA",
    "NA-AIPW": "bounds.neyman:NAAIPW",
    "FCVote": "bounds.fc_vote:FCVote",
    "SAR": "elimination.sar:SAR",
    "UGapEb": "bounds.ugape:UGapEb",
    "UGapEb-V": "bounds.ugape:UGapEbV",
    "A-UGapEb": "bounds.ugape:AUGapEb",
    "A-UGapEb-V": "bounds.ugape:AUGapEbV",
    "UGapEc": "bounds.ugape:UGapEc",
    "UGapEc-V": "bounds.ugape:UGapEcV",
    "LUCB": "fixed_confidence.lucb:LUCB",
    "GSE-Lin": "structured.gse:GSELin",
    "GSE-Lin-FWG": "structured.gse:GSELinFWG",
    "GSE-Lin-Greedy": "structured.gse:GSELinGreedy",
    "GSE-Lin-Wynn": "structured.gse:GSELinWynn",
    "GSE-Log": "structured.gse:GSELog",
    "GSE-Log-FWG": "structured.gse:GSELogFWG",
    "OD-LinBAI": "structured.od_linbai:ODLinBAI",
    "Peace-rho": "structured.peace:PeaceRho",
    "LinUCB": "structured.lin_ucb:LinUCB",
    "LinGapE": "structured.lin_gape:LinGapE",
    "LinGapE-Greedy": "structured.lin_gape:LinGapEGreedy",
    "BayesGap": "bayesian.bayes_gap:BayesGap",
    "GP-UCB": "bayesian.acquisition:GPUCB",
    "BayesUCB": "bayesian.acquisition:BayesUCB",
    "GP-TS": "bayesian.acquisition:GPTS",
    "PI": "bayesian.acquisition:PI",
    "EI": "bayesian.acquisition:EI",
    "KG": "bayesian.knowledge_gradient:KG",
    "RHO": "bayesian.rho:RHO",
    "AugUCB": "thresholding.augucb:AugUCB",
    "APT": "thresholding.apt:APT",
    "UCBE": "thresholding.apt:ThresholdUCBE",
    "UCBEV": "thresholding.apt:ThresholdUCBEV",
    "LSA": "thresholding.apt:LSA",
    "CSAR": "thresholding.csar:CSAR",
    "APT-G": "thresholding.good_arm:APTG",
    "HDoC": "thresholding.good_arm:HDoC",
    "LUCB-G": "thresholding.good_arm:LUCBG",
    "APGAI": "thresholding.apgai:APGAI",
    "Learned": "learned.agent:Learned",
    "Universal": "learned.universal:Universal",
    "DPT": "learned.in_context:DPT",
    "ICPE": "learned.in_context:ICPE",
    "BayesOptimal": "bayesian.bayes_optimal:BayesOptimal",
    "TrackAndStop": "fixed_confidence.track_and_stop:TrackAndStop",
    "T3C": "fixed_confidence.top_two:T3C",
    "TTTS-GLR": "fixed_confidence.top_two:TTTSGLR",
    "TTEI": "fixed_confidence.top_two:TTEI",
    "TTUCB": "fixed_confidence.top_two:TTUCB",
    "EB-TC": "fixed_confidence.top_two:EBTC",
    "EB-TCI": "fixed_confidence.top_two:EBTCI",
    "FWS": "fixed_confidence.fws:FWS",
    "AdaHedge-BR": "fixed_confidence.ada_hedge:AdaHedgeBR",
    "KL-LUCB": "fixed_confidence.kl_lucb:KLLUCB",
    "KL-Racing": "fixed_confidence.racing:KLRacing",
    "SE": "fixed_confidence.racing:SuccessiveElimination",
    "lil-UCB": "fixed_confidence.lil_ucb:LilUCB",
    "Rinott": "fixed_confidence.indifference:Rinott",
    "KN": "fixed_confidence.indifference:KN",
    "FC-DSH": "fixed_confidence.fc_dsh:FCDSH",
    "BrakeBooster": "fixed_confidence.brake_booster:BrakeBooster",
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
