"""Algorithms of stable-baselines3 and sb3-contrib, each in a few lines, on the same environment: python sb3.py PPO DQN

All see `observation="scaled"`. `RecurrentPPO` and `MaskablePPO` need sb3-contrib.
"""

import sys
import time

import torch
from stable_baselines3 import DQN, PPO

import bai_gym
from bai_gym.training import SB3Agent, SB3VecEnv

ENV, BUDGET, N = "BAI-Bernoulli3-v0", 10, 64
EPISODES = 4 * (BUDGET + 1)  # four whole episodes between two updates

torch.set_num_threads(1)  # more threads do not help a network this small
common = {"gamma": 1.0, "seed": 0, "device": "cpu"}
on_policy = {"n_steps": EPISODES, "batch_size": N * EPISODES // 4, "learning_rate": 0.003, "n_epochs": 4, **common}
off_policy = {"learning_rate": 0.001, "train_freq": 4, "gradient_steps": 8, "batch_size": 512, **common}
off_policy |= {"buffer_size": 100_000, "exploration_fraction": 0.5, "target_update_interval": 10 * N}


def trained(name: str, steps: int) -> SB3Agent:
    envs = SB3VecEnv(ENV, num_envs=N, budget=BUDGET, observation="scaled")
    if name == "PPO":
        model = PPO("MlpPolicy", envs, **on_policy)
    elif name == "DQN":
        model = DQN("MlpPolicy", envs, **off_policy)
    else:
        import sb3_contrib

        policy = "MlpLstmPolicy" if name == "RecurrentPPO" else "MlpPolicy"
        model = getattr(sb3_contrib, name)(policy, envs, **on_policy)
    began = time.process_time()
    model.learn(steps)
    print(f"{name}: {steps:,} steps, {time.process_time() - began:.0f} s")
    return SB3Agent(model=model, label=name)


STEPS = {"PPO": 1_000_000, "DQN": 500_000, "RecurrentPPO": 300_000, "MaskablePPO": 1_000_000}
names = sys.argv[1:] or ["PPO", "DQN"]
agents = [trained(name, STEPS[name]) for name in names]
print(bai_gym.compare([*agents, "Uniform", "SR", "BayesOptimal"], ENV, budgets=[BUDGET], runs=10_000))
