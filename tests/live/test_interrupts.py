"""Ctrl-C ends `identify`, also where it reaches compiled code."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time

import pytest

IDENTIFY = """
import os, random, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # commands in the background ignore it
import bai_gym, bai_gym.live.identify
print("ready", flush=True)
try:
    bai_gym.live.identify(lambda arm: random.random(), arms=3, budget=10**7, agent=sys.argv[1])
except KeyboardInterrupt:
    os._exit(33)
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C goes to whole groups of processes there")
def test_interrupts_of_identify_end_it() -> None:
    rng, codes = random.Random(0), []
    for agent in 5 * ["TTTS", "A-GapE(b=1)"]:
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
