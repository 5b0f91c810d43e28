"""``bai-gym list``: environments, agents and experiments."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

import typer
from rich.table import Table

from bai_gym.cli.catalogue import catalogue
from bai_gym.cli.console import OUT
from bai_gym.data.locate import find as find_data
from bai_gym.envs.registration import IDS
from bai_gym.errors import ParameterError, unknown_name

__all__ = ["app"]

app = typer.Typer(
    help="List environments, agents or experiments.", no_args_is_help=True, add_completion=False, rich_markup_mode=None
)

Row = Mapping[str, Any]
Search = Annotated[str, typer.Option(help="Only rows that contain this text, in upper or lower case.")]
Json = Annotated[bool, typer.Option("--json", help="Write the rows as JSON, for programs.")]


@app.command("envs")
def envs(search: Search = "", as_json: Json = False) -> None:
    """List the environments."""
    rows = [{"id": e.id, "budget": e.budget, "rewards": e.rewards, "what": e.summary, "data": e.data} for e in IDS]
    columns: dict[str, Callable[[Row], str]] = {
        "id": lambda row: row["id"],
        "budget": lambda row: f"{row['budget']:,}",
        "rewards": lambda row: row["rewards"],
        "what": lambda row: row["what"],
        "data": lambda row: _data_status(row["data"]),
    }
    _show(rows, columns, search, as_json)


def _data_status(name: str | None) -> str:
    if name is None:
        return ""
    return "here" if find_data(name) else f"missing: bai-gym data fetch {name}"


@app.command("agents")
def list_agents(
    task: Annotated[str | None, typer.Option(help="Only agents for this task, such as top-m or thresholding.")] = None,
    search: Search = "",
    wide: Annotated[
        bool, typer.Option("--wide", help="Also needs, group, tasks, minimum budget, and what the agent does.")
    ] = (False),
    as_json: Json = False,
) -> None:
    """List the agents, their oracle knowledge, and what they need; `bai-gym show NAME` describes one."""
    rows = catalogue()["agents"]
    tasks = list(dict.fromkeys(name for row in rows for name in row["tasks"]))
    if task is not None and task not in tasks:
        raise unknown_name("task", task, tasks, f"there are {', '.join(tasks)}")
    brief: dict[str, Callable[[Row], str]] = {  # in eighty columns
        "name": lambda row: row["name"],
        "in words": lambda row: row["title"],
        "oracle knowledge": lambda row: ", ".join(row["knows"]) or "none",
    }
    columns: dict[str, Callable[[Row], str]] = {
        **brief,
        "needs": lambda row: ", ".join(row["needs"]),
        "group": lambda row: row["group"],
        "tasks": lambda row: ", ".join(row["tasks"]),
        "minimum budget, 64 arms": lambda row: f"{row['minimum_budget']:,}",
        "what": lambda row: row["what"],
    }
    _show(
        [row for row in rows if task is None or task in row["tasks"]],
        columns,
        search,
        as_json,
        len(columns if wide else brief),
    )
    if not (wide or as_json):
        OUT.print("--wide shows what each agent needs and does, and `bai-gym show NAME` one of them", style="dim")


@app.command("experiments")
def experiments(search: Search = "", as_json: Json = False) -> None:
    """List the experiments of `bai-gym reproduce`."""
    columns: dict[str, Callable[[Row], str]] = {
        "id": lambda row: row["id"],
        "what": lambda row: row["what"],
        "source": lambda row: row["source"],
        "runs": lambda row: "" if row["runs"] is None else f"{row['runs']:,}",
    }
    _show(catalogue()["experiments"], columns, search, as_json)


def _show(
    rows: Sequence[Row],
    columns: Mapping[str, Callable[[Row], str]],
    search: str,
    as_json: bool,
    shown: int | None = None,
) -> None:
    """Print the rows that contain a text, in any column, as JSON or as a table of the first columns."""
    cells = [[cell(row) for cell in columns.values()] for row in rows]
    matches = [number for number, texts in enumerate(cells) if search.lower() in "\n".join(texts).lower()]
    if as_json:
        typer.echo(json.dumps([dict(rows[number]) for number in matches], indent=1))
        return
    if not matches:
        raise ParameterError(f"nothing contains {search!r}")
    table = Table(*list(columns)[:shown])
    for number in matches:
        table.add_row(*cells[number][:shown])
    OUT.print(table)
