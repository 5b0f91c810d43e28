"""Agents by name, and what is known of each built-in one without its class."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from importlib.resources import files
from typing import Any

from bai_gym.agents.loading import MODEL, SUFFIX, load
from bai_gym.errors import AgentError, ParameterError, UnknownNameError, unknown_name
from bai_gym.rewards import BINARY, Rewards
from bai_gym.wings import ANY, UNIT, Entry, gathered

__all__ = [
    "BUILT_IN",
    "GROUPS",
    "build",
    "check_arms",
    "check_rewards",
    "find",
    "heading",
    "is_reference",
    "make",
    "names",
    "register",
    "treats_arms_alike",
]

TITLES = files("bai_gym") / "cli" / "catalogue.json"  # with the names of agents in words
GROUPS: dict[str, str] = gathered("groups")
"""The groups of agents: folders, with their headings in the documentation."""


BUILT_IN: dict[str, Entry] = gathered("agents")
"""The entry of each built-in agent. Its class is imported when it is first needed."""


def heading(entry: Entry) -> str:
    """Return the heading of the group that an agent is in, one of the values of :data:`GROUPS`."""
    return GROUPS.get(entry.folder, entry.folder)


_AGENTS: dict[str, Callable[..., Any] | Entry] = dict(BUILT_IN)


def is_reference(name: str) -> bool:
    """Return whether a name refers to a file or a module."""
    return ":" in name or name.endswith((SUFFIX, MODEL))


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
        parts = [part.strip() for part in name.split(",")]
        if len(parts) > 1 and all(part in _AGENTS for part in parts):
            each = " ".join(f"--agent {part}" for part in parts)
            raise UnknownNameError(f"unknown agent {name!r}: these are several, so write {each}, in Python {parts}")
        by_title = titled(name)
        if by_title is not None:
            raise UnknownNameError(f"unknown agent {name!r}: its name is {by_title!r}")
        raise unknown_name("agent", name, _AGENTS, "`bai-gym list agents` shows all")
    agent = _AGENTS[name]
    if isinstance(agent, Entry):
        agent = _AGENTS[name] = agent.load()
    return agent


def titled(words: str) -> str | None:
    """Return the name of the agent with this name in words, such as ``"sequential halving"``; None without one."""
    stored = json.loads(TITLES.read_text(encoding="utf-8"))["agents"]
    wanted = words.replace("-", " ").casefold().split()
    return next((row["name"] for row in stored if row["title"].replace("-", " ").casefold().split() == wanted), None)


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
    if parameters and isinstance(factory, type) and is_dataclass(factory):
        allowed = [field.name for field in fields(factory) if field.init]
        for parameter in parameters:
            if parameter not in allowed:
                raise ParameterError(f"{name} has no parameter {parameter!r}; it has: {', '.join(allowed)}")
    return factory(**parameters)


def treats_arms_alike(agent: Any) -> bool:
    """Return whether an agent is known to treat all arms alike, and features by their inner products alone.

    Then the order of the arms and a rotation of their features change nothing about the distribution of its pulls and
    recommendations, and the runner plays it without either. It is known of the agents of this library, whose arms
    ``tests/agents/test_arms_alike.py`` permutes: with ties broken at random, and parameters that are no functions, no
    arrays with a value for each arm, and no other agents than these. (The pulls of PI-BAI for means that depend on each
    other differ by one.) A class that is derived from one of them is another agent.
    """
    entry = BUILT_IN.get(getattr(agent, "name", ""))
    if entry is None or not entry.path.startswith(".") or type(agent) is not entry.load():
        return False
    own = vars(agent).values()
    values = [getattr(agent, field.name) for field in fields(agent)]
    return agent.tie == "random" and not any(map(callable, own)) and all(map(_names_no_arm, values))


def _names_no_arm(value: object) -> bool:
    """Return whether a value of a parameter is a number or text, and not the name of somebody's agent."""
    if isinstance(value, str):
        return not is_reference(value) and (value in BUILT_IN or value not in _AGENTS)
    return value is None or isinstance(value, int | float)


def check_arms(name: str, num_arms: int) -> None:
    """Raise :class:`AgentError` if the agent of that name is for another number of arms."""
    entry = BUILT_IN.get(name)
    if entry is not None and entry.arms not in (None, num_arms):
        raise AgentError(
            f"{name} is for {entry.arms} arms, and there are {num_arms}: use an agent for any number of arms "
            "(`bai-gym list agents`)"
        )


def check_rewards(name: str, rewards: Rewards) -> None:
    """Raise :class:`AgentError` if the agent of that name, with its default parameters, does not accept the rewards.

    An agent notices unfit rewards only when it meets them; their kind tells before it plays.
    """
    entry = BUILT_IN.get(name)
    if entry is None or entry.rewards == ANY:
        return
    if not (rewards.in_unit_interval if entry.rewards == UNIT else rewards == BINARY):
        raise AgentError(f"{name} with its default parameters needs {entry.rewards}, and these are {rewards.words}")
