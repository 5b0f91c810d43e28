"""The entry point: commands, and one-line errors with exit code 2."""

from __future__ import annotations

import atexit
import gc
import os
import sys
import warnings
from importlib import metadata
from typing import Any

import typer

from bai_gym.cli import cite, data, listing, merge, plan, report, reproduce, run, study, train
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
app.command("plan")(plan.plan)
app.command("advise")(plan.advise)
app.command("reproduce")(reproduce.reproduce)
app.command("study")(study.study)
app.command("merge")(merge.merge)
app.command("report")(report.report)
app.command("train")(train.train)
app.command("cite")(cite.cite)
app.add_typer(data.app, name="data")


@app.callback(invoke_without_command=True)
def root(version: bool = typer.Option(False, "--version", help="Show the version and exit.")) -> None:
    """Best-arm identification: environments, agents, and an honest benchmark."""
    if version:
        typer.echo(metadata.version("bai-gym"))
        raise typer.Exit


UsageError: type[Exception] = typer.BadParameter.__bases__[0]
"""The error of an invalid command line; Typer has no public name for it."""
INTERRUPTED = 130  # 128 + SIGINT, as shells have it


BROKEN_PIPE = 141  # 128 + SIGPIPE


def main() -> None:
    """Run the command line."""
    atexit.register(gc.freeze)  # a last garbage collection over all that was imported would take 0.4 s
    warnings.showwarning = _show_warning
    try:
        code = app(standalone_mode=False, prog_name="bai-gym") or 0
    except BaiGymError as error:
        _show_error(str(error))
        code = 2
    except UsageError as error:
        _show_usage(error)
        code = 2
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except MemoryError:
        _show_error("there is not enough memory; use fewer arms, runs or workers")
        code = 2
    except OSError as error:
        if error.filename is not None:  # not an error of standard output
            raise
        code = _give_up_output(error)
    try:
        sys.stdout.flush()
    except OSError as error:
        code = _give_up_output(error)
    if code == INTERRUPTED:
        ERR.print("interrupted; with --out, the same command resumes", soft_wrap=True)
    sys.exit(code)


def _give_up_output(error: OSError) -> int:
    """Stop writing to a closed standard output; return the exit code."""
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())  # its buffer must be flushed somewhere
    if isinstance(error, BrokenPipeError):
        return BROKEN_PIPE
    _show_error(f"cannot write to standard output: {error.strerror or error}")
    return 2


def _show_usage(error: Any) -> None:
    message = error.format_message()
    if error.ctx is None or message == error.ctx.get_help():  # no command was given
        ERR.print(message, soft_wrap=True)
    else:
        _show_error(f"{message} (see `{error.ctx.command_path} --help`)")


def _show_error(message: str) -> None:
    ERR.print(f"error: {message}", style="red", soft_wrap=True)


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    ERR.print(f"warning: {message}", style="yellow", soft_wrap=True)
