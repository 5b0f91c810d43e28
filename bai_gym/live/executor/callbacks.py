"""Runs a pull here, in a thread that can only be abandoned, in a process that can be killed, or on an executor."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import warnings
import weakref
from concurrent import futures
from functools import partial
from typing import Any, Protocol

import cloudpickle

from bai_gym.errors import ClusterError, ParameterError
from bai_gym.live.executor.functions import FailedPullError, Functions, Outcome, Stream, one_line
from bai_gym.parallel import opened, packed, plays_elsewhere
from bai_gym.parallel.worker import read, write
from bai_gym.validation import choice

__all__ = ["PLACES", "Callback", "make_callback"]

PLACES = ("auto", "here", "thread", "process")
"""Where pulls can run, beside an executor."""

STARTUP_SECONDS = 300.0  # time for a worker to import the function's modules: longer than any import should take

_PROGRAM = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from bai_gym.parallel.worker import main
main()
"""


class Callback(Protocol):
    """Makes pulls."""

    def call(self, arm: int, stream: Stream, item: int | None = None) -> Outcome:
        """Pull an arm once, on the item of that number, where there are any.

        Raises:
            FailedPullError: If it returned no finite number, took too long, or its process died.
            Exception: An exception of the user's function.
        """

    def close(self) -> None:
        """End the thread or process."""


def make_callback(functions: Functions, timeout: float | None, run_in: str | futures.Executor) -> Callback:
    """Return the callback for a place.

    Args:
        functions: The user's functions.
        timeout: Seconds for a pull, or None.
        run_in: An executor, or one of :data:`PLACES`. ``"auto"``: here without a timeout, else in a process, or in a
            thread where the functions cannot be sent to a process (a warning says so).

    Raises:
        ParameterError: An unknown place, a timeout that cannot be kept there, or functions that cannot be sent.
    """
    if plays_elsewhere(run_in):
        return _Elsewhere(functions, timeout, run_in)
    choice(run_in, PLACES, "run_in")
    if run_in == "here" and timeout is not None:
        raise ParameterError("run_in='here' cannot keep a timeout: give run_in='process' or 'thread', or no timeout")
    if run_in == "here" or (run_in == "auto" and timeout is None):
        return _Here(functions)
    if run_in == "thread":
        return _Thread(functions, timeout)
    process = _Process(functions, timeout)
    try:
        process.start()
    except (_UnsendableError, OSError) as error:
        if run_in == "process":
            raise ParameterError(
                f"pull cannot be run in a worker process ({error}); give run_in='thread', or a function that pickle or "
                "cloudpickle can send"
            ) from None
        warnings.warn(
            f"pull cannot be run in a worker process ({error}), so it runs in a thread: a pull that takes longer than "
            "its timeout is abandoned, but continues in the background",
            UserWarning,
            stacklevel=4,
        )
        return _Thread(functions, timeout)
    return process


class _UnsendableError(Exception):
    """The functions cannot be pickled, or a fresh process cannot load them."""


class _Here:
    def __init__(self, functions: Functions) -> None:
        self._functions = functions

    def call(self, arm: int, stream: Stream, item: int | None = None) -> Outcome:
        return self._functions(arm, stream, item)

    def close(self) -> None:
        pass


class _Thread:
    """A daemon thread for each pull. Python cannot end a thread: an abandoned pull continues in the background."""

    def __init__(self, functions: Functions, timeout: float | None) -> None:
        self._functions = functions
        self._timeout = timeout

    def call(self, arm: int, stream: Stream, item: int | None = None) -> Outcome:
        done: queue.SimpleQueue[Outcome | BaseException] = queue.SimpleQueue()

        def pull() -> None:
            try:
                done.put(self._functions(arm, stream, item))
            except BaseException as error:  # noqa: B036 (it is raised again, where it is waited for)
                done.put(error)

        threading.Thread(target=pull, daemon=True, name=f"pull of arm {arm}").start()
        try:
            outcome = done.get(timeout=self._timeout)
        except queue.Empty:
            raise FailedPullError(_late(self._timeout)) from None
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    def close(self) -> None:
        pass


class _Elsewhere:
    """A task for each pull, on any worker of an executor."""

    def __init__(self, functions: Functions, timeout: float | None, executor: Any) -> None:
        self._functions = functions
        self._timeout = timeout
        self._executor = executor
        packed(functions)  # an error now, if they cannot be sent

    def call(self, arm: int, stream: Stream, item: int | None = None) -> Outcome:
        task = packed(partial(self._functions, arm, stream, item))
        try:
            future = self._executor.submit(pickle.loads, task)
            done, _ = futures.wait([future], self._timeout)
            result = future.result() if done else None
        except Exception as error:
            raise ClusterError(f"the worker of a pull was lost ({one_line(str(error))})") from None
        if result is None:
            future.cancel()
            raise FailedPullError(_late(self._timeout))
        outcome: Outcome = opened(result)
        return outcome

    def close(self) -> None:
        pass


class _Process:
    """One worker process for all pulls; a new one after an abandoned pull."""

    def __init__(self, functions: Functions, timeout: float | None) -> None:
        self._functions = functions
        self._timeout = timeout
        self._process: subprocess.Popen[bytes] | None = None
        self._replies: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._number = 0  # of the worker's next request
        self._finalizer: Any = None

    def start(self) -> None:
        """Start the worker, unless it is running, and send it the functions.

        Raises:
            _UnsendableError: If they cannot be sent.
            OSError: If there can be no process.
        """
        if self._process is not None:
            return
        try:
            message = cloudpickle.dumps(self._functions)
        except Exception as error:  # pickling runs the user's code
            raise _UnsendableError(_named(error)) from None
        self._process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, json.dumps([os.path.abspath(place) for place in sys.path])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # a group of its own: what the function has started is killed with it
        )
        self._replies = queue.SimpleQueue()
        self._number = 0
        self._finalizer = weakref.finalize(self, _end, self._process)
        threading.Thread(target=_receive, args=(self._process, self._replies), daemon=True).start()
        try:
            reply = self._ask(message, STARTUP_SECONDS)
        except FailedPullError as error:
            raise _UnsendableError(str(error)) from None
        if reply is not None:
            self.close()
            raise _UnsendableError(_named(reply))

    def call(self, arm: int, stream: Stream, item: int | None = None) -> Outcome:
        try:
            self.start()
        except _UnsendableError as error:
            raise FailedPullError(f"its worker process could not be started again: {error}") from None
        reply: Outcome | BaseException = self._ask(pickle.dumps((arm, stream, item)), self._timeout)
        if isinstance(reply, BaseException):
            raise reply
        return reply

    def _ask(self, message: bytes, timeout: float | None) -> Any:
        assert self._process is not None and self._process.stdin is not None
        request, self._number = (self._number, self._process.pid), self._number + 1
        try:
            write(self._process.stdin, message)
            reply = self._replies.get(timeout=timeout)
        except queue.Empty:
            self.close()
            raise FailedPullError(_late(timeout)) from None
        except OSError:  # the worker no longer reads
            reply = None
        except BaseException:  # Ctrl-C: the reply would be taken for that of the next pull
            self.close()
            raise
        if reply is None:
            code = self._stop()
            raise FailedPullError(f"its process died ({_cause(code)})")
        *source, content = pickle.loads(reply)
        if tuple(source) != request:
            self.close()
            raise FailedPullError("its process sent the reply of another pull; the function may have forked")
        return pickle.loads(content)

    def close(self) -> None:
        self._stop()

    def _stop(self) -> int | None:
        """Kill the worker, if there is one; return its exit code."""
        if self._process is None:
            return None
        process, self._process = self._process, None
        self._finalizer.detach()
        return _end(process)


def _receive(process: subprocess.Popen[bytes], replies: queue.SimpleQueue[bytes | None]) -> None:
    """Forward the replies of the worker, and None at its end."""
    assert process.stdout is not None
    with process.stdout as pipe:
        while (message := read(pipe)) is not None:
            replies.put(message)
    replies.put(None)


def _end(process: subprocess.Popen[bytes]) -> int:
    """Kill a worker with what it has started; return its exit code, negative after a signal."""
    # Before anybody has waited for it, so that its number cannot be that of another process. One that has died by
    # itself keeps its exit code.
    with contextlib.suppress(OSError):  # its process group is gone
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    code = process.wait()
    if process.stdin is not None:
        with contextlib.suppress(OSError):  # an unread request
            process.stdin.close()
    return code


def _cause(code: int | None) -> str:
    if code is not None and code < 0:
        try:
            return f"signal {signal.Signals(-code).name}"
        except ValueError:
            return f"signal {-code}"
    return f"exit code {code}"


def _late(timeout: float | None) -> str:
    return f"it took longer than {timeout:g} seconds"


def _named(error: BaseException) -> str:
    return one_line(f"{type(error).__name__}: {error}")
