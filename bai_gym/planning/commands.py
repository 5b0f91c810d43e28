"""``bai-gym plan`` and ``bai-gym advise``: the smallest budget for a target, and the agent to use."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bai_gym.cli.complete import AGENTS, ENVIRONMENTS
from bai_gym.cli.console import OUT, progress_bars
from bai_gym.cli.options import AMOUNT, FOLDER, WHOLE, Costs, Out, Reuse, Seed, Workers, env_keywords
from bai_gym.cli.output import check_files, draw, print_paths
from bai_gym.errors import ParameterError
from bai_gym.planning import advise as advise_agent
from bai_gym.planning import plan as plan_budgets
from bai_gym.planning.figures import advice_table, plan_curves, plan_page, plan_points, plans_table
from bai_gym.results.writer import ResultsWriter
from bai_gym.theory import bechhofer_pulls

__all__ = ["advise", "plan"]

PlanOut = Annotated[
    Path | None,
    typer.Option(
        **FOLDER,
        help="Folder for chunks, a web page, tables and a figure; the same command resumes an interrupted one.",
    ),
]
FILES = ("plan.html", "plan.md", "plan.csv", "plan-curves.csv", "plan.png")


def plan(
    env: Annotated[
        str | None,
        typer.Argument(
            help="Id of the environment, for example BAI-Custom-v0; leave it out with --zone.",
            autocompletion=ENVIRONMENTS,
        ),
    ] = None,
    agent: Annotated[
        list[str] | None,
        typer.Option(
            help="Agent, repeatable; parameters in brackets: 'SHAdaVar(delta=0.1)'. [default: some fast ones]",
            autocompletion=AGENTS,
        ),
    ] = None,
    error: Annotated[float | None, typer.Option(help="Largest error probability wanted. [default: 0.05]")] = None,
    regret: Annotated[float | None, typer.Option(help="Largest simple regret wanted, instead of --error.")] = None,
    certainty: Annotated[
        float | None,
        typer.Option(
            help="Probability over random instances, as those of a pilot, with which the target must hold. "
            "[default: the mean over them must be at most the target]",
            show_default=False,
        ),
    ] = None,
    costs: Costs = None,
    most: Annotated[
        float | None,
        typer.Option(
            **AMOUNT,
            help="Largest budget to try. [default: 100000 pulls, or the money for as many at the mean cost]",
            show_default=False,
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="Keyword of the environment, repeatable: --set means=[0.5,0.4,0.4]"),
    ] = None,
    zone: Annotated[
        float | None,
        typer.Option(help="No means are known, but the best one exceeds the others by this much (indifference zone)."),
    ] = None,
    arms: Annotated[int, typer.Option(**WHOLE, help="Number of arms, with --zone.")] = 10,
    deviation: Annotated[float, typer.Option(help="Standard deviation of a reward, with --zone.")] = 1.0,
    curve: Annotated[bool, typer.Option("--curve", help="Print what was measured at each budget, too.")] = False,
    seed: Seed = 0,
    workers: Workers = 1,
    out: PlanOut = None,
    reuse: Reuse = None,
) -> None:
    """Plan a budget: the smallest number of pulls with which each agent reaches a target, found by simulation.

    With --costs budgets are money. With a log (BAI-Pilot-v0) agents start from its rewards, and the first row is to
    decide now, for no pulls.
    """
    if out is not None:
        check_files(out, FILES)
    parameters = env_keywords(set_, costs)
    if (env is None) == (zone is None):
        raise ParameterError("give the id of an environment, or --zone with --arms and --deviation")
    if zone is not None:
        if parameters:
            raise ParameterError("--set and --costs belong to an environment; with --zone there is none")
        if regret is not None:
            raise ParameterError("--zone plans an error probability; leave --regret out")
        if certainty is not None:
            raise ParameterError("--certainty is over random instances; with --zone there is a single one")
        pulls = bechhofer_pulls(arms, 1.0 - (0.05 if error is None else error), zone, deviation)
        OUT.print(
            f"Bechhofer's procedure: {pulls:,} pulls of each arm, {arms * pulls:,} in all, whatever the means are."
        )
        OUT.print("The plans are for the hardest means, where all other arms are equal and the zone below the best.")
        env, parameters = "BAI-Custom-v0", {"means": [zone] + [0.0] * (arms - 1), "variances": deviation**2}
    assert env is not None
    with progress_bars() as on_stage:
        plans = plan_budgets(
            agent or None,
            env,
            error=error,
            regret=regret,
            certainty=certainty,
            most=most,
            seed=seed,
            workers=workers,
            env_kwargs=parameters,
            out=out,
            reuse=reuse,
            on_budget=lambda name, budget: on_stage(f"{name}, budget {budget:,.12g}", 0, None),
        )
    table, points = plans_table(plans), plan_points(plans)
    if curve:
        OUT.print(points.rich())
    OUT.print(table.rich())
    if out is None:
        return
    writer = ResultsWriter(out)
    paths = [
        writer.save_text("plan.html", plan_page(plans)),
        writer.save_text("plan.md", table.markdown()),
        writer.save_text("plan.csv", table.csv()),
        writer.save_text("plan-curves.csv", points.csv()),
    ]
    print_paths([*paths, *draw(lambda: plan_curves(plans, out / "plan.png"))])


def advise(
    env: Annotated[
        str, typer.Argument(help="Id of the environment, for example BAI-Pilot-v0.", autocompletion=ENVIRONMENTS)
    ],
    budget: Annotated[
        float | None,
        typer.Option(
            **AMOUNT, help="Pulls of the experiment, or money with --costs. [default: that of the environment]"
        ),
    ] = None,
    costs: Costs = None,
    regret: Annotated[
        bool, typer.Option("--regret", help="Look for a small simple regret, not error probability.")
    ] = False,
    runs: Annotated[
        int, typer.Option(**WHOLE, help="Runs that choose among the ten best agents, and fresh runs of them.")
    ] = 2000,
    all_: Annotated[
        bool,
        typer.Option(
            "--all",
            help="Play and show all agents that are not significantly worse, not only the ten best; it takes longer.",
        ),
    ] = False,
    left_out: Annotated[
        bool, typer.Option("--left-out", help="List the registered agents that were not played, with the reasons.")
    ] = False,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="Keyword of the environment, repeatable: --set num_arms=8 --set path=log.csv"),
    ] = None,
    seed: Seed = 0,
    workers: Workers = 1,
    out: Out = None,
) -> None:
    """Advise which agent to use: those that need no oracle knowledge, compared on instances like yours.

    With a log (BAI-Pilot-v0) agents start from its rewards, and the first row is to decide now, for no pulls.
    """
    with progress_bars() as on_stage:
        advice = advise_agent(
            env,
            budget=budget,
            regret=regret,
            runs=runs,
            **({"finalists": None} if all_ else {}),
            seed=seed,
            workers=workers,
            env_kwargs=env_keywords(set_, costs),
            out=out,
            on_round=lambda words: on_stage(words, 0, None),
        )
    OUT.print(advice.summary)
    OUT.print(advice_table(advice).rich())
    for name, reason in advice.left_out.items() if left_out else ():
        OUT.print(f"{name}: {reason}", soft_wrap=True)
