"""No instance of a search leaves its class."""

from __future__ import annotations

import numpy as np
import pytest

from bai_gym.auditing.families import CLASSES, FAMILIES, Goal, belongs, draw, families_of
from bai_gym.auditing.instances import Instance
from bai_gym.errors import BaiGymError


def test_instances_and_their_variations_are_in_the_class() -> None:
    rng = np.random.default_rng(0)
    for rewards in CLASSES:
        seen = set()
        for goal in (Goal(rewards), Goal(rewards, (3, 5), epsilon=0.05, sigma=0.5)):
            for _ in range(100):
                candidate = draw(goal, rng)
                seen.add(candidate.family)
                for one in (candidate, candidate.varied(goal, rng)):
                    instance = one.instance
                    assert belongs(instance, goal) and one.family in families_of(rewards), one
                    assert goal.arms[0] <= instance.num_arms <= goal.arms[1] and instance.best == one.place, one
                    assert instance.gap > goal.epsilon, one
                    # the rewards themselves, by the moments of the library's own arms
                    bandit = instance.bandit()
                    assert np.allclose(bandit.means[0], instance.means), one
                    assert np.allclose(bandit.variances[0], instance.deviations**2, rtol=1e-6, atol=1e-12), one
                    low, high = bandit.limits()
                    if instance.is_gaussian:
                        assert max(instance.deviation) <= goal.sigma, one
                    elif rewards == "subgaussian":
                        assert high <= 2.0 * goal.sigma, one
                    else:
                        assert low >= 0.0 and high <= 1.0, one
        assert seen == set(families_of(rewards))
    assert {name for rewards in CLASSES for name in families_of(rewards)} == set(FAMILIES)


def test_an_impossible_epsilon_is_refused() -> None:
    with pytest.raises(BaiGymError, match="gap above epsilon"):
        draw(Goal("bernoulli", epsilon=1.0), np.random.default_rng(0))


def test_what_is_outside_a_class_does_not_belong() -> None:
    bounded = Goal("bounded")
    assert not belongs(Instance(centre=(1.0, 0.0), deviation=(1.0, 1.0)), bounded)
    assert not belongs(Instance(low=(0.0, 0.0), high=(1.0, 1.2), p=(0.9, 0.1)), bounded)
    assert not belongs(Instance(low=(0.0, 0.0), high=(1.0, 1.0), p=(0.5, 0.5)), bounded)
    assert not belongs(Instance(centre=(1.0, 0.0), deviation=(1.0, 1.1)), Goal("gaussian"))
