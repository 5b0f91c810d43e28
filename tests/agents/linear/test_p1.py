"""P1-RAGE and P1-Peace: virtual eliminations by hand, epochs, and their place between G-BAI and elimination."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bai_gym import agents
from bai_gym.agents import SequentialAgent
from bai_gym.agents.linear.set_designs import SetDesigns
from bai_gym.bandits import BernoulliBandit, FeatureBandit
from bai_gym.benchmark.rollout import play_blocks
from bai_gym.linear import linear_bandit
from bai_gym.linear.designs import xy_optimal
from bai_gym.problems import ProblemInfo

UNIT = linear_bandit(np.eye(4), [3.0, 2.4, 2.3, 0.0])


def reset(name: str, truth: Any, budget: int, **parameters: Any) -> Any:
    agent = agents.make(name, tie="first", **parameters)
    agent.reset(ProblemInfo(truth.num_arms, budget, truth.batch, truth=truth), np.random.default_rng(0))
    return agent


def is_staged(agent: Any) -> bool:
    """Whether it plays a budget on features, by blocks of pulls."""
    return agent.needs_features and not agent.stops and not isinstance(agent, SequentialAgent)


def theta_of(agent: Any, means: Any) -> Any:
    """The estimate, in the agent's coordinates, under which unit vectors have these means."""
    return np.linalg.solve(agent.coordinates[0], np.array(means))[None]


def test_the_virtual_rage_by_hand() -> None:
    # Gaps 0, 0.6, 0.7, 3. Round 1 compares all, by (1/4, ..., 1/4), and keeps gaps up to 1/2: one arm is left.
    agent = reset("P1-RAGE", UNIT, 100)
    np.testing.assert_allclose(agent.focused(np.array([0]), theta_of(agent, [3.0, 2.4, 2.3, 0.0])), [[0.25] * 4])
    # Gaps 0, 0.2, 0.4, 3. Round 1 keeps three arms, of weight 1/3 in round 2, which keeps two (1/4): 1/2 in round 3.
    expected = np.mean([[1 / 4] * 4, [1 / 3] * 3 + [0], [1 / 2] * 2 + [0, 0]], axis=0)
    np.testing.assert_allclose(
        agent.focused(np.array([0]), theta_of(agent, [3.0, 2.8, 2.6, 0.0])), [expected], atol=5e-3
    )
    # With two rounds at most, the third does not count.
    agent = reset("P1-RAGE", UNIT, 100, rounds=2)
    expected = np.mean([[1 / 4] * 4, [1 / 3] * 3 + [0]], axis=0)
    np.testing.assert_allclose(
        agent.focused(np.array([0]), theta_of(agent, [3.0, 2.8, 2.6, 0.0])), [expected], atol=5e-3
    )


def test_the_virtual_peace_by_hand() -> None:
    # rho of k unit vectors is 2 k, so four, two and one arm, the best first, whatever the gaps.
    agent = reset("P1-Peace", UNIT, 100)
    expected = np.mean([[1 / 4] * 4, [0, 1 / 2, 1 / 2, 0]], axis=0)
    found = agent.focused(np.array([0]), theta_of(agent, [0.0, 0.2, 0.1, -9.0]))
    np.testing.assert_allclose(found, [expected], atol=5e-3)
    # Of six, with rho 12, three are the half; of three, with rho 6, one.
    agent = reset("P1-Peace", linear_bandit(np.eye(6), np.arange(6.0)), 100)
    expected = np.mean([[1 / 6] * 6, [0, 0, 0, 1 / 3, 1 / 3, 1 / 3]], axis=0)
    found = agent.focused(np.array([0]), theta_of(agent, np.arange(6.0)))
    np.testing.assert_allclose(found, [expected], atol=5e-3)
    agent = reset("P1-Peace", UNIT, 100)
    # Equal values: the first arms under this rule.
    found = agent.focused(np.array([0]), theta_of(agent, [1.0, 1.0, 1.0, 1.0]))
    np.testing.assert_allclose(found, [np.mean([[1 / 4] * 4, [1 / 2, 1 / 2, 0, 0]], axis=0)], atol=5e-3)


@pytest.mark.parametrize("name", ["P1-RAGE", "P1-Peace"])
def test_epochs_begin_after_the_first_pull(name: str) -> None:
    # rho = 8: three epochs of floor(100 / 3) = 33 pulls, and one that is left.
    agent = reset(name, UNIT, 100)
    agent.focused = lambda rows, theta: np.eye(4)[:1]  # half of the pulls are by the G-optimal design in any case
    plan, lengths, outcome, pulls = agent.plan(), [], None, np.zeros(4)
    while True:
        try:
            block = plan.send(outcome)
        except StopIteration:
            break
        lengths.append(int(block.counts.sum()))
        pulls += block.counts[0]
        outcome = UNIT.pull_block(block.counts, np.random.default_rng(0))
    assert lengths == [1, 33, 33, 33] and pulls.argmax() == 0 and pulls.min() > 5
    assert reset(name, UNIT, 2, allow_small_budget=True).epochs_of.tolist() == [2]


@pytest.mark.parametrize("name", ["P1-RAGE", "P1-Peace", "Mixed-Peace"])
def test_episodes_with_different_numbers_of_epochs(name: str) -> None:
    rng = np.random.default_rng(0)
    features = rng.standard_normal((20, 6, 6))
    features[::2, :, 2:] = 0.0  # in the plane rho is at most 8
    truth = linear_bandit(features, 20.0 * rng.standard_normal((20, 6)), noise_variance=1e-6)
    agent = agents.make(name)
    agent.reset(ProblemInfo(6, 4001, 20, truth=truth), np.random.default_rng(0))
    assert len(set(agent.epochs_of.tolist())) >= 2
    rollout = play_blocks(agent, truth, 4001, np.random.default_rng(1))
    assert (rollout.pulls.sum(axis=-1) == 4001).all()
    regret = truth.means.max(axis=-1) - truth.means[np.arange(20), rollout.recommendation]
    assert (regret < 0.1 * np.ptp(truth.means, axis=-1)).all()


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


def test_designs_of_sets_are_shared_by_episodes_with_the_same_arms(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    arms, asked = rng.standard_normal((5, 3)), []
    orders = rng.permuted(np.tile(np.arange(5), (6, 1)), axis=1)
    designs = SetDesigns(np.concatenate([arms[orders], rng.standard_normal((1, 5, 3))]), 50)

    def counted(features: Any, candidates: Any, **keywords: Any) -> Any:
        asked.append(len(features))
        return xy_optimal(features, candidates, **keywords)

    monkeypatch.setattr("bai_gym.agents.linear.set_designs.xy_optimal", counted)
    sets = np.concatenate([orders < 3, [[True, True, False, False, True]]])
    weights, rho = designs.find(np.arange(7), sets)
    assert asked == [2]
    designs.find(np.array([2, 6]), sets[[2, 6]])
    assert asked == [2]
    alone = xy_optimal(arms, np.arange(5) < 3, max_iterations=50)
    for row, order in enumerate(orders):
        np.testing.assert_allclose(weights[row], alone.weights[order], atol=1e-9)
    np.testing.assert_allclose(rho[:6], alone.max_variance)
