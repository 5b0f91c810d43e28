"""Episodes that recommend several arms, and episodes that the agent stops, one at a time and in a batch, by hand."""

from __future__ import annotations

import math
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode

from bai_gym.errors import BaiGymError, ParameterError

# Every reward is its arm's mean, so that batches with different generators can be compared.
EXACT: dict[str, Any] = {"means": [0.25, 0.875, 0.625, 0.5], "variances": 0.0, "shuffle": False}
COST = 0.125
FIXED: dict[str, Any] = {"fixed_confidence": True, "pull_cost": COST}
TOP: dict[str, Any] = {"task": "top-m", "m": 2}
EACH: dict[str, Any] = {"task": "best-of-each", "num_bandits": 2}
WITHIN: dict[str, Any] = {"task": "all-within", "epsilon": 0.25}
OVER: dict[str, Any] = {"task": "thresholding", "threshold": 0.625}

KINDS = {
    "top-m": TOP,
    "best-of-each": EACH,
    "thresholding": OVER,
    "all-within": WITHIN,
    "FC": FIXED,
    "FC-top-m": {**TOP, **FIXED},
    "FC-best-of-each": {**EACH, **FIXED},
    "FC-thresholding": {**OVER, **FIXED},
}


def make(budget: int = 3, **keywords: Any) -> Any:
    return gym.make("BAI-Custom-v0", budget=budget, **{**EXACT, **keywords})


def batch_of(num_envs: int, mode: AutoresetMode = AutoresetMode.NEXT_STEP, budget: int = 3, **keywords: Any) -> Any:
    return gym.make_vec("BAI-Custom-v0", num_envs=num_envs, budget=budget, autoreset_mode=mode, **{**EXACT, **keywords})


# Keywords, a last action -> correct, simple regret, the correct recommendation. The second-best mean is 0.625; the best
# means of the bandits are 0.875 and 0.625. Entry 0 of a recommendation is not read with a fixed budget.
BY_HAND: list[tuple[dict[str, Any], Any, bool, float, Any]] = [
    (TOP, [3, 0, 1, 0, 1], False, 0.125, [0, 1, 1, 0]),
    (EACH, [0, 1, 0], True, 0.0, [1, 0]),
    (OVER, [0, 0, 1, 1, 0], True, 0.0, [0, 1, 1, 0]),  # arm 2 is at the threshold, and so in the set
    ({**OVER, "epsilon": 0.125}, [0, 0, 1, 0, 1], True, 0.125, [0, 1, 1, 0]),  # arms 2 and 3 are forgiven
    ({**OVER, **FIXED}, [4, 0, 1, 1, 1], False, 0.125, [0, 1, 1, 0]),
    (WITHIN, [0, 0, 1, 1, 0], True, 0.0, [0, 1, 1, 0]),
    ({**WITHIN, **FIXED}, [4, 0, 1, 0, 0], False, 0.0, [0, 1, 1, 0]),  # arm 2 is at the border
    ({"epsilon": 0.25}, 2, True, 0.25, 1),
    (FIXED, 4 + 2, False, 0.25, 1),
    ({**FIXED, **TOP}, [4, 1, 0, 0, 1], False, 0.375, [0, 1, 1, 0]),
]


def pulled(env: Any, arm: int) -> Any:
    """The action that pulls an arm; what stands in the place of the recommendation is not read."""
    shape = env.unwrapped.action_encoding.shape
    return arm if shape == () else np.array([arm, *[1] * (shape[0] - 1)])


@pytest.mark.each("reward", ["correct", "simple_regret"])
@pytest.mark.each(("keywords", "last", "right", "regret", "truth"), BY_HAND)
def test_an_episode_by_hand(
    keywords: dict[str, Any], last: Any, right: bool, regret: float, truth: Any, reward: str
) -> None:
    env = make(reward=reward, **keywords)
    capped = "fixed_confidence" in keywords
    env.reset(seed=0)
    for arm in (2, 3) if capped else (2, 0, 2):
        observation, got, terminated, truncated, info = env.step(pulled(env, arm))
        assert (got, terminated, truncated) == (-COST if capped else 0.0, False, False)
        assert math.copysign(1.0, got) == (-1.0 if capped else 1.0)  # no minus zero
    assert info.pop("outcome") == pytest.approx(observation["means"][arm])
    assert info == {"phase": "explore" if capped else "recommend"}
    assert observation["remaining"].item() == (1 if capped else 0)
    after, got, terminated, truncated, info = env.step(np.array(last) if isinstance(last, list) else last)
    np.testing.assert_equal(after, observation)  # the recommendation is no pull, and costs nothing
    assert (got, terminated, truncated) == (float(right) if reward == "correct" else -regret, True, False)
    assert math.copysign(1.0, got) == (-1.0 if got < 0 else 1.0)
    assert {**info, "correct_recommendation": np.asarray(info["correct_recommendation"]).tolist()} == {
        "phase": "done",
        "correct": right,
        "simple_regret": regret,
        "correct_recommendation": truth,
    }
    with pytest.raises(ResetNeeded, match="the episode is over"):
        env.step(pulled(env, 0))


def test_the_estimate_of_an_arm_without_a_pull_is_the_worst_mean() -> None:
    for pulls, last, estimate in (((2, 0, 2), 2, 0.625), ((2, 1, 2), 0, 0.625), ((2, 0, 2), 3, 0.25)):
        env = make(reward="estimate")
        env.reset(seed=0)
        for arm in pulls:
            env.step(arm)
        assert env.step(last)[1] == estimate


@pytest.mark.each("kind", ["FC", "FC-top-m", "FC-best-of-each"])
def test_the_cap_truncates_and_reveals_nothing(kind: str) -> None:
    env = make(**KINDS[kind])
    for _ in range(2):
        env.reset(seed=0)
        for step in range(3):
            observation, reward, terminated, truncated, info = env.step(pulled(env, 1))
            assert (reward, terminated, truncated) == (-COST, False, step == 2)
        assert info == {"phase": "done", "outcome": info["outcome"]}
        assert (observation["pulls"].tolist(), observation["remaining"].item()) == ([0, 3, 0, 0], 0)
        with pytest.raises(ResetNeeded):
            env.step(pulled(env, 1))
    stop = {"FC": 5, "FC-top-m": np.array([4, 0, 1, 1, 0]), "FC-best-of-each": np.array([4, 1, 0])}[kind]
    env.reset(seed=0)  # an agent may stop at once
    observation, reward, terminated, truncated, info = env.step(stop)
    assert (reward, terminated, truncated, info["correct"]) == (1.0, True, False, True)
    assert (observation["pulls"].sum(), observation["remaining"].item()) == (0, 3)


@pytest.mark.each(
    ("kind", "due", "action"),
    [
        ("top-m", True, [0, 1, 1, 1, 0]),
        ("top-m", True, [4, 1, 1, 0, 0]),
        ("top-m", False, [-1, 1, 1, 0, 0]),
        ("top-m", False, [0.0, 1, 1, 0, 0]),
        ("FC-top-m", False, [4, 1, 1, 1, 0]),
        ("best-of-each", True, [0, 2, 0]),
        ("FC-best-of-each", False, [4, 0, 2]),
        ("FC", False, 8),
        ("FC", False, 1.0),
    ],
)
def test_what_is_no_action_changes_nothing(kind: str, due: bool, action: Any) -> None:
    env, envs = make(**KINDS[kind]), batch_of(2, **KINDS[kind])
    env.reset(seed=0)
    envs.reset(seed=0)
    pull = pulled(env, 1)
    for _ in range(3 if due else 1):
        before, *_ = env.step(pull)
        many, *_ = envs.step(np.array([pull] * 2))
    for wrong in (lambda: env.step(action), lambda: envs.step([pull, action])):
        with pytest.raises(ParameterError):
            wrong()
    if due:
        right = [0, 0, 1, 1, 0] if kind == "top-m" else [0, 1, 0]
        assert env.step(np.array(right))[1] == 1.0
        assert envs.step(np.array([right] * 2))[1].tolist() == [1.0, 1.0]
    else:  # nothing has been counted
        assert env.step(pull)[0]["pulls"].tolist() == (before["pulls"] + [0, 1, 0, 0]).tolist()
        assert envs.step(np.array([pull] * 2))[0]["pulls"].tolist() == (many["pulls"] + [0, 1, 0, 0]).tolist()


@pytest.mark.each(
    ("keywords", "named"),
    [
        ({"pull_cost": 0.1}, "fixed_confidence"),
        *(({"fixed_confidence": True, "pull_cost": cost}, "pull_cost") for cost in (-0.1, math.nan)),
        ({"fixed_confidence": 1}, "fixed_confidence"),
        ({"fixed_confidence": True, "budget": 0}, "budget"),
    ],
)
def test_keywords_of_fixed_confidence(keywords: dict[str, Any], named: str) -> None:
    for build in (make, lambda **given: batch_of(2, **given)):
        with pytest.raises(BaiGymError, match=named):
            build(**keywords)


def test_problem_info_has_the_task() -> None:
    for made, expected in (
        (make(**TOP, **FIXED, epsilon=0.25).unwrapped, (1, True, "TopM(epsilon=0.25, m=2)")),
        (batch_of(2, **EACH), (2, False, "BestOfEach(num_bandits=2)")),
    ):
        made.reset(seed=0)
        info = made.problem_info()
        assert (info.budget, info.batch, info.fixed_confidence, repr(info.task)) == (3, *expected)
