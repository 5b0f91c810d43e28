"""Recordings: episodes pull by pull, for replay."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from bai_gym.results.schema import metadata_now
from bai_gym.statistics import FloatArray, IntArray

__all__ = ["Recording", "Stage"]

ARRAYS = ("means", "variances")
TUPLES = ("knows", "recommendation", "correct_recommendation", "arm_names")


class Stage(NamedTuple):
    """One request of an agent: a block of pulls, or a phase of sequential ones.

    Attributes:
        first_pull: Number of its first pull in the episode, from 0; the number of all pulls, if arms were dropped at
            the end.
        candidates: The arms that the agent may pull, ascending; None: all.
    """

    first_pull: int
    candidates: tuple[int, ...] | None

    def listed(self, order: IntArray) -> Stage:
        """Return the stage with its arms as the problem lists them, each number standing for an arm of ``order``."""
        arms = self.candidates
        return self if arms is None else Stage(self.first_pull, tuple(sorted(order[[*arms]].tolist())))


@dataclass(frozen=True, eq=False)
class Recording:
    """One episode, played pull by pull on the instance of a run of a benchmark.

    All agents, at all budgets, play the same instance in runs of the same number and seed. Rewards and the agent's
    random choices are independent of those behind the results of the benchmark, and have the same distribution.

    Attributes:
        agent: Name of the agent, as in the results.
        env: Id of the environment, as in the results.
        budget: Pulls of the episode.
        run: Number of the run whose instance it is.
        seed: The user's seed.
        knows: Oracle knowledge of the agent.
        task: Description of the task.
        arms: ``(T,)`` the arm of each pull that the agent requested, at most ``budget``.
        rewards: ``(T,)`` reward of each pull.
        stages: The requests of the agent, in order; one for agents that only act pull by pull. An arm that is no longer
            a candidate in a stage is dropped, for now.
        means: ``(K,)`` true means.
        variances: ``(K,)`` true variances.
        recommendation: The arms recommended at the end, one or several or none.
        correct_recommendation: The correct arms.
        correct: Whether the recommendation is correct.
        simple_regret: Its simple regret, in the unit of the reward.
        arm_names: ``(K,)`` names of the arms, where they have any.
    """

    agent: str
    env: str
    budget: int
    run: int
    seed: int
    knows: tuple[str, ...]
    task: str
    arms: IntArray
    rewards: FloatArray
    stages: tuple[Stage, ...]
    means: FloatArray
    variances: FloatArray
    recommendation: tuple[int, ...]
    correct_recommendation: tuple[int, ...]
    correct: bool
    simple_regret: float
    arm_names: tuple[str, ...] | None = None

    def to_table(self) -> pa.Table:
        """Return a row per pull, with everything else in the metadata."""
        facts: dict[str, Any] = {name: value for name, value in vars(self).items() if name not in ("arms", "rewards")}
        facts.update({name: facts[name].tolist() for name in ARRAYS})
        table = pa.table({"arm": self.arms.astype(np.int32), "reward": self.rewards})
        return table.replace_schema_metadata({**metadata_now(), "episode": json.dumps(facts)})

    @classmethod
    def from_table(cls, table: pa.Table) -> Recording:
        """Return what :meth:`to_table` was made from.

        Raises:
            ValueError, KeyError, TypeError: If it is not a recording.
        """
        facts = json.loads(table.schema.metadata[b"episode"])
        facts.update({name: np.array(facts[name], float) for name in ARRAYS})
        facts.update({name: None if facts[name] is None else tuple(facts[name]) for name in TUPLES})
        facts["stages"] = tuple(Stage(first, None if arms is None else tuple(arms)) for first, arms in facts["stages"])
        return cls(
            **facts, arms=table["arm"].to_numpy().astype(np.int64), rewards=table["reward"].to_numpy().astype(float)
        )
