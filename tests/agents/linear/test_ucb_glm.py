"""UCB-GLM: pulls worked by hand, the formula, ties of symmetric arms, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bai_gym.agents import UCBGLM
from bai_gym.bandits import FeatureBandit, GaussianBandit
from bai_gym.benchmark.rollout import Rollout, play_blocks
from bai_gym.errors import AgentError
from bai_gym.linear.regression import generalized_linear
from bai_gym.problems import ProblemInfo

Play = Callable[..., Any]
LINKS = ("identity", "logit", "probit", "log")


def play(agent: UCBGLM, bandit: Any, budget: int, seed: int = 0) -> Rollout:
    info = ProblemInfo(bandit.num_arms, budget, bandit.batch, truth=bandit)
    agent.reset(info, np.random.default_rng([seed, 1]))
    return play_blocks(agent, bandit, budget, np.random.default_rng([seed, 2]))


def test_by_hand(trace: Play) -> None:
    # Arms (1, 0), (0, 1), (1, 1); identity, alpha 1, next to no penalty. S are the sums of rewards.
    #   pulls   S          V          V^-1                theta         x^T theta + sqrt(x^T V^-1 x)
    #   1 1 1   1, 0, 2    2 1; 1 2   (2 -1; -1 2) / 3    4/3, 1/3      1.33 + .82,   .33 + .82,  1.67 + .82   2
    #   1 1 2   1, 0, 1    3 2; 2 3   (3 -2; -2 3) / 5    .8, -.2        .80 + .77,  -.20 + .77,   .60 + .63   0
    #   2 1 2   0, 0, 1    4 2; 2 3   (3 -2; -2 4) / 8    1/8, 1/4       .13 + .61,   .25 + .71,   .38 + .61   2
    #   2 1 3   0, 0, .5   5 3; 3 4   (4 -3; -3 5) / 11   .5/11, 1/11    .05 + .60,   .09 + .67,   .14 + .52   1
    #   2 2 3   0, 0, .5   5 3; 3 5   (5 -3; -3 5) / 16   1/16, 1/16    .063 + .559, .063 + .559, .125 + .5    2
    rewards = [[1.0, -1.0], [0.0, 0.0], [2.0, -1.0, -0.5, 7.0]]
    features = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
    agent = UCBGLM(link="identity", alpha=1.0, penalty=1e-12, tie="first")
    played = trace(agent, rewards, 8, features=features)
    assert played.arms == [0, 1, 2, 2, 0, 2, 1, 2]
    assert played.recommendation == 2


def test_by_hand_with_zeros_and_ones(trace: Play) -> None:
    # Unit vectors, penalty 1: theta of an arm with S of T rewards 1 solves S - T / (1 + e^-z) = z.
    #   T = 1: S = 1: .4010, S = 0: -.4010;  T = 2: S = 2: .6748, S = 1: 0, S = 0: -.6748;  widths alpha / sqrt(T).
    #   T = 3: S = 3: .8781 (3 / (1 + e^.8781) = .8809), S = 2: .2871 (3 / (1 + e^-.2871) = 1.7139).
    # alpha = 1:  1 of 1, 0 of 1:  1.401, .599: arm 0;  1 of 2: 0 + .707, .599: arm 0;
    #             2 of 3: .287 + .577 = .864: arm 0; 2 of 4: 0 + .5, .599: arm 1; 1 of 2: 0 + .707: arm 1.
    agent = UCBGLM(alpha=1.0, penalty=1.0, tie="first")
    played = trace(agent, [[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 1.0]], 7, features=np.eye(2))
    assert played.arms == [0, 1, 0, 0, 0, 1, 1]
    assert played.recommendation == 0


def test_one_step_of_newton_by_hand(trace: Play) -> None:
    # Unit vectors, link log, penalty 1: an arm with S from T pulls has T e^z + z = S. So z is 1 for arm 0 with 3.718,
    # and 0.53 for arm 1 with 2.229. After the 0 of arm 0 its z is 0.48; one step from 1 is 2.718 / 6.437, to 0.58.
    for steps, last in ((1, 0), (3, 1)):
        agent = UCBGLM(link="log", alpha=0.0, penalty=1.0, newton_steps=steps, tie="first")
        assert trace(agent, [[3.718, 0.0], [2.229]], 4, features=np.eye(2)).arms == [0, 1, 0, last]


@pytest.mark.each("link", LINKS)
def test_every_pull_follows_the_formula(trace: Play, link: str) -> None:
    rng = np.random.default_rng(2)
    features = rng.uniform(-1.0, 1.0, (5, 2))
    rewards = (rng.random((5, 100)) < 0.4) * 1.0
    if link == "identity":
        rewards = rng.normal(size=(5, 100))
    elif link == "log":
        rewards = rng.poisson(1.0, (5, 100)).astype(float)
    agent = UCBGLM(link=link, alpha=0.9, penalty=0.01)
    played = trace(agent, rewards, 100, features=features)
    assert sorted(played.arms[:5]) == [0, 1, 2, 3, 4]
    made: list[list[float]] = [[] for _ in rewards]
    for step, arm in enumerate(played.arms):
        if step >= 5:
            pulls = np.array([len(m) for m in made])
            fit = generalized_linear(features, pulls, [np.mean(m) for m in made], link=link, penalty=0.01)
            inverse = np.linalg.inv(features.T @ (pulls[:, None] * features) + 1e-8 * np.eye(2))
            widths = np.sqrt(((features @ inverse) * features).sum(axis=1))
            index = features @ fit.theta + 0.9 * widths
            assert index[arm] == pytest.approx(index.max(), rel=1e-5, abs=1e-5)
        made[arm].append(rewards[arm][len(made[arm])])
    assert played.counts(5)[played.recommendation] == max(played.counts(5))
    assert min(played.counts(5)) < 20 < max(played.counts(5))


def test_singular_and_separable_data_are_played() -> None:
    rng = np.random.default_rng(3)
    x = rng.standard_normal((60, 8, 3)) @ rng.standard_normal((60, 3, 12))  # rank 3 of 12
    x[:20, 4:] = x[:20, :4]  # duplicates
    x[20:40, 1] = 0.0
    means = np.where(rng.random((60, 8)) < 0.5, 1.0, 0.0)  # each arm pays always or never
    for link in LINKS:
        bandit = FeatureBandit(GaussianBandit(means, 0.0), x)
        played = play(UCBGLM(link=link), bandit, 120)
        assert (played.pulls.sum(axis=1) == 120).all() and (played.pulls > 0).all()


@pytest.mark.each(
    ("link", "rewards", "says"),
    [
        ("logit", [[0.5, 1.5], [0.2]], "got 1.5"),
        ("probit", [[-0.25], [0.2]], "got -0.25"),
        ("log", [[3.0], [2.0, 1.0, -1.0]], "got -1"),
    ],
)
def test_rewards_that_the_link_does_not_allow(
    trace: Play, scripted_blocks: Play, link: str, rewards: Any, says: str
) -> None:
    for way in (trace, scripted_blocks):
        with pytest.raises(AgentError, match=says):
            way(UCBGLM(link=link, alpha=9.0), rewards, 12, features=np.eye(2))
        way(UCBGLM(link="identity"), rewards, 12, features=np.eye(2))


def test_rewards_between_0_and_1_are_allowed(trace: Play) -> None:
    rng = np.random.default_rng(5)
    rewards = rng.random((3, 97))
    rewards[0, :5] = rewards[1, :5] = 1.0  # so that means are rounded
    for link in ("logit", "probit", "log"):
        assert sum(trace(UCBGLM(link=link), rewards, 300, features=rng.standard_normal((3, 2))).counts(3)) == 300
