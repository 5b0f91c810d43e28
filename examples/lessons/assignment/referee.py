"""The grader's side: an agent for the runner that passes every question on to the student's process, with a time limit.

The runner draws the bandits, answers the pulls and counts them, all in this process; the student's process sees what an
agent may see, and in another order of the arms for every episode.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from box import strongest

from bai_gym.bandits.executor.worker import read, write
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Block, Plan, check_request
from bai_gym.statistics import IntArray, Observation
from bai_gym.tasks import BestArm
from player import STATISTICS, Arrays, pack, unpack

LABEL = "your agent"  # in the runner's results
STARTUP = 120.0  # seconds for Python and bai_gym to start, which are not the student's fault
MOST_CODE = 1_000_000  # bytes of a submission
MOST_ANSWER = 2**26  # bytes of an answer
MOST_LOG = 100_000  # bytes of the prints of a part


class StudentError(Exception):
    """The student's agent cannot be graded; the message is a sentence for the student."""


class TimeLimitError(StudentError):
    """The student's agent takes too long; it is not asked again."""


@dataclass(frozen=True)
class Submission:
    """What is graded: read once, before any submission runs, so that none can change another.

    Attributes:
        name: What reports call it.
        file: Name of the file.
        code: Its content.
        problem: Why there is none; empty if there is.
    """

    name: str
    file: str
    code: bytes = b""
    problem: str = ""

    @classmethod
    def read(cls, path: Path, name: str | None = None) -> Submission:
        """Read a file; a link is refused, because it could lead to another submission."""
        named = name or path.name, path.name
        if path.is_symlink() or not path.is_file():
            return cls(*named, problem="it is not a regular file")
        try:
            with path.open("rb") as file:
                code = file.read(MOST_CODE + 1)
        except OSError as error:
            return cls(*named, problem=f"it cannot be read: {error.strerror}")
        if len(code) > MOST_CODE:
            return cls(*named, problem=f"it has more than {MOST_CODE:,} bytes")
        return cls(*named, code)


class Process:
    """The process of one submission, with its time limits.

    Args:
        seconds: Time limit of all its answers in total.
        answer_seconds: Time limit of a single answer, after which it is taken to hang.
        log: Where the first `MOST_LOG` bytes of its prints go when it has ended; None: nowhere.

    Raises:
        StudentError: If it does not start.
    """

    def __init__(self, seconds: float, answer_seconds: float, log: IO[bytes] | None = None) -> None:
        self._seconds = self._left = seconds
        self._answer_seconds = answer_seconds
        self._log, self._prints = log, bytearray()
        self._folder = tempfile.TemporaryDirectory(prefix="submission-", ignore_cleanup_errors=True)
        os.chmod(self._folder.name, 0o777)  # its user may be another
        self._process = strongest().start(self._folder.name)
        self._questions: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._converse, self._listen)]
        for thread in self._threads:
            thread.start()
        try:
            self._wait(STARTUP)
        except queue.Empty:
            self.close()
            raise StudentError(f"its process did not start within {STARTUP:g} seconds") from None
        except BaseException:
            self.close()
            raise

    def _converse(self) -> None:
        """Read an answer, then send the next question, and so on: what is not asked for stays in the pipe.

        Whatever the student's process does to the pipes, only this thread waits for them.
        """
        assert self._process.stdin is not None and self._process.stdout is not None
        with contextlib.suppress(OSError):  # it has ended
            while (message := read(self._process.stdout, most=MOST_ANSWER)) is not None:
                self._answers.put(message)
                write(self._process.stdin, self._questions.get())
        self._answers.put(None)

    def _listen(self) -> None:
        """Read all prints, and keep the first."""
        assert self._process.stderr is not None
        while part := self._process.stderr.read1(65536):  # type: ignore[attr-defined]
            self._prints += part[: MOST_LOG - len(self._prints)]

    def _wait(self, seconds: float) -> tuple[dict[str, Any], Arrays]:
        answer = self._answers.get(timeout=max(seconds, 0.0))
        if answer is None:
            raise StudentError(f"its process {self._end()}")
        try:
            header, arrays = unpack(answer)
        except ValueError:
            raise StudentError("its process answered with something else than the grader asked for") from None
        if "error" in header:
            raise StudentError(str(header["error"]))
        return header, arrays

    def _end(self) -> str:
        """Return how the process has ended, where no answer will come."""
        try:
            code = self._process.wait(timeout=1.0)
        except subprocess.TimeoutExpired:
            return "closed the pipe to the grader, or wrote into it"
        number = -code if code < 0 else code - 128 if code > 128 else 0  # the shell of the box adds 128
        cause = f"signal {number}; did it run out of memory?" if number else f"exit code {code}"
        return f"ended by itself ({cause})"

    def ask(self, what: str, arrays: Arrays | None = None, **facts: Any) -> tuple[dict[str, Any], Arrays]:
        """Return the answer to a question.

        Raises:
            TimeLimitError: If the student's code takes too long.
            StudentError: If it fails.
        """
        started = time.perf_counter()
        try:
            self._questions.put(pack({"do": what, **facts}, arrays))
            return self._wait(min(self._left, self._answer_seconds))
        except queue.Empty:
            if self._answer_seconds < self._left:
                raise TimeLimitError(
                    f"it did not answer within {self._answer_seconds:g} seconds (when asked to {what}); "
                    "is there a loop that never ends?"
                ) from None
            raise TimeLimitError(
                f"it took longer than the time limit of {self._seconds:g} seconds (when asked to {what}); "
                "is there a loop that never ends, or one over single pulls that is too slow?"
            ) from None
        finally:
            self._left -= time.perf_counter() - started

    def close(self) -> None:
        """Kill the process with all that it has started."""
        with contextlib.suppress(OSError):  # nobody is left in its group
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()
        self._process.wait()
        self._questions.put(b"")  # in vain; it ends the thread
        for thread in self._threads:
            thread.join(timeout=1.0)
        if not any(thread.is_alive() for thread in self._threads):
            for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
                with contextlib.suppress(OSError):  # a question that nobody has read
                    pipe.close()  # type: ignore[union-attr]
        self._folder.cleanup()
        if self._log is not None:
            self._log.write(bytes(self._prints))

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def student(process: Process, submission: Submission, class_name: str, allowed: tuple[str, ...]) -> Student:
    """Return the agent that represents a student's process.

    Raises:
        StudentError: If the file cannot be loaded, or the agent declares oracle knowledge that is not allowed.
    """
    code = {"code": np.frombuffer(submission.code, np.uint8)}
    header, _ = process.ask("load", code, file=submission.file, class_name=class_name)
    declared = tuple(header["knows"])
    excess = sorted(set(declared) - set(allowed))
    if excess:
        may = f"it may know only {', '.join(allowed)}" if allowed else "an agent receives only arms and budget"
        raise StudentError(f"it declares to know {', '.join(excess)}; in this assignment {may}")
    kind = Actor if header["acts"] else Planner
    return kind(process, frozenset(declared), bool(header["uses_variances"]))


class Student:
    """The common part of both kinds of agents: the problem info, and a random order of the arms in every episode."""

    label = LABEL

    def __init__(self, process: Process, knows: frozenset[str], uses_variances: bool) -> None:
        self.process = process
        self.knows = knows
        self.uses_variances = uses_variances

    def __deepcopy__(self, memo: dict[int, Any]) -> Student:
        """Share the process: it makes a fresh agent at every reset."""
        return type(self)(self.process, self.knows, self.uses_variances)

    def reset(self, info: ProblemInfo, rng: np.random.Generator) -> None:
        """Begin new episodes."""
        self.batch, self.num_arms = info.batch, info.num_arms
        arms = np.tile(np.arange(self.num_arms), (self.batch, 1))
        self.order: IntArray = rng.permuted(arms, axis=1)  # arm at each of the student's places
        facts: Arrays = {}
        if info.features is not None:
            facts["features"] = self.shown(info.features)
        if "variances" in self.knows:
            facts["variances"] = self.shown(info.variances)
        if "range" in self.knows:
            facts["range"] = info.reward_bound
        self.process.ask(
            "reset",
            facts,
            num_arms=self.num_arms,
            budget=info.budget,
            batch=self.batch,
            epsilon=info.task.epsilon,
            knows=sorted(self.knows),
            seed=int(rng.integers(2**62)),
        )

    def shown(self, array: np.ndarray) -> np.ndarray:
        """Return an array (N, K, ...) in the student's order of the arms."""
        return np.take_along_axis(array, self.order.reshape(*self.order.shape, *[1] * (array.ndim - 2)), axis=1)

    def observed(self, observation: Observation) -> Arrays:
        """Return an observation in the student's order of the arms."""
        return {
            name: np.asarray(observation[name]) if name == "remaining" else self.shown(np.asarray(observation[name]))
            for name in observation
        }

    def meant(self, answers: np.ndarray | None, what: str) -> IntArray:
        """Return the arms that the student's numbers stand for, (N,)."""
        arms = BestArm().check(answers, self.batch, self.num_arms, what)
        return np.take_along_axis(self.order, arms[:, None], 1)[:, 0]


class Planner(Student):
    """An agent with a plan, or with `allocate` and `recommend`."""

    def start(self, seen: Observation) -> Plan:
        """Yield the student's blocks, in the runner's order of the arms, and return what the student recommends."""
        header, given = self.process.ask("allocate")
        while header.get("request") == "block":
            left = int(seen["remaining"].flat[0])
            block, _ = check_request(Block(given["counts"], given.get("arms")), self.batch, self.num_arms, left)
            arms = self.order if block.arms is None else np.take_along_axis(self.order, block.arms, 1)
            made = yield Block(block.counts, arms)
            header, given = self.process.ask("allocate", {name: getattr(made, name) for name in STATISTICS})
        return self.meant(given.get("recommendation"), "recommend")


class Actor(Student):
    """An agent with `act`."""

    batched = True

    def act(self, observation: Observation) -> IntArray:
        """Return the student's actions."""
        _, given = self.process.ask("act", self.observed(observation))
        return self.meant(given.get("actions"), "act")
