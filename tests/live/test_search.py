"""The search against GridSearchCV, scikit-learn's own checks, and hand-made scores."""

from __future__ import annotations

import warnings
from typing import Any

import joblib
import numpy as np
import pytest
import sklearn
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, RepeatedStratifiedKFold, ShuffleSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator

from bai_gym.errors import BudgetError, ParameterError
from bai_gym.live.search import BAISearchCV

X, Y = make_classification(120, 6, n_informative=3, flip_y=0.2, random_state=0)
GRID = {"C": [1e-4, 1e-2, 1.0, 100.0]}
CV = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)


class Known(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Scores ``level`` on every split, and notes what it is asked to do."""

    fits: list[tuple[float, int, int | None]] = []

    def __init__(self, level: float = 0.0, broken: str = "no", random_state: int | None = None) -> None:
        self.level, self.broken, self.random_state = level, broken, random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Known:
        if self.broken == "fit" and len(X) < len(Y):
            raise RuntimeError("out of order")
        self.classes_ = np.unique(y)
        self.weight_ = None if sample_weight is None else np.sum(sample_weight)
        self.fits.append((self.level, len(X), self.random_state))
        return self

    def score(self, X: Any, y: Any) -> float:
        return self.level

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.classes_[0])


@pytest.fixture(autouse=True)
def no_fits() -> None:
    Known.fits.clear()


@pytest.mark.skipif(
    tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 6), reason="check_estimator fails at the first check"
)
@pytest.mark.slow
def test_it_passes_the_checks_of_scikit_learn() -> None:
    """Ridge fails one check of its own, and so does GridSearchCV with it."""
    for estimator, grid, known in [
        (LogisticRegression(), {"C": [0.1, 1.0]}, {}),
        (Ridge(), {"alpha": [0.1, 1.0]}, {"check_supervised_y_2d": "Ridge warns of no conversion"}),
    ]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = check_estimator(
                BAISearchCV(estimator, grid, cv=2), expected_failed_checks=known, on_fail=None, on_skip=None
            )
        wrong = [(one["check_name"], one["exception"]) for one in found if one["status"] == "failed"]
        assert wrong == [] and sum(one["status"] == "passed" for one in found) > 40, estimator


def test_with_the_budget_of_the_grid_it_is_the_grid_search() -> None:
    """Uniform sampling of all splits makes the fits of GridSearchCV, and chooses as it does."""
    grid = GridSearchCV(LogisticRegression(), GRID, cv=CV, return_train_score=True).fit(X, Y)
    search = BAISearchCV(
        LogisticRegression(), GRID, cv=CV, budget=1.0, agent="Uniform", return_train_score=True, n_jobs=1
    ).fit(X, Y)
    for name, values in grid.cv_results_.items():
        if "_time" in name:
            assert name in search.cv_results_
        elif name.startswith(("mean", "std", "split")):
            np.testing.assert_allclose(search.cv_results_[name], values, atol=1e-12, err_msg=name)
        else:
            assert_array_equal(np.asarray(search.cv_results_[name]), np.asarray(values), err_msg=name)
    assert search.best_index_ == grid.best_index_ and search.best_params_ == grid.best_params_
    assert search.best_score_ == pytest.approx(grid.best_score_)
    assert search.n_splits_ == grid.n_splits_ == 6
    assert_array_equal(search.cv_results_["n_fits"], 6)
    assert_array_equal(search.predict_proba(X), grid.predict_proba(X))
    assert search.score(X, Y) == grid.score(X, Y)


def test_candidates_are_fitted_on_common_splits_within_the_budget() -> None:
    search = BAISearchCV(Known(), {"level": [0.1, 0.5, 0.9, 0.3]}, cv=CV, budget=14).fit(X, Y)
    scores = np.stack([search.cv_results_[f"split{item}_test_score"] for item in range(6)], axis=1)
    made = np.isfinite(scores)
    assert made.sum() == search.cv_results_["n_fits"].sum() == len(Known.fits) - 1 <= 14
    order = np.argsort(-made.sum(axis=1))
    for fewer, more in zip(order[1:], order, strict=False):
        assert (made[more] | ~made[fewer]).all()  # the same splits, and then more of them
    assert search.best_params_ == {"level": 0.9} and search.best_score_ == pytest.approx(0.9)
    assert_array_equal(search.cv_results_["rank_test_score"], [4, 2, 1, 3])
    assert search.identification_.name == "2: level=0.9"
    assert_array_equal(search.identification_.pulls, search.cv_results_["n_fits"])


def test_half_of_the_fits_but_two_of_each_candidate_and_a_seed_of_its_own() -> None:
    search = BAISearchCV(Known(), {"level": [0.1, 0.5, 0.9, 0.3]})
    found = [
        search.set_params(cv=cv, random_state=state).fit(X, Y).identification_ for cv, state in ((3, 0), (8, 0), (8, 1))
    ]
    assert [one.budget for one in found] == [8, 16, 16] and found[0].seed == found[1].seed != found[2].seed


def test_seeds_are_common_to_all_candidates() -> None:
    BAISearchCV(Known(), {"level": [0.1, 0.2]}, cv=2, seeds=3, budget=12, agent="Uniform").fit(X, Y)
    states = {
        level: sorted(state or 0 for one, size, state in Known.fits if one == level and size < len(X))
        for level in (0.1, 0.2)
    }
    assert states[0.1] == states[0.2] and len(set(states[0.1])) == 6
    assert Known.fits[-1] == (0.2, len(X), None)  # the final fit has the state that was given
    with pytest.raises(ParameterError, match="no random_state"):
        BAISearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 2]}, seeds=2).fit(X, Y)


@pytest.mark.parametrize("backend", ["threading", pytest.param("loky", marks=pytest.mark.slow)])
def test_the_result_does_not_depend_on_the_number_of_jobs(backend: str) -> None:
    grid = {"max_depth": [1, 2, 3, 5, 8]}
    with joblib.parallel_config(backend):
        searches = [BAISearchCV(DecisionTreeClassifier(), grid, cv=CV, seeds=2, n_jobs=n).fit(X, Y) for n in (1, 2)]
    one, two = (search.cv_results_ for search in searches)
    for name in one:
        if "time" not in name and "param" not in name:
            assert_array_equal(one[name], two[name], err_msg=name)


def test_the_splitter_is_asked_once() -> None:
    """A splitter without a seed draws other splits at every call."""
    search = BAISearchCV(LogisticRegression(), {"C": [1.0, 1.0 + 1e-12]}, cv=ShuffleSplit(4), budget=1.0).fit(X, Y)
    first, second = search.cv_results_["mean_test_score"]
    assert first == second


@pytest.mark.each("agent", ["SH", "UCB1"])
def test_agents_find_what_is_clearly_best(agent: str) -> None:
    grids = [{"level": [0.1, 0.2]}, {"broken": ["no"], "level": [0.3]}]
    search = BAISearchCV(Known(), grids, cv=CV, agent=agent, refit=False).fit(X, Y)
    assert search.best_params_ == {"broken": "no", "level": 0.3} and not hasattr(search, "best_estimator_")
    assert search.cv_results_["param_broken"].mask.tolist() == [True, True, False]
    assert clone(search).param_grid == grids


def test_a_fit_that_fails_is_the_worst() -> None:
    grid = {"level": [-5.0, -3.0, -4.0], "broken": ["no", "fit"]}
    for agent in ("SR(cap=items)", "UCB1"):  # all at once; and one by one, those that fail before any score is known
        with pytest.warns(FitFailedWarning, match="out of order"):
            search = BAISearchCV(Known(), grid, cv=CV, agent=agent).fit(X, Y)
        assert search.best_params_ == {"level": -3.0, "broken": "no"}, agent
        broken = [params["broken"] == "fit" for params in search.cv_results_["params"]]
        assert_array_equal(np.isnan(search.cv_results_["mean_test_score"]), broken)
        assert (search.cv_results_["rank_test_score"][broken] == 4).all()
    with pytest.warns(FitFailedWarning):
        search = BAISearchCV(Known(), grid, cv=CV, error_score=-9.0, budget=1.0, agent="Uniform").fit(X, Y)
    assert_array_equal(search.cv_results_["mean_test_score"][broken], -9.0)
    with pytest.raises(RuntimeError, match="out of order"):
        BAISearchCV(Known(), grid, cv=CV, error_score="raise").fit(X, Y)
    with pytest.raises(ValueError, match="(?s)all .* fits of the search failed.*out of order"):
        BAISearchCV(Known(broken="fit"), {"level": [1.0, 2.0]}, cv=CV).fit(X, Y)


def test_the_agent_sees_the_score_that_refit_names() -> None:
    scoring = {"better": lambda model, X, y: model.level, "worse": lambda model, X, y: -model.level}
    grid = {"level": [0.1, 0.9, 0.5]}
    with pytest.raises(ParameterError, match="several scores.*better, worse"):
        BAISearchCV(Known(), grid, scoring=scoring, cv=CV).fit(X, Y)
    assert Known.fits == []
    for refit, best in (("better", 0.9), ("worse", 0.1)):
        for scores in (scoring, lambda *given: {name: score(*given) for name, score in scoring.items()}):
            search = BAISearchCV(Known(), grid, scoring=scores, refit=refit, cv=CV).fit(X, Y)
            assert search.best_params_ == {"level": best} and search.multimetric_
        assert scoring[refit](search.best_estimator_, X, Y) == (best if refit == "better" else -best)
    names = BAISearchCV(LogisticRegression(), GRID, scoring=["accuracy", "roc_auc"], refit="roc_auc", cv=CV).fit(X, Y)
    assert set(names.scorer_) == {"accuracy", "roc_auc"}
    chosen = BAISearchCV(Known(), grid, cv=CV, refit=lambda results: int(results["mean_test_score"].argmin())).fit(X, Y)
    assert chosen.best_params_ == {"level": 0.1} and chosen.best_estimator_.level == 0.1


def test_groups_and_weights_reach_splitter_and_fit() -> None:
    groups, weights = np.arange(len(X)) % 4, np.full(len(X), 2.0)
    search = BAISearchCV(Known(), {"level": [0.1, 0.2]}, cv=GroupKFold(4))
    assert search.fit(X, Y, groups=groups, sample_weight=weights).best_estimator_.weight_ == 240.0
    assert search.n_splits_ == 4
    with sklearn.config_context(enable_metadata_routing=True):
        routed = BAISearchCV(
            Known().set_fit_request(sample_weight="mass"), {"level": [0.1, 0.2]}, cv=GroupKFold(4)
        ).fit(X, Y, groups=groups, mass=weights)
    assert routed.best_estimator_.weight_ == 240.0


@pytest.mark.each(
    ("keywords", "error", "words"),
    [
        ({"param_grid": {"level": [0.1]}}, ParameterError, "1 candidate.*cross_validate"),
        ({"budget": 1.5}, ParameterError, "budget must be a share"),
        ({"budget": 0}, BudgetError, "budget"),
        ({"budget": 13}, BudgetError, "12 or less"),
        ({"agent": "SHVar"}, Exception, "oracle"),
        ({"seeds": 0}, ParameterError, "seeds"),
    ],
)
def test_bad_parameters_are_refused(keywords: dict[str, Any], error: type[Exception], words: str) -> None:
    search = BAISearchCV(**{"estimator": Known(), "param_grid": {"level": [0.1, 0.2]}, "cv": CV, **keywords})
    with pytest.raises(error, match=words):
        search.fit(X, Y)
