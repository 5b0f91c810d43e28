"""Cells and chunks: names, fingerprints, and which random numbers depend on what."""

from __future__ import annotations

import importlib.util
import os
import pickle
import sys
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from bai_gym.api import make_cells
from bai_gym.bandits import FeatureBandit, GaussianBandit
from bai_gym.benchmark.cells import Cell
from bai_gym.benchmark.chunk import part_starts, play_chunk
from bai_gym.benchmark.facts import facts
from bai_gym.benchmark.sources import EnvSource
from bai_gym.envs.scalar import BestArmEnv
from bai_gym.errors import ParameterError, UnknownNameError
from bai_gym.problems import FixedProblem, HeterogeneousGaussianProblem

ENV = "BAI-Gaussian32-v0"


def cell(
    agent: Any = "SH", env: Any = ENV, budget: int = 400, seed: int = 3, how: str = "auto", **keywords: Any
) -> Cell:
    return make_cells([agent], env, [budget], seed, keywords, how)[0]


class Threshold:
    """A plain agent with a parameter."""

    def __init__(self, level: float = 0.5) -> None:
        self.level = level

    def act(self, observation: Any) -> int:
        return int((observation["means"] > self.level).argmax())


# ------------------------------------------------------------------------------------------------ names


@pytest.mark.each(
    ("keywords", "label"),
    [
        ({}, ENV),
        ({"num_arms": 8, "noisy_best": False}, f"{ENV}(num_arms=8, noisy_best=false)"),
        ({"path": "/far/away/log.csv", "separator": ";"}, f"{ENV}(path=log.csv, separator=;)"),
        ({"means": [0.5] * 20}, f"{ENV}(means=[0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0...)"),
    ],
)
def test_label_of_an_id(keywords: dict[str, Any], label: str) -> None:
    assert EnvSource(ENV, keywords).label == label


def test_label_of_an_object_says_what_was_changed() -> None:
    assert cell(env=gym.make(ENV)).env.label == ENV
    assert cell(env=gym.make(ENV, noisy_best=False)).env.label == f"{ENV}(noisy_best=false)"
    assert cell(env=BestArmEnv(HeterogeneousGaussianProblem(8))).env.label == "HeterogeneousGaussianProblem"


def test_a_changed_file_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "log.csv"
    means = []
    for reward in (0.0, 0.25):
        log.write_text(f"arm,reward\na,1\nb,{reward}\n")
        source = EnvSource("BAI-Table-v0", {"path": str(log), "arm_column": "arm", "reward_column": "reward"})
        means.append(source.problem.draw(1, np.random.default_rng(0)).means[0].tolist())
    assert means == [[1.0, 0.0], [1.0, 0.25]]
    monkeypatch.chdir(tmp_path)  # a worker may be in another folder
    sent = EnvSource("BAI-Table-v0", {"path": "log.csv"}).__getstate__()
    assert sent["keywords"] == {"path": os.path.abspath(log)}


def test_unknown_ids_and_foreign_environments() -> None:
    with pytest.raises(UnknownNameError, match="BAI-Gausian32-v0"):
        _ = EnvSource("BAI-Gausian32-v0").built
    with pytest.raises(ParameterError, match="CartPole-v1"):
        _ = EnvSource("CartPole-v1").built
    with pytest.raises(ParameterError, match="disable_env_checker"):
        _ = EnvSource(ENV, {"disable_env_checker": True}).built


def test_paths() -> None:
    with pytest.raises(ParameterError, match="'fast'"):
        cell(how="fast")
    with pytest.raises(ParameterError, match="Threshold has no allocate"):
        cell(Threshold, how="blocks")


def test_a_user_id_travels_to_processes_that_do_not_know_it(monkeypatch: pytest.MonkeyPatch) -> None:
    gym.register("Mine-v0", entry_point="bai_gym.envs.scalar:BestArmEnv", kwargs={"problem": "gaussian", "num_arms": 5})
    pickled = pickle.dumps(EnvSource("Mine-v0", {"budget": 9}))
    del gym.registry["Mine-v0"]
    try:
        source = pickle.loads(pickled)
        assert (source.built.num_arms, source.built.budget) == (5, 9)
    finally:
        gym.registry.pop("Mine-v0", None)


# ------------------------------------------------------------------------------------------------ sizes


@pytest.mark.each(
    ("env", "arms", "runs"),
    [
        (ENV, 32, 1000),
        (ENV, 3355, 1000),  # 2^28 bytes, 80 for each arm of a run
        (ENV, 10_000, 335),
        (ENV, 10**7, 1),
    ],
)
def test_a_chunk_with_many_arms_has_fewer_runs(env: str, arms: int, runs: int) -> None:
    large = cell("Uniform", env, budget=10**8, num_arms=arms)
    assert large.chunk_runs == cell("Uniform", env, budget=10**9, seed=4, num_arms=arms).chunk_runs == runs
    assert large.chunk_sizes(2 * runs + 1) == [runs, runs, 1]


def with_features(features: Any) -> BestArmEnv:
    return BestArmEnv(FixedProblem(FeatureBandit(GaussianBandit(np.zeros(len(features))), features)))


def test_features_take_memory_too() -> None:
    assert cell("Uniform", with_features(np.ones((10_000, 10))), 10**8).chunk_runs == 167  # 80 bytes more


# ------------------------------------------------------------------------------------------------ fingerprints


def test_the_fingerprint_is_the_same_for_the_same_cell() -> None:
    assert cell().fingerprint == cell().fingerprint
    assert cell(Threshold(0.25)).fingerprint == cell(Threshold(0.25)).fingerprint
    given = [cell(env=with_features([[x], [1.0]])).fingerprint for x in (2.0, 2.0, 4.0)]
    assert given[0] == given[1] != given[2]


@pytest.mark.each(
    "other",
    [
        cell("SHVar"),
        cell("SH(tie=first)"),
        cell(budget=401),
        cell(seed=4),
        cell(how="steps"),
        cell(env="BAI-Gaussian40-v0"),
        cell(noisy_best=False),
        cell(instance="fixed"),
        cell(Threshold(0.25)),
    ],
    ids=lambda other: f"{other.env.label} {other.label} {other.budget} {other.seed} {other.path}",
)
def test_the_fingerprint_sees_every_change(other: Cell) -> None:
    assert other.fingerprint != cell().fingerprint
    if other.label == "Threshold":  # a parameter that the label does not show
        assert other.fingerprint != cell(Threshold(0.75)).fingerprint


def test_the_fingerprint_sees_the_rules_of_an_id_that_is_registered_anew() -> None:
    for env in ("Mine-v0", None):  # the id, or the environment
        facts = set()
        try:
            for epsilon in (0.0, 5.0):
                gym.registry.pop("Mine-v0", None)
                kwargs = {"problem": "gaussian", "num_arms": 5, "epsilon": epsilon}
                gym.register("Mine-v0", entry_point="bai_gym.envs.scalar:BestArmEnv", kwargs=kwargs)
                one = cell(env=env or gym.make("Mine-v0"))
                facts.add((one.env.label, one.fingerprint))
                assert play_chunk(one, 0, 50).correct.all() == (epsilon == 5.0)
        finally:
            gym.registry.pop("Mine-v0", None)
        assert {label for label, _ in facts} == {"Mine-v0"} and len(facts) == 2


def test_the_fingerprint_sees_the_code_of_the_users_own_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # Python would take byte code of the same second for the new
    prints = []
    for folder, arm in (("first", 0), ("same", 0), ("changed", 1)):
        file = tmp_path / folder / "own_agent.py"
        file.parent.mkdir()
        file.write_text(f"class Own:\n    def act(self, observation):\n        return {arm}\n")
        spec = importlib.util.spec_from_file_location("own_agent", file)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "own_agent", module)
        spec.loader.exec_module(module)
        prints.append(cell(module.Own).fingerprint)
    assert prints[0] == prints[1] != prints[2]


def test_the_fingerprint_sees_the_code_of_the_users_own_problem() -> None:
    prints = []
    for extra in (0, 0, 1):

        class Mine(HeterogeneousGaussianProblem):
            unseen = extra  # the instances that the fingerprint draws do not show it

        prints.append(cell(env=BestArmEnv(Mine(8))).fingerprint)
    assert prints[0] == prints[1] != prints[2]


# ------------------------------------------------------------------------------------------------ random numbers


def test_the_instances_depend_on_seed_and_chunk_alone() -> None:
    env = "BAI-Bernoulli10-v0"
    reference = play_chunk(cell(env=env), 1, 50).correct_recommendation
    for other in (cell("VBR", env), cell(env=env, budget=800), cell(env=env, how="steps"), cell(Threshold, env)):
        assert (play_chunk(other, 1, 50).correct_recommendation == reference).all()
    assert (play_chunk(cell(env=env), 0, 50).correct_recommendation != reference).any()
    assert (play_chunk(cell(env=env, seed=4), 1, 50).correct_recommendation != reference).any()


def test_rewards_differ_between_agents_and_budgets() -> None:
    # The same algorithm under two names meets other rewards, and so errs in other runs.
    reference = play_chunk(cell("SH"), 0, 200).correct
    for other in (cell("SH(tie=first)"), cell("SH", budget=401)):
        assert (play_chunk(other, 0, 200).correct != reference).any()


def test_only_chunks_of_slow_agents_have_parts() -> None:
    for agent, starts in (("SH", [0]), ("TTTS", [0, 125, 250, 500])):
        assert part_starts(cell(agent, "BAI-Gaussian64-v0", 5000), 1000) == starts


def test_pulls_are_counted_by_the_rank_of_the_mean() -> None:
    played = play_chunk(cell("UCB1", "BAI-Custom-v0", 90, means=[0.1, 0.9, 0.5], variances=0.01), 0, 5)
    assert played.pulls_by_rank.tolist() == played.pulls[[1, 2, 0]].tolist()
    assert played.pulls_by_rank[0] > played.pulls_by_rank[1] > 0


def test_what_a_cell_says_of_its_agent() -> None:
    small = cell("SH-Reuse(allow_small_budget=True)", budget=20)
    row = facts(small)
    assert row["knows"] == ()
    assert row["notes"] == ("SH-Reuse(allow_small_budget=True): budget below its minimum of 160",)
    assert facts(cell("SHVar-Reuse"))["knows"] == ("variances",)
