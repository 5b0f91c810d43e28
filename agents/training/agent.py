"""An agent that acts by a trained network, without PyTorch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from typing_extensions import override

from bai_gym.agents.base import Agent, Plan
from bai_gym.agents.tools.choosing import best_recommendation
from bai_gym.agents.training.network import ArmNetwork, short_label
from bai_gym.agents.training.playing import environments, find_weights, preferred, pull_one_by_one
from bai_gym.problems import ProblemInfo
from bai_gym.rewards import Rewards
from bai_gym.statistics import IntArray, Observation, Statistics

__all__ = ["DEFAULT_ENV", "Learned", "shipped"]

FOLDER = Path(__file__).parent / "weights"
DEFAULT_ENV, BINARY_ENV = "BAI-Gaussian8-v0", "BAI-Bernoulli10-v0"


def shipped() -> tuple[str, ...]:
    """Return the environments for which the library ships trained weights."""
    return environments(FOLDER)


@dataclass(kw_only=True)
class Learned(Agent):
    """Pulls every arm once, then the arm that a trained network prefers; recommends the arm that it prefers at the end.

    The network sees each arm and a pool of all arms (see :class:`ArmNetwork`), so it works for any number of arms and
    any budget, including ones that it was not trained on.

    Args:
        env: One of :func:`shipped`: the environment that the weights were trained on. None (default), unless ``path``
            is given: ``BAI-Bernoulli10-v0`` for binary rewards, else ``BAI-Gaussian8-v0``.
        path: A file ``weights.npz`` that ``bai-gym train sb3`` has written.

    Raises:
        UnknownNameError: If the library ships no weights for that environment.
        ParameterError: If both are given, or there is no such file.
        DataError: If the file holds no weights.

    Knows the prior: it was trained on instances from it.
    """

    env: str | None = None
    path: str | Path | None = None

    name = "Learned"
    knows = frozenset({"prior"})
    anytime = True

    def __post_init__(self) -> None:
        """Read the weights."""
        self._read(self.env if self.path is not None else self.setting("env"))

    def _read(self, env: str | None) -> None:
        file = find_weights(self.name, env, self.path, FOLDER, DEFAULT_ENV)
        self.network = ArmNetwork.load(file) if self.path is not None else _shipped_network(file)
        self._env = env

    def _choose(self) -> None:
        """Read the weights for the kind of rewards, unless these are the ones that have been read."""
        env = self.env if self.path is not None else self.setting("env")
        if env != self._env:
            self._read(env)

    @override
    def choices(self, rewards: Rewards) -> dict[str, Any]:
        """Return the environment whose weights are for rewards of a kind."""
        if self.path is not None:
            return {}
        return {"env": BINARY_ENV if rewards.kind == "binary" else DEFAULT_ENV}

    @override
    def begin(self, info: ProblemInfo) -> None:
        """Make sure that the prior was declared, and read the weights for the kind of rewards."""
        info.check_granted("prior")
        self._choose()

    @property
    @override
    def label(self) -> str:
        """The name and what was changed; of a path the file's name, or its folder's where that is ``weights.npz``."""
        return short_label(super().label, self.path)

    @property
    def trained_on(self) -> Mapping[str, Any]:
        """Provenance of the weights for the kind of rewards: environment, budget, command, recipe, versions."""
        self._choose()
        return self.network.facts

    @property
    @override
    def notes(self) -> tuple[str, ...]:  # type: ignore[override]
        """A sentence for tables: which prior it knows."""
        env = self.trained_on.get("env", "the environment of its training")
        return (f"{self.name}: its prior is that of {env}, on which it was trained",)

    @override
    def plan(self) -> Plan:
        """Pull every arm once, then the one that the network prefers."""
        return (yield from pull_one_by_one(self, self._preferred))

    @override
    def recommend(self, observation: Observation) -> IntArray:
        """Return the arms that the network prefers once the budget is spent."""
        statistics = Statistics.of(observation)
        if not statistics.pulls.all():  # a budget below the minimum, unlike any in training
            return best_recommendation(statistics, self.task, self.tie, self.rng)
        return self._preferred(statistics, 0)

    def _preferred(self, statistics: Statistics, remaining: int) -> IntArray:
        """Return the ``(N,)`` arms of largest logit; ties go by the rule."""
        pulls = statistics.pulls
        fields = {"pulls": pulls, "means": statistics.means, "variances": statistics.variances}
        logits = self.network.logits({**fields, "remaining": np.full((len(pulls), 1), remaining)})
        return preferred(logits, pulls, self.tie, self.rng)


@lru_cache(maxsize=16)
def _shipped_network(file: Path) -> ArmNetwork:
    return ArmNetwork.load(file)
