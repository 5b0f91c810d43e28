"""Holds signals while compiled code is made, loaded or entered.

Numba calls Python from C, and an exception that a signal handler raises there (``KeyboardInterrupt`` after Ctrl-C) is
lost, or ends the process with a segmentation fault.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

__all__ = ["signals_held"]

HELD = (signal.SIGTERM, signal.SIGINT)  # in the order in which they are given back


@contextmanager
def signals_held() -> Iterator[None]:
    """Hold signals that have a handler in Python; it is called at the end, once for each of them.

    Only the main thread has signal handlers; in others, this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    arrived: dict[int, FrameType | None] = {}
    handlers: dict[int, Any] = {number: signal.getsignal(number) for number in HELD}
    handlers = {number: handler for number, handler in handlers.items() if callable(handler)}
    try:
        for number in handlers:
            signal.signal(number, arrived.__setitem__)
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for number, frame in arrived.items():
            handlers[number](number, frame)
