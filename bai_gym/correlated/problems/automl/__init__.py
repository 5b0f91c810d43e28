"""Which model of 160 predicts best? Hoffman, Shahriari and de Freitas (2014), section 6.2.

``grid`` says which models there are, ``training`` trains and tests them on a random split of the data, ``cache`` keeps
the scores on disk, and ``problem`` turns them into a bandit.
"""

from bai_gym.correlated.problems.automl.grid import GRIDS, MODELS, Model, similarity
from bai_gym.correlated.problems.automl.problem import AutoMLProblem, automl_problem

__all__ = ["GRIDS", "MODELS", "AutoMLProblem", "Model", "automl_problem", "similarity"]
