"""The universal agent: trained networks that play any number of arms with any budget, in about twenty stages."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from typing_extensions import override

from bai_gym.agents.base import Agent, Plan
from bai_gym.agents.parameters import Count
from bai_gym.agents.sequential import first_block
from bai_gym.agents.tools.choosing import (
    best_recommendation,
    largest_remainders,
    pulls_of_an_arm,
    shuffled_arms,
    whole_counts,
)
from bai_gym.agents.training.contenders import (
    ARM_FEATURES,
    STATE_FEATURES,
    WEIGHT,
    View,
    estimates,
    rivals,
    view,
)
from bai_gym.agents.training.features import REWARDS
from bai_gym.agents.training.network import Shapes, load_weights, relu, short_label
from bai_gym.problems import ProblemInfo
from bai_gym.rewards import BINARY
from bai_gym.sampling import Block
from bai_gym.statistics import FloatArray, IntArray, Observation, Statistics
from bai_gym.tasks import Task

__all__ = ["FLOOR", "FORMAT", "SHAPES", "Networks", "Universal", "outputs", "stage_sizes"]

SHIPPED = Path(__file__).parent / "universal.npz"
FORMAT = "bai-gym universal networks 3"
FLOOR = 0.005  # share of a stage that is spread over all arms
WARM_UP = 0.7  # pulls of each arm at the start, over the root of the pulls per arm; at least two
FEW = 2  # pulls of a stage that go to the arms of largest share, not to random ones, where rewards have two values
SAME = 1e-9  # relative difference of equal counts
AT_ONCE = 64  # episodes: their hidden units fit the cache

Networks = Mapping[str, Mapping[str, FloatArray]]
"""Weights of the network for each kind of reward: ``"any"`` and ``"binary"``."""

OF_ONE: Shapes = {
    "arm.weight": ("h", len(ARM_FEATURES)),
    "arm.bias": ("h",),
    "state.weight": ("h", len(STATE_FEATURES)),
    "encoder.weight": ("h", "h"),
    "encoder.bias": ("h",),
    "own.weight": ("h", "h"),
    "own.bias": ("h",),
    "mean.weight": ("h", "h"),
    "max.weight": ("h", "h"),
    "contenders.weight": ("h", "h"),
    "out.weight": (2, "h"),
    "out.bias": (2,),
}
SHAPES: Shapes = {f"{kind}.{name}": shape for kind in REWARDS for name, shape in OF_ONE.items()}


@dataclass(kw_only=True)
class Universal(Agent):
    """Divides the budget into about twenty stages; a trained network allots the pulls of each, and corrects the means.

    It plays every question that states its contrasts, unless these come in groups, and recommends the answer for the
    corrected means. What it sees of a question is with which other arm, or fixed number, each arm is compared.

    There are two networks of the same form: one for rewards 0 and 1, and one for all others. They were trained on a
    broad mixture of instances and questions, which contains no registered environment, see the page of the agent. They
    see features of each arm without a unit, so scale and shift of the rewards do not matter, and pool over all arms, so
    they play any number of them. They do not see costs: where arms have different ones, a stage is a part of the money,
    divided so that pulls have the shares that the network allots. Where several answers may be right, that for the
    sample means is recommended.

    Args:
        stages: Number of stages after the warm-up, at least 1. Default 20; the shipped weights were trained with 6
            to 20.
        cap: ``"budget"`` (default): the budget alone limits the pulls of an arm. ``"items"``: where rewards are those
            of a known number of items, no arm is pulled more often than there are items; its share goes to the others.
        path: A file ``weights.npz`` that ``bai-gym train universal`` has written. None (default): the weights
            shipped with the library.

    Raises:
        ParameterError: If there is no such file, ``stages`` is below 1, or there is no such ``cap``.
        DataError: If the file holds no weights of this agent.
    """

    stages: Count = 20
    cap: str = "budget"
    path: str | Path | None = None

    name = "Universal"
    anytime = True
    uses_costs = True
    general = True

    def __post_init__(self) -> None:
        """Read the weights."""
        self.networks, self._facts = _shipped() if self.path is None else _read(Path(self.path))

    @override
    def begin(self, info: ProblemInfo) -> None:
        """Check the number of stages, and find the most pulls of an arm."""
        self.most = pulls_of_an_arm(self.cap, info, self.name)
        self.kind = "binary" if self.rewards == BINARY else "any"

    @override
    def plays(self, task: Task | type[Task]) -> bool:
        """Return whether the task states its contrasts, each by itself: of groups too little would be seen."""
        return super().plays(task) and not task.grouped

    @property
    @override
    def label(self) -> str:
        """The name and what was changed; of a path the file's name, or its folder's where that is ``weights.npz``."""
        return short_label(super().label, self.path)

    @property
    def trained_on(self) -> Mapping[str, Any]:
        """Provenance of the weights: recipe, steps, versions."""
        return self._facts

    @override
    def plan(self) -> Plan:
        """Pull every arm once, then in stages as the network allots them; where arms have costs, stages of money."""
        budget = self.funds.mean_pulls
        budget = int(min(budget, self.num_arms * self.most))
        yield first_block(self, min(self.num_arms, budget))
        if budget > self.num_arms:
            order = self._order(self.batch)
            left = budget - self.num_arms
            for stage, size in enumerate(stage_sizes(budget, self.num_arms, self.stages).tolist()):
                if size:
                    statistics = self.statistics.take(order)
                    shares = self._shares(statistics, stage, left)
                    room = self.most - statistics.pulls
                    if self.funds.costs is None:
                        counts = self._whole(within_room(size * shares, room), size)
                    else:
                        counts = self._bought(shares, room, self.funds.price(order), size / left)
                    # What is cut to the room exactly may be rounded up in its last digit.
                    yield Block(np.minimum(counts, room).astype(np.int64), order)
                    left -= size
        return self.recommend(self._seen)

    @override
    def recommend(self, observation: Observation) -> IntArray:
        """Return the arms that the network prefers once the budget is spent."""
        statistics = Statistics.of(observation)
        # Corrections are trained where one answer alone is right. Arms without a pull: a budget below the minimum.
        if self.task.exact and statistics.pulls.all():
            order = self._order(len(statistics.pulls))
            _, means = self._outputs(statistics.take(order), 0)
            corrected = np.empty(means.shape)
            np.put_along_axis(corrected, order, means, 1)
            statistics = Statistics(statistics.pulls, corrected, statistics.variances)
        return best_recommendation(statistics, self.task, self.tie, self.rng)

    def _order(self, batch: int) -> IntArray:
        """Return ``(N, K)`` arms shuffled as the task allows: of several equal ones the answer names the first."""
        if self.tie == "first":
            return shuffled_arms(batch, self.num_arms, self.tie, self.rng)
        return self.task.draw_orders(batch, self.num_arms, self.rng)[0]

    def _outputs(self, statistics: Statistics, left: int) -> tuple[FloatArray, FloatArray]:
        remaining = np.full((len(statistics.pulls), 1), float(left))
        return outputs(self.networks[self.kind], self.kind, statistics, remaining, self.task)

    def _shares(self, statistics: Statistics, stage: int, left: int) -> FloatArray:
        """Return the ``(N, K)`` shares of the pulls of a stage."""
        if stage == 0 and self.kind != "binary":  # before two pulls of an arm nothing is known about its variance
            return np.full(statistics.pulls.shape, 1.0 / self.num_arms)
        scores, _ = self._outputs(statistics, left)
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares *= (1.0 - FLOOR) / shares.sum(axis=1, keepdims=True)
        return np.asarray(shares + FLOOR / self.num_arms)

    def _whole(self, wanted: FloatArray, size: int) -> IntArray:
        """Return ``(N, K)`` whole counts of the sum ``size``."""
        if size <= FEW and self.kind == "binary":
            return largest_remainders(wanted, size)
        return whole_counts(wanted, size, self.tie, self.rng)

    def _bought(self, shares: FloatArray, room: FloatArray, costs: FloatArray, part: float) -> IntArray:
        """Return ``(N, K)`` whole counts for about this part of the money left: rounded up while all of it lasts."""
        left = self.left[:, None]
        counts = np.minimum(part * left * shares / (shares * costs).sum(axis=1, keepdims=True), room)
        whole = np.floor(counts)
        more = counts - whole > (0.5 if self.tie == "first" else self.rng.random(counts.shape))
        spent = (whole * costs).sum(axis=1, keepdims=True) + np.cumsum(more * costs, axis=1)
        return np.asarray(whole + (more & (spent <= left)), np.int64)


def within_room(wanted: FloatArray, room: FloatArray | IntArray) -> FloatArray:
    """Return counts of the same sum, at most ``room``: what does not fit goes to the other arms, in proportion.

    Args:
        wanted: ``(N, K)`` positive counts.
        room: ``(N, K)``, at least 0, whose sum is at least that of ``wanted``.
    """
    size = wanted.sum(axis=1, keepdims=True)
    limited = np.minimum(wanted, room)
    while (missing := size - limited.sum(axis=1, keepdims=True)).max() > SAME * size.max():
        free = np.where(limited < room, wanted, 0.0)
        limited = np.minimum(limited + missing * free / np.maximum(free.sum(axis=1, keepdims=True), SAME), room)
    return limited


def stage_sizes(budget: int, num_arms: int, stages: int) -> IntArray:
    """Return the pulls of each stage after one pull of every arm.

    The first stage ends the warm-up: with a budget of at least three pulls per arm, each arm's share of the warm-up is
    0.7 sqrt(budget / K) pulls, rounded down, and at least two. The other stages share the rest equally.

    Args:
        budget: At least K.
        num_arms: K.
        stages: Number of the other stages.

    Returns:
        ``(1 + stages,)`` pulls; 0 for a stage that is left out.
    """
    warm = max(2, int(WARM_UP * math.sqrt(budget / num_arms))) * num_arms if budget >= 3 * num_arms else num_arms
    ends = np.rint(np.linspace(warm, budget, stages + 1)).astype(np.int64)
    return np.diff(ends, prepend=num_arms)


def outputs(
    network: Mapping[str, FloatArray], rewards: str, statistics: Statistics, left: FloatArray, task: Task
) -> tuple[FloatArray, FloatArray]:
    """Return ``(N, K)`` logits of the next pulls, and the corrected means.

    Args:
        network: Weights of the network for these rewards.
        rewards: Their kind, ``"any"`` or ``"binary"``.
        statistics: ``(N, K)``, at least one pull of each arm.
        left: ``(N, 1)`` pulls that are left.
        task: The question.
    """
    pulls = statistics.pulls.astype(np.float64)
    seen = estimates(rewards, statistics, np)
    found = rivals(seen.means, task, np.tile(task.numbers(pulls.shape[1]), (len(pulls), 1)))
    shown = view(pulls, seen, found, left, np)
    parts = (View(*(part[start : start + AT_ONCE] for part in shown)) for start in range(0, len(pulls), AT_ONCE))
    of_pulls, corrected = zip(*(_forward(network, part) for part in parts), strict=True)
    return np.concatenate(of_pulls), np.concatenate(corrected)


def _forward(w: Mapping[str, FloatArray], shown: View) -> tuple[FloatArray, FloatArray]:
    hidden, other = shown.arms @ w["arm.weight"].T, np.empty((*shown.arms.shape[:-1], w["arm.bias"].size))
    hidden += (shown.state @ w["state.weight"].T + w["arm.bias"])[:, None]
    hidden, other = np.matmul(relu(hidden), w["encoder.weight"].T, out=other), hidden  # two large arrays, used by turns
    hidden += w["encoder.bias"]
    relu(hidden)
    weight = shown.arms[..., WEIGHT : WEIGHT + 1]
    among = np.multiply(hidden, weight, out=other).sum(axis=1) / weight.sum(axis=1)
    pooled = hidden.mean(axis=1) @ w["mean.weight"].T + hidden.max(axis=1) @ w["max.weight"].T
    pooled += among @ w["contenders.weight"].T + w["own.bias"]
    own = np.matmul(hidden, w["own.weight"].T, out=other)
    own += pooled[:, None]
    out = relu(own) @ w["out.weight"].T + w["out.bias"]
    return shown.pulls + out[..., 0], shown.means + shown.step * out[..., 1]


def _read(path: Path) -> tuple[Networks, Mapping[str, Any]]:
    weights, facts = load_weights(path, FORMAT, SHAPES)
    return {kind: {name: weights[f"{kind}.{name}"].astype(np.float64) for name in OF_ONE} for kind in REWARDS}, facts


@lru_cache(maxsize=1)
def _shipped() -> tuple[Networks, Mapping[str, Any]]:
    return _read(SHIPPED)
