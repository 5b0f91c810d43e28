"""Which model, or which prompt, answers most questions? A matrix of scores, in which every question is asked once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from typing_extensions import override

from bai_gym.bandits import Bandit, FiniteBandit, FinitePopulations, SampleTable
from bai_gym.common.seeding import check_seed
from bai_gym.data import ArmSamples, ScoreMatrix, read_scores
from bai_gym.datasets import item_response_scores
from bai_gym.datasets.problems.rows import distinct_rows
from bai_gym.errors import DataError, ParameterError
from bai_gym.problems.base import FixedProblem, Problem, arm_count
from bai_gym.rewards import REAL, Rewards
from bai_gym.statistics import FloatArray, IntArray
from bai_gym.validation import flag

__all__ = ["ScoresProblem", "llm_selection_like_problem", "llm_selection_problem"]

LEADERBOARD = 256  # synthetic models, of which every episode has some
DEMO_MODELS = 8
DEMO_QUESTIONS = 200
DEMO_SEED = 1  # one with a single best model


class ScoresProblem(Problem):
    """K of M models, drawn for every episode; a pull asks a model a question that it has not been asked before.

    The K models are distinct, uniform among all ordered choices. The order of the questions is random, for each model
    another one or, with ``paired``, the same for all. An arm pulled as often as there are questions has its exact mean;
    with the next pull it starts again, see :class:`bai_gym.bandits.FiniteBandit` and
    :class:`bai_gym.paired.PairedFiniteBandit`. Models with equal means may be drawn: then each of the best is correct.

    Args:
        scores: ``(M, Q)`` finite scores of M models on Q questions.
        num_arms: K, from 2 to M.
        notes: Sentences for every report.
        paired: Whether the j-th pull of every arm asks the same question.
        kind: The kind of the scores; None: that which they show, see :meth:`bai_gym.rewards.Rewards.read`.

    Raises:
        InstanceError: Fewer than two arms, or scores that are not finite.
        DataError: Fewer models than arms.
    """

    def __init__(
        self,
        scores: FloatArray,
        num_arms: int = 32,
        *,
        notes: tuple[str, ...] = (),
        paired: bool = False,
        kind: Rewards | None = None,
    ) -> None:
        """Count the scores of each model."""
        self.num_arms = arm_count(num_arms)
        models, questions = scores.shape
        if models < self.num_arms:
            raise DataError(f"{num_arms} arms asked for, but there are only {models} models; give at most that many")
        self.notes = notes
        self.paired = flag(paired, "paired")
        self._matrix = np.ascontiguousarray(scores.T)
        self._populations = FinitePopulations.of(
            SampleTable.of(scores.reshape(-1), np.arange(models + 1) * questions, kind)
        )
        self.state_size = self._bandit(np.arange(self.num_arms)[None]).state_size

    @override
    def draw(self, batch: int, rng: np.random.Generator) -> Bandit:
        """Return instances of freshly drawn models, which have not been asked any question yet."""
        return self._bandit(distinct_rows(self._matrix.shape[1], batch, self.num_arms, rng))

    def _bandit(self, models: IntArray) -> Bandit:
        if self.paired:
            from bai_gym.paired.bandits.finite import PairedFiniteBandit  # of a wing

            return PairedFiniteBandit(self._matrix, models, kind=self._populations.samples.kind)
        return FiniteBandit(self._populations, models)


def llm_selection_like_problem(
    num_arms: int = 32, num_questions: int = 1000, table_seed: int = 0, paired: bool = False
) -> ScoresProblem:
    """Return the problem of finding the best of K language models, from synthetic answers that are right or wrong.

    The scores are those of 256 models on all questions, see :func:`bai_gym.datasets.item_response_scores`; every
    episode draws K of the models.

    Args:
        num_arms: K, from 2 to 256.
        num_questions: Q, at least 1: the pulls after which the mean of an arm is exact.
        table_seed: Seed of the scores, at least 0; the same seed gives the same scores in every process.
        paired: Whether the j-th pull of every arm asks the same question.

    Raises:
        InstanceError: Fewer than two arms.
        DataError: More than 256 arms.
        ParameterError: An invalid number of questions, seed or switch.

    Source: The problem is that of Zhou et al. (2024), "On Speeding Up Language Model Evaluation" (arXiv
    2407.06172); the synthetic scores are a choice of this library.
    """
    scores = item_response_scores(LEADERBOARD, num_questions, check_seed(table_seed))
    note = "LLMSelectionLike: synthetic answers of an item response model, not those of real language models"
    return ScoresProblem(scores, num_arms, notes=(note,), paired=paired)


def llm_selection_problem(
    path: str | Path | None = None,
    question_column: str | None = None,
    separator: str | None = None,
    arms: Sequence[str] | None = None,
    missing: str | None = None,
    rewards: Rewards | str | None = None,
    paired: bool = False,
) -> FixedProblem:
    """Return the problem of finding the column with the largest mean; a pull reads a cell of it not yet read.

    Columns are models, or prompts, and rows are questions. An arm pulled as often as there are questions has its exact
    mean, and starts again with the next pull, see :class:`bai_gym.bandits.FiniteBandit`. With ``paired=True`` the j-th
    pull of every arm reads the same row, see :class:`bai_gym.paired.PairedFiniteBandit`. For a log with one row per
    answer use `BAI-Table-v0` with ``replace=False``.

    Args:
        path: A CSV or Parquet file, see :func:`bai_gym.data.read_scores`. None, with all else left out too: the
            answers of 8 synthetic models to 200 questions.
        question_column: A column that names the questions and is no arm.
        separator: One character between the fields of a CSV file; None looks for it.
        arms: The columns wanted, in this order; None: all but ``question_column``.
        missing: ``"error"`` (the default of unpaired arms), or ``"drop"`` to leave out the questions that a model has
            no score for, for that model. With ``paired=True``: ``"items"`` (the default) keeps the questions that all
            models have a score for, ``"arms"`` the models that have a score for all questions, ``"zero"`` counts a
            missing score as 0, and ``"error"`` rejects the file.
        rewards: The kind of the scores, ``"binary"``, ``"bounded(low, high)"``, ``"counts"`` or ``"real"``, see
            :class:`bai_gym.rewards.Rewards`. None: binary if all in the file are 0 or 1, ``"bounded(0, 1)"`` if all are
            between, else real.
        paired: Whether all arms read the rows in the same random order.

    Raises:
        ParameterError: Keywords without ``path``, or invalid for any file.
        DataError: The file cannot be used, or a score is not of the kind.
    """
    kind = None if rewards is None else Rewards.of(rewards)
    notes: tuple[str, ...] = ()
    columns = {"question_column": question_column, "separator": separator, "arms": arms}
    if path is None:
        if missing not in (None, "error") or any(given is not None for given in (*columns.values(), kind)):
            raise ParameterError("BAI-LLMSelection needs path= of your CSV or Parquet file, one column for each model")
        scores = item_response_scores(DEMO_MODELS, DEMO_QUESTIONS, DEMO_SEED)
        names = tuple(f"model {letter}" for letter in "ABCDEFGH")
        items = np.tile(np.arange(DEMO_QUESTIONS), DEMO_MODELS)
        samples = ArmSamples(names, scores.reshape(-1), np.arange(DEMO_MODELS + 1) * DEMO_QUESTIONS, items=items)
        source = "the demonstration"
        notes = ("no path was given: these are synthetic answers of models that do not exist",)
    else:
        source = Path(path).name if isinstance(path, str | Path) else "the data frame"
        reading = "drop" if flag(paired, "paired") else missing or "error"
        samples = read_scores(path, missing=reading, rewards=kind or REAL, **columns)  # type: ignore[arg-type]
    if flag(paired, "paired"):
        from bai_gym.paired.problems import paired_problem  # of a wing

        return paired_problem(ScoreMatrix.of(samples, source, kind), missing or "items", notes)
    if samples.dropped:
        notes = (f"scores missing in {source}, left out: {samples.dropped:,}",)
    populations = FinitePopulations.of(SampleTable.of(samples.rewards, samples.offsets, kind))
    return FixedProblem(FiniteBandit(populations, np.arange(samples.num_arms)[None, :]), notes, samples.names)
