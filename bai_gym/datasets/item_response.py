"""Synthetic scores of models on questions: the two-parameter logistic model of item response theory.

Model i answers question j correctly with probability 1 / (1 + exp(-a_j (theta_i - b_j))), where theta_i is the ability
of the model, b_j the difficulty of the question and a_j its discrimination: how steeply the probability rises with the
ability. Abilities and difficulties are standard normal, and discriminations log-normal with median 1. That choice is
this library's, not fitted to any leaderboard: results on these scores are results on this model.

Source: Birnbaum (1968), "Some Latent Trait Models and Their Use in Inferring an Examinee's Ability", in Lord and
Novick, "Statistical Theories of Mental Test Scores".
"""

from __future__ import annotations

import numpy as np

from bai_gym.common.seeding import check_seed
from bai_gym.errors import ParameterError
from bai_gym.parallel import check_memory
from bai_gym.statistics import FloatArray
from bai_gym.validation import integer

__all__ = ["item_response_scores"]

DISCRIMINATION_SD = 0.5  # of log a_j


def item_response_scores(num_models: int, num_questions: int, seed: int = 0) -> FloatArray:
    """Draw which models answer which questions correctly.

    Args:
        num_models: M, at least 1.
        num_questions: Q, at least 1.
        seed: At least 0; the same seed gives the same scores.

    Returns:
        ``(M, Q)`` zeros and ones. About half of them are ones; the shares of the models are spread over (0, 1), with a
        standard deviation of about 0.2.

    Raises:
        ParameterError: A size below 1, or an invalid seed.
    """
    models, questions = integer(num_models, "num_models", least=1), integer(num_questions, "num_questions", least=1)
    check_memory(models, 24 * questions, "num_models x num_questions", ParameterError)
    rng = np.random.default_rng(check_seed(seed))
    ability = rng.standard_normal((models, 1))
    difficulty = rng.standard_normal(questions)
    discrimination = rng.lognormal(0.0, DISCRIMINATION_SD, questions)
    chance = 1.0 / (1.0 + np.exp(-discrimination * (ability - difficulty)))
    return (rng.random((models, questions)) < chance).astype(np.float64)
