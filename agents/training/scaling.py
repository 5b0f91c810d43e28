"""Observations fit for networks: the features of :mod:`bai_gym.agents.training.features` as one flat, bounded vector.

``observation="scaled"`` of an environment shows eight features of each arm, the order of the arms, five features of the
episode, and then what else its statistics hold (features, costs, pending pulls), scaled to [-1, 1].
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from typing_extensions import override

from bai_gym.agents.training.features import FARTHEST, SMALLEST, features
from bai_gym.agents.training.features import Rewards as Kind
from bai_gym.envs.late import pending_space
from bai_gym.envs.spaces import observation_space
from bai_gym.problems import ProblemInfo
from bai_gym.rewards import Rewards
from bai_gym.sampling.compiler import can_compile, compile_loops
from bai_gym.tasks import Task

__all__ = ["Scaling"]

STATISTICS = ("pulls", "means", "variances", "remaining")
TABLE = 65_536  # counts whose logarithm is looked up
NOISIEST = math.log(1e3)  # of the noise of an arm, relative to all
LOG2 = math.log(2.0)
MARGIN = 1.0 + 1e-6  # of the bounds, for rounding to float32


class Scaling:
    """How the statistics of an environment become vectors.

    Args:
        space: Of one episode's statistics.
        rewards: The kind of the rewards: where they are 0 and 1, means are seen where they lie in [0, 1]; else relative
            to each other, in units of the noise.
        task: What is to be recommended.

    Attributes:
        num_arms: K.
        space: Of one episode's vectors, ``(D,)`` float32: arm by arm the features of :class:`Features`, then the order,
            then those of the episode, then the other parts of the statistics.
    """

    def __init__(self, space: spaces.Dict, rewards: Rewards, task: Task) -> None:
        """Compute the bounds."""
        self.kind: Kind = "binary" if rewards.kind == "binary" else "any"
        self.task = task
        pulls: Any = space["pulls"]
        self.num_arms = k = pulls.shape[0]
        most = float(pulls.high.max())
        made = most * (k if most < TABLE else 1)  # arms that begin with pulls may have as many each
        self._others: dict[str, Any] = {name: part for name, part in space.spaces.items() if name not in STATISTICS}
        arm = [math.log(made + k), math.log(made + 1.0) / 4.0, *[FARTHEST] * 3, FARTHEST / 2.0, NOISIEST, 1.0]
        state = [1.0, 1.0, *[math.log(made + 1.0) / 3.0] * 2, math.log(k) / 3.0]
        self._start = k * (len(arm) + 1) + len(state)
        high = np.ones(self._start + sum(math.prod(part.shape) for part in self._others.values()), np.float32)
        high[: self._start] = np.array([*arm * k, *[1.0] * k, *state]) * MARGIN
        self.space = spaces.Box(-high, high, dtype=np.float32)
        counts = np.arange(1.0, min(made, TABLE) + k + 3.0)
        self._tables = np.stack([np.log(counts), 1.0 / counts])
        self._room = np.empty((2, k))
        threshold = float(getattr(task, "threshold", np.nan))
        self._question = (self.kind == "binary", task.m, task.num_bandits, threshold)
        self._run: Callable[..., None] | None = None

    @classmethod
    def of(cls, info: ProblemInfo) -> Scaling:
        """Return that of the observations that an agent with this information receives."""
        task, rewards = info.task, info.rewards
        space = observation_space(info.num_arms, info.funds, info.num_features, task=task, rewards=rewards)
        if info.rounds.late:
            space["pending"] = pending_space(info.num_arms, info)
        return cls(space, rewards, task)

    @override
    def __getstate__(self) -> dict[str, Any]:
        """Leave out the compiled loop."""
        return {**self.__dict__, "_run": None}

    def __call__(self, observation: Mapping[str, npt.NDArray[Any]], out: npt.NDArray[np.float32] | None = None) -> Any:
        """Return the ``(N, D)`` vectors of N observations, written into ``out`` if it is given."""
        pulls = np.ascontiguousarray(observation["pulls"], np.int64)
        means, variances = (np.ascontiguousarray(observation[name], np.float64) for name in STATISTICS[1:3])
        left = self._left(observation, np).astype(np.float64)
        out = np.empty((len(pulls), *self.space.shape), np.float32) if out is None else out
        arguments = (pulls, means, variances, left, self._tables, self._room, *self._question, out)
        if self._run is None:
            loops = compile_loops(LOOP, {"write": write}, "scaled observations", plain=not can_compile())
            self._run = loops.ready("run", *arguments)
        self._run(*arguments)
        if self._others:
            out[:, self._start :] = np.concatenate(self._rest(observation, np), axis=1)
        return out

    def flat(self, observation: Mapping[str, Any], xp: Any) -> Any:
        """Return the same as floats of the observation's type, without the loop; ``xp`` is ``numpy`` or ``torch``."""
        seen = features({**observation, "remaining": self._left(observation, xp)}, self.kind, xp, self.task)
        arms = seen.arms.reshape(len(seen.order), -1)
        return xp.concatenate((arms, seen.order, seen.state, *self._rest(observation, xp)), axis=1)

    def _left(self, observation: Mapping[str, Any], xp: Any) -> Any:
        """Return ``(N, 1)`` the pulls that are left, at most: those of the cheapest arm where arms have costs."""
        remaining, costs = observation["remaining"], observation.get("costs")
        return remaining if costs is None else remaining / xp.amin(costs, axis=-1, keepdims=True)

    def _rest(self, observation: Mapping[str, Any], xp: Any) -> list[Any]:
        """Return the other parts, each ``(N, n)`` and divided by its bound, or else by its largest number."""
        parts = []
        for name, space in self._others.items():
            values = observation[name].reshape(len(observation["pulls"]), -1)
            most = float(space.high.max())
            largest = most if math.isfinite(most) else xp.amax(abs(values), axis=-1, keepdims=True)
            parts.append(values / (largest + SMALLEST))
        return parts


LOOP = """
@compiled
def run(pulls, means, variances, left, tables, room, binary, m, bandits, threshold, out):
    for row in range(pulls.shape[0]):
        write(row, pulls, means, variances, left, tables, room, binary, m, bandits, threshold, out)
"""


def log_of(count: int, tables: Any) -> Any:
    """Return log(count + 1)."""
    return tables[0, count] if count < tables.shape[1] else math.log(count + 1.0)


def part_of(count: int, tables: Any) -> Any:
    """Return 1 / (count + 1)."""
    return tables[1, count] if count < tables.shape[1] else 1.0 / (count + 1.0)


def border(row: int, mean: Any, pulls: Any, first: int, last: int, m: int) -> Any:
    """Return the m-th largest mean of pulled arms among those from ``first`` on; -inf if there is none."""
    best, above = np.inf, 0
    while above < m and best > -np.inf:
        largest, equal = -np.inf, 0
        for i in range(first, last):
            if pulls[row, i] > 0 and mean[i] < best and mean[i] >= largest:
                equal = equal + 1 if mean[i] == largest else 1
                largest = mean[i]
        best, above = largest, above + equal
    return best


def write(
    row: int,
    pulls: Any,
    means: Any,
    variances: Any,
    left: Any,
    tables: Any,
    room: Any,
    binary: bool,
    m: int,
    bandits: int,
    threshold: float,
    out: Any,
) -> None:
    """Write the features of one observation, see :func:`bai_gym.agents.training.features.features`."""
    k, total, remaining = pulls.shape[1], 0, left[row, 0]
    free = math.isnan(threshold)
    centre, scale, pooled = 0.5, 0.5, 0.0
    for i in range(k):
        total += pulls[row, i]
    if not binary:
        pulled, degrees, apart, centre = 0, 0, 0.0, 0.0
        for i in range(k):
            if pulls[row, i] > 0:
                pulled += 1
                degrees += pulls[row, i] - 1
                centre += means[row, i]
                pooled += (pulls[row, i] - 1.0) * variances[row, i]
        centre /= max(pulled, 1)
        pooled /= max(degrees, 1)
        scale = math.sqrt(pooled)
        if scale <= SMALLEST:
            for i in range(k):
                if pulls[row, i] > 0:
                    apart += (means[row, i] - centre) * (means[row, i] - centre)
            scale = math.sqrt(apart / k)
        scale += SMALLEST
    centre = centre if free else threshold
    unit = 1.0 / scale
    for i in range(k):
        n = pulls[row, i]
        if binary:
            mean = (n * means[row, i] + 1.0) * part_of(n + 1, tables)
            noise = mean * (1.0 - mean)
            square = noise * part_of(n + 2, tables)
            right = int(n * means[row, i] + 0.5)
            ratio = 0.5 * (log_of(right, tables) + log_of(n - right, tables)) - log_of(n + 1, tables) + LOG2
        else:
            mean, degree = (means[row, i], n - 1.0) if n > 0 else (centre, 0.0)
            noise = (degree * variances[row, i] + 2.0 * pooled) * part_of(max(n, 1), tables)
            square = noise * part_of(max(n - 1, 0), tables)
            ratio = 0.5 * math.log(np.float32(max(noise * unit * unit, 1e-6)))
        room[0, i], room[1, i] = mean, square
        out[row, 8 * i + 6] = min(max(ratio, -NOISIEST), NOISIEST)
    widest, size = 0.0, k // bandits
    number = log_of(k - 1, tables)
    base = number - log_of(total + k - 1, tables)
    for first in range(0, k, size):
        best = border(row, room[0], pulls, first, first + size, m) if free else threshold
        best = best if best > -np.inf else centre
        for i in range(first, first + size):
            gap = (best - room[0, i]) * unit
            out[row, 8 * i + 3] = min(max(gap, -FARTHEST), FARTHEST)
            out[row, 8 * i + 7] = gap <= 0.0
            if gap <= 0.0 and room[1, i] > widest:
                widest = room[1, i]
            room[0, i], out[row, 8 * i + 2] = gap, min(max((room[0, i] - centre) * unit, -FARTHEST), FARTHEST)
    for i in range(k):
        n, gap, square = pulls[row, i], room[0, i], room[1, i]
        error = math.sqrt(np.float32(square)) * unit
        out[row, 8 * i] = base + log_of(n, tables)
        out[row, 8 * i + 1] = log_of(max(n - 1, 0), tables) / 4.0
        out[row, 8 * i + 4] = min(error, FARTHEST)
        if free and gap > 0.0:
            error = math.sqrt(np.float32(square + widest)) * unit
        out[row, 8 * i + 5] = min(max(gap / (error + SMALLEST * unit), -FARTHEST), FARTHEST) / 2.0
        out[row, 8 * k + i] = 0.0 if n > 0 else (-1.0 if remaining < 1.0 else 1.0)
    out[row, 9 * k] = remaining / (remaining + total)
    out[row, 9 * k + 1] = remaining < 1.0
    out[row, 9 * k + 2] = -base / 3.0
    out[row, 9 * k + 3] = (math.log(remaining + k) - number) / 3.0
    out[row, 9 * k + 4] = number / 3.0
