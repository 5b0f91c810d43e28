"""``bai-gym run``: compare agents on an environment."""

from __future__ import annotations

from typing import Annotated

import typer

from bai_gym.api import make_cells
from bai_gym.benchmark.bounds import proved_bounds
from bai_gym.benchmark.optima import known_optima
from bai_gym.benchmark.recordings import check_record, record_cells
from bai_gym.benchmark.runner import check_runs, run_cells
from bai_gym.cli.connect import Address, Backend, check_backend_options, connected
from bai_gym.cli.console import progress_bar
from bai_gym.cli.options import WHOLE, Bounds, Optimum, Out, Record, Seed, keywords, read_checkpoints
from bai_gym.cli.output import (
    check_files,
    draw_curves,
    draw_stopping,
    print_bounds,
    print_missing,
    print_paths,
    print_results,
    result_files,
    save_results,
)
from bai_gym.report.page.files import slug
from bai_gym.rerun import rerun_command
from bai_gym.results.reader import gather
from bai_gym.results.result import Result
from bai_gym.results.writer import RESULTS
from bai_gym.tasks import BestArm

__all__ = ["run"]

DEFAULT_AGENTS = ["Uniform", "SH", "SHVar", "SHAdaVar"]
FIGURE = "figure.png"


def run(
    env: Annotated[str, typer.Argument(help="Id of the environment, for example BAI-Gaussian64-v0.")],
    agent: Annotated[
        list[str] | None,
        typer.Option(
            help="Agent, repeatable; parameters in brackets: 'SHAdaVar(delta=0.1)'. Your own: mine.py:Thirds, or "
            "package.module:Thirds. [default: four of them]"
        ),
    ] = None,
    budget: Annotated[
        list[int] | None,
        typer.Option(**WHOLE, help="Pulls per episode, repeatable. [default: that of the environment]"),
    ] = None,
    runs: Annotated[int, typer.Option(**WHOLE, help="Independent episodes of each agent at each budget.")] = 1000,
    seed: Seed = 0,
    workers: Annotated[int | None, typer.Option(**WHOLE, help="Processes; -1 for all cores. [default: 1]")] = None,
    backend: Backend = "loky",
    address: Address = None,
    out: Out = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="Keyword of the environment, repeatable: --set num_arms=8 --set path=log.csv"),
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
) -> None:
    """Compare agents on an environment: a table, and with --out a figure and files."""
    if out is not None:
        check_files(out, (*result_files(), FIGURE))
    check_runs(runs, workers)
    check_backend_options(backend, address, workers)
    with connected(backend, address, workers, 1) as processes:
        with progress_bar("playing") as on_chunk:
            points = read_checkpoints(checkpoints)
            cells = make_cells(agent or DEFAULT_AGENTS, env, budget, seed, keywords(set_ or []), path, points)
            check_record(record, runs, out, cells)
            comparison = run_cells(cells, runs, workers=processes, out=out, on_chunk=on_chunk, rerun=rerun_command)
        if out is not None and record:
            with progress_bar("recording") as on_episode:
                record_cells(cells, record, runs, out=out, workers=processes, on_chunk=on_episode)
    optima, missing = known_optima(cells) if optimum else ({}, [])
    print_results(comparison, optima)
    print_missing(missing)
    proved = proved_bounds(cells) if bounds else {}
    if bounds:
        print_bounds(proved)
    if out is not None:
        table = gather(out / RESULTS, comparison, rerun_command(cells, runs), optima)
        paths = save_results(table.results, out, optima=table.optima, facts={"command": table.command})
        shown: dict[tuple[str, int | None], list[Result]] = {}
        for row in table.results:
            if row.at_end:
                shown.setdefault((row.env, row.seed), []).append(row)
        own = comparison[0].env, seed
        agents = list(dict.fromkeys(row.agent for row in table.results))
        if cells[0].episode_spec.fixed_confidence:
            paths += draw_stopping(shown[own], out, out / FIGURE, agents=agents)
        else:
            paths += draw_curves(
                shown[own] if checkpoints is None else comparison,
                out / FIGURE,
                x="budget" if checkpoints is None else "checkpoint",
                title=comparison[0].env,
                bounds=proved,
                one_arm=isinstance(cells[0].episode_spec.task, BestArm),
                agents=agents,
            )
        if len(shown) > 1:
            for number, ((name, its_seed), rows) in enumerate(shown.items(), start=1):
                words = name if len({seed for _, seed in shown}) == 1 else f"{name}, seed {its_seed}"
                path_of = out / f"figure-{number}-{slug(words)}.png"
                if all(row.stops for row in rows):
                    paths += draw_stopping(rows, out, path_of, title=words, agents=agents)
                else:
                    paths += draw_curves(rows, path_of, title=words, one_arm=False, agents=agents)
        print_paths(paths)
