"""Training recipes: everything that a trained agent depends on, as data."""

from __future__ import annotations

import dataclasses
import json
import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bai_gym.agents.training.features import Rewards, check_rewards
from bai_gym.bandits import BernoulliBandit
from bai_gym.benchmark.sources import EnvSource
from bai_gym.common.seeding import check_seed
from bai_gym.envs.scalar import BestArmEnv
from bai_gym.errors import ParameterError, unknown_name
from bai_gym.tasks import BestArm
from bai_gym.validation import integer, literal, real

__all__ = ["ALGORITHMS", "NETWORKS", "Recipe", "recipe_for", "train_command"]

ALGORITHMS = ("ppo", "a2c")
NETWORKS = ("arms", "mlp")

PULLS_AT_ONCE = 50_000  # approximate steps of all episodes between two updates
BATCH_SIZES = (32, 1024)  # episodes, at least and at most
LONGEST = 512  # steps of an episode between two updates, where episodes have no fixed length
IMITATED_STEPS = 2_000_000
WIDTHS = {"arms": 32, "mlp": 128}


@dataclass(frozen=True)
class Recipe:
    """A training recipe. Two runs of one recipe on one machine give the same weights.

    Attributes:
        env: A registered id.
        env_kwargs: Keyword arguments for ``gym.make``.
        algo: ``"ppo"`` or ``"a2c"``.
        network: ``"arms"``: equivariant, for any number of arms. ``"mlp"``: a plain multilayer perceptron.
        rewards: Kind of rewards, see :data:`bai_gym.agents.training.features.Rewards`.
        width: Width of the layers.
        steps: Steps of the environment in reinforcement learning, over all episodes; 0: imitation alone.
        seed: At least 0.
        num_envs: Episodes in a batch.
        imitate: Agent that is imitated first, with its parameters; None: none.
        imitated_steps: Steps of that agent that are shown.
        learning_rate: At the beginning; it falls to 0 along a straight line.
        entropy: Weight of the entropy of the actions.
        epochs: Passes over the steps of an update (PPO).
    """

    env: str
    env_kwargs: Mapping[str, Any] = field(default_factory=dict)
    algo: str = "ppo"
    network: str = "arms"
    rewards: Rewards = "any"
    width: int = 32
    steps: int = 5_000_000
    seed: int = 0
    num_envs: int = 256
    imitate: str | None = None
    imitated_steps: int = IMITATED_STEPS
    learning_rate: float = 5e-4
    entropy: float = 0.002
    epochs: int = 4

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            ParameterError: If one is outside its range.
        """
        for name, value, allowed in (("algo", self.algo, ALGORITHMS), ("network", self.network, NETWORKS)):
            if value not in allowed:
                raise unknown_name(name, str(value), allowed, f"allowed: {', '.join(allowed)}")
        check_rewards(self.rewards)
        check_seed(self.seed)
        least = {"width": 1, "steps": 0, "num_envs": 1, "imitated_steps": 1, "epochs": 1}
        for name, bound in least.items():
            integer(getattr(self, name), name, least=bound)
        real(self.learning_rate, "learning_rate", above=0)
        real(self.entropy, "entropy", least=0)
        if self.steps == 0 and self.imitate is None:
            raise ParameterError("nothing to do: give steps of at least 1, or an agent to imitate")

    @property
    def source(self) -> EnvSource:
        """The environment."""
        return EnvSource(self.env, dict(self.env_kwargs))

    @property
    def rollout(self) -> int:
        """Steps of each episode between two updates: a whole episode, where its length is fixed."""
        built = self.source.built
        return LONGEST if built.episode_spec.fixed_confidence else built.budget + 1

    @property
    def updates(self) -> int:
        """Updates of reinforcement learning."""
        return -(-self.steps // (self.num_envs * self.rollout))

    def command(self) -> str:
        """Return the command for this recipe."""
        default = recipe_for(self.env, self.env_kwargs)
        if self.network != default.network:
            default = replace(recipe_for(self.env, self.env_kwargs, network=self.network), network=default.network)
        return train_command("sb3", self, default)

    def to_json(self) -> str:
        """Return the recipe as text."""
        return json.dumps({**dataclasses.asdict(self), "env_kwargs": dict(self.env_kwargs)}, indent=2, sort_keys=True)


def recipe_for(env: str, env_kwargs: Mapping[str, Any] | None = None, **changes: Any) -> Recipe:
    """Return the recipe for an environment: sensible defaults, with the given changes.

    Args:
        env: A registered id.
        env_kwargs: Keyword arguments for ``gym.make``.
        **changes: Attributes of :class:`Recipe`; None leaves the default.

    Raises:
        BaiGymError: An unknown id or keyword, or a value outside its range.
    """
    source = EnvSource(env, dict(env_kwargs or {}))
    built = source.built
    if not built.problem.known:
        raise ParameterError(
            f"{env} is a real experiment: training would repeat it thousands of times; train on a simulation with "
            "known means, or step it with a library of your own through bai_gym.training.SB3VecEnv"
        )
    changes = {name: value for name, value in changes.items() if value is not None}
    env_kwargs = {name: _plain(value) for name, value in source.keywords.items()}
    binary = isinstance(built.problem.draw(1, np.random.default_rng(0)), BernoulliBandit)
    network = changes.get("network") or ("arms" if _one_arm(built) else "mlp")
    if network == "arms" and not _one_arm(built):
        raise ParameterError(
            "the network 'arms' recommends one arm after a fixed budget: take network 'mlp' for other tasks, or for "
            "fixed confidence"
        )
    episodes = PULLS_AT_ONCE // (LONGEST if built.episode_spec.fixed_confidence else built.budget + 1)
    defaults: dict[str, Any] = {
        "network": network,
        "rewards": "binary" if binary else "any",
        "width": WIDTHS[network] if network in NETWORKS else 1,
        "num_envs": int(np.clip(8 * (episodes // 8), *BATCH_SIZES)),
    }
    first_pulls = 1 if binary else 2  # of each arm, by the teacher
    if _one_arm(built) and built.budget >= first_pulls * built.num_arms:
        # The imitated agent may be given the range of the rewards; the learning one is not.
        defaults["imitate"] = "A-GapE(b=1.0)" if binary else "A-GapE-V"
    if changes.get("imitate") == "none":
        defaults.pop("imitate", None)
        del changes["imitate"]
    return Recipe(env, env_kwargs, **{**defaults, **changes})


def _one_arm(env: BestArmEnv) -> bool:
    return isinstance(env.episode_spec.task, BestArm) and not env.episode_spec.fixed_confidence


def _plain(value: Any) -> Any:
    """Return the keyword of an environment as a JSON value."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def train_command(kind: str, recipe: Any, default: Any) -> str:
    """Return the command for a recipe, with the entries that are not those of the default, a recipe or its class."""
    own = {entry.name: getattr(recipe, entry.name) for entry in dataclasses.fields(recipe)}
    env, env_kwargs, seed = (own.pop(name) for name in ("env", "env_kwargs", "seed"))
    changed = {name: value for name, value in own.items() if value != getattr(default, name)}
    words = ["bai-gym", "train", kind, env, *_options("--set", env_kwargs)]
    words += ["--steps", str(changed.pop("steps"))] if "steps" in changed else []
    entries = {name: "none" if value is None else value for name, value in changed.items()}
    return shlex.join([*words, "--seed", str(seed), *_options("--recipe", entries)])


def _options(option: str, entries: Mapping[str, Any]) -> list[str]:
    return [word for name, value in entries.items() for word in (option, f"{name}={_text(value)}")]


def _text(value: Any) -> str:
    """Return a value in the form in which options are read."""
    is_text = isinstance(value, str) and literal(value) is value  # "5" would be read as a number
    return str(value) if is_text else repr(value)
