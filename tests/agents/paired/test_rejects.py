"""PairedSR: by hand, in plain Python, and where pairing hurts SR."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bai_gym.agents import PairedSR, SuccessiveRejects
from bai_gym.agents.tools.rejects import phase_lengths
from bai_gym.bandits import PairedGaussianBandit
from bai_gym.benchmark.rollout import play_blocks
from bai_gym.problems import ProblemInfo

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


@pytest.mark.slow
def test_a_factor_that_rivals_share_hurts_less() -> None:
    # Arms 2 to 10 with correlation 0.9, the best one independent: SR 0.364, 0.216, 0.095, PairedSR 0.217, 0.097, 0.021,
    # with 240, 480 and 960 pulls. 4,000 runs: four standard errors are 0.03, 0.026 and 0.018 for SR.
    correlation = np.full((10, 10), 0.9)
    correlation[0], correlation[:, 0] = 0.0, 0.0
    np.fill_diagonal(correlation, 1.0)
    bandit = PairedGaussianBandit([0.3] + [0.0] * 9, 1.0, correlation=correlation)
    for budget, both in [(240, (0.364, 0.217)), (480, (0.216, 0.097)), (960, (0.095, 0.021))]:
        for agent, expected in zip((SuccessiveRejects(), PairedSR()), both, strict=True):
            many = bandit.select(np.zeros(4000, np.int64))
            agent.reset(ProblemInfo(10, budget, 4000, truth=many), np.random.default_rng(0))
            errors = (play_blocks(agent, many, budget, np.random.default_rng(1)).recommendation != 0).mean()
            assert errors == pytest.approx(expected, abs=4 * np.sqrt(expected * (1 - expected) / 4000)), budget
