"""Proved bounds on the error probability of an agent on an environment, where a theorem covers it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass, replace
from typing import Any

import numpy as np

from bai_gym.bandits import Bandit, FeatureBandit, GaussianBandit
from bai_gym.benchmark.cells import Cell
from bai_gym.benchmark.protocol import unmet_assumptions
from bai_gym.content.homes import home_of_class
from bai_gym.tasks import BestArm, Thresholding, TopM
from bai_gym.theory import BOUNDS, CONFIDENCE_BOUNDS, THRESHOLD_BOUNDS, Bound

__all__ = ["bound_of", "proved_bounds"]

NO_MATTER = {"tie", "allow_small_budget"}


def proved_bounds(cells: Sequence[Cell]) -> dict[tuple[str, str, int], float]:
    """Return the bounds on the error probabilities of those cells that a theorem covers.

    A theorem covers an agent of this library, not a class derived from it, whose parameters and rewards satisfy its
    assumptions, for one best arm or for thresholding. With a fresh instance per episode, the bound is averaged over
    1,000 instances, each clipped to 1.

    Args:
        cells: Agents on environments.

    Returns:
        Bounds in (0, 1], by agent, environment and budget as in the results.
    """
    bounds = {}
    for cell in cells:
        value = _bound(cell)
        if value is not None:
            bounds[cell.label, cell.env.label, cell.budget] = value
    return bounds


def bound_of(agent: Any, bounds: Mapping[str, Bound] = BOUNDS) -> Bound | None:
    """Return the bound that covers an agent and its parameters, of those for finding the best arm; None: there is none.

    Args:
        agent: The agent.
        bounds: Others, by name of the agent.
    """
    bound = bounds.get(str(getattr(agent, "name", "")))
    if bound is None or home_of_class(type(agent)) is None or not _is_about(bound, agent):
        return None
    return bound


def _bound(cell: Cell) -> float | None:
    agent = cell.prototype
    task = cell.episode_spec.task
    if home_of_class(type(agent)) is None:
        return None
    if str(getattr(agent, "name", "")) in CONFIDENCE_BOUNDS:
        return _bound_with_confidence(cell, agent)
    bound = bound_of(agent, THRESHOLD_BOUNDS if isinstance(task, Thresholding) else BOUNDS)
    if bound is None or type(task) not in (BestArm, Thresholding) or task.epsilon > 0:
        return None
    if cell.episode_spec.may_stop:  # all of them are about a fixed number of pulls
        return None
    bandit = cell.instances()
    if not _has_rewards(bandit, bound.rewards):
        return None
    border = (task.threshold,) if isinstance(task, Thresholding) else ()
    values = bound(bandit.means, bandit.variances, *border, cell.episode_spec.budget)
    return None if np.isnan(values).any() else float(np.minimum(values, 1.0).mean())


def _bound_with_confidence(cell: Cell, agent: Any) -> float | None:
    """Return delta, where the agent stops with probability 1 - delta before the budget ends; 1 in other instances."""
    bound, task, bandit = CONFIDENCE_BOUNDS[agent.name], cell.episode_spec.task, cell.instances()
    free = {"delta": agent.delta, "b": agent.b, "sigma": agent.sigma}
    if not isinstance(task, BestArm | TopM) or not _is_about(replace(bound, parameters=free), agent):
        return None
    b = agent.setting("b") if agent.sigma is None else 2.0 * agent.sigma
    if b is None or unmet_assumptions(agent, bandit):
        return None
    values = bound.function(bandit.means, cell.episode_spec.budget, agent.delta, task.m, task.epsilon, b)
    return None if np.isnan(values).all() else float(np.where(np.isnan(values), 1.0, values).mean())


def _is_about(bound: Bound, agent: Any) -> bool:
    """Return whether the agent's parameters, given or chosen, satisfy the assumptions of the bound."""
    setting = agent.setting
    if not is_dataclass(agent):
        return False
    for field in fields(agent):
        default = field.default_factory() if field.default_factory is not MISSING else field.default
        required = bound.parameters.get(field.name, default)
        if field.name not in NO_MATTER and required not in (getattr(agent, field.name), setting(field.name)):
            return False
    return True


def _has_rewards(bandit: Bandit, rewards: str) -> bool:
    if isinstance(bandit, FeatureBandit):
        bandit = bandit.inner
    if rewards == "Gaussian":
        return isinstance(bandit, GaussianBandit)
    low, high = bandit.limits()
    return low >= 0 and high <= 1
