"""LinGapE: gap-based exploration with a linear model of the means, run to the end of a budget."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bai_gym.agents.sequential import SequentialAgent
from bai_gym.agents.structured.ridge import (
    LOG_DET,
    SCALE,
    Ridge,
    fewer_pulls,
    is_current,
    largest_place,
    longest,
    noise_deviation,
    read_row,
    regression,
    shared_features,
)
from bai_gym.agents.tools.choosing import SLACK, largest
from bai_gym.designs.contrast import solve_contrasts
from bai_gym.designs.span import project
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import WAIT, Episode, Rule, Sequential
from bai_gym.statistics import FloatArray, IntArray, Observation, Statistics
from bai_gym.validation import choice, probability, real

__all__ = ["LinGapE", "LinGapEGreedy"]

SAME = 1e-12  # ||x_i - x_j||^2 up to this, times ||x_i||^2 + ||x_j||^2, is 0 but for rounding

# Parameters; C_t = NOISE sqrt(level) + BONUS, where the level is FACTOR max(CONSTANT + log(1 + t LENGTH^2), 0) or, with
# the factor 0, CONSTANT + log det A / det lam I.
NOISE, BONUS, CONSTANT, FACTOR, LENGTH = range(5)

# Memory: the places of i and j, the pair whose design is waited for, plus one, where the next design is written, where
# designs are (0: nowhere), see `slot_of`, and the designs: pair, size, places, absolute weights. Where i and j are in
# groups that are orthogonal, the design for their difference consists of those for x_i and x_j themselves: pairs of an
# arm with the one past the last, whose features are 0.
FIRST, SECOND, ASKED, NEXT, SLOT = range(5)
SLOTS = 509  # for designs of two arms; each of a single arm has its own
DESIGNS = 4096
LOST = -1  # size of a design that rounding errors have kept from being found


def radius(e: Episode) -> float:
    """Return C_t."""
    r = regression(e)
    level = r.given[CONSTANT] + r.numbers[LOG_DET]
    if r.given[FACTOR] > 0.0:
        level = r.given[FACTOR] * max(r.given[CONSTANT] + math.log1p(e.made * r.given[LENGTH] ** 2), 0.0)
    return r.given[NOISE] * math.sqrt(level) + r.given[BONUS]


def rivals(e: Episode, rng: np.random.Generator) -> tuple[int, int, bool]:
    """Return the places of i and j, and whether they have equal features."""
    r, factor = regression(e), radius(e)
    first = largest_place(e, r.scores, r.numbers[SCALE], rng)
    read_row(e, first, r.row)
    own = r.squares[first]
    for k in range(e.pulls.size):
        both = r.squares[k] + own
        square = both - 2.0 * r.row[k]
        r.row[k] = square if square > SAME * both else 0.0  # of x_k - x_i
        r.values[k] = r.scores[k] + factor * math.sqrt(r.row[k])
    r.values[first] = -np.inf
    second = largest_place(e, r.values, r.numbers[SCALE], rng)
    return first, second, r.row[second] == 0.0


def less_pulled(e: Episode, first: int, second: int, rng: np.random.Generator) -> int:
    """Return the arm of fewer pulls at one of two places."""
    i, j = int(regression(e).order[first]), int(regression(e).order[second])
    if e.pulls[i] == e.pulls[j] and e.parameters[0] == 0.0:
        return i if rng.random() < 0.5 else j
    return i if fewer_pulls(e, i, j) else j


def narrowest(e: Episode, first: int, second: int, rng: np.random.Generator) -> int:
    """Return the arm after whose pull the width of x_i - x_j is least."""
    r = regression(e)
    read_row(e, first, r.row)
    read_row(e, second, r.other)
    for k in range(e.pulls.size):
        r.values[k] = (r.row[k] - r.other[k]) * (r.row[k] - r.other[k]) / (1.0 + r.squares[k])
    return int(r.order[largest_place(e, r.values, 0.0, rng)])


def pull_greedily(e: Episode, rng: np.random.Generator) -> int:
    """Return the arm that makes the width of the difference least."""
    if not is_current(e):
        return WAIT
    first, second, equal = rivals(e, rng)
    return less_pulled(e, first, second, rng) if equal else narrowest(e, first, second, rng)


def slot_of(pair: int, arms: int) -> int:
    """Return where it stands where the design of a pair is."""
    return SLOT + (pair // (arms + 1) if pair % (arms + 1) == arms else arms + pair % SLOTS)


def pull_by_design(e: Episode, rng: np.random.Generator) -> int:
    """Return the arm that lags behind most in the design for the difference, or wait for that."""
    if not is_current(e):
        return WAIT
    r, arms = regression(e), e.pulls.size
    own = r.own
    if own[ASKED] == 0.0:
        first, second, equal = rivals(e, rng)
        if equal:
            return less_pulled(e, first, second, rng)
        own[FIRST], own[SECOND] = min(first, second), max(first, second)
    first, second = int(own[FIRST]), int(own[SECOND])
    same_group = r.starts[first] == r.starts[second]
    for place in range(r.values.size):
        r.values[place] = -np.inf
    for part in range(1 if same_group else 2):
        pair = (second if part else first) * (arms + 1) + (second if same_group else arms)
        at = int(own[slot_of(pair, arms)])
        if at == 0 or own[at] != pair:
            own[ASKED] = pair + 1
            return WAIT
        size = int(own[at + 1])
        if size == LOST:
            own[ASKED] = 0.0
            return narrowest(e, first, second, rng)
        for k in range(at + 2, at + 2 + size):
            place = int(own[k])
            r.values[place] = -e.pulls[int(r.order[place])] / own[k + size]
    own[ASKED] = 0.0
    return int(r.order[largest_place(e, r.values, 0.0, rng)])


@dataclass(kw_only=True)
class LinGapE(SequentialAgent):
    """Finds the arm j that could most exceed the best estimate i, and pulls by the design that separates the two.

    After one pull of every arm: i has the largest x^T theta, where theta is the ridge regression of the rewards, with
    A = lam I + sum x x^T; j has the largest (x_j - x_i)^T theta + C_t ||x_j - x_i||, in the norm of A^-1. Of the arms k
    in the design p for the difference of the two (:func:`bai_gym.designs.contrast_weights`), that of least pulls / p_k
    is pulled. Where i and j have equal features, it is the less pulled of the two. At the end i is recommended. The
    test for stopping is left out, so delta only sets the width of the intervals.

    Designs take time: about 10 microseconds for 16 arms in 10 dimensions, 70 for 128 arms. Each pair of arms takes one
    in every run where it comes up, or one for all runs where these share their features.

    Paper: Xu, Honda and Sugiyama (2018), "A fully adaptive algorithm for pure exploration in linear bandits", read in
    secondary descriptions; with a fixed budget: Azizi, Kveton and Ghavamzadeh (2022), section 8, whose code takes the
    best of delta = 0.01, 0.1, 0.4, 0.5 and 0.9.

    Args:
        delta: Allowed error probability of the confidence intervals, in (0, 1); default 0.05.
        sigma: Standard deviation of the noise, positive. None (default): the largest of the true ones.
        lam: Weight of the identity in A, positive; default 1.
        S: Bound on the length of the true theta, at least 0; default 1.
        radius: ``"authors"`` (default), the code of Xu et al.: C_t = sigma sqrt(d log(K^2 (1 + t L^2) / (lam delta))) +
            sqrt(lam) S after t pulls, L the length of the longest arm. ``"determinant"``, the paper: C_t = sigma
            sqrt(2 log(K^2 sqrt(det A / det lam I) / delta)) + sqrt(lam) S.

    Knows the true variances, unless ``sigma`` is given. Needs features. Minimum budget: K.
    """

    delta: float = 0.05
    sigma: float | None = None
    lam: float = 1.0
    S: float = 1.0
    radius: str = "authors"

    name: ClassVar[str] = "LinGapE"
    uses_variances: ClassVar[bool] = False
    needs_features: ClassVar[bool] = True
    rule: ClassVar[Rule] = Rule(choose=pull_by_design)

    @property
    def knows(self) -> frozenset[str]:  # type: ignore[override]
        """The variances, unless ``sigma`` is given."""
        return frozenset({"variances"} if self.sigma is None else ())

    @property
    def memory(self) -> int:  # type: ignore[override]
        """What the regression takes, and designs."""
        return self._ridge.size + SLOT + SLOTS + 5 * self.num_arms + DESIGNS

    def begin(self, info: ProblemInfo) -> None:
        """Check the parameters and the features."""
        probability(self.delta, f"delta of {self.name}")
        if self.sigma is not None:
            real(self.sigma, f"sigma of {self.name}", above=0)
        real(self.lam, f"lam of {self.name}", above=0)
        real(self.S, f"S of {self.name}", least=0)
        choice(self.radius, ("authors", "determinant"), f"radius of {self.name}")
        features = shared_features(info, self.lam, self.name)
        self._ridge = Ridge(features, self.lam)
        found = project(features).coordinates[:, self._ridge.order]
        self._coordinates = np.concatenate([found, np.zeros_like(found[:, :1])], axis=1)
        self._designs: dict[int, FloatArray] = {}
        noise, bonus = noise_deviation(self.sigma, info), math.sqrt(self.lam) * self.S
        constant, factor = 2.0 * math.log(self.num_arms) - math.log(self.delta), features.shape[-1]
        if self.radius == "authors":
            constant -= math.log(self.lam)
        else:
            constant, factor = 2.0 * constant, 0
        given = (noise, bonus, constant, factor, longest(features))
        self.parameters = self._ridge.columns(self.batch, self.tie, *given)

    def sequential(self, steps: int, **options: Any) -> Sequential:
        """Return the request for the pulls after the first ones."""
        return super().sequential(steps, supply=self.supply, **options)

    def supply(self, rows: IntArray, memory: FloatArray, statistics: Statistics) -> None:
        """Give waiting episodes their regression, or a design."""
        asked = memory[rows, self._ridge.size + ASKED] > 0.0
        if not asked.all():
            self._ridge.fit(rows[~asked], memory, statistics)
        if asked.any():
            self._supply_designs(rows[asked], memory[:, self._ridge.size :])

    def _supply_designs(self, rows: IntArray, memory: FloatArray) -> None:
        """Write designs into the memory of episodes; those that are not known are computed, for all at once."""
        instances, arms = self._coordinates.shape[:2]
        runs, pairs = rows % instances, memory[rows, ASKED].astype(np.int64) - 1
        keys = runs * arms**2 + pairs
        new = [at for key, at in zip(*np.unique(keys, return_index=True), strict=True) if int(key) not in self._designs]
        if new:
            given = runs[new], pairs[new] // arms, pairs[new] % arms
            for at, weights, found in zip(new, *solve_contrasts(self._coordinates, *given), strict=True):
                places = np.flatnonzero(weights[:-1])
                name = pairs[at], places.size if found else LOST
                self._designs[int(keys[at])] = np.concatenate([name, places, np.abs(weights[places])])
        for row, key in zip(rows.tolist(), keys.tolist(), strict=True):
            own, design = memory[row], self._designs[key]
            at = int(own[NEXT])
            if at == 0 or at + design.size > own.size:  # full: forget all
                at = SLOT + arms - 1 + SLOTS
                own[SLOT:at] = 0
            own[at : at + design.size] = design
            own[slot_of(int(design[0]), arms - 1)] = at
            own[NEXT] = at + design.size

    def recommend(self, observation: Observation) -> IntArray:
        """Return the arm of largest x^T theta, of several the most pulled; below the minimum budget, the best mean."""
        if self.budget < self.num_arms:
            return super().recommend(observation)
        pulls = observation["pulls"]
        scores = self._ridge.scores(pulls, observation["means"])
        top = scores.max(axis=1, keepdims=True)
        near = scores >= top - SLACK * (np.abs(scores).max(axis=1, keepdims=True) + np.abs(top))
        return largest(np.where(near, pulls, -1.0), np.zeros(len(pulls)), pulls, self.tie, self.rng)


@dataclass(kw_only=True)
class LinGapEGreedy(LinGapE):
    """LinGapE with greedy pulls: the arm after which the width of the difference is smallest.

    Pulls the arm a of least y^T (A + x_a x_a^T)^-1 y with y = x_i - x_j: that of largest (y^T A^-1 x_a)^2 / (1 + x_a^T
    A^-1 x_a). All else is as in :class:`LinGapE`.

    Paper: Xu, Honda and Sugiyama (2018), read in secondary descriptions; with a fixed budget: Azizi, Kveton and
    Ghavamzadeh (2022), section 8.

    Args:
        delta: See :class:`LinGapE`; so are the others.
        sigma: Standard deviation of the noise.
        lam: Weight of the identity in A.
        S: Bound on the length of the true theta.
        radius: ``"authors"`` or ``"determinant"``.

    Knows the true variances, unless ``sigma`` is given. Needs features. Minimum budget: K.
    """

    name: ClassVar[str] = "LinGapE-Greedy"
    rule: ClassVar[Rule] = Rule(choose=pull_greedily)
