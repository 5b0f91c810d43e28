"""``bai-gym train``: train an agent on an environment, and compare it with analytic ones."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bai_gym.agents import Learned, SB3Agent
from bai_gym.api import make_cells
from bai_gym.benchmark.runner import check_cells, check_runs, run_cells
from bai_gym.cli.console import OUT, progress_bar, progress_bars
from bai_gym.cli.options import FOLDER, WHOLE, Seed, Workers, keywords
from bai_gym.cli.output import check_files, print_paths, print_results, result_files, save_results
from bai_gym.rerun import rerun_command
from bai_gym.results.reader import gather
from bai_gym.results.writer import RESULTS
from bai_gym.tasks import BestArm

if TYPE_CHECKING:
    from bai_gym.training import Recipe

__all__ = ["train"]


def train(
    env: Annotated[str, typer.Argument(help="Id of the environment, for example BAI-Bernoulli3-v0.")],
    algo: Annotated[str, typer.Option(help="Algorithm of stable-baselines3: ppo or a2c.")] = "ppo",
    steps: Annotated[
        int | None, typer.Option(**WHOLE, help="Steps of reinforcement learning; 0: imitation alone.")
    ] = None,
    seed: Seed = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            **FOLDER,
            help="Folder; the same command resumes an interrupted one. [default: results/train-ENV]",
        ),
    ] = None,
    imitate: Annotated[
        str | None,
        typer.Option(help="Agent to imitate first, or none. [default: one that fits the environment]"),
    ] = None,
    imitated_steps: Annotated[int | None, typer.Option(**WHOLE, help="Steps of that agent to imitate.")] = None,
    network: Annotated[
        str | None, typer.Option(help="arms: works for any number of arms; mlp: a plain perceptron. [default: arms]")
    ] = None,
    width: Annotated[int | None, typer.Option(**WHOLE, help="Width of the layers. [default: 32, mlp 128]")] = None,
    num_envs: Annotated[
        int | None, typer.Option(**WHOLE, help="Episodes in a batch. [default: by their length]")
    ] = None,
    learning_rate: Annotated[float | None, typer.Option(help="Initial value; it decreases to 0.")] = None,
    entropy: Annotated[float | None, typer.Option(help="Weight of the entropy of the actions.")] = None,
    epochs: Annotated[int | None, typer.Option(**WHOLE, help="Passes over the steps of an update.")] = None,
    rewards: Annotated[
        str | None, typer.Option(help="Kind of rewards: any, or binary for 0 and 1. [default: by the environment]")
    ] = None,
    device: Annotated[str, typer.Option(help="auto (a GPU if there is one), cpu or cuda.")] = "auto",
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="Keyword of the environment, repeatable: --set budget=60")
    ] = None,
    agent: Annotated[
        list[str] | None,
        typer.Option(help="Agents to compare with at the end, repeatable; see `bai-gym run`. [default: some]"),
    ] = None,
    runs: Annotated[int, typer.Option(**WHOLE, help="Episodes of each agent in that comparison.")] = 4000,
    workers: Workers = 1,
) -> None:
    """Train an agent on an environment, then compare it with analytic ones."""
    from bai_gym.training import recipe_for
    from bai_gym.training import train as train_by
    from bai_gym.training.learning import check_training

    check_runs(runs, workers)
    out = Path("results") / f"train-{env}" if out is None else out
    check_files(out, result_files())
    recipe = recipe_for(
        env,
        keywords(set_ or []),
        algo=algo,
        steps=steps,
        seed=seed,
        imitate=imitate,
        imitated_steps=imitated_steps,
        network=network,
        width=width,
        num_envs=num_envs,
        learning_rate=learning_rate,
        entropy=entropy,
        epochs=epochs,
        rewards=rewards,
    )
    others = agent or _others(recipe)
    check_cells(make_cells(others, env, None, seed, recipe.env_kwargs))  # reports mistakes before the training
    check_training(recipe, device)
    OUT.print(f"{recipe.command()} (steps {recipe.steps:,}, {recipe.num_envs} episodes at once)", soft_wrap=True)
    with progress_bars() as on_part:
        trained = train_by(recipe, out, device=device, on_part=on_part)
    print_paths([trained.model, *([trained.weights] if trained.weights else [])])
    own = SB3Agent.load(trained.model) if trained.weights is None else Learned(path=trained.weights)
    with progress_bar("comparing") as on_chunk:
        cells = make_cells([own, *others], env, None, seed + 1, recipe.env_kwargs)
        comparison = run_cells(cells, runs, workers=workers, out=out, on_chunk=on_chunk, rerun=rerun_command)
    print_results(comparison)
    table = gather(out / RESULTS, comparison, rerun_command(cells, runs))
    print_paths(save_results(table.results, out, optima=table.optima, facts={"command": table.command}))


def _others(recipe: Recipe) -> list[str]:
    """Return agents for the comparison: those that can play there."""
    rules = recipe.source.built.episode_spec
    if rules.fixed_confidence:
        return ["UGapEc"]
    adaptive = "SH" if isinstance(rules.task, BestArm) else "UGapEb"
    return list(dict.fromkeys(["Uniform", adaptive, *([recipe.imitate] if recipe.imitate else [])]))
