"""Ctrl-C reaches the program, and not the compiled code that it is in."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator

import pytest

from bai_gym.sampling.signals import signals_held


@pytest.fixture(autouse=True)
def interruptible() -> Iterator[None]:
    """Let Ctrl-C raise KeyboardInterrupt, as it does not in commands that were started in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_a_held_signal_is_handled_once_at_the_end() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt), signals_held():
        for _ in range(2):
            signal.raise_signal(signal.SIGINT)
        done.append("after both")
    assert done and signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_other_threads_hold_nothing() -> None:
    before, found = signal.getsignal(signal.SIGINT), []

    def work() -> None:
        with signals_held():
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [before]


def test_a_handler_of_c_is_left_alone() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with signals_held():
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
