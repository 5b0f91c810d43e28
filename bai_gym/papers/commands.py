"""``bai-gym reproduce``: figures of the papers and of this library, with verdicts on their claims."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from bai_gym.api import make_cells
from bai_gym.benchmark.bounds import proved_bounds
from bai_gym.benchmark.cells import Cell
from bai_gym.benchmark.optima import known_optima
from bai_gym.benchmark.recordings import check_record, record_cells
from bai_gym.benchmark.runner import check_runs, run_cells
from bai_gym.benchmark.sources import EnvSource
from bai_gym.cli.complete import EXPERIMENTS
from bai_gym.cli.console import OUT, progress_bar
from bai_gym.cli.options import FOLDER, WHOLE, Bounds, Record, Seed
from bai_gym.cli.output import (
    check_files,
    draw,
    draw_curves,
    draw_stopping,
    print_bounds,
    print_missing,
    print_paths,
    print_results,
    print_rivals,
    result_files,
    rival_files,
    save_results,
    save_rivals,
)
from bai_gym.common.seeding import check_seed, generator
from bai_gym.envs.registration import IDS
from bai_gym.errors import MissingDataError
from bai_gym.papers import Experiment, Judged, Panel, Setting, find, judge
from bai_gym.papers.verdicts import Verdict
from bai_gym.report.figures import instance_plot
from bai_gym.report.rerun import rerun_command
from bai_gym.report.runs import arms_plot, regret_boxes
from bai_gym.results.comparison import Comparison
from bai_gym.results.writer import ResultsWriter
from bai_gym.tasks import BestArm
from bai_gym.validation import integer
from bai_gym.wings import hook

__all__ = ["reproduce"]

NUMBERED = {  # axes with environments
    "setup": "set-up",
    "gap": "gap between the best arm and the others",
}
LOOK_ALIKES = {
    "BAI-MovieLens64-v0": "BAI-MovieLensLike64-v0",
    "BAI-MovieLens128-v0": "BAI-MovieLensLike128-v0",
    "BAI-Automobile-v0": "BAI-AutomobileLike-v0",
}
AUDIT = "audit"  # audits of stopping rules, in place of a figure
SHIPPED = {"wine-quality": "diabetes"}  # other real data of the same id, shipped with the library


def reproduce(
    figures: Annotated[
        list[str],
        typer.Argument(help="Figures, for example shvar-2; `bai-gym list experiments`.", autocompletion=EXPERIMENTS),
    ],
    runs: Annotated[
        int | None, typer.Option(**WHOLE, help="Runs of each agent at each point. [default: as in the paper]")
    ] = None,
    seed: Seed = 0,
    workers: Annotated[int, typer.Option(**WHOLE, help="Processes; -1 for all cores.")] = -1,
    bounds: Bounds = False,
    settle: Annotated[
        int,
        typer.Option(
            **WHOLE,
            help="For claims that stay undecided, play this many times the runs of the agents and points that decide "
            "them. [default: none]",
        ),
    ] = 0,
    record: Record = 0,
    out: Annotated[Path, typer.Option(**FOLDER, help="Folder for results; each figure gets a subfolder.")] = Path(
        "results"
    ),
) -> None:
    """Run the experiment of a figure, draw it, and judge the claims of the paper, or hypotheses."""
    experiments = [find(name) for name in figures if name != AUDIT]
    check_seed(seed)
    for experiment in experiments:
        check_runs((experiment.runs if runs is None else runs) * max(1, integer(settle, "settle", least=0)), workers)
        check_record(record, experiment.runs if runs is None else runs, out)
        for name in (_file_name(experiment, panel) for panel in experiment.panels):
            files = () if experiment.instances else (*result_files(name), f"{name}-claims.txt")
            files += rival_files(name) if experiment.reference else ()
            check_files(out / experiment.id, (*files, f"{name}.png"))
    for experiment in experiments:
        chosen = experiment.runs if runs is None else runs
        _reproduce(experiment, chosen, seed, workers, out / experiment.id, bounds, settle, record)
    if AUDIT in figures:
        hook("reproduce_audits")(out / AUDIT, runs, seed, workers)


def _reproduce(
    experiment: Experiment, runs: int, seed: int, workers: int, folder: Path, bounds: bool, settle: int, record: int
) -> None:
    OUT.print(f"{experiment.id}: {experiment.title} ({experiment.source})", style="bold", soft_wrap=True)
    for note in experiment.notes:
        OUT.print(f"  {note}", soft_wrap=True)
    writer = ResultsWriter(folder)
    for panel in experiment.panels:
        name = _file_name(experiment, panel)
        available, stand_in = _with_available_data(panel)
        if stand_in:
            OUT.print(stand_in, style="yellow", soft_wrap=True)
        if available is None:
            continue
        panel = available
        if experiment.instances:
            _draw_instances(experiment, panel, seed, folder / f"{name}.png")
            continue
        with progress_bar(f"{experiment.id}: {panel.title}") as on_chunk:
            cells = [
                cell
                for setting in panel.settings
                for cell in _cells(experiment.agents_at(panel, setting), setting, panel, seed)
            ]
            comparison = run_cells(cells, runs, workers=workers, out=folder, on_chunk=on_chunk, rerun=rerun_command)
        if record:
            with progress_bar(f"{experiment.id}: recording") as on_episode:
                record_cells(cells, record, runs, out=folder, workers=workers, on_chunk=on_episode)
        OUT.print(f"\n{panel.title}", style="bold", soft_wrap=True)
        optima, missing = known_optima(cells) if experiment.optimum else ({}, [])
        print_results(comparison, optima)
        print_missing(missing)
        rivals = comparison.against(experiment.reference) if experiment.reference else []
        if rivals:
            print_rivals(experiment.reference, rivals)
        proved = proved_bounds(cells) if bounds else {}
        if bounds:
            print_bounds(proved)
        judged = [judge(claim, panel, comparison, _label) for claim in experiment.claims if claim.speaks_of(panel)]
        if settle and (undecided := [one for one in judged if one.verdict is Verdict.UNDECIDED]):
            more = _play_on(experiment, panel, undecided, settle * runs, seed, workers, folder / "settled")
            judged = [judge(one.claim, panel, comparison, _label, more) if one in undecided else one for one in judged]
        lines = [line for verdict in judged for line in _lines(verdict, settle * runs)]
        OUT.print(f"\n{experiment.claims_are}, at joint level 95 % each:", style="bold")
        OUT.print("\n".join(lines), soft_wrap=True)
        again = f" --settle {settle}" if settle else ""
        facts = {
            "title": f"{experiment.title}: {panel.title}",
            "command": f"bai-gym reproduce {experiment.id} --runs {runs} --seed {seed}{again}",
            "claims_are": experiment.claims_are,
            "claims": [
                {"text": v.claim.text, "verdict": str(v.verdict), "against": v.against, "open": v.open} for v in judged
            ],
        }
        paths = save_results(comparison, folder, name, optima, facts)
        if rivals:
            paths += save_rivals(experiment.reference, rivals, folder, name)
        header = [f"{experiment.id}: {experiment.title}", f"{panel.title}; {runs} runs, seed {seed}", stand_in, ""]
        paths.append(writer.save_text(f"{name}-claims.txt", "\n".join([*filter(None, header), *lines]) + "\n"))
        title = f"{experiment.title}\n{panel.title}"
        if panel.picture == "stopping":
            paths += draw_stopping(comparison, folder, folder / f"{name}.png", title=title)
        elif panel.picture != "errors":
            paths += _draw_runs(panel, comparison, folder / f"{name}.png", title)
        else:
            paths += draw_curves(
                comparison,
                folder / f"{name}.png",
                x={_label(s): s.x for s in panel.settings} if panel.x == "setup" or panel.x == "gap" else panel.x,
                x_name=NUMBERED.get(panel.x, ""),
                title=title,
                bounds=proved,
                chance="one arm" if isinstance(cells[0].episode_spec.task, BestArm) else None,
            )
        print_paths(paths)


def _cells(names: Sequence[str], setting: Setting, panel: Panel, seed: int) -> list[Cell]:
    points = panel.checkpoints or None
    return make_cells(names, setting.env, [setting.budget], seed, setting.keywords, checkpoints=points)


def _play_on(
    experiment: Experiment,
    panel: Panel,
    undecided: Sequence[Judged],
    runs: int,
    seed: int,
    workers: int,
    folder: Path,
) -> Comparison:
    """Return results with more runs of the agents and points of the undecided statements of claims."""
    unsettled = [each for judged in undecided for each in judged.unsettled]
    cells = []
    for setting in panel.settings:
        named = frozenset().union(*(agents for place, agents in unsettled if place is setting))
        if names := [agent for agent in experiment.agents_at(panel, setting) if agent in named]:
            cells += _cells(names, setting, panel, seed)
    with progress_bar(f"{experiment.id}: what is undecided, {runs:,} runs") as on_chunk:
        return run_cells(cells, runs, workers=workers, out=folder, on_chunk=on_chunk, rerun=rerun_command)


def _file_name(experiment: Experiment, panel: Panel) -> str:
    return f"{experiment.id}-{panel.name}" if panel.name else experiment.id


def _label(setting: Setting) -> str:
    return EnvSource(setting.env, dict(setting.keywords)).label


def _with_available_data(panel: Panel) -> tuple[Panel | None, str]:
    """Return the panel, with substitutes for missing data or None, and a sentence about its data."""
    first = panel.settings[0]
    named = first.keywords.get("data")
    if named is None and all(entry.id != first.env or entry.data is None for entry in IDS):
        return panel, ""
    try:
        EnvSource(first.env, dict(first.keywords)).built  # noqa: B018 (building it is what may fail)
    except MissingDataError as error:
        if named in SHIPPED:
            other = SHIPPED[named]
            settings = tuple(dataclasses.replace(s, keywords={**s.keywords, "data": other}) for s in panel.settings)
            sentence = f"Data: the real data {other!r} that come with the library, NOT {named!r}. {error}"
            return dataclasses.replace(panel, settings=settings, title=f"{panel.title} (data: {other})"), sentence
        if first.env not in LOOK_ALIKES:
            return None, f"Left out: {panel.title}. {error}"
        settings = tuple(dataclasses.replace(s, env=LOOK_ALIKES[s.env]) for s in panel.settings)
        sentence = f"Data: the synthetic look-alike {settings[0].env}, NOT the real data. {error}"
        return dataclasses.replace(panel, settings=settings, title=f"{panel.title} (synthetic look-alike)"), sentence
    return panel, f"Data: the real data {f'{named!r} ' if named else ''}of {first.env}."


def _draw_runs(panel: Panel, comparison: Comparison, path: Path, title: str) -> list[Path]:
    """Draw simple regrets, or pulls and recommendations, at the only setting of a panel."""
    (setting,) = panel.settings
    agents = [result.agent for result in comparison]
    if panel.picture == "regrets":
        regrets = {agent: comparison.regrets(agent) for agent in agents}
        return draw(lambda: regret_boxes(regrets, path, title=title))
    problem = EnvSource(setting.env, dict(setting.keywords)).problem
    names = problem.arm_names
    counts = {agent: np.bincount(comparison.recommendations(agent), minlength=problem.num_arms) for agent in agents}
    return draw(
        lambda: arms_plot(
            {result.agent: result.mean_pulls for result in comparison},
            counts,
            problem.draw(1, np.random.default_rng(0)).means[0],  # of a fixed instance
            path,
            groups=None if names is None else [name.partition(" (")[0] for name in names],
            title=title,
        )
    )


def _draw_instances(experiment: Experiment, panel: Panel, seed: int, path: Path) -> None:
    setting = panel.settings[0]
    problem = EnvSource(setting.env, dict(setting.keywords)).problem
    if hasattr(problem, "prior_at"):  # functions drawn from a Gaussian process
        rng, pulls = generator(seed, "instances", 0), setting.budget
        print_paths(draw(lambda: hook("instance_posterior")(problem, pulls, rng, path, title=panel.title)))
        return
    bandit = problem.draw(experiment.instances, generator(seed, "instances", 0))
    best = np.flatnonzero(bandit.means[0] == bandit.means[0].max())
    OUT.print(f"{panel.title}: best arm of the first run {best[0]} (counted from 0)", soft_wrap=True)
    print_paths(draw(lambda: instance_plot(bandit.means, bandit.variances, path, title=panel.title)))


def _lines(judged: Judged, runs: int) -> list[str]:
    lines = [f"  {str(judged.verdict):<10} {judged.claim.text}"]
    cases = (("against it", judged.against), ("undecided", judged.open), (f"with {runs:,} runs", judged.settled))
    for text, statements in cases:
        if statements:
            more = f" and {len(statements) - 4} more" if len(statements) > 4 else ""
            lines.append(f"             {text}: {'; '.join(statements[:4])}{more}")
    return lines
