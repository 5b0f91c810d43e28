"""Sources of a cell's environment and agent, from which every worker process can make them."""

from __future__ import annotations

import contextlib
import copy
import functools
import inspect
import json
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import gymnasium as gym
import numpy as np
from typing_extensions import override

from bai_gym.bandits import Bandit
from bai_gym.common.seeding import generator
from bai_gym.envs.registration import ENTRY_POINT, IDS, check_id
from bai_gym.envs.scalar import OWN_KEYWORDS, BestArmEnv, check_render_mode
from bai_gym.envs.specification import EpisodeSpec, make_episode
from bai_gym.errors import ParameterError
from bai_gym.problems import Problem
from bai_gym.problems.base import count_features
from bai_gym.problems.numbering import Numbering
from bai_gym.rewards import Rewards
from bai_gym.statistics import FloatArray, Statistics
from bai_gym.tasks import Task

__all__ = ["LIBRARY_IDS", "AgentSource", "EnvSource", "GivenInstances"]

LIBRARY_IDS = frozenset(entry.id for entry in IDS)
KEEP_MADE = 16
GYM_KEYWORDS = frozenset(inspect.signature(gym.make).parameters)
OTHERS = GYM_KEYWORDS | {*OWN_KEYWORDS, "problem", "spec"}  # keywords that are not about the episode
_T = TypeVar("_T")


@dataclass(frozen=True, eq=False)
class EnvSource:
    """A source of an environment, which every worker can build.

    Attributes:
        env: A registered id, or an environment object.
        keywords: Keyword arguments for ``gym.make``; none for an object.
    """

    env: str | BestArmEnv
    keywords: dict[str, Any] = field(default_factory=dict)

    @functools.cached_property
    def label(self) -> str:
        """The id with its keyword arguments, short enough for a table."""
        name, keywords = self.env, self.keywords
        if not isinstance(name, str):
            spec = name.spec
            if spec is None:
                return type(name.problem).__name__
            fixed = gym.registry[spec.id].kwargs if spec.id in gym.registry else {}
            keywords = {
                word: value for word, value in spec.kwargs.items() if _short(fixed.get(word, "")) != _short(value)
            }
            name = spec.id
        return f"{name}({_listed(keywords)})" if keywords else name

    @functools.cached_property
    def built(self) -> BestArmEnv:
        """The scalar environment, built once per process.

        Raises:
            UnknownNameError: If the id is not registered.
            ParameterError: If it is not one of this library's environments.
        """
        return _once(_make, self.env, self.keywords) if isinstance(self.env, str) else self.env

    @functools.cached_property
    def episode(self) -> tuple[Problem, EpisodeSpec]:
        """The problem and the specification of its episodes, made once per process; the errors are those of `built`."""
        if isinstance(self.env, str):
            return _once(_make_episode, self.env, self.keywords)
        return self.env.problem, self.env.episode_spec

    @property
    def problem(self) -> Problem:
        """The problem, the source of the instances."""
        return self.episode[0]

    @property
    def episode_spec(self) -> EpisodeSpec:
        """The specification of its episodes."""
        return self.episode[1]

    @functools.cached_property
    def rewards(self) -> Rewards:
        """The kind of the rewards of all instances."""
        return self.problem.rewards

    @functools.cached_property
    def probe(self) -> FloatArray:
        """Means and variances of two instances, ``(2, 2, K)``: machines with different values have other data."""
        sample = self.problem.draw(2, generator(0, "probe"))
        return np.stack([sample.means, sample.variances])

    @override
    def __getstate__(self) -> dict[str, Any]:
        """Pickle without what can be rebuilt, but with the registration of a user's own id.

        Worker processes may work in another folder: files are named in full, under the label that was given here.
        """
        own = isinstance(self.env, str) and self.env not in LIBRARY_IDS
        keywords = {word: _in_full(value) for word, value in self.keywords.items()}
        spec = gym.registry.get(str(self.env)) if own else None
        return {"env": self.env, "keywords": keywords, "label": self.label, "spec": spec}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Register in a worker process what the user's process has registered."""
        spec = state.pop("spec")
        if spec is not None:
            gym.registry.setdefault(spec.id, spec)
        self.__dict__.update(state)


_MADE: dict[tuple[str, str, str], Any] = {}
_MAKING = threading.RLock()  # workers of a Dask cluster may be threads of one process


def _once(make: Callable[[str, dict[str, Any]], _T], env_id: str, keywords: dict[str, Any]) -> _T:
    """Return what ``make(env_id, keywords)`` has returned in this process before, or returns now."""
    spec = gym.registry.get(env_id)  # users may register an id again
    facts = [spec and [repr(spec.entry_point), spec.kwargs], keywords, [_stamp(value) for value in keywords.values()]]
    key = make.__name__, env_id, json.dumps(facts, sort_keys=True, default=_plain)
    with _MAKING:
        if key not in _MADE:
            made = make(env_id, keywords)
            while len(_MADE) >= KEEP_MADE:
                _MADE.pop(next(iter(_MADE)))
            _MADE[key] = made
        made = _MADE[key]
    return made


def _make_episode(env_id: str, keywords: dict[str, Any]) -> tuple[Problem, EpisodeSpec]:
    """Return problem and specification; those of an id of the library are known without an environment."""
    spec = gym.registry.get(env_id)
    if spec is None or spec.entry_point != ENTRY_POINT or not keywords.keys().isdisjoint(OTHERS):
        env = _make(env_id, keywords)
        return env.problem, env.episode_spec
    given = {**copy.deepcopy(spec.kwargs), **keywords}
    with _explained(env_id, keywords):
        return make_episode(given.pop("problem"), None, given, OWN_KEYWORDS, plain=False)


def _make(env_id: str, keywords: dict[str, Any]) -> BestArmEnv:
    check_id(env_id)
    for word in keywords:
        if word in GYM_KEYWORDS or not word.isidentifier():
            raise ParameterError(f"{word!r} is not a keyword of the environment, but an argument of gym.make itself")
    if env_id in LIBRARY_IDS:  # Gymnasium would warn of an unknown mode, and fail on one that is no text
        check_render_mode(keywords.get("render_mode"), BestArmEnv.metadata["render_modes"])
    with _explained(env_id, keywords):
        env = gym.make(env_id, disable_env_checker=True, **keywords).unwrapped
    if not isinstance(env, BestArmEnv):
        raise ParameterError(f"{env_id} is not a best-arm identification environment; `bai-gym list envs` shows them")
    return env


@contextlib.contextmanager
def _explained(env_id: str, keywords: dict[str, Any]) -> Iterator[None]:
    """Report in one line what Gymnasium, or a keyword of another type than any that is meant, raises."""
    try:
        yield
    except gym.error.Error as error:
        raise ParameterError(f"{env_id} cannot be made: {' '.join(str(error).split())}") from None
    except (TypeError, AttributeError, OverflowError) as error:
        reason = " ".join(str(error).partition(" was raised from")[0].split())
        raise ParameterError(f"{env_id} cannot be made with {_listed(keywords)}: {reason}; check their types") from None


def _in_full(value: Any) -> Any:
    """Return the absolute path where a value names a file, else the value."""
    return value if _stamp(value) is None else os.path.abspath(value)


def _stamp(value: Any) -> Any:
    """Return time and size of the file that a value names, if it does: a changed file is another problem."""
    try:
        facts = os.stat(value) if isinstance(value, str | Path) else None
    except (OSError, ValueError):
        return None
    return facts and [facts.st_mtime_ns, facts.st_size]


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else repr(value)


def _listed(keywords: dict[str, Any]) -> str:
    return ", ".join(f"{word}={_short(value)}" for word, value in keywords.items())


def _short(value: Any) -> str:
    if isinstance(value, str | Path) and ("/" in str(value) or "\\" in str(value)):
        return Path(value).name
    text = json.dumps(value, default=_plain) if not isinstance(value, str) else value
    return text if len(text) <= 40 else text[:37] + "..."


@dataclass(frozen=True, eq=False)
class AgentSource:
    """A source of agents, which makes a fresh one for every chunk.

    Attributes:
        make: Returns a fresh agent; must be picklable for several workers.
        label: Name in the results; None: the agent's own label.
        spec: The agent's name on the command line; empty if it has none.
        file: The user's own file that it comes from; None if it was given as a class, a function, or an agent.
        alike: Whether it is known to treat all arms alike, so that it may be played with arms in any order, and
            features in any rotation: see :func:`bai_gym.agents.registry.treats_arms_alike`.
    """

    make: Callable[[], Any]
    label: str | None = None
    spec: str = ""
    file: Path | None = None
    alike: bool = False

    @functools.cached_property
    def prototype(self) -> Any:
        """A fresh agent that only describes itself and never plays."""
        return self.make()

    @override
    def __getstate__(self) -> dict[str, Any]:
        """Leave the prototype out of pickles."""
        return {name: value for name, value in vars(self).items() if name != "prototype"}


class GivenInstances(Problem):
    """A problem that returns the given instances of one chunk, in order, with the given numbers of arms."""

    def __init__(
        self,
        bandit: Bandit,
        start: Statistics | None = None,
        numbering: Numbering | None = None,
        arm_names: tuple[str, ...] | None = None,
    ) -> None:
        self._bandit, self._numbering = bandit, numbering
        self.earlier = start
        self.arm_names = arm_names
        self.num_arms = bandit.num_arms
        self.num_features = count_features(bandit)
        self.paired = bandit.paired

    @override
    def draw(self, batch: int, rng: np.random.Generator) -> Bandit:
        return self._bandit

    @override
    def number(
        self, task: Task, batch: int, rng: np.random.Generator, *, shuffle: bool, rotate: bool
    ) -> Numbering | None:
        return self._numbering
