"""APT-G, HDoC, LUCB-G and APGAI: every pull against plain transcriptions, and their error probabilities."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bai_gym.agents import APGAI, APTG, LUCBG, HDoC
from bai_gym.bandits import BernoulliBandit
from bai_gym.benchmark.rollout import play_blocks
from bai_gym.errors import AgentError, ParameterError
from bai_gym.problems import ProblemInfo
from bai_gym.tasks import BestArm, GoodArm

Play = Callable[..., Any]
HALF = GoodArm(0.5)
KINDS = (APTG, HDoC, LUCBG)


def radius(pulls: int, arms: int, delta: float, b: float) -> float:
    return b * math.sqrt(math.log(4 * arms * pulls**2 / delta) / (2 * pulls))


def classified(kind: Any, rows: Any, cap: int, delta: float, b: float) -> tuple[list[int], int | None]:
    """The pulls of Kano et al. until the first good arm, or until no arm is left; ties by the first rule."""
    seen = [[row[0]] for row in rows]
    arms, active = list(range(len(rows))), list(range(len(rows)))

    def mean(a: int) -> float:
        return math.fsum(seen[a]) / len(seen[a])

    while True:
        for a in sorted(active, key=lambda a: (-mean(a), a)) if len(arms) == len(rows) else [arms[-1]]:
            if mean(a) - radius(len(seen[a]), len(rows), delta, b) >= 0.5:
                return arms, a
        active = [a for a in active if mean(a) + radius(len(seen[a]), len(rows), delta, b) >= 0.5]
        if not active:
            return arms, len(rows)
        if len(arms) == cap:
            return arms, None
        t = len(arms)

        def value(a: int, t: int = t) -> float:
            n = len(seen[a])
            if kind is APTG:
                return -math.sqrt(n) * abs(mean(a) - 0.5)
            return mean(a) + (b * math.sqrt(math.log(t) / (2 * n)) if kind is HDoC else radius(n, len(rows), delta, b))

        arm = min(active, key=lambda a: (-value(a), len(seen[a]), a))
        seen[arm].append(rows[arm][len(seen[arm]) % len(rows[arm])])
        arms.append(arm)


@given(st.sampled_from(KINDS), st.floats(0.0, 1.0), st.integers(0, 2**32 - 1), st.integers(2, 5))
def test_every_pull_is_that_of_the_transcription(
    trace: Play, kind: Any, level: float, seed: int, num_arms: int
) -> None:
    rng = np.random.default_rng(seed)
    rows = np.round((level + 0.6 * rng.random((num_arms, 80)) - 0.3) * 64) / 64
    played = trace(kind(delta=0.2, b=0.6, tie="first"), rows, 150, task=HALF, fixed_confidence=True)
    arms, answer = classified(kind, rows, 150, 0.2, 0.6)
    assert played.arms == arms
    if answer is not None:
        assert played.recommendation == [answer]


def test_apgai_by_hand(trace: Play) -> None:
    # sqrt(T) (mean - 1/2) of arm 1 at T = 1, ..., 7: -0.1, -0.141, -0.173, -0.2, -0.224, -0.245, -0.265; of arm 2 -0.18
    # and -0.255, of arm 0 -0.3. The largest comes next.
    played = trace(APGAI(tie="first"), [[0.2], [0.4], [0.32]], 9, task=HALF)
    assert played.arms == [0, 1, 2, 1, 1, 1, 2, 1, 1] and played.recommendation == [3]
    # An arm above the threshold keeps being pulled.
    played = trace(APGAI(tie="first"), [[0.2], [0.6], [0.55]], 9, task=HALF)
    assert played.arms == [0, 1, 2] + [1] * 6 and played.recommendation == [1]


@given(st.booleans(), st.floats(0.2, 0.8), st.integers(0, 2**32 - 1), st.integers(2, 5))
def test_apgai_follows_its_transcription(trace: Play, stops: bool, level: float, seed: int, num_arms: int) -> None:
    rng = np.random.default_rng(seed)
    rows = level + 0.4 * rng.random((num_arms, 80)) - 0.2
    cap = 120
    played = trace(APGAI(delta=0.2, b=0.4, tie="first"), rows, cap, task=HALF, fixed_confidence=stops)
    seen: list[list[float]] = [[] for _ in rows]
    answer = None
    for step in range(cap + 1):
        if step >= num_arms:
            means = [float(np.mean(one)) for one in seen]
            index = [math.sqrt(len(one)) * (m - 0.5) for one, m in zip(seen, means, strict=True)]
            best = int(np.argmax(index))
            answer = best if max(means) > 0.5 else num_arms
            widths = [radius(len(one), num_arms, 0.2, 0.4) for one in seen]
            above = means[best] - widths[best] >= 0.5
            below = all(m + w < 0.5 for m, w in zip(means, widths, strict=True))
            if step == cap or (stops and (above or below)):
                break
            arm = best
        else:
            arm = step
        assert played.arms[step] == arm
        seen[arm].append(rows[arm][len(seen[arm]) % 80])
    assert len(played.arms) == step and played.recommendation == [answer]


@pytest.mark.each("kind", [*KINDS, APGAI])
def test_they_stop_with_the_right_answer(kind: Any) -> None:
    # Error probability at most delta = 0.1, in fact far less: 300 runs.
    for means, good in (([0.2, 0.8, 0.3, 0.7], (1, 3)), ([0.2, 0.1, 0.3, 0.25], (4,))):
        bandit = BernoulliBandit(np.tile(means, (300, 1)))
        agent = kind()
        info = ProblemInfo(4, 50_000, 300, task=HALF, fixed_confidence=True)
        agent.reset(info, np.random.default_rng(0))
        rollout = play_blocks(agent, bandit, 50_000, np.random.default_rng(1), HALF)
        assert np.isin(rollout.recommendation, good).mean() > 0.97
        assert (rollout.pulls.sum(axis=1) < 50_000).all()


def test_with_a_fixed_budget_apgai_spends_it_and_is_anytime() -> None:
    bandit = BernoulliBandit(np.tile([0.9, 0.1], (50, 1)))
    agent = APGAI()
    agent.reset(ProblemInfo(2, 400, 50, task=HALF, checkpoints=(100, 200)), np.random.default_rng(0))
    rollout = play_blocks(agent, bandit, 400, np.random.default_rng(1), HALF, (100, 200))
    assert (rollout.pulls.sum(axis=1) == 400).all() and agent.anytime
    assert [point.pulls_made for point in rollout.checkpoints] == [100, 200]
    assert (rollout.checkpoints[1].recommendation == 0).mean() > 0.95


def test_errors() -> None:
    for agent, task, error, message in (
        (APTG(delta=0.0), HALF, ParameterError, "delta of APT-G must lie strictly between 0 and 1, not 0.0"),
        (APGAI(delta=1.0), HALF, ParameterError, "delta of APGAI must lie strictly between 0 and 1, not 1.0"),
        (HDoC(b=2.0, sigma=1.0), HALF, ParameterError, "HDoC takes b or sigma, not both"),
        (LUCBG(), BestArm(), AgentError, "LUCB-G does not support the task 'best-arm'; it supports: good-arm"),
    ):
        with pytest.raises(error, match=message):
            agent.reset(ProblemInfo(3, 100, task=task))
