"""``bai-gym run``: compare agents on environments."""

from __future__ import annotations

from typing import Annotated

import typer

from bai_gym.cli.complete import AGENTS, ENVIRONMENTS
from bai_gym.cli.connect import Address, Backend, check_backend_options, connected
from bai_gym.cli.options import (
    AMOUNT,
    WHOLE,
    Bounds,
    Costs,
    Optimum,
    Out,
    Record,
    Reuse,
    Seed,
    env_keywords,
    read_checkpoints,
)

__all__ = ["run"]


def run(
    envs: Annotated[
        list[str],
        typer.Argument(
            metavar="ENV", help="Ids of environments, for example BAI-Gaussian64-v0.", autocompletion=ENVIRONMENTS
        ),
    ],
    agent: Annotated[
        list[str] | None,
        typer.Option(
            help="Agent, repeatable; parameters in brackets: 'SHAdaVar(delta=0.1)'. Your own: mine.py:Thirds, "
            "package.module:Thirds, or model.zip of stable-baselines3. [default: some that fit the task "
            "and require no oracle knowledge]",
            autocompletion=AGENTS,
        ),
    ] = None,
    budget: Annotated[
        list[float] | None,
        typer.Option(
            **AMOUNT,
            help="Pulls per episode, or money with --costs; repeatable. [default: that of each environment]",
        ),
    ] = None,
    costs: Costs = None,
    runs: Annotated[int, typer.Option(**WHOLE, help="Independent episodes of each agent at each budget.")] = 1000,
    seed: Seed = 0,
    workers: Annotated[int | None, typer.Option(**WHOLE, help="Processes; -1 for all cores. [default: 1]")] = None,
    backend: Backend = "loky",
    address: Address = None,
    out: Out = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="Keyword of the environments, repeatable: --set num_arms=8 --set path=log.csv"),
    ] = None,
    path: Annotated[
        str, typer.Option(help="How episodes are played: auto, blocks or steps. Results have the same distribution.")
    ] = "auto",
    checkpoints: Annotated[
        str | None,
        typer.Option(help="Score recommendations at intermediate budgets: 100 for every 100 pulls, or 500,1000,2000."),
    ] = None,
    bounds: Bounds = False,
    optimum: Optimum = False,
    record: Record = 0,
    reuse: Reuse = None,
) -> None:
    """Compare agents on environments: a table, and with --out figures and files."""
    from bai_gym.api import compare, make_cells
    from bai_gym.benchmark.bounds import proved_bounds
    from bai_gym.benchmark.optima import known_optima
    from bai_gym.benchmark.runner import check_runs
    from bai_gym.cli.defaults import default_agents
    from bai_gym.cli.figures import FIGURE, draw_comparison
    from bai_gym.cli.output import (
        check_files,
        print_bounds,
        print_missing,
        print_paths,
        print_results,
        result_files,
        save_all_results,
    )

    if out is not None:
        check_files(out, (*result_files(), FIGURE))
    check_runs(runs, workers)
    check_backend_options(backend, address, workers)
    parameters, points = env_keywords(set_, costs), read_checkpoints(checkpoints)
    agents = agent or default_agents(envs, budget, seed, parameters)
    with connected(backend, address, workers, 1) as processes:
        comparison = compare(
            agents,
            envs,
            budgets=budget,
            runs=runs,
            seed=seed,
            workers=processes,
            env_kwargs=parameters,
            out=out,
            path=path,
            checkpoints=points,
            record=record,
            reuse=reuse,
        )
    cells = [cell for env in envs for cell in make_cells(agents, env, budget, seed, parameters, path, points)]
    optima, missing = known_optima(cells) if optimum else ({}, [])
    print_results(comparison, optima)
    print_missing(missing)
    proved = proved_bounds(cells) if bounds else {}
    if bounds:
        print_bounds(proved)
    if out is not None:
        results, paths = save_all_results(out, optima)
        print_paths([*paths, *draw_comparison(comparison, results, cells, proved, out)])
