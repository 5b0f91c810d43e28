"""Plays one chunk of the runs of a cell: the unit of work, of seeding and of storage."""

from __future__ import annotations

import contextlib
import functools
import gc
import hashlib
import inspect
import json
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode

from bai_gym.bandits import Bandit
from bai_gym.benchmark.content import content_digest, is_own, library_digest
from bai_gym.benchmark.protocol import (
    acts_on_batches,
    allocates,
    answers_any_time,
    describe,
    doubts,
    knowledge,
    least_budget,
    notes,
    reset,
)
from bai_gym.benchmark.rollout import Rollout, play_blocks, play_single_steps, play_steps
from bai_gym.envs.registration import IDS, check_id
from bai_gym.envs.scalar import BestArmEnv, check_render_mode
from bai_gym.envs.specification import EpisodeSpec
from bai_gym.envs.vector import BestArmVectorEnv
from bai_gym.errors import AgentError, BaiGymError, ParameterError
from bai_gym.problems import FixedProblem, Problem
from bai_gym.problems.base import count_features
from bai_gym.results.result import Checkpoint, Episodes
from bai_gym.sampling import Stepper
from bai_gym.seeding import generator
from bai_gym.statistics import FloatArray

__all__ = [
    "CHUNK_RUNS",
    "AgentSource",
    "Cell",
    "Checkpoints",
    "EnvSource",
    "Given",
    "checkpoint_grid",
    "play_chunk",
]

Checkpoints = int | Sequence[int] | None
"""When answers are asked for before the end of a run: every so many pulls, or after so many each; None: never."""

CHUNK_RUNS = 1000
"""Runs per chunk. Fixed: the random numbers of a run depend on it."""

INSTANCES = 1000  # drawn ones over which bounds are averaged
PATHS = ("auto", "blocks", "steps")
LIBRARY_IDS = frozenset(entry.id for entry in IDS)
COLLECTED = 10**6
"""Arms of a chunk, over all runs, from which on the arrays of the chunk before are given back first.

An agent and its plan refer to each other, and Python, which counts objects and not bytes, would keep several chunks.
"""
PROBES = 16  # rewards of each arm that tell two problems with the same means and variances apart


@dataclass(frozen=True, eq=False)
class EnvSource:
    """An environment that every worker can build for itself.

    Attributes:
        env: A registered id, or an environment object.
        keywords: Keyword arguments for ``gym.make``; none for an object.
    """

    env: str | BestArmEnv
    keywords: dict[str, Any] = field(default_factory=dict)

    @functools.cached_property
    def label(self) -> str:
        """The id with its keyword arguments, short enough for a table."""
        name, keywords = self.env, self.keywords
        if not isinstance(name, str):
            spec = name.spec
            if spec is None:
                return type(name.problem).__name__
            fixed = gym.registry[spec.id].kwargs if spec.id in gym.registry else {}
            keywords = {
                word: value for word, value in spec.kwargs.items() if _short(fixed.get(word, "")) != _short(value)
            }
            name = spec.id
        shown = ", ".join(f"{word}={_short(value)}" for word, value in keywords.items())
        return f"{name}({shown})" if shown else name

    @functools.cached_property
    def built(self) -> BestArmEnv:
        """The scalar environment, built once per process.

        Raises:
            UnknownNameError: If the id is not registered.
            ParameterError: If it is not one of this library's environments.
        """
        if not isinstance(self.env, str):
            return self.env
        facts = [self.keywords, {word: _stamp(value) for word, value in self.keywords.items()}]
        return _build(self.env, json.dumps(facts, sort_keys=True, default=_plain), self.keywords)

    @property
    def problem(self) -> Problem:
        """Where the instances come from."""
        return self.built.problem

    @functools.cached_property
    def probe(self) -> FloatArray:
        """Means and variances of two instances, ``(2, 2, K)``: machines on which they differ have other data."""
        sample = self.problem.draw(2, generator(0, "probe"))
        return np.stack([sample.means, sample.variances])

    def __getstate__(self) -> dict[str, Any]:
        """Leave what can be built again out of pickles, and take the registration of a user's own id along.

        Worker processes may work in another folder: files are named in full, under the label that was given here.
        """
        own = isinstance(self.env, str) and self.env not in LIBRARY_IDS
        keywords = {word: _in_full(value) for word, value in self.keywords.items()}
        spec = gym.registry.get(str(self.env)) if own else None
        return {"env": self.env, "keywords": keywords, "label": self.label, "spec": spec}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Register in a worker process what only the user's own process has registered."""
        spec = state.pop("spec")
        if spec is not None:
            gym.registry.setdefault(spec.id, spec)
        self.__dict__.update(state)


_BUILT: dict[tuple[str, str], BestArmEnv] = {}
KEEP_BUILT = 8
_BUILDING = threading.RLock()  # workers of a Dask cluster may be threads of one process


def _build(env_id: str, key: str, keywords: dict[str, Any]) -> BestArmEnv:
    with _BUILDING:
        if (env_id, key) not in _BUILT:
            env = _make(env_id, keywords)
            while len(_BUILT) >= KEEP_BUILT:
                _BUILT.pop(next(iter(_BUILT)))
            _BUILT[env_id, key] = env
        return _BUILT[env_id, key]


def _make(env_id: str, keywords: dict[str, Any]) -> BestArmEnv:
    check_id(env_id)
    for word in keywords:
        if word in inspect.signature(gym.make).parameters or not word.isidentifier():
            raise ParameterError(f"{word!r} is not a keyword of the environment, but an argument of gym.make itself")
    if env_id in LIBRARY_IDS:  # Gymnasium would warn of an unknown mode, and fail on one that is no text
        check_render_mode(keywords.get("render_mode"), BestArmEnv.metadata["render_modes"])
    try:
        env = gym.make(env_id, disable_env_checker=True, **keywords).unwrapped
    except gym.error.Error as error:
        raise ParameterError(f"{env_id} cannot be made: {' '.join(str(error).split())}") from None
    except (TypeError, AttributeError, OverflowError) as error:  # a keyword of another type than any that is meant
        reason = " ".join(str(error).partition(" was raised from")[0].split())
        given = ", ".join(f"{word}={_short(value)}" for word, value in keywords.items())
        raise ParameterError(f"{env_id} cannot be made with {given}: {reason}; check their types") from None
    if not isinstance(env, BestArmEnv):
        raise ParameterError(f"{env_id} is not a best-arm identification environment; `bai-gym list envs` shows them")
    return env


def _in_full(value: Any) -> Any:
    """Return the absolute path where a value names a file, else the value."""
    return value if _stamp(value) is None else os.path.abspath(value)


def _stamp(value: Any) -> Any:
    """Return time and size of the file that a value names, if it does: a changed file is another problem."""
    try:
        facts = os.stat(value) if isinstance(value, str | Path) else None
    except (OSError, ValueError):
        return None
    return facts and [facts.st_mtime_ns, facts.st_size]


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else repr(value)


def _short(value: Any) -> str:
    if isinstance(value, str | Path) and ("/" in str(value) or "\\" in str(value)):
        return Path(value).name
    text = json.dumps(value, default=_plain) if not isinstance(value, str) else value
    return text if len(text) <= 40 else text[:37] + "..."


@dataclass(frozen=True, eq=False)
class AgentSource:
    """An agent that every chunk makes anew.

    Attributes:
        make: Returns a fresh agent; must be picklable for several workers.
        label: Name in the results; None: what the agent says.
        spec: What names the agent on the command line; empty where nothing does.
    """

    make: Callable[[], Any]
    label: str | None = None
    spec: str = ""

    def fingerprint(self) -> str:
        """Return a hash of the agent's parameters, and of its code where that is the user's own.

        Raises:
            AgentError: If something that it uses has no content to compare.
        """
        agent = self.make()
        return content_digest(agent, f"agent {describe(agent)}")


def checkpoint_grid(checkpoints: Checkpoints, budget: int) -> tuple[int, ...]:
    """Return the pull counts below the budget at which answers are asked for; the budget itself always is one.

    Args:
        checkpoints: A number: at its multiples. Several: there, in any order. None: nowhere.
        budget: Pulls of the run.

    Raises:
        ParameterError: If one is no whole number from 1 to the budget.
    """
    if checkpoints is None:
        return ()
    points: list[Any] = (
        [checkpoints] if not isinstance(checkpoints, list | tuple | range | np.ndarray) else list(checkpoints)
    )
    for point in points:
        whole = isinstance(point, int | np.integer) and not isinstance(point, bool)
        if not whole or not 1 <= point <= budget:
            raise ParameterError(
                f"checkpoints must be a whole number of pulls from 1 to the budget, {budget}, or a list of such; "
                f"{point!r} is none"
            )
    if not points:
        raise ParameterError("checkpoints must not be an empty list; leave them out, or write 100 for every 100 pulls")
    if isinstance(checkpoints, int | np.integer):
        points = list(range(int(checkpoints), budget, int(checkpoints)))
    return tuple(sorted({int(point) for point in points} - {budget}))


@dataclass(frozen=True, eq=False)
class Cell:
    """One agent on one environment with one budget: a row of a table.

    Attributes:
        env: The environment.
        agent: The agent.
        label: The agent's name in the results.
        budget: Pulls per episode.
        seed: The user's seed.
        path: ``"auto"``: by blocks where the agent asks for blocks, else step by step. ``"blocks"`` or ``"steps"``
            force one.
        checkpoints: Pull counts, ascending and below the budget, at which answers are scored too.
    """

    env: EnvSource
    agent: AgentSource
    label: str
    budget: int
    seed: int
    path: str = "auto"
    checkpoints: tuple[int, ...] = ()

    @classmethod
    def of(
        cls,
        env: EnvSource,
        agent: AgentSource,
        budget: int,
        seed: int,
        path: str = "auto",
        checkpoints: Checkpoints = None,
    ) -> Cell:
        """Name the cell after what the agent says of itself.

        Args:
            env: The environment.
            agent: The agent.
            budget: Pulls per episode.
            seed: The user's seed.
            path: See :class:`Cell`.
            checkpoints: See :func:`checkpoint_grid`.

        Raises:
            ParameterError: If the path does not exist, the agent cannot take it, or a checkpoint is none.
            AgentError: If there are checkpoints, and the agent's answer is not defined at any time.
        """
        made = agent.make()
        if not env.problem.known:
            raise ParameterError(
                f"{env.label} is a real experiment: nobody knows its true means, so agents cannot be compared by their "
                "errors; use bai_gym.identify to find its best arm"
            )
        if path not in PATHS:
            raise ParameterError(f"path must be one of {', '.join(PATHS)}, not {path!r}")
        if path == "blocks" and not allocates(made):
            raise ParameterError(f"{describe(made)} has no allocate(observation): it can only be run with path='steps'")
        points = checkpoint_grid(checkpoints, budget)
        if checkpoints is not None and env.built.episode_spec.fixed_confidence:
            raise ParameterError("checkpoints are for a fixed budget; with fixed confidence an agent stops by itself")
        if checkpoints is not None and not answers_any_time(made):
            raise AgentError(
                f"{describe(made)} has no answer before the end of its budget, as checkpoints ask for: leave them out, "
                "or take an agent that has one at any time (anytime = True in its class), such as Uniform"
            )
        return cls(env, agent, agent.label or describe(made), budget, seed, path, points)

    def first_run(self, chunk: int) -> int:
        """Return the number of the first run of a chunk."""
        return chunk * CHUNK_RUNS

    def describe_agent(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return what the agent knows, and the notes about it and about the problem."""
        agent = self.agent.make()
        extra: tuple[str, ...] = ()
        least = least_budget(agent, self.env.problem.num_arms, self.env.problem.num_features)
        if self.budget < least:
            extra = (f"{describe(agent)}: budget below its minimum of {least}",)
        doubtful = doubts(agent, self.instances()) if callable(getattr(agent, "doubts", None)) else ()
        return tuple(sorted(knowledge(agent))), (*notes(agent), *doubtful, *extra, *self.env.problem.notes)

    def instances(self) -> Bandit:
        """Return the first instances of the cell, for what is said about it beside its results."""
        problem = self.env.problem
        return problem.draw(1 if isinstance(problem, FixedProblem) else INSTANCES, generator(self.seed, "instances", 0))

    def check(self) -> Any:
        """Fail early: reset an agent once, for one run, as a chunk would, and return it.

        Raises:
            BaiGymError: If the agent refuses the budget, a parameter is wrong, or undeclared knowledge is read.
        """
        rng = generator(self.seed, "check")
        with _named(self):
            agent = self.agent.make()
            bandit = self.env.problem.draw(1, rng)
            reset(agent, self.episode_spec.problem_info(bandit, knowledge(agent), self.checkpoints), rng)
        return agent

    def prepare(self) -> None:
        """Let the agent compile what it needs, so that worker processes find it on disk."""
        agent = self.check()
        if callable(getattr(agent, "prepare", None)) and self.path != "steps":
            agent.prepare()

    @property
    def episode_spec(self) -> EpisodeSpec:
        """The specification of the episodes, with the budget of the cell."""
        return replace(self.env.built.episode_spec, budget=self.budget)

    @functools.cached_property
    def fingerprint(self) -> str:
        """Hash of everything that the outcome depends on."""
        own_rules = repr(self.env.built.episode_spec)  # with the environment's budget: so chunks have been stored
        facts = [self.digest, self.budget, self.seed, self.path, CHUNK_RUNS, own_rules, *self.checkpoints]
        return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]

    @functools.cached_property
    def digest(self) -> str:
        """Hash of what is played: code, parameters and data, whatever the budget and the checkpoints."""
        rng = generator(self.seed, "fingerprint")
        sample = self.env.problem.draw(2, rng)
        probes = sample.pull(np.tile(np.arange(sample.means.size), PROBES), rng)
        names = [library_digest(), self.env.label, type(sample).__name__, self.label, self.agent.fingerprint()]
        problem = self.env.problem
        if is_own(problem) or is_own(sample):
            names.append(content_digest(problem, f"environment {self.env.label}"))
        digest = hashlib.sha256(json.dumps(names).encode())
        features = () if sample.features is None else (sample.features,)
        for numbers in (sample.means, sample.variances, probes, *features):
            digest.update(numbers.tobytes())
        return digest.hexdigest()[:16]


def play_chunk(cell: Cell, chunk: int, runs: int) -> Episodes:
    """Play ``runs`` episodes of a cell.

    The instances come from a stream of the chunk alone, so they are the same for every agent and budget; rewards and
    the agent's own choices have streams of their own for each agent and budget.

    Args:
        cell: What to play.
        chunk: Number of the chunk, from 0.
        runs: Episodes in it, at most :data:`CHUNK_RUNS`.
    """
    started = time.perf_counter()
    if runs * cell.env.problem.num_arms > COLLECTED:
        gc.collect()
    bandit = cell.env.problem.draw(runs, generator(cell.seed, "instances", chunk))
    names = (cell.label, cell.budget, chunk)
    rewards, own = (generator(cell.seed, stream, *names) for stream in ("rewards", "agent"))
    with _named(cell):
        rollout, idle = _play(cell, bandit, rewards, own)
    means, task = bandit.means, cell.episode_spec.task
    pulls = rollout.pulls - (0 if idle is None else idle)
    spent = pulls.sum(axis=-1)
    return Episodes(
        recommendation=rollout.recommendation,
        answer=task.answer(means),
        correct=task.correct(means, rollout.recommendation),
        simple_regret=task.simple_regret(means, rollout.recommendation),
        spent=spent,
        truncated=(spent >= cell.budget) & cell.episode_spec.fixed_confidence,
        pulls=pulls.sum(axis=0),
        seconds=time.perf_counter() - started,
        pulls_by_rank=np.take_along_axis(pulls, np.argsort(-means, axis=1, kind="stable"), axis=1).sum(axis=0),
        checkpoints=tuple(
            Checkpoint(
                look.pulls_made,
                task.correct(means, look.recommendation),
                task.simple_regret(means, look.recommendation),
                look.pulls.sum(axis=0),
            )
            for look in rollout.looks
        ),
    )


@contextlib.contextmanager
def _named(cell: Cell) -> Iterator[None]:
    """Say which agent played, where its own code raises, or memory does not suffice."""
    where = f"{cell.label} on {cell.env.label} with budget {cell.budget}"
    try:
        yield
    except BaiGymError:
        raise
    except MemoryError:
        raise ParameterError(
            f"there is not enough memory for {where}, of which {CHUNK_RUNS} runs are played at once; use fewer arms, "
            "runs or workers"
        ) from None
    except Exception as error:
        error.add_note(f"raised while {where} was played")
        raise


def _play(cell: Cell, bandit: Bandit, rewards: np.random.Generator, own: np.random.Generator) -> tuple[Rollout, Any]:
    agent, spec = cell.agent.make(), cell.episode_spec
    knows = knowledge(agent)
    if allocates(agent) and cell.path != "steps":
        reset(agent, spec.problem_info(bandit, knows, cell.checkpoints), own)
        return play_blocks(agent, bandit, spec.budget, rewards, spec.task, cell.checkpoints), None
    batched = acts_on_batches(agent)
    if (batched or allocates(agent)) and not spec.fixed_confidence:
        env = BestArmVectorEnv(
            Given(bandit),
            bandit.batch,
            budget=spec.budget,
            task=spec.task,
            autoreset_mode=AutoresetMode.DISABLED,
            copy=False,
        )
        observation, _ = env.reset(seed=int(rewards.integers(2**63)))
        reset(agent, spec.problem_info(bandit, knows, cell.checkpoints), own)
        points = cell.checkpoints, getattr(agent, "recommend", None)
        if batched:
            rollout = play_steps(agent.act, env, observation, *points, lambda: getattr(agent, "idle_pulls", None))
            return rollout, getattr(agent, "idle_pulls", None)
        stepper = Stepper(agent, env.action_encoding)
        return play_steps(stepper.act, env, observation, *points, lambda: stepper.idle), stepper.idle
    return _play_singly(cell, bandit, rewards, own), None


def _play_singly(cell: Cell, bandit: Bandit, rewards: np.random.Generator, own: np.random.Generator) -> Rollout:
    rollouts, spec = [], cell.episode_spec
    for run in range(bandit.batch):
        agent = cell.agent.make()
        scalar = BestArmEnv(
            FixedProblem(bandit.select(np.array([run]))),
            budget=spec.budget,
            task=spec.task,
            fixed_confidence=spec.fixed_confidence,
        )
        first, _ = scalar.reset(seed=int(rewards.integers(2**63)))
        reset(agent, scalar.problem_info(knowledge(agent)), own)
        actor = agent if callable(getattr(agent, "act", None)) else Stepper(agent, scalar.action_encoding)
        rollouts.append(play_single_steps(actor, scalar, first))
    return Rollout.joined(rollouts)


class Given(Problem):
    """The instances of one chunk, handed out once and in order."""

    def __init__(self, bandit: Bandit) -> None:
        self._bandit = bandit
        self.num_arms = bandit.num_arms
        self.num_features = count_features(bandit)

    def draw(self, batch: int, rng: np.random.Generator) -> Bandit:
        """Return the instances."""
        return self._bandit
