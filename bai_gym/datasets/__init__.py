"""Environments that real data back, or synthetic data of the same shape.

``ratings`` reads MovieLens formats, ``completion`` fills the matrix of ratings and keeps it on disk, and ``synthetic``
makes ratings of the same shape without any data. ``automobile`` and ``motor`` read tables of features.
``item_response`` makes matrices of models x questions. The matrices of ``agentopt`` ship with the package, in the
folder ``bundled``, while ``alpaca_eval`` and ``aslib`` read a user's copy. ``published`` declares the data sets.
"""

from typing import TYPE_CHECKING

from bai_gym.common.lazy import lazily

if TYPE_CHECKING:
    from bai_gym.datasets.agentopt import LLM_AGENTS, llm_agents
    from bai_gym.datasets.alpaca_eval import read_alpaca_eval
    from bai_gym.datasets.aslib import read_aslib
    from bai_gym.datasets.automobile import automobile_like, read_automobile
    from bai_gym.datasets.completion import CompletedRatings, complete, completed, factorize
    from bai_gym.datasets.item_response import item_response_scores
    from bai_gym.datasets.motor import MOTOR_TARGETS, read_motor
    from bai_gym.datasets.problems.movielens import MovieLensProblem
    from bai_gym.datasets.problems.rows import RowsProblem
    from bai_gym.datasets.problems.scores import ScoresProblem
    from bai_gym.datasets.ratings import Ratings, read_ratings
    from bai_gym.datasets.synthetic import movielens_like

__all__ = [
    "CompletedRatings",
    "LLM_AGENTS",
    "MOTOR_TARGETS",
    "MovieLensProblem",
    "Ratings",
    "RowsProblem",
    "ScoresProblem",
    "automobile_like",
    "complete",
    "completed",
    "factorize",
    "item_response_scores",
    "llm_agents",
    "movielens_like",
    "read_alpaca_eval",
    "read_aslib",
    "read_automobile",
    "read_motor",
    "read_ratings",
]

__getattr__, __dir__ = lazily(__name__)
