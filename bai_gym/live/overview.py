"""A study as its journal shows it, read while others work on it, without their agent, their data or their lock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bai_gym.live.entries import Entry
from bai_gym.live.estimates import NONE, Pull, widened
from bai_gym.live.evidence import Identification
from bai_gym.live.storage import read_log
from bai_gym.rewards import Rewards
from bai_gym.statistics import Statistics
from bai_gym.validation import AnyPath
from bai_gym.wings import hook

__all__ = ["Overview"]


@dataclass(frozen=True)
class Overview:
    """The state of a study.

    Attributes:
        agent: The agent with its parameters.
        budget: Pulls over all arms; with costs, their total cost.
        rewards: The kind of rewards.
        asked: Pulls handed out.
        items: In a study with items, on how many of them an arm has been played, and how many there are; else None.
        log: The pulls with rewards, in the order in which they were handed out.
        names: Names of the arms.
        earlier: ``(1, K)`` statistics of the results from which the study started; None: there were none.
        found: The evidence; None before the first reward.
    """

    agent: str
    budget: float
    rewards: Rewards
    asked: int
    items: tuple[int, int] | None
    log: tuple[Pull, ...]
    names: tuple[str, ...]
    earlier: Statistics | None
    found: Identification | None

    @classmethod
    def of(cls, place: AnyPath, name: str | None = None) -> Overview:
        """Read the journal of a study, or its log in a database.

        Args:
            place: The file, or the address of the database.
            name: Name of the study in the database; None: ``"study"``.

        Raises:
            OutputError: It cannot be read, or is damaged.
            ParameterError: The place is no path or address, or a file is given with a name.
            MissingPackageError: A package for databases is not installed.
        """
        return _overview(*read_log(place, name))

    @property
    def ended(self) -> bool:
        """Whether the agent has made its recommendation."""
        return self.found is not None and self.found.ended

    def lines(self) -> list[str]:
        """Return what a terminal shows."""
        outstanding = self.asked - len(self.log)
        state = (
            f"rewards {len(self.log):,} ({self.rewards}), outstanding pulls {outstanding:,}, budget {self.budget:,g}"
        )
        if self.items is not None:
            state += f", items {self.items[0]:,} of {self.items[1]:,}"
        lines = [f"{self.agent}: {'ended' if self.ended else 'running'}, {state}"]
        return lines if self.found is None else [*lines, *str(self.found).splitlines()]


def _overview(facts: Mapping[str, Any], entries: Sequence[Entry]) -> Overview:
    agent, budget, costs = (facts[name] for name in ("agent", "budget", "costs"))
    names = (*facts["arms"], *(entry.arm for entry in entries if entry.kind == "add" and entry.arm is not None))
    kind = Rewards.of(facts["rewards"])
    guardrails = hook("guardrails")(*facts["guardrails"]) if facts.get("guardrails") else None
    names = (*names, NONE) if guardrails else names
    places = {name: arm for arm, name in enumerate(names)}
    arms: list[int] = []
    on: list[int | None] = []
    rewards: dict[int, Pull] = {}
    recommendation = None
    for entry in entries:
        if entry.kind == "ask" and entry.arm is not None:
            arms.append(places[entry.arm])
            on.append(entry.item)
        elif entry.kind == "recommend" and entry.arm is not None:
            recommendation = places[entry.arm]
        elif entry.kind == "tell" and entry.reward is not None:
            place = entry.number - 1
            rewards.setdefault(
                entry.number,
                Pull(arms[place], entry.reward, entry.error, entry.cost, on[place], tuple(entry.guarded)),
            )
    log = tuple(rewards[number] for number in sorted(rewards))
    earlier = None
    if facts["earlier"] is not None:
        pulls, means, variances = (np.array([values]) for values in facts["earlier"])
        earlier = Statistics(pulls.astype(np.int64), means.astype(np.float64), variances.astype(np.float64))
        earlier = widened(earlier, len(names))
    spent = None
    if costs is not None:
        known = sum(pull.cost - costs[pull.arm] for pull in log if pull.cost is not None)
        spent = sum(costs[arm] for arm in arms) + known
    found = None
    if log or recommendation is not None or earlier is not None:
        found = Identification.of(
            recommendation,
            log,
            len(names),
            agent=agent,
            budget=int(budget) if costs is None else float(budget),
            seed=facts["seed"],
            names=names,
            earlier=earlier,
            rewards=kind,
            asked=len(arms),
            spent=spent,
            items=None if facts["items"] is None else int(facts["items"][0]),
            guardrails=guardrails,
        )
    items = None if facts["items"] is None else (len(set(on)), int(facts["items"][0]))
    return Overview(agent, budget, kind, len(arms), items, log, names, earlier, found)
