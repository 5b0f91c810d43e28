"""Problems by name, and instances that are drawn once."""

from __future__ import annotations

import numpy as np
import pytest

from bai_gym.bandits import GaussianBandit
from bai_gym.errors import InstanceError, ParameterError, UnknownNameError
from bai_gym.problems import (
    FAMILIES,
    BernoulliPriorProblem,
    FixedProblem,
    FrozenProblem,
    HeterogeneousGaussianProblem,
    build,
)
from bai_gym.statistics import Statistics


def test_families_and_their_keywords() -> None:
    assert set(FAMILIES) >= {"gaussian", "bernoulli", "custom", "table"}
    gaussian = build("gaussian", num_arms=6, noisy_best=False)
    assert isinstance(gaussian, HeterogeneousGaussianProblem)
    assert (gaussian.num_arms, gaussian.noisy_best) == (6, False)
    bernoulli = build("bernoulli", num_arms=3)
    assert isinstance(bernoulli, BernoulliPriorProblem)
    assert bernoulli.num_arms == 3
    for family, setup, num_arms in (("bernoulli-setup", 7, 30), ("multi-bandit-setup", 3, 16)):
        problem = build(family, setup=setup)
        assert isinstance(problem, FixedProblem)
        assert problem.num_arms == num_arms


def test_unknown_keywords_and_families() -> None:
    with pytest.raises(ParameterError, match="'arms' of .* num_arms, instance, instance_seed$"):
        build("bernoulli", arms=3)
    with pytest.raises(UnknownNameError, match="Did you mean bernoulli"):
        build("bernouli")


def test_a_frozen_problem_draws_once() -> None:
    problem = build("gaussian", num_arms=4, instance="fixed", instance_seed=3)
    first, second = (problem.draw(2, np.random.default_rng(seed)) for seed in (0, 1))
    np.testing.assert_array_equal(first.means, second.means)
    np.testing.assert_array_equal(first.means[0], first.means[1])
    np.testing.assert_array_equal(first.variances, second.variances)
    same = HeterogeneousGaussianProblem(4).draw(1, np.random.default_rng(3))
    np.testing.assert_array_equal(first.means[:1], same.means)
    other = build("gaussian", num_arms=4, instance="fixed", instance_seed=4)
    assert (other.draw(1, np.random.default_rng(0)).means != same.means).all()


def test_a_fixed_problem_gives_copies_and_uses_no_randomness() -> None:
    rng = np.random.default_rng(0)
    before = rng.bit_generator.state
    problem = FixedProblem(GaussianBandit([0.0, 1.0]), notes=("a note",), arm_names=("a", "b"))
    drawn = problem.draw(2, rng)
    assert rng.bit_generator.state == before
    drawn.means[:] = 9.0
    assert problem.draw(1, rng).means.tolist() == [[0.0, 1.0]]
    frozen = FrozenProblem(problem, seed=0)
    assert (frozen.notes, frozen.arm_names, frozen.num_arms) == (("a note",), ("a", "b"), 2)
    problem.costs, problem.earlier = (1.0, 2.0), Statistics.zeros((1, 2))
    frozen = FrozenProblem(problem, seed=0)
    assert frozen.costs == (1.0, 2.0) and frozen.earlier is problem.earlier


def test_what_is_refused() -> None:
    with pytest.raises(InstanceError, match="one instance.*not 3"):
        FixedProblem(GaussianBandit(np.zeros((3, 2))))
    for seed in (-1, 1.0, True):
        with pytest.raises(ParameterError, match="seed must be an integer"):
            build("gaussian", instance="fixed", instance_seed=seed)
    with pytest.raises(ParameterError, match="instance='fixed'"):
        build("gaussian", num_arms=4, instance_seed=3)
