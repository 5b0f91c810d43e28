"""Recipes: their defaults by environment, what they refuse, and the command that stands for them."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("stable_baselines3")

from bai_gym import training
from bai_gym.cli.main import app
from bai_gym.envs.registration import IDS
from bai_gym.errors import BaiGymError, ParameterError, UnknownNameError
from bai_gym.training import Recipe, recipe_for
from bai_gym.training.imitation import check_teacher
from bai_gym.training.recipe import BATCH_SIZES, LONGEST


@pytest.mark.each(
    ("env", "keywords", "network", "rewards", "imitate"),
    [
        ("BAI-Bernoulli4-v0", {}, "arms", "binary", "A-GapE(b=1.0)"),
        ("BAI-Custom-v0", {"means": [0.5, 0.4], "distribution": "bernoulli"}, "arms", "binary", "A-GapE(b=1.0)"),
        ("BAI-Custom-v0", {"epsilon": 0.1}, "arms", "any", "A-GapE-V"),
        ("BAI-TopM-Bernoulli10-v0", {}, "mlp", "binary", None),
        ("BAI-MultiBandit2-v0", {}, "mlp", "any", None),
        ("BAI-FC-Bernoulli10-v0", {}, "mlp", "binary", None),
        # A budget that is too small for the teacher.
        ("BAI-Gaussian8-v0", {"budget": 16}, "arms", "any", "A-GapE-V"),
        ("BAI-Gaussian8-v0", {"budget": 15}, "arms", "any", None),
    ],
)
def test_defaults_fit_the_environment(
    env: str, keywords: dict[str, Any], network: str, rewards: str, imitate: str | None
) -> None:
    recipe = recipe_for(env, keywords)
    assert (recipe.env, recipe.env_kwargs) == (env, keywords)
    assert (recipe.network, recipe.rewards, recipe.imitate) == (network, rewards, imitate)
    assert recipe.width == {"arms": 32, "mlp": 128}[network]
    if imitate is not None:
        check_teacher(imitate, recipe.source.built)
    steps = LONGEST if "-FC-" in env else recipe.source.built.budget + 1
    assert recipe.rollout == steps
    least, most = BATCH_SIZES
    assert least <= recipe.num_envs <= most and recipe.num_envs % 8 == 0
    assert recipe.updates * recipe.num_envs * steps >= recipe.steps > (recipe.updates - 1) * recipe.num_envs * steps


def test_an_update_has_about_50_000_steps() -> None:
    for budget, episodes in ((20, 1024), (200, 248), (20_000, 32)):
        assert recipe_for("BAI-Gaussian8-v0", {"budget": budget}).num_envs == episodes


@pytest.mark.each("env", [entry.id for entry in IDS if entry.data is None and entry.family != "function"])
def test_every_id_has_a_recipe(env: str) -> None:
    assert json.loads(recipe_for(env).to_json())["env"] == env


def test_changes_are_taken_and_none_leaves_the_default() -> None:
    default = recipe_for("BAI-Bernoulli4-v0")
    assert recipe_for("BAI-Bernoulli4-v0", None, steps=None, network=None, imitate=None) == default
    assert recipe_for("BAI-Bernoulli4-v0", imitate="none") == replace(default, imitate=None)
    assert recipe_for("BAI-Bernoulli4-v0", steps=7, entropy=0.0) == replace(default, steps=7, entropy=0.0)
    assert recipe_for("BAI-Bernoulli4-v0", network="mlp") == replace(default, network="mlp", width=128)


def test_wrong_values_are_refused() -> None:
    wrong: dict[str, tuple[Any, ...]] = {
        "algo": ("dqn",),
        "network": ("arm",),
        "rewards": ("ratings",),
        "seed": (-1,),
        "width": (0,),
        "steps": (-1, 1e6),
        "num_envs": (0, True),
        "imitated_steps": (0,),
        "epochs": (0,),
        "learning_rate": (0.0, float("nan"), float("inf"), "fast", True),
        "entropy": (-0.1, float("inf"), "much"),
    }
    for name, values in wrong.items():
        for value in values:
            with pytest.raises(BaiGymError, match=name):
                recipe_for("BAI-Bernoulli4-v0", **{name: value})
    with pytest.raises(ParameterError, match="nothing to do"):
        recipe_for("BAI-Bernoulli4-v0", steps=0, imitate="none")


def test_wrong_environments_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean BAI-Bernoulli4-v0"):
        recipe_for("BAI-Bernouli4-v0")
    with pytest.raises(ParameterError, match="'arms' of the"):
        recipe_for("BAI-Bernoulli4-v0", {"arms": 3})
    for env in ("BAI-TopM-Bernoulli10-v0", "BAI-MultiBandit2-v0", "BAI-FC-Bernoulli10-v0"):
        with pytest.raises(ParameterError, match="'arms' recommends one arm after a fixed budget: take network 'mlp'"):
            recipe_for(env, network="arms")


def test_a_real_experiment_is_no_environment_for_training() -> None:
    pytest.importorskip("bai_gym.live", reason="experiments of Python functions are part of that wing")
    with pytest.raises(ParameterError, match="is a real experiment: training would repeat it thousands of times"):
        recipe_for("BAI-Function-v0")


RECIPES: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("BAI-Bernoulli4-v0", {}, {}),
    ("BAI-Gaussian8-v0", {"budget": 60, "num_arms": 4}, {"seed": 3, "steps": 100, "num_envs": 5}),
    ("BAI-Bernoulli4-v0", {}, {"network": "mlp"}),
    ("BAI-Bernoulli4-v0", {}, {"network": "mlp", "width": 32, "imitate": "none", "algo": "a2c"}),
    ("BAI-Bernoulli4-v0", {}, {"imitate": "SHAdaVar(delta=0.1)", "imitated_steps": 10, "steps": 0}),
    ("BAI-Bernoulli4-v0", {"reward": "simple_regret"}, {"learning_rate": 3e-05, "entropy": 0.0, "epochs": 1}),
    ("BAI-TopM-Bernoulli10-v0", {"m": 4}, {"imitate": "UGapEb", "rewards": "any"}),
    ("BAI-FC-Bernoulli10-v0", {"pull_cost": 0.001, "budget": 40}, {}),
    ("BAI-Custom-v0", {"means": [0.5, 0.25, 0.0], "variances": None, "distribution": "bernoulli"}, {}),
    ("BAI-Custom-v0", {"means": np.array([0.5, 0.25]), "variances": np.float64(0.1)}, {"width": 8}),
    ("BAI-Table-v0", {"path": "5", "arm_column": "my page", "reward_column": "'sales'"}, {}),
    ("BAI-Table-v0", {"path": "true", "arm_column": "NaN", "reward_column": "nan"}, {}),
    ("BAI-Table-v0", {"path": Path("data") / "a log.csv", "arm_column": "page", "reward_column": "sales"}, {}),
]


@pytest.mark.each(("env", "keywords", "changes"), RECIPES, ids=str)
def test_the_command_gives_the_recipe_again(
    env: str, keywords: dict[str, Any], changes: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    if env == "BAI-Table-v0":
        file = tmp_path / str(keywords["path"])
        file.parent.mkdir(exist_ok=True)
        columns = [f'"{keywords[name]}"' for name in ("arm_column", "reward_column")]
        file.write_text(f"{','.join(columns)}\na,1\na,2\nb,2\nb,3\n")
    recipe = recipe_for(env, keywords, **changes)
    assert "\n" not in recipe.command()
    given: list[Recipe] = []

    class Enough(Exception):
        pass

    def noting(found: Recipe, *_: Any, **__: Any) -> None:
        given.append(found)
        raise Enough

    monkeypatch.setattr(training, "train", noting)
    program, *words = shlex.split(recipe.command())
    assert program == "bai-gym"
    with pytest.raises(Enough):
        app(words, standalone_mode=False)
    assert given == [recipe]
    assert given[0].to_json() == recipe.to_json()
    assert given[0].command() == recipe.command()
