"""Every agent has one law, whether its requests are answered at once or its pulls are made one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2_contingency, ks_2samp

from bai_gym import agents
from bai_gym.bandits import Bandit, BernoulliBandit, EmpiricalBandit, GaussianBandit, SampleTable
from bai_gym.benchmark.rollout import Rollout, play_blocks, play_steps
from bai_gym.envs.vector import BestArmVectorEnv
from bai_gym.problems import FixedProblem
from bai_gym.seeding import generator

RUNS = 20_000
BUDGET = 48  # both stages of sequential halving use it up, so that no pull of the steps is an idle one
LEVEL = 0.001  # per agent and bandit; corrected for the number of statistics that are compared

# delta = 0.5: with the default, stages as short as these would never leave the cyclic part. By default SR leaves pulls.
OPTIONS: dict[str, dict[str, Any]] = {"SHAdaVar": {"delta": 0.5}, "SR": {"leftover": "last"}}
VARIANTS: list[tuple[str, dict[str, Any]]] = [
    *((name, OPTIONS.get(name, {})) for name in agents.names()),
    ("SHAdaVar", {"ucb": False, "samples": "all"}),
    ("SHVar", {"samples": "all"}),
    ("VBR", {"early": True, "reject": "ucb"}),
    ("UCB-E", {"a": 0.5, "b": 1.0}),
    ("TS", {"posterior": "normal"}),
    ("TTTS", {"posterior": "normal"}),
]
BINARY: list[tuple[str, dict[str, Any]]] = [(name, {"posterior": "bernoulli"}) for name in ("TS", "TTTS")]
BANDITS: dict[str, Bandit] = {
    "gaussian": GaussianBandit([1.0, 0.8, 0.8, 0.5], [1.0, 0.2, 2.0, 0.5]),
    "bernoulli": BernoulliBandit([0.6, 0.5, 0.5, 0.1]),
    "empirical": EmpiricalBandit(
        SampleTable.of(np.array([0.0, 1.0, 4.0, 1.0, 1.5, 0.5, 0.5, 2.5, 1.0, -1.0, 2.0]), np.array([0, 3, 5, 9, 11])),
        np.array([[0, 1, 2, 3]]),
    ),
}


def both_ways(agent: Any, bandit: Bandit, steps_budget: int = BUDGET) -> tuple[Rollout, Rollout]:
    """Return 20,000 episodes by blocks, and as many others by steps of the batch environment."""
    env = BestArmVectorEnv(FixedProblem(bandit), num_envs=RUNS, budget=BUDGET, copy=False)
    env.reset(seed=3)
    agent.reset(env.briefing(agent.knows), generator(0, "agent", "blocks"))
    blocks = play_blocks(agent, bandit.select(np.zeros(RUNS, np.int64)), BUDGET, generator(0, "rewards"))
    env = BestArmVectorEnv(FixedProblem(bandit), num_envs=RUNS, budget=steps_budget, copy=False)
    observation, _ = env.reset(seed=4)
    agent.reset(env.briefing(agent.knows), generator(0, "agent", "steps"))
    return blocks, play_steps(agent.act, env, observation)


def smallest_p_value(agent: Any, a: Rollout, b: Rollout) -> float:
    """Return the smallest p-value of all comparisons, times their number."""
    num_arms = a.pulls.shape[-1]
    counts = np.stack([np.bincount(part.recommendation, minlength=num_arms) for part in (a, b)])
    counts = counts[:, counts.sum(axis=0) > 0]
    p_values = [float(chi2_contingency(counts).pvalue)] if counts.shape[1] > 1 else []
    # Of discrete statistics Kolmogorov-Smirnov keeps its level, and errs on the safe side.
    names = ("pulls", "means", "variances") if agent.uses_variances else ("pulls", "means")
    for name in names:
        one, other = getattr(a.statistics, name), getattr(b.statistics, name)
        # Equal numbers may differ in the last bits, after additions in another order.
        pairs = [(np.round(one[:, arm], 9), np.round(other[:, arm], 9)) for arm in range(num_arms)]
        p_values += [float(ks_2samp(*pair, method="asymp").pvalue) for pair in pairs]
    return min(p_values) * len(p_values)


@pytest.mark.parametrize(
    ("variant", "kind"),
    [*((variant, kind) for variant in VARIANTS for kind in BANDITS), *((variant, "bernoulli") for variant in BINARY)],
    ids=lambda v: v if isinstance(v, str) else agents.make(v[0], **v[1]).label,
)
def test_blocks_and_steps_have_the_same_law(variant: tuple[str, dict[str, Any]], kind: str) -> None:
    agent = agents.make(variant[0], **variant[1])
    blocks, steps = both_ways(agent, BANDITS[kind])
    assert (blocks.pulls.sum(axis=-1) == BUDGET).all() and (steps.pulls.sum(axis=-1) == BUDGET).all()
    assert (blocks.recommendation != steps.recommendation).any()  # two ways, not one under two names
    assert smallest_p_value(agent, blocks, steps) > LEVEL


def test_a_difference_would_be_seen() -> None:
    agent = agents.make("SH")
    assert smallest_p_value(agent, *both_ways(agent, BANDITS["gaussian"], steps_budget=40)) < LEVEL


def test_a_difference_in_the_rewards_would_be_seen() -> None:
    agent = agents.make("GapE")
    blocks, _ = both_ways(agent, BANDITS["gaussian"])
    _, steps = both_ways(agent, GaussianBandit([1.0, 0.8, 0.8, 0.55], [1.0, 0.2, 2.0, 0.5]))
    assert smallest_p_value(agent, blocks, steps) < LEVEL
