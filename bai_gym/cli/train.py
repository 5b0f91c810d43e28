"""``bai-gym train``: train an agent on an environment, and compare it with analytic ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bai_gym.agents import DPT, ICPE, Learned, SB3Agent, Universal
from bai_gym.api import compare, make_cells
from bai_gym.benchmark.runner import check_cells, check_runs
from bai_gym.cli.complete import AGENTS, ENVIRONMENTS
from bai_gym.cli.console import OUT, progress_bar, progress_bars
from bai_gym.cli.options import FOLDER, WHOLE, Reuse, Seed, Workers, keywords
from bai_gym.cli.output import check_files, print_paths, print_results, result_files, save_all_results
from bai_gym.errors import ParameterError
from bai_gym.tasks import BestArm

if TYPE_CHECKING:
    from bai_gym.training import Recipe
    from bai_gym.training.tracking import OnValues
    from bai_gym.training.universal import UniversalRecipe

__all__ = ["train"]

HELD_OUT = "BAI-Gaussian8-v0"  # where a universal agent is compared: its family is not in the training


def train(
    env: Annotated[
        str | None,
        typer.Argument(
            help="Id of the environment, for example BAI-Bernoulli3-v0; none with --universal.",
            autocompletion=ENVIRONMENTS,
        ),
    ] = None,
    universal: Annotated[
        bool, typer.Option("--universal", help="Train Universal, on instances of many families, by pathwise gradients.")
    ] = False,
    in_context: Annotated[
        bool,
        typer.Option("--in-context", help="Train DPT and ICPE: to predict the best arm, then to find it (by DQN)."),
    ] = False,
    algo: Annotated[str, typer.Option(help="Algorithm of stable-baselines3: ppo or a2c.")] = "ppo",
    steps: Annotated[
        int | None,
        typer.Option(
            **WHOLE,
            help="Steps of reinforcement learning; 0: imitation alone. --universal, --in-context: gradient steps.",
        ),
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
    width: Annotated[
        int | None, typer.Option(**WHOLE, help="Width of the layers. [default: 32, mlp 128, with --universal 48]")
    ] = None,
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
        typer.Option(
            help="Agents to compare with at the end, repeatable; see `bai-gym run`. [default: some]",
            autocompletion=AGENTS,
        ),
    ] = None,
    value_steps: Annotated[
        int | None, typer.Option(**WHOLE, help="With --in-context: gradient steps of the network that chooses pulls.")
    ] = None,
    stages: Annotated[
        str | None, typer.Option(help="With --universal: fewest and most stages of an episode. [default: 6-20]")
    ] = None,
    family: Annotated[
        list[str] | None, typer.Option(help="With --universal: families of instances, repeatable. [default: all]")
    ] = None,
    without: Annotated[
        list[str] | None, typer.Option(help="With --universal: features that are left out, repeatable. [default: none]")
    ] = None,
    size: Annotated[
        int | None, typer.Option(**WHOLE, help="With --universal: arms of all episodes of a batch. [default: 8000]")
    ] = None,
    start_from: Annotated[
        Path | None, typer.Option(help="With --universal: weights to start from. [default: random ones]")
    ] = None,
    minutes: Annotated[
        float | None, typer.Option(help="With --universal: stop after this time; the same command resumes.")
    ] = None,
    wandb: Annotated[
        str | None, typer.Option(help="Project at Weights & Biases that the training is logged to. [default: none]")
    ] = None,
    runs: Annotated[int, typer.Option(**WHOLE, help="Episodes of each agent in that comparison.")] = 4000,
    workers: Workers = 1,
    reuse: Reuse = None,
) -> None:
    """Train an agent on an environment, then compare it with analytic ones."""
    of_policies = {
        "--imitate": imitate,
        "--imitated-steps": imitated_steps,
        "--network": network,
        "--num-envs": num_envs,
        "--entropy": entropy,
        "--epochs": epochs,
        "--rewards": rewards,
    }
    of_environments = {"--set": set_, "an environment": env}
    of_in_context = {"--in-context": in_context or None, "--value-steps": value_steps}
    of_universal = {
        "--stages": stages,
        "--family": family,
        "--without": without,
        "--size": size,
        "--start-from": start_from,
        "--minutes": minutes,
    }
    if universal:
        _reject(
            of_policies | of_environments | of_in_context,
            "cannot be given with --universal, which trains for all environments",
        )
        given = {"steps": steps, "size": size, "width": width, "learning_rate": learning_rate}
        options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        if stages is not None:
            options["stages"] = _two(stages)
        if family:
            options["families"] = tuple(family)
        if without:
            options["without"] = tuple(without)
        how = {"start_from": start_from, "device": device, "minutes": minutes}
        _train_universal({"seed": seed, **options}, out, how, wandb, agent or ["SH", "TTTS"], runs, workers, reuse)
        return
    _reject(of_universal, "can only be given with --universal")
    if env is None:
        raise ParameterError("give the id of an environment, or --universal")
    if in_context:
        _reject(of_policies | {"--wandb": wandb}, "cannot be given with --in-context")
        given = {"steps": steps, "value_steps": value_steps, "width": width, "learning_rate": learning_rate}
        options = {name: value for name, value in given.items() if value is not None}
        options |= {"env": env, "env_kwargs": keywords(set_ or []), "seed": seed}
        _train_in_context(options, out, agent, runs, workers, reuse)
        return
    _reject(of_in_context, "can only be given with --in-context")
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
    with _logged(wandb, recipe, out) as on_values, progress_bars() as on_part:
        trained = train_by(recipe, out, device=device, on_part=on_part, on_values=on_values)
    print_paths([trained.model, *([trained.weights] if trained.weights else [])])
    own = SB3Agent.load(trained.model) if trained.weights is None else Learned(path=trained.weights)
    _compare([own, *others], env, seed + 1, runs, workers, out, reuse, recipe.env_kwargs)


def _train_universal(
    options: dict[str, Any],
    out: Path | None,
    how: dict[str, Any],
    project: str | None,
    others: list[str],
    runs: int,
    workers: int,
    reuse: bool | None,
) -> None:
    """Train the universal agent, and compare it where it was not trained."""
    from bai_gym.training.universal import UniversalRecipe, train_universal

    check_runs(runs, workers)
    out = Path("results") / "train-universal" if out is None else out
    check_files(out, result_files())
    recipe = UniversalRecipe(**options)
    seed = recipe.seed + 1
    check_cells(make_cells(others, HELD_OUT, None, seed))  # reports mistakes before the training
    with _logged(project, recipe, out) as on_values, progress_bars() as on_stage:
        weights = train_universal(
            recipe,
            out,
            on_step=lambda done, _: on_stage("training", done, recipe.steps),
            on_values=on_values,
            **how,
        )
    own = Universal(path=weights)
    OUT.print(f"{own.trained_on['steps']:,} of {recipe.steps:,} steps; the learning curve is in {out / 'curve.jsonl'}")
    print_paths([weights])
    _compare([own, *others], HELD_OUT, seed, runs, workers, out, reuse)


def _train_in_context(
    options: dict[str, Any],
    out: Path | None,
    others: list[str] | None,
    runs: int,
    workers: int,
    reuse: bool | None,
) -> None:
    """Train the networks of DPT and ICPE, and compare the two agents."""
    from bai_gym.training import InContextRecipe, train_in_context

    check_runs(runs, workers)
    recipe = InContextRecipe(**options)
    out = Path("results") / f"train-in-context-{recipe.env}" if out is None else out
    check_files(out, result_files())
    others = others or ["Uniform", "SH"]
    check_cells(make_cells(others, recipe.env, None, recipe.seed, recipe.env_kwargs))  # reports mistakes early
    OUT.print(f"{recipe.command()} (steps {recipe.steps:,} and {recipe.value_steps:,})", soft_wrap=True)
    with progress_bars() as on_part:
        weights = train_in_context(recipe, out, on_part=on_part)
    print_paths([weights])
    agents = [DPT(path=weights), ICPE(path=weights), *others]
    _compare(agents, recipe.env, recipe.seed + 1, runs, workers, out, reuse, recipe.env_kwargs)


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
def _logged(project: str | None, recipe: Recipe | UniversalRecipe, out: Path) -> Iterator[OnValues | None]:
    """Yield what logs at Weights & Biases, if a project is given."""
    from bai_gym.training import weights_and_biases

    if project is None:
        yield None
        return
    with weights_and_biases(project, recipe, out) as on_values:
        yield on_values


def _reject(options: dict[str, Any], words: str) -> None:
    for name, value in options.items():
        if value is not None:
            raise ParameterError(f"{name} {words}")


def _two(stages: str) -> tuple[int, int]:
    """Return the two numbers of ``"6-18"``."""
    first, dash, last = stages.partition("-")
    if not (dash and first.isdecimal() and last.isdecimal()):
        raise ParameterError(f"--stages must be the fewest and the most, such as 6-18, not {stages!r}")
    return int(first), int(last)


def _others(recipe: Recipe) -> list[str]:
    """Return agents for the comparison: those that can play there."""
    rules = recipe.source.built.episode_spec
    if rules.fixed_confidence:
        return ["UGapEc"]
    adaptive = "SH" if isinstance(rules.task, BestArm) else "UGapEb"
    return list(dict.fromkeys(["Uniform", adaptive, *([recipe.imitate] if recipe.imitate else [])]))
