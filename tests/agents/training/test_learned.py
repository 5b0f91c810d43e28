"""The trained agent: what its network sees, by hand; its symmetries; its file; and what the shipped weights can do."""

from __future__ import annotations

import io
import json
import math
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bai_gym import agents, compare, evaluate
from bai_gym.agents.training import ArmNetwork, Learned, shipped
from bai_gym.agents.training.agent import FOLDER
from bai_gym.agents.training.features import features
from bai_gym.agents.training.network import FORMAT
from bai_gym.agents.training.playing import SAME
from bai_gym.errors import DataError, ParameterError, UnknownNameError
from bai_gym.problems import ProblemInfo

SHIPPED = shipped()
KINDS = ("any", "binary")
GAUSSIAN = FOLDER / "BAI-Gaussian8-v0.npz"
SHAPES = {name: array.shape for name, array in ArmNetwork.load(GAUSSIAN).weights.items()}
WIDTH = SHAPES["encoder.bias"][0]

every_kind = pytest.mark.each("rewards", KINDS)
arm_numbers = st.integers(2, 20)
seeds = st.integers(0, 2**32 - 1)


def network(rewards: Any = "any", seed: int = 0) -> ArmNetwork:
    """Random weights, of a size that keeps logits near 1."""
    rng = np.random.default_rng(seed)
    weights = {name: (rng.normal(size=s) / math.sqrt(s[-1])).astype(np.float32) for name, s in SHAPES.items()}
    return ArmNetwork(weights, rewards, {})


def observation(num_arms: int, seed: int, rewards: str = "any", least: int = 0) -> dict[str, Any]:
    """Random statistics of a few episodes, among them arms without a pull and arms of equal statistics."""
    rng = np.random.default_rng(seed)
    shape = (5, num_arms)
    pulls = rng.integers(least, 30, size=shape)
    if rewards == "binary":
        means = rng.binomial(pulls, 0.4) / np.maximum(pulls, 1)
        variances = np.where(pulls > 1, means * (1.0 - means) * pulls / np.maximum(pulls - 1, 1), 0.0)
    else:
        means = np.where(pulls > 0, rng.normal(size=shape), 0.0)
        variances = np.where(pulls > 1, rng.exponential(size=shape), 0.0)
    remaining = rng.integers(0, 3, size=(5, 1)) * 40
    seen = {"pulls": pulls, "means": means, "variances": variances}
    for array in seen.values():
        array[:, -1] = array[:, 0]
    return {**seen, "remaining": np.where(pulls.any(axis=1, keepdims=True), remaining, 40)}


def seen_in(given: dict[str, Any], rewards: Any) -> Any:
    return features({name: np.asarray(array, float) for name, array in given.items()}, rewards, np)


# ------------------------------------------------------------------------------------------------ features


def test_features_by_hand_of_any_rewards() -> None:
    given = {"pulls": [3, 1], "means": [1.0, 0.0], "variances": [0.5, 0.0], "remaining": [4]}
    seen = seen_in(given, "any")
    # Pooled variance 2 x 0.5 / 2 = 1/2. An arm's noise is drawn towards it: (1 + 1) / 4 and (0 + 1) / 2, both 1/2.
    unit = math.sqrt(0.5)
    hand = [
        [math.log(4 * 2 / 6), math.log(2 * 2 / 6)],  # shares of the pulls
        [math.log(3) / 4, 0.0],  # their numbers
        [0.5 / unit, -0.5 / unit],  # from the centre
        [0.0, 1.0 / unit],  # from the leader
        [math.sqrt(1 / 3), 1.0],  # standard errors
        [0.0, 1.0 / math.sqrt(0.5 + 0.5 / 3) / 2],  # from the leader, in errors of the difference
        [0.0, 0.0],  # noise
        [1.0, 0.0],  # leads
    ]
    np.testing.assert_allclose(seen.arms.T, hand, atol=1e-9)
    np.testing.assert_allclose(seen.state, [0.5, 0.0, math.log(3) / 3, math.log(3) / 3, math.log(2) / 3])
    np.testing.assert_array_equal(seen.order, [0.0, 0.0])


def test_features_by_hand_of_rewards_0_and_1() -> None:
    given = {"pulls": [3, 0], "means": [1.0, 0.0], "variances": [0.0, 0.0], "remaining": [0]}
    seen = seen_in(given, "binary")
    # Beta(4, 1) and Beta(1, 1): means 4/5 and 1/2, variances 4/5 x 1/5 / 6 and 1/2 x 1/2 / 3.
    own, other = math.sqrt(0.16 / 6), math.sqrt(0.25 / 3)
    hand = [
        [math.log(4 * 2 / 5), math.log(1 * 2 / 5)],
        [math.log(3) / 4, 0.0],
        [0.6, 0.0],
        [0.0, 0.6],
        [own / 0.5, other / 0.5],
        [0.0, 0.3 / math.hypot(own, other) / 2],
        [math.log(0.4 / 0.5), 0.0],
        [1.0, 0.0],
    ]
    np.testing.assert_allclose(seen.arms.T, hand, atol=1e-9)
    np.testing.assert_allclose(seen.state, [0.0, 1.0, math.log(2.5) / 3, 0.0, math.log(2) / 3])
    np.testing.assert_array_equal(seen.order, [0.0, -1.0])


@given(arm_numbers, seeds, st.floats(-100, 100), st.floats(1e-3, 1e3))
@settings(deadline=None)
def test_any_rewards_are_seen_without_origin_and_unit(num_arms: int, seed: int, shift: float, scale: float) -> None:
    # Where every arm has a pull. One without has the mean 0, wherever that lies; but then it is pulled at once anyway.
    given = observation(num_arms, seed, least=1)
    moved = {**given, "means": scale * given["means"] + shift, "variances": scale**2 * given["variances"]}
    for one, other in zip(seen_in(given, "any"), seen_in(moved, "any"), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


# ------------------------------------------------------------------------------------------------ network


@every_kind
@given(arm_numbers, seeds, st.data())
@settings(deadline=None)
def test_a_permutation_of_the_arms_permutes_the_logits(rewards: str, num_arms: int, seed: int, data: Any) -> None:
    order = np.array(data.draw(st.permutations(range(num_arms))))
    given = observation(num_arms, seed, rewards)
    moved = {name: array if name == "remaining" else array[:, order] for name, array in given.items()}
    acting = network(rewards, seed)
    logits, permuted = acting.logits(given), acting.logits(moved)
    assert (logits.dtype, logits.shape) == (np.float32, (5, num_arms))
    pulled = given["pulls"][:, order] > 0
    np.testing.assert_allclose(permuted[pulled], logits[:, order][pulled], atol=2e-5)
    np.testing.assert_allclose(permuted, logits[:, order], atol=2e-3)  # float32 of FIRST in the others
    twins = (given["pulls"] > 0)[:, 0]
    assert (abs(logits[:, 0] - logits[:, -1])[twins] < SAME / 2).all()  # equal arms are tied


@every_kind
@given(arm_numbers, seeds)
@settings(deadline=None)
def test_arms_without_a_pull_come_first_and_last_when_nothing_is_left(rewards: str, num_arms: int, seed: int) -> None:
    given = observation(num_arms, seed, rewards)
    given["pulls"][:, 0] = 0
    given["means"][:, 0] = given["variances"][:, 0] = 0.0
    given["pulls"][:, 1] = np.maximum(given["pulls"][:, 1], 1)
    unpulled = given["pulls"] == 0
    for left, sign in ((40, 1.0), (1, 1.0), (0, -1.0)):
        given["remaining"] = np.full((5, 1), left)
        logits = sign * network(rewards, seed).logits(given)
        assert (np.where(unpulled, logits, np.inf).min(axis=1) > np.where(unpulled, -np.inf, logits).max(axis=1)).all()


# ------------------------------------------------------------------------------------------------ files


@every_kind
def test_a_network_survives_its_file(rewards: str, tmp_path: Path) -> None:
    facts = {"env": "BAI-Custom-v0", "recipe": {"steps": 3, "means": [1.0, 0.5]}, "format": "mine", "rewards": "mine"}
    acting = ArmNetwork(network().weights, rewards, facts)
    acting.save(tmp_path / "weights.npz")
    loaded = ArmNetwork.load(tmp_path / "weights.npz")
    assert loaded.rewards == rewards
    assert loaded.facts == {name: facts[name] for name in ("env", "recipe")}
    assert set(loaded.weights) == set(SHAPES)
    for name, array in acting.weights.items():
        assert loaded.weights[name].dtype == np.float32
        np.testing.assert_array_equal(loaded.weights[name], array)
    given = observation(4, 0, rewards)
    np.testing.assert_array_equal(loaded.logits(given), acting.logits(given))


def refused(file: Path) -> None:
    """Assert that a file is refused in one line, by the network and by the agent."""
    for load in (ArmNetwork.load, lambda path: Learned(path=path)):
        with pytest.raises(DataError, match="holds no weights of a learned agent, or is damaged") as caught:
            load(file)
        assert "\n" not in str(caught.value) and repr(str(file)) in str(caught.value)


def stored(**changes: Any) -> bytes:
    """A file of weights, with other contents in some places; None leaves one out."""
    facts = json.dumps({"format": FORMAT, "rewards": "any"})
    arrays = {"facts": np.array(facts), **network().weights, **changes}
    file = io.BytesIO()
    np.savez(file, **{name: array for name, array in arrays.items() if array is not None})
    return file.getvalue()


BAD: dict[str, Callable[[], bytes]] = {
    "text": lambda: b"These are no weights.\n",
    "a pickled array within": lambda: stored(**{"own.bias": np.array([{}] * WIDTH, dtype=object)}),
    "no facts": lambda: stored(facts=None),
    "facts in no JSON": lambda: stored(facts=np.array("format")),
    "another format": lambda: stored(facts=np.array('{"format": "2", "rewards": "any"}')),
    "another kind of rewards": lambda: stored(facts=np.array(json.dumps({"format": FORMAT, "rewards": "ratings"}))),
    "an array missing": lambda: stored(**{"max.weight": None}),
    "a matrix turned": lambda: stored(**{"arm.weight": np.zeros(SHAPES["arm.weight"][::-1], np.float32)}),
    "another width": lambda: stored(**{"encoder.bias": np.zeros(WIDTH + 1, np.float32)}),
    "infinite in float32": lambda: stored(**{"logit.bias": np.array([1e300])}),
    "words": lambda: stored(**{"logit.bias": np.array(["1.0"])}),
}


@pytest.mark.each("bad", BAD)
def test_other_files_are_refused(bad: str, tmp_path: Path) -> None:
    file = tmp_path / "weights.npz"
    file.write_bytes(stored())
    assert ArmNetwork.load(file).facts == {}
    file.write_bytes(BAD[bad]())
    refused(file)


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    whole = GAUSSIAN.read_bytes()
    file, rng = tmp_path / "weights.npz", np.random.default_rng(0)
    for size in rng.integers(len(whole), size=10):
        file.write_bytes(whole[:size])
        refused(file)
    found = 0
    for _ in range(80):  # single bytes, of which some mean nothing
        changed = bytearray(whole)
        changed[rng.integers(len(whole))] ^= rng.integers(1, 256)
        file.write_bytes(changed)
        try:
            ArmNetwork.load(file)
        except DataError:
            found += 1
    assert found > 60


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    for path in (tmp_path / "weights.npz", tmp_path, ""):
        with pytest.raises(ParameterError, match="there is no file of weights .*; `bai-gym train` writes them"):
            agents.make("Learned", path=path)


# ------------------------------------------------------------------------------------------------ the agent


def test_the_environments_with_weights_are_named() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean BAI-Gaussian8-v0"):
        agents.make("Learned", env="BAI-Gausian8-v0")
    with pytest.raises(ParameterError, match="not both"):
        agents.make("Learned", env=SHIPPED[0], path=GAUSSIAN)
    assert agents.make("Learned", env=SHIPPED[0]).label == f"Learned(env={SHIPPED[0]})"


def test_ties_go_by_the_rule() -> None:
    nothing = ArmNetwork({name: np.zeros(shape, np.float32) for name, shape in SHAPES.items()}, "any", {})
    counts = []
    for tie in ("first", "random"):
        agent = Learned(tie=tie)
        agent.network = nothing  # to which all arms are the same
        agent.reset(ProblemInfo(4, 40, 4000, knows=agent.knows), np.random.default_rng(0))
        pulls = np.tile([3, 1, 2, 1], (4000, 1))
        last = {"pulls": pulls, "means": pulls / 2.0, "variances": pulls / 3.0, "remaining": np.zeros((4000, 1))}
        counts.append(np.bincount(agent.recommend(last), minlength=4))
    assert counts[0].tolist() == [0, 4000, 0, 0]  # the fewest pulls, then the first
    # 4.6 standard deviations of a binomial of 1/4: level 4e-6, below 0.001 over the four.
    assert (abs(counts[1] - 1000) < 4.6 * math.sqrt(4000 * 0.25 * 0.75)).all()


def test_the_agent_does_what_the_network_prefers(trace: Callable[..., Any]) -> None:
    rewards = np.random.default_rng(0).normal(size=(4, 30)) + np.array([[0.0], [1.0], [0.5], [0.8]])
    played = trace(Learned(tie="first"), rewards, 20)
    assert played.arms[:4] == [0, 1, 2, 3]
    made: list[list[float]] = [[] for _ in rewards]
    for step, arm in enumerate([*played.arms, played.recommendation]):
        if step >= 4:
            given = {
                "pulls": [len(mine) for mine in made],
                "means": [np.mean(mine) for mine in made],
                "variances": [np.var(mine, ddof=1) if len(mine) > 1 else 0.0 for mine in made],
                "remaining": [20 - step],
            }
            logits = Learned().network.logits({name: np.array(values) for name, values in given.items()})
            assert logits[arm] > logits.max() - SAME
        made[arm].append(rewards[arm, len(made[arm])])


def test_it_works_without_torch_and_stable_baselines3(tmp_path: Path) -> None:
    code = """if True:
        import sys

        class Missing:
            def find_spec(self, name, path=None, target=None):
                if name.split(".")[0] in ("torch", "stable_baselines3"):
                    raise ModuleNotFoundError(name)

        sys.meta_path.insert(0, Missing())  # as if they were not installed
        from bai_gym import evaluate
        for agent in ("Learned", "Universal"):
            print(evaluate(agent, "BAI-Gaussian8-v0", budget=40, runs=20, seed=1).errors)
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(r"\d+\n\d+\n", done.stdout)


# ------------------------------------------------------------------------------------------------ shipped weights


@pytest.mark.each("env", SHIPPED)
def test_shipped_weights_say_where_they_come_from(env: str) -> None:
    facts = Learned(env=env).trained_on
    assert facts["env"] == env
    assert facts["command"].startswith(f"bai-gym train sb3 {env} ")
    assert facts["recipe"]["env"] == env and env in gym.registry
    assert "/" not in json.dumps(facts)  # no path of somebody's machine


@pytest.mark.slow
@pytest.mark.each(("num_arms", "budget", "runs"), [(4, 60, 1000), (16, 400, 200)])
def test_it_is_better_than_uniform_for_other_numbers_of_arms_too(num_arms: int, budget: int, runs: int) -> None:
    keywords = {"num_arms": num_arms, "budget": budget}
    played = compare(["Learned", "Uniform"], "BAI-Gaussian8-v0", runs=runs, seed=0, env_kwargs=keywords)
    test = played.paired("Learned", "Uniform")
    assert test.difference < 0 and test.p_value < 0.01


def test_tables_name_the_prior_and_say_where_it_is_another_one() -> None:
    for env, kind, elsewhere in (
        ("BAI-Gaussian8-v0", "BAI-Gaussian8-v0", False),
        ("BAI-Gaussian32-v0", "BAI-Gaussian8-v0", True),
        ("BAI-Bernoulli10-v0", "BAI-Bernoulli10-v0", False),
        ("BAI-Bernoulli4-v0", "BAI-Bernoulli10-v0", True),
    ):
        notes = " ".join(evaluate("Learned", env, budget=40, runs=2).notes)
        assert kind in notes and ("are not drawn from the prior of" in notes) is elsewhere, (env, notes)
