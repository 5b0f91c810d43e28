"""Rules of the gallery err as often as the specification's own simulation says, and each has a source."""

from __future__ import annotations

from functools import partial

import numpy as np

from bai_gym.auditing import GALLERY
from bai_gym.auditing.gallery import gk16
from bai_gym.auditing.instances import Instance
from bai_gym.auditing.streams import RoundRobin

TIE = Instance(centre=(0.02, 0.0), deviation=(1.0, 1.0))
JUMP = Instance(low=(0.499, 0.5), high=(1.0, 0.5), p=(0.005, 0.0))
RUNS = 1000


def errors(rule: object, instance: Instance, cap: int, looks: int = 1) -> float:
    """Return the share of wrong runs, at delta = .05."""
    episodes = RoundRobin(rule, 0.05, cap, looks).play(instance, RUNS, np.random.default_rng(1))  # type: ignore[arg-type]
    return float(episodes.wrong(instance, 0.0).mean())


def test_errors_are_those_of_an_independent_simulation() -> None:
    # rule, instance, looks, and the error probability in 20,000 runs of another simulator
    cases = [
        ("z-peek", TIE, 1, 0.191),
        ("t-peek", TIE, 1, 0.183),
        ("z-20-looks", TIE, 500, 0.041),
        ("z-5-looks", TIE, 2000, 0.014),
        ("prob-best", TIE, 1, 0.192),
        ("prob-best-20-looks", TIE, 500, 0.084),
        ("loss", TIE, 1, 0.400),
        ("msprt-known", TIE, 1, 0.012),
        ("msprt-plugin", TIE, 1, 0.073),
        ("howard", TIE, 1, 0.001),
        ("obrien-fleming", TIE, 2000, 0.002),
        ("pocock", TIE, 2000, 0.003),
        ("gk16-known", TIE, 1, 0.023),
        ("gk16-plugin-2", TIE, 1, 0.088),
        ("gk16-plugin", JUMP, 1, 0.955),
        ("gk16-plugin-100", JUMP, 1, 0.610),
        ("msprt-plugin-100", JUMP, 1, 0.610),
    ]
    for name, instance, looks, expected in cases:
        found = errors(GALLERY[name].rule, instance, 10_000, looks)
        # four standard errors of both simulations: a false alarm in one of a thousand such tests
        assert abs(found - expected) <= 4.0 * np.sqrt(expected * (1.0 - expected) / RUNS) * 1.03 + 0.002, (name, found)


def test_a_rule_of_many_arms_is_the_rule_of_two_where_the_others_are_far_away() -> None:
    far = Instance(centre=(0.3, 0.0, -50.0), deviation=(1.0, 1.0, 1.0))
    near = Instance(centre=(0.3, 0.0), deviation=(1.0, 1.0))
    for known in (True, False):
        rule = partial(gk16, known=known, first=2)
        two, three = (
            RoundRobin(rule, 0.05, cap, 1).play(instance, RUNS, np.random.default_rng(2))
            for instance, cap in ((near, 2000), (far, 3000))
        )
        rounds = two.pulls.mean() / 2.0, three.pulls.mean() / 3.0
        assert abs(rounds[0] - rounds[1]) <= 0.15 * rounds[0], rounds
