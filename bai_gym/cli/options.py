"""Options that several commands share, and how their text is read."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Annotated, Any

import typer

from bai_gym.errors import ParameterError

__all__ = ["FOLDER", "WHOLE", "Bounds", "Optimum", "Out", "Record", "Seed", "Workers", "keywords", "read_checkpoints"]


def _whole(text: str | int) -> int:
    """Return the whole number that a text is.

    Raises:
        typer.BadParameter: If it is none; Typer's own error does not say what was given.
    """
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a valid integer") from None


def _folder(text: str | Path) -> Path:
    """Return the folder that a text names.

    Raises:
        typer.BadParameter: If the text is empty, as an unset variable of a shell is.
    """
    if text == "":
        raise typer.BadParameter("'' names no folder; write . for the one you are in")
    return Path(text)


WHOLE: dict[str, Any] = {"parser": _whole, "metavar": "<int>"}
FOLDER: dict[str, Any] = {"parser": _folder, "metavar": "<path>"}

Seed = Annotated[int, typer.Option(**WHOLE, help="The same seed gives the same results, for any number of workers.")]
Workers = Annotated[int, typer.Option(**WHOLE, help="Processes; -1 for all cores.")]
Bounds = Annotated[bool, typer.Option("--bounds", help="Show what is proved about the agents, and draw it dotted.")]
Optimum = Annotated[
    bool, typer.Option("--optimum", help="Show how far each agent is from the best possible one, where that is known.")
]
Out = Annotated[
    Path | None,
    typer.Option(
        **FOLDER,
        help="Folder for results, table and figure; the same command goes on where an interrupted one stopped.",
    ),
]
Record = Annotated[
    int,
    typer.Option(**WHOLE, help="Runs of each agent to play pull by pull, too, and keep: `bai-gym report` shows them."),
]


def keywords(pairs: list[str]) -> dict[str, Any]:
    """Return ``["num_arms=8", "path=log.csv"]`` as keyword arguments.

    Values are read as Python writes them, and what Python cannot read is text.

    Raises:
        ParameterError: If one has no ``=``.
    """
    read = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not name.isidentifier():
            raise ParameterError(
                f"--set {pair!r} cannot be read; write --set KEYWORD=VALUE, for example --set num_arms=8"
            )
        try:
            read[name] = ast.literal_eval(_Numbers().visit(ast.parse(text.strip(), mode="eval")))
        except (SyntaxError, TypeError, ValueError):
            read[name] = text
    return read


def read_checkpoints(text: str | None) -> int | list[int] | None:
    """Return ``"100"`` as a number, ``"500,1000"`` as a list.

    Raises:
        ParameterError: If it is neither.
    """
    if text is None:
        return None
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        raise ParameterError(
            f"--checkpoints {text!r} cannot be read; write 100 for every 100 pulls, or pull counts such as 500,1000"
        ) from None
    return numbers if "," in text else numbers[0]


class _Numbers(ast.NodeTransformer):
    """Makes ``nan`` and ``inf`` numbers, so that the check of the environment sees them."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Replace the two names."""
        return ast.Constant(float(node.id)) if node.id in ("nan", "inf") else node
