"""PPO with the modules of TorchRL, on its `GymEnv`: one episode at a time, so only a short training."""

import time

import torch
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs import GymEnv
from torchrl.modules import OneHotCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

import bai_gym
from bai_gym.training import SB3Agent

ENV, BUDGET, STEPS, FRAMES = "BAI-Bernoulli2-v0", 6, 63_000, 2_100  # frames between two updates

torch.set_num_threads(1)  # more threads do not help a network this small
torch.manual_seed(0)
env = GymEnv(ENV, budget=BUDGET, observation="scaled")
env.set_seed(0)
inputs, actions = env.observation_spec["observation"].shape[-1], env.action_spec.shape[-1]


def network(out: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(inputs, 64), nn.Tanh(), nn.Linear(64, out))


logits, value = network(actions), network(1)
actor = ProbabilisticActor(
    TensorDictModule(logits, in_keys=["observation"], out_keys=["logits"]),
    in_keys=["logits"],
    distribution_class=OneHotCategorical,
    return_log_prob=True,
)
critic = ValueOperator(value, in_keys=["observation"])
advantage = GAE(gamma=1.0, lmbda=0.95, value_network=critic, average_gae=True)
loss = ClipPPOLoss(actor, critic, clip_epsilon=0.2, entropy_coeff=0.01)
optimizer = torch.optim.Adam(loss.parameters(), lr=0.003)

began = time.process_time()
sizes = {"frames_per_batch": FRAMES, "total_frames": STEPS, "auto_register_policy_transforms": False}
for number, frames in enumerate(Collector(env, actor, **sizes), 1):
    for _ in range(8):
        advantage(frames)
        for rows in torch.randperm(FRAMES).split(FRAMES // 4):
            found = loss(frames.reshape(-1)[rows])
            optimizer.zero_grad()
            (found["loss_objective"] + found["loss_entropy"] + found["loss_critic"]).backward()
            nn.utils.clip_grad_norm_(loss.parameters(), 0.5)
            optimizer.step()
    if number % 7 == 0:
        right = frames["next", "reward"].sum() / frames["next", "done"].sum()
        print(f"{number * FRAMES:6,} steps, {time.process_time() - began:3.0f} s: return {right:.3f}")

print(bai_gym.compare([SB3Agent(model=logits, label="TorchRL"), "Uniform", "SR"], ENV, budgets=[BUDGET], runs=10_000))
