"""The Python interface: evaluate and compare agents on environments."""

from __future__ import annotations

import ast
import copy
import dataclasses
import functools
import inspect
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any, Never, TypedDict, Unpack, overload

import gymnasium as gym

from bai_gym.adapters import Checkpoints
from bai_gym.agents.loading import SUFFIX, as_agent, file_of
from bai_gym.agents.registry import BUILT_IN, build, find, is_reference, names, treats_arms_alike
from bai_gym.benchmark.cells import Cell
from bai_gym.benchmark.protocol import Traits, describe
from bai_gym.benchmark.recordings import check_record, record_cells
from bai_gym.benchmark.runner import OnChunk, check_runs, run_cells
from bai_gym.benchmark.sources import AgentSource, EnvSource
from bai_gym.common.budget import check_budget
from bai_gym.common.progress import progress_bars
from bai_gym.common.seeding import check_seed
from bai_gym.envs.scalar import BestArmEnv
from bai_gym.errors import AgentError, ParameterError, UnknownNameError, unknown_name
from bai_gym.parallel import Workers, check_executor
from bai_gym.report.rerun import rerun_command
from bai_gym.results.comparison import Comparison
from bai_gym.results.reader import gather
from bai_gym.results.result import Result
from bai_gym.results.writer import RESULTS, ResultsWriter, check_replaceable
from bai_gym.validation import flag

__all__ = ["agent_source", "compare", "evaluate", "make_cells"]


MEANT = {
    "episodes": "a run is an episode, so give runs=",
    "optimum": "`bai-gym run ENV --optimum` shows the excess error over the optimum, where that is known",
}
"""What to do in place of keywords that there are not, but are expected."""


def _refuse(function: Callable[..., Any], unknown: Iterable[str]) -> None:
    """Raise :class:`UnknownNameError` for keywords that a function does not have, with the one that was meant."""
    *known, _ = inspect.signature(function).parameters
    for word in unknown:
        if word in MEANT:
            raise UnknownNameError(f"{function.__name__}() has no keyword {word!r}: {MEANT[word]}")
        raise unknown_name("keyword", word, known, f"{function.__name__}() takes {', '.join(known)}")


def agent_source(agent: Any) -> AgentSource:
    """Return a source of fresh copies of an agent.

    Args:
        agent: A registered name (with parameters in brackets, if any: ``"SHAdaVar(delta=0.1)"``), a reference to a
            file or a module (``"mine.py:Thirds"``, ``"package.module:Thirds"``), the file of a model of
            stable-baselines3 (``"model.zip"``), a class, an instance, or a trained model, which has ``predict``.

    Raises:
        UnknownNameError: If there is no agent of that name.
        ParameterError: If a parameter does not exist.
        AgentError: If it is no agent, or cannot be made or copied.
    """
    source: AgentSource
    if isinstance(agent, str):
        name, parameters = parse_agent(agent)
        factory, own = find(name), name not in names() and is_reference(name)
        # The factory, not its name: agents that the user has registered are unknown in worker processes.
        source = AgentSource(
            functools.partial(factory, **parameters),
            spec=agent.strip() if own or name in BUILT_IN else "",
            file=file_of(name) if own else None,
        )
        first: Callable[[], Any] = functools.partial(build, name, factory, parameters)
        remedy = "write its parameters in brackets" if own else "see `bai-gym list agents` for its parameters"
    elif inspect.isclass(agent):
        source = AgentSource(agent)
        first, remedy = agent, "give an instance, if it needs arguments"
    else:
        agent = as_agent(agent)
        source = AgentSource(functools.partial(copy.deepcopy, agent))
        first, remedy = source.make, "every chunk of runs plays with a copy of its own: give the class instead"
    try:
        prototype = first()
    except TypeError as error:
        raise AgentError(f"agent {_shown(agent)} cannot be made: {error}; {remedy}") from None
    Traits.of(prototype)
    source = dataclasses.replace(source, alike=treats_arms_alike(prototype))
    if isinstance(agent, str) and parameters and not hasattr(prototype, "label"):
        text = ", ".join(f"{word}={value}" for word, value in parameters.items())
        return dataclasses.replace(source, label=f"{describe(prototype)}({text})")
    return source


def _shown(agent: Any) -> str:
    return repr(agent) if isinstance(agent, str) else getattr(agent, "__name__", type(agent).__name__)


def _env_source(env: Any, keywords: Mapping[str, Any] | None) -> EnvSource:
    """Return a source of the environment: its id, or the object without Gymnasium's wrappers."""
    if keywords is not None and not (isinstance(keywords, Mapping) and all(isinstance(word, str) for word in keywords)):
        raise ParameterError(
            f"env_kwargs must be a dict of keyword arguments, such as {{'budget': 500}}, not {keywords!r}"
        )
    if isinstance(env, str):
        if env in names():
            raise UnknownNameError(
                f"unknown environment {env!r}, which is an agent: in Python agents come first, then the environment; "
                "in `bai-gym run ENV` each agent has an --agent of its own"
            )
        return EnvSource(env, dict(keywords or {}))
    bare = env.unwrapped if isinstance(env, gym.Env) else env
    if not isinstance(bare, BestArmEnv):
        raise ParameterError(
            f"env must be a registered id or a best-arm identification environment, not a {type(bare).__name__}; "
            "of a batch give the id"
        )
    if keywords:
        raise ParameterError(
            f"env_kwargs cannot be given with an environment object ({', '.join(keywords)}): make it with them"
        )
    return EnvSource(bare)


def _listed(values: Any, what: str) -> list[Any]:
    if values is None:
        raise ParameterError(f"{what} must be a list, not None")
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ParameterError(f"{what} must be a list, even of one: write {what}=[{values!r}]")
    return list(values)


def _folder(out: Any) -> Path:
    """Return the output folder; empty text is none, although ``Path("")`` is the current one."""
    if not (isinstance(out, str | os.PathLike) and os.fspath(out)):
        raise ParameterError(f"out must be the path of a folder, or None, not {out!r}")
    folder = Path(out)
    check_replaceable(folder / RESULTS)
    return folder


def parse_agent(text: str) -> tuple[str, dict[str, Any]]:
    """Split ``"SHAdaVar(delta=0.1)"`` or ``"mine.py:Thirds(share=3)"`` into the name and its parameters.

    Raises:
        ParameterError: If the brackets do not hold ``name=value`` pairs, with values as Python writes them.
    """
    name, bracket, rest = text.partition("(")
    path, mark, of_file = text.partition(f"{SUFFIX}:")
    if mark and name.strip() not in names():  # a file, whose path may contain brackets; not a parameter of that value
        name, bracket, rest = of_file.partition("(")
        name = f"{path}{mark}{name}"
    if not bracket:
        return name.strip(), {}
    try:
        call = ast.parse(f"f({rest}", mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            raise ValueError
        if call.args or any(word.arg is None for word in call.keywords):
            raise ValueError
        return name.strip(), {str(word.arg): _literal(word.value) for word in call.keywords}
    except (SyntaxError, TypeError, ValueError):
        raise ParameterError(
            f"agent {text!r} cannot be read; write NAME or NAME(parameter=value, ...), paths in quotes, for example "
            "SHAdaVar(delta=0.1)"
        ) from None


def _literal(node: ast.expr) -> Any:
    text = "-".join(_words(node))
    return {"true": True, "false": False}.get(text, text) if text else ast.literal_eval(node)


def _words(node: ast.expr) -> list[str]:
    """Return the words of ``normal`` or ``BAI-Bernoulli3-v0``, which Python reads as names and differences of names."""
    if isinstance(node, ast.Name):
        return [node.id]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
        left, right = _words(node.left), _words(node.right)
        return [*left, *right] if left and right else []
    return []


def make_cells(
    agents: Iterable[Any],
    env: str | BestArmEnv,
    budgets: Sequence[float] | None,
    seed: int,
    env_kwargs: Mapping[str, Any] | None = None,
    path: str = "auto",
    checkpoints: Checkpoints = None,
) -> list[Cell]:
    """Return the cells of a comparison, all agents at the first budget first.

    Raises:
        BaiGymError: If an argument is invalid.
    """
    check_seed(seed)
    source = _env_source(env, env_kwargs)
    if budgets is not None and "budget" in source.keywords:
        raise ParameterError(
            f"the budget is given twice, as {budgets!r} and as {source.keywords['budget']!r} in the keywords of the "
            "environment: leave one of them out"
        )
    spec = source.episode_spec
    if budgets is None and spec.least_budget is not None:
        raise ParameterError(
            f"the budget is drawn, from {spec.least_budget} to {spec.budget}: name those to compare, budgets=[...]"
        )
    pulls: list[Any] = [spec.budget]
    if budgets is not None:
        amounts = _listed(budgets, "budgets")
        pulls = [check_budget(budget, spec.costs) for budget in amounts]
    for pull in pulls:
        if pulls.count(pull) > 1:
            raise ParameterError(f"budget {pull} is given twice; give each budget once")
    players = [agent_source(agent) for agent in _listed(agents, "agents")]
    if not players or not pulls:
        raise ParameterError("give at least one agent and one budget")
    return [Cell.of(source, player, budget, seed, path, checkpoints) for budget in pulls for player in players]


class Settings(TypedDict, total=False):
    """The keywords of :func:`evaluate` on which the kind of its result does not depend."""

    budget: float | None
    runs: int
    seed: int
    workers: int
    executor: Executor | None
    env_kwargs: Mapping[str, Any] | None
    out: str | Path | None
    path: str
    reuse: bool | None
    progress: bool | None
    on_chunk: OnChunk | None


@overload
def evaluate(
    agent: Any, env: str | BestArmEnv, *, checkpoints: None = None, **settings: Unpack[Settings]
) -> Result: ...


@overload
def evaluate(
    agent: Any, env: str | BestArmEnv, *, checkpoints: int | Sequence[int], **settings: Unpack[Settings]
) -> Comparison: ...


def evaluate(
    agent: Any,
    env: str | BestArmEnv,
    *,
    budget: float | None = None,
    runs: int = 1000,
    seed: int = 0,
    workers: int = 1,
    executor: Executor | None = None,
    env_kwargs: Mapping[str, Any] | None = None,
    out: str | Path | None = None,
    path: str = "auto",
    checkpoints: Checkpoints = None,
    reuse: bool | None = None,
    progress: bool | None = None,
    on_chunk: OnChunk | None = None,
    **unknown: Never,
) -> Result | Comparison:
    """Estimate the error probability of an agent.

    Args:
        agent: A name (``"SHAdaVar"``, ``"SHAdaVar(delta=0.1)"``), a reference to a file or a module
            (``"mine.py:Thirds"``, ``"package.module:Thirds"``), a class, or an instance; anything that has
            ``act(observation)``, or ``allocate(observation)`` and ``recommend(observation)``. Or a model that was
            trained with stable-baselines3 or sb3-contrib, as it is, or the file of one (``"model.zip"``). Its oracle
            knowledge is the prior, on which it was trained.
        env: A registered id, or an environment object, as ``gym.make`` returns it.
        budget: Pulls per episode, over all arms, or money where they have costs; None: the environment's.
        runs: Independent episodes, at least 1.
        seed: At least 0. The same seed gives the same result, for any number of workers.
        workers: Processes of this machine; -1 for all cores.
        executor: In place of workers, a ``concurrent.futures.Executor`` that plays the chunks: of Dask
            (``client.get_executor()``), of MPI (``mpi4py.futures.MPIPoolExecutor``), a pool of processes. Its workers
            need the same bai-gym, file by file, the same NumPy, SciPy, scikit-learn, Numba and Python, and the files
            that the environment reads; this is checked. Classes of a script or notebook travel to them. This process
            alone writes to ``out``.
        env_kwargs: Keyword arguments for ``gym.make``.
        out: Folder for finished chunks: the same call resumes an interrupted one.
        path: ``"auto"`` (default), ``"blocks"`` or ``"steps"``: how episodes are played. Results have the same
            distribution.
        checkpoints: Intermediate budgets at which the recommendation is scored: 100 for every 100 pulls, or a list of
            pull counts. The agent must be able to recommend at any time (``anytime`` of its class).
        reuse: What to do with finished chunks in ``out``. None: take those that are provably of the same code and
            data, and refuse to start where that cannot be known, as in a notebook with an agent of your own. True: take
            them there, too. False: play all again.
        progress: Whether to show it; None: in terminals and notebooks, unless `on_chunk` is given.
        on_chunk: Called with (finished chunks, all chunks).
        **unknown: None: a keyword that there is not is refused with the one that was meant.

    Returns:
        Error probability with interval, simple regret, pulls, and the agent's oracle knowledge. With checkpoints a
        comparison: one such row for each of them, the last at the budget.

    Raises:
        BaiGymError: If an argument is invalid; the message is one line.
    """
    if unknown:
        _refuse(evaluate, unknown)
    if not isinstance(env, str | gym.Env) and isinstance(env, Iterable):
        raise ParameterError("env must be one environment; bai_gym.compare takes several")
    budgets = None if budget is None else [budget]
    rows = compare(
        [agent],
        env,
        budgets=budgets,
        runs=runs,
        seed=seed,
        workers=workers,
        executor=executor,
        env_kwargs=env_kwargs,
        out=out,
        path=path,
        checkpoints=checkpoints,
        reuse=reuse,
        progress=progress,
        on_chunk=on_chunk,
    )
    return rows.results[0] if checkpoints is None else rows


def compare(
    agents: Iterable[Any],
    env: str | BestArmEnv | Sequence[str | BestArmEnv],
    *,
    budgets: Sequence[float] | None = None,
    runs: int = 1000,
    seed: int = 0,
    workers: Workers = 1,
    executor: Executor | None = None,
    env_kwargs: Mapping[str, Any] | None = None,
    out: str | Path | None = None,
    path: str = "auto",
    checkpoints: Checkpoints = None,
    record: int = 0,
    reuse: bool | None = None,
    progress: bool | None = None,
    on_chunk: OnChunk | None = None,
    **unknown: Never,
) -> Comparison:
    """Evaluate several agents, at several budgets, on the same instances of one or several environments.

    Args:
        agents: Names, classes or instances, see :func:`evaluate`.
        env: A registered id or an environment object, or a list of them.
        budgets: Pulls per episode, the same in all environments; None: each environment's own budget.
        runs: Independent episodes of each agent at each budget.
        seed: At least 0.
        workers: Processes, see :func:`evaluate`.
        executor: Plays in place of workers, see :func:`evaluate`.
        env_kwargs: Keyword arguments for ``gym.make``, of all environments.
        out: Folder for finished chunks and the results (`results.parquet`), which join those of earlier calls; `bai-gym
            report` reads it.
        path: See :func:`evaluate`.
        checkpoints: See :func:`evaluate`; there is one row per agent, budget and checkpoint.
        record: Number of runs of each agent and budget that are recorded pull by pull, for replay in the report.
        reuse: See :func:`evaluate`.
        progress: See :func:`evaluate`.
        on_chunk: Called with (finished chunks, all chunks).
        **unknown: None: a keyword that there is not is refused with the one that was meant.

    Returns:
        The results, with paired tests between any two agents.

    Raises:
        BaiGymError: If an argument is invalid; the message is one line.
    """
    if unknown:
        _refuse(compare, unknown)
    folder = None if out is None else _folder(out)
    check_runs(runs, workers)
    if executor is not None:
        check_executor(executor)
    place: Workers = workers if executor is None else executor
    players = _listed(agents, "agents")
    envs = [env] if isinstance(env, str | gym.Env) or not isinstance(env, Iterable) else list(env)
    if not envs:
        raise ParameterError("give at least one environment")
    parts = [make_cells(players, one, budgets, seed, env_kwargs, path, checkpoints) for one in envs]
    cells = [cell for part in parts for cell in part]
    if record != 0:
        check_record(record, runs, folder, cells)
    if progress is not None:
        flag(progress, "progress")
    with progress_bars(False if progress is None and on_chunk is not None else progress) as on_stage:
        on_stage("playing", 0, None)  # before the first chunk is finished
        playing: OnChunk = functools.partial(on_stage, "playing")
        if on_chunk is not None:
            playing = _both(playing, on_chunk)
        comparison = run_cells(
            cells, runs, workers=place, out=folder, on_chunk=playing, rerun=rerun_command, reuse=reuse
        )
        if folder is not None:
            commands = "\n".join(command for part in parts if (command := rerun_command(part, runs)))
            table = gather(folder / RESULTS, comparison.results, commands)
            ResultsWriter(folder).save_results(table.results, optima=table.optima, facts={"command": table.command})
            recording = functools.partial(on_stage, "recording")
            record_cells(cells, record, runs, out=folder, workers=place, on_chunk=recording)
    return comparison


def _both(shown: OnChunk, given: Any) -> OnChunk:
    """Return a function that shows progress and calls the user's function.

    Raises:
        ParameterError: If it is no function.
    """
    if not callable(given):
        raise ParameterError(f"on_chunk must be a function of (finished chunks, all chunks), or None, not {given!r}")

    def on_chunk(done: int, total: int) -> None:
        shown(done, total)
        given(done, total)

    return on_chunk
