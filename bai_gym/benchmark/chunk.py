"""Runs one chunk of a cell: the unit of work, of seeding and of storage."""

from __future__ import annotations

import gc
import itertools
import time
from functools import partial
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

from bai_gym.adapters import acting, stepper_of
from bai_gym.bandits import Bandit
from bai_gym.benchmark.cells import Cell
from bai_gym.benchmark.protocol import (
    acts_on_batches,
    allocates,
    is_quick,
    knowledge,
    reset,
)
from bai_gym.benchmark.rollout import Rollout, play_blocks, play_single_steps, play_steps
from bai_gym.benchmark.sources import GivenInstances
from bai_gym.envs.wrappers import make_env, make_vec_env
from bai_gym.results.result import Checkpoint, Runs
from bai_gym.results.writer import ResultsWriter
from bai_gym.seeding import generator

__all__ = ["play_chunk"]

LONG = 10**8  # arms times pulls of a chunk, over all runs, from which on it has parts
LONG_IF_QUICK = 10**10  # the same for agents that take at most about a nanosecond for each: ten seconds
STORED = 1.0  # seconds of playing after which finished parts of a chunk are stored

COLLECTED = 10**6
"""Arms of a chunk, over all runs, from which on the arrays of the previous chunk are freed first.

An agent and its plan refer to each other, and Python's garbage collector would keep several chunks in memory.
"""


def play_chunk(cell: Cell, chunk: int, runs: int, writer: ResultsWriter | None = None) -> Runs:
    """Play ``runs`` episodes of a cell.

    The instances come from a stream of the chunk alone, so they are the same for every agent and budget; rewards and
    the agent's random choices have separate streams for each agent and budget, and for each part of the chunk.

    Args:
        cell: The cell.
        chunk: Number of the chunk, from 0.
        runs: Runs in it, at most ``cell.chunk_runs``.
        writer: Where parts are found that an interruption has left, and stored where playing takes long; the caller
            stores the chunk. None: nothing is stored.
    """
    with cell.named_in_errors():
        return _play_chunk(cell, chunk, runs, writer)


def _play_chunk(cell: Cell, chunk: int, runs: int, writer: ResultsWriter | None) -> Runs:
    parts: list[Runs] = []
    instances: Bandit | None = None
    unsaved: dict[int, Runs] = {}  # parts that have been played and not stored, by their first run
    began = time.perf_counter()
    try:
        for first, end in itertools.pairwise([*part_starts(cell, runs), runs]):
            found = None if writer is None else writer.load_part(cell.key, chunk, runs, first, end)
            if found is None:
                if time.perf_counter() - began > STORED:
                    _save(writer, cell, chunk, runs, unsaved)
                    began = time.perf_counter()
                if instances is None:
                    instances = _instances(cell, chunk, runs)
                found = unsaved[first] = _play_part(cell, chunk, instances, first, end)
            parts.append(found)
    except BaseException:
        _save(writer, cell, chunk, runs, unsaved)
        raise
    return parts[0] if len(parts) == 1 else Runs.joined(parts)


def _save(writer: ResultsWriter | None, cell: Cell, chunk: int, runs: int, unsaved: dict[int, Runs]) -> None:
    """Store the parts of a chunk that are not stored yet."""
    while unsaved:
        first, part = unsaved.popitem()  # one that cannot be written is not tried again
        if writer is not None:
            writer.save_part(cell.key, chunk, runs, first, part)


def part_starts(cell: Cell, runs: int) -> list[int]:
    """Return the first run of each part of a chunk: parts are played, and can be stored, one after another.

    They depend on the cell alone, not on measured time, because each has random streams of its own. Each part is as
    long as all before it, so something is finished soon, and an interruption loses no more than half of the work. An
    agent that plays one episode at a time may take long for each, as a language model does: its first part is a single
    run. The first part of others is an eighth of the chunk; where chunks are short, they have no parts.
    """
    if _plays_singly(cell):
        return [0, *itertools.takewhile(lambda start: start < runs, (2**k - 1 for k in itertools.count(1)))]
    if cell.env.problem.num_arms * cell.budget * runs < (LONG_IF_QUICK if _is_quick(cell) else LONG):
        return [0]
    return sorted({0, runs // 8, runs // 4, runs // 2})


def _instances(cell: Cell, chunk: int, runs: int) -> Bandit:
    """Draw the instances of a chunk."""
    if runs * cell.env.problem.num_arms > COLLECTED:
        gc.collect()
    return cell.env.problem.draw(runs, generator(cell.seed, "instances", chunk))


def _play_part(cell: Cell, chunk: int, instances: Bandit, first: int, end: int) -> Runs:
    """Play the runs from ``first`` to ``end`` (excluded) of a chunk with these instances."""
    started = time.perf_counter()
    bandit = instances if end - first == instances.batch else instances.select(np.arange(first, end))
    names: tuple[str | int, ...] = (cell.label, cell.budget_name, chunk, *([first] if first else []))
    rewards, own = (generator(cell.seed, stream, *names) for stream in ("rewards", "agent"))
    rollout, idle = _play(cell, bandit, rewards, own)
    means, task = bandit.means, cell.episode_spec.task
    pulls = rollout.pulls - (0 if idle is None else idle)
    spent = pulls.sum(axis=-1)
    return Runs(
        recommendation=rollout.recommendation,
        correct_recommendation=task.correct_recommendation(means),
        correct=task.correct(means, rollout.recommendation),
        simple_regret=task.simple_regret(means, rollout.recommendation),
        spent=spent,
        truncated=cell.ends_at_cap(pulls) & cell.episode_spec.fixed_confidence,
        pulls=pulls.sum(axis=0),
        seconds=time.perf_counter() - started,
        pulls_by_rank=np.take_along_axis(pulls, np.argsort(-means, axis=1, kind="stable"), axis=1).sum(axis=0),
        checkpoints=tuple(
            Checkpoint(
                point.pulls_made,
                task.correct(means, point.recommendation),
                task.simple_regret(means, point.recommendation),
                point.pulls.sum(axis=0),
            )
            for point in rollout.checkpoints
        ),
        tally=rollout.tally,
    )


def _plays_singly(cell: Cell) -> bool:
    """Return whether the agent plays one episode at a time, in Python."""
    agent = cell.agent.prototype
    if allocates(agent) and cell.path != "steps":
        return False
    return cell.episode_spec.may_stop or not (acts_on_batches(agent) or allocates(agent))


def _is_quick(cell: Cell) -> bool:
    """Return whether the agent is quick, and nothing makes it play pull by pull, or recommend often."""
    often = cell.path == "steps" or cell.episode_spec.rounds.late or cell.checkpoints
    return is_quick(cell.agent.prototype) and not often


def _play(cell: Cell, bandit: Bandit, rewards: np.random.Generator, own: np.random.Generator) -> tuple[Rollout, Any]:
    agent, spec = cell.agent.make(), cell.episode_spec
    knows = knowledge(agent)
    if allocates(agent) and cell.path != "steps":
        reset(agent, spec.problem_info(bandit, knows, cell.checkpoints), own)
        played = agent, bandit, spec.funds, rewards, spec.task, cell.checkpoints, cell.earlier
        return play_blocks(*played, spec.rounds), None
    if not _plays_singly(cell):
        env = make_vec_env(
            GivenInstances(bandit, cell.earlier),
            bandit.batch,
            spec.seen_by(agent),
            autoreset_mode=AutoresetMode.DISABLED,
            copy=False,
        )
        observation, _ = env.reset(seed=int(rewards.integers(2**63)))
        info = spec.problem_info(bandit, knows, cell.checkpoints)
        reset(agent, info, own)
        acts = acts_on_batches(agent)
        stepper = agent if acts else stepper_of(agent, env.action_encoding, info)
        act, recommend = acting(stepper, info), getattr(agent, "recommend", None)
        idle = partial(getattr, stepper, "idle_pulls" if acts else "idle", None)
        return play_steps(act, env, observation, cell.checkpoints, recommend, idle), idle()
    return _play_singly(cell, bandit, rewards, own), None


def _play_singly(cell: Cell, bandit: Bandit, rewards: np.random.Generator, own: np.random.Generator) -> Rollout:
    rollouts, spec = [], cell.episode_spec
    for run in range(bandit.batch):
        agent = cell.agent.make()
        given = GivenInstances(bandit.select(np.array([run])), cell.earlier)
        scalar = make_env(given, spec.seen_by(agent))
        first, _ = scalar.reset(seed=int(rewards.integers(2**63)))
        info = scalar.problem_info(knowledge(agent))
        reset(agent, info, own)
        acts = callable(getattr(agent, "act", None))
        actor = agent if acts else stepper_of(agent, scalar.action_encoding, info)
        rollouts.append(play_single_steps(actor, scalar, first))
    return Rollout.joined(rollouts)
