"""GapE, GapE-V and their adaptive forms: constants and rounds by hand, ties, and what changes nothing."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bai_gym.agents.base import Agent
from bai_gym.agents.bounds.gape import AGapE, AGapEV, GapE, GapEState, GapEV, pull_largest_estimated_b
from bai_gym.agents.tools.widths import bernstein, hoeffding
from bai_gym.bandits import GaussianBandit
from bai_gym.problems import ProblemInfo
from bai_gym.tasks import BestOfEach, Task

Play = Callable[..., Any]
MEANS, VARIANCES = [0.5, 0.75, 0.25], [0.0, 0.25, 1.0]


def begun(agent: Agent, means: Any, budget: int, variances: Any = 1.0, task: Task | None = None) -> Any:
    truth = GaussianBandit(means, variances)
    info = ProblemInfo(truth.num_arms, budget, truth.batch, task=task, truth=truth, knows=agent.knows)
    agent.reset(info, np.random.default_rng(0))
    return agent


def test_bound_by_hand() -> None:
    # log(55) = 4.00733: 0.5, 0.75 + 0.5 sqrt(log n) and 0.25 + sqrt(log n), of which the last is the largest.
    assert begun(GapE(), MEANS, 55, VARIANCES).bound[0] == pytest.approx(0.25 + math.sqrt(math.log(55)), rel=1e-14)
    assert begun(GapE(b=3.0), MEANS, 55, VARIANCES).bound.tolist() == [3.0]


def test_a_bound_of_negative_rewards_is_tiny() -> None:
    assert begun(GapE(), [-5.0, -4.0], 55, 0.0).bound.tolist() == [1e-9]


@pytest.mark.each(
    ("rescaled", "scale", "exploration"),
    # H = b^2 (16 + 16 + 4) = 144 at b = 2. Original: a = (4/9) 90 / 144 = 5 / 18; rescaled: times 36 / log2 3 = 22.713.
    [(False, 1.0, 0.2777777778), (True, 1.0, 6.3092975358), (False, 3.0, 0.8333333333), (True, 0.0, 0.0)],
)
def test_exploration_of_gape_by_hand(rescaled: bool, scale: float, exploration: float) -> None:
    agent = begun(GapE(b=2.0, rescaled=rescaled, scale=scale), MEANS, 93)
    assert agent.exploration[0] == pytest.approx(exploration, rel=1e-9)


def test_exploration_of_gape_v_by_hand() -> None:
    # b = 1.5: (16/3) b gap = 8 gap = 2, 2, 4. Roots: sqrt 2; 0.5 + sqrt 2.25 = 2; 1 + sqrt 5.
    complexity = (2 + 4) / 0.25**2 + (1 + math.sqrt(5)) ** 2 / 0.5**2
    agent = begun(GapEV(b=1.5, rescaled=False), MEANS, 96, VARIANCES)
    assert agent.exploration[0] == pytest.approx((8 / 9) * 90 / complexity, rel=1e-12)
    agent = begun(GapEV(b=1.5), MEANS, 96, VARIANCES)
    assert agent.exploration[0] == pytest.approx((8 / 9) * 90 / complexity * 512 / (4 * math.log2(3)), rel=1e-12)


def test_a_complexity_without_the_bound_by_hand() -> None:
    # H = 16 + 16 + 4 = 36 in place of 144: four times the exploration, and twice the width.
    agent = begun(GapE(b=2.0, rescaled=False, b_in_complexity=False), MEANS, 93)
    assert agent.exploration[0] == pytest.approx((4 / 9) * 90 / 36, rel=1e-12)
    assert agent.values["a"][0] == pytest.approx((4 / 9) * 90 / 36) and agent.values["b"][0] == 2.0
    # Means 0 and 1 without variance, b = 1: (16/3) gap = 16/3 of both.
    agent = begun(GapEV(b=1.5, rescaled=False, b_in_complexity=False), [0.0, 1.0], 94, 0.0)
    assert agent.exploration[0] == pytest.approx((8 / 9) * 90 / (32 / 3), rel=1e-12)
    # The adaptive forms divide by their estimate of H at each pull: (4/9) (94 - 2) and (8/9) (94 - 4).
    for adaptive, a in ((AGapE(b=1.0), 368 / 9), (AGapEV(b=1.0), 80.0)):
        assert begun(adaptive, [0.0, 1.0], 94).values["a"] == pytest.approx(a)


def test_widths_by_hand() -> None:
    assert hoeffding(9.0, 2.0, 4.0) == 3.0
    # sqrt(2 x 3 x 6 / 4) + 7 x 3 x 2 / (3 x 3) = 3 + 14/3.
    assert bernstein(3.0, 2.0, 4.0, 6.0) == pytest.approx(3 + 14 / 3)


@pytest.mark.each("plain", [True, False])
def test_a_shared_best_mean_leaves_no_exploration(trace: Play, plain: bool) -> None:
    # H is infinite, a = 0 and B = -gap: after one pull of each, arms 0 and 1 tie with gap 0.
    played = trace(GapE(tie="first", b=1.0, plain=plain), [[1.0], [1.0], [0.0]], 9)
    assert (played.arms, played.recommendation) == ([0, 1, 2, 0, 1, 0, 1, 0, 1], 0)


@pytest.mark.each("plain", [True, False])
def test_gape_by_hand(trace: Play, plain: bool) -> None:
    # K = 2, means 1 and 0: both gaps are 1 for ever, so that the fewest pulls win, and ties go to the lowest arm.
    assert trace(GapE(tie="first", b=2.0, rescaled=False, plain=plain), [[1.0], [0.0]], 6).arms == [0, 1, 0, 1, 0, 1]
    # A third arm of mean -3 has gap 4. With b = 2, n = 30: H = 4 (1 + 1 + 1/16) = 8.25, rescaled
    # a = (4/9) 27 / 8.25 x 36 / log2 3 = 33.04 and 2 sqrt(a) = 11.50. With one pull, arm 2 has B = 7.50; the others
    # have 10.50 with one pull, 7.13 with two. With two pulls arm 2 has 4.13; the others 5.64 (3), 4.75 (4), 4.14 (5),
    # 3.69 (6).
    played = trace(GapE(tie="first", b=2.0, plain=plain), [[1.0], [0.0], [-3.0]], 30)
    assert played.arms[:6] == [0, 1, 2, 0, 1, 2]
    assert played.arms[6:15] == [0, 1, 0, 1, 0, 1, 0, 1, 2]
    assert played.recommendation == 0


def test_estimated_b_by_hand(episode: Play) -> None:
    # Means 1, 0.5, 0 with 2, 8, 8 pulls, b = 1: gaps 0.5, 0.5, 1, raised by 0.5, 0.25, 0.25 to 1, 0.75, 1.25.
    e = episode([2, 8, 8], [1.0, 0.5, 0.0], [0.5, 0.0, 9 / 14])
    arrays = {"gap": np.zeros(3), "index": np.zeros(3)}
    s, w = GapEState.of(a=10.0, b=1.0, bandits=1, **arrays)
    assert pull_largest_estimated_b(e, s, w, np.random.default_rng(0)) == 0
    a = 10.0 / (1.0 + 1.0 / 0.75**2 + 1.0 / 1.25**2)
    expected = [math.sqrt(a / 2) - 0.5, math.sqrt(a / 8) - 0.5, math.sqrt(a / 8) - 1.0]
    assert w.index.tolist() == pytest.approx(expected, rel=1e-12)
    # With variances, b = 3/16 so that (16/3) b is 1. Raised gaps 0.5 + 3/32, 0.5 + 3/64, 1 + 3/64; deviations
    # sqrt(1/2), 0 and sqrt(9/14), less b sqrt(2 / (T - 1)) = (3/16) sqrt 2 and twice (3/16) sqrt(2/7), but not below 0.
    s, w = GapEState.of(a=10.0, b=3 / 16, aware=True, bandits=1, **arrays)
    pull_largest_estimated_b(e, s, w, np.random.default_rng(0))
    sigmas = math.sqrt(0.5) - 3 / 16 * math.sqrt(2), 0.0, math.sqrt(9 / 14) - 3 / 16 * math.sqrt(2 / 7)
    gaps = 0.5 + 3 / 32, 0.5 + 3 / 64, 1 + 3 / 64
    a = 10.0 / sum(((d + math.sqrt(d * d + g)) / g) ** 2 for d, g in zip(sigmas, gaps, strict=True))
    widths = [math.sqrt(a / 2) + 7 * a / 16, 7 * a / 112, math.sqrt(2 * a * 9 / 14 / 8) + 7 * a / 112]
    assert w.index.tolist() == pytest.approx([widths[0] - 0.5, widths[1] - 0.5, widths[2] - 1.0], rel=1e-12)


# ------------------------------------------------------------------------------------------------ several bandits


def test_exploration_of_several_bandits_by_hand() -> None:
    # Gaps 1/4, 1/4 and 1/2, 1/2: H = 16 + 16 + 4 + 4 = 40 at b = 1; a = (4/9) 90 / 40 = 1, rescaled by 36 / log2 4.
    means, task = [0.5, 0.75, 1.0, 0.5], BestOfEach(2)
    for rescaled, exploration in ((False, 1.0), (True, 18.0)):
        agent = begun(GapE(b=1.0, rescaled=rescaled), means, 94, task=task)
        assert agent.exploration.tolist() == pytest.approx([exploration], rel=1e-12)


def test_two_bandits_by_hand(trace: Play) -> None:
    # Arms that always pay 1, 0 and 1, 0.5: gaps 1, 1, 1/2, 1/2, H = 1 + 1 + 4 + 4 = 10, and a = (4/9) 9 / 10 x scale =
    # 4. Widths 2 / sqrt(T): B = 1, 1, 3/2, 3/2 with one pull. With 2: 0.91 for arms 2 and 3; with 2 of arms 0 and 1:
    # 0.41; with 3: 0.65 for arms 2 and 3; with 4: 1/2; with 5: 0.394.
    agent = GapE(tie="first", b=1.0, rescaled=False, scale=10.0)
    played = trace(agent, [[1.0], [0.0], [0.5], [1.0]], 13, task=BestOfEach(2))
    assert played.arms == [0, 1, 2, 3, 2, 3, 0, 1, 2, 3, 2, 3, 2]
    assert played.recommendation == [0, 1]
