"""The error of the best possible agent on an environment, where known."""

from __future__ import annotations

from collections.abc import Iterable

from bai_gym.benchmark.cells import Cell
from bai_gym.errors import ParameterError
from bai_gym.problems import BernoulliPriorProblem
from bai_gym.results.result import Optima
from bai_gym.tasks import BestArm
from bai_gym.theory import optimal_value

__all__ = ["known_optima"]


def known_optima(cells: Iterable[Cell]) -> tuple[Optima, list[str]]:
    """Return the optima of the environments and budgets of cells, and a sentence for each that has none.

    Args:
        cells: Agents on environments.
    """
    optima: Optima = {}
    missing: dict[tuple[str, int], str] = {}
    for cell in cells:
        key = cell.env.label, cell.budget
        if key in optima or key in missing:
            continue
        try:
            optima[key] = _optimum(cell)
        except ParameterError as error:
            missing[key] = f"No optimum of {cell.env.label} with budget {cell.budget:,}: {error}"
    return optima, list(missing.values())


def _optimum(cell: Cell) -> float:
    """Return the optimum, or raise :class:`ParameterError` with the reason why there is none."""
    problem, task = cell.env.problem, cell.episode_spec.task
    if cell.episode_spec.may_stop:
        raise ParameterError("it is known for a fixed number of pulls, and here an episode may end before")
    if type(task) is not BestArm or task.epsilon > 0:
        raise ParameterError("it is known for one best arm with epsilon 0")
    if not isinstance(problem, BernoulliPriorProblem):
        raise ParameterError("it is known for Bernoulli arms with means from the uniform prior (BAI-Bernoulli*-v0)")
    return optimal_value(problem.num_arms, cell.episode_spec.budget)
