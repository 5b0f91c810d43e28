"""Experiments: figures of the papers and of this library as data, with claims to judge."""

from collections.abc import Mapping
from types import MappingProxyType

from bai_gym.errors import unknown_name
from bai_gym.papers import (
    ab,
    augucb,
    bayes_priors,
    bayesgap,
    continuous_rejects,
    few_batches,
    fixed_confidence,
    gse,
    in_context,
    learned,
    linear_confidence,
    linear_fixed_budget,
    rage,
    random_effects,
    savings,
    shvar,
    ugape,
    universal,
)
from bai_gym.papers.model import Claim, Experiment, Judged, Panel, Setting, judge
from bai_gym.wings import load_reference, wings

__all__ = ["EXPERIMENTS", "Claim", "Experiment", "Judged", "Panel", "Setting", "find", "judge"]

EXPERIMENTS: Mapping[str, Experiment] = MappingProxyType(
    {
        experiment.id: experiment
        for experiment in (
            *shvar.EXPERIMENTS,
            *ugape.EXPERIMENTS,
            *gse.EXPERIMENTS,
            *linear_fixed_budget.EXPERIMENTS,
            *bayesgap.EXPERIMENTS,
            *bayes_priors.EXPERIMENTS,
            *random_effects.EXPERIMENTS,
            *augucb.EXPERIMENTS,
            *continuous_rejects.EXPERIMENTS,
            *ab.EXPERIMENTS,
            *fixed_confidence.EXPERIMENTS,
            *linear_confidence.EXPERIMENTS,
            *rage.EXPERIMENTS,
            *few_batches.EXPERIMENTS,
            *savings.EXPERIMENTS,
            *learned.EXPERIMENTS,
            *universal.EXPERIMENTS,
            *in_context.EXPERIMENTS,
            universal.ON_MOVIES,
            *(one for wing in wings().values() for place in wing.experiments for one in load_reference(place)),
        )
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
