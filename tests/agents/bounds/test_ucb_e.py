"""UCB-E and adaptive UCB-E: exploration by hand, and every choice against the formulas."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bai_gym.agents.bounds.ucb_e import UCBE, AdaptiveUCBE, next_phase
from bai_gym.bandits import GaussianBandit
from bai_gym.errors import ParameterError
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import NEVER, Engine, Sequential
from bai_gym.sampling.episode import episode
from bai_gym.statistics import Statistics

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


def test_what_is_told_follows_the_parameters() -> None:
    assert UCBE().knows == UCBE(a="theory").knows == {"complexity", "range"}
    assert UCBE(b=1.0).knows == {"complexity"}
    assert UCBE(a=2.0).knows == {"range"}
    assert UCBE(a=2.0, b=1.0).knows == AdaptiveUCBE().knows == frozenset()


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


@pytest.mark.each("seed", range(6))
def test_ucb_e_follows_the_formula(trace: Play, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rewards = rng.random((4, 60))
    played = trace(UCBE(tie="first", a=0.6, b=1.5), rewards, 60)
    made: list[list[float]] = [[] for _ in rewards]
    for step, arm in enumerate(played.arms):
        if step >= 4:
            index = [np.mean(m) + 1.5 * math.sqrt(0.6 / len(m)) for m in made]
            assert index[arm] == pytest.approx(max(index), rel=1e-12)
        made[arm].append(rewards[arm][len(made[arm])])


def complexity(means: list[float], phase: int, before: float) -> float:
    """H as the rule estimates it at the beginning of a phase; ``before`` is that of the phase before."""
    arms = len(means)
    ends = np.arange(1.0, arms + 1.0)  # phase k begins after k pulls
    agent = begun(AdaptiveUCBE(), 93)
    memory = np.array([before, phase - 1.0, *range(arms)])
    seen = Statistics(np.ones((1, arms), np.int64), np.array([means]), np.zeros((1, arms)))
    parameters = np.array([[0.0, 1.0, *ends]])
    request = Sequential(agent.rule, 1, parameters, "first", agent.rng, memory.size)
    engine = Engine(request, seen, phase, None, variances=False)
    now = episode(engine._floats[0], engine._ints[0], np.zeros((arms, 0)))._replace(pulled=0)
    now.memory[:] = memory
    assert next_phase(now, agent.rng) == (phase + 1 if phase < arms - 1 else NEVER)
    assert now.parameters[0] == pytest.approx(1 / math.sqrt(now.memory[0]), rel=1e-12)
    return float(now.memory[0])


def test_plug_in_complexity_by_hand() -> None:
    # Gaps 0, 0.5, 1, 4 of ranks 1 to 4: 2 / 0.25 = 8, 3 / 1 = 3, 4 / 16 = 0.25. In phase k the last k ranks count.
    assert complexity([1.0, 5.0, 4.5, 4.0], 1, 7.0) == 0.25
    assert complexity([1.0, 5.0, 4.5, 4.0], 2, 7.0) == 3.0
    assert complexity([1.0, 5.0, 4.5, 4.0], 3, 7.0) == 8.0
    assert complexity([5.0, 5.0, 5.0, 1.0], 3, 7.0) == 0.25  # gaps 0, 0, 0, 4
    assert complexity([2.0, 2.0, 2.0, 2.0], 3, 7.0) == 7.0  # no gaps: it stays what it was
    # Gaps 0, 0 but for rounding, 2/3 of rank 3, 1 of rank 4.
    assert complexity([1.0, 1 / 3, 0.0, 1.0 + 1e-16], 3, 7.0) == pytest.approx(6.75, rel=1e-12)


def test_gaps_of_rounding_are_left_out() -> None:
    means = [0.1 + 0.2, 0.3, 0.0]
    assert means[0] != means[1]
    assert complexity(means, 2, 7.0) == pytest.approx(3 / 0.09, rel=1e-12)


@pytest.mark.each("num_arms", [2, 3, 5])
@pytest.mark.each("seed", range(4))
def test_adaptive_ucb_e_follows_the_pseudo_code(trace: Play, num_arms: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    budget = num_arms + int(rng.integers(0, 90))
    rewards = (rng.random((num_arms, budget)) < np.linspace(0.3, 0.8, num_arms)[:, None]) * 1.0
    c, b = float(rng.choice([0.2, 1.0])), float(rng.choice([0.5, 1.0]))
    played = trace(AdaptiveUCBE(tie="first", c=c, b=b), rewards, budget)
    logbar = 0.5 + sum(1 / i for i in range(2, num_arms + 1))
    n = [0]
    n += [math.ceil((budget - num_arms) / (logbar * (num_arms + 1 - k)) - 1e-9) for k in range(1, num_arms)]
    ends = [0] + [sum(n[:k]) + (num_arms + 1 - k) * n[k] for k in range(1, num_arms)] + [budget]
    made: list[list[float]] = [[] for _ in rewards]
    complexity, phase = float(num_arms), 0
    for step, arm in enumerate(played.arms):
        while phase < num_arms - 1 and step >= ends[phase + 1]:
            phase += 1
            if step >= num_arms:
                means = np.array([np.mean(m) for m in made])
                gaps = np.sort(means.max() - means)
                terms = [i / gaps[i - 1] ** 2 for i in range(num_arms - phase + 1, num_arms + 1) if gaps[i - 1] > 1e-12]
                complexity = max(terms, default=complexity)
        if step >= num_arms:
            index = [np.mean(m) + b * math.sqrt(c * budget / (complexity * len(m))) for m in made]
            assert index[arm] == pytest.approx(max(index), rel=1e-12)
        made[arm].append(rewards[arm][len(made[arm])])
    assert sorted(played.arms[:num_arms]) == list(range(num_arms))
    assert len(played.arms) == budget
    assert np.mean(made[played.recommendation]) == max(np.mean(m) for m in made)


@pytest.mark.each(
    ("agent", "message"),
    [
        (UCBE(c=0.0), "c of UCB-E must be a positive number, not 0.0"),
        (UCBE(c=math.nan), "c of UCB-E must be a positive number, not nan"),
        (UCBE(a="most"), "a of UCB-E must be None, 'theory' or a number of at least 0, not 'most'"),
        (UCBE(a=-1.0), "a of UCB-E must be None, 'theory' or a number of at least 0, not -1.0"),
        (UCBE(a=math.inf), "a of UCB-E must be None"),
        (UCBE(a=1.0, c=2.0), "c of UCB-E has no effect where a is given"),
        (UCBE(b=0.0), "b of UCB-E must be a positive number, not 0.0"),
        (AdaptiveUCBE(c=-1.0), "c of A-UCB-E must be a positive number, not -1.0"),
        (AdaptiveUCBE(b=math.inf), "b of A-UCB-E must be a positive number, not inf"),
    ],
)
def test_parameters_out_of_range(agent: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        begun(agent)
