"""Trained models are agents as they are: whatever predicts, with states and masks where it takes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

import gymnasium as gym
import numpy as np
import pytest

from bai_gym import compare, evaluate
from bai_gym.errors import AgentError, BaiGymError, ParameterError
from bai_gym.training import SB3Agent

BERNOULLI = "BAI-Bernoulli3-v0"


class Uncopied:
    """As a network in training, to which gradients refer."""

    def __deepcopy__(self, memo: Any) -> NoReturn:
        raise RuntimeError("Only Tensors created explicitly by the user support the deepcopy protocol")


class Recurrent(Uncopied):
    """Counts its steps in its state, and pulls the arms in turn; it recommends the arm of largest mean."""

    def __init__(self) -> None:
        self.starts: list[list[bool]] = []

    def predict(
        self, observation: Any, state: Any = None, episode_start: Any = None, deterministic: bool = False
    ) -> tuple[Any, Any]:
        assert deterministic and (state is None) == episode_start.all() and not (state is not None and episode_start[0])
        self.starts.append(episode_start.tolist())
        steps = np.zeros(len(episode_start), np.int64) if state is None else state
        assert (steps == observation["pulls"].sum(axis=1)).all()
        last = observation["remaining"][:, 0] == 0
        return np.where(last, observation["means"].argmax(axis=1), steps % 3), steps + 1


class Maskable(Uncopied):
    """Takes the last action that is allowed."""

    def predict(self, observation: Any, state: Any = None, action_masks: Any = None) -> Any:
        assert action_masks.shape == (len(observation["pulls"]), 3)
        return (action_masks * np.arange(3)).argmax(axis=1)


def test_a_model_plays_without_being_copied_and_its_prior_is_its_knowledge() -> None:
    model = Recurrent()
    comparison = compare([model, "Uniform"], BERNOULLI, budgets=[6], runs=50)
    own, uniform = comparison.results
    assert own.agent == "Recurrent" and own.knows == ("prior",)
    assert any("trained on" in note for note in own.notes)
    assert own.mean_pulls.tolist() == uniform.mean_pulls.tolist() == [2.0, 2.0, 2.0]
    assert model.starts == [[True] * 50] + 6 * [[False] * 50]


def test_a_recurrent_model_begins_each_episode_with_no_state() -> None:
    model = Recurrent()
    env = {"means": [0.1, 0.9, 0.5], "variances": 0.0, "fixed_confidence": True}
    result = evaluate(model, "BAI-Custom-v0", budget=4, runs=3, env_kwargs=env)
    assert (result.errors, result.truncated) == (0, 3)  # it never stops, and the cap recommends the largest mean
    assert model.starts == 3 * ([[True]] + 4 * [[False]])  # one episode at a time, as they may stop


def test_a_recurrent_model_cannot_change_between_batches() -> None:
    agent = SB3Agent(model=Recurrent())
    seen = {"pulls": np.zeros((2, 3)), "means": np.zeros((2, 3)), "remaining": np.ones((2, 1))}
    agent.reset(_info())
    agent.act(seen)
    with pytest.raises(AgentError, match="Recurrent remembers 2 episodes, and 1 go on: reset it"):
        agent.act({name: values[0] for name, values in seen.items()})


def _info() -> Any:
    from bai_gym.problems import ProblemInfo

    return ProblemInfo(3, 6, 2, knows={"prior"})


def test_a_maskable_model_receives_the_mask_of_the_environment() -> None:
    if "BAI-CustomLinear-v0" not in gym.registry:
        pytest.skip("candidates are combinations of arms with features, of another wing")
    given = {"features": [[1.0, 0.0], [0.0, 1.0]], "theta": [0.5, 0.4], "candidates": [[1, 0], [0, 1], [1, 1]]}
    given |= {"shuffle": False, "rotate": False}
    result = evaluate(Maskable(), "BAI-CustomLinear-v0", budget=5, runs=4, env_kwargs=given)
    assert (result.agent, result.errors, result.mean_pulls.tolist()) == ("Maskable", 0, [0.0, 5.0])


def test_a_model_in_a_file_of_python(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        "class Model:\n"
        "    def __deepcopy__(self, memo): raise RuntimeError\n"
        "    def predict(self, observation): return observation['pulls'].argmin(axis=1)\n"
        "model = Model()\n"
    )
    result = evaluate(f"{path}:model", BERNOULLI, budget=6, runs=2)
    assert (result.agent, result.mean_pulls.tolist()) == ("Model", [2.0, 2.0, 2.0])


def test_what_cannot_be_taken_is_named() -> None:
    class Elsewhere(Recurrent):
        observation_space = None

    elsewhere = Elsewhere()
    elsewhere.observation_space = object()  # type: ignore[assignment]
    flat = Elsewhere()
    flat.observation_space = gym.spaces.Box(0.0, 1.0, (13,))  # type: ignore[assignment]
    unbounded = Elsewhere()
    unbounded.observation_space = gym.spaces.Box(0.0, np.inf, (13,))  # type: ignore[assignment]
    for model, message in (
        (flat, r"Elsewhere was trained on vectors of shape \(13,\), and here they have"),
        (unbounded, "Elsewhere was trained on other observations .*; train it with observation="),
        (elsewhere, "Elsewhere was trained on other observations"),
    ):
        with pytest.raises(BaiGymError, match=message):
            evaluate(model, BERNOULLI, runs=2)
    with pytest.raises(ParameterError, match=r"have predict\(observation\), which a dict does not"):
        SB3Agent(model={})
    for both in ({}, {"model": Recurrent(), "path": "model.zip"}):
        with pytest.raises(ParameterError, match="one of the two"):
            SB3Agent(**both)
    with pytest.raises(ParameterError, match=r"there is no saved model 'nowhere\.zip'"):
        evaluate("nowhere.zip", BERNOULLI, runs=2)
