"""``bai-gym audit``: a search for instances on which a stopping rule errs more often than it promises."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bai_gym.auditing import audit as audit_rule
from bai_gym.auditing.figures import audit_curve, audit_page
from bai_gym.cli.complete import RULES
from bai_gym.cli.console import OUT
from bai_gym.cli.options import FOLDER, WHOLE, Seed, Workers, read_arms
from bai_gym.cli.output import check_files, draw, print_paths
from bai_gym.results.writer import ResultsWriter

__all__ = ["audit"]

FILES = ("audit.json", "audit.html", "audit-rounds.json", "counterexample.py", "counterexample.csv", "audit.png")


def audit(
    rule: Annotated[
        str,
        typer.Argument(
            help="A rule of the gallery, such as gk16-plugin; an agent that stops, such as 'T3C(threshold=gk16)', or "
            "one with a fixed budget and a proved bound, such as SH; or "
            "FILE.py:FUNCTION, a function of statistics and delta that returns None or the recommended arm.",
            autocompletion=RULES,
        ),
    ],
    delta: Annotated[
        float | None, typer.Option(help="Error probability that it promises. [default: the agent's own, or 0.05]")
    ] = None,
    rewards: Annotated[
        str | None,
        typer.Option(help="bernoulli, bounded, subgaussian or gaussian. [default: that of the rule, or bounded]"),
    ] = None,
    cap: Annotated[int, typer.Option(**WHOLE, help="Largest number of pulls of a run.")] = 10_000,
    looks: Annotated[
        str | None,
        typer.Option(help="Pulls from one look to the next, or geometric. [default: that of the rule, or every round]"),
    ] = None,
    arms: Annotated[
        str | None, typer.Option(help="Fewest and most arms. [default: 2:20, or 2:2 for a rule of two arms]")
    ] = None,
    epsilon: Annotated[
        float | None,
        typer.Option(help="Largest gap of a recommendation that is no error. [default: the agent's own, or 0]"),
    ] = None,
    sigma: Annotated[float, typer.Option(help="Of Gaussian and sub-Gaussian rewards, at most.")] = 1.0,
    arrays: Annotated[
        bool, typer.Option("--arrays", help="The function takes the statistics of many runs at once, and is fast.")
    ] = False,
    intervals: Annotated[
        bool, typer.Option("--intervals", help="The function returns confidence intervals, which may miss a mean.")
    ] = False,
    bound: Annotated[
        str | None,
        typer.Option(
            help="FILE.py:FUNCTION, a bound of the error probability of an agent with a fixed budget: a function of "
            "means, variances and the budget. [default: that of a theorem]"
        ),
    ] = None,
    seed: Seed = 0,
    workers: Workers = 1,
    out: Annotated[
        Path | None,
        typer.Option(
            **FOLDER,
            help="Folder for the verdict as JSON and as a web page, a figure, and a script that repeats the "
            "counterexample; the same command resumes an interrupted one.",
        ),
    ] = None,
) -> None:
    """Search for instances on which a stopping rule errs more often than it promises: refuted, or not refuted.

    The instances are found by halving, certified in fresh runs at level .999, and simplified.
    """
    if out is not None:
        check_files(out, FILES)
    result = audit_rule(
        rule,
        delta=delta,
        rewards=rewards,
        cap=cap,
        looks=int(looks) if looks is not None and looks.isdigit() else looks,
        arms=None if arms is None else read_arms(arms),
        epsilon=epsilon,
        sigma=sigma,
        arrays=arrays,
        intervals=intervals,
        bound=bound,
        seed=seed,
        workers=workers,
        out=out,
    )
    OUT.print(str(result), soft_wrap=True)
    if out is not None:
        page = ResultsWriter(out).save_text("audit.html", audit_page(result))
        print_paths([*result.save(out), page, *draw(lambda: audit_curve(result, out / "audit.png"))])
