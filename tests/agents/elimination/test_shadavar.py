"""SHAdaVar: the cyclic part, the bounds, and what happens where they do not exist."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bai_gym.agents.elimination.sequential_halving import SequentialHalving
from bai_gym.agents.elimination.shadavar import SHAdaVar, pulls_needed
from bai_gym.errors import ParameterError
from bai_gym.problems import ProblemInfo
from bai_gym.statistics import Observation

Play = Callable[..., Any]
L = math.log(20.0)  # delta = 0.05


def after_reset(agent: SHAdaVar, num_arms: int, budget: int, batch: int = 1) -> SHAdaVar:
    agent.reset(ProblemInfo(num_arms, budget, batch), np.random.default_rng(0))
    return agent


def fresh(num_arms: int, budget: int, batch: int = 1) -> Observation:
    return {
        "pulls": np.zeros((batch, num_arms), np.int64),
        "means": np.zeros((batch, num_arms)),
        "variances": np.zeros((batch, num_arms)),
        "remaining": np.full((batch, 1), budget),
    }


def pseudo_code(
    rewards: list[list[float]], pulls: int, share: float, bound: Callable[[float, int], float]
) -> list[int]:
    """The pulls of one stage of algorithm 4, from the raw rewards of the arms, with ties to the fewest pulls."""
    made: list[list[float]] = [[] for _ in rewards]
    arms = []
    for step in range(pulls):
        if step < math.floor(len(rewards) * share):
            arm = step % len(rewards)
        else:
            key = []
            for number, sample in enumerate(made):
                spread = float(np.var(sample, ddof=1)) if len(set(sample)) > 1 else 0.0
                key.append((-bound(spread, len(sample)), len(sample), number))
            arm = min(key)[2]
        made[arm].append(rewards[arm][len(made[arm]) % len(rewards[arm])])
        arms.append(arm)
    return arms


def upper(spread: float, pulls: int) -> float:
    """U / T."""
    if pulls - 1 <= 4 * L:
        return math.inf
    return spread / (1 - 2 * math.sqrt(L / (pulls - 1))) / pulls


@pytest.mark.each(
    ("pulls", "denominator"),
    [
        (13, 0.00071154),
        (14, 0.03991470),
        (16, 0.10620923),
        (20, 0.20584606),
        (30, 0.35719018),
        (50, 0.50548046),
        (100, 0.65209242),
    ],
)
def test_denominators_of_the_specification(pulls: int, denominator: float) -> None:
    index = pulls_needed(float(pulls), 0.0, 3.0, np.array([L]))
    assert 3.0 / (index * pulls) == pytest.approx(1 - 2 * math.sqrt(L / (pulls - 1)), rel=1e-11)
    assert 3.0 / (index * pulls) == pytest.approx(denominator, abs=1.1e-8)  # the last digit is rounded there


@pytest.mark.each("pulls", [1, 2, 12])
@pytest.mark.each("variance", [0.0, 2.0])
def test_the_bound_is_infinite_up_to_4_l(pulls: int, variance: float) -> None:
    with np.errstate(all="ignore"):
        assert pulls_needed(np.float64(pulls), 0.0, variance, np.array([L])) == np.inf
        assert (pulls_needed(np.float64(pulls), 0.0, variance, np.zeros(1)) == np.inf) == (pulls == 1)


def first_request(agent: SHAdaVar, num_arms: int, budget: int, batch: int = 1) -> Any:
    return next(after_reset(agent, num_arms, budget, batch).start(fresh(num_arms, budget, batch)))


def test_the_cyclic_part_splits_62_to_2_at_64_arms() -> None:
    # floor(64 (4 L + 1)) = floor(830.9) = 830 = 62 x 13 + 2 x 12.
    counts = first_request(SHAdaVar(), 64, 6 * 831, 50).counts
    assert (counts.sum(axis=1) == 830).all()
    assert ((counts == 13).sum(axis=1) == 62).all() and ((counts == 12).sum(axis=1) == 2).all()
    assert len(np.unique(np.argwhere(counts == 12)[:, 1])) > 20  # different arms in different episodes
    counts = first_request(SHAdaVar(), 64, 6 * 830).counts
    assert counts.sum() == 830  # the whole stage


@pytest.mark.each("delta", [0.05, 0.5, 0.9, 1e-6])
@pytest.mark.each("num_arms", [2, 3, 7])
def test_length_of_the_cyclic_part(delta: float, num_arms: int) -> None:
    share = math.floor(num_arms * (4 * math.log(1 / delta) + 1))
    budget = math.ceil(math.log2(num_arms)) * (share + 5)
    block = first_request(SHAdaVar(delta=delta), num_arms, budget)
    assert block.counts.sum() == share


def test_two_arms_by_hand(trace: Play) -> None:
    # One stage. floor(2 x 12.98) = 25 cyclic pulls: 13 of arm 0, 12 of arm 1, whose bound is infinite: it is next.
    # Then both have 13 pulls; arm 0 (rewards 0 2 0 2 ...) has the larger variance for ever, arm 1 pays 5 or 5.1.
    played = trace(SHAdaVar(tie="first"), [[0.0, 2.0], [5.0, 5.1]], 40)
    assert played.arms[:26] == [0, 1] * 12 + [0] + [1]
    assert played.arms[26:] == pseudo_code([[0.0, 2.0], [5.0, 5.1]], 40, 4 * L + 1, upper)[26:]
    # Variances 1.1 and 0.0027: U / T = 116 and 0.29, and after the next pull of arm 0 still 1.9.
    assert played.arms[26:28] == [0, 0]
    assert played.recommendation == 1


rewards_of_an_arm = st.lists(
    st.one_of(st.integers(0, 2).map(float), st.integers(-3000, 3000).map(lambda n: n / 1000)), min_size=1, max_size=9
)


@settings(max_examples=50)
@given(st.lists(rewards_of_an_arm, min_size=2, max_size=2), st.integers(2, 90), st.booleans())
def test_one_stage_follows_the_pseudo_code(trace: Play, rewards: list[list[float]], budget: int, ucb: bool) -> None:
    agent = SHAdaVar(tie="first", ucb=ucb, allow_small_budget=True)

    def plug_in(spread: float, pulls: int) -> float:
        return math.inf if pulls < 2 else spread / pulls

    share, bound = (4 * L + 1, upper) if ucb else (2.0, plug_in)
    played = trace(agent, rewards, budget)
    made: list[list[float]] = [[], []]
    for step, arm in enumerate(played.arms):
        # Follow the agent's own pulls, so that a tie in the last digits does not make the rest incomparable.
        if step < math.floor(2 * share):
            assert arm == step % 2
        else:
            values = [bound(float(np.var(m, ddof=1)) if len(set(m)) > 1 else 0.0, len(m)) for m in made]
            other = 1 - arm
            if values[arm] == values[other] in (0.0, math.inf):
                assert (len(made[arm]), arm) < (len(made[other]), other)
            else:
                assert values[arm] >= values[other] * (1 - 1e-9)
        made[arm].append(rewards[arm][len(made[arm]) % len(rewards[arm])])
    assert len(played.arms) == budget


def test_the_plug_in_variant_by_hand(trace: Play) -> None:
    # Two pulls each: variances 2 (0 2), 0.5 (0 1), 0 (7 7). Then 2/2, and with 0 2 0 4/3: 4/9; 0.5/2: 1/4 ...
    rewards = [[0.0, 2.0], [0.0, 1.0], [7.0], [0.0]]
    played = trace(SHAdaVar(tie="first", ucb=False), rewards, 22)
    expected = pseudo_code(rewards, 11, 2.0, lambda spread, pulls: math.inf if pulls < 2 else spread / pulls)
    assert played.arms[:8] == [0, 1, 2, 3] * 2
    assert played.arms[8:11] == expected[8:] == [0, 0, 0]


def test_stages_start_afresh(trace: Play) -> None:
    # Arms 2 and 0 survive stage 1. Stage 2 begins with 25 cyclic pulls, whatever was pulled before.
    rewards = [[4.0], [0.0, 1.0], [5.0, 6.0], [1.0]]
    played = trace(SHAdaVar(tie="first"), rewards, 120)
    assert sorted(set(played.arms[60:])) == [0, 2]
    assert played.arms[60:85] == [0, 2] * 12 + [0]
    assert played.arms[85] == 2
    # Stage 1: 51 cyclic pulls, then arm 3 (12 pulls, infinite), then arms 1 and 2 of variance > 0, never 0 and 3.
    assert played.arms[:51] == ([0, 1, 2, 3] * 13)[:51]
    assert played.arms[51] == 3 and set(played.arms[52:60]) == {1, 2}
    # Stage 2: arm 0 has no variance, so that every pull goes to arm 2.
    assert set(played.arms[86:]) == {2}


def test_arms_without_variance_share_what_is_left_equally(trace: Play) -> None:
    played = trace(SHAdaVar(tie="first"), [[0.0], [1.0], [0.0], [1.0]], 200)
    assert played.arms[:100] == [0, 1, 2, 3] * 25
    assert played.arms[100:] == [1, 3] * 50


@pytest.mark.slow
@settings(max_examples=15)
@given(st.lists(st.integers(0, 1), min_size=2, max_size=6).filter(lambda bits: 0 < sum(bits) < len(bits)))
def test_a_past_with_variance_does_not_disturb_arms_without(trace: Play, bits: list[int]) -> None:
    # Arms 0 and 1 survive stage 1 with zeros and ones, and pay only ones in stage 2.
    mixed = [[float(bit) for bit in bits] * 100, [float(bit) for bit in reversed(bits)] * 100]
    past = trace(SHAdaVar(tie="first"), [*mixed, [0.0], [0.0]], 400).arms[:200]
    rewards = [sample[: past.count(arm)] + [1.0] * 200 for arm, sample in enumerate(mixed)]
    played = trace(SHAdaVar(tie="first"), [*rewards, [0.0], [0.0]], 400)
    assert played.arms[:200] == past
    assert np.bincount(played.arms[200:]).tolist() == [100, 100]


@given(st.integers(2, 9), st.integers(0, 300))
def test_short_stages_are_sequential_halving(trace: Play, num_arms: int, extra: int) -> None:
    rewards = [[np.sin(9.0 * arm), 0.3 * arm] for arm in range(num_arms)]
    agent = SHAdaVar(tie="first")
    budget = agent.minimum_budget(num_arms) + extra
    stages = math.ceil(math.log2(num_arms))
    if budget // stages > math.floor(2 * (4 * L + 1)):  # of the last stage, which has two arms
        budget = stages * math.floor(2 * (4 * L + 1)) if num_arms <= 25 else agent.minimum_budget(num_arms)
    assert trace(agent, rewards, budget) == trace(SequentialHalving(tie="first"), rewards, budget)


@pytest.mark.each("delta", [1e-320, 1e-300, 1 - 1e-16])
def test_extreme_confidence_parameters(trace: Play, delta: float) -> None:
    assert trace(SHAdaVar(delta=delta, tie="first"), [[0.0, 1.0], [3.0], [1.0]], 60).recommendation == 1


def test_minimum_budgets() -> None:
    assert SHAdaVar().minimum_budget(64) == 384
    assert SHAdaVar(ucb=False).minimum_budget(64) == 768


def test_a_confidence_parameter_outside_its_range_is_rejected(trace: Play) -> None:
    for delta in (0.0, 1.0, -0.1, 2.0):
        with pytest.raises(ParameterError, match="delta of SHAdaVar"):
            trace(SHAdaVar(delta=delta), [[0.0, 1.0], [1.0]], 60)
