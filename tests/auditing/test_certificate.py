"""Bounds of certificates, and false alarms of the whole search."""

from __future__ import annotations

import numpy as np

from bai_gym.auditing import Plan
from bai_gym.auditing.certificate import Certificate, certify, lower_bound, play_all
from bai_gym.auditing.families import Goal
from bai_gym.auditing.gallery import GALLERY
from bai_gym.auditing.instances import Instance
from bai_gym.auditing.search import FINALISTS, finalists
from bai_gym.auditing.simplify import _often
from bai_gym.auditing.streams import Episodes, RoundRobin

DELTA = 0.05


class Coin:
    """Errs with a probability that does not depend on the instance."""

    def __init__(self, probability: float) -> None:
        """Keep the probability."""
        self.probability = probability

    def play(self, instance: Instance, runs: int, rng: np.random.Generator) -> Episodes:
        """Return episodes that end at once."""
        wrong = rng.random(runs) < self.probability
        worse = (instance.best + 1) % instance.num_arms
        return Episodes(np.where(wrong, worse, instance.best), np.full(runs, instance.num_arms))


def verdicts(probability: float, audits: int, plan: Plan) -> list[bool]:
    """Return whether each of some audits refutes a coin."""
    goal, player = Goal("gaussian"), Coin(probability)
    found = []
    for seed in range(audits):
        chosen = [candidate.instance for candidate in finalists(player, goal, plan, seed)]
        fresh = certify(player, chosen, 0.0, plan.certified, seed, ("audit", "certify"), len(chosen))
        found.append(max(certificate.bound for certificate in fresh) > DELTA)
    return found


def test_bounds_are_those_of_the_specification() -> None:
    for errors, bound in ((736, 0.6909), (75, 0.0517), (60, 0.0393)):
        assert round(lower_bound(errors, 1000), 4) == bound
    assert lower_bound(75, 1000, 5) < lower_bound(75, 1000)


def test_errors_count_by_the_cap() -> None:
    wrong = Certificate(Instance(centre=(1.0, 0.0), deviation=(1.0, 1.0)), 3, 20, 0.0, 1, (5, 6, 90))
    assert [_often(wrong, cap, DELTA) for cap in (4, 5, 6, 90)] == [False, False, True, True]  # more than one of 20


def test_a_rule_that_errs_with_probability_delta_is_not_refuted(small: Plan) -> None:
    # at level .999 each audit has a false alarm with probability .001 at most
    assert not any(verdicts(DELTA, 20, small))
    assert all(verdicts(1.6 * DELTA, 5, small))


def test_every_round_of_a_search_has_other_rewards(small: Plan) -> None:
    drawn: list[int] = []

    class Drawing(Coin):
        def play(self, instance: Instance, runs: int, rng: np.random.Generator) -> Episodes:
            drawn.append(int(rng.integers(2**62)))
            return super().play(instance, runs, rng)

    finalists(Drawing(0.5), Goal("gaussian"), small, 3)
    assert len(set(drawn)) == len(drawn) > small.instances


def test_finalists_are_distinct_and_the_same_for_any_number_of_workers(small: Plan) -> None:
    player, goal = RoundRobin(GALLERY["z-peek"].rule, DELTA, 200, 10), Goal("gaussian")
    chosen = finalists(player, goal, small, 3)
    assert len(chosen) == len(set(chosen)) <= FINALISTS
    assert finalists(player, goal, small, 3, workers=2) == chosen
    assert finalists(player, goal, small, 4) != chosen
    instances = [candidate.instance for candidate in chosen]
    one, two = (play_all(player, instances, 1500, 0, ("audit", "certify"), workers) for workers in (1, 2))
    (other,) = play_all(player, instances[:1], 1500, 1, ("audit", "certify"))
    assert not np.array_equal(other.pulls, one[0].pulls)  # another seed
    for first, second in zip(one, two, strict=True):
        assert np.array_equal(first.recommendation, second.recommendation) and first.pulls.size == 1500
