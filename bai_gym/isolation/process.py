"""The other side's process: questions and answers, with limits of time, memory and output."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from bai_gym.bandits.executor.worker import read, write
from bai_gym.errors import BaiGymError
from bai_gym.isolation.box import MOST_MEMORY, strongest
from bai_gym.isolation.messages import Arrays, pack, unpack

__all__ = ["MOST_CODE", "Process", "Submission", "SubmissionError", "SubmissionTimeoutError", "blamed", "sentence"]

STARTUP = 120.0  # seconds for Python and bai_gym to start, which are not the submission's fault
MOST_CODE = 1_000_000  # bytes of a submission
MOST_ANSWER = 2**26  # bytes of an answer
MOST_LOG = 100_000  # bytes of prints that are kept
MOST_WORDS = 1000  # characters of a sentence that may hold a submission's words


class SubmissionError(BaiGymError):
    """A submission cannot be played; the message is for its author."""


class SubmissionTimeoutError(SubmissionError):
    """A submission takes too long; it is not asked again."""


@contextlib.contextmanager
def blamed() -> Iterator[None]:
    """Turn whatever goes wrong while a submission is played into a :class:`SubmissionError`.

    Environments and rivals must have been tried without it.
    """
    try:
        yield
    except SubmissionError:
        raise
    except BaiGymError as error:
        raise SubmissionError(str(error)) from None
    except Exception as error:
        raise SubmissionError(f"its answers cannot be used ({type(error).__name__}: {error})") from None


def sentence(words: str) -> str:
    """Return what a submission may have said as one printable line that ends as a sentence."""
    line = " ".join(words[: 10 * MOST_WORDS].split())
    line = "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in line)
    line = line if len(line) <= MOST_WORDS else f"{line[:MOST_WORDS]}..."
    return line if line.endswith("?") else f"{line.rstrip('.')}."


@dataclass(frozen=True)
class Submission:
    """A file with an agent: read once, before any submission runs, so that none can change another.

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
        memory: Largest number of bytes of each of its processes, on POSIX systems.
        log: Where the first `MOST_LOG` bytes of its prints go when it has ended; None: nowhere.

    Raises:
        SubmissionError: If it does not start.
    """

    def __init__(
        self,
        seconds: float,
        answer_seconds: float,
        *,
        memory: int = MOST_MEMORY,
        log: IO[bytes] | None = None,
    ) -> None:
        self._seconds = self._left = seconds
        self._answer_seconds = answer_seconds
        self._log, self._prints = log, bytearray()
        self._folder = tempfile.TemporaryDirectory(prefix="submission-", ignore_cleanup_errors=True)
        os.chmod(self._folder.name, 0o777)  # its user may be another
        self._process = strongest().start(self._folder.name, memory)
        self._questions: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._converse, self._listen)]
        for thread in self._threads:
            thread.start()
        try:
            self._wait(STARTUP)
        except queue.Empty:
            self.close()
            raise SubmissionError(f"its process did not start within {STARTUP:g} seconds") from None
        except BaseException:
            self.close()
            raise

    def _converse(self) -> None:
        """Read an answer, then send the next question, and so on: what is not asked for stays in the pipe.

        Whatever the process does to the pipes, only this thread waits for them.
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
            raise SubmissionError(f"its process {self._end()}")
        try:
            header, arrays = unpack(answer)
        except ValueError:
            raise SubmissionError("its process answered with something else than it was asked for") from None
        if "error" in header:
            raise SubmissionError(str(header["error"]))
        return header, arrays

    def _end(self) -> str:
        """Return how the process has ended, where no answer will come."""
        try:
            code = self._process.wait(timeout=1.0)
        except subprocess.TimeoutExpired:
            return "closed the pipe for its answers, or wrote into it"
        number = -code if code < 0 else code - 128 if code > 128 else 0  # the shell of the box adds 128
        cause = f"signal {number}; did it run out of memory?" if number else f"exit code {code}"
        return f"ended by itself ({cause})"

    def ask(self, what: str, arrays: Arrays | None = None, **facts: Any) -> tuple[dict[str, Any], Arrays]:
        """Return the answer to a question.

        Raises:
            SubmissionTimeoutError: If the code takes too long.
            SubmissionError: If it fails.
        """
        started = time.perf_counter()
        try:
            self._questions.put(pack({"do": what, **facts}, arrays))
            return self._wait(min(self._left, self._answer_seconds))
        except queue.Empty:
            if self._answer_seconds < self._left:
                raise SubmissionTimeoutError(
                    f"it did not answer within {self._answer_seconds:g} seconds (when asked to {what}); "
                    "is there a loop that never ends?"
                ) from None
            raise SubmissionTimeoutError(
                f"it took longer than the time limit of {self._seconds:g} seconds (when asked to {what}); "
                "is there a loop that never ends, or one over single pulls that is too slow?"
            ) from None
        finally:
            self._left -= time.perf_counter() - started

    def renew(self) -> None:
        """Give its answers the whole time again."""
        self._left = self._seconds

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
