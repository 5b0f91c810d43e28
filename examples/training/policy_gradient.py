"""A policy gradient in plain PyTorch: 1,000 episodes are tensors, and the reward of the end is that of all their steps.

The critic is a baseline for the reward; there is nothing else. Everything runs on one device, a GPU if you name one.
"""

import torch
from torch import nn

import bai_gym
from bai_gym.training import SB3Agent
from bai_gym.training.arrays import TorchVectorEnv

ENV, BUDGET, N, UPDATES = "BAI-Bernoulli3-v0", 10, 1000, 1_000

torch.set_num_threads(1)  # more threads do not help a network this small
torch.manual_seed(0)
envs = TorchVectorEnv(ENV, N, budget=BUDGET, observation="scaled", device="cpu")
inputs, arms = envs.single_observation_space.shape[0], envs.num_arms
actor, critic = (nn.Sequential(nn.Linear(inputs, 64), nn.Tanh(), nn.Linear(64, out)) for out in (arms, 1))
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=0.01)

observation, _ = envs.reset(seed=0)
for update in range(UPDATES):
    optimizer.param_groups[0]["lr"] = 0.01 * (1 - update / UPDATES)
    seen, taken = [], []
    for _ in range(BUDGET + 1):  # the pulls, and the recommendation
        seen.append(observation)
        with torch.no_grad():
            taken.append(torch.distributions.Categorical(logits=actor(observation)).sample())
        observation, rewards, *_ = envs.step(taken[-1])
    observation = envs.step(taken[-1])[0]  # begins the next episodes
    steps = torch.stack(seen)  # (T, N, D)
    policy, value = torch.distributions.Categorical(logits=actor(steps)), critic(steps)[..., 0]
    gain = policy.log_prob(torch.stack(taken)) * (rewards - value).detach()
    loss = -gain.mean() - 0.003 * policy.entropy().mean() + ((rewards - value) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if (update + 1) % (UPDATES // 5) == 0:
        print(f"{(update + 1) * N:9,} episodes: {rewards.mean():.1%} of the recommendations are right")

players = [SB3Agent(model=actor, label="policy gradient"), SB3Agent(model=actor, deterministic=False, label="drawn")]
print(bai_gym.compare([*players, "Uniform", "SR", "BayesOptimal"], ENV, budgets=[BUDGET], runs=10_000))
