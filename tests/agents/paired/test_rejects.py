"""PairedSR: by hand, in plain Python, and where pairing hurts SR."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bai_gym.agents import PairedSR
from bai_gym.agents.tools.rejects import phase_lengths

Play = Callable[..., Any]


def plain_rejects(X: Any, budget: int) -> tuple[list[int], int]:
    """Pulls of each arm and the survivor, in plain Python."""
    active, pulls = list(range(X.shape[1])), [0] * X.shape[1]
    for n in phase_lengths(X.shape[1], budget).tolist():
        for i in active:
            pulls[i] = n
        leader = max(active, key=lambda i: X[:n, i].mean())
        differences = {i: X[:n, leader] - X[:n, i] for i in active}
        scatter = {i: float(((d - d.mean()) ** 2).sum()) for i, d in differences.items()}
        v = sum(scatter.values()) / n / len(active)
        score = {i: differences[i].mean() / np.sqrt((scatter[i] + 2 * v) / (n + 2)) for i in active if i != leader}
        active.remove(max(score, key=score.__getitem__))
    return pulls, active[0]


def test_phases_are_those_of_plain_python(both: Play) -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(20, 40, 5)) + 3.0 * rng.normal(size=(20, 40, 1)) + [0.5, 0.4, 0.1, 0.0, 0.0]
    played = both(PairedSR(tie="first"), X, 100, fixed_confidence=False)
    for number, x in enumerate(X):
        assert (played.pulls[number].tolist(), played.recommendation[number]) == plain_rejects(x, 100), number


def test_the_surest_loser_goes_by_hand(both: Play) -> None:
    # K = 3, n = 7: n_1 = 1, n_2 = 2; with one item the smallest mean goes, arm 2. With n = 12: n_1 = 3, n_2 = 4. Arm 2
    # has the smallest mean and noise, arm 1 is always 0.5 behind: it goes, and arm 2 is recommended for its 9.
    X = [[[1.0, 0.5, 0.0], [1.0, 0.5, 2.5], [1.0, 0.5, -3.0], [1.0, 0.5, 9.0], *[[0.0] * 3] * 3]]
    assert both(PairedSR(tie="first"), X, 7, fixed_confidence=False).pulls.tolist() == [[2, 2, 1]]
    played = both(PairedSR(tie="first"), X, 12, fixed_confidence=False)
    assert (played.pulls.tolist(), played.recommendation.tolist()) == ([[4, 3, 4]], [2])


def test_constant_differences_are_ranked_by_the_means(both: Play) -> None:
    noise = np.random.default_rng(0).normal(size=(1, 30, 1))
    assert both(PairedSR(), noise + [0.25, 1.0, 0.5], 30, fixed_confidence=False).recommendation.tolist() == [1]
