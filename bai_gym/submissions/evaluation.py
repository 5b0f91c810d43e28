"""The frozen evaluation: what every submission plays, and within which limits."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from typing_extensions import override

from bai_gym import api
from bai_gym.benchmark.sources import EnvSource
from bai_gym.errors import BaiGymError, DataError
from bai_gym.seeding import check_seed
from bai_gym.submissions.tables import check_entries, read_table
from bai_gym.tasks import BestArm

__all__ = ["Evaluation", "Task", "read_evaluation"]

_ENTRIES: dict[str, type] = {
    "public_seed": int,
    "runs": int,
    "seconds": float,
    "answer_seconds": float,
    "memory": float,
    "tasks": list,
}


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
        public_seed: A seed that everybody knows, to try a submission before it is handed in.
        runs: Episodes of each task and seed.
        seconds: Time limit of all answers of a submission in a task.
        answer_seconds: Time limit of a single answer.
        memory: GiB that each process of a submission may have, where the system has such limits.
        tasks: Environments and budgets.
        digest: Of the file, 12 hexadecimal digits: pages with the same digest show the same evaluation.
    """

    public_seed: int
    runs: int
    seconds: float
    answer_seconds: float
    memory: float
    tasks: tuple[Task, ...]
    digest: str


def read_evaluation(path: Path) -> Evaluation:
    """Read an evaluation from TOML, and let the simplest agent play an episode of every task.

    Raises:
        DataError: Whatever is wrong with it, in one line.
    """
    if not path.is_file():
        raise DataError(f"there is no evaluation {path}: give --evaluation, or call from the top of the repository")
    where = "the evaluation"
    data = read_table(path, where)
    check_entries(data, _ENTRIES, _ENTRIES, where)
    check_seed(data["public_seed"])
    for name in ("runs", "seconds", "answer_seconds", "memory"):
        if not data[name] > 0:
            raise DataError(f"{name} of {where} must be above 0, not {data[name]}")
    tasks = tuple(map(_task, data.pop("tasks")))
    if not tasks:
        raise DataError(f"{where} needs at least one task")
    return Evaluation(tasks=tasks, digest=hashlib.sha256(path.read_bytes()).hexdigest()[:12], **data)


def _task(table: Any) -> Task:
    check_entries(table, {"env": str, "budget": int, "settings": dict}, ("env", "budget"), "a task")
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
