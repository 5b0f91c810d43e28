"""APT-G, HDoC, LUCB-G and APGAI: indices, classification and stops by hand, and error probabilities."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bai_gym.agents import APGAI, APTG, LUCBG, HDoC
from bai_gym.agents.thresholding.apgai import APGAIState
from bai_gym.agents.thresholding.apgai import pull_or_stop as apgai_rule
from bai_gym.agents.thresholding.good_arm import GoodArmState, pull_closest
from bai_gym.sampling import STOP
from bai_gym.tasks import GoodArm

Play = Callable[..., Any]
HALF = GoodArm(0.5)
KINDS = (APTG, HDoC, LUCBG)
RNG = np.random.default_rng(0)


def state_of(num_arms: int, delta: float = 0.1, **values: Any) -> tuple[GoodArmState, GoodArmState]:
    given = {"threshold": 0.5, "b": 1.0, "level": math.log(num_arms / delta), **values}
    return GoodArmState.of(**given, index=np.zeros(num_arms), lower=np.zeros(num_arms))


def test_indices_by_hand(episode: Play) -> None:
    # Means 0.6, 0.2, 0.5 after 4, 1 and 9 pulls: log 14 = 2.639, and the rates
    # (1 + 1 / T) (log 600 + log(1 + T) / 2), of the wide prior, are 9.002, 13.487, 8.387.
    e = episode([4, 1, 9], [0.6, 0.2, 0.5])
    for kind, arm, index in (
        (APTG, 2, [-0.2, -0.3, 0.0]),
        (HDoC, 1, [0.6 + math.sqrt(2.639 / 8), 0.2 + math.sqrt(2.639 / 2), 0.5 + math.sqrt(2.639 / 18)]),
        (LUCBG, 1, [0.6 + math.sqrt(9.002 / 8), 0.2 + math.sqrt(13.487 / 2), 0.5 + math.sqrt(8.387 / 18)]),
    ):
        s, w = state_of(3)
        assert kind.rule.choose is not None and kind.rule.choose(e, s, w, RNG) == arm
        assert w.index.tolist() == pytest.approx(index, abs=1e-3)


def test_classification_by_hand(episode: Play) -> None:
    # As above with b = 0.05: radii 0.053, 0.130, 0.034. At the start the best arm is tried first, and it is certain.
    e = episode([4, 1, 9], [0.6, 0.2, 0.5])
    s, w = state_of(3, b=0.05)
    assert pull_closest(e, s, w, RNG) == STOP and s.certain == 0
    # After a pull of arm 1 that arm alone is looked at, and dropped.
    assert pull_closest(e._replace(pulled=1), s, w, RNG) == 2
    assert (s.below, w.index[1], e.active.tolist()) == (1, -np.inf, [1, 0, 1])
    # All arms are below: 3 stands for none.
    s, w = state_of(3, b=0.05)
    assert pull_closest(episode([4, 1, 9], [0.3, 0.2, 0.4]), s, w, RNG) == STOP and s.certain == 3
    # One arm: the radius is b sqrt(2 (log 200 + log(2) / 2) / 2) = 2.376 b, or with twice the delta 2.225 b.
    e = episode([1], [0.5 + 0.05 * 2.3])
    for delta, expected in ((0.1, 0), (0.2, STOP)):
        assert pull_closest(e, *state_of(1, b=0.05, delta=delta), RNG) == expected


def test_stops_of_apgai_by_hand(episode: Play) -> None:
    # Radii as above. Arm 0 is certainly above; without it arm 2 of mean 0.44 is certain to be below only with 0.45.
    for means, expected, certain in (
        ([0.6, 0.2, 0.5], STOP, 0),
        ([0.55, 0.2, 0.5], 0, 0),  # 0.55 - 0.053 is below the threshold
        ([0.3, 0.2, 0.47], 2, 3),
        ([0.3, 0.2, 0.45], STOP, 3),
        ([0.3, 0.2, 0.5], 2, 3),  # at the threshold is not above it
    ):
        for stops in (True, False):
            s, w = APGAIState.of(threshold=0.5, b=0.05, level=math.log(30), stops=stops, index=np.zeros(3))
            chosen = apgai_rule(episode([4, 1, 9], means), s, w, RNG)
            assert chosen == expected if stops else chosen == int(np.argmax(w.index))
            assert s.certain == certain or not stops


def test_apgai_by_hand(trace: Play) -> None:
    # sqrt(T) (mean - 1/2) of arm 1 at T = 1, ..., 7: -0.1, -0.141, -0.173, -0.2, -0.224, -0.245, -0.265; of arm 2 -0.18
    # and -0.255, of arm 0 -0.3. The largest comes next.
    played = trace(APGAI(tie="first"), [[0.2], [0.4], [0.32]], 9, task=HALF)
    assert played.arms == [0, 1, 2, 1, 1, 1, 2, 1, 1] and played.recommendation == [3]
    # An arm above the threshold keeps being pulled.
    played = trace(APGAI(tie="first"), [[0.2], [0.6], [0.55]], 9, task=HALF)
    assert played.arms == [0, 1, 2] + [1] * 6 and played.recommendation == [1]
    # One at the threshold is not above it.
    assert trace(APGAI(tie="first"), [[0.2], [0.5], [0.3]], 9, task=HALF).recommendation == [3]
