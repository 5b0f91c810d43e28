"""Training of DPT and ICPE: a posterior of the best arm from random histories, then the values of pulls, by DQN.

Papers: Lee et al. (2023), "Supervised Pretraining Can Learn In-Context Reinforcement Learning" (DPT); Russo, Welch and
Pacchiano (2026), "In-Context Learning for Pure Exploration" (ICPE). Differences are listed on the page of the agents.
"""

from __future__ import annotations

import copy
import json
import platform
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn
from typing_extensions import override

from bai_gym.agents.training.features import Rewards, features
from bai_gym.agents.training.in_context import InContextNetworks
from bai_gym.agents.training.network import ArmNetwork
from bai_gym.common.seeding import check_seed, generator
from bai_gym.envs.scalar import BestArmEnv
from bai_gym.errors import DataError, ParameterError
from bai_gym.results.writer import ResultsWriter, write_atomically
from bai_gym.statistics import IntArray, Statistics
from bai_gym.training.learning import claim, one_thread
from bai_gym.training.policy import ArmEncoder
from bai_gym.training.recipe import Recipe, recipe_for, train_command
from bai_gym.validation import integer, real

__all__ = ["ArmLogits", "Histories", "InContextRecipe", "draw_histories", "train_in_context"]

OnPart = Callable[[str, int, int], None]

DECAY = 1e-4  # of the weights, by AdamW, as in the code of DPT
CONCENTRATIONS = 11  # values of c, from 0 to 1: the share of the pulls that one random arm gets
EPISODES = 1024  # in a step of the posterior network
AVERAGED = 0.002  # of the exponential average of the weights, per step, which is the result
TARGET = 0.03  # the same, of the target network of DQN
TRANSITIONS = 1024  # in a step of the value network
PLAYED = 40_000  # approximate pulls in a round of episodes
KEPT = 6  # rounds of episodes in the replay buffer
STEPS_PER_ROUND = 100
EXPLORED = 0.5  # share of the rounds in which the share of random pulls falls
RANDOM = (1.0, 0.1)  # share of random pulls, at first and at last
VALUE_RATE = 1 / 3  # learning rate of the value network, relative to that of the posterior network
LOOKAHEAD = 20  # targets look ahead by 1/20 of an episode
STORE_SECONDS = 5.0  # between two checkpoints, which hold the replay buffer
SCALE = 10.0  # of the potentials, so that values of arms that are not alike differ by more than rounding


@dataclass(frozen=True)
class InContextRecipe:
    """What determines the trained weights.

    Args:
        env: A registered id: one best arm after a fixed budget.
        env_kwargs: Keyword arguments for ``gym.make``.
        seed: At least 0.
        steps: Gradient steps of the posterior network.
        value_steps: Gradient steps of the value network.
        width: Width of the layers of both.
        learning_rate: At the beginning; it falls to 0 along a straight line.

    Raises:
        BaiGymError: An unknown id, an environment of another task, or a value outside its range.
    """

    env: str
    env_kwargs: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    steps: int = 4_000
    value_steps: int = 8_000
    width: int = 32
    learning_rate: float = 3e-3

    def __post_init__(self) -> None:
        """Check the values."""
        check_seed(self.seed)
        for name in ("steps", "value_steps", "width"):
            integer(getattr(self, name), name, least=1)
        real(self.learning_rate, "learning_rate", above=0)
        general = recipe_for(self.env, self.env_kwargs)
        if general.network != "arms":
            raise ParameterError(
                f"DPT and ICPE recommend one arm after a fixed budget, which is not the task of {self.env}: train "
                "another policy there, with `bai-gym train sb3`"
            )
        object.__setattr__(self, "env_kwargs", dict(general.env_kwargs))
        budget, num_arms = self.built.budget, self.built.problem.num_arms
        if budget <= num_arms:
            raise ParameterError(
                f"budget {budget} leaves nothing to decide after one pull of each of {num_arms} arms: give a larger one"
            )

    @property
    def _general(self) -> Recipe:
        """The recipe of reinforcement learning there, which knows what the network can do."""
        return recipe_for(self.env, self.env_kwargs, network="arms")

    @property
    def built(self) -> BestArmEnv:
        """The environment."""
        return self._general.source.built

    @property
    def rewards(self) -> Rewards:
        """Kind of rewards."""
        return self._general.rewards

    def command(self) -> str:
        """Return the command for this recipe."""
        return train_command("in-context", self, InContextRecipe)

    def to_json(self) -> str:
        """Return the recipe as text."""
        return json.dumps(asdict(self), indent=2, sort_keys=True)


class Histories(NamedTuple):
    """Statistics of random pulls of random instances.

    Attributes:
        statistics: ``(N, K)``.
        best: ``(N,)`` the best arms.
    """

    statistics: Statistics
    best: IntArray


def draw_histories(env: BestArmEnv, episodes: int, rng: np.random.Generator) -> Histories:
    """Return histories of instances of an environment, each with its own budget and shares of the pulls.

    Every arm is pulled once, as the agents do; the other pulls go to independent random arms, with probabilities
    (1 - c) Dirichlet(1, ..., 1) + c e_j, where c is uniform on {0, 0.1, ..., 1} and the arm j uniform (appendix of Lee
    et al.). The number of all pulls is uniform from K to the budget.

    Args:
        env: One best arm, fixed budget.
        episodes: N.
        rng: Source of randomness.
    """
    bandit = env.problem.draw(episodes, rng)
    num_arms = bandit.num_arms
    extra = rng.integers(0, env.budget - num_arms, size=episodes, endpoint=True)
    c = rng.integers(CONCENTRATIONS, size=(episodes, 1)) / (CONCENTRATIONS - 1)
    favoured = np.arange(num_arms) == rng.integers(num_arms, size=(episodes, 1))
    shares = (1.0 - c) * rng.dirichlet(np.ones(num_arms), episodes) + c * favoured
    counts = 1 + rng.multinomial(extra, shares / shares.sum(1, keepdims=True))
    statistics = bandit.pull_block(counts, rng)
    return Histories(statistics, env.episode_spec.task.correct_recommendation(bandit.means))


class ArmLogits(nn.Module):
    """The network of :class:`bai_gym.agents.training.network.ArmNetwork`, for arms that all have a pull."""

    def __init__(self, width: int, rewards: Rewards) -> None:
        """Create the layers."""
        super().__init__()
        self.encoder, self.logit, self.rewards = ArmEncoder(width), nn.Linear(width, 1), rewards

    @override
    def forward(self, pulls: torch.Tensor, means: torch.Tensor, variances: torch.Tensor, left: Any) -> torch.Tensor:
        """Return ``(N, K)`` logits for statistics ``(N, K)`` and the pulls left ``(N, 1)``."""
        given = {"pulls": pulls, "means": means, "variances": variances, "remaining": left}
        seen = features(given, self.rewards, torch)
        logits: torch.Tensor = self.logit(self.encoder(seen.arms, seen.state)).squeeze(-1)
        return logits

    def export(self, facts: Mapping[str, Any]) -> ArmNetwork:
        """Return the network for use without PyTorch."""
        arrays = {**self.encoder.state_dict(), **{f"logit.{name}": x for name, x in self.logit.state_dict().items()}}
        return ArmNetwork({name: value.numpy().copy() for name, value in arrays.items()}, self.rewards, facts)


def train_in_context(recipe: InContextRecipe, out: str | Path, *, on_part: OnPart | None = None) -> Path:
    """Train the networks of DPT and ICPE on one core; the same recipe gives the same bytes with the same packages.

    An interrupted training goes on from ``checkpoint.pt``, to the same bytes; a finished one is not repeated.

    Args:
        recipe: The recipe.
        out: Folder for ``recipe.json``, ``weights.npz`` and, until that is there, ``checkpoint.pt``.
        on_part: Called with (stage, finished steps, all steps).

    Returns:
        The file of weights, for ``agents.make("DPT", path=...)`` and ``agents.make("ICPE", path=...)``.

    Raises:
        ParameterError: If the folder holds the training of another recipe.
        DataError: If the checkpoint is damaged.
        OutputError: If the folder cannot be written to.
    """
    folder = ResultsWriter(Path(out)).folder
    claim(folder, recipe.to_json())
    path = folder / "weights.npz"
    if path.exists():
        return path
    report = on_part or (lambda *_: None)
    with one_thread():
        torch.manual_seed(int(generator(recipe.seed, "weights").integers(2**62)))
        kept = _Checkpoint(folder / "checkpoint.pt")
        posterior = _predict(recipe, kept, lambda done: report("predicting", done, recipe.steps))
        values = _explore(recipe, posterior, kept, lambda done: report("exploring", done, recipe.value_steps))
    built = recipe.built
    facts = {
        "env": recipe.env,
        "budget": built.budget,
        "num_arms": built.problem.num_arms,
        "command": recipe.command(),
        "recipe": asdict(recipe),
        "versions": {name: version(name) for name in ("bai-gym", "torch", "numpy")},
        "python": platform.python_version(),
    }
    with write_atomically(path) as draft:
        InContextNetworks(posterior.export(facts), values.export(facts), facts).save(draft)
    kept.path.unlink(missing_ok=True)
    return path


class _Episodes(NamedTuple):
    """Episodes of T + 1 states, the first after one pull of each arm.

    Attributes:
        pulls: ``(T + 1, N, K)``, as all statistics float32.
        means: ``(T + 1, N, K)``.
        variances: ``(T + 1, N, K)``.
        arms: ``(T, N)`` the arm pulled in each state but the last.
        potentials: ``(T + 1, N)`` largest probability of being the best, scaled; its increases are the rewards.
    """

    pulls: torch.Tensor
    means: torch.Tensor
    variances: torch.Tensor
    arms: torch.Tensor
    potentials: torch.Tensor


class _Checkpoint:
    """What the finished steps of both stages have led to.

    Args:
        path: The file, which need not be there.

    Raises:
        DataError: If it is damaged.
    """

    def __init__(self, path: Path) -> None:
        """Load it."""
        self.path, self._stored = path, time.monotonic()
        self._stages: dict[str, Any] = {}
        if path.exists():
            try:
                self._stages = torch.load(path, weights_only=True)
            except Exception:  # unpickling a damaged file can raise anything
                raise DataError(f"{path} is damaged: delete it to begin again, or choose another --out") from None

    def resume(self, stage: str, parts: Mapping[str, Any]) -> tuple[int, list[_Episodes]]:
        """Return the finished steps of a stage and the episodes that it keeps, after loading its parts."""
        if stage not in self._stages:
            return 0, []
        found = self._stages[stage]
        for name, part in parts.items():
            part.load_state_dict(found[name])
        torch.set_rng_state(found["random"])
        return found["done"], [_Episodes(*episodes) for episodes in found["episodes"]]

    def store(self, stage: str, parts: Mapping[str, Any], done: int, episodes: Iterable[_Episodes] = ()) -> None:
        """Store a stage now and then."""
        if time.monotonic() < self._stored + STORE_SECONDS:
            return
        state: dict[str, Any] = {name: part.state_dict() for name, part in parts.items()}
        state |= {"done": done, "episodes": [*map(tuple, episodes)], "random": torch.get_rng_state()}
        self._stages[stage] = state
        with write_atomically(self.path) as draft:
            torch.save(self._stages, draft)
        self._stored = time.monotonic()


def _predict(recipe: InContextRecipe, kept: _Checkpoint, report: Callable[[int], None]) -> ArmLogits:
    """Return a network trained to predict the best arm from random histories."""
    env, network = recipe.built, ArmLogits(recipe.width, recipe.rewards)
    average = copy.deepcopy(network)
    optimizer, schedule = _optimizer(network, recipe.learning_rate, recipe.steps)
    parts = {"network": network, "average": average, "optimizer": optimizer, "schedule": schedule}
    done, _ = kept.resume("predicting", parts)
    for step in range(done, recipe.steps):
        histories = draw_histories(env, EPISODES, generator(recipe.seed, "histories", step))
        logits = network(*_tensors(histories.statistics), torch.zeros(EPISODES, 1))
        _descend(nn.functional.cross_entropy(logits, torch.as_tensor(histories.best)), optimizer, schedule)
        _follow(average, network, AVERAGED, step)
        kept.store("predicting", parts, step + 1)
        report(step + 1)
    return average


def _explore(
    recipe: InContextRecipe, posterior: ArmLogits, checkpoint: _Checkpoint, report: Callable[[int], None]
) -> ArmLogits:
    """Return a network trained by double DQN to predict how much further pulls will increase the potential."""
    network = ArmLogits(recipe.width, recipe.rewards)
    target, average = copy.deepcopy(network), copy.deepcopy(network)
    optimizer, schedule = _optimizer(network, VALUE_RATE * recipe.learning_rate, recipe.value_steps)
    rounds = -(-recipe.value_steps // STEPS_PER_ROUND)
    parts = {"network": network, "target": target, "average": average, "optimizer": optimizer, "schedule": schedule}
    done, episodes = checkpoint.resume("exploring", parts)
    kept: deque[_Episodes] = deque(episodes, maxlen=KEPT)
    for step in range(done, recipe.value_steps):
        if step % STEPS_PER_ROUND == 0:
            number = step // STEPS_PER_ROUND
            share = max(RANDOM[1], RANDOM[0] + (RANDOM[1] - RANDOM[0]) * number / (EXPLORED * rounds))
            kept.append(_play(recipe, network, posterior, share, generator(recipe.seed, "episodes", number)))
        if step % STEPS_PER_ROUND == 0 or step == done:
            replay = _Episodes(*(torch.cat(columns, 1) for columns in zip(*kept, strict=True)))
        _descend(_error(replay, network, target), optimizer, schedule)
        _follow(target, network, TARGET, step)
        _follow(average, network, AVERAGED, step)
        checkpoint.store("exploring", parts, step + 1, kept)
        report(step + 1)
    return average


@torch.no_grad()
def _play(
    recipe: InContextRecipe, network: ArmLogits, posterior: ArmLogits, share: float, rng: np.random.Generator
) -> _Episodes:
    """Play episodes: a share of the pulls at random, the others of the largest value."""
    built = recipe.built
    horizon = built.budget - built.problem.num_arms
    bandit = built.problem.draw(max(1, PLAYED // horizon), rng)
    shape = (bandit.batch, bandit.num_arms)
    statistics = bandit.pull_block(np.ones(shape, np.int64), rng)
    states, arms, potentials = [], [], []
    for left in range(horizon, -1, -1):
        state = _tensors(statistics)
        states.append(state)
        logits = posterior(*state, torch.zeros(bandit.batch, 1))
        potentials.append(SCALE * torch.softmax(logits, 1).amax(1))
        if left:
            chosen = network(*state, torch.full((bandit.batch, 1), float(left))).argmax(1).numpy()
            random = rng.integers(bandit.num_arms, size=bandit.batch)
            chosen = np.where(rng.random(bandit.batch) < share, random, chosen)
            flat = bandit.positions(chosen[:, None])[:, 0]
            statistics.add(flat, bandit.pull(flat, rng))
            arms.append(torch.as_tensor(chosen))
    pulls, means, variances = (torch.stack(parts) for parts in zip(*states, strict=True))
    return _Episodes(pulls, means, variances, torch.stack(arms), torch.stack(potentials))


def _error(replay: _Episodes, network: ArmLogits, target: ArmLogits) -> torch.Tensor:
    """Return the squared temporal difference of random pulls of the replay buffer."""
    horizon, episodes = replay.arms.shape
    now = torch.randint(horizon, (TRANSITIONS,))
    rows = torch.randint(episodes, (TRANSITIONS,))
    later = (now + max(1, horizon // LOOKAHEAD)).clamp(max=horizon)
    statistics = replay[:3]
    with torch.no_grad():
        ahead = [part[later, rows] for part in statistics]
        left = (horizon - later)[:, None].float()
        best = network(*ahead, left).argmax(1, keepdim=True)
        further = target(*ahead, left).gather(1, best)[:, 0]
        gained = replay.potentials[later, rows] - replay.potentials[now, rows]
        wanted = gained + torch.where(later < horizon, further, 0.0)
    values = network(*(part[now, rows] for part in statistics), (horizon - now)[:, None].float())
    return nn.functional.mse_loss(values.gather(1, replay.arms[now, rows][:, None])[:, 0], wanted)


@torch.no_grad()
def _follow(average: nn.Module, network: nn.Module, share: float, step: int) -> None:
    """Move the exponential average of the weights by a share, at first a larger one, so that it forgets its start."""
    for mean, value in zip(average.parameters(), network.parameters(), strict=True):
        mean.lerp_(value, max(share, 1.0 / (1.0 + 0.2 * step)))


def _optimizer(
    network: nn.Module, learning_rate: float, steps: int
) -> tuple[torch.optim.Optimizer, torch.optim.lr_scheduler.LRScheduler]:
    optimizer = torch.optim.AdamW(network.parameters(), lr=learning_rate, weight_decay=DECAY)
    return optimizer, torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 1e-3, steps)


def _descend(
    loss: torch.Tensor, optimizer: torch.optim.Optimizer, schedule: torch.optim.lr_scheduler.LRScheduler
) -> None:
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()
    schedule.step()


def _tensors(statistics: Statistics) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return pulls, means and variances ``(N, K)``, copied."""
    arrays = (statistics.pulls, statistics.means, statistics.variances)
    return tuple(torch.tensor(array, dtype=torch.float32) for array in arrays)  # type: ignore[return-value]
