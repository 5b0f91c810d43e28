"""Experiments: figures of the papers and of this library as data, with claims to judge."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from bai_gym.errors import unknown_name
from bai_gym.papers.model import Claim, Experiment, Judged, Panel, Setting, judge
from bai_gym.wings import load_reference, wings

__all__ = ["EXPERIMENTS", "Claim", "Experiment", "Judged", "Panel", "Setting", "find", "judge"]

EXPERIMENTS: Mapping[str, Experiment] = MappingProxyType(
    {
        experiment.id: experiment
        for wing in wings().values()
        for place in wing.experiments
        for experiment in load_reference(place)
    }
)
"""All experiments, by id; read-only."""


def find(name: str) -> Experiment:
    """Return the experiment of that id.

    Raises:
        UnknownNameError: If there is none.
    """
    if name not in EXPERIMENTS:
        raise unknown_name("experiment", name, EXPERIMENTS, "`bai-gym list experiments` shows all")
    return EXPERIMENTS[name]


def rows() -> dict[str, list[dict[str, Any]]]:
    """Return the rows of listings."""
    return {
        "experiments": [
            {"id": e.id, "what": e.title, "source": e.source, "runs": None if e.instances else e.runs}
            for e in EXPERIMENTS.values()
        ]
    }
