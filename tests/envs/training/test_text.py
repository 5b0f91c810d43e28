"""Environments as text."""

from __future__ import annotations

from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import bai_gym  # noqa: F401 (registers the ids)
from bai_gym.bandits import (
    Bandit,
    BernoulliBandit,
    EmpiricalBandit,
    FeatureBandit,
    GaussianBandit,
    PoissonBandit,
    SampleTable,
)
from bai_gym.envs.scalar import BestArmEnv
from bai_gym.errors import ParameterError
from bai_gym.problems import FixedProblem
from bai_gym.rewards import Rewards
from bai_gym.tasks import BestArm, BestOfEach, GoodArm, Thresholding, TopM
from bai_gym.training.envs.text import TextWrapper
from bai_gym.training.envs.text_encoding import TextEncoding, UnreadableReplyError

FEATURES = [[1.0, 0.0], [0.8, 0.6]]
NAMES = ("gpt-4", "gpt-4 mini", "Llama 3", "7")


@pytest.mark.each(
    ("text", "pulls"),
    [
        ("3", (3,)),
        ("arm 3", (3,)),
        ("Pull arm 3.", (3,)),
        ("- Arm #3", (3,)),
        ('{"action": "pull", "arm": 3}', (3,)),
        ("I think that arm 2 is worse than 0.5.\n\nMy final choice: `pull arm 3`\n", (3,)),
        ("pull 1 x2, 3 x 1", (1, 1, 3)),
        ("pull 1x2 and 0*2", (1, 1, 0, 0)),
        ("arm 1 2 times, arm 0", (1, 1, 0)),
        ("pull 0 x1000000000000", (0,) * 6),  # no more than are left
        ("pull 0 x4, 1 x4", (0, 0, 0, 0, 1, 1)),
        ("pull gpt-4 mini", (1,)),
        ("pull 3 x1, 2", (3, 2)),
    ],
)
def test_replies_that_name_pulls(text: str, pulls: tuple[int, ...]) -> None:
    assert TextEncoding(4, BestArm(), arm_names=NAMES).read(text, 6).pulls == pulls


@pytest.mark.each(
    ("text", "remaining"),
    [
        ("", 6),
        ("I do not know", 6),
        ("4", 6),
        ("-1", 6),
        ("0.5", 6),
        ("pull 2 x0", 6),
        ("arm 3 has mean 0.5", 6),
        ("recommend arm 3", 6),
        ("stop", 6),
        ("pull 3", 0),
        ("pull 3 and recommend 3", 0),
        ("recommend 1, 2", 0),
        ("recommend none", 0),
    ],
)
def test_replies_that_cannot_be_read(text: str, remaining: int) -> None:
    with pytest.raises(UnreadableReplyError) as caught:
        TextEncoding(4, BestArm()).read(text, remaining)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 250


@pytest.mark.each(
    ("task", "text", "recommendation"),
    [
        (BestArm(), "2", 2),
        (BestArm(), "Recommend arm 2.", 2),
        (TopM(2), "recommend 3, 1", [0, 1, 0, 1]),
        (BestOfEach(2), "arms 3 and 0", [0, 1]),
        (Thresholding(0.5), "recommend arms 0, 1 and 3", [1, 1, 0, 1]),
        (Thresholding(0.5), "none", [0, 0, 0, 0]),
        (GoodArm(0.5), "recommend arm 1", [1]),
        (GoodArm(0.5), "recommend none", [4]),
    ],
)
def test_recommendations_of_every_task(task: object, text: str, recommendation: object) -> None:
    encoding = TextEncoding(4, task)  # type: ignore[arg-type]
    found = encoding.read(text, 0).recommendation
    assert found is not None and np.array_equal(found, recommendation)
    assert encoding.task.of_arms(encoding.task.arms(found, 4), 4).tolist() == found.tolist()
    # The example in the prompt is one, and so is what takes the place of an unreadable reply.
    none = np.zeros(4)
    end = encoding.describe({"pulls": none, "means": none, "variances": none, "remaining": np.zeros(1)})
    example = end.split('write "')[1].split('"')[0]
    for one in (encoding.read(example, 0), encoding.random_reply(0, np.random.default_rng(0))):
        assert one.recommendation is not None
        encoding.task.check(one.recommendation[None], 1, 4)
    with pytest.raises(UnreadableReplyError):
        encoding.read("recommend 0, 1, 2", 3)  # pulls are left


def test_sets_of_another_size_are_no_recommendations() -> None:
    for task, text in ((TopM(2), "1"), (BestOfEach(2), "0 1"), (GoodArm(0.5), "0 1")):
        with pytest.raises(UnreadableReplyError):
            TextEncoding(4, task).read(text, 0)


def test_with_fixed_confidence_a_recommendation_stops() -> None:
    env = TextWrapper(gym.make("BAI-FC-Custom-v0", budget=50, shuffle=False))
    env.reset(seed=0)
    _, reward, terminated, _, _ = env.step("pull 0 x3, 1 x2")
    assert not terminated and reward == pytest.approx(-5e-4)
    _, reward, terminated, _, info = env.step("Stop and recommend arm 0")
    assert terminated and info["correct"] and reward == 1.0


def test_an_episode_as_text(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("model,score\ngpt,1\ngpt,1\ngpt,0\nsmall,0\nsmall,1\nsmall,0\n", encoding="utf-8")
    columns = {"path": path, "arm_column": "model", "reward_column": "score", "replace": False}
    env = TextWrapper(gym.make("BAI-Table-v0", budget=7, shuffle=False, **columns))
    text, info = env.reset(seed=1)
    assert "Arm 0 (gpt): 0 pulls\nArm 1 (small): 0 pulls\nPulls left: 7" in text and info["unreadable"] == 0
    text, reward, *_ = env.step("pull gpt x3, small x3")
    assert "Arm 0 (gpt): 3 pulls, mean 0.6667, standard deviation 0.5774" in text and reward == 0.0
    assert "Arm 1 (small): 3 pulls, mean 0.3333" in text and "Pulls left: 1" in text
    text, *_, info = env.step("what?")
    assert text.startswith("Your last reply could not be used") and "what?" in text and info["unreadable"] == 1
    assert "No pulls are left" in text and env.observation_space.contains(text)
    _, reward, terminated, _, info = env.step("gpt")
    assert terminated and reward == 1.0 and info["correct"] and info["unreadable"] == 1


def test_an_episode_with_costs_as_text() -> None:
    keywords = {"means": [1.0, 0.0, 0.5], "variances": 0.0, "costs": [0.1, 2.0, 0.5], "shuffle": False}
    env = TextWrapper(gym.make("BAI-Custom-v0", budget=3.0, **keywords))
    text, _ = env.reset(seed=0)
    assert "You have 3 to spend" in text and "Arm 1: 0 pulls, a pull costs 2\n" in text and "Money left: 3" in text
    text, *_ = env.step("pull 1 x5, 2 x1")  # a second pull of arm 1 would cost more than is left
    assert "Arm 1: 1 pull, " in text and "Arm 2: 1 pull, " in text and "Money left: 0.5" in text
    text, *_, info = env.step("pull 1")
    assert "no pull that the money left pays for" in text and info["unreadable"] == 1
    assert "Arm 1: 1 pull, " in text  # the random arm is one that can be paid for
    again = TextWrapper(gym.make("BAI-Custom-v0", budget=3.0, **keywords))
    again.reset(seed=0)
    text, *_ = again.step("pull 0 x100")
    assert "Arm 0: 30 pulls" in text and "No pulls are left" in text and again.observation_space.contains(text)
    _, reward, terminated, _, info = again.step("0")
    assert terminated and reward == 1.0 and info["unspent"] == pytest.approx(0.0, abs=1e-9)
    again.reset(seed=0)
    _, reward, terminated, _, info = again.step("recommend arm 0")  # with money left
    assert terminated and reward == 1.0 and info["unspent"] == 3.0
    capped = TextWrapper(gym.make("BAI-Custom-v0", budget=3.0, fixed_confidence=True, **keywords))
    assert "Spend little, and less than 3." in capped.reset(seed=0)[0]


@pytest.mark.filterwarnings("ignore:.*is different from the unwrapped version")  # a wrapper is meant here
@pytest.mark.each(
    "env_id",
    ["BAI-Bernoulli4-v0", "BAI-TopM-Custom-v0", "BAI-GoodArm-Bernoulli10-v0"],
)
def test_gymnasium_finds_nothing_wrong_and_equal_seeds_give_equal_episodes(env_id: str) -> None:
    check_env(TextWrapper(gym.make(env_id, budget=5)), skip_render_check=True)
    played = []
    for _ in range(2):
        env = TextWrapper(gym.make(env_id, budget=5))
        steps = [env.reset(seed=3)]
        while True:
            steps.append(env.step("?"))  # a random arm each time
            if steps[-1][2]:
                break
        played.append(str(steps))
        assert len(steps) == 7 and steps[-1][-1]["unreadable"] == 6
    assert played[0] == played[1]


def test_the_rules_say_what_rewards_can_be_and_what_features_are() -> None:
    table = SampleTable.of(np.array([1.0, 5.0, 1.0]), np.array([0, 2, 3]), Rewards.of("bounded(1, 5)"))
    kinds: list[tuple[Bandit, str]] = [
        (BernoulliBandit([0.5, 0.4]), "0 or 1"),
        (PoissonBandit([0.5, 0.4]), "whole numbers from 0"),
        (EmpiricalBandit(table, np.array([[0, 1]])), "numbers from 1 to 5"),
        (FeatureBandit(GaussianBandit([0.5, 0.4]), FEATURES), "real numbers"),
    ]
    for bandit, words in kinds:
        env = BestArmEnv(FixedProblem(bandit), budget=4, shuffle=False, rotate=False)
        text, _ = TextWrapper(env).reset(seed=0)
        assert f"Rewards are {words}." in text
    assert "Arm 1: 0 pulls, features (0.8, 0.6)" in text


def test_what_is_refused() -> None:
    with pytest.raises(ParameterError):
        TextWrapper(gym.make("CartPole-v1"))
    with pytest.raises(ParameterError):
        TextEncoding(3, BestArm(), arm_names=("a", "b", "a"))
    with pytest.raises(ParameterError, match="candidates are recommended"):
        task = pytest.importorskip("bai_gym.linear.tasks").BestCandidate([[1.0, 1.0]], np.array(FEATURES))
        TextWrapper(BestArmEnv(FixedProblem(FeatureBandit(GaussianBandit([0.5, 0.4]), FEATURES), task=task)))
    with pytest.raises(ParameterError, match="every reward at once"):
        TextWrapper(gym.make("BAI-Bernoulli4-v0", delay=1))
    env = TextWrapper(gym.make("BAI-Bernoulli4-v0"))
    env.reset(seed=0)
    with pytest.raises(ParameterError):
        env.step(3)  # type: ignore[arg-type]
