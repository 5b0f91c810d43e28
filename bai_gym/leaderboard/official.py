"""The leaderboard: submissions played on a frozen evaluation, with a public seed and a fresh one, and their ranks.

Submissions are code that has been read and merged. Each plays in a process of its own
(:mod:`bai_gym.leaderboard.apart`), with the arms of every episode in a random order. Whoever knows a seed can compute
the instances that it gives, so ranks come from the fresh seed, which is drawn when a run begins, and a submission that
does far better with the public seed is pointed out.
"""

from __future__ import annotations

import hashlib
import math
import secrets
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import combinations
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
from typing_extensions import override

from bai_gym import api
from bai_gym.analysis.intervals import Estimate
from bai_gym.analysis.ranks import holm, random_signs, rank_intervals, surely_better
from bai_gym.benchmark.sources import EnvSource
from bai_gym.common.seeding import check_seed
from bai_gym.errors import BaiGymError, DataError
from bai_gym.leaderboard.apart import Apart
from bai_gym.results.aggregate import aggregate
from bai_gym.results.comparison import Comparison
from bai_gym.results.evaluations import collect
from bai_gym.results.leaderboard import Leaderboard, leaderboards
from bai_gym.statistics import IntArray
from bai_gym.tasks import BestArm

__all__ = [
    "LEVEL",
    "Evaluation",
    "Official",
    "Place",
    "Played",
    "Submission",
    "Task",
    "draw_seed",
    "play",
    "play_all",
    "read_evaluation",
    "read_submissions",
    "recalls",
]

LEVEL = 0.95
"""Confidence level of intervals, and joint level of the ranks of a table."""
SUSPICIOUS = 1e-6
"""Level of the test whether a submission does better with the public seed than with the fresh one."""


@dataclass(frozen=True)
class Task:
    """An environment with a budget.

    Attributes:
        env: Id of the environment.
        budget: Pulls per episode.
        settings: Keyword arguments of ``gym.make``.
    """

    env: str
    budget: int
    settings: dict[str, Any] = field(default_factory=dict)

    @override
    def __str__(self) -> str:
        """Such as ``"BAI-Gaussian8-v0 with 120 pulls"``."""
        return f"{self.env} with {self.budget:,} pulls"


@dataclass(frozen=True)
class Evaluation:
    """What every submission plays.

    Attributes:
        public_seed: A seed that everybody knows, to try a submission before it is proposed.
        runs: Episodes of each task and seed.
        seconds: Time limit of all answers of a submission in a task.
        tasks: Environments and budgets.
        digest: Of the file, 12 hexadecimal digits: pages with the same digest show the same evaluation.
    """

    public_seed: int
    runs: int
    seconds: float
    tasks: tuple[Task, ...]
    digest: str


@dataclass(frozen=True)
class Submission:
    """An agent of the library, or a class of a file.

    Attributes:
        name: Its name in the leaderboard.
        agent: A name, or ``"<path>.py:<class>"``.
        author: Who wrote it.
        about: What it does, in a sentence.
    """

    name: str
    agent: str
    author: str = ""
    about: str = ""


@dataclass(frozen=True)
class Played:
    """What a submission has played with one seed.

    Attributes:
        results: A comparison for each task, of this agent alone; of those before the failure, if there is one.
        failure: Why it has not played all tasks; empty if it has.
        knows: The oracle knowledge that it declares.
    """

    results: tuple[Comparison, ...] = ()
    failure: str = ""
    knows: tuple[str, ...] = ()


@dataclass(frozen=True)
class Place:
    """A line of the leaderboard.

    Attributes:
        submission: The submission.
        rank: 1 + the number of submissions with a higher score.
        rank_interval: Least and largest rank consistent with the tests of all pairs.
        score: Probability of a correct recommendation with the fresh seed, the mean over tasks.
        public: The score with the public seed.
        knows: Oracle knowledge.
        recalls: Whether it does far better with the public seed, see :func:`recalls`.
    """

    submission: Submission
    rank: int
    rank_interval: tuple[int, int]
    score: Estimate
    public: Estimate
    knows: tuple[str, ...]
    recalls: bool


@dataclass(frozen=True)
class Official:
    """What a run of the leaderboard has played.

    Attributes:
        evaluation: Tasks and limits.
        fresh_seed: The seed drawn for this run.
        played: Each submission with the public and with the fresh seed.
    """

    evaluation: Evaluation
    fresh_seed: int
    played: Mapping[Submission, tuple[Played, Played]]

    @property
    def failures(self) -> dict[Submission, str]:
        """Why submissions have not played all tasks with both seeds."""
        reasons = {one: public.failure or fresh.failure for one, (public, fresh) in self.played.items()}
        return {one: reason for one, reason in reasons.items() if reason}

    @property
    def ranked(self) -> list[Submission]:
        """The submissions that have played all tasks with both seeds."""
        return [one for one in self.played if one not in self.failures]

    @cached_property
    def boards(self) -> tuple[Leaderboard, ...]:
        """The leaderboards of the tasks, with the fresh seed, of all submissions that have no failure."""
        rows = [comparison for one in self.ranked for comparison in self.played[one][1].results]
        return tuple(board for board in leaderboards(rows, level=LEVEL) if not board.overall) if rows else ()

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """The ranked submissions, the best first; all tasks have equal weight.

        Two submissions are compared run by run, by the test of random signs of the differences over all tasks; the
        tests are corrected for their number, as those of each task are.
        """
        if not self.ranked:
            return ()
        public, fresh = ([self.played[one][seed] for one in self.ranked] for seed in (0, 1))
        before, now = (
            aggregate([comparison for one in seed for comparison in one.results], level=LEVEL)
            for seed in (public, fresh)
        )
        scores = [now.find(one.name).mean for one in self.ranked]
        intervals = _rank_intervals([_errors(one) for one in fresh])
        places = [
            Place(
                submission=one,
                rank=1 + sum(other.value > score.value for other in scores),
                rank_interval=interval,
                score=score,
                public=before.find(one.name).mean,
                knows=then.knows,
                recalls=recalls(_errors(earlier), _errors(then)),
            )
            for one, earlier, then, score, interval in zip(self.ranked, public, fresh, scores, intervals, strict=True)
        ]
        return tuple(sorted(places, key=lambda place: (place.rank, place.submission.name)))


def read_evaluation(path: Path) -> Evaluation:
    """Read an evaluation from TOML, and let the simplest agent play an episode of every task.

    Raises:
        DataError: Whatever is wrong with it, in one line.
    """
    where = "the evaluation"
    data = _read(path, where, {"public_seed": int, "runs": int, "seconds": float, "tasks": list})
    check_seed(data["public_seed"])
    for name in ("runs", "seconds"):
        if not data[name] > 0:
            raise DataError(f"{name} of {where} must be above 0, not {data[name]}")
    tasks = tuple(map(_task, data.pop("tasks")))
    if not tasks:
        raise DataError(f"{where} needs at least one task")
    return Evaluation(tasks=tasks, digest=hashlib.sha256(path.read_bytes()).hexdigest()[:12], **data)


def read_submissions(path: Path) -> tuple[Submission, ...]:
    """Read the list of submissions from TOML; files stand beside it.

    Raises:
        DataError: Whatever is wrong with it, in one line.
    """
    data = _read(path, "the list of submissions", {"submissions": list})
    submissions = []
    for table in data["submissions"]:
        _check(table, dict.fromkeys(("name", "agent", "author", "about"), str), "a submission")
        agent = table["agent"]
        submissions.append(Submission(**{**table, "agent": str(path.parent / agent) if ".py:" in agent else agent}))
    names = [one.name for one in submissions]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise DataError(f"two submissions have the name {twice!r}")
    if not names:
        raise DataError(f"{path} lists no submission")
    return tuple(submissions)


def _read(path: Path, where: str, kinds: Mapping[str, type]) -> dict[str, Any]:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise DataError(f"{where} {path} cannot be read: {error}; call from the top of the repository") from None
    _check(data, kinds, where)
    return data


def _check(table: Any, kinds: Mapping[str, type], where: str) -> None:
    """Check names and types of the entries of a table; ``settings`` may be missing."""
    if not isinstance(table, dict):
        raise DataError(f"{where} must be a table, not {table!r}")
    for name in [*table, *kinds]:
        if name not in kinds:
            raise DataError(f"{where} has no entry {name!r}; it can have: {', '.join(kinds)}")
        if name not in table:
            if name == "settings":
                continue
            raise DataError(f"{where} needs the entry {name!r}")
        allowed = (int, float) if kinds[name] is float else kinds[name]
        if not isinstance(table[name], allowed) or isinstance(table[name], bool):
            raise DataError(f"{name} of {where} must be of the type {kinds[name].__name__}, not {table[name]!r}")


def _task(table: Any) -> Task:
    _check(table, {"env": str, "budget": int, "settings": dict}, "a task")
    task = Task(**table)
    try:
        episode = EnvSource(task.env, task.settings).built.episode_spec
        if episode.fixed_confidence or not isinstance(episode.task, BestArm):
            raise DataError("a task must ask for the best arm, with a fixed budget")
        # Mistakes of the evaluation must not be blamed on submissions.
        api.evaluate("Uniform", task.env, budget=task.budget, runs=1, env_kwargs=task.settings, progress=False)
    except BaiGymError as error:
        raise DataError(f"{task}: {error}") from None
    return task


def draw_seed() -> int:
    """Return a fresh seed, which nobody can find by trying."""
    return secrets.randbits(64)


def play(
    submission: Submission,
    evaluation: Evaluation,
    seed: int,
    *,
    on_task: Callable[[Task], object] = lambda task: None,
) -> Played:
    """Play a submission until the end, or until its first failure.

    Args:
        submission: The submission.
        evaluation: Tasks and limits.
        seed: Seed of instances and rewards; the agent's process never receives it.
        on_task: Called before each task.
    """
    results: list[Comparison] = []
    where = ""
    knows: tuple[str, ...] = ()
    try:
        with Apart(submission.agent, evaluation.seconds) as agent:
            agent.label, knows = submission.name, tuple(sorted(agent.knows))
            for task in evaluation.tasks:
                where = f"{task}: "
                on_task(task)
                agent.renew()
                results.append(
                    api.compare(
                        [agent],
                        task.env,
                        budgets=[task.budget],
                        runs=evaluation.runs,
                        seed=seed,
                        env_kwargs=task.settings,
                        progress=False,
                    )
                )
    except BaiGymError as error:
        return Played(tuple(results), f"{where}{error}", knows)
    return Played(tuple(results), knows=knows)


def play_all(
    submissions: Sequence[Submission],
    evaluation: Evaluation,
    fresh_seed: int,
    *,
    on_task: Callable[[Submission, str, Task], object] = lambda submission, seed, task: None,
) -> Official:
    """Play all submissions, one after the other, so that none takes time from another.

    Args:
        submissions: The submissions.
        evaluation: Tasks and limits.
        fresh_seed: Seed of the ranks.
        on_task: Called before each task, with ``"public"`` or ``"fresh"``.
    """
    played = {}
    for one in submissions:
        public = play(one, evaluation, evaluation.public_seed, on_task=partial(on_task, one, "public"))
        fresh = Played()  # one that has failed is not ranked in any case
        if not public.failure:
            fresh = play(one, evaluation, fresh_seed, on_task=partial(on_task, one, "fresh"))
        played[one] = public, fresh
    return Official(evaluation, fresh_seed, played)


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


def _rank_intervals(wrong: Sequence[IntArray]) -> list[tuple[int, int]]:
    """Return the least and largest rank of each submission, over all tasks."""
    differences = [first - second for first, second in combinations(wrong, 2)]
    adjusted = holm([random_signs(difference) for difference in differences])
    return rank_intervals(surely_better(len(wrong), [each.sum() for each in differences], adjusted, LEVEL))
