"""Scores and prices of language-model agents on four sets of questions, which ship with the package.

The files are in the folder ``bundled``, with their licence and a notice of what was taken from where. They hold numbers
and names of configurations, not the questions. Some cells of ``hotpotqa`` and ``mathqa`` are missing: not at random,
but by the model that answers; the source does not say why.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pyarrow.csv as pacsv

from bai_gym.data.matrix import ScoreMatrix
from bai_gym.rewards import Rewards
from bai_gym.statistics import FloatArray
from bai_gym.validation import choice

__all__ = ["LLM_AGENTS", "llm_agents"]

LLM_AGENTS = ("bfcl", "gpqa", "hotpotqa", "mathqa")
"""The sets of questions."""

_BUNDLED = Path(__file__).parent / "bundled"


@cache
def llm_agents(data: str) -> ScoreMatrix:
    """Return what every configuration scored on every question, and what a question cost.

    Args:
        data: ``"gpqa"``: 9 models, 198 questions, scores 0 and 1. ``"bfcl"``: 9 models, 200 questions, 0 and 1.
            ``"hotpotqa"``: 81 pairs of a planner and a solver, 200 questions, scores from 0 to 1, 32 of them missing.
            ``"mathqa"``: 81 pairs of a model that answers and a critic, 200 questions, 0 and 1, 1,239 missing.

    Returns:
        The matrix, read-only, with prices in dollars: those of the run of all questions, divided by their number.

    Raises:
        ParameterError: Other data.

    Source: AgentOpt, https://github.com/AgentOptimizer/agentopt, commits eb1983e (scores) and 4659265 (prices).
    """
    name = choice(data, LLM_AGENTS, "data")
    table = pacsv.read_csv(_BUNDLED / f"{name}-scores.csv").drop_columns(["question"])
    scores: FloatArray = np.array([column.to_numpy() for column in table.columns], np.float64)
    bill = pacsv.read_csv(_BUNDLED / f"{name}-prices.csv")
    dollars = dict(zip(bill["configuration"].to_pylist(), bill["dollars_per_200_questions"].to_pylist(), strict=True))
    prices = np.array([dollars[column] for column in table.column_names]) / scores.shape[1]
    for array in (scores, prices):
        array.setflags(write=False)
    names = tuple(column.removeprefix("agent=") for column in table.column_names)
    return ScoreMatrix(names, scores, Rewards.read(scores[~np.isnan(scores)]), prices)
