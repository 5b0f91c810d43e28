"""How often does a search find the grid's best candidate, with how many fits? The tables of docs/model-selection.md.

    python benchmarks/model_selection.py           # all data sets; the same command resumes
    python benchmarks/model_selection.py --runs 5  # a first look

Each run draws its splits: five folds, repeated four times, the same for all searches that use them. The truth is the
mean of a candidate over 200 other splits of the same sizes. A run finds the best if its candidate has the largest of
these means; its regret is the difference of the two. Seconds are those of the processor, in one process without the
final fit: the wall time on a core that does nothing else.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
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
from bai_gym.tuning import BAISearchCV

FOLDS, REPEATS, REFERENCE = 5, 4, 40


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


def bai(share: float) -> Callable[[Problem, int], Any]:
    """Return a search with a share of the fits of all candidates on all splits."""

    def search(problem: Problem, seed: int) -> Any:
        return BAISearchCV(
            problem.estimator,
            problem.grid,
            budget=share,
            cv=problem.splits(REPEATS, seed),
            random_state=seed,
            refit=False,
        )

    return search


def grid(repeats: int) -> Callable[[Problem, int], Any]:
    """Return the search that fits all candidates on all splits."""

    def search(problem: Problem, seed: int) -> Any:
        return GridSearchCV(problem.estimator, problem.grid, cv=problem.splits(repeats, seed), refit=False)

    return search


def halving(problem: Problem, seed: int) -> Any:
    """Return the search by successive halving on growing training sets, on five splits."""
    splits = problem.splits(1, seed)
    return HalvingGridSearchCV(problem.estimator, problem.grid, cv=splits, random_state=seed, refit=False)


SEARCHES: dict[str, Callable[[Problem, int], Any]] = {
    "GridSearchCV, 20 splits": grid(REPEATS),
    "GridSearchCV, 5 splits": grid(1),
    "HalvingGridSearchCV, 5 splits": halving,
    "BAISearchCV, 50 %": bai(0.5),
    "BAISearchCV, 25 %": bai(0.25),
    "BAISearchCV, 15 %": bai(0.15),
}


def truth(name: str, candidate: int) -> float:
    """Return the mean score of a candidate over the splits of the reference."""
    problem = PROBLEMS[name]
    x, y = problem.load(return_X_y=True)
    estimator = problem.estimator.set_params(**ParameterGrid(problem.grid)[candidate])
    return float(cross_val_score(estimator, x, y, cv=problem.splits(REFERENCE, 2**31 - 1)).mean())


def play(name: str, search: str, run: int) -> dict[str, Any]:
    """Return the candidate that one run recommends, its fits, and its seconds."""
    problem = PROBLEMS[name]
    x, y = problem.load(return_X_y=True)
    made = SEARCHES[search](problem, run)
    start = time.process_time()
    made.fit(x, y)
    seconds = time.process_time() - start
    results = made.cv_results_
    fits = int(results["n_fits"].sum()) if "n_fits" in results else len(results["params"]) * made.n_splits_
    chosen = list(ParameterGrid(problem.grid)).index(made.best_params_)
    return {"chosen": chosen, "fits": fits, "seconds": seconds}


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
    parser.add_argument("--runs", type=int, default=40)
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
        for search in SEARCHES:
            file = folder / f"{search.replace(', ', '-').replace(' %', '').replace(' ', '-')}-{options.runs}.json"
            runs = kept(
                file, lambda n=name, s=search: parallel(delayed(play)(n, s, run) for run in range(options.runs))
            )
            regrets = np.array([means.max() - means[run["chosen"]] for run in runs])
            found = int((regrets == 0.0).sum())
            low, high = wilson(found, len(runs))
            fits, seconds = (np.mean([run[key] for run in runs]) for key in ("fits", "seconds"))
            share = f"{100 * found / len(runs):.0f} % ({100 * low:.0f} to {100 * high:.0f})"
            print(f"| {search} | {fits:.0f} | {share} | {regrets.mean():.5f} | {seconds:.2f} |", flush=True)


if __name__ == "__main__":
    main()
