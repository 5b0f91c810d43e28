"""The agent protocol: the runner can evaluate any object that follows it, registered or not."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from bai_gym.bandits import Bandit
from bai_gym.errors import AgentError
from bai_gym.problems import ProblemInfo
from bai_gym.problems.info import check_knowledge
from bai_gym.rewards import Rewards

__all__ = [
    "acts_on_batches",
    "allocates",
    "recommends_any_time",
    "check_agent",
    "confidence",
    "describe",
    "is_quick",
    "knowledge",
    "least_budget",
    "notes",
    "reset",
    "starts_from_earlier",
    "suited",
    "tally",
    "uses_costs",
    "uses_pairs",
]


def check_agent(agent: Any) -> None:
    """Raise :class:`AgentError` if ``agent`` has neither ``act`` nor both ``allocate`` and ``recommend``."""
    if not (callable(getattr(agent, "act", None)) or allocates(agent)):
        raise AgentError(
            f"{type(agent).__name__} is not an agent: it needs act(observation), or allocate(observation) and "
            "recommend(observation)"
        )


def allocates(agent: Any) -> bool:
    """Return whether the agent requests pulls by ``allocate``, so that it can play a batch of episodes."""
    if callable(getattr(agent, "start", None)):
        return True
    return callable(getattr(agent, "allocate", None)) and callable(getattr(agent, "recommend", None))


def acts_on_batches(agent: Any) -> bool:
    """Return whether the agent's ``act`` takes a batch of episodes, declared by ``batched = True``."""
    return bool(getattr(agent, "batched", False)) and callable(getattr(agent, "act", None))


def recommends_any_time(agent: Any) -> bool:
    """Return whether the agent can recommend after any pull, declared by ``anytime = True``."""
    recommends = allocates(agent) or (acts_on_batches(agent) and callable(getattr(agent, "recommend", None)))
    return bool(getattr(agent, "anytime", False)) and recommends


def starts_from_earlier(agent: Any) -> bool:
    """Return whether the agent decides by all statistics, and so can start from those of earlier rewards.

    It can stop at any time, or recommend at any time. Agents with phases decide by the pulls of the phase.
    """
    return bool(getattr(agent, "stops", False)) or recommends_any_time(agent)


def is_quick(agent: Any) -> bool:
    """Return whether the agent takes little time for each arm and pull of its budget, declared by ``quick = True``."""
    return bool(getattr(agent, "quick", False))


def uses_costs(agent: Any) -> bool:
    """Return whether the agent takes account of different costs of the arms, declared by ``uses_costs = True``."""
    return bool(getattr(agent, "uses_costs", False))


def uses_pairs(agent: Any) -> bool:
    """Return whether the agent reads the differences of arms on common items, declared by ``uses_pairs = True``."""
    return bool(getattr(agent, "uses_pairs", False))


def confidence(agent: Any) -> float | None:
    """Return ``delta`` of an agent with ``stops = True``, the error probability that it allows; None if unknown."""
    delta = getattr(agent, "delta", None) if getattr(agent, "stops", False) else None
    return float(delta) if isinstance(delta, int | float) and 0 < delta < 1 else None


def describe(agent: Any) -> str:
    """Return the agent's label: ``label``, else ``name``, else the name of its class."""
    return str(getattr(agent, "label", None) or getattr(agent, "name", None) or type(agent).__name__)


def knowledge(agent: Any) -> frozenset[str]:
    """Return the oracle knowledge that the agent declares.

    Raises:
        ParameterError: If it declares something that cannot be granted.
    """
    return check_knowledge(getattr(agent, "knows", ()))


def least_budget(agent: Any, num_arms: int, num_features: int | None) -> int:
    """Return the agent's minimum budget for a number of arms and features; 0 if undeclared."""
    if callable(getattr(agent, "least_budget", None)):
        return int(agent.least_budget(num_arms, num_features))
    return int(agent.minimum_budget(num_arms)) if callable(getattr(agent, "minimum_budget", None)) else 0


def suited(agent: Any, rewards: Rewards) -> Any:
    """Return the agent as it is where rewards are of a kind: one with parameters to choose by it has chosen them."""
    method = getattr(agent, "suited_to", None)
    return method(rewards) if callable(method) else agent


def notes(agent: Any) -> tuple[str, ...]:
    """Return sentences that every report showing the agent must carry, with what it has chosen by the kind of rewards.

    Args:
        agent: An agent that knows the kind: one that has been reset, or is :func:`suited` to it.
    """
    said = getattr(agent, "notes", ())
    return (*_chosen(agent), *((said,) if isinstance(said, str) else tuple(said)))


def _chosen(agent: Any) -> tuple[str, ...]:
    if not callable(getattr(agent, "chosen", None)) or not isinstance(getattr(agent, "rewards", None), Rewards):
        return ()
    shown = ", ".join(f"{name}={_value(value)}" for name, value in agent.chosen(agent.rewards).items())
    return (f"{describe(agent)}: {shown}, chosen for {agent.rewards} rewards",) if shown else ()


def _value(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else repr(value)


def tally(agent: Any) -> dict[str, int]:
    """Return what the agent has counted in the episodes that it has played, to be summed over runs; usually nothing.

    An agent that acts on one episode at a time may have a dict ``tally`` of descriptions to integers.
    """
    return {str(what): int(count) for what, count in dict(getattr(agent, "tally", None) or {}).items()}


def unmet_assumptions(agent: Any, bandit: Bandit) -> tuple[str, ...]:
    """Return notes on guarantees or assumptions of the agent that do not cover these instances.

    Agents with a confidence guarantee, or with weights for some rewards only, define ``unmet_assumptions(bandit)``.
    """
    said = getattr(agent, "unmet_assumptions", None)
    return tuple(said(bandit)) if callable(said) else ()


def reset(agent: Any, problem_info: ProblemInfo, rng: np.random.Generator) -> None:
    """Call the agent's ``reset(problem_info, rng)``, if it has one, with as many of the arguments as it takes.

    Raises:
        AgentError: If it needs anything else, or common items where arms are not paired.
    """
    if uses_pairs(agent):
        problem_info.check_pairs(describe(agent))
    method = getattr(agent, "reset", None)
    if not callable(method):
        return
    parameters = inspect.signature(method).parameters.values()
    by_position = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    taken = 2 if any(p.kind is p.VAR_POSITIONAL for p in parameters) else min(len(by_position), 2)
    others = [*by_position[2:], *(p for p in parameters if p.kind is p.KEYWORD_ONLY)]
    missing = [p.name for p in others if p.default is p.empty]
    if missing:
        raise AgentError(
            f"reset of {describe(agent)} needs {missing[0]!r}: it is called as reset(problem_info, rng), or with fewer"
        )
    method(*(problem_info, rng)[:taken])
