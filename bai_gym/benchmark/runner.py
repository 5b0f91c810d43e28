"""The runner: runs the chunks of many cells in parallel, resumes interrupted work, and summarises the results."""

from __future__ import annotations

import functools
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bai_gym.benchmark.cells import CHUNK_BYTES, Cell
from bai_gym.benchmark.chunk import play_chunk
from bai_gym.benchmark.facts import facts
from bai_gym.errors import AgentError, ClusterError, ParameterError
from bai_gym.parallel import (
    Workers,
    available_memory,
    check_memory,
    check_workers,
    num_workers,
    plays_elsewhere,
    run_calls,
)
from bai_gym.results.comparison import Comparison
from bai_gym.results.result import Runs, summarize
from bai_gym.results.writer import CHUNK_RUNS, ResultsWriter
from bai_gym.sampling import Rule
from bai_gym.statistics import FloatArray
from bai_gym.validation import flag, integer

__all__ = ["OnChunk", "check_cells", "check_runs", "play_shard", "reuse_in_steps", "run_cells"]

RUN_BYTES = 80  # bytes of the outcome of a run, twice while outcomes are joined
CHUNK_OBJECT = 1000  # bytes of a chunk to be played, and of its outcome without the pulls of each arm
PULL_SECONDS = 3e-8  # of a pull that is decided after the previous one, by the fastest agents
DAYS = 30  # longest computation that is started

OnChunk = Callable[[int, int], None]
"""Called after each chunk with (finished chunks, all chunks)."""


@dataclass(frozen=True)
class _Job:
    cell: Cell
    index: int  # of the cell
    chunk: int
    runs: int


def check_runs(runs: int, workers: Workers) -> None:
    """Check the user's arguments.

    Raises:
        ParameterError: If ``runs`` is no integer of at least 1, or ``workers`` neither one nor -1 nor an executor.
    """
    check_memory(integer(runs, "runs", least=1), RUN_BYTES, "runs", ParameterError)
    check_workers(workers)


def check_cells(cells: Sequence[Cell], runs: int = CHUNK_RUNS) -> None:
    """Check that the cells can be played and are distinct.

    Args:
        cells: The cells.
        runs: Episodes of each.

    Raises:
        BaiGymError: If they do not fit into memory, two are the same, or an agent rejects the environment or budget.
    """
    names = set()
    for cell in cells:
        name = cell.label, cell.env.label, cell.budget
        if name in names:
            raise ParameterError(
                f"{name[0]} is given twice for {name[1]} and budget {name[2]}; give each a different name (models: "
                "SB3Agent(model=..., label=...))"
            )
        names.add(name)
    # A chunk with more arms has fewer runs, unless it has less memory than chunks are made for.
    most = 1 if available_memory() > CHUNK_BYTES else min(runs, CHUNK_RUNS)
    for cell in cells:
        arms, size = cell.env.problem.num_arms, min(runs, cell.chunk_runs)
        check_memory(arms, 8 * cell.arm_numbers * most, "num_arms", ParameterError)
        check_memory(len(cell.checkpoints), 8 * arms * size, "number of checkpoints", ParameterError)
        check_memory(runs, RUN_BYTES + (CHUNK_OBJECT + 16 * arms) / cell.chunk_runs, "runs", ParameterError)
        cell.check()


def _check_time(cell: Cell, runs: int, workers: Workers) -> None:
    """Reject episodes that even the fastest agents would play pull by pull for longer than :data:`DAYS`."""
    if cell.episode_spec.fixed_confidence or not _pull_by_pull(cell):
        return
    workers = num_workers(workers, len(cell.chunk_sizes(runs)))
    pulls, most = runs * cell.episode_spec.most_pulls, int(DAYS * 86400 * workers / PULL_SECONDS)
    if pulls > most:
        fitting = [f"{most // runs} pulls"] * (most >= runs) + [f"{most * runs // pulls} runs"] * (most * runs >= pulls)
        raise ParameterError(
            f"{cell.label} would take at least {pulls / most * DAYS:,.0f} days for {runs} runs of {pulls // runs} "
            f"pulls with workers={workers}; in {DAYS} days it makes at most {' or '.join(fitting)}"
        )


def run_cells(
    cells: Sequence[Cell],
    runs: int,
    *,
    workers: Workers = 1,
    out: Path | None = None,
    on_chunk: OnChunk | None = None,
    rerun: Callable[[Sequence[Cell], int], str] | None = None,
    reuse: bool | None = None,
) -> Comparison:
    """Play ``runs`` episodes of every cell.

    Args:
        cells: The cells; no two of the same agent, environment and budget.
        runs: Episodes of each, at least 1.
        workers: Processes, at most one for each core and each chunk; -1 for all cores; or an executor.
        out: Folder for finished chunks; chunks that are there already are not played again.
        on_chunk: Called after each chunk.
        rerun: Returns the command that repeats some cells with a number of runs, for the results.
        reuse: What to do with finished chunks in ``out``. None: take those that are provably of the same code and
            data, and refuse to start where that cannot be known. True: take them there, too. False: play all again.

    Returns:
        The results in the order of the cells, and for each in that of its checkpoints; the same for any number of
        workers.

    Raises:
        BaiGymError: If an agent cannot play, before any work is done where that can be known.
    """
    check_runs(runs, workers)
    check_cells(cells, runs)
    if not plays_elsewhere(workers):
        for cell in cells:
            _check_time(cell, runs, workers)
    writer = ResultsWriter(out) if out is not None else None
    if writer is not None:
        _check_reuse(cells, writer, reuse)
    parts, jobs = _stored(cells, runs, writer)
    _play(cells, jobs, parts, workers, writer, on_chunk)
    results, outcomes = [], {}
    for cell, chunks in zip(cells, parts, strict=True):
        episodes = Runs.joined([chunks[chunk] for chunk in sorted(chunks)])
        name = cell.label, cell.env.label, cell.budget
        row = facts(cell)
        if rerun is not None:
            row["rerun"] = rerun([cell], runs)
        if writer is not None:
            row["digest"] = cell.digest
        for point in (*episodes.checkpoints, None):
            results.append(summarize(*name, episodes, at=point, **row))
        outcomes[name] = episodes
    return Comparison(tuple(results), outcomes)


def play_shard(
    cells: Sequence[Cell],
    runs: int,
    shard: tuple[int, int],
    *,
    out: Path,
    workers: Workers = 1,
    on_chunk: OnChunk | None = None,
    reuse: bool | None = None,
) -> int:
    """Play a part of the chunks of some cells into a folder that other machines share.

    Args:
        cells: The cells.
        runs: Episodes of each.
        shard: ``(i, n)``: the i-th of n parts, from 1; each has every n-th chunk.
        out: The folder.
        workers: See :func:`run_cells`.
        on_chunk: Called after each chunk.
        reuse: See :func:`run_cells`; not False, which would delete the other parts.

    Returns:
        The number of chunks that are still missing, with those of other shards. Where it is 0, :func:`run_cells` plays
        nothing and returns the results.

    Raises:
        BaiGymError: If an agent cannot play, before any work is done where that can be known.
    """
    check_runs(runs, workers)
    check_cells(cells, runs)
    if reuse is False:
        raise ParameterError("a shard never deletes what the others have played: leave reuse=False (--no-reuse) out")
    writer = ResultsWriter(out)
    _check_reuse(cells, writer, reuse)
    number, shards = shard
    places = [(index, chunk) for index, cell in enumerate(cells) for chunk in range(len(cell.chunk_sizes(runs)))]
    own = set(places[number - 1 :: shards])
    parts, jobs = _stored(cells, runs, writer)
    _play(cells, [job for job in jobs if (job.index, job.chunk) in own], parts, workers, writer, on_chunk)
    others = [job for job in jobs if (job.index, job.chunk) not in own]
    return sum(writer.load(job.cell.key, job.chunk, job.runs) is None for job in others)


def _stored(cells: Sequence[Cell], runs: int, writer: ResultsWriter | None) -> tuple[list[dict[int, Runs]], list[_Job]]:
    """Return the finished chunks of each cell, and what is to be played."""
    parts: list[dict[int, Runs]] = [{} for _ in cells]
    jobs = []
    for index, cell in enumerate(cells):
        for chunk, size in enumerate(cell.chunk_sizes(runs)):
            stored = writer.load(cell.key, chunk, size) if writer is not None else None
            if stored is None:
                jobs.append(_Job(cell, index, chunk, size))
            else:
                parts[index][chunk] = stored
    return parts, jobs


def _play(
    cells: Sequence[Cell],
    jobs: list[_Job],
    parts: list[dict[int, Runs]],
    workers: Workers,
    writer: ResultsWriter | None,
    on_chunk: OnChunk | None,
) -> None:
    """Play chunks, store them, and add them to the ``parts`` of their cells."""
    done = sum(map(len, parts))
    total = done + len(jobs)
    if len(jobs) > 1:
        # A short one first, so that something is saved soon; then the longest, so that no worker is left with a long
        # one.
        jobs = sorted(jobs, key=_effort, reverse=True)
        jobs = jobs[-1:] + jobs[:-1]
    elsewhere = plays_elsewhere(workers)
    here = not elsewhere and num_workers(workers, len(jobs)) == 1

    def take(number: int, episodes: Runs) -> None:
        nonlocal done
        job = jobs[number]
        # Machines elsewhere do not see the folder; processes of this machine have stored what they have played.
        if writer is not None and (here or elsewhere):
            writer.save(job.cell.key, job.chunk, episodes)
        parts[job.index][job.chunk] = episodes
        done += 1
        if on_chunk is not None:
            on_chunk(done, total)

    if on_chunk is not None:
        on_chunk(done, total)
    try:
        if here:
            for number, job in enumerate(jobs):
                take(number, play_chunk(job.cell, job.chunk, job.runs, writer))
        elif elsewhere:
            run_calls([functools.partial(_work_elsewhere, job, job.cell.env.probe) for job in jobs], workers, take)
        else:
            run_calls([functools.partial(_work, job, writer) for job in jobs], workers, take)
    except KeyboardInterrupt as error:
        error.add_note(_what_is_saved(cells, jobs, total, writer))
        raise


def _check_reuse(cells: Sequence[Cell], writer: ResultsWriter, reuse: bool | None) -> None:
    """Check that finished chunks may be taken, or delete them if they are to be played again.

    Raises:
        AgentError: If whether they are of the same code cannot be known, and the user has not said what to do.
    """
    if reuse is not None:
        flag(reuse, "reuse")
    for cell in cells:
        if reuse is False:
            writer.forget(cell.key)
        elif reuse is None and cell.doubt is not None and writer.has_finished(cell.key):
            raise _unknown_code(cell, writer.folder, "play them again with reuse=False (--no-reuse)")


def reuse_in_steps(cells: Sequence[Cell], out: Path | None, reuse: bool | None) -> bool | None:
    """Return the ``reuse`` of a command that calls :func:`run_cells` several times, so that later calls resume earlier.

    Args:
        cells: One of each agent.
        out: The folder for finished chunks.
        reuse: What the user says, see :func:`run_cells`.

    Raises:
        AgentError: If whether chunks in the folder are of the same code cannot be known.
    """
    doubted = [cell for cell in cells if cell.doubt is not None]
    if out is None or reuse is not None or not doubted:
        return reuse
    if any(out.glob("chunks/*/[0-9]*")):
        raise _unknown_code(doubted[0], out, "name an empty folder")
    return True


def _unknown_code(cell: Cell, folder: Path, other_way: str) -> AgentError:
    return AgentError(
        f"{folder} has finished runs, and whether the code of {cell.label} on {cell.env.label} is still the same "
        f"cannot be known: {cell.doubt}; take them with reuse=True (--reuse), or {other_way}"
    )


def _pull_by_pull(cell: Cell) -> bool:
    """Return whether an agent decides after each pull."""
    return cell.in_steps or isinstance(getattr(cell.agent.prototype, "rule", None), Rule)


def _effort(job: _Job) -> tuple[bool, bool, int]:
    """Return what the duration of a chunk grows with: pulls made one by one in Python, or in compiled code; pulls."""
    return job.cell.in_steps, _pull_by_pull(job.cell), job.cell.episode_spec.most_pulls * job.runs


def _what_is_saved(cells: Sequence[Cell], jobs: Sequence[_Job], total: int, writer: ResultsWriter | None) -> str:
    """Say what the same call would not play again after an interruption."""
    if writer is None:
        return "nothing is saved without an output folder"
    done = total - sum(not writer.chunk_path(job.cell.key, job.chunk, job.runs).exists() for job in jobs)
    if done or any(writer.has_parts(cell.key) for cell in cells):
        started = "" if done else ", and some runs of the next"
        return f"{done:,} of {total:,} chunks of runs{started} are saved in {writer.folder}; the same command resumes"
    return f"no chunk of runs was finished, so nothing is saved in {writer.folder}"


def _work(job: _Job, writer: ResultsWriter | None) -> Runs:
    """Play and store a chunk, in a process of this machine."""
    episodes = play_chunk(job.cell, job.chunk, job.runs, writer)
    if writer is not None:
        writer.save(job.cell.key, job.chunk, episodes)
    return episodes


def _work_elsewhere(job: _Job, probe: FloatArray) -> Runs:
    """Play a chunk, if this machine has the same data.

    Args:
        job: The chunk.
        probe: Draws of the environment on the user's machine.
    """
    _check_probe(job.cell, probe)
    return play_chunk(job.cell, job.chunk, job.runs)


def _check_probe(cell: Cell, expected: FloatArray) -> None:
    """Check that this worker draws the same numbers as the user's machine, up to rounding.

    Raises:
        ClusterError: If it does not; a file of the environment then differs here.
    """
    found = cell.env.probe
    if found.shape != expected.shape or not np.allclose(found, expected, rtol=1e-6, equal_nan=True):
        raise ClusterError(
            f"worker {socket.gethostname()} draws other instances of {cell.env.label} than this machine: the files "
            "that the environment reads must be the same, under the same paths, on all machines"
        )
