"""Agents that need independent arms say so where arms are pulled on common items."""

from __future__ import annotations

from bai_gym import agents
from bai_gym.paired import PairedGaussianBandit


def test_a_guarantee_for_independent_arms_is_noted_where_they_are_not() -> None:
    paired = PairedGaussianBandit([0.0, 1.0], 1.0, correlation=0.5)
    for name, parameters, noted in (
        ("T3C", {}, True),
        ("TrackAndStop", {"sigma": 1.0}, True),
        ("KL-LUCB", {"sigma": 1.0}, False),
        ("LUCB", {"sigma": 1.0}, False),
    ):
        found = [*agents.make(name, **parameters).unmet_assumptions(paired)]
        assert len(found) == noted and all("common items" in note for note in found), name
