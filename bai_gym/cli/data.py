"""``bai-gym data``: list and download data sets."""

from __future__ import annotations

import typer
from rich.table import Table

from bai_gym.cli.console import OUT
from bai_gym.data.locate import cache_directory, data_directory, fetch, require, status
from bai_gym.errors import MissingDataError

__all__ = ["app"]

app = typer.Typer(help="List data sets, or fetch one.", add_completion=False, rich_markup_mode=None)


@app.callback(invoke_without_command=True)
def list_data(context: typer.Context) -> None:
    """List the data sets and their locations."""
    if context.invoked_subcommand is not None:
        return
    table = Table("data set", "file", "here", "size", "terms")
    rows = status()
    for row in rows:
        size = f"{row.size:,}" if row.present else ""
        table.add_row(row.dataset, row.file, str(row.path) if row.present else "no", size, row.licence)
    OUT.print(table)
    OUT.print(f"data directory: {data_directory()} (set BAI_GYM_DATA to change it)", soft_wrap=True)
    OUT.print(f"derived files:  {cache_directory()} (set BAI_GYM_CACHE to change it)", soft_wrap=True)
    for name in dict.fromkeys(row.dataset for row in rows):
        try:
            require(name)
        except MissingDataError as error:
            OUT.print(f"missing: {error}", soft_wrap=True)


@app.command("fetch")
def fetch_data(name: str = typer.Argument(help="Name of the data set.")) -> None:
    """Download a data set, and verify its checksum."""
    OUT.print(f"{name}: {fetch(name)}", soft_wrap=True)
