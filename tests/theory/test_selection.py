"""Indifference zones: constants of published tables, and procedures that keep their promise in simulation."""

from __future__ import annotations

import pytest

from bai_gym.errors import ParameterError
from bai_gym.theory import bechhofer_constant, bechhofer_pulls, rinott_constant

# Constants at P* = .8, .9, .95, .99 by number of arms, and Rinott's at .9, .95 by (number of arms, first pulls).
BECHHOFER = {
    2: (1.1902, 1.8124, 2.3262, 3.2900),
    10: (2.4607, 2.9829, 3.4182, 4.2456),
    64: (3.2575, 3.7475, 4.1553, 4.9295),
}
RINOTT = {(2, 10): (1.9986, 2.6141), (5, 20): (2.9164, 3.3854), (64, 10): (5.1312, 5.6857)}


def test_constants_of_tables() -> None:
    for num_arms, constants in BECHHOFER.items():
        found = [bechhofer_constant(num_arms, confidence) for confidence in (0.8, 0.9, 0.95, 0.99)]
        assert found == pytest.approx(constants, abs=6e-5), num_arms
    for (num_arms, first), constants in RINOTT.items():
        found = [rinott_constant(num_arms, confidence, first) for confidence in (0.9, 0.95)]
        assert found == pytest.approx(constants, abs=6e-5), (num_arms, first)


def test_pulls_by_hand() -> None:
    assert bechhofer_pulls(3, 0.8, zone=0.5, deviation=1.0) == 11  # (1.6524 / 0.5)^2 = 10.9
    assert bechhofer_pulls(10, 0.95, zone=0.5, deviation=1.0) == 47


@pytest.mark.each(
    "arguments",
    [(1, 0.9, 1.0, 1.0), (4, 0.25, 1.0, 1.0), (4, 1.0, 1.0, 1.0), (4, 0.9, 0.0, 1.0), (4, 0.9, 1.0, -1.0)]
    + [(4, 0.9, 1e-300, 1.0), (4, 0.9, 1e-9, 1.0)],  # a square that is no float, and too large a ratio
)
def test_errors(arguments: tuple[int, float, float, float]) -> None:
    with pytest.raises(ParameterError):
        bechhofer_pulls(*arguments)
    with pytest.raises(ParameterError, match="first_pulls"):
        rinott_constant(3, 0.9, 1)
