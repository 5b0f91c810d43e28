"""UCB-E and adaptive UCB-E: exploration, pulls and the estimated complexity by hand."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bai_gym.agents.bounds.ucb_e import UCBE, AdaptiveState, next_phase
from bai_gym.bandits import GaussianBandit
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import NEVER

Play = Callable[..., Any]
MEANS = [0.5, 0.75, 0.25]  # gaps 0.25, 0.25, 0.5: H_1 = 16 + 16 + 4 = 36


def begun(agent: Any, budget: int = 93, variances: Any = 1.0) -> Any:
    truth = GaussianBandit(MEANS, variances)
    agent.reset(ProblemInfo(3, budget, truth=truth, knows=agent.knows), np.random.default_rng(0))
    return agent


@pytest.mark.each(
    ("parameters", "exploration"),
    [({}, 93 / 36), ({"c": 4.0}, 372 / 36), ({"a": "theory"}, 25 / 36 * 90 / 36), ({"a": 7.5}, 7.5), ({"a": 0}, 0.0)],
)
def test_exploration_by_hand(parameters: dict[str, Any], exploration: float) -> None:
    assert begun(UCBE(b=2.0, **parameters)).exploration.tolist() == pytest.approx([exploration], rel=1e-12)


def test_ucb_e_by_hand(trace: Play) -> None:
    # Means 1 and 0, b sqrt(a) = 3: 4, 3 at one pull each. Arm 0: 1 + 3/sqrt 2 = 3.12 (2), 2.73 (3). Arm 1: 3 (1),
    # 2.12 (2). Then 2.73, 2.5 (4), 2.34 (5), 2.22 (6), 2.13 (7), 2.06 (8) against 2.12.
    played = trace(UCBE(tie="first", a=9.0, b=1.0), [[1.0], [0.0]], 11)
    assert played.arms == [0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1]
    assert played.recommendation == 0


def test_the_range_widens(trace: Play) -> None:
    one = trace(UCBE(tie="first", a=9.0, b=1.0), [[1.0], [0.0]], 30)
    assert trace(UCBE(tie="first", a=1.0, b=3.0), [[1.0], [0.0]], 30) == one


def test_a_shared_best_mean_leaves_no_exploration(trace: Play) -> None:
    played = trace(UCBE(tie="first", b=1.0), [[1.0], [1.0], [0.0]], 9)
    assert (played.arms, played.recommendation) == ([0, 1, 2, 0, 1, 0, 1, 0, 1], 0)


@pytest.fixture
def complexity(episode: Play) -> Play:
    """H as the rule estimates it at the beginning of a phase; ``before`` is that of the phase before."""

    def find(means: list[float], phase: int, before: float) -> float:
        arms = len(means)
        ends = np.arange(1.0, arms + 1.0)  # phase k begins after k pulls
        s, w = AdaptiveState.of(exploration=1.0, complexity=before, phase=phase - 1, ends=ends, mean=np.zeros(arms))
        due = next_phase(episode([1] * arms, means, made=phase, pulled=0), s, w, np.random.default_rng(0))
        assert due == (phase + 1 if phase < arms - 1 else NEVER) and s.phase == phase
        assert s.width == pytest.approx(1 / math.sqrt(s.complexity), rel=1e-12)
        return s.complexity

    return find


def test_plug_in_complexity_by_hand(complexity: Play, episode: Play) -> None:
    # Gaps 0, 0.5, 1, 4 of ranks 1 to 4: 2 / 0.25 = 8, 3 / 1 = 3, 4 / 16 = 0.25. In phase k the last k ranks count.
    assert complexity([1.0, 5.0, 4.5, 4.0], 1, 7.0) == 0.25
    assert complexity([1.0, 5.0, 4.5, 4.0], 2, 7.0) == 3.0
    assert complexity([1.0, 5.0, 4.5, 4.0], 3, 7.0) == 8.0
    assert complexity([5.0, 5.0, 5.0, 1.0], 3, 7.0) == 0.25  # gaps 0, 0, 0, 4
    assert complexity([2.0, 2.0, 2.0, 2.0], 3, 7.0) == 7.0  # no gaps: it stays what it was
    s, w = AdaptiveState.of(ends=np.full(3, 9.0))
    next_phase(episode([1] * 3, [1.0, 0.0, 0.0]), s, w, np.random.default_rng(0))
    assert s.complexity == 3.0  # before the first phase
    # Gaps 0, 0 but for rounding, 2/3 of rank 3, 1 of rank 4.
    assert complexity([1.0, 1 / 3, 0.0, 1.0 + 1e-16], 3, 7.0) == pytest.approx(6.75, rel=1e-12)
