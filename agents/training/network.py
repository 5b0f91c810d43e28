"""A small network over arms, in NumPy: inference of trained weights without PyTorch."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bai_gym.agents.training.features import ARM_FEATURES, STATE_FEATURES, Rewards, check_rewards, features
from bai_gym.errors import DataError, ParameterError
from bai_gym.statistics import AnyArray

__all__ = [
    "FIRST",
    "FORMAT",
    "SHAPES",
    "ArmNetwork",
    "Shapes",
    "Weights",
    "damaged",
    "load_weights",
    "relu",
    "save_weights",
    "short_label",
]

FORMAT = "bai-gym arm network 1"
FIRST = 1e4  # what the logits of arms without a pull are raised or lowered by
Weights = dict[str, npt.NDArray[np.float32]]
Shapes = Mapping[str, tuple[int | str, ...]]
"""Shape of each array, with names, such as "h", for sizes that depend on the network."""

# An arm's features and the state's enter side by side.
SHAPES: Shapes = {
    "arm.weight": ("h", ARM_FEATURES),
    "state.weight": ("h", STATE_FEATURES),
    "arm.bias": ("h",),
    "encoder.weight": ("h", "h"),
    "encoder.bias": ("h",),
    "own.weight": ("h", "h"),
    "mean.weight": ("h", "h"),
    "max.weight": ("h", "h"),
    "own.bias": ("h",),
    "logit.weight": (1, "h"),
    "logit.bias": (1,),
}


@dataclass(frozen=True)
class ArmNetwork:
    """One logit per arm, from the arm itself and from what all arms have in common.

    Every arm passes through the same encoder; the encodings are pooled (mean and maximum), and each arm is looked at
    again beside the pool. So the network is equivariant, a permutation of the arms permutes the logits, and it works
    for any number of arms. Arms without a pull always come first.

    The idea is that of deep sets: Zaheer et al. (2017), "Deep Sets".

    Attributes:
        weights: Arrays by name, float32.
        rewards: Kind of rewards that the features assume.
        facts: Provenance of the weights: environment, command, steps, seed and so on.
    """

    weights: Weights
    rewards: Rewards
    facts: Mapping[str, Any]

    def logits(self, observation: Mapping[str, AnyArray]) -> npt.NDArray[np.float32]:
        """Return ``(..., K)`` logits.

        Args:
            observation: ``pulls``, ``means``, ``variances`` of shape ``(..., K)`` and ``remaining`` ``(..., 1)``.
        """
        seen = features({name: np.asarray(array, np.float64) for name, array in observation.items()}, self.rewards, np)
        w = self.weights
        arms, state = seen.arms.astype(np.float32), seen.state.astype(np.float32)
        hidden = arms @ w["arm.weight"].T + (state @ w["state.weight"].T + w["arm.bias"])[..., None, :]
        hidden = relu(relu(hidden) @ w["encoder.weight"].T + w["encoder.bias"])
        pooled = hidden.mean(axis=-2) @ w["mean.weight"].T + hidden.max(axis=-2) @ w["max.weight"].T + w["own.bias"]
        hidden = relu(hidden @ w["own.weight"].T + pooled[..., None, :])
        logits = (hidden @ w["logit.weight"].T + w["logit.bias"])[..., 0]
        return np.asarray(logits + np.float32(FIRST) * seen.order.astype(np.float32))

    def save(self, path: Path) -> None:
        """Write the weights as an npz file, without pickle; the same content gives the same bytes."""
        save_weights(path, FORMAT, {**self.facts, "rewards": self.rewards}, self.weights)

    @classmethod
    def load(cls, path: Path) -> ArmNetwork:
        """Read an npz file.

        Raises:
            ParameterError: If there is no such file.
            DataError: If it is damaged, or no network of this library.
        """
        weights, facts = load_weights(path, FORMAT, SHAPES)
        try:
            return cls(weights, check_rewards(facts.pop("rewards")), facts)
        except (KeyError, ParameterError):
            raise damaged(path) from None


def save_weights(path: Path, kind: str, facts: Mapping[str, Any], weights: Mapping[str, AnyArray]) -> None:
    """Write weights as an npz file, without pickle; the same content gives the same bytes.

    Args:
        path: The file.
        kind: Format of the network, which :func:`load_weights` compares.
        facts: Provenance, which can be written as JSON.
        weights: Arrays by name.
    """
    text = json.dumps({**facts, "format": kind}, sort_keys=True)
    with path.open("wb") as file:  # a path would get the ending .npz
        np.savez_compressed(file, facts=np.array(text), **weights)  # type: ignore[arg-type]


def load_weights(path: Path, kind: str, shapes: Shapes) -> tuple[Weights, dict[str, Any]]:
    """Read an npz file: float32 weights by name, and their provenance.

    Raises:
        ParameterError: If there is no such file.
        DataError: If it is damaged, or holds another kind of network.
    """
    if not path.is_file():
        raise ParameterError(f"there is no file of weights {str(path)!r}; `bai-gym train` writes them")
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        facts = json.loads(str(arrays.pop("facts")[()]))
        if facts.pop("format") != kind:
            raise KeyError
        return _checked(arrays, shapes), facts
    except Exception:  # unpacking a damaged file can raise anything
        raise damaged(path) from None


def short_label(label: str, path: str | Path | None) -> str:
    """Return an agent's label with a short path: the name of its file, or of the folder of a ``weights.npz``."""
    if path is None:
        return label
    file = Path(path)
    short = (file.name == "weights.npz" and file.parent.name) or file.stem
    return label.replace(f"path={path}", short)


def relu(values: AnyArray) -> AnyArray:
    """Return values with negative ones replaced by 0, in place."""
    return np.maximum(values, 0.0, out=values)


def damaged(path: Path) -> DataError:
    """Return the error to raise where a file holds no weights of the expected kind."""
    return DataError(
        f"{str(path)!r} holds no weights of a learned agent, or is damaged: give the weights.npz that "
        "`bai-gym train` has written"
    )


def _checked(arrays: dict[str, AnyArray], shapes: Shapes) -> Weights:
    """Return the arrays as float32.

    Raises:
        KeyError: If one is missing.
        ValueError: If one has another shape, or values that are not finite floats.
    """
    sizes: dict[int | str, int] = {}
    weights = {}
    for name, shape in shapes.items():
        pairs = zip(shape, arrays[name].shape, strict=True)
        expected = tuple(size if isinstance(size, int) else sizes.setdefault(size, there) for size, there in pairs)
        with np.errstate(over="ignore"):  # becomes infinite
            weights[name] = arrays[name].astype(np.float32)
        if arrays[name].dtype.kind != "f" or weights[name].shape != expected or not np.isfinite(weights[name]).all():
            raise ValueError
    return weights
