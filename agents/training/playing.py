"""What agents with a trained network share: where the weights are, a plan of single pulls, and the largest logit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bai_gym.agents.base import Agent, Plan
from bai_gym.agents.sequential import first_block
from bai_gym.errors import ParameterError, unknown_name
from bai_gym.sampling import Block, TieRule
from bai_gym.statistics import IntArray, Statistics

__all__ = ["environments", "find_weights", "preferred", "pull_one_by_one"]

SAME = 1e-4  # logits that differ by less are tied: arms with the same statistics differ by rounding


def environments(folder: Path) -> tuple[str, ...]:
    """Return the environments for which a folder of the library holds trained weights."""
    return tuple(sorted(path.stem for path in folder.glob("*.npz")))


def find_weights(agent: str, env: str | None, path: str | Path | None, folder: Path, default: str) -> Path:
    """Return the file of weights that an agent's parameters name.

    Args:
        agent: Its name.
        env: An environment for which the library ships weights, or None.
        path: The user's file, or None.
        folder: The shipped weights.
        default: The environment if neither is given.

    Raises:
        UnknownNameError: If the library ships no weights for that environment.
        ParameterError: If both are given.
    """
    if path is not None:
        if env is not None:
            raise ParameterError(f"give {agent} an env or a path, not both")
        return Path(path)
    env = default if env is None else env
    shipped = environments(folder)
    if env not in shipped:
        raise unknown_name("trained environment", str(env), shipped, f"there are: {', '.join(shipped)}")
    return folder / f"{env}.npz"


def pull_one_by_one(agent: Agent, choose: Callable[[Statistics, int], IntArray]) -> Plan:
    """Return a plan that pulls every arm once, then one arm at a time, and ends with the agent's recommendation.

    Args:
        agent: The agent, whose episodes have begun.
        choose: Called with the ``(N, K)`` statistics and the pulls that are left; returns ``(N,)`` arms.
    """
    first = min(agent.num_arms, agent.budget)
    yield first_block(agent, first)
    for left in range(agent.budget - first, 0, -1):
        yield Block.single(choose(agent.statistics, left))
    return agent.recommend(agent._seen)


def preferred(
    logits: npt.NDArray[np.float32], pulls: npt.NDArray[np.integer], tie: TieRule, rng: np.random.Generator
) -> IntArray:
    """Return the ``(N,)`` arms of largest ``(N, K)`` logit; ties go by the rule, see :class:`Agent`."""
    best = logits >= logits.max(axis=-1, keepdims=True) - SAME
    if tie == "random":
        return np.asarray(np.where(best, rng.random(best.shape), -1.0).argmax(axis=-1))
    return np.asarray(np.where(best, pulls, np.inf).argmin(axis=-1))
