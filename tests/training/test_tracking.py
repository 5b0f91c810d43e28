"""Trackers get what TensorBoard gets; Weights & Biases is tried without its server."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("stable_baselines3")
pytest.importorskip("tensorboard")

from bai_gym.errors import MissingPackageError
from bai_gym.training import Recipe, imitation, learning, recipe_for, train, weights_and_biases
from bai_gym.training.universal import UniversalRecipe, train_universal

pytestmark = pytest.mark.slow

SMALL: dict[str, Any] = {"num_envs": 8, "width": 8, "imitated_steps": 1, "epochs": 2}
Seen = list[tuple[int, dict[str, float]]]


@pytest.fixture
def recipe(monkeypatch: pytest.MonkeyPatch) -> Recipe:
    """Four updates."""
    monkeypatch.setattr(imitation, "ROUND", 200)
    monkeypatch.setattr(learning, "UPDATES", 2)
    return recipe_for("BAI-Bernoulli4-v0", {"budget": 8}, steps=288, **SMALL)


def events(folder: Path) -> dict[str, list[tuple[int, float]]]:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    found = EventAccumulator(str(folder / "tensorboard"))
    found.Reload()
    return {tag: [(event.step, event.value) for event in found.Scalars(tag)] for tag in found.Tags()["scalars"]}


def check(seen: Seen, folder: Path) -> None:
    """Compare what was passed on with the events of TensorBoard, which has single precision."""
    ours: dict[str, list[tuple[int, float]]] = {}
    for step, values in seen:
        for name, value in values.items():
            ours.setdefault(name, []).append((step, value))
    theirs = events(folder)
    assert ours.keys() == theirs.keys()
    for name, points in ours.items():
        assert points == [(step, pytest.approx(value, rel=1e-5)) for step, value in theirs[name]]


def test_trackers_get_what_tensorboard_gets(recipe: Recipe, tmp_path: Path) -> None:
    seen: Seen = []

    def on_values(values: Mapping[str, float], step: int) -> None:
        seen.append((step, dict(values)))

    train(recipe, tmp_path / "one", device="cpu", on_values=on_values)
    assert {"train/loss", "rollout/ep_rew_mean"} <= set(seen[-1][1]) and seen[-1][0] == 288
    check(seen, tmp_path / "one")
    seen.clear()
    train_universal(UniversalRecipe(steps=1, size=64, width=4), tmp_path / "two", device="cpu", on_values=on_values)
    assert {name for _, values in seen for name in values} == {"train/loss", "validation/error", "validation/log_error"}
    check(seen, tmp_path / "two")


def test_weights_and_biases_gets_values_and_a_run_that_follows_from_the_recipe(
    recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a package that only keeps what it is given: the real one is large, and wants a server."""
    runs: list[dict[str, Any]] = []
    logged: list[tuple[dict[str, float], int]] = []

    class Run(contextlib.nullcontext[None]):
        def log(self, values: dict[str, float], step: int) -> None:
            logged.append((values, step))

    def init(**keywords: Any) -> Run:
        runs.append(keywords)
        return Run()

    monkeypatch.setitem(sys.modules, "wandb", SimpleNamespace(init=init))
    for mine in (recipe, recipe, replace(recipe, seed=1)):  # the second as a resumption does
        with weights_and_biases("bandits", mine, tmp_path / "out") as on_values:
            on_values({"train/loss": 1.5}, 300)
    assert logged == [({"train/loss": 1.5}, 300)] * 3 and (tmp_path / "out").is_dir()
    first, again, other = runs
    assert first == again and first["id"] != other["id"] and first["resume"] == "allow"
    assert first["project"] == "bandits" and first["config"] == json.loads(recipe.to_json())


def test_without_wandb_nothing_is_begun(recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(MissingPackageError, match=r"bai-gym\[wandb\]"), weights_and_biases("x", recipe, tmp_path / "a"):
        pass
    assert list(tmp_path.iterdir()) == []
