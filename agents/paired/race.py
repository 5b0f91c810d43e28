"""PairedRace: elimination by tests of the differences on common items, at every item."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betainc, betaln
from typing_extensions import override

from bai_gym.agents.fixed_confidence.stopping import confidence_note
from bai_gym.agents.paired.rounds import RaceAgent, RoundState
from bai_gym.agents.parameters import Probability, Several
from bai_gym.agents.tools.mixtures import log_student
from bai_gym.bandits import Bandit
from bai_gym.errors import AgentError, ParameterError
from bai_gym.problems import ProblemInfo
from bai_gym.rewards import REAL, Rewards
from bai_gym.sampling import PerArm, States, Vector
from bai_gym.statistics import BoolArray, FloatArray, IntArray

__all__ = ["PairedRace", "log_evidence"]


class PairedState(RoundState):
    """What PairedRace uses."""

    mean: PerArm  # of each arm over all items
    products: Vector  # K x K sums of products of the deviations of two arms from their means


@dataclass(kw_only=True)
class PairedRace(RaceAgent):
    """Plays every remaining arm on each item, and drops an arm once its differences to another one prove it worse.

    After item t arm i is dropped if some remaining arm j is proved better. D is the mean of X_j - X_i over the items,
    and V their sample variance. It ends when one arm is left, and recommends the largest mean among those that remain.

    - Normal rewards of any covariance: D > 0 and E >= (K - 1) / delta, E the mixture of likelihood ratios for unknown
      variances (:mod:`bai_gym.agents.tools.mixtures`) of the differences, against the mean 0.
    - Rewards in [low, high]: D exceeds sqrt(2 V log(2 / d_t) / t) + 14 (high - low) log(2 / d_t) / (3 (t - 1)), with
      d_t = 6 delta / (pi^2 (K - 1) (t - t_0 + 1)^2), t_0 the first item with a test.
    - Rewards of 0 and 1: with a items where only j has 1, and b where only i has, 2^(a + b + 1) B(a + 1, b + 1)
      (1 - I_1/2(a + 1, b + 1)) >= (K - 1) / delta, B the beta function, I its regularised integral.

    Proved, if items are drawn independently of each other: the probability of recommending a wrong arm before the cap
    is at most delta. The best arm is dropped only if one of the K - 1 others passes a test against it, and for each of
    them the probability that this ever happens is at most delta / (K - 1): Ville's inequality, or the sum of all d_t.

    An agent of this library. Idea: Saad, Blanchard and Verzelen (2023), "Covariance-adaptive Best Arm Identification",
    which we could not consult; the inequality for bounded rewards is Theorem 4 of Maurer and Pontil (2009), "Empirical
    Bernstein Bounds and Sample Variance Penalization".

    Args:
        delta: Allowed error probability, in (0, 1). Default 0.1.
        family: Rewards of the tests: ``"gaussian"``, ``"binary"`` or ``"bounded(low, high)"``. None (default):
            by the kind of rewards, normal unless they are binary or bounded.
        first_items: Items before the first test of bounded rewards, at least 2; others are tested after each item.
            Default 10.
        batch_size: Pulls between two looks at whether to drop arms, at least 1, the default; each is made after the
            item in which a batch ends. What is proved for tests after every item holds for fewer.
    """

    delta: Probability = 0.1
    family: str | None = None
    first_items: Several = 10

    name = "PairedRace"
    state = PairedState

    @override
    def begin(self, info: ProblemInfo) -> None:
        super().begin(info)
        self.kind = self._kind(info.rewards)

    @override
    def choices(self, rewards: Rewards) -> dict[str, Any]:
        """Return the tests for the kind of rewards."""
        return {"family": str(rewards) if rewards.kind in ("binary", "bounded") else "gaussian"}

    def _kind(self, known: Rewards) -> Rewards:
        """Return the kind of rewards that the tests are for: binary, bounded or real, which stands for normal."""
        family = self.choices(known)["family"] if self.family is None else self.family
        kind = REAL if family == "gaussian" else kind_of(family)
        if kind is None:
            allowed = "'gaussian', 'binary' or 'bounded(low, high)'"
            raise ParameterError(f"family of {self.name} must be {allowed}, not {self.family!r}")
        return kind

    @override
    def values(self) -> dict[str, FloatArray]:
        """Return room for the products."""
        return {"products": np.zeros(self.num_arms**2)}

    @override
    def note(self, rows: IntArray, states: States) -> None:
        """Update the means and the sums of products."""
        remains = states["remains"][rows] == 1.0
        rewards, mean, items = states["reward"][rows], states["mean"][rows], states["rounds"][rows]
        if (refusal := self.kind.refusal(rewards[remains])) is not None:
            raise AgentError(f"{self.name}: {refusal}; say what rewards can be with family=")
        step = rewards - mean
        mean = mean + step / items[:, None]
        products = states["products"][rows].reshape(rows.size, self.num_arms, self.num_arms)
        products = products + step[:, :, None] * (rewards - mean)[:, None, :]
        states["mean"][rows], states["products"][rows] = mean, products.reshape(rows.size, -1)

    @override
    def remaining(self, rows: IntArray, states: States) -> BoolArray:
        """Return the arms that no remaining arm has proved worse."""
        remains, items = states["remains"][rows] == 1.0, states["rounds"][rows]
        products = states["products"][rows].reshape(rows.size, self.num_arms, self.num_arms)
        worse = self.proves_worse(states["mean"][rows], products, items[:, None, None])
        return np.asarray(remains & ~(worse & remains[:, :, None]).any(axis=1))

    def proves_worse(self, mean: FloatArray, products: FloatArray, t: FloatArray) -> BoolArray:
        """Return ``(m, K, K)`` whether arm j is proved better than arm i.

        Args:
            mean: ``(m, K)`` means of the arms over the items.
            products: ``(m, K, K)`` sums of products of their deviations from the means.
            t: ``(m, 1, 1)`` items.
        """
        spread = np.diagonal(products, axis1=1, axis2=2)
        difference = mean[:, :, None] - mean[:, None, :]
        if self.kind.kind == "binary":
            both = np.rint(products + t * mean[:, :, None] * mean[:, None, :])  # items where both have 1
            wins = np.rint(t * mean[:, :, None]) - both
            threshold = math.log((self.num_arms - 1) / self.delta)
            return np.asarray(log_evidence(wins, wins.swapaxes(1, 2)) >= threshold)
        squares = np.maximum(spread[:, :, None] + spread[:, None, :] - 2.0 * products, 0.0)
        if self.kind.kind == "real":
            with np.errstate(divide="ignore", invalid="ignore"):
                u = np.where(difference > 0.0, t * difference**2 / squares, 0.0)
            return np.asarray(log_student(t, u) >= math.log((self.num_arms - 1) / self.delta))
        look = np.maximum(t - self.first_items + 1.0, 1.0)
        rate = np.log(np.pi**2 * (self.num_arms - 1) * look * look / (3.0 * self.delta))
        width = np.sqrt(2.0 * squares / np.maximum(t - 1.0, 1.0) * rate / t)
        width += 14.0 * self.kind.width * rate / (3.0 * np.maximum(t - 1.0, 1.0))
        return np.asarray((difference > width) & (t >= self.first_items))

    def unmet_assumptions(self, bandit: Bandit) -> tuple[str, ...]:
        """Return notes if the confidence guarantee does not cover a bandit."""
        kind, proved = self._kind(bandit.rewards), f"{self.name}: its confidence is proved for"
        notes = confidence_note(self.name, "student", None, bandit) if kind.kind == "real" else ()
        if bandit.num_items is not None:
            notes += (f"{proved} items drawn independently of each other, and here none is drawn twice",)
        return notes


def kind_of(rewards: object) -> Rewards | None:
    """Return a kind of rewards that is binary or bounded; None for all else."""
    try:
        kind = Rewards.of(rewards)
    except ParameterError:
        return None
    return kind if kind.kind in ("binary", "bounded") else None


def log_evidence(wins: FloatArray, losses: FloatArray) -> FloatArray:
    """Return the logarithm of the evidence for a chance of more than 1/2 of winning: a mixture over it, uniform.

    If the chance of winning is at most 1/2 in each trial, whatever has happened before, the evidence is a
    nonnegative supermartingale that starts at 1.

    Args:
        wins: Wins so far.
        losses: Losses so far, of the same shape.

    Returns:
        log(2^(a + b + 1) B(a + 1, b + 1) (1 - I_1/2(a + 1, b + 1))).
    """
    with np.errstate(divide="ignore"):
        tail = np.log(betainc(losses + 1.0, wins + 1.0, 0.5))
    return np.asarray((wins + losses + 1.0) * math.log(2.0) + betaln(wins + 1.0, losses + 1.0) + tail)
