"""``bai-gym decide``: the evidence of a log that exists, or of logs of evaluation tools."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from bai_gym.cli.console import OUT
from bai_gym.errors import ParameterError
from bai_gym.live.evaluations import common_questions, read_evaluations
from bai_gym.live.evidence import printable
from bai_gym.live.logged import log_page
from bai_gym.live.page import PageRow, write_page
from bai_gym.results.layout import Column, Table

__all__ = ["decide"]


def decide(
    log: Annotated[
        list[Path],
        typer.Argument(
            help="A CSV or Parquet file with one row per observation, in order of time; or files or folders of samples "
            "of lm-evaluation-harness (.jsonl) or logs of Inspect (.eval, .json)."
        ),
    ],
    arm: Annotated[str | None, typer.Option(help="The column that names the alternative.", show_default=False)] = None,
    reward: Annotated[
        str | None,
        typer.Option(help="The column with the reward: numbers, or true, false, yes and no.", show_default=False),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            help="Of evaluation tools: the metric or scorer, if there are several; larger is better.",
            show_default=False,
        ),
    ] = None,
    control: Annotated[
        str | None, typer.Option(help="The alternative with which the others are compared.", show_default=False)
    ] = None,
    item: Annotated[
        str | None,
        typer.Option(
            help="The column that names the item, such as the question, if all were tried on the same ones.",
            show_default=False,
        ),
    ] = None,
    guardrail: Annotated[
        list[str] | None,
        typer.Option(
            help="A limit of another column, such as 'latency<=300', that the average must keep; may be repeated.",
            show_default=False,
        ),
    ] = None,
    rewards: Annotated[
        str | None,
        typer.Option(
            help="The kind of rewards: binary, 'bounded(1, 5)', counts or real. [default: what the log shows]",
            show_default=False,
        ),
    ] = None,
    missing: Annotated[str, typer.Option(help="drop: leave out rows without an alternative or a reward.")] = "error",
    out: Annotated[
        Path | None, typer.Option(help="A file for the evidence as a web page, such as evidence.html.")
    ] = None,
) -> None:
    """Decide by a log that you have: which alternative is the best, whether to stop, and what is missing."""
    limits = dict(re.findall(r"\s*(.*?)\s*([<>]=.*|$)", text)[0] for text in guardrail or ())
    if len(limits) < len(guardrail or ()):
        raise ParameterError("a column has two guardrails, and one is allowed: leave out the other")
    table: Any = log[0]
    said: list[str] = []
    evaluations = all(path.is_dir() or path.suffix in (".jsonl", ".eval", ".json") for path in log)
    if evaluations and not (arm or reward or item or guardrail):
        table, *said = common_questions(read_evaluations(*log, metric=metric))
        arm, reward, item = "model", "score", "question"
    elif evaluations or len(log) > 1 or metric or not arm or not reward:
        raise ParameterError(
            f"{log[0]}: a table is a single file, with --arm and --reward, and may have --item and --guardrail; "
            "folders and logs of evaluation tools (.jsonl, .eval, .json) have --metric in place of these"
        )
    page = log_page(
        table,
        arm_column=arm,
        reward_column=reward,
        control=control,
        item_column=item,
        rewards=rewards,
        missing=missing,
        guardrails=limits or None,
        more_items=evaluations,
    )
    page = replace(page, sentences=(*said, *page.sentences))
    columns = [Column[PageRow]("alternative", lambda row: printable(row.name), False)]
    columns += [
        Column(heading, lambda row, place=place: row.cells[place])  # type: ignore[misc]
        for place, heading in enumerate(map(printable, page.headings))
    ]
    for sentence in (f"{page.title}.", page.decision, *page.sentences):
        if sentence:
            OUT.print(printable(sentence))
    OUT.print(Table(page.rows, columns, {}).rich())
    for sentence in (page.lasting, *page.details):
        OUT.print(sentence)
    if out is None:
        return
    write_page(page, out)
    OUT.print(f"The evidence is in {out}.")
