"""The official run: all submissions with the public seed and with a fresh one, and their ranks.

Whoever knows a seed can compute the instances that it gives. So ranks come from the fresh seed, which is drawn after
all submissions have been read, and a submission that does far better with the public seed is pointed out.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from statistics import NormalDist

import numpy as np

from bai_gym.analysis.intervals import Estimate
from bai_gym.analysis.ranks import holm, random_signs, rank_intervals
from bai_gym.isolation.box import strongest
from bai_gym.results.aggregate import aggregate
from bai_gym.results.comparison import Comparison
from bai_gym.results.evaluations import collect
from bai_gym.results.leaderboard import Leaderboard, leaderboards
from bai_gym.statistics import IntArray
from bai_gym.submissions.cards import Card
from bai_gym.submissions.evaluation import Evaluation, Task
from bai_gym.submissions.play import Played, play

__all__ = ["LEVEL", "Official", "Place", "draw_seed", "play_all", "recalls"]

LEVEL = 0.95
"""Confidence level of intervals, and joint level of the ranks of a table."""
SUSPICIOUS = 1e-6
"""Level of the test whether a submission does better with the public seed than with the fresh one."""


@dataclass(frozen=True)
class Place:
    """A line of the leaderboard.

    Attributes:
        card: The submission.
        rank: 1 + the number of submissions with a higher score.
        rank_interval: Least and largest rank consistent with the tests of all pairs.
        score: Probability of a correct recommendation with the fresh seed, the mean over tasks.
        iqm: Its interquartile mean over tasks.
        public: The score with the public seed.
        knows: Oracle knowledge.
        recalls: Whether it does far better with the public seed, see :func:`recalls`.
    """

    card: Card
    rank: int
    rank_interval: tuple[int, int]
    score: Estimate
    iqm: Estimate
    public: Estimate
    knows: tuple[str, ...]
    recalls: bool


@dataclass(frozen=True)
class Official:
    """What an official run has played.

    Attributes:
        evaluation: Tasks and limits.
        fresh_seed: The seed drawn for this run.
        isolation: What was in force, in words.
        public: What each submission has played with the public seed.
        fresh: The same with the fresh seed, in the same order.
    """

    evaluation: Evaluation
    fresh_seed: int
    isolation: str
    public: tuple[Played, ...]
    fresh: tuple[Played, ...]

    @property
    def failures(self) -> dict[str, str]:
        """Why submissions, by their names, have not played all tasks with both seeds."""
        both = zip(self.public, self.fresh, strict=True)
        reasons = {one.card.name: one.failure or other.failure for one, other in both}
        return {name: reason for name, reason in reasons.items() if reason}

    @cached_property
    def boards(self) -> tuple[Leaderboard, ...]:
        """The leaderboards of the tasks, with the fresh seed, of all submissions that have no failure."""
        rows = _results(self._complete(self.fresh))
        return tuple(board for board in leaderboards(rows, level=LEVEL) if not board.overall) if rows else ()

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """The submissions that have played all tasks with both seeds, the best first; all tasks have equal weight.

        Two submissions are compared run by run, by the test of random signs of the differences over all tasks; the
        tests are corrected for their number, as those of each task are.
        """
        fresh, public = self._complete(self.fresh), self._complete(self.public)
        if not fresh:
            return ()
        now, before = (aggregate(_results(played), level=LEVEL) for played in (fresh, public))
        intervals = _rank_intervals(fresh)
        scores = [now.find(played.card.name).mean for played in fresh]
        places = [
            Place(
                card=played.card,
                rank=1 + sum(other.value > score.value for other in scores),
                rank_interval=interval,
                score=score,
                iqm=now.find(played.card.name).iqm,
                public=before.find(played.card.name).mean,
                knows=played.knows,
                recalls=recalls(_errors(earlier), _errors(played)),
            )
            for played, earlier, score, interval in zip(fresh, public, scores, intervals, strict=True)
        ]
        return tuple(sorted(places, key=lambda place: (place.rank, place.card.name)))

    def _complete(self, played: Sequence[Played]) -> list[Played]:
        return [one for one in played if one.card.name not in self.failures]


def draw_seed() -> int:
    """Return a fresh seed, which nobody can find by trying."""
    return secrets.randbits(64)


def play_all(
    cards: Sequence[Card],
    evaluation: Evaluation,
    fresh_seed: int,
    *,
    on_task: Callable[[Card, str, Task], object] | None = None,
) -> Official:
    """Play all submissions, one after the other, so that none takes time from another.

    Args:
        cards: The submissions.
        evaluation: Tasks and limits.
        fresh_seed: Seed of the ranks.
        on_task: Called before each task, with ``"public"`` or ``"fresh"``.
    """
    public: list[Played] = []
    fresh: list[Played] = []
    for card in cards:
        for name, seed, done in (("public", evaluation.public_seed, public), ("fresh", fresh_seed, fresh)):
            if name == "fresh" and public[-1].failure:
                fresh.append(public[-1])  # it is not ranked in any case
                continue
            show = None if on_task is None else _shown(on_task, card, name)
            done.append(play(card, evaluation, seed, on_task=show))
    return Official(evaluation, fresh_seed, strongest().words, tuple(public), tuple(fresh))


def _shown(on_task: Callable[[Card, str, Task], object], card: Card, seed: str) -> Callable[[Task], object]:
    return lambda task: on_task(card, seed, task)


def recalls(public: IntArray, fresh: IntArray) -> bool:
    """Return whether a submission errs less with the public seed, by a test at the level :data:`SUSPICIOUS`.

    Args:
        public: ``(R,)`` in how many tasks each run errs with the public seed. Runs are independent; the tasks of a run
            are not, because runs of one number have streams of random numbers in common.
        fresh: ``(R,)`` the same with the fresh seed.
    """
    error = math.sqrt(public.var() / public.size + fresh.var() / fresh.size)
    return bool(fresh.mean() - public.mean() > -NormalDist().inv_cdf(SUSPICIOUS) * error)


def _errors(played: Played) -> IntArray:
    """Return in how many tasks each run has erred, (R,)."""
    errors: IntArray = np.array([entry.wrong for entry in collect(played.results)]).sum(axis=0, dtype=np.int64)
    return errors


def _results(played: Sequence[Played]) -> list[Comparison]:
    return [comparison for one in played for comparison in one.results]


def _rank_intervals(played: Sequence[Played]) -> list[tuple[int, int]]:
    """Return the least and largest rank of each submission, over all tasks."""
    wrong = [_errors(one) for one in played]
    pairs = list(combinations(range(len(played)), 2))
    adjusted = holm([random_signs(wrong[i] - wrong[j]) for i, j in pairs])
    better = np.zeros((len(played), len(played)), dtype=bool)
    for (i, j), p_value in zip(pairs, adjusted.tolist(), strict=True):
        difference = wrong[i].sum() - wrong[j].sum()
        if p_value <= 1 - LEVEL and difference:
            better[(i, j) if difference < 0 else (j, i)] = True
    return [(int(least), int(largest)) for least, largest in rank_intervals(better)]
