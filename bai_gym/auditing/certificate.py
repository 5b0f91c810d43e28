"""Certificates: lower bounds of an error probability, from fresh runs of instances that were fixed before."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from bai_gym.analysis.intervals import clopper_pearson
from bai_gym.auditing.instances import Instance
from bai_gym.auditing.streams import Episodes
from bai_gym.common.seeding import generator
from bai_gym.parallel import Workers, run_calls

__all__ = ["ALPHA", "Certificate", "Player", "certify", "lower_bound", "play_all"]

ALPHA = 0.001
"""Probability that any of the bounds of a verdict is above the true error probability, at most."""

RUNS_AT_ONCE = 1000  # of a task; fixed, because each has a random stream of its own


class Player(Protocol):
    """Plays episodes of a stopping rule."""

    def play(self, instance: Instance, runs: int, rng: np.random.Generator) -> Episodes:
        """Return episodes of an instance."""
        ...


@dataclass(frozen=True)
class Certificate:
    """An instance with its errors in fresh runs.

    Attributes:
        instance: The instance.
        errors: Runs in which the rule stopped with a wrong arm.
        runs: Fresh runs.
        bound: Lower bound of the error probability, at level 1 - 0.001 / m.
        m: Number of instances, all tries counted, that share the probability 0.001.
        times: Pulls until each error, ascending.
        wrong_arm: The wrong arm that is recommended most often.
    """

    instance: Instance
    errors: int
    runs: int
    bound: float
    m: int
    times: tuple[int, ...] = ()
    wrong_arm: int = 0

    @property
    def rate(self) -> float:
        """Share of the runs with an error."""
        return self.errors / self.runs

    @classmethod
    def restored(cls, stored: Mapping[str, Any]) -> Certificate:
        """Return the certificate that ``dataclasses.asdict`` and JSON have stored."""
        stored_parts = stored["instance"].items()
        parts: dict[str, Any] = {name: tuple(part) if isinstance(part, list) else part for name, part in stored_parts}
        return cls(**{**stored, "instance": Instance(**parts), "times": tuple(stored["times"])})


def lower_bound(errors: int, runs: int, m: int = 1) -> float:
    """Return Clopper and Pearson's lower bound of an error probability at level 1 - 0.001 / m."""
    return clopper_pearson(errors, runs, 1.0 - 2.0 * ALPHA / m)[0]


@dataclass(frozen=True)
class _Task:
    player: Player
    instance: Instance
    runs: int
    seed: int
    path: tuple[int | str, ...]

    def play(self) -> Episodes:
        return self.player.play(self.instance, self.runs, generator(self.seed, *self.path))


def play_all(
    player: Player,
    instances: Sequence[Instance],
    runs: int,
    seed: int,
    path: tuple[int | str, ...],
    workers: Workers = 1,
    on_task: Callable[[int, int], object] = lambda done, total: None,
) -> list[Episodes]:
    """Return episodes of each instance; they do not depend on the number of workers.

    Args:
        player: Plays them.
        instances: The instances.
        runs: Episodes of each.
        seed: The user's seed.
        path: Address of the random streams; the number of the instance and of the part follow.
        workers: Processes, see :func:`bai_gym.evaluate`.
        on_task: Called with the numbers of finished parts, and of all parts.
    """
    sizes = [min(RUNS_AT_ONCE, runs - start) for start in range(0, runs, RUNS_AT_ONCE)]
    tasks = [
        _Task(player, instance, size, seed, (*path, number, part))
        for number, instance in enumerate(instances)
        for part, size in enumerate(sizes)
    ]
    groups = np.array_split(np.arange(len(tasks)), min(len(tasks), max(16, len(tasks) // 16)))
    played: dict[int, list[Episodes]] = {}

    def take(number: int, episodes: list[Episodes]) -> None:
        played[number] = episodes
        on_task(sum(map(len, played.values())), len(tasks))

    run_calls([functools.partial(_play_group, [tasks[at] for at in group]) for group in groups], workers, take)
    found = [each for number in range(len(groups)) for each in played[number]]
    return [Episodes.joined(found[at * len(sizes) : (at + 1) * len(sizes)]) for at in range(len(instances))]


def _play_group(tasks: list[_Task]) -> list[Episodes]:
    return [task.play() for task in tasks]


def certify(
    player: Player,
    instances: Sequence[Instance],
    epsilon: float,
    runs: int,
    seed: int,
    path: tuple[int | str, ...],
    m: int,
    workers: Workers = 1,
    on_task: Callable[[int, int], object] = lambda done, total: None,
) -> list[Certificate]:
    """Return a certificate of each instance, from fresh random streams.

    Args:
        player: Plays them.
        instances: The instances, which were chosen without these streams.
        epsilon: Largest gap of a recommendation that is no error.
        runs: Episodes of each.
        seed: The user's seed.
        path: Address of the random streams.
        m: Number of instances that share the probability of a false bound.
        workers: Processes.
        on_task: See :func:`play_all`.
    """
    found = []
    for instance, episodes in zip(
        instances, play_all(player, instances, runs, seed, path, workers, on_task), strict=True
    ):
        wrong = episodes.wrong(instance, epsilon)
        errors = int(np.count_nonzero(wrong))
        times = tuple(np.sort(episodes.pulls[wrong]).tolist())
        often = np.bincount(episodes.recommendation[wrong], minlength=instance.num_arms)
        arm = int(often.argmax()) if errors else int(np.argsort(-instance.means, kind="stable")[1])
        found.append(Certificate(instance, errors, runs, lower_bound(errors, runs, m), m, times, arm))
    return found
