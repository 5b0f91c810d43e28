"""Training seen by a tracker of experiments: what TensorBoard shows, at Weights & Biases."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from stable_baselines3.common.logger import KVWriter
from typing_extensions import override

from bai_gym.errors import MissingPackageError

__all__ = ["OnValues", "Values", "weights_and_biases"]

_NUMBERS = (int, float, np.number)

OnValues = Callable[[Mapping[str, float], int], None]


class _AnyRecipe(Protocol):
    def to_json(self) -> str:
        """Return the recipe as JSON."""


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
