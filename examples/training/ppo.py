"""PPO in one file, in the form of CleanRL (Huang et al. 2022), on the native batch: all episodes in one step.

Nothing here is about bandits but `observation="scaled"`. Hyperparameters are CleanRL's, except that there are 128
episodes at a time, and that `gamma` is 1, since only the last reward counts. A larger learning rate learns faster:

    python examples/training/ppo.py --learning-rate 0.001 --steps 8_000_000
"""

import argparse
import time

import gymnasium as gym
import torch
from torch import nn

import bai_gym
from bai_gym.training import SB3Agent

parser = argparse.ArgumentParser()
parser.add_argument("--env", default="BAI-Bernoulli4-v0")
parser.add_argument("--budget", type=int, default=20, help="pulls of an episode")
parser.add_argument("--steps", type=int, default=1_200_000, help="of all episodes")
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--learning-rate", type=float, default=2.5e-4, help="at the beginning; it falls to 0")
parser.add_argument("--entropy", type=float, default=0.01, help="its weight")
args = parser.parse_args()

N, T = 128, 128  # episodes, and their steps between two updates
GAMMA, LAMBDA, CLIP, VALUE, LARGEST = 1.0, 0.95, 0.2, 0.5, 0.5
EPOCHS, PARTS = 4, 4

torch.set_num_threads(1)  # more threads do not help a network this small
torch.manual_seed(args.seed)
envs = gym.make_vec(args.env, N, budget=args.budget, observation="scaled", autoreset_mode="SameStep")
inputs, actions = envs.single_observation_space.shape[0], int(envs.single_action_space.n)


def layer(size: int, out: int, scale: float = 2**0.5) -> nn.Linear:
    made = nn.Linear(size, out)
    nn.init.orthogonal_(made.weight, scale)
    nn.init.zeros_(made.bias)
    return made


def network(out: int, scale: float) -> nn.Sequential:
    return nn.Sequential(layer(inputs, 64), nn.Tanh(), layer(64, 64), nn.Tanh(), layer(64, out, scale))


actor, critic = network(actions, 0.01), network(1, 1.0)
weights = [*actor.parameters(), *critic.parameters()]
optimizer = torch.optim.Adam(weights, lr=args.learning_rate, eps=1e-5)

seen = torch.zeros(T, N, inputs)
taken = torch.zeros(T, N, dtype=torch.long)
logs, rewards, ends, values, advantages = torch.zeros(5, T, N)
now = torch.as_tensor(envs.reset(seed=args.seed)[0])
updates, began = max(1, args.steps // (N * T)), time.process_time()

for update in range(updates):
    optimizer.param_groups[0]["lr"] = args.learning_rate * (1 - update / updates)
    for t in range(T):
        seen[t] = now
        with torch.no_grad():
            policy = torch.distributions.Categorical(logits=actor(now))
            taken[t], values[t] = policy.sample(), critic(now)[:, 0]
            logs[t] = policy.log_prob(taken[t])
        observation, reward, terminated, truncated, _ = envs.step(taken[t].numpy())
        now, rewards[t], ends[t] = map(torch.as_tensor, (observation, reward, terminated | truncated))
    with torch.no_grad():
        following, later = critic(now)[:, 0], torch.zeros(N)
    for t in reversed(range(T)):  # generalised advantage estimation
        going = 1.0 - ends[t]
        later = rewards[t] + GAMMA * following * going - values[t] + GAMMA * LAMBDA * going * later
        advantages[t], following = later, values[t]
    returns = advantages + values
    flat = [x.flatten(0, 1) for x in (seen, taken, logs, advantages, returns, values)]
    for _ in range(EPOCHS):
        for rows in torch.randperm(N * T).split(N * T // PARTS):
            x, action, old, advantage, target, before = (one[rows] for one in flat)
            policy = torch.distributions.Categorical(logits=actor(x))
            ratio = (policy.log_prob(action) - old).exp()
            advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
            loss = torch.max(-advantage * ratio, -advantage * ratio.clamp(1 - CLIP, 1 + CLIP)).mean()
            value = critic(x)[:, 0]
            clipped = before + (value - before).clamp(-CLIP, CLIP)
            wrong = 0.5 * torch.max((value - target) ** 2, (clipped - target) ** 2).mean()
            optimizer.zero_grad()
            (loss - args.entropy * policy.entropy().mean() + VALUE * wrong).backward()
            nn.utils.clip_grad_norm_(weights, LARGEST)
            optimizer.step()
    if (update + 1) % max(1, updates // 8) == 0:
        mean = float(rewards.sum() / ends.sum().clamp(min=1))
        print(f"{(update + 1) * N * T:9,} steps, {time.process_time() - began:4.0f} s: return {mean:.3f}")

players = [SB3Agent(model=actor, label="PPO"), SB3Agent(model=actor, deterministic=False, label="PPO, drawn")]
others = ["Uniform", "SR", "TTTS"]
print(bai_gym.compare([*players, *others], args.env, budgets=[args.budget], runs=10_000, seed=args.seed))
