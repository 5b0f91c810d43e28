"""What allocate and recommend may return, one mistake at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bai_gym.errors import AgentError
from bai_gym.sampling import Block, Rule, Sequential, check_request
from bai_gym.statistics import Statistics


def largest_mean(pulls: float, mean: float, variance: float, parameters: np.ndarray) -> float:
    return mean


def asked(steps: int, **fields: Any) -> Sequential:
    return Sequential(Rule(index=largest_mean), steps, np.zeros((2, 0)), "first", np.random.default_rng(0), **fields)


@pytest.mark.each(
    "returned",
    [
        [[1, 2, 0], [0, 0, 3]],
        np.array([[1, 2, 0], [0, 0, 3]], np.uint8),
        Block(np.array([[1, 2, 0], [0, 0, 3]]), weights=np.ones((2, 3))),
    ],
)
def test_counts_become_a_block(returned: Any) -> None:
    request, total = check_request(returned, 2, 3, 3)
    assert isinstance(request, Block) and total == 3
    assert request.counts.dtype == np.int64 and request.counts.tolist() == [[1, 2, 0], [0, 0, 3]]
    assert request.weights is getattr(returned, "weights", None)


def test_what_may_be_requested() -> None:
    assert check_request([4, 0], 1, 2, 10)[0].counts.tolist() == [[4, 0]]  # one episode, without its axis
    request = asked(5, arms=np.array([[2, 0], [1, 2]]))
    assert check_request(request, 2, 3, 5) == (request, 5)
    for nothing in (np.zeros((2, 3), np.int64), asked(0)):
        assert check_request(nothing, 2, 3, 7)[1] == 0


@pytest.mark.each(
    ("returned", "message"),
    [
        ([1, 2, 0], r"counts of shape \(2, 3\), not \(1, 3\)"),
        (Block(np.ones((2, 4), np.int64)), r"counts of shape \(2, 3\), not \(2, 4\)"),
        ([[1, -1, 1], [1, 0, 0]], "negative number of pulls"),
        ([[1, 1, 0], [1, 1, 1]], "equally many pulls in every episode"),
        ([[2, 1, 1], [2, 2, 0]], "asked for 4 pulls with 3 left"),
        (asked(4), "asked for 4 pulls with 3 left"),
        (asked(-1), "steps must be an integer of at least 0, not -1"),
        (asked(2, arms=np.array([[0, 3], [0, 1]])), "names an arm that does not exist"),
        (asked(2, arms=np.array([[0, 1]])), r"arms of shape \(2, k\), not \(1, 2\)"),
        (asked(2, window=Statistics.zeros((2, 2))), r"window must have shape \(2, 3\), not \(2, 2\)"),
        (None, "must return integers, not object"),
        (Block(np.ones((2, 3))), "must return integers, not float64"),  # type: ignore[arg-type]
        ([[True, False, False], [True, False, False]], "must return integers, not bool"),
        ([[1, 2], [3]], r"must return counts of pulls, a Block, .* not \[\[1, 2\], \[3\]\]"),
    ],
)
def test_impossible_requests(returned: Any, message: str) -> None:
    with pytest.raises(AgentError, match=message):
        check_request(returned, 2, 3, 3)
