"""Agents by name, and what is known of each built-in one without its class."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, fields, is_dataclass
from importlib import import_module
from typing import Any

from bai_gym.agents.loading import is_reference, load
from bai_gym.errors import ParameterError, unknown_name

__all__ = [
    *("ANY", "BINARY", "BUILT_IN", "GROUPS", "UNIT", "Entry"),
    *("build", "find", "is_shared", "make", "names", "register"),
]

GROUPS: dict[str, str] = {
    "elimination": "Elimination",
    "bounds": "Bounds and gaps",
    "bayesian": "Bayesian",
    "fixed_confidence": "Fixed confidence",
    "paired": "Paired pulls",
    "structured": "Structured arms",
    "thresholding": "Thresholding",
    "learned": "Learned",
}
"""The groups of agents: folders, with their headings in the documentation."""

ANY, UNIT, BINARY = "any rewards", "rewards in [0, 1]", "rewards of 0 and 1"


@dataclass(frozen=True)
class Entry:
    """Where a built-in agent is, and what it is for with its default parameters.

    What its class declares, such as ``tasks`` and ``knows``, is not repeated here.

    Attributes:
        path: Module below ``bai_gym.agents``, a colon, and the class. The folder is the group.
        arms: The number of arms that it is for; None: any.
        rewards: The rewards that it accepts: :data:`ANY`, :data:`UNIT` or :data:`BINARY`.
        largest_budget: The largest budget that it can plan for five arms in advance; None: any.
        spends_budget: Whether it makes all pulls of the budget, unless it stops because it is confident.
        draws_arms: Whether each pull is of a randomly drawn arm, so that some arms may get none.
        own: Whether this library introduces it, so that there is no paper to cite.
    """

    path: str
    _: KW_ONLY
    arms: int | None = None
    rewards: str = ANY
    largest_budget: int | None = None
    spends_budget: bool = True
    draws_arms: bool = False
    own: bool = False

    @property
    def group(self) -> str:
        """The heading of its group, one of the values of :data:`GROUPS`."""
        return GROUPS[self.path.partition(".")[0]]

    @property
    def restrictions(self) -> tuple[str, ...]:
        """What it needs: ``("2 arms",)``, ``("rewards of 0 and 1",)``; nothing for most agents."""
        arms = () if self.arms is None else (f"{self.arms} arms",)
        return arms if self.rewards == ANY else (*arms, self.rewards)

    @property
    def class_name(self) -> str:
        """The name of its class, which ``bai_gym.agents`` exports."""
        return self.path.partition(":")[2]

    def load(self) -> Callable[..., Any]:
        """Import its module, and return its class."""
        module, _, kind = self.path.partition(":")
        return getattr(import_module(f"bai_gym.agents.{module}"), kind)


BUILT_IN: dict[str, Entry] = {
    "Uniform": Entry("elimination.uniform:Uniform"),
    "SH": Entry("elimination.sequential_halving:SequentialHalving", spends_budget=False),
    "SH-Reuse": Entry("elimination.sequential_halving:SequentialHalvingReuse", spends_budget=False),
    "BatchSH": Entry("elimination.batch_halving:BatchHalving", spends_budget=False),
    "ASH": Entry("elimination.batch_halving:AdvanceFirstHalving", spends_budget=False),
    "DSH": Entry("elimination.doubling_halving:DoublingHalving"),
    "SubsetSH": Entry("elimination.subset_halving:SubsetHalving", spends_budget=False, own=True),
    "FBKT": Entry("elimination.fbkt:FBKT", spends_budget=False),
    "SHVar": Entry("elimination.shvar:SHVar", spends_budget=False),
    "SHVar-Reuse": Entry("elimination.shvar:SHVarReuse", spends_budget=False),
    "SHAdaVar": Entry("elimination.shadavar:SHAdaVar", spends_budget=False),
    "SHAdaVar-Reuse": Entry("elimination.shadavar:SHAdaVarReuse", spends_budget=False),
    "VBR": Entry("elimination.vbr:VBR"),
    "SR": Entry("elimination.successive_rejects:SuccessiveRejects", spends_budget=False),
    "CR-A": Entry("elimination.continuous_rejects:CRA"),
    "CR-C": Entry("elimination.continuous_rejects:CRC"),
    "SAR": Entry("elimination.sar:SAR", spends_budget=False),
    "GapE": Entry("bounds.gape:GapE"),
    "GapE-V": Entry("bounds.gape:GapEV"),
    "A-GapE": Entry("bounds.gape:AGapE"),
    "A-GapE-V": Entry("bounds.gape:AGapEV"),
    "UCB-E": Entry("bounds.ucb_e:UCBE"),
    "A-UCB-E": Entry("bounds.ucb_e:AdaptiveUCBE"),
    "UCB1": Entry("bounds.ucb1:UCB1"),
    "OCBA": Entry("bounds.ocba:OCBA"),
    "OCBA-PCS": Entry("bounds.ocba:OCBAPCS", own=True),
    "EB-TC-eps": Entry("bounds.eb_tc_eps:EBTCEps"),
    "GNA": Entry("bounds.neyman:GNA"),
    "NA-AIPW": Entry("bounds.neyman:NAAIPW", arms=2),
    "FCVote": Entry("bounds.fc_vote:FCVote", spends_budget=False, own=True),
    "UGapEb": Entry("bounds.ugape:UGapEb"),
    "UGapEb-V": Entry("bounds.ugape:UGapEbV"),
    "A-UGapEb": Entry("bounds.ugape:AUGapEb"),
    "A-UGapEb-V": Entry("bounds.ugape:AUGapEbV"),
    "UGapEc": Entry("bounds.ugape:UGapEc"),
    "UGapEc-V": Entry("bounds.ugape:UGapEcV"),
    "TS": Entry("bayesian.thompson:TS"),
    "TTTS": Entry("bayesian.thompson:TTTS"),
    "BayesGap": Entry("bayesian.bayes_gap:BayesGap"),
    "GP-UCB": Entry("bayesian.acquisition:GPUCB"),
    "BayesUCB": Entry("bayesian.acquisition:BayesUCB"),
    "GP-TS": Entry("bayesian.acquisition:GPTS"),
    "PI": Entry("bayesian.acquisition:PI"),
    "EI": Entry("bayesian.acquisition:EI"),
    "KG": Entry("bayesian.knowledge_gradient:KG"),
    "RHO": Entry("bayesian.rho:RHO"),
    "RUE": Entry("bayesian.rue:RUE"),
    "BayesElim": Entry("bayesian.bayes_elim:BayesElim", spends_budget=False),
    "PI-BAI": Entry("bayesian.pi_bai:PIBAI"),
    "BayesOptimal": Entry("bayesian.bayes_optimal:BayesOptimal", rewards=BINARY, largest_budget=12),
    "LUCB": Entry("fixed_confidence.lucb:LUCB"),
    "TrackAndStop": Entry("fixed_confidence.track_and_stop:TrackAndStop"),
    "T3C": Entry("fixed_confidence.top_two:T3C"),
    "TTTS-GLR": Entry("fixed_confidence.top_two:TTTSGLR"),
    "TTEI": Entry("fixed_confidence.top_two:TTEI"),
    "TTUCB": Entry("fixed_confidence.top_two:TTUCB"),
    "EB-TC": Entry("fixed_confidence.top_two:EBTC"),
    "EB-TCI": Entry("fixed_confidence.top_two:EBTCI"),
    "FWS": Entry("fixed_confidence.fws:FWS"),
    "AdaHedge-BR": Entry("fixed_confidence.ada_hedge:AdaHedgeBR"),
    "KL-LUCB": Entry("fixed_confidence.kl_lucb:KLLUCB"),
    "KL-Racing": Entry("fixed_confidence.racing:KLRacing"),
    "SE": Entry("fixed_confidence.racing:SuccessiveElimination"),
    "lil-UCB": Entry("fixed_confidence.lil_ucb:LilUCB"),
    "Rinott": Entry("fixed_confidence.indifference:Rinott"),
    "KN": Entry("fixed_confidence.indifference:KN"),
    "FC-DSH": Entry("fixed_confidence.fc_dsh:FCDSH"),
    "Tri-BBAI": Entry("fixed_confidence.batched:TriBBAI"),
    "Opt-BBAI": Entry("fixed_confidence.batched:OptBBAI"),
    "PairedOCBA": Entry("paired.ocba:PairedOCBA", own=True),
    "PairedSR": Entry("paired.rejects:PairedSR", spends_budget=False, own=True),
    "NM": Entry("paired.two_stage:NM"),
    "PairedRace": Entry("paired.race:PairedRace", own=True),
    "FRace": Entry("paired.rank_race:FRace"),
    "WilcoxonRace": Entry("paired.wilcoxon_race:WilcoxonRace"),
    "UCB-GLM": Entry("structured.ucb_glm:UCBGLM", rewards=UNIT),
    "GSE-Lin": Entry("structured.gse:GSELin", spends_budget=False),
    "GSE-Lin-FWG": Entry("structured.gse:GSELinFWG", spends_budget=False),
    "GSE-Lin-Greedy": Entry("structured.gse:GSELinGreedy", spends_budget=False),
    "GSE-Lin-Wynn": Entry("structured.gse:GSELinWynn", spends_budget=False),
    "GSE-Log": Entry("structured.gse:GSELog", rewards=UNIT, spends_budget=False),
    "GSE-Log-FWG": Entry("structured.gse:GSELogFWG", rewards=UNIT, spends_budget=False),
    "OD-LinBAI": Entry("structured.od_linbai:ODLinBAI"),
    "Peace-rho": Entry("structured.peace:PeaceRho"),
    "Mixed-Peace": Entry("structured.peace:MixedPeace", draws_arms=True),
    "P1-RAGE": Entry("structured.p1:P1RAGE", draws_arms=True),
    "P1-Peace": Entry("structured.p1:P1Peace", draws_arms=True),
    "G-BAI": Entry("structured.g_bai:GBAI", draws_arms=True),
    "XY-BAI": Entry("structured.g_bai:XYBAI", draws_arms=True),
    "LinUCB": Entry("structured.lin_ucb:LinUCB"),
    "LinGapE": Entry("structured.lin_gape:LinGapE"),
    "LinGapE-Greedy": Entry("structured.lin_gape:LinGapEGreedy"),
    "LinGapE-GLR": Entry("structured.lin_gape_glr:LinGapEGLR"),
    "LinTrackAndStop": Entry("structured.lin_track_and_stop:LinTrackAndStop"),
    "LinFWS": Entry("structured.lin_fws:LinFWS"),
    "LinGame": Entry("structured.lin_game:LinGame"),
    "LinGame-C": Entry("structured.lin_game:LinGameC"),
    "RAGE": Entry("structured.linear_rounds:RAGE"),
    "XY-static": Entry("structured.linear_rounds:XYStatic"),
    "XY-adaptive": Entry("structured.xy_adaptive:XYAdaptive"),
    "XY-oracle": Entry("structured.linear_rounds:XYOracle"),
    "AugUCB": Entry("thresholding.augucb:AugUCB", spends_budget=False),
    "APT": Entry("thresholding.apt:APT"),
    "UCBE-T": Entry("thresholding.apt:ThresholdUCBE"),
    "UCBEV-T": Entry("thresholding.apt:ThresholdUCBEV"),
    "LSA": Entry("thresholding.apt:LSA"),
    "CSAR": Entry("thresholding.csar:CSAR", spends_budget=False),
    "APT-G": Entry("thresholding.good_arm:APTG"),
    "HDoC": Entry("thresholding.good_arm:HDoC"),
    "LUCB-G": Entry("thresholding.good_arm:LUCBG"),
    "APGAI": Entry("thresholding.apgai:APGAI"),
    "Learned": Entry("learned.agent:Learned", own=True),
    "Universal": Entry("learned.universal:Universal", own=True),
    "DPT": Entry("learned.in_context:DPT", rewards=BINARY),
    "ICPE": Entry("learned.in_context:ICPE", rewards=BINARY),
}
"""The entry of each built-in agent. Its class is imported when it is first needed."""

_AGENTS: dict[str, Callable[..., Any] | Entry] = dict(BUILT_IN)


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
    if isinstance(agent, Entry):
        agent = _AGENTS[name] = agent.load()
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
    if isinstance(factory, type) and is_dataclass(factory):
        allowed = [field.name for field in fields(factory) if field.init]
        for parameter in parameters:
            if parameter not in allowed:
                raise ParameterError(f"{name} has no parameter {parameter!r}; it has: {', '.join(allowed)}")
    return factory(**parameters)
