"""Every agent has one law, whether its requests are answered at once or its pulls are made one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2_contingency, ks_2samp

from bai_gym import agents
from bai_gym.agents.registry import BUILT_IN
from bai_gym.bandits import (
    Bandit,
    BernoulliBandit,
    EmpiricalBandit,
    FeatureBandit,
    GaussianBandit,
    SampleTable,
)
from bai_gym.benchmark.rollout import Rollout, play_blocks, play_single_steps, play_steps
from bai_gym.common.seeding import generator
from bai_gym.envs.scalar import BestArmEnv
from bai_gym.envs.vector import BestArmVectorEnv
from bai_gym.problems import FixedProblem, ProblemInfo
from bai_gym.sampling import Stepper
from bai_gym.statistics import IntArray, Statistics
from bai_gym.tasks import BestArm, BestOfEach, GoodArm, Task, Thresholding, TopM
from bai_gym.wings import ANY

pytestmark = pytest.mark.filterwarnings("ignore:AugUCB is not designed for")

RUNS = 3_000
BUDGET = 48  # both stages of sequential halving use it up, so that no pull of the steps is an idle one
LEVEL = 0.001  # per agent and bandit; corrected for the number of statistics that are compared

# delta = 0.5: with the default, stages as short as these would never leave the cyclic part. By default SR leaves pulls.
# With rho = 1/3 AugUCB would drop no arm in so few pulls, and with its defaults RAGE would not end its
# first round.
OPTIONS: dict[str, dict[str, Any]] = {
    "SHAdaVar": {"delta": 0.5},
    "SHAdaVar-Reuse": {"delta": 0.5},
    "SR": {"leftover": "last"},
    "AugUCB": {"rho": 0.05},
    "RAGE": {"delta": 0.5, "sigma": 0.2, "r0": 1},
}
# Agents of paired arms are compared pull by pull elsewhere.
GENERAL = [name for name, entry in BUILT_IN.items() if not (entry.restrictions or agents.make(name).uses_pairs)]
FEW_ARMS = [name for name, entry in BUILT_IN.items() if entry.largest_budget]  # compared on a bandit of their own
SOME_REWARDS = [name for name, entry in BUILT_IN.items() if entry.rewards != ANY and name not in FEW_ARMS]
OTHER: list[tuple[str, dict[str, Any]]] = [  # other parameters, of agents that are there
    ("AugUCB", {"rho": 0.05, "after": "apt"}),
    ("UCBEV-T", {"index": "bernstein"}),
    ("CSAR", {"schedule": "sr"}),
    ("Uniform", {"mode": "random"}),
    ("SHAdaVar-Reuse", {"ucb": False}),
    ("VBR", {"early": True, "reject": "ucb"}),
    ("UCB-E", {"a": 0.5, "b": 1.0}),
    ("TS", {"posterior": "normal"}),
    ("TTTS", {"posterior": "normal"}),
    ("UCB-GLM", {"link": "identity"}),
    ("BayesGap", {"kernel": "matern", "output": "mean"}),
    ("GP-TS", {"kernel": "linear"}),
    ("PI-BAI", {"weights": "TS"}),
]
VARIANTS: list[tuple[str, dict[str, Any]]] = [
    *((name, OPTIONS.get(name, {})) for name in GENERAL),
    *((name, parameters) for name, parameters in OTHER if name in BUILT_IN),
]
BINARY: list[tuple[str, dict[str, Any]]] = [
    *((name, {"posterior": "bernoulli"}) for name in ("TS", "TTTS")),
    *((name, {"link": "log"}) for name in ("UCB-GLM",) if name in BUILT_IN),
    *((name, {}) for name in SOME_REWARDS),
]
THREE_ARMS = BernoulliBandit([0.6, 0.5, 0.5])
BANDITS: dict[str, Bandit] = {
    "gaussian": GaussianBandit([1.0, 0.8, 0.8, 0.5], [1.0, 0.2, 2.0, 0.5]),
    "bernoulli": BernoulliBandit([0.6, 0.5, 0.5, 0.1]),
    "empirical": EmpiricalBandit(
        SampleTable.of(np.array([0.0, 1.0, 4.0, 1.0, 1.5, 0.5, 0.5, 2.5, 1.0, -1.0, 2.0]), np.array([0, 3, 5, 9, 11])),
        np.array([[0, 1, 2, 3]]),
    ),
}


# Of rewards of few values: an agent for each way in which they are drawn, in blocks, by compiled rules, until a stop.
FINITE = {"SH", "SHAdaVar", "VBR", "GapE", "TTTS", "UGapEc", "TrackAndStop"}

FEATURES = np.array([[1.0, 0.1], [0.7, 0.6], [0.6, -0.4], [-0.2, 0.9]])
FIND_ONE = [variant for variant in VARIANTS if BestArm.name in agents.make(variant[0]).tasks]


def both_ways(
    agent: Any, bandit: Bandit, steps_budget: int = BUDGET, task: Task | None = None
) -> tuple[Rollout, Rollout]:
    """Return 3,000 episodes by blocks (a quarter of slow agents), and as many others by steps of the batch form.

    Of the latter, pulls that the agent has not asked for are taken away again; the other statistics still have them.
    """
    runs = RUNS // 4 if agent.needs_features or agent.name == "RHO" else RUNS  # designs and plans take time
    if agent.needs_features:
        bandit = FeatureBandit(bandit, FEATURES[: bandit.num_arms])
    elif {"prior", "variances"} <= agent.knows:  # agents of the wing that has this bandit
        from bai_gym.bandits import GaussianPrior
        from bai_gym.correlated import PriorBandit

        covariance = 0.5 * np.exp(-np.abs(np.subtract.outer(np.arange(4), np.arange(4))))
        bandit, runs = PriorBandit(bandit, GaussianPrior(covariance, mean=0.7)), RUNS // 4
    spec: dict[str, Any] = {"num_envs": runs, "copy": False, "task": task or BestArm()}
    spec |= {"shuffle": False, "rotate": False}
    env = BestArmVectorEnv(FixedProblem(bandit), budget=BUDGET, **spec)
    env.reset(seed=3)
    agent.reset(env.problem_info(agent.knows), generator(0, "agent", "blocks"))
    blocks = play_blocks(agent, bandit.select(np.zeros(runs, np.int64)), BUDGET, generator(0, "rewards"), task)
    env = BestArmVectorEnv(FixedProblem(bandit), budget=steps_budget, **spec)
    observation, _ = env.reset(seed=4)
    agent.reset(env.problem_info(agent.knows), generator(0, "agent", "steps"))
    steps = play_steps(agent.act, env, observation)
    if agent.idle_pulls is None:
        return blocks, steps
    seen = steps.statistics
    return blocks, Rollout(steps.recommendation, Statistics(seen.pulls - agent.idle_pulls, seen.means, seen.variances))


def codes_of(recommendation: IntArray) -> IntArray:
    """One number for each recommendation."""
    rows = recommendation.reshape(len(recommendation), -1)
    return np.asarray(rows @ 8 ** np.arange(rows.shape[1]))


def smallest_p_value(agent: Any, a: Rollout, b: Rollout) -> float:
    """Return the smallest p-value of all comparisons, times their number."""
    num_arms = a.pulls.shape[-1]
    both = [codes_of(part.recommendation) for part in (a, b)]
    known = np.unique(np.concatenate(both))
    counts = np.stack([np.bincount(np.searchsorted(known, codes), minlength=known.size) for codes in both])
    rare = counts.sum(axis=0) < 20  # sets that hardly ever come up are counted together
    counts = np.column_stack([counts[:, ~rare], counts[:, rare].sum(axis=1)])
    counts = counts[:, counts.sum(axis=0) > 0]
    p_values = [float(chi2_contingency(counts).pvalue)] if counts.shape[1] > 1 else []
    # Of discrete statistics Kolmogorov-Smirnov keeps its level, and errs on the safe side.
    names = ("pulls", "means", "variances") if agent.uses_variances else ("pulls", "means")
    idle = (b.pulls.sum(axis=1) < BUDGET).any()  # pulls after the last request, which only steps make
    pairs = []
    for name in names:
        if name == "pulls" or not idle:
            one, other = (part.pulls if name == "pulls" else getattr(part.statistics, name) for part in (a, b))
            # Equal numbers may differ in the last bits, after additions in another order.
            pairs += [(np.round(one[:, arm], 9), np.round(other[:, arm], 9)) for arm in range(num_arms)]
    pairs.append((a.pulls.sum(axis=1), b.pulls.sum(axis=1)))
    p_values += [float(ks_2samp(*pair, method="asymp").pvalue) for pair in pairs]
    return min(p_values) * len(p_values)


@pytest.mark.slow
@pytest.mark.each(
    ("variant", "kind"),
    [
        *((variant, kind) for variant in FIND_ONE for kind in BANDITS if kind == "gaussian" or variant[0] in FINITE),
        *((variant, "bernoulli") for variant in BINARY),
    ],
    ids=lambda v: v if isinstance(v, str) else agents.make(v[0], **v[1]).label,
)
def test_blocks_and_steps_have_the_same_law(variant: tuple[str, dict[str, Any]], kind: str) -> None:
    agent = agents.make(variant[0], **variant[1])
    blocks, steps = both_ways(agent, BANDITS[kind])
    if BUILT_IN[agent.name].spends_budget and not agent.stops:
        assert (blocks.pulls.sum(axis=-1) == BUDGET).all() and (steps.pulls.sum(axis=-1) == BUDGET).all()
    assert (blocks.recommendation != steps.recommendation).any()  # two ways, not one under two names
    assert smallest_p_value(agent, blocks, steps) > LEVEL


@pytest.mark.each("name", FEW_ARMS)
def test_so_they_have_where_arms_are_few(name: str) -> None:
    agent = agents.make(name)
    blocks, steps = both_ways(agent, THREE_ARMS)
    assert (blocks.pulls.sum(axis=-1) == BUDGET).all() and (steps.pulls.sum(axis=-1) == BUDGET).all()
    assert (blocks.recommendation != steps.recommendation).any()
    assert smallest_p_value(agent, blocks, steps) > LEVEL


def test_a_difference_in_the_rewards_would_be_seen() -> None:
    agent = agents.make("GapE")
    blocks, _ = both_ways(agent, BANDITS["gaussian"])
    _, steps = both_ways(agent, GaussianBandit([1.0, 0.8, 0.8, 0.55], [1.0, 0.2, 2.0, 0.5]))
    assert smallest_p_value(agent, blocks, steps) < LEVEL


# ------------------------------------------------------------------------------------------------ several arms

SETS: list[Task] = [TopM(2), BestOfEach(2, 0.25), Thresholding(0.7), GoodArm(0.6)]
SEVERAL = [
    (variant, task)
    for variant in [*VARIANTS, ("UGapEb", {"output": "last"}), ("A-UGapEb-V", {"refresh": 3}), ("LUCB", {"b": 0.3})]
    for task in SETS
    if task.name in agents.make(variant[0]).tasks
]


@pytest.mark.slow
@pytest.mark.each(
    ("variant", "task"), SEVERAL, ids=lambda v: repr(v) if isinstance(v, Task) else agents.make(v[0], **v[1]).label
)
def test_so_they_have_where_several_arms_are_asked_for(variant: tuple[str, dict[str, Any]], task: Task) -> None:
    agent = agents.make(variant[0], **variant[1])
    blocks, steps = both_ways(agent, BANDITS["gaussian"], task=task)
    assert blocks.recommendation.shape[1:] == {BestOfEach: (2,), GoodArm: (1,)}.get(type(task), (4,))
    assert (blocks.recommendation != steps.recommendation).any()
    assert smallest_p_value(agent, blocks, steps) > LEVEL


# ------------------------------------------------------------------------------------------------ fixed confidence

CAP = 40  # which some of the episodes reach
STOPS: list[tuple[str, dict[str, Any], Task, int]] = [
    ("UGapEc", {"b": 0.3}, BestArm(0.3), 120),
    ("UGapEc-V", {"b": 0.01, "c": 0.5}, BestArm(0.3), 120),
    ("LUCB", {"b": 0.3}, TopM(2, 0.3), 120),
    ("KL-Racing", {"sigma": 0.25, "threshold": "gk16"}, BestArm(), 120),
]
CLOSE = GaussianBandit([1.0, 0.7, 0.6, 0.2], 0.15)


def stopped_blocks(agent: Any, task: Task, bandit: Bandit, seed: int = 0) -> Rollout:
    info = ProblemInfo(bandit.num_arms, CAP, bandit.batch, task=task, fixed_confidence=True)
    agent.reset(info, generator(seed, "agent"))
    return play_blocks(agent, bandit, CAP, generator(seed, "rewards"), task)


@pytest.mark.slow
@pytest.mark.each(("name", "parameters", "task", "runs"), STOPS, ids=lambda v: str(v) if v else "")
def test_stopping_has_the_same_law_by_single_steps(
    name: str, parameters: dict[str, Any], task: Task, runs: int
) -> None:
    agent = agents.make(name, **parameters)
    blocks = stopped_blocks(agent, task, CLOSE.select(np.zeros(RUNS, np.int64)))
    spent = blocks.pulls.sum(axis=1)
    assert (spent == CAP).any() and (spent < CAP).mean() > 0.2 and len(set(spent.tolist())) > 10
    env = BestArmEnv(FixedProblem(CLOSE), budget=CAP, task=task, fixed_confidence=True, shuffle=False)
    own, rewards = generator(1, "agent"), generator(1, "rewards")
    parts = []
    for _ in range(runs):
        observation, _ = env.reset(seed=int(rewards.integers(2**63)))
        agent.reset(env.problem_info(), own)
        parts.append(play_single_steps(Stepper(agent, env.action_encoding).act, env, observation))
    assert smallest_p_value(agent, blocks, Rollout.joined(parts)) > LEVEL
