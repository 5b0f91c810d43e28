"""Nothing is won without a pull: each episode numbers its arms at random, on every path."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib.util import find_spec
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from scipy.stats import binomtest, chisquare

import bai_gym
from bai_gym.agents import Agent, SequentialAgent
from bai_gym.bandits import FeatureBandit, GaussianBandit
from bai_gym.envs.registration import IDS
from bai_gym.envs.scalar import BestArmEnv
from bai_gym.errors import AgentError, MissingDataError, ParameterError
from bai_gym.problems import FixedProblem, Problem
from bai_gym.sampling import Rule
from bai_gym.tasks import BestArm, BestOfEach, GoodArm, Thresholding, TopM

MEANS = [0.9, 0.5, 0.3, 0.1]
LEVEL = 1e-4


class Stubborn:
    """Recommends and pulls one arm, whatever it sees: `place` 0 for the first, -1 for the last."""

    def __init__(self, place: int) -> None:
        self.place, self.label = place, f"{type(self).__name__}{place}"

    def reset(self, info: Any) -> None:
        self.info, self.arm = info, self.place % info.num_arms
        one, names = info.task, self.place % info.task.sizes(info.num_arms)[0]
        self.answer = np.array(names) if one.one_number else np.array([names] * len(one.sizes(info.num_arms)))
        if one.entry is None:
            self.answer = one.of_arms(
                range(one.m) if self.place == 0 else range(info.num_arms - one.m, info.num_arms), info.num_arms
            )


class Acts(Stubborn):
    """Acts on one episode at a time."""

    def act(self, observation: Any) -> Any:
        left = observation["remaining"][0] > 0
        if self.info.fixed_confidence or self.info.costs is not None:
            return (
                self.info.num_arms + self.answer
                if self.answer.ndim == 0
                else np.array([self.info.num_arms, *self.answer])
            )
        return (self.arm if left else self.answer) if self.answer.ndim == 0 else np.array([self.arm, *self.answer])


class ActsOnBatches(Acts):
    """Acts on a batch of episodes."""

    batched = True

    def act(self, observation: Any) -> Any:
        if observation["pulls"].ndim == 1:
            return super().act(observation)
        one = super().act({name: array[0] for name, array in observation.items()})
        return np.tile(one, (len(observation["pulls"]), *[1] * np.ndim(one)))


class Allocates(Stubborn):
    """Requests a block, and recommends."""

    def allocate(self, observation: Any) -> Any:
        if observation["pulls"].any() or self.info.costs is not None:
            return None
        return np.tile(self.info.budget * (np.arange(self.info.num_arms) == self.arm), (self.info.batch, 1))

    def recommend(self, observation: Any) -> Any:
        return np.tile(self.answer, (self.info.batch, *[1] * self.answer.ndim))


class Plans(Agent):
    """Has a plan, derived from the library's base class."""

    name = "Plans"
    tasks = frozenset({"best-arm"})

    def plan(self) -> Any:
        counts = np.zeros((self.batch, self.num_arms), np.int64)
        counts[:, 0] = self.budget
        yield counts
        return np.zeros(self.batch, np.int64)


class Compiled(SequentialAgent):
    """A compiled rule that prefers arms by their number: it pulls the first, and recommends what it has pulled most."""

    name, first_pulls, rule = "Compiled", 0, Rule(index=lambda pulls, mean, variance, s: pulls)


class Model:
    """A model with `predict`, as of stable-baselines3."""

    observation_space: Any
    action_space: Any

    def predict(
        self, observation: Any, state: Any = None, episode_start: Any = None, deterministic: bool = True
    ) -> Any:
        batch = observation["pulls"].shape[:-1]
        return np.zeros(batch, np.int64), None


def chance(env: BestArmEnv, answer: Any, runs: int) -> float:
    """The mean over instances and orders of the arms of whether an answer is correct, by counting."""
    bandit, task, rng = (
        env.problem.draw(runs, np.random.default_rng(1)),
        env.episode_spec.task,
        np.random.default_rng(2),
    )
    size = task.sizes(env.num_arms)[0] if task.answer != "arm" else env.num_arms
    right = 0
    for row in range(runs):
        order = rng.permutation(size)
        if isinstance(task, BestOfEach):
            size = env.num_arms // task.num_bandits
            named = np.array([rng.integers(size) for _ in range(task.num_bandits)])
        elif task.one_number:
            named = np.array(order[int(answer)])
        elif task.sizes(env.num_arms) == (size + 1,):  # an arm, or none
            named = np.array([order[answer[0]] if answer[0] < size else size])
        else:
            named = task.of_arms(order[np.flatnonzero(answer)].tolist(), env.num_arms)
        right += bool(task.correct(bandit.means[row : row + 1], named[None])[0])
    return right / runs


def check_ids(ids: Iterable[str], runs: int) -> int:
    """Compare agents that recommend one arm with chance; return in how many environments."""
    tried = 0
    for env_id in ids:
        try:
            env: Any = gym.make(env_id, disable_env_checker=True).unwrapped
        except MissingDataError:
            continue
        if not env.problem.known or env.num_arms > 400:
            continue
        tried += 1
        for place in (0, -1):
            agent = Acts(place) if env.episode_spec.may_stop else ActsOnBatches(place)
            keywords = {} if env.episode_spec.costs is not None else {"budget": 1}
            error = bai_gym.evaluate(agent, env_id, runs=runs, seed=3, progress=False, **keywords).error_probability
            env.reset(seed=0)
            agent.reset(env.problem_info())
            expected = chance(env, agent.answer, 4 * runs)
            spread = 1.25 * max(expected * (1 - expected), 1 / runs) / runs  # the count may have missed what is rare
            assert abs(error - (1 - expected)) <= 4.75 * np.sqrt(spread) + 1.0 / runs, (env_id, place, error, expected)
    return tried


def test_who_recommends_one_arm_is_right_by_chance_in_every_environment() -> None:
    assert check_ids([entry.id for entry in IDS][::6], 150) > 10


@pytest.mark.slow
def test_so_he_is_in_all_environments_and_more_episodes() -> None:
    assert check_ids([entry.id for entry in IDS], 300) > 80


KINDS: list[Any] = [Acts(0), Acts(-1), ActsOnBatches(0), Allocates(0), Allocates(-1), Plans, Compiled]
KINDS += [Model()] if find_spec("bai_gym.training") else []


@pytest.mark.each("agent", KINDS)
@pytest.mark.each("path", ["auto", "steps"])
def test_so_is_every_kind_of_agent_on_every_path(agent: Any, path: str) -> None:
    env = BestArmEnv(FixedProblem(GaussianBandit(MEANS), arm_names=("a", "b", "c", "d")), 4)
    result = bai_gym.evaluate(agent, env, runs=400, path=path, progress=False)
    assert binomtest(round(result.error_probability * 400), 400, 0.75).pvalue > LEVEL
    assert chisquare(np.array(result.recommended)).pvalue > LEVEL  # by arm, in the order of the list


def test_the_listed_order_is_kept_where_it_is_asked_for_and_tables_say_so() -> None:
    for agent in (Acts(0), Allocates(0), Plans):
        result = bai_gym.evaluate(
            agent, "BAI-Custom-v0", budget=4, runs=20, env_kwargs={"means": MEANS, "shuffle": False}, progress=False
        )
        assert result.error_probability == 0.0 and any("shuffle=False" in note for note in result.notes)
    if "BAI-CustomLinear-v0" not in gym.registry:
        return  # it is part of a wing
    env: Any = gym.make("BAI-CustomLinear-v0", features=np.eye(4), theta=MEANS, shuffle=False, rotate=False)
    observation, _ = env.reset(seed=0)
    assert (observation["features"] == np.eye(4)).all() and env.unwrapped.order.tolist() == [0, 1, 2, 3]


def test_all_episodes_of_a_batch_and_a_scalar_loop_have_orders_of_their_own() -> None:
    for task, number in (
        (BestArm(), 24),
        (TopM(2), 24),
        (BestOfEach(2), 8),
        (Thresholding(0.4), 24),
        (GoodArm(0.4), 24),
    ):
        env = BestArmEnv(FixedProblem(GaussianBandit(MEANS, 0.0)), 4, task=task)
        orders = np.array([(env.reset(), env.order)[1] for _ in range(400)])
        found, counts = np.unique(orders, axis=0, return_counts=True)
        assert len(found) == number and chisquare(counts).pvalue > LEVEL, task
        batch = gym.make_vec("BAI-Custom-v0", 400, means=MEANS, variances=0.0, budget=4)
        batch.reset(seed=0)
        means = np.stack([batch.step(np.full(400, arm))[0]["means"][:, arm] for arm in range(4)], axis=1)
        assert len(np.unique(means, axis=0)) == 24
        assert (np.sort(means, axis=1) == np.sort(MEANS)).all()


def test_what_belongs_to_an_arm_moves_with_it() -> None:
    features, costs, names = np.random.default_rng(0).normal(size=(4, 3)), [1.0, 2.0, 3.0, 4.0], ("a", "b", "c", "d")
    problem: Problem = FixedProblem(FeatureBandit(GaussianBandit(MEANS, 0.0), features), arm_names=names)
    env = BestArmEnv(problem, 20.0, costs=costs)
    for seed in range(5):
        observation, _ = env.reset(seed=seed)
        info, order = env.problem_info({"variances", "complexity"}), env.order
        assert observation["costs"].tolist() == [costs[arm] for arm in order] == list(info.costs or ())
        assert info.arm_names == tuple(names[arm] for arm in order) and info.shuffled
        assert (info.means[0] == np.array(MEANS)[order]).all()
        inner = observation["features"] @ observation["features"].T
        np.testing.assert_allclose(inner, (features @ features.T)[np.ix_(order, order)])
        assert not np.isclose(observation["features"], features[order]).any(), "not rotated"
        np.testing.assert_array_equal(info.features[0], observation["features"])  # type: ignore[index]
        after, *_ = env.step(2)
        assert after["remaining"][0] == 20.0 - costs[order[2]] and after["means"][2] == MEANS[order[2]]
        *_, last = env.step(4 + int(np.argmin(order)))
        assert last["correct"] and order[last["correct_recommendation"]] == 0


def test_names_of_a_text_are_those_of_its_arms() -> None:
    wrapper = pytest.importorskip("bai_gym.training.envs.text").TextWrapper
    env = wrapper(BestArmEnv(FixedProblem(GaussianBandit(MEANS, 0.0), arm_names=("a9", "b5", "c3", "d1")), 3))
    places = set()
    for seed in range(10):
        text, _ = env.reset(seed=seed)
        place = int(re.search(r"(\d) \(a9\)", text)[1])  # type: ignore[index]
        after, *_ = env.step(f"pull arm {place}")
        assert "0.9" in after, after
        places.add(place)
    assert len(places) > 1


def test_a_pilot_moves_with_its_arms() -> None:
    pytest.importorskip("bai_gym.planning")
    env: Any = gym.make("BAI-Pilot-v0").unwrapped
    earlier = env.problem.start
    for seed in range(3):
        observation, _ = env.reset(seed=seed)
        assert (observation["means"] == earlier.means[0][env.order]).all()
        assert (observation["pulls"] == earlier.pulls[0][env.order]).all()


def test_items_in_common_move_with_their_arms() -> None:
    pytest.importorskip("bai_gym.paired")
    for seed in range(3):
        paired: Any = gym.make(
            "BAI-PairedCustom-v0", means=MEANS, variances=[0.1] * 4, correlation=1.0, pairs=True, budget=8
        )
        paired.reset(seed=seed)
        for arm in (*range(4), *range(4)):
            observation, *_ = paired.step(arm)
        own = np.array(MEANS)[paired.unwrapped.order]  # perfectly correlated: differences are exact
        np.testing.assert_allclose(observation["differences"], own[:, None] - own, atol=1e-9)


def test_candidates_move_and_turn_along() -> None:
    pytest.importorskip("bai_gym.linear")
    env: Any = gym.make("BAI-LinearTransductive5-v0", budget=100, noise_variance=1e-12).unwrapped
    best = set()
    for seed in range(6):
        observation, _ = env.reset(seed=seed)
        info = env.problem_info({"complexity"})
        task: Any = info.task
        assert (task.candidates == observation["candidates"]).all()
        np.testing.assert_allclose(task.combinations @ observation["features"], observation["candidates"], atol=1e-9)
        right = int((task.combinations @ info.means[0]).argmax())
        agent = bai_gym.agents.make("G-BAI")
        agent.reset(info, np.random.default_rng(seed))
        terminated = False
        while not terminated:
            observation, _, terminated, _, last = env.step(agent.act(observation))
        assert last["correct"] and last["correct_recommendation"] == right
        best.add(right)
    assert len(best) > 1
    batch: Any = gym.make_vec("BAI-LinearTransductive5-v0", 3)
    observation, _ = batch.reset(seed=0)
    assert (observation["candidates"][0] != observation["candidates"][1]).any()
    with pytest.raises(ParameterError, match="one episode at a time"):
        batch.problem_info()


def test_parameters_with_a_value_for_each_arm_need_the_listed_order() -> None:
    pytest.importorskip("bai_gym.correlated")
    agent = bai_gym.agents.make("PI-BAI", prior_mean=MEANS, prior_sd=0.1, sigma=1.0)
    with pytest.raises(AgentError, match="shuffle=False"):
        bai_gym.evaluate(agent, "BAI-Custom-v0", budget=20, runs=5, env_kwargs={"means": MEANS}, progress=False)
    keywords = {"means": MEANS, "shuffle": False}
    assert bai_gym.evaluate(agent, "BAI-Custom-v0", budget=20, runs=5, env_kwargs=keywords, progress=False).runs == 5


def test_agents_of_the_library_are_played_in_the_listed_order_and_all_play_the_same_instances() -> None:
    shuffled, listed = (
        bai_gym.evaluate("SH", "BAI-Gaussian8-v0", budget=80, runs=200, env_kwargs={"shuffle": on}, progress=False)
        for on in (True, False)
    )
    assert shuffled.error_probability == listed.error_probability and shuffled.recommended == listed.recommended
    both = bai_gym.compare([Acts(0), Allocates(0)], "BAI-Gaussian8-v0", budgets=[8], runs=300, progress=False)
    one, two = (both.outcome(row) for row in both.results)
    assert (one.recommendation == two.recommendation).all() and len(np.unique(one.recommendation)) == 8


class Announced(BestArm):
    """Shows something that is not about arms."""

    name = "announced"

    @property
    def constants(self) -> Any:
        return {"limits": np.array([0.0, 1.0])}


def test_what_a_task_shows_need_not_be_about_arms() -> None:
    task = Announced()
    observation, _ = gym.make("BAI-Custom-v0", means=MEANS, task=task).reset(seed=0)
    assert observation["limits"].tolist() == [0.0, 1.0]
    batch, _ = gym.make_vec("BAI-Custom-v0", 3, means=MEANS, task=task).reset(seed=0)
    assert batch["limits"].tolist() == [[0.0, 1.0]] * 3
