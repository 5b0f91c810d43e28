"""Training by a recipe: imitation, then reinforcement learning, with checkpoints from which a killed run resumes."""

from __future__ import annotations

import io
import json
import platform
import zipfile
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from stable_baselines3 import A2C, PPO
from stable_baselines3.common.logger import configure
from stable_baselines3.common.on_policy_algorithm import OnPolicyAlgorithm

from bai_gym.agents.training.sb3 import check_device
from bai_gym.common.seeding import generator
from bai_gym.errors import DataError, MissingPackageError, ParameterError
from bai_gym.results.writer import ResultsWriter, write_atomically
from bai_gym.training.imitation import check_teacher, imitate
from bai_gym.training.policy import ArmPolicy, export
from bai_gym.training.recipe import Recipe
from bai_gym.training.tracking import AgainstAgents, OnValues, Values
from bai_gym.training.vec_env import SB3VecEnv

__all__ = ["Trained", "check_training", "claim", "one_thread", "train"]

OnPart = Callable[[str, int, int], None]

UPDATES = 5  # between two checkpoints
AVERAGED = 0.3  # share of the updates, at the end, over which the weights are averaged
BATCH = 4096  # approximate size of a mini-batch (PPO); larger ones learn more slowly
DISCOUNT = 1.0  # only the final reward counts
TRACE = 0.98
CLIP = 0.15
FARTHEST = 0.02  # Kullback-Leibler divergence at which an update ends early
# Of episodes that nothing resumes; and what :func:`_save` stores otherwise.
UNSAVED = ("start_time", "_last_obs", "_last_episode_starts", "_last_original_obs", "average", "ep_success_buffer")
COUNTERS = ("num_timesteps", "_total_timesteps", "_num_timesteps_at_start", "_n_updates", "_episode_num")
PROGRESS, AVERAGE = "progress.json", "average.npz"  # within a checkpoint
LAYERS = 2  # of the multilayer perceptron
MEASUREMENTS = 10  # of errors beside other agents
MEASURED = 2_000_000  # steps of one, at most


@dataclass(frozen=True)
class Trained:
    """The files that training has written.

    Attributes:
        model: The model, for stable-baselines3 and for ``bai_gym.training.SB3Agent``.
        weights: The acting network for ``agents.make("Learned", path=...)``; None for network ``"mlp"``.
    """

    model: Path
    weights: Path | None


def check_training(recipe: Recipe, device: str) -> None:
    """Check the requirements of training, before anything is written.

    Raises:
        ParameterError: If there is no such device.
        MissingPackageError: If TensorBoard is not installed.
        BaiGymError: If the agent that is to be imitated does not exist, or cannot be imitated.
    """
    check_device(device)
    _check_tensorboard()
    if recipe.imitate is not None:
        check_teacher(recipe.imitate, recipe.source.built)


def train(
    recipe: Recipe,
    out: str | Path,
    *,
    device: str = "auto",
    on_part: OnPart | None = None,
    on_values: OnValues | None = None,
) -> Trained:
    """Train an agent, or resume an interrupted or killed run of the same recipe, or go on to a larger number of steps.

    The learning rate is then that of the longer training from here on, and weights are averaged anew at its end. The
    folder holds ``recipe.json``, ``checkpoint.zip`` (before it ``imitation.pt``), events for TensorBoard, and at
    the end ``model.zip`` and ``weights.npz``. All seeds are reset at each checkpoint, and no file but TensorBoard's
    holds a time, so an interrupted run ends with the same bytes as an uninterrupted one, on the same machine with the
    same packages.

    Resuming unpickles nothing, so the folder may come from others. Loading ``checkpoint.zip`` or ``model.zip`` with
    stable-baselines3, or as a ``SB3Agent``, does unpickle.

    Args:
        recipe: The recipe.
        out: The folder.
        device: ``"auto"`` (a GPU if there is one), ``"cpu"`` or ``"cuda"``.
        on_part: Called with (stage, finished parts, all parts).
        on_values: Called with what TensorBoard gets: (values by name, steps), see
            :func:`bai_gym.training.weights_and_biases`.

    Raises:
        ParameterError: If there is no such device, or the folder holds the training of another recipe.
        BaiGymError: If the agent that is to be imitated does not exist, or cannot be imitated.
        DataError: If the checkpoint is damaged.
        OutputError: If the folder cannot be written to.
        MissingPackageError: If TensorBoard is not installed.
    """
    check_training(recipe, device)
    seen = "statistics" if recipe.network == "arms" else "scaled"
    envs = SB3VecEnv(recipe.env, num_envs=recipe.num_envs, observation=seen, **recipe.env_kwargs)
    folder = ResultsWriter(Path(out)).folder
    claim(folder, recipe.to_json(), longer=True)
    checkpoint = folder / "checkpoint.zip"
    trained = Trained(folder / "model.zip", folder / "weights.npz" if recipe.network == "arms" else None)
    written = [path for path in (trained.model, trained.weights) if path is not None]
    report = on_part or (lambda *_: None)
    with one_thread():
        if checkpoint.exists():
            model = _resume(checkpoint, recipe, envs, device)
            if _updates_done(model, recipe) >= recipe.updates and all(path.exists() for path in written):
                _write_model(model, trained.model)  # the same bytes, unless the file was not ours
                return trained
        else:
            model = _start(recipe, envs, device)
            imitation = folder / "imitation.pt"
            _imitate(model, recipe, report, imitation)
            _save(model, checkpoint)
            imitation.unlink(missing_ok=True)
        _learn(model, recipe, checkpoint, report, on_values, _against(recipe, folder))
    _write_model(model, trained.model)
    _write_weights(model, trained, recipe)
    return trained


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep PyTorch to one thread: for such small networks more threads are slower if cores are busy."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _imitate(model: OnPolicyAlgorithm, recipe: Recipe, report: OnPart, kept: Path) -> None:
    if recipe.imitate is not None:
        stage = f"imitating {recipe.imitate}"
        env, steps = recipe.source.built, recipe.imitated_steps
        told = partial(report, stage)
        imitate(model.policy, recipe.imitate, env, steps, recipe.seed, told, kept)


def _against(recipe: Recipe, folder: Path) -> AgainstAgents | None:
    """Return what measures errors during a training; with fixed confidence, where episodes may not end, nothing."""
    if recipe.source.episode_spec.fixed_confidence:
        return None
    singly = recipe.source.episode_spec.tells_arms_apart  # such episodes are played one by one
    runs = 100 if singly else int(np.clip(MEASURED // recipe.rollout, 100, 2000))
    every = max(recipe.num_envs * recipe.rollout, recipe.steps // MEASUREMENTS)  # at most once between two updates
    return AgainstAgents(recipe.env, folder, every=every, runs=runs, seed=recipe.seed + 1, env_kwargs=recipe.env_kwargs)


def _learn(
    model: OnPolicyAlgorithm,
    recipe: Recipe,
    checkpoint: Path,
    report: OnPart,
    on_values: OnValues | None,
    against: AgainstAgents | None,
) -> None:
    done = _updates_done(model, recipe)
    if done >= recipe.updates:
        return
    logger = configure(str(checkpoint.parent / "tensorboard"), ["tensorboard"])
    if on_values is not None:
        logger.output_formats.append(Values(on_values))
    model.set_logger(logger)
    try:
        while done < recipe.updates:
            part = min(UPDATES, recipe.updates - done)
            model.learning_rate = recipe.learning_rate * (1.0 - done / recipe.updates)
            model._setup_lr_schedule()
            model.set_random_seed(int(generator(recipe.seed, "learning", done).integers(2**31)))
            model._last_obs = None  # new episodes, as after a kill
            steps = part * recipe.num_envs * recipe.rollout
            model.learn(steps, reset_num_timesteps=model.num_timesteps == 0, callback=against)
            done += part
            if done > (1.0 - AVERAGED) * recipe.updates:
                _average(model)
            else:
                vars(model).pop("average", None)  # of a shorter training
            _save(model, checkpoint)
            report("learning", done, recipe.updates)
    finally:
        logger.close()


def _average(model: OnPolicyAlgorithm) -> None:
    """Add the weights to the average, an attribute of the model, which is saved with it.

    Single updates are noisy, since the end of an episode carries little information about one pull; their average is
    less noisy. Source: Polyak and Juditsky (1992), "Acceleration of Stochastic Approximation by Averaging".
    """
    start: tuple[int, dict[str, npt.NDArray[Any]]] = (0, {})
    count, before = getattr(model, "average", start)
    now = {name: value.detach().cpu() for name, value in model.policy.state_dict().items()}
    mean = {name: torch.as_tensor(before.get(name, value)) for name, value in now.items()}
    mean = {name: mean[name] + (value - mean[name]) / (count + 1) for name, value in now.items()}
    model.average = (count + 1, {name: value.numpy() for name, value in mean.items()})  # type: ignore[attr-defined]


def _updates_done(model: OnPolicyAlgorithm, recipe: Recipe) -> int:
    return model.num_timesteps // (recipe.num_envs * recipe.rollout)


def claim(folder: Path, recipe: str, *, longer: bool = False) -> None:
    """Write a recipe (JSON), or compare it with the one that is there, which may have fewer steps if ``longer``.

    Raises:
        ParameterError: If the folder holds the training of another recipe.
    """
    path = folder / "recipe.json"
    text = recipe + "\n"
    if path.exists():
        there = path.read_text(encoding="utf-8", errors="replace")
        if there != text and not (longer and _goes_on(there, text)):
            raise ParameterError(
                f"{folder} holds the training of another recipe{_difference(there, text)}; choose another --out, or "
                "repeat the command that began it"
            )
        if there == text:
            return
    with write_atomically(path) as draft:
        draft.write_text(text, encoding="utf-8", newline="\n")


def _goes_on(there: str, here: str) -> bool:
    """Return whether a recipe is another one with more steps."""
    try:
        old, new = json.loads(there), json.loads(here)
        return bool(0 < old["steps"] < new["steps"]) and old | {"steps": new["steps"]} == new
    except (ValueError, TypeError, KeyError):
        return False


def _difference(there: str, here: str) -> str:
    try:
        old, new = json.loads(there), json.loads(here)
        differing = [(name, old.get(name), new[name]) for name in new if old.get(name) != new[name]]
    except (ValueError, AttributeError):
        return ""
    return f" ({', '.join(f'{name} {one} there, {other} here' for name, one, other in differing)})" if differing else ""


def _start(recipe: Recipe, envs: SB3VecEnv, device: str) -> OnPolicyAlgorithm:
    keywords: dict[str, Any] = {
        "env": envs,
        "learning_rate": recipe.learning_rate,
        "n_steps": recipe.rollout,
        "gamma": DISCOUNT,
        "gae_lambda": TRACE,
        "ent_coef": recipe.entropy,
        "vf_coef": 0.5,
        "seed": int(generator(recipe.seed, "weights").integers(2**31)),
        "device": device,
    }
    if recipe.network == "arms":
        keywords["policy"] = ArmPolicy
        keywords["policy_kwargs"] = {"rewards": recipe.rewards, "width": recipe.width}
    else:
        keywords |= {"policy": "MlpPolicy", "policy_kwargs": {"net_arch": [recipe.width] * LAYERS}}
    if recipe.algo == "a2c":
        return A2C(**keywords, normalize_advantage=True, use_rms_prop=False)
    steps = recipe.num_envs * recipe.rollout
    # Parts of equal size, as close as possible to the desired size.
    parts = min((n for n in range(1, steps) if steps % n == 0), key=lambda n: abs(n - steps / BATCH), default=1)
    return PPO(
        **keywords,
        batch_size=steps // parts,
        n_epochs=recipe.epochs,
        clip_range=CLIP,
        target_kl=FARTHEST,
    )


def _resume(checkpoint: Path, recipe: Recipe, envs: SB3VecEnv, device: str) -> OnPolicyAlgorithm:
    """Return the model of a checkpoint: one made by the recipe, with the weights and the counters of the file.

    The pickled attributes of the file are not read, because a folder of results may come from anyone.
    """
    model = _start(recipe, envs, device)
    try:
        with zipfile.ZipFile(checkpoint) as archive:
            states = {
                name: torch.load(io.BytesIO(archive.read(f"{name}.pth")), map_location=model.device, weights_only=True)
                for name in ("policy", "policy.optimizer")
            }
            model.set_parameters(states, device=device)
            progress = json.loads(archive.read(PROGRESS))
            for name in COUNTERS:
                setattr(model, name, int(progress[name]))
            model.learning_rate = float(progress["learning_rate"])
            model._setup_lr_schedule()
            model._current_progress_remaining = float(progress["remaining"])
            model.ep_info_buffer = deque(map(_episode, progress["episodes"]), maxlen=model._stats_window_size)
            model.ep_success_buffer = deque(map(bool, progress["successes"]), maxlen=model._stats_window_size)
            if progress["averaged"]:
                arrays = np.load(io.BytesIO(archive.read(AVERAGE)), allow_pickle=False)
                model.average = (int(progress["averaged"]), dict(arrays))  # type: ignore[attr-defined]
    except Exception:  # a damaged file can raise anything
        raise DataError(f"{checkpoint} is damaged: delete it to begin again, or choose another --out") from None
    return model


def _episode(info: dict[str, float]) -> dict[str, float]:
    """Return the reward and the length of an episode, without its time."""
    return {"r": float(info["r"]), "l": int(info["l"]), "t": 0.0}


def _check_tensorboard() -> None:
    try:
        import torch.utils.tensorboard  # noqa: F401
    except ImportError as error:
        raise MissingPackageError(
            'training writes logs for TensorBoard, which is missing; pip install "bai-gym[learn]"'
        ) from error


def _save(model: OnPolicyAlgorithm, path: Path, *, is_checkpoint: bool = True) -> None:
    """Save the model without clock times and random states of the operating system: as the same bytes every time.

    The file is one of stable-baselines3. A checkpoint also holds, as JSON and arrays, what :func:`_resume` needs.
    """
    for space in (model.observation_space, model.action_space):
        space.seed(0)  # by default Gymnasium takes one from the system; nothing is drawn from the spaces
        repr(space)  # which some spaces keep
    episodes = [_episode(info) for info in model.ep_info_buffer or ()]
    model.ep_info_buffer = deque(episodes, maxlen=model._stats_window_size)
    with write_atomically(path) as draft:
        model.save(draft, exclude=UNSAVED)
        with zipfile.ZipFile(draft) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
        parts["data"] = _without_descriptions(parts["data"])
        if is_checkpoint:
            averaged, mean = getattr(model, "average", (0, {}))
            progress = {
                **{name: getattr(model, name) for name in COUNTERS},
                "learning_rate": model.learning_rate,
                "remaining": model._current_progress_remaining,
                "episodes": episodes,
                "successes": list(map(bool, model.ep_success_buffer or ())),
                "averaged": averaged,
            }
            parts[PROGRESS] = json.dumps(progress).encode()
            np.savez(arrays := io.BytesIO(), **mean)
            parts[AVERAGE] = arrays.getvalue()
        with zipfile.ZipFile(draft, "w") as archive:
            for name, content in parts.items():
                archive.writestr(zipfile.ZipInfo(name), content)


def _without_descriptions(data: bytes) -> bytes:
    """Return the attributes of a model without what only describes pickled objects, because it holds addresses."""
    values = json.loads(data)
    for value in values.values():
        if isinstance(value, dict) and ":serialized:" in value:
            for name in value.keys() - {":type:", ":serialized:"}:
                del value[name]
    return json.dumps(values, indent=4).encode()


def _write_model(model: OnPolicyAlgorithm, path: Path) -> None:
    _, mean = getattr(model, "average", (0, None))
    if mean is not None:
        model.policy.load_state_dict({name: torch.as_tensor(value) for name, value in mean.items()})
    _save(model, path, is_checkpoint=False)


def _write_weights(model: OnPolicyAlgorithm, trained: Trained, recipe: Recipe) -> None:
    if trained.weights is None or not isinstance(model.policy, ArmPolicy):
        return
    facts = {
        "env": recipe.env,
        "budget": recipe.source.built.budget,
        "num_arms": recipe.source.problem.num_arms,
        "command": recipe.command(),
        "recipe": json.loads(recipe.to_json()),
        "versions": {name: version(name) for name in ("bai-gym", "stable-baselines3", "torch", "numpy")},
        "python": platform.python_version(),
    }
    with write_atomically(trained.weights) as draft:
        export(model.policy, facts).save(draft)
