"""How often does a search find the grid's best candidate, with how many fits? The tables of
docs/live/model-selection.md.

    python benchmarks/live/model_selection.py           # all data sets; the same command resumes
    python benchmarks/live/model_selection.py --runs 5  # a first look

Each run draws its splits: five folds, repeated four times, the same for all searches that use them. The truth is the
mean of a candidate over 200 other splits of the same sizes. A run finds the best if its candidate has the largest of
these means; its regret is the difference of the two. ``BAISearchCV`` is played on the scores of all fits of
``GridSearchCV``; the first TIMED runs are played again with fits, and give the seconds. These are seconds of the
processor, in one process, without the final fit: the wall time on a core that does nothing else.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    ParameterGrid,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from bai_gym.analysis.intervals import wilson
from bai_gym.live.search import BAISearchCV

FOLDS, REPEATS, REFERENCE = 5, 4, 40
SHARES = (0.5, 0.25, 0.15)
TIMED = 3


@dataclass(frozen=True)
class Problem:
    """A grid on a data set.

    Attributes:
        load: Returns features and targets.
        estimator: The estimator.
        grid: The grid of its parameters.
        splitter: The class of the splitter.
    """

    load: Callable[..., Any]
    estimator: Any
    grid: dict[str, list[Any]]
    splitter: Any

    def splits(self, repeats: int, seed: int) -> Any:
        """Return five folds, repeated, by a seed."""
        return self.splitter(n_splits=FOLDS, n_repeats=repeats, random_state=seed)


PROBLEMS = {
    "breast cancer, SVM": Problem(
        load_breast_cancer,
        make_pipeline(StandardScaler(), SVC()),
        {"svc__C": [0.1, 1.0, 10.0, 100.0], "svc__gamma": [1e-4, 1e-3, 0.01, 0.1]},
        RepeatedStratifiedKFold,
    ),
    "diabetes, kernel ridge": Problem(
        load_diabetes,
        make_pipeline(StandardScaler(), KernelRidge(kernel="rbf")),
        {"kernelridge__alpha": [1e-3, 0.01, 0.1, 1.0], "kernelridge__gamma": [1e-4, 1e-3, 0.01, 0.1]},
        RepeatedKFold,
    ),
    "digits, naive Bayes": Problem(
        load_digits,
        GaussianNB(),
        {"var_smoothing": np.logspace(-6.0, 0.0, 19).tolist()},
        RepeatedStratifiedKFold,
    ),
}


class Replayed(BaseEstimator):
    """A candidate whose scores are known: on the split i, which has the one row i, ``scores[candidate, i]``."""

    def __init__(self, scores: Any = None, candidate: int = 0) -> None:
        self.scores, self.candidate = scores, candidate

    def fit(self, x: Any, y: Any = None) -> Replayed:
        return self

    def score(self, x: Any, y: Any = None) -> float:
        return float(self.scores[self.candidate, x[0, 0]])


def searched(search: Any, *data: Any) -> tuple[Any, float]:
    """Return a search that has searched, and its seconds."""
    start = time.process_time()
    return search.fit(*data), time.process_time() - start


def truth(name: str, candidate: int) -> float:
    """Return the mean score of a candidate over the splits of the reference."""
    problem = PROBLEMS[name]
    x, y = problem.load(return_X_y=True)
    estimator = problem.estimator.set_params(**ParameterGrid(problem.grid)[candidate])
    return float(cross_val_score(estimator, x, y, cv=problem.splits(REFERENCE, 2**31 - 1)).mean())


def play(name: str, run: int) -> dict[str, Any]:
    """Return the candidate that each search recommends in one run, its fits, and its seconds where it was timed."""
    problem = PROBLEMS[name]
    data = problem.load(return_X_y=True)
    candidates = list(ParameterGrid(problem.grid))
    splits, rows = problem.splits(REPEATS, run), np.arange(FOLDS * REPEATS)
    whole, seconds = searched(GridSearchCV(problem.estimator, problem.grid, cv=splits, refit=False), *data)
    table = np.stack([whole.cv_results_[f"split{row}_test_score"] for row in rows], axis=1)
    found = {"GridSearchCV, 20 splits": (whole.best_index_, table.size, seconds)}
    first = table[:, :FOLDS]  # of the first repetition
    found["GridSearchCV, 5 splits"] = (int(first.mean(axis=1).argmax()), first.size, seconds * first.size / table.size)
    halving = HalvingGridSearchCV(
        problem.estimator, problem.grid, cv=problem.splits(1, run), random_state=run, refit=False
    )
    halved, seconds = searched(halving, *data)
    fits = len(halved.cv_results_["params"]) * FOLDS
    found["HalvingGridSearchCV, 5 splits"] = (candidates.index(halved.best_params_), fits, seconds)
    for share in SHARES:
        settings = {"budget": share, "random_state": run, "refit": False}
        cv = [([row], [row]) for row in rows]
        replayed = BAISearchCV(Replayed(table), {"candidate": list(range(len(candidates)))}, cv=cv, **settings)
        replayed.fit(rows[:, None])
        fits, seconds = int(replayed.cv_results_["n_fits"].sum()), np.nan
        if run < TIMED:
            real, seconds = searched(BAISearchCV(problem.estimator, problem.grid, cv=splits, **settings), *data)
            assert real.best_index_ == replayed.best_index_
        found[f"BAISearchCV, {100 * share:.0f} %"] = (replayed.best_index_, fits, seconds)
    return {search: [int(chosen), fits, seconds] for search, (chosen, fits, seconds) in found.items()}


def kept(path: Path, make: Callable[[], Any]) -> Any:
    """Return what a file of JSON has; make it first, if there is none."""
    if not path.exists():
        found = make()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(found), encoding="utf-8")
    return json.loads(path.read_text(encoding="utf-8"))


def main() -> None:
    """Play all, and print a table for each data set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("results/model_selection"))
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    parallel = Parallel(n_jobs=options.workers)
    for name, problem in PROBLEMS.items():
        arms = range(len(ParameterGrid(problem.grid)))
        folder = options.out / name.replace(", ", "-").replace(" ", "-")
        means = np.array(kept(folder / "truth.json", lambda n=name, a=arms: parallel(delayed(truth)(n, i) for i in a)))
        ahead = means.max() - np.sort(means)[-2]
        print(f"\n{name}: {len(arms)} candidates, the best at {means.max():.4f}, {ahead:.4f} above the second\n")
        print("| search | fits | finds the best | regret | seconds |")
        print("| --- | ---: | ---: | ---: | ---: |", flush=True)
        runs = parallel(delayed(kept)(folder / f"{run}.json", partial(play, name, run)) for run in range(options.runs))
        for search in runs[0]:
            chosen, fits, seconds = np.array([run[search] for run in runs]).T
            regrets = means.max() - means[chosen.astype(int)]
            found = int((regrets == 0.0).sum())
            low, high = wilson(found, len(runs))
            share = f"{100 * found / len(runs):.0f} % ({100 * low:.0f} to {100 * high:.0f})"
            time_ = np.mean(seconds[:TIMED])
            print(f"| {search} | {fits.mean():.0f} | {share} | {regrets.mean():.5f} | {time_:.2f} |", flush=True)


if __name__ == "__main__":
    main()
