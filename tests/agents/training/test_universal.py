"""The universal agent: its stages, what it recognises in the data, and what must not change its decisions."""

from __future__ import annotations

import json

import numpy as np
import pytest

from bai_gym import agents, compare, evaluate
from bai_gym.agents.tools.choosing import largest_remainders, systematic
from bai_gym.agents.training.contenders import binary_moments, moments
from bai_gym.agents.training.universal import SHIPPED, Universal, logits, stage_sizes, two_valued, within_room
from bai_gym.bandits import BernoulliBandit, GaussianBandit
from bai_gym.benchmark.rollout import play_blocks
from bai_gym.errors import DataError, ParameterError
from bai_gym.problems import ProblemInfo
from bai_gym.statistics import FloatArray, Statistics

NETWORKS = Universal().networks


def statistics_of(rewards: list[list[list[float]]]) -> Statistics:
    """Statistics of episodes, each a list of arms, each a list of rewards."""
    pulls = np.array([[len(arm) for arm in arms] for arms in rewards])
    means = np.array([[np.mean(arm) for arm in arms] for arms in rewards])
    variances = np.array([[np.var(arm, ddof=1) if len(arm) > 1 else 0.0 for arm in arms] for arms in rewards])
    return Statistics(pulls, means, variances)


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


def test_two_values_are_recognised_wherever_they_lie() -> None:
    rewards = [
        [[0, 1, 1], [0.0], [1, 1]],
        [[5, 7, 7], [5.0], [7, 7]],
        [[0, 1, 2], [0.0], [1, 1]],
        [[0.3, 1.4, 2], [0.1], [-1.2, 1]],
        [[0, 0, 0], [0.0], [0, 0]],
        [[1, 1, 1], [1.0], [1, 1]],
    ]
    binary, shares = two_valued(statistics_of(rewards))
    assert binary.tolist() == [True, True, False, False, True, True]
    assert shares[:2].tolist() == pytest.approx(np.array([[2 / 3, 0.0, 1.0]] * 2))
    assert shares[4:].tolist() == [[0.0] * 3, [1.0] * 3]
    # Two rewards are always two values: they count only if they are 0 and 1.
    binary, _ = two_valued(statistics_of([[[0.0], [1.0]], [[0.2], [1.7]]]))
    assert binary.tolist() == [True, False]


@pytest.mark.each("kind", ["gaussian", "bernoulli"])
def test_scale_and_shift_of_the_rewards_change_nothing(kind: str) -> None:
    seen = drawn(kind, 12)
    assert (two_valued(seen)[0] == (kind == "bernoulli")).all()
    expected = logits(NETWORKS, seen, 40)
    for scale, shift in ((1e-6, 0.0), (1e6, 0.0), (3.0, 100.0), (0.25, -7.0)):
        moved = Statistics(seen.pulls, scale * seen.means + shift, scale**2 * seen.variances)
        for one, other in zip(logits(NETWORKS, moved, 40), expected, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-6)


def test_estimates_by_hand() -> None:
    # 2 of 2 and 3 of 6 successes: the centre is (1.5 + 1) / 4 = 5 / 8, so with two pulls more the shares are 3.25 / 4 =
    # 0.8125 and 4.25 / 8 = 0.53125. Variances 0.15234 and 0.24902 of 2 and 6 pulls are 0.22485 on average.
    means, variances, _ = binary_moments(np.array([2.0, 6.0]), np.array([1.0, 0.5]), np)
    assert means[0] - means[1] == pytest.approx(0.28125 / np.sqrt(0.22485), abs=1e-5)
    assert variances == pytest.approx([(2 * 0.15234 / 0.22485 + 1) / 3, (6 * 0.24902 / 0.22485 + 1) / 7], abs=1e-4)
    # Single pulls have no variance of their own: that of both arms counts for two pulls.
    means, variances, freedom = moments(np.ones(2), np.array([0.0, 2.0]), np.zeros(2), np)
    assert freedom.tolist() == [2.0, 2.0] and variances.tolist() == [1.0, 1.0]
    assert means == pytest.approx([-np.sqrt(2.0), np.sqrt(2.0)], rel=1e-5)  # half of the variance of the means is 0.5


def test_every_arm_has_a_part_of_each_stage() -> None:
    # 0.25 % of a stage of 4984 pulls is 12.5, however bad the arm is; the warm-up is 0.7 times the root of 50,000.
    agent, bandit = Universal(tie="first"), GaussianBandit([[0.0, -1000.0]])
    agent.reset(ProblemInfo(2, 100_000), np.random.default_rng(0))
    pulls = play_blocks(agent, bandit, 100_000, np.random.default_rng(1)).pulls
    assert pulls.min() >= 156 + 20 * 12


def play(num_arms: int, budget: int, *, small: bool = False) -> FloatArray:
    means = np.linspace(1.0, 0.0, num_arms)
    agent = Universal(allow_small_budget=small)
    played = evaluate(agent, "BAI-Custom-v0", budget=budget, runs=3, seed=0, env_kwargs={"means": means.tolist()})
    return played.mean_pulls


@pytest.mark.each("num_arms", [2, 17, 300])
def test_any_number_of_arms_and_any_budget(num_arms: int) -> None:
    for budget in (num_arms, num_arms + 1, 3 * num_arms - 1, 20 * num_arms + 7):
        pulls = play(num_arms, budget)
        assert pulls.sum() == pytest.approx(budget) and pulls.min() >= 1.0
    if num_arms > 2:
        pulls = play(num_arms, num_arms - 1, small=True)
        assert pulls.sum() == pytest.approx(num_arms - 1) and pulls.max() <= 1.0


def test_rewards_without_noise_are_no_problem() -> None:
    for means in ([1.0, 1.0, 1.0], [1.0, 0.0, 3.0]):
        played = evaluate(
            "Universal", "BAI-Custom-v0", budget=40, runs=5, env_kwargs={"means": means, "variances": [0.0] * 3}
        )
        assert played.errors == 0


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
