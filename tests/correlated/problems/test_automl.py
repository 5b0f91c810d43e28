"""Models as arms: the grid, what a pull is, what is kept on disk, and what a failure costs."""

from __future__ import annotations

import itertools
import logging
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor

from bai_gym import datasets
from bai_gym.correlated import AutoMLProblem, RegressionTable, automl_problem, regression_table
from bai_gym.correlated.problems.automl import MODELS, problem, similarity, training
from bai_gym.correlated.problems.automl.cache import cached_scores, folder_of
from bai_gym.correlated.problems.automl.training import split_scores
from bai_gym.envs.scalar import BestArmEnv
from bai_gym.errors import DataError, MissingDataError, ParameterError
from bai_gym.problems import FrozenProblem

SMALL = tuple(
    model
    for model in MODELS
    if dict(model.parameters).get("n_estimators", 1) < 100 and dict(model.parameters).get("C", 1) == 1
)
LASSOS = MODELS[:8]


def table(rows: int = 60, columns: int = 3) -> RegressionTable:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(rows, columns)) * 10 ** np.arange(columns)
    targets = features @ 10.0 ** -np.arange(columns) + 0.1 * rng.normal(size=rows)
    return RegressionTable("small", features, targets)


# ------------------------------------------------------------------------------------------------ the grid


def test_there_are_the_160_models_of_the_paper() -> None:
    families = [model.family for model in MODELS]
    assert [families.count(family) for family in dict.fromkeys(families)] == [8, 64, 16, 64, 8]
    assert len({model.name for model in MODELS}) == len(set(MODELS)) == 160
    assert MODELS[0].name == "Lasso (alpha=0.0001)"
    assert MODELS[8 + 63].name == "random forest (n_estimators=1000, min_samples_split=7, min_samples_leaf=14)"
    assert MODELS[8 + 63].coordinates == (3, 3, 3)


def test_the_kernel_is_that_of_distances_within_a_family() -> None:
    kernel = similarity()
    np.testing.assert_array_equal(kernel, kernel.T)
    assert (np.diag(kernel) == 1.0).all()
    assert kernel[0, 1] == np.exp(-1) and kernel[0, 2] == np.exp(-4)  # alphas that are neighbours, and one further
    assert (kernel[:8, 8:] == 0.0).all()
    one = next(i for i, m in enumerate(MODELS) if m.family == "RBF SVM" and m.coordinates == (0, 1, 2))
    two = next(i for i, m in enumerate(MODELS) if m.family == "RBF SVM" and m.coordinates == (1, 1, 0))
    assert kernel[one, two] == np.exp(-5)
    assert np.linalg.eigvalsh(kernel).min() > 0


# ------------------------------------------------------------------------------------------------ training


def test_forests_grown_together_are_the_forests_grown_one_by_one() -> None:
    data = table(400)
    forests = [model for model in MODELS if model.family == "random forest"]
    forests = [model for model in forests if dict(model.parameters)["n_estimators"] < 1000][::3]
    assert len({dict(model.parameters)["n_estimators"] for model in forests}) == 3
    scores = split_scores(data, forests, seed=2)
    order = np.random.default_rng(2).permutation(400)
    train, test = order[:40], order[40:80]
    centre, spread = data.features[train].mean(axis=0), data.features[train].std(axis=0)
    for model, score in zip(forests, scores, strict=True):
        parameters = {name: max(int(value), 1) for name, value in model.parameters}
        parameters["min_samples_split"] = max(parameters["min_samples_split"], 2)
        forest = RandomForestRegressor(random_state=2, **parameters)
        forest.fit((data.features[train] - centre) / spread, data.targets[train])
        errors = forest.predict((data.features[test] - centre) / spread) - data.targets[test]
        assert score == pytest.approx(-np.sqrt((errors**2).mean()), rel=1e-12)


def test_models_that_fail_have_no_score_and_are_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    neighbours = [model for model in MODELS if model.family == "nearest neighbours"]
    with caplog.at_level(logging.WARNING):
        scores = split_scores(table(), neighbours, seed=0)  # six rows to train on
    assert np.isfinite(scores).tolist() == [True, True, True, False, False, False, False, False]
    assert "nearest neighbours (n_neighbors=7), split 0: ValueError" in caplog.text

    class Wild:
        def fit(self, *_: Any) -> Wild:
            return self

        def predict(self, test: Any) -> Any:
            return np.full(len(test), np.inf)

    monkeypatch.setitem(training.ESTIMATORS, "Lasso", lambda parameters, seed: Wild())
    assert np.isnan(split_scores(table(), LASSOS, seed=0)).all()
    assert "its predictions are not finite numbers" in caplog.text
    with pytest.raises(DataError, match="not a single model"):
        AutoMLProblem(np.full((2, 3), np.nan), LASSOS[:3])
    with pytest.raises(DataError, match="small has 19 rows"):
        split_scores(table(19), LASSOS, seed=0)


# ------------------------------------------------------------------------------------------------ the cache


def test_what_is_on_disk_is_not_computed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = table(200)
    first = cached_scores(data, LASSOS, 3, cache=tmp_path, workers=1)
    assert first.shape == (3, 8)
    folder = folder_of(data, LASSOS, tmp_path)
    assert sorted(file.name for file in folder.iterdir()) == ["0.npy", "1.npy", "2.npy"]
    computed: list[int] = []

    def counted(*arguments: Any) -> Any:
        computed.append(arguments[2])
        return split_scores(*arguments)

    monkeypatch.setattr("bai_gym.correlated.problems.automl.cache.split_scores", counted)
    np.testing.assert_array_equal(cached_scores(data, LASSOS, 3, cache=tmp_path, workers=1), first)
    assert computed == []
    (folder / "1.npy").write_bytes((folder / "1.npy").read_bytes()[:100])  # damaged
    np.save(folder / "2.npy", np.zeros(3))  # of another shape
    more = cached_scores(data, LASSOS, 4, cache=tmp_path, workers=1)
    np.testing.assert_array_equal(more[:3], first)
    assert computed == [1, 2, 3]
    (tmp_path / "file").write_text("")
    with pytest.warns(UserWarning, match="cannot be kept in .*file.*set BAI_GYM_CACHE"):
        assert cached_scores(data, LASSOS, 2, cache=tmp_path / "file", workers=1).shape == (2, 8)


def test_other_data_and_other_models_have_other_folders(tmp_path: Path) -> None:
    changed = table()
    targets = changed.targets.copy()
    targets[0] += 1e-12
    tables = (table(), table(61), RegressionTable("small", changed.features, targets))
    folders = {folder_of(data, models, tmp_path) for data, models in itertools.product(tables, (LASSOS, LASSOS[:3]))}
    assert len(folders) == 6


# ------------------------------------------------------------------------------------------------ the problem


def test_a_case_worked_by_hand() -> None:
    nan = np.nan
    made = AutoMLProblem(np.array([[-1.0, -2.0, -1.0], [-3.0, nan, -3.0]]), LASSOS[:3])
    # The worst score of all is -3: it counts for the training that failed.
    bandit = made.draw(2, np.random.default_rng(0))
    assert bandit.means.tolist() == [[-2.0, -2.5, -2.0]] * 2
    assert bandit.variances.tolist() == [[1.0, 0.25, 1.0]] * 2
    assert made.noise_variance == 0.75
    assert made.notes == ("1 of 6 trainings failed and count as the worst score: Lasso (alpha=0.0005)",)
    assert made.arm_names is not None and made.arm_names[2] == "Lasso (alpha=0.001)"
    assert made.scores.tolist() == [[-1.0, -2.0, -1.0], [-3.0, -3.0, -3.0]]
    rewards = bandit.pull(np.repeat(np.arange(3), 50), np.random.default_rng(0)).reshape(3, 50)
    assert [set(row) for row in rewards.tolist()] == [{-1.0, -3.0}, {-2.0, -3.0}, {-1.0, -3.0}]
    # The prior: mean and variance of the pilot, the latter times the kernel.
    rng = np.random.default_rng(0)
    pilot = made.scores[rng.integers(2, size=20), rng.integers(3, size=20)]
    assert made.prior_mean.tolist() == [pilot.mean()] * 3
    np.testing.assert_allclose(made.prior_covariance, pilot.var(ddof=1) * similarity(LASSOS[:3]), rtol=1e-15)
    # Which is the prior that agents are given.
    assert bandit.prior is made.prior and FrozenProblem(made, 0).draw(1, rng).prior is made.prior
    np.testing.assert_array_equal(made.prior.covariance[0], made.prior_covariance)
    np.testing.assert_array_equal(made.prior.mean[0], made.prior_mean)


def test_the_default_needs_nothing_and_ties_what_is_the_same() -> None:
    env = gym.make("BAI-AutoML160-v0").unwrapped
    assert isinstance(env, BestArmEnv) and isinstance(env.problem, AutoMLProblem)
    made = env.problem
    assert (made.num_arms, made.scores.shape, made.notes) == (160, (50, 160), ())
    assert (made.scores < 0).all() and made.models == MODELS
    means = made.draw(1, np.random.default_rng(0)).means[0]
    classes = training._groups(MODELS)
    forests = [arms for arms in classes if MODELS[arms[0]].family == "random forest"]
    # Leaves of 6, 10 and 14 make every min_samples_split the same; leaves of 2 tell 1 and 3 from 5 and from 7.
    assert len(forests) == 6
    for arms, size in itertools.product(forests, (1, 1000)):
        same = [arm for arm in arms if dict(MODELS[arm].parameters)["n_estimators"] == size]
        assert len(set(means[same])) == 1  # equal to the last bit, so that each of them is right where one is
    assert len(set(means)) > 90


def test_the_scores_that_come_with_the_library_are_those_of_the_models() -> None:
    chosen = [arm for arm, model in enumerate(MODELS) if model in SMALL]
    for seed in (0, 49):
        again = split_scores(regression_table("diabetes"), SMALL, seed)
        # Versions of scikit-learn may differ a little; another grid, or other splits, would differ by 0.1.
        np.testing.assert_allclose(problem._shipped()[seed, chosen], again, rtol=0.02)


def test_splits_and_data_are_keywords(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert automl_problem(splits=7).scores.shape == (7, 160)
    np.testing.assert_array_equal(automl_problem(splits=7).scores, automl_problem().scores[:7])
    asked: list[Any] = []

    def computed(table: str, models: Any, splits: int, *, cache: Path, workers: int) -> Any:
        asked.append((table, splits, cache, workers))
        return np.full((splits, 160), -1.0 * splits)

    monkeypatch.setattr(problem, "cached_scores", computed)
    monkeypatch.setattr(problem, "regression_table", str.upper)
    monkeypatch.setenv("BAI_GYM_CACHE", str(tmp_path / "derived"))
    assert (automl_problem(splits=51).scores == -51.0).all()  # more than come with the library
    assert (automl_problem("wine-quality", splits=3, workers=2, cache=tmp_path / "mine").scores == -3.0).all()
    assert asked == [("DIABETES", 51, tmp_path / "derived", -1), ("WINE-QUALITY", 3, tmp_path / "mine", 2)]


@pytest.mark.each(
    ("keywords", "message"),
    [
        ({"data": "iris"}, "data must be one of 'diabetes'"),
        ({"splits": 1}, "splits must be"),
        ({"workers": 0}, "workers must be"),
        ({"cache": 5}, "cache must be"),
    ],
)
def test_wrong_arguments_are_refused(keywords: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        automl_problem(**keywords)


# ------------------------------------------------------------------------------------------------ the data


def test_wine_is_read_from_the_data_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BAI_GYM_DATA", str(tmp_path))
    with pytest.raises(MissingDataError, match="'wine-quality' is not in .*bai-gym data fetch wine-quality"):
        automl_problem("wine-quality")
    names = ";".join(f'"{name}"' for name in datasets.regression._WINE_COLUMNS)
    (tmp_path / "wine-quality").mkdir()
    for kind, quality in (("red", 5), ("white", 7)):
        rows = "".join(";".join(map(str, [*range(row, row + 11), quality])) + "\n" for row in range(3))
        (tmp_path / "wine-quality" / f"winequality-{kind}.csv").write_text(f"{names}\n{rows}")
    both = regression_table("wine-quality")
    assert both.features.shape == (6, 11)
    assert both.features[4].tolist() == [*range(1, 12)]
    assert both.targets.tolist() == [5.0] * 3 + [7.0] * 3
    assert regression_table("wine-quality-white").targets.tolist() == [7.0] * 3
    (tmp_path / "wine-quality" / "winequality-red.csv").write_text(f"{names}\n1;2\n")
    with pytest.raises(DataError, match="Expected 12 columns, got 2"):
        regression_table("wine-quality-red")
    diabetes = regression_table("diabetes")
    assert diabetes.features.shape == (442, 10) and 20 < diabetes.features[:, 0].mean() < 80  # ages in years
    assert diabetes.targets.std() == pytest.approx(1.0, rel=1e-12)
