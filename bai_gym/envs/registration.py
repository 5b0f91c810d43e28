"""The ids, as data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from gymnasium.envs.registration import register, registry

__all__ = ["IDS", "Registration", "register_all"]


@dataclass(frozen=True)
class Registration:
    """One id.

    Attributes:
        id: For example ``"BAI-Gaussian64-v0"``.
        family: Problem family, a key of ``bai_gym.problems.FAMILIES``.
        budget: Default number of pulls per episode.
        summary: One line for listings.
        keywords: Keyword arguments that the id fixes; ``gym.make`` can override them.
        data: Name of the data set that must be there, or None.
    """

    id: str
    family: str
    budget: int
    summary: str
    keywords: dict[str, Any] = field(default_factory=dict)
    data: str | None = None


IDS: tuple[Registration, ...] = (
    *(
        Registration(
            f"BAI-Gaussian{arms}-v0",
            "gaussian",
            5000,
            f"{arms} Gaussian arms with heterogeneous variances (Lalitha et al. 2023, section 5.1)",
            {"num_arms": arms},
        )
        for arms in (32, 40, 48, 56, 64)
    ),
    *(
        Registration(
            f"BAI-Bernoulli{arms}-v0",
            "bernoulli",
            budget,
            f"{arms} Bernoulli arms with means from the uniform prior",
            {"num_arms": arms},
        )
        for arms, budget in ((2, 100), (3, 40), (4, 20), (10, 200))
    ),
    *(
        Registration(
            f"BAI-MovieLens{arms}-v0",
            "movielens",
            budget,
            f"{arms} movies of MovieLens 1M, ratings completed (Lalitha et al. 2023, section 5.2)",
            {"num_arms": arms},
            data="movielens-1m",
        )
        for arms, budget in ((64, 5000), (128, 10000))
    ),
    *(
        Registration(
            f"BAI-MovieLensLike{arms}-v0",
            "movielens-like",
            budget,
            f"{arms} movies of synthetic ratings, through the same completion and matching; needs no data",
            {"num_arms": arms},
        )
        for arms, budget in ((64, 5000), (128, 10000))
    ),
    Registration(
        "BAI-Custom-v0",
        "custom",
        1000,
        "your own arms: means=[...] with variances=[...], or distribution='bernoulli'; else four for demonstration",
    ),
    Registration(
        "BAI-Table-v0",
        "table",
        1000,
        "your own logged data: path=, arm_column=, reward_column=; else a synthetic A/B test for demonstration",
    ),
)
"""Every registered id."""


def register_all() -> None:
    """Register every id with Gymnasium, those that are not there yet."""
    for entry in IDS:
        if entry.id not in registry:
            register(
                id=entry.id,
                entry_point="bai_gym.envs.scalar:BestArmEnv",
                vector_entry_point="bai_gym.envs.vector:BestArmVectorEnv",
                kwargs={"problem": entry.family, "budget": entry.budget, **entry.keywords},
            )
