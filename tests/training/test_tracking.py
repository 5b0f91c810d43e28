"""Trackers get what TensorBoard gets; Weights & Biases is tried without its server."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("stable_baselines3")
pytest.importorskip("tensorboard")

from bai_gym.cli import main
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


def test_weights_and_biases_logs_the_training(
    recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("wandb", reason="wandb is large, and not installed for the tests")
    for name, value in (("WANDB_MODE", "offline"), ("WANDB_SILENT", "true"), ("WANDB_DISABLE_GIT", "true")):
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    words = [
        *recipe.command().split()[1:],
        "--device",
        "cpu",
        "--agent",
        "Uniform",
        "--runs",
        "40",
        "--out",
        "out",
        "--wandb",
        "bandits",
    ]
    monkeypatch.setattr(sys, "argv", ["bai-gym", *words])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code in (None, 0), capsys.readouterr()
    with weights_and_biases("bandits", recipe, "out") as on_values:  # as a resumption does
        on_values({"train/later": 1.5}, 300)
    with weights_and_biases("bandits", replace(recipe, seed=1), "other") as on_values:
        on_values({"train/later": 1.5}, 300)
    first, second = sorted(Path("out/wandb").glob("offline-run-*/run-*.wandb"))
    (other,) = Path("other/wandb").glob("offline-run-*/run-*.wandb")
    assert first.name == second.name != other.name  # the id of the run, which follows from the recipe
    for run, names in (
        (first, ("train/loss", "rollout/ep_rew_mean", *json.loads(recipe.to_json()))),
        (second, ("train/later",)),
        (other, ("train/later",)),
    ):
        wait_for(run, names)


def wait_for(run: Path, names: Iterable[str]) -> None:
    """Wait until a process of Weights & Biases has written what was logged."""
    for _ in range(300):
        missing = [name for name in names if name.encode() not in run.read_bytes()]
        if not missing:
            return
        time.sleep(0.1)
    raise AssertionError(f"{run} lacks {missing}")


def test_without_wandb_nothing_is_begun(recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(MissingPackageError, match=r"bai-gym\[wandb\]"), weights_and_biases("x", recipe, tmp_path / "a"):
        pass
    assert list(tmp_path.iterdir()) == []
