"""Answers scored within a run: by hand, equal in law on all paths, and the same however the work is divided."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency, chisquare, ks_2samp

from bai_gym import agents, compare, evaluate
from bai_gym.adapters.checkpoints import checkpoint_grid
from bai_gym.agents import Agent
from bai_gym.agents.registry import BUILT_IN
from bai_gym.api import make_cells
from bai_gym.bandits import GaussianBandit
from bai_gym.benchmark.rollout import RolloutCheckpoint, play_blocks, play_steps
from bai_gym.common.seeding import generator
from bai_gym.envs.vector import BestArmVectorEnv
from bai_gym.errors import AgentError, ParameterError, UnknownNameError
from bai_gym.problems import FixedProblem
from bai_gym.results.comparison import Comparison
from bai_gym.sampling import Block
from bai_gym.tasks import BestArm, GoodArm, Task, Thresholding

pytestmark = pytest.mark.filterwarnings("ignore:AugUCB is not designed for")
LEVEL = 0.001
RUNS = 2_500
BUDGET = 48
FEATURES = [[1.0, 0.1], [0.7, 0.6], [0.6, -0.4], [-0.2, 0.9]]
POINTS = (2, 5, 13, 24, 41)  # within the first pulls, at no multiple of the arms, within blocks and at their ends
VARIANTS: list[tuple[str, dict[str, Any]]] = [
    ("Uniform", {}),
    ("Uniform", {"mode": "random"}),
    ("AugUCB", {"rho": 0.05}),
    ("AugUCB", {"rho": 0.05, "after": "apt"}),
    ("APT", {}),
    ("CSAR", {}),
    ("CSAR", {"schedule": "sr"}),
    ("UCBEV-T", {"index": "bernstein"}),
    ("UCB-E", {}),
    ("A-UCB-E", {}),
    ("OCBA", {}),
    ("TTTS", {}),
]


def test_agents_are_told_the_checkpoints() -> None:
    (cell,) = make_cells(["Uniform"], "BAI-Bernoulli3-v0", [40], 0, checkpoints=15)
    assert cell.info_for(cell.prototype, cell.instances()).checkpoints == (15, 30)


# ------------------------------------------------------------------------------------------------ the grid


@pytest.mark.each(
    ("checkpoints", "points"),
    [
        (None, ()),
        (100, (100, 200, 300)),
        (np.int64(399), (399,)),
        (400, ()),
        ([300, 5, 5, 400], (5, 300)),
        (np.array([7, 399]), (7, 399)),
    ],
)
def test_grids(checkpoints: Any, points: tuple[int, ...]) -> None:
    grid = checkpoint_grid(checkpoints, 400)
    assert grid == points and all(type(point) is int for point in grid)


def test_what_is_no_grid_and_agents_without_an_answer_are_refused() -> None:
    for checkpoints in (0, 401, 1.5, "100", True, [100, 401], [0], []):
        with pytest.raises(ParameterError, match="^checkpoints must "):
            evaluate("Uniform", "BAI-Custom-v0", budget=400, runs=2, checkpoints=checkpoints)
    for name in ("SH", "SR", "UGapEb", "SE"):
        with pytest.raises(AgentError, match=f"^{name}"):
            evaluate(name, "BAI-Gaussian8-v0", runs=2, checkpoints=100)
    with pytest.raises(ParameterError, match="fixed budget"):
        evaluate("Uniform", "BAI-FC-Custom-v0", runs=2, checkpoints=100)
    for checkpoints in (5, [5, 9]):
        with pytest.raises(ParameterError, match="the budget is money"):
            evaluate("SH", "BAI-Gaussian8-v0", budget=9.0, checkpoints=checkpoints, env_kwargs={"costs": [2] * 8})


# ------------------------------------------------------------------------------------------------ parts of blocks


@given(
    st.lists(st.lists(st.integers(0, 6), min_size=3, max_size=3), min_size=1, max_size=4),
    st.sampled_from([None, [1.0, 1.0, 1.0], [0.2, 3.0, 1.0], [0.0, 0.0, 1.0]]),
    st.data(),
)
def test_the_first_pulls_of_a_block_are_those_of_a_loop(counts: Any, weights: Any, data: Any) -> None:
    total = min(sum(row) for row in counts)
    rows = np.array(counts)
    shares = None if weights is None else np.tile(weights, (len(rows), 1))
    block = Block(rows, weights=shares)
    pulls = data.draw(st.integers(0, total))
    left = rows.copy()
    for _ in range(pulls):
        left[np.arange(len(rows)), block.next_slots(left)] -= 1
    np.testing.assert_array_equal(block.parts([pulls])[0], rows - left)
    if weights == [1.0, 1.0, 1.0]:  # equal weights are round-robin
        np.testing.assert_array_equal(Block(rows).parts([pulls])[0], rows - left)


def test_shuffled_blocks_have_all_orders_equally_often() -> None:
    # Two pulls of the first arm and two of the third: six orders.
    block = Block(np.tile([2, 0, 2], (6000, 1)), shuffle=np.random.default_rng(0))
    orders = np.stack([part.argmax(axis=-1) for part in block.parts([1, 2, 3])], axis=-1)
    np.testing.assert_array_equal((orders == 0).sum(axis=-1), 2)
    found = np.unique(orders, axis=0, return_counts=True)[1]
    assert len(found) == 6 and chisquare(found).pvalue > 1e-4


# ------------------------------------------------------------------------------------------------ the law


def checkpoints_of(
    agent: Any, bandit: Any, task: Task
) -> tuple[tuple[RolloutCheckpoint, ...], tuple[RolloutCheckpoint, ...]]:
    """What is seen at the checkpoints of 2,500 episodes by blocks, and of as many by steps."""
    spec: dict[str, Any] = {"num_envs": RUNS, "budget": BUDGET, "copy": False, "task": task, "shuffle": False}
    env = BestArmVectorEnv(FixedProblem(bandit), **spec)
    many = bandit.select(np.zeros(RUNS, np.int64))
    agent.reset(env.episode_spec.problem_info(many, agent.knows, POINTS), generator(0, "agent", "blocks"))
    blocks = play_blocks(agent, many, BUDGET, generator(0, "rewards"), task, POINTS)
    observation, _ = env.reset(seed=4)
    agent.reset(env.episode_spec.problem_info(many, agent.knows, POINTS), generator(0, "agent", "steps"))
    steps = play_steps(agent.act, env, observation, POINTS, agent.recommend, lambda: agent.idle_pulls)
    return blocks.checkpoints, steps.checkpoints


@pytest.mark.slow
@pytest.mark.each("variant", VARIANTS, ids=lambda v: agents.make(v[0], **v[1]).label)
def test_blocks_and_steps_see_the_same(variant: tuple[str, dict[str, Any]]) -> None:
    agent = agents.make(variant[0], **variant[1])
    bandit = GaussianBandit([1.0, 0.8, 0.8, 0.5], [1.0, 0.2, 2.0, 0.5])
    task: Task = next(t for t in (Thresholding(0.55), BestArm(), GoodArm(0.55)) if t.name in agent.tasks)
    p_values = []
    for one, other in zip(*checkpoints_of(agent, bandit, task), strict=True):
        assert one.pulls_made == other.pulls_made
        answers = [
            point.recommendation.reshape(RUNS, -1) @ (1 << np.arange(point.recommendation[0].size))
            for point in (one, other)
        ]
        table = np.stack([np.bincount(codes, minlength=16) for codes in answers])
        table = table[:, table.sum(axis=0) > 20]
        if table.shape[1] > 1:
            p_values.append(float(chi2_contingency(table).pvalue))
        for arm in range(bandit.num_arms):
            p_values.append(float(ks_2samp(one.pulls[:, arm], other.pulls[:, arm], method="asymp").pvalue))
        if BUILT_IN[agent.name].spends_budget and not agent.stops:
            assert (one.pulls.sum(axis=1) == one.pulls_made).all()
        assert (other.pulls.sum(axis=1) <= one.pulls_made).all()
    assert min(p_values) * len(p_values) > LEVEL / len(VARIANTS)


# ------------------------------------------------------------------------------------------------ results

THRESHOLDING = ["AugUCB", "APT", "UCBEV-T(index=bernstein)", "CSAR"]
KEYWORDS = {"budget": 90}


def test_there_is_a_row_for_each_checkpoint() -> None:
    played = compare(THRESHOLDING, "BAI-CustomThresholding-v0", env_kwargs=KEYWORDS, runs=300, checkpoints=40)
    assert [(row.agent, row.checkpoint) for row in played] == [
        (name, point) for name in THRESHOLDING for point in (40, 80, 90)
    ]
    assert all(row.budget == 90 and row.runs == 300 for row in played)
    assert [row.agent for row in played.final] == THRESHOLDING
    for row in played:
        assert row.checkpoint is not None
        assert row.mean_pulls.sum() == pytest.approx(row.sample_complexity)
        assert row.unspent == pytest.approx(row.checkpoint - row.sample_complexity)
        assert row.agent == "CSAR" or row.unspent == 0
    assert played.find("APT").checkpoint == played.find("APT", checkpoint=90).checkpoint == 90
    early, late = (played.find("APT", checkpoint=point) for point in (40, 90))
    assert early.error_probability > late.error_probability
    at_40 = played.paired("APT", "CSAR", checkpoint=40)
    assert at_40.difference == pytest.approx(
        early.error_probability - played.find("CSAR", checkpoint=40).error_probability
    )
    with pytest.raises(UnknownNameError, match="40, 80, 90"):
        played.find("APT", checkpoint=50)
    assert len(played.against("AugUCB")) == len(THRESHOLDING) - 1


def test_the_last_row_is_that_of_the_run_without_checkpoints() -> None:
    keywords = {"means": [0.3, 0.6, 0.55], "variances": 0.0, "threshold": 0.5, "budget": 60}
    agent = agents.make("APT", tie="first")
    plain = evaluate(agent, "BAI-CustomThresholding-v0", runs=50, env_kwargs=keywords)
    within = evaluate(agent, "BAI-CustomThresholding-v0", runs=50, env_kwargs=keywords, checkpoints=[20])
    assert isinstance(within, Comparison) and plain.checkpoint is None
    assert within[-1].errors == plain.errors
    np.testing.assert_array_equal(within[-1].mean_pulls, plain.mean_pulls)


# ------------------------------------------------------------------------------------------------ a user's own agent


class Halves(Agent):
    """Two blocks over all arms, and the best mean."""

    name = "Halves"
    anytime = True

    def allocate(self, observation: Any) -> Any:
        return np.full((self.batch, self.num_arms), 5)

    def recommend(self, observation: Any) -> Any:
        assert set(observation) == {"pulls", "means", "variances", "remaining"}
        return np.where(observation["pulls"] > 0, observation["means"], -np.inf).argmax(axis=-1)


@pytest.mark.each("path", ["blocks", "steps"])
def test_blocks_are_divided_in_their_own_order(path: str) -> None:
    # Rewards are the means. Round-robin: after 2 pulls arms 0 and 1 have been seen; after 23 all, six of arms 0 to 2.
    keywords = {"means": [0.1, 0.3, 0.9, 0.2], "variances": 0.0, "shuffle": False}
    options: dict[str, Any] = {"env_kwargs": keywords, "runs": 3, "checkpoints": [2, 23], "path": path}
    rows = evaluate(Halves, "BAI-Custom-v0", budget=40, **options)
    assert [row.errors for row in rows] == [3, 0, 0]
    assert [row.mean_pulls.tolist() for row in rows] == [[1, 1, 0, 0], [6, 6, 6, 5], [10, 10, 10, 10]]
    assert [row.simple_regret for row in rows] == pytest.approx([0.6, 0.0, 0.0])
