"""Plays episodes pull by pull and records them."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from typing_extensions import override

from bai_gym.adapters import acting, stepper_of
from bai_gym.bandits import Bandit
from bai_gym.bandits.wrapped import WrappedBandit
from bai_gym.benchmark.cells import Cell
from bai_gym.benchmark.chunk import Part
from bai_gym.benchmark.protocol import Traits, knowledge, reset
from bai_gym.benchmark.rollout import play_single_steps
from bai_gym.benchmark.runner import OnChunk
from bai_gym.common.seeding import generator
from bai_gym.envs.actions import ActionEncoding
from bai_gym.envs.wrappers import make_env
from bai_gym.errors import ParameterError
from bai_gym.parallel import Workers, check_memory, run_calls
from bai_gym.problems import ProblemInfo
from bai_gym.results.recording import Recording, Stage
from bai_gym.results.writer import ResultsWriter
from bai_gym.sampling import Stepper
from bai_gym.statistics import FloatArray, IntArray, Observation
from bai_gym.validation import integer

__all__ = ["Actor", "check_record", "record_cells"]

NOTE_BYTES = 200  # of a pull that is noted


def check_record(record: int, runs: int, out: Path | None, cells: Sequence[Cell] = ()) -> None:
    """Check the number of runs of each cell to record.

    Raises:
        ParameterError: If it is no integer from 0 to the number of runs, there is no folder to write them to, or
            the pulls of a run do not fit into memory.
    """
    integer(record, "record", least=0, most=runs, rule=f"an integer number of runs, from 0 to {runs}")
    if record and out is None:
        raise ParameterError("recordings are files: name an output folder (--out), too")
    for cell in cells if record else ():
        check_memory(cell.budget, NOTE_BYTES, "budget", ParameterError)


def record_cells(
    cells: Sequence[Cell],
    record: int,
    runs: int,
    *,
    out: Path,
    workers: Workers = 1,
    on_chunk: OnChunk | None = None,
) -> None:
    """Record the first runs of every cell pull by pull, and write the recordings to a folder.

    Episodes that are there already are not played again.

    Args:
        cells: The cells.
        record: Runs of each.
        runs: Runs that :func:`bai_gym.benchmark.runner.run_cells` plays of each; instances depend on it.
        out: The folder.
        workers: Processes, -1 for all cores; or an executor.
        on_chunk: Called after each episode with (finished ones, all of them).
    """
    writer = ResultsWriter(out)
    total = record * len(cells)
    jobs = []
    for cell in cells:
        sizes = cell.chunk_sizes(runs)
        for run in range(record):
            size = sizes[run // cell.chunk_runs]
            if not writer.has_recording(cell.key, run, size):
                jobs.append((cell, run, size))
    if on_chunk is not None and total:
        on_chunk(total - len(jobs), total)
    done = total - len(jobs)

    def take(number: int, recording: Recording) -> None:
        nonlocal done
        cell, _, size = jobs[number]
        writer.save_recording(cell.key, size, recording)
        done += 1
        if on_chunk is not None:
            on_chunk(done, total)

    run_calls([functools.partial(record_run, *job) for job in jobs], workers, take)


def record_run(cell: Cell, run: int, size: int) -> Recording:
    """Play one episode pull by pull.

    Args:
        cell: The cell.
        run: Number of the run whose instance is played.
        size: Runs of the chunk that it belongs to.
    """
    chunk, row = divmod(run, cell.chunk_runs)
    drawn = cell.env.problem.draw(size, generator(cell.seed, "instances", chunk))
    numbering = cell.numbering(chunk, size)
    if numbering is not None and cell.episode_spec.task.answer == "item":
        raise ParameterError("duels are recorded as the problem lists their items: give shuffle=False")
    numbering = None if numbering is None else numbering.select(slice(row, row + 1))
    part = Part(cell, drawn.select(np.array([row])), numbering)
    names = (cell.label, cell.budget_name, run)
    rewards, own = (generator(cell.seed, f"recorded {stream}", *names) for stream in ("rewards", "agent"))
    spec = cell.episode_spec
    agent = cell.agent.make()
    env = make_env(part.instances, spec.seen_by(agent))
    observation, _ = env.reset(seed=int(rewards.integers(2**63)))
    bandit = env.unwrapped._episode.bandit = _Noting(env.unwrapped._episode.bandit)
    info = env.problem_info(knowledge(agent))
    reset(agent, info, own)
    bandit.notes.clear()  # pulls that the agent made before the episode, if allowed
    actor = Actor(agent, env.action_encoding, info)
    rollout = play_single_steps(actor.act, env, observation)
    asked = len(bandit.notes) - actor.idle
    task = env.episode_spec.task
    recommendation = rollout.recommendation
    order = np.arange(env.num_arms) if numbering is None else numbering.arms[0]
    if numbering is not None:
        recommendation = numbering.listed(task, recommendation)
    means = part.bandit.means
    return Recording(
        agent=cell.label,
        env=cell.env.label,
        budget=cell.budget,
        run=run,
        seed=cell.seed,
        knows=tuple(sorted(knowledge(agent))),
        task=task.describe(),
        arms=order[np.array([arm for arm, _ in bandit.notes[:asked]], np.int64)],
        rewards=np.array([reward for _, reward in bandit.notes[:asked]], float),
        stages=tuple(stage.listed(order) for stage in actor.stages) or (Stage(0, None),),
        means=means[0].reshape(env.num_arms, -1)[:, 0],  # of several metrics the first
        variances=part.bandit.variances[0].reshape(env.num_arms, -1)[:, 0],
        recommendation=task.arms(recommendation[0], env.num_arms),
        correct_recommendation=task.arms(task.correct_recommendation(means)[0], env.num_arms),
        correct=bool(task.correct(means, recommendation)[0]),
        simple_regret=float(task.simple_regret(means, recommendation)[0]),
        arm_names=cell.env.problem.arm_names,
    )


class _Noting(WrappedBandit):
    """One instance that notes every pull."""

    def __init__(self, bandit: Bandit) -> None:
        self.wrap(bandit)
        self.notes: list[tuple[int, float]] = []

    @override
    def pull(self, flat: IntArray, rng: np.random.Generator) -> FloatArray:
        rewards = super().pull(flat, rng)
        self.notes += zip(flat.tolist(), rewards.tolist(), strict=True)
        return rewards

    @override
    def select(self, rows: IntArray) -> _Noting:
        """Return some of the instances, with nothing noted."""
        return _Noting(self.inner.select(rows))

    @override
    def replace(self, rows: IntArray, other: Bandit) -> None:
        self.inner.replace(rows, other)


class Actor:
    """Acts pull by pull for any kind of agent, and notes which arms it considers.

    Args:
        agent: Already reset, for one episode.
        encoding: The actions of the environment.
        info: What the agent has received at its reset.
    """

    def __init__(self, agent: Any, encoding: ActionEncoding, info: ProblemInfo) -> None:
        self._agent, traits = agent, Traits.of(agent)
        self._batches = traits.acts_on_batches
        self._stepper = stepper_of(agent, encoding, info) if traits.allocates else None
        self._act = acting(agent, info) if self._stepper is None else self._stepper.act
        self._requests = 0
        self._made = 0
        self.stages: list[Stage] = []

    def act(self, observation: Observation) -> Any:
        """Return the action in one episode."""
        if self._stepper is not None:
            action = self._act(observation)
            self._note(self._stepper)
            return action
        if self._batches:
            return self._act({name: value[None] for name, value in observation.items()})[0]
        return self._act(observation)

    def _note(self, stepper: Stepper) -> None:
        """Note the arms that are considered from this pull on, where a request begins or an arm has been dropped."""
        begins, arms = stepper.requests > self._requests, stepper.active_arms
        if begins or (arms != self.stages[-1].candidates and not stepper.stopped):
            if self.stages and self.stages[-1].first_pull == self._made:
                self.stages.pop()
            self.stages.append(Stage(self._made, arms))
        self._requests = stepper.requests
        self._made += 1

    @property
    def idle(self) -> int:
        """Pulls that the agent did not request."""
        idle = self._stepper.idle if self._stepper is not None else getattr(self._agent, "idle_pulls", None)
        return 0 if idle is None else int(np.sum(idle))
