"""Options shared by several commands, and their parsers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import typer

from bai_gym.errors import ParameterError
from bai_gym.validation import literal

__all__ = [
    "AMOUNT",
    "Costs",
    "FOLDER",
    "WHOLE",
    "Bounds",
    "Optimum",
    "Out",
    "Record",
    "Reuse",
    "Seed",
    "Workers",
    "env_keywords",
    "keywords",
    "read_arms",
    "read_checkpoints",
    "read_shard",
]


def _whole(text: str | int) -> int:
    """Parse an integer.

    Raises:
        typer.BadParameter: If it is none; Typer's own error does not quote the text.
    """
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a valid integer") from None


def _folder(text: str | Path) -> Path:
    """Parse the path of a folder.

    Raises:
        typer.BadParameter: If the text is empty, as from an unset shell variable.
    """
    if text == "":
        raise typer.BadParameter("'' is not a folder; write . for the current one")
    return Path(text)


def _amount(text: str | float) -> float:
    """Parse an integer, or a number with a decimal point.

    Raises:
        typer.BadParameter: If it is neither.
    """
    try:
        return float(text) if "." in str(text) else _whole(str(text))
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a number") from None


AMOUNT: dict[str, Any] = {"parser": _amount, "metavar": "<number>"}
WHOLE: dict[str, Any] = {"parser": _whole, "metavar": "<int>"}
FOLDER: dict[str, Any] = {"parser": _folder, "metavar": "<path>"}

Seed = Annotated[int, typer.Option(**WHOLE, help="The same seed gives the same results, for any number of workers.")]
Workers = Annotated[int, typer.Option(**WHOLE, help="Processes; -1 for all cores.")]
Bounds = Annotated[bool, typer.Option("--bounds", help="Show proved bounds on the error probability, drawn dotted.")]
Optimum = Annotated[
    bool, typer.Option("--optimum", help="Show the excess error of each agent over the optimum, where that is known.")
]
Out = Annotated[
    Path | None,
    typer.Option(
        **FOLDER,
        help="Folder for results, table and figure; the same command resumes an interrupted one.",
    ),
]
Costs = Annotated[
    str | None,
    typer.Option(
        metavar="<costs>",
        help="Cost of a pull of each arm, by name as A=1,B=2.5, or in order as 1,2.5,4, or a column of a log (--set "
        "path=), whose means count; budgets are then money.",
    ),
]
Reuse = Annotated[
    bool | None,
    typer.Option(
        "--reuse/--no-reuse",
        help="Take finished runs of your own agent although nobody can know if its code is still the same; or play all "
        "again. [default: take what is provably the same]",
    ),
]
Record = Annotated[
    int,
    typer.Option(**WHOLE, help="Runs of each agent to record pull by pull; `bai-gym report` replays them."),
]


def keywords(pairs: list[str], option: str = "--set", example: str = "num_arms=8") -> dict[str, Any]:
    """Return ``["num_arms=8", "path=log.csv"]``, as an option gives them, as keyword arguments.

    Values are literals of Python or JSON; anything else is text.

    Raises:
        ParameterError: If one has no ``=``.
    """
    read = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not name.isidentifier():
            raise ParameterError(
                f"{option} {pair!r} cannot be read; write {option} KEYWORD=VALUE, for example {option} {example}"
            )
        read[name] = literal(text)
    return read


def env_keywords(pairs: list[str] | None, costs: str | None) -> dict[str, Any]:
    """Return the keyword arguments of an environment that ``--set`` and ``--costs`` give.

    Raises:
        ParameterError: If one cannot be read, or costs are given twice.
    """
    parameters = keywords(pairs or [])
    if costs is None:
        return parameters
    if parameters.keys() & {"costs", "cost_column"}:
        raise ParameterError("costs are given twice, by --costs and by --set: leave one of them out")
    read = _read_costs(costs, from_log={"path", "arm_column"} <= parameters.keys())
    return {**parameters, "cost_column" if isinstance(read, str) else "costs": read}


def _read_costs(text: str, *, from_log: bool) -> list[float] | dict[str, float] | str:
    """Return ``"1,2.5"`` as a list, ``"A=1,B=2.5"`` as a dict, and what may be a column of the log as it is."""
    named = [part.rpartition("=") for part in text.split(",")]
    names = [name.strip() for name, equals, _ in named if equals]
    try:
        numbers = [float(number) for _, _, number in named]
    except ValueError:
        if from_log and len(named) == 1 and not names:
            return text
    else:
        if not names:
            return numbers
        if len(set(names)) == len(numbers):
            return dict(zip(names, numbers, strict=True))
    raise ParameterError(
        f"--costs {text!r} cannot be read; write the cost of a pull of each arm, by name as A=1,B=2.5, in order as "
        "1,2.5,4, or the name of a column of the log"
    )


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


def read_shard(text: str, out: Path | None) -> tuple[int, int]:
    """Return ``"3/16"`` as the numbers 3 and 16.

    Raises:
        ParameterError: If it is no part, or there is no folder.
    """
    match = re.fullmatch(r"(\d+)/(\d+)", text.strip())
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise ParameterError(f"--shard {text!r} is no part; write 3/16 for the third of sixteen")
    if out is None:
        raise ParameterError("--shard needs a folder that all machines share: name it with --out")
    return int(match[1]), int(match[2])


def read_arms(text: str) -> tuple[int, int]:
    """Return ``"2:20"`` as the smallest and largest number of arms, and ``"2"`` as both.

    Raises:
        ParameterError: If it is neither.
    """
    low, colon, high = text.partition(":")
    try:
        return int(low), int(high if colon else low)
    except ValueError:
        raise ParameterError(f"--arms {text!r} cannot be read; write the fewest and most arms, such as 2:20") from None
