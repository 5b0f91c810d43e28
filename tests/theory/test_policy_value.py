"""The exact value of policies: by hand, by simulation, and never above the optimum."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from bai_gym import evaluate
from bai_gym.errors import ParameterError
from bai_gym.statistics import FloatArray, IntArray
from bai_gym.theory import optimal_value, policy_value, solve_bayes
from bai_gym.theory.bayes_optimal import OBJECTIVES
from bai_gym.theory.policy_value import Policy

SIZES = [(2, 7), (2, 20), (3, 6), (3, 12), (4, 5)]


def evenly(largest: np.ndarray) -> FloatArray:
    return largest / largest.sum(axis=-1, keepdims=True)


def least_pulled(successes: IntArray, pulls: IntArray) -> FloatArray:
    return evenly(pulls == pulls.min(axis=-1, keepdims=True))


def best_sample_mean(successes: IntArray, pulls: IntArray) -> FloatArray:
    means = np.where(pulls > 0, successes / np.maximum(pulls, 1), -1.0)
    return evenly(means == means.max(axis=-1, keepdims=True))


def best_posterior_mean(successes: IntArray, pulls: IntArray) -> FloatArray:
    means = (1 + successes) / (2 + pulls)
    return evenly(means > means.max(axis=-1, keepdims=True) - 1e-9)


def any_arm(successes: IntArray, pulls: IntArray) -> FloatArray:
    return np.full(pulls.shape, 1.0 / pulls.shape[-1])


def first_arm(successes: IntArray, pulls: IntArray) -> FloatArray:
    return np.eye(pulls.shape[-1])[np.zeros(len(pulls), np.int64)]


PULLS: dict[str, Policy] = {
    "uniform": least_pulled,
    "greedy": best_posterior_mean,
    "at random": any_arm,
    "the first arm": first_arm,
}


def optimal_policy(num_arms: int, budget: int, objective: str) -> Policy:
    solution = solve_bayes(num_arms, budget, objective)
    return lambda successes, pulls: evenly(solution.best_actions(successes.T, pulls.T).T)


@pytest.mark.slow
@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize(("num_arms", "budget"), SIZES)
def test_the_optimum_is_attained_and_not_surpassed(num_arms: int, budget: int, objective: str) -> None:
    sign = 1.0 if objective == "correct" else -1.0
    best = optimal_value(num_arms, budget, objective=objective)
    optimal = optimal_policy(num_arms, budget, objective)
    assert policy_value(optimal, optimal, num_arms, budget, objective=objective) == pytest.approx(best, abs=1e-12)
    for name, pull in PULLS.items():
        for recommend in (optimal, best_posterior_mean, best_sample_mean, any_arm):
            value = policy_value(pull, recommend, num_arms, budget, objective=objective)
            assert sign * (best - value) > 1e-4, name


def test_no_deterministic_policy_of_two_pulls_is_better() -> None:
    # Of three arms: the first pull, and the second one after a failure and after a success.
    recommend = optimal_policy(3, 2, "correct")
    values = []
    for first, *second in itertools.product(range(3), repeat=3):

        def pull(successes: IntArray, pulls: IntArray, first: int = first, second: list[int] = second) -> FloatArray:
            if not pulls.any():
                return np.eye(3)[[first]]
            return np.eye(3)[np.array(second)[successes.sum(axis=-1)]]

        values.append(policy_value(pull, recommend, 3, 2))
    assert max(values) == pytest.approx(optimal_value(3, 2), abs=1e-14)
    assert min(values) < max(values) - 0.05


@pytest.mark.parametrize("prior", [(1.0, 1.0), (2.0, 1.0), (0.5, 0.5)])
def test_no_random_policy_is_better(prior: tuple[float, float]) -> None:
    rng = np.random.default_rng(0)

    def pull(successes: IntArray, pulls: IntArray) -> FloatArray:
        return rng.dirichlet(np.full(3, 0.2), size=len(pulls))

    alpha, beta = prior
    best = optimal_value(3, 4, alpha=alpha, beta=beta)
    solution = solve_bayes(3, 4, "correct", alpha, beta)
    for _ in range(30):
        value = policy_value(pull, lambda s, t: evenly(solution.best_actions(s.T, t.T).T), 3, 4, alpha=alpha, beta=beta)
        assert 1 / 3 < value < best


def test_by_hand() -> None:
    # Nothing is learnt; one pull of the first arm, which is the better one after a success with probability 2/3.
    assert policy_value(any_arm, any_arm, 5, 0) == pytest.approx(1 / 5)
    assert policy_value(first_arm, best_posterior_mean, 2, 1) == pytest.approx(2 / 3)
    # The larger of two uniform means is expected at 2/3, the recommended one at 7/12.
    regret = policy_value(first_arm, best_posterior_mean, 2, 1, objective="simple_regret")
    assert regret == pytest.approx(2 / 3 - 7 / 12)


def test_simulation_agrees() -> None:
    exact = policy_value(least_pulled, best_sample_mean, 3, 12)
    played = evaluate("Uniform", "BAI-Bernoulli3-v0", budget=12, runs=20_000, seed=5)
    assert played.error_probability == pytest.approx(1 - exact, abs=4 * np.sqrt(exact * (1 - exact) / 20_000))


def test_errors() -> None:
    with pytest.raises(ParameterError, match=r"a policy must return probabilities of shape \(1, 2\), each row of sum"):
        policy_value(lambda s, t: np.full(t.shape, 0.7), any_arm, 2, 1)
    with pytest.raises(ParameterError, match="objective must be"):
        policy_value(any_arm, any_arm, 2, 3, objective="best")
    with pytest.raises(ParameterError, match="are too many .limit 1 GB.: take a smaller budget, fewer arms, or a la"):
        policy_value(any_arm, any_arm, 4, 200)
