"""The runner's side: an agent that passes every question on to an isolated process.

The runner draws the bandits, answers the pulls and counts them, all in this process; the isolated one sees what an
agent may see, and in another order of the arms for every episode.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bai_gym.isolation.messages import STATISTICS, Arrays
from bai_gym.isolation.process import Process, Submission
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Block, Plan, check_request
from bai_gym.statistics import IntArray, Observation
from bai_gym.tasks import BestArm

__all__ = ["GRANTED", "IsolatedAgent", "load_agent", "name_agent"]

GRANTED = ("variances", "range")
"""Oracle knowledge that can be sent to an isolated process; the rest would give the true means away."""


def load_agent(process: Process, submission: Submission, class_name: str, label: str) -> IsolatedAgent:
    """Return the agent that represents a class of a file, loaded in a fresh process.

    Args:
        process: Where it plays.
        submission: The file.
        class_name: What the file defines.
        label: Its name in results.

    Raises:
        SubmissionError: If the file cannot be loaded.
    """
    code = {"code": np.frombuffer(submission.code, np.uint8)}
    header, _ = process.ask("load", code, file=submission.file, class_name=class_name)
    return _represent(process, header, label)


def name_agent(process: Process, agent: str, label: str) -> IsolatedAgent:
    """Return the agent that represents one of the library's, by its name, in a fresh process.

    Args:
        process: Where it plays.
        agent: A name, with parameters in brackets, if any, as for :func:`bai_gym.evaluate`.
        label: Its name in results.

    Raises:
        SubmissionError: If it cannot be made.
    """
    header, _ = process.ask("name", agent=agent)
    return _represent(process, header, label)


def _represent(process: Process, header: dict[str, Any], label: str) -> IsolatedAgent:
    kind = Actor if header["acts"] else Planner
    return kind(process, frozenset(header["knows"]), bool(header["uses_variances"]), label)


class IsolatedAgent:
    """The common part of both kinds of agents: the problem info, and a random order of the arms in every episode."""

    def __init__(self, process: Process, knows: frozenset[str], uses_variances: bool, label: str) -> None:
        self.process = process
        self.knows = knows
        self.uses_variances = uses_variances
        self.label = label

    def __deepcopy__(self, memo: dict[int, Any]) -> IsolatedAgent:
        """Share the process: it makes a fresh agent at every reset."""
        return type(self)(self.process, self.knows, self.uses_variances, self.label)

    def reset(self, info: ProblemInfo, rng: np.random.Generator) -> None:
        """Begin new episodes."""
        self.batch, self.num_arms = info.batch, info.num_arms
        arms = np.tile(np.arange(self.num_arms), (self.batch, 1))
        self.order: IntArray = rng.permuted(arms, axis=1)  # arm at each of the isolated agent's places
        facts: Arrays = {}
        if info.features is not None:
            facts["features"] = self.shown(info.features)
        if "variances" in self.knows:
            facts["variances"] = self.shown(info.variances)
        if "range" in self.knows:
            facts["range"] = info.reward_bound
        self.process.ask(
            "reset",
            facts,
            num_arms=self.num_arms,
            budget=info.budget,
            batch=self.batch,
            epsilon=info.task.epsilon,
            rewards=str(info.rewards),
            knows=sorted(self.knows),
            seed=int(rng.integers(2**62)),
        )

    def shown(self, array: np.ndarray) -> np.ndarray:
        """Return an array (N, K, ...) in the isolated agent's order of the arms."""
        return np.take_along_axis(array, self.order.reshape(*self.order.shape, *[1] * (array.ndim - 2)), axis=1)

    def observed(self, observation: Observation) -> Arrays:
        """Return an observation in the isolated agent's order of the arms."""
        return {
            name: np.asarray(observation[name]) if name == "remaining" else self.shown(np.asarray(observation[name]))
            for name in observation
        }

    def meant(self, answers: np.ndarray | None, what: str) -> IntArray:
        """Return the arms that the isolated agent's numbers stand for, (N,)."""
        arms = BestArm().check(answers, self.batch, self.num_arms, what)
        return np.take_along_axis(self.order, arms[:, None], 1)[:, 0]


class Planner(IsolatedAgent):
    """An agent with a plan, or with `allocate` and `recommend`."""

    def start(self, seen: Observation) -> Plan:
        """Yield the isolated agent's blocks, in the runner's order of the arms, and return its recommendations."""
        header, given = self.process.ask("allocate")
        while header.get("request") == "block":
            left = int(seen["remaining"].flat[0])
            block, _ = check_request(Block(given["counts"], given.get("arms")), self.batch, self.num_arms, left)
            assert isinstance(block, Block)
            arms = self.order if block.arms is None else np.take_along_axis(self.order, block.arms, 1)
            made = yield Block(block.counts, arms)
            header, given = self.process.ask("allocate", {name: getattr(made, name) for name in STATISTICS})
        return self.meant(given.get("recommendation"), "recommend")


class Actor(IsolatedAgent):
    """An agent with `act`."""

    batched = True

    def act(self, observation: Observation) -> IntArray:
        """Return the isolated agent's actions."""
        _, given = self.process.ask("act", self.observed(observation))
        return self.meant(given.get("actions"), "act")
