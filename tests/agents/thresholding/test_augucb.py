"""AugUCB: its rounds and pulls by hand."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from bai_gym.agents import AugUCB
from bai_gym.agents.thresholding.augucb import AugUCBState, next_round, width
from bai_gym.bandits import GaussianBandit
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Engine
from bai_gym.statistics import Statistics
from bai_gym.tasks import Thresholding

Play = Callable[..., Any]
few_arms = pytest.mark.filterwarnings("ignore:AugUCB is not designed for")


# ------------------------------------------------------------------------------------------------ schedule


def at_the_threshold(agent: AugUCB, num_arms: int, budget: int, steps: int) -> Engine:
    """An episode after one pull of each arm; all arms pay the threshold, so that none is dropped."""
    agent.reset(ProblemInfo(num_arms, budget, task=Thresholding(0.5)), np.random.default_rng(0))
    start = Statistics(np.ones((1, num_arms), np.int64), np.full((1, num_arms), 0.5), np.zeros((1, num_arms)))
    engine = Engine(agent.sequential(steps), start, num_arms, None, variances=True)
    engine.choose()  # begins the first round
    return engine


# For n = 10,000, K = 100: A = log(18.75 log 100) = log 86.347 = 4.458373, 128 A^2 = 2544.26, and M = floor(5.92) = 5,
# half of log2(3678.8). With e = 2^-m: psi = 10000 e / 2544.26; l = ceil(2 psi log(10000 e) / e), where psi / e = 3.9304
# is the same in all rounds; s = sqrt(psi log(10000 e) / 12) for T = 1 and v = 0. Logarithms of 10000 e: 9.21034,
# 8.51719, 7.82405, 7.13090, 6.43775, 5.74460, 5.05146; times 7.86082: 72.401, 66.952, 61.503, 56.055, 50.606, 45.157.
# N_0 = 7300, and each round adds 100 l; the last one has no end. Of the authors' program: log(psi n e).
TABLE = [
    (3.9304, 7300, 1.7369, 10.5791),
    (1.9652, 14_000, 1.1810, 9.1928),
    (0.9826, 20_200, 0.8004, 7.8065),
    (0.4913, 25_900, 0.5403, 6.4202),
    (0.2457, 31_000, 0.3630, 5.0339),
    (0.1228, 35_600, 0.2425, 3.6476),
    (0.0614, 40_000, 0.1608, 2.2613),
]


def test_the_rounds_of_the_paper_by_hand() -> None:
    # The rule is driven beyond the budget of 10,000 to see all rounds.
    table, rng = GaussianBandit(np.full(100, 0.5), 0.0).draws(), np.random.default_rng(0)
    for form in ("printed", "code"):
        engine = at_the_threshold(AugUCB(tie="first", width=form), 100, 10_000, 39_900)
        for m, (psi, end, s, log) in enumerate(TABLE):
            engine.advance(table, rng, end - 100, lambda rows, slots: np.zeros(0))
            states = engine.outcome.states
            assert states["m"].tolist() == [m]
            assert states["psi"][0] == pytest.approx(psi, abs=5e-5)
            if form == "code":
                assert states["added"][0] == pytest.approx(log, abs=1e-3)
            else:
                values = {name: states[name][0] for name in ("rho", "psi", "log", "added")}
                assert width(1.0, 0.0, AugUCBState.of(**values)[0]) == pytest.approx(s, abs=5e-5)
            if m + 1 < len(TABLE):
                engine.advance(table, rng, end - 99, lambda rows, slots: np.zeros(0))
                assert engine.outcome.states["m"].tolist() == [m + 1]
        assert np.ptp(engine.statistics.pulls) <= 1


def test_the_width_counts_the_variance_by_hand() -> None:
    # v = 3/4 x 2 = 1.5: sqrt(1/3 x (0.8 x 1.5 x 5 + 3) / 16) = sqrt(0.1875).
    state, _ = AugUCBState.of(rho=1 / 3, psi=0.8, log=5.0, added=3.0)
    assert width(4.0, 2.0, state) == pytest.approx(math.sqrt(0.1875))


@few_arms
def test_without_variance_that_width_may_vanish(trace: Play) -> None:
    # Below, psi n = 0.275 has a negative logarithm, which counts as 0: s = 0, and both arms are dropped at once.
    played = trace(AugUCB(tie="first", width="code"), [[0.6], [0.55]], 8, task=Thresholding(0.5))
    assert (played.arms, played.recommendation) == ([0, 1, 1], [1, 1])


@few_arms
@pytest.mark.parametrize(("num_arms", "log"), [(2, 1.347), (4, 0.5), (6, 0.701)])
def test_few_arms_have_a_least_logarithm(num_arms: int, log: float) -> None:
    # log(0.1875 K log K): -1.347, -0.481, 0.039, 0.412, 0.701.
    states = at_the_threshold(AugUCB(), num_arms, 100, 1).outcome.states
    assert states["psi"][0] == pytest.approx(100 / (128 * log**2), rel=2e-3)


@few_arms
def test_the_smallest_budgets_have_one_round() -> None:
    assert at_the_threshold(AugUCB(), 2, 2, 9).outcome.states["last"] == -1  # floor(log2(0.74) / 2): no reset
    assert at_the_threshold(AugUCB(), 2, 3, 9).outcome.states["last"] == 0


# ------------------------------------------------------------------------------------------------ pulls


@few_arms
def test_two_arms_by_hand(trace: Play) -> None:
    # K = 2, n = 8: A = -1.347343, psi = 8 / (128 x 1.815333) = 0.034429, l = ceil(2 psi log 8) = 1, so N_0 = 2; M = 0.
    # s = 0.07724 / sqrt T, after the reset (epsilon 1/2, psi 0.017215, log 4) 0.04459 / sqrt T. Gaps 0.1 and 0.05.
    # 0.1 - 0.1545 = -0.0545, 0.05 - 0.1545 = -0.1045: arm 1 (t = 3). t >= 2: reset, N_1 = 3 + 2 x 1 = 5. Now
    # 0.1 - 0.0892 = 0.0108, 0.05 - 0.0631 = -0.0131: arm 1 (t = 4), and arm 0 is dropped. 0.05 - 0.0515 < 0: arm 1 (5).
    # 0.05 > 0.0446: dropped, and no arm is left.
    played = trace(AugUCB(tie="first"), [[0.6], [0.55]], 8, task=Thresholding(0.5))
    assert (played.arms, played.recommendation) == ([0, 1, 1, 1, 1], [1, 1])
    assert played.idle == [0, 0, 0]


@few_arms
def test_it_may_go_on_as_apt(trace: Play) -> None:
    # As above with a gap of 0.11: it stops after 5 pulls. sqrt(T) gap: 0.11 and 0.1: arm 1; then 0.1118: arm 0; then
    # 0.1556 and 0.1118: arm 1.
    played = trace(AugUCB(tie="first", after="apt"), [[0.61], [0.55]], 8, task=Thresholding(0.5))
    assert (played.arms, played.idle, played.recommendation) == ([0, 1, 1, 1, 1, 1, 0, 1], [], [1, 1])


def test_the_end_of_a_round_by_hand() -> None:
    # s = sqrt(0.16 x 1 / (4 T)) = 0.1 for T = 4 and v = 0: arms 1 and 4 are dropped. Then epsilon = 1/2, psi = 500 / 32
    # = 15.625, log 500 = 6.2146 and l = ceil(388.4); three arms are left.
    state, arrays = AugUCBState.of(tau=0.5, rho=0.16, n=1000, a=0.5, last=5, m=0, psi=1.0, log=1.0, added=1.0)
    arms: Any = SimpleNamespace(
        num_arms=5,
        pulls=np.full(5, 4.0),
        mean=np.array([0.65, 0.75, 0.5, 0.31, 0.25]),
        variance=np.zeros(5),
        active=np.ones(5, np.int8),
        made=20,
        pulled=0,
    )
    assert next_round(arms, state, arrays, np.random.default_rng(0)) == 20 + 3 * 389
    assert arms.active.tolist() == [1, 0, 1, 1, 0]
    assert (state.m, state.psi, state.begun) == (1, 15.625, 20)


# ------------------------------------------------------------------------------------------------ the rest


def test_fewer_than_five_arms_are_warned_about() -> None:
    with pytest.warns(UserWarning, match="^AugUCB is not designed for 4 arms: its exploration takes"):
        AugUCB().reset(ProblemInfo(4, 100, task=Thresholding(0.5)))
    AugUCB().reset(ProblemInfo(5, 100, task=Thresholding(0.5)))
