"""The range of rewards that an agent counts on: given as b or sigma, chosen by the kind of rewards, or the true one."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from bai_gym.bandits import Bandit
from bai_gym.errors import ParameterError
from bai_gym.problems import ProblemInfo
from bai_gym.rewards import Rewards
from bai_gym.statistics import ROUNDING, FloatArray

__all__ = [
    "ORACLE",
    "bound_or_oracle",
    "complexity_and_range",
    "dependence_note",
    "deviation_or_oracle",
    "gaussian_note",
    "has_unknown_variances",
    "interval_values",
    "length_of",
    "range_assumptions",
    "range_choice",
    "range_of",
    "reward_bounds",
    "sigma_or_oracle",
    "variances_if_oracle",
]

ORACLE: Final = "oracle"  # in place of a number: the true one
SMALLEST_BOUND = 1e-9  # of rewards, in their unit


def length_of(rewards: Rewards) -> float:
    """Return the length of the interval of bounded rewards; 1 for others, as in the papers' examples."""
    return rewards.width if np.isfinite(rewards.width) else 1.0


def range_choice(agent: Any, rewards: Rewards) -> dict[str, Any]:
    """Return the choice of b, where no sigma takes its place; with fixed confidence none for unbounded rewards."""
    is_unknown = agent.stops and np.isinf(rewards.width)
    return {} if is_unknown or getattr(agent, "sigma", None) is not None else {"b": length_of(rewards)}


def has_unknown_variances(agent: Any) -> bool:
    """Return whether an agent of fixed confidence estimates variances, as it knows neither b nor sigma."""
    return agent.setting("b") is None and getattr(agent, "sigma", None) is None


def interval_values(agent: Any) -> dict[str, float]:
    """Return the values of :class:`bai_gym.agents.tools.widths.IntervalState`, for intervals of all arms."""
    unknown = has_unknown_variances(agent)
    level = math.log(agent.num_arms / agent.delta)
    return {"b": math.nan if unknown else range_of(agent), "unknown": unknown, "level": level}


def bound_or_oracle(agent: Any, rewards: Rewards) -> dict[str, Any]:
    """Return the choice of b: the length of the interval of bounded rewards, for others the true bound."""
    return {"b": rewards.width if np.isfinite(rewards.width) else ORACLE}


def deviation_or_oracle(rewards: Rewards) -> float | str:
    """Return half the length of the interval of bounded rewards, a sigma for all of them; for others the true one."""
    return 0.5 * rewards.width if np.isfinite(rewards.width) else ORACLE


def complexity_and_range(agent: Any) -> frozenset[str]:
    """The complexity, and the range if ``b`` is the oracle's."""
    return frozenset({"complexity", "range"} if agent.setting("b") == ORACLE else {"complexity"})


def sigma_or_oracle(agent: Any, rewards: Rewards) -> dict[str, Any]:
    """Return the choice of sigma: what :func:`deviation_or_oracle` returns."""
    return {"sigma": deviation_or_oracle(rewards)}


def variances_if_oracle(agent: Any) -> frozenset[str]:
    """The variances, if ``sigma`` is the oracle's."""
    return frozenset({"variances"} if agent.setting("sigma") == ORACLE else ())


def range_of(agent: Any) -> float:
    """Return b, or 2 sigma: Hoeffding's inequality takes rewards in an interval of length b for (b / 2)-sub-Gaussian.

    Args:
        agent: The agent, with a parameter ``b``, and perhaps ``sigma``.

    Raises:
        ParameterError: If both are given, or none where rewards are unbounded.
    """
    sigma = getattr(agent, "sigma", None)
    if sigma is None:
        if agent.setting("b") is None:
            raise ParameterError(
                f"{agent.name} with threshold='paper' needs the range of the rewards, and these are {agent.rewards}: "
                "give it b= or sigma="
            )
        return float(agent.setting("b"))
    if agent.b is not None:
        raise ParameterError(
            f"{agent.name} takes b or sigma, not both: b for bounded rewards, sigma for sub-Gaussian ones"
        )
    return 2.0 * float(sigma)


def reward_bounds(agent: Any, info: ProblemInfo) -> FloatArray:
    """Return ``(N,)`` bounds of the rewards: an agent's b, checked, or if it is the oracle's, the problem info's."""
    b = agent.setting("b")
    if b != ORACLE:
        return np.full(info.batch, float(b))
    # Rewards that are all negative have no bound of this form; a tiny one leaves the widths to the variances.
    return np.maximum(info.reward_bound, SMALLEST_BOUND)


def dependence_note(agent: str, bandit: Bandit, *, by_pairs: bool) -> tuple[str, ...]:
    """Return notes if the rewards of a bandit are not independent, as a confidence guarantee needs them.

    Args:
        agent: Name of the agent.
        bandit: The instances.
        by_pairs: Whether the evidence of two arms is added up, which needs independent arms; intervals of single arms
            do not.
    """
    proved, notes = f"{agent}: its confidence is proved for", []
    if by_pairs and bandit.paired:
        notes.append(f"{proved} independent arms, and these are played on common items")
    if bandit.num_items is not None:
        notes.append(f"{proved} rewards drawn independently of each other, and here no item is drawn twice")
    return tuple(notes)


def gaussian_note(agent: str, bandit: Bandit) -> tuple[str, ...]:
    """Return a note if a confidence guarantee for Gaussian rewards does not cover a bandit's."""
    low, high = bandit.limits()
    if bandit.rewards.kind != "counts" and np.isinf(high - low):
        return ()
    kind = "counts" if bandit.rewards.kind == "counts" else f"in [{low:.4g}, {high:.4g}]"
    return (f"{agent}: its confidence is proved for Gaussian rewards, and these are {kind}",)


def range_assumptions(agent: Any, bandit: Bandit) -> tuple[str, ...]:
    """Return a note if a confidence guarantee for bounded rewards, or sub-Gaussian ones, does not cover a bandit's.

    Args:
        agent: The agent, with a parameter ``b``, and perhaps ``sigma``.
        bandit: The instances.
    """
    sigma, dependence = getattr(agent, "sigma", None), dependence_note(agent.name, bandit, by_pairs=False)
    if sigma is not None:
        if bandit.scale() <= sigma * (1.0 + ROUNDING):
            return dependence
        return (f"{agent.name}: its confidence is proved for {sigma:g}-sub-Gaussian rewards, and these need not be",)
    low, high = bandit.limits()
    b = agent.suited_to(bandit.rewards).setting("b")
    if b is None:
        return gaussian_note(agent.name, bandit) + dependence
    if high - low <= b * (1.0 + ROUNDING):
        return dependence
    way = "; give it sigma=" if hasattr(agent, "sigma") else ""
    kind = "unbounded" if np.isinf(high - low) else f"in [{low:.4g}, {high:.4g}]"
    lead = f"{agent.name}: its confidence is proved for rewards in an interval of length {b:g}"
    return (f"{lead}, and these are {kind}{way}",)
