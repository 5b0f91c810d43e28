"""The content of the page: groups of results, and recorded episodes."""

from __future__ import annotations

from dataclasses import dataclass, field

from bai_gym.results.reader import ResultTable
from bai_gym.results.recording import Recording
from bai_gym.results.result import Optima, Result

__all__ = ["Content", "Group"]


@dataclass(frozen=True)
class Group:
    """A group of results: a sweep over environments and budgets, or a panel of an experiment.

    Attributes:
        title: Its title.
        results: Each agent, environment, budget and checkpoint once.
        optima: Probability that the best possible agent is correct, by environment and budget, where known.
        tables: Its source files.
    """

    title: str
    results: tuple[Result, ...]
    optima: Optima
    tables: tuple[ResultTable, ...]

    @property
    def envs(self) -> list[str]:
        """Its environments, in the order of their results."""
        return list(dict.fromkeys(result.env for result in self.results))

    @property
    def agents(self) -> list[str]:
        """Its agents, in the order of their results."""
        return list(dict.fromkeys(result.agent for result in self.results))


@dataclass(frozen=True)
class Content:
    """The content of a page.

    Attributes:
        groups: The comparisons.
        recordings: Recorded episodes.
        notes: Remarks about the whole page.
    """

    groups: tuple[Group, ...]
    recordings: tuple[Recording, ...]
    notes: tuple[str, ...] = field(default=())

    @property
    def agents(self) -> list[str]:
        """The agents of all groups; their order decides how agents look."""
        return list(dict.fromkeys(agent for group in self.groups for agent in group.agents))
