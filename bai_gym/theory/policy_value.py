"""The exact value of any policy on Bernoulli arms with means from a Beta prior, to compare with the optimum."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator

import numpy as np

from bai_gym.errors import ParameterError
from bai_gym.statistics import FloatArray, IntArray
from bai_gym.theory.bayes_optimal import MEMORY_LIMIT, check_objective
from bai_gym.theory.beta_arms import BetaArms, check_prior
from bai_gym.validation import integer, real

__all__ = ["Policy", "policy_value"]

Policy = Callable[[IntArray, IntArray], FloatArray]
"""Probabilities of the arms, ``(S, K)``, from ``(S, K)`` successes and ``(S, K)`` pulls in S states."""


def policy_value(
    pull: Policy,
    recommend: Policy,
    num_arms: int,
    budget: int,
    *,
    objective: str = "correct",
    alpha: float = 1.0,
    beta: float = 1.0,
    memory_limit: float = MEMORY_LIMIT,
) -> float:
    """Return the exact value of a policy that depends only on the counts, on Bernoulli arms.

    It may treat arms differently, so all ordered states are visited: about K! as many as for
    :func:`bai_gym.theory.optimal_value`.

    Args:
        pull: Probabilities of pulling each arm next.
        recommend: Probabilities of recommending each arm at the end.
        num_arms: K, at least 2.
        budget: n, at least 0.
        objective: ``"correct"``: the probability of a correct recommendation; ``"simple_regret"``: the expected simple
            regret.
        alpha: Parameter of the prior, from 0.1 to 1,000.
        beta: The other one.
        memory_limit: Memory limit in gigabytes.

    Raises:
        ParameterError: If a parameter is out of range, the problem is too large for the limit, or a policy does not
            return probabilities.
    """
    num_arms, budget = integer(num_arms, "num_arms", least=2), integer(budget, "budget", least=0)
    check_objective(objective)
    states = math.comb(budget + 2 * num_arms - 1, budget)
    limit = real(memory_limit, "memory_limit", above=0) * 1e9
    if 16 * states > limit:
        raise ParameterError(
            f"{states:,} states of {num_arms} arms after {budget} pulls are too many (limit {limit / 1e9:g} GB): take "
            "a smaller budget, fewer arms, or a larger memory_limit (in GB)"
        )
    arms = BetaArms(num_arms, budget, *check_prior(alpha, beta))
    values: dict[tuple[int, ...], FloatArray] = {}
    for total in range(budget, -1, -1):
        earlier = {}
        for pulls in _shares(total, num_arms):
            if total == budget:
                gains = arms.best_probabilities(pulls) if objective == "correct" else arms.means(pulls)
                probabilities = _probabilities(recommend, pulls)
            else:
                gains = [_after(pulls, arm, values, arms) for arm in range(num_arms)]
                probabilities = _probabilities(pull, pulls)
            box = tuple(count + 1 for count in pulls)
            shares = (share.reshape(box) for share in probabilities.T)
            earlier[pulls] = np.asarray(sum(share * gain for share, gain in zip(shares, gains, strict=True)))
        values = earlier
    (value,) = values[(0,) * num_arms].reshape(-1)
    return float(value) if objective == "correct" else arms.expected_best - float(value)


def _shares(total: int, num_arms: int) -> Iterator[tuple[int, ...]]:
    """Yield all ways to share pulls among the arms."""
    for bars in itertools.combinations(range(total + num_arms - 1), num_arms - 1):
        ends = (-1, *bars, total + num_arms - 1)
        yield tuple(ends[arm + 1] - ends[arm] - 1 for arm in range(num_arms))


def _probabilities(policy: Policy, pulls: tuple[int, ...]) -> FloatArray:
    successes = np.indices([count + 1 for count in pulls]).reshape(len(pulls), -1).T
    found = np.asarray(policy(successes, np.broadcast_to(np.array(pulls), successes.shape)), np.float64)
    if found.shape != successes.shape or not (found >= 0).all() or not np.allclose(found.sum(axis=1), 1.0):
        raise ParameterError(f"a policy must return probabilities of shape {successes.shape}, each row of sum 1")
    return found


def _after(pulls: tuple[int, ...], arm: int, values: dict[tuple[int, ...], FloatArray], arms: BetaArms) -> FloatArray:
    """Return the expected values after one more pull of the arm."""
    box = np.moveaxis(values[(*pulls[:arm], pulls[arm] + 1, *pulls[arm + 1 :])], arm, -1)
    probability = arms.success(pulls[arm])
    return np.moveaxis(box[..., :-1] * (1.0 - probability) + box[..., 1:] * probability, -1, arm)
