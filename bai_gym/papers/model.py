"""Experiments as data: settings, agents, and claims about the results."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from typing_extensions import override

from bai_gym.analysis.paired import PairedTest
from bai_gym.errors import ParameterError
from bai_gym.papers.verdicts import (
    Verdict,
    above,
    all_of,
    below,
    bonferroni,
    decide,
    lower_error,
    lower_mean,
    lower_share,
)
from bai_gym.results.comparison import Comparison
from bai_gym.results.result import Result
from bai_gym.statistics import FloatArray, IntArray

__all__ = [
    "Above",
    "Below",
    "BestOf",
    "Claim",
    "Close",
    "Experiment",
    "Falls",
    "Fewer",
    "Judged",
    "Lower",
    "LowerRegret",
    "Panel",
    "Setting",
    "Statement",
    "all_lower",
]


@dataclass(frozen=True)
class Setting:
    """One point of a figure's horizontal axis.

    Attributes:
        env: A registered id.
        budget: Pulls per episode.
        x: Value on the axis: the budget, or the number of arms.
        keywords: Keyword arguments for ``gym.make``, read-only.
        without: Agents that are left out here, for example because they would take days, with all that is claimed
            of them.
    """

    env: str
    budget: int
    x: float
    keywords: Mapping[str, Any] = field(default_factory=dict)
    without: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        """Make the keyword arguments read-only."""
        object.__setattr__(self, "keywords", MappingProxyType(dict(self.keywords)))


@dataclass(frozen=True)
class Panel:
    """One picture: all agents over some settings.

    Attributes:
        name: Short name, part of file names; empty for the main panel.
        title: Shown above the picture.
        settings: Points of the axis, ascending.
        x: Quantity of the axis; with checkpoints there is one setting, and the points are the checkpoints.
        checkpoints: Step between the intermediate budgets; 0: only the end of the runs.
        picture: ``"errors"``: errors over the axis. ``"regrets"``: simple regrets as boxes, of one setting.
            ``"arms"``: pulls and recommendations of each arm of a fixed instance, of one setting. ``"stopping"``:
            stopping times of agents with fixed confidence, of one setting, whose budget is the cap.
        variants: Agents that other ones replace here, by name: another reading of a paper. Claims about an agent are
            judged on its variant. Read-only.
    """

    name: str
    title: str
    settings: tuple[Setting, ...]
    x: Literal["budget", "num_arms", "setup", "gap", "checkpoint"] = "budget"
    checkpoints: int = 0
    picture: Literal["errors", "regrets", "arms", "stopping"] = "errors"
    variants: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Make the variants read-only."""
        object.__setattr__(self, "variants", MappingProxyType(dict(self.variants)))


@dataclass(frozen=True)
class BestOf:
    """The best of several variants of an algorithm at each point: tuned in hindsight.

    Selection makes it look better than it is, which the verdicts correct: a statement about the best of m agents counts
    as m statements.

    Attributes:
        name: Its name.
        agents: The candidates.
    """

    name: str
    agents: tuple[str, ...]

    @override
    def __str__(self) -> str:
        """Return the name."""
        return self.name


Contender = str | BestOf


@dataclass(frozen=True)
class Lower:
    """Agent ``better`` has a lower error probability than agent ``worse``, at each point (or those of ``at``)."""

    better: Contender
    worse: Contender
    at: tuple[float, ...] | None = None


def all_lower(
    better: Contender | tuple[Contender, ...],
    worse: Contender | tuple[Contender, ...],
    at: tuple[float, ...] | None = None,
) -> tuple[Lower, ...]:
    """Return the statements that each of some agents has a lower error probability than each other one of ``worse``."""
    betters, worses = (each if isinstance(each, tuple) else (each,) for each in (better, worse))
    return tuple(Lower(one, other, at) for one in betters for other in worses if one != other)


@dataclass(frozen=True)
class LowerRegret:
    """Agent ``better`` has a lower mean simple regret than agent ``worse``, at each point (or those of ``at``)."""

    better: str
    worse: str
    at: tuple[float, ...] | None = None


@dataclass(frozen=True)
class Close:
    """The error probability of ``agent`` exceeds that of ``reference`` by less than ``margin``."""

    agent: Contender
    reference: Contender
    margin: float
    at: tuple[float, ...] | None = None


@dataclass(frozen=True)
class Below:
    """The error probability of ``agent`` is below ``threshold``."""

    agent: str
    threshold: float
    at: tuple[float, ...] | None = None


@dataclass(frozen=True)
class Above:
    """The error probability of ``agent`` is above ``threshold``."""

    agent: str
    threshold: float
    at: tuple[float, ...] | None = None


@dataclass(frozen=True)
class Falls:
    """The error probability of ``agent`` is lower at the point ``at`` than at ``start``."""

    agent: str
    start: float
    at: tuple[float]


@dataclass(frozen=True)
class Fewer:
    """Agent ``better`` takes fewer pulls on average than agent ``worse``; runs that the cap ends count with the cap."""

    better: str
    worse: str
    at: tuple[float, ...] | None = None


Statement = Lower | LowerRegret | Close | Below | Above | Falls | Fewer


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, or a hypothesis, and the statements that it implies.

    Attributes:
        text: The paper's claim, in our words, or the hypothesis.
        statements: Statements to check at each point of the axis.
        points: ``"all"``: the claim holds if its statements hold at all points. ``"most"``: at more than half of them.
        panels: Names of its panels; None: all.
    """

    text: str
    statements: tuple[Statement, ...]
    points: Literal["all", "most"] = "all"
    panels: frozenset[str] | None = None

    def speaks_of(self, panel: Panel) -> bool:
        """Return whether a panel judges it."""
        return self.panels is None or panel.name in self.panels


@dataclass(frozen=True)
class Judged:
    """A claim with its verdict.

    Attributes:
        claim: The claim.
        verdict: Confirmed, refuted or undecided.
        against: The statements (with the point of the axis) that are refuted.
        open: The statements that are undecided.
        settled: The statements that only the results with more runs decide, with their verdicts.
        unsettled: Where the undecided statements are looked at, and the agents that they name.
    """

    claim: Claim
    verdict: Verdict
    against: tuple[str, ...]
    open: tuple[str, ...]
    settled: tuple[str, ...] = ()
    unsettled: tuple[tuple[Setting, frozenset[str]], ...] = ()


@dataclass(frozen=True)
class Experiment:
    """An experiment: a figure of a paper or of this library.

    Attributes:
        id: For example ``"shvar-2"``.
        title: What the figure shows.
        source: Paper and figure.
        panels: The pictures; the claims are judged on each.
        agents: Names of agents, with parameters.
        claims: Claims of the paper's text about the figure.
        runs: Runs of the paper.
        notes: Remarks about the reproduction.
        instances: For figures that only show instances: how many to draw; 0 for all others.
        claims_are: Source of the claims: the heading of the verdicts.
        reference: The agent, one of ``agents``, to compare each other agent with by paired tests; empty: none.
        optimum: Whether tables show the excess error over the best possible agent.
    """

    id: str
    title: str
    source: str
    panels: tuple[Panel, ...]
    agents: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()
    runs: int = 5000
    notes: tuple[str, ...] = ()
    instances: int = 0
    claims_are: str = "Claims of the paper"
    reference: str = ""
    optimum: bool = False

    def agents_at(self, panel: Panel, setting: Setting) -> tuple[str, ...]:
        """Return the agents that play at a point of a panel."""
        return tuple(panel.variants.get(agent, agent) for agent in self.agents if agent not in setting.without)


def judge(
    claim: Claim,
    panel: Panel,
    comparison: Comparison,
    env_label: Callable[[Setting], str],
    more: Comparison | None = None,
) -> Judged:
    """Judge a claim on the results of a panel, at joint level 95 % over its statements.

    Args:
        claim: The claim.
        panel: The panel.
        comparison: Results of all agents at all settings of the panel.
        env_label: The environment's name in the results, for each setting.
        more: Results with more runs, of the agents and settings of the statements that are undecided on `comparison`;
            these statements are judged on them once more, at the same level.

    Raises:
        ParameterError: If the claim refers to points that the panel does not have.
    """
    checks = [
        (statement, setting, point)
        for statement in (_varied(statement, panel.variants) for statement in claim.statements)
        for setting in panel.settings
        for point in (_points(statement, setting, panel) if panel.x == "checkpoint" else (None,))
        if point is not None or statement.at is None or setting.x in statement.at
        if not setting.without & _agents(statement)
    ]
    if not checks:
        raise ParameterError(f"the claim {claim.text!r} refers to no point of {panel.title!r}")
    level = bonferroni(0.95, sum(_weight(statement) for statement, _, _ in checks))

    def verdict_on(results: Comparison, statement: Statement, setting: Setting, point: int | None) -> Verdict:
        end = _Point(results, env_label(setting), setting.budget, point)
        if isinstance(statement, Falls):
            _, start = _places(statement, setting, panel)
            return _falls(statement, _Point(results, env_label(start), start.budget, None), end, level)
        return _check(statement, end, level)

    first = [verdict_on(comparison, *check) for check in checks]
    undecided = [check for check, verdict in zip(checks, first, strict=True) if verdict is Verdict.UNDECIDED]
    verdicts, again = first, []
    if more is not None:
        again = [verdict_on(more, *check) for check in undecided]
        second = iter(again)
        verdicts = [next(second) if verdict is Verdict.UNDECIDED else verdict for verdict in first]
    axis = "pulls" if panel.x == "checkpoint" else "cap" if panel.picture == "stopping" else panel.x
    places = [setting.x if point is None else point for _, setting, point in checks]

    def described(check: tuple[Statement, Setting, int | None]) -> str:
        statement, setting, point = check
        return f"{_words(statement)} at {axis} {setting.x if point is None else point:,}"

    def of(wanted: Verdict) -> tuple[str, ...]:
        return tuple(described(check) for check, verdict in zip(checks, verdicts, strict=True) if verdict is wanted)

    return Judged(
        claim,
        all_of(verdicts) if claim.points == "all" else _most(places, verdicts),
        of(Verdict.REFUTED),
        of(Verdict.UNDECIDED),
        tuple(
            f"{described(check)}: {verdict}"
            for check, verdict in zip(undecided, again, strict=False)
            if verdict is not Verdict.UNDECIDED
        ),
        tuple(
            (place, _agents(statement))
            for statement, setting, _ in undecided
            for place in _places(statement, setting, panel)
        ),
    )


def _places(statement: Statement, setting: Setting, panel: Panel) -> list[Setting]:
    """Return the settings that a statement looks at, the one that it is about first.

    Raises:
        ParameterError: If it starts at a point that the panel does not have.
    """
    if not isinstance(statement, Falls):
        return [setting]
    start = [other for other in panel.settings if other.x == statement.start]
    if not start:
        raise ParameterError(f"{_words(statement)} starts at a point that {panel.title!r} does not have")
    return [setting, start[0]]


def _agents(statement: Statement) -> frozenset[str]:
    """Return the agents that a statement is about."""
    sides = [getattr(statement, part.name) for part in fields(statement)]
    several = [agent for side in sides if isinstance(side, BestOf) for agent in side.agents]
    return frozenset([*several, *(side for side in sides if isinstance(side, str))])


def _varied(statement: Statement, variants: Mapping[str, str]) -> Statement:
    """Return the statement about the variants of its agents."""

    def varied(value: Any) -> Any:
        if isinstance(value, BestOf):
            return replace(value, agents=tuple(variants.get(agent, agent) for agent in value.agents))
        return variants.get(value, value) if isinstance(value, str) else value

    return replace(statement, **{part.name: varied(getattr(statement, part.name)) for part in fields(statement)})


def _points(statement: Statement, setting: Setting, panel: Panel) -> tuple[int, ...]:
    """Return the checkpoints of a statement, by default the end."""
    if statement.at is None:
        return (setting.budget,)
    return tuple(int(at) for at in statement.at if at == setting.budget or at % panel.checkpoints == 0)


def _most(points: Sequence[float], verdicts: list[Verdict]) -> Verdict:
    """Return whether the statements hold at more than half of the points."""
    at = {x: all_of(v for p, v in zip(points, verdicts, strict=True) if p == x) for x in dict.fromkeys(points)}
    held = sum(verdict is Verdict.CONFIRMED for verdict in at.values())
    failed = sum(verdict is Verdict.REFUTED for verdict in at.values())
    return decide(confirmed=2 * held > len(at), refuted=2 * failed >= len(at))


@dataclass(frozen=True)
class _Point:
    """Results of all agents at one setting, at the end or at a checkpoint."""

    comparison: Comparison
    env: str
    budget: int
    checkpoint: int | None

    def find(self, agent: str) -> Result:
        return self.comparison.find(agent, self.budget, self.env, self.checkpoint)

    def paired(self, first: Contender, second: Contender) -> PairedTest:
        one, other = self.chosen(first), self.chosen(second)
        return self.comparison.paired(one, other, self.budget, self.env, checkpoint=self.checkpoint)

    def regrets(self, agent: str) -> FloatArray:
        return self.comparison.regrets(agent, self.budget, self.env, self.checkpoint)

    def pulls(self, agent: str) -> IntArray:
        return self.comparison.pulls(agent, self.budget, self.env)

    def chosen(self, contender: Contender) -> str:
        """Return the agent itself, or the first of several with the fewest errors."""
        if isinstance(contender, str):
            return contender
        return min(contender.agents, key=lambda agent: self.find(agent).errors)


def _weight(statement: Statement) -> int:
    """Return the number of statements about single agents that this one stands for."""
    sides: tuple[Contender, ...] = ()
    if isinstance(statement, Lower):
        sides = statement.better, statement.worse
    elif isinstance(statement, Close):
        sides = statement.agent, statement.reference
    return math.prod(len(side.agents) for side in sides if isinstance(side, BestOf))


def _check(statement: Lower | LowerRegret | Close | Below | Above | Fewer, point: _Point, level: float) -> Verdict:
    if isinstance(statement, Lower):
        return lower_error(point.paired(statement.better, statement.worse).at_level(level))
    if isinstance(statement, LowerRegret):
        differences = point.regrets(statement.better) - point.regrets(statement.worse)
        return lower_mean(differences, level)
    if isinstance(statement, Fewer):
        more = point.pulls(statement.better) - point.pulls(statement.worse)
        return lower_mean(more.astype(np.float64), level)
    if isinstance(statement, Close):
        low, high = point.paired(statement.agent, statement.reference).at_level(level).interval
        return decide(confirmed=high < statement.margin, refuted=low > statement.margin)
    result = point.find(statement.agent)
    claim = below if isinstance(statement, Below) else above
    return claim(result.errors, result.runs, statement.threshold, level)


def _falls(statement: Falls, start: _Point, end: _Point, level: float) -> Verdict:
    # Instances are the same at both points, so the test for independent runs is conservative.
    before, after = start.find(statement.agent), end.find(statement.agent)
    return lower_share((after.errors, after.runs), (before.errors, before.runs), level)


def _words(statement: Statement) -> str:
    if isinstance(statement, Lower):
        return f"{statement.better} better than {statement.worse}"
    if isinstance(statement, LowerRegret):
        return f"{statement.better} of lower simple regret than {statement.worse}"
    if isinstance(statement, Fewer):
        return f"{statement.better} in fewer pulls than {statement.worse}"
    if isinstance(statement, Close):
        return f"{statement.agent} within {statement.margin} of {statement.reference}"
    if isinstance(statement, Falls):
        return f"{statement.agent} lower than at {statement.start:,},"
    side = "below" if isinstance(statement, Below) else "above"
    return f"{statement.agent} {side} {statement.threshold}"
