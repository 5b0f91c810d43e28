"""The worker process: makes pulls sequentially, and can be killed at any time.

Messages are pickles with their length before them, requests on standard input and replies on standard output. What the
user's function prints therefore goes to standard error. When the parent ends, however it ends, standard input does too,
and the worker exits immediately. A reply carries the number of its request and the id of its process: user functions
may fork, and let both processes return.
"""

from __future__ import annotations

import itertools
import os
import pickle
import queue
import struct
import threading
import traceback
from typing import IO

import cloudpickle

__all__ = ["listen", "main", "read", "write"]

_LENGTH = struct.Struct(">Q")


def write(pipe: IO[bytes], message: bytes) -> None:
    """Send one message."""
    pipe.write(_LENGTH.pack(len(message)) + message)
    pipe.flush()


def read(pipe: IO[bytes], most: int | None = None) -> bytes | None:
    """Receive a message; None at the end, even within a message, and if it is longer than ``most`` bytes."""
    head = pipe.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    if most is not None and length > most:
        return None
    message = pipe.read(length)
    return message if len(message) == length else None


def listen() -> tuple[queue.SimpleQueue[bytes], IO[bytes]]:
    """Use standard input and output for messages, and exit when the parent is gone.

    From now on standard input is empty, and printed text goes to standard error.

    Returns:
        The messages that have arrived, in a queue that a thread fills, and the pipe for replies.
    """
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.dup2(2, 1)
    waiting: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def receive() -> None:
        while (message := read(requests)) is not None:
            waiting.put(message)
        os._exit(0)

    threading.Thread(target=receive, daemon=True).start()
    return waiting, replies


def main() -> None:
    """Receive the function, report whether it could be loaded, then pull until the parent is gone.

    Requests are the pickled function, then ``(arm, stream, item)``; replies are ``(number, process, content)``, the
    content pickled: None for the function, then an outcome, or an exception.
    """
    process = os.getpid()
    waiting, replies = listen()

    def reply(number: int, content: bytes) -> None:
        if os.getpid() != process:  # a fork that the function has left behind: the reward is that of its parent
            os._exit(0)
        write(replies, pickle.dumps((number, process, content)))

    try:
        function = pickle.loads(waiting.get())
    except BaseException as error:  # noqa: B036 (a module that cannot be imported may do anything)
        reply(0, _described(error))
        return
    reply(0, pickle.dumps(None))
    for number in itertools.count(1):
        arm, stream, item = pickle.loads(waiting.get())
        try:
            content = pickle.dumps(function(arm, stream, item))
        except (Exception, SystemExit) as error:
            content = _described(error)
        reply(number, content)


def _described(error: BaseException) -> bytes:
    """Return a pickled exception, with where it was raised as a note."""
    error.add_note("".join(["In the worker process:\n", *traceback.format_exception(error)]).rstrip())
    try:
        message: bytes = cloudpickle.dumps(error)
        pickle.loads(message)
    except Exception:  # exceptions with arguments of their own often cannot be pickled, or not be unpickled
        return pickle.dumps(RuntimeError(f"{type(error).__name__}: {error}"))
    return message
