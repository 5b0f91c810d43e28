"""GSE against cases worked by hand, its designs, and parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bai_gym import agents
from bai_gym.agents import SequentialAgent
from bai_gym.agents.linear import linear_models
from bai_gym.bandits import BernoulliBandit, FeatureBandit
from bai_gym.benchmark.rollout import play_blocks
from bai_gym.errors import AgentError, BudgetError, ParameterError
from bai_gym.linear import linear_bandit
from bai_gym.linear.designs import exchange_design, frank_wolfe, greedy_allocation, round_design, variances
from bai_gym.problems import ProblemInfo
from bai_gym.statistics import Statistics

LINEAR = ("GSE-Lin", "GSE-Lin-FWG", "GSE-Lin-Wynn", "GSE-Lin-Greedy")
LOGISTIC = ("GSE-Log", "GSE-Log-FWG")
CROSS = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, -1.0]]


def reset(agent: Any, truth: Any, budget: int, seed: int = 0) -> Any:
    agent.reset(
        ProblemInfo(truth.num_arms, budget, truth.batch, truth=truth, knows=agent.knows), np.random.default_rng(seed)
    )
    return agent


def counts_of(agent: Any, features: np.ndarray, pulls: int) -> np.ndarray:
    """The pulls of one stage."""
    truth = linear_bandit(features, np.ones(features.shape[-1]))
    return np.asarray(reset(agent, truth, 10_000).explore(features[None], pulls)[0])


def test_by_hand(trace: Callable[..., Any]) -> None:
    # Two stages of 6 pulls. First: 2, 2, 1, 1 pulls with means 3, -1, 0, 0. V = diag(4, 4), and
    # V theta = 2 (3, 0) + 2 (0, -1) = (6, -2), so theta = (1.5, -0.5), and arms promise 1.5, -0.5, 1, 2: arms 3 and 0
    # survive, although arm 2 paid as much as arm 3. Second: 3 pulls each with means 3 and 5.
    rewards = [[3.0], [-1.0], [0.0], [0.0, 5.0, 5.0, 5.0]]
    played = trace(agents.make("GSE-Lin", tie="first"), rewards, 12, features=CROSS)
    assert played.arms == [0, 1, 2, 3, 0, 1, 0, 3, 0, 3, 0, 3]
    assert played.recommendation == 3
    # Of the first stage nothing is left in the estimates of the second; with all samples arm 3 has a mean of 3.75.
    rewards[3] = [4.0, 2.0, 2.0, 2.0]
    assert trace(agents.make("GSE-Lin", tie="first"), rewards, 12, features=CROSS).recommendation == 0
    rewards[3] = [8.0, 2.0, 2.0, 2.0]
    assert trace(agents.make("GSE-Lin", tie="first", samples="all"), rewards, 12, features=CROSS).recommendation == 3


def test_pulls_left_over(trace: Callable[..., Any]) -> None:
    rewards = [[3.0], [-1.0], [0.0], [0.0]]
    played = trace(agents.make("GSE-Lin", tie="first"), rewards, 13, features=CROSS)
    assert len(played.arms) == 12 and len(played.idle) == 1
    played = trace(agents.make("GSE-Lin", tie="first", leftover="last"), rewards, 13, features=CROSS)
    assert len(played.arms) == 13


@pytest.mark.each(
    ("arms", "eta", "sizes"),
    [(9, 3, [9, 3]), (10, 3, [10, 4, 2]), (8, 2, [8, 4, 2]), (9, 2, [9, 5, 3, 2]), (7, "K", [7]), (5, 100, [5])],
)
def test_the_sizes_of_stages(arms: int, eta: int | str, sizes: list[int]) -> None:
    # 10 -> ceil(10 / 3) = 4 -> 2 -> 1; log_3 9 = 2.0000000000000004 for floats, but there are two stages.
    agent: Any = agents.make("GSE-Lin", eta=eta)
    truth = linear_bandit(np.eye(arms), np.arange(arms) * 1.0, noise_variance=1e-6)
    assert agent.least_budget(arms, 3) == 3 * len(sizes) and agent.minimum_budget(arms) == arms * len(sizes)
    seen: list[int] = []
    explore = agent.explore

    def noting(features: np.ndarray, pulls: int) -> Any:
        seen.append(features.shape[1])
        assert pulls == 1000 // len(sizes)
        return explore(features, pulls)

    agent.explore = noting
    rollout = play_blocks(reset(agent, truth, 1000), truth, 1000, np.random.default_rng(0))
    assert seen == sizes
    assert rollout.recommendation.tolist() == [arms - 1]


def test_stages_pull_by_their_designs() -> None:
    features = np.random.default_rng(3).standard_normal((12, 3))
    assert sorted(counts_of(agents.make("GSE-Lin"), features, 50)) == [4] * 10 + [5] * 2
    order = np.argsort(features @ np.random.default_rng(0).standard_normal((3, 2))[:, 0])  # that designs are found in
    frank_weights, few_weights = np.empty(12), np.empty(12)
    frank_weights[order] = frank_wolfe(features[order]).weights
    few_weights[order] = frank_wolfe(features[order], max_iterations=3).weights
    frank = exchange_design(features, frank_weights, 50)
    np.testing.assert_array_equal(counts_of(agents.make("GSE-Lin-FWG"), features, 50), frank)
    np.testing.assert_array_equal(counts_of(agents.make("GSE-Log-FWG"), features, 50), frank)
    plain = round_design(frank_weights, 50)
    other = round_design(few_weights, 50)
    for parameters, expected in (({}, plain), ({"iterations": 3}, other)):
        agent = agents.make("GSE-Lin-FWG", rounding="efficient", **parameters)
        np.testing.assert_array_equal(counts_of(agent, features, 50), expected)
    assert (frank != plain).any() and (plain != other).any()
    np.testing.assert_array_equal(
        counts_of(agents.make("GSE-Lin-Greedy"), features, 50), greedy_allocation(features, 50)
    )
    # Wynn's design comes to 1 % of the optimum, the rank.
    wynn = counts_of(agents.make("GSE-Lin-Wynn"), features, 5000)
    assert variances(features, wynn / 5000).max() < 1.02 * 3
    early = counts_of(agents.make("GSE-Lin-Wynn", iterations=1), features, 5000)
    assert variances(features, early / 5000).max() > 1.02 * 3
    assert variances(features, plain / 50).max() > 1.02 * 3


def test_a_large_penalty_leaves_the_direction_of_the_gradient() -> None:
    # The sum of x (mean - 1/2) is (1, 0.2).
    made = Statistics(np.full((1, 4), 10), np.array([[0.9, 0.5, 0.9, 0.7]]), np.zeros((1, 4)))
    agent = reset(agents.make("GSE-Log", penalty=1e6), linear_bandit(CROSS, [1.0, 0.0]), 100)
    (values,) = agent.fit(np.array([CROSS]), made)
    assert values / values[0] == pytest.approx([1.0, 0.2, 1.2, 0.8], rel=1e-3)


def test_equal_sets_of_arms_get_one_design_each_whatever_their_order() -> None:
    rng = np.random.default_rng(0)
    shapes = rng.standard_normal((2, 9, 3))
    shapes[1, 4] = shapes[1, 7]  # twice the same arm
    solved: list[int] = []

    def solve(x: np.ndarray) -> Any:
        solved.append(len(x))
        return frank_wolfe(x)

    which, orders = rng.integers(2, size=50), rng.permuted(np.tile(np.arange(9), (50, 1)), axis=1)
    weights = linear_models.design_weights(solve, shapes[which[:, None], orders])
    assert solved == [2]
    back = np.empty_like(weights)
    np.put_along_axis(back, orders, weights, axis=-1)
    for shape in (0, 1):
        mine = back[which == shape]
        mine[:, [4, 7]] = np.sort(mine[:, [4, 7]], axis=-1)  # of two equal arms either may have the weight
        assert (mine == mine[0]).all()
        assert variances(shapes[shape], mine[0]).max() == pytest.approx(
            frank_wolfe(shapes[shape]).max_variance, rel=0.2
        )


def test_an_intercept_is_one_more_dimension(trace: Callable[..., Any]) -> None:
    # Means 10, 9, 8 lie on a line in the feature 0, 1, 2, but not on one through 0: without an intercept theta > 0.
    features, rewards = [[0.0], [1.0], [2.0]], [[10.0], [9.0], [8.0]]
    assert agents.make("GSE-Lin", intercept=True).least_budget(3, 1) == 2 * agents.make("GSE-Lin").least_budget(3, 1)
    for name in LINEAR:
        assert trace(agents.make(name, intercept=True), rewards, 40, features=features).recommendation == 0
        assert trace(agents.make(name), rewards, 40, features=features).recommendation == 2


@pytest.mark.each("name", LOGISTIC)
def test_logistic_models_rank_by_their_parameter(name: str) -> None:
    # Separable: arm 2 pays always, the others never; theta goes to minus infinity in both directions.
    truth = FeatureBandit(BernoulliBandit(np.tile([0.0, 0.0, 1.0], (20, 1))), [[1.0, 0.0], [0.0, 1.0], [-0.5, -0.5]])
    for penalty in (1e-3, 0.0):
        agent = reset(agents.make(name, penalty=penalty), truth, 60)
        assert (play_blocks(agent, truth, 60, np.random.default_rng(0)).recommendation == 2).all()


@pytest.mark.each("link", ["probit", "log", "identity"])
def test_other_links(link: str) -> None:
    truth = linear_bandit(
        np.random.default_rng(0).uniform(0, 1, (100, 6, 2)), [1.0, -1.0], link=link, noise_variance=0.1
    )
    agent = reset(agents.make("GSE-Log-FWG", link=link), truth, 3000)
    rollout = play_blocks(agent, truth, 3000, np.random.default_rng(0))
    assert (rollout.recommendation == truth.means.argmax(axis=-1)).mean() > 0.8


def test_a_budget_below_the_minimum_depends_on_the_dimension() -> None:
    truth = linear_bandit(np.random.default_rng(0).standard_normal((64, 3)), [1.0, 0.0, 0.0])
    reset(agents.make("GSE-Lin-FWG"), truth, 18)
    with pytest.raises(BudgetError, match="give at least 18"):
        reset(agents.make("GSE-Lin-FWG"), truth, 17)


@pytest.mark.each("name", LOGISTIC)
def test_rewards_that_the_link_does_not_allow(name: str) -> None:
    truth = linear_bandit(np.eye(3), [3.0, 2.0, 1.0])
    with pytest.raises(ParameterError, match="cloglog"):
        reset(agents.make(name, link="cloglog"), truth, 60)
    with pytest.raises(AgentError, match=r"needs rewards in \[0, 1\]"):
        play_blocks(reset(agents.make(name), truth, 60), truth, 60, np.random.default_rng(0))


def is_staged(agent: Any) -> bool:
    """Whether it plays a budget on features, by blocks of pulls."""
    return agent.needs_features and not agent.stops and not isinstance(agent, SequentialAgent)


@pytest.mark.each("name", [name for name in agents.names() if is_staged(agents.make(name))])
def test_features_of_any_rank(name: str) -> None:
    rng = np.random.default_rng(3)
    for features in (
        np.zeros((5, 2)),
        np.outer([1.0, -2.0, 0.0, 0.5, 1.0], [1.0, 1.0]),
        np.repeat(np.eye(2), [3, 2], axis=0),
        rng.standard_normal((5, 9)),
    ):
        truth = FeatureBandit(BernoulliBandit(np.full((10, 5), 0.5)), features)
        for budget in (1, 3, 60):
            agent = agents.make(name, allow_small_budget=True)
            agent.reset(ProblemInfo(5, budget, 10, truth=truth), np.random.default_rng(0))
            rollout = play_blocks(agent, truth, budget, np.random.default_rng(0))
            spent = rollout.pulls.sum(axis=-1)
            assert (spent <= budget).all() and (spent >= budget / 2).all()
            assert np.isin(rollout.recommendation, np.arange(5)).all()
