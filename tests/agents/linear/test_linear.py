"""LinUCB, LinGapE and LinGapE-Greedy: by hand, fast forms against plain rules, and where arms are alike."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bai_gym.agents import LinGapE, LinGapEGreedy, LinUCB
from bai_gym.agents.linear import pair_designs
from bai_gym.agents.tools import choosing
from bai_gym.agents.tools.widths import EllipsoidState, ellipsoid_radius
from bai_gym.bandits import FeatureBandit, GaussianBandit
from bai_gym.benchmark.rollout import play_blocks
from bai_gym.errors import ParameterError
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Episode, Index
from bai_gym.statistics import Statistics

Play = Callable[..., Any]
GAPE = [LinGapE, LinGapEGreedy]
ALL = [LinUCB, *GAPE]

# ------------------------------------------------------------------------------------------------ fast forms


def sphere(num_arms: int, dimension: int, seed: int) -> np.ndarray:
    x = np.random.default_rng(seed).standard_normal((num_arms, dimension))
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))


def adaptive(num_arms: int) -> np.ndarray:
    features = np.vstack([np.eye(num_arms - 1), np.zeros(num_arms - 1)])
    features[-1, :2] = math.cos(0.1), math.sin(0.1)
    return features


# Scales differ, so that arms are not alike; the last two have more features than arms, and a lower rank than features.
WORLDS: dict[str, np.ndarray] = {
    "inverse": sphere(20, 3, 0) * np.linspace(0.5, 2.0, 20)[:, None],
    "whole": sphere(7, 5, 1),
    "groups": adaptive(9) * np.linspace(1.0, 1.2, 9)[:, None],
    "long": sphere(6, 9, 2),
    "flat": sphere(8, 3, 3) @ sphere(3, 6, 4),
}


def world(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Features, and 150 noisy rewards of each arm."""
    x = WORLDS[name]
    rng = np.random.default_rng(10)
    return x, (x @ rng.standard_normal(x.shape[1]))[:, None] + rng.standard_normal((len(x), 150))


@pytest.mark.each(
    ("kind", "given"),
    [
        (LinUCB, {"alpha": 0.51296, "lam": 0.5}),
        (LinGapE, {"radius": "authors", "delta": 0.9, "lam": 0.01, "sigma": 0.2, "S": 0.5}),
        (LinGapEGreedy, {"radius": "determinant", "sigma": 1.0, "S": 0.5}),
    ],
)
@pytest.mark.each("name", list(WORLDS))
def test_all_forms_of_the_matrix_play_as_the_plain_rule(
    trace: Play, name: str, kind: Any, given: dict[str, Any]
) -> None:
    x, rewards = world(name)
    fast, plain = (trace(kind(tie="first", plain=plain, **given), rewards, 90, features=x) for plain in (False, True))
    assert fast == plain


@pytest.mark.each("kind", ALL)
def test_episodes_of_a_batch_are_played_as_each_by_itself(kind: Any) -> None:
    # Without noise every reward is known beforehand. Features differ between episodes, and are the same for all.
    runs, n = 3, 60
    for x in (np.stack([sphere(7, 5, seed) for seed in range(runs)]), np.tile(sphere(24, 4, 9), (runs, 1, 1))):
        theta = np.random.default_rng(0).standard_normal((runs, x.shape[2]))
        bandit = FeatureBandit(GaussianBandit((x * theta[:, None, :]).sum(axis=2), 0.0), x)
        played = []
        for rows, plain in ((np.arange(runs), False), *((np.array([run]), True) for run in range(runs))):
            agent, own = kind(sigma=0.7, tie="first", plain=plain), bandit.select(rows)
            agent.reset(ProblemInfo(x.shape[1], n, rows.size, truth=own, knows=agent.knows))
            played.append(play_blocks(agent, own, n, np.random.default_rng(0)))
        for run in range(runs):
            np.testing.assert_array_equal(played[0].pulls[run], played[1 + run].pulls[0])
            assert played[0].recommendation[run] == played[1 + run].recommendation[0]


# ------------------------------------------------------------------------------------------------ by hand


@pytest.mark.each("plain", [False, True])
def test_lin_ucb_by_hand(trace: Play, plain: bool) -> None:
    # A = I: widths 1 and sqrt 2: arm 1, which pays 2. A = [2 1; 1 2], theta = (2/3, 2/3), both squares 2/3: 0.667 +
    # 0.816 against 1.333 + 0.816: arm 1, 0. A = [3 2; 2 3], theta = (2/5, 2/5), squares 3/5, 2/5: 1.175, 1.432: arm 1.
    # It pays -2:
    # A = [4 3; 3 4], theta = 0, squares 4/7, 2/7: arm 0, 1. A = [5 3; 3 4], theta = (4, -3) / 11, squares 4/11, 3/11:
    # 0.967, 0.613: arm 0, 1. A = [6 3; 3 4], theta = (8, -6) / 15, squares 4/15 both: 1.05, 0.65: arm 0.
    rewards, features = [[1.0], [2.0, 0.0, -2.0]], [[1.0, 0.0], [1.0, 1.0]]
    played = trace(LinUCB(alpha=1.0, plain=plain), rewards, 6, features=features)
    assert played.arms == [1, 1, 1, 0, 0, 0]
    assert played.recommendation == 0  # three pulls each: x^T theta decides, 12/19 against 3/19
    assert trace(LinUCB(alpha=1.0, plain=plain), rewards, 5, features=features).recommendation == 1


def test_disjoint_lin_ucb_by_hand(trace: Play) -> None:
    # Arm 1 has the square 2: its index is 2 s / (1 + 2 T) + sqrt(2 / (1 + 2 T)): 1.41, 2.15, 1.43, then 0.53, below 1.
    # Arm 0: 1 / 2 + sqrt(1 / 2) = 1.21, and it stays the larger.
    played = trace(LinUCB(alpha=1.0, model="disjoint"), [[1.0], [2.0, 0.0, -2.0]], 5, features=[[1.0, 0.0], [1.0, 1.0]])
    assert played.arms == [1, 1, 1, 0, 0]
    assert played.recommendation == 1
    # lam = 4: arm 1 has the widths sqrt(4 / (4 + 4 T)), 1, 0.71, 0.58, and arm 0 has sqrt(1 / 4).
    agent = LinUCB(alpha=1.0, lam=4.0, model="disjoint")
    assert trace(agent, [[0.0], [0.0]], 3, features=[[1.0], [2.0]]).arms == [1, 1, 1]


def test_the_radius_of_oful(trace: Play) -> None:
    # L^2 = 2, n = 10, lam = 2: log((1 + 10) / 0.1).
    agent = LinUCB(sigma=0.5, delta=0.1, lam=2.0, S=3.0)
    trace(agent, [[1.0], [2.0]], 10, features=[[1.0, 0.0], [1.0, 1.0]])
    assert agent.width_factor == pytest.approx(0.5 * math.sqrt(2 * math.log(110)) + math.sqrt(2) * 3)
    with pytest.raises(ParameterError, match="lam of LinUCB"):  # rounding errors would be seen
        trace(LinUCB(lam=1e-12), [[1.0], [2.0]], 10, features=[[1.0, 0.0], [1.0, 1.0]])
    # Told the variances 4 and 9.
    agent = LinUCB()
    trace(agent, [[1.0], [2.0]], 10, variances=[4.0, 9.0], features=[[1.0, 0.0], [0.5, 0.0]])
    assert agent.width_factor == pytest.approx(3.0 * math.sqrt(2 * math.log(11 / 0.05)) + 1.0)


@pytest.mark.each("plain", [False, True])
@pytest.mark.each("kind", GAPE)
def test_lin_gape_by_hand(trace: Play, kind: Any, plain: bool) -> None:
    # C = 1: sigma is next to nothing. Once each: A = [3 1; 1 3], theta = (3, -1) / 8, i = 0. Arm 1 - 0 = (-1, 1):
    # square 1, -0.5 + 1; arm 2 - 0 = (0, 1): square 3/8, -0.125 + 0.612 < 0.5. So j = 1, w = (1, -1, 0), and arms 0 and
    # 1 are tied (greedy: 0.25 / (1 + 3/8) each): arm 0, 1. A = [4 1; 1 3], theta = (6, -2) / 11. Arm 1: -0.727 + 0.905,
    # arm 2: -0.182 + 0.603: j = 2, and x_0 - x_2 = -x_1: arm 1 tells them apart (greedy: 0.097, of arm 2 0.051). The
    # same again.
    rewards, features = [[1.0], [0.0], [0.0]], [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
    played = trace(kind(sigma=1e-12, tie="first", plain=plain), rewards, 6, features=features)
    assert played.arms == [0, 1, 2, 0, 1, 1]
    assert played.recommendation == 0


@pytest.mark.each("plain", [False, True])
def test_the_design_of_three_arms_by_hand(trace: Play, plain: bool) -> None:
    # Arms 0 and 1 pay 1 and are nearly the same: (1, 0) - (1, 0.1) = -0.02 (0, 5), so arm 2 alone is their design. It
    # pays 0, and with C = 0.01 it is never a rival itself.
    features = [[1.0, 0.0], [1.0, 0.1], [0.0, 5.0]]
    agent = LinGapE(sigma=1e-12, S=0.01, tie="first", plain=plain)
    played = trace(agent, [[1.0], [1.0], [0.0]], 10, features=features)
    assert played.arms == [0, 1, 2, 2, 2, 2, 2, 2, 2, 2]


@pytest.mark.each("plain", [False, True])
@pytest.mark.each("kind", GAPE)
def test_of_arms_with_the_same_features_the_less_pulled_is_pulled(trace: Play, kind: Any, plain: bool) -> None:
    # Arm 2 is so bad that only arm 1 could be as good as arm 0, and it is the same arm.
    features = [[1.0, 2.0], [1.0, 2.0], [2.0, -1.0]]
    played = trace(kind(sigma=1e-12, S=0.1, tie="first", plain=plain), [[5.0], [5.0], [-5.0]], 9, features=features)
    assert played.arms == [0, 1, 2, 0, 1, 0, 1, 0, 1]
    assert played.recommendation == 0  # four pulls, and three of arm 1


# ------------------------------------------------------------------------------------------------ small budgets


def test_the_smallest_budgets(trace: Play) -> None:
    x = sphere(4, 3, 0)
    rewards = [[0.1], [0.9], [0.3], [0.2]]
    # Of a single pull LinUCB recommends what it has pulled; the longest arm comes first.
    played = trace(LinUCB(sigma=1.0), rewards, 1, features=x * np.array([1, 1, 3, 1])[:, None])
    assert played.arms == [2] and played.recommendation == 2
    for kind in GAPE:
        # Exactly the first pulls: there is no rule, but an estimate.
        played = trace(kind(sigma=1.0, tie="first"), rewards, 4, features=x)
        assert played.arms == [0, 1, 2, 3]
        theta = np.linalg.solve(np.eye(3) + x.T @ x, x.T @ np.ravel(rewards))
        assert played.recommendation == (x @ theta).argmax()
        played = trace(kind(sigma=1.0, allow_small_budget=True), rewards, 2, features=x)
        assert len(set(played.arms)) == 2
        assert played.recommendation == max(played.arms, key=lambda arm: rewards[arm][0])


# ------------------------------------------------------------------------------------------------ ties


def test_ties_of_rounded_numbers_are_found() -> None:
    # Rewards of 0.1, 0.2, 0.3 in another order give sums that differ in the last bit. All four arms are alike, and so
    # arm 0 wins by its number as soon as pulls are equal.
    values = np.array([[0.1 + 0.2 + 0.3, 0.3 + 0.2 + 0.1, 0.6, 0.5], [1.0, 1.0 - 1e-12, 2.0, 2.0 + 1e-12]])
    assert len(set(values[0].tolist())) == 3
    pulls = np.array([[3, 2, 2, 1], [1, 1, 5, 5]])
    largest = choosing.largest
    assert largest(values, np.zeros(2), pulls, "first", np.random.default_rng(0)).tolist() == [1, 2]
    drawn = np.array([largest(values, np.zeros(2), pulls, "random", np.random.default_rng(s)) for s in range(100)])
    assert set(drawn[:, 0].tolist()) == {0, 1, 2} and set(drawn[:, 1].tolist()) == {2, 3}
    # What the values are sums of counts too.
    assert largest(np.array([[1e-12, 0.0]]), np.ones(1), np.array([[2, 1]]), "first", np.random.default_rng(0)) == [1]
    assert largest(np.array([[-np.inf, -3.0]]), np.ones(1), np.zeros((1, 2)), "first", np.random.default_rng(0)) == [1]


# ------------------------------------------------------------------------------------------------ designs


@pytest.mark.each("plain", [False, True])
def test_without_a_design_the_greedy_pull_is_made(trace: Play, monkeypatch: pytest.MonkeyPatch, plain: bool) -> None:
    def lost(coordinates: Any, rows: Any, first: Any, second: Any) -> Any:
        return np.zeros((len(rows), coordinates.shape[1])), np.zeros(len(rows), dtype=bool)

    monkeypatch.setattr(pair_designs, "solve_contrasts", lost)
    x, rewards = world("whole")
    given: dict[str, Any] = {"sigma": 1.0, "tie": "first", "plain": plain}
    assert trace(LinGapE(**given), rewards, 60, features=x) == trace(LinGapEGreedy(**given), rewards, 60, features=x)


# ------------------------------------------------------------------------------------------------ errors, knowledge


def reset(agent: Any, features: Any = None, budget: int = 20) -> None:
    truth = FeatureBandit(GaussianBandit([0.0, 1.0, 2.0]), np.eye(3) if features is None else features)
    agent.reset(ProblemInfo(3, budget, truth=truth, knows=agent.knows))


def radius_of(agent: Any, made: int, log_det: float) -> float:
    """C_t of the first episode."""
    values = {name: float(np.ravel(agent.values[name])[0]) for name in EllipsoidState.numbers if name != "log_det"}
    zeros, none = np.zeros(3), np.zeros(0)
    e = Episode(
        3, zeros, zeros, zeros, np.ones(3, np.int8), zeros[:, None], Index(none, none), -1, made, 20, -1, 0.0, 0
    )
    return ellipsoid_radius(e, EllipsoidState.of(**values, log_det=log_det)[0])


@pytest.mark.each("kind", GAPE)
@pytest.mark.each("radius", ["authors", "determinant"])
def test_the_radius(kind: Any, radius: str) -> None:
    agent = kind(sigma=0.5, delta=0.1, lam=2.0, S=3.0, radius=radius)
    reset(agent, [[1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    # K = 3, L^2 = 2; after 5 pulls with det A / det lam I = 7.
    found = radius_of(agent, 5, math.log(7.0))
    level = 2 * math.log(9 * (1 + 5 * 2) / (2 * 0.1)) if radius == "authors" else 2 * math.log(9 * math.sqrt(7) / 0.1)
    assert found == pytest.approx(0.5 * math.sqrt(level) + math.sqrt(2) * 3)
    # A lam so large that the logarithm would be negative leaves the term of the bound S.
    agent = kind(sigma=0.5, lam=1e9, S=0.0, radius=radius)
    reset(agent)
    if radius == "authors":
        assert radius_of(agent, 5, 0.0) == pytest.approx(0.0)


def test_the_recommendation_prefers_more_pulls() -> None:
    for kind in GAPE:
        agent = kind(sigma=1.0)
        truth = FeatureBandit(GaussianBandit([0.0, 0.0, 0.0]), [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
        agent.reset(ProblemInfo(3, 7, truth=truth), np.random.default_rng(0))
        statistics = Statistics(np.array([[2, 4, 1]]), np.array([[1.0, 1.0, 0.0]]), np.zeros((1, 3)))
        observation = {"pulls": statistics.pulls, "means": statistics.means, "remaining": np.array([[0]])}
        assert agent.recommend(observation).tolist() == [1]
