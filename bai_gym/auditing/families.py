"""Families of instances that an audit searches: near ties, tied rivals, quiet arms, rare rewards, jumps and losses.

A family makes an instance from a few positive numbers, so that a search can also vary the numbers of what it has found.
No family leaves its class of rewards: ``belongs`` checks each instance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bai_gym.auditing.instances import MOST_ITEMS, Instance, share
from bai_gym.errors import BaiGymError

__all__ = ["CLASSES", "NUM_ARMS", "Candidate", "Goal", "belongs", "draw", "families_of"]

NUM_ARMS = (2, 3, 5, 10, 20)
Accepts = Callable[[Instance], bool]
CLASSES = ("bernoulli", "bounded", "subgaussian", "gaussian")
SPREAD = 0.3  # of the logarithm of a number that a search varies
TRIES = 10_000
ROUNDING = 1e-12


@dataclass(frozen=True)
class Goal:
    """What counts as an error, and on which instances.

    Attributes:
        rewards: Class of rewards. ``"bernoulli"``: 0 and 1. ``"bounded"``: in [0, 1]. ``"gaussian"``: Gaussian with
            standard deviations of at most sigma. ``"subgaussian"``: these, and rewards in [0, 2 sigma].
        arms: Smallest and largest number of arms.
        epsilon: Largest gap of a recommendation that is no error.
        sigma: See ``rewards``.
        paired: Whether arms are played on common items.
    """

    rewards: str
    arms: tuple[int, int] = (2, 20)
    epsilon: float = 0.0
    sigma: float = 1.0
    paired: bool = False

    @property
    def bounds(self) -> tuple[float, float]:
        """Interval of rewards that are bounded."""
        return (0.0, 2.0 * self.sigma) if self.rewards == "subgaussian" else (0.0, 1.0)


@dataclass(frozen=True)
class Candidate:
    """An instance with the numbers that it was made of.

    Attributes:
        family: Name of the family.
        numbers: Its numbers, positive.
        num_arms: K.
        place: The best arm.
        instance: The instance.
    """

    family: str
    numbers: tuple[float, ...]
    num_arms: int
    place: int
    instance: Instance

    def varied(self, goal: Goal, rng: np.random.Generator, accepts: Accepts = lambda instance: True) -> Candidate:
        """Return a candidate each number of which is multiplied by exp(N(0, 0.3^2)), within the class."""
        for _ in range(TRIES):
            numbers = np.array(self.numbers) * np.exp(SPREAD * rng.standard_normal(len(self.numbers)))
            candidate = _made(self.family, tuple(numbers.tolist()), self.num_arms, self.place, goal)
            if candidate is not None and accepts(candidate.instance):
                return candidate
        return self


Arms = dict[str, list[float]]
Numbers = tuple[float, ...]


def draw(goal: Goal, rng: np.random.Generator, accepts: Accepts = lambda instance: True) -> Candidate:
    """Draw a candidate of a random family, number of arms and best arm.

    Args:
        goal: The class of instances, and what an error is.
        rng: Source of randomness.
        accepts: Whether a promise is about an instance.

    Raises:
        BaiGymError: If no instance of the class has a gap above epsilon, or none is accepted.
    """
    names = families_of(goal.rewards, paired=goal.paired)
    sizes = [k for k in NUM_ARMS if goal.arms[0] <= k <= goal.arms[1]] or [goal.arms[0]]
    for _ in range(TRIES):
        name = names[int(rng.integers(len(names)))]
        num_arms = sizes[int(rng.integers(len(sizes)))]
        numbers = tuple(float(_log_uniform(low, high, rng)) for low, high in FAMILIES[name][1])
        candidate = _made(name, numbers, num_arms, int(rng.integers(num_arms)), goal)
        if candidate is not None and accepts(candidate.instance):
            return candidate
    raise BaiGymError(
        f"no instance with a gap above epsilon {goal.epsilon:g} was found in the class {goal.rewards!r} about which "
        "anything is promised: try a larger cap, or fewer arms"
    )


def families_of(rewards: str, *, paired: bool = False) -> tuple[str, ...]:
    """Return the names of the families of a class of rewards; of paired arms those of few items."""
    return tuple(
        name for name, (_, _, classes) in FAMILIES.items() if rewards in classes and not (paired and classes is BINARY)
    )


def belongs(instance: Instance, goal: Goal) -> bool:
    """Return whether an instance is in the class, with one best arm whose gap is above epsilon."""
    if instance.gap <= max(goal.epsilon, ROUNDING):
        return False
    if instance.is_gaussian:
        inside = goal.rewards in ("gaussian", "subgaussian")
        return inside and bool(0.0 < min(instance.deviation) and max(instance.deviation) <= goal.sigma)
    if goal.rewards == "gaussian" or (goal.rewards == "bernoulli" and not instance.is_bernoulli):
        return False
    low, high = goal.bounds
    if goal.paired and instance.num_items > MOST_ITEMS:
        return False
    inside = low <= min(instance.low) and max(instance.high) <= high
    ordered = all(a <= b for a, b in zip(instance.low, instance.high, strict=True))
    return inside and ordered and 0.0 <= min(instance.p) and max(instance.p) <= 1.0


def _made(family: str, numbers: Numbers, num_arms: int, place: int, goal: Goal) -> Candidate | None:
    """Return the candidate; None where it would leave the class."""
    arms = FAMILIES[family][0](numbers, goal.epsilon)
    if arms is None:
        return None
    scale = goal.sigma if "centre" in arms else goal.bounds[1]
    parts = {
        name: _placed([value * (1.0 if name == "p" else scale) for value in values], num_arms, place)
        for name, values in arms.items()
    }
    instance = Instance(**parts, bounds=goal.bounds, paired=goal.paired)
    right = belongs(instance, goal) and instance.best == place
    return Candidate(family, numbers, num_arms, place, instance) if right else None


def _placed(values: list[float], num_arms: int, place: int) -> tuple[float, ...]:
    """Return the values of all arms from those of the best arm, one rival, and the rest."""
    best, rival, rest = values
    means = [rest] * num_arms
    means[place] = best
    means[(place + 1) % num_arms] = rival
    return tuple(means)


def _log_uniform(low: float, high: float, rng: np.random.Generator) -> float:
    return float(low * (high / low) ** rng.random())


# Each function returns low, high and p, or centre and deviation, of the best arm, of one rival, and of all others: in
# [0, 1], or in units of sigma. Gaps are epsilon and a number from 1e-4 to 0.1 more.


def _tie(x: Numbers, epsilon: float) -> Arms:
    mean, gap = x
    return {"low": [0.0] * 3, "high": [1.0] * 3, "p": [mean, mean - epsilon - gap, 0.5 * mean]}


def _tied(x: Numbers, epsilon: float) -> Arms:
    mean, gap = x
    return {"low": [0.0] * 3, "high": [1.0] * 3, "p": [mean, *[mean - epsilon - gap] * 2]}


def _rare(x: Numbers, epsilon: float) -> Arms:
    p, gap = x
    return {"low": [0.0] * 3, "high": [1.0] * 3, "p": [p, *[p * (1.0 - gap) - epsilon] * 2]}


def _jump(x: Numbers, epsilon: float) -> Arms | None:
    """The best arm is mostly a little below its constant rivals, and at times far above."""
    constant, high, p, gap = x
    p = share(p)
    low = (constant + epsilon + gap - p * high) / (1.0 - p)
    if not low <= high:
        return None
    return {"low": [low, constant, constant], "high": [high, constant, constant], "p": [p, 0.0, 0.0]}


def _loss(x: Numbers, epsilon: float) -> Arms | None:
    """The rivals are mostly a little above the constant best arm, and at times far below."""
    constant, drop, p, gap = x
    p = share(p)
    low = constant * min(drop, 1.0)
    high = (constant - epsilon - gap - p * low) / (1.0 - p)
    if not low <= high:
        return None
    return {"low": [constant, low, low], "high": [constant, high, high], "p": [1.0, 1.0 - p, 1.0 - p]}


def _two_point(x: Numbers, epsilon: float) -> Arms | None:
    """All arms have two rewards."""
    low, width, p, best_width, best_p, gap = x
    p, best_p = share(p), share(best_p)
    best_low = low + p * width + epsilon + gap - best_p * best_width
    return {
        "low": [best_low, low, low],
        "high": [best_low + best_width, low + width, low + width],
        "p": [best_p, p, p],
    }


def _quiet(best: float, rival: float, gap: float) -> Arms:
    """Rewards are a mean plus or minus a standard deviation."""
    return {
        "low": [0.5 - best, 0.5 - gap - rival, 0.5 - gap - rival],
        "high": [0.5 + best, 0.5 - gap + rival, 0.5 - gap + rival],
        "p": [0.5] * 3,
    }


def _quiet_best(x: Numbers, epsilon: float) -> Arms:
    ratio, gap = x
    return _quiet(0.4 * ratio, 0.4, epsilon + gap)


def _quiet_rivals(x: Numbers, epsilon: float) -> Arms:
    ratio, gap = x
    return _quiet(0.4, 0.4 * ratio, epsilon + gap)


def _gaussian_tie(x: Numbers, epsilon: float) -> Arms:
    scale = min(x[0], 1.0)
    return {"centre": [0.0, -epsilon - scale * x[1], -epsilon - scale], "deviation": [scale] * 3}


def _gaussian_tied(x: Numbers, epsilon: float) -> Arms:
    scale = min(x[0], 1.0)
    return {"centre": [0.0, *[-epsilon - scale * x[1]] * 2], "deviation": [scale] * 3}


def _gaussian_quiet_best(x: Numbers, epsilon: float) -> Arms:
    return {"centre": [0.0, *[-epsilon - x[1]] * 2], "deviation": [min(x[0], 1.0), 1.0, 1.0]}


def _gaussian_quiet_rivals(x: Numbers, epsilon: float) -> Arms:
    return {"centre": [0.0, *[-epsilon - x[1]] * 2], "deviation": [1.0, min(x[0], 1.0), min(x[0], 1.0)]}


GAP, RARE = (1e-4, 1e-1), (1e-3, 1.0)
BINARY, UNIT, NORMAL = ("bernoulli", "bounded"), ("bounded", "subgaussian"), ("gaussian", "subgaussian")
FAMILIES: dict[
    str, tuple[Callable[[Numbers, float], Arms | None], tuple[tuple[float, float], ...], tuple[str, ...]]
] = {
    "near tie": (_tie, ((0.1, 0.95), GAP), BINARY),
    "tied rivals": (_tied, ((0.1, 0.95), GAP), BINARY),
    "rare rewards": (_rare, (RARE, GAP), BINARY),
    "rare jump": (_jump, ((0.05, 0.95), (0.1, 1.0), (1e-3, 0.5), GAP), UNIT),
    "rare loss": (_loss, ((0.05, 0.95), (1e-2, 1.0), (1e-3, 0.5), GAP), UNIT),
    "two-point": (_two_point, ((1e-3, 0.5), (1e-3, 0.9), RARE, (1e-3, 0.9), RARE, GAP), UNIT),
    "quiet best arm": (_quiet_best, (RARE, GAP), UNIT),
    "quiet rivals": (_quiet_rivals, (RARE, GAP), UNIT),
    "near tie, Gaussian": (_gaussian_tie, (RARE, GAP), NORMAL),
    "tied rivals, Gaussian": (_gaussian_tied, (RARE, GAP), NORMAL),
    "quiet best arm, Gaussian": (_gaussian_quiet_best, (RARE, GAP), NORMAL),
    "quiet rivals, Gaussian": (_gaussian_quiet_rivals, (RARE, GAP), NORMAL),
}
"""Each family: its function, the range of each number (drawn log-uniformly), and its classes."""
