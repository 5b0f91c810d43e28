"""Cars of 1985 with their prices, and a synthetic substitute for use without the data.

The five features are those of Azizi, Kveton and Ghavamzadeh (2022), "Fixed-Budget Best-Arm Identification in Structured
Bandits", appendix E.2. Their authors replace missing prices by the mean price, and rescale features and prices to
[0, 1] over the whole data set; so does this module.

:func:`automobile_like` draws 205 points from a model, and is never called Automobile: features uniform on [0, 1] with
pairwise correlation 0.6, and ``price = x @ w + 0.3 |x|^2 + N(0, 0.1^2)``, rescaled to [0, 1]. The model, a linear part
with a mild misfit, is a choice of this project; so is the distribution of the weights w, uniform on [0, 1].
"""

from __future__ import annotations

import math
from functools import lru_cache
from pathlib import Path

import numpy as np
from scipy.special import ndtr

from bai_gym.common.seeding import check_seed
from bai_gym.data.columns import FeatureTable, identify
from bai_gym.data.csv_file import read_columns
from bai_gym.errors import DataError
from bai_gym.validation import AnyPath

__all__ = ["PRICE", "automobile_like", "read_automobile"]

PRICE = "price"
_FEATURES = ("curb-weight", "width", "engine-size", "city-mpg", "highway-mpg")
_ALL = (
    *("symboling", "normalized-losses", "make", "fuel-type", "aspiration", "num-of-doors", "body-style"),
    *("drive-wheels", "engine-location", "wheel-base", "length", "width", "height", "curb-weight", "engine-type"),
    *("num-of-cylinders", "engine-size", "fuel-system", "bore", "stroke", "compression-ratio", "horsepower"),
    *("peak-rpm", "city-mpg", "highway-mpg", "price"),
)

_NUM_ROWS = 205
_CORRELATION = 0.6
_CURVATURE = 0.3
_MISFIT_SD = 0.1


def read_automobile(path: AnyPath) -> FeatureTable:
    """Read five features and the price of every car, rescaled to [0, 1]; a file is read once per process.

    Args:
        path: ``imports-85.data`` of UCI Automobile: 26 comma-separated columns without a header line. Copies with a
            header line are read by the names in it.

    Returns:
        The columns curb-weight, width, engine-size, city-mpg, highway-mpg and price, a row for every car. A missing
        price is the mean of the others.

    Raises:
        MissingDataError: There is no such file.
        DataError: A row has another number of fields, a value is not a number or a feature is missing, or there is
            not a single price.
    """
    return _read(*identify(path, "the file imports-85.data of UCI Automobile"))


@lru_cache(maxsize=2)
def _read(path: Path, mtime_ns: int, size: int) -> FeatureTable:
    """The table of a file; time and size detect changes."""
    values = read_columns(path, (*_FEATURES, PRICE), all_columns=_ALL, may_miss=PRICE)
    prices = values[:, -1]
    missing = np.isnan(prices)
    if missing.all():
        raise DataError(f"{path} has no price of any car; expected a number in column {PRICE!r}")
    notes = []
    if missing.any():
        prices[missing] = prices[~missing].mean()
        notes.append(
            f"{missing.sum()} of {len(prices)} prices are missing in the data; they are the mean of the others"
        )
    return FeatureTable.rescaled((*_FEATURES, PRICE), values, notes)


def automobile_like(seed: int = 0) -> FeatureTable:
    """Draw 205 points with five features and a price from the model in the module's docstring.

    Args:
        seed: Of the generator, at least 0. The same seed gives the same table.

    Returns:
        The columns x1 to x5, as drawn, and price.

    Raises:
        ParameterError: The seed is not an integer of at least 0.
    """
    return _draw(check_seed(seed))


@lru_cache(maxsize=8)
def _draw(seed: int) -> FeatureTable:
    rng = np.random.default_rng(seed)
    # Normal scores with a common part; the uniforms made of them are correlated a little less (Pearson 1907).
    common = 2.0 * math.sin(math.pi * _CORRELATION / 6.0)
    scores = math.sqrt(common) * rng.standard_normal((_NUM_ROWS, 1))
    scores = scores + math.sqrt(1.0 - common) * rng.standard_normal((_NUM_ROWS, len(_FEATURES)))
    features = ndtr(scores)
    weights = rng.random(len(_FEATURES))
    # Summed by NumPy, not BLAS: the bytes must not depend on the number of threads.
    prices = (features * weights).sum(axis=-1) + _CURVATURE * (features**2).sum(axis=-1)
    prices += _MISFIT_SD * rng.standard_normal(_NUM_ROWS)
    price = FeatureTable.rescaled((PRICE,), prices[:, np.newaxis])
    values = np.hstack([features, price.values])
    values.setflags(write=False)
    names = tuple(f"x{number}" for number in range(1, len(_FEATURES) + 1))
    return FeatureTable(
        (*names, PRICE), values, ("AutomobileLike: a synthetic table of 205 points, not the real data",)
    )
