"""Plays one submission on the evaluation, in one isolated process for each seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import IO

from bai_gym import api
from bai_gym.isolation.agent import GRANTED, IsolatedAgent
from bai_gym.isolation.process import Process, SubmissionError, blamed, sentence
from bai_gym.results.comparison import Comparison
from bai_gym.results.result import Result
from bai_gym.submissions.cards import Card
from bai_gym.submissions.evaluation import Evaluation, Task

__all__ = ["Played", "play"]

ALLOWED = frozenset({*GRANTED, "prior"})
"""Oracle knowledge that a submission may declare; `prior` means what its author knew, nothing is sent."""


@dataclass(frozen=True)
class Played:
    """What a submission has played with one seed.

    Attributes:
        card: The submission.
        results: A comparison for each task, of this agent alone; of those before the failure, if there is one.
        failure: Why it has not played all tasks, as a sentence; empty if it has.
        knows: The oracle knowledge that it declares.
    """

    card: Card
    results: tuple[Comparison, ...]
    failure: str = ""
    knows: tuple[str, ...] = ()

    @property
    def rows(self) -> tuple[Result, ...]:
        """The result of each task."""
        return tuple(row for comparison in self.results for row in comparison)


def play(
    card: Card,
    evaluation: Evaluation,
    seed: int,
    *,
    log: IO[bytes] | None = None,
    on_task: Callable[[Task], object] | None = None,
) -> Played:
    """Play a submission until the end, or until its first failure.

    Args:
        card: The submission.
        evaluation: Tasks and limits.
        seed: Seed of instances and rewards; the process never receives it.
        log: Where the beginning of its prints goes when it has ended; None: nowhere.
        on_task: Called before each task.
    """
    results: list[Comparison] = []
    where, knows = "", frozenset[str]()
    try:
        with (
            blamed(),
            Process(
                evaluation.seconds, evaluation.answer_seconds, memory=int(evaluation.memory * 2**30), log=log
            ) as process,
        ):
            agent = card.load(process)
            knows = agent.knows
            _check_knowledge(knows)
            for task in evaluation.tasks:
                where = f"{task}: "
                if on_task is not None:
                    on_task(task)
                process.renew()
                results.append(_compare(agent, task, evaluation.runs, seed))
    except SubmissionError as error:
        return Played(card, tuple(results), sentence(f"{where}{error}"), tuple(sorted(knows)))
    return Played(card, tuple(results), knows=tuple(sorted(knows)))


def _check_knowledge(knows: frozenset[str]) -> None:
    excess = sorted(knows - ALLOWED)
    if excess:
        raise SubmissionError(
            f"it declares to know {', '.join(excess)}, which would give the true means away; allowed: "
            f"{', '.join(sorted(ALLOWED))}"
        )


def _compare(agent: IsolatedAgent, task: Task, runs: int, seed: int) -> Comparison:
    return api.compare(
        [agent], task.env, budgets=[task.budget], runs=runs, seed=seed, env_kwargs=task.settings, progress=False
    )
