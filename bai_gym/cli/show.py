"""``bai-gym show``: what an agent does, what it needs, and its parameters; or what an environment is."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from bai_gym.cli.catalogue import needs, plain
from bai_gym.cli.complete import AGENTS, ENVIRONMENTS
from bai_gym.cli.console import OUT
from bai_gym.envs.registration import IDS, unknown_id
from bai_gym.errors import MissingDataError
from bai_gym.wings import Registration

if TYPE_CHECKING:
    from bai_gym.envs.scalar import BestArmEnv

__all__ = ["show"]

ARMS = (2, 8, 64)  # with as many features
DELTA = 0.1  # of lower bounds


def show(
    name: Annotated[
        str,
        typer.Argument(
            help="Agent, for example SHAdaVar, or your own: mine.py:Thirds; or an id, for example BAI-Gaussian64-v0.",
            autocompletion=lambda incomplete: AGENTS(incomplete) + ENVIRONMENTS(incomplete),
        ),
    ],
) -> None:
    """Show an agent: what it does, its parameters, its oracle knowledge, and its tasks; or an environment."""
    if name.startswith("BAI-"):
        _environment(name)
    else:
        _agent(name)


def _agent(agent: str) -> None:
    from bai_gym.agents.registry import BUILT_IN, find, heading, make
    from bai_gym.api import parse_agent
    from bai_gym.benchmark.protocol import knowledge, least_budget

    name, parameters = parse_agent(agent)
    kind, result, entry = find(name), make(name, **parameters), BUILT_IN.get(name)
    stops = " (decides when to stop)" if getattr(result, "stops", False) else ""
    numbers = ARMS if entry is None or entry.arms is None else (entry.arms,)
    least = {arms: least_budget(result, arms, arms) for arms in numbers}
    facts = {
        "group": "" if entry is None else heading(entry),
        "tasks": ", ".join(sorted(getattr(result, "tasks", ()))) + stops,
        "oracle knowledge": ", ".join(sorted(knowledge(result))) or "none",
        "minimum budget": ", ".join(f"{pulls:,} with {arms} arms" for arms, pulls in least.items() if pulls),
        "needs": ", ".join([*needs(result), *(() if entry is None else entry.restrictions)]),
        "parameters": ", ".join(_shown(parameter) for parameter in inspect.signature(kind).parameters.values()),
        "paper": "" if entry is None or entry.own else f"`bai-gym cite {name}`",
    }
    _print(agent, facts, kind)


def _environment(env_id: str) -> None:
    from bai_gym.problems import FAMILIES

    entry = next((entry for entry in IDS if entry.id == env_id), None)
    if entry is None:
        raise unknown_id(env_id)
    facts = {
        "what": entry.summary,
        "rewards": entry.rewards,
        **_made(entry),
        "parameters": ", ".join(f"{name}={value!r}" for name, value in entry.keywords.items()),
    }
    _print(env_id, facts, FAMILIES[entry.family])


def _made(entry: Registration) -> dict[str, str]:
    """Return what only the environment knows; without its data, how to get them."""
    import gymnasium as gym

    from bai_gym.envs.scalar import BestArmEnv
    from bai_gym.problems import FixedProblem

    try:
        env = gym.make(entry.id).unwrapped
    except MissingDataError as error:
        return {"budget": f"{entry.budget:,} pulls", "data": str(error)}
    assert isinstance(env, BestArmEnv)
    spec, problem = env.episode_spec, env.problem
    bound = problem.lower_bound(spec.task, DELTA, spec.costs) if spec.fixed_confidence else None
    return {
        "arms": str(problem.num_arms),
        "features of an arm": "" if problem.num_features is None else str(problem.num_features),
        "tells arms apart before a pull": ", ".join(_marks(env)) or "nothing",
        "instance": "fixed" if isinstance(problem, FixedProblem) else "fresh in every episode",
        "task": spec.task.describe(),
        "budget": f"{spec.budget:,} pulls{', at most: fixed confidence' if spec.fixed_confidence else ''}",
        "lower bound": "" if bound is None else f"{bound:,.0f} pulls on average with error probability {DELTA:g}",
        "data": entry.data or "none needed",
        "every report says": "; ".join(problem.notes),
    }


def _marks(env: BestArmEnv) -> Iterator[str]:
    """Yield by what an agent may know an arm before its first pull, in any order of the arms."""
    problem, spec = env.problem, env.episode_spec
    if not problem.known:
        yield "their numbers (a real experiment is not shuffled)"
    if spec.costs is not None:
        yield "costs"
    if problem.num_features is not None:
        yield "features, up to a rotation" if spec.rotate else "features"
    if problem.earlier is not None:
        yield "earlier results"
    if problem.arm_names:
        yield "names, in text"
    if problem.draw(1, np.random.default_rng(0)).prior is not None:
        yield "the prior, to agents that know it"


def _print(title: str, facts: Mapping[str, str], documented: object) -> None:
    OUT.print(title, style="bold")
    for fact, value in facts.items():
        if value:
            OUT.print(f"  {fact}: {value}", soft_wrap=True)
    OUT.print(f"\n{plain(inspect.getdoc(documented) or '')}", soft_wrap=True)


def _shown(parameter: inspect.Parameter) -> str:
    return parameter.name if parameter.default is parameter.empty else f"{parameter.name}={parameter.default!r}"
