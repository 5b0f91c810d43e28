"""RAGE, XY-static and XY-oracle: linear best-arm identification with fixed confidence, in rounds of growing length.

Episodes make different numbers of pulls in a round, and end after different numbers of rounds. So a rule makes the
pulls of a round and waits; what comes next is decided in NumPy.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from typing_extensions import override

from bai_gym.agents.base import Agent, Plan
from bai_gym.agents.linear.least_squares import span_coordinates
from bai_gym.agents.linear.linear_confidence import best_estimate, check_best_arm, linear_notes
from bai_gym.agents.linear.linear_models import candidate_combinations, noise_deviation, shared_features
from bai_gym.agents.linear.lockstep import grouped
from bai_gym.agents.parameters import Count, Oracle, Positive, Probability
from bai_gym.agents.tools.choosing import largest
from bai_gym.agents.tools.ranges import ORACLE, sigma_or_oracle, variances_if_oracle
from bai_gym.bandits import Bandit
from bai_gym.errors import AgentError, ParameterError
from bai_gym.linear.designs import MinimaxDesign, minimax_design, pair_design, round_design
from bai_gym.linear.tasks import BestCandidate
from bai_gym.problems import ProblemInfo
from bai_gym.rewards import Rewards
from bai_gym.sampling import STOP, WAIT, Episode, Outcome, PerArm, Rule, Sequential, State, States, Values
from bai_gym.statistics import AnyArray, BoolArray, FloatArray, IntArray, Statistics
from bai_gym.tasks import BestArm

__all__ = ["RAGE", "XYOracle", "XYStatic"]


DIGITS = 6  # of weights, which are known to 1 %
SAME = 1e-9  # coordinates of two arms that differ by less are those of equal features; their mean square is 1
PAIRS_AT_ONCE = 2**22  # differences of two arms that are held at a time


class LinearRoundState(State):
    """What the rounds use."""

    left: PerArm  # pulls of each arm that are left in the round
    place: int  # the arm whose turn it is
    rounds: int  # that have begun
    over: bool  # whether the agent stops


def pull_in_turn(e: Episode, s: LinearRoundState, w: LinearRoundState, rng: np.random.Generator) -> int:
    """Make the pulls of the round, arm by arm, then wait for the next one."""
    if s.over:
        return STOP
    while s.place < e.num_arms and w.left[s.place] == 0.0:
        s.place += 1
    if s.place == e.num_arms:
        return WAIT
    w.left[s.place] -= 1.0
    return s.place


@dataclass(kw_only=True)
class LinearRoundsAgent(Agent):
    """Base of agents that pull by a design for a round, and then decide whether to stop.

    What may be recommended, the candidates, need not be the arms. Rows of both are in the same coordinates. Different
    candidates are numbered here without repetitions.

    Args:
        delta: Allowed error probability, in (0, 1). Default 0.1.
        sigma: Standard deviation of the noise, positive, or a sigma for which it is sigma-sub-Gaussian. ``"oracle"``:
            the largest of the true ones. None (default): half the length of the interval of bounded rewards; for others
            ``"oracle"``.
    """

    delta: Probability = 0.1
    sigma: Positive | Oracle | None = None

    stops = True
    needs_features = True
    tasks = frozenset({BestArm.name, BestCandidate.name})
    uses_variances = False
    knows = property(variances_if_oracle)
    choices = sigma_or_oracle
    rule: ClassVar[Rule] = Rule(choose=pull_in_turn, state=LinearRoundState)

    def unmet_assumptions(self, bandit: Bandit) -> tuple[str, ...]:
        """Return notes if the confidence guarantee does not cover a bandit."""
        return linear_notes(self, bandit)

    @override
    def begin(self, info: ProblemInfo) -> None:
        check_best_arm(self)
        self._noise = noise_deviation(self, info)
        self._x = span_coordinates(shared_features(info, math.inf, self.name))[0]  # rows that are pulled
        self._different: IntArray | None = None
        self._combinations: FloatArray | None = None
        self._z = self._x  # rows that are recommended
        candidates = candidate_combinations(self.task)
        if candidates is not None:
            self._different, self._combinations = candidates
            self._z = self._combinations @ self._x
        self.num_candidates = self._z.shape[1]
        self._designs: dict[tuple[int, bytes], MinimaxDesign] = {}

    @override
    def plan(self) -> Plan:
        """Play rounds until the agent stops, or the budget is spent."""
        outcome = yield Sequential(
            self.rule,
            self.budget,
            self.tie,
            self.rng,
            self.initial_values(),
            supply=self._supply,
            in_rounds=True,
            agent=self.name,
        )
        chosen = self.conclude(outcome)
        return chosen if self._different is None else self._different[chosen]

    def initial_values(self) -> Values:
        """Return what the state begins with."""
        return {}

    def _supply(self, rows: IntArray, states: States, statistics: Statistics) -> None:
        """Decide, and plan the next round of those that go on; never more pulls than are left."""
        left = self.budget - statistics.pulls[rows].sum(axis=1)
        self.decide(rows, states, statistics)
        going = ~states["over"][rows]
        rows, left = rows[going], left[going]
        if rows.size:
            states["rounds"][rows] += 1
            states["place"][rows] = 0
            self.line_up(rows, states, statistics, left)

    @abstractmethod
    def decide(self, rows: IntArray, states: States, statistics: Statistics) -> None:
        """Set ``over`` of ``(m,)`` episodes that stop; before the first round, too."""

    @abstractmethod
    def line_up(self, rows: IntArray, states: States, statistics: Statistics, left: IntArray) -> None:
        """Plan the pulls of the next round of ``(m,)`` episodes, at least one and at most ``left`` in all."""

    @abstractmethod
    def conclude(self, outcome: Outcome) -> IntArray:
        """Return the ``(N,)`` recommendations."""

    def pulled(self, row: int) -> FloatArray:
        """Return the ``(K, r)`` rows of the arms of an episode."""
        return np.asarray(self._x[row % len(self._x)])

    def candidates(self, row: int) -> FloatArray:
        """Return the ``(m, r)`` rows of the candidates of an episode."""
        return np.asarray(self._z[row % len(self._z)])

    def means_of_candidates(self, means: FloatArray) -> FloatArray:
        """Return the ``(n, m)`` means of candidates, from those of arms."""
        return means if self._combinations is None else np.asarray(means @ self._combinations.T)

    def sums_over_arms(self, numbers: AnyArray) -> AnyArray:
        """Return ``(n, m)`` sums of numbers, such as pulls, over the arms that each candidate is a combination of."""
        return numbers if self._combinations is None else np.asarray(numbers @ (self._combinations != 0.0).T)

    def known(self, row: int, key: bytes, solve: Callable[[FloatArray, FloatArray], MinimaxDesign]) -> MinimaxDesign:
        """Return the design that ``solve`` finds for the rows of an episode, once for all that share them."""
        name = (row % len(self._x), key)
        if name not in self._designs:
            self._designs[name] = solve(self.pulled(row), self.candidates(row))
        return self._designs[name]

    def counts(self, weights: FloatArray, pulls: IntArray | int) -> IntArray:
        """Return ``(..., K)`` numbers of pulls with given sums, near the weights, which are tied where nearly equal."""
        rng = self.rng if self.tie == "random" else None
        even = np.round(weights / weights.max(axis=-1, keepdims=True), DIGITS)
        return round_design(even / even.sum(axis=-1, keepdims=True), pulls, rng=rng, allow_small_budget=True)


@dataclass(kw_only=True)
class RAGE(LinearRoundsAgent):
    """Halves the accuracy from round to round; each round has the design for the differences of the arms that remain.

    Round l pulls N_l = 8 4^(l - 1) rho (1 + 1 / r0) sigma^2 log(2 K^2 / delta_l) times, delta_l = delta / l^2, so that
    differences are estimated to about 2^-l: rho is the largest variance of a difference of two remaining arms under
    the design that makes it smallest. From the rewards of the round alone, arms are dropped that another one proves
    worse. The last arm is recommended. At the cap, the best estimate of those that remain is.

    Paper: Fiez, Jain, Jamieson and Ratliff (2019), "Sequential Experimental Design for Transductive Linear Bandits",
    with constants of the authors' code. Differences: designs are computed to 1 %, with a certificate, in place of
    Frank-Wolfe; noise of any sigma. Where candidates are not the arms, K in the formulas is their number. Proved with
    ``drops="variance"``: an arm proves the best one worse in round l with probability at most delta_l / (2 K^2), and
    for all rounds and arms these sum to less than delta.

    Args:
        delta: Allowed error probability, in (0, 1). Default 0.1; 0.05 in the paper's experiments.
        sigma: Standard deviation of the noise, see above.
        drops: ``"variance"`` (default), as in the code: x is dropped for x' if (x' - x)^T theta >= sigma
            sqrt(2 ||x' - x||^2 log(2 K^2 / delta_l)) in the norm of V^-1. ``"gap"``, as in the paper: >= 2^-l.
        weighted: If True, the noise of arm k has its own standard deviation sigma_k, given by the oracle: rows x_k /
            sigma_k are pulled, estimates are by weighted least squares, and sigma is 1 in the formulas. For Gaussian
            noise, positive in every arm: Weltz et al. (2023, arXiv 2310.04390), with known variances. Default False:
            one sigma for all.
        r0: Controls what rounding may lose, at least 1; default 10. A round has at least 2 r0 s pulls, s the arms of
            the design.
    """

    drops: Literal["variance", "gap"] = "variance"
    r0: Count = 10
    weighted: bool = False

    name = "RAGE"

    @override
    def begin(self, info: ProblemInfo) -> None:
        super().begin(info)
        if self.weighted:
            self._weigh(info)
        self._remains = np.ones((self.batch, self.num_candidates), np.bool_)
        self._estimates = np.zeros((self.batch, self.num_candidates))  # of the last round
        self._pulls = np.zeros((self.batch, self.num_arms), np.int64)  # before the round, as the sums of rewards
        self._sums = np.zeros((self.batch, self.num_arms))

    @override
    def choices(self, rewards: Rewards) -> dict[str, Any]:
        """Return the deviation for rewards of a kind; the oracle's where rows are weighted."""
        return {"sigma": ORACLE} if self.weighted else super().choices(rewards)

    def _weigh(self, info: ProblemInfo) -> None:
        """Divide the rows that are pulled by the deviations of their rewards."""
        if self.sigma not in (None, ORACLE):
            raise ParameterError(f"{self.name} reads every sigma from the oracle with weighted=True: leave out sigma=")
        deviations = np.sqrt(info.variances)
        if not (deviations > 0.0).all():
            raise AgentError(f"{self.name} with weighted=True needs noise in every arm: leave out weighted=")
        self._deviations = deviations[:1] if (deviations == deviations[:1]).all() else deviations
        self._x = self._x / self._deviations[..., None]
        self._noise = np.ones(self.batch)

    def level(self, number: float) -> float:
        """Return log(2 K^2 / delta_l)."""
        return math.log(2.0 * self.num_candidates**2 * number**2 / self.delta)

    @override
    def line_up(self, rows: IntArray, states: States, statistics: Statistics, left: IntArray) -> None:
        """Plan a round."""
        self._pulls[rows], self._sums[rows] = statistics.pulls[rows], statistics.sums[rows]
        for row, most in zip(rows.tolist(), left.tolist(), strict=True):
            remains = self._remains[row]
            design = self.known(row, remains.tobytes(), partial(pair_design_of, remains))
            number = float(states["rounds"][row])
            pulls = 8.0 * 4.0 ** (number - 1.0) * design.value * (1.0 + 1.0 / self.r0) * self._noise[row] ** 2
            least = 2 * self.r0 * int((design.weights > 0).sum())
            length = max(math.ceil(min(pulls * self.level(number), most)), least)
            states["left"][row] = self.counts(design.weights, min(length, most))

    @override
    def decide(self, rows: IntArray, states: States, statistics: Statistics) -> None:
        """Drop arms after a round; one that is left ends the episode."""
        for row in rows[states["rounds"][rows] > 0].tolist():
            self._drop(row, states, statistics.pulls[row], statistics.sums[row])

    def _drop(self, row: int, states: States, pulls: IntArray, sums: FloatArray) -> None:
        x, z, number = self.pulled(row), self.candidates(row), float(states["rounds"][row])
        pulls, sums = pulls - self._pulls[row], sums - self._sums[row]  # of the round
        if self.weighted:
            sums = sums / self._deviations[row % len(self._deviations)]
        inverse = np.asarray(np.linalg.pinv(x.T @ (pulls[:, None] * x)), np.float64)
        value = z @ (inverse @ (x.T @ sums))
        left = np.flatnonzero(self._remains[row])
        factor = self._noise[row] ** 2 * 2.0 * self.level(number)
        if self.drops == "variance":
            worse = proved_worse(z[left] @ root_of(inverse), value[left], factor)
        else:
            worse = value[left] <= value[left].max() - 2.0**-number
        self._estimates[row] = value
        self._remains[row, left[worse]] = False
        states["over"][row] = np.ptp(z[left[~worse]], axis=0).max() < SAME  # one, or several of the same

    @override
    def conclude(self, outcome: Outcome) -> IntArray:
        """Return the best estimate of the last round that has ended among the candidates that remain."""
        statistics = outcome.statistics
        first = ((outcome.states["rounds"] <= 1) & ~outcome.stopped)[:, None]  # no round has ended
        values = np.where(first, self.means_of_candidates(statistics.means), self._estimates)
        known = self.sums_over_arms(statistics.pulls == 0) == 0  # all arms that it is a combination of have been pulled
        values = np.where(self._remains & (known | ~first), values, -np.inf)
        pulls = self.sums_over_arms(statistics.pulls)
        return largest(values, np.zeros(self.batch), pulls, self.tie, self.rng)


def pair_design_of(remains: BoolArray, x: FloatArray, z: FloatArray) -> MinimaxDesign:
    """Return the XY-design of the candidates that remain."""
    return pair_design(x, z[remains])


def proved_worse(z: FloatArray, values: FloatArray, factor: float) -> BoolArray:
    """Return ``(m,)`` whether another arm is better by at least sqrt(factor) times the distance of the two.

    Args:
        z: ``(m, r)`` coordinates in which squared distances are the variances of differences.
        values: ``(m,)`` estimates.
        factor: Positive.
    """
    order = np.argsort(-values, kind="stable")
    z, values, squares = z[order], values[order], (z[order] ** 2).sum(axis=1)
    worse = np.zeros(len(z), np.bool_)
    per_part = max(1, PAIRS_AT_ONCE // len(z))
    for begin in range(0, len(z), per_part):
        part = slice(begin, begin + per_part)
        better = slice(0, begin + per_part)  # no arm with a smaller estimate proves anything
        distances = squares[part, None] + squares[better] - 2.0 * z[part] @ z[better].T
        gaps = np.maximum(values[better] - values[part, None], 0.0)
        worse[part] = ((gaps > 0.0) & (gaps**2 >= factor * np.maximum(distances, 0.0) * (1.0 + 1e-12))).any(axis=1)
    result = np.empty_like(worse)
    result[order] = worse
    return result


def root_of(matrix: FloatArray) -> FloatArray:
    """Return R with R R^T = matrix, which is symmetric and has no negative eigenvalues."""
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


@dataclass(kw_only=True)
class StaticAgent(LinearRoundsAgent):
    """Base of agents that pull by one design for all rounds, and test whether to stop after each.

    All rewards count. After round p the recommendation is safe if its estimate exceeds that of every other arm by sigma
    ||y|| sqrt(2 log(1 / delta_p)), y the difference of the two, in the norm of V^-1.
    """

    growth: ClassVar[float]

    @abstractmethod
    def design(self, row: int) -> MinimaxDesign:
        """Return the design of an episode."""

    @abstractmethod
    def level(self, number: FloatArray) -> FloatArray:
        """Return log(1 / delta_p)."""

    def tested(self, values: FloatArray, rows: IntArray) -> IntArray:
        """Return the ``(m,)`` candidates that are tested: those of largest estimates."""
        return values.argmax(axis=1)

    @override
    def line_up(self, rows: IntArray, states: States, statistics: Statistics, left: IntArray) -> None:
        """Plan a round: the first has a pull of each arm of the design."""
        weights = np.stack([self.design(row).weights for row in rows.tolist()])
        pulls, rounds = statistics.pulls[rows], states["rounds"][rows]
        lengths = np.ceil(np.minimum(self.growth**rounds, left)).astype(np.int64)
        first = (weights > 0).sum(axis=1)
        lengths = np.where(rounds == 1, np.minimum(first, left), lengths)
        counts = self.counts(weights, pulls.sum(axis=1) + lengths)
        states["left"][rows] = np.maximum(counts - pulls, 0)  # by a method of divisors: only ties make a count fall

    @override
    def decide(self, rows: IntArray, states: States, statistics: Statistics) -> None:
        """Test after a round."""
        for _, part in grouped(np.where(states["rounds"][rows] > 0, rows % len(self._x), -1)):
            own = rows[part]
            if states["rounds"][own[0]] == 0:
                continue
            x, z, pulls = self.pulled(int(own[0])), self.candidates(int(own[0])), statistics.pulls[own]
            inverse = np.linalg.pinv(np.einsum("nk,kr,ks->nrs", pulls, x, x), hermitian=True)
            values = np.einsum("nrs,ks,nk->nr", inverse, x, statistics.sums[own]) @ z.T
            best = self.tested(values, own)
            y = z[best][:, None] - z
            gaps = values[np.arange(own.size), best][:, None] - values
            widths = 2.0 * np.einsum("nkr,nrs,nks->nk", y, inverse, y) * self.level(states["rounds"][own])[:, None]
            same = (np.abs(y) < SAME).all(axis=2)
            safe = same | ((gaps > 0.0) & (gaps**2 > self._noise[own, None] ** 2 * widths))
            states["over"][own] = safe.all(axis=1)

    @override
    def conclude(self, outcome: Outcome) -> IntArray:
        """Return the candidate of largest estimate."""
        x, z = (np.broadcast_to(rows, (self.batch, *rows.shape[1:])) for rows in (self._x, self._z))
        return best_estimate(self, x, outcome.statistics, (z, self.sums_over_arms(outcome.statistics.pulls)))


@dataclass(kw_only=True)
class XYStatic(StaticAgent):
    """Pulls by the design for the differences of all arms, whatever the rewards are, and tests after growing rounds.

    Round p has 1.35^p pulls, rounded up, after a first one with a pull of each arm of the design. With all rewards so
    far, it stops once the best estimate exceeds every other one by sigma ||y|| sqrt(2 log(1 / delta_p)), delta_p =
    delta / (2 p^2 K^2), where y is the difference of the two arms and the norm is that of V^-1. Where candidates are
    not the arms, differences are those of candidates, and K is their number.

    Paper: Soare, Lazaric and Munos (2014), "Best-Arm Identification in Linear Bandits", with constants of the code of
    Fiez, Jain, Jamieson and Ratliff (2019). Differences: arms are not drawn from the design, their counts follow it;
    the code advances p twice in each round, and counts d pulls that it has not made. Proved: the sum of delta_p over
    rounds and pairs is at most pi^2 delta / 12.
    """

    name = "XY-static"
    growth = 1.35

    @override
    def design(self, row: int) -> MinimaxDesign:
        """Return the XY-design of all candidates."""
        return self.known(row, b"", pair_design)

    @override
    def level(self, number: FloatArray) -> FloatArray:
        """Return log(2 p^2 K^2 / delta)."""
        return np.asarray(np.log(2.0 * number**2 * self.num_candidates**2 / self.delta))


@dataclass(kw_only=True)
class XYOracle(StaticAgent):
    """Is given the true means, and takes as few pulls as proving the best arm takes: a line of reference, no rival.

    It pulls by the design under which the largest ||y|| / gap of the best arm and another one is smallest, which
    attains the characteristic time. Round p has 1.1^p pulls, rounded up; it stops once the estimate of the true best
    arm exceeds every other one by sigma ||y|| sqrt(2 log(1 / delta_p)), delta_p = delta / (2 p^2 K).

    Paper: Soare, Lazaric and Munos (2014), "Best-Arm Identification in Linear Bandits", section 3, with constants of
    the code of Fiez, Jain, Jamieson and Ratliff (2019). Differences: as for :class:`XYStatic`.
    """

    name = "XY-oracle"
    growth = 1.1

    @property
    @override
    def knows(self) -> frozenset[str]:  # type: ignore[override]
        """The means (``complexity``), with which the variances are granted."""
        return frozenset({"complexity"})

    @override
    def begin(self, info: ProblemInfo) -> None:
        """Note the means."""
        means = info.means
        super().begin(info)
        self._means = self.means_of_candidates(means)

    @override
    def design(self, row: int) -> MinimaxDesign:
        """Return the design that attains the characteristic time; the XY-design where two best arms are tied."""
        means = self._means[row]
        gaps = means.max() - means

        def solve(x: FloatArray, z: FloatArray) -> MinimaxDesign:
            if np.count_nonzero(gaps == 0.0) > 1:
                return pair_design(x, z)
            others = gaps > 0.0
            return minimax_design(x, (z[means.argmax()] - z[others]) / gaps[others, None], tolerance=1e-2)

        return self.known(row, means.tobytes(), solve)

    @override
    def level(self, number: FloatArray) -> FloatArray:
        """Return log(2 p^2 K / delta)."""
        return np.asarray(np.log(2.0 * number**2 * self.num_candidates / self.delta))

    @override
    def tested(self, values: FloatArray, rows: IntArray) -> IntArray:
        """Return the true best candidates."""
        return self._means[rows].argmax(axis=1)
