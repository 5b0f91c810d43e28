"""How fast are the agents and the environments? Ratios to bare NumPy and to CartPole, measured in one run.

    python benchmarks/throughput.py                # the sizes of the tables in docs/speed.md: about five minutes
    python benchmarks/throughput.py --quick        # smaller batches, for a look
    python benchmarks/throughput.py --agent UCB-E  # some agents alone
    python benchmarks/throughput.py --all          # all sequential agents, on several kinds of arms

Times of agents are those of speed.py. Their unit is the time that ``Generator.standard_normal`` takes to draw as many
numbers as there are pulls. Ratios are of the shortest times of several repeats, taken in turn, so that a slow spell of
the machine hits all alike.
"""

from __future__ import annotations

import argparse
import platform
import time
from collections.abc import Callable
from functools import partial

import gymnasium as gym
import numpy as np
from speed import Row, best, play

from bai_gym import agents
from bai_gym.agents.registry import BUILT_IN, find
from bai_gym.agents.sequential import SequentialAgent
from bai_gym.errors import BaiGymError

MANY, FEW = 5000, 100  # runs
SLOW = ("TS", "TTTS")  # with a fifth of the runs
STAGES = ("Uniform", "SH", "SHVar", "SR", "SHAdaVar")
INDICES = ("UCB-E", "A-UCB-E", "UCB1", "VBR", "GapE", "GapE-V", "A-GapE", "A-GapE-V", "OCBA")
INTERVALS = ("UGapEb", "UGapEb-V", "A-UGapEb", "A-UGapEb-V")
THRESHOLDING = ("APT", "UCBE-T", "UCBEV-T", "AugUCB", "CSAR")
AGENTS = (*STAGES, *INDICES, *INTERVALS, *SLOW, *THRESHOLDING)
# Arms as speed.py names them, and budgets.
BEST_ARM = (("BAI-Gaussian64-v0", 5000), ("64 Bernoulli arms", 5000))
ABOVE = (("BAI-Thresholding100-Arithmetic-v0", 10_000),)
# What `--all` measures: nanoseconds per pull with a budget, else milliseconds per run.
EVERY = (
    ("10 Gaussian arms", 2000),
    ("64 Gaussian arms", 5000),
    ("10 Bernoulli arms", 2000),
    ("64 Bernoulli arms", 5000),
    ("BAI-LinearSphere64-v0", 1000),
    ("BAI-Thresholding100-Arithmetic-v0", 5000),
    ("BAI-FC-GK1-v0", None),
    ("BAI-FC-GK2-v0", None),
    ("BAI-FC-Menard-v0", None),
)


def draw_normals(batch: int, budget: int) -> float:
    """Return the nanoseconds that drawing one normal takes."""
    rng = np.random.default_rng(0)
    out = np.empty((max(1, 65536 // batch), batch))
    rounds = budget // len(out)
    started = time.process_time()
    for _ in range(rounds):
        rng.standard_normal(out=out)
    return 1e9 * (time.process_time() - started) / (rounds * out.size)


def scalar_steps(env_id: str, steps: int) -> float:
    """Return the seconds of one ``env.step`` as ``gym.make`` gives it."""
    env = gym.make(env_id)
    env.reset(seed=0)
    env.action_space.seed(0)
    actions = [int(env.action_space.sample()) for _ in range(steps)]
    started = time.perf_counter()
    for action in actions:
        _, _, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            env.reset()
    return (time.perf_counter() - started) / steps


def batch_steps(mode: str | None, episodes: int, steps: int) -> float:
    """Return the pulls per second of a batch of ``BAI-Gaussian64-v0``; mode ``"sync"`` or None for the native batch."""
    envs = gym.make_vec("BAI-Gaussian64-v0", num_envs=episodes, vectorization_mode=mode)
    envs.reset(seed=0)
    envs.action_space.seed(0)
    actions = [envs.action_space.sample() for _ in range(steps)]
    started = time.perf_counter()
    for action in actions:
        envs.step(action)
    seconds = time.perf_counter() - started
    envs.close()
    return episodes * steps / seconds


def shortest(measure: dict[str, Callable[[], float]], repeats: int) -> dict[str, float]:
    """Return the smallest of several measurements of each, taken in turn after one round that does not count."""
    for once in measure.values():
        once()
    rounds = [{name: once() for name, once in measure.items()} for _ in range(repeats)]
    return {name: min(one[name] for one in rounds) for name in measure}


def table(arms: str, budget: int, names: list[str], many: int, repeats: int) -> None:
    """Print a row for each agent: its time in units of the normals that it takes, and per pull."""
    print(f"\n{arms}, n = {budget:,}; 1 = drawing as many normals\n")
    print(f"| agent | x normals | ns per pull, {many:,} runs | {FEW} runs |\n| --- | ---: | ---: | ---: |")
    for name in names:
        runs, times = (many // 5, 1) if name in SLOW else (many, repeats)
        row = Row(name, arms, budget, runs)
        one = shortest({"normals": partial(draw_normals, runs, budget), "many": partial(best, row, 1)}, times)
        few = best(Row(name, arms, budget, FEW), 3 * repeats)
        print(f"| {name} | {one['many'] / one['normals']:.2f} | {one['many']:.1f} | {few:.1f} |", flush=True)


def cell(name: str, arms: str, budget: int | None) -> str:
    """Return the time of an agent on these arms, in runs that take some 0.15 s; nothing if it does not play there."""
    row = Row(name, arms, budget, 20)  # enough to be compiled
    try:
        play(row, row.runs)
    except BaiGymError:
        return ""
    runs = int(np.clip(0.15 * row.runs / play(row, row.runs)[0], 4, 1000))
    seconds, pulls = min(play(row, runs) for _ in range(3))
    return f"{1e3 * seconds / runs:.3g}" if budget is None else f"{1e9 * seconds / pulls:.1f}"


def every(names: list[str]) -> None:
    """Print a row for each agent, with a column for each of `EVERY`."""
    columns = [f"{arms}, {f'n = {budget:,}: ns per pull' if budget else 'ms per run'}" for arms, budget in EVERY]
    print(f"\n| agent | {' | '.join(columns)} |\n| --- |{' ---: |' * len(columns)}")
    for name in names:
        print(f"| {name} | {' | '.join(cell(name, *column) for column in EVERY)} |", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="smaller batches and fewer repeats")
    parser.add_argument("--agent", action="append", choices=agents.names(), help="these agents alone")
    parser.add_argument("--all", action="store_true", help="all sequential agents, on more kinds of arms")
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    many, repeats = (1000, 2) if arguments.quick else (MANY, arguments.repeats)

    print(f"Python {platform.python_version()}, NumPy {np.__version__}, {platform.machine()}")
    if arguments.all:
        chosen = arguments.agent or list(BUILT_IN)
        kinds = {name: find(name) for name in chosen}
        every([name for name, kind in kinds.items() if isinstance(kind, type) and issubclass(kind, SequentialAgent)])
        return
    for cases, above in ((BEST_ARM, False), (ABOVE, True)):
        names = [name for name in arguments.agent or AGENTS if (BUILT_IN[name].folder == "thresholding") == above]
        for arms, budget in cases if names else ():
            table(arms, budget, names, many, repeats)
    if arguments.agent:
        return

    steps = 2_000 if arguments.quick else 20_000
    seconds = shortest({e: lambda e=e: scalar_steps(e, steps) for e in ("CartPole-v1", "BAI-Gaussian64-v0")}, repeats)  # type: ignore[misc]
    ratio = seconds["BAI-Gaussian64-v0"] / seconds["CartPole-v1"]
    print("\n| environment | measured | ratio | bound |\n| --- | ---: | ---: | ---: |")
    step = 1e6 * seconds["BAI-Gaussian64-v0"]
    print(f"| scalar step, to CartPole-v1 | {step:.1f} microseconds | {ratio:.2f} | at most 3 |")
    episodes = 100 if arguments.quick else 1000
    native = max(batch_steps(None, episodes, 400) for _ in range(repeats))
    sync = max(batch_steps("sync", episodes, 5) for _ in range(2))
    speed = f"{native / 1e6:.1f} million pulls/s"
    print(f"| batch of {episodes:,}, to SyncVectorEnv | {speed} | {native / sync:.0f} | at least 30 |")


if __name__ == "__main__":
    main()
