"""A search for the best hyperparameters in place of scikit-learn's ``GridSearchCV``, with a part of its fits.

Candidates are the arms, and splits of the data (and seeds) the items of a :class:`bai_gym.live.Study`: the j-th fit of
every candidate is on the same split, so candidates are compared on common ones, and none is fitted twice on one split.
An agent decides how many splits each candidate gets. ``HalvingGridSearchCV`` saves fits by smaller training sets, on
which another candidate may be best; here every fit has the size that it has in ``GridSearchCV``.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from sklearn import get_config
from sklearn.base import clone, is_classifier
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import check_scoring
from sklearn.model_selection import ParameterGrid, check_cv, cross_validate
from sklearn.model_selection._search import BaseSearchCV
from sklearn.utils import check_random_state, indexable
from sklearn.utils.metadata_routing import process_routing
from sklearn.utils.parallel import Parallel, delayed

from bai_gym.api import agent_source
from bai_gym.benchmark.protocol import Traits
from bai_gym.errors import BudgetError, ParameterError
from bai_gym.live import PendingPull, Study
from bai_gym.live.executor.functions import one_line
from bai_gym.statistics import FloatArray
from bai_gym.validation import integer, real

__all__ = ["BAISearchCV"]

_Fits = dict[tuple[int, int], dict[str, float]]  # scores and times of each fit, by candidate and item

_SEEDS = 2**31 - 1  # every estimator takes a random state below that


class _Split:
    """One split of the data; cross-validation passes it the metadata that the original splitter requests."""

    def __init__(self, train: Any, test: Any, splitter: Any) -> None:
        self._indices, self._splitter = (train, test), splitter

    def split(self, X: Any, y: Any = None, **params: Any) -> Any:
        """Yield the split."""
        yield self._indices

    def get_n_splits(self, X: Any = None, y: Any = None, **params: Any) -> int:
        """Return 1."""
        return 1

    def get_metadata_routing(self) -> Any:
        """Return the requests of the original splitter."""
        return self._splitter.get_metadata_routing()


class _Item(NamedTuple):
    """What all candidates are fitted on: a split, and the value of all random states (None: as they are)."""

    split: _Split
    seed: int | None


class BAISearchCV(BaseSearchCV):
    """Search over a grid of hyperparameters by best-arm identification: a drop-in for ``GridSearchCV``.

    Everything that ``GridSearchCV`` has is here: ``fit``, ``predict``, ``score`` and other methods of the estimator,
    which delegate to ``best_estimator_``. Other than there, a split on which a candidate was not fitted is NaN in
    ``cv_results_``, means are over the splits with a fit, and ``best_index_`` is the agent's recommendation. It has
    rank 1; the others are ranked by their means, which rest on fewer splits for candidates that were dropped early.

    Args:
        estimator: An estimator of scikit-learn; candidates are clones of it.
        param_grid: Dict of parameter names and lists of values, or a list of such dicts, as for ``GridSearchCV``; at
            least two candidates.
        budget: Fits in the search, without the final one: their number, at least 1; or a share of the fits of
            ``GridSearchCV``, above 0 and at most 1, as float. None: half of these, but at least two for each candidate.
        agent: A name, a class or an instance, as for :func:`bai_gym.live.identify`. Default: successive rejects that
            plan for the number of splits.
        scoring: As for ``GridSearchCV``. Larger scores are better. With several scores the agent sees that which
            ``refit`` names.
        n_jobs: Fits at a time; None: 1. Agents that play by blocks (SR, SH) give the same result for any number. A
            sequential agent is asked for as many fits as run at a time, and decides on those completed before.
        refit: Whether to fit the recommended candidate on all data; the name of the score, if there are several; or a
            function of ``cv_results_`` that returns the index of the candidate to take instead.
        cv: As for ``GridSearchCV``; it is split once, so all candidates have the same splits. More splits, as of
            ``RepeatedStratifiedKFold``, let the agent spend more on candidates that are hard to tell apart.
        seeds: Fits of a candidate on each split, at least 1, each with other values of all parameters named
            ``random_state`` (those of a fit are common to all candidates); None: one, with the values it has.
        random_state: Seed of the agent, of the order of splits, and of ``seeds``, as everywhere in scikit-learn; None:
            another one at every call.
        verbose: Above 0: print the number of fits, and the result.
        pre_dispatch: As for ``GridSearchCV``.
        error_score: Score of a fit that fails; ``"raise"``: the search ends with its error. The agent sees the
            lowest score so far in place of one that is not finite.
        return_train_score: Whether ``cv_results_`` has scores on training data.

    Attributes:
        cv_results_: As in ``GridSearchCV``, with ``n_fits``, the number of splits on which each candidate was fitted.
        identification_: The evidence, a :class:`bai_gym.live.Identification` whose arms are the candidates in the order
            of ``cv_results_["params"]``.
        best_estimator_: The recommended candidate fitted on all data; as all below, see ``GridSearchCV``.
        best_score_: Its mean score.
        best_params_: Its parameters.
        best_index_: Its number.
        scorer_: The scorer, or a dict of several.
        n_splits_: Number of splits times ``seeds``: the most fits of a candidate.
        refit_time_: Seconds of the final fit.
        multimetric_: Whether there are several scores.

    Raises:
        ParameterError: By ``fit``: a parameter is invalid. It is a ``ValueError``, as is an error of all fits.
        BudgetError: By ``fit``: the agent needs a larger budget, or there are too few splits for this one.
        AgentError: By ``fit``: the agent needs knowledge that no real experiment has.
    """

    def __init__(
        self,
        estimator: Any,
        param_grid: Any,
        *,
        budget: float | None = None,
        agent: Any = "SR(cap=items)",
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: Any = True,
        cv: Any = None,
        seeds: int | None = None,
        random_state: Any = 0,
        verbose: int = 0,
        pre_dispatch: Any = "2*n_jobs",
        error_score: Any = np.nan,
        return_train_score: bool = False,
    ) -> None:
        super().__init__(
            estimator=estimator,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            error_score=error_score,
            return_train_score=return_train_score,
        )
        self.param_grid = param_grid
        self.budget = budget
        self.agent = agent
        self.seeds = seeds
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, **params: Any) -> BAISearchCV:
        """Search, and fit the recommended candidate on all data.

        Args:
            X: ``(n, d)`` features, or what else the estimator takes.
            y: ``(n,)`` or ``(n, m)`` targets; None for unsupervised learning.
            **params: ``groups`` for the splitter, and parameters of the estimator's ``fit``, as ``sample_weight``; with
                metadata routing, those that are requested.

        Returns:
            The search itself.
        """
        X, y = indexable(X, y)
        splitter = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        fit_params, split_params, params = self._routed(params)
        self.scorer_ = _scorers(self.estimator, self.scoring)
        if isinstance(self.scorer_, dict):
            self._score_name([f"test_{name}" for name in self.scorer_])  # which refuses before the first fit
        candidates = list(ParameterGrid(self.param_grid))
        if len(candidates) < 2:
            raise ParameterError(
                f"param_grid has {len(candidates)} candidate, which leaves nothing to choose: give at least two, or "
                "call cross_validate"
            )
        random = check_random_state(self.random_state)
        splits = [_Split(train, test, splitter) for train, test in splitter.split(X, y, **split_params)]
        items = self._items(splits, random)
        budget = _fits(self.budget, len(candidates), len(items))
        if self.verbose > 0:
            whole = len(candidates) * len(items)
            print(f"{budget} fits at most of {len(candidates)} candidates, of {whole} for all on {len(items)} splits")
        names = [_name(number, candidate) for number, candidate in enumerate(candidates)]
        study = Study(names, budget, self.agent, seed=int(random.randint(_SEEDS)), items=items)
        fits = self._play(study, candidates, X, y, params)
        self.n_splits_ = len(items)
        self.identification_ = study.result()
        self.cv_results_ = _results(candidates, fits, len(items), self.identification_.recommendation)
        self._choose(X, y, fit_params)
        if self.verbose > 0:
            print(self.identification_)
        return self

    def _routed(self, params: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
        """Return the parameters of the estimator, of the splitter, and of cross-validation."""
        if get_config().get("enable_metadata_routing", False):
            routed = process_routing(self, "fit", **params)
            return dict(routed.estimator.fit), dict(routed.splitter.split), dict(params)
        own = {name: value for name, value in params.items() if name != "groups"}
        return own, {"groups": params.get("groups")}, own

    def _items(self, splits: Sequence[_Split], random: Any) -> list[_Item]:
        """Return the splits, each once for each seed."""
        if self.seeds is None:
            return [_Item(split, None) for split in splits]
        seeds = integer(self.seeds, "seeds", least=1)
        if not _random_states(self.estimator):
            raise ParameterError("seeds is given, and the estimator has no random_state to set: leave seeds out")
        return [_Item(split, int(random.randint(_SEEDS))) for split in splits for _ in range(seeds)]

    def _play(
        self, study: Study, candidates: Sequence[Mapping[str, Any]], X: Any, y: Any, params: Mapping[str, Any]
    ) -> _Fits:
        """Make the fits that the study asks for; return the scores and times of each."""
        base = clone(self.estimator)
        allocates = Traits.of(agent_source(self.agent).make()).allocates
        at_a_time = study.budget if allocates else effective_n_jobs(self.n_jobs)
        scores_by_pull: dict[tuple[int, int], dict[str, float] | str] = {}
        untold: list[tuple[PendingPull, dict[str, float] | str]] = []  # until a fit says which scores there are
        name, lowest = "", math.inf
        with Parallel(n_jobs=self.n_jobs, pre_dispatch=self.pre_dispatch) as parallel:
            while pulls := study.ask(at_a_time):
                results = parallel(
                    delayed(_fit)(
                        _candidate(base, candidates[pull.arm], pull.item.seed),
                        X,
                        y,
                        pull.item.split,
                        scoring=self.scoring,
                        params=params,
                        return_train_score=self.return_train_score,
                        error_score=self.error_score,
                    )
                    for pull in pulls
                )
                untold += zip(pulls, results, strict=True)
                scores_by_pull |= {
                    (pull.arm, pull.item_number or 0): scores for pull, scores in zip(pulls, results, strict=True)
                }
                if not name:
                    name = next((self._score_name(scores) for scores in results if not isinstance(scores, str)), "")
                if name:
                    values = [float(self.error_score if isinstance(s, str) else s[name]) for _, s in untold]
                    lowest = min([lowest, *filter(math.isfinite, values)])
                    for (pull, _), value in zip(untold, values, strict=True):
                        study.tell(pull, value if math.isfinite(value) else lowest if math.isfinite(lowest) else 0.0)
                    untold.clear()
        return self._complete(scores_by_pull)

    def _complete(self, found: Mapping[tuple[int, int], dict[str, float] | str]) -> _Fits:
        """Return the scores of all fits, ``error_score`` for those that failed, with a warning."""
        reasons = [scores for scores in found.values() if isinstance(scores, str)]
        names: set[str] = set().union(*(scores for scores in found.values() if not isinstance(scores, str)))
        if not names:
            raise ValueError(f"all {len(reasons)} fits of the search failed. {reasons[0]}")
        if reasons:
            warnings.warn(
                f"{len(reasons)} of {len(found)} fits failed, and their score is {self.error_score}. {reasons[0]}",
                FitFailedWarning,
                stacklevel=4,
            )
        return {
            place: {name: math.nan if name.endswith("_time") else float(self.error_score) for name in names}
            if isinstance(scores, str)
            else scores
            for place, scores in found.items()
        }

    def _score_name(self, scores: Iterable[str]) -> str:
        """Return the key of the score that the agent sees, of the keys of all scores."""
        names = [name.removeprefix("test_") for name in scores if name.startswith("test_")]
        self.multimetric_ = names != ["score"]
        if self.multimetric_ and self.refit not in names:
            raise ParameterError(
                f"there are several scores, and refit={self.refit!r} names none of them for the agent to see: give one "
                f"of {', '.join(names)}"
            )
        return f"test_{self.refit if self.multimetric_ else 'score'}"

    def _choose(self, X: Any, y: Any, fit_params: Mapping[str, Any]) -> None:
        """Set the attributes that tell of the best candidate."""
        self.best_index_ = self.identification_.recommendation
        if callable(self.refit):
            self.best_index_ = self._select_best_index(self.refit, "score", self.cv_results_)
        else:
            name = self.refit if self.multimetric_ else "score"
            self.best_score_ = float(self.cv_results_[f"mean_test_{name}"][self.best_index_])
        self.best_params_ = self.cv_results_["params"][self.best_index_]
        if self.refit:
            self.best_estimator_ = _candidate(clone(self.estimator), self.best_params_, None)
            start = time.time()
            self.best_estimator_.fit(X, *(() if y is None else (y,)), **fit_params)
            self.refit_time_ = time.time() - start
            if hasattr(self.best_estimator_, "feature_names_in_"):
                self.feature_names_in_ = self.best_estimator_.feature_names_in_


def _fit(estimator: Any, X: Any, y: Any, split: _Split, **keywords: Any) -> dict[str, float] | str:
    """Return the scores and times of one fit; the error, if it fails and ``error_score`` is a number."""
    try:
        results = cross_validate(estimator, X, y, cv=split, **keywords)
    except ValueError as error:
        if not str(error).startswith("\nAll the 1 fits failed"):  # what cross_validate says of a number
            raise
        return str(error).rpartition("failed with the following error:")[2].strip()
    return {name: float(values[0]) for name, values in results.items()}


def _candidate(base: Any, parameters: Mapping[str, Any], seed: int | None) -> Any:
    """Return a clone with these parameters, and with this value of all random states."""
    estimator = clone(base).set_params(**clone(dict(parameters), safe=False))
    return estimator if seed is None else estimator.set_params(**dict.fromkeys(_random_states(estimator), seed))


def _random_states(estimator: Any) -> list[str]:
    return [name for name in estimator.get_params() if name.split("__")[-1] == "random_state"]


def _name(number: int, candidate: Mapping[str, Any]) -> str:
    """Return the name of a candidate in the evidence."""
    return one_line(f"{number}: " + ", ".join(f"{name}={value!r}" for name, value in sorted(candidate.items())), 200)


def _scorers(estimator: Any, scoring: Any) -> Any:
    """Return the scorer, or a dict of several."""
    if isinstance(scoring, str) or callable(scoring) or scoring is None:
        return scoring if callable(scoring) else check_scoring(estimator, scoring)
    named = scoring if isinstance(scoring, Mapping) else {name: name for name in scoring}
    return {name: check_scoring(estimator, one) for name, one in named.items()}


def _fits(budget: float | None, candidates: int, items: int) -> int:
    """Return the number of fits.

    Raises:
        ParameterError: If the share is not above 0 and at most 1, or the number not at least 1.
    """
    whole = candidates * items
    if budget is None:
        return min(max(whole // 2, 2 * candidates), whole)
    if isinstance(budget, float | np.floating):
        share = real(budget, "budget", above=0, most=1, rule="a share above 0 and at most 1, or a whole number of fits")
        return max(int(share * whole + 1e-9), 1)
    return integer(budget, "budget", least=1, error=BudgetError)


def _results(candidates: Sequence[Mapping[str, Any]], fits: _Fits, num_items: int, recommended: int) -> dict[str, Any]:
    """Return ``cv_results_``: scores and times as arrays over the candidates."""
    tables: dict[str, FloatArray] = {}
    fitted = np.zeros((len(candidates), num_items), np.bool_)
    for place, scores in fits.items():
        fitted[place] = True
        for name, value in scores.items():
            tables.setdefault(name, np.full(fitted.shape, np.nan))[place] = value
    n_fits = fitted.sum(axis=1)
    results: dict[str, Any] = {"n_fits": n_fits, "params": list(candidates)}
    for name in sorted({name for candidate in candidates for name in candidate}):
        values = np.ma.MaskedArray(np.empty(len(candidates), object), mask=True)
        for number, candidate in enumerate(candidates):
            if name in candidate:
                values[number] = candidate[name]
        results[f"param_{name}"] = values
    for name, table in tables.items():
        with np.errstate(invalid="ignore"):  # a candidate without a fit
            means = np.where(fitted, table, 0.0).sum(axis=1) / n_fits  # NaN if a fit failed
            squares = np.where(fitted, (table - means[:, None]) ** 2, 0.0).sum(axis=1) / n_fits
        results[f"mean_{name}"], results[f"std_{name}"] = means, np.sqrt(squares)
        if not name.endswith("_time"):
            results |= {f"split{item}_{name}": table[:, item] for item in range(num_items)}
        if name.startswith("test_"):
            order = np.where(np.isnan(means), -np.inf, means)
            order[recommended] = np.inf
            # Not scipy.stats.rankdata: SciPy 1.12 takes infinities of both signs for NaN.
            _, which, counts = np.unique(-order, return_inverse=True, return_counts=True)
            results[f"rank_{name}"] = (np.cumsum(counts) - counts + 1)[which].astype(np.int32)
    return results
