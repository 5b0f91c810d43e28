"""UCB-E-LRF: asks some questions of some models, and predicts all other scores by an ensemble of factorizations."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from typing_extensions import override

from bai_gym.agents.paired.rounds import QueueAgent
from bai_gym.agents.parameters import Count, NotNegative, Several
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Outcome, States
from bai_gym.statistics import BoolArray, FloatArray, IntArray, Observation, Statistics
from bai_gym.validation import real

__all__ = ["UCBELRF"]

DROPPED = 0.05  # probability with which a factorization ignores a score
RIDGE = 0.1  # weight of the squared factors
ITERATIONS = 10  # of alternating least squares


@dataclass(kw_only=True)
class UCBELRF(QueueAgent):
    """Asks the model of largest bound the questions about whose scores factorizations disagree most.

    Arms are cells of a matrix, a model and a question each. First random cells are read. Then an ensemble of products
    u_i v_j is fitted to the scores of models i on questions j that have been read; m and s are the mean and the
    standard deviation of their predictions. The bound of a model is the mean over all questions of the score, or of
    m + optimism s where it is not known. The model of largest bound is asked the questions of largest s that it has not
    been asked, a batch at a time. The model of largest mean of scores, or of m where they are not known, is
    recommended. No cell is read twice.

    Paper: Zhou, Belardi, Wu, Zhang, Gomes, Sun and Weinberger (2025), "On Speeding Up Language Model Evaluation". The
    rule and its constants are those of the authors' code (kilian-group/banditeval, commit 80f95a3), with rank 1.

    Args:
        ensemble: Number of factorizations, at least 2.
        optimism: Weight of s in the bound, at least 0; eta in the paper.
        random_share: Share of the cells that are read at random first, from 0 to 1.
        exchange: Whether each u_i is fitted to the v of some other factorization of the ensemble, and each v_j to the u
            of some other one, as in the authors' code, which makes all of them agree on signs. False: each on its own.
        batch_size: Questions that are asked before the next fit, at least 1.

    Minimum budget: the cells that are read at random.

    Requires no oracle knowledge.
    """

    ensemble: Several = 64
    optimism: NotNegative = 5.0
    random_share: float = 0.05
    exchange: bool = True
    batch_size: Count = 32

    name = "UCB-E-LRF"
    tasks = frozenset({"best-row"})
    uses_pairs = False
    anytime = True

    @override
    def minimum_budget(self, num_arms: int) -> int:
        """Return the number of cells that are read at random."""
        return math.ceil(real(self.random_share, f"random_share of {self.name}", least=0, most=1) * num_arms)

    @override
    def begin(self, info: ProblemInfo) -> None:
        super().begin(info)
        (models,) = self.task.sizes(self.num_arms)
        self.shape = models, self.num_arms // models

    @override
    def line_up(self, rows: IntArray, states: States, statistics: Statistics) -> None:
        """Line up the cells that each episode reads next, or end it where all have been read."""
        for row in rows.tolist():
            cells = self.next_cells(statistics.means[row], statistics.pulls[row] > 0)
            states["queue"][row, : cells.size] = cells
            states["length"][row], states["place"][row], states["over"][row] = cells.size, 0, cells.size == 0

    def next_cells(self, scores: FloatArray, known: BoolArray) -> IntArray:
        """Return the cells to read next, where some of ``(K,)`` scores are known."""
        if known.mean() < self.random_share or known.all():
            return self.rng.permutation(np.flatnonzero(~known))[: self.batch_size]
        mean, deviation = self.predict(scores, known)
        bound = np.where(known, scores, mean + self.optimism * deviation).reshape(self.shape).mean(axis=1)
        asked = known.reshape(self.shape)
        bound[~asked.any(axis=1)], bound[asked.all(axis=1)] = np.inf, -np.inf
        model = self.ranked(bound)[0]
        cells = np.flatnonzero(~asked[model]) + model * self.shape[1]
        return cells[self.ranked(deviation[cells])[: self.batch_size]]

    def predict(self, scores: FloatArray, known: BoolArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and standard deviation of the predictions of all cells, ``(K,)`` each."""
        (models, questions), n = self.shape, self.ensemble
        cell = np.flatnonzero(known)
        member, place = (self.rng.random((n, cell.size)) >= DROPPED).nonzero()
        (model, question), score = np.divmod(cell[place], questions), scores[cell[place]]
        u_at, v_at = member * models + model, member * questions + question
        u_of = v_of = member
        if self.exchange:
            u_of, v_of = (self.rng.permutation(n * size)[at] % n for size, at in ((questions, v_at), (models, u_at)))
        u = self.rng.standard_normal(n * models)
        for _ in range(ITERATIONS):
            v = fitted(score, u[u_of * models + model], v_at, n * questions)
            u = fitted(score, v[v_of * questions + question], u_at, n * models)
        predictions = (u.reshape(n, models, 1) * v.reshape(n, 1, questions)).reshape(n, -1)
        return predictions.mean(axis=0), predictions.std(axis=0, ddof=1)

    def ranked(self, values: FloatArray) -> IntArray:
        """Return the places of the values, that of the largest one first."""
        keys = self.rng.random(values.size) if self.tie == "random" else np.arange(values.size)
        return np.lexsort((keys, -values))

    @override
    def conclude(self, outcome: Outcome) -> IntArray:
        """Return the models of largest mean."""
        return self.recommend(self._seen)

    @override
    def recommend(self, observation: Observation) -> IntArray:
        """Return the models of largest mean of scores and predictions."""
        best = []
        for scores, known in zip(observation["means"], observation["pulls"] > 0, strict=True):
            mean = np.where(known, scores, self.predict(scores, known)[0])
            best.append(self.ranked(mean.reshape(self.shape).mean(axis=1))[0])
        return np.array(best, np.int64)


def fitted(score: FloatArray, factor: FloatArray, at: IntArray, size: int) -> FloatArray:
    """Return the ``(size,)`` x that minimise the sum of (score - x[at] factor)^2 and of RIDGE x^2."""
    return np.bincount(at, score * factor, size) / (np.bincount(at, factor * factor, size) + RIDGE)
