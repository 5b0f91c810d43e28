"""Pulls made ahead of their time: with the same rewards, exactly what pulls one after another give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bai_gym import agents
from bai_gym.api import parse_agent
from bai_gym.bandits import BernoulliBandit, GaussianBandit, Stream
from bai_gym.benchmark import ahead, follow
from bai_gym.benchmark.ahead import ROUND, WORTHWHILE, can_go_ahead, go_ahead, go_ahead_in_stages
from bai_gym.benchmark.record import Record
from bai_gym.benchmark.rollout import play_blocks
from bai_gym.problems import Briefing
from bai_gym.sampling import IndexRule, StagedIndexRule
from bai_gym.seeding import generator
from bai_gym.statistics import FloatArray, IntArray, Statistics
from bai_gym.tasks import BestArm, Thresholding


class PrescribedBandit(GaussianBandit):
    """Gaussian arms whose j-th pull pays a prescribed reward, in whatever order arms are pulled."""

    def __init__(self, means: FloatArray, deviations: FloatArray, most: int, seed: int) -> None:
        super().__init__(means, deviations**2)
        noise = np.random.default_rng(seed).standard_normal((means.size, most))
        self.rewards = means.reshape(-1, 1) + deviations.reshape(-1, 1) * noise
        self.used = np.zeros(means.size, np.int64)

    def pull(self, flat: IntArray, rng: np.random.Generator) -> FloatArray:
        rewards: FloatArray = self.rewards[flat, self.used[flat]]
        self.used[flat] += 1
        return rewards

    def pull_often(self, flat: IntArray, times: int, rng: np.random.Generator) -> FloatArray:
        return np.stack([self.pull(flat, rng) for _ in range(times)])

    def stream(self, arms: IntArray | None, rng: np.random.Generator) -> Stream:
        bandit = self

        class Prescribed(Stream):
            def draw(self, flat: IntArray) -> FloatArray:
                slots, rows = np.divmod(flat, bandit.batch)
                chosen = slots if arms is None else arms[rows, slots]
                return bandit.pull(rows * bandit.num_arms + chosen, rng)

        return Prescribed()


def index(pulls: FloatArray, means: FloatArray, variances: FloatArray, width: FloatArray) -> FloatArray:
    return means + width / np.sqrt(pulls)


def both_ways(
    monkeypatch: pytest.MonkeyPatch,
    means: FloatArray,
    deviations: FloatArray,
    widths: FloatArray,
    steps: int,
    arms: IntArray | None = None,
) -> tuple[Statistics, Statistics]:
    """Return the statistics after ``steps`` pulls, made one after another and ahead of their time."""
    results = []
    for first in (False, True):
        bandit = PrescribedBandit(means, deviations, 2 * steps + 4 * ROUND, 1)
        record = Record(bandit.batch, bandit.num_arms, steps + 2 * bandit.num_arms, variances=False)
        record.add(None, Statistics(np.full(means.shape, 2), means + 0.3 * deviations, np.zeros(means.shape)))
        rule = IndexRule(steps, index, widths, tie="random", rng=np.random.default_rng(0), arms=arms)
        with monkeypatch.context() as patch:
            patch.setattr(follow, "can_go_ahead", lambda *_, first=first: first)
            follow.follow(rule, record, bandit, np.random.default_rng(0))
        results.append(record.statistics)
    one, ahead_of_time = results
    return one, ahead_of_time


def test_variances_are_those_of_the_same_rewards() -> None:
    # The bandit shifted by 1e6: sums of squares would have lost all digits of the variances.
    def index_v(pulls: FloatArray, means: FloatArray, variances: FloatArray, width: FloatArray) -> FloatArray:
        return means + width * np.sqrt((variances + 1.0) / pulls)

    rng = np.random.default_rng(3)
    means, deviations = 1e6 + rng.standard_normal((20, 4)), rng.uniform(0.5, 2.0, (20, 4))
    start = Statistics(np.full((20, 4), 2), means + 0.1, np.full((20, 4), 0.5))
    bandit = PrescribedBandit(means, deviations, 2000, 1)
    rule = IndexRule(400, index_v, np.full(20, 3.0), tie="first", rng=rng)
    end = go_ahead(rule, bandit, start, rng, variances=True)
    for row in range(20):
        for arm in range(4):
            n = end.pulls[row, arm] - 2
            rewards = bandit.rewards[4 * row + arm, :n]
            first = means[row, arm] + 0.1 + np.array([0.5, -0.5])  # of mean and variance as at the start
            every = np.concatenate([first, rewards])
            assert end.means[row, arm] == pytest.approx(every.mean(), rel=1e-14)
            assert end.variances[row, arm] == pytest.approx(every.var(ddof=1), rel=1e-7)


@given(
    seed=st.integers(0, 2**32 - 1),
    episodes=st.integers(1, 6),
    arms=st.integers(2, 7),
    steps=st.integers(1, 400),
    spread=st.sampled_from([0.0, 0.1, 3.0]),
    width=st.sampled_from([0.0, 0.2, 5.0]),
    offset=st.sampled_from([0.0, -1e6]),
)
def test_the_same_rewards_give_the_same_episodes(
    seed: int, episodes: int, arms: int, steps: int, spread: float, width: float, offset: float
) -> None:
    rng = np.random.default_rng(seed)
    means = offset + spread * rng.standard_normal((episodes, arms))
    deviations = rng.uniform(0.5, 2.0, (episodes, arms))
    with pytest.MonkeyPatch.context() as patch:
        one, ahead_of_time = both_ways(patch, means, deviations, np.full(episodes, width), steps)
    np.testing.assert_array_equal(ahead_of_time.pulls, one.pulls)
    np.testing.assert_allclose(ahead_of_time.means, one.means, rtol=1e-11, atol=1e-11)


def test_so_do_episodes_that_do_not_fit_into_one_table(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    means, deviations = rng.standard_normal((50, 5)), rng.uniform(0.5, 2.0, (50, 5))
    widths = rng.uniform(0.1, 4.0, 50)  # each episode has its own
    monkeypatch.setattr(ahead, "TABLE", 60)
    one, ahead_of_time = both_ways(monkeypatch, means, deviations, widths, 300)
    np.testing.assert_array_equal(ahead_of_time.pulls, one.pulls)
    assert len(np.unique(one.pulls, axis=0)) > 40


def test_so_do_some_of_the_arms(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    means, deviations = rng.standard_normal((20, 6)), rng.uniform(0.5, 2.0, (20, 6))
    candidates = np.argsort(rng.random((20, 6)), axis=1)[:, :3]
    one, ahead_of_time = both_ways(monkeypatch, means, deviations, np.ones(20), 200, candidates)
    np.testing.assert_array_equal(ahead_of_time.pulls, one.pulls)
    assert (np.count_nonzero(one.pulls > 2, axis=1) <= 3).all()


def test_an_arm_that_no_other_can_catch_up_with_gets_all_pulls() -> None:
    bandit = GaussianBandit([[5.0, 0.0], [0.0, 5.0]], 0.01)
    start = Statistics(np.ones((2, 2), np.int64), bandit.means.copy(), np.zeros((2, 2)))
    rule = IndexRule(100, index, np.zeros(2), tie="first", rng=np.random.default_rng(0))
    end = go_ahead(rule, bandit, start, np.random.default_rng(0))
    assert end.pulls.tolist() == [[101, 1], [1, 101]]
    assert end.means[0, 1] == 0.0 and end.means[1, 0] == 0.0


@pytest.mark.parametrize(
    ("bandit", "steps", "pulls"),
    [
        (BernoulliBandit([0.5, 0.4]), 2 * WORTHWHILE, 1),  # two arms may well have the same index
        (GaussianBandit([0.0, 0.0], [1.0, 0.0]), 2 * WORTHWHILE, 1),
        (GaussianBandit([1.0, 1.0], 1e-40), 2 * WORTHWHILE, 1),  # noise that rounding swallows
        (GaussianBandit([0.0, 0.0]), 2 * WORTHWHILE, 0),  # the indices of arms without a pull are all infinite
        (GaussianBandit([0.0, 0.0]), 2 * WORTHWHILE - 1, 1),
    ],
    ids=["discrete", "no noise", "too little noise", "no pulls", "few steps"],
)
def test_where_ties_can_happen_or_steps_are_few_the_pulls_are_made_in_order(
    bandit: Any, steps: int, pulls: int
) -> None:
    rule = IndexRule(steps, index, np.ones(1), tie="random", rng=np.random.default_rng(0))
    window = Statistics(np.full((1, 2), pulls), np.zeros((1, 2)), np.zeros((1, 2))).window()
    assert not can_go_ahead(rule, bandit, window)
    enough = IndexRule(2 * WORTHWHILE, index, np.ones(1), tie="random", rng=np.random.default_rng(0))
    ready = Statistics(np.ones((1, 2)), np.zeros((1, 2)), np.zeros((1, 2))).window()
    assert can_go_ahead(enough, GaussianBandit([0.0, 0.0]), ready)


@pytest.mark.parametrize(
    "name", ["UCB-E", "A-UCB-E", "APT", "UCBE", "UCBEV", "UCBEV(index=bernstein)", "AugUCB", "AugUCB(rho=3.0)"]
)
def test_agents_use_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    for function in (go_ahead, go_ahead_in_stages):
        monkeypatch.setattr(
            follow, function.__name__, lambda *given, f=function, **more: (calls.append(given), f(*given, **more))[1]
        )
    bandit = GaussianBandit(np.tile([1.0, 0.5, 0.0, 0.0, 0.0], (10, 1)))
    make, parameters = parse_agent(name)
    agent = agents.make(make, **parameters)
    task = BestArm() if "best-arm" in agent.tasks else Thresholding(0.3)
    agent.reset(Briefing(5, 900, 10, task=task, truth=bandit, knows=agent.knows), generator(0, "agent"))
    rollout = play_blocks(agent, bandit, 900, generator(0, "rewards"), task)
    assert calls
    assert (rollout.pulls.sum(axis=1) == 900).all()
    if task.name == "thresholding":
        assert (rollout.recommendation == task.answer(bandit.means)).all(axis=1).any()


# ------------------------------------------------------------------------------------------------ stages


def staged_index(pulls: FloatArray, means: FloatArray, variances: FloatArray, factor: FloatArray) -> FloatArray:
    return factor * np.sqrt((1.0 + variances * (pulls - 1.0) / pulls) / pulls) - np.abs(means)


def staged_both_ways(
    monkeypatch: pytest.MonkeyPatch,
    means: FloatArray,
    deviations: FloatArray,
    steps: int,
    factors: list[float],
    lengths: list[int],
) -> tuple[Statistics, Statistics]:
    """Return the statistics after a rule that drops arms, made pull by pull and ahead of their time.

    Rewards of pulls that are taken back at the end of a stage are paid again in the next.
    """
    results = []
    find = ahead._Tables.first

    def first_and_pay_back(tables: Any) -> Any:
        found = find(tables)
        tables._bandit.used[tables._positions] = found[0].reshape(-1) - 1
        return found

    for first in (False, True):
        bandit = PrescribedBandit(means, deviations, 2 * steps + 8 * ROUND, 1)
        record = Record(bandit.batch, bandit.num_arms, steps + bandit.num_arms, variances=True)
        record.add(None, Statistics(np.ones(means.shape, np.int64), means + 0.3 * deviations, np.zeros(means.shape)))
        rule = StagedIndexRule(steps, staged_index, factors, lengths, tie="random", rng=np.random.default_rng(0))
        with monkeypatch.context() as patch:
            patch.setattr(follow, "can_go_ahead", lambda *_, first=first: first)
            patch.setattr(follow, "DROP_SHARE", 0.0)
            patch.setattr(ahead._Tables, "first", first_and_pay_back)
            follow.follow_until_stopped(rule, record, bandit, np.random.default_rng(0))
        results.append(record.statistics)
    one, ahead_of_time = results
    return one, ahead_of_time


@given(
    seed=st.integers(0, 2**32 - 1),
    episodes=st.integers(1, 6),
    arms=st.integers(2, 7),
    steps=st.integers(1, 400),
    spread=st.sampled_from([0.0, 0.1, 3.0]),
    factor=st.sampled_from([0.1, 1.0, 4.0, 30.0]),
    shrink=st.sampled_from([0.05, 0.7]),
    lengths=st.lists(st.integers(1, 30), min_size=0, max_size=4),
)
def test_the_same_rewards_give_the_same_episodes_where_arms_are_dropped(
    seed: int, episodes: int, arms: int, steps: int, spread: float, factor: float, shrink: float, lengths: list[int]
) -> None:
    rng = np.random.default_rng(seed)
    means = spread * rng.standard_normal((episodes, arms))
    deviations = rng.uniform(0.5, 2.0, (episodes, arms))
    factors = [factor * shrink**stage for stage in range(len(lengths) + 1)]
    with pytest.MonkeyPatch.context() as patch:
        one, ahead_of_time = staged_both_ways(patch, means, deviations, steps, factors, lengths)
    np.testing.assert_array_equal(ahead_of_time.pulls, one.pulls)
    np.testing.assert_allclose(ahead_of_time.means, one.means, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(ahead_of_time.variances, one.variances, rtol=1e-8, atol=1e-10)


def test_episodes_stop_at_different_times_and_in_different_stages(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    means, deviations = 0.4 * rng.standard_normal((60, 5)), rng.uniform(0.5, 2.0, (60, 5))
    monkeypatch.setattr(ahead, "TABLE", 60)  # so that they do not fit into one table
    one, ahead_of_time = staged_both_ways(monkeypatch, means, deviations, 600, [4.0, 2.0, 1.0], [30, 20])
    np.testing.assert_array_equal(ahead_of_time.pulls, one.pulls)
    spent = one.pulls.sum(axis=1)
    # The second stage ends after 150 + 5 x 20 pulls at the latest.
    assert (spent < 250).any() and ((251 < spent) & (spent < 605)).sum() > 5 and (spent == 605).any()
