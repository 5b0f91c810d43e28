"""The record of the fast path: lazy, and yet the statistics of exactly the rewards that were paid."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bai_gym.benchmark.merged import MergedStatistics
from bai_gym.statistics import Statistics

NAMES = ("pulls", "means", "variances")
Rewards = list[list[list[float]]]  # of each arm in each episode


def statistics(rewards: Rewards) -> Statistics:
    """Pulls, means and variances by their definitions."""
    pulls = np.array([[len(arm) for arm in episode] for episode in rewards], np.int64)
    means = np.array([[np.mean(arm) if arm else 0.0 for arm in episode] for episode in rewards])
    variances = np.array([[np.var(arm, ddof=1) if len(arm) > 1 else 0.0 for arm in episode] for episode in rewards])
    return Statistics(pulls, means, variances)


@dataclass
class Eager:
    """Every reward of every arm, kept one by one."""

    batch: int
    num_arms: int
    rewards: Rewards = field(init=False)

    def __post_init__(self) -> None:
        self.rewards = [[[] for _ in range(self.num_arms)] for _ in range(self.batch)]

    def pay(self, arms: np.ndarray, new: Rewards) -> None:
        for episode, (candidates, paid) in enumerate(zip(arms.tolist(), new, strict=True)):
            for arm, values in zip(candidates, paid, strict=True):
                self.rewards[episode][arm].extend(values)

    def of(self, arms: np.ndarray) -> Rewards:
        return [[self.rewards[episode][arm] for arm in row] for episode, row in enumerate(arms.tolist())]


def assert_same(record: MergedStatistics, eager: Eager, *, variances: bool) -> None:
    expected = statistics(eager.rewards)
    assert (record["pulls"] == expected.pulls).all()
    np.testing.assert_allclose(record["means"], expected.means, rtol=1e-9, atol=1e-9)
    if variances:
        np.testing.assert_allclose(record["variances"], expected.variances, rtol=1e-7, atol=1e-7)


@given(st.data(), st.booleans())
def test_lazy_is_eager(data: st.DataObject, variances: bool) -> None:
    batch, num_arms = data.draw(st.integers(1, 3)), data.draw(st.integers(2, 4))
    offset = data.draw(st.sampled_from([0.0, -3.25, 1000.0]))
    record, eager = MergedStatistics(batch, num_arms, 1000, variances=variances), Eager(batch, num_arms)
    spent = 0
    for _ in range(data.draw(st.integers(1, 6))):
        size = data.draw(st.integers(1, num_arms))
        some = data.draw(st.booleans())
        rows = [data.draw(st.permutations(range(num_arms))) for _ in range(batch)]
        arms = np.array(rows)[:, :size] if some else np.tile(np.arange(num_arms), (batch, 1))
        values = st.lists(st.floats(-5, 5, width=16).map(lambda x: x + offset), max_size=4)
        new = [[data.draw(values) for _ in row] for row in arms.tolist()]
        given_arms = arms if some else None
        kind = data.draw(st.sampled_from(["block", "rule", "rule on a window", "rule on other samples"]))
        before = statistics(eager.of(arms))
        own = [[data.draw(values) for _ in row] for row in arms.tolist()]
        eager.pay(arms, new)
        after = statistics(eager.of(arms))
        if kind == "block":
            record.add(given_arms, statistics(new))
        elif kind == "rule":
            record.set(given_arms, after)
        elif kind == "rule on a window":
            record.add(given_arms, after, since=before)
        else:
            # A rule may go on from samples that are not those of the record, such as one stage's.
            both = [[a + b for a, b in zip(x, y, strict=True)] for x, y in zip(own, new, strict=True)]
            record.add(given_arms, statistics(both), since=statistics(own))
        pulls = data.draw(st.integers(0, 100))
        record.spend(pulls)
        spent += pulls
        # Whether it is read now or at the end makes no difference.
        assert (record.pulls == statistics(eager.rewards).pulls).all()
        if data.draw(st.booleans()):
            assert_same(record, eager, variances=variances)
    assert_same(record, eager, variances=variances)
    assert record.left == 1000 - spent
    assert record["remaining"].tolist() == [[1000 - spent]] * batch


def filled(*, variances: bool = True) -> MergedStatistics:
    """Two episodes of three arms: a block for all arms, then one for two of them."""
    record = MergedStatistics(2, 3, 20, variances=variances)
    record.add(None, statistics([[[1.0, 3.0], [2.0], []], [[0.0], [4.0, 4.0], [1.0]]]))
    record.add(np.array([[2, 0], [1, 0]]), statistics([[[7.0], [5.0]], [[], [2.0]]]))
    record.spend(5)
    return record


def test_by_hand() -> None:
    record = filled()
    assert record["pulls"].tolist() == [[3, 1, 1], [2, 2, 1]]
    assert record["means"].tolist() == [[3.0, 2.0, 7.0], [1.0, 4.0, 1.0]]
    assert record["variances"].tolist() == [[4.0, 0.0, 0.0], [2.0, 0.0, 0.0]]
    assert record["remaining"].tolist() == [[15], [15]]


def test_before_the_first_pull() -> None:
    record = MergedStatistics(2, 3, 20, variances=True)
    for name in NAMES:
        assert record[name].tolist() == [[0, 0, 0]] * 2
    assert record["pulls"].dtype == record["remaining"].dtype == np.int64
    assert record["remaining"].shape == (2, 1)
    assert list(record) == [*NAMES, "remaining"]
    without = filled(variances=False)
    assert list(without) == ["pulls", "means", "remaining"] and not without.statistics.variances.any()
    with pytest.raises(KeyError, match="'variances'"):
        without["variances"]
    with pytest.raises(ValueError, match="read-only"):
        record["means"][0, 0] = 9


def test_a_copy_leaves_the_present_ones_alone() -> None:
    record = MergedStatistics(1, 2, 5, variances=True)
    part = Statistics(np.array([[2, 1]]), np.array([[1.0, 0.0]]), np.zeros((1, 2)))
    for change in (MergedStatistics.add, MergedStatistics.set):
        then = record.copy()
        change(then, None, part)
        then.spend(3)
        assert (then.left, then["remaining"].tolist(), then["pulls"].tolist()) == (2, [[2]], [[2, 1]])
        assert (record.left, record["remaining"].tolist(), record["pulls"].tolist()) == (5, [[5]], [[0, 0]])
