"""Linear agents whose recommendation is a candidate, not an arm; and RAGE with known, unequal variances."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import bai_gym
from bai_gym import agents
from bai_gym.bandits import Bandit, FeatureBandit, GaussianBandit
from bai_gym.benchmark.rollout import play_blocks
from bai_gym.errors import AgentError, ParameterError
from bai_gym.linear import linear_bandit
from bai_gym.linear.tasks import BestCandidate
from bai_gym.problems import ProblemInfo
from bai_gym.tasks import Task

CONFIDENT = ("RAGE", "XY-static", "XY-oracle")
BUDGETED = ("G-BAI", "XY-BAI")


def play(name: str, bandit: Bandit, runs: int, cap: int, task: Task | None = None, **given: Any) -> Any:
    agent = agents.make(name, **given)
    many = bandit.select(np.zeros(runs, np.int64))
    stops = name in CONFIDENT
    info = ProblemInfo(many.num_arms, cap, runs, task=task, truth=many, knows=agent.knows, fixed_confidence=stops)
    agent.reset(info, np.random.default_rng(0))
    return play_blocks(agent, many, cap, np.random.default_rng(1), task)


def instances() -> list[tuple[Bandit, BestCandidate]]:
    """Three of them: the paper's, with another angle; a best candidate that is no arm; random ones with repetitions."""
    rng = np.random.default_rng(3)
    eye = np.eye(4)
    near = np.vstack([eye[:2], math.cos(0.8) * eye[:2] + math.sin(0.8) * eye[2:]])
    x, z = rng.standard_normal((6, 3)), rng.standard_normal((5, 3))
    cases: list[tuple[Any, Any, Any]] = [
        (eye, eye[0], near),
        (np.eye(2), [0.5, 0.4], [[1.0, 0.0], [1.0, 1.0], [0.0, -1.0]]),
        (x, [1.0, 0.5, -0.5], np.vstack([z, z])),
    ]
    return [(linear_bandit(x, theta), BestCandidate(z, np.asarray(x))) for x, theta, z in cases]


def test_errors_are_at_most_delta() -> None:
    for bandit, task in instances():
        for name, runs, allowed in (("RAGE", 400, 0.1), ("XY-static", 40, 0.2), ("XY-oracle", 40, 0.2)):
            played = play(name, bandit, runs, 1_000_000, task)
            correct = task.correct(np.repeat(bandit.means, runs, axis=0), played.recommendation)
            assert 1.0 - correct.mean() <= allowed, (name, task)
            assert played.pulls.sum(axis=1).max() < 1_000_000, (name, task)


def test_the_arms_as_candidates_change_nothing() -> None:
    rng = np.random.default_rng(5)
    x = rng.standard_normal((6, 3))
    bandit = linear_bandit(x, [1.0, 0.2, -0.4])
    for name in CONFIDENT:
        for cap in (20, 1_000_000):
            plain = play(name, bandit, 30, cap)
            same = play(name, bandit, 30, cap, BestCandidate(x, x))
            np.testing.assert_array_equal(plain.pulls, same.pulls, err_msg=f"{name} {cap}")
            np.testing.assert_array_equal(plain.recommendation, same.recommendation, err_msg=f"{name} {cap}")


def test_fixed_budget_agents_find_the_best_candidate() -> None:
    for bandit, task in instances():
        for name in BUDGETED:
            few, many = (play(name, bandit, 1000, budget, task) for budget in (30, 3000))
            means = np.repeat(bandit.means, 1000, axis=0)
            errors = [1.0 - task.correct(means, played.recommendation).mean() for played in (few, many)]
            assert errors[1] < 0.03 < 0.9, (name, task, errors)
            assert errors[1] <= errors[0], (name, task, errors)


def test_evaluate_shows_the_lower_bound_and_others_are_refused() -> None:
    result = bai_gym.evaluate("RAGE", "BAI-FC-LinearTransductive5-v0", runs=2)
    # Candidate 0 against candidate d: y = (1 - cos w) e_0 - sin w e_d, gap 1 - cos w, and Elfving's theorem.
    gap = 1.0 - math.cos(0.1)
    least = 2.0 * ((gap + math.sin(0.1)) / gap) ** 2 * (0.8 * math.log(9.0))  # T* kl(0.1, 0.9)
    assert result.lower_bound is not None and least * 0.999 < result.lower_bound < 1.5 * least
    for name, where in (("SH", "BAI-LinearTransductive5-v0"), ("LinGapE-GLR", "BAI-FC-LinearTransductive5-v0")):
        with pytest.raises(AgentError, match="best-candidate"):
            bai_gym.evaluate(name, where, runs=2)


def test_unequal_weights_save_pulls_and_keep_delta() -> None:
    x = np.array([[1.0, 0.0], [0.0, 1.0], [math.cos(0.5), math.sin(0.5)], [-1.0, 0.3]])
    means = x @ [1.0, 0.0]
    bandit = FeatureBandit(GaussianBandit(means, [4.0, 0.04, 1.0, 0.25]), x)
    played = {by_arm: play("RAGE", bandit, 400, 10_000_000, weighted=by_arm) for by_arm in (False, True)}
    assert (played[True].recommendation != 0).mean() <= 0.1
    spent = {by_arm: one.pulls.sum(axis=1).mean() for by_arm, one in played.items()}
    assert spent[True] < 0.5 * spent[False]
    different = FeatureBandit(GaussianBandit(np.tile(means, (2, 1)), [[1.0] * 4, [4.0, 0.04, 1.0, 0.25]]), x)
    agent = agents.make("RAGE", weighted=True)
    info = ProblemInfo(4, 10_000_000, 2, truth=different, knows=agent.knows, fixed_confidence=True)
    agent.reset(info, np.random.default_rng(0))
    pulls = play_blocks(agent, different, 10_000_000, np.random.default_rng(1)).pulls
    shares = pulls / pulls.sum(axis=1, keepdims=True)
    assert shares[1, 1] < shares[0, 1]  # the arm with the least noise needs fewer pulls


def test_weights_that_cannot_be() -> None:
    noiseless = FeatureBandit(GaussianBandit([1.0, 0.0], [1.0, 0.0]), np.eye(2))
    with pytest.raises(AgentError, match="noise"):
        play("RAGE", noiseless, 1, 100, weighted=True)
    with pytest.raises(ParameterError, match="sigma"):
        play("RAGE", linear_bandit(np.eye(2), [1.0, 0.0]), 1, 100, weighted=True, sigma=1.0)
