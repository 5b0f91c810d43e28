"""Model selection as a bandit."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

import numpy as np

from bai_gym.bandits import EmpiricalBandit, GaussianPrior, SampleTable
from bai_gym.correlated.bandits import PriorBandit
from bai_gym.correlated.data.regression import REGRESSION_TABLES, regression_table
from bai_gym.correlated.problems.automl.cache import cached_scores
from bai_gym.correlated.problems.automl.grid import MODELS, Model, similarity
from bai_gym.data import cache_directory
from bai_gym.errors import DataError, ParameterError
from bai_gym.problems.base import FixedProblem
from bai_gym.statistics import FloatArray
from bai_gym.validation import choice, integer

__all__ = ["SHIPPED", "AutoMLProblem", "automl_problem"]

SPLITS = 50
PILOT = 20  # pulls that the prior is made of
SHIPPED = "diabetes.npz"


class AutoMLProblem(FixedProblem):
    """Arms are models; a pull gives the score of a model on a random split of the data.

    The scores of every model on S splits are given; a pull draws one of them, with replacement. The true mean of an
    arm is the mean of its S scores. All models have been scored on the same splits, so means differ by much less than
    their own standard errors would allow, and models that are the same by their definition have exactly equal means.

    Hoffman et al. set a Gaussian prior without saying how its mean and scale were found. Here they come from a pilot
    of 20 pulls of random arms (always the same ones): its mean, and its variance times the kernel. Agents that declare
    to know the prior are given it.

    Args:
        scores: ``(S, K)``, larger is better; NaN where a model could not be trained: the worst of all scores counts.
        models: K of them.
        notes: Sentences for every report.

    Attributes:
        models: The arms.
        scores: ``(S, K)``, with the worst score in place of NaN; read-only, as the arrays below.
        similarity: ``(K, K)`` kernel of the models, see :func:`bai_gym.correlated.problems.automl.similarity`.
        prior_mean: ``(K,)`` prior mean of every arm.
        prior_covariance: ``(K, K)`` prior covariance of the means.
        prior: The normal distribution with these moments.
        noise_variance: Variance of an arm's scores, averaged over arms.

    Raises:
        DataError: If no model could be trained.
        InstanceError: Fewer than two arms.

    Source: Hoffman, Shahriari and de Freitas (2014), section 6.2.
    """

    def __init__(self, scores: FloatArray, models: Sequence[Model] = MODELS, notes: tuple[str, ...] = ()) -> None:
        """Replace missing scores by the worst score, and compute the moments."""
        failed = np.isnan(scores)
        if failed.all():
            raise DataError("not a single model could be trained on these data; the log says why")
        if failed.any():
            names = [models[arm].name for arm in np.flatnonzero(failed.any(axis=0)).tolist()]
            text = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
            notes = (
                *notes,
                f"{failed.sum()} of {failed.size} trainings failed and count as the worst score: {text}",
            )
        splits, num_arms = scores.shape
        self.models = tuple(models)
        self.scores = np.where(failed, np.nanmin(scores), scores)
        # Summed over the first axis: the order is the same for all arms, so that equal arms have equal means.
        means = self.scores.mean(axis=0)
        variances = ((self.scores - means) ** 2).mean(axis=0)
        table = SampleTable(self.scores.T.reshape(-1), np.arange(num_arms + 1) * splits, means, variances)
        self.similarity = similarity(models)
        rng = np.random.default_rng(0)
        pilot = self.scores[rng.integers(splits, size=PILOT), rng.integers(num_arms, size=PILOT)]
        self.prior_mean = np.full(num_arms, pilot.mean())
        self.prior_covariance = pilot.var(ddof=1) * self.similarity
        self.noise_variance = float(variances.mean())
        for array in (self.scores, self.similarity, self.prior_mean, self.prior_covariance):
            array.setflags(write=False)
        self.prior = GaussianPrior(self.prior_covariance, self.prior_mean)
        bandit = PriorBandit(EmpiricalBandit(table, np.arange(num_arms)[None, :]), self.prior)
        super().__init__(bandit, notes, tuple(model.name for model in models))


def automl_problem(
    data: str = "diabetes", splits: int = SPLITS, cache: str | Path | None = None, workers: int = -1
) -> AutoMLProblem:
    """Return the problem of finding the best of 160 models of scikit-learn.

    The scores of all models on all splits are computed once, in parallel, and kept on disk; those of the diabetes data
    come with this library. Wine quality takes about ten minutes of one core with 50 splits.

    Args:
        data: ``"diabetes"``, ``"wine-quality"``, ``"wine-quality-red"`` or ``"wine-quality-white"``, see
            :func:`bai_gym.correlated.regression_table`. The paper has wine quality.
        splits: S, at least 2.
        cache: Folder of the scores; None: that of :func:`bai_gym.data.cache_directory`.
        workers: Processes that train; -1 for all cores.

    Raises:
        ParameterError: Unknown data, or a keyword outside its range.
        MissingDataError: The data are not in the data directory.
        DataError: The data cannot be used.
    """
    splits = integer(splits, "splits", least=2)
    choice(data, REGRESSION_TABLES, "data")
    if workers != -1:
        integer(workers, "workers", least=1, rule="a number of processes, or -1 for all cores")
    if cache is not None and not isinstance(cache, str | os.PathLike):
        raise ParameterError(f"cache must be the path of a folder, or None, not {cache!r}")
    scores = _shipped() if data == "diabetes" and cache is None else None
    if scores is None or len(scores) < splits:
        folder = cache_directory() if cache is None else Path(cache)
        scores = cached_scores(regression_table(data), MODELS, splits, cache=folder, workers=workers)
    return AutoMLProblem(scores[:splits])


def _shipped() -> FloatArray:
    """Return the ``(50, 160)`` scores on the diabetes data that come with the library."""
    with resources.files(__package__).joinpath(SHIPPED).open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        return np.asarray(arrays["scores"], np.float64)
