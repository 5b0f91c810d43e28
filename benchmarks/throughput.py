"""How fast are the agents and the environments? Ratios to bare NumPy and to CartPole, measured in one run.

    python benchmarks/throughput.py                # the sizes of the tables in docs/speed.md: about five minutes
    python benchmarks/throughput.py --quick        # smaller batches, for a look
    python benchmarks/throughput.py --agent UCB-E  # some agents alone

The unit for agents is the time that ``Generator.standard_normal`` takes to draw as many numbers as the batch makes
pulls. Times are the shortest of several repeats, taken in turn, so that a slow spell of the machine hits all alike.
"""

from __future__ import annotations

import argparse
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np

from bai_gym import agents
from bai_gym.agents.registry import BUILT_IN
from bai_gym.bandits import BernoulliBandit
from bai_gym.benchmark.rollout import play_blocks
from bai_gym.problems import FixedProblem, HeterogeneousGaussianProblem, Problem, ProblemInfo, ThresholdingProblem
from bai_gym.seeding import generator
from bai_gym.tasks import BestArm, Task, Thresholding

MANY, FEW = 5000, 100  # runs
# The largest multiple of the normals that an agent may take, on an idle machine.
LIMITS = {
    "Uniform": 0.07,
    "SH": 0.07,
    "SHVar": 0.25,
    "SR": 1.0,
    "SHAdaVar": 2.0,
    "UCB-E": 2.0,
    "UCB1": 2.0,
    "VBR": 2.0,
    "A-UCB-E": 4.0,
    "GapE": 4.0,
    "GapE-V": 4.0,
    "A-GapE": 5.0,
    "A-GapE-V": 5.0,
    "UGapEb": 5.0,
    "UGapEb-V": 5.0,
    "A-UGapEb": 5.0,
    "A-UGapEb-V": 5.0,
    "OCBA": 8.0,
    "TS": 50.0,
    "TTTS": 150.0,
    "APT": 2.0,
    "UCBE-T": 2.0,
    "UCBEV-T": 2.0,
    "AugUCB": 2.0,
    "CSAR": 2.0,
}
SLOW = ("TS", "TTTS")  # with a fifth of the runs
MORE_FOR_FEW = 1.5  # times as much per pull that 100 runs may cost


@dataclass(frozen=True)
class Case:
    """Arms to play on."""

    name: str
    problem: Problem
    budget: int
    task: Task
    posterior: str = "student"

    def play(self, name: str, batch: int) -> float:
        """Return the seconds that a batch of episodes takes, without drawing the instances."""
        bandit = self.problem.draw(batch, generator(0, "instances"))
        options: dict[str, Any] = {"posterior": self.posterior} if name in SLOW else {}
        agent = agents.make(name, **options)
        started = time.perf_counter()
        info = ProblemInfo(bandit.num_arms, self.budget, batch, task=self.task, truth=bandit, knows=agent.knows)
        agent.reset(info, generator(0, "agent"))
        play_blocks(agent, bandit, self.budget, generator(0, "rewards"), self.task)
        return time.perf_counter() - started


BEST_ARM = (
    Case("Gaussian arms", HeterogeneousGaussianProblem(64), 5000, BestArm()),
    Case("Bernoulli arms", FixedProblem(BernoulliBandit(np.linspace(0.2, 0.6, 20))), 2000, BestArm(), "bernoulli"),
)
ABOVE = (
    Case("Gaussian arms, thresholding", ThresholdingProblem("Arithmetic"), 10_000, Thresholding(0.5)),
    Case(
        "Bernoulli arms, thresholding",
        FixedProblem(BernoulliBandit(np.linspace(0.2, 0.6, 20))),
        2000,
        Thresholding(0.41),
    ),
)


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


def table(case: Case, names: list[str], many: int, repeats: int) -> None:
    """Print a row for each agent: its time in units of the normals that it takes, and per pull."""
    print(f"\n{case.name}: K = {case.problem.num_arms}, n = {case.budget:,}; 1 = drawing as many normals\n")
    print(f"| agent | x normals | at most | ns per pull, {many:,} runs | {FEW} runs | ratio, at most {MORE_FOR_FEW} |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for name in names:
        runs = many // 5 if name in SLOW else many
        times: dict[str, Callable[[], float]] = {
            "normals": lambda runs=runs: draw_normals(runs, case.budget),  # type: ignore[misc]
            "many": lambda name=name, runs=runs: case.play(name, runs),  # type: ignore[misc]
        }
        seconds = shortest(times, 1 if name in SLOW else repeats)
        few = shortest({"few": lambda name=name: case.play(name, FEW)}, 3 * repeats)["few"]  # type: ignore[misc]
        ratio = seconds["many"] / seconds["normals"]
        per_pull = 1e9 * seconds["many"] / runs / case.budget
        per_pull_of_few = 1e9 * few / FEW / case.budget
        limit = LIMITS.get(name, "") if case.budget > 2000 else ""
        more = per_pull_of_few / per_pull
        print(f"| {name} | {ratio:.2f} | {limit} | {per_pull:.1f} | {per_pull_of_few:.1f} | {more:.2f} |", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="smaller batches and fewer repeats")
    parser.add_argument("--agent", action="append", choices=agents.names(), help="these agents alone")
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    many, repeats = (1000, 2) if arguments.quick else (MANY, arguments.repeats)

    print(f"Python {platform.python_version()}, NumPy {np.__version__}, {platform.machine()}")
    chosen = arguments.agent or list(LIMITS)
    for cases, names in (
        (BEST_ARM, [name for name in chosen if BUILT_IN[name].group != "Thresholding"]),
        (ABOVE, [name for name in chosen if BUILT_IN[name].group == "Thresholding"]),
    ):
        for case in cases if names else ():
            table(case, names, many, repeats)
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
