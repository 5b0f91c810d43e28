"""A judge compares items, until it is known which one beats all others."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
from typing_extensions import override

from bai_gym.api import agent_source
from bai_gym.benchmark.protocol import Traits, describe, reset, suited
from bai_gym.common.seeding import check_seed, generator
from bai_gym.duels.ranking import Ranking, ranked
from bai_gym.duels.tasks import Condorcet, pairs
from bai_gym.errors import ParameterError, PullError
from bai_gym.live.dispatcher import Dispatcher
from bai_gym.live.entries import Entry
from bai_gym.live.experiment import check_knowledge, check_names
from bai_gym.live.storage import open_log
from bai_gym.problems import ProblemInfo
from bai_gym.rewards import BINARY, UNIT
from bai_gym.validation import flag, integer

__all__ = ["Winner", "identify_duels"]


@dataclass(frozen=True)
class Winner:
    """The item that beats all others, with its evidence.

    Attributes:
        name: Its name.
        duels: Names of both sides of each duel, in the order in which the judge saw them, and what the first one got.
        confident: Whether the agent has stopped because it was confident, and not at the budget.
        ranking: What the duels say by strengths, see :func:`bai_gym.duels.ranking`.
    """

    name: str
    duels: tuple[tuple[str, str, float], ...]
    confident: bool
    ranking: Ranking

    @override
    def __str__(self) -> str:
        """Return sentences."""
        end = "the agent was confident" if self.confident else "the budget was spent"
        return "\n".join([f"{self.name} wins, after {len(self.duels):,} duels: {end}.", *self.ranking.sentences()])


def identify_duels(
    items: Iterable[str],
    judge: Callable[[str, str], Any],
    budget: int,
    agent: Any = "EB-TCI",
    *,
    ties: bool = True,
    swap: bool = True,
    seed: int = 0,
    journal: str | os.PathLike[str] | None = None,
) -> Winner:
    """Find the item that beats every other one, by a judge who compares two at a time.

    Args:
        items: Names of the items, at least three.
        judge: Receives the names of two items, and returns the name of the better one or None for a tie; or what the
            first one gets, a number from 0 to 1, such as 1/2 for a tie.
        budget: Duels, at most.
        agent: One that plays `BAI-Condorcet-Custom-v0`, as for :func:`bai_gym.evaluate`. One of fixed confidence, the
            default, stops when it is confident.
        ties: Whether anything but a win can come; without, confidence needs fewer duels.
        swap: Whether the judge sees the two in random order, since many judges prefer the first one.
        seed: Seed of the agent and of the order, at least 0.
        journal: A file that keeps every outcome; the same call resumes a run that was killed, and asks for none twice.

    Raises:
        PullError: The judge has raised, or returned something else; outcomes before it are in the journal.
        OutputError: The journal cannot be written, or is of another experiment.
        BaiGymError: Another argument is invalid, or the agent cannot play.
    """
    names, rewards = check_names(items), UNIT if flag(ties, "ties") else BINARY
    if len(names) < 3:
        raise ParameterError("items must name three or more: of two, one function of one arm says who wins")
    left, right = ([names[item] for item in side] for side in pairs(len(names)))
    arms = [" : ".join(sides) for sides in zip(left, right, strict=True)]
    source, seed = agent_source(agent), check_seed(seed)
    player, task = source.make(), Condorcet()
    declared = check_knowledge(suited(player, rewards))
    info = ProblemInfo(len(arms), integer(budget, "budget", least=1), task=task, knows=declared)
    info.rewards = rewards
    reset(player, info, generator(seed, "agent"))
    played = Dispatcher(player, Traits.of(player).allocates, len(arms), budget, task=task)
    facts = {"arms": arms, "budget": budget, "agent": describe(player), "seed": seed, "rewards": str(rewards)}
    duels: list[tuple[str, str, float]] = []
    with closing(open_log({**facts, "swap": flag(swap, "swap")}, journal=journal, exclusive=True)) as log:
        with log.transaction() as kept:
            told = {entry.number: entry.reward for entry in kept}
        while (arm := played.ask()) is not None:
            number = len(played.arms)
            turned = swap and bool(generator(seed, "side", number).random() < 0.5)
            sides = (right[arm], left[arm]) if turned else (left[arm], right[arm])
            if (share := told.get(number)) is None:
                share = _judged(judge, sides, ties)
                with log.transaction():
                    log.append([Entry("tell", number, arms[arm], share)])
            duels.append((*sides, share))
            played.tell(number, 1.0 - share if turned else share)
    assert played.recommendation is not None
    wins = np.zeros((len(names), len(names)))
    for first, second, share in duels:
        wins[names.index(first), names.index(second)] += share
        wins[names.index(second), names.index(first)] += 1.0 - share
    found = ranked(names, wins, np.zeros(wins.shape))
    return Winner(names[played.recommendation], tuple(duels), played.stopped_by_rule, found)


def _judged(judge: Callable[[str, str], Any], sides: tuple[str, str], ties: bool) -> float:
    """Return what the first side gets."""
    try:
        said = judge(*sides)
    except Exception as error:
        raise PullError(f"the judge of {sides[0]} and {sides[1]} raised {type(error).__name__}: {error}") from error
    named = {sides[0]: 1.0, sides[1]: 0.0, None: 0.5}
    share = named.get(said, said) if isinstance(said, str | None) else said
    numbers = (bool, int, float, np.number, np.bool_)
    if not isinstance(share, numbers) or not 0.0 <= float(share) <= 1.0 or (not ties and float(share) not in (0, 1)):
        rule = "its name, None for a tie, or a number from 0 to 1" if ties else "its name, 0 or 1"
        raise PullError(f"the judge of {sides[0]} and {sides[1]} must return {rule}, not {said!r:.60}")
    return float(share)
