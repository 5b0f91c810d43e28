"""What is audited: a rule of the gallery, a plain function or an agent, as something that plays episodes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bai_gym.agents.loading import file_of, load
from bai_gym.agents.registry import find, is_reference
from bai_gym.api import agent_source, parse_agent
from bai_gym.auditing.certificate import Player
from bai_gym.auditing.claims import BoundPlayer, Claim, play_agent
from bai_gym.auditing.gallery import GALLERY, GalleryRule
from bai_gym.auditing.instances import Instance
from bai_gym.auditing.streams import Coverage, Episodes, Looks, RoundRobin
from bai_gym.benchmark.bounds import bound_of
from bai_gym.benchmark.protocol import Traits
from bai_gym.benchmark.sources import AgentSource
from bai_gym.content.sources import content_digest
from bai_gym.errors import AgentError, ParameterError
from bai_gym.statistics import IntArray

__all__ = ["AgentPlayer", "Audited", "audited", "for_one_episode"]

DELTA = 0.05
PAIRED = ("gaussian", "bounded", "subgaussian")
"""Classes of rewards with paired arms."""
PlainRule = Callable[[Looks, float], int | None]


@dataclass(frozen=True)
class AgentPlayer:
    """Plays an agent of the library, by its own sampling rule.

    Attributes:
        source: Source of the agent.
        cap: Largest number of pulls of an episode.
    """

    source: AgentSource
    cap: int

    def play(self, instance: Instance, runs: int, rng: np.random.Generator) -> Episodes:
        """Return episodes of an instance."""
        return play_agent(self.source, instance, self.cap, runs, rng, stops=True)


@dataclass(frozen=True)
class Audited:
    """What is audited, by name.

    Attributes:
        name: Its name in the results.
        delta: The error probability that it allows.
        entry: Its entry in the gallery, if it has one.
        make: Returns what plays it, from the cap and the looks.
        looks: Looks where the user gives none.
        digest: Of its code, where that can be known, so that an audit resumes with the same code only.
        script: How a script names it.
        arrays: Whether it is a function that takes the statistics of many episodes at once.
        intervals: Whether it returns confidence intervals.
        epsilon: Largest gap of a recommendation that breaks no promise: the indifference zone of an agent, or its
            accuracy.
        classes: Classes of rewards that the promise is for, its own first; empty: those that the user asks for.
        claim: What promises delta, where that is a bound for a fixed budget; else empty.
        given: How a script names a bound that the user gives.
        paired: Whether it is an agent that compares arms on common items.
    """

    name: str
    delta: float
    entry: GalleryRule | None
    make: Callable[[int, Any], Player]
    looks: int | str
    digest: str
    script: str
    arrays: bool = False
    intervals: bool = False
    epsilon: float = 0.0
    classes: tuple[str, ...] = ()
    claim: str = ""
    given: str = ""
    paired: bool = False


def audited(
    rule: object, delta: float | None, *, arrays: bool = False, intervals: bool = False, bound: Any = None
) -> Audited:
    """Return what is audited.

    Args:
        rule: A name of the gallery or of an agent, a reference ``"FILE.py:NAME"``, a function of statistics and delta,
            or an agent.
        delta: Allowed error probability; None: the agent's own, or 0.05.
        arrays: Whether a function takes the statistics of many episodes at once.
        intervals: Whether it returns confidence intervals of all arms; it takes arrays then.
        bound: A bound of the error probability of an agent with a fixed budget, or ``"FILE.py:NAME"``; None: that of
            :mod:`bai_gym.theory`.

    Raises:
        BaiGymError: If there is no such rule, or the agent neither stops nor has a bound.
    """
    if isinstance(rule, str) and rule in GALLERY and not intervals:
        entry, level = GALLERY[rule], DELTA if delta is None else delta
        make_rule, digest = _round_robin(entry.rule, level), _digest(entry.rule)
        return Audited(rule, level, entry, make_rule, 1, digest, repr(rule))
    found: Any = load(rule) if isinstance(rule, str) and is_reference(rule) and "(" not in rule else rule
    if _is_function(found):
        level = DELTA if delta is None else delta
        played: Any = found if arrays else for_one_episode(found)
        name = rule if isinstance(rule, str) else getattr(found, "__name__", "function")
        script = repr(rule) if isinstance(rule, str) else name
        file = file_of(rule) if isinstance(rule, str) else None
        looks: int | str = 1 if arrays or intervals else "geometric"
        make: Callable[[int, Any], Player] = _round_robin(played, level)
        if intervals:
            make = lambda cap, looks: Coverage(found, level, cap, looks)  # noqa: E731
        return Audited(name, level, None, make, looks, _digest(found, file), script, arrays, intervals)
    if intervals:
        raise ParameterError("intervals=True needs a function of statistics and delta that returns two arrays")
    return _agent(rule, delta, bound)


def for_one_episode(function: PlainRule) -> Callable[[Looks, float], IntArray]:
    """Return a rule of many episodes from a function of one, which is called for one look after the other."""
    return _OneByOne(function)


@dataclass(frozen=True)
class _OneByOne:
    function: PlainRule

    def __call__(self, looks: Looks, delta: float) -> IntArray:
        """Call the function for each episode, until it stops."""
        episodes, times, num_arms = looks.means.shape
        pulls = np.broadcast_to(looks.pulls, looks.means.shape).astype(np.int64)
        found = np.full((episodes, times), -1)
        for row in range(episodes):
            for time in range(times):
                at = row, time
                look = Looks(
                    pulls[at],
                    looks.means[at],
                    looks.variances[at],
                    looks.sigma,
                    int(looks.number[0, time]),
                    looks.planned,
                )
                arm = self.function(look, delta)
                if arm is not None and arm >= 0:
                    if arm >= num_arms:
                        raise ParameterError(f"the rule recommends arm {arm}, and there are {num_arms} arms")
                    found[at] = arm
                    break
        return found


def _round_robin(rule: Any, delta: float) -> Callable[[int, Any], Player]:
    return lambda cap, looks: RoundRobin(rule, delta, cap, looks)


def _is_function(value: Any) -> bool:
    """Return whether a value is a function of statistics and delta, and not the factory of an agent."""
    if inspect.isclass(value) or not callable(value) or any(hasattr(value, name) for name in ("act", "plan")):
        return False
    needed = [
        parameter
        for parameter in inspect.signature(value).parameters.values()
        if parameter.default is parameter.empty and parameter.kind in (0, 1)
    ]
    return len(needed) == 2


def _agent(agent: Any, delta: float | None, bound: Any) -> Audited:
    script = repr(agent) if isinstance(agent, str) else getattr(agent, "__name__", type(agent).__name__)
    if isinstance(agent, str) and delta is not None:
        name, parameters = parse_agent(agent)
        if "delta" not in parameters and "delta" in inspect.signature(find(name)).parameters:
            agent = agent.strip().removesuffix(")")
            agent += f"{', ' if parameters else '(' if '(' not in agent else ''}delta={delta!r})"
            script = repr(agent)
    source = agent_source(agent)
    prototype = source.prototype
    if bound is not None or not getattr(prototype, "stops", False):
        return _fixed_budget(source, script, DELTA if delta is None else delta, bound)
    own = getattr(prototype, "delta", None)
    if delta is not None and own is not None and own != delta:
        raise ParameterError(f"agent {script} has delta {own!r}, and the audit {delta!r}: give the same, or none")
    level = delta if delta is not None else own if own is not None else DELTA
    label = source.label or str(getattr(prototype, "label", script))
    files = [source.file] if source.file is not None else []
    paired = Traits.of(prototype).uses_pairs
    own_gap = getattr(prototype, "indifference", None) or getattr(prototype, "epsilon", None) or 0.0
    return Audited(
        label,
        level,
        None,
        lambda cap, looks: AgentPlayer(source, cap),
        1,
        _digest(prototype, *files),
        script,
        epsilon=float(own_gap) if isinstance(own_gap, int | float) else 0.0,
        classes=PAIRED if paired else (),
        paired=paired,
    )


def _fixed_budget(source: AgentSource, script: str, delta: float, bound: Any) -> Audited:
    """Return an agent with a fixed budget, and what bounds its error probability."""
    prototype = source.prototype
    files = [source.file] if source.file is not None else []
    claim: Claim
    classes: tuple[str, ...] = ()
    if bound is None:
        proved = bound_of(prototype)
        if proved is None:
            raise AgentError(
                f"agent {script} never stops by itself, and no bound of its error probability is known for these "
                "parameters: give it as bound=, a function of means, variances and the budget"
            )
        claim, words, given = proved, proved.citation, ""
        classes = ("gaussian",) if proved.rewards == "Gaussian" else ("bounded", "bernoulli")
    else:
        claim = load(bound) if isinstance(bound, str) else bound
        if not callable(claim):
            raise ParameterError(f"bound must be a function of means, variances and the budget, not {bound!r}")
        words = bound if isinstance(bound, str) else getattr(bound, "__name__", "bound")
        given = repr(bound) if isinstance(bound, str) else words
        if isinstance(bound, str) and (file := file_of(bound)) is not None:
            files.append(file)
    return Audited(
        source.label or str(getattr(prototype, "label", script)),
        delta,
        None,
        lambda cap, looks: BoundPlayer(source, claim, delta, cap),
        1,
        _digest((prototype, None if bound is None else claim), *files),
        script,
        classes=classes,
        claim=words,
        given=given,
    )


def _digest(value: object, *files: Path | None) -> str:
    """Return a digest of code; empty where it cannot be known."""
    digest, doubt = content_digest(value, files=files)
    return "" if doubt else digest
