"""The entry point: commands, and one-line errors with exit code 2."""

from __future__ import annotations

import atexit
import gc
import io
import os
import sys
import warnings
from importlib import import_module, metadata
from typing import Any

import typer
from typer.core import TyperGroup
from typing_extensions import override

from bai_gym.cli.console import ERR
from bai_gym.errors import BaiGymError

__all__ = ["app", "main"]

COMMANDS = {
    "run": ("bai_gym.cli.run:run", "Compare agents on environments."),
    "plan": ("bai_gym.cli.plan:plan", "Plan the budget of an experiment."),
    "advise": ("bai_gym.cli.plan:advise", "Advise which agent to use."),
    "audit": ("bai_gym.cli.audit:audit", "Test what a stopping rule promises."),
    "reproduce": ("bai_gym.cli.reproduce:reproduce", "Repeat a figure of a paper, and judge its claims."),
    "study": ("bai_gym.cli.study:study", "Show a running study."),
    "merge": ("bai_gym.cli.merge:merge", "Merge folders of results into one."),
    "report": ("bai_gym.cli.report:report", "Turn folders of results into one web page."),
    "leaderboard": ("bai_gym.cli.leaderboard:app", "Check a submission to the leaderboard, or play all of them."),
    "train": ("bai_gym.cli.train:train", "Train an agent, then compare it with analytic ones."),
    "cite": ("bai_gym.cli.cite:cite", "Print BibTeX entries of the library or of agents."),
    "list": ("bai_gym.cli.listing:app", "List environments, agents or experiments."),
    "show": ("bai_gym.cli.show:show", "Show what an agent does, or what an environment is."),
    "data": ("bai_gym.cli.data:app", "List data sets, or fetch one."),
}
"""Each command: where it is, and what the list of commands says. It is imported when it is called."""


class _Commands(TyperGroup):
    """Knows the commands by name and summary, and imports the one that is called."""

    @override
    def invoke(self, ctx: Any) -> Any:
        """Call the command; on an interruption, which Typer makes an exit code, say what is saved."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            ERR.print(": ".join(["interrupted", *getattr(error, "__notes__", ())]), soft_wrap=True)
            raise

    @override
    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Return name, command and arguments."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command if name is None else _load(name), rest


def _load(name: str) -> Any:
    module, _, function = COMMANDS[name][0].partition(":")
    target = getattr(import_module(module), function)
    if not isinstance(target, typer.Typer):
        command, target = target, typer.Typer(add_completion=False, rich_markup_mode=None)
        target.command(name)(command)
    return typer.main.get_command(target)


app = typer.Typer(
    cls=_Commands,
    help="Best-arm identification: environments, agents, and an honest benchmark.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _name, (_, _summary) in COMMANDS.items():
    app.command(_name, help=_summary)(lambda: None)


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
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="replace")  # redirected output on Windows lacks letters that tables have
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
