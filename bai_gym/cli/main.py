"""The entry point: commands, and one-line errors with exit code 2."""

from __future__ import annotations

import atexit
import gc
import io
import os
import signal
import sys
import threading
import warnings
from importlib import metadata
from typing import Any

import typer
from typer.core import TyperGroup
from typing_extensions import override

from bai_gym.cli.console import ERR
from bai_gym.errors import BaiGymError
from bai_gym.parallel.memory import exceeded_limit, make_room
from bai_gym.wings import Command, gathered, load_reference

__all__ = ["app", "main"]

COMMANDS: dict[str, Command] = gathered("commands")
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
    found = load_reference(COMMANDS[name].path)
    if not isinstance(found, typer.Typer):
        command, found = found, typer.Typer(add_completion=False, rich_markup_mode=None)
        found.command(name)(command)
    return typer.main.get_command(found)


app = typer.Typer(
    cls=_Commands,
    help="Best-arm identification: environments, agents, and an honest benchmark.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _name, _command in COMMANDS.items():
    app.command(_name, help=_command.summary)(lambda: None)


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
    terminated: list[int] = []

    def terminate(number: int, _: object) -> None:
        terminated.append(number)
        raise KeyboardInterrupt

    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="replace")  # redirected output on Windows lacks letters that tables have
    try:
        if threading.current_thread() is threading.main_thread():  # tests call it from others
            if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:  # see bai_gym/__init__.py
                signal.signal(signal.SIGINT, signal.default_int_handler)
            signal.signal(signal.SIGTERM, terminate)
        make_room()
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
    except (ImportError, OSError, SystemError) as error:  # the last: of an import that found no memory
        limit = exceeded_limit(error)
        if limit is not None:
            _show_error(limit)
            code = 2
        elif not isinstance(error, OSError) or error.filename is not None:  # not an error of standard output
            raise
        else:
            code = _give_up_output(error)
    try:
        sys.stdout.flush()
    except OSError as error:
        code = _give_up_output(error)
    sys.exit(128 + terminated[0] if terminated else code)


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
    line = f"error: {message}"
    try:
        ERR.print(line, style="red", soft_wrap=True)
    except (MemoryError, SystemError):  # where none is left, not even for a colour
        os.write(2, f"{line}\n".encode())


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    ERR.print(f"warning: {message}", style="yellow", soft_wrap=True)
