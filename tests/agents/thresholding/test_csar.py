"""CSAR for thresholding: schedule and phases by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bai_gym.agents import CSAR
from bai_gym.agents.thresholding.csar import code_lengths, csar_lengths
from bai_gym.agents.tools.rejects import phase_lengths
from bai_gym.tasks import Thresholding

Play = Callable[..., Any]
HALF = Thresholding(0.5)


def test_the_schedule_by_hand() -> None:
    # K = 3: log~ = 11/6. n = 14: 11 / (11/6) = 6, shared by 3, 2 and 1 arms; n = 15: 72/11 = 6.55 by 3, 2, 1.
    assert csar_lengths(3, 14).tolist() == [2, 3, 6]
    assert csar_lengths(3, 15).tolist() == [3, 4, 7]
    assert csar_lengths(3, 3).tolist() == [0, 0, 0]


def test_three_arms_by_hand(trace: Play) -> None:
    # T = 2, 3, 6; distances 0.4, 0.05, 0.2. Arm 0 is classified first, then arm 2; arm 1 has the rest.
    played = trace(CSAR(tie="first"), [[0.1], [0.55], [0.7]], 14, task=HALF)
    assert played.arms == [0, 1, 2, 0, 1, 2, 1, 2, 1, 1, 1]
    assert (len(played.idle), played.recommendation) == (3, [0, 1, 1])


def test_with_the_phases_of_successive_rejects(trace: Play) -> None:
    # logbar(3) = 4/3, n = 11: 8 / (4/3) = 6, shared by 3 and by 2: n_k = 2, 3. The last two arms are not told apart.
    assert phase_lengths(3, 11).tolist() == [2, 3]
    played = trace(CSAR(schedule="sr", tie="first"), [[0.1], [0.55], [0.7]], 11, task=HALF)
    assert played.arms == [0, 1, 2, 0, 1, 2, 1, 2]
    assert played.recommendation == [0, 1, 1]


@pytest.mark.each(
    ("means", "arms", "above"),
    [
        # log = 1/2 + 11/6 = 7/3, n = 17: 14 / (7/3) = 6, shared by 4, 3 and 2: T = 2, 2, 3. Arm 0 is dropped first.
        ((0.1, 0.55, 0.7), [0, 1, 2, 0, 1, 2, 1, 2], [0, 1, 1]),
        ((0.4, 0.1, 0.7), [0, 1, 2, 0, 1, 2, 2], [0, 0, 1]),  # the second phase, without pulls, drops arm 0
        ((0.9, 0.8, 0.5), [0, 1, 2, 0, 1, 2, 0, 1, 2], [1, 1, 1]),  # none is below
        ((0.1, 0.2, 0.3), [0, 1, 2, 0, 1, 2, 2], [0, 0, 0]),
    ],
)
def test_the_authors_form_drops_arms_from_below(
    trace: Play, means: tuple[float, ...], arms: list[int], above: list[int]
) -> None:
    assert code_lengths(3, 17).tolist() == [2, 2, 3]
    played = trace(CSAR(schedule="code", tie="first"), [[mean] for mean in means], 17, task=HALF)
    assert (played.arms, played.recommendation) == (arms, above)


def test_a_classified_arm_keeps_its_mean_whatever_follows(trace: Play) -> None:
    # The idle pulls of a Gymnasium loop go to arm 0, whose later rewards would move it to the other side.
    played = trace(CSAR(tie="first"), [[0.9, 0.9, -9.0], [0.55], [0.2]], 14, task=HALF)
    assert played.idle == [0, 0, 0] and played.recommendation == [1, 1, 0]
    played = trace(CSAR(schedule="code", tie="first"), [[0.1], [0.55, 0.55, 0.55, -9.0], [0.7]], 17, task=HALF)
    assert played.idle == [1] * 9 and played.recommendation == [0, 1, 1]
