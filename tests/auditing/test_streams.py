"""Statistics at the looks have the distribution of round-robin pulls."""

from __future__ import annotations

import numpy as np
import pytest

from bai_gym.auditing.instances import Instance
from bai_gym.auditing.streams import Looks, RoundRobin, look_rounds

RUNS = 4000
INSTANCES = {
    "two rewards": Instance(low=(0.2, 0.5), high=(1.0, 0.5), p=(0.3, 0.0)),
    "Gaussian": Instance(centre=(0.5, -1.0), deviation=(0.1, 2.0)),
}


class Recorder:
    """A rule that never stops, and keeps what it is shown at the last look."""

    def __call__(self, looks: Looks, delta: float) -> np.ndarray:
        """Keep the statistics."""
        self.pulls = int(looks.pulls[0, -1, 0])
        self.means, self.variances = looks.means[:, -1].copy(), looks.variances[:, -1].copy()
        self.number = int(looks.number[0, -1]), looks.planned
        return np.full(looks.means.shape[:-1], -1)


@pytest.mark.parametrize("looks", [1, 10, "geometric"])
def test_means_and_variances_are_unbiased_at_every_kind_of_look(looks: int | str) -> None:
    for name, instance in INSTANCES.items():
        rule = Recorder()
        episodes = RoundRobin(rule, 0.05, 80, looks).play(instance, RUNS, np.random.default_rng(0))
        assert (episodes.recommendation == -1).all() and (episodes.pulls == 80).all(), name
        n, s = rule.pulls, instance.deviations
        assert n == look_rounds(looks, 80, 2)[-1] and rule.number[0] == rule.number[1]
        # five standard errors: a false alarm in about one of a million checks
        assert (np.abs(rule.means.mean(axis=0) - instance.means) <= 5.0 * s / np.sqrt(n * RUNS) + 1e-12).all(), name
        assert np.allclose(rule.means.var(axis=0), s**2 / n, rtol=0.12, atol=1e-20), name
        assert np.allclose(rule.variances.mean(axis=0), s**2, rtol=0.05, atol=1e-20), name


def test_a_rule_stops_at_its_first_look_and_errs_where_the_arm_is_worse() -> None:
    def at_thirty(looks: Looks, delta: float) -> np.ndarray:
        return np.where(np.broadcast_to(looks.pulls[..., 0] >= 30, looks.means.shape[:-1]), 1, -1)

    instance = INSTANCES["Gaussian"]
    for looks, pulls in ((1, 60), (40, 80), (50, 100)):
        episodes = RoundRobin(at_thirty, 0.05, 100, looks).play(instance, 7, np.random.default_rng(0))
        assert (episodes.pulls == pulls).all() and (episodes.recommendation == 1).all()
    assert episodes.wrong(instance, 0.0).all() and not episodes.wrong(instance, 1.5).any()


def test_looks_are_at_the_ends_of_rounds() -> None:
    assert look_rounds(1, 10, 3).tolist() == [1, 2, 3]
    assert look_rounds(4, 20, 3).tolist() == [2, 3, 4, 6]
    assert look_rounds("geometric", 10, 2).tolist() == [1, 2, 3, 4, 5]
    assert look_rounds("geometric", 20_000, 2)[-1] <= 10_000 and look_rounds("geometric", 20_000, 2).size < 100
