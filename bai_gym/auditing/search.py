"""Search for instances on which a stopping rule errs: halving over instances, where an error is the reward."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from bai_gym.auditing.certificate import Player, play_all
from bai_gym.auditing.families import Accepts, Candidate, Goal, draw
from bai_gym.auditing.instances import Instance
from bai_gym.common.seeding import generator
from bai_gym.parallel import Workers

__all__ = ["FINALISTS", "Plan", "finalists"]

FINALISTS = 5
OF_THE_POOL = 2  # finalists that are no variations of the winner

Recall = Callable[[str, Callable[[], list[int]]], list[int]]
"""Returns the errors of a round, by its name: stored ones, or those that the function counts."""


@dataclass(frozen=True)
class Plan:
    """Sizes of a search.

    Attributes:
        instances: Instances of the first round.
        variations: Variations of the winner, in a second search.
        runs: Runs of each instance in the first round; each round halves the instances and doubles the runs.
        most: Runs of an instance, at most.
        certified: Fresh runs of each finalist.
    """

    instances: int = 512
    variations: int = 64
    runs: int = 50
    most: int = 400
    certified: int = 20_000


def finalists(
    player: Player,
    goal: Goal,
    plan: Plan,
    seed: int,
    workers: Workers = 1,
    recall: Recall = lambda name, count: count(),
    on_round: Callable[[str, int, int], object] = lambda name, done, total: None,
    accepts: Accepts = lambda instance: True,
) -> list[Candidate]:
    """Return at most :data:`FINALISTS` instances on which a rule errs most often.

    Args:
        player: Plays the rule.
        goal: The class of instances, and what an error is.
        plan: Sizes of the search.
        seed: The user's seed.
        workers: Processes.
        recall: Keeps the errors of each round, so that an interrupted search resumes.
        on_round: Called with the name of a round, its finished parts and all of them.
        accepts: Whether a promise is about an instance; others are not searched.
    """
    rng = generator(seed, "audit", "instances")
    pool = [draw(goal, rng, accepts) for _ in range(plan.instances)]

    def halve(candidates: Sequence[Candidate], stage: str) -> list[Candidate]:
        return _halve(candidates, stage, player, goal, plan, seed, workers, recall, on_round)

    best = halve(pool, "pool")
    rng = generator(seed, "audit", "variations")
    varied = halve([best[0], *(best[0].varied(goal, rng, accepts) for _ in range(plan.variations - 1))], "variations")
    chosen: list[Candidate] = []
    for candidate in (*best[:OF_THE_POOL], *varied):
        if candidate not in chosen:
            chosen.append(candidate)
    return chosen[:FINALISTS]


def _halve(
    candidates: Sequence[Candidate],
    stage: str,
    player: Player,
    goal: Goal,
    plan: Plan,
    seed: int,
    workers: Workers,
    recall: Recall,
    on_round: Callable[[str, int, int], object],
) -> list[Candidate]:
    """Return the candidates that remain, most errors first; runs of earlier rounds count."""
    remaining = np.arange(len(candidates))
    errors, runs = np.zeros(len(candidates)), 0
    while True:
        total = min(max(2 * runs, plan.runs), plan.most)
        name = f"{stage}, {remaining.size} instances, {total} runs"

        instances = [candidates[index].instance for index in remaining.tolist()]
        path = ("audit", "search", stage, total)
        count = partial(_errors, player, instances, goal, total - runs, seed, path, workers, partial(on_round, name))
        errors[remaining] += recall(name, count)
        runs = total
        order = np.argsort(-errors[remaining], kind="stable")
        if total == plan.most or remaining.size <= FINALISTS:
            return [candidates[index] for index in remaining[order][:FINALISTS]]
        remaining = remaining[order][: max(FINALISTS, remaining.size // 2)]


def _errors(
    player: Player,
    instances: Sequence[Instance],
    goal: Goal,
    runs: int,
    seed: int,
    path: tuple[int | str, ...],
    workers: Workers,
    on_task: Callable[[int, int], object],
) -> list[int]:
    """Return the number of errors on each instance."""
    played = play_all(player, instances, runs, seed, path, workers, on_task)
    wrong = [one.wrong(instance, goal.epsilon) for one, instance in zip(played, instances, strict=True)]
    return [int(np.count_nonzero(each)) for each in wrong]
