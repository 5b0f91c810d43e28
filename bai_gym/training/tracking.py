"""Training as it goes on: errors beside those of other agents, and what TensorBoard shows at Weights & Biases."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import KVWriter
from typing_extensions import override

from bai_gym.agents.training.sb3 import SB3Agent
from bai_gym.api import evaluate
from bai_gym.errors import BaiGymError, MissingPackageError
from bai_gym.results.writer import write_atomically

__all__ = ["AgainstAgents", "OnValues", "Values", "weights_and_biases"]

_NUMBERS = (int, float, np.number)

OnValues = Callable[[Mapping[str, float], int], None]


class _AnyRecipe(Protocol):
    def to_json(self) -> str:
        """Return the recipe as JSON."""


class AgainstAgents(BaseCallback):
    """Plays the policy beside other agents, on the same instances, while it learns: a callback of stable-baselines3.

    The logger of the model gets ``errors/policy`` and, for example, ``errors/SR``: lines in TensorBoard. In a folder,
    ``errors.csv`` holds the same numbers, and ``errors.png`` shows them at the end, where matplotlib is installed.

    Args:
        env: A registered id.
        out: The folder; None: none is written. With the file of an earlier training it goes on.
        agents: Names; those that cannot play there are left out.
        every: Steps of training between two measurements.
        runs: Episodes of each.
        seed: Of those episodes.
        env_kwargs: Keyword arguments for ``gym.make``.
    """

    def __init__(
        self,
        env: str,
        out: str | Path | None = None,
        agents: Sequence[str] = ("SR", "TTTS", "BayesOptimal"),
        *,
        every: int = 100_000,
        runs: int = 2000,
        seed: int = 1,
        env_kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        """Keep the settings."""
        super().__init__()
        self.file = None if out is None else Path(out) / "errors.csv"
        self.agents, self.every = agents, every
        self._played: dict[str, Any] = {"env": env, "runs": runs, "seed": seed, "env_kwargs": env_kwargs}
        self._others: dict[str, float] | None = None
        self._drawn = 0
        self.rows: list[dict[str, float]] = []

    @override
    def _on_training_start(self) -> None:
        if self._others is None:
            self._others = {}
            for name in self.agents:
                with suppress(BaiGymError):  # it cannot play here
                    self._others[name] = self._error(name)
            if self.file is not None and self.file.exists():
                with self.file.open(encoding="utf-8", newline="") as file:
                    self.rows = [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]
        self.rows = [row for row in self.rows if row["steps"] <= self.num_timesteps]  # others were not saved

    @override
    def _on_step(self) -> bool:
        if self.num_timesteps >= (self.rows[-1]["steps"] if self.rows else 0) + self.every:
            errors = {"policy": self._error(SB3Agent(model=self.model)), **(self._others or {})}
            for name, value in errors.items():
                self.logger.record(f"errors/{name}", value)
            self.rows.append({"steps": float(self.num_timesteps), **errors})
            if self.file is not None:
                with write_atomically(self.file) as draft, draft.open("w", encoding="utf-8", newline="") as file:
                    writer = csv.DictWriter(file, self.rows[-1], lineterminator="\n")
                    writer.writeheader()
                    writer.writerows(self.rows)
        return True

    @override
    def _on_training_end(self) -> None:
        if self.file is None or len(self.rows) == self._drawn:
            return
        try:
            from matplotlib.figure import Figure
        except ImportError:
            return
        figure = Figure(figsize=(6.0, 4.0))
        axes = figure.add_subplot(xlabel="steps of training", ylabel="error probability")
        for name in [name for name in self.rows[-1] if name != "steps"]:
            style = "-" if name == "policy" else "--"
            axes.plot([row["steps"] for row in self.rows], [row[name] for row in self.rows], style, label=name)
        axes.legend()
        figure.savefig(self.file.with_suffix(".png"), dpi=150)
        self._drawn = len(self.rows)

    def _error(self, agent: Any) -> float:
        return float(evaluate(agent, **self._played).error_probability)


class Values(KVWriter):
    """A writer of stable-baselines3 that calls a function with the numbers of an update.

    Args:
        on_values: Called with (values by name, steps).
    """

    def __init__(self, on_values: OnValues) -> None:
        self._on_values = on_values

    @override
    def write(self, key_values: dict[str, Any], key_excluded: dict[str, tuple[str, ...]], step: int = 0) -> None:
        """Pass on the numbers that TensorBoard gets."""
        values = {name: value for name, value in key_values.items() if "tensorboard" not in (key_excluded[name] or ())}
        self._on_values({name: float(value) for name, value in values.items() if isinstance(value, _NUMBERS)}, step)

    @override
    def close(self) -> None:
        """Nothing is open."""


@contextmanager
def weights_and_biases(project: str, recipe: _AnyRecipe, out: str | Path) -> Iterator[OnValues]:
    """Yield a function that logs values at Weights & Biases, for ``train(..., on_values=)``.

    The run has the recipe as its configuration, and an id that follows from the recipe: a training that is resumed goes
    on with the same run. The variables of Weights & Biases apply: with ``WANDB_MODE=offline`` nothing is sent, and
    `wandb sync` does so later; ``WANDB_ENTITY`` is the team.

    Args:
        project: Name of the project.
        recipe: The recipe.
        out: The folder of the training, in which Weights & Biases keeps its files, in ``wandb``.

    Raises:
        MissingPackageError: If wandb is not installed.
    """
    try:
        import wandb
    except ImportError as error:
        raise MissingPackageError('logging there needs wandb; pip install "bai-gym[wandb]"') from error
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    text = recipe.to_json()
    run = wandb.init(
        project=project,
        id=hashlib.sha256(text.encode()).hexdigest()[:16],
        resume="allow",
        config=json.loads(text),
        dir=str(folder),
    )
    with run:
        yield lambda values, step: run.log(dict(values), step=step)
