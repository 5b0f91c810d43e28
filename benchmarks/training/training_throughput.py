"""How fast does stable-baselines3 get its steps? The adapter against ``DummyVecEnv``, measured in one run.

    python benchmarks/training/training_throughput.py            # some ten seconds
    python benchmarks/training/training_throughput.py --quick    # fewer steps, for a look

Environment time alone: the actions are drawn beforehand, and there is no policy. Ends of episodes are part of it, every
201 steps. Speeds are the best of several repeats, taken in turn, so that a slow spell of the machine hits all alike.
"""

from __future__ import annotations

import argparse
import platform
import time

import gymnasium as gym
import numpy as np
import stable_baselines3
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv

from bai_gym.training import SB3VecEnv

BUDGET = 200
NUM_SCALAR = 64
BATCHES = (64, 1024)
LIMIT = 10  # what the adapter with as many episodes must reach at least, in units of DummyVecEnv


def steps_per_second(env: VecEnv, steps: int) -> float:
    """Return the environment steps per second, over all episodes."""
    rng = np.random.default_rng(0)
    actions = rng.integers(env.action_space.n, size=(steps, env.num_envs))  # type: ignore[attr-defined]
    env.seed(0)
    env.reset()
    started = time.perf_counter()
    for action in actions:
        env.step(action)
    return env.num_envs * steps / (time.perf_counter() - started)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer steps and repeats")
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    rounds, repeats = (1, 2) if arguments.quick else (4, arguments.repeats)
    steps = rounds * (BUDGET + 1)

    versions = f"stable-baselines3 {stable_baselines3.__version__}, NumPy {np.__version__}"
    print(f"Python {platform.python_version()}, {versions}, {platform.machine()}")
    print(f"\nEnvironment steps per second; 1 = DummyVecEnv of {NUM_SCALAR} scalar environments\n")
    print("| environment | episodes | DummyVecEnv | SB3VecEnv | ratio | at least |\n| --- " + "| ---: " * 5 + "|")
    for env_id in ("BAI-Bernoulli10-v0", "BAI-Gaussian64-v0"):
        dummy = DummyVecEnv([lambda env_id=env_id: gym.make(env_id, budget=BUDGET)] * NUM_SCALAR)  # type: ignore[misc]
        ours = [SB3VecEnv(env_id, num_envs=episodes, budget=BUDGET) for episodes in BATCHES]
        speeds = [[steps_per_second(env, steps) for env in (dummy, *ours)] for _ in range(repeats)]
        scalar, *native = (max(column) for column in zip(*speeds, strict=True))
        for episodes, speed in zip(BATCHES, native, strict=True):
            limit = LIMIT if episodes == NUM_SCALAR else ""
            print(f"| {env_id} | {episodes:,} | {scalar:,.0f} | {speed:,.0f} | {speed / scalar:.0f} | {limit} |")


if __name__ == "__main__":
    main()
