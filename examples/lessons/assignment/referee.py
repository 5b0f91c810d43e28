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
import sys
import threading
import time
from pathlib import Path
from typing import IO, Any

import numpy as np

from bai_gym.bandits.executor.worker import read, write
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Block, Plan, check_request
from bai_gym.statistics import IntArray, Observation
from bai_gym.tasks import BestArm
from player import STATISTICS, Arrays, pack, unpack

LABEL = "your agent"  # in the runner's results
STARTUP = 120.0  # seconds for Python and bai_gym to start, which are not the student's fault


class StudentError(Exception):
    """The student's agent cannot be graded; the message is a sentence for the student."""


class TimeLimitError(StudentError):
    """The student's agent takes too long; it is not asked again."""


class Process:
    """The process of one agent, with its time limits.

    Args:
        file: The student's file.
        seconds: Time limit of all its answers in total.
        answer_seconds: Time limit of a single answer, after which it is taken to hang.
        log: Where its prints go; None: nowhere.
    """

    def __init__(self, file: Path, seconds: float, answer_seconds: float, log: IO[bytes] | None = None) -> None:
        self._seconds = self._left = seconds
        self._answer_seconds = answer_seconds
        one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("player.py")), str(file)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if log is None else log,
            env={**os.environ, **one_thread, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"},
            start_new_session=True,  # a group of its own: what the student's code has started is killed with it
        )
        self._answers: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        threading.Thread(target=self._receive, daemon=True).start()
        self._wait(STARTUP)

    def _receive(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as pipe:
            while (message := read(pipe)) is not None:
                self._answers.put(message)
        self._answers.put(None)

    def _wait(self, seconds: float) -> tuple[dict[str, Any], Arrays]:
        answer = self._answers.get(timeout=max(seconds, 0.0))
        if answer is None:
            code = self._process.wait()
            cause = f"signal {-code}; did it run out of memory?" if code < 0 else f"exit code {code}"
            raise StudentError(f"its process ended by itself ({cause})")
        try:
            header, arrays = unpack(answer)
        except ValueError:
            raise StudentError("its process answered with something else than the grader asked for") from None
        if "error" in header:
            raise StudentError(str(header["error"]))
        return header, arrays

    def ask(self, what: str, arrays: Arrays | None = None, **facts: Any) -> tuple[dict[str, Any], Arrays]:
        """Return the answer to a question.

        Raises:
            TimeLimitError: If the student's code takes too long.
            StudentError: If it fails.
        """
        assert self._process.stdin is not None
        started = time.perf_counter()
        try:
            with contextlib.suppress(BrokenPipeError):  # it has ended, which is seen below
                write(self._process.stdin, pack({"do": what, **facts}, arrays))
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
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):  # a question that nobody has read
                self._process.stdin.close()

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def student(process: Process, class_name: str, allowed: tuple[str, ...]) -> Student:
    """Return the agent that represents a student's process.

    Raises:
        StudentError: If the file cannot be loaded, or the agent declares oracle knowledge that is not allowed.
    """
    header, _ = process.ask("load", class_name=class_name)
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
