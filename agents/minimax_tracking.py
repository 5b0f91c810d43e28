"""R^go tracking: the pulls follow shares that a network has learned, for the largest error exponent in the worst case.

The shares are a function of the sample means alone. Training is in :mod:`bai_gym.training.minimax`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from bai_gym.agents.learned.network import Shapes, Weights, load_weights, short_label
from bai_gym.agents.scanning import arm_of_largest
from bai_gym.agents.sequential import SequentialAgent
from bai_gym.bandits import Bandit
from bai_gym.errors import AgentError
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Episode, Rule, rare, section
from bai_gym.statistics import FloatArray
from bai_gym.validation import integer

__all__ = ["FORMAT", "RgoTracking"]

SHIPPED = Path(__file__).parent / "learned" / "minimax-3.npz"
FORMAT = "bai-gym minimax network 1"
SHAPES: Shapes = {
    "encoder.weight": ("width", "arms"),
    "encoder.bias": ("width",),
    "blocks.weight": ("blocks", "width", "width"),
    "blocks.bias": ("blocks", "width"),
    "out.weight": ("arms", "width"),
    "out.bias": ("arms",),
}

# Parameters: the tie rule, pulls until the shares are computed again, the sizes of the network, and its layers, each
# with the weights before the biases.
FIRST, EVERY, WIDTH, BLOCKS, LAYERS = range(5)
# Memory: the pulls at which the shares are due; then rows of K numbers, and the values of two layers.
DUE, ROWS = range(2)
SHARES, ORDER, SORTED, SCORES, ROW_COUNT = range(5)


def row(e: Episode, number: int) -> FloatArray:
    """Return a row of the memory."""
    return section(e.memory, ROWS + number * e.pulls.size, e.pulls.size)


def dense(p: FloatArray, at: int, inputs: FloatArray, outputs: FloatArray) -> int:
    """Write the outputs of a layer whose numbers begin at ``at``, and return where they end."""
    biases = at + outputs.size * inputs.size
    for i in range(outputs.size):
        value = p[biases + i]
        for j in range(inputs.size):
            value += p[at + i * inputs.size + j] * inputs[j]
        outputs[i] = value
    return biases + outputs.size


def sort_arms(e: Episode, order: FloatArray, ordered: FloatArray) -> None:
    """Write the arms in the order of falling means, and their means, kept in [0, 1]."""
    for arm in range(order.size):
        place = arm
        mean = min(max(e.mean[arm], 0.0), 1.0)
        while place > 0 and ordered[place - 1] < mean:
            ordered[place], order[place] = ordered[place - 1], order[place - 1]
            place -= 1
        ordered[place], order[place] = mean, arm


@rare
def find_shares(e: Episode) -> None:
    """Compute the shares r(m_1, ..., m_K) of the arms; those of arms with the same mean are averaged."""
    p, arms, width = e.parameters, e.pulls.size, int(e.parameters[WIDTH])
    order, ordered, out = row(e, ORDER), row(e, SORTED), row(e, SCORES)
    hidden = section(e.memory, ROWS + ROW_COUNT * arms, width)
    change = section(e.memory, ROWS + ROW_COUNT * arms + width, width)
    sort_arms(e, order, ordered)
    at = dense(p, LAYERS, ordered, hidden)
    for i in range(width):
        hidden[i] = max(hidden[i], 0.0)
    for _ in range(int(p[BLOCKS])):
        at = dense(p, at, hidden, change)
        for i in range(width):
            hidden[i] = max(hidden[i] + change[i], 0.0)
    dense(p, at, hidden, out)
    most, total = -np.inf, 0.0
    for place in range(arms):
        most = max(most, out[place])
    for place in range(arms):
        out[place] = math.exp(out[place] - most)
        total += out[place]
    shares, start = row(e, SHARES), 0
    while start < arms:
        end, together = start, 0.0
        while end < arms and ordered[end] == ordered[start]:
            together += out[end]
            end += 1
        for place in range(start, end):
            shares[int(order[place])] = together / (total * (end - start))
        start = end


def track(e: Episode, rng: np.random.Generator) -> int:
    """Return the arm that lies furthest behind its share of the pulls."""
    shares, scores = row(e, SHARES), row(e, SCORES)
    if e.made >= e.memory[DUE]:
        find_shares(e)
        e.memory[DUE] = e.made + e.parameters[EVERY]
    for arm in range(scores.size):
        scores[arm] = e.made * shares[arm] - e.pulls[arm]
    return arm_of_largest(scores, e.pulls, e.parameters[FIRST], rng)


@dataclass(kw_only=True)
class RgoTracking(SequentialAgent):
    """R^go tracking: pulls the arm of largest t r_i(m) - N_i, with shares r(m) that a network computes from the means.

    The shares maximise, in the worst case over true means P and sample means Q with another best arm, the exponent
    H(P) sum_i r_i(Q) kl(Q_i, P_i) of the error probability, relative to the complexity H(P), the sum of 1 / gap^2 over
    the suboptimal arms. It recommends the arm of largest mean.

    Paper: Komiyama, Tsuchiya and Honda (2022), "Minimax Optimal Algorithms for Fixed-Budget Best Arm Identification";
    network and loss as in the authors' code. The rate R^go of the best shares is an upper limit of what algorithms
    can attain in the worst case; neither tracking nor the network comes with a guarantee. Differences: the network
    sees the means in falling order, tied arms share their pulls equally, and the weights are our own.

    Args:
        every: The shares are computed again after so many pulls, at least 1. Default 1; the authors also have 100.
        path: A file of weights that :func:`bai_gym.training.minimax.train_minimax` has written. None (default): the
            weights shipped with the library, which are for three arms.

    Raises:
        ParameterError: If there is no such file, or ``every`` is below 1.
        DataError: If the file holds no weights of this agent.
        AgentError: If the weights are for another number of arms.

    Requires no oracle knowledge; rewards should be in [0, 1]. Minimum budget: K.
    """

    every: int = 1
    path: str | Path | None = None

    name: ClassVar[str] = "R-go-Tracking"
    uses_variances: ClassVar[bool] = False
    rule: ClassVar[Rule] = Rule(choose=track)

    def __post_init__(self) -> None:
        """Read the weights."""
        self._weights, self._facts = _shipped() if self.path is None else load_weights(Path(self.path), FORMAT, SHAPES)

    @property
    def label(self) -> str:
        """The name and what was changed; of a path the file's name, or its folder's where that is ``weights.npz``."""
        return short_label(super().label, self.path)

    @property
    def trained_on(self) -> Mapping[str, Any]:
        """Provenance of the weights: recipe, versions."""
        return self._facts

    @property
    def memory(self) -> int:  # type: ignore[override]
        """A number, rows of numbers of all arms, and two layers."""
        return ROWS + ROW_COUNT * self.num_arms + 2 * self._weights["encoder.bias"].size

    def begin(self, info: ProblemInfo) -> None:
        """Check the parameters, and set those of the rule."""
        every = integer(self.every, f"every of {self.name}", least=1)
        w = self._weights
        if info.num_arms != w["out.bias"].size:
            raise AgentError(
                f"{self.name} has weights for {w['out.bias'].size} arms, and there are {info.num_arms}: train others "
                "with bai_gym.training.minimax.train_minimax, and give path="
            )
        blocks = zip(w["blocks.weight"], w["blocks.bias"], strict=True)
        layers = [w["encoder.weight"], w["encoder.bias"], *(part for block in blocks for part in block)]
        layers += [w["out.weight"], w["out.bias"]]
        sizes = [float(self.tie == "first"), float(every), float(w["encoder.bias"].size), float(len(w["blocks.bias"]))]
        numbers = np.concatenate([np.array(sizes), *(part.ravel() for part in layers)])
        self.parameters = np.tile(numbers, (self.batch, 1))

    def doubts(self, bandit: Bandit) -> tuple[str, ...]:
        """Return a note if rewards may lie outside the range that the network was trained for."""
        low, high = bandit.limits()
        if low >= 0.0 and high <= 1.0:
            return ()
        kind = "unbounded" if np.isinf(high - low) else f"in [{low:.4g}, {high:.4g}]"
        return (f"{self.name}: its network was trained for rewards in [0, 1], and these are {kind}",)


@lru_cache(maxsize=1)
def _shipped() -> tuple[Weights, dict[str, Any]]:
    return load_weights(SHIPPED, FORMAT, SHAPES)
