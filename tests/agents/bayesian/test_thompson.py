"""Thompson sampling and top-two Thompson sampling: choices have the law of the plain rule, and what is refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from bai_gym import evaluate
from bai_gym.agents.bayesian.draws import FULL, beta_draw, bound, polar_draw
from bai_gym.agents.bayesian.thompson import TS, TTTS
from bai_gym.agents.tools.posteriors import STUDENT, Posteriors, arm_of_largest_draw
from bai_gym.errors import AgentError
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Engine
from bai_gym.statistics import Statistics
from bai_gym.validation import LARGEST

Play = Callable[..., Any]
Case = tuple[list[float], list[float], list[float]]  # pulls, means, variances
LEVEL = 1e-5  # of each test; there are some hundreds
RUNS = 100_000
SIGMA = 0.7


def choices(agent: Any, case: Case, runs: int = RUNS, seed: int = 1) -> np.ndarray:
    """How often each arm is pulled next, in many episodes with the same statistics, by compiled code."""
    arms, made = len(case[0]), int(sum(case[0]))
    agent.reset(ProblemInfo(arms, made + 1, runs), np.random.default_rng(seed))
    statistics = Statistics(*(np.tile(np.array(column, float), (runs, 1)) for column in case))
    chosen = Engine(agent.sequential(1), statistics, made, None, variances=True).choose()
    return np.bincount(chosen, minlength=arms)


def test_thompson_sampling_pulls_with_the_probability_of_being_best() -> None:
    p = stats.norm.cdf(-0.3 / (SIGMA * math.sqrt(1 / 4 + 1 / 9)))
    second = choices(TS(posterior="normal", sigma=SIGMA), ([4, 9], [0.3, 0.0], [0, 0]))[1]
    assert stats.binomtest(int(second), RUNS, p).pvalue > LEVEL


@pytest.mark.each("pulls", [2, 4])
def test_student_has_as_many_degrees_of_freedom_as_pulls_but_one(pulls: int) -> None:
    p = stats.t.sf(1.0 / math.sqrt(0.5 / pulls), pulls - 1)  # that arm 0 is drawn above 1, where arm 1 is certain to be
    first = choices(TS(), ([pulls, 9], [0.0, 1.0], [0.5, 0.0]))[0]
    assert stats.binomtest(int(first), RUNS, p).pvalue > LEVEL


@pytest.mark.each("plain", [False, True])
def test_two_arms_are_chosen_with_the_probabilities_of_the_paper(plain: bool) -> None:
    # P(arm 1 larger) = p: arm 1 is pulled with probability p beta + (1 - p) (1 - beta), up to the end after 100 draws.
    p, beta = stats.norm.cdf(-0.3 / (SIGMA * math.sqrt(1 / 4 + 1 / 9))), 0.8
    agent = TTTS(posterior="normal", sigma=SIGMA, beta=beta, plain=plain)
    second = choices(agent, ([4, 9], [0.3, 0.0], [0, 0]))[1]
    assert stats.binomtest(int(second), RUNS, p * beta + (1 - p) * (1 - beta)).pvalue > LEVEL


@pytest.mark.each("level", [0.35, 0.7])
def test_hits_of_the_beta_law_have_its_density(level: float) -> None:
    # Beta(3, 7) has mean 0.3. p = (1 + c / 32)^-32 with c = 10 kl(0.3, level).
    rng, law = np.random.default_rng(0), stats.beta(3, 7)
    c = 10 * (0.3 * math.log(0.3 / level) + 0.7 * math.log(0.7 / (1 - level)))
    chance = bound(1 / (1 + c / 32), 1.0, True)
    assert chance >= math.exp(-c) >= law.sf(level)
    values = np.array([beta_draw(3.0, 7.0, level, chance, rng) for _ in range(40_000)])
    above = values[values >= level]
    assert stats.binomtest(above.size, values.size, law.sf(level) / chance).pvalue > LEVEL
    assert stats.kstest(law.sf(above) / law.sf(level), "uniform").pvalue > LEVEL


@pytest.mark.each("freedom", [1.0, 9.0, math.inf])
@pytest.mark.each("level", [FULL, 2.5])
def test_hits_of_the_polar_form_have_the_density_of_student(freedom: float, level: float) -> None:
    rng, law = np.random.default_rng(0), stats.norm() if freedom == math.inf else stats.t(freedom)
    chance = 1.0 if level == FULL else 0.5 * math.exp(-(level**2) / (2 + level**2 / freedom))
    values = np.array([polar_draw(1 / freedom, chance, rng) for _ in range(40_000)])
    above = values[values >= level]
    assert stats.binomtest(above.size, values.size, min(1.0, law.sf(level) / chance)).pvalue > LEVEL
    assert stats.kstest(law.sf(above) / law.sf(level), "uniform").pvalue > LEVEL


def test_the_arm_cheapest_to_confuse_by_hand() -> None:
    # Certain posteriors: I = arm 0 for ever. Costs (m_0 - m_j)^2 / (1/T_0 + 1/T_j), all v being the smallest:
    # 1 / (1/4 + 1/9) = 2.77, 4 / (1/4 + 1/2) = 5.33, 1.44 / (1/4 + 1/3) = 2.47.
    counts = choices(TTTS(), ([4, 9, 2, 3], [3.0, 2.0, 1.0, 1.8], [0.0] * 4), 400)
    assert counts[[1, 2]].sum() == 0 and abs(counts[0] - 200) < 50 and counts[3] == 400 - counts[0]
    # Costs of the arms 1 and 2 against arm 0, with sigma the same: 0.25 / (1/9 + 1/9) = 1.125, 1 / (1/9 + 1/1) = 0.9.
    counts = choices(TTTS(posterior="normal", sigma=0.01, tries=1), ([9, 9, 1], [5.0, 4.5, 4.0], [0.0] * 3), 400)
    assert counts[1] == 0 and abs(counts[0] - 200) < 50


def test_ties_of_certain_arms() -> None:
    # Arms 0 and 1 are certain and equal, 2 is certain and below: I and J are 0 and 1.
    case: Case = ([2, 3, 2], [1.0, 1.0, 0.0], [0.0] * 3)
    counts = choices(TTTS(), case)
    assert counts[2] == 0 and abs(counts[0] - RUNS / 2) < 5 * math.sqrt(RUNS / 4)
    assert choices(TS(tie="first"), case, 100).tolist() == [100, 0, 0]  # fewest pulls
    assert choices(TS(tie="first"), ([3, 2, 2], [1.0, 1.0, 1.0], [0.0] * 3), 100).tolist() == [0, 100, 0]


@pytest.mark.each("scale", [1e-300, 1e-160, LARGEST])
@pytest.mark.each("kind", [TS, TTTS])
def test_rewards_of_extreme_scale(kind: Any, scale: float) -> None:
    pulls = [4.0, 9.0, 2.0, 3.0]
    certain = choices(kind(), (pulls, [3.0 * scale, 2.0 * scale, scale, 1.8 * scale], [0.0] * 4), 400)
    assert certain.sum() == 400 and certain[0] > 150 and (kind is TTTS or certain[0] == 400)
    assert kind is TS or certain[3] > 150  # the cheapest to confuse with arm 0, also where squares overflow
    noisy = choices(kind(), (pulls, [0.0, scale, 0.0, scale], [scale] * 4), 400)
    assert noisy.sum() == 400


def recommend(agent: Any, pulls: list[int], means: list[float]) -> int:
    agent.reset(ProblemInfo(len(pulls), 200), np.random.default_rng(0))
    arms = agent.recommend({"pulls": np.array([pulls]), "means": np.array([means]), "remaining": np.array([[0]])})
    return int(arms[0])


def test_rewards_of_0_and_1_stay_so_where_they_are_differences_of_means() -> None:
    assert evaluate("TTTS", "BAI-Bernoulli3-v0", budget=300, runs=20, path="steps").runs == 20


def test_recommendations() -> None:
    assert recommend(TS(), [5, 9, 4], [0.9, 0.1, 0.5]) == 1
    assert recommend(TTTS(), [5, 9, 4], [0.9, 0.1, 0.5]) == 0
    # Posterior means (1 + s) / (2 + T): 2/3 after 1 of 1, 10/12 after 9 of 10.
    assert recommend(TTTS(posterior="bernoulli"), [1, 10], [1.0, 0.9]) == 1
    assert recommend(TTTS(posterior="normal"), [1, 10], [1.0, 0.9]) == 0


@pytest.mark.each("kind", [TS, TTTS])
@pytest.mark.each("rewards", [[[0.5], [0.0]], [[1.0, 2.0], [1.0]], [[-1.0, 1.0], [0.0]]])
def test_bernoulli_refuses_other_rewards(trace: Play, scripted_blocks: Play, kind: Any, rewards: Any) -> None:
    for play in (trace, scripted_blocks):
        with pytest.raises(AgentError, match="needs rewards of 0 and 1"):
            play(kind(posterior="bernoulli"), rewards, 40)


@pytest.mark.each("last", [2.0, -1.0, 0.5])
def test_the_last_reward_counts(trace: Play, last: float) -> None:
    assert trace(TS(posterior="bernoulli"), [[1.0], [1.0, 0.0]], 3).counts(2) in ([2, 1], [1, 2])
    with pytest.raises(AgentError, match="needs rewards of 0 and 1"):
        trace(TS(posterior="bernoulli"), [[1.0, last], [1.0, last]], 3)


def test_a_draw_of_a_mean_with_unknown_variance_has_one_degree_of_freedom_less_than_pulls(episode: Any) -> None:
    e, (s, w) = episode([4], [2.0], [9.0]), Posteriors.of(family=STUDENT, draw=np.zeros(1))
    assert arm_of_largest_draw(e, s, w, np.random.default_rng(3)) == 0
    assert w.draw[0] == pytest.approx(2.0 + 1.5 * np.random.default_rng(3).standard_t(3.0), rel=1e-12)
