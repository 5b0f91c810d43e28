"""The agents that `bai-gym run` compares if none is named: for every task some that require no oracle knowledge."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from bai_gym.api import make_cells
from bai_gym.errors import BaiGymError, ParameterError

__all__ = ["default_agents"]

BEST_ARM = ("Uniform", "SH-Reuse", "SR", "SHAdaVar-Reuse")
OTHER_TASKS = ("Uniform", "SAR", "AugUCB", "APT", "A-UGapEb", "EB-TCI", "SH-Reuse", "SR")
WITH_FEATURES = ("Uniform", "SH-Reuse", "GSE-Lin", "OD-LinBAI", "G-BAI", "XY-BAI")
STOPPING = ("T3C", "EB-TCI", "TTUCB", "LUCB", "UGapEc", "APGAI", "HDoC", "LUCB-G", "RAGE(sigma=1.0)")
MOST = 4


def default_agents(
    envs: Sequence[str], budgets: Sequence[float] | None, seed: int, env_kwargs: Mapping[str, Any]
) -> list[str]:
    """Return at most four agents that can play in all environments.

    Args:
        envs: Registered ids, at least one.
        budgets: Pulls per episode; None: each environment's own budget.
        seed: The user's seed.
        env_kwargs: Keyword arguments for ``gym.make``.

    Raises:
        BaiGymError: If an argument is invalid, or none of the agents can play everywhere.
    """
    cells = [cell for env in envs for cell in make_cells(BEST_ARM[:1], env, budgets, seed, env_kwargs)]
    best_arm = all(cell.episode_spec.task.name == "best-arm" for cell in cells)
    candidates: tuple[str, ...] = BEST_ARM if best_arm else OTHER_TASKS
    if all(cell.episode_spec.fixed_confidence for cell in cells):
        candidates = STOPPING
    elif all(cell.env.problem.num_features is not None for cell in cells):
        candidates = WITH_FEATURES
    elif all(cell.episode_spec.budget < cell.env.problem.num_arms for cell in cells):
        candidates = ("Uniform(allow_small_budget=True)",)
    names: list[str] = []
    reasons: list[str] = []
    for name in candidates:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # they are repeated when the agent plays
                for env in envs:
                    for cell in make_cells([name], env, budgets, seed, env_kwargs):
                        cell.check()
        except BaiGymError as error:
            reasons.append(str(error))
        else:
            names.append(name)
    if not names:
        raise ParameterError(f"none of {', '.join(candidates)} can play here; name another --agent ({reasons[0]})")
    return names[:MOST]
