"""Named random streams, so that results do not depend on workers, order or other cells.

A stream is addressed by the user's seed and a path such as ``("instances", chunk)``. Adding an agent to a
comparison, or a budget to a sweep, changes no other stream; this also gives all agents the same instances.
"""

from __future__ import annotations

import hashlib

import numpy as np

from bai_gym.validation import integer

__all__ = ["check_seed", "generator"]


def check_seed(seed: object) -> int:
    """Return ``seed`` as an int.

    Raises:
        ParameterError: If it is not an integer of at least 0.
    """
    return integer(seed, "seed", least=0, rule="an integer of at least 0")


def generator(seed: int, *path: int | str) -> np.random.Generator:
    """Return the generator of the stream ``path`` under ``seed``.

    Args:
        seed: The user's seed, at least 0.
        *path: The stream's address: words, and numbers of at least 0. Different paths give independent streams.

    Returns:
        A fresh generator, the same for the same arguments on every machine.
    """
    key: list[int] = []
    for part in path:
        if isinstance(part, str):
            part = int.from_bytes(hashlib.sha256(part.encode()).digest()[:8], "little")
        key.append(part)
    return np.random.default_rng(np.random.SeedSequence(entropy=seed, spawn_key=key))
