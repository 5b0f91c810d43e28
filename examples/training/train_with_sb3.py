"""Train a small network with PPO of stable-baselines3, on all episodes of a native batch at once.

`bai-gym train` is the comfortable way; this one shows what is underneath.
"""

import torch
from stable_baselines3 import PPO
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.vec_env import VecMonitor

from bai_gym.training import SB3VecEnv

torch.set_num_threads(1)  # more threads do not help a network this small

# An episode has ten pulls and the recommendation, so that 44 steps are four whole episodes.
envs = SB3VecEnv("BAI-Bernoulli3-v0", num_envs=64, budget=10)
model = PPO("MultiInputPolicy", envs, n_steps=44, batch_size=704, learning_rate=0.003, gamma=1.0, seed=0, device="cpu")
test = VecMonitor(SB3VecEnv("BAI-Bernoulli3-v0", num_envs=64, budget=10))


def report():
    test.seed(1)  # the same instances each time
    right, _ = evaluate_policy(model, test, n_eval_episodes=1024)
    print(f"after {model.num_timesteps:6,} steps: {right:.0%} of the recommendations are right")


report()
for _ in range(4):
    model.learn(14_080, reset_num_timesteps=False)
    report()
