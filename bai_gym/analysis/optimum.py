"""The error of the best possible agent on an environment, where known, and the excess error of an agent over it.

The excess error, as the excess risk of a classifier, is an error probability minus the smallest possible one. The
optimality gap of :mod:`bai_gym.analysis.aggregate` is something else: by how much scores fall short of 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bai_gym.benchmark.cells import Cell
from bai_gym.errors import ParameterError
from bai_gym.problems import BernoulliPriorProblem
from bai_gym.tasks import BestArm
from bai_gym.theory import optimal_value

__all__ = ["ExcessError", "Optima", "excess_error", "known_optima"]

Optima = dict[tuple[str, int], float]
"""Largest possible probability of a correct recommendation, by environment and budget as in the results."""


@dataclass(frozen=True, slots=True)
class ExcessError:
    """The excess error: error probability minus that of the best possible agent.

    Attributes:
        value: The agent's error probability, estimated, minus the optimum's, which is exact.
        lower: Lower end of its interval; below 0 if chance can explain the difference.
        upper: Upper end.
    """

    value: float
    lower: float
    upper: float


def excess_error(error_probability: float, interval: tuple[float, float], optimum: float) -> ExcessError:
    """Return the excess error: the optimum is exact, so its interval is that of the error probability, shifted.

    Args:
        error_probability: The agent's, estimated.
        interval: Its interval.
        optimum: Probability that the best possible agent is correct.
    """
    least = 1.0 - optimum
    return ExcessError(error_probability - least, interval[0] - least, interval[1] - least)


def known_optima(cells: Iterable[Cell]) -> tuple[Optima, list[str]]:
    """Return the optima of the environments and budgets of cells, and a sentence for each that has none.

    Args:
        cells: Agents on environments.
    """
    found: Optima = {}
    missing: dict[tuple[str, int], str] = {}
    for cell in cells:
        key = cell.env.label, cell.budget
        if key in found or key in missing:
            continue
        try:
            found[key] = _optimum(cell)
        except ParameterError as error:
            missing[key] = f"No optimum of {cell.env.label} with budget {cell.budget:,}: {error}"
    return found, list(missing.values())


def _optimum(cell: Cell) -> float:
    """Return the optimum, or raise :class:`ParameterError` with the reason why there is none."""
    problem, task = cell.env.problem, cell.episode_spec.task
    if cell.episode_spec.fixed_confidence:
        raise ParameterError("it is known for a fixed budget, and here the agent decides when to stop")
    if not isinstance(task, BestArm) or task.epsilon > 0:
        raise ParameterError("it is known for one best arm with epsilon 0")
    if not isinstance(problem, BernoulliPriorProblem):
        raise ParameterError("it is known for Bernoulli arms with means from the uniform prior (BAI-Bernoulli*-v0)")
    return optimal_value(problem.num_arms, cell.budget)
