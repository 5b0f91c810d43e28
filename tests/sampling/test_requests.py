"""What allocate and recommend may return, one mistake at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bai_gym.errors import AgentError
from bai_gym.sampling import Block, IndexRule, check_request


def rule(steps: int) -> IndexRule:
    return IndexRule(steps, lambda pulls, means, variances: means, tie="first", rng=np.random.default_rng(0))


@pytest.mark.parametrize(
    "answer",
    [[[1, 2, 0], [0, 0, 3]], np.array([[1, 2, 0], [0, 0, 3]], np.uint8), Block(np.array([[1, 2, 0], [0, 0, 3]]))],
)
def test_counts_become_a_block(answer: Any) -> None:
    request, total = check_request(answer, 2, 3, 3)
    assert isinstance(request, Block) and total == 3
    assert request.counts.dtype == np.int64
    assert request.counts.tolist() == [[1, 2, 0], [0, 0, 3]]


def test_one_episode_may_leave_out_its_axis() -> None:
    request, total = check_request([4, 0], 1, 2, 10)
    assert isinstance(request, Block) and request.counts.tolist() == [[4, 0]] and total == 4


def test_weights_of_a_block_are_kept() -> None:
    weights = np.array([[2.0, 1.0]])
    request, _ = check_request(Block(np.array([[1, 1]]), weights=weights), 1, 2, 2)
    assert isinstance(request, Block) and request.weights is weights


def test_a_rule_is_kept() -> None:
    asked = rule(5)
    assert check_request(asked, 2, 3, 5) == (asked, 5)


@pytest.mark.parametrize("answer", [None, np.zeros((2, 3), np.int64), Block(np.zeros((2, 3), np.int64)), rule(0)])
def test_no_pulls_means_stop(answer: Any) -> None:
    assert check_request(answer, 2, 3, 7) == (None, 0)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([1, 2, 0], r"counts of shape \(2, 3\), not \(1, 3\)"),
        (np.ones((3, 2), np.int64), r"counts of shape \(2, 3\), not \(3, 2\)"),
        (Block(np.ones((2, 4), np.int64)), r"counts of shape \(2, 3\), not \(2, 4\)"),
        ([[1, -1, 1], [1, 0, 0]], "negative number of pulls"),
        ([[1, 1, 0], [1, 1, 1]], "equally many pulls in every episode"),
        ([[2, 1, 1], [2, 2, 0]], "asked for 4 pulls with 3 left"),
        (rule(4), "asked for 4 pulls with 3 left"),
        ([[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]], "whole numbers of pulls, not float64"),
        (Block(np.ones((2, 3))), "whole numbers of pulls, not float64"),  # type: ignore[arg-type]
        ([[True, False, False], [True, False, False]], "whole numbers of pulls, not bool"),
        ("all", "whole numbers of pulls, not <U3"),
        ([[1, 2], [3]], r"must return counts of pulls, or a Block, .* not \[\[1, 2\], \[3\]\]"),
    ],
)
def test_impossible_requests(answer: Any, message: str) -> None:
    with pytest.raises(AgentError, match=message):
        check_request(answer, 2, 3, 3)
