"""Each agent of fixed confidence follows its plain transcription pull by pull, whole episodes on scripted rewards."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.special import ndtr
from scipy.stats import chi2_contingency, ks_2samp

from bai_gym import agents
from bai_gym.agents.fixed_confidence.fws import FWSState, frank_wolfe
from bai_gym.agents.tools.games import solve_game
from bai_gym.bandits import BernoulliBandit, GaussianBandit
from bai_gym.benchmark.rollout import Rollout, play_blocks
from bai_gym.problems import ProblemInfo
from bai_gym.tasks import BestArm
from bai_gym.theory import optimal_weights
from bai_gym.theory.deviations import exponential_family_c, gaussian_c, inverse_h

exponential_family_c, gaussian_c = cache(exponential_family_c), cache(gaussian_c)
Play = Callable[..., Any]
STOP = -1
CAP = 1500
MEANS = np.array([0.45, 0.3, 0.75, 0.6])


class Plain:
    """The samples of an episode, by lists; and the statistics that transcriptions read, ties going to fewest pulls."""

    def __init__(self, rewards: np.ndarray, delta: float, family: str, sigma: float) -> None:
        self.rewards, self.delta, self.family, self.sigma = rewards, delta, family, sigma
        self.K = len(rewards)
        self.samples: list[list[float]] = [[] for _ in rewards]
        self.pulls: list[int] = []
        self.N, self.sums = np.zeros(self.K, np.int64), np.zeros(self.K)
        for arm in range(self.K):
            self.pull(arm)

    def pull(self, arm: int) -> None:
        self.samples[arm].append(self.rewards[arm][len(self.samples[arm])])
        self.pulls.append(arm)
        self.N[arm] += 1
        self.sums[arm] += self.samples[arm][-1]
        self.m = self.sums / np.maximum(self.N, 1)

    @property
    def t(self) -> int:
        return len(self.pulls)

    def argmax(self, values: Any) -> int:
        return max(range(self.K), key=lambda a: (values[a], -self.N[a], -a))

    def d(self, p: float, q: float) -> float:
        if self.family == "gaussian":
            return (p - q) ** 2 / (2 * self.sigma**2)
        if not 0 < q < 1:
            return math.inf
        return p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q))

    def W(self, i: int, j: int) -> float:
        if self.m[i] <= self.m[j]:
            return 0.0
        p = (self.N[i] * self.m[i] + self.N[j] * self.m[j]) / (self.N[i] + self.N[j])
        return float(self.N[i] * self.d(self.m[i], p) + self.N[j] * self.d(self.m[j], p))

    def separated(self, threshold: str) -> bool:
        best, K, delta = self.argmax(self.m), self.K, self.delta
        for j in set(range(K)) - {best}:
            n = self.N[[best, j]]
            beta = {
                "gk16": math.log((1 + math.log(self.t)) / delta),
                "gk16-bernoulli": math.log(2 * self.t * (K - 1) / delta),
                "kk21": 3 * np.log(1 + np.log(n)).sum() + 2 * exponential_family_c(math.log((K - 1) / delta) / 2),
                "kk21-gauss": 2 * np.log(4 + np.log(n)).sum() + 2 * gaussian_c(math.log((K - 1) / delta) / 2),
                "tt-bounded": math.log(1 / delta) + 2 * math.log(1 + self.t / 2) + 2 + math.log(K - 1),
            }[threshold]
            if self.W(best, j) <= beta:
                return False
        return True

    def bound(self, arm: int, rate: float, up: bool = True) -> float:
        """The end of {q: N d(m, q) <= rate}, by halving."""
        near, far = self.m[arm], (1.0 if up else 0.0) if self.family == "bernoulli" else self.m[arm] + (9 if up else -9)
        for _ in range(80):
            middle = (near + far) / 2
            near, far = (middle, far) if self.N[arm] * self.d(self.m[arm], middle) <= rate else (near, middle)
        return near


Decide = Callable[[Plain], int]


def follow(decide: Decide, rewards: np.ndarray, delta: float, family: str, sigma: float) -> Plain:
    plain = Plain(rewards, delta, family, sigma)
    while plain.t < CAP:
        arm = decide(plain)
        if arm == STOP:
            break
        plain.pull(arm)
    return plain


def track_and_stop(tracking: str, lazy: float, threshold: str, rng: Any) -> Decide:
    state: dict[str, Any] = {"due": 0, "sums": None}

    def decide(s: Plain) -> int:
        if s.separated(threshold):
            return STOP
        if s.t >= state["due"]:
            means = np.clip(s.m, 1e-6, 1 - 1e-6) if s.family == "bernoulli" else s.m
            state["w"] = optimal_weights(means, None if s.family == "bernoulli" else s.sigma**2)
            state["due"] = s.t * (1 + lazy)
        w, N, t, K = state["w"], s.N, s.t, s.K
        if tracking == "C":
            if state["sums"] is None:
                state["sums"] = N.astype(float)
            eps = 1 / (2 * math.sqrt(K**2 + t))
            above = np.maximum(w - eps, 0)
            state["sums"] = state["sums"] + eps + above / above.sum() * (1 - K * eps)
            return s.argmax(state["sums"] - N)
        if (math.sqrt(t) - K / 2 >= N).any():
            return s.argmax(-N)
        return s.argmax(t * w - N)

    return decide


def pick(s: Plain, state: dict[str, Any], best: int, other: int, beta: Any, select: str, rng: Any) -> int:
    if select == "tracking":
        led, own = state.setdefault("led", np.zeros(s.K)), state.setdefault("own", np.zeros(s.K))
        led[best] += 1
        if own[best] <= beta * led[best]:
            own[best] += 1
            return best
        return other
    if beta == "ids":
        n, m = s.N[best], s.N[other]
        p = (n * s.m[best] + m * s.m[other]) / (n + m)
        parts = n * s.d(s.m[best], p), m * s.d(s.m[other], p)
        beta = parts[0] / sum(parts)
    return best if rng.random() < beta else other


def posterior_draw(s: Plain, rng: Any) -> int:
    draws = []
    for n, m in zip(s.N, s.m, strict=True):
        if s.family == "bernoulli":
            a = rng.standard_gamma(1 + n * m)
            draws.append(a / (a + rng.standard_gamma(1 + n * (1 - m))))
        else:
            draws.append(m + s.sigma / math.sqrt(n) * rng.standard_normal())
    return s.argmax(draws)


def top_two(name: str, beta: Any, select: str, threshold: str, rng: Any) -> Decide:
    state: dict[str, Any] = {}

    def decide(s: Plain) -> int:
        if s.separated(threshold):
            return STOP
        if name in ("T3C", "TTTS-GLR"):
            best = posterior_draw(s, rng)
        elif name == "TTUCB":
            g = inverse_h(2.88 * math.log(s.t) + 2 * math.log(2 + 1.2 * math.log(s.t)) + 2)
            best = s.argmax(s.m + s.sigma * np.sqrt(g / s.N))
        else:
            best = s.argmax(s.m)
        if name == "TTTS-GLR":
            if rng.random() < beta:
                return best
            while (other := posterior_draw(s, rng)) == best:
                pass
            return other
        scores = -np.array([s.W(best, j) for j in range(s.K)])
        if name == "EB-TCI":
            scores -= np.log(s.N)
        if name == "TTEI":

            def v(spread: Any, level: float) -> Any:
                x = (s.m - level) / spread
                return np.log(spread * (x * ndtr(x) + np.exp(-x * x / 2) / math.sqrt(2 * math.pi)))

            best = s.argmax(v(s.sigma / np.sqrt(s.N), s.m.max()))
            scores = v(s.sigma * np.sqrt(1 / s.N + 1 / s.N[best]), s.m[best])
        scores[best] = -np.inf
        return pick(s, state, best, s.argmax(scores), beta, select, rng)

    return decide


def rate(s: Plain, arm: int, threshold: str) -> float:
    if threshold == "union":
        return math.log(4 * s.K * s.N[arm] ** 2 / s.delta)
    return math.log((1 + math.log(s.t)) / s.delta)


def kl_lucb(threshold: str, epsilon: float = 0.0) -> Decide:
    waiting: list[int] = []

    def decide(s: Plain) -> int:
        if waiting:
            return waiting.pop()
        B = s.argmax(s.m)
        U = {a: s.bound(a, rate(s, a, threshold)) for a in range(s.K) if a != B}
        C = max(U, key=lambda a: U[a])
        if s.bound(B, rate(s, B, threshold), up=False) >= U[C] - epsilon:
            return STOP
        waiting.append(C)
        return B

    return decide


def elimination(name: str, threshold: str) -> Decide:
    left: list[int] = []

    def decide(s: Plain) -> int:
        if not left:
            left.extend(range(s.K))
        if len({s.N[a] for a in left}) == 1:  # end of a round
            best, worst = max(left, key=lambda a: s.m[a]), min(left, key=lambda a: s.m[a])
            if name == "SE":
                width = s.sigma * math.sqrt(2 * math.log(4 * s.K * s.N[best] ** 2 / s.delta) / s.N[best])
                left[:] = [a for a in left if s.m[best] - s.m[a] < 2 * width]
            else:
                low = s.bound(best, rate(s, best, threshold), up=False)
                if low > s.bound(worst, rate(s, worst, threshold)):
                    left.remove(worst)
        return STOP if len(left) == 1 else min(left, key=lambda a: (s.N[a], a))

    return decide


def lil_ucb(threshold: str) -> Decide:
    def decide(s: Plain) -> int:
        e, b, ratio, log_d = 0.0, 0.5, 1 + 10 / s.K, math.log(s.delta / 5)
        if threshold == "lil":
            e, b, ratio = 0.01, 1.0, 9.0
            c = (2 + e) / e * (1 / math.log(1 + e)) ** (1 + e)
            log_d = 2 * math.log((math.sqrt(1 + s.delta) - 1) / 2) - math.log(c)  # 4 x + 4 x^2 = delta
        if (ratio * (s.t - s.N) + 1 <= s.N).any():
            return STOP
        with np.errstate(divide="ignore", invalid="ignore"):
            inner = np.log(np.log((1 + e) * s.N)) - log_d
            width = (1 + b) * (1 + math.sqrt(e)) * s.sigma * np.sqrt(2 * (1 + e) * inner / s.N)
        return s.argmax(s.m + np.where(inner > 0, width, np.inf))

    return decide


def fws(threshold: str) -> Decide:
    state: dict[str, Any] = {}

    def decide(s: Plain) -> int:
        if s.separated(threshold):
            return STOP
        K, t, N, best = s.K, s.t, s.N, s.argmax(s.m)
        m = np.clip(s.m, 1e-6, 1 - 1e-6) if s.family == "bernoulli" else s.m
        x = state.setdefault("x", np.full(K, 1 / K))
        z = np.full(K, 1 / K)
        if math.isqrt(t // K) ** 2 != t // K:
            gradients, f = {}, {}
            for j in set(range(K)) - {best}:
                p = (x[best] * m[best] + x[j] * m[j]) / (x[best] + x[j])
                gradient = np.zeros(K)
                gradient[best], gradient[j] = s.d(m[best], p), s.d(m[j], p)
                gradients[j], f[j] = gradient, x @ gradient
            J = [j for j in f if f[j] < min(f.values()) + t**-0.9 / K]
            if len(J) == 1:
                z = np.eye(K)[gradients[J[0]].argmax()]
            else:  # variables z and the value v
                rows = np.array([[*(x @ gradients[j] - gradients[j]), 1.0] for j in J])
                scale = np.abs(rows[:, :K]).max()
                rows[:, :K] /= scale
                found = linprog(
                    [*[0.0] * K, -1.0],
                    rows,
                    np.zeros(len(J)),
                    [[*[1.0] * K, 0.0]],
                    [1.0],
                    [*[(0, None)] * K, (None, None)],
                )
                z = found.x[:K]
        state["x"] = x * (t - 1) / t + z / t
        return s.argmax(state["x"] / N)

    return decide


def ada_hedge(threshold: str) -> Decide:
    state: dict[str, Any] = {}

    def decide(s: Plain) -> int:
        if s.separated(threshold):
            return STOP
        K, best, level = s.K, s.argmax(s.m), math.log(s.t)
        sums = state.setdefault("sums", s.N.astype(float))
        L, D = state.setdefault(best, (np.zeros(K), 0.01))
        eta = math.log(K) / D
        w = np.exp(-eta * (L - L.min()))
        w /= w.sum()

        def mix(losses: np.ndarray) -> float:
            return float(losses.min() - np.log(np.exp(-eta * (losses - losses.min())).mean()) / eta)

        def worth(j: int) -> tuple[float, float]:
            p = (w[best] * s.m[best] + w[j] * s.m[j]) / (w[best] + w[j])
            return w[best] * s.d(s.m[best], p) + w[j] * s.d(s.m[j], p), p

        rival = min(set(range(K)) - {best}, key=lambda j: worth(j)[0])
        closest = s.m.copy()
        closest[best] = closest[rival] = worth(rival)[1]
        gains = np.array(
            [
                max(s.d(s.bound(k, level), closest[k]), s.d(s.bound(k, level, up=False), closest[k]), level / s.N[k])
                for k in range(K)
            ]
        )
        state[best] = L - gains, D + max(-w @ gains - (mix(L - gains) - mix(L)), 0.0)
        state["sums"] = sums + w
        return s.argmax(state["sums"] - s.N)

    return decide


def fc_dsh_fresh() -> Decide:
    state: dict[str, Any] = {"m": 0}

    def phase(s: Plain) -> Any:
        L, m = math.ceil(math.log2(s.K)), 0
        used = [0] * s.K  # samples of former stages
        while True:
            m += 1
            A, means, widths = list(range(s.K)), np.zeros(s.K), np.zeros(s.K)
            while len(A) > 1:
                pulls = math.ceil(s.K * L * 2 ** (m - 1) / (L * len(A)))
                yield from A * pulls
                for arm in A:
                    own = s.samples[arm][used[arm] : used[arm] + pulls]
                    used[arm] += pulls
                    means[arm] = math.fsum(own) / pulls
                    widths[arm] = s.sigma * math.sqrt(2 * math.log(6 * s.K * L * m**2 / s.delta) / pulls)
                A = sorted(sorted(A, key=lambda a: (-means[a], a))[: math.ceil(len(A) / 2)])
            others = [a for a in range(s.K) if a != A[0]]
            if means[A[0]] - widths[A[0]] >= max(means[others] + widths[others]):
                state["winner"] = A[0]
                yield STOP

    def decide(s: Plain) -> int:
        if "plan" not in state:
            state["plan"] = phase(s)
            for _ in range(s.K):  # the first pull of each arm has been made
                next(state["plan"])
        return next(state["plan"])  # type: ignore[no-any-return]

    return decide


def fc_dsh_reuse(threshold: str, factor: float) -> Decide:
    state: dict[str, Any] = {"base": 1.0, "A": None}

    def decide(s: Plain) -> int:
        if s.separated(threshold):
            return STOP
        if state["A"] is None:
            state["A"] = list(range(s.K))
        while True:
            A = state["A"]
            arm = min(A, key=lambda a: (s.N[a], a))
            if s.N[arm] < math.ceil(state["base"] * s.K / len(A)):
                return arm
            state["A"] = sorted(A, key=lambda a: (-s.m[a], a))[: math.ceil(len(A) / 2)]
            if len(state["A"]) == 1:
                state["A"], state["base"] = list(range(s.K)), state["base"] * factor

    return decide


# Name and parameters of the agent; the transcription, given the agent's own generator.
FAMILIES: list[tuple[str, dict[str, Any], Callable[[Any], Decide]]] = [
    ("TrackAndStop", {"threshold": "gk16", "lazy": 0.1}, lambda rng: track_and_stop("D", 0.1, "gk16", rng)),
    ("T3C", {"threshold": "gk16"}, lambda rng: top_two("T3C", 0.5, "random", "gk16", rng)),
    ("T3C", {"threshold": "gk16", "beta": 0.3}, lambda rng: top_two("T3C", 0.3, "random", "gk16", rng)),
    ("TTTS-GLR", {"threshold": "gk16", "tries": 10**6}, lambda rng: top_two("TTTS-GLR", 0.5, "random", "gk16", rng)),
    ("EB-TC", {"threshold": "gk16"}, lambda rng: top_two("EB-TC", 0.5, "random", "gk16", rng)),
    ("EB-TC", {"threshold": "gk16", "beta": "ids"}, lambda rng: top_two("EB-TC", "ids", "random", "gk16", rng)),
    (
        "EB-TCI",
        {"select": "tracking", "threshold": "gk16"},
        lambda rng: top_two("EB-TCI", 0.5, "tracking", "gk16", rng),
    ),
    ("EB-TCI", {"beta": "ids", "threshold": "gk16"}, lambda rng: top_two("EB-TCI", "ids", "random", "gk16", rng)),
    ("KL-LUCB", {"threshold": "gk16"}, lambda rng: kl_lucb("gk16")),
    ("KL-Racing", {"threshold": "gk16"}, lambda rng: elimination("KL-Racing", "gk16")),
    ("FC-DSH", {"reuse": True, "factor": 1.3, "threshold": "gk16"}, lambda rng: fc_dsh_reuse("gk16", 1.3)),
]
# For Gaussian rewards the linear program and the losses have exact ties, which rounding breaks.
BERNOULLI_ONLY: list[tuple[str, dict[str, Any], Callable[[Any], Decide]]] = [
    ("FWS", {"threshold": "gk16"}, lambda rng: fws("gk16")),
    ("AdaHedge-BR", {"threshold": "gk16"}, lambda rng: ada_hedge("gk16")),
]
GAUSSIAN_ONLY: list[tuple[str, dict[str, Any], Callable[[Any], Decide]]] = [
    ("TrackAndStop", {"threshold": "kk21", "lazy": 0.1}, lambda rng: track_and_stop("D", 0.1, "kk21", rng)),
    ("TrackAndStop", {"threshold": "gk16"}, lambda rng: track_and_stop("D", 0.0, "gk16", rng)),
    ("TrackAndStop", {"threshold": "gk16", "tracking": "C"}, lambda rng: track_and_stop("C", 0.0, "gk16", rng)),
    ("TTUCB", {"threshold": "gk16"}, lambda rng: top_two("TTUCB", 0.5, "tracking", "gk16", rng)),
    ("TTUCB", {"select": "random"}, lambda rng: top_two("TTUCB", 0.5, "random", "kk21-gauss", rng)),
    ("TTEI", {"threshold": "gk16"}, lambda rng: top_two("TTEI", 0.5, "random", "gk16", rng)),
    ("KL-LUCB", {}, lambda rng: kl_lucb("union")),
    ("KL-Racing", {}, lambda rng: elimination("KL-Racing", "union")),
    ("SE", {}, lambda rng: elimination("SE", "union")),
    ("lil-UCB", {"sigma": 0.1}, lambda rng: lil_ucb("lil")),
    ("lil-UCB", {"threshold": "lil-heuristic"}, lambda rng: lil_ucb("lil-heuristic")),
    ("FC-DSH", {"sigma": 0.1}, lambda rng: fc_dsh_fresh()),
]
NAMES = ("name", "parameters", "transcription")


def check(trace: Play, name: str, parameters: dict[str, Any], transcription: Any, family: str) -> None:
    rng = np.random.default_rng(7)
    # In [0, 1] for the Bernoulli family, without ties.
    rewards = (
        rng.normal(MEANS[:, None], 0.25, (4, CAP))
        if family == "gaussian"
        else rng.beta(4 * MEANS, 4 - 4 * MEANS, (CAP, 4)).T
    )
    agent = agents.make(name, tie="first", delta=0.1, family=family, **{"sigma": 0.25, **parameters})
    decide = transcription(np.random.default_rng(5))
    plain = follow(decide, rewards, 0.1, family, parameters.get("sigma", 0.25))
    played = trace(agent, rewards, CAP, seed=5, fixed_confidence=True)
    assert played.arms == plain.pulls
    assert len(played.arms) < CAP and played.recommendation == plain.argmax(plain.m) == 2


def labels(cases: list[Any]) -> list[str]:
    return [f"{name} {parameters}" for name, parameters, _ in cases]


SHORT = [case for case in FAMILIES + GAUSSIAN_ONLY if case[1].get("threshold") in ("gk16", "lil-heuristic")]
LONG = [case for case in FAMILIES + GAUSSIAN_ONLY if case not in SHORT]


@pytest.mark.each(NAMES, SHORT, ids=labels(SHORT))
def test_episodes_follow_the_transcription(trace: Play, name: str, parameters: dict, transcription: Any) -> None:
    check(trace, name, parameters, transcription, "gaussian")


@pytest.mark.slow
@pytest.mark.each(NAMES, LONG, ids=labels(LONG))
def test_so_do_long_ones(trace: Play, name: str, parameters: dict, transcription: Any) -> None:
    check(trace, name, parameters, transcription, "gaussian")


@pytest.mark.slow
@pytest.mark.each(NAMES, FAMILIES + BERNOULLI_ONLY, ids=labels(FAMILIES + BERNOULLI_ONLY))
def test_so_do_those_of_bernoulli_rewards(trace: Play, name: str, parameters: dict, transcription: Any) -> None:
    check(trace, name, parameters, transcription, "bernoulli")


def test_a_step_of_fws_towards_equal_proportions_by_hand(episode: Play) -> None:
    """8 pulls of 2 arms: 8 / 2 is a square, so 1/8 of the proportions are replaced by equal ones."""
    s = FWSState.of(x=np.array([0.8, 0.2]), z=np.zeros(2), score=np.zeros(2))
    assert frank_wolfe(episode([6, 2], [0.5, 0.25], pulled=0), s, np.random.default_rng(0)) == 0
    assert s.x.tolist() == pytest.approx([0.8 * 7 / 8 + 1 / 16, 0.2 * 7 / 8 + 1 / 16], rel=1e-12)


def test_matrix_games_are_solved_exactly() -> None:
    rng = np.random.default_rng(0)
    for rows, columns in ((2, 1), (3, 2), (4, 3), (6, 5)):
        payoff = rng.normal(size=(rows, columns))
        table, z = np.zeros((rows + 1, 2 * rows + 1)), np.zeros(rows)
        table[:rows, :columns] = 1 + (payoff - payoff.min()) / np.ptp(payoff)
        solve_game(table.reshape(-1), rows, columns, 2 * rows + 1, np.zeros(rows), z)
        best = linprog(
            [*[0.0] * rows, -1.0],
            np.hstack([-payoff.T, np.ones((columns, 1))]),
            np.zeros(columns),
            [[*[1.0] * rows, 0.0]],
            [1.0],
            [*[(0, None)] * rows, (None, None)],
        )
        assert z.sum() == pytest.approx(1) and z.min() >= 0
        assert (z @ payoff).min() == pytest.approx(-best.fun, abs=1e-9)


def test_a_dropped_arm_is_not_recommended(trace: Play) -> None:
    # With n pulls widths are 0.31 and 0.25: arm 0 is dropped after round 1 (1.3 against 2), and arm 2 after round 2
    # (0.3 against 1.2). The arm that is left then has a smaller mean than arm 0.
    for name in ("SE", "KL-Racing"):
        agent = agents.make(name, sigma=0.1, delta=0.1, tie="first")
        played = trace(agent, [[1.3], [2.0, 0.4], [1.5, -0.9]], 20, fixed_confidence=True)
        assert (played.arms, played.recommendation) == ([0, 1, 2, 1, 2], 1), name


def test_kl_lucb_with_an_accuracy(trace: Play) -> None:
    rewards = np.random.default_rng(3).normal(MEANS[:, None], 0.25, (4, CAP))
    plain = follow(kl_lucb("union", 0.2), rewards, 0.1, "gaussian", 0.25)
    played = trace(
        agents.make("KL-LUCB", tie="first", sigma=0.25), rewards, CAP, task=BestArm(0.2), fixed_confidence=True
    )
    exact = trace(agents.make("KL-LUCB", tie="first", sigma=0.25), rewards, CAP, fixed_confidence=True)
    assert played.arms == plain.pulls and len(played.arms) < len(exact.arms)


def play(name: str, bandit: Any, episodes: int, limit: int = 100_000, seed: int = 0, **parameters: Any) -> Rollout:
    agent = agents.make(name, **parameters)
    batch = bandit.select(np.zeros(episodes, np.int64))
    info = ProblemInfo(bandit.num_arms, limit, episodes, fixed_confidence=True, truth=batch, knows=agent.knows)
    agent.reset(info, np.random.default_rng([seed, 0]))
    return play_blocks(agent, batch, limit, np.random.default_rng([seed, 1]))


EVERY = sorted({case[0] for case in FAMILIES + GAUSSIAN_ONLY + BERNOULLI_ONLY})


@pytest.mark.each("name", EVERY)
def test_units_and_labels_do_not_matter(name: str) -> None:
    """The numbers of pulls have the same distribution after a shift, a change of scale, in another order of arms."""
    means, order = np.array([1.0, 0.5, 0.2]), np.array([2, 0, 1])
    one = play(name, GaussianBandit(means, 0.04), 400, sigma=0.2)
    moved = play(name, GaussianBandit(30.0 * means[order] - 7.0, 36.0), 400, seed=1, sigma=6.0)
    assert ks_2samp(one.pulls.sum(1), moved.pulls.sum(1), method="asymp").pvalue > 1e-4
    for place, arm in enumerate(order):
        assert ks_2samp(one.pulls[:, arm], moved.pulls[:, place], method="asymp").pvalue > 1e-4
    table = [np.bincount(r.recommendation, minlength=3) for r in (one, moved)]
    table[1] = table[1][np.argsort(order)]
    filled = np.stack(table)[:, np.sum(table, axis=0) > 0]
    assert filled.shape[1] == 1 or chi2_contingency(filled).pvalue > 1e-4


def test_the_tail_of_eb_tc_is_heavy_and_that_of_eb_tci_is_not() -> None:
    bandit = BernoulliBandit([0.3, 0.21, 0.2, 0.19, 0.18])
    spent = {
        name: play(name, bandit, 400, 1_000_000, family="bernoulli", threshold="gk16").pulls.sum(1)
        for name in ("EB-TC", "EB-TCI")
    }
    medians = {name: float(np.median(pulls)) for name, pulls in spent.items()}
    assert 1200 < medians["EB-TC"] < 1900 and 1200 < medians["EB-TCI"] < 1900
    assert np.quantile(spent["EB-TC"], 0.95) > 8000 > 4000 > np.quantile(spent["EB-TCI"], 0.95)
