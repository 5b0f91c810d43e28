"""Training by a recipe: it ends with the same bytes however often it is interrupted, and says what is wrong."""

from __future__ import annotations

import base64
import builtins
import contextlib
import io
import json
import os
import pickle
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("stable_baselines3")
pytest.importorskip("tensorboard")

import torch
from stable_baselines3 import A2C, PPO

from bai_gym import agents, evaluate
from bai_gym.agents.training import ArmNetwork
from bai_gym.errors import BaiGymError, DataError, MissingPackageError, OutputError, ParameterError
from bai_gym.training import ArmPolicy, Recipe, SB3Agent, imitation, learning, recipe_for, train

pytestmark = pytest.mark.slow

ENV = "BAI-Bernoulli4-v0"
SMALL: dict[str, Any] = {"num_envs": 8, "width": 8, "imitated_steps": 1, "epochs": 2}
PATIENCE = 60.0  # seconds until a checkpoint; far more than a loaded machine needs
Contents = Callable[[Path], dict[str, bytes]]


@pytest.fixture(autouse=True)
def short_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A round of imitation is short, and so are the parts between two checkpoints."""
    monkeypatch.setattr(imitation, "ROUND", 200)
    monkeypatch.setattr(learning, "UPDATES", 2)


def recipe(steps: int = 720, **changes: Any) -> Recipe:
    """By default ten updates of nine steps in each of eight episodes: five parts."""
    return recipe_for(ENV, {"budget": 8}, **{**SMALL, "steps": steps, **changes})


def weights(folder: Path) -> dict[str, Any]:
    return dict(ArmNetwork.load(folder / "weights.npz").weights)


def same_files(folder: Path, other: Path) -> bool:
    """Whether two trainings have left the same bytes, but for the times of TensorBoard's events."""
    files = [{file.name: file.read_bytes() for file in each.iterdir() if file.is_file()} for each in (folder, other)]
    return files[0] == files[1] and {"checkpoint.zip", "model.zip"} <= files[0].keys()


def stop_at(calls: int) -> Callable[[str, int, int], None]:
    """Interrupt at a call, as Ctrl-C would."""
    made = []

    def on_part(*given: Any) -> None:
        made.append(given)
        if len(made) == calls:
            raise KeyboardInterrupt

    return on_part


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a training that nobody has disturbed."""
    folder = tmp_path_factory.mktemp("undisturbed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(imitation, "ROUND", 200)
        patch.setattr(learning, "UPDATES", 2)
        train(recipe(), folder, device="cpu")
    return folder


# ------------------------------------------------------------------------------------------------ what it writes


def test_what_is_written(undisturbed: Path, tmp_path: Path) -> None:
    calls: list[tuple[str, int, int]] = []
    trained = train(recipe(), tmp_path, device="cpu", on_part=lambda *given: calls.append(given))
    assert calls == [("imitating A-GapE(b=1.0)", 1, 1), *(("learning", done, 10) for done in (2, 4, 6, 8, 10))]
    assert (trained.model, trained.weights) == (tmp_path / "model.zip", tmp_path / "weights.npz")
    assert (tmp_path / "recipe.json").read_text() == recipe().to_json() + "\n"
    assert same_files(tmp_path, undisturbed)  # whatever global generators hold
    learned, model = agents.make("Learned", path=trained.weights), PPO.load(trained.model, device="cpu")
    assert isinstance(model.policy, ArmPolicy) and model.num_timesteps == 720
    facts = learned.trained_on
    assert (facts["env"], facts["budget"], facts["num_arms"]) == (ENV, 8, 4)
    assert (facts["command"], facts["recipe"]) == (recipe().command(), json.loads(recipe().to_json()))
    given = {
        "pulls": np.array([[3, 2, 2, 1]]),
        "means": np.array([[1 / 3, 0.5, 1.0, 0.0]]),
        "variances": np.zeros((1, 4)),
        "remaining": np.array([[2]]),
    }
    tensors = {name: torch.as_tensor(array).float() for name, array in given.items()}
    with torch.no_grad():
        saved = model.policy.arm_logits(tensors).numpy()
    np.testing.assert_allclose(learned.network.logits(given), saved, atol=1e-4)


def test_events_for_tensorboard(undisturbed: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(undisturbed / "tensorboard"))
    events.Reload()
    tags = events.Tags()["scalars"]
    assert {"rollout/success_rate", "rollout/ep_rew_mean", "train/loss", "train/learning_rate"} <= set(tags)
    rates = events.Scalars("train/learning_rate")
    # Stable-baselines3 writes what it has found in an update with the next one.
    assert [event.step for event in rates] == [72 * done for done in range(2, 11)]
    expected = [recipe().learning_rate * (1 - done / 10) for done in (0, 0, 2, 2, 4, 4, 6, 6, 8)]
    np.testing.assert_allclose([event.value for event in rates], expected, rtol=1e-5)


def test_imitation_or_learning_alone(tmp_path: Path) -> None:
    calls: list[str] = []
    for changes in ({"steps": 72, "imitate": "none"}, {"steps": 0}, {"steps": 0, "seed": 1}):
        folder = tmp_path / str(len(calls))
        trained = train(recipe(**changes), folder, device="cpu", on_part=lambda words, *_: calls.append(words))
        assert PPO.load(trained.model, device="cpu").num_timesteps == changes["steps"]
    assert calls == ["learning", *["imitating A-GapE(b=1.0)"] * 2]
    one, other = ((tmp_path / name / "weights.npz").read_bytes() for name in "12")
    assert one != other and not (folder / "tensorboard").exists()


def test_weights_are_averaged_over_the_last_updates() -> None:
    model: Any = SimpleNamespace(policy=torch.nn.Linear(1, 1))
    for weight in (0.0, 3.0, 6.0):
        torch.nn.init.constant_(model.policy.weight, weight)
        learning._average(model)
    assert model.average[0] == 3 and model.average[1]["weight"].item() == 3.0


def test_every_part_plays_other_episodes(tmp_path: Path) -> None:
    train(recipe(imitate="none", learning_rate=1e-12), tmp_path, device="cpu")  # the policy stays as it is
    played = PPO.load(tmp_path / "checkpoint.zip", device="cpu").ep_info_buffer
    assert played is not None
    parts = np.reshape([info["r"] for info in played], (5, 16))  # each two updates of an episode of eight environments
    assert len({tuple(part) for part in parts.tolist()}) == 5


@pytest.mark.each("changes", [{"algo": "a2c"}, {"network": "mlp"}, {"num_envs": 5}], ids=str)
def test_other_recipes_end_with_the_same_weights_after_interruptions(changes: dict[str, Any], tmp_path: Path) -> None:
    mine = recipe(steps=360, **changes)
    whole = train(mine, tmp_path / "whole", device="cpu")  # a warning of stable-baselines3 would be an error here
    for calls in (2, 1):
        with pytest.raises(KeyboardInterrupt):
            train(mine, tmp_path / "parts", device="cpu", on_part=stop_at(calls))
    parts = train(mine, tmp_path / "parts", device="cpu")
    algorithm = {"a2c": A2C, "ppo": PPO}[mine.algo]
    models = [algorithm.load(trained.model, device="cpu") for trained in (whole, parts)]
    assert models[0].num_timesteps == mine.updates * mine.num_envs * 9 >= 360
    one, other = (model.policy.state_dict() for model in models)
    assert one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)
    assert (whole.weights is None) == (mine.network == "mlp") != (tmp_path / "whole/weights.npz").exists()
    assert evaluate(SB3Agent.load(whole.model), ENV, budget=8, runs=10).sample_complexity == 8


# ------------------------------------------------------------------------------------------------ interrupted


@pytest.mark.each("calls", [1, 2, 6])
def test_an_interrupted_training_ends_with_the_same_bytes(calls: int, undisturbed: Path, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        train(recipe(), tmp_path, device="cpu", on_part=stop_at(calls))
    assert not (tmp_path / "weights.npz").exists()
    torch.manual_seed(123)
    again: list[Any] = []
    for _ in range(2):  # the second time it is finished, and left alone
        train(recipe(), tmp_path, device="cpu", on_part=lambda *given: again.append(given))
    assert len(again) == (6 if calls == 1 else 6 - calls)
    np.testing.assert_equal(weights(tmp_path), weights(undisturbed))
    assert same_files(tmp_path, undisturbed)


def test_an_interrupted_imitation_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imitation, "STORE_SECONDS", -1.0)
    mine = recipe(steps=0, imitated_steps=1000)
    train(mine, tmp_path / "whole", device="cpu")
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            train(mine, tmp_path / "parts", device="cpu", on_part=stop_at(2))
    rounds: list[int] = []
    train(mine, tmp_path / "parts", device="cpu", on_part=lambda _, done, total: rounds.append(done))
    assert rounds == [3, 4, 5]
    assert same_files(tmp_path / "whole", tmp_path / "parts")


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs process groups")
def test_a_killed_training_ends_with_the_same_bytes(undisturbed: Path, tmp_path: Path) -> None:
    code = f"""if True:
        import time
        from bai_gym.training import Recipe, imitation, learning, train
        imitation.ROUND, learning.UPDATES = 200, 2
        save = learning._save
        def slowly(model, path, **keywords):  # so that the kill lands between two checkpoints
            save(model, path, **keywords)
            time.sleep(0.3)
        learning._save = slowly
        train(Recipe(**{json.loads(recipe().to_json())!r}), {str(tmp_path)!r}, device="cpu")
    """
    started = subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
    seen: set[int] = set()
    deadline = time.monotonic() + PATIENCE
    while len(seen) < 3 and time.monotonic() < deadline and started.poll() is None:
        time.sleep(0.01)
        if (tmp_path / "checkpoint.zip").exists():
            seen.add((tmp_path / "checkpoint.zip").stat().st_mtime_ns)
    os.killpg(started.pid, signal.SIGKILL)
    assert started.wait() == -signal.SIGKILL
    assert len(seen) == 3 and not (tmp_path / "weights.npz").exists()
    calls: list[Any] = []
    train(recipe(), tmp_path, device="cpu", on_part=lambda *given: calls.append(given))
    assert 0 < len(calls) < 5
    assert same_files(tmp_path, undisturbed)
    assert not list(tmp_path.rglob(".draft-*"))


# ------------------------------------------------------------------------------------------------ mistakes


def refused(error: type[BaiGymError], words: str, mine: Recipe, folder: Path, **keywords: Any) -> None:
    """Assert that a training is refused in one line, before any of it."""
    with pytest.raises(error, match=words) as caught:
        train(mine, folder, on_part=stop_at(1), **keywords)
    assert "\n" not in str(caught.value)


def test_a_finished_training_goes_on_to_more_steps(tmp_path: Path) -> None:
    train(recipe(), tmp_path, device="cpu")
    before = (tmp_path / "errors.csv").read_text().splitlines()
    assert before[0].startswith("steps,policy,SR,TTTS") and len(before) > 5
    trained = train(recipe(steps=1440), tmp_path, device="cpu")
    assert PPO.load(trained.model, device="cpu").num_timesteps == 1440
    after = (tmp_path / "errors.csv").read_text().splitlines()
    assert after[: len(before)] == before and int(float(after[-1].split(",")[0])) > 720
    assert all(0.0 < float(value) < 1.0 for value in after[-1].split(",")[1:])
    refused(ParameterError, r"of another recipe \(steps 1440 there, 720 here\)", recipe(), tmp_path)


def test_another_recipe_in_the_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        train(recipe(), tmp_path, device="cpu", on_part=stop_at(1))
    there = (tmp_path / "recipe.json").read_text()
    words = r"holds the training of another recipe \(seed 0 there, 3 here, width 8 there, 16 here\); choose another"
    refused(ParameterError, words, recipe(seed=3, width=16), tmp_path)
    refused(ParameterError, r"imitate A-GapE\(b=1.0\) there, None here", recipe(imitate="none"), tmp_path)
    assert (tmp_path / "recipe.json").read_text() == there
    for text in ("", "[]", '"arms"', "\xff\xfe", there.replace("\n", " ")):
        (tmp_path / "recipe.json").write_text(text, encoding="latin-1")
        refused(ParameterError, "holds the training of another recipe; choose another --out", recipe(), tmp_path)


def test_a_damaged_checkpoint_is_told(undisturbed: Path, tmp_path: Path) -> None:
    (tmp_path / "recipe.json").write_bytes((undisturbed / "recipe.json").read_bytes())
    whole = (undisturbed / "checkpoint.zip").read_bytes()
    for damaged in (b"", whole[:-200], b"x" + whole[1:500]):
        (tmp_path / "checkpoint.zip").write_bytes(damaged)
        refused(DataError, "checkpoint.zip is damaged: delete it to begin again, or choose another", recipe(), tmp_path)
    (tmp_path / "checkpoint.zip").unlink()
    train(recipe(), tmp_path, device="cpu")
    assert same_files(tmp_path, undisturbed)


class Payload:
    """Creates a file where it is unpickled."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.file,)


def test_a_foreign_folder_runs_no_code(tmp_path: Path) -> None:
    """Neither a checkpoint nor a model is unpickled, whatever part of it was exchanged."""
    mine, ran = recipe(steps=144, network="mlp", imitate="none"), tmp_path / "ran"
    trained = train(mine, tmp_path / "out", device="cpu")
    checkpoint, payload = tmp_path / "out" / "checkpoint.zip", pickle.dumps(Payload(ran))
    with zipfile.ZipFile(checkpoint) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    pickle.loads(payload)
    assert ran.exists()  # it would run
    ran.unlink()
    weights = io.BytesIO()
    torch.save(Payload(ran), weights)
    np.savez(arrays := io.BytesIO(), average=np.array([Payload(ran)], dtype=object))
    data = json.dumps(
        {name: {":serialized:": base64.b64encode(payload).decode()} for name in json.loads(parts["data"])}
    )
    hostile = {name: weights.getvalue() if ".pt" in name else arrays.getvalue() for name in parts} | {"data": data}
    for changed in ({"data"}, {"policy.pth"}, {"policy.optimizer.pth"}, {"average.npz"}, {"progress.json"}, set(parts)):
        for file in (checkpoint, trained.model):
            with zipfile.ZipFile(file, "w") as archive:
                for name, content in parts.items():
                    archive.writestr(name, hostile[name] if name in changed else content)
        with contextlib.suppress(DataError):
            train(mine, tmp_path / "out", device="cpu")
            SB3Agent.load(trained.model)  # as the command does
        assert not ran.exists(), changed


def test_mistakes_do_not_take_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "out"
    refused(BaiGymError, "unknown agent 'Nobody'", recipe(imitate="Nobody"), folder)
    five = recipe_for("BAI-Custom-v0", {"means": [0.0] * 5, "budget": 8}, imitate="A-GapE-V")
    refused(BaiGymError, "budget 8 is below the minimum of A-GapE-V for 5 arms", five, folder)
    refused(ParameterError, "PyTorch cannot compute on the device 'nonsense'", recipe(), folder, device="nonsense")
    if not torch.cuda.is_available():
        refused(ParameterError, "PyTorch cannot compute on the device 'cuda'", recipe(), folder, device="cuda")
    fixed = recipe_for("BAI-FC-Bernoulli10-v0", imitate="UGapEc")
    refused(ParameterError, "UGapEc cannot be imitated", fixed, folder)
    assert not folder.exists()
    (tmp_path / "taken").write_text("mine")
    refused(OutputError, "cannot write to the output folder", recipe(), tmp_path / "taken")


def test_without_tensorboard_nothing_is_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **keywords: Any) -> Any:
        if name.startswith(("tensorboard", "torch.utils.tensorboard")):
            raise ImportError(name)
        return real(name, *rest, **keywords)

    monkeypatch.setattr(builtins, "__import__", without)
    refused(MissingPackageError, r'TensorBoard, which is missing; pip install "bai-gym\[learn\]"', recipe(), tmp_path)
    assert list(tmp_path.iterdir()) == []


# ------------------------------------------------------------------------------------------------ the command


Command = Callable[..., tuple[object, str, str]]
RECIPE = ("--recipe", "num_envs=8", "--recipe", "width=8", "--recipe", "imitated_steps=1")
TRAIN = ("train", "sb3", ENV, "--set", "budget=8", *RECIPE)
QUICK = ("--steps", "100", "--runs", "40", "--device", "cpu")


def rows(out: str) -> list[str]:
    """The first column of the first table, in alphabetical order, without the further lines of a row."""
    lines = out.partition("└")[0].splitlines()
    cells = [line.split("│")[1].split(" [")[0].strip() for line in lines if line.startswith("│")]
    return sorted(filter(None, cells))


def test_the_command_trains_and_compares(outcome: Command, tmp_path: Path) -> None:
    code, out, err = outcome(*TRAIN, *QUICK, "--out", "mine")
    assert (code, err) == (0, "")
    first = out.splitlines()[0]
    assert first.startswith(f"bai-gym train sb3 {ENV} --set budget=8") and first.endswith(
        "(steps 100, 8 episodes at once)"
    )
    assert rows(out) == ["A-GapE(b=1.0)", "Learned(mine)", "SH-Reuse", "Uniform"]
    for kind, name in (("model", "model.zip"), ("weights", "weights.npz"), ("table", "results.csv")):
        assert f"{kind}: mine/{name}\n" in out
        assert (tmp_path / "mine" / name).stat().st_size > 0
    before = [(tmp_path / "mine" / name).read_bytes() for name in ("weights.npz", "results.csv")]
    assert outcome(*TRAIN, *QUICK, "--out", "mine")[0] == 0
    assert [(tmp_path / "mine" / name).read_bytes() for name in ("weights.npz", "results.csv")] == before
    code, out, err = outcome("run", ENV, "--agent", "Learned(path='mine/weights.npz')", "--runs", "20")
    assert (code, err) == (0, "")


@pytest.mark.each(
    ("env", "others"),
    [
        ("BAI-TopM-Bernoulli10-v0", ["Uniform", "SAR"]),
        ("BAI-FC-Bernoulli10-v0", ["T3C", "EB-TCI"]),
        ("BAI-GoodArm-Bernoulli10-v0", ["Uniform", "EB-TCI"]),
        ("BAI-CustomThresholding-v0", ["Uniform", "AugUCB"]),
        ("BAI-LinearTransductive5-v0", ["G-BAI", "Uniform"]),
    ],
)
def test_a_perceptron_is_compared_with_those_that_do_the_task(
    outcome: Command, env: str, others: list[str], contents: Contents, tmp_path: Path
) -> None:
    recipe = ("--recipe", "num_envs=4", "--recipe", "network=mlp", "--recipe", "imitated_steps=1")
    arms = ("--set", "means=[0.2,0.4,0.3,0.8,0.9]", "--set", "threshold=0.5") if "Custom" in env else ()
    words = ("train", "sb3", env, "--set", "budget=30", *arms, *recipe, *QUICK)
    code, out, err = outcome(*words)
    said = [line for line in err.splitlines() if not line.startswith(("learning: ", "bai-gym compiles"))]
    assert (code, said) == (0, []) and "weights:" not in out  # a slow machine says how far it is
    assert {*rows(out)} == {f"SB3(train-{env})", *others}
    before = contents(tmp_path)
    assert outcome(*words)[0] == 0
    assert contents(tmp_path) == before  # nothing is trained or played twice
