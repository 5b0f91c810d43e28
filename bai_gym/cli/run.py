"""``bai-gym run``: compare agents on an environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from bai_gym.api import compare, make_cells
from bai_gym.benchmark.bounds import proved_bounds
from bai_gym.benchmark.optima import known_optima
from bai_gym.benchmark.runner import check_runs
from bai_gym.cli.connect import Address, Backend, check_backend_options, connected
from bai_gym.cli.console import progress_bars
from bai_gym.cli.options import WHOLE, Bounds, Optimum, Out, Record, Reuse, Seed, keywords, read_checkpoints
from bai_gym.cli.output import (
    check_files,
    draw_curves,
    draw_stopping,
    print_bounds,
    print_missing,
    print_paths,
    print_results,
    result_files,
    save_all_results,
)
from bai_gym.envs.specification import EpisodeSpec
from bai_gym.report.page.files import slug
from bai_gym.results.comparison import Comparison
from bai_gym.results.result import Result
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
    reuse: Reuse = None,
) -> None:
    """Compare agents on an environment: a table, and with --out a figure and files."""
    if out is not None:
        check_files(out, (*result_files(), FIGURE))
    check_runs(runs, workers)
    check_backend_options(backend, address, workers)
    given, points = keywords(set_ or []), read_checkpoints(checkpoints)
    agents = agent or DEFAULT_AGENTS
    with connected(backend, address, workers, 1) as processes, progress_bars() as on_stage:
        on_stage("playing", 0, None)  # before the first chunk is finished
        comparison = compare(
            agents,
            env,
            budgets=budget,
            runs=runs,
            seed=seed,
            workers=processes,
            env_kwargs=given,
            out=out,
            path=path,
            checkpoints=points,
            record=record,
            reuse=reuse,
            on_chunk=partial(on_stage, "playing"),
            on_recording=partial(on_stage, "recording"),
        )
    cells = make_cells(agents, env, budget, seed, given, path, points)
    optima, missing = known_optima(cells) if optimum else ({}, [])
    print_results(comparison, optima)
    print_missing(missing)
    proved = proved_bounds(cells) if bounds else {}
    if bounds:
        print_bounds(proved)
    if out is not None:
        results, paths = save_all_results(out, optima)
        print_paths([*paths, *_figures(comparison, results, cells[0].episode_spec, proved, out)])


def _figures(
    comparison: Comparison,
    results: Sequence[Result],
    spec: EpisodeSpec,
    proved: Mapping[tuple[str, str, int], float],
    out: Path,
) -> list[Path]:
    """Draw the comparison, and if the folder has results on other environments or seeds, a figure of each."""
    shown: dict[tuple[str, int | None], list[Result]] = {}
    for row in results:
        if row.at_end:
            shown.setdefault((row.env, row.seed), []).append(row)
    first, names = comparison[0], list(dict.fromkeys(row.agent for row in results))
    own = shown[first.env, first.seed]
    if spec.fixed_confidence:
        paths = draw_stopping(own, out, out / FIGURE, agents=names)
    else:
        paths = draw_curves(
            own if first.checkpoint is None else comparison,
            out / FIGURE,
            x="budget" if first.checkpoint is None else "checkpoint",
            title=first.env,
            bounds=proved,
            one_arm=isinstance(spec.task, BestArm),
            agents=names,
        )
    for number, ((env, seed), rows) in enumerate(shown.items() if len(shown) > 1 else (), start=1):
        title = env if len({seed for _, seed in shown}) == 1 else f"{env}, seed {seed}"
        path = out / f"figure-{number}-{slug(title)}.png"
        if all(row.stops for row in rows):
            paths += draw_stopping(rows, out, path, title=title, agents=names)
        else:
            paths += draw_curves(rows, path, title=title, one_arm=False, agents=names)
    return paths
