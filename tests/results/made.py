"""Outcomes and comparisons made of the runs that were wrong. Tests of results and reports read this by ``run_path``."""

from __future__ import annotations

from typing import Any

import numpy as np

from bai_gym import Comparison
from bai_gym.results.result import Runs, summarize


def first(errors: int, runs: int = 20) -> np.ndarray:
    return np.arange(runs) < errors


def episodes(wrong: Any, regret: Any = None, num_arms: int = 4, sets: bool = False) -> Runs:
    """Outcomes of runs, given which of them are wrong; with simple regret 1 there unless given."""
    wrong = np.asarray(wrong, dtype=bool)
    runs = wrong.size
    return Runs(
        recommendation=np.zeros((runs, 2) if sets else runs, int),
        correct_recommendation=np.zeros((runs, 2) if sets else runs, int),
        correct=~wrong,
        simple_regret=wrong.astype(float) if regret is None else np.asarray(regret, float),
        spent=np.full(runs, 100),
        truncated=np.zeros(runs, bool),
        pulls=np.full(num_arms, 25 * runs),
    )


def compared(
    outcomes: dict[tuple[str, str, int], Runs], knows: tuple[str, ...] = (), notes: tuple[str, ...] = ()
) -> Comparison:
    return Comparison(tuple(summarize(*key, runs, knows, notes) for key, runs in outcomes.items()), outcomes)
