"""PPO on tensors: 1,000 episodes of any task at once, in plain PyTorch, on one device: a GPU if you name one.

    python examples/training/policy_gradient.py
    python examples/training/policy_gradient.py --env BAI-Bernoulli4-v0 --budget 20 --seconds 600
    python examples/training/policy_gradient.py --env BAI-TopM-Bernoulli10-v0 --budget 20 --with num_arms=4 m=2
    python examples/training/policy_gradient.py --env BAI-FC-Bernoulli10-v0 --budget 200 --steps 32 \
        --with num_arms=3 pull_cost=0.004 --against T3C LUCB
    python examples/training/policy_gradient.py --env BAI-Gaussian8-v0 --budget 100 --seconds 150 --alike

An action has one entry, or several where the recommendation is no arm. Entries that decide nothing in a step are not
learned from. What a pull has drawn is worth knowing at once, and the critic says how much: so the advantage of a step
need not wait for the one reward at the end, which is mostly noise. That is what a LAMBDA below .95 does.
"""

import argparse
import json
import time

import torch
from torch import nn
from torch.distributions import Categorical

import bai_gym
from bai_gym.agents.training.features import ARM_FEATURES, STATE_FEATURES
from bai_gym.training import SB3Agent
from bai_gym.training.arrays import TorchVectorEnv

parser = argparse.ArgumentParser()
parser.add_argument("--env", default="BAI-Bernoulli3-v0")
parser.add_argument("--budget", type=int, default=10, help="pulls of an episode; with fixed confidence at most")
parser.add_argument("--with", dest="given", nargs="*", default=[], help="keywords of the environment: num_arms=4 m=2")
parser.add_argument("--seconds", type=float, default=90, help="of one core")
parser.add_argument("--steps", type=int, help="of an episode between two updates; a whole one if not given")
parser.add_argument("--alike", action="store_true", help="one network for all arms, where actions are arms")
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--against", nargs="*", default=["Uniform", "SR", "TTTS"], help="agents to compare with")
args = parser.parse_args()
keywords = {name: json.loads(value) for name, value in (word.split("=") for word in args.given)}

N, RATE, ENTROPY, LAMBDA, CLIP, EPOCHS, PARTS = 1000, 0.003, 0.003, 0.85, 0.2, 4, 4

torch.set_num_threads(1)  # more threads do not help a network this small
torch.manual_seed(args.seed)
envs = TorchVectorEnv(args.env, N, budget=args.budget, observation="scaled", device="cpu", **keywords)
space = envs.single_action_space
sizes = [int(space.n)] if hasattr(space, "n") else space.nvec.tolist()
inputs, steps = envs.single_observation_space.shape[0], args.steps or args.budget + 2


def network(out: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(inputs, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, out))


class Alike(nn.Module):
    """Treats arms alike: a logit follows from features of the arm and of the episode, and from those of the average."""

    def __init__(self) -> None:
        super().__init__()
        self.own = nn.Sequential(
            nn.Linear(ARM_FEATURES + 1 + STATE_FEATURES, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh()
        )
        self.score = nn.Sequential(nn.Linear(64, 32), nn.Tanh(), nn.Linear(32, 1))

    def forward(self, seen: torch.Tensor) -> torch.Tensor:
        k = envs.num_arms
        parts = [ARM_FEATURES * k, k, STATE_FEATURES]
        arms, order, episode = seen[..., : sum(parts)].split(parts, -1)
        arms, episode = arms.unflatten(-1, (k, -1)), episode[..., None, :].expand(*order.shape, -1)
        own = self.own(torch.cat([arms, order[..., None], episode], -1))
        return self.score(torch.cat([own, own.mean(-2, keepdim=True).expand_as(own)], -1)).squeeze(-1)


if args.alike and sizes != [envs.num_arms]:
    parser.error(f"--alike is for actions that are arms, and those of {args.env} are {space}")
actor, critic = Alike() if args.alike else network(sum(sizes)), network(1)
weights = [*actor.parameters(), *critic.parameters()]
optimizer = torch.optim.Adam(weights, lr=RATE, eps=1e-5)


def policies(observations):
    """Return the distribution of each entry of an action."""
    return [Categorical(logits=logits) for logits in actor(observations).split(sizes, -1)]


def of_what_counts(entries, due):
    """Return the sum of numbers of all entries: of the first one if a pull is due, else of the others."""
    first, *others = entries
    return torch.where(due, sum(others), first) if others else first


def act(observations, greedy=False):
    """Return ``(N,)`` or ``(N, entries)`` actions."""
    with torch.no_grad():
        chosen = [one.logits.argmax(-1) if greedy else one.sample() for one in policies(torch.as_tensor(observations))]
    return torch.stack(chosen, -1).squeeze(-1) if len(sizes) == 1 else torch.stack(chosen, -1)


observation, info = envs.reset(seed=args.seed)
over, began, shown = torch.zeros(N, dtype=torch.bool), time.process_time(), 0.0
while (spent := (time.process_time() - began) / args.seconds) < 1.0:
    optimizer.param_groups[0]["lr"] = RATE * (1.0 - spent)
    rows = []
    for _ in range(steps):
        due, playing = torch.as_tensor(info["phase"] == "recommend"), ~over  # what is over begins anew in this step
        action = act(observation)
        seen, (observation, reward, terminated, truncated, info) = observation, envs.step(action)
        over = terminated | truncated
        rows.append((seen, action.view(N, -1), due, playing, reward, over))
    seen, action, due, playing, rewards, ended = map(torch.stack, zip(*rows, strict=True))
    with torch.no_grad():
        old = of_what_counts([p.log_prob(a) for p, a in zip(policies(seen), action.unbind(-1), strict=True)], due)
        values, following = critic(seen)[..., 0], critic(observation)[:, 0]
    advantages, later = torch.zeros_like(values), torch.zeros(N)
    for t in reversed(range(steps)):  # generalised advantage estimation
        going = 1.0 - ended[t].float()
        advantages[t] = later = rewards[t] + following * going - values[t] + LAMBDA * later * going
        following = values[t]
    batch = [x[playing] for x in (seen, action, due, old, advantages, advantages + values)]
    for _ in range(EPOCHS):
        for part in torch.randperm(len(batch[0])).chunk(PARTS):
            x, a, d, before, gain, target = (one[part] for one in batch)
            now = policies(x)
            ratio = (of_what_counts([p.log_prob(b) for p, b in zip(now, a.unbind(-1), strict=True)], d) - before).exp()
            gain = (gain - gain.mean()) / (gain.std() + 1e-8)
            loss = torch.max(-gain * ratio, -gain * ratio.clamp(1 - CLIP, 1 + CLIP)).mean()
            entropy = of_what_counts([p.entropy() for p in now], d).mean()
            wrong = 0.5 * ((critic(x)[:, 0] - target) ** 2).mean()
            optimizer.zero_grad()
            (loss - ENTROPY * (1.0 - spent) * entropy + wrong).backward()
            nn.utils.clip_grad_norm_(weights, 0.5)
            optimizer.step()
    if spent >= shown:
        print(f"{spent * args.seconds:4.0f} s: return {rewards.sum() / ended.sum().clamp(min=1):.3f}", flush=True)
        shown += 0.2

players = [
    SB3Agent(model=lambda x: act(x, greedy=True).numpy(), label="PPO"),
    SB3Agent(model=lambda x: act(x).numpy(), label="PPO, drawn"),
]
table = bai_gym.compare(
    [*players, *args.against], args.env, budgets=[args.budget], runs=10_000, seed=args.seed, env_kwargs=keywords
)
print(table)
