"""``bai-gym train``: train an agent, and compare it with analytic ones.

Each kind of training has a command of its own, and everything that its result depends on is a recipe, see
:mod:`bai_gym.training`: ``--steps``, ``--seed`` and the entries that ``--recipe`` gives by name.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bai_gym.agents import Learned, Universal
from bai_gym.agents.training.sb3 import SB3Agent
from bai_gym.api import compare, make_cells
from bai_gym.benchmark.runner import check_cells, check_runs
from bai_gym.cli.complete import AGENTS, ENVIRONMENTS
from bai_gym.cli.console import ERR, OUT, progress_bar, progress_bars
from bai_gym.cli.defaults import default_agents
from bai_gym.cli.options import FOLDER, WHOLE, Reuse, Seed, Workers, keywords
from bai_gym.cli.output import check_files, print_paths, print_results, result_files, save_all_results
from bai_gym.errors import unknown_name

if TYPE_CHECKING:
    from bai_gym.common.progress import OnStage
    from bai_gym.training import Recipe
    from bai_gym.training.tracking import OnValues
    from bai_gym.training.universal import UniversalRecipe

__all__ = ["app"]

CHECKPOINTS = ("checkpoint.zip", "checkpoint.pt", "imitation.pt")
LINE_SECONDS = 10.0  # between two lines of progress in a file or a pipe
HELD_OUT = "BAI-Gaussian8-v0"  # where a universal agent is compared: its family is not in the training

app = typer.Typer(
    help="Train an agent, then compare it with analytic ones.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)

_Env = Annotated[
    str,
    typer.Argument(help="Id of the environment, for example BAI-Bernoulli3-v0.", autocompletion=ENVIRONMENTS),
]
_Steps = Annotated[int | None, typer.Option(**WHOLE, help="Gradient steps. [default: 4000]")]
_Out = Annotated[
    Path | None,
    typer.Option(**FOLDER, help="Folder; the same command resumes an interrupted one. [default: results/train-...]"),
]
_Set = Annotated[
    list[str] | None, typer.Option("--set", help="Keyword of the environment, repeatable: --set budget=60")
]
_Device = Annotated[str, typer.Option(help="auto (a GPU if there is one), cpu or cuda.")]
_Project = Annotated[
    str | None, typer.Option(help="Project at Weights & Biases that the training is logged to. [default: none]")
]
_Agents = Annotated[
    list[str] | None,
    typer.Option(
        help="Agents to compare with at the end, repeatable; see `bai-gym run`. [default: some]", autocompletion=AGENTS
    ),
]
_Runs = Annotated[int, typer.Option(**WHOLE, help="Episodes of each agent in that comparison.")]


def _entries(example: str, words: str) -> Any:
    return typer.Option("--recipe", help=f"Entry of the recipe, repeatable: --recipe {example}; {words}.")


@app.command("sb3")
def sb3(
    env: _Env,
    steps: Annotated[
        int | None, typer.Option(**WHOLE, help="Steps of reinforcement learning; 0: imitation alone.")
    ] = None,
    seed: Seed = 0,
    out: _Out = None,
    set_: _Set = None,
    recipe: Annotated[
        list[str] | None,
        _entries(
            "imitate=none",
            "imitate (the agent to imitate first, or none), imitated_steps, algo (ppo or a2c), network (arms, for any "
            "number of arms; mlp, a plain perceptron), width, num_envs (episodes in a batch), learning_rate, entropy "
            "(its weight), epochs (passes over the steps of an update), rewards (any, or binary for 0 and 1)",
        ),
    ] = None,
    device: _Device = "auto",
    wandb: _Project = None,
    agent: _Agents = None,
    runs: _Runs = 4000,
    workers: Workers = 1,
    reuse: Reuse = None,
) -> None:
    """Train Learned by imitation, then by an algorithm of stable-baselines3."""
    from bai_gym.training import Recipe, recipe_for, train
    from bai_gym.training.learning import check_training

    check_runs(runs, workers)
    out = Path("results") / f"train-{env}" if out is None else out
    check_files(out, result_files())
    made = recipe_for(env, keywords(set_ or []), steps=steps, seed=seed, **_read(recipe, Recipe))
    others = agent or _others(made)
    check_cells(make_cells(others, env, None, seed, made.env_kwargs))  # reports mistakes before the training
    check_training(made, device)
    OUT.print(f"{made.command()} (steps {made.steps:,}, {made.num_envs} episodes at once)", soft_wrap=True)
    with _logged(wandb, made, out) as on_values, _progress(out) as on_part:
        trained = train(made, out, device=device, on_part=on_part, on_values=on_values)
    print_paths([trained.model, *([trained.weights] if trained.weights else [])])
    own = SB3Agent.load(trained.model) if trained.weights is None else Learned(path=trained.weights)
    _compare([own, *others], env, seed + 1, runs, workers, out, reuse, made.env_kwargs)


@app.command("universal")
def universal(
    steps: _Steps = None,
    seed: Seed = 0,
    out: _Out = None,
    recipe: Annotated[
        list[str] | None,
        _entries(
            "width=16",
            "stages (fewest and most of an episode: 6,20), families (of instances, with commas), questions (tasks, "
            "with commas), size (arms of all episodes of a batch), width (of the layers), learning_rate",
        ),
    ] = None,
    minutes: Annotated[float | None, typer.Option(help="Stop after this time; the same command resumes.")] = None,
    start_from: Annotated[Path | None, typer.Option(help="Weights to start from. [default: random ones]")] = None,
    device: _Device = "auto",
    wandb: _Project = None,
    agent: _Agents = None,
    runs: _Runs = 4000,
    workers: Workers = 1,
    reuse: Reuse = None,
) -> None:
    """Train Universal on instances of many families, by pathwise gradients."""
    from bai_gym.training.universal import UniversalRecipe, train_universal

    check_runs(runs, workers)
    out = Path("results") / "train-universal" if out is None else out
    check_files(out, result_files())
    made = UniversalRecipe(**_given(steps=steps), seed=seed, **_read(recipe, UniversalRecipe))
    others = agent or ["SH", "TTTS"]
    check_cells(make_cells(others, HELD_OUT, None, seed + 1))  # reports mistakes before the training
    with _logged(wandb, made, out) as on_values, _progress(out) as on_stage:
        weights = train_universal(
            made,
            out,
            start_from=start_from,
            device=device,
            minutes=minutes,
            on_step=lambda done, _: on_stage("training", done, made.steps),
            on_values=on_values,
        )
    own = Universal(path=weights)
    OUT.print(f"{own.trained_on['steps']:,} of {made.steps:,} steps; the learning curve is in {out / 'curve.jsonl'}")
    print_paths([weights])
    _compare([own, *others], HELD_OUT, seed + 1, runs, workers, out, reuse)


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _read(pairs: list[str] | None, recipe: type) -> dict[str, Any]:
    """Return the entries of a recipe that ``--recipe`` gives.

    Raises:
        UnknownNameError: If the recipe has no such entry.
        ParameterError: If one cannot be read.
    """
    read = keywords(pairs or [], "--recipe", "width=16")
    named = {"env": "the argument ENV", "env_kwargs": "--set", "seed": "--seed", "steps": "--steps"}
    allowed = [entry.name for entry in fields(recipe) if entry.name not in named]
    for name in read:
        if name not in allowed:
            way = f"give {named[name]}" if name in named else f"it has {', '.join(allowed)}"
            raise unknown_name("entry of the recipe", name, allowed, way)
    return read


def _compare(
    agents: list[Any],
    env: str,
    seed: int,
    runs: int,
    workers: int,
    out: Path,
    reuse: bool | None,
    given: Mapping[str, Any] | None = None,
) -> None:
    if reuse is None and any(cell.doubt for cell in make_cells(agents, env, None, seed, given)):
        reuse = False  # after hours of training nothing is refused
    with progress_bar("comparing") as on_chunk:
        comparison = compare(
            agents,
            env,
            runs=runs,
            seed=seed,
            workers=workers,
            env_kwargs=given,
            out=out,
            reuse=reuse,
            on_chunk=on_chunk,
        )
    print_results(comparison)
    print_paths(save_all_results(out)[1])


@contextmanager
def _progress(out: Path) -> Iterator[OnStage]:
    """Show the progress of training: by bars, and where nobody watches by a line now and then.

    An interruption says what is saved.
    """
    found = [out / name for name in CHECKPOINTS if (out / name).exists()]
    if found:
        OUT.print(f"resumes from {found[0]}", soft_wrap=True)
    with progress_bars() as bars:
        until = time.monotonic() + LINE_SECONDS

        def line(title: str, done: int, total: int | None) -> None:
            nonlocal until
            if time.monotonic() >= until:
                ERR.print(f"{title}: {done:,} of {total:,}", soft_wrap=True)
                until = time.monotonic() + LINE_SECONDS

        try:
            yield bars if ERR.is_terminal else line
        except KeyboardInterrupt as error:
            found = [out / name for name in CHECKPOINTS if (out / name).exists()]
            error.add_note(
                f"the last checkpoint is {found[0]}; the same command resumes"
                if found
                else f"nothing is saved in {out}"
            )
            raise


@contextmanager
def _logged(project: str | None, recipe: Recipe | UniversalRecipe, out: Path) -> Iterator[OnValues | None]:
    """Yield what logs at Weights & Biases, if a project is given."""
    from bai_gym.training import weights_and_biases

    if project is None:
        yield None
        return
    with weights_and_biases(project, recipe, out) as on_values:
        yield on_values


def _others(recipe: Recipe) -> list[str]:
    """Return agents for the comparison: two that can play there, and the one that was imitated."""
    names = default_agents([recipe.env], None, recipe.seed, recipe.env_kwargs)[:2]
    return list(dict.fromkeys([*names, *([recipe.imitate] if recipe.imitate else [])]))
