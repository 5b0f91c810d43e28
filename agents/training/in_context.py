"""In-context agents: DPT samples or plans by a learned posterior of the best arm, ICPE has learned which to pull, too.

Training is in :mod:`bai_gym.training.in_context`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
from scipy.special import softmax
from typing_extensions import override

from bai_gym.agents.base import Agent, Plan
from bai_gym.agents.sequential import first_block
from bai_gym.agents.tools.choosing import best_recommendation, shuffled_arms, whole_counts
from bai_gym.agents.training.features import check_rewards
from bai_gym.agents.training.network import SHAPES, ArmNetwork, Shapes, damaged, load_weights, save_weights, short_label
from bai_gym.agents.training.playing import find_weights, preferred, pull_one_by_one
from bai_gym.errors import AgentError, ParameterError
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Block
from bai_gym.statistics import FloatArray, IntArray, Observation, Statistics
from bai_gym.validation import choice

__all__ = ["DPT", "FOLDER", "ICPE", "InContextNetworks"]

FOLDER = Path(__file__).parent / "in_context_weights"
DEFAULT_ENV = "BAI-Bernoulli10-v0"
FORMAT = "bai-gym in-context networks 1"
PARTS = ("posterior", "values")
ROUNDED = 1e-6  # rounding error of rewards recovered from means
EPOCHS = 10  # of planning
SIMULATIONS = 32  # of each plan
_SHAPES: Shapes = {
    f"{part}.{name}": tuple(size if isinstance(size, int) else f"{part}.{size}" for size in shape)
    for part in PARTS
    for name, shape in SHAPES.items()
}


@dataclass(frozen=True)
class InContextNetworks:
    """Two networks over arms, trained on the same environment.

    Attributes:
        posterior: Its logits, with no pulls left, are those of the probabilities q that each arm is the best.
        values: Its logits are the values of one more pull of each arm.
        facts: Provenance: environment, recipe, versions.
    """

    posterior: ArmNetwork
    values: ArmNetwork
    facts: Mapping[str, Any]

    def probabilities(self, statistics: Statistics) -> FloatArray:
        """Return ``(N, K)`` probabilities q that each arm is the best, from ``(N, K)`` statistics."""
        logits = self.posterior.logits(_observation(statistics, 0)).astype(np.float64)
        return np.asarray(softmax(logits, axis=-1))

    def save(self, path: Path) -> None:
        """Write both as one npz file, without pickle; the same content gives the same bytes."""
        arrays = {
            f"{part}.{name}": network.weights[name]
            for part, network in zip(PARTS, (self.posterior, self.values), strict=True)
            for name in SHAPES
        }
        save_weights(path, FORMAT, {**self.facts, "rewards": self.posterior.rewards}, arrays)

    @classmethod
    def load(cls, path: Path) -> InContextNetworks:
        """Read an npz file.

        Raises:
            ParameterError: If there is no such file.
            DataError: If it is damaged, or holds other networks.
        """
        weights, facts = load_weights(path, FORMAT, _SHAPES)
        try:
            rewards = check_rewards(facts.pop("rewards"))
        except (KeyError, ParameterError):
            raise damaged(path) from None
        posterior, values = (
            ArmNetwork({name: weights[f"{part}.{name}"] for name in SHAPES}, rewards, facts) for part in PARTS
        )
        return cls(posterior, values, facts)


@dataclass(kw_only=True)
class InContextAgent(Agent):
    """Base of both: pulls every arm once, then by :meth:`choose`, and recommends the arm of largest q.

    Args:
        env: An environment for which the library ships weights: ``"BAI-Bernoulli3-v0"`` or ``"BAI-Bernoulli10-v0"``
            (default, unless ``path`` is given).
        path: A file ``weights.npz`` that ``bai-gym train in-context`` has written.

    Raises:
        UnknownNameError: If the library ships no weights for that environment.
        ParameterError: If both are given, or there is no such file.
        DataError: If the file holds no weights of this agent.
        AgentError: If the weights are for rewards of 0 and 1, as the shipped ones are, and there are others.
    """

    env: str | None = None
    path: str | Path | None = None

    knows: ClassVar[frozenset[str]] = frozenset({"prior"})
    anytime: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Read the weights."""
        self.networks = find_networks(self.name, self.env, self.path)

    @property
    @override
    def label(self) -> str:
        """The name and what was changed; of a path the file's name, or its folder's where that is ``weights.npz``."""
        return short_label(super().label, self.path)

    @property
    def trained_on(self) -> Mapping[str, Any]:
        """Provenance of the weights: environment, budget, recipe, versions."""
        return self.networks.facts

    @property
    @override
    def notes(self) -> tuple[str, ...]:  # type: ignore[override]
        """A sentence for tables: what the weights have been trained for."""
        facts = self.trained_on
        learned = f"trained on {facts['env']} with {facts['budget']} pulls"
        return (f"{self.name}: {learned}, it may err far more often where means or budgets are others",)

    @override
    def begin(self, info: ProblemInfo) -> None:
        """Make sure that the prior was declared."""
        info.check_granted("prior")

    @override
    def plan(self) -> Plan:
        """Pull every arm once, then one arm at a time."""
        return (yield from pull_one_by_one(self, self._chosen))

    def choose(self, statistics: Statistics, left: int) -> IntArray:
        """Return the ``(N,)`` arms to pull, from ``(N, K)`` statistics and the number of pulls that are left."""
        raise NotImplementedError

    @override
    def recommend(self, observation: Observation) -> IntArray:
        """Return the arms of largest q."""
        statistics = Statistics.of(observation)
        if not statistics.pulls.all():  # a budget below the minimum, unlike any in training
            return best_recommendation(statistics, self.task, self.tie, self.rng)
        check_binary(self, self.networks, statistics)
        logits = self.networks.posterior.logits(_observation(statistics, 0))
        return preferred(logits, statistics.pulls, self.tie, self.rng)

    def _chosen(self, statistics: Statistics, left: int) -> IntArray:
        check_binary(self, self.networks, statistics)
        return self.choose(statistics, left)


@dataclass(kw_only=True)
class DPT(InContextAgent):
    """Decision-pretrained agent: pulls arms drawn from a network's probabilities q that each one is the best.

    Every arm is pulled once first; the arm of largest q is recommended. The network was trained to predict the best arm
    of instances from the prior, given random histories, so q approximates the posterior, and the pulls are Thompson
    sampling without a formula for the posterior. With ``play="planning"`` the remaining pulls are divided into ten
    epochs. Before each, three ways to share all remaining pulls are compared by simulation, and the epoch's pulls are
    shared in the best of them.

    Paper: Lee, Xie, Pacchiano, Chandak, Finn, Nachum and Brunskill (2023), "Supervised Pretraining Can Learn In-Context
    Reinforcement Learning", algorithm 1. Differences: the network sees sufficient statistics in place of the history,
    and treats all arms alike, so it is no transformer and plays any number of arms; the agent recommends an arm at the
    end of a fixed budget, where the paper minimises cumulative regret. Planning is this library's, after RHO.

    Args:
        play: ``"sampling"`` (default), or ``"planning"``, which takes the prior to be uniform and the rewards to be 0
            and 1, as they were in the training of the shipped weights.
        env: As for ICPE.
        path: As for ICPE.

    Raises:
        ParameterError: If ``play`` is ``"planning"``, and the weights were trained on another prior.

    Knows the prior: it was trained on instances from it.
    """

    play: str = "sampling"

    name: ClassVar[str] = "DPT"

    @override
    def __post_init__(self) -> None:
        """Read the weights, and check that the prior can be simulated."""
        super().__post_init__()
        choice(self.play, ("sampling", "planning"), f"play of {self.name}")
        env = str(self.trained_on.get("env"))
        if self.play == "planning" and not has_uniform_prior(env):
            raise ParameterError(
                f"play='planning' of {self.name} is for Bernoulli arms with means from the uniform prior, and these "
                f"weights were trained on {env}: take play='sampling'"
            )

    @override
    def plan(self) -> Plan:
        """Sample arm by arm, or plan epoch by epoch."""
        if self.play == "sampling":
            return (yield from super().plan())
        first = min(self.num_arms, self.budget)
        yield first_block(self, first)
        order = shuffled_arms(self.batch, self.num_arms, self.tie, self.rng)
        left = self.budget - first
        for size in filter(None, np.diff(np.rint(np.linspace(0, left, EPOCHS + 1)).astype(np.int64)).tolist()):
            statistics = self.statistics.take(order)
            check_binary(self, self.networks, statistics)
            shares = candidates(self.networks.probabilities(statistics))  # (C, N, K)
            plans = np.stack([whole_counts(left * each, left, self.tie, self.rng) for each in shares])
            best = expected_certainty(self.networks, statistics, plans, self.rng).argmax(axis=0)
            chosen = shares[best, np.arange(self.batch)]
            yield Block(whole_counts(size * chosen, size, self.tie, self.rng), order)
            left -= size
        return self.recommend(self._seen)

    @override
    def choose(self, statistics: Statistics, left: int) -> IntArray:
        """Return arms drawn from q."""
        below = np.cumsum(self.networks.probabilities(statistics), axis=-1)
        return np.asarray((below[:, :-1] < self.rng.random((len(below), 1))).sum(axis=-1))


def has_uniform_prior(env: str) -> bool:
    """Return whether a registered environment has Bernoulli arms with means from the uniform prior."""
    return env in gym.registry and gym.spec(env).kwargs.get("problem") == "bernoulli"


def candidates(q: FloatArray) -> FloatArray:
    """Return the ``(C, N, K)`` shares that are compared: equal, as q, and those of top-two sampling from q.

    Top-two sampling draws a leader from q, and another arm, the challenger, from q without the leader.

    Args:
        q: ``(N, K)`` probabilities that each arm is the best.
    """
    odds = q / np.maximum(1.0 - q, 1e-9)
    top_two = 0.5 * q * (1.0 + odds.sum(axis=1, keepdims=True) - odds)
    shares = np.stack([np.ones(q.shape), q, top_two])
    return np.asarray(shares / shares.sum(axis=2, keepdims=True))


def expected_certainty(
    networks: InContextNetworks, statistics: Statistics, plans: IntArray, rng: np.random.Generator
) -> FloatArray:
    """Return ``(C, N)`` estimates of the mean of max_i q_i, the probability that the recommendation is correct.

    In a simulation all plans see the same rewards: those of the smaller plan of an arm are the first of the larger one.

    Args:
        networks: Their probabilities are q.
        statistics: ``(N, K)``, of rewards 0 and 1.
        plans: ``(C, N, K)`` further pulls.
        rng: Source of the simulated means and rewards.
    """
    successes = np.rint(statistics.sums)
    order = plans.argsort(axis=0)
    more = np.diff(np.take_along_axis(plans, order, 0), axis=0, prepend=0)
    pulls = (statistics.pulls + plans).reshape(-1, plans.shape[-1])
    total = np.zeros(len(pulls))
    for _ in range(SIMULATIONS):
        truth = rng.beta(1.0 + successes, 1.0 + statistics.pulls - successes)
        certainty = np.empty(plans.shape)
        np.put_along_axis(certainty, order, successes + rng.binomial(more, truth).cumsum(axis=0), 0)
        means = certainty.reshape(pulls.shape) / pulls
        after = Statistics(pulls, means, means * (1.0 - means) * pulls / np.maximum(pulls - 1, 1))
        total += networks.probabilities(after).max(axis=1)
    return np.asarray(total.reshape(plans.shape[:2]) / SIMULATIONS)


@dataclass(kw_only=True)
class ICPE(InContextAgent):
    """In-context pure explorer: pulls the arm whose pull a network values most, and recommends as :class:`DPT` does.

    Every arm is pulled once first. The value of a pull is how much it, and the pulls after it, will increase the
    probability of the arm that is recommended in the end; the network has learned it by double DQN.

    Paper: Russo, Welch and Pacchiano (2026), "In-Context Learning for Pure Exploration", with a fixed budget; there is
    no public code of the authors. Differences: both networks see sufficient statistics in place of the history and
    treat all arms alike, so they are no transformers; the network that predicts the best arm is trained first, and
    fixed; each pull is rewarded by the increase of the largest probability, the sum of which is the paper's reward at
    the end but for a constant.

    Knows the prior: it was trained on instances from it.
    """

    name: ClassVar[str] = "ICPE"

    @override
    def choose(self, statistics: Statistics, left: int) -> IntArray:
        """Return the arms of largest value."""
        logits = self.networks.values.logits(_observation(statistics, left))
        return preferred(logits, statistics.pulls, self.tie, self.rng)


def find_networks(agent: str, env: str | None, path: str | Path | None) -> InContextNetworks:
    """Return the networks that an agent's parameters name, see :func:`bai_gym.agents.training.playing.find_weights`."""
    file = find_weights(agent, env, path, FOLDER, DEFAULT_ENV)
    return InContextNetworks.load(file) if path is not None else _shipped(file)


def check_binary(agent: Agent, networks: InContextNetworks, statistics: Statistics) -> None:
    """Raise :class:`AgentError` if the networks are for rewards of 0 and 1, and others have been seen.

    Rewards are 0 and 1 only if the means are in [0, 1] and the squares add up to the sum of the rewards.
    """
    if networks.posterior.rewards != "binary":
        return
    sums, pulls = statistics.sums, statistics.pulls
    inside = (sums > -ROUNDED) & (sums < pulls + ROUNDED) & (np.abs(statistics.squares - sums) < ROUNDED * pulls)
    if not inside.all():
        raise AgentError(
            f"the weights of {agent.name} are for rewards of 0 and 1, but there was another one: train others with "
            "`bai-gym train in-context`, and give path="
        )


def _observation(statistics: Statistics, left: int) -> Mapping[str, Any]:
    pulls = statistics.pulls
    remaining = np.full((len(pulls), 1), left)
    return {"pulls": pulls, "means": statistics.means, "variances": statistics.variances, "remaining": remaining}


@lru_cache(maxsize=16)
def _shipped(file: Path) -> InContextNetworks:
    return InContextNetworks.load(file)
