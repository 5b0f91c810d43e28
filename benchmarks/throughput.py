"""How fast are the agents and the environments? Ratios to bare NumPy and to CartPole, measured in one run.

    python benchmarks/throughput.py            # the sizes of the tables in docs/speed.md: about two minutes
    python benchmarks/throughput.py --quick    # smaller batches, for a look

The unit for agents is the time that ``Generator.standard_normal`` takes to draw as many numbers as the batch makes
pulls. Times are the shortest of several repeats, taken in turn, so that a slow spell of the machine hits all alike.
"""

from __future__ import annotations

import argparse
import platform
import time
from collections.abc import Callable

import gymnasium as gym
import numpy as np

from bai_gym import agents
from bai_gym.benchmark.rollout import play_blocks
from bai_gym.problems import Briefing, HeterogeneousGaussianProblem, ThresholdingProblem
from bai_gym.seeding import generator
from bai_gym.tasks import Thresholding

NUM_ARMS = 64
LIMITS = {
    "Uniform": 0.1,
    "SH": 0.1,
    "SHVar": 0.3,
    "SHAdaVar": 3.0,
    "GapE": 15.0,
    "GapE-V": 15.0,
    "UCB-E": 4.0,
    "A-UCB-E": 15.0,
    "UGapEb": 15.0,
    "UGapEb-V": 15.0,
    "A-UGapEb": 15.0,
    "A-UGapEb-V": 15.0,
}
UNLIMITED = ("SR", "VBR")
THRESHOLDING = {"APT": 5.0, "UCBE": 5.0, "UCBEV": 5.0, "AugUCB": 5.0, "CSAR": 5.0}


def draw_normals(batch: int, budget: int) -> float:
    """Return the seconds that drawing one normal per pull takes."""
    rng = np.random.default_rng(0)
    out = np.empty((max(1, 65536 // batch), batch))
    started = time.perf_counter()
    for _ in range(budget // len(out)):
        rng.standard_normal(out=out)
    rest = budget % len(out)
    if rest:
        rng.standard_normal(out=out[:rest])
    return time.perf_counter() - started


def play(name: str, batch: int, budget: int) -> float:
    """Return the seconds that a batch of episodes takes, without drawing the instances."""
    bandit = HeterogeneousGaussianProblem(NUM_ARMS).draw(batch, generator(0, "instances"))
    agent = agents.make(name)
    started = time.perf_counter()
    agent.reset(Briefing(NUM_ARMS, budget, batch, truth=bandit, knows=agent.knows), generator(0, "agent"))
    play_blocks(agent, bandit, budget, generator(0, "rewards"))
    return time.perf_counter() - started


def play_thresholding(name: str, batch: int, budget: int) -> float:
    """Return the seconds that a batch of thresholding takes, without drawing the instances."""
    problem, task = ThresholdingProblem("Arithmetic"), Thresholding(0.5)
    bandit = problem.draw(batch, generator(0, "instances"))
    agent = agents.make(name)
    started = time.perf_counter()
    briefing = Briefing(problem.num_arms, budget, batch, task=task, truth=bandit, knows=agent.knows)
    agent.reset(briefing, generator(0, "agent"))
    play_blocks(agent, bandit, budget, generator(0, "rewards"), task)
    return time.perf_counter() - started


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


def table(
    names: list[str],
    measure: Callable[[str, int, int], float],
    limits: dict[str, float],
    batch: int,
    budget: int,
    repeats: int,
) -> None:
    """Print a row for each agent: its time in units of the normals that it takes."""
    print("| agent | ratio | at most | microseconds per run |\n| --- | ---: | ---: | ---: |")
    times: dict[str, Callable[[], float]] = {"normals": lambda: draw_normals(batch, budget)}
    for name in names:
        times[name] = lambda name=name: measure(name, batch, budget)  # type: ignore[misc]
    seconds = shortest(times, repeats)
    for name in names:
        ratio = seconds[name] / seconds["normals"]
        print(f"| {name} | {ratio:.2f} | {limits.get(name, '')} | {1e6 * seconds[name] / batch:.0f} |", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="smaller batches and fewer repeats")
    parser.add_argument("--agent", action="append", choices=agents.names(), help="these agents alone")
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    batch, budget, repeats = (1000, 1000, 2) if arguments.quick else (5000, 5000, arguments.repeats)

    print(f"Python {platform.python_version()}, NumPy {np.__version__}, {platform.machine()}")
    print(f"\nBatch of {batch:,} runs, K = {NUM_ARMS}, n = {budget:,}; 1 = drawing as many normals\n")
    chosen = arguments.agent or [*LIMITS, *UNLIMITED, *THRESHOLDING]
    table([name for name in chosen if name not in THRESHOLDING], play, LIMITS, batch, budget, repeats)
    budget *= 2
    print(f"\nThresholding: {batch:,} runs, K = 100, n = {budget:,}\n")
    table([name for name in chosen if name in THRESHOLDING], play_thresholding, THRESHOLDING, batch, budget, repeats)

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
