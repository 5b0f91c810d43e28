"""Simpler counterexamples: two arms, few digits, and a smaller cap, while fresh runs still refute the rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from bai_gym.auditing.certificate import Certificate, Player, certify
from bai_gym.auditing.families import Goal, belongs
from bai_gym.parallel import Workers

__all__ = ["TRIES", "Simplest", "simplify"]

DIGITS = (1, 2, 3, 4)
CAPS = (20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000)
TRIES = 1 + len(DIGITS) + len(CAPS)
"""Tries at most: all of them count in the level of each."""


@dataclass(frozen=True)
class Simplest:
    """A simple counterexample.

    Attributes:
        certificate: The instance with its errors in fresh runs.
        cap: Pulls by which these errors are made.
    """

    certificate: Certificate
    cap: int


def simplify(
    make: Callable[[int], Player],
    found: Certificate,
    goal: Goal,
    delta: float,
    cap: int,
    runs: int,
    seed: int,
    workers: Workers = 1,
) -> Simplest:
    """Return the simplest instance that was tried and on which fresh runs refute a rule.

    Args:
        make: Returns what plays the rule, from a cap.
        found: The certificate of the instance to simplify, which refutes the rule.
        goal: The class of instances, and what an error is.
        delta: Allowed error probability.
        cap: Largest number of pulls.
        runs: Fresh runs of each try.
        seed: The user's seed.
        workers: Processes.
    """
    m = found.m + TRIES
    number = 0

    def tried(certificate: Certificate, cap: int) -> Certificate | None:
        nonlocal number
        number += 1
        path = ("audit", "simplify", number)
        (again,) = certify(make(cap), [certificate.instance], goal.epsilon, runs, seed, path, m, workers)
        return again if again.bound > delta else None

    best, least = found, cap
    for certificate in _simpler(found, goal):
        again = tried(certificate, cap)
        if again is None:
            continue
        best = again
        break
    for smaller in CAPS:
        # fewer pulls cannot refute a rule that has not erred often enough by then
        if smaller >= cap or smaller < best.instance.num_arms or not _often(best, smaller, delta):
            continue
        again = tried(best, smaller)
        if again is not None:
            best, least = again, smaller
            break
    return Simplest(best, least)


def _simpler(found: Certificate, goal: Goal) -> Iterator[Certificate]:
    """Yield simpler instances, the simplest first: two arms with few digits; all arms as they are at the end."""
    instance = found.instance
    pair = instance.select(sorted((instance.best, found.wrong_arm)))
    simple = pair if belongs(pair, goal) and goal.arms[0] <= 2 else instance
    for digits in DIGITS:
        short = simple.rounded(digits)
        if belongs(short, goal) and short.best == simple.best:
            yield Certificate(short, 0, 1, 0.0, 1)
    yield Certificate(simple, 0, 1, 0.0, 1)


def _often(certificate: Certificate, cap: int, delta: float) -> bool:
    return sum(time <= cap for time in certificate.times) > delta * certificate.runs
