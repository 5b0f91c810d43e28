"""Policies for stable-baselines3 with dimensionless features of every arm."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import nn
from typing_extensions import override

from bai_gym.agents.training.features import ARM_FEATURES, STATE_FEATURES, Rewards, check_rewards, features
from bai_gym.agents.training.network import FIRST, ArmNetwork
from bai_gym.agents.training.scaling import STATISTICS
from bai_gym.errors import ParameterError
from bai_gym.validation import integer

__all__ = ["ArmEncoder", "ArmFeatures", "ArmPolicy", "export"]

Observation = dict[str, torch.Tensor]


class ArmFeatures(BaseFeaturesExtractor):
    """Features in one tensor ``(B, 9 K + 5)``, with which a scaled observation begins; the network splits it again."""

    def __init__(self, observation_space: spaces.Space[Any], num_arms: int, rewards: Rewards) -> None:
        """Compute the length."""
        super().__init__(observation_space, num_arms * (ARM_FEATURES + 1) + STATE_FEATURES)
        self.rewards = rewards

    @override
    def forward(self, observations: Observation | torch.Tensor) -> torch.Tensor:
        """Return the concatenated features."""
        if isinstance(observations, torch.Tensor):
            return observations[:, : self.features_dim]
        seen = features(observations, self.rewards, torch)
        return torch.cat((seen.arms.flatten(1), seen.order, seen.state), dim=1)


class _Arms(nn.Module):
    """The network of :class:`bai_gym.agents.training.network.ArmNetwork`, and a value from the same kind of pool."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.latent_dim_pi = self.latent_dim_vf = 1  # not used: the heads are within
        self.actor, self.critic = ArmEncoder(width), ArmEncoder(width)
        self.logit = nn.Linear(width, 1)
        self.value = nn.Sequential(nn.Linear(2 * width, width), nn.ReLU(), nn.Linear(width, 1))

    @override
    def forward(self, seen: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.forward_actor(seen), self.forward_critic(seen)

    def forward_actor(self, seen: torch.Tensor) -> torch.Tensor:
        arms, order, state = _apart(seen)
        logits: torch.Tensor = self.logit(self.actor(arms, state)).squeeze(-1) + FIRST * order
        return logits

    def forward_critic(self, seen: torch.Tensor) -> torch.Tensor:
        arms, _, state = _apart(seen)
        hidden = self.critic(arms, state)
        value: torch.Tensor = self.value(torch.cat((hidden.mean(dim=-2), hidden.amax(dim=-2)), dim=-1))
        return value


def _apart(seen: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    num_arms = (seen.shape[-1] - STATE_FEATURES) // (ARM_FEATURES + 1)
    parts = torch.split(seen, [num_arms * ARM_FEATURES, num_arms, STATE_FEATURES], dim=-1)
    return parts[0].reshape(*seen.shape[:-1], num_arms, ARM_FEATURES), parts[1], parts[2]


class ArmEncoder(nn.Module):
    """Arms, encoded separately and then with a pool of all arms: ``(..., K, width)``."""

    def __init__(self, width: int) -> None:
        """Create the layers."""
        super().__init__()
        self.arm = nn.Linear(ARM_FEATURES, width)
        self.state = nn.Linear(STATE_FEATURES, width, bias=False)
        self.encoder = nn.Linear(width, width)
        self.own = nn.Linear(width, width)
        self.mean = nn.Linear(width, width, bias=False)
        self.max = nn.Linear(width, width, bias=False)

    @override
    def forward(self, arms: torch.Tensor, state: torch.Tensor) -> torch.Tensor:
        """Return the encoded arms from their features ``(..., K, 8)`` and those of the episode ``(..., 5)``."""
        hidden = torch.relu(self.arm(arms) + self.state(state).unsqueeze(-2))
        hidden = torch.relu(self.encoder(hidden))
        pooled = self.mean(hidden.mean(dim=-2)) + self.max(hidden.amax(dim=-2))
        return torch.relu(self.own(hidden) + pooled.unsqueeze(-2))


class ArmPolicy(ActorCriticPolicy):
    """A policy that is equivariant over arms: one logit per arm, from a network that is the same for all.

    A permutation of the arms permutes the probabilities of the actions, and no weight depends on K or on the budget. So
    a policy trained on 8 arms works for 64. Arms without a pull come first. Pass it to PPO or A2C instead of
    ``"MlpPolicy"`` or ``"MultiInputPolicy"``.

    Args:
        observation_space: Of the environment, statistics or scaled.
        action_space: ``Discrete(K)``: one best arm with a fixed budget.
        lr_schedule: See stable-baselines3.
        rewards: ``"any"`` (default), or ``"binary"`` where rewards are 0 or 1; scaled observations know it.
        width: Width of all layers, at least 1.
        **keywords: See ``ActorCriticPolicy``.

    Raises:
        ParameterError: Other observations or actions, or an unknown kind of rewards.
    """

    def __init__(
        self,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        lr_schedule: Any,
        rewards: Rewards = "any",
        width: int = 64,
        **keywords: Any,
    ) -> None:
        """Build the network."""
        num_arms = num_arms_of(observation_space, action_space)
        if not isinstance(action_space, spaces.Discrete) or action_space.n != num_arms:
            raise ParameterError(
                "ArmPolicy recommends one arm after a fixed budget, actions Discrete(K): use 'MultiInputPolicy' for "
                "other tasks, or for fixed confidence"
            )
        self.rewards = check_rewards(rewards)
        self.width = integer(width, "width of ArmPolicy", least=1)
        keywords |= {"features_extractor_class": ArmFeatures, "net_arch": []}
        keywords["features_extractor_kwargs"] = {"num_arms": num_arms, "rewards": self.rewards}
        super().__init__(observation_space, action_space, lr_schedule, **keywords)

    @override
    def _get_constructor_parameters(self) -> dict[str, Any]:
        return {**super()._get_constructor_parameters(), "rewards": self.rewards, "width": self.width}

    @override
    def _build_mlp_extractor(self) -> None:
        self.mlp_extractor = _Arms(self.width)  # type: ignore[assignment]

    @override
    def _build(self, lr_schedule: Any) -> None:
        super()._build(lr_schedule)
        # The network has its heads within, since theirs would depend on K.
        self.action_net, self.value_net = nn.Identity(), nn.Identity()  # type: ignore[assignment]
        self.optimizer = self.optimizer_class(self.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs)  # type: ignore[call-arg]

    def arm_logits(self, observation: Observation | torch.Tensor) -> torch.Tensor:
        """Return ``(B, K)`` logits for any number of arms, from statistics or from ``(B, 9 K + 5)`` scaled features."""
        if isinstance(observation, torch.Tensor):
            return self.mlp_extractor.forward_actor(observation)
        return self.mlp_extractor.forward_actor(self.features_extractor(observation))


def num_arms_of(observation_space: spaces.Space[Any], action_space: spaces.Space[Any]) -> int:
    """Return the number of arms of an observation space.

    Raises:
        ParameterError: If it is not one of this library's environments.
    """
    if isinstance(observation_space, spaces.Box) and isinstance(action_space, spaces.Discrete):
        num_arms = int(action_space.n)
        if np.prod(observation_space.shape) >= num_arms * (ARM_FEATURES + 1) + STATE_FEATURES:
            return num_arms
    if not isinstance(observation_space, spaces.Dict) or any(key not in observation_space.spaces for key in STATISTICS):
        raise ParameterError(
            "this policy sees the observations of best-arm identification (pulls, means, variances, remaining), "
            f"not {observation_space}"
        )
    return int(np.prod(observation_space["pulls"].shape or (0,)))


def export(policy: ArmPolicy, facts: dict[str, Any]) -> ArmNetwork:
    """Return the acting part of a policy for use without PyTorch.

    Args:
        policy: A trained policy.
        facts: Its provenance, stored with the weights.
    """
    weights = {
        name.removeprefix("mlp_extractor.").removeprefix("actor."): value.detach().cpu().numpy().astype(np.float32)
        for name, value in policy.named_parameters()
        if name.startswith(("mlp_extractor.actor.", "mlp_extractor.logit."))
    }
    return ArmNetwork(weights, policy.rewards, facts)
