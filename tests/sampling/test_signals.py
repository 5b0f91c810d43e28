"""Ctrl-C reaches the program, and not the compiled code that it is in."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from bai_gym.sampling.signals import signals_held

IDENTIFY = """
import os, random, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # commands in the background ignore it
import bai_gym, bai_gym.live.identify
print("ready", flush=True)
try:
    bai_gym.identify(lambda arm: random.random(), arms=3, budget=10**7, agent=sys.argv[1])
except KeyboardInterrupt:
    os._exit(33)
"""


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


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C goes to whole groups of processes there")
def test_interrupts_of_identify_end_it() -> None:
    rng, codes = random.Random(0), []
    for agent in 10 * ["TTTS", "A-GapE(b=1)", "TS"]:
        process = subprocess.Popen([sys.executable, "-c", IDENTIFY, agent], stdout=subprocess.PIPE, text=True)
        with process:
            assert process.stdout is not None and process.stdout.readline() == "ready\n"
            time.sleep(rng.uniform(0.02, 1.5))
            process.send_signal(signal.SIGINT)
            try:
                codes.append(process.wait(60))
            finally:
                process.kill()
    assert set(codes) == {33}
