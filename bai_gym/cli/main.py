"""The entry point: commands, and one-line errors with exit code 2."""

from __future__ import annotations

import sys
import warnings
from importlib import metadata

import typer

from bai_gym.cli import data, listing, reproduce, run
from bai_gym.cli.console import ERR
from bai_gym.errors import BaiGymError

__all__ = ["app", "main"]

app = typer.Typer(
    help="Best-arm identification: environments, agents, and an honest benchmark.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.add_typer(listing.app, name="list")
app.command("run")(run.run)
app.command("reproduce")(reproduce.reproduce)
app.add_typer(data.app, name="data")


@app.callback(invoke_without_command=True)
def root(version: bool = typer.Option(False, "--version", help="Show the version and leave.")) -> None:
    """Best-arm identification: environments, agents, and an honest benchmark."""
    if version:
        typer.echo(metadata.version("bai-gym"))
        raise typer.Exit


def main() -> None:
    """Run the command line."""
    warnings.showwarning = _show_warning
    try:
        app()
    except BaiGymError as error:
        ERR.print(f"error: {error}", style="red", markup=False, soft_wrap=True)
        sys.exit(2)
    except KeyboardInterrupt:
        ERR.print("interrupted; with --out, the same command goes on where it stopped", soft_wrap=True)
        sys.exit(130)


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    ERR.print(f"warning: {message}", style="yellow", markup=False, soft_wrap=True)
