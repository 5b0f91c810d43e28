"""Every fast form plays as the plain rule: the same pulls where nothing is random, else with the same distribution."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import ks_2samp

from bai_gym import agents
from bai_gym.agents import SequentialAgent
from bai_gym.bandits import Bandit, BernoulliBandit, FeatureBandit, GaussianBandit
from bai_gym.benchmark.rollout import play_blocks
from bai_gym.problems import ProblemInfo
from bai_gym.statistics import FloatArray, IntArray
from bai_gym.tasks import BestArm, GoodArm, Task, Thresholding

RANDOM = {"TS", "TTTS", "T3C", "TTTS-GLR"}  # their choices are random, not their ties alone
# Their rules wait for NumPy at other times than the plain ones, which changes the order of rewards between episodes.
ALONE = {"LinUCB", "LinGapE", "LinGapE-Greedy"}
ARMS, BUDGET = 9, 400
POSTERIORS: list[dict[str, Any]] = [{"posterior": name} for name in ("student", "bernoulli", "normal")]
OPTIONS: dict[str, list[dict[str, Any]]] = {  # of the two forms; without an entry the defaults
    "TS": POSTERIORS,
    "TTTS": [*POSTERIORS, {"tries": 2}],
    "LinUCB": [{}, {"alpha": 0.5}],
    "LinGapE": [{}, {"radius": "determinant"}],
    "LinGapE-Greedy": [{}, {"radius": "determinant"}],
    "UGapEb": [{}, {"scale": 0.0}, {"scale": 4.0}, {"scale": 100.0, "output": "last"}],
    "UGapEb-V": [{}, {"scale": 0.0}, {"b": 0.5}, {"scale": 10.0, "output": "last"}],
    "A-UGapEb": [{}, {"scale": 0.0}, {"scale": 4.0}, {"refresh": 7}],
    "A-UGapEb-V": [{}, {"scale": 0.0}, {"scale": 4.0, "b": 0.5}, {"refresh": 2}],
}


def has_fast_form(name: str) -> bool:
    agent = agents.make(name)
    if not isinstance(agent, SequentialAgent):
        return False
    agent.task = BestArm()  # a fast form may be for one bandit alone
    return agent.fast is not None


FAST = [name for name in agents.names() if has_fast_form(name)]


def task_of(agent: Any) -> Task:
    if "best-arm" in agent.tasks:
        return BestArm()
    return Thresholding(0.5) if "thresholding" in agent.tasks else GoodArm(0.5)


def bandits(agent: Any, episodes: int) -> list[Bandit]:
    """Gaussian arms, and rewards of which sample means are often exactly tied: 0 and 1, or constant for each arm."""
    rng = np.random.default_rng(5)
    means = rng.uniform(0.2, 0.8, (episodes, ARMS))
    found: list[Bandit] = []
    if getattr(agent, "family", "") != "bernoulli" and getattr(agent, "posterior", "") != "bernoulli":
        found += [GaussianBandit(means, rng.uniform(0.05, 0.5, means.shape)), GaussianBandit(means.round(1), 0.0)]
    if not (agent.uses_variances and found):  # sample variances of the same 0s and 1s in another order are rounded
        found.append(BernoulliBandit(means))
    if agent.needs_features:
        return [FeatureBandit(bandit, rng.standard_normal((ARMS, 3))) for bandit in found]
    return found


def pulls(name: str, bandit: Bandit, seed: int = 0, **options: Any) -> tuple[IntArray, FloatArray, IntArray]:
    """Return pulls, sample means and recommendations at the end."""
    agent = agents.make(name, **options)
    task = task_of(agent)
    info = ProblemInfo(
        ARMS, BUDGET, bandit.batch, task=task, truth=bandit, knows=agent.knows,
        fixed_confidence=agent.stops,
    )  # fmt: skip
    agent.reset(info, np.random.default_rng([seed, 1]))
    result = play_blocks(agent, bandit, BUDGET, np.random.default_rng([seed, 2]), task)
    return result.statistics.pulls, result.statistics.means, result.recommendation


@pytest.mark.each("name", [name for name in FAST if name not in RANDOM])
def test_fast_forms_pull_as_plain_rules(name: str) -> None:
    for options in OPTIONS.get(name, [{}]):
        played = bandits(agents.make(name, **options), 25)
        if name in ALONE:
            played = [bandit.select(np.array([row])) for bandit in played for row in range(bandit.batch)]
        for bandit in played:
            # Rewards are drawn in the order of the pulls: one other pull, and all later rewards differ.
            found = [pulls(name, bandit, tie="first", plain=plain, **options) for plain in (False, True)]
            for one, other in zip(*found, strict=True):
                np.testing.assert_array_equal(one, other, err_msg=f"{name} {options} {bandit}")


@pytest.mark.each("name", sorted(RANDOM & set(FAST)))
def test_fast_forms_have_the_distribution_of_plain_rules(name: str) -> None:
    for options in OPTIONS.get(name, [{}]):
        for bandit in bandits(agents.make(name, **options), 1):
            many = bandit.select(np.zeros(1500, np.int64))
            one, other = (pulls(name, many, seed, plain=seed == 0, **options) for seed in (0, 1))
            p_values = [
                ks_2samp(a[:, arm], b[:, arm], method="asymp").pvalue
                for a, b in ((one[0], other[0]), (one[1], other[1]))
                for arm in range(ARMS)
            ]
            assert min(p_values) * len(p_values) > 1e-3, (name, options, bandit)


@pytest.mark.each("name", [name for name in FAST if name not in RANDOM | ALONE])
def test_fast_forms_break_random_ties_as_plain_rules(name: str) -> None:
    # Equal arms, so that all depends on how ties of means, indices and widths are broken.
    means = np.array([0.5, 0.5, 0.5, 0.4, 0.4, 0.4, 0.2, 0.2, 0.2])
    many = GaussianBandit(np.tile(means, (1500, 1)), 0.0)
    one, other = (pulls(name, many, seed, plain=seed == 0) for seed in (0, 1))
    p_values = [ks_2samp(one[0][:, arm], other[0][:, arm], method="asymp").pvalue for arm in range(ARMS)]
    assert min(p_values) * len(p_values) > 1e-3
