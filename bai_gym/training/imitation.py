"""Behaviour cloning: a policy learns to imitate an agent."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from stable_baselines3.common.policies import ActorCriticPolicy

from bai_gym.agents import make
from bai_gym.agents.training.scaled import scaling_of
from bai_gym.api import parse_agent
from bai_gym.benchmark.protocol import Traits, describe, knowledge, reset
from bai_gym.common.seeding import generator
from bai_gym.envs.scalar import BestArmEnv
from bai_gym.envs.vector import BestArmVectorEnv
from bai_gym.errors import DataError, ParameterError
from bai_gym.problems import ProblemInfo
from bai_gym.results.writer import write_atomically

__all__ = ["Watched", "check_teacher", "imitate", "watch"]

ROUND = 50_000  # steps between two passes
BATCH = 2048
LEARNING_RATE = 1e-3
STORE_SECONDS = 5.0
RECOMMENDATION = 0.1  # weight of the recommendation, of which there is one, in that of all pulls
OnRound = Callable[[int, int], None]


@dataclass(frozen=True)
class Watched:
    """Steps of an agent, sorted by time.

    Attributes:
        observations: ``(S, ...)`` float32 by name.
        actions: ``(S, ...)`` actions of the agent.
        rewards: ``(S,)`` the reward at the end of the episode, float32.
        weights: ``(S,)`` weight of each step, float32.
    """

    observations: dict[str, torch.Tensor]
    actions: torch.Tensor
    rewards: torch.Tensor
    weights: torch.Tensor


def check_teacher(teacher: str, env: BestArmEnv) -> Any:
    """Return the agent of that name, if it can play there and be imitated.

    Args:
        teacher: Its name, with parameters.
        env: The environment.

    Raises:
        BaiGymError: If there is no such agent, or it cannot be imitated.
    """
    name, parameters = parse_agent(teacher)
    agent = make(name, **parameters)
    if env.episode_spec.fixed_confidence or not Traits.of(agent).acts_on_batches:
        raise ParameterError(
            f"{describe(agent)} cannot be imitated: this needs an agent that acts in batches, and a fixed budget"
        )
    rng = np.random.default_rng(0)
    truth = env.problem.draw(1, rng)
    info = ProblemInfo(truth.num_arms, env.budget, task=env.episode_spec.task, truth=truth, knows=knowledge(agent))
    reset(agent, info, rng)  # which rejects the task or the budget
    return agent


def watch(teacher: str, env: BestArmEnv, episodes: int, rng: np.random.Generator) -> Watched:
    """Return the steps of an agent in some episodes of a fixed budget.

    Args:
        teacher: Its name, with parameters.
        env: The environment.
        episodes: Their number.
        rng: Source of randomness.

    Raises:
        BaiGymError: If there is no such agent, or it cannot be imitated.
    """
    agent = check_teacher(teacher, env)
    batch = BestArmVectorEnv(
        env.problem,
        episodes,
        budget=env.budget,
        reward=env.episode_spec.reward,
        task=env.episode_spec.task,
        autoreset_mode=AutoresetMode.DISABLED,
    )
    observation, _ = batch.reset(seed=int(rng.integers(2**31)))
    reset(agent, batch.problem_info(knowledge(agent)), rng)
    observations, actions = [], []
    rewards = np.zeros(episodes)
    for _ in range(env.budget + 1):
        action = np.asarray(agent.act(observation))
        observations.append(observation)
        actions.append(action)
        observation, rewards, *_ = batch.step(action)
    steps = env.budget + 1
    weights = np.ones((steps, episodes), np.float32)
    weights[-1] = max(1.0, RECOMMENDATION * steps)
    fields = {
        name: torch.as_tensor(np.concatenate([one[name] for one in observations]).astype(np.float32))
        for name in observations[0]
    }
    return Watched(
        fields,
        torch.as_tensor(np.concatenate(actions)),
        torch.as_tensor(np.tile(rewards.astype(np.float32), steps)),
        torch.as_tensor(weights.reshape(-1)),
    )


def imitate(
    policy: ActorCriticPolicy,
    teacher: str,
    env: BestArmEnv,
    steps: int,
    seed: int,
    on_round: OnRound | None = None,
    kept: Path | None = None,
) -> None:
    """Train a policy to imitate an agent, and its critic to predict the agent's reward.

    Every round plays new episodes, so no step is used twice.

    Args:
        policy: Changed in place.
        teacher: Name of the agent, with parameters.
        env: The environment.
        steps: Approximate number of steps; at least one round.
        seed: At least 0.
        on_round: Called with (finished rounds, all rounds).
        kept: File that keeps finished rounds every few seconds; if it is there, they are not made again.

    Raises:
        BaiGymError: If there is no such agent, or it cannot be imitated.
        DataError: If the file is damaged.
    """
    episodes = max(1, ROUND // (env.budget + 1))
    rounds = max(1, round(steps / (episodes * (env.budget + 1))))
    scaled = isinstance(policy.observation_space, spaces.Box)
    scaling = scaling_of(env, env.observation_space) if scaled else None
    optimizer = torch.optim.Adam(policy.parameters(), lr=LEARNING_RATE)
    policy.set_training_mode(True)
    done, stored = _resume(kept, policy, optimizer), time.monotonic()
    for number in range(done, rounds):
        for group in optimizer.param_groups:
            group["lr"] = LEARNING_RATE * (1.0 - number / rounds)
        watched = watch(teacher, env, episodes, generator(seed, "imitation", number))
        for part in _parts(watched, policy.device, generator(seed, "order", number)):
            seen = part.observations if scaling is None else scaling.flat(part.observations, torch)
            values, log_probabilities, _ = policy.evaluate_actions(seen, part.actions)
            loss = -(part.weights * log_probabilities).mean()
            loss = loss + 0.5 * torch.nn.functional.mse_loss(values[:, 0], part.rewards)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
            optimizer.step()
        if on_round is not None:
            on_round(number + 1, rounds)
        if kept is not None and time.monotonic() > stored + STORE_SECONDS:
            state = {"policy": policy.state_dict(), "optimizer": optimizer.state_dict(), "done": number + 1}
            with write_atomically(kept) as draft:
                torch.save(state, draft)
            stored = time.monotonic()
    policy.set_training_mode(False)


def _resume(kept: Path | None, policy: ActorCriticPolicy, optimizer: torch.optim.Optimizer) -> int:
    """Return how many rounds are finished, after loading what they have led to."""
    if kept is None or not kept.exists():
        return 0
    try:
        stored = torch.load(kept, map_location=policy.device, weights_only=True)
        policy.load_state_dict(stored["policy"])
        optimizer.load_state_dict(stored["optimizer"])
        return int(stored["done"])
    except Exception:  # unpickling a damaged file can raise anything
        raise DataError(f"{kept} is damaged: delete it to begin again, or choose another --out") from None


def _parts(watched: Watched, device: torch.device, rng: np.random.Generator) -> Iterator[Watched]:
    order = torch.as_tensor(rng.permutation(len(watched.rewards)))
    for rows in torch.split(order, BATCH):
        yield Watched(
            {name: values[rows].to(device) for name, values in watched.observations.items()},
            watched.actions[rows].to(device),
            watched.rewards[rows].to(device),
            watched.weights[rows].to(device),
        )
