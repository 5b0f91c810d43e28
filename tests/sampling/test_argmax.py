"""The largest index: exactly one of the maximisers, ties uniform or by fewest pulls and lowest number."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from bai_gym.errors import ParameterError
from bai_gym.sampling import ArgmaxTable, TieRule, check_tie_rule

LEVEL = 0.001
tables = (
    st.integers(1, 5)
    .flatmap(
        lambda batch: st.lists(
            st.lists(st.sampled_from([-np.inf, -1.0, 0.0, 2.5, np.inf]), min_size=batch, max_size=batch),
            min_size=2,
            max_size=6,
        )
    )
    .map(np.array)
)


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@given(tables, st.integers(0, 2**32 - 1))
def test_first_rule_takes_the_fewest_pulls_then_the_lowest_slot(values: np.ndarray, seed: int) -> None:
    slots, batch = values.shape
    pulls = np.random.default_rng(seed).integers(0, 3, values.shape)
    chosen = ArgmaxTable(values, "first", rng()).argmax(pulls)
    for row in range(batch):
        best = [slot for slot in range(slots) if values[slot, row] == values[:, row].max()]
        assert chosen[row] == min(best, key=lambda slot: (pulls[slot, row], slot)) * batch + row


@given(tables, st.integers(0, 2**32 - 1))
def test_random_rule_takes_a_maximiser(values: np.ndarray, seed: int) -> None:
    chosen = ArgmaxTable(values, "random", np.random.default_rng(seed)).argmax(np.zeros(values.shape))
    slots, rows = np.divmod(chosen, values.shape[1])
    np.testing.assert_array_equal(rows, np.arange(values.shape[1]))
    np.testing.assert_array_equal(values[slots, rows], values.max(axis=0))


@pytest.mark.parametrize(
    ("slots", "tied"),
    [
        (5, [1, 4]),
        (5, [0, 2, 3]),
        (4, [0, 1, 2, 3]),
        (2, [0, 1]),
        (255, [0, 254]),
        (300, [0, 100, 256, 299]),
        (256, [3, 255]),
    ],
)
@pytest.mark.parametrize("top", [1.5, np.inf, -np.inf])
def test_random_ties_are_uniform(slots: int, tied: list[int], top: float) -> None:
    batch = 20_000
    values = np.full((slots, batch), top if top == -np.inf else -1.0)
    values[tied] = top
    expected = range(slots) if top == -np.inf else tied
    chosen = ArgmaxTable(values, "random", rng()).argmax(np.zeros((slots, batch))) // batch
    counts = np.bincount(chosen, minlength=slots)
    assert counts[list(expected)].sum() == batch
    assert chisquare(counts[list(expected)]).pvalue > LEVEL / 21  # 21 cases


def test_ties_are_broken_anew_at_every_call_and_in_every_episode() -> None:
    table = ArgmaxTable(np.zeros((2, 64)), "random", rng())
    first, second = (table.argmax(np.zeros((2, 64))) // 64 for _ in range(2))
    assert 0 < first.sum() < 64 and (first != second).any()


@pytest.mark.parametrize("slots", [255, 256, 257, 65_537])
def test_many_slots(slots: int) -> None:
    values = np.zeros((slots, 3))
    values[slots - 1, 0] = values[0, 1] = values[slots // 2, 2] = 1.0
    chosen = ArgmaxTable(values, "first", rng()).argmax(np.zeros(values.shape))
    assert (chosen // 3).tolist() == [slots - 1, 0, slots // 2]


def test_more_than_255_tied_slots_by_the_first_rule() -> None:
    pulls = np.full((300, 1), 7.0)
    pulls[280] = 6.0
    assert ArgmaxTable(np.zeros((300, 1)), "first", rng()).argmax(pulls).tolist() == [280]
    assert ArgmaxTable(np.zeros((300, 1)), "first", rng()).argmax(np.zeros((300, 1))).tolist() == [0]


def test_values_written_through_flat_count() -> None:
    table = ArgmaxTable(np.array([[3.0, 0.0], [1.0, 1.0]]), "first", rng())
    assert table.argmax(np.zeros((2, 2))).tolist() == [0, 3]
    table.flat[[0, 1]] = [0.5, 9.0]
    assert table.argmax(np.zeros((2, 2))).tolist() == [2, 1]


def test_tie_rules() -> None:
    rules: tuple[TieRule, ...] = ("random", "first")
    assert tuple(map(check_tie_rule, rules)) == rules
    with pytest.raises(ParameterError, match="tie must be 'random' or 'first', not 'last'"):
        check_tie_rule("last")
