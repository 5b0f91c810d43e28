"""What is proved about an agent on an environment: the bound on its error probability, where a theorem covers it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

import numpy as np

from bai_gym.bandits import Bandit, BernoulliBandit, EmpiricalBandit, FeatureBandit, GaussianBandit
from bai_gym.benchmark.chunk import Cell
from bai_gym.problems import FixedProblem
from bai_gym.seeding import generator
from bai_gym.tasks import BestArm, Thresholding
from bai_gym.theory import BOUNDS, THRESHOLD_BOUNDS, Bound

__all__ = ["proved_bounds"]

INSTANCES = 1000  # over which the bound is averaged where instances are drawn anew
NO_MATTER = {"tie", "allow_small_budget"}


def proved_bounds(cells: Sequence[Cell]) -> dict[tuple[str, str, int], float]:
    """Return the bounds on the error probabilities of those cells that a theorem covers.

    A theorem covers an agent with the parameters that it is about, on rewards that it is about, for one best arm or for
    thresholding.
    Where instances are drawn anew, the bound is averaged over 1,000 of them, each clipped to 1.

    Args:
        cells: Agents on environments.

    Returns:
        Bounds in (0, 1], by agent, environment and budget as in the results.
    """
    found = {}
    for cell in cells:
        value = _bound(cell)
        if value is not None:
            found[cell.label, cell.env.label, cell.budget] = value
    return found


def _bound(cell: Cell) -> float | None:
    agent = cell.agent.make()
    task = cell.episode_spec.task
    bounds = THRESHOLD_BOUNDS if isinstance(task, Thresholding) else BOUNDS
    bound = bounds.get(str(getattr(agent, "name", "")))
    if bound is None or not isinstance(task, BestArm | Thresholding) or task.epsilon > 0:
        return None
    if cell.episode_spec.fixed_confidence:
        return None
    if not _is_about(bound, agent):
        return None
    problem = cell.env.problem
    instances = 1 if isinstance(problem, FixedProblem) else INSTANCES
    bandit = problem.draw(instances, generator(cell.seed, "instances", 0))
    if not _has_rewards(bandit, bound.rewards):
        return None
    border = (task.threshold,) if isinstance(task, Thresholding) else ()
    values = bound(bandit.means, bandit.variances, *border, cell.budget)
    return None if np.isnan(values).any() else float(np.minimum(values, 1.0).mean())


def _is_about(bound: Bound, agent: Any) -> bool:
    """Return whether the agent has the parameters for which the bound is proved."""
    if not is_dataclass(agent):
        return False
    for field in fields(agent):
        default = field.default_factory() if field.default_factory is not MISSING else field.default
        wanted = bound.parameters.get(field.name, default)
        if field.name not in NO_MATTER and getattr(agent, field.name) != wanted:
            return False
    return True


def _has_rewards(bandit: Bandit, rewards: str) -> bool:
    if isinstance(bandit, FeatureBandit):
        bandit = bandit.rewards
    if rewards == "Gaussian":
        return isinstance(bandit, GaussianBandit)
    if isinstance(bandit, EmpiricalBandit):
        return bool(bandit.samples.rewards.min() >= 0 and bandit.samples.rewards.max() <= 1)
    return isinstance(bandit, BernoulliBandit)
