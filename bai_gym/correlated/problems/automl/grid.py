"""The 160 models of Hoffman, Shahriari and de Freitas (2014), section 6.2."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bai_gym.statistics import FloatArray

__all__ = ["GRIDS", "MODELS", "Model", "similarity"]

GRIDS: dict[str, dict[str, tuple[float, ...]]] = {
    "Lasso": {"alpha": (0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5)},
    "random forest": {
        "n_estimators": (1, 10, 100, 1000),
        "min_samples_split": (1, 3, 5, 7),
        "min_samples_leaf": (2, 6, 10, 14),
    },
    "linear SVM": {"C": (0.001, 0.01, 0.1, 1), "epsilon": (0.0001, 0.001, 0.01, 0.1)},
    "RBF SVM": {
        "C": (0.001, 0.01, 0.1, 1),
        "epsilon": (0.0001, 0.001, 0.01, 0.1),
        "gamma": (0.025, 0.05, 0.1, 0.2),
    },
    "nearest neighbours": {"n_neighbors": (1, 3, 5, 7, 9, 11, 13, 15)},
}
"""The parameters of each family, as the paper prints them, by the names of scikit-learn."""


@dataclass(frozen=True)
class Model:
    """One model.

    Attributes:
        family: A key of :data:`GRIDS`.
        parameters: Names and values, by the names of scikit-learn.
        coordinates: Position of each value in its grid, from 0 on.
    """

    family: str
    parameters: tuple[tuple[str, float], ...]
    coordinates: tuple[int, ...]

    @property
    def name(self) -> str:
        """Family and parameters in a few words."""
        return f"{self.family} ({', '.join(f'{name}={value:g}' for name, value in self.parameters)})"


def _models() -> tuple[Model, ...]:
    models = []
    for family, grid in GRIDS.items():
        for places in itertools.product(*(range(len(values)) for values in grid.values())):
            values = zip(grid.items(), places, strict=True)
            models.append(Model(family, tuple((name, row[place]) for (name, row), place in values), places))
    return tuple(models)


MODELS = _models()
"""All models: 8 Lassos, 64 forests, 16 linear and 64 RBF support vector machines, 8 times nearest neighbours."""


def similarity(models: Sequence[Model] = MODELS) -> FloatArray:
    """Return the kernel of section 6.2: exp(-|x - x'|^2) within a family, 0 across families.

    The paper does not say what x is. Here it is the position of each parameter in its grid: 0, 1, 2, and so on.

    Args:
        models: K of them.

    Returns:
        ``(K, K)``, with ones on the diagonal.
    """
    kernel = np.zeros((len(models), len(models)))
    for (row, one), (column, two) in itertools.product(enumerate(models), repeat=2):
        if one.family == two.family:
            distance = sum((a - b) ** 2 for a, b in zip(one.coordinates, two.coordinates, strict=True))
            kernel[row, column] = np.exp(-distance)
    return kernel
