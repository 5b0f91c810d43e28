"""Training of the universal agent: pathwise gradients through whole episodes of an exact simulator."""

from __future__ import annotations

import json
import math
import platform
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from typing_extensions import override

from bai_gym.agents.training.contenders import (
    ARM_FEATURES,
    STATE_FEATURES,
    WEIGHT,
    Rivals,
    estimates,
    rivals,
    view,
)
from bai_gym.agents.training.features import REWARDS
from bai_gym.agents.training.network import load_weights, save_weights
from bai_gym.agents.training.sb3 import check_device
from bai_gym.agents.training.universal import FLOOR, FORMAT, SHAPES, stage_sizes
from bai_gym.common.seeding import check_seed, generator
from bai_gym.errors import DataError, ParameterError
from bai_gym.results.writer import ResultsWriter, write_atomically
from bai_gym.training.arrays import Arms, State, pull, start
from bai_gym.training.families import FAMILIES, KIND, QUESTIONS, Group, check_words, draw_group
from bai_gym.training.learning import claim, one_thread
from bai_gym.training.tracking import OnValues
from bai_gym.validation import integer, real

__all__ = ["Network", "Networks", "UniversalRecipe", "error_probability", "play", "train_universal"]

OnStep = Callable[[int, float], None]
Log = Callable[[str, float, int], None]

BATCHES = 2  # of each network in a step, each with its own number of arms
LAST_RATE = 1e-4
SHARPNESS = 2.5  # of the standardised gaps in the soft error probability
CHANCES = 1.7  # the same in the probability of the recommendation
EASY = 0.002  # errors below this count little more
RECOMMENDATION = 0.3  # weight of the cross-entropy of the recommendation
AVERAGING = 0.005  # of the exponential average of the weights
LARGEST_PART = 3.0  # gradient of an episode's part of the loss in the logits of a stage
CHECKPOINT_SECONDS = 5.0  # between two
VALIDATION = 400  # steps
VALIDATION_GROUPS = 24
VALIDATION_SIZE = 3  # times that of a batch
VALIDATION_EPISODES = 2000  # of a group, at most: one with rare errors needs more than training gives it
STAGES_AT_PLAY = 20


@dataclass(frozen=True)
class UniversalRecipe:
    """What determines the trained weights.

    Args:
        steps: Number of gradient steps.
        seed: At least 0.
        stages: Fewest and most stages of an episode in training; the network learns to play with any number between.
        families: Families of instances, some of :data:`bai_gym.training.families.FAMILIES`, as a list, or as text with
            commas. Without Bernoulli arms, or without others, one of the two networks stays as it starts.
        questions: Tasks, some of :data:`bai_gym.training.families.QUESTIONS`, likewise.
        size: Approximate number of arms in a batch (over all its episodes); a step has two for each network.
        width: Width of the layers.
        learning_rate: Its first value; it decreases to 0.0001.

    Raises:
        ParameterError: If a value is outside its range.
    """

    steps: int = 4000
    seed: int = 0
    stages: tuple[int, int] = (6, 20)
    families: tuple[str, ...] = FAMILIES
    questions: tuple[str, ...] = tuple(QUESTIONS)
    size: int = 8000
    width: int = 48
    learning_rate: float = 3e-3

    def __post_init__(self) -> None:
        """Check the values."""
        integer(self.steps, "steps", least=1)
        check_seed(self.seed)
        both = tuple(self.stages) if isinstance(self.stages, list | tuple) else ()
        if len(both) != 2:
            raise ParameterError(f"stages must be the fewest and the most, such as 6,20, not {self.stages!r}")
        fewest, most = (integer(value, "stages", least=1) for value in both)
        if fewest > most:
            raise ParameterError(f"stages must be the fewest and the most, not {fewest} and {most}")
        object.__setattr__(self, "stages", (fewest, most))
        for name, allowed in (("families", FAMILIES), ("questions", QUESTIONS)):
            object.__setattr__(self, name, _words(getattr(self, name), name))
            check_words(name, getattr(self, name), allowed)
        integer(self.size, "size", least=64)
        integer(self.width, "width", least=1)
        real(self.learning_rate, "learning_rate", above=0)

    def to_json(self, start: Mapping[str, Any] | None = None) -> str:
        """Return the recipe as JSON, sorted, with the provenance of the weights to start from, if any."""
        return json.dumps({**asdict(self), **({"start": dict(start)} if start else {})}, sort_keys=True, indent=1)


def _words(value: Any, name: str) -> tuple[str, ...]:
    """Return the words of a list, or of text with commas."""
    words = value.split(",") if isinstance(value, str) else value
    if not isinstance(words, list | tuple) or not all(isinstance(word, str) for word in words):
        raise ParameterError(f"{name} must be words, with commas between them, not {value!r}")
    return tuple(words)


class Network(torch.nn.Module):
    """A network of :class:`bai_gym.agents.training.universal.Universal`, to be trained.

    Args:
        width: Width of the layers.
        rewards: Kind of rewards: ``"any"``, or ``"binary"`` for 0 and 1.
    """

    def __init__(self, width: int, rewards: str) -> None:
        """Create the layers; the outputs start at 0, so that the hand-made logits decide."""
        super().__init__()
        self.rewards = rewards
        linear = torch.nn.Linear
        self.arm = linear(len(ARM_FEATURES), width)
        self.state = linear(len(STATE_FEATURES), width, bias=False)
        self.encoder = linear(width, width)
        self.own = linear(width, width)
        self.mean = linear(width, width, bias=False)
        self.max = linear(width, width, bias=False)
        self.contenders = linear(width, width, bias=False)
        self.out = linear(width, 2)
        torch.nn.init.zeros_(self.out.weight)
        torch.nn.init.zeros_(self.out.bias)

    @override
    def forward(self, state: State, left: torch.Tensor, group: Group) -> tuple[torch.Tensor, torch.Tensor]:
        """Return ``(N, K)`` logits of the next pulls, and the corrected means.

        Args:
            state: Statistics of episodes, with at least one pull of each arm.
            left: ``(N, 1)`` pulls that are left.
            group: The instances; of these the question alone is looked at.
        """
        seen = estimates(self.rewards, state, torch)
        inputs = view(state.pulls, seen, compared(seen.means, group), left, torch)
        hidden = torch.relu(self.arm(inputs.arms) + self.state(inputs.state).unsqueeze(-2))
        hidden = torch.relu(self.encoder(hidden))
        weight = inputs.arms[..., WEIGHT : WEIGHT + 1]
        among = (hidden * weight).sum(-2) / weight.sum(-2)
        pooled = self.mean(hidden.mean(-2)) + self.max(hidden.amax(-2)) + self.contenders(among)
        out = self.out(torch.relu(self.own(hidden) + pooled.unsqueeze(-2)))
        return inputs.pulls + out[..., 0], inputs.means + inputs.step * out[..., 1]


class Networks(torch.nn.Module):
    """The networks of the agent, one for each kind of reward; they share nothing.

    Args:
        width: Width of the layers.
    """

    def __init__(self, width: int) -> None:
        """Create both networks."""
        super().__init__()
        self.any, self.binary = (Network(width, rewards) for rewards in REWARDS)

    def of(self, kind: str) -> Network:
        """Return the network for arms of a distribution."""
        return self.binary if kind == "bernoulli" else self.any


def compared(means: torch.Tensor, group: Group) -> Rivals:
    """Return what each arm is compared with, given estimated or true means ``(N, K)``."""
    found = rivals(means.detach().cpu().numpy(), group.task, group.numbers)
    arm, *rest = (torch.as_tensor(array, device=means.device) for array in found)
    return Rivals(arm, *(array.to(means.dtype) for array in rest))


def play(network: Network, group: Group, stages: int, random: torch.Generator) -> torch.Tensor:
    """Play an episode of each instance; gradients flow through the counts of all stages.

    Args:
        network: The network for these rewards, whose device is that of the simulation.
        group: The instances.
        stages: Number of stages after the warm-up.
        random: Source of randomness, on the same device.

    Returns:
        ``(N, K)`` by how many standard errors each arm is on its side by the corrected means, negative on the wrong
        side; infinite for the better arm of a pair that are compared with each other, since the other one counts.
    """
    like = network.out.bias
    means = torch.as_tensor(group.means, dtype=like.dtype, device=like.device)
    deviations = torch.as_tensor(group.deviations, dtype=like.dtype, device=like.device)
    num_arms, binary = means.shape[1], group.kind == "bernoulli"
    bandit = torch.arange(num_arms, device=like.device) // (num_arms // group.task.num_bandits)
    order = torch.argsort(bandit + torch.rand(means.shape, generator=random, device=like.device), 1)
    arms = Arms(group.kind, means.gather(1, order), deviations.gather(1, order))
    plan = np.stack([stage_sizes(budget, num_arms, stages) for budget in group.budgets.tolist()])
    sizes = torch.as_tensor(plan, dtype=like.dtype, device=like.device)
    sizes = sizes.repeat_interleave(len(means) // len(plan), 0)[..., None]  # (P, S) -> (N, S, 1)
    state = pull(arms, start(arms), torch.ones_like(means), random)
    left = sizes.sum(1)
    for stage in range(1 + stages):
        size = sizes[:, stage]
        if stage == 0 and not binary:  # before two pulls of an arm nothing is known about its variance
            state = pull(arms, state, (size / num_arms).expand_as(means), random)
        else:
            logits, _ = network(state, left, group)
            if logits.requires_grad:
                logits.register_hook(_bounded)
            counts = size * (torch.softmax(logits, 1) * (1.0 - FLOOR) + FLOOR / num_arms)
            whole = _rounded(counts.detach(), size, random)
            state = pull(arms, state, whole, random, gradient=counts if counts.requires_grad else None)
        left = left - size
    _, corrected = network(state, left, group)
    found = compared(corrected, group)
    seen = estimates(network.rewards, state, torch)._replace(means=corrected)
    shown = view(state.pulls, seen, found, left, torch)
    z, leads = (shown.arms[..., ARM_FEATURES.index(name)] for name in ("z", "leader"))
    is_right = found.side == compared(arms.means, group).side
    return torch.where(leads > 0.0, torch.inf, 2.0 * torch.where(is_right, z, -z))


def _bounded(gradient: torch.Tensor) -> torch.Tensor:
    """Return the gradient in the logits ``(N, K)`` of a stage, each episode's bounded: some explode through stages."""
    size: torch.Tensor = len(gradient) * torch.linalg.vector_norm(gradient, dim=1, keepdim=True)
    return gradient * (LARGEST_PART / size).clamp(max=1.0)


def _rounded(counts: torch.Tensor, size: torch.Tensor, random: torch.Generator) -> torch.Tensor:
    """Return whole counts of the same sum, each less than 1 away and unbiased: systematic sampling."""
    offset = torch.rand(size.shape, generator=random, device=counts.device, dtype=counts.dtype)
    ends = torch.cumsum(counts, 1) + offset
    ends[:, -1:] = size + offset
    return torch.diff(torch.floor(ends), dim=1, prepend=torch.zeros_like(offset))


def _loss(network: Network, group: Group, stages: int, random: torch.Generator) -> torch.Tensor:
    """Return the mean over the parts of the logarithm of the error probability, so that easy and hard ones count."""
    margins = play(network, group, stages, random)
    soft, right = (1.0 / (1.0 + torch.exp(-sharpness * margins).sum(1)) for sharpness in (SHARPNESS, CHANCES))
    easy = torch.log(1.0 - soft.reshape(len(group.budgets), -1).mean(1) + EASY)
    return easy.mean() - RECOMMENDATION * torch.log(right).mean()


def error_probability(networks: Networks, groups: list[Group], seed: int) -> np.ndarray:
    """Return the estimated error probability on each part of each group, ``(G, P)``."""
    errors = []
    for number, group in enumerate(groups):
        network = networks.of(group.kind)
        random = _random(network.out.bias.device, seed, "validation", number)
        with torch.no_grad():
            margins = play(network, group, STAGES_AT_PLAY, random)
        errors.append((margins < 0.0).any(1).double().reshape(len(group.budgets), -1).mean(1).cpu().numpy())
    return np.stack(errors)


def train_universal(
    recipe: UniversalRecipe,
    out: str | Path,
    *,
    start_from: str | Path | None = None,
    device: str = "auto",
    minutes: float | None = None,
    on_step: OnStep | None = None,
    on_values: OnValues | None = None,
) -> Path:
    """Train the universal agent, or resume an interrupted or killed run of the same recipe.

    The folder holds ``recipe.json``, ``checkpoint.pt``, ``curve.jsonl`` (error probabilities on a validation set),
    events for TensorBoard if that is installed, and the weights for ``agents.make("Universal", path=...)``, written
    again with every checkpoint. Each step has its own random numbers, so an interrupted run ends with the same bytes in
    all files but TensorBoard's as an uninterrupted one.

    Args:
        recipe: The recipe.
        out: The folder.
        start_from: Weights to start from, of the same width, for example the shipped ones
            (``bai_gym.agents.training.universal.SHIPPED``). None: random ones.
        device: ``"auto"`` (a GPU if there is one), ``"cpu"`` or ``"cuda"``.
        minutes: Stop after this time, at least 0, and at least one step; the same call resumes.
        on_step: Called with (finished steps, loss).
        on_values: Called with what TensorBoard gets: (values by name, finished steps), see
            :func:`bai_gym.training.weights_and_biases`.

    Returns:
        The file of weights.

    Raises:
        ParameterError: If the minutes are out of range, there is no such device, the folder holds the training of
            another recipe, or the weights to start from are missing or of another width.
        DataError: If the checkpoint, or the file of weights, is damaged.
        OutputError: If the folder cannot be written to.
    """
    check_device(device)
    if minutes is not None:
        real(minutes, "minutes", least=0)
    begun = time.monotonic()
    first, facts = (None, {}) if start_from is None else load_weights(Path(start_from), FORMAT, SHAPES)
    if first is not None and (width := first["any.arm.bias"].size) != recipe.width:
        raise ParameterError(f"{start_from} has layers of width {width}, not {recipe.width}")
    folder = ResultsWriter(Path(out)).folder
    claim(folder, recipe.to_json(facts))
    place = torch.device("cuda" if device == "cuda" or (device == "auto" and torch.cuda.is_available()) else "cpu")
    validation = [
        draw_group(
            generator(1, "validation", number),
            recipe.families,
            recipe.questions,
            size=VALIDATION_SIZE * recipe.size,
            most=VALIDATION_EPISODES,
        )
        for number in range(VALIDATION_GROUPS)
    ]
    with one_thread(), _events(folder / "tensorboard", on_values) as log:
        torch.manual_seed(recipe.seed)
        networks = Networks(recipe.width).to(place)
        if first is not None:
            networks.load_state_dict({name: torch.as_tensor(array) for name, array in first.items()})
        optimizer = torch.optim.Adam(networks.parameters(), lr=recipe.learning_rate)
        average = {name: value.clone() for name, value in networks.state_dict().items()}
        done = 0
        checkpoint, weights, curve = folder / "checkpoint.pt", folder / "weights.npz", folder / "curve.jsonl"
        if checkpoint.exists():
            done, average = _restore(checkpoint, networks, optimizer, place)
        stored = time.monotonic()
        while done < recipe.steps:
            if done % VALIDATION == 0:
                _write_curve(curve, recipe, done, average, validation, place, log)
            loss = _step(networks, optimizer, recipe, done)
            done += 1
            log("train/loss", loss, done)
            share = max(AVERAGING, 1.0 / (1.0 + 0.2 * done))
            for name, value in networks.state_dict().items():
                average[name].lerp_(value, share)
            if on_step is not None:
                on_step(done, loss)
            over = minutes is not None and time.monotonic() - begun > 60.0 * minutes
            if over or done == recipe.steps or time.monotonic() > stored + CHECKPOINT_SECONDS:
                state = {
                    "networks": networks.state_dict(),
                    "optimizer": optimizer.state_dict(),
                    "average": average,
                    "done": done,
                }
                with write_atomically(checkpoint) as draft, draft.open("wb") as file:
                    torch.save(state, file)  # a file: the name of a path would be part of the bytes
                _export(weights, json.loads(recipe.to_json(facts)), done, average)
                stored = time.monotonic()
            if over:
                break
        if done == recipe.steps:
            _write_curve(curve, recipe, done, average, validation, place, log)
    return weights


def _step(networks: Networks, optimizer: torch.optim.Optimizer, recipe: UniversalRecipe, number: int) -> float:
    """Make one step of each network that has families to learn from, and return the mean of their losses."""
    cosine = 0.5 * (1.0 + math.cos(math.pi * number / recipe.steps))
    rate = LAST_RATE + (recipe.learning_rate - LAST_RATE) * cosine
    for parameters in optimizer.param_groups:
        parameters["lr"] = rate * min(1.0, (number + 1) / 30)
    optimizer.zero_grad()
    losses = []
    for kind in sorted({KIND[family] for family in recipe.families}):
        network = networks.of(kind)
        rng = generator(recipe.seed, "instances", kind, number)
        random = _random(network.out.bias.device, recipe.seed, "pulls", kind, number)
        families = [family for family in recipe.families if KIND[family] == kind]
        for _ in range(BATCHES):
            group = draw_group(rng, families, recipe.questions, size=recipe.size)
            loss = _loss(network, group, int(rng.integers(recipe.stages[0], recipe.stages[1] + 1)), random)
            (loss / BATCHES).backward()  # type: ignore[no-untyped-call]
            losses.append(float(loss.detach()))
        norm = torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        if not torch.isfinite(norm):
            network.zero_grad()
    optimizer.step()
    return sum(losses) / len(losses)


def _random(device: torch.device, seed: int, *path: int | str) -> torch.Generator:
    return torch.Generator(device).manual_seed(int(generator(seed, *path).integers(2**62)))


def _restore(path: Path, networks: Networks, optimizer: torch.optim.Optimizer, place: torch.device) -> tuple[int, Any]:
    try:
        stored = torch.load(path, map_location=place, weights_only=True)
        networks.load_state_dict(stored["networks"])
        optimizer.load_state_dict(stored["optimizer"])
        return stored["done"], stored["average"]
    except Exception:  # unpickling a damaged file can raise anything
        raise DataError(f"{path} is damaged: delete it to begin again, or choose another --out") from None


@contextmanager
def _events(folder: Path, on_values: OnValues | None) -> Iterator[Log]:
    """Yield a function that logs a value at a step for TensorBoard, if that is installed, and passes it on."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        writer = None
    else:
        writer = SummaryWriter(str(folder))

    def log(name: str, value: float, step: int) -> None:
        if writer is not None:
            writer.add_scalar(name, value, step)
        if on_values is not None:
            on_values({name: float(value)}, step)

    try:
        yield log
    finally:
        if writer is not None:
            writer.close()


def _write_curve(
    path: Path,
    recipe: UniversalRecipe,
    done: int,
    average: Any,
    validation: list[Group],
    place: torch.device,
    log: Log,
) -> None:
    """Add a line to the learning curve, unless it is there: validation errors of the averaged weights."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    lines = [line for line in lines if json.loads(line)["step"] < done]
    networks = Networks(recipe.width).to(place)
    networks.load_state_dict(average)
    errors = error_probability(networks, validation, 1)
    point = {"step": done, "error": round(errors.mean(), 5), "log_error": round(np.log(errors + EASY).mean(), 4)}
    for name in ("error", "log_error"):
        log(f"validation/{name}", point[name], done)
    with write_atomically(path) as draft:
        draft.write_text("\n".join([*lines, json.dumps(point)]) + "\n", encoding="utf-8", newline="\n")


def _export(path: Path, recipe: dict[str, Any], done: int, average: Any) -> None:
    facts = {
        "recipe": recipe,
        "steps": done,
        "versions": {name: version(name) for name in ("bai-gym", "torch", "numpy")},
        "python": platform.python_version(),
    }
    with write_atomically(path) as draft:
        save_weights(draft, FORMAT, facts, {name: value.cpu().numpy() for name, value in average.items()})
