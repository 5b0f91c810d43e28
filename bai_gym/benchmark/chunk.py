"""Runs one chunk of a cell: the unit of work, of seeding and of storage."""

from __future__ import annotations

import gc
import itertools
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from gymnasium.vector import AutoresetMode

from bai_gym.adapters import acting, stepper_of
from bai_gym.bandits import Bandit
from bai_gym.benchmark.cells import Cell
from bai_gym.benchmark.protocol import knowledge, reset, tally
from bai_gym.benchmark.rollout import Rollout, RolloutCheckpoint, play_blocks, play_single_steps, play_steps
from bai_gym.benchmark.sources import GivenInstances
from bai_gym.common.seeding import generator
from bai_gym.envs.wrappers import make_env, make_vec_env
from bai_gym.problems.numbering import Numbering
from bai_gym.results.result import Checkpoint, Runs
from bai_gym.results.writer import CellKey, ResultsWriter
from bai_gym.statistics import FloatArray
from bai_gym.tasks import Task

__all__ = ["play_chunk"]

LONG = 10**8  # arms times pulls of a chunk, over all runs, from which on it has parts
LONG_IF_QUICK = 10**10  # the same for agents that take at most about a nanosecond for each: ten seconds
STORED = 1.0  # seconds of playing after which finished parts of a chunk are stored

COLLECTED = 10**6
"""Arms of a chunk, over all runs, from which on the arrays of the previous chunk are freed first.

Where an agent and its plan refer to each other, Python's garbage collector would keep several chunks in memory.
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
    parts = list[Runs]()
    instances: Bandit | None = None
    numbering: Numbering | None = None
    store = None if writer is None else _PartStore(writer, cell.key, chunk, runs)
    with cell.named_in_errors():
        try:
            for first, end in itertools.pairwise([*part_starts(cell, runs), runs]):
                stored = None if store is None else store.load(first, end)
                if stored is not None:
                    parts.append(stored)
                    continue
                if instances is None:
                    if runs * cell.env.problem.num_arms > COLLECTED:
                        gc.collect()
                    instances = cell.env.problem.draw(runs, generator(cell.seed, "instances", chunk))
                    numbering = cell.numbering(chunk, runs)
                started = time.perf_counter()
                bandit = instances if end - first == instances.batch else instances.select(np.arange(first, end))
                numbered = None if numbering is None else numbering.select(slice(first, end))
                names = cell.label, cell.budget_name, chunk, *([first] if first else [])
                rewards, own = generator(cell.seed, "rewards", *names), generator(cell.seed, "agent", *names)
                play = _play_in_steps if cell.in_steps else _play_blocks
                rollout = play(Part(cell, bandit, numbered), rewards, own)
                parts.append(_outcome(cell, bandit, numbered, rollout, time.perf_counter() - started))
                del rollout  # before the next part, whose statistics take as much memory
                if store is not None:
                    store.add(first, parts[-1])
        except BaseException:
            if store is not None:
                store.save()
            raise
    return Runs.joined(parts)


@dataclass
class _PartStore:
    """The stored parts of a chunk, and those that have been played and are not stored yet, by their first run."""

    writer: ResultsWriter
    cell: CellKey
    chunk: int
    runs: int
    unsaved: dict[int, Runs] = field(default_factory=dict)
    began: float = field(default_factory=time.perf_counter)

    def load(self, first: int, end: int) -> Runs | None:
        """Return a part, if it is stored; else store what has been played before, if that has taken long."""
        stored = self.writer.load_part(self.cell, self.chunk, self.runs, first, end)
        if stored is None and time.perf_counter() - self.began > STORED:
            self.save()
            self.began = time.perf_counter()
        return stored

    def add(self, first: int, part: Runs) -> None:
        """Take a part that has been played."""
        self.unsaved[first] = part

    def save(self) -> None:
        """Store the parts that are not stored yet."""
        while self.unsaved:
            first, part = self.unsaved.popitem()  # one that cannot be written is not tried again
            self.writer.save_part(self.cell, self.chunk, self.runs, first, part)


def part_starts(cell: Cell, runs: int) -> list[int]:
    """Return the first run of each part of a chunk: parts are played, and can be stored, one after another.

    They depend on the cell alone, not on measured time, because each has random streams of its own. Each part is as
    long as all before it, so something is finished soon, and an interruption loses no more than half of the work. An
    agent that plays one episode at a time may take long for each, as a language model does: its first part is a single
    run. The first part of others is an eighth of the chunk; where chunks are short, they have no parts.
    """
    if cell.in_steps and _plays_singly(cell):
        return [0, *itertools.takewhile(lambda start: start < runs, (2**k - 1 for k in itertools.count(1)))]
    # Played pull by pull, or recommending often, no agent is quick.
    often = cell.in_steps or cell.checkpoints or cell.episode_spec.rounds.late
    long = LONG_IF_QUICK if cell.traits.quick and not often else LONG
    if cell.env.problem.num_arms * cell.budget * runs < long:
        return [0]
    return sorted({0, runs // 8, runs // 4, runs // 2})


def _outcome(cell: Cell, bandit: Bandit, numbering: Numbering | None, rollout: Rollout, seconds: float) -> Runs:
    """Return what is kept of some episodes, with arms as the problem lists them."""
    means, spec, pulls = bandit.means, cell.episode_spec, rollout.pulls
    task, recommendation, points = spec.task, rollout.recommendation, rollout.checkpoints
    if numbering is not None:
        pulls, recommendation = numbering.back(pulls), numbering.listed(task, recommendation)
        points = tuple(
            point._replace(
                recommendation=numbering.listed(task, point.recommendation), pulls=numbering.back(point.pulls)
            )
            for point in points
        )
    ranked = means.reshape(*pulls.shape, -1)[..., 0]  # by the first of several metrics
    by_rank = np.take_along_axis(pulls, np.argsort(-ranked, axis=1, kind="stable"), axis=1)
    return Runs(
        recommendation=recommendation,
        correct_recommendation=task.correct_recommendation(means),
        correct=task.correct(means, recommendation),
        simple_regret=task.simple_regret(means, recommendation),
        spent=pulls.sum(axis=-1),
        truncated=spec.funds.is_used_up(pulls) if spec.fixed_confidence else np.zeros(len(pulls), np.bool_),
        pulls=pulls.sum(axis=0),
        seconds=seconds,
        pulls_by_rank=by_rank.sum(axis=0),
        checkpoints=tuple(_scored(task, means, point) for point in points),
        tally=rollout.tally,
    )


def _scored(task: Task, means: FloatArray, point: RolloutCheckpoint) -> Checkpoint:
    correct, regret = task.correct(means, point.recommendation), task.simple_regret(means, point.recommendation)
    return Checkpoint(point.pulls_made, correct, regret, point.pulls.sum(axis=0))


def _plays_singly(cell: Cell) -> bool:
    """Return whether an agent that plays pull by pull plays one episode at a time, in Python."""
    can_play_many = cell.traits.acts_on_batches or cell.traits.allocates
    return cell.episode_spec.may_stop or not can_play_many


@dataclass(frozen=True)
class Part:
    """Episodes of a cell, and how they number their arms.

    Attributes:
        cell: The cell.
        bandit: The instances, with arms as the problem lists them.
        numbering: How the episodes number their arms; None: likewise.
    """

    cell: Cell
    bandit: Bandit
    numbering: Numbering | None

    @property
    def alone(self) -> bool:
        """Whether each episode has its own costs, candidates or prior, so that each needs an agent of its own."""
        if self.numbering is None or self.bandit.batch == 1:
            return False
        cell = self.cell
        plans_for_prior = (
            cell.traits.allocates and "prior" in knowledge(cell.prototype) and self.bandit.prior is not None
        )
        return cell.episode_spec.tells_arms_apart or plans_for_prior

    def singles(self) -> Iterator[Part]:
        """Yield the episodes, one at a time."""
        for run in range(self.bandit.batch):
            numbering = None if self.numbering is None else self.numbering.select(slice(run, run + 1))
            yield Part(self.cell, self.bandit.select(np.array([run])), numbering)

    @property
    def instances(self) -> GivenInstances:
        """The problem that an environment plays."""
        return GivenInstances(self.bandit, self.cell.start, self.numbering, self.cell.env.problem.arm_names)


def _play_blocks(part: Part, rewards: np.random.Generator, own: np.random.Generator) -> Rollout:
    """Draw the outcomes of the agent's requests directly."""
    if part.alone:
        return Rollout.joined([_play_blocks(single, rewards, own) for single in part.singles()])
    cell, bandit, start, numbering = part.cell, part.bandit, part.cell.start, part.numbering
    if numbering is not None:
        bandit, start = numbering.arrange(bandit), numbering.start(start)
    agent, spec = cell.agent.make(), cell.episode_spec
    info = cell.info_for(agent, bandit, numbering)
    reset(agent, info, own)
    return play_blocks(agent, bandit, info.funds, rewards, spec.task, cell.checkpoints, start, spec.rounds)


def _play_in_steps(part: Part, rewards: np.random.Generator, own: np.random.Generator) -> Rollout:
    """Play episodes pull by pull through the vector environment or, where that cannot be, through the scalar one."""
    cell, spec = part.cell, part.cell.episode_spec
    if _plays_singly(cell) or part.alone:
        return Rollout.joined([_play_singly(single, rewards, own) for single in part.singles()])
    agent = cell.agent.make()
    env = make_vec_env(
        part.instances,
        part.bandit.batch,
        spec.seen_by(agent),
        autoreset_mode=AutoresetMode.DISABLED,
        copy=False,
    )
    observation, _ = env.reset(seed=int(rewards.integers(2**63)))
    info = cell.info_for(agent, env.unwrapped._episodes.bandit, part.numbering)
    reset(agent, info, own)
    acts = cell.traits.acts_on_batches
    stepper = agent if acts else stepper_of(agent, env.action_encoding, info)
    act, recommend = acting(agent, info) if acts else stepper.act, getattr(agent, "recommend", None)
    idle = partial(getattr, stepper, "idle_pulls" if acts else "idle", None)
    rollout = play_steps(act, env, observation, cell.checkpoints, recommend, idle)
    unasked = idle()
    return rollout if unasked is None else replace(rollout, others=rollout.others + unasked)


def _play_singly(part: Part, rewards: np.random.Generator, own: np.random.Generator) -> Rollout:
    """Play the only episode pull by pull."""
    cell = part.cell
    agent = cell.agent.make()
    scalar = make_env(part.instances, cell.episode_spec.seen_by(agent))
    first, _ = scalar.reset(seed=int(rewards.integers(2**63)))
    info = scalar.problem_info(knowledge(agent))
    reset(agent, info, own)
    acts = callable(getattr(agent, "act", None))
    act = acting(agent, info) if acts else stepper_of(agent, scalar.action_encoding, info).act
    return replace(play_single_steps(act, scalar, first), tally=tally(agent))
