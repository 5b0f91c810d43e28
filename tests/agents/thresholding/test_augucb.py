"""AugUCB: its schedule by hand, pulls by hand, and every choice against the pseudo-code."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bai_gym.agents import AugUCB
from bai_gym.agents.thresholding.augucb import schedule
from bai_gym.bandits import GaussianBandit
from bai_gym.benchmark.rollout import play_blocks
from bai_gym.errors import AgentError
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Engine
from bai_gym.statistics import Statistics
from bai_gym.tasks import Thresholding

Play = Callable[..., Any]
few_arms = pytest.mark.filterwarnings("ignore:AugUCB is not designed for")


# ------------------------------------------------------------------------------------------------ schedule

# For n = 10,000, K = 100: A = log(18.75 log 100) = log 86.347 = 4.458373, 128 A^2 = 2544.26, and M = floor(5.92) = 5,
# half of log2(3678.8). With e = 2^-m: psi = 10000 e / 2544.26; l = ceil(2 psi log(10000 e) / e), where psi / e = 3.9304
# is the same in all rounds; s = sqrt(psi log(10000 e) / 12). Logarithms of 10000 e: 9.21034, 8.51719, 7.82405, 7.13090,
# 6.43775, 5.74460, 5.05146; times 7.86082: 72.401, 66.952, 61.503, 56.055, 50.606, 45.157, 39.709.
TABLE = [
    (1.0, 3.9304, 73, 1.7369),
    (0.5, 1.9652, 67, 1.1810),
    (0.25, 0.9826, 62, 0.8004),
    (0.125, 0.4913, 57, 0.5403),
    (0.0625, 0.2457, 51, 0.3630),
    (0.03125, 0.1228, 46, 0.2425),
    (0.015625, 0.0614, 40, 0.1608),
]


def test_the_schedule_of_the_paper_by_hand() -> None:
    rounds = schedule(100, 10_000)
    assert len(rounds) == len(TABLE)  # m = 0, ..., M + 1
    for one, (epsilon, psi, pulls, deviation) in zip(rounds, TABLE, strict=True):
        assert (one.epsilon, one.pulls) == (epsilon, pulls)
        assert one.psi == pytest.approx(psi, abs=5e-5)
        assert one.deviation == pytest.approx(deviation, abs=5e-5)


def test_rounds_end_by_that_schedule() -> None:
    # All arms stay at the threshold, so that none is dropped: N_0 = 7300, and each round adds 100 l. The budget of the
    # schedule is 10,000; the rule is driven further to see all ends.
    agent = AugUCB(tie="first")
    agent.reset(ProblemInfo(100, 10_000, task=Thresholding(0.5)), np.random.default_rng(0))
    start = Statistics(np.ones((1, 100), np.int64), np.full((1, 100), 0.5), np.zeros((1, 100)))
    engine = Engine(agent.sequential(32_000), start, 100, None, variances=True)
    table = GaussianBandit(np.full(100, 0.5), 0.0).table()
    rng = np.random.default_rng(0)

    def rounds_after(made: int) -> int:
        engine.advance(table, rng, made - 100, lambda rows, slots: np.zeros(0))
        return int(engine.outcome.memory[0, 1])

    for number, end in enumerate([7300, 14_000, 20_200, 25_900, 31_000]):
        assert (rounds_after(end), rounds_after(end + 1)) == (number, number + 1)
    assert np.ptp(engine.statistics.pulls) <= 1


def test_the_width_of_the_authors_program_by_hand() -> None:
    # log(psi n epsilon) / (psi log(n epsilon)): log 39304 = 10.5791 by 36.2004, then log 9826 = 9.1928 by 16.7380.
    printed, code = schedule(100, 10_000), schedule(100, 10_000, width="code")
    assert [one.plus for one in printed] == [1.0] * len(printed)
    assert [one.plus for one in code[:2]] == pytest.approx([0.29224, 0.54922], rel=1e-4)
    assert [(one.deviation, one.pulls) for one in code] == [(one.deviation, one.pulls) for one in printed]


@few_arms
def test_without_variance_that_width_may_vanish(trace: Play) -> None:
    # Below, psi n = 0.275 has a negative logarithm, which counts as 0: s = 0, and both arms are dropped at once.
    played = trace(AugUCB(tie="first", width="code"), [[0.6], [0.55]], 8, task=Thresholding(0.5))
    assert (played.arms, played.recommendation) == ([0, 1, 1], [1, 1])


@pytest.mark.parametrize(("num_arms", "log"), [(2, 1.347), (3, 0.5), (4, 0.5), (5, 0.5), (6, 0.701)])
def test_few_arms_have_a_least_logarithm(num_arms: int, log: float) -> None:
    # log(0.1875 K log K): -1.347, -0.481, 0.039, 0.412, 0.701.
    assert schedule(num_arms, 100)[0].psi == pytest.approx(100 / (128 * log**2), rel=2e-3)


def test_the_smallest_budgets_have_one_round() -> None:
    assert len(schedule(2, 2)) == 1  # M = floor(log2(0.74) / 2) = -1: no reset
    assert len(schedule(2, 3)) == 2  # M = 0


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
    rounds = schedule(2, 8)
    assert [one.pulls for one in rounds] == [1, 1]
    assert [one.deviation for one in rounds] == pytest.approx([0.07724, 0.04459], abs=6e-6)


@few_arms
def test_it_may_go_on_as_apt(trace: Play) -> None:
    # As above with a gap of 0.11: it stops after 5 pulls. sqrt(T) gap: 0.11 and 0.1: arm 1; then 0.1118: arm 0; then
    # 0.1556 and 0.1118: arm 1.
    played = trace(AugUCB(tie="first", after="apt"), [[0.61], [0.55]], 8, task=Thresholding(0.5))
    assert (played.arms, played.idle, played.recommendation) == ([0, 1, 1, 1, 1, 1, 0, 1], [], [1, 1])


@few_arms
def test_an_arm_at_the_threshold_is_in(trace: Play) -> None:
    played = trace(AugUCB(tie="first"), [[0.5], [0.0], [1.0]], 40, task=Thresholding(0.5))
    assert played.recommendation == [1, 0, 1]


def reference(
    rewards: Any, budget: int, threshold: float, rho: float, after: str = "stop", form: str = "printed"
) -> tuple[list[int], set[int]]:
    """Algorithm 1 of the paper, with the readings that the class states; ties by the first rule."""
    num_arms = len(rewards)
    log = max(abs(math.log(3 / 16 * num_arms * math.log(num_arms))), 0.5)
    active = set(range(num_arms))
    m, epsilon = 0, 1.0
    last = math.floor(0.5 * math.log2(budget / math.e))
    seen: list[list[float]] = [[] for _ in range(num_arms)]
    pulls = []

    def pull(arm: int) -> None:
        seen[arm].append(rewards[arm][len(seen[arm]) % len(rewards[arm])])
        pulls.append(arm)

    def psi() -> float:
        return budget * epsilon / (128 * log**2)

    def length() -> int:
        return math.ceil(2 * psi() * math.log(budget * epsilon) / epsilon)

    def width(arm: int) -> float:
        growth = math.log(budget * epsilon)
        plain = psi() * growth if form == "printed" else max(math.log(psi() * budget * epsilon), 0.0)
        return math.sqrt(rho * (psi() * np.var(seen[arm]) * growth + plain) / (4 * len(seen[arm])))

    def mean(arm: int) -> float:
        return float(np.mean(seen[arm]))

    end = num_arms * length()
    for arm in range(num_arms):
        pull(arm)
    for t in range(num_arms + 1, budget + 1):
        pull(min(active, key=lambda arm: (abs(mean(arm) - threshold) - 2 * width(arm), len(seen[arm]), arm)))
        for arm in list(active):
            s = width(arm)
            if mean(arm) + s < threshold - s or mean(arm) - s > threshold + s:
                active.remove(arm)
        if not active:
            if after == "stop":
                break
            while len(pulls) < budget:
                pull(
                    min(
                        range(num_arms),
                        key=lambda arm: (math.sqrt(len(seen[arm])) * abs(mean(arm) - threshold), len(seen[arm]), arm),
                    )
                )
            break
        if t >= end and m <= last:
            epsilon /= 2
            end = t + len(active) * length()
            m += 1
    return pulls, {arm for arm in range(num_arms) if mean(arm) >= threshold}


@pytest.mark.slow
@few_arms
@given(
    seed=st.integers(0, 2**32 - 1),
    num_arms=st.integers(2, 12),
    more=st.integers(0, 200),
    rho=st.sampled_from([1 / 3, 0.05, 0.01]),
    spread=st.sampled_from([0.05, 0.5, 3.0]),
    after=st.sampled_from(["stop", "apt"]),
    form=st.sampled_from(["printed", "code"]),
)
def test_every_pull_is_that_of_the_pseudo_code(
    trace: Play, seed: int, num_arms: int, more: int, rho: float, spread: float, after: str, form: str
) -> None:
    rng = np.random.default_rng(seed)
    rewards = 0.5 + spread * rng.standard_normal((num_arms, 1)) + rng.standard_normal((num_arms, 50))
    budget = num_arms + more
    played = trace(AugUCB(tie="first", rho=rho, after=after, width=form), rewards, budget, task=Thresholding(0.5))
    pulls, above = reference(rewards, budget, 0.5, rho, after, form)
    assert played.arms == pulls
    assert {arm for arm, inside in enumerate(played.recommendation) if inside} == above


# ------------------------------------------------------------------------------------------------ the rest


def test_pulls_after_it_has_stopped_change_nothing() -> None:
    # Far from the threshold all arms are dropped soon; what a Gymnasium loop pulls then is not looked at.
    rng = np.random.default_rng(0)
    bandit = GaussianBandit(0.5 + rng.uniform(0.5, 3.0, (200, 6)) * rng.choice([-1.0, 1.0], (200, 6)), 1.0)
    task = Thresholding(0.5)
    agent = AugUCB(rho=0.02)
    agent.reset(ProblemInfo(6, 200, 200, task=task, truth=bandit), np.random.default_rng(1))
    rollout = play_blocks(agent, bandit, 200, np.random.default_rng(2), task)
    spent = rollout.pulls.sum(axis=1)
    assert (spent < 200).mean() > 0.5 and len(set(spent.tolist())) > 5
    means = rollout.statistics.means
    np.testing.assert_array_equal(rollout.recommendation, means >= 0.5)


def test_fewer_than_five_arms_are_warned_about() -> None:
    with pytest.warns(UserWarning, match="^AugUCB is not designed for 4 arms: its exploration takes"):
        AugUCB().reset(ProblemInfo(4, 100, task=Thresholding(0.5)))
    AugUCB().reset(ProblemInfo(5, 100, task=Thresholding(0.5)))


def test_other_tasks_are_refused() -> None:
    with pytest.raises(AgentError, match="AugUCB does not support the task 'best-arm'; it supports: thresholding"):
        AugUCB().reset(ProblemInfo(5, 100))
