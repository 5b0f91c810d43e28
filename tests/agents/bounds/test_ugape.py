"""Unified gap-based exploration: SELECT-ARM and episodes by hand, widths and explorations, and when it stops."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bai_gym.agents.bounds.ugape import (
    AUGapEb,
    AUGapEbV,
    UGapEb,
    UGapEbV,
    UGapEc,
    UGapEcV,
    UGapEState,
    select_arm,
    select_until_accurate,
    width,
)
from bai_gym.agents.tools.sets import SetState, rivals
from bai_gym.bandits import GaussianBandit
from bai_gym.benchmark.rollout import play_blocks
from bai_gym.problems import ProblemInfo
from bai_gym.tasks import BestArm, BestOfEach, Task, TopM

Play = Callable[..., Any]
RNG = np.random.default_rng(0)


def begun(agent: Any, means: Any, budget: int, variances: Any = 1.0, task: Task | None = None) -> Any:
    truth = GaussianBandit(means, variances)
    info = ProblemInfo(truth.num_arms, budget, truth.batch, task=task, truth=truth, knows=agent.knows)
    agent.reset(info, np.random.default_rng(0))
    return agent


# ------------------------------------------------------------------------------------------------ SELECT-ARM


def state_of(k: int, m: int, bandits: int, **values: Any) -> tuple[UGapEState, UGapEState]:
    """The state of an episode of k arms, with a = b = 1 unless given."""
    arrays = {name: np.zeros(k) for name in ("width", "upper", "lower", "index")}
    sets = {"sets": np.zeros(m * bandits), "kept": np.zeros(m * bandits), "order": np.zeros(m + 1)}
    return UGapEState.of(**{"m": m, "bandits": bandits, "a": 1.0, "b": 1.0, **values}, **arrays, **sets)


def kept_of(s: Any, w: Any, num_arms: int) -> set[int]:
    size = num_arms // s.bandits
    return {place // s.m * size + int(slot) for place, slot in enumerate(w.kept)}


@pytest.mark.each(
    ("m", "bandits", "kept", "value", "pulled"),
    [
        # Means 1, 0.75, 0.5, 0 and widths 1/2, 1/4, 1/2, 1: U = 1.5, 1, 1, 1; L = 0.5, 0.5, 0, -1.
        # m = 1: B = 1 - 0.5, 1.5 - 0.5, 1.5, 2.5: J = {0}, and u is arm 3, the widest of those with U = 1.
        (1, 1, {0}, 0.5, 3),
        # m = 2: the 2nd largest U of the others is 1 for all: B = 0.5, 0.5, 1, 2: J = {0, 1} of value 0.5; l is the
        # wider of arms 0 and 1, which have the same L, and u is arm 3, which is wider.
        (2, 1, {0, 1}, 0.5, 3),
        # Bandits (0, 1) and (2, 3): B = 0.5, 1 and 1 - 0, 1 + 1; the second one has the larger value.
        (1, 2, {0, 2}, 1.0, 3),
    ],
)
def test_select_arm_by_hand(episode: Play, m: int, bandits: int, kept: set[int], value: float, pulled: int) -> None:
    e, (s, w) = episode([4.0, 16.0, 4.0, 1.0], [1.0, 0.75, 0.5, 0.0]), state_of(4, m, bandits)
    assert select_arm(e, s, w, RNG) == pulled
    assert kept_of(s, w, 4) == kept and s.value == s.kept_value == value


@pytest.mark.each("task", [BestArm(), TopM(1)], ids=repr)
def test_equal_widths_are_decided_by_a_coin(task: Task) -> None:
    # No exploration, so all widths are 0: at every pull either of the two arms.
    bandit = GaussianBandit(np.tile([1.0, 0.0, -1.0], (2000, 1)), 0.0)
    agent = begun(UGapEb(b=1.0, scale=0.0), bandit.means, 103, 0.0, task)
    pulls = play_blocks(agent, bandit, 103, np.random.default_rng(2), task).pulls
    assert (pulls[:, 2] == 1).all()
    assert abs(pulls[:, 0].mean() - 51) < 4.5 * 5 / math.sqrt(2000) and 4.5 < pulls[:, 0].std() < 5.5


# ------------------------------------------------------------------------------------------------ explorations


@pytest.mark.each(
    ("agent", "task", "exploration"),
    [
        # m = 2, epsilon = 1/4: gaps 1/2, 1/4, 1/4, 3/4, so (gap + epsilon) / 2 = 3/8, 1/4, 1/4, 1/2, all at least
        # epsilon. b = 2: H = 4 (64/9 + 16 + 16 + 4) = 1552/9, and a = 100 / (4 H).
        (UGapEb(b=2.0), TopM(2, 0.25), 100 / (4 * 1552 / 9)),
        # One best arm: gaps 1/4, 1/4, 1/2, 1; H = 4 (16 + 16 + 4 + 1).
        (UGapEb(b=1.0, scale=3.0), BestArm(), 300 / (16 * 37)),
        # Two bandits: gaps 1/4, 1/4 and 1/2, 1/2; H = 4 (16 + 16 + 4 + 4).
        (UGapEb(b=1.0), BestOfEach(2), 100 / (16 * 40)),
        # Variances 0 but for one of 1, b = 3/7 so that (7/3) b g = g, g the half gaps: 1/8, 1/8, 1/4, 1/2.
        (UGapEbV(b=3 / 7), BestArm(), 96 / 2 / (8 + 8 + (1 + math.sqrt(1.25)) ** 2 / 0.0625 + 2)),
    ],
)
def test_exploration_by_hand(agent: Any, task: Task, exploration: float) -> None:
    begun(agent, [1.0, 0.75, 0.5, 0.0], 104, [0.0, 0.0, 1.0, 0.0], task)
    assert agent.values["a"].tolist() == pytest.approx([exploration], rel=1e-12)
    assert bool(agent.notes) == (agent.scale == 1.0)  # so small that it may leave a good arm for good


def test_a_tie_at_the_border_leaves_no_exploration() -> None:
    assert begun(UGapEb(b=1.0), [0.5, 0.5, 0.2], 104).values["a"].tolist() == [0.0]
    assert begun(UGapEb(b=1.0), [0.9, 0.5, 0.5], 104, task=TopM(2)).values["a"].tolist() == [0.0]
    assert begun(UGapEb(b=1.0), [0.9, 0.5, 0.5], 103, task=TopM(2, 0.1)).values["a"][0] > 0
    assert begun(AUGapEb(), [0.9, 0.5, 0.2], 103).values["every"] == 6  # pulls from one estimate of H to the next


@pytest.mark.each(
    ("agent", "expected"),
    [
        # 7 pulls in all. UGapEc: sqrt(log(4 x 2 x 7^3 / delta) / 2 / 4); V: t = 8.
        (UGapEc(delta=0.2, b=3.0, c=2.0), 3 * math.sqrt(2 * math.log(8 * 343 / 0.2) / 4)),
        (
            UGapEcV(delta=0.2, b=3.0, c=2.0),
            math.sqrt(4 * math.log(8 * 512 / 0.2) * 0.75 / 4) + 14 / 3 * math.log(8 * 512 / 0.2),
        ),
    ],
)
def test_widths_of_fixed_confidence_by_hand(episode: Play, agent: Any, expected: float) -> None:
    begun(agent, [0.5, 0.2], 100)
    names = ("b", "aware", "last", "rate", "delta")
    s, w = state_of(2, 1, 1, **{name: float(np.max(agent.values[name])) for name in names})
    select_until_accurate(episode([4.0, 3.0], [0.0, 0.0], [0.75, 0.5]), s, w, RNG)
    assert width(s, s.a, 4.0, 0.75) == pytest.approx(expected, rel=1e-12)


# ------------------------------------------------------------------------------------------------ episodes by hand


def test_ugapeb_by_hand(trace: Play) -> None:
    # Gaps 1/2, 1/2, 1: H = 16 + 16 + 4 = 36, a = 18 x 8 / (4 x 36) = 1, so that widths are 1 / sqrt(T). J is always
    # arm 0; u is arm 1 as long as 0.5 + 1/sqrt(T) exceeds 1, the U of arm 2. Of equal widths the lower arm is pulled.
    # With four pulls arm 1 has U = 1 too, and the wider arm 2 is u; it is pulled, and falls to 0.71.
    played = trace(UGapEb(tie="first", b=1.0, scale=18.0, plain=True), [[1.0], [0.5], [0.0]], 11)
    assert played.arms == [0, 1, 2, 0, 1, 0, 1, 0, 1, 2, 0]
    assert played.recommendation == 0
    # Without the exact tie (an arm 2 that is a little better) the rule for one best arm does the same.
    played = trace(UGapEb(tie="first", b=1.0, scale=18.0), [[1.0], [0.5], [0.001]], 11, means=[1.0, 0.5, 0.0])
    assert (played.arms, played.recommendation) == ([0, 1, 2, 0, 1, 0, 1, 0, 1, 2, 0], 0)


@pytest.mark.each(
    ("other", "output", "expected"),
    [
        # First widths are 1: with means 1 and 0.6 the value is 0.6 + 1 - (1 - 1) = 1.6, with J = {0}. Arm 0 is pulled
        # and pays 0: mean 1/2, width 0.707; J = {1}, of value 1.207 - (0.6 - 1) = 1.607, which is not smaller.
        (0.6, "best", 0),
        (0.6, "last", 1),
        # With 0.7 the values are 1.7, then 1.507: the set after the last pull competes.
        (0.7, "best", 1),
        (0.7, "last", 1),
    ],
)
def test_the_set_of_smallest_value_is_recommended(trace: Play, other: float, output: str, expected: int) -> None:
    # Means for the complexity alone: H = 2 / 0.2^2 = 50, a = 200 x 1 / (4 x 50) = 1.
    agent = UGapEb(tie="first", b=1.0, scale=200.0, output=output)
    played = trace(agent, [[1.0, 0.0], [other]], 3, means=[1.0, 0.6])
    assert (played.arms, played.recommendation) == ([0, 1, 0], expected)
    assert trace(agent, [[1.0, 0.0], [other]], 3, means=[1.0, 0.6], task=TopM(1)).recommendation == [
        1 - expected,
        expected,
    ]


def test_ugapeb_v_by_hand(trace: Play) -> None:
    # a = 3/14, so that widths are sqrt(3 v / (7 T)) + 1 / (2 (T - 1)). Arm 0 pays 1, 0, 1, 0, ...: v = 1/2, 1/3, 1/3,
    # 0.3, 0.3 after 2 to 6 pulls, widths 0.83, 0.47, 0.36, 0.29, 0.25 (0.246). Arm 1 always pays 1/4: 0.5, 0.25.
    complexity = (0.5 + math.sqrt(0.25 + 7 / 24)) ** 2 / 0.125**2 + 7 / 24 / 0.125**2
    agent = UGapEbV(tie="first", b=1.0, scale=3 / 14 * 2 * complexity / 6)
    played = trace(agent, [[1.0, 0.0], [0.25]], 10)
    assert agent.values["a"].tolist() == pytest.approx([3 / 14], rel=1e-12)
    assert (sorted(played.arms[:4]), played.arms[4:]) == ([0, 0, 1, 1], [0, 1, 0, 0, 0, 1])
    assert played.recommendation == 0


def test_ugapec_by_hand(trace: Play) -> None:
    # Arms that pay 1 and 0 are pulled in turn until the widths sum to less than 1:
    # n = 68: sqrt(log(80 x 68^3) / 2) (2 / sqrt 34) = 1.0012; n = 69: 2.92271 (1 / sqrt 35 + 1 / sqrt 34) = 0.9953.
    played = trace(UGapEc(b=1.0, threshold="paper", tie="first"), [[1.0], [0.0]], 1000, fixed_confidence=True)
    assert (played.arms, played.recommendation) == ([0, 1] * 34 + [0], 0)
    # In an episode of fixed budget, the rest is left over.
    played = trace(UGapEc(b=1.0, threshold="paper", tie="first"), [[1.0], [0.0]], 100)
    assert (played.arms, played.idle, played.recommendation) == ([0, 1] * 34 + [0], [0] * 31, 0)
    # An accuracy of 1 needs widths of no more than 1: n = 13: 2.446 (1/sqrt 7 + 1/sqrt 6) = 1.92;
    # n = 12: sqrt(log(80 x 12^3) / 2) (2 / sqrt 6) = 1.986; n = 11: 2.396 (1 / sqrt 6 + 1 / sqrt 5) = 2.05.
    played = trace(
        UGapEc(b=1.0, threshold="paper", tie="first"), [[1.0], [0.0]], 1000, fixed_confidence=True, task=BestArm(1.0)
    )
    assert (len(played.arms), played.recommendation) == (12, 0)
    # With mixtures: (1 + 20 / T) (log 20 + log(1 + T / 20) / 2) = 7.644, 7.402 at T = 15, 16, widths 0.5048, 0.4810.
    played = trace(UGapEc(b=1.0, tie="first"), [[1.0], [0.0]], 1000, fixed_confidence=True)
    assert (played.arms, played.recommendation) == ([0, 1] * 15 + [0], 0)


def test_ugapec_v_by_hand(trace: Play) -> None:
    # Without variances widths are (7/6) log(80 t^3) / (T - 1), t = n + 1. Pulled in turn, the two sum to less than 1:
    # n = 84: 7/6 x 17.7099 (1/41 + 1/41) = 1.0079; n = 85: 7/6 x 17.7450 (1/42 + 1/41) = 0.9979.
    played = trace(UGapEcV(b=1.0, tie="first", c=0.5), [[1.0], [0.0]], 1000, fixed_confidence=True)
    assert (played.arms[4:], played.recommendation) == ([0, 1] * 40 + [0], 0)


def test_the_cap_ends_an_episode_that_would_go_on(trace: Play) -> None:
    played = trace(UGapEc(b=1.0, tie="first"), [[0.5], [0.5]], 41, fixed_confidence=True)
    assert (played.counts(2), played.idle) == ([21, 20], [])
    assert trace(UGapEc(b=1.0, tie="first"), [[0.0], [1.0]], 2, fixed_confidence=True).recommendation == 1


@pytest.mark.each("kind", [UGapEb, UGapEbV, AUGapEb, AUGapEbV])
def test_the_fast_form_follows_the_plain_rule_with_an_accuracy(trace: Play, kind: Any) -> None:
    rewards = np.random.default_rng(4).normal([[0.5], [0.45], [0.2], [0.0]], 0.3, (4, 50))
    for epsilon in (0.05, 0.2):
        plain, fast = (
            trace(kind(tie="first", b=1.0, plain=plain), rewards, 120, task=BestArm(epsilon=epsilon))
            for plain in (True, False)
        )
        assert plain == fast


def test_of_tied_rivals_the_widest_are_taken() -> None:
    s, w = SetState.of(
        m=2,
        sets=np.zeros(2),
        index=np.array([0.0, 0.0, 1.0, 1.0]),
        upper=np.array([3.0, 5.0, 2.0, 2.0]),
        lower=np.array([1.0, 1.0, 0.0, -2.0]),
        width=np.array([1.0, 2.0, 1.0, 2.0]),
    )
    assert rivals(s, w, 0, 4) == (0.0, 3, 1)
