"""Every fast form plays as the plain rule: the same pulls where nothing is random, else with the same distribution."""

from __future__ import annotations

from pathlib import Path
from runpy import run_path
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
from bai_gym.tasks import BestArm

CASES = run_path(str(Path(__file__).with_name("cases.py")))
RANDOM = {"TS", "TTTS", "T3C", "TTTS-GLR"}  # their choices are random, not their ties alone
ARMS = 9
OPTIONS: dict[str, list[dict[str, Any]]] = {  # of the two forms, beside the defaults
    "TS": [{"posterior": "normal"}],
    "TTTS": [{"posterior": "bernoulli"}, {"tries": 2}],
    "UGapEb": [{"scale": 0.0}, {"scale": 4.0}, {"scale": 100.0, "output": "last"}],
    "UGapEb-V": [{"scale": 0.0}, {"b": 0.5}, {"scale": 10.0, "output": "last"}],
    "A-UGapEb": [{"scale": 0.0}, {"scale": 4.0}, {"refresh": 7}],
    "A-UGapEb-V": [{"scale": 0.0}, {"scale": 4.0, "b": 0.5}, {"refresh": 2}],
}


def has_fast_form(name: str) -> bool:
    agent = agents.make(name)
    if not isinstance(agent, SequentialAgent):
        return False
    agent.task = BestArm()  # a fast form may be for one bandit alone
    return agent.fast is not None


FAST = [name for name in agents.names() if has_fast_form(name)]
# Rules on features wait for NumPy at other times than the plain ones, which changes the order of rewards between
# episodes; so each plays alone.
ALONE = {name for name in FAST if agents.make(name).needs_features}


def options_of(name: str) -> list[dict[str, Any]]:
    return [{}, *OPTIONS.get(name, []), *(given for known, given in CASES["VARIANTS"] if known == name in ALONE)]


def bandits(agent: Any, episodes: int) -> list[Bandit]:
    """Gaussian arms, and rewards of which sample means are often exactly tied: 0 and 1, or constant for each arm."""
    rng = np.random.default_rng(5)
    means = rng.uniform(0.2, 0.8, (episodes, ARMS))
    found: list[Bandit] = []
    if "bernoulli" not in (getattr(agent, "family", ""), getattr(agent, "posterior", "")):
        found += [GaussianBandit(means, rng.uniform(0.05, 0.5, means.shape)), GaussianBandit(means.round(1), 0.0)]
    if not (agent.uses_variances and found):  # sample variances of the same 0s and 1s in another order are rounded
        found.append(BernoulliBandit(means))
    if agent.needs_features:
        return [FeatureBandit(bandit, rng.standard_normal((ARMS, 3))) for bandit in found]
    return found


def played(name: str, bandit: Bandit, budget: int, seed: int = 0, **options: Any) -> tuple[IntArray, FloatArray]:
    """Return pulls and sample means at the end."""
    agent = agents.make(name, **options)
    given = {"task": CASES["usual_task"](agent), "truth": bandit, "knows": agent.knows, "fixed_confidence": agent.stops}
    agent.reset(ProblemInfo(ARMS, budget, bandit.batch, **given), np.random.default_rng([seed, 1]))
    statistics = play_blocks(agent, bandit, budget, np.random.default_rng([seed, 2]), given["task"]).statistics
    return statistics.pulls, statistics.means


@pytest.mark.each("name", [name for name in FAST if name not in RANDOM])
def test_fast_forms_pull_as_plain_rules(name: str) -> None:
    budget = 100 if name in ALONE else 400
    for options in options_of(name):
        tried = bandits(agents.make(name, **options), 2 if name in ALONE else 25)
        if name in ALONE:
            tried = [bandit.select(np.array([row])) for bandit in tried for row in range(bandit.batch)]
        for bandit in tried:
            # Rewards are drawn in the order of the pulls: one other pull, and all later rewards differ.
            found = [played(name, bandit, budget, tie="first", plain=plain, **options) for plain in (False, True)]
            for one, other in zip(*found, strict=True):
                np.testing.assert_array_equal(one, other, err_msg=f"{name} {options} {bandit}")


def same_distribution(one: Any, other: Any) -> bool:
    """Whether no column differs, with a false alarm in a thousand."""
    p_values = [ks_2samp(a, b, method="asymp").pvalue for a, b in zip(one.T, other.T, strict=True)]
    return min(p_values) * len(p_values) > 1e-3


@pytest.mark.each("name", sorted(RANDOM & set(FAST)))
def test_fast_forms_have_the_distribution_of_plain_rules(name: str) -> None:
    for options in options_of(name):
        bandit = bandits(agents.make(name, **options), 1)[-1]
        many = bandit.select(np.zeros(1000, np.int64))
        one, other = (np.hstack(played(name, many, 150, seed, plain=seed == 0, **options)) for seed in (0, 1))
        assert same_distribution(one, other), (name, options)


@pytest.mark.each("name", [name for name in FAST if name not in RANDOM | ALONE])
def test_fast_forms_break_random_ties_as_plain_rules(name: str) -> None:
    # Equal arms, so that all depends on how ties of means, indices and widths are broken.
    means = np.repeat([0.5, 0.4, 0.2], 3)
    many = GaussianBandit(np.tile(means, (1500, 1)), 0.0)
    one, other = (played(name, many, 400, seed, plain=seed == 0)[0] for seed in (0, 1))
    assert same_distribution(one, other)
