"""The universal agent: its stages, what it recognises in the data, and what must not change its decisions."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from bai_gym import agents, compare, evaluate
from bai_gym.agents.tools.choosing import largest_remainders, systematic
from bai_gym.agents.training.contenders import binary_moments, moments, rivals
from bai_gym.agents.training.universal import SHIPPED, Universal, outputs, stage_sizes, within_room
from bai_gym.bandits import BernoulliBandit, GaussianBandit
from bai_gym.benchmark.rollout import play_blocks
from bai_gym.errors import DataError, ParameterError
from bai_gym.problems import ProblemInfo
from bai_gym.statistics import FloatArray, Statistics
from bai_gym.tasks import AllWithin, BestArm, BestOfEach, GoodArm, Task, Thresholding, TopM

NETWORKS = Universal().networks


def drawn(kind: str, num_arms: int, each: int = 5, batch: int = 20, seed: int = 0) -> Statistics:
    rng = np.random.default_rng(seed)
    means = rng.uniform(0.2, 0.8, (batch, num_arms))
    bandit = (
        BernoulliBandit(means) if kind == "bernoulli" else GaussianBandit(means, rng.uniform(0.5, 2.0, means.shape))
    )
    return bandit.pull_block(rng.integers(1, each + 1, means.shape), rng)


def test_stages_share_what_the_warm_up_leaves() -> None:
    # 2 pulls of 10 arms, one of which comes before; the other 80 in five stages.
    assert stage_sizes(100, 10, 5).tolist() == [10, 16, 16, 16, 16, 16]
    # The root of 400 pulls per arm is 20, of which 0.7 are 14 pulls of each of two arms.
    assert stage_sizes(800, 2, 4).tolist() == [26, 193, 193, 193, 193]
    # Below three pulls per arm the warm-up is the first pull.
    assert stage_sizes(25, 10, 5).tolist() == [0, 3, 3, 3, 3, 3]
    assert stage_sizes(12, 10, 5).sum() == 2 and stage_sizes(10, 10, 5).sum() == 0


def test_shares_become_whole_counts() -> None:
    wanted = np.array([[0.5, 2.25, 1.25], [0.0, 0.9, 3.1]])
    # Ends at 0.5, 2.75 and 4, and at 0, 0.9 and 4, each plus 0.3 and rounded down.
    assert systematic(wanted, 4, np.full((2, 1), 0.3)).tolist() == [[0, 3, 1], [0, 1, 3]]
    assert largest_remainders(wanted, 4).tolist() == [[1, 2, 1], [0, 1, 3]]
    rng = np.random.default_rng(0)
    wanted = 7.0 * rng.dirichlet(np.ones(5), 20_000)[:1].repeat(20_000, 0)
    counts = systematic(wanted, 7, rng.random((20_000, 1)))
    assert (counts.sum(axis=1) == 7).all() and (abs(counts - wanted) < 1.0).all()
    np.testing.assert_allclose(counts.mean(axis=0), wanted[0], atol=4.6 * 0.5 / np.sqrt(20_000))  # level 4e-6 each


def test_what_an_arm_has_no_room_for_goes_to_the_others() -> None:
    wanted = np.array([[5.0, 2.0, 1.0], [1.0, 6.0, 1.0], [3.0, 3.0, 2.0]])
    room = np.array([[3, 9, 9], [1, 2, 9], [3, 3, 2]])
    # Two pulls are left over, and go to the others as 2 to 1; five, of which only the last arm has room; none.
    expected = [[3, 2 + 4 / 3, 1 + 2 / 3], [1, 2, 5], [3, 3, 2]]
    np.testing.assert_allclose(within_room(wanted, room), expected, rtol=1e-9)


def test_scale_and_shift_of_the_rewards_change_nothing() -> None:
    seen, left = drawn("gaussian", 12), np.full((20, 1), 40.0)
    for scale, shift in ((1e-6, 0.0), (1e6, 0.0), (3.0, 100.0), (0.25, -7.0)):
        moved = Statistics(seen.pulls, scale * seen.means + shift, scale**2 * seen.variances)
        for one, other in (
            (BestArm(), BestArm()),
            (TopM(3), TopM(3)),
            (Thresholding(0.4), Thresholding(scale * 0.4 + shift)),
            (AllWithin(0.2), AllWithin(scale * 0.2)),
        ):
            shares, means = outputs(NETWORKS["any"], "any", seen, left, one)
            found, corrected = outputs(NETWORKS["any"], "any", moved, left, other)
            np.testing.assert_allclose(found, shares, atol=1e-6, err_msg=f"{one}")
            np.testing.assert_allclose(corrected, scale * means + shift, rtol=1e-6, err_msg=f"{one}")


def test_what_arms_are_compared_with_by_hand() -> None:
    means = np.array([[0.1, 0.7, 0.4, 0.8]])
    cases: list[tuple[Task, list[int], list[int], list[float]]] = [
        # The others with the best arm; that one with the second.
        (BestArm(), [3, 3, 3, 1], [-1, -1, -1, 1], [0.0] * 4),
        # The two best ones with the third, the others with the second.
        (TopM(2), [1, 2, 1, 2], [-1, 1, -1, 1], [0.0] * 4),
        (BestOfEach(2), [1, 0, 3, 2], [-1, 1, -1, 1], [0.0] * 4),
        (Thresholding(0.5), [-1] * 4, [-1, 1, -1, 1], [-0.5, 0.5, -0.5, 0.5]),
        # The only contrast is that of the best arm, with which the others are compared.
        (GoodArm(0.5), [3, 3, 3, -1], [-1, -1, -1, 1], [0.0, 0.0, 0.0, 0.5]),
        (GoodArm(0.9), [-1] * 4, [-1] * 4, [-0.9] * 4),
        # Only arm 1 is at most 0.2 worse than the best one, but for 0.1 more; in that contrast the best one is second.
        (AllWithin(0.2), [3, 3, 3, 1], [-1, 1, -1, -1], [0.2, -0.2, 0.2, -0.2]),
    ]
    for task, arm, side, offset in cases:
        found = rivals(means, task, np.array([task.numbers(4)]))
        assert [found.arm[0].tolist(), found.side[0].tolist(), found.offset[0].tolist()] == [arm, side, offset], task


def test_estimates_by_hand() -> None:
    # 2 of 2 and 3 of 6 successes: the centre is (1.5 + 1) / 4 = 5 / 8, so with two pulls more the shares are 3.25 / 4 =
    # 0.8125 and 4.25 / 8 = 0.53125. Variances 0.15234 and 0.24902 of 2 and 6 pulls are 0.22485 on average.
    means, unit, variances, _ = binary_moments(np.array([2.0, 6.0]), np.array([1.0, 0.5]), np)
    assert means == pytest.approx([0.8125, 0.53125]) and unit == pytest.approx(np.sqrt(0.22485), abs=1e-4)
    assert variances == pytest.approx([(2 * 0.15234 / 0.22485 + 1) / 3, (6 * 0.24902 / 0.22485 + 1) / 7], abs=1e-4)
    # Single pulls have no variance of their own: that of both arms counts for two pulls.
    means, unit, variances, freedom = moments(np.ones(2), np.array([0.0, 2.0]), np.zeros(2), np)
    assert means.tolist() == [0.0, 2.0] and freedom.tolist() == [2.0, 2.0] and variances.tolist() == [1.0, 1.0]
    assert unit == pytest.approx(np.sqrt(0.5), rel=1e-5)  # half of the variance of the means is 0.5


def test_every_arm_has_a_part_of_each_stage() -> None:
    # 0.25 % of a stage of 4984 pulls is 12.5, however bad the arm is; the warm-up is 0.7 times the root of 50,000.
    agent, bandit = Universal(tie="first"), GaussianBandit([[0.0, -1000.0]])
    agent.reset(ProblemInfo(2, 100_000), np.random.default_rng(0))
    pulls = play_blocks(agent, bandit, 100_000, np.random.default_rng(1)).pulls
    assert pulls.min() >= 156 + 20 * 12


def test_shipped_weights_are_small_and_say_where_they_come_from() -> None:
    assert SHIPPED.stat().st_size < 1_000_000
    facts = Universal().trained_on
    assert {"recipe", "steps", "versions"} <= set(facts)
    assert "/" not in json.dumps(facts)  # no path of somebody's machine


@pytest.mark.slow
def test_it_is_better_than_sequential_halving_where_it_was_not_trained() -> None:
    test = compare(["Universal", "SH"], "BAI-Gaussian64-v0", budgets=[1000], runs=600, seed=0).paired("Universal", "SH")
    assert test.difference < 0 and test.p_value < 0.01


def test_mistakes_are_answered_in_one_line(tmp_path) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ParameterError, match="no file of weights"):
        agents.make("Universal", path=tmp_path / "weights.npz")
    with pytest.raises(DataError, match="holds no weights"):
        agents.make("Universal", path=SHIPPED.parent / "weights" / "BAI-Gaussian8-v0.npz")  # of another network
    with pytest.raises(ParameterError, match="stages of Universal"):
        Universal(stages=0).reset(ProblemInfo(4, 60))
    copy = tmp_path / "mine.npz"
    copy.write_bytes(SHIPPED.read_bytes())
    assert Universal(path=copy, stages=9).label == "Universal(stages=9, mine)"


def test_it_plays_every_question() -> None:
    means, runs = [0.9, 0.2, 0.6, 0.1, 0.75, 0.3], 400
    for task in (TopM(2), Thresholding(0.5), GoodArm(0.5), BestOfEach(2), AllWithin(0.2)):
        errors = {}
        for agent in ("Universal", "Uniform"):
            arms = {"means": means, "distribution": "bernoulli"}
            errors[agent] = evaluate(agent, "BAI-Custom-v0", budget=240, runs=runs, env_kwargs={**arms, "task": task})
        found, uniform = (errors[agent].error_probability for agent in ("Universal", "Uniform"))
        assert found < max(uniform, 0.02) + 3.0 * np.sqrt(uniform / runs), (task, found, uniform)


def test_contrasts_that_cannot_be_compiled_are_played_uncompiled() -> None:
    class Own(BestArm):
        name = "own"

        @staticmethod
        def contrasts(mean: FloatArray, c: Any, x: FloatArray) -> int:
            return BestArm.contrasts(mean, c, np.array([float(f"{x[0]:g}")]))  # no compiled code formats numbers so

    means = np.random.default_rng(0).random((300, 6))
    numbers = np.zeros((300, 1))
    for found, expected in zip(rivals(means, Own(), numbers), rivals(means, BestArm(), numbers), strict=True):
        np.testing.assert_array_equal(found, expected)
    for few, many in zip(rivals(means[:2], BestArm(), numbers[:2]), rivals(means, BestArm(), numbers), strict=True):
        np.testing.assert_array_equal(few, many[:2])
