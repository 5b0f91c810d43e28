"""The problem behind every id, or a stand-in where its data are missing, for the pages about environments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, get_type_hints

import numpy as np
from typing_extensions import override

from bai_gym.bandits import Bandit, FeatureBandit, GaussianBandit
from bai_gym.bandits.wrapped import WrappedBandit
from bai_gym.envs.registration import IDS
from bai_gym.envs.scalar import BestArmEnv
from bai_gym.envs.specification import KEYWORDS
from bai_gym.errors import MissingDataError
from bai_gym.problems import FAMILIES, FixedProblem, FrozenProblem, Problem, build
from bai_gym.rewards import Rewards
from bai_gym.wings import Registration
from generate.docstrings import Linker, Parsed, parse

__all__ = ["FEATURES_OF_DATA", "Environment", "description", "environments", "innermost", "rewards_in_words"]

FEATURES_OF_DATA = {"automobile": 5, "electric-motor": 11}
"""Features of the arms of data sets that may be missing, by family; a test compares it with files of their form."""

ARMS_OF_DATA = {"open-bandit-men": 34, "open-bandit-women": 46}
"""Arms of data sets that may be missing, where no keyword tells."""

_REWARDS: dict[str, str] = {
    "BernoulliBandit": "Bernoulli",
    "EmpiricalBandit": "drawn from given rewards, with replacement",
    "FiniteBandit": "drawn from given rewards, without replacement",
    "FunctionBandit": "what your functions return",
    "GaussianBandit": "Gaussian",
    "PairedFiniteBandit": "drawn from given rewards, the same items for all arms",
    "PairedGaussianBandit": "Gaussian, correlated on the items that all arms share",
    "PoissonBandit": "Poisson",
}
_READ = ("table", "llm-selection", "pilot")  # families whose kind of rewards is read from the user's file


class _StandIn(Problem):
    """Arms of the right number with features of the right length; nothing else is meaningful."""

    def __init__(self, num_arms: int, num_features: int | None) -> None:
        """Keep the shape."""
        self.num_arms = num_arms
        self.num_features = num_features

    @override
    def draw(self, batch: int, rng: np.random.Generator) -> Bandit:
        """Return arms with random means."""
        bandit = GaussianBandit(rng.random((batch, self.num_arms)))
        if self.num_features is None:
            return bandit
        return FeatureBandit(bandit, rng.random((batch, self.num_arms, self.num_features)))


@dataclass(frozen=True)
class Environment:
    """One id.

    Attributes:
        entry: What is registered.
        env: The environment; of a stand-in where its data are missing.
        here: Whether its data are available, or none are needed.
    """

    entry: Registration
    env: BestArmEnv
    here: bool

    @property
    def problem(self) -> Problem:
        """Where instances come from; a stand-in where its data are missing."""
        return self.env.problem

    @property
    def drawn(self) -> bool:
        """Whether every episode has a fresh instance."""
        return not isinstance(self.problem, FixedProblem)


def environments() -> tuple[Environment, ...]:
    """Return what is registered, in the order of registration."""
    made: dict[str, Problem] = {}  # the same instances under several ids
    return tuple(_environment(entry, made) for entry in IDS)


def _environment(entry: Registration, made: dict[str, Problem]) -> Environment:
    spec = {name: value for name, value in entry.keywords.items() if name in KEYWORDS}
    keywords = {name: value for name, value in entry.keywords.items() if name not in KEYWORDS}
    key, here = f"{entry.family} {keywords}", True
    if key not in made:
        try:
            made[key] = build(entry.family, **keywords)
        except MissingDataError:
            arms = keywords.get("num_arms") or ARMS_OF_DATA[str(entry.data)]
            made[key] = _StandIn(arms, FEATURES_OF_DATA.get(entry.family))
    here = not isinstance(made[key], _StandIn)
    return Environment(entry, BestArmEnv(made[key], entry.budget, **spec), here)


def innermost(bandit: Bandit) -> Bandit:
    """Return the reward model, without the features and priors around it."""
    while isinstance(bandit, WrappedBandit):
        bandit = bandit.inner
    return bandit


def rewards_in_words(environment: Environment) -> str:
    """Describe the kind of rewards and their distribution in a few words, as far as it is known here."""
    kind, source = environment.entry.rewards, "those of the data set, which was missing when these pages were built"
    if environment.here:
        kind_of_arms = type(innermost(environment.problem.draw(1, np.random.default_rng(0))))
        source = _REWARDS.get(kind_of_arms.__name__, f"those of a `{kind_of_arms.__name__}`")
    read = "; of your own file, those that it shows, or `rewards=`" if environment.entry.family in _READ else ""
    return f"`{kind}` ({Rewards.of(kind).words}): {source}{read}"


def description(family: str, linker: Linker) -> Parsed:
    """Return the docstrings of a family: those of its builder and of the class that this returns."""
    builder = FAMILIES[family]
    parts = [parse(thing, linker) for thing in _described(builder)]
    return Parsed(
        tuple(paragraph for part in parts for paragraph in part.paragraphs),
        {name: meaning for part in reversed(parts) for name, meaning in part.parameters.items()},
        tuple(source for part in parts for source in part.sources),
    )


def _described(builder: Callable[..., Problem]) -> list[Any]:
    if isinstance(builder, type):
        return [builder]
    kind = get_type_hints(builder)["return"]
    return [builder] if kind in (Problem, FixedProblem, FrozenProblem) else [builder, kind]
