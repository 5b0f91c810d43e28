"""The optimal value on Bernoulli arms with means from a Beta prior, where the pulls of a stage are decided at once.

As :mod:`bai_gym.theory.bayes_optimal`, with a stage in the place of a pull: the successes in the pulls of an arm have a
beta-binomial distribution. The difference of the two values is what staged decisions cost.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np
from scipy import special

from bai_gym.errors import ParameterError
from bai_gym.statistics import FloatArray
from bai_gym.theory.bayes_optimal import check_objective
from bai_gym.theory.beta_arms import BetaArms, check_prior
from bai_gym.theory.pull_counts import Parts
from bai_gym.validation import integer

__all__ = ["staged_value"]

LARGEST = 1e9  # terms to add up, about a minute


def staged_value(
    num_arms: int, stages: Sequence[int], *, objective: str = "correct", alpha: float = 1.0, beta: float = 1.0
) -> float:
    """Return the optimal value on Bernoulli arms with independent means from Beta(alpha, beta), deciding in stages.

    With stages of one pull this is :func:`bai_gym.theory.optimal_value`; with one stage, the best fixed allocation.

    Args:
        num_arms: K, at least 2.
        stages: Pulls of each stage, at least 1; their sum is the budget.
        objective: ``"correct"``: the largest probability of a correct recommendation; ``"simple_regret"``: the smallest
            expected simple regret.
        alpha: Parameter of the prior, from 0.1 to 1,000; default 1, with beta = 1 the uniform prior.
        beta: The other one.

    Raises:
        ParameterError: If a parameter is out of range, or the problem is too large.
    """
    num_arms = integer(num_arms, "num_arms", least=2)
    sizes = [integer(size, "the pulls of a stage", least=1) for size in stages]
    check_objective(objective)
    alpha, beta = check_prior(alpha, beta)
    if _terms(num_arms, sizes) > LARGEST:
        raise ParameterError(
            f"the optimum of {num_arms} arms in stages of {', '.join(map(str, sizes))} pulls is too large to compute: "
            "take fewer arms, a smaller budget or smaller stages"
        )
    arms = BetaArms(num_arms, sum(sizes), alpha, beta)
    recommending = arms.best_probabilities if objective == "correct" else arms.means

    @functools.cache
    def chances(pulls: int, more: int) -> FloatArray:
        """Return ``(T + 1, T + c + 1)`` probabilities of the successes after c more pulls, from those after T."""
        before, gained = np.arange(pulls + 1)[:, None], np.arange(more + 1)
        a, b = alpha + before, beta + pulls - before
        logs = special.betaln(a + gained, b + more - gained) - special.betaln(a, b)
        found = np.zeros((pulls + 1, pulls + more + 1))
        found[before, before + gained] = special.comb(more, gained) * np.exp(logs)
        return found

    @functools.cache
    def value(pulls: Parts, stage: int) -> FloatArray:
        """Return the values of all successes, a box, after these pulls of the arms, in descending order."""
        if stage == len(sizes):
            return functools.reduce(np.maximum, np.broadcast_arrays(*recommending(pulls)))
        best = np.zeros([each + 1 for each in pulls])
        for counts in _divisions(sizes[stage], num_arms):
            after = np.add(pulls, counts)
            order = np.argsort(-after, kind="stable")
            box = value(tuple(after[order].tolist()), stage + 1).transpose(np.argsort(order))
            for arm, (made, more) in enumerate(zip(pulls, counts, strict=True)):
                if more:
                    box = np.moveaxis(np.tensordot(chances(made, more), box, (1, arm)), 0, arm)
            best = np.maximum(best, box)
        return best

    found = float(value((0,) * num_arms, 0).item())
    return found if objective == "correct" else arms.expected_best - found


def _divisions(pulls: int, arms: int) -> Iterator[tuple[int, ...]]:
    """Yield all ways to divide pulls among arms."""
    for ends in itertools.combinations(range(pulls + arms - 1), arms - 1):
        bars = (-1, *ends, pulls + arms - 1)
        yield tuple(after - before - 1 for before, after in itertools.pairwise(bars))


def _terms(num_arms: int, sizes: Sequence[int]) -> float:
    """Return about how many terms are added up: in all boxes, for all divisions of the next stage."""
    total, num_pulls = 0.0, 0
    for size in sizes:
        boxes = math.comb(num_pulls + 2 * num_arms - 1, num_pulls) / math.factorial(num_arms)
        total += boxes * math.comb(size + num_arms - 1, size) * (size / num_arms + 1.0) * num_arms
        num_pulls += size
    return total
