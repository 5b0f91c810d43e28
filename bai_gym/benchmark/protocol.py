"""The agent protocol: the runner can evaluate any object that follows it, registered or not."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

import numpy as np

from bai_gym.bandits import Bandit
from bai_gym.errors import AgentError
from bai_gym.problems import ProblemInfo
from bai_gym.problems.info import check_knowledge
from bai_gym.rewards import Rewards

__all__ = [
    "Traits",
    "confidence",
    "describe",
    "knowledge",
    "least_budget",
    "notes",
    "reset",
    "suited",
    "tally",
    "unmet_assumptions",
]


@dataclass(frozen=True)
class Traits:
    """What an agent can do, by its methods and by what it declares.

    Attributes:
        allocates: It requests pulls, by ``allocate`` or as a plan, so that it can play a batch of episodes.
        acts_on_batches: Its ``act`` takes a batch of episodes: ``batched = True``.
        any_time: It can recommend after any pull: ``anytime = True``.
        starts_from_earlier: It decides by all statistics, and so can start from those of earlier rewards: it can stop,
            or recommend, at any time. Agents with phases decide by the pulls of the phase.
        quick: It takes little time for each arm and pull of its budget: ``quick = True``.
        uses_costs: It takes account of arms of different costs: ``uses_costs = True``.
        uses_pairs: It reads the differences of arms on common items: ``uses_pairs = True``.
    """

    allocates: bool
    acts_on_batches: bool
    any_time: bool
    starts_from_earlier: bool
    quick: bool
    uses_costs: bool
    uses_pairs: bool

    @classmethod
    def of(cls, agent: Any) -> Traits:
        """Return those of an agent.

        Raises:
            AgentError: If it is none: it has neither ``act`` nor both ``allocate`` and ``recommend``.
        """
        acts = callable(getattr(agent, "act", None))
        recommends = callable(getattr(agent, "recommend", None))
        allocates = recommends and callable(getattr(agent, "allocate", None))
        allocates = allocates or callable(getattr(agent, "start", None))
        if not (acts or allocates):
            raise AgentError(
                f"{type(agent).__name__} is not an agent: it needs act(observation), or allocate(observation) and "
                "recommend(observation)"
            )
        batches = acts and bool(getattr(agent, "batched", False))
        any_time = bool(getattr(agent, "anytime", False)) and (allocates or (batches and recommends))
        return cls(
            allocates=allocates,
            acts_on_batches=batches,
            any_time=any_time,
            starts_from_earlier=any_time or bool(getattr(agent, "stops", False)),
            **{name: bool(getattr(agent, name, False)) for name in ("quick", "uses_costs", "uses_pairs")},
        )


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
    others = (said,) if isinstance(said, str) else tuple(said)
    rewards = getattr(agent, "rewards", None)
    chosen = agent.chosen(rewards) if callable(getattr(agent, "chosen", None)) and isinstance(rewards, Rewards) else {}
    if not chosen:
        return others
    shown = ", ".join(f"{name}={_value(value)}" for name, value in chosen.items())
    return (f"{describe(agent)}: {shown}, chosen for {rewards} rewards", *others)


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
        AgentError: If it needs anything else, or cannot play there, see :meth:`ProblemInfo.check_agent`.
    """
    problem_info.check_agent(agent, describe(agent))
    method = getattr(agent, "reset", None)
    if not callable(method):
        return
    taken = 0
    for parameter in inspect.signature(method).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            taken = 2
        elif taken < 2 and parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            taken += 1
        elif parameter.kind is not parameter.VAR_KEYWORD and parameter.default is parameter.empty:
            raise AgentError(
                f"reset of {describe(agent)} needs {parameter.name!r}: it is called as reset(problem_info, rng), or "
                "with fewer"
            )
    method(*(problem_info, rng)[:taken])
