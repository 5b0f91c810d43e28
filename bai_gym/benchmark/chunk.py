"""Runs one chunk of a cell: the unit of work, of seeding and of storage."""

from __future__ import annotations

import gc
import itertools
import time
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

from bai_gym.bandits import Bandit
from bai_gym.benchmark.cells import Cell
from bai_gym.benchmark.protocol import (
    act_of,
    acts_on_batches,
    allocates,
    knowledge,
    reset,
    uses_pairs,
)
from bai_gym.benchmark.rollout import Rollout, play_blocks, play_single_steps, play_steps
from bai_gym.benchmark.sources import GivenInstances
from bai_gym.envs.scalar import BestArmEnv
from bai_gym.envs.vector import BestArmVectorEnv
from bai_gym.results.result import Checkpoint, Runs
from bai_gym.sampling import Stepper
from bai_gym.seeding import generator

__all__ = ["part_starts", "play_chunk", "play_part"]

LONG = 10**8  # arms times pulls of a chunk, over all runs, from which on it has parts

COLLECTED = 10**6
"""Arms of a chunk, over all runs, from which on the arrays of the previous chunk are freed first.

An agent and its plan refer to each other, and Python's garbage collector would keep several chunks in memory.
"""


def play_chunk(cell: Cell, chunk: int, runs: int) -> Runs:
    """Play ``runs`` episodes of a cell.

    The instances come from a stream of the chunk alone, so they are the same for every agent and budget; rewards and
    the agent's random choices have separate streams for each agent and budget.

    Args:
        cell: The cell.
        chunk: Number of the chunk, from 0.
        runs: Runs in it, at most ``cell.chunk_runs``.
    """
    starts = part_starts(cell, runs)
    parts = [play_part(cell, chunk, runs, *part) for part in itertools.pairwise([*starts, runs])]
    return parts[0] if len(parts) == 1 else Runs.joined(parts)


def part_starts(cell: Cell, runs: int) -> list[int]:
    """Return the first run of each part of a chunk: parts are played, and can be stored, one after another.

    Each part is as long as all before it, so something is finished soon, and an interruption loses no more than half of
    the work. An agent that plays one episode at a time may take long for each, as a language model does: its first part
    is a single run. The first part of others is an eighth of the chunk; where chunks are short, they have no parts.
    """
    if _plays_singly(cell):
        return [0, *itertools.takewhile(lambda start: start < runs, (2**k - 1 for k in itertools.count(1)))]
    if cell.env.problem.num_arms * cell.budget * runs < LONG:
        return [0]
    return sorted({0, runs // 8, runs // 4, runs // 2})


def play_part(cell: Cell, chunk: int, runs: int, first: int, end: int) -> Runs:
    """Play the runs from ``first`` to ``end`` (excluded) of a chunk, one of its parts; see :func:`play_chunk`."""
    with cell.named_in_errors():
        return _play_part(cell, chunk, runs, first, end)


def _play_part(cell: Cell, chunk: int, runs: int, first: int, end: int) -> Runs:
    started = time.perf_counter()
    if runs * cell.env.problem.num_arms > COLLECTED:
        gc.collect()
    bandit = cell.env.problem.draw(runs, generator(cell.seed, "instances", chunk))
    if end - first < runs:
        bandit = bandit.select(np.arange(first, end))
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


def _play(cell: Cell, bandit: Bandit, rewards: np.random.Generator, own: np.random.Generator) -> tuple[Rollout, Any]:
    agent, spec = cell.agent.make(), cell.episode_spec
    knows = knowledge(agent)
    if allocates(agent) and cell.path != "steps":
        reset(agent, spec.problem_info(bandit, knows, cell.checkpoints), own)
        played = agent, bandit, spec.budget, rewards, spec.task, cell.checkpoints, cell.earlier
        costs = None if spec.costs is None else np.array(spec.costs)
        return play_blocks(*played, costs, spec.rounds), None
    batched = acts_on_batches(agent)
    if not _plays_singly(cell):
        env = BestArmVectorEnv(
            GivenInstances(bandit, cell.earlier),
            bandit.batch,
            budget=spec.budget,
            task=spec.task,
            pairs=uses_pairs(agent),
            batch_size=spec.rounds.batch_size,
            delay=spec.rounds.delay,
            autoreset_mode=AutoresetMode.DISABLED,
            copy=False,
        )
        observation, _ = env.reset(seed=int(rewards.integers(2**63)))
        reset(agent, spec.problem_info(bandit, knows, cell.checkpoints), own)
        points = cell.checkpoints, getattr(agent, "recommend", None)
        if batched:
            act = act_of(agent, spec.rounds, bandit.rewards)
            rollout = play_steps(act, env, observation, *points, lambda: getattr(agent, "idle_pulls", None))
            return rollout, getattr(agent, "idle_pulls", None)
        stepper = Stepper(agent, env.action_encoding, spec.rounds, bandit.rewards)
        return play_steps(stepper.act, env, observation, *points, lambda: stepper.idle), stepper.idle
    return _play_singly(cell, bandit, rewards, own), None


def _play_singly(cell: Cell, bandit: Bandit, rewards: np.random.Generator, own: np.random.Generator) -> Rollout:
    rollouts, spec = [], cell.episode_spec
    for run in range(bandit.batch):
        agent = cell.agent.make()
        scalar = BestArmEnv(
            GivenInstances(bandit.select(np.array([run])), cell.earlier),
            budget=spec.budget,
            task=spec.task,
            fixed_confidence=spec.fixed_confidence,
            costs=spec.costs,
            pairs=uses_pairs(agent),
            batch_size=spec.rounds.batch_size,
            delay=spec.rounds.delay,
        )
        first, _ = scalar.reset(seed=int(rewards.integers(2**63)))
        reset(agent, scalar.problem_info(knowledge(agent)), own)
        acts = callable(getattr(agent, "act", None))
        actor = agent if acts else Stepper(agent, scalar.action_encoding, spec.rounds, bandit.rewards)
        rollouts.append(play_single_steps(actor, scalar, first))
    return Rollout.joined(rollouts)
