"""What a study is about: its arguments, checked, and what follows from them alone."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bai_gym.bandits.features import check_features
from bai_gym.benchmark.protocol import (
    Traits,
    describe,
    knowledge,
    notes,
    reset,
    suited,
    unmet_assumptions,
)
from bai_gym.benchmark.sources import AgentSource
from bai_gym.common.seeding import generator
from bai_gym.data import read_table
from bai_gym.errors import AgentError, DataError, InstanceError, ParameterError
from bai_gym.live.estimates import NONE, statistics_of, widened
from bai_gym.live.funds import Funds
from bai_gym.live.items import Items
from bai_gym.live.journal import is_journal
from bai_gym.live.overview import Overview
from bai_gym.problems import ProblemInfo
from bai_gym.rewards import REAL, Rewards
from bai_gym.statistics import FloatArray, Statistics
from bai_gym.validation import integer, members

__all__ = ["Experiment", "check_arms", "check_knowledge", "check_matrix", "check_names", "kind_of"]

_FROM_PARAMETERS = frozenset({"prior"})  # knowledge that the agent has from its parameters, which users provide

_MOST_ARMS = 1_000_000  # their names alone take 100 MB

_PARAMETERS = {
    "complexity": "a",
    "range": "b",
    "variances": "noise_variance",
}  # agent parameters that replace that knowledge


@dataclass(frozen=True)
class Experiment:
    """The arguments of a study, checked.

    Attributes:
        names: Names of the arms.
        source: Source of the agent.
        seed: Seed of the agent and of the order of the items.
        rewards: Kind of rewards.
        features: ``(1, K, d)``, or None.
        earlier: ``(1, K)`` statistics of earlier results, or None.
        items: The items, or None.
        funds: The budget.
        guardrails: Limits of what a pull measures beside the reward; None: that is all.
        added: How many arms were added since the study began.

    Raises:
        ParameterError: If there are both items and earlier results.
        AgentError: If the agent cannot start from earlier results.
    """

    names: tuple[str, ...]
    source: AgentSource
    seed: int
    rewards: Rewards
    features: FloatArray | None
    earlier: Statistics | None
    items: Items | None
    funds: Funds
    guardrails: Any = None
    added: int = 0

    def __post_init__(self) -> None:
        """Check what belongs together."""
        check_names(self.answers)
        if self.guardrails and (self.rewards != REAL or self.earlier is not None):
            raise ParameterError("rewards= and earlier= are for studies without guardrails: leave the one or other out")
        if self.items is not None and self.earlier is not None:
            raise ParameterError("earlier results were not played on items: give items or earlier, not both")
        if self.earlier is not None and not Traits.of(self.source.prototype).starts_from_earlier:
            raise AgentError(
                f"{self.agent} cannot start from earlier results: it decides by the pulls of its phases; take an agent "
                "that decides by all statistics, such as TTTS, UCB1, OCBA or LUCB"
            )

    @property
    def answers(self) -> tuple[str, ...]:
        """What can be recommended: an arm, with guardrails also none."""
        return (*self.names, NONE) if self.guardrails else self.names

    @property
    def agent(self) -> str:
        """Name of the agent, with its parameters."""
        return describe(self.source.prototype)

    def facts(self, *, kept: bool) -> dict[str, Any]:
        """Return what identifies the experiment, as JSON values.

        Args:
            kept: Whether another process may read them, which has to recognise the items.

        Raises:
            ParameterError: If it could not.
        """
        earlier, costs = self.earlier, self.funds.costs
        return {
            "agent": self.agent,
            "arms": list(self.names),
            "budget": self.funds.total,
            "seed": self.seed,
            "features": _digest(self.features),
            "costs": None if costs is None else costs.tolist(),
            "earlier": earlier and [values[0].tolist() for values in (earlier.pulls, earlier.means, earlier.variances)],
            "rewards": str(self.rewards),
            "items": None if self.items is None or not kept else [len(self.items), self.items.digest()],
            "guardrails": self.guardrails and self.guardrails.facts,
        }

    def with_arm(self, name: str, earlier: Statistics, left: int) -> Experiment:
        """Return the experiment that goes on with one more arm.

        Args:
            name: Name of the arm.
            earlier: ``(1, K)`` statistics of the rewards so far.
            left: Pulls that are left.

        Raises:
            ParameterError: If it has costs, items or features, or the name is no other name.
            AgentError: If the agent cannot start from earlier results.
        """
        if (
            self.funds.costs is not None
            or self.items is not None
            or self.features is not None
            or self.guardrails is not None
        ):
            raise ParameterError(
                "no arm can be added to a study with costs, items or features, or with guardrails: start another study"
            )
        names = check_names((*self.names, name))
        both = widened(earlier, len(names))
        funds = Funds(left, left, None, priced=False, most=left)
        return replace(self, names=names, earlier=both, funds=funds, added=self.added + 1)

    def player(self) -> Any:
        """Return the agent, at its beginning."""
        player = self.source.make()
        declared = check_knowledge(suited(player, self.rewards))
        budget, costs = self.funds.planned
        task = self.guardrails and self.guardrails.task
        info = ProblemInfo(len(self.names), budget, task=task, knows=declared, costs=costs)
        info.features = self.features
        info.rewards = self.rewards
        if self.items is not None:
            info.paired, info.num_items = True, len(self.items)
        reset(player, info, generator(self.seed, "agent", *([self.added] if self.added else [])))
        return player

    def notes(
        self, *, stopped: bool, exhausted: int | None, additions: Sequence[tuple[str, int]] = ()
    ) -> tuple[str, ...]:
        """Return what has to be said about the result.

        Args:
            stopped: Whether the budget or the items have ended the study, and not the agent.
            exhausted: The arm that the agent asked for when it had been played on all items, or None.
            additions: Names of the arms that were added, and after how many pulls.
        """
        player = suited(self.source.make(), self.rewards)
        said: list[str] = []
        for name, pulls in additions:
            promise = ", and its error probability is at most delta for each start" if _stops(player) else ""
            said.append(
                f"arm {name} was added after {pulls} pulls: {self.agent} started again from the rewards so far, as "
                f"from earlier results{promise}; the intervals at all times hold together for looks since then"
            )
        if exhausted is not None:
            said.append(
                f"{self.agent} asked for arm {self.names[exhausted]} once more than there are items, which ended the "
                "study: more items would use the rest of the budget"
            )
        elif stopped and _stops(player):
            said.append(f"{self.agent} was stopped by the budget of {self.funds}: its confidence was not reached")
        prior = (f"{self.agent} uses a prior, given by its parameters",) if knowledge(player) & _FROM_PARAMETERS else ()
        known: Any = _UnknownArms(self.rewards, len(self.names), None if self.items is None else len(self.items))
        return (*said, *notes(player), *unmet_assumptions(player, known), *prior)


@dataclass(frozen=True)
class _UnknownArms:
    """What guarantees of agents depend on, as of a :class:`bai_gym.bandits.Bandit`, where the means are unknown."""

    rewards: Rewards
    num_arms: int
    num_items: int | None

    @property
    def means(self) -> FloatArray:
        return np.full((1, self.num_arms), np.nan)

    @property
    def paired(self) -> bool:
        return self.num_items is not None

    def limits(self) -> tuple[float, float]:
        return self.rewards.low, self.rewards.high

    def scale(self) -> float:
        return self.rewards.width / 2.0


def kind_of(rewards: Rewards | str | None, earlier: Any, arm_column: str, reward_column: str) -> Rewards:
    """Return the kind of rewards; None: that which earlier results show, real without any.

    Raises:
        ParameterError: If there is no such kind.
        DataError: If the results cannot be read.
    """
    if rewards is not None:
        return Rewards.of(rewards)
    if earlier is None:
        return REAL
    study = _study_of(earlier)
    if study is not None:
        return study.rewards
    return Rewards.read(read_table(earlier, arm_column=arm_column, reward_column=reward_column).rewards)


def check_names(arms: int | Iterable[str] | None) -> tuple[str, ...]:
    """Return the names of K arms; those of a number K are ``"0"`` to ``"K-1"``.

    Raises:
        ParameterError: If they are not at least two different texts.
    """
    if isinstance(arms, int | np.integer):
        return tuple(map(str, range(integer(arms, "arms", least=2, most=_MOST_ARMS))))
    names = members(arms)
    if names is None:
        raise ParameterError(f"arms must be the names of at least two arms, or their number, not {arms!r}")
    wrong = [name for name in names if not isinstance(name, str) or not name.strip() or not _encodable(name)]
    if wrong:
        raise ParameterError(f"the name of an arm must be text that is not empty, not {wrong[0]!r}")
    if len(names) < 2:
        raise ParameterError(f"arms must name at least two arms, not {len(names)}")
    if len(set(names)) < len(names):
        twice, _ = Counter(names).most_common(1)[0]
        raise ParameterError(f"arms names arm {twice!r} twice; each arm may be listed once")
    return names


def check_arms(
    arms: int | Iterable[str] | None, earlier: Any, arm_column: str, reward_column: str, kind: Rewards
) -> tuple[tuple[str, ...], Statistics | None]:
    """Return the names of the arms, and ``(1, K)`` statistics of earlier results.

    Raises:
        ParameterError: If the names are not at least two different ones.
        DataError: If the results are of other arms, or not of the kind.
    """
    found = None if earlier is None else _earlier(earlier, arm_column, reward_column, kind)
    if arms is None and found is None:
        raise ParameterError("arms is missing: give the names of the arms, or their number")
    if arms is None and found is not None:
        arms = found[0]
    names = check_names(arms)
    if found is None:
        return names, None
    places = {name: place for place, name in enumerate(names)}
    statistics = Statistics.zeros((1, len(names)))
    for number, name in enumerate(found[0]):
        if name not in places:
            raise DataError(f"the earlier results have arm {name!r}, which is not among the arms: leave out its rows")
        for part in ("pulls", "means", "variances"):
            getattr(statistics, part)[0, places[name]] = getattr(found[1], part)[0, number]
    return names, statistics


def _earlier(earlier: Any, arm_column: str, reward_column: str, kind: Rewards) -> tuple[tuple[str, ...], Statistics]:
    """Return the names of the arms of earlier results, and ``(1, K)`` statistics of these."""
    study = _study_of(earlier)
    if study is not None:
        arms, rewards = (np.array([getattr(pull, name) for pull in study.log]) for name in ("arm", "reward"))
        refusal = kind.refusal(rewards)
        if refusal is not None:
            raise DataError(f"{earlier}: {refusal}")
        return study.names, statistics_of(arms, rewards, len(study.names), study.earlier)
    samples = read_table(earlier, arm_column=arm_column, reward_column=reward_column, rewards=kind)
    arms = np.repeat(np.arange(len(samples.names)), np.diff(samples.offsets))
    return tuple(samples.names), statistics_of(arms, samples.rewards, len(samples.names), None)


def _study_of(earlier: Any) -> Overview | None:
    """Return the study whose journal or address is given; None for a table."""
    is_log = is_journal(earlier) or (isinstance(earlier, str) and "://" in earlier)
    return Overview.of(earlier) if is_log else None


def _stops(player: Any) -> bool:
    """Whether the agent ends the study when it is confident."""
    return bool(getattr(player, "stops", False))


def _encodable(text: str) -> bool:
    """Whether a file can hold the text: it has no half of a surrogate pair."""
    return text == text.encode(errors="replace").decode()


def check_knowledge(agent: Any) -> frozenset[str]:
    """Return the oracle knowledge that the agent's parameters provide.

    Raises:
        AgentError: If it requires more.
    """
    wanted = knowledge(agent)
    secret = sorted(wanted - _FROM_PARAMETERS)
    if secret:
        ways = [
            name
            for word, name in _PARAMETERS.items()
            if word in secret and getattr(agent, name, False) in (None, "oracle")
        ]
        way = f"give it {' and '.join(f'{name}=...' for name in ways)}, or take" if len(ways) == len(secret) else "take"
        raise AgentError(
            f"{describe(agent)} requires oracle knowledge, unknown in a real experiment: {', '.join(secret)}; {way} an "
            "agent that requires none, such as SR, SH or A-UGapEb (`bai-gym list agents`)"
        )
    return wanted & _FROM_PARAMETERS


def check_matrix(features: object, num_arms: int) -> FloatArray | None:
    """Return the features as ``(1, K, d)``, read-only.

    Raises:
        InstanceError: If they are not finite numbers of that shape.
    """
    if features is None:
        return None
    matrices = check_features(features, num_arms)
    if len(matrices) != 1:
        raise InstanceError("features are given for several instances, and there is one: give them as shape (K, d)")
    return matrices


def _digest(values: FloatArray | None) -> str | None:
    return None if values is None else hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()[:16]
