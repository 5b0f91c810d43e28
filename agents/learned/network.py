"""A small network over arms, in NumPy: inference of trained weights without PyTorch."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bai_gym.agents.learned.features import ARM_FEATURES, STATE_FEATURES, Rewards, check_rewards, features
from bai_gym.errors import DataError, ParameterError

__all__ = ["FIRST", "FORMAT", "ArmNetwork"]

FORMAT = "bai-gym arm network 1"
FIRST = 1e4  # what the logits of arms without a pull are raised or lowered by
Weights = dict[str, npt.NDArray[np.float32]]

# Name -> shape, with h for the width. An arm's features and the state's enter side by side.
_SHAPES: dict[str, tuple[int | str, ...]] = {
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

    def logits(self, observation: Mapping[str, npt.NDArray[Any]]) -> npt.NDArray[np.float32]:
        """Return ``(..., K)`` logits.

        Args:
            observation: ``pulls``, ``means``, ``variances`` of shape ``(..., K)`` and ``remaining`` ``(..., 1)``.
        """
        seen = features({name: np.asarray(array, np.float64) for name, array in observation.items()}, self.rewards, np)
        w = self.weights
        arms, state = seen.arms.astype(np.float32), seen.state.astype(np.float32)
        hidden = arms @ w["arm.weight"].T + (state @ w["state.weight"].T + w["arm.bias"])[..., None, :]
        hidden = _relu(_relu(hidden) @ w["encoder.weight"].T + w["encoder.bias"])
        pooled = hidden.mean(axis=-2) @ w["mean.weight"].T + hidden.max(axis=-2) @ w["max.weight"].T + w["own.bias"]
        hidden = _relu(hidden @ w["own.weight"].T + pooled[..., None, :])
        logits = (hidden @ w["logit.weight"].T + w["logit.bias"])[..., 0]
        return np.asarray(logits + np.float32(FIRST) * seen.order.astype(np.float32))

    def save(self, path: Path) -> None:
        """Write the weights as an npz file, without pickle; the same content gives the same bytes."""
        facts = json.dumps({**self.facts, "format": FORMAT, "rewards": self.rewards}, sort_keys=True)
        np.savez_compressed(path, facts=np.array(facts), **self.weights)  # type: ignore[arg-type]

    @classmethod
    def load(cls, path: Path) -> ArmNetwork:
        """Read an npz file.

        Raises:
            ParameterError: If there is no such file.
            DataError: If it is damaged, or no network of this library.
        """
        if not path.is_file():
            raise ParameterError(f"there is no file of weights {str(path)!r}; `bai-gym train` writes them")
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
                arrays = {name: stored[name] for name in stored.files}
            facts = json.loads(str(arrays.pop("facts")[()]))
            if facts.pop("format") != FORMAT:
                raise KeyError
            return cls(_checked(arrays), check_rewards(facts.pop("rewards")), facts)
        except Exception:  # unpacking a damaged file can raise anything
            raise DataError(
                f"{str(path)!r} holds no weights of a learned agent, or is damaged: give the weights.npz that "
                "`bai-gym train` has written"
            ) from None


def _relu(values: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    return np.maximum(values, 0.0, out=values)


def _checked(arrays: dict[str, npt.NDArray[Any]]) -> Weights:
    """Return the arrays as float32.

    Raises:
        KeyError: If one is missing.
        ValueError: If one has another shape, or values that are not finite floats.
    """
    width = arrays["encoder.bias"].size
    weights = {}
    for name, shape in _SHAPES.items():
        wanted = tuple(width if size == "h" else size for size in shape)
        with np.errstate(over="ignore"):  # becomes infinite
            weights[name] = arrays[name].astype(np.float32)
        if arrays[name].dtype.kind != "f" or weights[name].shape != wanted or not np.isfinite(weights[name]).all():
            raise ValueError
    return weights
