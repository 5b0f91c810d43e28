"""Tables for regression: features and a target."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from bai_gym.data.columns import identify
from bai_gym.data.csv_file import read_columns
from bai_gym.data.locate import require
from bai_gym.statistics import FloatArray
from bai_gym.validation import choice

__all__ = ["REGRESSION_TABLES", "RegressionTable", "regression_table"]

_WINE_COLUMNS = (
    *("fixed acidity", "volatile acidity", "citric acid", "residual sugar", "chlorides", "free sulfur dioxide"),
    *("total sulfur dioxide", "density", "pH", "sulphates", "alcohol", "quality"),
)
_WINES = {
    "wine-quality": ("red", "white"),
    "wine-quality-red": ("red",),
    "wine-quality-white": ("white",),
}
REGRESSION_TABLES = ("diabetes", *_WINES)
"""Names of the tables."""


@dataclass(frozen=True, eq=False)
class RegressionTable:
    """R rows.

    Attributes:
        name: One of :data:`REGRESSION_TABLES`.
        features: ``(R, d)``, in any units; read-only.
        targets: ``(R,)`` targets; read-only.
    """

    name: str
    features: FloatArray
    targets: FloatArray

    @property
    def digest(self) -> str:
        """SHA-256 of all numbers."""
        shape = np.array(self.features.shape, np.int64)
        parts = (shape, self.features.astype("<f8"), self.targets.astype("<f8"))
        return hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()


def regression_table(name: str) -> RegressionTable:
    """Return a table.

    ====================== ======= == ====================================================================
    name                   rows    d  target
    ====================== ======= == ====================================================================
    ``diabetes``           442     10 progression of the disease a year later, in units of its standard
                                      deviation (Efron et al. 2004); comes with scikit-learn
    ``wine-quality``       6,497   11 quality of a wine, 3 to 9 (Cortez et al. 2009), red and white
    ``wine-quality-red``   1,599   11 the same, red
    ``wine-quality-white`` 4,898   11 the same, white
    ====================== ======= == ====================================================================

    Args:
        name: One of these.

    Raises:
        ParameterError: There is no such table.
        MissingDataError: Its data set is not in the data directory.
        DataError: Its files cannot be used.
    """
    if choice(name, REGRESSION_TABLES, "data") == "diabetes":
        return _diabetes()
    parts = [_wine(*identify(require("wine-quality", kind), f"winequality-{kind}.csv")) for kind in _WINES[name]]
    return _table(name, np.concatenate(parts))


@lru_cache(maxsize=2)
def _wine(path: Path, mtime_ns: int, size: int) -> FloatArray:
    """The rows of a file; time and size detect changes."""
    return read_columns(path, _WINE_COLUMNS)


@lru_cache(maxsize=1)
def _diabetes() -> RegressionTable:
    from sklearn.datasets import load_diabetes  # here, because scikit-learn takes long to import

    features, targets = load_diabetes(return_X_y=True, scaled=False)
    # The paper's grids are made for wine, whose quality has a standard deviation of 0.87; here it would be 77.
    return _table("diabetes", np.column_stack([features, targets / targets.std()]))


def _table(name: str, values: FloatArray) -> RegressionTable:
    values.setflags(write=False)
    return RegressionTable(name, values[:, :-1], values[:, -1])
