"""Trains and tests models on random splits of a table.

scikit-learn takes long to import, and is not needed where all scores are known: it is imported by what needs it.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from bai_gym.correlated.data.regression import RegressionTable
from bai_gym.correlated.problems.automl.grid import Model
from bai_gym.errors import DataError
from bai_gym.statistics import FloatArray

__all__ = ["ESTIMATORS", "SHARE", "check_size", "split_scores"]

SHARE = 10  # a tenth of the rows to train on, and another tenth to test on
LOGGER = logging.getLogger(__name__)


def _lasso(parameters: dict[str, Any], seed: int) -> Any:
    from sklearn.linear_model import Lasso

    return Lasso(**parameters)


def _linear_svm(parameters: dict[str, Any], seed: int) -> Any:
    from sklearn.svm import SVR

    return SVR(kernel="linear", **parameters)


def _rbf_svm(parameters: dict[str, Any], seed: int) -> Any:
    from sklearn.svm import SVR

    return SVR(kernel="rbf", **parameters)


def _neighbours(parameters: dict[str, Any], seed: int) -> Any:
    from sklearn.neighbors import KNeighborsRegressor

    return KNeighborsRegressor(**parameters)


def _forest(parameters: dict[str, Any], seed: int) -> Any:
    from sklearn.ensemble import RandomForestRegressor

    return RandomForestRegressor(random_state=seed, n_jobs=1, **parameters)


ESTIMATORS = {
    "Lasso": _lasso,
    "random forest": _forest,
    "linear SVM": _linear_svm,
    "RBF SVM": _rbf_svm,
    "nearest neighbours": _neighbours,
}
"""What makes the estimator of a family, from its parameters and a seed."""


def check_size(table: RegressionTable) -> None:
    """Raise :class:`DataError` if a tenth of the rows is less than two."""
    if len(table.targets) < 2 * SHARE:
        raise DataError(f"{table.name} has {len(table.targets)} rows; a tenth of them must be two at least")


def split_scores(table: RegressionTable, models: Sequence[Model], seed: int) -> FloatArray:
    """Train every model on a random tenth of the rows, and test it on another.

    All models see the same two tenths. Features are standardised by the mean and standard deviation of the first.

    Args:
        table: The data, at least 20 rows.
        models: K of them.
        seed: Of the split, and of the forests.

    Returns:
        ``(K,)`` scores: minus the root of the mean squared error, in the unit of the target. NaN where a model could
        not be trained; the log says why.

    Raises:
        DataError: Too few rows.
    """
    check_size(table)
    order = np.random.default_rng(seed).permutation(len(table.targets))
    size = len(order) // SHARE
    first, second = order[:size], order[size : 2 * size]
    centre, spread = table.features[first].mean(axis=0), table.features[first].std(axis=0)
    spread[spread == 0] = 1.0
    train, test = ((table.features[rows] - centre) / spread for rows in (first, second))
    scores = np.full(len(models), np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such as that a Lasso has not converged: that is what it then scores
        for arms in _groups(models):
            try:
                predictions = _predict([models[arm] for arm in arms], train, table.targets[first], test, seed)
                errors = np.sqrt(((np.asarray(predictions, np.float64) - table.targets[second]) ** 2).mean(axis=1))
                if not np.isfinite(errors).all():
                    raise ArithmeticError("its predictions are not finite numbers")
            except Exception as error:  # libraries can raise anything: a model that cannot be trained is a bad one
                names = ", ".join(models[arm].name for arm in arms)
                LOGGER.warning(
                    "%s, split %d: %s: %s: counts as the worst score", names, seed, type(error).__name__, error
                )
            else:
                scores[arms] = -errors
    return scores


def _groups(models: Sequence[Model]) -> list[list[int]]:
    """Return arms that share a fit: forests that differ only in their number of trees.

    A node is split only if each part keeps ``min_samples_leaf`` examples, so it has twice as many: a smaller
    ``min_samples_split`` means the same.
    """
    groups: dict[Any, list[int]] = {}
    for arm, model in enumerate(models):
        key: Any = arm
        if model.family == "random forest":
            parameters = dict(model.parameters)
            leaf = parameters["min_samples_leaf"]
            key = (leaf, max(parameters["min_samples_split"], 2 * leaf))
        groups.setdefault(key, []).append(arm)
    return list(groups.values())


def _predict(
    models: Sequence[Model], train: FloatArray, targets: FloatArray, test: FloatArray, seed: int
) -> list[FloatArray]:
    """Return the predictions of models that share a fit."""
    family, parameters = models[0].family, [dict(model.parameters) for model in models]
    if family != "random forest":
        return [np.asarray(ESTIMATORS[family](parameters[0], seed).fit(train, targets).predict(test))]
    # Trees are grown sequentially from one stream of seeds: the first ten of a thousand are a forest of ten.
    sizes = [int(each["n_estimators"]) for each in parameters]
    largest = {name: int(value) for name, value in parameters[0].items()} | {"n_estimators": max(sizes)}
    largest["min_samples_split"] = max(largest["min_samples_split"], 2)  # scikit-learn does not take the paper's 1
    forest = ESTIMATORS[family](largest, seed).fit(train, targets)
    total = np.zeros(len(test))
    single = np.ascontiguousarray(test, np.float32)  # as trees want it; checked by each of 1,000 trees otherwise
    after = {}
    for count, tree in enumerate(forest.estimators_, 1):
        total += tree.predict(single, check_input=False)
        if count in sizes:
            after[count] = total / count
    return [after[size] for size in sizes]
