"""Problems of duels: given chances, random strengths, verdicts on common items, and logs of battles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any

import numpy as np
from scipy.special import expit
from typing_extensions import override

from bai_gym import validation
from bai_gym.data import read_names, read_table
from bai_gym.data.matrix import ScoreMatrix
from bai_gym.duels.bandits import DuelBandit
from bai_gym.duels.tasks import Condorcet, pairs
from bai_gym.errors import DataError, InstanceError
from bai_gym.problems import FixedProblem, Problem
from bai_gym.problems.base import arm_count
from bai_gym.statistics import FloatArray, IntArray
from bai_gym.tasks import Task
from bai_gym.validation import choice, real

__all__ = ["BradleyTerry", "battles_problem", "duels_problem", "verdicts_problem"]

Table = str | PathLike[str] | Mapping[str, Iterable[Any]]
QUESTIONS = ("condorcet", "borda")
DEMO = ((0.5, 0.6, 0.65, 0.55), (0.4, 0.5, 0.9, 0.85), (0.35, 0.1, 0.5, 0.6), (0.45, 0.15, 0.4, 0.5))
"""An item that beats all others, and another one that wins more duels."""
TIES = {"tie", "ties", "tie (bothbad)", "both", "draw", "none"}


def asked(wins: FloatArray, ties: FloatArray, question: str) -> tuple[DuelBandit, Task | None]:
    """Return the bandit and the task of a question about n items.

    Args:
        wins: ``(N, n, n)`` chances that item i wins against j.
        ties: The same, that neither wins.
        question: ``"condorcet"``: arms are pairs, and the item is sought that beats every other one. ``"borda"``: arms
            are items, a pull is a duel with a random other one, and that of most wins is sought.
    """
    items = wins.shape[-1]
    if choice(question, QUESTIONS, "question") == "condorcet":
        left, right = pairs(items)
        return DuelBandit(wins[:, left, right], ties[:, left, right]), Condorcet()
    apart = ~np.eye(items, dtype=bool) / (items - 1.0)
    return DuelBandit((wins * apart).sum(axis=-1), (ties * apart).sum(axis=-1)), None


def duels_problem(preferences: object = DEMO, ties: object = 0.0, question: str = "condorcet") -> FixedProblem:
    """Return the problem of given chances.

    Args:
        preferences: ``(n, n)``: how often item i beats j, a tie counting half: P(i, j) + P(j, i) = 1. By default four
            items, of which one beats all others, and another one has the most wins.
        ties: ``(n, n)`` how often a duel is a tie, or one number for all pairs.
        question: ``"condorcet"`` or ``"borda"``, see :func:`asked`.

    Raises:
        InstanceError: Malformed chances, or with ``"condorcet"`` no item that beats every other one.
        ParameterError: Another question.
    """
    table = validation.array(preferences, "preferences", error=InstanceError)
    if table.ndim != 2 or table.shape[0] != table.shape[1] or len(table) < 3:
        raise InstanceError(f"preferences are a row of n chances for each of n >= 3 items, not {table.shape}")
    apart = ~np.eye(len(table), dtype=bool)
    if np.abs(table + table.T - 1.0)[apart].max() > 1e-6:
        one, other = np.argwhere((np.abs(table + table.T - 1.0) > 1e-6) & apart)[0]
        raise InstanceError(f"preferences of items {one} and {other} must sum to 1, a tie counting half")
    even = validation.array(ties, "ties", error=InstanceError) * np.ones(table.shape)
    return _fixed(table - 0.5 * even, even, question)


def verdicts_problem(
    path: Table | None = None,
    arm_column: str = "model",
    item_column: str = "question",
    reward_column: str = "score",
    missing: str = "items",
    question: str = "condorcet",
) -> FixedProblem:
    """Return the problem whose duels are decided by scores on common items: the better score on a random item wins.

    Args:
        path: A CSV or Parquet file or a data frame with a row for each score, see :func:`bai_gym.data.read_table`.
            None: synthetic scores of five models on 200 questions.
        arm_column: The column that names what is compared.
        item_column: The column that names the item, such as the question.
        reward_column: The column of the score.
        missing: What is done about missing scores, see :data:`bai_gym.data.matrix.MISSING`.
        question: ``"condorcet"`` or ``"borda"``, see :func:`asked`.

    Raises:
        BaiGymError: The file cannot be used, or nobody beats everybody else.
    """
    notes: tuple[str, ...] = ()
    if path is None:
        chances, rng = np.array([0.8, 0.72, 0.66, 0.6, 0.5]), np.random.default_rng(0)
        scores = (rng.random((5, 200)) < chances[:, None]).astype(float)
        models, questions = np.repeat([*"ABCDE"], 200), np.tile(np.arange(200).astype(str), 5)
        path = {arm_column: models, item_column: questions, reward_column: scores.reshape(-1)}
        notes = ("no path was given: these are synthetic scores of models that nobody has asked",)
    samples = read_table(path, arm_column=arm_column, reward_column=reward_column, item_column=item_column)
    matrix = ScoreMatrix.of(samples, "the table")
    complete = matrix.complete(missing)
    scores = complete.scores
    wins = np.stack([(one > scores).mean(axis=1) for one in scores])
    ties = np.stack([(one == scores).mean(axis=1) for one in scores])
    return _fixed(wins, ties, question, (*matrix.notes(missing), *notes), complete.names)


def battles_problem(
    path: Table | None = None,
    first_column: str = "model_a",
    second_column: str = "model_b",
    winner_column: str = "winner",
    question: str = "condorcet",
) -> FixedProblem:
    """Return the problem of a log of battles, as arenas publish them: a duel is a random battle of the two.

    Args:
        path: A CSV or Parquet file or a data frame with a row for each battle. None: synthetic battles.
        first_column: The column that names one side.
        second_column: The column that names the other side.
        winner_column: The column that says who won: the name of a column above or of a side, or that it was a tie.
        question: ``"condorcet"`` or ``"borda"``, see :func:`asked`.

    Raises:
        BaiGymError: The file cannot be used, two sides have never met, or nobody beats everybody else.
    """
    notes: tuple[str, ...] = ()
    if path is None:
        rng, left, right = np.random.default_rng(0), *(np.repeat(side, 100) for side in pairs(4))
        won = np.where(rng.random(left.size) < 0.5 + 0.1 * (right - left), first_column, second_column)
        sides = np.array([*"ABCD"])
        path = {first_column: sides[left], second_column: sides[right], winner_column: won}
        notes = ("no path was given: these are synthetic battles that nobody has seen",)
    names, wins, ties = counted(path, first_column, second_column, winner_column)
    met = wins + wins.T + ties
    apart = ~np.eye(len(names), dtype=bool)
    if len(names) < 3 or not met[apart].all():
        never = "a third side"
        if len(names) > 2:
            never = " and ".join(names[side] for side in np.argwhere((met == 0) & apart)[0].tolist())
        raise DataError(f"a duel is a battle of the log, and {never} never met there: leave one of them out")
    met = np.maximum(met, 1.0)
    return _fixed(wins / met, ties / met, question, notes, names)


def counted(
    path: Table, first_column: str, second_column: str, winner_column: str
) -> tuple[tuple[str, ...], FloatArray, FloatArray]:
    """Return the names of n sides in a log, and ``(n, n)`` how often the one of a row beat that of a column, and tied.

    Args:
        path: As for :func:`battles_problem`, as the other arguments.
        first_column: The column that names one side.
        second_column: The column that names the other side.
        winner_column: The column that says who won.

    Raises:
        BaiGymError: The log cannot be used.
    """
    columns = (first_column, second_column, winner_column)
    rows = read_names(path, columns)
    outcome = np.full(len(rows), np.nan)
    for row, (one, other, winner) in enumerate(rows.tolist()):
        if winner in (one, first_column):
            outcome[row] = 1.0
        elif winner in (other, second_column):
            outcome[row] = 0.0
        elif winner.lower() in TIES:
            outcome[row] = 0.5
        if np.isnan(outcome[row]) or one == other:
            raise DataError(f"row {row + 1}: {winner!r} is no outcome of a battle of {one!r} with {other!r}")
    names, place = np.unique(rows[:, :2].astype(str), return_inverse=True)
    counts = np.zeros((3, names.size, names.size))
    np.add.at(counts, (np.round(2 * outcome).astype(np.int64), *place.reshape(-1, 2).T), 1.0)
    return tuple(names.tolist()), counts[2] + counts[0].T, counts[1] + counts[1].T


class BradleyTerry(Problem):
    """Items of random strengths: i beats j with probability 1 / (1 + exp(s_j - s_i)) (Bradley and Terry 1952).

    Args:
        num_items: n, at least 3.
        spread: Standard deviation of the strengths, which are normal.
        question: ``"condorcet"`` or ``"borda"``, see :func:`asked`.

    Raises:
        InstanceError: Fewer than three items.
        ParameterError: Another spread or question.
    """

    def __init__(self, num_items: int = 8, spread: float = 1.0, question: str = "condorcet") -> None:
        """Check the parameters."""
        self.items, self.spread = arm_count(num_items), real(spread, "spread", above=0)
        self.question = choice(question, QUESTIONS, "question")
        if self.items < 3:
            raise InstanceError("num_items must be at least 3: two items are one arm")
        bandit, self.task = self._asked(np.zeros((1, self.items)))
        self.num_arms = bandit.num_arms

    def _asked(self, strengths: FloatArray) -> tuple[DuelBandit, Task | None]:
        wins = expit(strengths[:, :, None] - strengths[:, None, :])
        return asked(wins, np.zeros(wins.shape), self.question)

    @override
    def draw(self, batch: int, rng: np.random.Generator) -> DuelBandit:
        return self._asked(self.spread * rng.standard_normal((batch, self.items)))[0]


def _fixed(
    wins: FloatArray,
    ties: FloatArray,
    question: str,
    notes: tuple[str, ...] = (),
    names: tuple[str, ...] | None = None,
) -> FixedProblem:
    """Return the problem of one instance, in which somebody wins."""
    bandit, task = asked(wins[None], ties[None], question)
    if task is not None:
        answer: IntArray = task.correct_recommendation(bandit.means)
        if not task.correct(bandit.means, answer).all():
            raise InstanceError("no item beats every other one here: ask for the most wins, question='borda'")
        names = None  # of items, and arms are pairs
    return FixedProblem(bandit, notes, names, task)
