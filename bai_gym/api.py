"""The public door: names of agents and environments in, results out."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from bai_gym.agents.registry import find, make
from bai_gym.benchmark.chunk import AgentSource, Cell, EnvSource
from bai_gym.benchmark.protocol import check_agent
from bai_gym.benchmark.result import Comparison, Result
from bai_gym.benchmark.runner import OnChunk, run_cells
from bai_gym.envs.episodes import check_budget
from bai_gym.envs.scalar import BestArmEnv
from bai_gym.errors import ParameterError
from bai_gym.seeding import check_seed

__all__ = ["agent_source", "compare", "evaluate", "make_cells"]


def agent_source(agent: Any) -> AgentSource:
    """Return where fresh copies of an agent come from.

    Args:
        agent: A registered name (with parameters in brackets, if any: ``"SHAdaVar(delta=0.1)"``), a class, or an instance.

    Raises:
        UnknownNameError: If there is no agent of that name.
        ParameterError: If a parameter does not exist.
        AgentError: If it is no agent at all.
    """
    if isinstance(agent, str):
        name, parameters = parse_agent(agent)
        find(name)
        source = AgentSource(functools.partial(make, name, **parameters))
    elif inspect.isclass(agent):
        source = AgentSource(agent)
    else:
        source = AgentSource.copying(agent)
    check_agent(source.make())
    return source


def parse_agent(text: str) -> tuple[str, dict[str, Any]]:
    """Split ``"SHAdaVar(delta=0.1)"`` into the name and its parameters.

    Raises:
        ParameterError: If the brackets do not hold ``name=value`` pairs, with values as Python writes them.
    """
    import ast

    name, bracket, rest = text.partition("(")
    if not bracket:
        return text, {}
    try:
        call = ast.parse(f"f({rest}", mode="eval").body
        if not isinstance(call, ast.Call) or call.args or any(word.arg is None for word in call.keywords):
            raise ValueError
        return name.strip(), {str(word.arg): _literal(word.value) for word in call.keywords}
    except (SyntaxError, ValueError):
        raise ParameterError(
            f"agent {text!r} cannot be read; write NAME or NAME(parameter=value, ...), for example SHAdaVar(delta=0.1)"
        ) from None


def _literal(node: Any) -> Any:
    import ast

    return node.id if isinstance(node, ast.Name) else ast.literal_eval(node)


def make_cells(
    agents: Iterable[Any],
    env: str | BestArmEnv,
    budgets: Sequence[int] | None,
    seed: int,
    env_kwargs: dict[str, Any] | None = None,
    path: str = "auto",
) -> list[Cell]:
    """Return the cells of a comparison, all agents at the first budget first.

    Raises:
        BaiGymError: Whatever is wrong with the arguments.
    """
    check_seed(seed)
    source = EnvSource(env, dict(env_kwargs or {}))
    budgets = [source.built.budget] if budgets is None else [check_budget(budget) for budget in budgets]
    agents = [agent_source(agent) for agent in agents]
    if not agents or not budgets:
        raise ParameterError("give at least one agent and one budget")
    return [Cell.of(source, agent, budget, seed, path) for budget in budgets for agent in agents]


def evaluate(
    agent: Any,
    env: str | BestArmEnv,
    *,
    budget: int | None = None,
    runs: int = 1000,
    seed: int = 0,
    workers: int | None = 1,
    env_kwargs: dict[str, Any] | None = None,
    out: str | Path | None = None,
    path: str = "auto",
    on_chunk: OnChunk | None = None,
) -> Result:
    """Estimate how often an agent is wrong.

    Args:
        agent: A name (``"SHAdaVar"``, ``"SHAdaVar(delta=0.1)"``), a class, or an instance; anything that has
            ``act(observation)``, or ``allocate(observation)`` and ``recommend(observation)``.
        env: A registered id, or an environment object.
        budget: Pulls per episode, over all arms; None: the environment's.
        runs: Independent episodes, at least 1.
        seed: At least 0. The same seed gives the same result, for any number of workers.
        workers: Processes; -1 for all cores; None for what an enclosing ``joblib.parallel_config`` says.
        env_kwargs: Keyword arguments for ``gym.make``.
        out: Folder for finished chunks: the same call continues where an interrupted one stopped.
        path: ``"auto"`` (default), ``"blocks"`` or ``"steps"``: how episodes are played. The law is the same.
        on_chunk: Called with (finished chunks, all chunks).

    Returns:
        Error probability with interval, simple regret, pulls, and what the agent was told.

    Raises:
        BaiGymError: Whatever is wrong with the arguments, in one line.
    """
    budgets = None if budget is None else [budget]
    return compare(
        [agent],
        env,
        budgets=budgets,
        runs=runs,
        seed=seed,
        workers=workers,
        env_kwargs=env_kwargs,
        out=out,
        path=path,
        on_chunk=on_chunk,
    )[0]


def compare(
    agents: Iterable[Any],
    env: str | BestArmEnv,
    *,
    budgets: Sequence[int] | None = None,
    runs: int = 1000,
    seed: int = 0,
    workers: int | None = 1,
    env_kwargs: dict[str, Any] | None = None,
    out: str | Path | None = None,
    path: str = "auto",
    on_chunk: OnChunk | None = None,
) -> Comparison:
    """Evaluate several agents, at several budgets, on the same drawn instances.

    Args:
        agents: Names, classes or instances, see :func:`evaluate`.
        env: A registered id, or an environment object.
        budgets: Pulls per episode; None: the environment's budget.
        runs: Independent episodes of each agent at each budget.
        seed: At least 0.
        workers: Processes, see :func:`evaluate`.
        env_kwargs: Keyword arguments for ``gym.make``.
        out: Folder for finished chunks.
        path: See :func:`evaluate`.
        on_chunk: Called with (finished chunks, all chunks).

    Returns:
        The results, with paired tests between any two agents.

    Raises:
        BaiGymError: Whatever is wrong with the arguments, in one line.
    """
    cells = make_cells(agents, env, budgets, seed, env_kwargs, path)
    return run_cells(cells, runs, workers=workers, out=Path(out) if out is not None else None, on_chunk=on_chunk)
